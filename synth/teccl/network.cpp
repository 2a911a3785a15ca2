// Latency and transmission become whole epochs (sec. 3.1 and 5, App. F): a lane's delay is its
// latency, rounded up, plus the epochs that a transmission takes; a window of as many epochs keeps
// a slow link to as many chunks as it can transmit.
#include "synth/teccl/network.hpp"

#include "sim/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

namespace tutti {

namespace {

__extension__ typedef __int128 int128;

constexpr std::int64_t most_epochs = 1'000'000; // of a latency or a transmission

std::int64_t divided_up(Time time, Time by) {
  return time.ps / by.ps + (time.ps % by.ps == 0 ? 0 : 1);
}

void check(const EpochSettings& settings) {
  const auto refuse = [](std::string_view what, double value, std::string_view needed) {
    throw InputError(fmt::format("{} is {}: {}", what, value, needed));
  };
  if (settings.duration && settings.duration->ps <= 0)
    throw InputError(
        fmt::format("an epoch of {}: it must be longer than 0", to_text(*settings.duration)));
  if (!(settings.multiplier > 0) || !std::isfinite(settings.multiplier))
    refuse("the epoch multiplier", settings.multiplier, "it must be above 0");
  if (!(settings.alpha_threshold >= 0))
    refuse("the latency threshold", settings.alpha_threshold, "it must be 0 epochs or more");
  if (!(settings.most_alpha_epochs > 0))
    refuse("the most epochs of the least latency", settings.most_alpha_epochs,
           "it must be above 0");
}

/// By basis and multiplier, or as given; longer where the guard says so.
Time epoch_of(const Topology& topology, Bytes chunk, const EpochSettings& settings) {
  Bandwidth fastest{0}, slowest{INT64_MAX};
  Time least_latency{INT64_MAX};
  for (std::uint32_t l = 0; l < topology.link_count(); ++l) {
    const Bandwidth bandwidth = topology.effective_bandwidth(LinkId{l});
    fastest = std::max(fastest, bandwidth);
    slowest = std::min(slowest, bandwidth);
    least_latency = std::min(least_latency, topology.link(LinkId{l}).latency);
  }
  Time epoch;
  if (settings.duration) {
    epoch = *settings.duration;
  } else {
    const bool fast = settings.basis == EpochBasis::fastest_link;
    const Time once = serialization(chunk, fast ? fastest : slowest);
    const double ps = std::round(static_cast<double>(once.ps) * settings.multiplier);
    if (!(ps >= 1 && ps < 0x1p62))
      throw InputError(fmt::format("{} times the {} of a chunk is no possible length of an epoch",
                                   settings.multiplier, to_text(once)));
    epoch = {static_cast<std::int64_t>(ps)};
  }
  if (!settings.with_alpha || least_latency.ps == 0) return epoch;
  const auto least = static_cast<double>(least_latency.ps);
  if (least / static_cast<double>(epoch.ps) <= settings.most_alpha_epochs) return epoch;
  return Time{static_cast<std::int64_t>(std::ceil(least / settings.most_alpha_epochs))};
}

/// Makes the parts of one network.
class EpochNetworkBuilder {
public:
  EpochNetworkBuilder(const Topology& topology, Bytes chunk, const EpochSettings& settings)
      : topology_(topology), chunk_(chunk), settings_(settings) {
    network_.epoch = epoch_of(topology, chunk, settings);
    for (const Node& node : topology.nodes()) {
      network_.stores.push_back(node.can.store);
      const bool model_copies = node.can.store || settings.switches == SwitchModel::by_ability;
      network_.copies.push_back(node.can.copy && model_copies);
    }
  }

  EpochNetwork build() && {
    if (settings_.switches == SwitchModel::hyper_edges)
      add_hyper_edges();
    else
      add_links();
    network_.index_lanes(topology_.node_count());
    add_limits();
    return std::move(network_);
  }

private:
  /// Stores and could not send to several: see epoch_network().
  [[nodiscard]] bool left_out(NodeId node) const {
    return network_.stores[node.value] && !network_.copies[node.value];
  }

  [[nodiscard]] std::uint32_t alpha_epochs(LinkId link) const {
    const Time latency = topology_.link(link).latency, epoch = network_.epoch;
    const double exact = static_cast<double>(latency.ps) / static_cast<double>(epoch.ps);
    if (!settings_.with_alpha || exact <= settings_.alpha_threshold) return 0;
    return counted(latency, "the latency", link);
  }

  /// Epochs beyond the first that a chunk takes at this rate.
  [[nodiscard]] std::uint32_t beta_extra(Bandwidth bandwidth, LinkId link) const {
    return counted(serialization(chunk_, bandwidth), "a chunk's transmission", link) - 1;
  }

  [[nodiscard]] std::uint32_t counted(Time time, std::string_view what, LinkId link) const {
    const std::int64_t epochs = divided_up(time, network_.epoch);
    if (epochs > most_epochs)
      throw InputError(fmt::format(
          "{} over {} ({}) takes {} epochs of {}, more than {}: an epoch of {} or more would do",
          what, name(link), to_text(time), epochs, to_text(network_.epoch), most_epochs,
          to_text(Time{divided_up(time, Time{most_epochs})})));
    return static_cast<std::uint32_t>(epochs);
  }

  [[nodiscard]] std::string name(LinkId id) const {
    const Link& link = topology_.link(id);
    return topology_.node(link.from).name + ">" + topology_.node(link.to).name;
  }

  void add_links() {
    for (std::uint32_t l = 0; l < topology_.link_count(); ++l) {
      const LinkId id{l};
      const Link& link = topology_.link(id);
      if (left_out(link.from) || left_out(link.to)) continue;
      const std::uint32_t alpha = alpha_epochs(id),
                          extra = beta_extra(topology_.effective_bandwidth(id), id);
      const bool free = !network_.stores[link.from.value] && settings_.free_switch_exit;
      network_.lanes.push_back(
          {link.from.value, link.to.value, {id}, free ? alpha : 1 + alpha + extra});
    }
    std::ranges::sort(network_.lanes, {}, [](const Lane& lane) {
      return std::tuple(lane.from, lane.to, lane.links.front());
    });
  }

  void add_hyper_edges() {
    std::vector<bool> keeps(topology_.node_count());
    for (std::uint32_t n = 0; n < topology_.node_count(); ++n)
      keeps[n] = network_.stores[n] && network_.copies[n];
    network_.lanes = lanes_through_switches(topology_, keeps, "hyper-edges");
    for (Lane& lane : network_.lanes) lane.delay = delay_of(lane.links);
  }

  /// Cut through all switches: the slowest link's transmission, and every latency.
  [[nodiscard]] std::uint32_t delay_of(const std::vector<LinkId>& links) const {
    std::uint32_t alpha = 0, extra = 0;
    for (const LinkId link : links) {
      alpha += alpha_epochs(link);
      extra = std::max(extra, beta_extra(topology_.effective_bandwidth(link), link));
    }
    return 1 + alpha + extra;
  }

  void add_limits() {
    std::vector<std::vector<LaneUse>> by_link(topology_.link_count()),
        by_group(topology_.groups().size());
    for (std::uint32_t l = 0; l < network_.lanes.size(); ++l) {
      std::uint32_t offset = 0;
      for (const LinkId link : network_.lanes[l].links) {
        by_link[link.value].push_back({LaneId{l}, offset});
        for (const std::uint32_t group : topology_.groups_of(link))
          by_group[group].push_back({LaneId{l}, offset});
        offset += alpha_epochs(link);
      }
    }
    network_.limits_of.resize(network_.lanes.size());
    for (std::uint32_t l = 0; l < topology_.link_count(); ++l)
      add_limit(name(LinkId{l}), std::move(by_link[l]), topology_.link(LinkId{l}).bandwidth,
                LinkId{l});
    for (std::uint32_t g = 0; g < by_group.size(); ++g) {
      const SharedGroup& group = topology_.groups()[g];
      add_limit(group.name, std::move(by_group[g]), group.bandwidth, group.links.front());
    }
  }

  /// `link`: one that it limits.
  void add_limit(std::string name, std::vector<LaneUse> uses, Bandwidth bandwidth, LinkId link) {
    if (uses.empty()) return;
    const std::uint32_t window = 1 + beta_extra(bandwidth, link);
    const int128 most =
        static_cast<int128>(window) * network_.epoch.ps / serialization(chunk_, bandwidth).ps;
    const LimitId index{static_cast<std::uint32_t>(network_.limits.size())};
    for (const LaneUse& use : uses) {
      auto& limits = network_.limits_of[use.lane.value];
      if (limits.empty() || limits.back() != index) limits.push_back(index);
    }
    network_.limits.push_back({std::move(name), std::move(uses), window,
                               static_cast<std::uint32_t>(std::min<int128>(most, UINT32_MAX))});
  }

  const Topology& topology_;
  Bytes chunk_;
  const EpochSettings& settings_;
  EpochNetwork network_;
};

} // namespace

std::uint32_t EpochNetwork::reach() const {
  std::uint32_t reach = 0;
  for (const Lane& lane : lanes) reach = std::max(reach, lane.delay);
  for (const EpochLimit& limit : limits)
    for (const LaneUse& use : limit.uses) reach = std::max(reach, use.offset + limit.window);
  return reach;
}

EpochNetwork epoch_network(const Topology& topology, Bytes chunk, const EpochSettings& settings) {
  check(settings);
  if (topology.link_count() == 0)
    throw InputError(fmt::format("{} has no link: nothing to send over", topology.name()));
  return EpochNetworkBuilder(topology, chunk, settings).build();
}

} // namespace tutti
