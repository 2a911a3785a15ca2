// Schedules run for real: from synthesis over a program to data that was moved and checked, beside
// what the engines predict. Nothing here trusts anybody: schedules pass verify(), programs
// verify_program(), data the reference; a measured time below the links' is a defect.
#pragma once

#include "experiments/driver/studies/refusals.hpp"
#include "experiments/driver/studies/runs/evaluation.hpp"
#include "runtime/executor.hpp"
#include "runtime/lowering/lowering.hpp"
#include "runtime/profiling/profiler.hpp"
#include "sim/engines/engine.hpp"
#include "sim/synthesizer.hpp"
#include "sim/topology.hpp"
#include "sim/words.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tutti {

/// Where programs run.
struct BackendRow {
  std::string_view name; ///< cpu, cuda
  /// An execution without times is yet to be measured. Errors: InputError where it can't run,
  /// runtime::FailedRun.
  runtime::Executor run;
  /// The same for programs that measure links; these always have times.
  runtime::Executor time_links;
  /// Why it can't be used here, in a line; empty where it can.
  std::function<std::string()> obstacle;
  /// What the device copies from memory to memory, bytes/s.
  std::function<double()> copy_rate;
};
/// Errors: InputError with the known names.
[[nodiscard]] const BackendRow& find_backend(std::string_view name);

/// A schedule or program from a file, instead of algorithms.
struct GivenExecution {
  std::string name;
  Collective collective; ///< as the schedule has it
  Schedule schedule;
  std::optional<runtime::Program> program; ///< none: the schedule is lowered
  std::vector<std::string> warnings;       ///< of the file, with its name
};

/// Which network the engines' predictions are for.
enum class PredictedBy : std::uint8_t {
  profile,  ///< the one that is measured first
  topology, ///< the topology itself
  nothing,  ///< no prediction: only data is checked
};
inline constexpr Words<PredictedBy, 3> prediction_words{"network to predict by",
                                                        {"profile", "topology", "nothing"}};
[[nodiscard]] constexpr std::string_view to_text(PredictedBy by) {
  return prediction_words.text(by);
}

struct ExecutionCase {
  std::string label; ///< unique in its experiment; empty on the command line
  std::string topology_label;
  const Topology* topology = nullptr; ///< not owned; outlives the case
  const BackendRow* backend = nullptr;
  bool emulated = true; ///< copies are throttled to the topology's links; else as fast as they go
  PredictedBy predicted_by = PredictedBy::profile;
  std::optional<GivenExecution> given; ///< then there are no algorithms, and sizes are its own
  std::string collective;              ///< a name with its options
  std::vector<Bytes> sizes;
  std::vector<AlgorithmRow> algorithms;
  /// Per shard, times what the algorithm needs; none: auto, of those that divide the buffer.
  std::optional<std::uint32_t> chunks;
  SynthesisOptions options;
  runtime::LoweringOptions lowering;
  runtime::ExecutionRequest request; ///< its size is replaced
  runtime::ProfileOptions profile;
  /// How often everything is done, the profile too: one pass after another, so that what the
  /// machine does meanwhile shows in all runs alike.
  std::uint32_t passes = 1;
  /// The network of the profile is fitted to the runs of the 1st, 3rd, ... and the last size
  /// (SizeFactors), within each pass; those of the others are predicted by it.
  bool fits_half = false;
  bool measures_copy_rate = false; ///< of the device
};

/// Whether runs of the size with this index are fitted.
[[nodiscard]] bool is_fitted(const ExecutionCase& c, std::size_t size);

/// One algorithm at one size.
struct ExecutionRun {
  std::string algorithm;
  Bytes size;
  std::string note; ///< why it didn't run (unsupported, a size that doesn't divide); else empty
  Status status = Status::unsupported; ///< where there is no schedule
  /// A defect of Tutti in words: a fault of schedule or program, wrong data, engines that disagree,
  /// a time that the links can't have; else empty.
  std::string problem;
  std::uint32_t chunks_per_shard = 0;
  bool chose_chunks = false; ///< nobody said how many
  std::size_t transfers = 0, blocks = 0, steps = 0;
  std::uint32_t channels = 0, scratch_units = 0; ///< of the rank that needs most scratch
  std::optional<runtime::Execution> execution;   ///< of all passes
  std::vector<Time> predicted;                   ///< of each engine, in the first pass
  bool fitted = false;         ///< the prediction is fitted to it: it says nothing of others
  std::string remark;          ///< on how engines agree (agreement.hpp); mostly empty
  std::vector<double> ratios;  ///< measured over predicted (the first engine's), of each pass
  Time floor;                  ///< the emulated links' lower bound; 0 where copies aren't throttled
  double algbw = 0, busbw = 0; ///< bytes/s, of the median
  double lowering_seconds = 0; ///< CPU, with verify_program
  [[nodiscard]] double measured() const { ///< seconds; 0 where it wasn't
    return execution && !execution->seconds.empty() ? execution->median_seconds() : 0;
  }
  /// Measured over predicted (the first engine's), the median over passes; 0 where there is none of
  /// both.
  [[nodiscard]] double ratio() const;
  /// Highest over lowest ratio, less 1; nothing where one pass can't say.
  [[nodiscard]] std::optional<double> ratio_spread() const;
};

/// What the network of a profile leaves out: a link has one rate, and memory hasn't. What caches
/// hold is copied several times as fast as what they don't. How many times as long runs of each
/// size take as the profiled network says.
class SizeFactors {
public:
  /// Fits the runs that were measured and predicted and are `fitted`: the factor of each size is
  /// the geometric mean of measured over predicted, whatever the algorithm, which is least squares
  /// on logarithms.
  explicit SizeFactors(std::span<const ExecutionRun> runs);

  [[nodiscard]] bool empty() const { return factors_.empty(); }
  /// Factor at this size: between two fitted sizes on a line in logarithms of size and factor,
  /// beyond them that of the nearest. Pre: not empty.
  [[nodiscard]] double at(Bytes size) const;
  [[nodiscard]] const std::map<Bytes, double>& fitted() const { return factors_; }

private:
  std::map<Bytes, double> factors_;
};

struct ExecutionEvaluation {
  std::string label, topology, backend, device;
  std::string collective;
  bool emulated = true;
  runtime::ElementType type = runtime::ElementType::float32;
  runtime::Combine combine = runtime::Combine::sum;
  bool in_place = false;
  std::uint32_t npus = 0, instances = 1, repetitions = 0, warmups = 0;
  std::vector<std::string> engines;
  PredictedBy predicted_by = PredictedBy::profile;
  std::optional<runtime::Profile> profile; ///< of the network by which runs are predicted
  std::optional<Topology> network;         ///< the profiled one
  /// Bandwidth of all links together where there are no shared groups; else 0.
  double links_bytes_per_second = 0;
  double copy_rate = 0;       ///< of the device, bytes/s; 0: not measured
  std::string copy_rate_note; ///< why it couldn't be; else empty
  /// Why the machine that measures it has none of it, which is no problem; else empty.
  std::string left_out;
  bool fits_half = false;          ///< as ExecutionCase
  std::map<Bytes, double> factors; ///< that were fitted, in the first pass
  std::vector<ExecutionRun> runs;  ///< by size, then algorithm
};

/// Checks what needs no run. Errors: InputError, also for a backend that can't be used here, for
/// real links predicted by the topology, whose they aren't, for what can't be predicted as it runs,
/// and for more than one chunk per shard where that doesn't divide a buffer into whole elements.
void require_sound(const ExecutionCase& c);

/// Profiles the network where that is asked for, then runs every algorithm at every size.
/// `announce` is called after each run, and may be empty. Where `cancelled` of the options holds,
/// runs that are left are not begun. What an algorithm refuses is in its row, and counted in
/// `refusals`.
/// Errors: InputError of a given schedule or program; runtime::HungRun.
[[nodiscard]] ExecutionEvaluation
evaluate_execution(const ExecutionCase& c, const std::function<void(const ExecutionRun&)>& announce,
                   Refusals& refusals);

} // namespace tutti
