// `tutti replay`: the schedule in a file on an engine, and what it does to the links.
#include "experiments/driver/cli/commands.hpp"
#include "experiments/driver/cli/oracle_case.hpp"
#include "experiments/driver/figures/heatmap.hpp"
#include "experiments/driver/figures/network_figure.hpp"
#include "experiments/driver/figures/trace.hpp"
#include "experiments/driver/records/json.hpp"
#include "experiments/driver/records/output.hpp"
#include "experiments/driver/requests/collective_request.hpp"
#include "experiments/driver/studies/experiment.hpp"
#include "experiments/driver/studies/noise/figures.hpp"
#include "experiments/driver/studies/noise/request.hpp"
#include "experiments/driver/studies/runs/busy_links.hpp"
#include "experiments/driver/studies/runs/json.hpp"
#include "experiments/driver/studies/runs/noisy_replay.hpp"
#include "experiments/driver/studies/runs/runner.hpp"
#include "experiments/driver/studies/runs/table.hpp"
#include "experiments/driver/terminal/stage_display.hpp"
#include "sim/error.hpp"
#include "sim/files/files.hpp"
#include "sim/files/schedule_file.hpp"
#include "sim/verify.hpp"
#include "sim/verify_compact.hpp"
#include "sim/work_limit.hpp"
#include "topologies/list.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>

namespace tutti {

namespace {

bool needs_hops(const ReplayArguments& arguments) {
  return !arguments.trace.empty() || !arguments.draw_steps.empty() ||
         (!arguments.draw.file.empty() && arguments.draw.by == "queue");
}

Evaluation evaluation_of(const Topology& topology, const ScheduleFile& file,
                         const Verdict& verdict) {
  Evaluation e;
  e.topology = topology.name();
  e.collective = collective_text(topology, file.collective);
  e.algorithm = file.algorithm;
  e.size = file.collective.size();
  e.npus = topology.npu_count();
  e.chunks_per_shard = file.collective.parts.front().chunks_per_shard;
  e.chunks = file.collective.chunks.size();
  e.transfers = file.size();
  e.redundant = verdict.redundant;
  e.status = Status::feasible;
  e.verified = true;
  return e;
}

void write_replays(const ReplayArguments& arguments, const Topology& topology,
                   const ScheduleFile& file, std::span<const Replay> replays) {
  std::vector<std::string> left_out = left_out_of_trace(topology);
  save_trace(arguments.trace, left_out, [&](TraceEvents& events) {
    std::uint32_t pid = 0;
    for (const Replay& replay : replays) {
      const Report& report = replay.report;
      const std::string missing =
          write_run(events, ++pid,
                    {trace_name(file.algorithm, file.collective.size(), report.model.discipline),
                     &topology, &file.collective, &file.schedule, &report});
      if (!missing.empty()) left_out.push_back(missing);
    }
  });
  report_left_out(arguments.trace, left_out);
}

void draw_heatmap(const ReplayArguments& arguments, const Topology& topology,
                  const ScheduleFile& file, const Report& report) {
  const std::string title =
      fmt::format("{}, {}, {}", topology.name(), file.collective.name(), file.algorithm);
  const LinkMap map = link_map(file.algorithm, topology, report, LinkQuantity::utilisation);
  draw(heatmap_figure(title, {&map, 1}, LinkQuantity::utilisation), arguments.heatmap);
}

const EngineRow& engine_of(const ReplayArguments& arguments) {
  return *of_option("--engine", [&] { return &find_engine(arguments.engine); });
}

// Replays once per discipline, writes a trace of all and draws the first.
void replay_and_draw(const ReplayArguments& arguments, const Topology& topology,
                     const ScheduleFile& file, TimeModel model, const NoiseRequest& noise,
                     std::span<const Time> starts, const StageWatch& stage, Evaluation& e) {
  const EngineRow& engine = engine_of(arguments);
  const BoundEffort effort = bound_effort_words.parse(arguments.bound.value_or("quick"));
  for (const Discipline discipline : parse_disciplines(arguments.disciplines)) {
    model.discipline = discipline;
    RunOptions options;
    options.record_hops = needs_hops(arguments);
    options.record_deliveries = options.record_hops;
    options.starts = starts;
    options.watch =
        watch_of(stage, fmt::format("replay on {}, {}", engine.name, discipline_text(model)));
    e.replays.push_back(
        file.compact
            ? replay(topology, file.collective, *file.compact, model, engine, options.watch, effort)
            : replay(topology, file.collective, file.schedule, model, engine, options, effort));
    if (noise.is_drawn())
      add_noisy_replays({topology, file.collective, file.schedule, model, engine, starts}, noise,
                        static_cast<unsigned>(default_jobs()), stage, e.replays.back(), e.problem);
    e.replay_seconds += e.replays.back().replay_seconds;
    e.bound_seconds += e.replays.back().bound_seconds;
    if (e.problem.empty()) e.problem = replay_problem(e.replays.back());
  }
  const Report& first = e.replays.front().report;
  if (!arguments.trace.empty()) write_replays(arguments, topology, file, e.replays);
  if (!arguments.heatmap.empty()) draw_heatmap(arguments, topology, file, first);
  const Heading heading(
      fmt::format("{} by {} on {}: {}", collective_text(topology, file.collective), file.algorithm,
                  topology.name(), short_text(first.completion)),
      fmt::format("{}; engine {}, {}, links busy for {}", to_text(file.collective.size()),
                  first.engine, discipline_text(first.model), to_text(first.model.link_busy)));
  if (const DrawArguments& picture = arguments.draw; !picture.file.empty()) {
    const LinkQuantity quantity = link_quantity_words.parse(picture.by);
    draw(network_figure(heading, topology, layout_of(topology),
                        quantity == LinkQuantity::queue
                            ? queued_data(topology, file.collective, file.schedule, first)
                            : link_values(first, quantity)),
         picture.file);
  }
  if (!arguments.draw_steps.empty())
    draw(steps_figure(heading, topology, first), arguments.draw_steps);
  if (!arguments.histogram.empty()) {
    std::vector<NamedNoise> noises;
    for (const NoiseOutcome& outcome : e.replays.front().noises)
      noises.push_back({"skew " + outcome.skew, &outcome});
    draw(histogram_figure(heading, noises), arguments.histogram);
  }
  e.hottest_link = hottest_link(topology, first);
  e.bottleneck = bottleneck(topology, first);
  e.peak_rss_bytes = peak_rss_bytes();
}

// What can be checked before the schedule is read.
void require_sound(const ReplayArguments& arguments) {
  for (const Discipline discipline : parse_disciplines(arguments.disciplines))
    require_discipline(engine_of(arguments), discipline);
  of_option("--network-model", [&] {
    require_network_model(network_model_words.parse(arguments.network_model),
                          parse_disciplines(arguments.disciplines));
    return 0;
  });
  require_picture_name(arguments.heatmap);
  require_picture_name(arguments.draw_steps);
  require_picture_name(arguments.histogram);
  const bool by_queue = require_drawable(arguments.draw, true) == LinkQuantity::queue;
  if (by_queue && parse_disciplines(arguments.disciplines).front() != Discipline::fifo)
    throw InputError("--draw-by queue: of fifo only, name it first: --discipline fifo,fluid");
  std::vector<std::string> inputs = inputs_of(arguments.topology, arguments.noise);
  inputs.push_back(arguments.file);
  require_outputs(inputs, {arguments.trace, arguments.heatmap, arguments.draw.file,
                           arguments.draw_steps, arguments.histogram, arguments.export_case});
}

/// Who starts late and what is drawn, as the options say.
NoiseRequest noise_of(const StudyLine& line, const Topology& topology,
                      std::span<const NodeId> members) {
  NoiseRequest noise;
  read_options(command_options(noise_keys), line, [&](ConfigTable& table) {
    noise =
        noise_at(table, std::string(command_line_source), [&](std::span<const std::string> texts) {
          (void)parse_starts(topology, members, texts);
        });
  });
  return noise;
}

} // namespace

int replay_command(const ReplayArguments& arguments) {
  require_sound(arguments);
  const Topology topology = make_topology_and_report(arguments.topology);
  const ScheduleFile file = read_schedule(arguments.file, topology);
  TimeModel model = time_model(arguments.model, file.time_model);
  model.network = network_model_words.parse(arguments.network_model);
  const std::vector<NodeId> members = members_of(file.collective);
  const NoiseRequest noise = noise_of(arguments.noise, topology, members);
  RunStudy shown;
  shown.matrices.emplace_back().disciplines = parse_disciplines(arguments.disciplines);
  shown.matrices.back().noise = noise;
  require_columns(arguments.tables, std::vector<AnyStudy>{shown});
  if (file.compact && (!arguments.export_case.empty() || needs_hops(arguments) ||
                       !noise.starts.empty() || noise.is_drawn()))
    throw InputError(fmt::format("{}: {} transfers are too many for --trace, --draw-steps, "
                                 "--draw-by queue, --start, --skew, --jitter and --export-case",
                                 arguments.file, file.size()));
  require_histogram(arguments.histogram, noise);
  const std::vector<Time> starts = parse_starts(topology, members, noise.starts);
  if (!arguments.export_case.empty()) // a faulty schedule too: its fault can be cross-checked
    write_file(arguments.export_case,
               oracle_case(topology, file.collective, file.schedule, model, starts));
  const double start = cpu_seconds();
  StageDisplay display(arguments.file);
  const StageWatch stage = display.watch();
  const Watch watch = watch_of(stage, "verification");
  const Verdict verdict = file.compact ? verify(topology, file.collective, *file.compact, watch)
                                       : verify(topology, file.collective, file.schedule, watch);
  const double verify_seconds = cpu_seconds() - start;
  if (!verdict.correct()) {
    display.erase();
    print_message(fmt::format("{}: fault: {}", arguments.file, verdict.fault->text));
    return 1;
  }
  Evaluation e = evaluation_of(topology, file, verdict);
  e.verify_seconds = verify_seconds;
  e.note = late_text(topology, starts);
  replay_and_draw(arguments, topology, file, model, noise, starts, stage, e);
  display.erase();
  if (arguments.json)
    print_text(answer_json("replay", run_rows_json({&e, 1}, LinkDetail::all)));
  else
    print_tables(report_text({&e, 1}, table_form(arguments.tables)));
  return report_problems(problems_of({&e, 1}));
}

} // namespace tutti
