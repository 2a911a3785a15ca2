// A run of training may take minutes: whoever waits is told what begins and what came of it, line
// by line, since the runs of a study are few and their names say more than a bar.
#include "experiments/driver/studies/training/display.hpp"

#include "sim/text.hpp"

#include <fmt/format.h>

#include <iostream>
#include <utility>

#include <unistd.h>

namespace tutti {

namespace {

std::string what_comes_of(const TrainingRun& run, bool is_over) {
  if (!is_over) return "begins";
  if (!run.report) return run.note;
  return fmt::format("{} per iteration", short_text(run.iteration_time()));
}

} // namespace

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

} // namespace tutti
