// Communication sketches (Shah et al. 2023, TACCL, sec. 3 and appendix A): in a few lines, what a
// good algorithm for a machine looks like. Which connections it may use, how switches are used, in
// which ways it is symmetric, and how finely data is cut.
//
// The NPUs of a network are taken as machines of equally many consecutive ranks each; a sketch
// speaks of ranks within a machine, and holds for each of them.
#pragma once

#include "sim/topology.hpp"
#include "sim/units.hpp"
#include "sim/words.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tutti {

/// What is preferred among routings that take equally long (sec. 3.2 and 5.2).
enum class ConnectionPolicy : std::uint8_t {
  freeconn, ///< nothing
  uc_max,   ///< many connections: for small data
  uc_min,   ///< few connections: for large data, which queues at switches
};
inline constexpr Words<ConnectionPolicy, 3> connection_policy_words{
    "policy", {"freeconn", "uc-max", "uc-min"}};
[[nodiscard]] constexpr std::string_view to_text(ConnectionPolicy policy) {
  return connection_policy_words.text(policy);
}

/// What is preferred among the links within a machine, in TACCL's words: that the busiest is used
/// as little as possible ("minmax"), or the idlest as much as possible ("maxmin").
enum class LinkBalance : std::uint8_t { none, minmax, maxmin };

using LocalRank = std::uint32_t; ///< within a machine

struct Sketch {
  /// Replaces a switch by direct connections between these NPUs (a switch-hyperedge, sec. 3.2).
  struct Hyperedge {
    std::vector<LocalRank> npus; ///< ascending; the NPUs of two hyperedges are the same or disjoint
    ConnectionPolicy policy = ConnectionPolicy::freeconn;
    std::string place; ///< "FILE:LINE:COLUMN: ", or that and a JSON path
  };
  /// How the NPUs of a machine reach those of another one.
  enum class Between : std::uint8_t {
    nothing, ///< not at all
    mapped,  ///< by `connections`
    direct,  ///< each its counterpart of the same rank
    full,    ///< each every one
  };
  /// A rotation: rank r goes to (r mod size + offset) mod size + size * floor(r / size) (sec. 3.3).
  struct Rotation {
    std::uint32_t offset = 0, size = 0;
    std::string place;
  };

  std::string name; ///< the file's name without ending, where the sketch has none itself
  std::uint32_t machines = 1;
  std::string machines_place;

  /// Direct links within a machine that may be used, from, to; none: all. Without hyperedges and
  /// where a machine has no direct links: all paths through its switches.
  std::optional<std::vector<std::pair<LocalRank, LocalRank>>> links;
  std::string links_place;
  LinkBalance balance = LinkBalance::none;
  std::vector<Hyperedge> hyperedges;

  Between between = Between::nothing;
  std::map<LocalRank, std::vector<LocalRank>> connections; ///< sender -> receivers
  std::string between_place;
  /// A connection carries data so many times slower than its path would. None: by as many as share
  /// the narrowest part of its path on the way to one machine.
  std::optional<double> beta_split;
  /// Sender -> whose chunks may leave the machine through it; empty: anybody's through all.
  std::map<LocalRank, std::vector<LocalRank>> leaves_through;
  std::string leaves_place;
  bool own_chunks_first = false; ///< a sender's own chunks before those that it relays

  std::vector<Rotation> symmetry;
  bool finds_symmetry = false; ///< rotations are found instead

  std::uint32_t partitions = 1; ///< chunks per shard
  std::optional<Bytes> chunk;   ///< size that routing is planned for; none: the collective's own
};

/// Reads a sketch in Tutti's TOML (docs/formats/sketch.md) or TACCL's JSON, distinguished by the
/// first character. Errors: InputError with file:line:column (TOML, JSON syntax) or the file and
/// the JSON path (what JSON means): a missing, unknown or repeated key, a wrong type or range,
/// overlapping hyperedges, senders with unequally many receivers, an unknown policy.
[[nodiscard]] Sketch read_sketch(const std::string& file);
/// The same of a text. `source` is named in errors.
[[nodiscard]] Sketch parse_sketch(std::string_view text, const std::string& source);
/// A file that read_sketch() reads back as the same; `note` becomes a comment.
[[nodiscard]] std::string sketch_toml(const Sketch& sketch, const std::string& note);

/// Errors: InputError with the place in the sketch, where it is of another machine: NPUs that don't
/// divide into so many machines, ranks that a machine doesn't have, links that it doesn't have.
void require_fitting(const Sketch& sketch, const Topology& topology);

// What both formats share.
namespace sketch_format {

/// Above it, tables of pairs would take gigabytes.
inline constexpr std::uint32_t most_machines = 4096;

/// Sorts, and checks what needs no machine: see read_sketch(). Errors: InputError with the place.
void finish(Sketch& sketch);

[[nodiscard]] Sketch parse_toml_sketch(std::string_view text, const std::string& source);
[[nodiscard]] Sketch parse_json_sketch(std::string_view text, const std::string& source);

} // namespace sketch_format

} // namespace tutti
