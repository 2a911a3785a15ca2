// The loops of NCCL's kernels as lists of transfers. A ring's loop sends each of its chunks once
// around before the next begins, in two slices, so that one is under way while the other is
// combined; trees and heads stream. What a kernel does in shared memory takes no time here, nor do
// protocols: a schedule says who sends what to whom, a transport how long that takes.
// Source: NCCL 2.30, device/all_reduce.h, all_gather.h, reduce_scatter.h, broadcast.h, reduce.h;
// enqueue.cc (calcCollChunking), init.cc (ncclP2pSchedule), device/prims_simple.h (slices).

#include "algorithms/nccl/schedules.hpp"

#include "algorithms/double_binary_tree.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

namespace tutti::nccl {

namespace {

/// One chunk of a block and the position among all chunks.
class Pieces {
public:
  explicit Pieces(const RoutedSchedule& schedule) : part_(schedule.part()) {}
  [[nodiscard]] std::uint32_t count() const { return part_.chunks_per_shard; }
  [[nodiscard]] std::uint32_t blocks() const { return part_.chunk_count / count(); }
  [[nodiscard]] ChunkId chunk(std::uint32_t block, std::uint32_t k) const {
    return ChunkId{part_.first.value + block * count() + k};
  }
  /// All of them one after another, those of one k together, so that what is sent at the same time
  /// is of different blocks.
  [[nodiscard]] ChunkId any(std::uint32_t position) const {
    return chunk(position % blocks(), position / blocks());
  }
  [[nodiscard]] std::uint32_t all() const { return part_.chunk_count; }

private:
  const CollectivePart& part_;
};

/// A ring's ranks with the paths between neighbours: path[i] from the i-th to the next.
struct Ring {
  std::vector<Rank> ranks;
  std::vector<PathId> forward;
};

/// The ring of each channel. The j-th of the channels with one order takes the j-th of links that
/// are alike.
std::vector<Ring> rings_of(const Work& work, Wiring& wiring) {
  std::vector<Ring> rings;
  for (std::uint32_t c = 0; c < work.channels; ++c) {
    Ring ring{ring_of(work.system, work.graphs, c), {}};
    const auto copy =
        static_cast<std::uint32_t>(std::ranges::count(rings, ring.ranks, &Ring::ranks));
    for (std::size_t i = 0; i < ring.ranks.size(); ++i) {
      const Rank from = ring.ranks[i], to = ring.ranks[(i + 1) % ring.ranks.size()];
      const std::uint32_t a = wiring.node_of(from), b = wiring.node_of(to);
      const std::uint32_t g = wiring.index_of(from), h = wiring.index_of(to);
      ring.forward.push_back(
          a == b ? wiring.inside(a, g, h, copy)
                 : wiring.between({a, g, ring_in(work.system, work.graphs, a, c).nic_out},
                                  {b, h, ring_in(work.system, work.graphs, b, c).nic_in}, copy, c));
    }
    rings.push_back(std::move(ring));
  }
  return rings;
}

/// Transfers by the time at which they come about: those of round r and depth d (hops before it) in
/// wave r + d * (waves that a hop takes). Channels that share a connection, which keeps its order,
/// would wait for each other's depths in any other order, as NCCL's channels don't.
class Waves {
public:
  /// `a_round`: chunks that leave a GPU in one round. Chunks that stand for several of NCCL's keep
  /// the order that NCCL's have: at the size from which a hop takes fewer waves the time would
  /// jump.
  Waves(const Work& work, std::uint32_t a_round)
      : topology_(work.topology), schedule_(work.schedule), a_round_(a_round),
        chunk_(work.own_piece.count > 0
                   ? work.own_piece.count
                   : std::max<std::int64_t>(1, schedule_.part().size.count /
                                                   schedule_.part().chunk_count)) {}

  void add(std::uint32_t round, std::uint32_t depth, PathId path, ChunkId chunk, Op op) {
    transfers_.push_back({round, depth, path, chunk, op});
    if (transfers_.size() % 4096 == 0) schedule_.require_time();
    slowest_ = std::max(slowest_, hop_seconds(path));
  }
  void list() && {
    const double round = std::max(a_round_ * seconds_of_port(), 1e-12);
    constexpr double most = 64;
    const auto waves =
        static_cast<std::uint32_t>(std::clamp(std::ceil(slowest_ / round), 1.0, most));
    std::ranges::stable_sort(transfers_, {}, [waves](const Planned& transfer) {
      return std::pair(std::uint64_t{transfer.round} + std::uint64_t{transfer.depth} * waves,
                       transfer.depth);
    });
    for (const Planned& transfer : transfers_)
      schedule_.send_along(transfer.path, transfer.chunk, transfer.op);
  }

private:
  struct Planned {
    std::uint32_t round, depth;
    PathId path;
    ChunkId chunk;
    Op op;
  };

  [[nodiscard]] double on_link(LinkId link) const {
    return static_cast<double>(chunk_) /
           static_cast<double>(topology_.effective_bandwidth(link).bytes_per_second);
  }
  double hop_seconds(PathId path) {
    if (const auto known = seconds_.find(path.value); known != seconds_.end()) return known->second;
    double latency = 0, longest = 0;
    for (const LinkId link : schedule_.paths().links(path)) {
      latency += topology_.link(link).latency.seconds();
      longest = std::max(longest, on_link(link));
    }
    return seconds_[path.value] = latency + longest;
  }
  /// A chunk over the fastest of the links in use.
  [[nodiscard]] double seconds_of_port() const {
    double least = std::numeric_limits<double>::infinity();
    for (const auto& [path, seconds] : seconds_)
      for (const LinkId link : schedule_.paths().links(PathId{path}))
        least = std::min(least, on_link(link));
    return least;
  }

  const Topology& topology_;
  RoutedSchedule& schedule_;
  double a_round_;
  std::int64_t chunk_; // bytes
  std::vector<Planned> transfers_;
  std::map<std::uint32_t, double> seconds_; // by path
  double slowest_ = 0;
};

} // namespace

void list_rings(const Work& work) {
  RoutedSchedule& schedule = work.schedule;
  Wiring wiring(work.topology, work.system, schedule);
  const std::vector<Ring> rings = rings_of(work, wiring);
  const Pieces pieces(schedule);
  const CollectivePart& part = schedule.part();
  const Rank n = schedule.size();
  const std::uint32_t channels = work.channels;
  if (part.kind == CollectiveKind::broadcast || part.kind == CollectiveKind::reduce) {
    // A chain from the root on, or to it.
    const bool reduces = part.kind == CollectiveKind::reduce;
    Waves waves(work, channels);
    for (std::uint32_t k = 0; k < pieces.count(); ++k) {
      const Ring& ring = rings[k % channels];
      const auto root =
          static_cast<Rank>(std::ranges::find(ring.ranks, part.root) - ring.ranks.begin());
      for (Rank s = 0; s + 1 < n; ++s)
        waves.add(k / channels, s, ring.forward[(root + s + (reduces ? 1 : 0)) % n],
                  pieces.chunk(0, k), reduces ? Op::reduce : Op::copy);
    }
    return std::move(waves).list();
  }
  const bool reduces = part.kind != CollectiveKind::all_gather,
             gathers = part.kind != CollectiveKind::reduce_scatter;
  const std::uint32_t each = pieces.count() / channels; // of a channel and block
  const std::uint32_t a_loop = channels * (each % 2 == 0 ? 2 : 1);
  for (std::uint32_t first = 0; first < pieces.count(); first += a_loop)
    for (const bool reducing : {true, false}) {
      if (reducing ? !reduces : !gathers) continue;
      for (Rank s = 0; s + 1 < n; ++s)
        for (std::uint32_t k = first; k < std::min(first + a_loop, pieces.count()); ++k) {
          const Ring& ring = rings[k % channels];
          for (Rank i = 0; i < n; ++i) {
            // Reducing, the i-th sends what ends at the one n - 1 - s places on.
            const Rank owner = ring.ranks[(i + n - s - (reducing ? 1 : 0)) % n];
            schedule.send_along(ring.forward[i], pieces.chunk(owner, k),
                                reducing ? Op::reduce : Op::copy);
          }
        }
    }
}

void list_trees(const Work& work) {
  RoutedSchedule& schedule = work.schedule;
  Wiring wiring(work.topology, work.system, schedule);
  const Pieces pieces(schedule);
  const Channels& found = work.graphs.tree;
  const Rank n = schedule.size();
  struct Tree {
    RankTree shape;
    std::vector<PathId> up, down; // by rank: to its parent, and from it
  };
  std::vector<Tree> trees;
  for (std::uint32_t c = 0; c < work.channels; ++c) {
    Tree tree{tree_of(work.system, work.graphs, c), std::vector<PathId>(n), std::vector<PathId>(n)};
    const std::uint32_t port = c / found.size();
    for (Rank r = 0; r < n; ++r) {
      if (r == tree.shape.root) continue;
      const Rank p = tree.shape.parent[r];
      const std::uint32_t a = wiring.node_of(r), b = wiring.node_of(p);
      const AtNic child{a, wiring.index_of(r), chain_in(work.system, work.graphs, a, c).nic_in},
          above{b, wiring.index_of(p), chain_in(work.system, work.graphs, b, c).nic_in};
      tree.up[r] = a == b ? wiring.inside(a, child.gpu, above.gpu, c)
                          : wiring.between(child, above, port, c);
      tree.down[r] = a == b ? wiring.inside(a, above.gpu, child.gpu, c)
                            : wiring.between(above, child, port, c);
    }
    trees.push_back(std::move(tree));
  }
  Waves waves(work, work.channels);
  for (std::uint32_t position = 0; position < pieces.all(); ++position) {
    const Tree& tree = trees[position % work.channels];
    const RankTree& shape = tree.shape;
    const std::uint32_t round = position / work.channels, top = shape.height[shape.root];
    for (Rank r = 0; r < n; ++r) {
      if (r == shape.root) continue;
      waves.add(round, shape.height[r], tree.up[r], pieces.any(position), Op::reduce);
      waves.add(round, top + shape.depth[r] - 1, tree.down[r], pieces.any(position), Op::copy);
    }
  }
  std::move(waves).list();
}

// Parallel aggregated trees: from the farthest on, each sends what it has over twice the distance
// that is left, so that data is small where it goes far. Reduce-Scatter is the same backwards.
void list_pat(const Work& work) {
  RoutedSchedule& schedule = work.schedule;
  Wiring wiring(work.topology, work.system, schedule);
  const Pieces pieces(schedule);
  const Rank n = schedule.size();
  struct Send {
    Rank from, to, block;
  };
  std::vector<Send> sends;
  for (Rank distance = std::bit_floor(n - 1); distance > 0; distance /= 2)
    for (Rank i = 0; i < n; ++i)
      for (Rank far = 0; far + distance < n; far += 2 * distance)
        sends.push_back({i, (i + distance) % n, (i + n - far) % n});
  const bool reduces = schedule.part().kind == CollectiveKind::reduce_scatter;
  if (reduces) std::ranges::reverse(sends);
  for (std::uint32_t k = 0; k < pieces.count(); ++k)
    for (const Send& send : sends)
      schedule.send_along(reduces ? wiring.any(send.to, send.from, k)
                                  : wiring.any(send.from, send.to, k),
                          pieces.chunk(send.block, k), reduces ? Op::reduce : Op::copy);
}

// In each round the ranks of a group send to those of one other group: the one 0, 1, 3, 6, 10, ...
// groups further on, modulo a power of two, so that every distance comes once. Within a round each
// rank sends to the members of that group in turn, and no two ranks to the same one at a time.
void list_point_to_point(const Work& work) {
  RoutedSchedule& schedule = work.schedule;
  Wiring wiring(work.topology, work.system, schedule);
  const System& system = work.system;
  const Pieces pieces(schedule);
  const CollectivePart& part = schedule.part();
  const Rank n = schedule.size();
  // All peers are served at once, which matters where their shards differ: piece after piece of
  // all.
  const std::uint32_t passes = has_shares(part.kind) ? pieces.count() : 1;
  std::uint32_t pass = 0;
  const auto send = [&](Rank from, Rank to, std::uint32_t block) {
    if (from == to) return;
    const PathId path = wiring.any(from, to, from + to);
    const std::pair chunks = schedule.chunks_of(block);
    for (std::uint32_t k = chunks.second * pass / passes; k < chunks.second * (pass + 1) / passes;
         ++k)
      schedule.send_along(path, ChunkId{chunks.first.value + k}, Op::copy);
  };
  if (part.kind == CollectiveKind::hypercube) { // a call for each distance, one after another
    std::vector<std::uint32_t> received(n);     // by rank: the transfer that came last
    for (Rank distance = 1; distance < n; distance *= 2) {
      std::vector<std::uint32_t> next(n);
      for (Rank from = 0; from < n; ++from)
        for (Rank block = from & ~(distance - 1), sent = 0; sent < distance; ++sent) {
          send(from, from ^ distance, block + sent);
          if (distance > 1) schedule.wait_for(received[from]);
          next[from ^ distance] = static_cast<std::uint32_t>(schedule.transfers() - 1);
        }
      received = std::move(next);
    }
    return;
  }
  constexpr std::uint32_t peers_a_block = 8;
  std::uint32_t size = system.nodes > 1 ? peers_a_block : system.gpus;
  for (std::uint32_t node = 0; node < system.nodes; ++node)
    size = std::gcd(size, system.gpus_of(node));
  const std::uint32_t groups = n / size, period = std::bit_ceil(groups);
  std::uint32_t apart = 0;
  for (std::uint32_t step = 0; step < period * passes; apart = (apart + ++step) % period) {
    pass = step / period;
    if (apart >= groups) continue;
    for (std::uint32_t turn = 0; turn < size; ++turn)
      for (std::uint32_t i = 0; i < n; ++i) { // in the order of nodes
        const std::uint32_t group = (i / size + apart) % groups, local = (i % size + turn) % size;
        const Rank from = system.ranks[i], to = system.ranks[group * size + local];
        if (is_by_pairs(part.kind))
          send(from, to, from * n + to);
        else if (part.kind == CollectiveKind::sendrecv && to == (from + 1) % n)
          send(from, to, from);
        else if (part.kind == CollectiveKind::gather && to == part.root)
          send(from, to, from);
        else if (part.kind == CollectiveKind::scatter && from == part.root)
          send(from, to, to);
      }
  }
}

// Each sends everyone's shard to it, which it combines and sends to everyone.
void list_all_pairs(const Work& work) {
  RoutedSchedule& schedule = work.schedule;
  Wiring wiring(work.topology, work.system, schedule);
  const Pieces pieces(schedule);
  const Rank n = schedule.size();
  for (const Op op : {Op::reduce, Op::copy})
    for (Rank step = 1; step < n; ++step)
      for (Rank i = 0; i < n; ++i) {
        const Rank to = (i + step) % n;
        for (std::uint32_t k = 0; k < pieces.count(); ++k)
          schedule.send_along(wiring.any(i, to, 0), pieces.chunk(op == Op::reduce ? to : i, k), op);
      }
}

void list_heads(const Work& work) {
  RoutedSchedule& schedule = work.schedule;
  Wiring wiring(work.topology, work.system, schedule);
  const System& system = work.system;
  const Pieces pieces(schedule);
  const CollectiveKind kind = schedule.part().kind;
  const bool over_tree = work.algorithm == Algorithm::nvls_tree;
  const bool by_switch = over_tree || work.algorithm == Algorithm::nvls;
  const bool is_chain = work.algorithm == Algorithm::collnet_chain;
  const std::vector<Channel>& heads = (by_switch  ? work.graphs.nvls
                                       : is_chain ? work.graphs.collnet_chain
                                                  : work.graphs.collnet_direct)
                                          .all;
  const std::uint32_t nodes = system.nodes, p = system.gpus;
  const std::array<RankTree, 2> trees = double_tree(nodes);
  Waves waves(work, static_cast<std::uint32_t>(heads.size()));

  // Each takes the depth at which it begins, and returns the one after it.
  const auto gather = [&](std::uint32_t round, std::uint32_t node, const Channel& head,
                          ChunkId chunk) -> std::uint32_t {
    if (by_switch) { // the head's own comes over the switch, too
      for (std::uint32_t g = 0; g < p; ++g)
        waves.add(round, 0, wiring.up(node, g), chunk, Op::reduce);
      waves.add(round, 1, wiring.down(node, head.gpus[0]), chunk, Op::copy);
      return 2;
    }
    for (std::uint32_t i = p - 1; i > 0; --i)
      waves.add(round, is_chain ? p - 1 - i : 0,
                wiring.inside(node, head.gpus[i], head.gpus[is_chain ? i - 1 : 0], 0), chunk,
                Op::reduce);
    return is_chain ? p - 1 : 1;
  };
  const auto spread = [&](std::uint32_t round, std::uint32_t depth, std::uint32_t node,
                          const Channel& head, ChunkId chunk) {
    if (by_switch) {
      waves.add(round, depth, wiring.up(node, head.gpus[0]), chunk, Op::copy);
      for (std::uint32_t g = 0; g < p; ++g)
        waves.add(round, depth + 1, wiring.down(node, g), chunk, Op::copy);
      return;
    }
    for (std::uint32_t i = 1; i < p; ++i)
      waves.add(round, depth + (is_chain ? i - 1 : 0),
                wiring.inside(node, head.gpus[is_chain ? i - 1 : 0], head.gpus[i], 0), chunk,
                Op::copy);
  };
  const auto exchange = [&](std::uint32_t round, std::uint32_t depth, const Channel& head,
                            ChunkId chunk) -> std::uint32_t {
    if (nodes == 1) return depth;
    const std::uint32_t g = head.gpus[0], nic = head.nic_in;
    if (!over_tree) {
      for (std::uint32_t node = 0; node < nodes; ++node)
        waves.add(round, depth, wiring.to_switch(node, g, nic), chunk, Op::reduce);
      for (std::uint32_t node = 0; node < nodes; ++node)
        waves.add(round, depth + 1, wiring.from_switch(node, g, nic), chunk, Op::copy);
      return depth + 2;
    }
    const RankTree& tree = trees[round % 2];
    const std::uint32_t top = tree.height[tree.root];
    for (std::uint32_t node = 0; node < nodes; ++node) {
      if (node == tree.root) continue;
      const std::uint32_t above = tree.parent[node];
      waves.add(round, depth + tree.height[node],
                wiring.between({node, g, nic}, {above, g, nic}, round / 2, round / 2), chunk,
                Op::reduce);
      waves.add(round, depth + top + tree.depth[node] - 1,
                wiring.between({above, g, nic}, {node, g, nic}, round / 2, round / 2), chunk,
                Op::copy);
    }
    return depth + 2 * top;
  };

  if (kind == CollectiveKind::all_reduce) {
    for (std::uint32_t position = 0; position < pieces.all(); ++position) {
      const Channel& head = heads[position % heads.size()];
      const auto round = static_cast<std::uint32_t>(position / heads.size());
      const ChunkId chunk = pieces.any(position);
      std::uint32_t depth = 0;
      for (std::uint32_t node = 0; node < nodes; ++node) depth = gather(round, node, head, chunk);
      depth = exchange(round, depth, head, chunk);
      for (std::uint32_t node = 0; node < nodes; ++node) spread(round, depth, node, head, chunk);
    }
    return std::move(waves).list();
  }
  // A shard goes by the head that is its rank's GPU.
  for (std::uint32_t k = 0; k < pieces.count(); ++k)
    for (std::uint32_t i = 0; i < system.ranks.size(); ++i) {
      const std::uint32_t own = i / p, g = i % p;
      const Channel& head =
          *std::ranges::find(heads, g, [](const Channel& each) { return each.gpus[0]; });
      const ChunkId chunk = pieces.chunk(system.ranks[i], k);
      const std::uint32_t nic = head.nic_in;
      if (kind == CollectiveKind::reduce_scatter) {
        std::uint32_t depth = 0;
        for (std::uint32_t node = 0; node < nodes; ++node) depth = gather(k, node, head, chunk);
        if (nodes == 1) continue;
        for (std::uint32_t node = 0; node < nodes; ++node)
          waves.add(k, depth, wiring.to_switch(node, g, nic), chunk, Op::reduce);
        waves.add(k, depth + 1, wiring.from_switch(own, g, nic), chunk, Op::copy);
        continue;
      }
      if (nodes > 1) {
        waves.add(k, 0, wiring.to_switch(own, g, nic), chunk, Op::copy);
        for (std::uint32_t node = 0; node < nodes; ++node)
          if (node != own) waves.add(k, 1, wiring.from_switch(node, g, nic), chunk, Op::copy);
      }
      for (std::uint32_t node = 0; node < nodes; ++node)
        spread(k, node == own ? 0 : 2, node, head, chunk);
    }
  std::move(waves).list();
}

} // namespace tutti::nccl
