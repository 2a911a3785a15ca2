// Why: synthesis keeps to a sketch because it never sees anything else; whether it does is checked
// from the other side, transfer by transfer, in ranks as the sketch has them.
#include "tests/synth/taccl/check_sketch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <vector>

namespace tutti {

namespace {

class SketchCheck {
public:
  SketchCheck(const Topology& topology, const Collective& collective, const Schedule& schedule,
              const Sketch& sketch)
      : topology_(topology), collective_(collective), schedule_(schedule), sketch_(sketch),
        size_(topology.npu_count() / sketch.machines) {}

  std::optional<std::string> run() {
    for (std::size_t i = 0; i < schedule_.size(); ++i) {
      if (std::string fault = fault_of(i); !fault.empty())
        return fmt::format("transfer {}: {}", i, fault);
    }
    for (const Sketch::Rotation& rotation : sketch_.symmetry)
      if (std::string fault = asymmetry(rotation); !fault.empty()) return fault;
    return std::nullopt;
  }

private:
  struct Ends {
    std::uint32_t from, to;
  };
  [[nodiscard]] std::string name(std::uint32_t npu) const {
    return topology_.node(NodeId{npu}).name;
  }

  std::string fault_of(std::size_t i) {
    const Transfer transfer = schedule_[i];
    const auto path = schedule_.paths().links(transfer.path);
    const Ends ends{topology_.link(path.front()).from.value, topology_.link(path.back()).to.value};
    if (ends.from >= topology_.npu_count() || ends.to >= topology_.npu_count())
      return "it doesn't go from one NPU to another";
    for (const LinkId link : path.subspan(1))
      if (topology_.link(link).from.value < topology_.npu_count())
        return fmt::format("it passes {}", topology_.node(topology_.link(link).from).name);
    const LocalRank from = ends.from % size_, to = ends.to % size_;
    if (ends.from / size_ == ends.to / size_) {
      if (is_allowed_inside(from, to, path.size() == 1)) return {};
      return fmt::format("the sketch has no connection from {} to {} within a machine",
                         name(ends.from), name(ends.to));
    }
    if (!is_connected(from, to))
      return fmt::format("the sketch has no connection from {} to {} between machines",
                         name(ends.from), name(ends.to));
    if (std::string fault = leaving_fault(transfer, ends); !fault.empty()) return fault;
    if (!sketch_.own_chunks_first || transfer.op == Op::reduce) return {};
    const auto sources = collective_.sources(transfer.chunk);
    bool& has_relayed = has_relayed_[{ends.from, ends.to}];
    if (!std::ranges::binary_search(sources, NodeId{ends.from}))
      has_relayed = true;
    else if (has_relayed)
      return fmt::format("{} sends its own chunk {} after one that it relays", name(ends.from),
                         transfer.chunk.value);
    return {};
  }

  [[nodiscard]] bool is_allowed_inside(LocalRank from, LocalRank to, bool is_direct) const {
    for (const Sketch::Hyperedge& edge : sketch_.hyperedges)
      if (std::ranges::count(edge.npus, from) > 0 && std::ranges::count(edge.npus, to) > 0)
        return true;
    if (sketch_.links) {
      const auto& allowed = *sketch_.links;
      return is_direct && std::ranges::count(allowed, std::pair(from, to)) > 0;
    }
    return is_direct || sketch_.hyperedges.empty();
  }

  [[nodiscard]] bool is_connected(LocalRank from, LocalRank to) const {
    switch (sketch_.between) {
    case Sketch::Between::nothing: return false;
    case Sketch::Between::direct: return from == to;
    case Sketch::Between::full: return true;
    case Sketch::Between::mapped: break;
    }
    const auto found = sketch_.connections.find(from);
    return found != sketch_.connections.end() && std::ranges::count(found->second, to) > 0;
  }

  [[nodiscard]] bool is_mapped(LocalRank sender, LocalRank npu) const {
    const auto found = sketch_.leaves_through.find(sender);
    return found != sketch_.leaves_through.end() && std::ranges::count(found->second, npu) > 0;
  }

  [[nodiscard]] std::string leaving_fault(const Transfer& transfer, Ends ends) const {
    if (sketch_.leaves_through.empty()) return {};
    const bool sums = transfer.op == Op::reduce;
    const auto owners =
        sums ? collective_.destinations(transfer.chunk) : collective_.sources(transfer.chunk);
    // In an All-Reduce everybody holds and wants each chunk; the shard's own NPU is its root.
    const CollectivePart& part = part_of(transfer.chunk);
    const std::uint32_t owner =
        part.kind == CollectiveKind::all_reduce
            ? part.group[(transfer.chunk.value - part.first.value) / part.chunks_per_shard].value
            : owners.front().value;
    const std::uint32_t machine = owner / size_;
    if (machine != (sums ? ends.to : ends.from) / size_) return {};
    const LocalRank sender = ends.from % size_, receiver = ends.to % size_;
    // A sum comes back the way on which the NPU's own chunk would have left: into a receiver of
    // one of its senders.
    bool is_allowed = !sums && is_mapped(sender, owner % size_);
    if (sums)
      for (const auto& [through, npus] : sketch_.leaves_through)
        is_allowed |= is_mapped(through, owner % size_) && is_connected(through, receiver);
    if (is_allowed) return {};
    return fmt::format("chunk {} of {} {} its machine through {}", transfer.chunk.value,
                       name(owner), sums ? "enters" : "leaves", name(sums ? ends.to : ends.from));
  }

  [[nodiscard]] const CollectivePart& part_of(ChunkId chunk) const {
    for (const CollectivePart& part : collective_.parts)
      if (chunk.value < part.first.value + part.chunk_count) return part;
    return collective_.parts.back();
  }

  /// What a chunk is known by, rotated: the kth of those with the same sources and destinations.
  using ChunkName = std::tuple<std::vector<std::uint32_t>, std::vector<std::uint32_t>, std::size_t>;
  using Sent = std::tuple<ChunkName, std::uint32_t, std::uint32_t, Op>;

  [[nodiscard]] std::string asymmetry(const Sketch::Rotation& rotation) const {
    const auto rotated = [&](std::uint32_t npu) {
      return (npu % rotation.size + rotation.offset) % rotation.size +
             npu / rotation.size * rotation.size;
    };
    const auto ends_of = [&](ChunkId chunk, bool rotate) {
      std::vector<std::uint32_t> sources, destinations;
      for (const NodeId npu : collective_.sources(chunk))
        sources.push_back(rotate ? rotated(npu.value) : npu.value);
      for (const NodeId npu : collective_.destinations(chunk))
        destinations.push_back(rotate ? rotated(npu.value) : npu.value);
      std::ranges::sort(sources);
      std::ranges::sort(destinations);
      return std::pair(sources, destinations);
    };
    std::map<std::pair<std::vector<std::uint32_t>, std::vector<std::uint32_t>>, std::size_t> counts;
    std::vector<std::size_t> ordinal;
    for (std::uint32_t c = 0; c < collective_.chunks.size(); ++c)
      ordinal.push_back(counts[ends_of(ChunkId{c}, false)]++);
    // Chunks of an All-Reduce are told apart by their shard alone.
    const auto name_of = [&](ChunkId chunk, bool rotate) {
      const CollectivePart& part = part_of(chunk);
      if (part.kind == CollectiveKind::all_reduce) {
        const std::uint32_t at = chunk.value - part.first.value;
        const std::uint32_t root = part.group[at / part.chunks_per_shard].value;
        return ChunkName{{rotate ? rotated(root) : root}, {}, at % part.chunks_per_shard};
      }
      const auto [sources, destinations] = ends_of(chunk, rotate);
      return ChunkName{sources, destinations, ordinal[chunk.value]};
    };
    std::multiset<Sent> sent, images;
    for (std::size_t i = 0; i < schedule_.size(); ++i) {
      const Transfer transfer = schedule_[i];
      const auto path = schedule_.paths().links(transfer.path);
      const std::uint32_t from = topology_.link(path.front()).from.value;
      const std::uint32_t to = topology_.link(path.back()).to.value;
      sent.emplace(name_of(transfer.chunk, false), from, to, transfer.op);
      images.emplace(name_of(transfer.chunk, true), rotated(from), rotated(to), transfer.op);
    }
    if (sent == images) return {};
    return fmt::format("rotated by {} in groups of {} ranks it is another schedule",
                       rotation.offset, rotation.size);
  }

  const Topology& topology_;
  const Collective& collective_;
  const Schedule& schedule_;
  const Sketch& sketch_;
  std::uint32_t size_; ///< NPUs of a machine
  std::map<std::pair<std::uint32_t, std::uint32_t>, bool> has_relayed_;
};

} // namespace

std::optional<std::string> sketch_fault(const Topology& topology, const Collective& collective,
                                        const Schedule& schedule, const Sketch& sketch) {
  return SketchCheck(topology, collective, schedule, sketch).run();
}

} // namespace tutti
