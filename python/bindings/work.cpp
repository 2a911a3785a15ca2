// What takes time: synthesis, verification, replays, bounds. Each runs as a command runs it, by the
// same functions, while Python waits.
#include "python/bindings/bindings.hpp"

#include "experiments/driver/requests/work_limits.hpp"
#include "experiments/driver/studies/registry.hpp"
#include "experiments/driver/studies/runs/attempt.hpp"
#include "experiments/driver/studies/runs/evaluation.hpp"
#include "experiments/driver/studies/runs/runner.hpp"
#include "sim/engines/engine.hpp"
#include "sim/error.hpp"
#include "sim/verify.hpp"
#include "sim/verify_compact.hpp"
#include "synth/bounds/bounds.hpp"

#include <fmt/format.h>

#include <utility>

namespace tutti::python {

namespace {

py::object ps_or_none(const std::optional<Time>& time) {
  return time ? py::object(py::int_(time->ps)) : py::object(py::none());
}

SynthesisOptions options_of(const py::dict& options) {
  SynthesisOptions made;
  made.seed = options["seed"].cast<std::uint64_t>();
  made.threads = options["threads"].is_none() ? static_cast<unsigned>(default_jobs())
                                              : options["threads"].cast<unsigned>();
  if (made.threads == 0) throw InputError("threads 0: at least 1 is needed");
  const py::object limit = options["limit"];
  if (py::isinstance<py::str>(limit))
    set_limits(made, limit.cast<std::string>());
  else if (!limit.is_none()) {
    made.limit_seconds = limit.cast<double>();
    if (!(made.limit_seconds > 0)) throw InputError("limit: more than 0 seconds are needed");
  }
  made.routing = parse_routing(options["routing"].cast<std::string>());
  made.settings = options["settings"].cast<std::map<std::string, std::string>>();
  made.model = model_words(options["model"]).over(made.model);
  return made;
}

py::dict verdict_of(const std::optional<Verdict>& verdict) {
  const bool is_faulty = verdict && verdict->fault;
  py::dict said;
  said["correct"] = verdict && verdict->correct();
  said["fault"] = is_faulty ? py::object(py::str(verdict->fault->text)) : py::none();
  said["transfer"] = is_faulty ? py::object(py::int_(verdict->fault->transfer)) : py::none();
  said["redundant"] = verdict ? verdict->redundant : 0;
  return said;
}

py::dict synthesize_for(const std::shared_ptr<BoundCollective>& collective,
                        const std::string& algorithm, const py::dict& options,
                        const py::object& progress) {
  const AlgorithmRow row = find_algorithm(algorithm);
  SynthesisOptions how = options_of(options);
  require_known_settings({&row, 1}, how);
  Waiting waiting(progress);
  how.cancelled = [&] { return waiting.is_cancelled(); };
  how.stage = waiting.watch(2);
  const StageWatch told = waiting.watch();
  how.progress = [&](const SynthesisProgress& made) {
    (void)told(fmt::format("synthesis by {}", row.name), {made.done, made.total});
  };
  std::optional<Attempt> made;
  waiting.run([&] {
    ScheduleCache none("");
    made = attempt_in_chunks(
        row, *collective->topology, [&](std::uint32_t chunks) { return collective->cut(chunks); },
        collective->chunks, how, none, Wanted::everything);
  });
  py::dict answer;
  py::object schedule = py::none();
  if (made) {
    Outcome& outcome = made->outcome;
    answer["status"] = std::string(to_text(outcome.status));
    answer["note"] = outcome.note;
    answer["routing"] = outcome.routing;
    answer["chunks"] = made->chunks;
    answer["bound_ps"] = ps_or_none(outcome.bound);
    answer["planned_ps"] = ps_or_none(outcome.planned);
    answer["planned_on"] = outcome.planned_on;
    answer["facts"] = outcome.facts;
    answer["synthesis_s"] = made->synthesis_seconds;
    answer["verify_s"] = made->verify_seconds;
    answer["problem"] = verdict_problem(*made);
    answer["verdict"] = made->has_schedule() ? py::object(verdict_of(made->verdict)) : py::none();
    if (made->has_schedule()) {
      BoundCollective cut = *collective;
      cut.chunks = made->chunks * row.chunk_multiple;
      cut.made = std::make_shared<Collective>(std::move(made->collective));
      schedule = py::cast(std::make_shared<BoundSchedule>(BoundSchedule{
          std::make_shared<BoundCollective>(std::move(cut)), std::move(outcome.schedule),
          std::move(outcome.compact), std::string(row.name), how.model}));
    }
  }
  waiting.raise(made && made->verdict.correct() ? schedule : py::none());
  answer["schedule"] = schedule;
  return answer;
}

py::dict verify_schedule(const BoundSchedule& s, const py::object& progress) {
  Waiting waiting(progress);
  const StageWatch stage = waiting.watch();
  std::optional<Verdict> verdict;
  waiting.run([&] {
    const Watch watch = watch_of(stage, "verification");
    verdict = s.list ? verify(s.topology(), *s.collective->made, *s.list, watch)
                     : verify(s.topology(), *s.collective->made, *s.compact, watch);
  });
  waiting.raise();
  return verdict_of(verdict);
}

std::vector<Time> starts_of(const Topology& topology,
                            const std::map<std::uint32_t, double>& starts) {
  std::vector<Time> times(starts.empty() ? 0 : topology.node_count());
  for (const auto& [node, seconds] : starts) {
    if (node >= times.size())
      throw InputError(fmt::format("starts_s: there is no node {} on {}", node, topology.name()));
    if (!(seconds >= 0) || seconds > 1e6)
      throw InputError(fmt::format("starts_s: node {} can't start at {} s", node, seconds));
    times[node] = time_of_seconds(seconds);
  }
  return times;
}

py::dict answer_of(Report report, const Collective& collective, bool with_deliveries,
                   bool with_hops) {
  py::dict answer;
  answer["engine"] = report.engine;
  answer["discipline"] = discipline_text(report.model);
  answer["link_busy"] = std::string(to_text(report.model.link_busy));
  answer["forwarding"] = std::string(to_text(report.model.forwarding));
  answer["completion_ps"] = report.completion.ps;
  answer["algbw_bytes_per_s"] = algbw(collective, report.completion);
  answer["busbw_bytes_per_s"] = busbw(collective, report.completion);
  answer["link_transfers"] = report.link_transfers;
  const py::dtype time = py::dtype::of<std::int64_t>();
  answer["links"] = array_of(row_type(link_use_fields, sizeof(LinkUse)), std::move(report.links));
  answer["chunk_done_ps"] = array_of(time, std::move(report.chunk_done));
  answer["deliveries_ps"] =
      with_deliveries ? py::object(array_of(time, std::move(report.deliveries))) : py::none();
  answer["hops"] =
      with_hops ? py::object(array_of(row_type({{"transfer", "<u4", offsetof(HopRecord, transfer)},
                                                {"link", "<u4", offsetof(HopRecord, link)},
                                                {"start_ps", "<i8", offsetof(HopRecord, start)},
                                                {"end_ps", "<i8", offsetof(HopRecord, end)}},
                                               sizeof(HopRecord)),
                                      std::move(report.hops)))
                : py::none();
  return answer;
}

py::dict replay_schedule(const BoundSchedule& s, const std::string& engine, const py::dict& model,
                         bool deliveries, bool hops, const std::map<std::uint32_t, double>& starts,
                         const py::object& progress) {
  const EngineRow& row = find_engine(engine);
  const TimeModel how = model_words(model).over(s.model);
  require_discipline(row, how.discipline);
  require_network_model(how.network, {&how.discipline, 1});
  const std::vector<Time> times = starts_of(s.topology(), starts);
  const bool needs_list =
      deliveries || hops || !times.empty() || !takes_compact(row, how.discipline);
  Waiting waiting(progress);
  const StageWatch stage = waiting.watch();
  std::optional<Report> report;
  std::optional<Verdict> verdict;
  waiting.run([&] { // engines take what is correct for granted
    const Collective& collective = *s.collective->made;
    const Watch checked = watch_of(stage, "verification");
    verdict = s.list ? verify(s.topology(), collective, *s.list, checked)
                     : verify(s.topology(), collective, *s.compact, checked);
    if (verdict->fault) return;
    RunOptions options;
    options.record_deliveries = deliveries;
    options.record_hops = hops;
    options.starts = times;
    options.watch = watch_of(stage, "replay on " + engine);
    if (!s.list && !needs_list)
      report = row.run_compact(s.topology(), collective, *s.compact, how, options.watch, 1);
    else
      report =
          row.run(s.topology(), collective,
                  s.list ? *s.list : expanded(s.topology(), collective, *s.compact), how, options);
  });
  waiting.raise();
  if (verdict && verdict->fault) throw InputError("the schedule is wrong: " + verdict->fault->text);
  return answer_of(std::move(report.value()), *s.collective->made, deliveries, hops);
}

py::dict bound_of(const BoundCollective& c, const std::string& effort, bool at_chunks,
                  const py::dict& model) {
  const TimeModel how = model_words(model).over({});
  const BoundEffort much = bound_effort_words.parse(effort);
  Waiting waiting{py::none()};
  std::optional<Bounds> bounds;
  waiting.run([&] { bounds = all_bounds(*c.topology, *c.made, how, much); });
  waiting.raise();
  const Bound& best = at_chunks ? bounds->best_at_chunks() : bounds->best();
  std::vector<std::uint32_t> inside;
  for (const NodeId node : best.inside) inside.push_back(node.value);
  py::dict answer;
  answer["time_ps"] = best.time.ps;
  answer["kind"] = std::string(to_text(best.kind));
  answer["certificate"] = best.certificate;
  answer["inside"] = inside;
  return answer;
}

} // namespace

void bind_work(py::module_& module) {
  module.def("synthesize", &synthesize_for, py::arg("collective").none(false), py::arg("algorithm"),
             py::arg("options"), py::arg("progress"));
  module.def("verify", &verify_schedule, py::arg("schedule").none(false), py::arg("progress"));
  module.def("replay", &replay_schedule, py::arg("schedule").none(false), py::arg("engine"),
             py::arg("model"), py::arg("deliveries"), py::arg("hops"), py::arg("starts_s"),
             py::arg("progress"));
  module.def("bound", &bound_of, py::arg("collective").none(false), py::arg("effort"),
             py::arg("at_chunks"), py::arg("model"));
}

} // namespace tutti::python
