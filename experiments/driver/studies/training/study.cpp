// [[training]] from its tables to what came of them. The order of reading matters: networks and
// algorithms first, then the work, which must fit the networks, then what disturbs it, then
// expectations, which are checked against the runs that there will be. So an expectation that picks
// nothing, or too much, is an error before hours of simulation. A run may take minutes: whoever
// waits is told what begins and what came of it, line by line, since the runs of a study are few
// and their names say more than a bar.
#include "experiments/driver/studies/training/study.hpp"

#include "experiments/driver/cache/schedule_cache.hpp"
#include "experiments/driver/figures/iteration_trace.hpp"
#include "experiments/driver/studies/expectation_reader.hpp"
#include "experiments/driver/studies/experiment.hpp"
#include "experiments/driver/studies/experiment_values.hpp"
#include "experiments/driver/studies/keys.hpp"
#include "experiments/driver/studies/registry.hpp"
#include "experiments/driver/studies/training/columns.hpp"
#include "experiments/driver/studies/training/evaluation.hpp"
#include "experiments/driver/terminal/stage_display.hpp"
#include "sim/error.hpp"
#include "sim/files/config.hpp"
#include "sim/files/files.hpp"
#include "sim/text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>

#include <unistd.h>

namespace tutti {

namespace {

constexpr std::string_view automatic = "auto";
constexpr std::size_t most_variants = 4096; // more is a slip

std::vector<std::string> strings_of(const ConfigValue& value) {
  std::vector<std::string> texts;
  for (const ConfigValue& item : list_of(value)) texts.push_back(item.string());
  if (texts.empty()) throw value.error("the list is empty");
  return texts;
}

/// Candidates of `auto` by default: quick algorithms that plan most collectives.
std::vector<AlgorithmRow> default_candidates() {
  const std::vector<std::string> names{"direct", "ring", "rhd", "dbt", "tacos"};
  return find_algorithms(names);
}

std::vector<TrainingPlan> parse_plans(const std::vector<std::string>& names, const ConfigValue& at,
                                      const std::vector<AlgorithmRow>& candidates) {
  std::vector<TrainingPlan> plans;
  for (const std::string& name : names) {
    if (std::ranges::find(plans, name, &TrainingPlan::name) != plans.end())
      throw InputError(fmt::format("algorithm {} is named twice", name));
    plans.push_back(
        {name, name == automatic ? candidates : std::vector{find_algorithm_at(name, at)}});
  }
  return plans;
}

std::vector<TrainingPlan> read_plans(ConfigTable& table) {
  const ConfigValue algorithms = table.at("algorithms");
  const std::vector<std::string> names = strings_of(algorithms);
  const auto given = table.find("candidates");
  if (given && std::ranges::find(names, automatic) == names.end())
    throw given->error(fmt::format("{} are of algorithm \"auto\", which isn't asked for",
                                   table.name_of("candidates")));
  const std::vector<AlgorithmRow> candidates = given ? algorithms_of(*given) : default_candidates();
  return algorithms.located([&] { return parse_plans(names, algorithms, candidates); });
}

/// All of them under each.
std::vector<TrainingPlan> under_transports(const std::vector<TrainingPlan>& plans,
                                           const ConfigValue& value) {
  std::vector<TrainingPlan> all;
  for (const ConfigValue& item : list_of(value)) {
    const std::shared_ptr<const Transport> transport = parsed(item, parse_transport);
    for (TrainingPlan plan : plans) {
      plan.transport = transport;
      if (std::ranges::any_of(all, [&](const TrainingPlan& other) {
            return other.name == plan.name && other.transport_name() == plan.transport_name();
          }))
        throw item.error(fmt::format("transport {} is named twice", plan.transport_name()));
      all.push_back(std::move(plan));
    }
  }
  if (all.empty()) throw value.error("the list is empty");
  return all;
}

std::string read_cache(ConfigTable& table) {
  const std::string cache = string_at(table, "cache");
  return cache.empty() ? default_schedule_cache() : cache == "none" ? "" : cache;
}

/// Networks of a variant, which must be among those of its study.
std::vector<std::size_t> own_topologies(ConfigTable& own, const Experiment& experiment,
                                        std::span<const std::size_t> of_study) {
  return list_at(own, "topologies", std::vector<std::size_t>{}, [&](const ConfigValue& value) {
    const std::size_t network = topology_index(value, experiment.topologies);
    if (std::ranges::find(of_study, network) == of_study.end())
      throw value.error("it isn't among the topologies of its study");
    return network;
  });
}

std::vector<TrainingVariant> read_variants(ConfigTable& table, const Experiment& experiment,
                                           const TrainingStudy& study,
                                           const std::string& source_name) {
  std::vector<TrainingVariant> variants;
  const auto add = [&](std::string name, ConfigTable* own, std::vector<std::size_t> topologies) {
    TrainingVariant variant{std::move(name), {}, std::move(topologies)};
    std::vector<const Topology*> networks;
    for (const std::size_t network : study.topologies)
      if (variant.is_for(network)) networks.push_back(&experiment.topologies[network].topology);
    variant.work = read_work(table, own, source_name, networks);
    variants.push_back(std::move(variant));
  };
  for (ConfigTable& own : table.tables("variants")) {
    if (variants.size() == most_variants) throw own.error("more variants than 4096");
    const ConfigValue name = own.at("name");
    if (std::ranges::find(variants, name.string(), &TrainingVariant::name) != variants.end())
      throw name.error(fmt::format("there is a variant \"{}\" already", name.string()));
    add(name.string(), &own, own_topologies(own, experiment, study.topologies));
    own.finish();
  }
  if (variants.empty()) add("", nullptr, {});
  for (const std::size_t network : study.topologies)
    if (std::ranges::none_of(variants,
                             [&](const auto& variant) { return variant.is_for(network); }))
      throw table.error(
          fmt::format("no variant is for topology \"{}\"", experiment.topologies[network].label));
  return variants;
}

/// The name of a plan.
std::string reference_of(const ConfigValue& value, std::span<const TrainingPlan> plans) {
  std::string name = value.string();
  std::vector<std::string> known;
  for (const TrainingPlan& plan : plans) known.push_back(plan.name);
  if (std::ranges::find(known, name) == known.end())
    throw value.error(unknown_name("algorithm", name, known));
  return name;
}

/// As training_records() has them.
PlannedRows planned_runs(const TrainingStudy& study, std::span<const TrainingNetwork> networks) {
  using namespace column_words;
  using P = PlannedTraining;
  const auto of_failures = [](auto member) {
    return [member](const P& p) {
      return p.condition.failed_links > 0 ? Cell(p.condition.*member) : Cell();
    };
  };
  const Fields<P> fields{
      {{"topology", text}, [](const P& p) { return p.network.label; }},
      {{"variant", text}, [](const P& p) { return p.variant.name; }},
      {{"algorithm", text}, [](const P& p) { return p.plan.name; }},
      {{"transport", text}, [](const P& p) { return p.plan.transport_name(); }},
      {{"condition", text}, [](const P& p) { return to_text(p.condition.kind); }},
      {{"failed_links", count}, of_failures(&Condition::failed_links)},
      {{"seed", count}, of_failures(&Condition::seed)},
      {{"skew", text}, [](const P& p) { return p.skew.text; }},
      {{"jitter", text}, [&study](const P&) { return study.noise.jitter_text; }}};
  PlannedRows planned{
      {}, {}, {{"condition", {}}, {"skew", {}}}, columns_of<TrainingStudy>(), "iterations_per_s"};
  const std::vector<P> rows = planned_rows(study, networks);
  for (const P& row : rows) {
    planned.opt_in[0].rows.push_back(row.condition.kind != Condition::Kind::undisturbed);
    planned.opt_in[1].rows.push_back(&row.skew != &study.noise.skews.front());
  }
  planned.keys = records_of<P>(fields, rows);
  return planned;
}

/// All that plan something in the study.
std::vector<AlgorithmRow> algorithms_of(const TrainingStudy& study) {
  std::vector<AlgorithmRow> rows;
  for (const TrainingPlan& plan : study.plans)
    rows.insert(rows.end(), plan.algorithms.begin(), plan.algorithms.end());
  for (const auto& [collective, row] : study.planning.by_collective) rows.push_back(row);
  return rows;
}

} // namespace

TrainingStudy TrainingStudy::read(ConfigTable table, const Experiment& experiment,
                                  const std::string& source_name,
                                  std::span<const TrainingStudy> others) {
  TrainingStudy study;
  study.label = label_at(table, others);
  std::vector<std::size_t> all(experiment.topologies.size());
  std::iota(all.begin(), all.end(), 0);
  study.topologies = list_at(table, "topologies", all, [&](const ConfigValue& value) {
    return topology_index(value, experiment.topologies);
  });
  const std::vector<TrainingNetwork> networks = study.own(experiment.topologies);
  study.plans = read_plans(table);
  study.planning.options = options_of(table, experiment.seed, source_name);
  study.engines = parse_engines("native");
  read_keys(table, TrainingStudy::keys(), study);
  study.cache = read_cache(table);
  study.variants = read_variants(table, experiment, study, source_name);
  study.disturbances = read_disturbances(table, networks, source_name);
  study.noise = noise_at(table, source_name, [&](std::span<const std::string> texts) {
    for (const TrainingNetwork& network : networks) (void)starts_on(*network.topology, texts);
  });
  if (const auto skews = table.find("skews"))
    skews->located([&] { require_bounds(study, networks.size()); });
  if (const auto transport = table.find("transport")) {
    study.plans = under_transports(study.plans, *transport);
    transport->located([&] { require_transport(study); });
  }
  if (const auto settings = table.find("settings"))
    settings->located(
        [&] { require_known_settings(algorithms_of(study), study.planning.options); });
  if (const auto reference = table.find("reference"))
    study.reference = reference_of(*reference, study.plans);
  study.expectations = read_expectations(table.tables("expect"), planned_runs(study, networks));
  table.finish();
  return study;
}

namespace {

std::string what_comes_of(const TrainingRun& run, bool is_over) {
  if (!is_over) return "begins";
  if (!run.report) return run.note;
  return fmt::format("{} per iteration", short_text(run.iteration_time()));
}

TrainingEvaluation evaluate(TrainingStudy study, const StudyRun& how,
                            std::vector<ExploredTimeline>& timelines) {
  if (how.cache) study.cache = *how.cache;
  study.draw_threads = std::max(1U, static_cast<unsigned>(how.jobs)); // nothing runs beside it
  InterruptibleWork work(how.interrupts, study.label, how.progress);
  work.watch(study.planning.options);
  TrainingWatcher watcher;
  watcher.progress = work.beside(run_announcer(study.label, how.progress));
  if (how.explores) watch_timelines(watcher, study, timelines);
  return evaluate_training(study, study.own(how.networks), watcher, how.refusals);
}

using RunName = std::tuple<std::string, std::string, std::string, std::string, std::string>;

/// [row of planned_rows()]: its row in training_records(). A run without draws has one row,
/// whatever its skews; a run that isn't there has none: its index is behind the last.
std::vector<std::size_t> record_of_planned(const TrainingStudy& study,
                                           std::span<const TrainingNetwork> networks,
                                           std::span<const TrainingRun> runs) {
  struct Rows {
    std::size_t first, count;
  };
  std::map<RunName, Rows> rows_of;
  std::size_t row = 0;
  for (const TrainingRun& run : runs) {
    const std::size_t count = noises_of(run).size();
    rows_of.emplace(
        RunName{run.topology, run.variant, run.plan, run.transport, to_text(run.condition)},
        Rows{row, count});
    row += count;
  }
  std::vector<std::size_t> places;
  const std::size_t skews = study.noise.skews.size();
  for (const PlannedTraining& planned : planned_rows(study, networks)) {
    const std::size_t skew = places.size() % skews; // the innermost
    const auto found = rows_of.find({planned.network.label, planned.variant.name, planned.plan.name,
                                     planned.plan.transport_name(), to_text(planned.condition)});
    places.push_back(found == rows_of.end()
                         ? row // behind the last
                         : found->second.first + (skew < found->second.count ? skew : 0));
  }
  return places;
}

} // namespace

std::vector<TrainingNetwork> TrainingStudy::own(Networks networks) const {
  std::vector<TrainingNetwork> own;
  for (const std::size_t t : topologies) own.push_back({networks[t].label, &networks[t].topology});
  return own;
}

void require_sound(const TrainingStudy& study, Networks networks) {
  require_sound(study, study.own(networks));
}

std::size_t TrainingStudy::case_count() const {
  std::size_t works = 0;
  for (const TrainingVariant& variant : variants)
    works += static_cast<std::size_t>(std::ranges::count_if(
        topologies, [&](std::size_t network) { return variant.is_for(network); }));
  return works * plans.size() * noise.skews.size();
}

std::function<void(const TrainingRun&, bool)> run_announcer(std::string label, std::ostream& out) {
  return [label = std::move(label), &out](const TrainingRun& run, bool is_over) {
    std::vector<std::string> words;
    for (const std::string& word :
         {run.topology, run.variant, name_of_plan(run), to_text(run.condition)})
      if (!word.empty()) words.push_back(word);
    out << fmt::format("tutti: {}{}: {}\n", label.empty() ? "" : label + ": ", joined(words, ", "),
                       what_comes_of(run, is_over))
        << std::flush;
  };
}

std::function<void(const TrainingRun&, bool)> run_announcer(std::string label, bool lines_wanted) {
  if (!lines_wanted && isatty(STDERR_FILENO) == 0) return {};
  return run_announcer(std::move(label), std::cerr);
}

std::string name_of_plan(const TrainingRun& run) {
  return run.plan + (run.transport == "ideal" ? "" : ", " + run.transport);
}

std::vector<std::string> problems_of(const TrainingEvaluation& evaluation) {
  std::vector<std::string> problems;
  for (const TrainingRun& run : evaluation.runs)
    if (!run.problem.empty())
      problems.push_back(fmt::format("{} on {}, {}, {}: {}", run.workload.name, run.topology,
                                     name_of_plan(run), to_text(run.condition), run.problem));
  return problems;
}

std::vector<std::string> nothing_made(const TrainingEvaluation& evaluation) {
  return nothing_of("nothing ran", evaluation.runs,
                    [](const TrainingRun& run) { return run.report.has_value(); });
}

bool has_report(const TrainingEvaluation& evaluation) {
  return std::ranges::any_of(evaluation.runs,
                             [](const TrainingRun& run) { return run.report.has_value(); });
}

void watch_timelines(TrainingWatcher& watcher, const TrainingStudy& study,
                     std::vector<ExploredTimeline>& into) {
  struct Work {
    const Topology* topology;
    const Workload* workload;
  };
  const auto work = std::make_shared<Work>();
  if (!watcher.recorded)
    watcher.recorded = [work, &study](const Workload& workload) {
      std::vector<NodeId> npus = npus_to_trace(workload);
      const std::vector<Share> shares =
          compute_shares(study.disturbances.stragglers, *work->topology);
      for (std::uint32_t n = 0; n < shares.size(); ++n)
        if (shares[n] != Share{} && npus.size() < 32) npus.emplace_back(n);
      std::ranges::sort(npus);
      npus.erase(std::unique(npus.begin(), npus.end()), npus.end());
      return npus;
    };
  watcher.made = [work, made = watcher.made](const Topology& topology, const Workload& workload) {
    *work = {&topology, &workload};
    if (made) made(topology, workload);
  };
  watcher.progress = [work, &into, progress = watcher.progress](const TrainingRun& run, bool over) {
    constexpr std::size_t most_spans = 120'000; // of all runs of a page
    std::size_t spans = 0;
    for (const ExploredTimeline& timeline : into) spans += timeline.spans.size();
    if (over && run.report && !run.report->spans.empty() && spans < most_spans) {
      into.push_back(iteration_timeline(fmt::format("{}{}, {}, {}", run.topology,
                                                    run.variant.empty() ? "" : ", " + run.variant,
                                                    name_of_plan(run), to_text(run.condition)),
                                        *work->topology, *work->workload, *run.report));
      into.back().title += fmt::format(" ({} of {} NPUs)", into.back().npus.size(), run.npus);
    }
    if (progress) progress(run, over);
  };
}

StudyResult result_of(TrainingEvaluation evaluation, std::vector<TrainingNetwork> networks,
                      NpuDetail detail) {
  const auto made = std::make_shared<const TrainingEvaluation>(std::move(evaluation));
  StudyResult result;
  result.files = {{.stem = "training",
                   .records = training_records(*made),
                   .chart = TrainingStudy::files().front().chart},
                  {"training_npus", npu_records(*made)}};
  result.kind = TrainingStudy::kind;
  result.details = [made, detail] { return training_details(*made, detail); };
  result.story = [made](const TableForm& form) { return training_text(*made, form); };
  result.network_uses = [made, networks] { return network_uses(*made, networks); };
  result.figures = [made, networks = std::move(networks)] {
    return has_report(*made) ? training_figures(*made, networks) : std::vector<NamedFigure>{};
  };
  for (const TrainingRun& one : made->runs)
    if (!one.report && !result.unanswered) result.unanswered = {one.status, one.note};
  result.defects = problems_of(*made);
  result.nothing_made = nothing_made(*made);
  return result;
}

StudyResult run_study(const TrainingStudy& study, const StudyRun& how) {
  std::vector<ExploredTimeline> timelines;
  TrainingEvaluation made = evaluate(study, how, timelines);
  how.refusals.accept(); // what is refused stands in rows
  const std::size_t runs = made.runs.size();
  const std::vector<std::size_t> places =
      record_of_planned(study, study.own(how.networks), made.runs);
  StudyResult result = result_of(std::move(made), study.own(how.networks), NpuDetail::none);
  result.timelines = std::move(timelines);
  result.comparisons = compare(study.expectations, result.files.front().records, places);
  if (study.case_count() == 1 && runs == 2) result.point = 1; // what disturbs it
  return result;
}

} // namespace tutti
