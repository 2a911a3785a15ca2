// The command `tutti-gpu day`. This process never calls CUDA: whatever a driver or a kernel does,
// it lives on, and what it has to know it reads from the rows that its children leave.
#include "gpu/arguments.hpp"
#include "gpu/benchmark_run/process.hpp"
#include "gpu/benchmark_run/results.hpp"
#include "gpu/commands.hpp"
#include "gpu/text.hpp"
#include "sim/error.hpp"
#include "sim/files/files.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <set>
#include <sstream>
#include <system_error>

#include <fcntl.h>
#include <sys/file.h>

namespace tutti::gpu {

namespace {

namespace fs = std::filesystem;

/// Nobody else works in this folder until this process ends.
void lock_folder(const std::string& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw InputError(folder + ": no folder can be made there: " + error.message());
  const std::string name = folder + "/.lock";
  const int file = ::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (file < 0) throw InputError(name + ": cannot write: " + std::strerror(errno));
  if (::flock(file, LOCK_EX | LOCK_NB) != 0)
    throw InputError(errno == EWOULDBLOCK ? folder + ": another GPU day is at work there"
                                          : name + ": cannot lock: " + std::strerror(errno));
}

/// "a,b". Errors: InputError for one that isn't a step's.
std::set<std::string_view> step_names(const std::string& text) {
  std::vector<std::string> known;
  for (const BenchmarkStep& step : benchmark_steps()) known.emplace_back(step.name);
  std::set<std::string_view> names;
  std::istringstream words(text + ",");
  for (std::string name; std::getline(words, name, ',');) {
    const auto found = std::ranges::find(benchmark_steps(), name, &BenchmarkStep::name);
    if (found == benchmark_steps().end())
      throw InputError("--step: " + unknown_name("step", name, known));
    names.insert(found->name);
  }
  return names;
}

class BenchmarkRun {
public:
  explicit BenchmarkRun(const Arguments& arguments)
      : pack_folder_(arguments.first("a pack")), folder_(arguments.required("--out")),
        again_(arguments.flag("--again")) {
    if (arguments.rest().size() > 1)
      throw InputError("one pack, not also \"" + arguments.rest()[1] + "\"");
    if (folder_.empty()) throw InputError("--out: a folder belongs here, not \"\"");
    if (const auto names = arguments.option("--step")) names_ = step_names(*names);
    if (const auto limit = arguments.option("--limit")) limit_ = parse_duration(*limit, "--limit");
    pack_ = runtime::load_pack(pack_folder_);
    std::error_code error; // which lock_folder() will report
    const fs::path pack = fs::canonical(pack_folder_, error),
                   out = fs::weakly_canonical(folder_, error);
    if (std::ranges::mismatch(pack, out).in1 == pack.end())
      throw InputError("--out: " + folder_ + " is within the pack, which would be another then");
  }

  int run() {
    lock_folder(folder_);
    (void)read_result(folder_ + "/measured.csv", pack_.name()); // it isn't of another pack
    std::chrono::duration<double> most{0};
    for (const BenchmarkStep& step : benchmark_steps()) {
      results_.push_back(read_result(scene(step).path() + ".csv", pack_.name()));
      if (is_meant(step)) most += scene(step).limit;
    }
    std::printf("GPU day %s: %s at most; rows, words and report go to %s\n",
                to_text(pack_.name()).c_str(), clock_text(most.count()).c_str(), folder_.c_str());
    warn_of_other_cases();
    const auto begin = std::chrono::steady_clock::now();
    note_interrupts();
    for (std::size_t i = 0; i < results_.size() && !was_interrupted(); ++i)
      if (is_meant(benchmark_steps()[i])) take_turn(i);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    std::printf("%s of %s\n", clock_text(took.count()).c_str(), clock_text(most.count()).c_str());
    return conclude();
  }

private:
  bool is_meant(const BenchmarkStep& step) const {
    return names_.empty() || names_.contains(step.name);
  }

  Scene scene(const BenchmarkStep& step) const {
    return {step,
            program_,
            pack_folder_,
            folder_,
            pack_,
            all_,
            std::min<std::chrono::milliseconds>(std::chrono::seconds(step.limit_seconds), limit_)};
  }

  /// The rows of all steps that have ended.
  std::string measured() const {
    std::string text = runtime::rows_head(pack_.name());
    for (const auto& result : results_) text += result ? result->lines : "";
    return text;
  }

  void warn_of_other_cases() const {
    std::set<std::string> others;
    for (const runtime::PackLine& line : pack_.lines())
      if (std::ranges::none_of(benchmark_steps(), [&](const BenchmarkStep& step) {
            return !step.cases.empty() && line.case_label.starts_with(step.cases);
          }))
        others.insert(line.case_label);
    for (const std::string& label : others)
      std::printf("no step runs \"%s\": tutti-gpu run does\n", label.c_str());
  }

  void take_turn(std::size_t index) {
    const BenchmarkStep& step = benchmark_steps()[index];
    std::optional<StepResult>& result = results_[index];
    std::printf("%2zu %-9s  %s\n             ", index + 1, step.name.data(), step.does.data());
    (void)std::fflush(stdout);
    if (result && result->is_done() && !again_ && names_.empty())
      return (void)std::printf("done before, %s\n", result->ending.c_str());
    if (index > 0 && names_.empty() && results_[0] && results_[0]->has_failed())
      return (void)std::printf("not tried: nothing can run without the first step\n");
    try {
      all_ = runtime::read_rows(measured(), "measured.csv");
      std::optional<StepResult> ended = perform(scene(step));
      if (!ended) return (void)std::printf("interrupted: this step's results are discarded\n");
      result = std::move(ended);
    } catch (const InputError& error) { // the other steps' files may be well
      if (!result) result.emplace();
      result->ending = std::string("failed: ") + error.what();
    }
    std::printf("%s\n", result->ending.c_str());
    bool is_expected = !result->has_failed();
    for (const runtime::NoteRow& note : result->rows.notes) {
      std::printf("             %s\n", note.words.c_str());
      is_expected = is_expected && !note.words.starts_with("unexpected");
    }
    if (!is_expected)
      std::printf("             expected: %s\n             if not: %s\n             said: %s.txt\n",
                  step.expected.data(), step.otherwise.data(), scene(step).path().c_str());
  }

  int conclude() {
    all_ = runtime::read_rows(measured(), "measured.csv");
    std::string failed;
    std::size_t missing = 0;
    bool all_written = true;
    for (std::size_t i = 0; i < results_.size(); ++i)
      if (!results_[i])
        ++missing;
      else if (results_[i]->has_failed())
        failed += (failed.empty() ? "" : ", ") + std::string(benchmark_steps()[i].name);
    const auto write = [&](const char* what, const std::string& file, const std::string& text,
                           const std::string& use) {
      try {
        write_file(file, text);
        std::printf("%s: %s%s\n", what, file.c_str(), use.c_str());
      } catch (const InputError& error) {
        (void)std::fprintf(stderr, "error: %s\n", error.what());
        all_written = false;
      }
    };
    write("report", folder_ + "/report.md", report_of(pack_, results_, all_), "");
    write("rows", folder_ + "/measured.csv", measured(),
          ", for `tutti run` of " + pack_.name().experiment + " with --measured");
    if (!failed.empty()) std::printf("failed: %s\n", failed.c_str());
    if (missing > 0)
      std::printf("%zu of %zu steps are still to be done: the same command%s goes on with them\n",
                  missing, results_.size(), names_.empty() ? "" : " without --step");
    return !all_written ? 2 : was_interrupted() ? 130 : failed.empty() ? 0 : 1;
  }

  std::string pack_folder_, folder_;
  bool again_ = false;
  std::set<std::string_view> names_; ///< to run, even if they are done; empty: all that aren't
  std::chrono::milliseconds limit_ = std::chrono::hours(1); ///< of a step, if its own is longer
  runtime::Pack pack_;
  std::string program_ = fs::read_symlink("/proc/self/exe").string();
  std::vector<std::optional<StepResult>> results_; ///< [step]
  runtime::Rows all_;                              ///< of the steps that have ended
};

} // namespace

int day_command(std::span<const std::string> words) {
  const Arguments arguments(words, std::array<std::string_view, 3>{"--out", "--step", "--limit"},
                            std::array<std::string_view, 2>{"--again", "--list"});
  if (!arguments.flag("--list")) return BenchmarkRun(arguments).run();
  for (const BenchmarkStep& step : benchmark_steps())
    std::printf("%-9s  %s (%s at most)\n           expected: %s\n           if not: %s\n",
                step.name.data(), step.does.data(), clock_text(step.limit_seconds).c_str(),
                step.expected.data(), step.otherwise.data());
  return 0;
}

} // namespace tutti::gpu
