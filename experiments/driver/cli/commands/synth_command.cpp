// `tutti synth`: one algorithm or all of them for a collective on a topology. Every schedule is
// verified, bounded and replayed.
#include "experiments/driver/cli/commands.hpp"
#include "experiments/driver/figures/trace.hpp"
#include "experiments/driver/records/json.hpp"
#include "experiments/driver/records/output.hpp"
#include "experiments/driver/studies/in_file.hpp"
#include "experiments/driver/studies/runs/display.hpp"
#include "experiments/driver/studies/runs/figure.hpp"
#include "experiments/driver/studies/runs/json.hpp"
#include "experiments/driver/studies/runs/over_nccl.hpp"
#include "experiments/driver/studies/runs/recorded_run.hpp"
#include "experiments/driver/studies/runs/runner.hpp"
#include "experiments/driver/studies/runs/study.hpp"
#include "experiments/driver/studies/runs/table.hpp"
#include "sim/error.hpp"
#include "sim/files/files.hpp"
#include "sim/text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <optional>

namespace tutti {

namespace {

/// Whether a picture needs the instants of all hops.
bool needs_record(const SynthArguments& arguments) {
  return !arguments.draw_steps.empty() ||
         (!arguments.draw.file.empty() && arguments.draw.by == "queue");
}

/// One for each size and algorithm. What can be refused without a synthesis is refused here.
std::vector<Case> cases_of(const SynthArguments& arguments, const Experiment& experiment) {
  std::vector<Case> cases =
      experiment.all<RunStudy>().front()->matrices.front().cases(experiment.topologies);
  if (cases.size() > 1 && !arguments.output.empty())
    throw InputError("-o takes one schedule: name one algorithm and one size");
  const bool threads_given =
      arguments.line.texts.contains("--threads") && !arguments.line.texts.at("--threads").empty();
  for (Case& c : cases) {
    c.schedule_file = arguments.output;
    // One synthesis has all processors; several at once have one each.
    if (!threads_given && cases.size() == 1)
      c.options.threads = static_cast<unsigned>(default_jobs());
  }
  require_picture_name(arguments.draw_steps);
  require_histogram(arguments.histogram, cases.front().noise);
  const bool by_queue = require_drawable(arguments.draw, true) == LinkQuantity::queue;
  if (needs_record(arguments) && cases.front().disciplines.front() != Discipline::fifo)
    throw InputError(fmt::format("{}: of fifo only, name it first: --discipline fifo,fluid",
                                 by_queue ? "--draw-by queue" : "--draw-steps"));
  if (needs_record(arguments) && cases.front().transport)
    throw InputError(fmt::format("{}: of ideal links only, not under a transport",
                                 by_queue ? "--draw-by queue" : "--draw-steps"));
  require_outputs(inputs_of(arguments.topology, arguments.line),
                  {arguments.output, arguments.trace, arguments.draw.file, arguments.draw_steps,
                   arguments.histogram});
  return cases;
}

std::vector<Evaluation> evaluate_all(const std::vector<Case>& cases,
                                     const SynthArguments& arguments, bool& interrupted) {
  require_sound(cases);
  Interrupts interrupts;
  const std::string label(cases.size() == 1 ? cases.front().algorithm.name : "synth");
  std::vector<Evaluation> evaluations = evaluated_over_nccl(cases, [&](std::span<const Case> all) {
    RunDisplay display(label, all.size(), arguments.progress);
    return run_cases(all, parse_jobs(arguments.jobs), display.watcher(interrupts));
  });
  interrupted = interrupts.count() > 0;
  return evaluations;
}

/// Has the cases write their timelines into the folder, each in its process, until they are one
/// file.
void trace_into(const ScratchFolder& folder, std::vector<Case>& cases) {
  std::uint32_t process = 1;
  for (Case& c : cases) {
    c.trace = {folder.path(), process};
    process += static_cast<std::uint32_t>(c.disciplines.size());
  }
}

// What a timeline leaves out: replays that there are none of, what is too much of others.
std::vector<std::string> left_out_of(const std::vector<Case>& cases,
                                     const std::vector<Evaluation>& evaluations) {
  std::vector<std::string> left_out = left_out_of_trace(*cases.front().topology);
  for (std::size_t i = 0; i < cases.size(); ++i)
    for (std::size_t d = 0; d < cases[i].disciplines.size(); ++d) {
      const std::string part = cases[i].trace.file(d);
      if (const std::string missing = TraceParts::left_out_of(part);
          std::filesystem::exists(missing))
        left_out.push_back(read_file(missing));
      if (std::filesystem::exists(part)) continue;
      const Evaluation& e = evaluations[i];
      std::string why = e.problem.empty() ? e.note : e.problem;
      if (why.empty()) why = to_text(e.status);
      left_out.push_back(trace_name(e.algorithm, e.size, cases[i].disciplines[d]) + ": " + why);
    }
  return left_out;
}

void join_timelines(const std::string& file, const std::vector<Case>& cases,
                    const std::vector<Evaluation>& evaluations) {
  const std::vector<std::string> left_out = left_out_of(cases, evaluations);
  save_trace(file, left_out, [&](TraceEvents& events) {
    for (const Case& c : cases)
      for (std::size_t d = 0; d < c.disciplines.size(); ++d)
        if (std::ifstream part(c.trace.file(d), std::ios::binary); part) events.add_part(part);
  });
  report_left_out(file, left_out);
}

/// Draws the histogram of all cases. Where there are no draws, says so on stderr and returns false.
bool draw_histogram(const std::string& file, const Experiment& experiment,
                    const std::vector<Case>& cases, const std::vector<Evaluation>& evaluations) {
  if (file.empty()) return true;
  const auto has_draws = [](const Evaluation& e) {
    return !e.replays.empty() && !e.replays.front().noises.empty();
  };
  if (std::ranges::none_of(evaluations, has_draws)) {
    print_message(fmt::format("{}: not drawn, there are no draws", file));
    return false;
  }
  FigureRequest request;
  request.kind = FigureKind::histogram;
  request.title =
      fmt::format("{} on {}", cases.front().collective.text(), experiment.topologies.front().label);
  request.file = file;
  draw(make_figure(request, experiment.topologies, cases, evaluations), file);
  return true;
}

/// Pictures of the fastest schedule, of the largest size. False where some are wanted and there is
/// none, which it says on stderr.
bool draw_fastest(const SynthArguments& arguments, const Experiment& experiment,
                  const std::vector<Case>& cases, const std::vector<Evaluation>& evaluations) {
  const DrawArguments& picture = arguments.draw;
  if (picture.file.empty() && arguments.draw_steps.empty()) return true;
  const Evaluation* fastest = fastest_run(evaluations, experiment.topologies.front().label);
  if (fastest == nullptr) {
    print_message(fmt::format("{}: not drawn, there is no schedule",
                              picture.file.empty() ? arguments.draw_steps : picture.file));
    return false;
  }
  const NetworkUse use = network_uses(experiment.topologies, {fastest, 1}).front();
  std::optional<RecordedRun> run;
  if (needs_record(arguments))
    run = record_run(cases[static_cast<std::size_t>(fastest - evaluations.data())], *fastest);
  const LinkQuantity quantity = link_quantity_words.parse(picture.by);
  if (!picture.file.empty() && quantity != LinkQuantity::queue)
    draw(use.figure(quantity), picture.file);
  else if (!picture.file.empty())
    draw(network_figure(use.heading, *use.topology, layout_of(*use.topology),
                        queued_data(*use.topology, run->collective, run->schedule, run->report)),
         picture.file);
  if (!arguments.draw_steps.empty())
    draw(steps_figure(use.heading, *use.topology, run->report), arguments.draw_steps);
  return true;
}

} // namespace

int synth_command(const SynthArguments& arguments) {
  const Experiment experiment =
      experiment_of(RunStudy::kind, arguments.topology, parse_seed(arguments.seed),
                    RunStudy::options_of_command(), arguments.line);
  require_columns(arguments.tables, experiment.studies);
  std::vector<Case> cases = cases_of(arguments, experiment);
  std::optional<ScratchFolder> trace;
  if (!arguments.trace.empty()) trace_into(trace.emplace(), cases);
  std::optional<ScratchFolder> schedules;
  if (needs_record(arguments) && arguments.output.empty()) {
    schedules.emplace();
    for (std::size_t i = 0; i < cases.size(); ++i)
      cases[i].schedule_file = fmt::format("{}/{}.schedule", schedules->path(), i);
  }
  bool interrupted = false;
  const std::vector<Evaluation> evaluations =
      about_topology(arguments.topology, experiment.topologies.front().label,
                     [&] { return evaluate_all(cases, arguments, interrupted); });
  if (arguments.json)
    print_text(answer_json("synth", run_rows_json(evaluations, LinkDetail::none)));
  else
    print_tables(report_text(evaluations, table_form(arguments.tables)));
  if (trace) join_timelines(arguments.trace, cases, evaluations);
  bool is_drawn = interrupted || draw_fastest(arguments, experiment, cases, evaluations);
  if (!interrupted) is_drawn &= draw_histogram(arguments.histogram, experiment, cases, evaluations);
  int code = is_drawn ? 0 : 1;
  code = std::max(code, report_problems(problems_of(evaluations)));
  if (!arguments.output.empty() && !evaluations.front().verified) {
    print_message(fmt::format("{}: not written, there is no correct schedule", arguments.output));
    code = 1;
  } else {
    code = std::max(code, report_problems(nothing_made(evaluations)));
  }
  return interrupted ? interrupted_exit_code : code;
}

} // namespace tutti
