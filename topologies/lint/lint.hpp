// What is odd in a network: rules that say what a healthy one doesn't have. Some of them look at a
// server as a file lists it, as what the network made of it no longer shows.
#pragma once

#include "sim/topology.hpp"

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tutti {

namespace topologies {

struct SeenGpu {
  std::string place;  ///< "dump.xml:12"
  std::string name;   ///< "GPU 5 (dev 1, rank 5, busid 0009:06:00.0)"
  std::string model;  ///< "sm 103"; empty: the file doesn't say
  std::string device; ///< host and bus: GPUs of one device are ranks that share it
  std::size_t cpu = 0;
  int links = 0;                 ///< of its own, wherever they lead
  std::map<std::size_t, int> to; ///< those to other GPUs of the file, by index
  Bandwidth pcie;                ///< the narrowest on the way to its CPU; 0: not said
};

struct SeenCard {
  std::string place, name; ///< "dump.xml:12", "card mlx5_0 (dev 0)"
  std::size_t cpu = 0;
  std::string first; ///< where it was listed before; empty: nowhere
};

/// A value that no part has.
struct SeenDoubt {
  std::string place;
  std::string what;  ///< "link_width \"0\""
  std::string where; ///< "<pci> 0000:a3:00.0"
  std::string taken; ///< for what: "16 lanes"
};

/// A server as a file lists it.
struct SeenServer {
  std::string link = "NVLink";    ///< what GPUs' own links are called
  std::vector<SeenGpu> gpus;      ///< by NPU
  std::vector<SeenCard> cards;    ///< in the order of the file
  std::vector<SeenDoubt> doubts;  ///< the same
  std::vector<std::string> hosts; ///< of each CPU
};

} // namespace topologies

/// A rule is one row of lint.cpp.
struct LintRule {
  std::string_view name;    ///< Finding::rule
  std::string_view meaning; ///< what is odd, and what it does
  /// Each finding in words. Null: it says nothing of a server's file, or of a network; both are
  /// null where it is about what is sent (audit()).
  std::vector<std::string> (*check_server)(const topologies::SeenServer&);
  std::vector<std::string> (*check_network)(const Topology&);
};

[[nodiscard]] std::span<const LintRule> lint_rules();

/// What was found in its file (TopologyParts::odd), and by rules for networks, which would hold
/// some healthy ones for odd if all were asked always; of a rule that its file has broken nothing
/// more. Cost: O(links).
[[nodiscard]] std::vector<Finding> lint(const Topology& network);

/// What a channel of a library, or of a program, sends over.
struct SentWay {
  std::optional<std::uint32_t> channel; ///< none: the schedule doesn't say
  std::vector<LinkId> links;            ///< from an NPU to another
};

/// What is odd in what is sent, by the rules for that: ways that leave a node by one card and enter
/// the other by one of another number, and ways around NVLink. `who`: stands before each finding.
/// Cost: O(links of the ways * log).
[[nodiscard]] std::vector<Finding> audit(const Topology& network, std::span<const SentWay> ways,
                                         std::string_view who);

namespace topologies {

/// The first of a rule's findings, and how many more there are.
void append_findings(std::vector<Finding>& found, const LintRule& rule,
                     std::vector<std::string> lines);

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
[[nodiscard]] std::vector<std::string> parts_apart(const Topology& network);

} // namespace topologies

} // namespace tutti
