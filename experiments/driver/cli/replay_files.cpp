// A timeline can be larger than memory: each case writes its own part, and the parts are joined.
#include "experiments/driver/cli/replay_files.hpp"

#include "experiments/driver/figures/explorer.hpp"
#include "experiments/driver/figures/trace.hpp"
#include "experiments/driver/records/output.hpp"
#include "experiments/driver/studies/runs/explored_run.hpp"
#include "experiments/driver/studies/runs/figure.hpp"
#include "experiments/driver/studies/runs/recorded_run.hpp"
#include "sim/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tutti {

namespace {

bool draws_queues(const ReplayFiles& files) {
  return !files.draw.file.empty() && files.draw.by == "queue";
}

// What a timeline leaves out: replays that there are none of, what is too much of others.
std::vector<std::string> left_out_of(std::span<const Case> cases,
                                     std::span<const Evaluation> evaluations) {
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

void join_timelines(const std::string& file, std::span<const Case> cases,
                    std::span<const Evaluation> evaluations) {
  const std::vector<std::string> left_out = left_out_of(cases, evaluations);
  save_trace(file, left_out, [&](TraceEvents& events) {
    for (const Case& c : cases)
      for (std::size_t d = 0; d < c.disciplines.size(); ++d)
        if (std::ifstream part(c.trace.file(d), std::ios::binary); part) events.add_part(part);
  });
  report_left_out(file, left_out);
}

bool draw_histogram(const std::string& file, const LabelledTopology& network,
                    std::span<const Case> cases, std::span<const Evaluation> evaluations) {
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
  request.title = fmt::format("{} on {}", cases.front().collective.text(), network.label);
  request.file = file;
  draw(make_figure(request, {&network, 1}, cases, evaluations), file);
  return true;
}

bool draw_fastest(const ReplayFiles& files, const LabelledTopology& network,
                  std::span<const Case> cases, std::span<const Evaluation> evaluations) {
  const DrawArguments& picture = files.draw;
  if (picture.file.empty() && files.draw_steps.empty()) return true;
  const Evaluation* fastest = fastest_run(evaluations, network.label);
  if (fastest == nullptr) {
    print_message(fmt::format("{}: not drawn, there is no schedule",
                              picture.file.empty() ? files.draw_steps : picture.file));
    return false;
  }
  const NetworkUse use = network_uses({&network, 1}, {fastest, 1}).front();
  std::optional<RecordedRun> run;
  if (needs_record(files))
    run = record_run(cases[static_cast<std::size_t>(fastest - evaluations.data())], *fastest);
  if (draws_queues(files))
    draw(network_figure(use.heading, *use.topology, layout_of(*use.topology),
                        queued_data(*use.topology, run->collective, run->schedule, run->report)),
         picture.file);
  else if (!picture.file.empty())
    draw(use.figure(link_quantity_words.parse(picture.by)), picture.file);
  if (!files.draw_steps.empty())
    draw(steps_figure(use.heading, *use.topology, run->report), files.draw_steps);
  return true;
}

/// What the page is about: the one run, or what all are of.
std::string page_title(std::span<const Evaluation> evaluations, const std::string& label) {
  const std::string& collective = evaluations.front().collective;
  if (std::ranges::any_of(evaluations,
                          [&](const Evaluation& e) { return e.collective != collective; }))
    return fmt::format("{} runs on {}", evaluations.size(), label);
  if (evaluations.size() > 1) return fmt::format("{} on {}", collective, label);
  return fmt::format("{}, {} {} on {}", evaluations.front().algorithm, collective,
                     to_text(evaluations.front().size), label);
}

bool write_page(const ReplayFiles& files, const LabelledTopology& network,
                std::span<const Case> cases, std::span<const Evaluation> evaluations) {
  if (files.explore.empty()) return true;
  std::vector<ExploredRun> runs;
  for (std::size_t i = 0; i < cases.size(); ++i)
    if (!evaluations[i].replays.empty()) runs.push_back(explored_run(cases[i], evaluations[i]));
  if (runs.empty()) {
    print_message(fmt::format("{}: not written, there is no schedule", files.explore));
    return false;
  }
  std::ranges::stable_sort(runs, {}, [](const ExploredRun& run) { return run.report.completion; });
  write_explorer(files.explore, {.title = page_title(evaluations, network.label),
                                 .command = own_command(),
                                 .runs = std::move(runs)});
  return true;
}

} // namespace

bool needs_record(const ReplayFiles& files) {
  return !files.draw_steps.empty() || !files.explore.empty() || draws_queues(files);
}

void require_drawable(const ReplayFiles& files, const Case& c) {
  require_picture_name(files.draw_steps);
  require_page_name(files.explore);
  require_histogram(files.histogram, c.noise);
  require_drawable(files.draw, true);
  if (draws_queues(files) && c.disciplines.front() != Discipline::fifo)
    throw InputError("--draw-by queue: of fifo only, name it first: --discipline fifo,fluid");
  if (needs_record(files) && c.transport)
    throw InputError(fmt::format("{}: of ideal links only, not under a transport",
                                 draws_queues(files)      ? "--draw-by queue"
                                 : !files.explore.empty() ? "--explore"
                                                          : "--draw-steps"));
}

std::unique_ptr<ScratchFolder> record_for(const ReplayFiles& files, std::span<Case> cases) {
  if (files.trace.empty() && !needs_record(files)) return nullptr;
  auto folder = std::make_unique<ScratchFolder>();
  std::uint32_t process = 1;
  for (Case& c : cases) {
    if (!files.trace.empty()) c.trace = {folder->path(), process};
    if (needs_record(files) && c.schedule_file.empty())
      c.schedule_file = fmt::format("{}/{}.schedule", folder->path(), process);
    process += static_cast<std::uint32_t>(c.disciplines.size());
  }
  return folder;
}

bool write_replay_files(const ReplayFiles& files, const LabelledTopology& network,
                        std::span<const Case> cases, std::span<const Evaluation> evaluations,
                        bool interrupted) {
  if (!files.trace.empty()) join_timelines(files.trace, cases, evaluations);
  if (interrupted) return true;
  const bool has_pictures = draw_fastest(files, network, cases, evaluations);
  const bool has_page = write_page(files, network, cases, evaluations);
  return draw_histogram(files.histogram, network, cases, evaluations) && has_pictures && has_page;
}

} // namespace tutti
