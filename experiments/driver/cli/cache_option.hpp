// The option --cache.
#pragma once

#include <optional>
#include <string>

namespace tutti {

/// The folder of remembered schedules that is asked for: absent: the user's; "none": empty. Errors:
/// as below.
[[nodiscard]] std::string cache_folder(const std::optional<std::string>& option);

/// The same folder. Where nothing can be written there, that is said on stderr, once. Errors:
/// InputError for a bad TUTTI_CACHE_SIZE.
[[nodiscard]] std::string usable_cache(const std::string& folder);

} // namespace tutti
