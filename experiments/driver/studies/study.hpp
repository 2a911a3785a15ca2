// What all kinds of study have in common: the networks that they are of, how they are run, and what
// comes of them. A kind is a folder beside this file and a row of the list in experiment.hpp. Its
// study gives
//   read()           one of its tables in an experiment's file
//   require_sound()  what can be checked in no time, so that bad input shows before hours of work
//   run_study()      a StudyResult
// and whoever reads, writes or shows results knows no kind.
#pragma once

#include "experiments/driver/figures/explorer.hpp"
#include "experiments/driver/figures/network_figure.hpp"
#include "experiments/driver/figures/picture.hpp"
#include "experiments/driver/pool/interrupts.hpp"
#include "experiments/driver/records/records.hpp"
#include "experiments/driver/records/table.hpp"
#include "experiments/driver/studies/expectation.hpp"
#include "experiments/driver/studies/refusals.hpp"
#include "sim/report.hpp"
#include "sim/synthesizer.hpp"
#include "sim/topology.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tutti {

struct LabelledTopology {
  std::string label, text;
  Topology topology;
};
/// Those of an experiment. What points at one lives no longer than the experiment.
using Networks = std::span<const LabelledTopology>;

/// How studies run.
struct StudyRun {
  Networks networks;
  Interrupts& interrupts; ///< after the first, nothing more is begun
  Refusals& refusals;     ///< of all studies: what one refuses costs its own rows only
  std::string name;       ///< of the experiment, for those who wait
  std::size_t jobs = 1;   ///< processes for cases that run side by side; 0: this one, one by one
  bool progress = false;  ///< lines on stderr where that is no terminal
  /// Folder of remembered schedules; empty: none; nothing: what the study says.
  std::optional<std::string> cache = {};
  bool explores = false; ///< what a page plays is wanted, too
};

/// A file of results.
struct RecordFile {
  std::string stem; ///< "results" for results.csv
  Records records;
  bool has_details = false;                ///< rows of JSON have what is no value of a column, too
  std::optional<ExploredChart> chart = {}; ///< how a page draws them at first
};
/// Columns that rows of every study of a kind have.
template <typename Kind> [[nodiscard]] std::vector<RecordColumn> columns_of() {
  std::vector<RecordColumn> columns = Kind::files().front().records.columns;
  std::erase_if(columns, [](const RecordColumn& c) { return c.presence == Presence::family; });
  return columns;
}

struct TextFile {
  std::string name, text;
};

struct NamedFigure {
  std::string stem; ///< of the file, without ending
  Figure figure;
};

/// What a run did to the links of a network.
struct NetworkUse {
  std::string stem; ///< of the picture's file, without ending
  Heading heading;
  const Topology* topology = nullptr; ///< not owned
  std::vector<LinkUse> links;         ///< [LinkId]
  Time duration;
  DeadParts dead = {};

  /// Links by one of these, not the queue.
  [[nodiscard]] Figure figure(LinkQuantity quantity = LinkQuantity::utilisation) const;
};

/// A case that came to nothing, and why.
struct Unanswered {
  Status status = Status::infeasible;
  std::string note;
};

/// What came of a study.
struct StudyResult {
  std::vector<RecordFile> files; ///< studies of one kind share them; one at least
  std::vector<TextFile> texts;   ///< likewise, one after the other
  std::string_view kind;         ///< as its tables are called
  /// A list with an object for each row of the first file: what is no value of a column. May be
  /// empty.
  std::function<nlohmann::ordered_json()> details;
  /// A list of objects: what belongs to no single row. May be empty.
  std::function<nlohmann::ordered_json()> about;
  std::function<std::string(const TableForm&)> story; ///< tables and words for the terminal
  /// Empty where there is nothing to draw. Errors: InputError.
  std::function<std::vector<NamedFigure>()> figures;
  /// Network use of the best run on each network, a figure each; empty where no network is used.
  std::function<std::vector<NetworkUse>()> network_uses;
  /// What a page plays, where StudyRun::explores; empty where that is nothing.
  std::function<std::vector<ExploredRun>()> plays;
  std::vector<ExploredTimeline> timelines; ///< likewise
  /// The row of the first file that stands for a study of one case; none: its only row.
  std::optional<std::size_t> point = {};
  std::optional<Unanswered> unanswered = {}; ///< the first case without an answer
  std::vector<Comparison> comparisons;
  std::vector<std::string> defects;      ///< of Tutti, in words
  std::vector<std::string> nothing_made; ///< in words, where not one row has an answer
};

} // namespace tutti
