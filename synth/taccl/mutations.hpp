// Sketches like a given one, for a search among them (Shah et al. 2023, sec. 9, "Exploring
// communication sketches", leaves it to future work).
#pragma once

#include "sim/random.hpp"
#include "sim/topology.hpp"
#include "synth/taccl/sketch.hpp"

#include <cstdint>
#include <optional>
#include <set>
#include <string>

namespace tutti {

/// A sketch, and how much longer than the shortest paths may be (RoutingProblem::slack).
struct SketchTrial {
  Sketch sketch;
  std::optional<double> slack;
};

/// One change at a time: partitions, policies, the kind of connections between machines and to how
/// many receivers, who sends and who receives, whose chunks leave through whom, the split of NICs,
/// the slack of paths. Equal for equal seeds; none comes twice.
class SketchMutations {
public:
  /// `network` must outlive this. Partitions change only where `may_cut`.
  SketchMutations(const Topology& network, bool may_cut, std::uint64_t seed)
      : network_(network), may_cut_(may_cut), random_(seed) {}

  /// Nothing where a thousand changes in a row came to nothing new.
  std::optional<SketchTrial> next(const SketchTrial& from);

private:
  void change(SketchTrial& trial);
  void change_connections(Sketch& sketch);

  const Topology& network_;
  bool may_cut_;
  Random random_;
  std::set<std::string> known_; ///< what was given out, as text
  std::uint32_t count_ = 0;
};

} // namespace tutti
