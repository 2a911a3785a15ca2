// A study's runs are a product: networks x variants x plans x conditions. The undisturbed run comes
// first and makes the plans; the others reuse them, rerouted or planned anew where links have
// failed. What one run can't do is a note of that run. The checks of iteration.hpp stand behind
// every figure.
#include "experiments/driver/studies/training/evaluation.hpp"

#include "experiments/driver/pool/process_memory.hpp"
#include "experiments/driver/studies/noise/request.hpp"
#include "experiments/driver/studies/runs/busy_links.hpp"
#include "experiments/driver/studies/training/columns.hpp"
#include "experiments/driver/studies/training/iteration.hpp"
#include "experiments/driver/studies/training/synthesis.hpp"
#include "sim/engines/agreement.hpp"
#include "sim/error.hpp"
#include "sim/transport/constants.hpp"
#include "topologies/failed_links.hpp"
#include "workloads/planning/repair.hpp"
#include "workloads/planning/transported_plans.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <utility>

namespace tutti {

namespace {

TrainingRun heading_of(const TrainingNetwork& network, const TrainingVariant& variant,
                       const TrainingPlan& plan) {
  TrainingRun run;
  run.topology = network.label;
  run.variant = variant.name;
  run.plan = plan.name;
  run.transport = plan.transport_name();
  run.npus = network.topology->npu_count();
  return run;
}

/// All runs of one workload on one network by one plan.
class Runs {
public:
  Runs(const TrainingStudy& study, std::size_t network_index, const TrainingNetwork& network,
       const TrainingVariant& variant, const Workload& workload, const WorkloadSummary& summary,
       const TrainingPlan& plan, const TrainingWatcher& watcher)
      : study_(study), network_(network), conditions_(conditions_of(study, network_index)),
        variant_(variant), workload_(workload), summary_(summary), plan_(plan), watcher_(watcher),
        starts_(starts_on(*network.topology, study.noise.starts)) {
    const auto& events = study.disturbances.events;
    if (!events.empty()) events_ = &events[network_index];
  }

  void append_to(std::vector<TrainingRun>& runs) {
    TrainingRun first = begun({});
    const auto planning = planned(first, [&] {
      const PlanningOptions options = planning_options();
      return plan_workload(*network_.topology, workload_, options,
                           synthesis_for(options, study_.cache));
    });
    if (planning) {
      if (watcher_.recorded) recorded_ = watcher_.recorded(workload_);
      noted(first, [&] { simulate(planning->plans, common_options(), first); });
    }
    const auto duration = first.report ? std::optional(first.report->duration) : std::nullopt;
    finish(std::move(first), runs);
    if (!duration) return;
    for (const Condition& condition : conditions_) {
      if (is_cancelled()) return;
      under_way_ = condition;
      if (condition.kind == Condition::Kind::disturbed)
        run_disturbed(*planning, *duration, runs);
      else if (condition.kind != Condition::Kind::undisturbed)
        run_degraded(*planning, condition, runs);
    }
  }

  /// Instead of the run that is under way.
  [[nodiscard]] TrainingRun refused(Status status, const std::string& note) const {
    TrainingRun run = heading_of(network_, variant_, plan_);
    run.condition = under_way_;
    run.workload = summary_;
    run.status = status;
    run.note = note;
    return run;
  }

private:
  TrainingRun begun(const Condition& condition) const {
    TrainingRun run = heading_of(network_, variant_, plan_);
    run.condition = condition;
    run.workload = summary_;
    run.note = late_text(*network_.topology, starts_);
    add_note(run, other_npu_text());
    if (watcher_.progress) watcher_.progress(run, false);
    return run;
  }

  /// Launches and intervals are those of the NPUs that the network has.
  [[nodiscard]] std::string other_npu_text() const {
    const auto* work = std::get_if<ModelWork>(&variant_.work);
    const std::string& model = network_.topology->parts().npu_model;
    if (!plan_.transport || work == nullptr || work->npu.name == model) return {};
    return fmt::format("computes as {}, and is launched as {}", work->npu.name,
                       model.empty() ? "an NPU that the topology doesn't name"
                                     : model + ", which the topology names");
  }

  void finish(TrainingRun&& run, std::vector<TrainingRun>& runs) const {
    if (watcher_.progress) watcher_.progress(run, true);
    runs.push_back(std::move(run));
  }

  [[nodiscard]] bool is_cancelled() const {
    const auto& cancelled = study_.planning.options.cancelled;
    return cancelled && cancelled();
  }

  [[nodiscard]] IterationOptions common_options() const {
    IterationOptions options;
    options.model = study_.planning.options.model;
    options.fold = study_.fold;
    options.one_at_a_time = study_.planning.one_at_a_time;
    options.record = recorded_;
    options.starts = starts_;
    return options;
  }

  [[nodiscard]] PlanningOptions planning_options() const {
    PlanningOptions options = study_.planning;
    options.algorithms = plan_.algorithms;
    options.transport = plan_.transport;
    return options;
  }

  /// None where an algorithm can't: then the run has a note.
  template <typename Plan>
  std::optional<WorkloadPlanning> planned(TrainingRun& run, const Plan& plan) const {
    const double start = cpu_seconds();
    std::optional<WorkloadPlanning> planning;
    try {
      planning = plan();
      run.communications = planning->communications;
      run.problem = planning->problem;
    } catch (const CannotPlan& error) {
      run.status = error.status();
      run.note = error.what();
    } catch (const InputError& error) {
      run.note = error.what();
    } catch (const std::bad_alloc& error) {
      run.status = Status::out_of_memory;
      run.note = memory_text(error);
    }
    run.planning_seconds = cpu_seconds() - start;
    return planning;
  }

  // Rerouting keeps the schedules and changes paths, which a running job could do at once;
  // resynthesis plans for the network that is left.
  std::optional<WorkloadPlans> plans_without(const WorkloadPlanning& planning,
                                             std::span<const LinkId> gone, Condition::Kind kind,
                                             TrainingRun& run) const {
    const Topology& topology = *network_.topology;
    if (kind == Condition::Kind::reroute) {
      const double start = cpu_seconds();
      WorkloadPlans plans = rerouted(topology, planning.plans, gone, common_options().model);
      run.planning_seconds = cpu_seconds() - start;
      return plans;
    }
    auto anew = planned(run, [&] {
      const PlanningOptions options = planning_options();
      return resynthesized(topology, workload_, options, synthesis_for(options, study_.cache),
                           planning.plans, gone);
    });
    return anew ? std::optional(std::move(anew->plans)) : std::nullopt;
  }

  /// As they are, or with the transport applied to them.
  void simulate(const WorkloadPlans& plans, const IterationOptions& options,
                TrainingRun& run) const {
    const double start = cpu_seconds();
    const Transport* transport = plan_.transport.get();
    if (transport == nullptr) {
      simulate(*network_.topology, plans, options, run);
      if (study_.noise.is_drawn()) add_noise(plans, options, run);
    } else {
      const TransportedPlans by = transported(*network_.topology, plans, *transport);
      simulate_with_transport(by, options, run);
      run.report->links = without_lanes(by, run.report->links, network_.topology->link_count());
      const auto is_later = [](const NetworkEvent& event) { return event.at > Time{}; };
      // A slower run has done less by the time of an event: the difference isn't only the widths'.
      if (knows_intervals(*transport) && std::ranges::none_of(options.events, is_later))
        add_interval(plans, options, run);
    }
    run.hottest = hottest_link(*network_.topology, link_report(*run.report));
    run.run_seconds = cpu_seconds() - start;
  }

  void simulate_with_transport(const TransportedPlans& by, IterationOptions options,
                               TrainingRun& run) const {
    const std::vector<NetworkEvent> events = on_lanes(by, options.events);
    options.events = events;
    simulate(by.topology, by.plans, options, run);
  }

  /// At the transport's slowest.
  void add_interval(const WorkloadPlans& plans, IterationOptions options, TrainingRun& run) const {
    options.record = {};
    options.watch = watch_of(study_.planning.options.stage, "iteration at the transport's slowest");
    try {
      const Topology& topology = *network_.topology;
      const TransportedPlans slow =
          transported(topology, plans, at_its_slowest(*plan_.transport, topology));
      const std::vector<NetworkEvent> events = on_lanes(slow, options.events);
      options.events = events;
      const EngineRow& engine = *study_.engines.front();
      TrainingRun slowest;
      slowest.workload = run.workload;
      slowest.report = IterationCase{slow.topology, workload_, slow.plans, options, engine}.run();
      run.interval = interval_of(run.iteration_time(), slowest.iteration_time());
      run.interval->low = std::max(run.interval->low, run.bound);
    } catch (const Stopped&) { // the run itself stands
      add_note(run, "interrupted in its interval");
    } catch (const InputError& error) {
      add_note(run, fmt::format("no interval: {}", error.what()));
    } catch (const std::bad_alloc& error) {
      add_note(run, "no interval: " + memory_text(error));
    }
  }

  /// On every engine; all must give the same.
  void simulate(const Topology& topology, const WorkloadPlans& plans, IterationOptions options,
                TrainingRun& run) const {
    for (const EngineRow* engine : study_.engines) {
      options.watch = watch_of(study_.planning.options.stage,
                               fmt::format("iteration with {} on {}", plan_.name, engine->name));
      IterationReport report = IterationCase{topology, workload_, plans, options, *engine}.run();
      add_problem(run, account_problem(report));
      if (!run.report) {
        run.report = std::move(report);
        continue;
      }
      const EngineAgreement agreement =
          judged_agreement(topology, workload_, plans, options, *run.report, report);
      add_problem(run, disagreement(agreement));
      if (run.remark.empty()) run.remark = remark(agreement);
    }
    run.bound = IterationBound(workload_, run.communications).time(options.starts);
    const IterationCase first{topology, workload_, plans, options, *study_.engines.front()};
    if (first.is_below(run.bound, *run.report))
      add_problem(run, fmt::format("takes {}, below its bound {}", to_text(run.report->duration),
                                   to_text(run.bound)));
  }

  /// A draw that comes to a halt leaves the run without noise as it is.
  void add_noise(const WorkloadPlans& plans, const IterationOptions& options,
                 TrainingRun& run) const {
    try {
      add_noisy_iterations({*network_.topology, workload_, plans, options, *study_.engines.front()},
                           study_.noise, study_.draw_threads, study_.planning.options.stage, run);
    } catch (const Stopped&) { // the run without noise is over, and stands
      add_note(run, "interrupted in its draws");
    } catch (const InputError& error) {
      add_note(run, fmt::format("no draws: {}", error.what()));
    } catch (const std::bad_alloc& error) {
      add_note(run, "no draws: " + memory_text(error));
    }
  }

  static void add_note(TrainingRun& run, const std::string& note) {
    if (note.empty()) return;
    run.note += (run.note.empty() ? "" : "; ") + note;
  }

  static void add_problem(TrainingRun& run, const std::string& problem) {
    if (run.problem.empty()) run.problem = problem;
  }

  /// A run that comes to a halt is a result here.
  template <typename Body> static void noted(TrainingRun& run, const Body& body) {
    try {
      body();
    } catch (const InputError& error) {
      run.report.reset();
      run.note = error.what();
    } catch (const std::bad_alloc& error) {
      run.report.reset();
      run.status = Status::out_of_memory;
      run.note = memory_text(error);
    }
  }

  void run_disturbed(const WorkloadPlanning& planning, Time undisturbed,
                     std::vector<TrainingRun>& runs) const {
    TrainingRun run = begun({Condition::Kind::disturbed, 0, 1});
    const Topology& topology = *network_.topology;
    noted(run, [&] { // times may make events contradict each other
      const std::vector<Share> shares = compute_shares(study_.disturbances.stragglers, topology);
      std::vector<NetworkEvent> events;
      if (events_ != nullptr) events = timed_events(topology, events_->events, undisturbed);
      IterationOptions options = common_options();
      options.compute_shares = shares;
      options.events = events;
      simulate(planning.plans, options, run);
    });
    finish(std::move(run), runs);
  }

  void run_degraded(const WorkloadPlanning& planning, const Condition& condition,
                    std::vector<TrainingRun>& runs) const {
    TrainingRun run = begun(condition);
    noted(run, [&] {
      const std::vector<LinkId> gone =
          topologies::failed_links(*network_.topology, condition.failed_links, condition.seed);
      const std::vector<NetworkEvent> events = links_down(*network_.topology, gone);
      for (const NetworkEvent& event : events)
        run.failed.push_back(to_text(event, *network_.topology));
      IterationOptions options = common_options();
      options.events = events;
      if (const auto plans = plans_without(planning, gone, condition.kind, run))
        simulate(*plans, options, run);
    });
    finish(std::move(run), runs);
  }

  const TrainingStudy& study_;
  const TrainingNetwork& network_;
  const EventPlan* events_ = nullptr;
  std::vector<Condition> conditions_;
  const TrainingVariant& variant_;
  const Workload& workload_;
  const WorkloadSummary& summary_;
  const TrainingPlan& plan_;
  const TrainingWatcher& watcher_;
  std::vector<Time> starts_; // per node, or empty
  std::vector<NodeId> recorded_;
  Condition under_way_;
};

// A variant that doesn't fit a network is the user's mistake: the error says which one.
Workload workload_of(const TrainingVariant& variant, const Topology& topology) {
  try {
    return make_workload(variant.work, topology);
  } catch (const InputError& error) {
    if (variant.name.empty()) throw;
    throw InputError(fmt::format("variant \"{}\": {}", variant.name, error.what()));
  }
}

} // namespace

TrainingEvaluation evaluate_training(const TrainingStudy& study,
                                     std::span<const TrainingNetwork> networks,
                                     const TrainingWatcher& watcher) {
  Refusals refusals;
  TrainingEvaluation evaluation = evaluate_training(study, networks, watcher, refusals);
  refusals.require_some();
  return evaluation;
}

void require_transport(const TrainingStudy& study) {
  const auto with_transport = std::ranges::find_if(
      study.plans, [](const TrainingPlan& plan) { return plan.transport != nullptr; });
  if (with_transport == study.plans.end()) return;
  const std::string& name = with_transport->transport->name;
  if (const LinkBusy busy = study.planning.options.model.link_busy; busy != LinkBusy::serialization)
    throw InputError(fmt::format("transport {}: links are busy for serialization only, not for {}",
                                 name, to_text(busy)));
  if (study.noise.is_drawn())
    throw InputError(
        fmt::format("transport {}: skews and jitter are drawn on ideal links only", name));
  if (study.planning.one_at_a_time)
    throw InputError(fmt::format(
        "transport {}: one communication at a time, as in ASTRA-sim, is of ideal links only",
        name));
  for (const EventPlan& plan : study.disturbances.events)
    for (const PlannedEvent& event : plan.events)
      if (event.what.kind != NetworkEvent::Kind::link_down &&
          event.what.kind != NetworkEvent::Kind::link_up)
        throw InputError(fmt::format("transport {}: nobody has measured how it behaves under {}; "
                                     "events may only take links down and up",
                                     name,
                                     event.what.kind == NetworkEvent::Kind::npu_rate
                                         ? "an event of stragglers"
                                         : to_text(event.what.kind)));
}

TrainingEvaluation evaluate_training(const TrainingStudy& study,
                                     std::span<const TrainingNetwork> networks,
                                     const TrainingWatcher& watcher, Refusals& refusals) {
  require_transport(study);
  TrainingEvaluation result;
  result.label = study.label;
  for (const EngineRow* engine : study.engines) result.engines.emplace_back(engine->name);
  result.model = study.planning.options.model;
  result.one_at_a_time = study.planning.one_at_a_time;
  for (const TrainingPlan& plan : study.plans)
    if (std::ranges::find(result.transports, plan.transport_name()) == result.transports.end())
      result.transports.push_back(plan.transport_name());
  result.reference = study.reference;
  const auto& cancelled = study.planning.options.cancelled;
  for (std::size_t n = 0; n < networks.size(); ++n)
    for (const TrainingVariant& variant : study.variants) {
      if (!variant.is_for(study.topologies[n])) continue;
      if (cancelled && cancelled()) return result;
      const Topology& topology = *networks[n].topology;
      Workload workload;
      WorkloadSummary summary;
      std::string no_memory;
      try {
        if (study.planning.options.stage) (void)study.planning.options.stage("its workload", {});
        workload = workload_of(variant, topology);
        if (watcher.made) watcher.made(topology, workload);
        summary = summary_of(variant.work, workload, topology);
      } catch (const std::bad_alloc& error) {
        no_memory = memory_text(error);
      }
      for (const TrainingPlan& plan : study.plans) {
        if (cancelled && cancelled()) return result;
        if (!no_memory.empty()) {
          result.runs.push_back(heading_of(networks[n], variant, plan));
          result.runs.back().status = Status::out_of_memory;
          result.runs.back().note = no_memory;
          continue;
        }
        Runs runs(study, n, networks[n], variant, workload, summary, plan, watcher);
        try {
          (void)refusals.row([&] { return runs.append_to(result.runs), true; },
                             [&](Status status, const std::string& note) {
                               result.runs.push_back(runs.refused(status, note));
                               return false;
                             });
        } catch (const Stopped&) { // the runs that are over stand
          return result;
        }
      }
    }
  return result;
}

std::vector<PlannedTraining> planned_rows(const TrainingStudy& study,
                                          std::span<const TrainingNetwork> networks) {
  std::vector<PlannedTraining> rows;
  for (std::size_t n = 0; n < networks.size(); ++n)
    for (const TrainingVariant& variant : study.variants) {
      if (!variant.is_for(study.topologies[n])) continue;
      for (const TrainingPlan& plan : study.plans)
        for (const Condition& condition : conditions_of(study, n))
          for (const SkewRequest& skew : study.noise.skews)
            rows.push_back({networks[n], variant, plan, condition, skew});
    }
  return rows;
}

std::vector<NodeId> all_npus(const Topology& topology) {
  std::vector<NodeId> npus;
  for (std::uint32_t n = 0; n < topology.npu_count(); ++n) npus.emplace_back(n);
  return npus;
}

std::vector<Time> starts_on(const Topology& topology, std::span<const std::string> texts) {
  return parse_starts(topology, all_npus(topology), texts, "is no NPU");
}

void require_bounds(const TrainingStudy& study, std::size_t networks) {
  const auto of_bound = std::ranges::find_if(
      study.noise.skews, [](const SkewRequest& skew) { return skew.of_bound > 0; });
  if (of_bound == study.noise.skews.end()) return;
  for (std::size_t n = 0; n < networks; ++n)
    for (const Condition& condition : conditions_of(study, n))
      if (condition.kind == Condition::Kind::disturbed ||
          condition.kind == Condition::Kind::reroute)
        throw InputError(fmt::format(
            "skew {} is times a lower bound, and of a run that is {} none is known that counts "
            "communication: here it needs a time, as in uniform:20us",
            of_bound->text, condition.kind == Condition::Kind::reroute ? "rerouted" : "disturbed"));
}

void require_sound(const TrainingStudy& study, std::span<const TrainingNetwork> networks) {
  require_npus(study.disturbances.stragglers, networks);
  require_bounds(study, networks.size());
  for (const TrainingNetwork& network : networks)
    (void)starts_on(*network.topology, study.noise.starts);
  for (std::size_t n = 0; n < networks.size(); ++n)
    for (const TrainingVariant& variant : study.variants) {
      if (!variant.is_for(study.topologies[n])) continue;
      try {
        (void)workload_of(variant, *networks[n].topology);
      } catch (const std::bad_alloc&) { // which evaluate_training() says in its rows
      }
    }
}

} // namespace tutti
