// What every algorithm looks like from outside: one function and one row in a list.
#pragma once

#include "sim/collective.hpp"
#include "sim/routing.hpp"
#include "sim/schedule.hpp"
#include "sim/time_model.hpp"
#include "sim/topology.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tutti {

enum class Status : std::uint8_t { optimal, feasible, infeasible, timed_out };
[[nodiscard]] std::string_view to_text(Status status);

struct SynthesisOptions {
  TimeModel model;
  Routing routing = Routing::automatic;
  std::uint64_t seed = 1;
  double limit_seconds = 0; ///< wall clock; 0 = none
  /// `--set key=value`: the algorithm's own options. An unknown key is an InputError.
  std::map<std::string, std::string> settings;
};

struct Outcome {
  Status status = Status::infeasible;
  std::optional<Schedule> schedule; ///< always complete where present
  std::string note;          ///< why infeasible ("rhd needs a power of two, not 6"); else empty
  std::string routing;       ///< what was used, for reports; empty where none was
  std::optional<Time> bound; ///< a lower bound that the algorithm proved itself, if any
};

using SynthesisFunction = Outcome (*)(const Topology&, const Collective&, const SynthesisOptions&);

/// An option of one algorithm, for `--set name=value`.
struct Setting {
  std::string_view name;
  std::string_view help; ///< meaning and default
};

/// One algorithm. Its function sees a Collective of exactly one part; several at once are made part
/// by part (see synthesize).
struct AlgorithmRow {
  std::string_view name;
  SynthesisFunction run;
  std::span<const CollectiveKind> collectives; ///< what it defines
  /// The driver makes collectives with a multiple of this many pieces per shard (Ring: 2, one for
  /// each direction).
  std::uint32_t pieces;
  std::string_view needs;  ///< of a topology, for `tutti list`: "any", "2^k NPUs", ...
  std::string_view source; ///< paper, section
  std::span<const Setting> settings = {}; ///< its own options

  [[nodiscard]] bool has_setting(std::string_view setting) const;
};

/// Runs an algorithm on every part and interleaves the results. Checks settings and reachability
/// first. A kind that the algorithm doesn't define, or a member that can't store, copy or (where
/// that is needed) reduce, is `infeasible` with a note.
/// Errors: InputError naming a setting that the algorithm doesn't have, or an NPU out of reach.
[[nodiscard]] Outcome synthesize(const AlgorithmRow& row, const Topology& topology,
                                 const Collective& collective, const SynthesisOptions& options);

} // namespace tutti
