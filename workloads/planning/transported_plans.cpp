// A plan is rewritten once on the network that it was made on, and its lanes are then laid out
// wherever requests have placed it. What single plans don't know of each other is added here: the
// joint bandwidth of a link, or a shared group, that several of them cross.
#include "workloads/planning/transported_plans.hpp"

#include "sim/error.hpp"
#include "workloads/planning/group_network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

namespace tutti {

namespace {

PlanTimes replayed(const Topology& network, const CommunicationPlan& plan, const Schedule& schedule,
                   const TimeModel& model, const RunOptions& options) {
  const Report report = run_native(network, plan.collective, schedule, model, options);
  PlanTimes times{report.completion, {}};
  for (const LinkUse& link : report.links) times.busy += link.busy;
  return times;
}

std::vector<LibraryChoice> choices_for(const Topology& network, const CommunicationPlan& plan,
                                       bool is_send, const Transport& transport) {
  if (plan.library) return {*plan.library};
  std::vector<LibraryChoice> choices;
  for (const std::string& protocol : usable_protocols(network, plan.schedule, transport))
    if (!is_send || protocol != "ll128") choices.push_back({"", protocol, 0, false});
  if (choices.empty()) choices.push_back({"", "simple", 0, false}); // it then says what is unknown
  return choices;
}

} // namespace

PlanTimes timed(const Topology& network, CommunicationPlan& plan, bool is_send,
                const Transport* transport, const TimeModel& model, const RunOptions& options) {
  if (transport == nullptr) return replayed(network, plan, plan.schedule, model, options);
  const Time launch = transport->launch_of(network.parts().npu_model);
  std::optional<PlanTimes> best;
  for (const LibraryChoice& choice : choices_for(network, plan, is_send, *transport)) {
    const Transported by = transported(network, plan.collective, plan.schedule, choice, *transport);
    PlanTimes times = replayed(by.topology, plan, by.schedule, model, options);
    times.alone += launch;
    if (best && best->alone <= times.alone) continue;
    best = times;
    plan.library = choice;
  }
  return *best;
}

namespace {

class PlanTransport {
public:
  PlanTransport(const Topology& topology, const Transport& transport)
      : topology_(topology), transport_(transport),
        launch_(transport.launch_of(topology.parts().npu_model)), parts_(topology.parts()) {
    for (std::uint32_t l = 0; l < topology.link_count(); ++l) {
      original_.emplace_back(l);
      wires_.push_back(topology.link(LinkId{l}).bandwidth);
    }
    users_.resize(topology.link_count());
  }

  TransportedPlans run(const WorkloadPlans& plans) && {
    WorkloadPlans made{plans.requests, {}};
    for (const PlacedPlan& placed : plans.plans) made.plans.push_back(place(placed));
    share();
    return {Topology(std::move(parts_)), std::move(made), std::move(original_), std::move(wires_)};
  }

private:
  /// A plan with its transport, where links look so.
  struct Made {
    std::shared_ptr<const CommunicationPlan> plan;
    Transported by;
    std::vector<std::uint32_t> first; // by link of the plan's network: its first lane there
    std::vector<bool> is_used;        // by link of the plan's network
  };
  /// The lanes of one plan on one link.
  struct Lanes {
    std::uint32_t made = 0, first = 0, count = 0;
    double share = 1; ///< of the link's bandwidth, and of those of its groups, that carries data
  };
  /// All that decides how a plan goes at its place.
  using Looks = std::vector<std::tuple<std::int64_t, std::int64_t, std::uint8_t>>;

  PlacedPlan place(const PlacedPlan& placed) {
    const std::uint32_t number = made_for(placed);
    const Made& made = made_[number];
    PlacedPlan result{made.plan, {}, placed.nodes};
    for (std::uint32_t l = 0; l < placed.links.size(); ++l) {
      const std::uint32_t count = made.first[l + std::size_t{1}] - made.first[l];
      // What nothing crosses needs no lanes: any link will do.
      const std::uint32_t first =
          made.is_used[l] ? lanes_on(placed.links[l], number, l) : placed.links[l].value;
      for (std::uint32_t lane = 0; lane < count; ++lane)
        result.links.emplace_back(made.is_used[l] ? first + lane : first);
    }
    return result;
  }

  std::uint32_t made_for(const PlacedPlan& placed) {
    Looks looks;
    for (const LinkId id : placed.links) {
      const Link& link = topology_.link(id);
      looks.emplace_back(link.bandwidth.bytes_per_second, link.latency.ps, link.part);
    }
    const auto [found, is_new] = number_of_.try_emplace({placed.plan.get(), std::move(looks)},
                                                        static_cast<std::uint32_t>(made_.size()));
    if (is_new) made_.push_back(make(placed));
    return found->second;
  }

  [[nodiscard]] Made make(const PlacedPlan& placed) const {
    const CommunicationPlan& plan = *placed.plan;
    const GroupNetwork network = sub_network(topology_, placed.nodes, placed.links);
    Transported by =
        transported(network.topology, plan.collective, plan.schedule,
                    plan.library.value_or(LibraryChoice{"", "simple", 0, false}), transport_);
    std::vector<std::uint32_t> first(placed.links.size() + 1);
    for (const LinkId original : by.original) ++first[original.value + std::size_t{1}];
    std::partial_sum(first.begin(), first.end(), first.begin());
    std::vector<bool> is_used(placed.links.size());
    for (std::size_t t = 0; t < plan.schedule.size(); ++t)
      for (const LinkId link : plan.schedule.paths().links(plan.schedule.path_of(t)))
        is_used[link.value] = true;
    auto made = std::make_shared<const CommunicationPlan>(CommunicationPlan{
        plan.collective, std::move(by.schedule), plan.algorithm, plan.library, launch_});
    return {std::move(made), std::move(by), std::move(first), std::move(is_used)};
  }

  /// The first of a plan's lanes on a link, which is link `l` of the plan's network.
  std::uint32_t lanes_on(LinkId link, std::uint32_t number, std::uint32_t l) {
    for (const Lanes& lanes : users_[link.value])
      if (lanes.made == number) return lanes.first;
    const Made& made = made_[number];
    const Link& here = topology_.link(link);
    Lanes lanes{number, static_cast<std::uint32_t>(parts_.links.size()),
                made.first[l + std::size_t{1}] - made.first[l], made.by.shares[l]};
    for (std::uint32_t lane = 0; lane < lanes.count; ++lane) {
      const Link& paced = made.by.topology.link(LinkId{made.first[l] + lane});
      Link added = here;
      added.bandwidth = paced.bandwidth;
      added.latency = paced.latency;
      parts_.add_link(added);
      original_.push_back(link);
      wires_.push_back(share_of(lanes.share, here.bandwidth));
    }
    if (lanes.count > 1) group({lanes}, made.by.wires[l], fmt::format("wire {}", link.value));
    users_[link.value].push_back(lanes);
    return lanes.first;
  }

  /// What several plans have together.
  void share() {
    for (std::uint32_t l = 0; l < users_.size(); ++l)
      if (users_[l].size() > 1) {
        const Bandwidth bandwidth = topology_.link(LinkId{l}).bandwidth;
        group(users_[l], together(users_[l], bandwidth), fmt::format("link {}", l));
      }
    for (const SharedGroup& shared : topology_.groups()) {
      std::map<std::uint32_t, std::vector<Lanes>> by_plan;
      for (const LinkId link : shared.links)
        for (const Lanes& lanes : users_[link.value]) by_plan[lanes.made].push_back(lanes);
      std::vector<Lanes> all;
      for (auto& [number, lanes] : by_plan) {
        const double share = std::ranges::min(lanes, {}, &Lanes::share).share;
        for (Lanes& each : lanes) each.share = share;
        group(lanes, together(lanes, shared.bandwidth), shared.name);
        all.insert(all.end(), lanes.begin(), lanes.end());
      }
      if (by_plan.size() > 1) group(all, together(all, shared.bandwidth), shared.name);
    }
  }

  /// So that what is there alone is as fast as alone.
  static Bandwidth together(const std::vector<Lanes>& all, Bandwidth bandwidth) {
    return share_of(std::ranges::max(all, {}, &Lanes::share).share, bandwidth);
  }
  static Bandwidth share_of(double share, Bandwidth bandwidth) {
    return Bandwidth{std::max<std::int64_t>(
        1, std::llround(share * static_cast<double>(bandwidth.bytes_per_second)))};
  }

  void group(const std::vector<Lanes>& all, Bandwidth bandwidth, std::string name) {
    SharedGroup made{std::move(name), {}, bandwidth};
    for (const Lanes& lanes : all)
      for (std::uint32_t lane = 0; lane < lanes.count; ++lane)
        made.links.emplace_back(lanes.first + lane);
    parts_.groups.push_back(std::move(made));
  }

  const Topology& topology_;
  const Transport& transport_;
  Time launch_;
  TopologyParts parts_;
  std::vector<Made> made_;
  std::map<std::pair<const CommunicationPlan*, Looks>, std::uint32_t> number_of_; // never iterated
  std::vector<std::vector<Lanes>> users_;                                         // by link
  std::vector<LinkId> original_;
  std::vector<Bandwidth> wires_;
};

} // namespace

TransportedPlans transported(const Topology& topology, const WorkloadPlans& plans,
                             const Transport& transport) {
  return PlanTransport(topology, transport).run(plans);
}

std::vector<NetworkEvent> on_lanes(const TransportedPlans& plans,
                                   std::span<const NetworkEvent> events) {
  std::vector<std::vector<LinkId>> lanes(plans.original.size());
  if (!events.empty())
    for (std::uint32_t l = 0; l < plans.original.size(); ++l)
      lanes[plans.original[l].value].emplace_back(l);
  std::vector<NetworkEvent> result;
  for (const NetworkEvent& event : events) {
    if (event.kind != NetworkEvent::Kind::link_down && event.kind != NetworkEvent::Kind::link_up)
      throw InputError(fmt::format("{}: under a transport links go down and up only",
                                   to_text(event, plans.topology)));
    for (const LinkId lane : lanes[event.link.value]) {
      result.push_back(event);
      result.back().link = lane;
    }
  }
  return result;
}

std::vector<LinkUse> without_lanes(const TransportedPlans& plans, std::span<const LinkUse> lanes,
                                   std::size_t links) {
  std::vector<LinkUse> uses(links);
  for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
    LinkUse& use = uses[plans.original[lane].value];
    use.bytes += lanes[lane].bytes;
    use.transfers += lanes[lane].transfers;
    use.busy += serialization(lanes[lane].bytes, plans.wires[lane]);
  }
  return uses;
}

} // namespace tutti
