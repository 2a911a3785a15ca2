// A transport is to a link what a protocol's flags, a thread block's loads and stores and the
// handshake of a FIFO are to a wire: some of the bandwidth carries no data, each send costs a
// handshake, one channel fills only a part of a wire, and a step takes longer than the wire's own
// latency. All of that is a slower link, cut into lanes, as channels don't wait for each other.
// Source: NCCL 2.30, device/prims_simple.h, prims_ll.h, prims_ll128.h (lines, flags, steps),
// graph/tuning.cc (latencies of a hop).

#include "sim/transport/transport.hpp"

#include "sim/error.hpp"
#include "sim/sends.hpp"
#include "sim/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bitset>
#include <cmath>
#include <cstdlib>
#include <set>
#include <unordered_map>
#include <utility>

namespace tutti {

namespace {

constexpr std::size_t most_channels = 128; // RCCL's

/// What crosses a link.
struct Crossings {
  double bytes = 0, count = 0;
  std::bitset<most_channels> channels;
  bool in_switch = false;      ///< some of it is reduced or copied there
  std::size_t connections = 0; ///< through a switch: pairs of ends
  Time onward; ///< latencies of what follows on the longest path that begins with it

  [[nodiscard]] double chunk() const { return bytes / count; } ///< mean size
};

/// A transfer's channel.
class Channels {
public:
  Channels(const Collective& collective, const LibraryChoice& choice)
      : part_(collective.parts.front()), by_shard_(choice.by_shard), said_(choice.channel_of),
        count_(static_cast<std::uint32_t>(std::min<std::size_t>(choice.channels, most_channels))) {}

  [[nodiscard]] std::uint32_t of(const Transfer& transfer, std::size_t number_in_list) const {
    if (!said_.empty()) return said_[number_in_list];
    if (count_ == 0) return 0;
    const std::uint32_t number = transfer.chunk.value - part_.first.value;
    const std::uint32_t shard = number / part_.chunks_per_shard,
                        k = number % part_.chunks_per_shard,
                        shards = part_.chunk_count / part_.chunks_per_shard;
    return (by_shard_ ? k : k * shards + shard) % count_;
  }

private:
  const CollectivePart& part_;
  bool by_shard_;
  std::span<const std::uint8_t> said_;
  std::uint32_t count_;
};

bool is_switch(const Topology& topology, NodeId node) {
  return topology.node(node).kind == NodeKind::switching;
}

/// Counts for each link the pairs of ends between which data crosses it on a path through a switch.
void count_connections(const Topology& topology, const Schedule& schedule,
                       std::vector<Crossings>& crossings) {
  std::vector<bool> is_seen(schedule.paths().size());
  std::vector<std::set<std::pair<NodeId, NodeId>>> pairs(topology.link_count());
  for (std::size_t t = 0; t < schedule.size(); ++t) {
    const PathId path = schedule.path_of(t);
    if (is_seen[path.value]) continue;
    is_seen[path.value] = true;
    const auto links = schedule.paths().links(path);
    const NodeId from = topology.link(links.front()).from, to = topology.link(links.back()).to;
    if (std::ranges::none_of(links.first(links.size() - 1), [&](LinkId link) {
          return is_switch(topology, topology.link(link).to);
        }))
      continue;
    for (const LinkId link : links) pairs[link.value].emplace(from, to);
  }
  for (std::size_t l = 0; l < pairs.size(); ++l) crossings[l].connections = pairs[l].size();
}

std::vector<Crossings> crossings_of(const Topology& topology, const Collective& collective,
                                    const Schedule& schedule, const Channels& channels) {
  std::vector<Crossings> crossings(topology.link_count());
  for (std::size_t t = 0; t < schedule.size(); t = schedule.send_end(t)) {
    const Transfer transfer = schedule[t];
    const auto bytes = static_cast<double>(send_size(collective, schedule, t).count);
    const std::uint32_t channel = channels.of(transfer, t);
    const bool in_switch =
        is_switch(topology, topology.link(schedule.paths().first(transfer.path)).from) ||
        is_switch(topology, topology.link(schedule.paths().last(transfer.path)).to);
    Time onward;
    for (const LinkId link : schedule.paths().links(transfer.path))
      onward += topology.link(link).latency;
    for (const LinkId link : schedule.paths().links(transfer.path)) {
      Crossings& of = crossings[link.value];
      onward = onward - topology.link(link).latency;
      of.onward = std::max(of.onward, onward);
      of.bytes += bytes;
      of.count += 1;
      of.channels.set(channel);
      of.in_switch = of.in_switch || in_switch;
    }
  }
  count_connections(topology, schedule, crossings);
  return crossings;
}

std::string words_of(const Topology& topology, LinkId link) {
  return fmt::format("{}>{}", topology.node(topology.link(link).from).name,
                     topology.node(topology.link(link).to).name);
}

bool is_npu(const Topology& topology, NodeId node) {
  return topology.node(node).kind == NodeKind::npu;
}

/// The latency of a link with which a step takes `step`, and no less than its links' own latencies:
/// links out of switches keep theirs, those out of NPUs take what is left. `onward`: the latency of
/// what follows, as far as it is known.
Time latency_within(const Topology& topology, const Link& link, Time step, Time onward = {}) {
  if (!is_npu(topology, link.from)) return link.latency;
  if (!is_npu(topology, link.to))
    for (const LinkId next : topology.out_links(link.to))
      onward = std::max(onward, topology.link(next).latency);
  return std::max(link.latency, step - onward);
}

} // namespace

Time Transport::launch_of(const std::string& npu_model) const {
  const auto found = launch.find(npu_model);
  if (found != launch.end()) return found->second;
  const auto others = launch.find("");
  return others == launch.end() ? Time{} : others->second;
}

std::string Transport::part_for(const std::string& part) const {
  const auto kind_of = [](std::string_view name) { // "pcie", 3
    const std::size_t digits = name.find_last_not_of("0123456789") + 1;
    return std::pair(name.substr(0, digits),
                     std::strtol(std::string(name.substr(digits)).c_str(), nullptr, 10));
  };
  const auto [kind, generation] = kind_of(part);
  std::string nearest;
  std::pair<std::int64_t, std::int64_t> least(INT64_MAX, 0); // apart, generation
  for (const TransportRule& each : rules) {
    if (each.part == part) return part;
    const auto [other, its] = kind_of(each.part);
    const std::pair<std::int64_t, std::int64_t> apart(std::abs(its - generation), its);
    if (other != kind || kind.empty() || apart >= least) continue;
    least = apart;
    nearest = each.part;
  }
  return nearest;
}

const TransportRule& Transport::rule(const std::string& part, const std::string& protocol) const {
  std::vector<std::string> parts, protocols;
  const std::string known = part_for(part);
  for (const TransportRule& each : rules) {
    if (each.part == known && each.protocol == protocol) return each;
    if (each.part == known) protocols.push_back(each.protocol);
    if (std::ranges::find(parts, each.part) == parts.end()) parts.push_back(each.part);
  }
  if (part.empty())
    throw InputError(fmt::format("transport {} has to know what links are made of (part = "
                                 "\"nvlink4\" of [[links]]; known: {})",
                                 name, fmt::join(parts, ", ")));
  if (protocols.empty()) throw InputError(unknown_name("part of transport " + name, part, parts));
  throw InputError(
      unknown_name(fmt::format("protocol of {} in transport {}", part, name), protocol, protocols));
}

namespace {

Bandwidth bandwidth_of(double bytes_per_second) {
  return Bandwidth{std::max<std::int64_t>(1, std::llround(bytes_per_second))};
}

/// Links as lanes.
class Rewriter {
public:
  Rewriter(const Topology& topology, const Collective& collective, const Schedule& schedule,
           const LibraryChoice& choice, const Transport& transport)
      : topology_(topology), schedule_(schedule), choice_(choice), transport_(transport),
        channels_(collective, choice), parts_(topology.parts()),
        crossings_(crossings_of(topology, collective, schedule, channels_)) {
    parts_.links.clear();
    parts_.groups.clear();
  }

  Transported run() && {
    for (std::uint32_t l = 0; l < topology_.link_count(); ++l) add_link(LinkId{l});
    for (const SharedGroup& group : topology_.groups()) add_group(group);
    const auto links = static_cast<std::uint32_t>(parts_.links.size());
    return {Topology(std::move(parts_)), rewritten(links),   std::move(original_),
            std::move(wires_),           std::move(shares_), {rules_.begin(), rules_.end()}};
  }

private:
  [[nodiscard]] std::size_t lanes_of(LinkId link) const {
    return choice_.by_shard ? std::max<std::size_t>(1, crossings_[link.value].channels.count()) : 1;
  }

  void add_link(LinkId id) {
    first_.push_back(static_cast<std::uint32_t>(parts_.links.size()));
    shares_.push_back(1);
    Link link = topology_.link(id);
    const Crossings& of = crossings_[id.value];
    if (of.count == 0) {
      parts_.add_link(link);
      original_.push_back(id);
      wires_.push_back(link.bandwidth);
      return;
    }
    const TransportRule& rule = rule_of(id);
    rules_.insert(static_cast<std::size_t>(&rule - transport_.rules.data()));
    const auto others = static_cast<double>(of.connections > 1 ? of.connections - 1 : 0);
    shares_.back() = rule.share / (1 + rule.connection_loss * others);
    const double data = shares_.back() * static_cast<double>(link.bandwidth.bytes_per_second);
    const double channel = rule.channel.bytes_per_second > 0
                               ? static_cast<double>(rule.channel.bytes_per_second)
                               : data;
    // As many channels as cross it hand over side by side; of no library as many as fill it.
    const double side_by_side = choice_.channels > 0 ? static_cast<double>(of.channels.count())
                                                     : std::min(std::ceil(data / channel),
                                                                static_cast<double>(most_channels));
    const double at_once = choice_.own_chunk.count > 0
                               ? std::min(of.chunk(), static_cast<double>(choice_.own_chunk.count))
                               : of.chunk();
    const auto carried = [&](double rate, double channels) {
      return at_once / (at_once / rate + rule.handover.seconds() / channels);
    };
    const double wire = std::min(carried(data, side_by_side), side_by_side * carried(channel, 1));
    const std::size_t lanes = lanes_of(id);
    link.bandwidth = bandwidth_of(lanes > 1 ? std::min(wire, carried(channel, 1)) : wire);
    link.latency = latency_within(topology_, topology_.link(id), rule.latency, of.onward);
    wires_.push_back(bandwidth_of(wire));
    SharedGroup group{
        fmt::format("wire {} of {}", id.value, words_of(topology_, id)), {}, wires_.back()};
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      group.links.push_back(parts_.add_link(link));
      original_.push_back(id);
    }
    if (lanes > 1) parts_.groups.push_back(std::move(group));
  }

  [[nodiscard]] const TransportRule& rule_of(LinkId id) const {
    const std::string part = topology_.part_of(id), known = transport_.part_for(part);
    const bool is_nvls = crossings_[id.value].in_switch &&
                         std::ranges::any_of(transport_.rules, [&](const TransportRule& rule) {
                           return rule.part == known && rule.protocol == "nvls";
                         });
    try {
      return transport_.rule(part, is_nvls ? "nvls" : choice_.protocol);
    } catch (const InputError& error) {
      throw InputError(fmt::format("link {}: {}", words_of(topology_, id), error.what()));
    }
  }

  void add_group(const SharedGroup& group) {
    double share = 1; // the least of those in use: of others it is 1
    for (const LinkId link : group.links) share = std::min(share, shares_[link.value]);
    SharedGroup lanes{group.name,
                      {},
                      bandwidth_of(share * static_cast<double>(group.bandwidth.bytes_per_second))};
    for (const LinkId link : group.links)
      for (std::uint32_t lane = 0; lane < lanes_of(link); ++lane)
        lanes.links.push_back(LinkId{first_[link.value] + lane});
    parts_.groups.push_back(std::move(lanes));
  }

  [[nodiscard]] Schedule rewritten(std::uint32_t links) const {
    Schedule made(links);
    made.reserve(schedule_.size());
    std::unordered_map<std::uint64_t, PathId> paths; // by path and channel
    std::vector<LinkId> lanes;
    std::uint32_t channel = 0; // of the send
    for (std::size_t t = 0; t < schedule_.size(); ++t) {
      Transfer transfer = schedule_[t];
      if (choice_.by_shard && !transfer.contiguous) channel = channels_.of(transfer, t);
      const auto [found, is_new] =
          paths.try_emplace(std::uint64_t{transfer.path.value} * most_channels + channel);
      if (is_new) {
        lanes.clear();
        for (const LinkId link : schedule_.paths().links(transfer.path))
          lanes.push_back(
              LinkId{first_[link.value] +
                     (lanes_of(link) > 1 ? lane_of(channel, crossings_[link.value]) : 0)});
        found->second = made.paths().intern(lanes);
      }
      transfer.path = found->second;
      made.push(transfer);
    }
    for (std::size_t i = 0; i < schedule_.waiting().size(); ++i)
      made.add_dependency(schedule_.waiting()[i], schedule_.all_dependencies()[i]);
    return made;
  }
  /// Among the channels that cross a link.
  static std::uint32_t lane_of(std::uint32_t channel, const Crossings& of) {
    std::uint32_t lane = 0;
    for (std::uint32_t other = 0; other < channel; ++other) lane += of.channels.test(other) ? 1 : 0;
    return lane;
  }

  const Topology& topology_;
  const Schedule& schedule_;
  const LibraryChoice& choice_;
  const Transport& transport_;
  const Channels channels_;
  TopologyParts parts_;
  std::vector<Crossings> crossings_;
  std::vector<double> shares_;       // by link
  std::vector<std::uint32_t> first_; // by link: its first lane
  std::vector<LinkId> original_;
  std::vector<Bandwidth> wires_; // by link
  std::set<std::size_t> rules_;
};

} // namespace

Transported transported(const Topology& topology, const Collective& collective,
                        const Schedule& schedule, const LibraryChoice& choice,
                        const Transport& transport) {
  return Rewriter(topology, collective, schedule, choice, transport).run();
}

Topology slowed(const Topology& topology, const Collective& collective, const Schedule& schedule,
                LibraryChoice choice, const Transport& transport) {
  choice.by_shard = false;
  choice.channel_of.clear();
  TopologyParts parts =
      transported(topology, collective, schedule, choice, transport).topology.parts();
  std::vector<bool> is_used(topology.link_count());
  for (std::size_t t = 0; t < schedule.size(); ++t)
    for (const LinkId link : schedule.paths().links(schedule.path_of(t)))
      is_used[link.value] = true;
  for (std::uint32_t l = 0; l < parts.links.size(); ++l)
    for (const TransportRule& rule : transport.rules)
      if (!is_used[l] && rule.part == topology.part_of(LinkId{l}) &&
          rule.protocol == choice.protocol) {
        const Link& link = topology.link(LinkId{l});
        parts.links[l].bandwidth =
            bandwidth_of(rule.share * static_cast<double>(link.bandwidth.bytes_per_second));
        parts.links[l].latency = latency_within(topology, link, rule.latency);
      }
  return Topology(std::move(parts));
}

Topology with_latencies(const Topology& topology, const Transport& transport) {
  TopologyParts parts = topology.parts();
  for (std::uint32_t l = 0; l < parts.links.size(); ++l) {
    const std::string part = transport.part_for(topology.part_of(LinkId{l}));
    for (const TransportRule& rule : transport.rules)
      if (rule.part == part && rule.protocol == "simple")
        parts.links[l].latency = latency_within(topology, topology.link(LinkId{l}), rule.latency);
  }
  return Topology(std::move(parts));
}

std::vector<std::string> usable_protocols(const Topology& topology, const Schedule& schedule,
                                          const Transport& transport) {
  std::vector<std::string> parts;
  for (std::size_t t = 0; t < schedule.size(); ++t)
    for (const LinkId link : schedule.paths().links(schedule.path_of(t)))
      if (std::string part = transport.part_for(topology.part_of(link));
          std::ranges::find(parts, part) == parts.end())
        parts.push_back(std::move(part));
  std::vector<std::string> usable;
  for (const char* protocol : {"ll", "ll128", "simple"})
    if (std::ranges::all_of(parts, [&](const std::string& part) {
          return std::ranges::any_of(transport.rules, [&](const TransportRule& rule) {
            return rule.part == part && rule.protocol == protocol;
          });
        }))
      usable.emplace_back(protocol);
  return usable;
}

} // namespace tutti
