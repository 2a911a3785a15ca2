// Names of files made from labels.
#pragma once

#include <string>

namespace tutti {

/// The label's words in small letters behind `first`, joined by `_`: "frontier_all_gather" for
/// "All-Gather". Only letters and digits stay.
[[nodiscard]] std::string file_stem_of(const std::string& first, const std::string& label);

} // namespace tutti
