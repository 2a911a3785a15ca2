// The page that is opened in a browser: the bundle of explorer/, with its data in it. Runs are
// played on their network; results are tables that filter, with charts.
#pragma once

#include "experiments/driver/figures/network_figure.hpp"
#include "experiments/driver/records/records.hpp"
#include "sim/collective.hpp"
#include "sim/report.hpp"
#include "sim/schedule.hpp"
#include "sim/topology.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tutti {

/// What happened on the way: a link failed, a new plan came into force.
struct ExploredMoment {
  Time at;
  std::string words;
  std::vector<LinkId> links_down = {}, links_up = {};
  std::vector<NodeId> nodes_down = {};
};

/// A run on a network. Where its report has no hops, only what links were used for is shown.
struct ExploredRun {
  std::string label;                                      ///< "tacos, all_gather 64MiB"
  std::vector<std::pair<std::string, std::string>> facts; ///< a table in words
  const Topology* topology = nullptr;                     ///< not owned
  Collective collective;
  Schedule schedule;
  Report report; ///< with hops, or none; of its links
  std::optional<Time> bound = {};
  std::string bound_kind = {};
  std::vector<NodeId> inside = {}; ///< the cut that the bound is of
  DeadParts dead = {};             ///< from the beginning
  std::vector<ExploredMoment> moments = {};
  std::optional<std::size_t> row = {}; ///< of its study's first file: what the run came to
};

/// How a table is drawn at first, by the names of its columns (explorer/src/format.ts).
struct ExploredChart {
  enum class Kind : std::uint8_t { points, curves, parts };
  Kind kind = Kind::points;
  std::string x;
  std::vector<std::string> y, by;
  std::string low = {}, high = {};
};

struct ExploredPicture {
  std::string title, svg;
};

struct ExploredTable {
  std::string title;
  std::vector<std::string> notes; ///< to be read before it
  Records records;
  std::optional<ExploredChart> chart = {};
  std::vector<std::optional<std::size_t>> runs = {}; ///< [row]: of Exploration::runs; or empty
  std::vector<ExploredPicture> pictures = {};
};

/// What NPUs do over an iteration.
struct ExploredTimeline {
  struct Span {
    std::uint32_t npu = 0, name = 0, kind = 0; ///< indices into the below
    Time begin, end;
  };
  std::string title;
  Time length;
  std::vector<std::string> npus, names, kinds; ///< kinds: "compute" first
  std::vector<Span> spans;
};

struct Exploration {
  std::string title, command; ///< the command that makes the page
  std::vector<ExploredRun> runs;
  std::vector<ExploredTable> tables = {};
  std::vector<ExploredTimeline> timelines = {};
};

/// So many crossings are played, the first ones; how busy links are is of all of them.
inline constexpr std::size_t most_played = 2'000'000;

/// What the page reads: explorer/src/format.ts says it field by field. Errors: InputError where
/// there is nothing to show.
[[nodiscard]] std::string explorer_data(const Exploration& exploration);

/// Errors: InputError where the page isn't there, or the file can't be written.
void write_explorer(const std::string& file, const Exploration& exploration);

/// Errors: InputError for a name of another ending than .html.
void require_page_name(const std::string& file);

/// What this process was called as.
[[nodiscard]] std::string own_command();

} // namespace tutti
