// Every measurement is a program of its own, run by an executor that also runs collectives. Links
// are measured one at a time, then all at once: where the joint rate is well below the sum, the
// topology gets a group that all links share.

#include "runtime/profiling/profiler.hpp"

#include "sim/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace tutti::runtime {

namespace {

constexpr double joint_tolerance = 0.8; ///< of the sum of rates: less is a shared group. Links that
                                        ///< end at once also start at once, which costs some.

constexpr std::size_t most_at_once = 2000; ///< links: each needs two blocks

/// What crosses a link in a program: `chunks` of the same size.
struct LinkLoad {
  LinkId link;
  std::uint32_t chunks = 0;
};

/// Each chunk is at the start of its link and wanted at the end.
Collective loads_collective(const Topology& network, std::span<const LinkLoad> loads, Bytes size) {
  Collective collective;
  CollectivePart part;
  for (std::uint32_t n = 0; n < network.npu_count(); ++n) {
    collective.sets.push_back({NodeId{n}});
    part.group.emplace_back(n);
  }
  for (const LinkLoad& load : loads) {
    const Link& link = network.link(load.link);
    for (std::uint32_t i = 0; i < load.chunks; ++i)
      collective.chunks.push_back({size, link.from.value, link.to.value, false});
  }
  part.chunk_count = static_cast<std::uint32_t>(collective.chunks.size());
  part.size = Bytes{size.count * part.chunk_count};
  collective.parts = {std::move(part)};
  return collective;
}

std::uint32_t unit_of_chunk(const std::vector<ChunkPlace>& places, std::uint32_t chunk) {
  return std::ranges::lower_bound(places, chunk, {},
                                  [](const ChunkPlace& p) { return p.chunk.value; })
      ->unit;
}

/// A block at each end of each link; parallel links are channels in order.
Program loads_program(const Topology& network, std::span<const LinkLoad> loads, Bytes size) {
  Program program =
      empty_program(loads_collective(network, loads, size), network.npu_count(), 1, false);
  program.name = "profile";
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> channels;
  std::uint32_t chunk = 0;
  for (const LinkLoad& load : loads) {
    const std::uint32_t from = network.link(load.link).from.value,
                        to = network.link(load.link).to.value;
    Block sender, receiver;
    sender.channel = receiver.channel = channels[{from, to}]++;
    sender.sends_to = to;
    receiver.receives_from = from;
    for (const std::uint32_t end = chunk + load.chunks; chunk < end; ++chunk) {
      const Place source{Buffer::input, unit_of_chunk(program.inputs[from], chunk)};
      const Place target{Buffer::output, unit_of_chunk(program.outputs[to], chunk)};
      sender.steps.push_back({StepKind::send, source, {}, 1, {}});
      receiver.steps.push_back({StepKind::receive, {}, target, 1, {}});
    }
    program.ranks[from].blocks.push_back(std::move(sender));
    program.ranks[to].blocks.push_back(std::move(receiver));
  }
  return program;
}

/// The network with this link alone, so that it is the path between its ends.
Topology link_alone(const Topology& network, LinkId link) {
  std::vector<LinkId> others;
  for (std::uint32_t l = 0; l < network.link_count(); ++l)
    if (l != link.value) others.emplace_back(l);
  return without(network, {}, others);
}

Bandwidth whole_rate(double bytes_per_second) {
  constexpr double most = 1e15; // where a link was too fast for the clock
  return {static_cast<std::int64_t>(std::llround(std::clamp(bytes_per_second, 1.0, most)))};
}

class LinkMeasurement {
public:
  LinkMeasurement(const Topology& network, const Executor& executor, const ProfileOptions& options,
                  const PlanOptions& plan)
      : network_(network), executor_(executor), options_(options), plan_(plan) {}

  LinkProfile measure(LinkId link) {
    measured_ = link.value;
    const Topology alone = link_alone(network_, link);
    const LinkLoad load{LinkId{0}, options_.chunks};
    std::vector<LinkTiming> timings;
    for (const Bytes size : ascending_sizes()) {
      timings.push_back(
          {size, seconds(alone, {&load, 1}, size, true), seconds(alone, {&load, 1}, size, false)});
      const bool is_enough =
          timings.size() > 1 && timings.back().at_once_seconds >= options_.enough_seconds;
      if (is_enough && !options_.fixed) break;
    }
    return fit(link, std::move(timings), options_.chunks);
  }

  /// All links at once, at the largest size that all were measured with, each with a share by its
  /// rate so that they end together.
  double joint_rate(const std::vector<LinkProfile>& links) {
    measured_ = network_.link_count();
    Bytes size = ascending_sizes().back();
    for (const LinkProfile& link : links) size = std::min(size, link.timings.back().size);
    double least = load_rate(links.front()), sum = 0, latency = 0;
    for (const LinkProfile& link : links) {
      least = std::min(least, load_rate(link));
      latency = std::max(latency, link.latency_seconds);
      sum += static_cast<double>(whole_rate(1 / link.seconds_per_byte).bytes_per_second);
    }
    if (links.size() > most_at_once) return sum;
    std::vector<LinkLoad> loads;
    for (const LinkProfile& link : links) {
      const double share = load_rate(link) > 0 ? least / load_rate(link) : 1;
      const double chunks = std::max(1.0, std::round(options_.chunks * share));
      loads.push_back({link.link, static_cast<std::uint32_t>(chunks)});
    }
    const double together = seconds(network_, loads, size, false);
    return sum * std::min(1.0, alone_seconds(links, loads, size) /
                                   std::max(together - latency, together / 2));
  }

private:
  /// Seconds per byte that the link's load is chosen by.
  [[nodiscard]] double load_rate(const LinkProfile& link) const {
    if (!options_.fixed) return link.seconds_per_byte;
    return 1 / static_cast<double>(network_.effective_bandwidth(link.link).bytes_per_second);
  }

  /// What the loads would take, without latency, if links shared nothing but the network's groups.
  [[nodiscard]] double alone_seconds(const std::vector<LinkProfile>& links,
                                     std::span<const LinkLoad> loads, Bytes size) const {
    double longest = 0;
    std::vector<double> of_group(network_.groups().size());
    for (const LinkLoad& load : loads) {
      const LinkProfile& link = links[load.link.value];
      const double bytes = static_cast<double>(size.count) * load.chunks;
      longest = std::max(longest, bytes * link.seconds_per_byte);
      for (const std::uint32_t group : network_.groups_of(load.link)) of_group[group] += bytes;
    }
    for (std::size_t g = 0; g < of_group.size(); ++g) {
      const Bandwidth rate = network_.groups()[g].bandwidth;
      longest = std::max(longest, of_group[g] / static_cast<double>(rate.bytes_per_second));
    }
    return longest;
  }

  [[nodiscard]] std::vector<Bytes> ascending_sizes() const {
    std::vector<Bytes> sizes = options_.sizes;
    std::ranges::sort(sizes);
    return sizes;
  }

  double seconds(const Topology& network, std::span<const LinkLoad> loads, Bytes size,
                 bool one_by_one) const {
    const Program program = loads_program(network, loads, size);
    ExecutionRequest request;
    request.size = program.collective.size();
    request.repetitions = options_.repetitions;
    request.watchdog_seconds = options_.watchdog_seconds;
    request.plan = plan_;
    if (options_.watch)
      request.watch = [this](const WorkProgress&) {
        return options_.watch({measured_, network_.link_count()});
      };
    request.plan.one_by_one = one_by_one;
    if (plan_.emulated != nullptr) request.plan.emulated = &network;
    return executor_(program, request).median_seconds();
  }

  const Topology& network_;
  const Executor& executor_;
  const ProfileOptions& options_;
  const PlanOptions& plan_;
  std::uint32_t measured_ = 0; // links
};

void check_profile_request(const Topology& network, const ProfileOptions& options) {
  if (options.sizes.size() < 2 || options.chunks < 2)
    throw InputError("a profile needs two sizes and two chunks, or more");
  for (const Bytes size : options.sizes)
    if (size.count <= 0 || size.count % 4 != 0)
      throw InputError(
          fmt::format("{}: a size to profile is a multiple of 4 bytes", to_text(size)));
  if (network.link_count() == 0) throw InputError(network.name() + " has no link to profile");
  for (const Link& link : network.links())
    for (const NodeId end : {link.from, link.to})
      if (network.node(end).kind != NodeKind::npu)
        throw InputError(fmt::format("{} is no NPU: only links between NPUs can be profiled",
                                     network.node(end).name));
}

} // namespace

Profile profile(const Topology& network, const Executor& executor, const ProfileOptions& options,
                const PlanOptions& plan) {
  check_profile_request(network, options);
  LinkMeasurement measurement(network, executor, options, plan);
  Profile profile;
  for (std::uint32_t l = 0; l < network.link_count(); ++l)
    profile.links.push_back(measurement.measure(LinkId{l}));
  profile.joint_bytes_per_second = measurement.joint_rate(profile.links);
  return profile;
}

Topology profiled_topology(const Topology& network, const Profile& profile,
                           const std::string& device) {
  TopologyParts parts = network.parts();
  double sum = 0;
  SharedGroup all{"together", {}, whole_rate(profile.joint_bytes_per_second)};
  for (const LinkProfile& link : profile.links) {
    Link& measured = parts.links[link.link.value];
    measured.latency = Time{static_cast<std::int64_t>(std::llround(link.latency_seconds * 1e12))};
    measured.bandwidth = whole_rate(1 / link.seconds_per_byte);
    sum += static_cast<double>(measured.bandwidth.bytes_per_second);
    all.links.push_back(link.link);
  }
  parts.note = fmt::format("{} as measured on {}; fit error {:.2f} %", network.name(), device,
                           profile.fit_error() * 100);
  if (profile.joint_bytes_per_second < joint_tolerance * sum)
    parts.groups.push_back(std::move(all));
  return Topology(std::move(parts));
}

} // namespace tutti::runtime
