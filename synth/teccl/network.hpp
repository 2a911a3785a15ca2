// The network in epochs, as TE-CCL sees it (Liu et al., "Rethinking Machine Learning Collective
// Communication as a Multi-Commodity Flow Problem", SIGCOMM 2024, sec. 3.1 and 5, App. C and F):
// time is cut into epochs of one length, a chunk enters a lane at the beginning of one and can be
// sent on from the beginning of a later one.
#pragma once

#include "sim/units.hpp"
#include "synth/timed/lane_network.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tutti {

enum class EpochBasis : std::uint8_t {
  fastest_link, ///< an epoch is what a chunk takes on the fastest link, times a multiplier
  slowest_link,
};

/// What nodes that can't store do with chunks.
enum class SwitchModel : std::uint8_t {
  by_ability,  ///< copy where the node can, else pass each arrival on once
  no_copy,     ///< pass on once, whatever they can
  hyper_edges, ///< not there: paths through them are lanes of their own (TACCL's model; sec. 3.1,
               ///< "Modeling switches", App. C)
};

struct EpochSettings {
  std::optional<Time> duration; ///< instead of basis and multiplier
  EpochBasis basis = EpochBasis::fastest_link;
  double multiplier = 1;
  double alpha_threshold = 0.1; ///< a latency of at most so many epochs counts as none
  /// The least latency in epochs, at most; else the epoch is made longer. As the public code:
  /// without effect where any link has no latency.
  double most_alpha_epochs = 200;
  bool with_alpha = true; ///< false: no link has latency (the question of Fig. 3)
  SwitchModel switches = SwitchModel::by_ability;
  /// Out of a switch a chunk needs its latency only, as its transmission overlaps with that into
  /// the switch (cut-through); else an epoch more.
  bool free_switch_exit = true;
};

struct LaneUse {
  LaneId lane;
  std::uint32_t offset = 0; ///< what enters the lane in epoch k needs the limit in k + offset
};

/// The bandwidth of a link or a shared group: of `window` epochs one after another, any, at most
/// `most` are used. (The window is what a chunk takes, so that slow links stay busy with it.)
struct EpochLimit {
  std::string name;          ///< "npu0>npu3", or the shared group's
  std::vector<LaneUse> uses; ///< ascending by lane; a lane that needs it twice stands twice
  std::uint32_t window = 1;
  std::uint32_t most = 1; ///< floor(window * epoch / serialization), >= 1
};

/// Nodes are all of the topology's, by NodeId. A lane is a link, or with SwitchModel::hyper_edges a
/// path through switches.
struct EpochNetwork : LaneNetwork {
  Time epoch;
  std::vector<bool> stores, copies;            ///< [node]; copies: as SwitchModel says
  std::vector<EpochLimit> limits;              ///< links by id, then groups
  std::vector<std::vector<LimitId>> limits_of; ///< [lane]; ascending, without repeats

  /// How far past sends reach: one of epoch k is there, and in no window any more, from the
  /// beginning of epoch k + reach() on.
  [[nodiscard]] std::uint32_t reach() const;
};

/// The network for chunks of this size. A node that stores but can't copy has no lanes: it could
/// pass each chunk on once only. Errors: InputError where the topology has no link, where duration,
/// multiplier, threshold or guard make no sense, where a latency or a transmission takes more than
/// 10^6 epochs (says which duration would do), or where paths through switches are more than 10^7.
[[nodiscard]] EpochNetwork epoch_network(const Topology& topology, Bytes chunk,
                                         const EpochSettings& settings);

} // namespace tutti
