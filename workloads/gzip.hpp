// Files that may be gzip.
#pragma once

#include <string>

namespace tutti {

/// What a gzip file holds (its members one after another), or `content` itself where it isn't gzip.
/// Errors: InputError without a file name: "its gzip is truncated", "its gzip is broken: ...".
[[nodiscard]] std::string gunzipped(std::string content);

} // namespace tutti
