#include "experiments/workload_planning.hpp"

#include "experiments/all_bounds.hpp"
#include "experiments/attempt.hpp"
#include "experiments/group_network.hpp"
#include "experiments/placed_plan.hpp"
#include "experiments/registry.hpp"
#include "experiments/schedule_cache.hpp"
#include "experiments/send_planning.hpp"
#include "sim/engines/engine.hpp"
#include "sim/error.hpp"
#include "sim/text.hpp"
#include "sim/verify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace tutti {

namespace {

/// What algorithms see of a group. Groups whose places look alike share one.
struct Site {
  std::shared_ptr<const Topology> network; ///< null: the whole
  std::vector<NodeId> members;             ///< in it, in rank order
};

/// A group's place in the network.
struct Place {
  std::size_t site = 0;
  std::vector<NodeId> nodes; ///< [node of the site's network]; empty where that is the whole
  std::vector<LinkId> links;
};

/// Sites by content.
class Sites {
public:
  Sites(const Topology& whole, bool with_names) : whole_(whole), with_names_(with_names) {}

  /// Of a part whose first nodes are the group.
  Place part(GroupNetwork part, std::size_t members) {
    const std::uint64_t hash = content_fingerprint(part.topology, with_names_);
    const auto [first, last] = by_content_.equal_range(hash);
    for (auto it = first; it != last; ++it) {
      const Site& site = sites_[it->second];
      if (site.members.size() == members && look_alike(*site.network, part.topology, with_names_))
        return {it->second, std::move(part.nodes), std::move(part.links)};
    }
    std::vector<NodeId> ranks;
    for (std::uint32_t rank = 0; rank < members; ++rank) ranks.emplace_back(rank);
    sites_.push_back(
        {std::make_shared<const Topology>(std::move(part.topology)), std::move(ranks)});
    by_content_.emplace(hash, sites_.size() - 1);
    return {sites_.size() - 1, std::move(part.nodes), std::move(part.links)};
  }

  Place whole(const std::vector<NodeId>& group) {
    const auto [found, is_new] = by_members_.try_emplace(group, sites_.size());
    if (is_new) sites_.push_back({nullptr, group});
    return {found->second, {}, {}};
  }

  [[nodiscard]] const Topology& network(std::size_t site) const {
    return sites_[site].network ? *sites_[site].network : whole_;
  }
  [[nodiscard]] bool is_whole(std::size_t site) const { return !sites_[site].network; }
  [[nodiscard]] const std::vector<NodeId>& members(std::size_t site) const {
    return sites_[site].members;
  }

private:
  const Topology& whole_;
  bool with_names_;
  std::deque<Site> sites_;
  std::unordered_multimap<std::uint64_t, std::size_t> by_content_; // never iterated as a whole
  std::map<std::vector<NodeId>, std::size_t> by_members_;          // of those on the whole network
};

/// What has to be planned once.
struct Task {
  std::size_t site = 0;
  bool is_send = false;
  CollectiveKind kind = CollectiveKind::all_reduce;
  std::uint32_t root = 0;
  Bytes size;
  auto operator<=>(const Task&) const = default;
};

/// An answer to a task, by one algorithm.
struct Candidate {
  CommunicationPlan plan;
  Time alone;
  bool was_remembered = false;
};

/// Shares that a buffer is cut in at least.
std::int64_t shard_count(CollectiveKind kind, std::size_t members) {
  const auto n = static_cast<std::int64_t>(members);
  if (kind == CollectiveKind::broadcast || kind == CollectiveKind::reduce) return 1;
  return kind == CollectiveKind::all_to_all ? n * n : n;
}

std::string task_text(const Task& task, std::span<const NodeId> group) {
  std::vector<std::uint32_t> npus;
  for (const NodeId member : group) npus.push_back(member.value);
  std::sort(npus.begin(), npus.end());
  return fmt::format("{} {} among NPUs {}", to_text(task.kind), to_text(task.size),
                     ranges_text(npus));
}

class Planner {
public:
  Planner(const Topology& topology, const Workload& workload, const PlanningOptions& options)
      : topology_(topology), workload_(workload), options_(options),
        goes_by_names_(options.options.settings.contains("traffic")),
        sites_(topology, goes_by_names_), cache_(options.cache),
        send_router_(topology, options.options.routing), parts_(workload.groups.size()),
        places_(workload.groups.size()) {
    std::vector<AlgorithmRow> rows = options.algorithms;
    for (const auto& [kind, row] : options.by_collective) {
      (void)parse_collective_kind(kind);
      rows.push_back(row);
    }
    require_known_settings(rows, options.options);
  }

  WorkloadPlanning plan() {
    result_.plans.requests = requests_of(workload_);
    for (const CommunicationRequest& request : result_.plans.requests)
      result_.plans.plans.push_back(planned(request));
    for (const auto& [task, planned] : planned_) result_.communications.push_back(planned.summary);
    std::ranges::stable_sort(result_.communications, std::ranges::greater{},
                             &PlannedCommunication::size);
    result_.warning = cache_.warning();
    return std::move(result_);
  }

private:
  struct Planned {
    PlacedPlan placed; ///< nodes and links only where it is on the whole network
    PlannedCommunication summary;
  };

  PlacedPlan planned(const CommunicationRequest& request) {
    const std::vector<NodeId>& group = workload_.groups[request.group];
    const bool is_send = request.kind == CollectiveKind::broadcast && group.size() == 2;
    Place way;
    if (is_send) way = way_of(request);
    const Place& place = is_send ? way : place_of(request.group);
    const Task task{place.site, is_send, request.kind, request.root, request.size};
    auto found = planned_.find(task);
    if (found == planned_.end()) found = planned_.emplace(task, planned(task, group)).first;
    ++found->second.summary.requests;
    PlacedPlan placed = found->second.placed;
    if (!sites_.is_whole(task.site)) {
      placed.nodes = place.nodes;
      placed.links = place.links;
    }
    return placed;
  }

  const GroupNetwork* part_for(std::uint32_t group) {
    std::optional<std::optional<GroupNetwork>>& known = parts_[group];
    if (!known) known = part_of(topology_, workload_.groups[group]);
    return *known ? &**known : nullptr;
  }

  Place way_of(const CommunicationRequest& request) {
    const std::vector<NodeId>& group = workload_.groups[request.group];
    return sites_.part(send_router_.way(group, part_for(request.group), request.root, request.size),
                       2);
  }

  const Place& place_of(std::uint32_t group) {
    std::optional<Place>& place = places_[group];
    if (place) return *place;
    const std::vector<NodeId>& members = workload_.groups[group];
    const GroupNetwork* part = is_everyone(topology_, members) ? nullptr : part_for(group);
    place = part ? sites_.part(*part, members.size()) : sites_.whole(members);
    return *place;
  }

  Planned planned(const Task& task, const std::vector<NodeId>& group) {
    Candidate best = task.is_send ? planned_send(task) : fastest(task, group);
    Planned made;
    made.summary = {.kind = task.kind,
                    .is_send = task.is_send,
                    .size = task.size,
                    .members = static_cast<std::uint32_t>(group.size()),
                    .requests = 0,
                    .algorithm = best.plan.algorithm,
                    .alone = best.alone,
                    .bound = bound_of(task, best),
                    .was_remembered = best.was_remembered};
    if (sites_.is_whole(task.site))
      made.placed = on_used_links(topology_, best.plan);
    else
      made.placed.plan = std::make_shared<const CommunicationPlan>(std::move(best.plan));
    return made;
  }

  Candidate planned_send(const Task& task) {
    const Topology& way = sites_.network(task.site);
    Candidate made{plan_send(way, task.root, task.size, options_.options.model), {}, false};
    if (const Verdict verdict = verify(way, made.plan.collective, made.plan.schedule);
        !verdict.correct())
      throw InputError(
          fmt::format("{}: {}", task_text(task, sites_.members(task.site)), verdict.fault->text));
    made.alone = time_alone(task, made.plan);
    return made;
  }

  [[nodiscard]] std::vector<AlgorithmRow> candidates(CollectiveKind kind) const {
    const auto chosen = options_.by_collective.find(std::string(to_text(kind)));
    if (chosen != options_.by_collective.end()) return {chosen->second};
    return options_.algorithms;
  }

  Candidate fastest(const Task& task, const std::vector<NodeId>& group) {
    std::optional<Candidate> best;
    std::string notes;
    const std::vector<AlgorithmRow> rows = candidates(task.kind);
    for (const AlgorithmRow& row : rows) {
      std::string note;
      std::optional<Candidate> next = made(row, task, note);
      if (!next)
        notes += fmt::format("{}{}: {}", notes.empty() ? "" : "; ", row.name, note);
      else if (!best || next->alone < best->alone)
        best = std::move(next);
    }
    if (best) return std::move(*best);
    throw InputError(fmt::format("{} can't be planned by {} ({}); by_collective can name another "
                                 "algorithm for {}",
                                 task_text(task, group),
                                 rows.empty()       ? "no algorithm"
                                 : rows.size() == 1 ? rows.front().name
                                                    : "any of the algorithms",
                                 notes.empty() ? "none is given" : notes, to_text(task.kind)));
  }

  /// How a collective is to be made for an algorithm.
  struct Cut {
    CollectiveSpec spec;      ///< with one piece
    std::uint32_t chunks = 1; ///< per shard, times the algorithm's pieces
  };

  /// Buffers too small for that many chunks have fewer; those too small for any are padded.
  [[nodiscard]] Cut cut_for(const AlgorithmRow& row, const Task& task) const {
    const std::vector<NodeId>& members = sites_.members(task.site);
    const std::int64_t least = shard_count(task.kind, members.size()) * row.pieces;
    const std::int64_t chunks =
        std::clamp<std::int64_t>(task.size.count / least, 1, options_.chunks.value_or(1));
    return {{task.kind, Bytes{std::max(task.size.count, least)}, members, task.root},
            static_cast<std::uint32_t>(chunks)};
  }

  /// What one algorithm makes of it, or made of it earlier; else why it doesn't.
  std::optional<Candidate> made(const AlgorithmRow& row, const Task& task, std::string& note) {
    SynthesisOptions options = options_for(row, options_.options);
    options.choose_pieces = !options_.chunks && row.chooses_pieces;
    const Cut cut = cut_for(row, task);
    const Topology& network = sites_.network(task.site);
    const std::string key =
        options_.cache.empty()
            ? ""
            : schedule_key(network, cut.spec, row, options.choose_pieces ? 0 : cut.chunks, options,
                           goes_by_names_);
    std::optional<Candidate> candidate = remembered(key, task, cut);
    if (!candidate) candidate = synthesized(row, task, cut, options, key, note);
    if (candidate) candidate->alone = time_alone(task, candidate->plan);
    return candidate;
  }

  [[nodiscard]] std::optional<Candidate> remembered(const std::string& key, const Task& task,
                                                    const Cut& cut) const {
    const Topology& network = sites_.network(task.site);
    std::optional<ScheduleFile> found = cache_.find(key, network);
    if (!found || !is_made_from(found->collective, cut.spec)) return std::nullopt;
    if (found->compact) found->schedule = expanded(network, found->collective, *found->compact);
    const Verdict verdict = verify(network, found->collective, found->schedule);
    if (!verdict.correct() || verdict.redundant > 0) return std::nullopt;
    return Candidate{
        {std::move(found->collective), std::move(found->schedule), found->algorithm}, {}, true};
  }

  static bool is_made_from(const Collective& collective, const CollectiveSpec& spec) {
    const CollectivePart& part = collective.parts.front();
    return collective.parts.size() == 1 && part.kind == spec.kind && part.size == spec.size &&
           part.group == spec.group && part.root == spec.root;
  }

  std::optional<Candidate> synthesized(const AlgorithmRow& row, const Task& task, const Cut& cut,
                                       const SynthesisOptions& options, const std::string& key,
                                       std::string& note) {
    const Topology& network = sites_.network(task.site);
    const auto make = [&](std::uint32_t pieces) {
      CollectiveSpec spec = cut.spec;
      spec.pieces = pieces;
      return make_collective(network, spec);
    };
    Attempt attempt = tutti::attempt(row, network, make, cut.chunks, options);
    result_.synthesis_seconds += attempt.synthesis_seconds;
    if (const std::string problem = verdict_problem(attempt); !problem.empty())
      add_problem(
          fmt::format("{}: {}: {}", row.name, task_text(task, sites_.members(task.site)), problem));
    if (!attempt.usable()) {
      note = attempt.has_schedule() ? attempt.verdict.fault->text : attempt.outcome.note;
      if (note.empty()) note = to_text(attempt.outcome.status);
      return std::nullopt;
    }
    if (attempt.outcome.compact)
      attempt.outcome.schedule = expanded(network, attempt.collective, *attempt.outcome.compact);
    ScheduleFile file{network.name(),
                      std::string(row.name),
                      options.model,
                      std::move(attempt.collective),
                      std::move(*attempt.outcome.schedule),
                      std::nullopt};
    if (attempt.outcome.status != Status::timed_out) cache_.remember(key, network, file);
    return Candidate{
        {std::move(file.collective), std::move(file.schedule), file.algorithm}, {}, false};
  }

  [[nodiscard]] Time time_alone(const Task& task, const CommunicationPlan& plan) const {
    return run_native(sites_.network(task.site), plan.collective, plan.schedule,
                      options_.options.model)
        .completion;
  }

  Time bound_of(const Task& task, const Candidate& made) {
    const Bound bound = best_of(
        all_bounds(sites_.network(task.site), made.plan.collective, options_.options.model));
    if (made.alone < bound.time)
      add_problem(fmt::format("{}: {} takes {}, below the lower bound {} ({}): a defect of Tutti",
                              made.plan.algorithm, task_text(task, sites_.members(task.site)),
                              to_text(made.alone), to_text(bound.time), bound.certificate));
    return bound.time;
  }

  void add_problem(const std::string& text) {
    if (result_.problem.empty()) result_.problem = text;
  }

  const Topology& topology_;
  const Workload& workload_;
  const PlanningOptions& options_;
  bool goes_by_names_; // flows may: of nodes whose traffic counts
  Sites sites_;
  ScheduleCache cache_;
  SendRouter send_router_;
  std::vector<std::optional<std::optional<GroupNetwork>>> parts_; // by group
  std::vector<std::optional<Place>> places_;                      // by group
  std::map<Task, Planned> planned_;
  WorkloadPlanning result_;
};

} // namespace

WorkloadPlanning plan_workload(const Topology& topology, const Workload& workload,
                               const PlanningOptions& options) {
  return Planner(topology, workload, options).plan();
}

} // namespace tutti
