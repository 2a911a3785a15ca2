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

/// body(). Errors: its InputError; what it says of the topology by the name that its file gives it
/// begins with the file.
template <typename Body>
auto about_topology(const std::string& file, const std::string& name, const Body& body) {
  try {
    return body();
  } catch (const InputError& error) {
    const std::string text = error.what();
    if (file == name || !text.starts_with(name + ": ")) throw;
    throw InputError(file + ": " + text);
  }
}

} // namespace tutti
