// The model by which NCCL chooses: time = latency + size / bandwidth of each algorithm and
// protocol, from constants by generation and number of nodes, corrected for trees by size; the
// least wins. It is made to choose, not to predict: launches, chunks and protocols' waits are left
// out.
// Source: NCCL 2.30, graph/tuning.cc (ncclTopoTuneModel, ncclTopoGetAlgoTime) and enqueue.cc
// (topoGetAlgoInfo), whose constants these are.
//
// RCCL chooses by the same model with constants by server, and corrections by size that steer the
// choice and are no times: one of 0.1 forbids. These are of servers of eight Instinct MI300 in a
// full mesh (its model 5), of MI200 (its model 4) and of MI50 (its model 0).
// Source: RCCL 2.21.5 (github.com/ROCm/rccl), graph/tuning.cc (tuning_model_0, _4, _5).

#include "algorithms/nccl/tuner.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace tutti::nccl {

namespace {

constexpr std::array<std::string_view, 9> algorithm_names{
    "tree",      "ring", "collnet_direct", "collnet_chain", "nvls",
    "nvls_tree", "pat",  "sends",          "all_pairs"};
constexpr std::array<std::string_view, 3> protocol_names{"ll", "ll128", "simple"};

using ByProtocol = std::array<double, protocol_count>;
using ByAlgorithm = std::array<ByProtocol, tuned_algorithms>;

// Microseconds: of the start, and of a hop over NVLink, PCIe and the network.
constexpr ByAlgorithm base_latency{
    {{6.8, 14, 8.4}, {6.6, 14, 8.4}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {8, 8, 8}}};
constexpr ByAlgorithm nvlink_latency{
    {{.6, 1.25, 4}, {.6, 1.9, 3.4}, {0, 0, 3.7}, {0, 0, 2.8}, {0, 0, 25}, {0, 0, 25}, {0, 0, 4}}};
constexpr ByAlgorithm pcie_latency{
    {{1, 1.9, 4}, {1, 2.5, 5.7}, {0, 0, 3.7}, {0, 0, 2.8}, {0, 0, 0}, {0, 0, 0}, {0, 0, 4}}};
constexpr ByAlgorithm network_latency{
    {{5, 8.5, 14}, {2.7, 4, 14}, {0, 0, 31}, {0, 0, 30}, {0, 0, 18}, {0, 0, 20.9}, {0, 0, 14}}};

// GB/s, by generation (Volta, Ampere, Hopper, Blackwell) and nodes (1, 2, more).
using ByNodes = std::array<double, 3>;
using Caps = std::array<ByNodes, 4>;
constexpr Caps ll_most{{{39, 39, 20.4}, {87.7, 22.5, 19}, {141, 45, 35}, {282, 90, 70}}};
constexpr Caps ring_ll128_most{{{20, 20, 20}, {20, 20, 20}, {36.7, 36.7, 36.7}, {40, 40, 40}}};
constexpr Caps tree_ll128_most{{{20, 20, 20}, {20, 20, 20}, {36.7, 36.7, 29}, {55.6, 31.67, 20}}};
constexpr Caps tree_most{{{26.5, 18.5, 10}, {24, 23.6, 17.8}, {38.7, 41.4, 36}, {70, 42.8, 24}}};
constexpr Caps nvls_tree_most{{{26.5, 18.5, 10}, {24, 23.6, 17.8}, {0, 57.7, 45.5}, {0, 96, 80}}};
constexpr std::array<double, 4> nvls_efficiency{0, 0, .85, .74};

// Factors that correct a tree's bandwidth, for 64 B, 128 B, ..., 512 MiB.
constexpr std::array<std::array<double, 24>, protocol_count> tree_correction{
    {{1, 1, 1, 1, .9, .8, .7, .7, .7, .7, .6, .5, .4, .4, .5, .6, .7, .8, .9, 1, 1, 1, 1, 1},
     {1, 1, 1, 1, 1, .9, .8, .8, .8, .7, .6, .6, .6, .6, .6, .6, .8, .9, .9, .9, .9, 1, 1, 1},
     {.9, .9, .9, .9, .9, .9, .9, .8, .7, .6, .6, .5,
      .5, .5, .5, .6, .7, .8, .7, .7, .8, .9, .9, .9}}};

std::size_t at(Algorithm algorithm) { return static_cast<std::size_t>(algorithm); }
std::size_t at(Protocol protocol) { return static_cast<std::size_t>(protocol); }

std::size_t row_of(Generation generation) {
  return std::min<std::size_t>(static_cast<std::size_t>(generation), 3);
}

/// floor(log2(n)), 0 for 0.
std::uint32_t log2_of(std::uint64_t n) {
  return n == 0 ? 0 : static_cast<std::uint32_t>(std::bit_width(n) - 1);
}

bool is_nvls(Algorithm algorithm) {
  return algorithm == Algorithm::nvls || algorithm == Algorithm::nvls_tree;
}
bool is_collnet(Algorithm algorithm) {
  return algorithm == Algorithm::collnet_direct || algorithm == Algorithm::collnet_chain;
}

/// Each GPU of a node is a head.
bool has_all_heads(const Channels& channels, std::uint32_t gpus) {
  std::vector<bool> is_head(gpus);
  for (const Channel& channel : channels.all) is_head[channel.gpus.front()] = true;
  return std::ranges::count(is_head, true) == gpus;
}

constexpr std::size_t rccl_sizes = 27; // 64 B, 128 B, ...
using RcclCorrections = std::array<std::array<double, rccl_sizes>, protocol_count>;
/// Values for trees and for rings, each for LL, LL128 and Simple.
using RcclPair = std::array<std::array<double, protocol_count>, 2>;

struct RcclModel {
  RcclPair inside, between;      ///< latency of a hop, us
  RcclPair share, share_of_many; ///< of the bandwidth: on one or two nodes, on more
  RcclCorrections tree, ring;
};

constexpr std::array<double, protocol_count> base_of_rccl{12, 12, 17}; // us

constexpr RcclModel mi300{{{{.9, 0, 2.3}, {.8, 0, 2.1}}},
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

constexpr RcclModel mi200{{{{.8, 1.4, 2.5}, {.8, 2.2, 3.6}}},
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

constexpr RcclModel mi50{{{{.8, 1.4, 2.5}, {.8, 2.2, 3.6}}},
                         {{{11.8, 18.2, 20.8}, {9.5, 19.8, 15.1}}},
                         {{{.04, .22, .91}, {.04, .34, 1}}},
                         {{{.04, .22, .95}, {.04, .34, 1}}},
                         {{{.1, .2, .1, .1, .9, .3, .4, .1, .2, .4, .2, .1, .3, .3,
                            .2, .2, .2, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1},
                           {.1, .3, 1,  .1, .5, 1,  .9, 1,  1,  1,  .3, .1, .4, .5,
                            .5, .4, .4, .3, .3, .2, .2, .2, .2, .2, .2, .2, .2},
                           {.2, 1, .1, .1, .7, .2, .4, .1, .1, .3, .4, .3, .6, .8,
                            1,  1, 1,  1,  .9, .8, .8, .8, .8, .8, .9, .9, .9}}},
                         {{{.1, .1, .1, .1, .1, .2, .4, .2, .3, .5, .3, .1, .5, .5,
                            .3, .2, .2, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1},
                           {.1, .1, .1, .1, .1, .1, .1, .1, .1, .3, 1,  1,  1, 1,
                            1,  1,  .8, .7, .5, .4, .4, .3, .3, .3, .3, .3, .3},
                           {1,  .8, .2, 1,  1, .3, 1, .1, .1, .2, .2, .1, .5, 1,
                            .8, .8, 1,  .9, 1, 1,  1, 1,  1,  1,  1,  1,  1}}}};

/// Those of its architecture; later ones go by the latest.
const RcclModel& model_of(std::string_view gpu) {
  return gpu == "mi50" ? mi50 : gpu == "mi250x" ? mi200 : mi300;
}

} // namespace

bool is_shard_collective(CollectiveKind kind) {
  return kind == CollectiveKind::all_gather || kind == CollectiveKind::reduce_scatter;
}
bool is_rooted(CollectiveKind kind) {
  return kind == CollectiveKind::broadcast || kind == CollectiveKind::reduce;
}
std::string_view to_text(Algorithm algorithm) { return algorithm_names[at(algorithm)]; }
std::string_view to_text(Protocol protocol) { return protocol_names[at(protocol)]; }

std::optional<Algorithm> find_algorithm(std::string_view name) {
  const auto found = std::ranges::find(algorithm_names, name);
  if (found == algorithm_names.end()) return std::nullopt;
  return static_cast<Algorithm>(found - algorithm_names.begin());
}
std::optional<Protocol> find_protocol(std::string_view name) {
  const auto found = std::ranges::find(protocol_names, name);
  if (found == protocol_names.end()) return std::nullopt;
  return static_cast<Protocol>(found - protocol_names.begin());
}

bool Tuner::is_allowed(Algorithm algorithm, Protocol protocol) const {
  return at(algorithm) < tuned_algorithms && allowed_.algorithms[at(algorithm)] &&
         allowed_.protocols[at(protocol)];
}

std::uint32_t Tuner::channels_of_size(Bytes size, std::int64_t least) const {
  std::uint32_t channels = graphs_.channels;
  while (channels > 1 && size.count < least * channels) --channels;
  return channels;
}

const Channels& NcclTuner::channels_of(Algorithm algorithm) const {
  switch (algorithm) {
  case Algorithm::tree: return graphs_.tree;
  case Algorithm::collnet_direct: return graphs_.collnet_direct;
  case Algorithm::collnet_chain: return graphs_.collnet_chain;
  case Algorithm::nvls:
  case Algorithm::nvls_tree: return graphs_.nvls;
  case Algorithm::ring:
  case Algorithm::pat:
  case Algorithm::point_to_point:
  case Algorithm::all_pairs: break;
  }
  return graphs_.ring;
}

bool NcclTuner::can_be(CollectiveKind kind, Algorithm algorithm, Protocol protocol) const {
  const std::uint32_t nodes = system_.nodes, gpus = system_.gpus;
  if (!is_allowed(algorithm, protocol)) return false;
  if (is_rooted(kind) && algorithm != Algorithm::ring) return false;
  if (is_shard_collective(kind) && algorithm != Algorithm::ring && algorithm != Algorithm::pat &&
      algorithm != Algorithm::nvls && algorithm != Algorithm::collnet_direct)
    return false;
  if (algorithm == Algorithm::pat && (!is_shard_collective(kind) || gpus > 1)) return false;
  const bool may_reduce_between = allowed_.collnet && !system_.reducing_between.empty();
  const bool is_simple_only =
      is_nvls(algorithm) || is_collnet(algorithm) || algorithm == Algorithm::pat;
  if (is_simple_only && protocol != Protocol::simple) return false;
  if (is_nvls(algorithm)) {
    constexpr std::uint32_t arity = 32; // NCCL_MAX_NVLS_ARITY
    if (graphs_.nvls.size() < 2 || (is_shard_collective(kind) && gpus > arity)) return false;
    if (is_shard_collective(kind) && !has_all_heads(graphs_.nvls, gpus)) return false;
    if (algorithm == Algorithm::nvls_tree && nodes == 1) return false;
    if (algorithm == Algorithm::nvls && nodes > 1 && !may_reduce_between) return false;
  }
  if (is_collnet(algorithm)) {
    constexpr std::uint32_t most = 9; // NCCL_MAX_DIRECT_ARITY and itself
    if (!may_reduce_between || nodes == 1 || gpus > most) return false;
    if (algorithm == Algorithm::collnet_direct &&
        (!system_.has_switch ||
         (is_shard_collective(kind) && !has_all_heads(graphs_.collnet_direct, gpus))))
      return false;
  }
  if (protocol != Protocol::ll128 || allowed_.ll128_everywhere) return true;
  const Channels& channels = channels_of(algorithm);
  const PathType worst =
      system_.gpu->generation >= Generation::hopper ? PathType::via_rail : PathType::nic_near;
  return channels.type_inside <= PathType::via_peer &&
         (nodes == 1 || channels.type_between <= worst);
}

// What the table of NCCL's busBw has, before it becomes size over time.
double NcclTuner::bus_bandwidth(CollectiveKind kind, Algorithm algorithm, Protocol protocol) const {
  const Channels& channels = channels_of(algorithm);
  const std::size_t generation = row_of(system_.gpu->generation);
  const std::uint32_t nodes = system_.nodes;
  const std::size_t column = std::min<std::size_t>(nodes, 3) - 1;
  const double count = channels.size(), gpus = system_.gpus;
  double each = nodes <= 2 || is_collnet(algorithm) ? channels.inside : channels.between;
  if (is_nvls(algorithm)) {
    double inside = channels.inside * nvls_efficiency[generation] * (count - 1) / count;
    inside *= kind == CollectiveKind::all_reduce ? 2 : (gpus - 1) / gpus;
    const bool is_tree = algorithm == Algorithm::nvls_tree;
    const double between = channels.between * (nodes <= 2 && is_tree ? 2 : 1);
    each = std::min(inside, between);
    if (is_tree) each = std::min(each, nvls_tree_most[generation][column]);
  }
  double speed = count * each;
  const std::size_t cpu = processor_ == Processor::amd ? 1 : 0;
  const double ll = ll_most[nodes == 1 ? generation : cpu][column];
  constexpr double ll128_data = 0.92, in_switchless_tree = 0.85, pat_share = 0.75;
  switch (algorithm) {
  case Algorithm::ring:
    if (protocol == Protocol::ll) speed = std::min(ll, speed / 2);
    if (protocol == Protocol::ll128)
      speed = std::min(speed * ll128_data, count * ring_ll128_most[generation][column]);
    break;
  case Algorithm::tree:
    speed = std::min(speed * ll128_data, count * tree_most[generation][column]);
    if (protocol == Protocol::ll) speed = std::min(speed / 3.8, ll);
    if (protocol == Protocol::ll128)
      speed = std::min(speed * (nodes == 1 ? 7.0 / 9 : 120.0 / 128),
                       count * tree_ll128_most[generation][column]);
    if (channels.pattern == Pattern::tree) speed *= in_switchless_tree;
    break;
  case Algorithm::pat: speed *= pat_share; break;
  case Algorithm::collnet_direct:
    if (is_shard_collective(kind)) {
      speed = gpus * std::min(channels.inside, channels.between * 0.9);
    } else {
      const double gpus_a_nic = gpus / count;
      speed /= gpus_a_nic - (gpus_a_nic - 1) / 2;
      if (system_.gpu->generation >= Generation::hopper) speed *= 0.85;
    }
    break;
  case Algorithm::collnet_chain:
  case Algorithm::nvls:
  case Algorithm::nvls_tree:
  case Algorithm::point_to_point:
  case Algorithm::all_pairs: break;
  }
  return speed;
}

double NcclTuner::latency(CollectiveKind kind, Algorithm algorithm, Protocol protocol) const {
  const std::size_t a = at(algorithm), p = at(protocol);
  const Channels& channels = channels_of(algorithm);
  const double nodes = system_.nodes, gpus = system_.gpus, base = base_latency[a][p];
  const double log_nodes = log2_of(system_.nodes);
  const ByAlgorithm& hop = channels.type_inside == PathType::nvlink ? nvlink_latency : pcie_latency;
  const double inside = hop[a][p];
  // With a GPU a node nothing hides the network: a tree's latency counts.
  const double between = network_latency[system_.gpus == 1 ? at(Algorithm::tree) : a][p];
  switch (algorithm) {
  case Algorithm::ring: {
    const double steps = kind == CollectiveKind::all_reduce ? 2.0 * (ranks_ - 1)
                         : is_shard_collective(kind)        ? ranks_ - 1.0
                                                            : ranks_;
    const ByAlgorithm& any = system_.nodes == 1 ? hop : network_latency;
    if (is_rooted(kind)) {
      if (channels.are_same) return base + any[a][p];
      return base + steps * any[protocol == Protocol::simple ? at(Algorithm::tree) : a][p];
    }
    double overhead = 0; // of the network's proxy
    if (system_.nodes > 1)
      overhead =
          (processor_ == Processor::amd ? 2.0 : 1.0) * (protocol == Protocol::simple ? 3 : 1);
    const double crossings =
        system_.nodes == 1 ? 0 : (kind == CollectiveKind::all_reduce ? 2 : 1) * (nodes - 1);
    return base + (steps - crossings) * std::max(inside, overhead) + crossings * between;
  }
  case Algorithm::tree: return base + 2 * ((gpus - 1) * inside + log_nodes * between);
  case Algorithm::collnet_direct:
    return base + 2 * (std::min(1.0, gpus - 1) * inside + (gpus - 1) * 0.4) + between;
  case Algorithm::collnet_chain: return base + 2 * (gpus - 1) * inside + between;
  case Algorithm::nvls: return inside + (system_.nodes > 1 ? between : 0);
  case Algorithm::nvls_tree: return base + inside + 2 * log_nodes * between;
  case Algorithm::pat: return base + log_nodes * (between / 3.5) + ranks_ * 2.8;
  case Algorithm::point_to_point:
  case Algorithm::all_pairs: break;
  }
  return base;
}

NcclTuner::Cost NcclTuner::cost(CollectiveKind kind, Algorithm algorithm, Protocol protocol) const {
  if (!can_be(kind, algorithm, protocol)) return {};
  double speed = bus_bandwidth(kind, algorithm, protocol);
  if (algorithm == Algorithm::ring || !is_shard_collective(kind)) {
    const double n = ranks_;
    const double steps = kind == CollectiveKind::all_reduce ? 2 * (n - 1)
                         : is_shard_collective(kind)        ? n - 1
                                                            : n;
    speed *= algorithm == Algorithm::ring || is_nvls(algorithm) ? n / steps : 0.5;
  }
  return {latency(kind, algorithm, protocol), speed};
}

std::optional<double> NcclTuner::time(CollectiveKind kind, Algorithm algorithm, Protocol protocol,
                                      Bytes size) const {
  Cost cost = this->cost(kind, algorithm, protocol);
  if (cost.bandwidth <= 0) return std::nullopt;
  const auto bytes = static_cast<std::uint64_t>(size.count);
  const std::uint32_t log_size = log2_of(bytes >> 6);
  if (kind == CollectiveKind::all_reduce) {
    const bool is_x86_blackwell =
        system_.gpu->generation == Generation::blackwell && processor_ != Processor::arm;
    if ((algorithm == Algorithm::tree && log_size < 23) ||
        (algorithm == Algorithm::nvls_tree && log_size < 24 && is_x86_blackwell))
      cost.bandwidth *= tree_correction[at(protocol)][log_size];
    constexpr std::uint64_t plateau = 64; // bytes a channel and rank
    if (algorithm == Algorithm::ring && protocol == Protocol::simple && system_.nodes > 1 &&
        bytes / (std::uint64_t{graphs_.channels} * ranks_) >= plateau)
      cost.latency *= system_.gpu->generation < Generation::ampere ? 1.9 : 1.4;
  }
  return cost.latency + static_cast<double>(bytes) / (1000 * cost.bandwidth);
}

std::uint32_t NcclTuner::channels_for(Algorithm algorithm, Protocol protocol, Bytes size) const {
  if (allowed_.channels) return *allowed_.channels;
  if (is_nvls(algorithm))
    return algorithm == Algorithm::nvls && system_.nodes > 1
               ? std::min(graphs_.nvls_channels, graphs_.channels)
               : graphs_.nvls_channels;
  constexpr std::array<std::int64_t, protocol_count> threads{512, 640, 512}, threshold{8, 8, 64};
  constexpr double pcie = 12; // GB/s: rings as slow as that have half the threads
  std::int64_t each = threads[at(protocol)] * threshold[at(protocol)]; // bytes of a channel
  const Channels& ring = graphs_.ring;
  if (algorithm == Algorithm::ring && protocol == Protocol::simple &&
      ring.inside * ring.size() <= pcie)
    each /= 2;
  if (algorithm == Algorithm::ring && protocol == Protocol::ll) each *= ranks_;
  return channels_of_size(size, each);
}

std::optional<Choice> Tuner::choose(CollectiveKind kind, Bytes size) const {
  std::optional<Choice> best;
  for (std::size_t a = 0; a < tuned_algorithms; ++a)
    for (std::size_t p = 0; p < protocol_count; ++p) {
      const auto algorithm = static_cast<Algorithm>(a);
      const auto protocol = static_cast<Protocol>(p);
      const std::optional<double> us = time(kind, algorithm, protocol, size);
      if (us && (!best || *us < best->microseconds))
        best = Choice{algorithm, protocol, channels_for(algorithm, protocol, size), *us};
    }
  return best;
}

std::optional<double> RcclTuner::time(CollectiveKind kind, Algorithm algorithm, Protocol protocol,
                                      Bytes size) const {
  const bool is_tree = algorithm == Algorithm::tree;
  const auto p = at(protocol);
  if (!is_allowed(algorithm, protocol)) return std::nullopt;
  if (is_tree ? kind != CollectiveKind::all_reduce : algorithm != Algorithm::ring)
    return std::nullopt;
  const RcclModel& model = model_of(system_.gpu->model);
  const bool is_mi300 = &model == &mi300;
  if (is_tree && protocol == Protocol::simple && is_mi300 && system_.nodes == 1)
    return std::nullopt;
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
  const std::size_t log_size = std::min<std::size_t>(log2_of(bytes >> 6), rccl_sizes - 1);
  if (is_tree)
    speed *= model.tree[p][log_size];
  else if (system_.nodes > 1)
    speed *= model.ring[p][log_size];
  if (speed <= 0) return std::nullopt;
  double latency = base_of_rccl[p];
  double inside = model.inside[row][p];
  const double between = model.between[row][p];
  if (is_tree) {
    const double log_nodes = log2_of(system_.nodes);
    latency += 2 * ((gpus - 1) * inside + log_nodes * between);
  } else if (is_rooted(kind)) {
    const RcclPair& any = system_.nodes == 1 ? model.inside : model.between;
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
  std::int64_t each = threads * threshold[at(protocol)];
  if (algorithm == Algorithm::ring && protocol == Protocol::ll) each *= ranks_;
  return channels_of_size(size, each);
}

} // namespace tutti::nccl
