// What an experiment asks of collectives ([[runs]]): every combination of lists of networks,
// collectives, sizes, chunks and algorithms is a case. All [[runs]] of an experiment are one study,
// so that its cases run side by side, figures show any of them, and expectations compare them.
// Format: docs/formats/runs.md, that of [[expect]] in docs/formats/expect.md.
#pragma once

#include "experiments/driver/studies/runs/figure.hpp"
#include "experiments/driver/studies/study.hpp"
#include "sim/engines/engine.hpp"
#include "sim/synthesizer.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tutti {

class ConfigTable;
struct Experiment;
struct StudyOption;
template <typename Target> struct Key;

/// One [[runs]]: the product of its lists.
struct RunMatrix {
  std::string label;
  std::vector<std::size_t> topologies;               ///< into the networks
  std::vector<std::vector<std::string>> collectives; ///< the inner lists run at once
  std::vector<Bytes> sizes;
  bool sizes_are_usual = false;     ///< nobody said one: that of usual_size()
  bool sizes_are_per_chunk = false; ///< then the collective's is this times the chunks per shard
  std::vector<AlgorithmRow> algorithms;
  /// Per shard; none, and an empty list: auto.
  std::vector<std::optional<std::uint32_t>> chunks;
  SynthesisOptions options;
  const EngineRow* engine = nullptr;
  std::vector<Discipline> disciplines;
  BoundEffort bound = BoundEffort::quick;
  ScheduleChange change;
  std::shared_ptr<const Transport> transport; ///< null: ideal links
  bool over_nccl = false;
  NoiseRequest noise;

  /// By topology, collective, size, chunks, algorithm. They point into the networks. Of several
  /// sizes without those that are too small to be cut into the collective's shards, unless all are;
  /// `left_out`: is told which, and why.
  [[nodiscard]] std::vector<Case> cases(Networks networks, std::string* left_out = nullptr) const;
  /// Size of a collective for one of `sizes` and one of `chunks`.
  [[nodiscard]] Bytes case_size(const std::vector<std::string>& collective, Bytes size,
                                const std::optional<std::uint32_t>& case_chunks) const;
};

struct RunStudy {
  static constexpr std::string_view kind = "runs";

  std::string label = {}; ///< none: it is the only one
  std::vector<RunMatrix> matrices;
  std::vector<FigureRequest> figures;
  std::vector<Expectation> expectations; ///< of rows as planned_runs() says

  /// Matrix by matrix; `left_out` as there, a line for each.
  [[nodiscard]] std::vector<Case> cases(Networks networks, std::string* left_out = nullptr) const;

  /// How many there are, each with a row or more. A point of a sweep is one.
  [[nodiscard]] std::size_t case_count() const;
  /// What it writes, without rows.
  [[nodiscard]] static std::vector<RecordFile> files();
  /// How --columns may call what its tables have, or could have.
  [[nodiscard]] std::vector<std::string> table_columns() const;

  /// None where there is no [[runs]]. Pre: the experiment has its topologies.
  /// Errors: InputError with the place of what is wrong.
  [[nodiscard]] static std::vector<RunStudy>
  read_all(ConfigTable& root, const Experiment& experiment, const std::string& source_name);
  /// Those of its table that need no others to be read.
  [[nodiscard]] static std::span<const Key<RunMatrix>> keys();
  /// Keys that `tutti synth` takes.
  [[nodiscard]] static std::vector<StudyOption> options_of_command();
};

/// What may stand at the key `engine`.
[[nodiscard]] std::vector<std::string> engines_or_auto();

struct PlannedRows;
/// A row for each case and discipline.
[[nodiscard]] PlannedRows planned_runs(std::span<const Case> cases);

/// Side by side, each in a process of its own, or in this one. Errors: as run_cases().
[[nodiscard]] std::vector<Evaluation> evaluate_cases(std::vector<Case> cases, const StudyRun& how);

/// Errors: InputError.
void require_sound(const RunStudy& study, Networks networks);
[[nodiscard]] StudyResult run_study(const RunStudy& study, const StudyRun& how);

} // namespace tutti
