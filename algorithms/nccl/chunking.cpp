// Into how many pieces NCCL cuts a buffer: over channels, and then over the loops of a kernel.
// Source: NCCL 2.30, enqueue.cc (calcCollChunking), device/prims_simple.h (slices).

#include "algorithms/nccl/schedules.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

namespace tutti::nccl {

namespace {

constexpr std::int64_t kib = 1024;
constexpr std::int64_t simple_step = 512 * kib, ll_step = 32 * kib, ll128_step = 576'000;

std::int64_t divided_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// Chunks that go one after another in a channel's part of a buffer of `size`.
std::int64_t chunk_of(const System& system, const Graphs& graphs, const Choice& choice,
                      std::int64_t size) {
  const std::int64_t step = choice.protocol == Protocol::ll      ? ll_step
                            : choice.protocol == Protocol::ll128 ? ll128_step
                                                                 : simple_step;
  const std::int64_t channels = choice.channels;
  std::int64_t chunk = step;
  const auto halve = [&](std::int64_t times, std::int64_t least, std::int64_t heads) {
    while (chunk > least && size / (channels * heads * chunk) < times) chunk /= 2;
  };
  switch (choice.algorithm) {
  case Algorithm::tree:
    if (choice.protocol == Protocol::ll128) {
      const double gpus = system.gpus;
      const double steps = std::bit_width(system.nodes) + 0.1 * gpus;
      halve(static_cast<std::int64_t>(steps * 64 / gpus), 128 * kib, 1);
      halve(static_cast<std::int64_t>(steps * 16 / gpus), 32 * kib, 1);
    }
    break;
  case Algorithm::nvls:
  case Algorithm::nvls_tree: {
    const std::int64_t heads = std::max<std::int64_t>(1, graphs.nvls.size());
    const bool is_tree = choice.algorithm == Algorithm::nvls_tree;
    chunk = is_tree && system.nodes >= 4 ? 64 * kib : 128 * kib;
    const auto shrink = [&](std::int64_t times, std::int64_t to) {
      if (chunk > to && size < times * channels * heads * chunk) chunk = to;
    };
    if (is_tree) {
      shrink(4, 64 * kib);
      shrink(1, 32 * kib);
    } else {
      shrink(64, 64 * kib);
      shrink(8, 32 * kib);
      shrink(2, 16 * kib);
    }
    break;
  }
  case Algorithm::collnet_direct: {
    const std::int64_t heads = std::max<std::int64_t>(1, graphs.collnet_direct.size());
    halve(2 * 64, 128 * kib, heads);
    halve(2 * 8, 32 * kib, heads);
    break;
  }
  case Algorithm::collnet_chain:
    chunk = 256 * kib;
    halve(std::int64_t{system.gpus} * 64, 128 * kib, 1);
    halve(std::int64_t{system.gpus} * 8, 64 * kib, 1);
    halve(system.gpus, 32 * kib, 1);
    break;
  case Algorithm::pat:
    while (chunk > 64 * kib && chunk * channels * 16 > size) chunk /= 2;
    break;
  case Algorithm::ring:
  case Algorithm::point_to_point:
  case Algorithm::all_pairs: break;
  }
  return chunk;
}

} // namespace

Cut cut_of(const System& system, const Graphs& graphs, CollectiveKind kind, const Choice& choice,
           Bytes whole, std::uint32_t blocks, Bytes tuned_for) {
  const std::int64_t channels = choice.channels;
  const std::int64_t size = std::max<std::int64_t>(1, whole.count / blocks);
  std::int64_t pieces = 1;
  double loops = 1;
  if (choice.algorithm == Algorithm::ring) {
    const bool has_slices = choice.protocol == Protocol::simple &&
                            kind != CollectiveKind::broadcast && kind != CollectiveKind::reduce;
    const std::int64_t each = divided_up(size, channels); // of a channel
    const std::int64_t step = chunk_of(system, graphs, choice, tuned_for.count / blocks);
    const std::int64_t times = divided_up(each, has_slices ? 4 * step : step);
    constexpr std::int64_t least_slice = 32 * kib;
    const std::int64_t slices = has_slices && each / times > least_slice ? 2 : 1;
    pieces = channels * times * slices;
    loops = static_cast<double>(times);
  } else if (choice.algorithm != Algorithm::point_to_point &&
             choice.algorithm != Algorithm::all_pairs) {
    const std::int64_t chunk = chunk_of(system, graphs, choice, tuned_for.count);
    pieces = divided_up(size, chunk);
    // Channels and heads share all blocks' pieces evenly.
    const std::int64_t sharers = choice.algorithm == Algorithm::tree ? channels : 1;
    const std::int64_t multiple = sharers / std::gcd(sharers, std::int64_t{blocks});
    pieces = divided_up(pieces, multiple) * multiple;
    loops = static_cast<double>(pieces * blocks) / static_cast<double>(channels);
  }
  if (has_shares(kind)) pieces = 8; // buffers' steps that a peer is sent at a time
  // A transfer or two of each piece for each rank; evenly over channels still.
  constexpr std::int64_t most_transfers = std::int64_t{1} << 22;
  const auto ranks = static_cast<std::int64_t>(system.ranks.size());
  const std::int64_t most =
      std::max<std::int64_t>(1, most_transfers / (ranks * blocks) / channels) * channels;
  pieces = std::clamp<std::int64_t>(pieces, 1, size);
  if (pieces <= most) return {static_cast<std::uint32_t>(pieces), {}, pieces, loops};
  return {static_cast<std::uint32_t>(most), Bytes{divided_up(size, pieces)}, pieces, loops};
}

} // namespace tutti::nccl
