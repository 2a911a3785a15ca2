// What files of earlier versions call otherwise. Readers refuse an old name with the new one, and
// `tutti update` writes the new ones into a file.
#pragma once

#include "sim/files/config.hpp"

#include <span>
#include <string>
#include <string_view>

namespace tutti {

/// Errors: InputError at a key of an expectation that has another name or form now, which it says.
void refuse_renamed(ConfigTable& table);

/// The metric's name now, of those that are known; empty where it had no other.
[[nodiscard]] std::string_view metric_now(std::string_view metric,
                                          std::span<const std::string> known);

/// The TOML of an experiment, a study, or a collective, with its keys' and metrics' new names; all
/// else, comments too, as it is. Errors: InputError for malformed TOML, and for what only its
/// author can say in the new form.
[[nodiscard]] std::string updated_toml(std::string_view toml, const std::string& source_name);

} // namespace tutti
