// Errors of what a file asks for that its reader can't see: a collective that the topology can't
// hold, an algorithm that refuses everything.
#pragma once

#include "sim/error.hpp"

#include <string>

namespace tutti {

/// body(). Errors: its InputError, with the place before it where that isn't said yet: a file, or a
/// file and what in it ("e.toml: [[jobs]] \"J\"").
template <typename Body> auto in_file(const std::string& place, const Body& body) {
  try {
    return body();
  } catch (const InputError& error) {
    const std::string text = error.what();
    if (text.starts_with(place.substr(0, place.find(": ")) + ":")) throw;
    throw InputError(place + ": " + text);
  }
}

} // namespace tutti
