// The runner. This process never calls CUDA: whatever a driver or a kernel does, it lives on, and
// what it has to know it reads from the rows that its children leave.
#include "gpu/benchmark_run/benchmark_run.hpp"

#include "gpu/arguments.hpp"
#include "gpu/benchmark_run/judgement.hpp"
#include "gpu/benchmark_run/process.hpp"
#include "gpu/benchmark_run/report.hpp"
#include "gpu/benchmark_run/step_record.hpp"
#include "gpu/benchmark_run/step_run.hpp"
#include "gpu/benchmark_run/steps.hpp"
#include "gpu/text.hpp"
#include "sim/error.hpp"
#include "sim/files/files.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

namespace tutti::gpu {

namespace {

using Clock = std::chrono::steady_clock;

constexpr int failed_code = 1, unwritten_code = 2, interrupted_code = 130;

struct Options {
  std::string pack, folder;
  std::vector<std::string> steps; ///< to run, even if they are done; empty: all that aren't
  std::chrono::milliseconds limit = std::chrono::hours(1); ///< of a step, if its own is longer
  bool again = false, list = false;
};

/// "a,b": the names in their order. Errors: InputError for one that isn't a step's.
std::vector<std::string> step_names(const std::string& text) {
  std::vector<std::string> known, names;
  for (const DayStep& step : day_steps()) known.emplace_back(step.name);
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    names.push_back(text.substr(begin, end - begin));
    if (std::ranges::find(known, names.back()) == known.end())
      throw InputError("--step: " + unknown_name("step", names.back(), known));
    begin = end + 1;
  }
  return names;
}

Options parse(std::span<const std::string> words) {
  constexpr std::array<std::string_view, 3> valued{"--out", "--step", "--limit"};
  const Arguments arguments(words, valued, std::array<std::string_view, 2>{"--again", "--list"});
  Options options;
  options.list = arguments.flag("--list");
  if (options.list) return options;
  options.pack = arguments.first("a pack");
  if (arguments.rest().size() > 1)
    throw InputError("one pack, not also \"" + arguments.rest()[1] + "\"");
  options.folder = arguments.required("--out");
  if (options.folder.empty()) throw InputError("--out: a folder belongs here, not \"\"");
  options.again = arguments.flag("--again");
  if (const auto steps = arguments.option("--step")) options.steps = step_names(*steps);
  if (const auto limit = arguments.option("--limit"))
    options.limit = parse_duration(*limit, "--limit");
  return options;
}

std::string own_program() {
  char path[4096];
  const ssize_t length = ::readlink("/proc/self/exe", path, sizeof path);
  if (length <= 0 || length == sizeof path)
    throw InputError("/proc/self/exe: cannot read: the path of this program is unknown");
  return {path, static_cast<std::size_t>(length)};
}

/// Nobody else works in this folder meanwhile.
class FolderLock {
public:
  explicit FolderLock(const std::string& folder) {
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error) throw InputError(folder + ": no folder can be made there: " + error.message());
    const std::string name = folder + "/.lock";
    file_ = ::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (file_ < 0) throw InputError(name + ": cannot write: " + std::strerror(errno));
    if (::flock(file_, LOCK_EX | LOCK_NB) == 0) return;
    const int reason = errno;
    (void)::close(file_);
    if (reason == EWOULDBLOCK) throw InputError(folder + ": another GPU day is at work there");
    throw InputError(name + ": cannot lock: " + std::strerror(reason));
  }
  ~FolderLock() { (void)::close(file_); }
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

private:
  int file_ = -1;
};

class Day {
public:
  Day(const Options& options, const runtime::Pack& pack)
      : options_(options), pack_(pack), program_(own_program()), lock_(options.folder),
        records_(day_steps().size()) {}

  int run();

private:
  void warn_of_other_cases() const;
  void look_for_records();
  void take_turn(std::size_t index);
  [[nodiscard]] StepRecord perform(const DayStep& step);
  [[nodiscard]] bool is_meant(const DayStep& step) const {
    return options_.steps.empty() || std::ranges::count(options_.steps, step.name) > 0;
  }
  [[nodiscard]] std::chrono::milliseconds limit_of(const DayStep& step) const {
    return std::min<std::chrono::milliseconds>(std::chrono::seconds(step.limit_seconds),
                                               options_.limit);
  }
  [[nodiscard]] std::string file(const std::string& name) const {
    return options_.folder + "/" + name;
  }
  [[nodiscard]] bool write_result(const std::string& name, const std::string& text) const;
  [[nodiscard]] int conclude(bool interrupted) const;

  const Options& options_;
  const runtime::Pack& pack_;
  const std::string program_;
  const FolderLock lock_;
  EndingSignals signals_;
  std::vector<std::optional<StepRecord>> records_; ///< [step]
  std::set<std::string_view> broken_; ///< steps whose files or processes couldn't be had now
};

int Day::run() {
  look_for_records();
  std::chrono::duration<double> most{0};
  for (const DayStep& step : day_steps())
    if (is_meant(step)) most += limit_of(step);
  std::printf("GPU day %s: %s at most; rows, words and report go to %s\n",
              to_text(pack_.name()).c_str(), clock_text(most.count()).c_str(),
              options_.folder.c_str());
  warn_of_other_cases();
  const auto begin = Clock::now();
  for (std::size_t index = 0; index < records_.size() && !signals_.came(); ++index)
    if (is_meant(day_steps()[index])) take_turn(index);
  std::printf("%s of %s\n",
              clock_text(std::chrono::duration<double>(Clock::now() - begin).count()).c_str(),
              clock_text(most.count()).c_str());
  return conclude(signals_.came());
}

void Day::warn_of_other_cases() const {
  std::vector<std::string> others;
  for (const runtime::PackLine& line : pack_.lines()) {
    const bool is_meant = std::ranges::any_of(day_steps(), [&](const DayStep& step) {
      return !step.cases.empty() && line.case_label.starts_with(step.cases);
    });
    if (!is_meant && std::ranges::find(others, line.case_label) == others.end())
      others.push_back(line.case_label);
  }
  for (const std::string& label : others)
    std::printf("no step runs \"%s\": tutti-gpu run does\n", label.c_str());
}

/// What is there of this pack. Nothing that is there of another is replaced.
void Day::look_for_records() {
  require_no_other_pack(file("measured.csv"), pack_.name());
  for (std::size_t index = 0; index < records_.size(); ++index) {
    std::string why;
    records_[index] = read_record(options_.folder, day_steps()[index], pack_.name(), why);
    if (!why.empty()) std::printf("%s: ignored, the step is still to be done\n", why.c_str());
  }
}

void Day::take_turn(std::size_t index) {
  const DayStep& step = day_steps()[index];
  std::optional<StepRecord>& record = records_[index];
  std::printf("%2zu %-9s  %s\n             ", index + 1, std::string(step.name).c_str(),
              std::string(step.does).c_str());
  (void)std::fflush(stdout);
  const bool asked_for = options_.again || !options_.steps.empty();
  if (record && record->outcome == Outcome::done && !asked_for) {
    std::printf("done before, %s\n", record->words.c_str());
    return;
  }
  const std::optional<StepRecord>& first = records_.front();
  if (index > 0 && options_.steps.empty() && first && first->outcome == Outcome::failed) {
    std::printf("not tried: nothing can run without the first step\n");
    return;
  }
  StepRecord ended;
  try {
    ended = perform(step);
  } catch (const InputError& error) { // the other steps' files may be well
    std::printf("failed %s\n", error.what());
    broken_.insert(step.name);
    return;
  }
  if (signals_.came()) {
    std::printf("interrupted: this step's results are discarded\n");
    return;
  }
  std::printf("%s %s\n", std::string(to_text(ended.outcome)).c_str(), ended.words.c_str());
  const std::vector<std::string> unexpected = unexpected_figures(step, ended.rows);
  for (const std::string& words : unexpected)
    std::printf("             unexpected: %s\n", words.c_str());
  if (ended.outcome == Outcome::failed || !unexpected.empty())
    std::printf("             expected: %s\n             if not: %s\n             said: %s.txt\n",
                std::string(step.expected).c_str(), std::string(step.otherwise).c_str(),
                step_path(options_.folder, step).c_str());
  record = std::move(ended);
}

StepRecord Day::perform(const DayStep& step) {
  const runtime::Rows before = all_rows(records_, pack_.name());
  StepRun run(step, pack_, options_.folder, limit_of(step), signals_);
  return run.perform(step.tasks({step, program_, options_.pack, run.rows_file(), pack_, before}));
}

/// Whether it is there now; why not has been said.
bool Day::write_result(const std::string& name, const std::string& text) const {
  try {
    write_file(file(name), text);
    return true;
  } catch (const InputError& error) {
    (void)std::fprintf(stderr, "error: %s\n", error.what());
    return false;
  }
}

int Day::conclude(bool interrupted) const {
  std::string failed;
  std::size_t missing = 0;
  for (std::size_t index = 0; index < records_.size(); ++index) {
    const std::string_view name = day_steps()[index].name;
    if (!records_[index]) ++missing;
    if (broken_.contains(name) || (records_[index] && records_[index]->outcome == Outcome::failed))
      failed += (failed.empty() ? "" : ", ") + std::string(name);
  }
  const bool has_report = write_result("report.md", day_report(pack_, records_));
  const bool has_rows = write_result("measured.csv", rows_text(all_rows(records_, pack_.name())));
  if (has_report) std::printf("report: %s\n", file("report.md").c_str());
  if (has_rows)
    std::printf("rows: %s, for `tutti run` of %s with --measured\n", file("measured.csv").c_str(),
                pack_.name().experiment.c_str());
  if (!failed.empty()) std::printf("failed: %s\n", failed.c_str());
  if (missing > 0)
    std::printf("%zu of %zu steps are still to be done: the same command%s goes on with them\n",
                missing, records_.size(), options_.steps.empty() ? "" : " without --step");
  (void)std::fflush(stdout);
  if (!has_report || !has_rows) return unwritten_code;
  if (interrupted) return interrupted_code;
  return failed.empty() ? 0 : failed_code;
}

void list_steps() {
  for (const DayStep& step : day_steps())
    std::printf("%-9s  %s (%s at most)\n           expected: %s\n           if not: %s\n",
                std::string(step.name).c_str(), std::string(step.does).c_str(),
                clock_text(step.limit_seconds).c_str(), std::string(step.expected).c_str(),
                std::string(step.otherwise).c_str());
}

} // namespace

int day_command(std::span<const std::string> arguments) {
  const Options options = parse(arguments);
  if (options.list) {
    list_steps();
    return 0;
  }
  const runtime::Pack pack = runtime::load_pack(options.pack);
  return Day(options, pack).run();
}

} // namespace tutti::gpu
