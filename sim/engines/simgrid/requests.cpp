// Each type has one function that hands its fields to either stream, in one order; those that can
// only be built by their functions (Topology, Schedule, TrainingProgram) are taken apart and built
// anew, which keeps all ids.
#include "sim/engines/simgrid/requests.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace tutti {

namespace {

constexpr std::uint8_t says_replay = 0, says_iteration = 1, says_platform = 2;

template <typename T> std::vector<T> copied(std::span<const T> items) {
  return {items.begin(), items.end()};
}

constexpr auto exchange_vector = [](auto& stream, auto& v) { stream.vector(v); };
constexpr auto exchange_text = [](auto& stream, auto& v) { stream.text(v); };

constexpr auto exchange_topology_parts = [](auto& stream, auto& parts) {
  stream.text(parts.name);
  stream.text(parts.note);
  stream.text(parts.npu_model);
  exchange_items(stream, parts.nodes, [](auto& s, auto& node) {
    s.text(node.name);
    s.value(node.kind);
    s.value(node.can);
    s.value(node.reduce_rate);
  });
  stream.vector(parts.links);
  exchange_items(stream, parts.groups, [](auto& s, auto& group) {
    s.text(group.name);
    s.vector(group.links);
    s.value(group.bandwidth);
  });
  stream.vector(parts.shape);
  exchange_items(stream, parts.coordinates, exchange_vector);
};

constexpr auto exchange_collective = [](auto& stream, auto& collective) {
  exchange_items(stream, collective.sets, exchange_vector);
  stream.vector(collective.chunks);
  exchange_items(stream, collective.parts, [](auto& s, auto& part) {
    s.value(part.kind);
    s.value(part.size);
    s.vector(part.group);
    s.value(part.root);
    s.value(part.chunks_per_shard);
    s.value(part.first);
    s.value(part.chunk_count);
  });
};

void write(ByteWriter& out, const Schedule& schedule) {
  const PathTable& paths = schedule.paths();
  std::vector<std::vector<LinkId>> longer;
  for (std::uint32_t p = paths.link_count(); p < paths.size(); ++p) {
    const auto links = paths.links(PathId{p});
    longer.emplace_back(links.begin(), links.end());
  }
  std::vector<Transfer> transfers;
  transfers.reserve(schedule.size());
  for (std::size_t i = 0; i < schedule.size(); ++i) transfers.push_back(schedule[i]);
  out.value(paths.link_count());
  exchange_items(out, longer, exchange_vector);
  out.vector(transfers);
  out.vector(copied(schedule.waiting()));
  out.vector(copied(schedule.all_dependencies()));
}

Schedule schedule_in(ByteReader& in) {
  std::uint32_t link_count = 0;
  in.value(link_count);
  Schedule schedule(link_count);
  std::vector<std::vector<LinkId>> longer;
  exchange_items(in, longer, exchange_vector);
  for (const std::vector<LinkId>& links : longer) (void)schedule.paths().intern(links);
  std::vector<Transfer> transfers;
  in.vector(transfers);
  schedule.reserve(transfers.size());
  for (const Transfer& transfer : transfers) schedule.push(transfer);
  std::vector<std::uint32_t> waiting;
  std::vector<Dependency> dependencies;
  in.vector(waiting);
  in.vector(dependencies);
  for (std::size_t k = 0; k < waiting.size(); ++k)
    schedule.add_dependency(waiting[k], dependencies[k]);
  return schedule;
}

Topology topology_in(ByteReader& in) {
  TopologyParts parts;
  exchange_topology_parts(in, parts);
  return Topology(std::move(parts));
}

/// Nodes and links: pairs can't be copied byte for byte.
constexpr auto exchange_route_change = [](auto& stream, auto& change) {
  stream.value(change.at);
  exchange_items(stream, change.paths, [](auto& s, auto& paths) {
    s.value(paths.first);
    s.value(paths.second);
  });
};

/// What RunOptions refer to.
struct RunLists {
  std::vector<JobTiming> jobs;
  std::vector<Time> starts;
  std::vector<NetworkEvent> events;
  std::vector<RouteChange> route_changes;
};

constexpr auto exchange_run = [](auto& stream, auto& lists, auto& options) {
  stream.value(options.record_deliveries);
  stream.value(options.record_hops);
  stream.vector(lists.jobs);
  stream.vector(lists.starts);
  stream.vector(lists.events);
  exchange_items(stream, lists.route_changes, exchange_route_change);
  stream.value(options.begin);
  stream.value(options.freeze);
  stream.value(options.may_halt);
};

void write(ByteWriter& out, const TrainingProgram& program) {
  out.vector(copied(program.operations()));
  std::vector<std::uint32_t> turns;
  for (std::uint32_t i = 0; i < program.size(); ++i) {
    out.vector(copied(program.dependencies(i)));
    turns.push_back(program.turn(i));
  }
  out.vector(turns);
}

TrainingProgram program_in(ByteReader& in) {
  TrainingProgram program;
  std::vector<Operation> operations;
  in.vector(operations);
  std::vector<std::uint32_t> after, turns;
  for (const Operation& operation : operations) {
    in.vector(after);
    (void)program.add(operation, after);
  }
  in.vector(turns);
  program.set_turns(std::move(turns));
  return program;
}

/// But for its programs.
constexpr auto exchange_workload = [](auto& stream, auto& workload) {
  stream.text(workload.name);
  exchange_items(stream, workload.groups, exchange_vector);
  exchange_items(stream, workload.places, [](auto& s, auto& place) {
    s.value(place.program);
    s.vector(place.groups);
  });
  exchange_items(stream, workload.names, exchange_text);
  stream.value(workload.iterations);
  stream.value(workload.items);
  stream.value(workload.flops);
  stream.text(workload.item);
  stream.vector(workload.memory);
};

void write(ByteWriter& out, const Workload& workload) {
  exchange_workload(out, workload);
  out.value(workload.programs.size());
  for (const TrainingProgram& program : workload.programs) write(out, program);
}

Workload workload_in(ByteReader& in) {
  Workload workload;
  exchange_workload(in, workload);
  std::size_t programs = 0;
  in.value(programs);
  for (std::size_t i = 0; i < programs; ++i) workload.programs.push_back(program_in(in));
  return workload;
}

/// Those that share a plan do so afterwards.
void write(ByteWriter& out, const WorkloadPlans& plans) {
  out.vector(plans.requests);
  std::map<const CommunicationPlan*, std::uint64_t> index;
  std::vector<const CommunicationPlan*> distinct;
  for (const PlacedPlan& placed : plans.plans)
    if (index.emplace(placed.plan.get(), distinct.size()).second)
      distinct.push_back(placed.plan.get());
  out.value(distinct.size());
  for (const CommunicationPlan* plan : distinct) {
    exchange_collective(out, plan->collective);
    write(out, plan->schedule);
    out.text(plan->algorithm);
    out.value(plan->launch);
  }
  out.value(plans.plans.size());
  for (const PlacedPlan& placed : plans.plans) {
    out.value(index.at(placed.plan.get()));
    out.vector(placed.links);
    out.vector(placed.nodes);
  }
}

WorkloadPlans plans_in(ByteReader& in) {
  WorkloadPlans plans;
  in.vector(plans.requests);
  std::vector<std::shared_ptr<const CommunicationPlan>> distinct;
  std::size_t count = 0;
  in.value(count);
  for (std::size_t i = 0; i < count; ++i) {
    Collective collective;
    exchange_collective(in, collective);
    Schedule schedule = schedule_in(in);
    std::string algorithm;
    in.text(algorithm);
    Time launch;
    in.value(launch);
    distinct.push_back(std::make_shared<const CommunicationPlan>(CommunicationPlan{
        std::move(collective), std::move(schedule), std::move(algorithm), {}, launch}));
  }
  in.value(count);
  for (std::size_t i = 0; i < count; ++i) {
    std::uint64_t index = 0;
    in.value(index);
    PlacedPlan& placed = plans.plans.emplace_back();
    placed.plan = distinct.at(index);
    in.vector(placed.links);
    in.vector(placed.nodes);
  }
  return plans;
}

std::string replay_answer(ByteReader& in, const SimGridFunctions& by) {
  const Topology topology = topology_in(in);
  Collective collective;
  exchange_collective(in, collective);
  const Schedule schedule = schedule_in(in);
  TimeModel model;
  in.value(model);
  RunLists lists;
  RunOptions options;
  exchange_run(in, lists, options);
  options.jobs = lists.jobs;
  options.starts = lists.starts;
  options.events = lists.events;
  options.route_changes = lists.route_changes;
  const Report report = by.replay(topology, collective, schedule, model, options);
  ByteWriter out;
  exchange_report(out, report);
  return std::move(out.bytes);
}

std::string iteration_answer(ByteReader& in, const SimGridFunctions& by) {
  const Topology topology = topology_in(in);
  const Workload workload = workload_in(in);
  const WorkloadPlans plans = plans_in(in);
  IterationOptions options;
  std::vector<NetworkEvent> events;
  std::vector<Share> shares;
  std::vector<Time> starts;
  std::vector<NodeId> record;
  in.value(options.model);
  in.vector(events);
  in.vector(shares);
  in.vector(starts);
  in.value(options.fold);
  in.value(options.one_at_a_time);
  in.vector(record);
  options.events = events;
  options.compute_shares = shares;
  options.starts = starts;
  options.record = record;
  const IterationReport report = by.iterate(topology, workload, plans, options);
  ByteWriter out;
  exchange_iteration(out, report);
  return std::move(out.bytes);
}

std::string platform_answer(ByteReader& in, const SimGridFunctions& by) {
  std::string content, source;
  bool routes = false;
  double most_seconds = 0;
  in.text(content);
  in.text(source);
  in.value(routes);
  in.value(most_seconds);
  return by.load(content, source, routes, most_seconds);
}

} // namespace

std::string replay_request(const Topology& topology, const Collective& collective,
                           const Schedule& schedule, const TimeModel& model,
                           const RunOptions& options) {
  ByteWriter out;
  out.value(says_replay);
  exchange_topology_parts(out, topology.parts());
  exchange_collective(out, collective);
  write(out, schedule);
  out.value(model);
  const RunLists lists{copied(options.jobs), copied(options.starts), copied(options.events),
                       copied(options.route_changes)};
  exchange_run(out, lists, options);
  return std::move(out.bytes);
}

std::string iteration_request(const Topology& topology, const Workload& workload,
                              const WorkloadPlans& plans, const IterationOptions& options) {
  ByteWriter out;
  out.value(says_iteration);
  exchange_topology_parts(out, topology.parts());
  write(out, workload);
  write(out, plans);
  out.value(options.model);
  out.vector(copied(options.events));
  out.vector(copied(options.compute_shares));
  out.vector(copied(options.starts));
  out.value(options.fold);
  out.value(options.one_at_a_time);
  out.vector(copied(options.record));
  return std::move(out.bytes);
}

std::string platform_request(const std::string& content, const std::string& source, bool routes,
                             double most_seconds) {
  ByteWriter out;
  out.value(says_platform);
  out.text(content);
  out.text(source);
  out.value(routes);
  out.value(most_seconds);
  return std::move(out.bytes);
}

std::string simgrid_answer(const std::string& request, const SimGridFunctions& by) {
  ByteReader in(request);
  std::uint8_t kind = says_replay;
  in.value(kind);
  return kind == says_replay      ? replay_answer(in, by)
         : kind == says_iteration ? iteration_answer(in, by)
                                  : platform_answer(in, by);
}

} // namespace tutti
