// The message of an InputError, so that tests can compare all of it.
#pragma once

#include "sim/error.hpp"

#include <string>

namespace tutti {

/// Empty where `body` doesn't throw, which no expected message is.
template <typename Body> std::string message_of(const Body& body) {
  try {
    body();
  } catch (const InputError& e) {
    return e.what();
  }
  return "";
}

} // namespace tutti
