// Names of files and titles of figures from labels.
#pragma once

#include <string>
#include <string_view>

namespace tutti {

/// `prefix` and the words of the label, in small letters and joined by `_`: ("jobs", "Two on a
/// DragonFly") gives "jobs_two_on_a_dragonfly". Labels without letters or digits give the prefix.
[[nodiscard]] std::string file_stem(std::string_view prefix, std::string_view label);

/// `text` under its label, without the parts of the label that it says already: ("RFS, restart",
/// "all_reduce on RFS-256") gives "restart: all_reduce on RFS-256".
[[nodiscard]] std::string labelled_title(std::string_view label, std::string_view text);

} // namespace tutti
