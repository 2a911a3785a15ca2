// RCCL chooses by the model of NCCL with constants by server, and corrections by size that steer
// the choice and are no times: one of 0.1 forbids. These are of servers of eight Instinct MI300 in
// a full mesh (its model 5), and of MI200 (its model 4).
// Source: RCCL 2.21.5 (github.com/ROCm/rccl), graph/tuning.cc (tuning_model_4, tuning_model_5).

#include "algorithms/nccl/rccl_tuner.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace tutti::nccl {

namespace {

constexpr std::size_t sizes = 27; // 64 B, 128 B, ...
using Corrections = std::array<std::array<double, sizes>, protocol_count>;
/// Values for trees and for rings, each for LL, LL128 and Simple.
using Pair = std::array<std::array<double, protocol_count>, 2>;

struct Model {
  Pair inside, between;      ///< latency of a hop, us
  Pair share, share_of_many; ///< of the bandwidth: on one or two nodes, on more
  Corrections tree, ring;
};

constexpr std::array<double, protocol_count> base_of_rccl{12, 12, 17}; // us

constexpr Model mi300{{{{.9, 0, 2.3}, {.8, 0, 2.1}}},
                      {{{10.5, 0, 25}, {9.5, 0, 320}}},
                      {{{.06, 0, .11}, {.08, 0, 1}}},
                      {{{.06, 0, .59}, {.08, 0, 1}}},
                      {{{.1, .1, .1, .1, .1, .1, 1,  1,  1,  1,  1,  .6, 1, .9,
                         1,  1,  .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1},
                        {},
                        {.1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1,
                         .1, .7, 1,  1,  1,  1,  1,  1,  1,  1,  1,  1,  .8}}},
                      {{{.1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, 1,  .2, 1,
                         .4, .4, .1, .2, .2, .1, .1, .1, .1, .1, .1, .1, .1},
                        {},
                        {.1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1,
                         .1, .1, .1, .1, .1, .1, .1, .1, .1, .8, 1,  1,  1}}}};

constexpr Model mi200{{{{.8, 1.4, 2.5}, {.8, 2.2, 3.6}}},
                      {{{32.2, 34.4, 47.6}, {35.4, 87.8, 209.2}}},
                      {{{.16, 1.09, 1.61}, {.15, .41, 1}}},
                      {{{.16, 1.09, 1.08}, {.15, .41, 1}}},
                      {{{.1, .1, .1, .1, .1, .1, .1, .1, 1,  .1, .1, .2, .4, .6,
                         .5, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1},
                        {.1, .1, .1, .1, .1, .1, .1, .1, .1, .2, .1, .1, .2, 1,
                         .5, .2, .2, .2, .2, .2, .2, .2, .2, .2, .2, .2, .2},
                        {1, 1, 1,  1,  1,  1,  1,  1,  .8, .4, .3, .3, .1, .1,
                         1, 1, .7, .5, .6, .5, .6, .6, .5, .6, .6, .6, .7}}},
                      {{{.1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .2, .2, .1,
                         .3, .1, .1, .1, .2, .1, .1, .1, .1, .1, .1, .1, .1},
                        {.4, .5, .5, .4, .4, .4, .4, .2, .2, .1, .3, 1,  1, .7,
                         .8, .5, 1,  1,  1,  1,  1,  .9, .8, .5, .4, .3, .3},
                        {.1, .1, .1, .1, .1, .1, .1, .1, .1, 1, 1, .8, .5, .1,
                         .7, .2, .4, .4, .6, .7, .9, 1,  1,  1, 1, 1,  1}}}};

} // namespace

std::optional<double> RcclTuner::time(CollectiveKind kind, Algorithm algorithm, Protocol protocol,
                                      Bytes size) const {
  const bool is_tree = algorithm == Algorithm::tree;
  const auto p = static_cast<std::size_t>(protocol);
  if (!is_allowed(algorithm, protocol)) return std::nullopt;
  if (is_tree ? kind != CollectiveKind::all_reduce : algorithm != Algorithm::ring)
    return std::nullopt;
  const bool is_mi300 = system_.gpu->model != "mi250x";
  if (is_tree && protocol == Protocol::simple && is_mi300 && system_.nodes == 1)
    return std::nullopt;
  const Model& model = is_mi300 ? mi300 : mi200;
  const std::size_t row = is_tree ? 0 : 1;
  const Channels& channels = is_tree ? graphs_.tree : graphs_.ring;
  const double nodes = system_.nodes, gpus = system_.gpus, n = ranks_;
  double speed = channels.size() * (system_.nodes <= 2 ? channels.inside : channels.between);
  speed *= (system_.nodes <= 2 ? model.share : model.share_of_many)[row][p];
  constexpr double for_one_root = 1.65;
  if (!is_tree && protocol == Protocol::ll && is_rooted(kind) && is_mi300 && system_.nodes == 1)
    speed *= for_one_root;
  const double steps = kind == CollectiveKind::all_reduce ? 2 * (n - 1)
                       : is_shard_collective(kind)        ? n - 1
                                                          : n;
  speed *= is_tree ? 0.5 : n / steps;
  const auto bytes = static_cast<std::uint64_t>(size.count);
  const std::uint64_t blocks = bytes >> 6;
  const std::size_t log_size = std::min<std::size_t>(
      blocks == 0 ? 0 : static_cast<std::size_t>(std::bit_width(blocks)) - 1, sizes - 1);
  if (is_tree)
    speed *= model.tree[p][log_size];
  else if (system_.nodes > 1)
    speed *= model.ring[p][log_size];
  if (speed <= 0) return std::nullopt;
  double latency = base_of_rccl[p];
  double inside = model.inside[row][p];
  const double between = model.between[row][p];
  if (is_tree) {
    const double log_nodes = std::bit_width(system_.nodes) - 1;
    latency += 2 * ((gpus - 1) * inside + log_nodes * between);
  } else if (is_rooted(kind)) {
    const Pair& any = system_.nodes == 1 ? model.inside : model.between;
    latency += channels.are_same ? any[1][p] : steps * any[protocol == Protocol::simple ? 0 : 1][p];
  } else {
    if (system_.nodes > 1)
      inside = std::max(inside, (processor_ == Processor::amd ? 2.0 : 1.0) *
                                    (protocol == Protocol::simple ? 3 : 1));
    const double crossings =
        kind == CollectiveKind::all_reduce ? (system_.nodes > 1 ? 2 * nodes : 0) : nodes - 1;
    latency += (steps - crossings) * inside + crossings * between;
  }
  return latency + static_cast<double>(bytes) / (1000 * speed);
}

std::uint32_t RcclTuner::channels_for(Algorithm algorithm, Protocol protocol, Bytes size) const {
  if (allowed_.channels) return *allowed_.channels;
  constexpr std::array<std::int64_t, protocol_count> threshold{8, 8, 64};
  constexpr std::int64_t threads = 256;
  std::int64_t each = threads * threshold[static_cast<std::size_t>(protocol)];
  if (algorithm == Algorithm::ring && protocol == Protocol::ll) each *= ranks_;
  return channels_of_size(size, each);
}

} // namespace tutti::nccl
