// Files that may be gzip.
#pragma once

#include <string>

namespace tutti {

/// What a gzip file holds (its members one after another), or `content` itself where it isn't gzip.
/// Unpacks to 64 MiB and a hundred times the packed size at most, and takes no more memory for it.
/// Errors: InputError without a file name: "its gzip is truncated", "its gzip is broken: ...",
/// "its gzip unpacks to more than 65 MiB, ...".
[[nodiscard]] std::string gunzipped(std::string content);

} // namespace tutti
