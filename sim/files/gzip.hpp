// Files that may be gzip.
#pragma once

#include <string>
#include <string_view>

namespace tutti {

/// What a gzip file holds (its members one after another), or `content` itself where it isn't gzip.
/// Unpacks to 64 MiB and a hundred times the packed size at most, and takes no more memory for it.
/// Errors: InputError without a file name: "its gzip is truncated", "its gzip is broken: ...",
/// "its gzip unpacks to more than 65 MiB, ...".
[[nodiscard]] std::string gunzipped(std::string content);

/// A file that people name, gzip or not: gunzipped(read_file(path)). Errors: InputError "FILE:
/// ...".
[[nodiscard]] std::string read_input_file(const std::string& path);

/// The name without ".gz" at its end.
[[nodiscard]] constexpr std::string_view unpacked_name(std::string_view path) {
  if (path.ends_with(".gz")) path.remove_suffix(3);
  return path;
}
/// What a network, a sketch or a workload without a name of its own is called after its file: the
/// file's name without folders, ".gz" and its ending.
[[nodiscard]] std::string plain_stem(std::string_view path);

} // namespace tutti
