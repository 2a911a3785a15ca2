// Names of files from labels.
#pragma once

#include <string>
#include <string_view>

namespace tutti {

/// `prefix` and the words of the label, in small letters and joined by `_`: ("jobs", "Two on a
/// DragonFly") gives "jobs_two_on_a_dragonfly". Labels without letters or digits give the prefix.
[[nodiscard]] std::string file_stem(std::string_view prefix, std::string_view label);

} // namespace tutti
