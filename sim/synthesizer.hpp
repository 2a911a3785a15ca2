// What every algorithm looks like from outside: one function and one row in a list.
#pragma once

#include "sim/collective.hpp"
#include "sim/compact_schedule.hpp"
#include "sim/routing.hpp"
#include "sim/schedule.hpp"
#include "sim/time_model.hpp"
#include "sim/topology.hpp"
#include "sim/watch.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tutti {

enum class Status : std::uint8_t {
  optimal,
  feasible,
  infeasible,   ///< no schedule exists for anybody: proven
  unsupported,  ///< not made for this network, group or collective: the note says why
  timed_out,    ///< a limit of time, or whoever waited, ended it; there may be a schedule
  out_of_memory ///< as timed_out, without a schedule, and the limit was one of memory
};
[[nodiscard]] std::string_view to_text(Status status);
/// Whether a limit ended it, of time or of memory.
[[nodiscard]] constexpr bool is_cut_short(Status status) {
  return status == Status::timed_out || status == Status::out_of_memory;
}

/// How far a synthesis is, for those who wait.
struct SynthesisProgress {
  std::uint64_t done = 0, total = 0; ///< deliveries of this attempt
  Time reached;                      ///< the time in the schedule that is decided so far
};

struct SynthesisOptions {
  TimeModel model;
  Routing routing = Routing::automatic;
  std::uint64_t seed = 1;
  double limit_seconds = 0; ///< by `clock`; 0 = none
  /// Seconds since any fixed moment. Empty: the wall clock. One that moves on with each question
  /// makes a limit the same on every machine.
  std::function<double()> clock;
  std::int64_t limit_bytes = 0; ///< memory of the whole process; 0 = none
  unsigned threads = 1;         ///< at most; the result is the same for any number
  /// Called now and then, by one thread at a time. May be empty.
  std::function<void(const SynthesisProgress&)> progress;
  /// True ends the synthesis as the limit does. Asked now and then, by any thread. May be empty.
  std::function<bool()> cancelled;
  /// Watches what is done with schedules: verification, replays, executions. Synthesizers leave it
  /// alone. May be empty.
  StageWatch stage;
  /// `--set key=value`: the algorithm's own options. An unknown key is an InputError.
  std::map<std::string, std::string> settings;
  /// The collective has one chunk per shard, of which the algorithm may make as many as it likes
  /// (Outcome::parts_per_chunk). Only for rows that choose them, and a collective of one part.
  bool choose_chunks = false;
};

/// The value of an algorithm's own option; null where it isn't set.
[[nodiscard]] const std::string* find_setting(const SynthesisOptions& options,
                                              const std::string& key);
/// A whole number of low .. high. Errors: InputError; so for find_yes().
[[nodiscard]] std::optional<std::uint32_t> find_count(const SynthesisOptions& options,
                                                      const std::string& key, std::uint32_t low,
                                                      std::uint32_t high);
/// Whether it is "yes"; it may be "no".
[[nodiscard]] std::optional<bool> find_yes(const SynthesisOptions& options, const std::string& key);

/// What a communication library makes of a schedule, where the algorithm is one of a library's.
struct LibraryChoice {
  std::string algorithm, protocol; ///< "ring", "ll128"
  std::uint32_t channels = 0;
  /// A chunk's channel is its number modulo the channels: its number in its shard (rings, whose
  /// channels run by themselves), or else its place when the first chunks of all shards are
  /// counted, then the second ones, and so on.
  bool by_shard = false;
  /// What it hands over at once, where the schedule's chunks each stand for several of its own; 0:
  /// a chunk.
  Bytes own_chunk = {};
  /// [transfer]: its channel, where a program says it; empty: by the rule above.
  std::vector<std::uint8_t> channel_of = {};
  bool operator==(const LibraryChoice&) const = default;
};

struct Outcome {
  Status status = Status::infeasible;
  std::optional<Schedule> schedule; ///< always complete where present
  /// Instead of `schedule` where that would take too much memory.
  std::optional<CompactSchedule> compact;
  std::string note;          ///< why unsupported ("rhd needs a power of two, not 6"); else empty
  std::string routing;       ///< what was used, for reports; empty where none was
  std::optional<Time> bound; ///< a lower bound that the algorithm proved itself, if any
  /// What the algorithm expects on its own picture of the network, where it has one ("switches
  /// unwound with degree 2"); a replay on the network itself may say another time.
  std::optional<Time> planned;
  std::string planned_on;
  std::vector<Time>
      attempts; ///< planned times of all starts, in their order, where there are several
  /// What else the algorithm knows of its answer, by name: in reports, and metrics of expectations.
  std::map<std::string, double> facts;
  /// In how many parts the algorithm cut each chunk: the schedule speaks of the collective that is
  /// made with so many times the chunks per shard. Other than 1 only where it was left to choose.
  std::uint32_t parts_per_chunk = 1;
  std::optional<LibraryChoice> library;
  /// What went wrong in an algorithm that isn't Tutti's own: it crashed, or its answer makes no
  /// sense. `note` says it, too.
  bool failed = false;
  double outside_seconds = 0; ///< CPU time of a process that isn't waited for
};

/// Says in `note` why nobody has a schedule.
[[nodiscard]] Outcome infeasible(std::string note);
/// Says in `note` why this algorithm has none.
[[nodiscard]] Outcome unsupported(std::string note);

using SynthesisFunction = Outcome (*)(const Topology&, const Collective&, const SynthesisOptions&);

/// An option of one algorithm, for `--set name=value`.
struct Setting {
  std::string_view name;
  std::string_view help;   ///< meaning and default
  bool reads_file = false; ///< its value names one
};

/// An algorithm that isn't compiled into Tutti: a program, a shared object, a file of schedules.
struct OutsideAlgorithm {
  std::string name; ///< as it is asked for: "./swing.py"
  std::function<Outcome(const Topology&, const Collective&, const SynthesisOptions&)> run;
  /// The numbers of chunks per shard that are worth a try there, ascending; none: as anywhere else.
  std::function<std::vector<std::uint32_t>(const Topology&, const Collective&,
                                           const SynthesisOptions&)>
      chunk_candidates;
};

/// One algorithm. Its function sees a Collective of exactly one part, unless it is `joint`; several
/// at once are made part by part (see synthesize).
struct AlgorithmRow {
  std::string_view name;
  SynthesisFunction run;
  std::span<const CollectiveKind> collectives; ///< what it defines
  /// The number of chunks per shard is a multiple of this (Ring: 2, one for each direction).
  std::uint32_t chunk_multiple;
  std::string_view needs;  ///< of a topology, for `tutti list`: "any", "2^k NPUs", ...
  std::string_view source; ///< paper, section
  std::span<const Setting> settings = {}; ///< its own options
  bool joint = false;                     ///< it sees all parts of a collective at once
  bool chooses_chunks = false; ///< it decides itself how finely shards are cut, unless set
  /// It shows what others do, redundant copies included, which else are a defect.
  bool imitates = false;
  /// It also plans for members that can't store, copy or reduce.
  bool any_abilities = false;
  /// Instead of `run`. Owns what `name` refers to. Its settings are its own affair, and what it
  /// says isn't remembered: it may read what nobody knows of.
  std::shared_ptr<const OutsideAlgorithm> outside = nullptr;

  [[nodiscard]] bool has_setting(std::string_view setting) const;
};

/// Runs an algorithm on every part alone and interleaves the results: the first that has no
/// schedule is the answer.
[[nodiscard]] Outcome synthesize_part_by_part(
    const std::function<Outcome(const Topology&, const Collective&, const SynthesisOptions&)>& run,
    const Topology& topology, const Collective& collective, const SynthesisOptions& options);

/// What a member can't do, of what algorithms let every one do: store, copy and, where that is
/// needed, reduce ("npu3 can't copy"). Empty where all can.
[[nodiscard]] std::string missing_ability(const Topology& topology, const Collective& collective);

/// Runs an algorithm, part by part unless it is joint. What infeasibility() proves is `infeasible`
/// with that as its note, whoever is asked. A kind that the algorithm doesn't define, a path that
/// it needs and the network doesn't have, and members that can't store, copy or (where that is
/// needed) reduce are `unsupported` with a note. Errors: InputError for a setting that the
/// algorithm doesn't have, or a bad value of one.
[[nodiscard]] Outcome synthesize(const AlgorithmRow& row, const Topology& topology,
                                 const Collective& collective, const SynthesisOptions& options);

} // namespace tutti
