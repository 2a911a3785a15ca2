// Networks and collectives in epochs, made by hand.
#pragma once

#include "synth/teccl/problem.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace tutti {

/// A network that grows lane by lane, each with a limit of its own.
class EpochNetworkMaker {
public:
  explicit EpochNetworkMaker(std::uint32_t nodes, std::uint32_t switches = 0) {
    network_.epoch = Time{1'000'000};
    network_.stores.assign(nodes, true);
    network_.stores.resize(nodes + switches, false);
    network_.copies = network_.stores;
  }

  /// Any `window` epochs one after another let `most` enter.
  void add(std::uint32_t from, std::uint32_t to, std::uint32_t delay = 1, std::uint32_t window = 1,
           std::uint32_t most = 1) {
    const auto lane = static_cast<std::uint32_t>(network_.lanes.size());
    network_.lanes.push_back({from, to, {LinkId{lane}}, delay});
    network_.limits.push_back({std::to_string(from) + ">" + std::to_string(to),
                               {LaneUse{LaneId{lane}, 0}},
                               window,
                               most});
  }
  void add_duplex(std::uint32_t a, std::uint32_t b, std::uint32_t delay = 1,
                  std::uint32_t window = 1, std::uint32_t most = 1) {
    add(a, b, delay, window, most);
    add(b, a, delay, window, most);
  }
  void add_limit(EpochLimit limit) { network_.limits.push_back(std::move(limit)); }

  [[nodiscard]] EpochNetwork made() const {
    EpochNetwork network = network_;
    network.index_lanes(static_cast<std::uint32_t>(network.stores.size()));
    network.limits_of.resize(network.lanes.size());
    for (std::uint32_t i = 0; i < network.limits.size(); ++i)
      for (const LaneUse& use : network.limits[i].uses)
        if (network.limits_of[use.lane.value].empty() ||
            network.limits_of[use.lane.value].back() != LimitId{i})
          network.limits_of[use.lane.value].emplace_back(i);
    return network;
  }

private:
  EpochNetwork network_;
};

inline EpochNetwork epoch_ring(std::uint32_t nodes) {
  EpochNetworkMaker ring(nodes);
  for (std::uint32_t n = 0; n < nodes; ++n) ring.add_duplex(n, (n + 1) % nodes);
  return ring.made();
}

/// All pairs' lanes of a torus, both ways; each side at least 3.
inline EpochNetwork epoch_torus(std::uint32_t rows, std::uint32_t columns) {
  EpochNetworkMaker torus(rows * columns);
  for (std::uint32_t r = 0; r < rows; ++r)
    for (std::uint32_t c = 0; c < columns; ++c) {
      torus.add_duplex(r * columns + c, r * columns + (c + 1) % columns);
      torus.add_duplex(r * columns + c, (r + 1) % rows * columns + c);
    }
  return torus.made();
}

/// The NVLinks of a DGX-1: eight pairs with two, eight with one, a chunk takes two epochs there.
inline EpochNetwork epoch_dgx1(std::uint32_t alpha_epochs) {
  EpochNetworkMaker dgx1(8);
  constexpr std::uint32_t two[][2] = {{0, 1}, {0, 4}, {1, 3}, {2, 3},
                                      {2, 6}, {4, 5}, {5, 7}, {6, 7}};
  constexpr std::uint32_t one[][2] = {{0, 2}, {0, 3}, {1, 2}, {1, 5},
                                      {3, 7}, {4, 6}, {4, 7}, {5, 6}};
  for (const auto& pair : two) dgx1.add_duplex(pair[0], pair[1], 1 + alpha_epochs);
  for (const auto& pair : one) dgx1.add_duplex(pair[0], pair[1], 2 + alpha_epochs, 2);
  return dgx1.made();
}

/// Chassis of four GPUs in a ring, two of them with links half as fast to and from one switch: what
/// TE-CCL's paper says of "Internal 1" (four GPUs and eight edges a chassis) leaves the rest open.
inline EpochNetwork epoch_chassis(std::uint32_t chassis) {
  const std::uint32_t gpus = 4 * chassis;
  EpochNetworkMaker maker(gpus, 1);
  for (std::uint32_t c = 0; c < chassis; ++c) {
    for (std::uint32_t g = 0; g < 4; ++g) maker.add_duplex(4 * c + g, 4 * c + (g + 1) % 4);
    for (std::uint32_t g = 0; g < 4; g += 2) {
      maker.add(4 * c + g, gpus, 3, 2);
      maker.add(gpus, 4 * c + g, 1, 2);
    }
  }
  return maker.made();
}

/// `each` chunks for every ordered pair of the first `gpus` nodes.
inline std::vector<TimedChunk> all_to_all_chunks(std::uint32_t gpus, std::uint32_t each = 1) {
  std::vector<TimedChunk> chunks;
  for (std::uint32_t from = 0; from < gpus; ++from)
    for (std::uint32_t to = 0; to < gpus; ++to)
      if (from != to) chunks.insert(chunks.end(), each, {{from}, {to}});
  return chunks;
}

inline std::vector<TimedChunk> gather_chunks(std::uint32_t gpus, std::uint32_t root) {
  std::vector<TimedChunk> chunks;
  for (std::uint32_t from = 0; from < gpus; ++from)
    if (from != root) chunks.push_back({{from}, {root}});
  return chunks;
}

inline std::vector<TimedChunk> scatter_chunks(std::uint32_t gpus, std::uint32_t root) {
  std::vector<TimedChunk> chunks;
  for (std::uint32_t to = 0; to < gpus; ++to)
    if (to != root) chunks.push_back({{root}, {to}});
  return chunks;
}

} // namespace tutti
