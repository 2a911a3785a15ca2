// The frontier is made first: rows of the paper are judged by its bounds and points, which may beat
// them. A point may take hours to find and is a result by itself: it is reported when it is found.
// Papers count C, the chunks of an NPU's buffer, where we count chunks per shard: how many of
// theirs one of ours is depends on the collective, and a C that it doesn't divide is no algorithm
// of it.
#include "experiments/driver/studies/frontiers/study.hpp"

#include "experiments/driver/pool/process_memory.hpp"
#include "experiments/driver/records/file_stem.hpp"
#include "experiments/driver/studies/experiment.hpp"
#include "experiments/driver/studies/experiment_values.hpp"
#include "experiments/driver/studies/frontiers/columns.hpp"
#include "experiments/driver/studies/keys.hpp"
#include "experiments/driver/terminal/stage_display.hpp"
#include "sim/error.hpp"
#include "sim/files/config.hpp"
#include "sim/files/files.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <iostream>
#include <memory>
#include <utility>

namespace tutti {

namespace {

constexpr std::int64_t most_counted = 1 << 20; // chunks, steps, rounds; more is a slip

// Reads the collective and the sizes at which it is tried; how many shards an NPU's buffer has, as
// the paper counts chunks of the whole buffer. Makes no collective of a name, which may be of any
// size.
std::uint32_t read_collective_and_sizes(ConfigTable& table, const Topology& topology,
                                        const std::string& source_name, FrontierStudy& study) {
  const ConfigValue value = table.at("collective");
  study.collective = collective_beside(value.string(), source_name);
  if (is_collective_file(study.collective)) {
    if (const auto sizes = table.find("sizes"))
      throw sizes->error("the size of a collective from a file is in the file");
    const Collective collective =
        value.located([&] { return read_collective(study.collective, topology); });
    if (const std::string obstacle = frontier_obstacle(topology, collective); !obstacle.empty())
      throw value.error(obstacle);
    study.sizes = {collective.size()};
    return counted_chunks(collective.parts.front());
  }
  study.sizes = sizes_at(table, "sizes", "1KiB..1GiB");
  if (!std::is_sorted(study.sizes.begin(), study.sizes.end()))
    throw table.at("sizes").error("sizes must ascend");
  const CollectiveSpec spec = parsed(value, parse_collective);
  CollectivePart part;
  part.kind = spec.kind;
  part.group = spec.group;
  if (part.group.empty()) part.group.resize(topology.npu_count());
  return counted_chunks(part);
}

std::uint32_t counted_at(ConfigTable& table, const std::string& key) {
  return static_cast<std::uint32_t>(table.at(key).integer(1, most_counted));
}

PaperInstance read_instance(ConfigTable table, std::uint32_t shards_per_buffer) {
  PaperInstance instance;
  const ConfigValue chunks = table.at("chunks");
  instance.chunks = counted_at(table, "chunks");
  if (instance.chunks % shards_per_buffer != 0)
    throw chunks.error(fmt::format("{} chunks can't be: this collective has a multiple of {}",
                                   instance.chunks, shards_per_buffer));
  instance.chunks_per_shard = instance.chunks / shards_per_buffer;
  instance.steps = counted_at(table, "steps");
  instance.rounds = counted_at(table, "rounds");
  if (instance.rounds < instance.steps)
    throw table.at("rounds").error(fmt::format("{} steps need as many rounds", instance.steps));
  if (const auto claimed = table.find("optimality"))
    instance.claimed = parsed(*claimed, parse_optimality);
  if (const auto seconds = table.find("seconds")) {
    instance.seconds = seconds->number();
    if (*instance.seconds < 0) throw seconds->error("a time can't be below 0");
  }
  instance.ours = string_at(table, "ours");
  instance.explanation = string_at(table, "explanation");
  table.finish();
  return instance;
}

} // namespace

FrontierStudy FrontierStudy::read(ConfigTable table, const Experiment& experiment,
                                  const std::string& source_name,
                                  std::span<const FrontierStudy> others) {
  const Networks networks = experiment.topologies;
  FrontierStudy study;
  study.label = label_at(table, others);
  study.options = options_of(table, experiment.seed, source_name);
  read_keys(table, FrontierStudy::keys(), study);
  study.topology = topology_at(table, networks);
  const Topology& topology = networks[study.topology].topology;
  const std::uint32_t shards_per_buffer =
      read_collective_and_sizes(table, topology, source_name, study);
  if (const auto settings = table.find("settings"))
    settings->located([&] { (void)request_of(study.frontier(networks)); });
  for (ConfigTable& row : table.tables("paper"))
    study.paper.push_back(read_instance(row, shards_per_buffer));
  table.finish();
  return study;
}

FrontierCase FrontierStudy::frontier(Networks networks) const {
  return {.label = label,
          .topology_label = networks[topology].label,
          .topology = &networks[topology].topology,
          .collective = collective,
          .sizes = sizes,
          .options = options,
          .engines = engines};
}

FrontierStudyEvaluation evaluate_study(const FrontierCase& c, std::span<const PaperInstance> paper,
                                       const std::function<void(const FrontierPoint&)>& found,
                                       const FrontierFunction& function) {
  FrontierRequest request = request_of(c);
  request.found = found;
  FrontierStudyEvaluation study{evaluate_frontier(c, request, function), {}};
  for (const PaperInstance& instance : paper) {
    if (is_cancelled(c.options)) break;
    study.instances.push_back(evaluate_instance(c, instance, study.frontier.frontier, function));
  }
  return study;
}

std::vector<std::size_t> beyond_paper(const FrontierStudyEvaluation& study) {
  if (study.instances.empty()) return {};
  std::vector<PaperInstance> paper;
  for (const InstanceEvaluation& instance : study.instances) paper.push_back(instance.paper);
  return beyond_paper(study.frontier.frontier, paper);
}

std::vector<Comparison> comparisons_of(const FrontierStudyEvaluation& study) {
  std::vector<Comparison> all;
  for (const InstanceEvaluation& instance : study.instances)
    all.push_back(comparison_of(study.frontier.label, instance, study.frontier.frontier));
  return all;
}

std::vector<std::string> problems_of(const FrontierStudyEvaluation& study) {
  const FrontierEvaluation& frontier = study.frontier;
  const std::string what =
      fmt::format("frontier of {} on {}", frontier.collective, frontier.topology);
  std::vector<std::string> problems;
  const auto add = [&](const std::string& problem) {
    if (!problem.empty()) problems.push_back(fmt::format("{}: {}", what, problem));
  };
  add(frontier.problem);
  for (const InstanceEvaluation& instance : study.instances) add(instance.problem);
  return problems;
}

std::function<void(const FrontierPoint&)> point_announcer(std::string what, std::ostream& out) {
  return [what = std::move(what), &out](const FrontierPoint& point) {
    out << fmt::format("tutti: {}: {}, {} rounds per chunk, {}, {:.3f} s\n", what,
                       instance_text(point), to_text(point.cost()), point.method, point.seconds)
        << std::flush;
  };
}

void require_sound(const FrontierStudy& study, Networks networks) {
  require_sound(study.frontier(networks));
}

std::size_t FrontierStudy::case_count() const { return sizes.size(); }

std::vector<RecordFile> FrontierStudy::files() {
  return {{"frontier", frontier_records({}), true}, {"frontier_paper", paper_records({})}};
}

std::vector<std::string> FrontierStudy::table_columns() const { return frontier_table_columns(); }

namespace {

/// One that was refused, or had no more memory: without points, and with `note` as why it ended.
FrontierStudyEvaluation without_study(const FrontierCase& c, Status status,
                                      const std::string& note) {
  Frontier none;
  none.stop = note;
  none.timed_out = is_cut_short(status);
  return {evaluate_points(c, std::move(none)), {}};
}

FrontierStudyEvaluation evaluate(const FrontierStudy& study, const StudyRun& how) {
  FrontierCase c = study.frontier(how.networks);
  const std::string what =
      study.label.empty() ? fmt::format("{} on {}", c.collective, c.topology_label) : study.label;
  allow_memory(c.options);
  InterruptibleWork work(how.interrupts, what, how.progress);
  work.watch(c.options);
  std::function<void(const FrontierPoint&)> found;
  if (form_on_stderr(how.progress) != ProgressForm::none)
    found = work.beside(point_announcer(what, std::cerr));
  return how.refusals.row(
      [&] { return evaluate_study(c, study.paper, found); },
      [&](Status status, const std::string& note) { return without_study(c, status, note); });
}

std::vector<std::string> nothing_made(const FrontierStudyEvaluation& study) {
  const FrontierEvaluation& frontier = study.frontier;
  const bool is_decided =
      std::ranges::any_of(study.instances, [](const InstanceEvaluation& instance) {
        return instance.answer != "timed_out";
      });
  if (!frontier.points.empty() || !frontier.problem.empty() || is_decided) return {};
  return {fmt::format("frontier of {} on {}: no point was found: {}", frontier.collective,
                      frontier.topology, frontier.frontier.stop)};
}

/// Row in frontier_records() of the best point, where there is only one size.
std::optional<std::size_t> best_row(const FrontierStudyEvaluation& made) {
  const FrontierEvaluation& e = made.frontier;
  if (e.sizes.size() != 1 || e.best.empty()) return std::nullopt;
  std::size_t row = 0;
  for (std::size_t p = 0; p < e.best.front().which; ++p) row += e.points[p].at.size();
  return row;
}

} // namespace

StudyResult run_study(const FrontierStudy& study, const StudyRun& how) {
  const auto made = std::make_shared<const FrontierStudyEvaluation>(evaluate(study, how));
  StudyResult result;
  result.files = {{"frontier", frontier_records(*made)}};
  if (!made->instances.empty()) result.files.push_back({"frontier_paper", paper_records(*made)});
  result.kind = FrontierStudy::kind;
  result.details = [made] { return frontier_details(*made); };
  result.about = [made] { return about_frontier(*made); };
  result.story = [made](const TableForm& form) {
    return frontier_text(made->frontier, form) + instances_text(*made, form);
  };
  result.figures = [made] {
    std::vector<NamedFigure> figures;
    if (const FrontierEvaluation& frontier = made->frontier; !frontier.frontier.points.empty())
      figures.push_back({file_stem("frontier", frontier.label), frontier_figure(frontier)});
    return figures;
  };
  result.point = best_row(*made);
  if (made->frontier.points.empty())
    result.unanswered = {made->frontier.frontier.timed_out ? Status::timed_out
                                                           : Status::unsupported,
                         made->frontier.frontier.stop};
  result.comparisons = comparisons_of(*made);
  result.defects = problems_of(*made);
  result.nothing_made = nothing_made(*made);
  return result;
}

} // namespace tutti
