// Models written in a test.
#pragma once

#include "sim/files/files.hpp"
#include "workloads/model.hpp"

#include "tests/message_of.hpp"
#include "tests/temporary_folder.hpp"

#include <string>

namespace tutti {

inline Model model_of(const std::string& layers) {
  const TemporaryFolder folder;
  write_file(folder.file("m.toml"), "name = \"m\"\n" + layers);
  return load_model(folder.file("m.toml"));
}

/// What loading a text says, after the folder of its file.
inline std::string model_message(const std::string& text) {
  const TemporaryFolder folder;
  write_file(folder.file("m.toml"), text);
  const std::string message = message_of([&] { (void)load_model(folder.file("m.toml")); });
  return message.starts_with(folder.file("")) ? message.substr(folder.file("").size()) : message;
}

} // namespace tutti
