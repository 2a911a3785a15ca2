// What is odd in a network: rules that say what a healthy one doesn't have.
#pragma once

#include "sim/topology.hpp"
#include "topologies/lint/seen_server.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tutti {

/// A rule is one row of lint.cpp.
struct LintRule {
  std::string_view name;    ///< Finding::rule
  std::string_view meaning; ///< what is odd, and what it does
  /// Each finding in words. Null: it says nothing of a server's file, or of a network.
  std::vector<std::string> (*check_server)(const topologies::SeenServer&);
  std::vector<std::string> (*check_network)(const Topology&);
};

[[nodiscard]] std::span<const LintRule> lint_rules();

/// What was found in its file (TopologyParts::odd), and by rules for networks, which would hold
/// some healthy ones for odd if all were asked always; of a rule that its file has broken nothing
/// more. Cost: O(links).
[[nodiscard]] std::vector<Finding> lint(const Topology& network);

namespace topologies {

/// By the rules for servers, for TopologyParts::odd.
[[nodiscard]] std::vector<Finding> odd_in(const SeenServer& server);

// The checks.
[[nodiscard]] std::vector<std::string> unequal_models(const SeenServer& server);
[[nodiscard]] std::vector<std::string> unequal_links(const SeenServer& server);
[[nodiscard]] std::vector<std::string> unequal_pcie(const SeenServer& server);
[[nodiscard]] std::vector<std::string> one_way_links(const SeenServer& server);
[[nodiscard]] std::vector<std::string> unequal_directions(const SeenServer& server);
[[nodiscard]] std::vector<std::string> unknown_values(const SeenServer& server);
[[nodiscard]] std::vector<std::string> far_cards(const SeenServer& server);
[[nodiscard]] std::vector<std::string> listed_twice(const SeenServer& server);
[[nodiscard]] std::vector<std::string> shared_gpus(const SeenServer& server);
[[nodiscard]] std::vector<std::string> missing_links(const Topology& network);
[[nodiscard]] std::vector<std::string> one_way_links(const Topology& network);
[[nodiscard]] std::vector<std::string> unequal_directions(const Topology& network);

} // namespace topologies

} // namespace tutti
