// What an algorithm said, as bytes: a key, an Outcome, and its schedule in the binary form of
// schedule files.
//
// A record: texts (their length, then their bytes) and numbers, each a word of 8 bytes, the lowest
// first; an optional number has the word 0 or 1 before it; real numbers by their bits:
//   key, status, form (0 no schedule, 1 list, 2 compact), names of the network (hash), pieces,
//   note, routing, bound?, planned?, planned_on, number of attempts, attempts, number of facts,
//   each: name, value; choice of a library?; then, to the end, the schedule
#pragma once

#include "sim/collective.hpp"
#include "sim/synthesizer.hpp"
#include "sim/topology.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace tutti {

struct RememberedOutcome {
  Outcome outcome;
  /// Whether it is of a network with these very names, of itself and its nodes: the outcome's texts
  /// may speak of them.
  bool has_same_names = false;
};

/// `collective`: what the schedule speaks of. Nothing where it takes more than `most` bytes, or the
/// schedule can't be written. Memory: at most twice `most`.
[[nodiscard]] std::optional<std::string> outcome_record(const std::string& key,
                                                        const Topology& topology,
                                                        const Collective& collective,
                                                        const Outcome& outcome, std::size_t most);

/// What a record says; nothing where it has another key. Whether the schedule is correct is for the
/// caller to verify. Errors: InputError for what is no record.
[[nodiscard]] std::optional<RememberedOutcome>
parse_outcome_record(std::string_view record, const std::string& key, const Topology& topology);

} // namespace tutti
