// The page that plays runs in a browser: the bundle of explorer/, with their data in it.
#pragma once

#include "sim/collective.hpp"
#include "sim/report.hpp"
#include "sim/schedule.hpp"
#include "sim/topology.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace tutti {

/// A replay of a schedule, and what is said of it.
struct ExploredRun {
  std::string label;                                      ///< "tacos, all_gather 64MiB"
  std::vector<std::pair<std::string, std::string>> facts; ///< a table in words
  const Topology* topology = nullptr;                     ///< not owned, as the others
  const Collective* collective = nullptr;
  const Schedule* schedule = nullptr;
  const Report* report = nullptr; ///< with hops and deliveries
  std::optional<Time> bound;
  std::string bound_kind;
  std::vector<NodeId> inside; ///< the cut that the bound is of
};

/// So many crossings are played, the first ones; how busy links are is of all of them.
inline constexpr std::size_t most_played = 2'000'000;

/// What the page reads: explorer/src/format.ts says it field by field. Errors: InputError without
/// runs.
[[nodiscard]] std::string explorer_data(const std::string& title, const std::string& command,
                                        std::span<const ExploredRun> runs);

/// Errors: InputError where the page isn't there, or the file can't be written.
void write_explorer(const std::string& file, const std::string& title, const std::string& command,
                    std::span<const ExploredRun> runs);

/// Errors: InputError for a name of another ending than .html.
void require_page_name(const std::string& file);

} // namespace tutti
