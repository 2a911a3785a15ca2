// Where the named machines lie (topologies/machines/*.toml).
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace tutti::topologies {

/// The TOML file of a machine; empty where there is none of that name.
[[nodiscard]] std::optional<std::string> machine_file(const std::string& name);
/// Ascending.
[[nodiscard]] std::vector<std::string> machine_names();

} // namespace tutti::topologies
