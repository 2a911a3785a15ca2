// `tutti run` of several experiments: a paper's folder, those of a pattern, or all. Each runs in a
// process of its own, so that a crash costs one of them, with its words in a log beside its
// results. What is finished is remembered by what decided it: the program, the experiment's file
// and the files that it may speak of, which lie below its folder.
#include "experiments/driver/cli/catalogue.hpp"
#include "experiments/driver/cli/commands.hpp"
#include "experiments/driver/pool/interrupts.hpp"
#include "experiments/driver/pool/process_pool.hpp"
#include "experiments/driver/records/output.hpp"
#include "experiments/driver/records/table.hpp"
#include "experiments/driver/results/result_files.hpp"
#include "experiments/driver/studies/runs/runner.hpp"
#include "experiments/driver/terminal/progress.hpp"
#include "sim/files/files.hpp"
#include "sim/files/standard_files.hpp"
#include "sim/hash.hpp"
#include "sim/units.hpp"

#include <fmt/format.h>

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tutti {

namespace {

namespace fs = std::filesystem;

/// How an experiment ended: a line in its folder.
struct Finished {
  std::uint64_t made_of = 0; ///< fingerprint
  int code = 0;              ///< of its command
  double cpu_seconds = 0;
  std::vector<Comparison> comparisons = {};
};

/// Nothing where the folder has no results of one that ended, or damaged ones.
std::optional<Finished> read_finished(const std::string& folder) {
  std::ifstream text(finished_file(folder));
  Finished finished;
  if (!(text >> finished.made_of >> finished.code >> finished.cpu_seconds)) return std::nullopt;
  try {
    if (!fs::exists(folder + "/results.json")) return std::nullopt;
    finished.comparisons = read_comparisons(folder);
  } catch (const std::exception&) {
    return std::nullopt;
  }
  return finished;
}

struct Planned {
  CatalogueEntry entry;
  std::string folder;
  std::uint64_t made_of = 0;
  std::optional<Finished> before = {}; ///< whatever it was made of
  std::string end = {};                ///< "done", "as before", or why it isn't
  double cpu_seconds = 0;
  int code = 0;

  [[nodiscard]] bool is_finished() const { return before && before->made_of == made_of; }
  /// Nothing where nobody knows.
  [[nodiscard]] std::optional<double> expected_seconds() const {
    if (before) return before->cpu_seconds;
    return entry.cpu_seconds;
  }
  [[nodiscard]] std::string log() const { return folder + "/log.txt"; }
};

/// `how`: of the program and the options that change what is written.
std::uint64_t made_of(const CatalogueEntry& entry, std::uint64_t how) {
  Fingerprint fingerprint;
  fingerprint.add(how);
  const std::string content = read_file(entry.file);
  fingerprint.add(content);
  // Sketches, costs, models lie in folders below; an experiment that includes another, or names a
  // file, may mean any beside it.
  const bool names_files =
      content.find(".toml") != content.npos || content.find("include") != content.npos;
  std::vector<std::string> spoken_of;
  std::error_code error; // what can't be read can't be spoken of
  const fs::path folder = fs::path(entry.file).parent_path();
  for (fs::recursive_directory_iterator file(folder, error), end; !error && file != end;
       file.increment(error))
    if (file->is_regular_file(error) && (names_files || file.depth() > 0))
      spoken_of.push_back(file->path().string());
  std::ranges::sort(spoken_of);
  for (const std::string& file : spoken_of) fingerprint.add(read_file(file));
  return fingerprint.value();
}

std::vector<Planned> planned(std::span<const CatalogueEntry> entries,
                             const RunArguments& arguments) {
  Fingerprint how;
  how.add(read_file("/proc/self/exe"));
  for (const std::string& format : arguments.pictures) how.add(format);
  std::vector<Planned> all;
  for (const CatalogueEntry& entry : entries) {
    Planned one{.entry = entry,
                .folder = (arguments.out ? *arguments.out : "out") + "/" + entry.name};
    one.made_of = made_of(entry, how.value());
    one.before = read_finished(one.folder);
    all.push_back(std::move(one));
  }
  return all;
}

std::string estimate(std::span<const Planned> all, std::size_t jobs) {
  double seconds = 0;
  std::size_t finished = 0, unknown = 0;
  for (const Planned& one : all) {
    if (one.is_finished())
      ++finished;
    else if (const std::optional<double> expected = one.expected_seconds())
      seconds += *expected;
    else
      ++unknown;
  }
  std::string text = all.size() == 1 ? "1 experiment" : fmt::format("{} experiments", all.size());
  if (finished > 0) text += fmt::format(", {} finished before", finished);
  if (seconds > 0) text += fmt::format(", about {:.0f} s of CPU time, {} at once", seconds, jobs);
  if (unknown > 0) text += fmt::format(" ({} of unknown length)", unknown);
  return text + "\n";
}

/// What the pool's process does: all that the command says goes to the log.
std::string run_logged(const Planned& one, RunArguments arguments,
                       const std::function<int(const RunArguments&)>& run) {
  arguments.experiment = one.entry.file;
  arguments.out = one.folder;
  arguments.jobs = "1";
  arguments.progress = false;
  if (std::freopen(one.log().c_str(), "w", stdout) == nullptr ||
      ::dup2(::fileno(stdout), ::fileno(stderr)) < 0)
    throw InputError(one.log() + ": cannot write");
  const int code = run(arguments);
  std::fflush(stdout);
  return fmt::to_string(code);
}

class Batch {
public:
  Batch(std::vector<Planned>& all, const RunArguments& arguments, std::size_t jobs,
        const std::function<int(const RunArguments&)>& run)
      : all_(all), arguments_(arguments), run_(run), pool_(jobs) {
    for (std::size_t i = 0; i < all.size(); ++i)
      if (all[i].is_finished()) {
        all[i].end = "as before";
        all[i].code = all[i].before->code;
        all[i].cpu_seconds = all[i].before->cpu_seconds;
      } else {
        waiting_.push_back(i);
      }
    // The longest first, so that none is left alone at the end.
    std::ranges::stable_sort(waiting_, std::ranges::greater(), [&all](std::size_t i) {
      return all[i].expected_seconds().value_or(1e9);
    });
  }

  /// False where a signal ended it.
  bool run() {
    ProgressBar bar("experiments");
    std::size_t next = 0, done = 0;
    while (true) {
      while (!interrupts_.count() && next < waiting_.size() && pool_.has_room())
        start(waiting_[next++]);
      if (pool_.is_idle()) break;
      pollfd signals{interrupts_.file(), POLLIN, 0};
      const std::vector<TaskEnd> ends = pool_.wait({&signals, 1}, 0.5);
      interrupt();
      for (const TaskEnd& end : ends) finish(end);
      bar.update(done += ends.size(), waiting_.size());
    }
    for (; next < waiting_.size(); ++next) all_[waiting_[next]].end = "not begun";
    return interrupts_.count() == 0;
  }

private:
  void start(std::size_t index) {
    Planned& one = all_[index];
    std::error_code error;
    fs::create_directories(one.folder, error);
    if (!error) fs::remove(finished_file(one.folder), error);
    if (error) {
      one.end = fmt::format("{}: {}", one.folder, error.message());
      one.code = 1;
      return;
    }
    pool_.start(index, {},
                [&](const ProcessPool::Say&) { return run_logged(one, arguments_, run_); });
  }

  void interrupt() {
    if (interrupts_.count() <= passed_on_) return;
    passed_on_ = interrupts_.count();
    if (passed_on_ > 1) throw Interrupted();
    for (const auto& [index, process] : pool_.running()) interrupts_.pass_on(process);
  }

  void finish(const TaskEnd& end) {
    Planned& one = all_[end.task];
    one.cpu_seconds = end.process.cpu_seconds;
    one.code = !end.failure ? std::stoi(end.text) : *end.failure == TaskFailure::refused ? 2 : 1;
    if (end.failure) {
      one.end = end.text;
      std::ofstream(one.log(), std::ios::app) << end.text << "\n";
    } else if (one.code == interrupted_exit_code) {
      one.end = "interrupted";
    } else {
      one.end = one.code == 0 ? "done" : "fails: " + one.log();
      write_file(finished_file(one.folder),
                 fmt::format("{} {} {:.1f}\n", one.made_of, one.code, one.cpu_seconds));
    }
  }

  std::vector<Planned>& all_;
  const RunArguments& arguments_;
  const std::function<int(const RunArguments&)>& run_;
  ProcessPool pool_;
  Interrupts interrupts_;
  std::vector<std::size_t> waiting_;
  std::uint64_t passed_on_ = 0;
};

Table summary(std::span<const Planned> all) {
  Table table{{{"experiment"}}, {}};
  for (Column& column : verdict_columns()) table.columns.push_back(std::move(column));
  table.columns.push_back({"CPU", Align::right, 2});
  table.columns.push_back({"end", Align::left, 0, true});
  std::vector<Comparison> sum;
  double seconds = 0;
  const auto add = [&](const std::string& name, std::span<const Comparison> comparisons,
                       double cpu_seconds, const std::string& end) {
    std::vector<std::string> row{name};
    std::ranges::move(verdict_cells(comparisons), std::back_inserter(row));
    row.push_back(fmt::format("{:.1f} s", cpu_seconds));
    row.push_back(end);
    table.rows.push_back(std::move(row));
  };
  for (const Planned& one : all) {
    // Results of an earlier version may still lie where one didn't end.
    const Finished finished = read_finished(one.folder).value_or(Finished());
    add(one.entry.name, finished.comparisons, one.cpu_seconds, one.end);
    std::ranges::copy(finished.comparisons, std::back_inserter(sum));
    seconds += one.cpu_seconds;
  }
  add("all", sum, seconds, "");
  return without_empty_columns(std::move(table));
}

} // namespace

int run_many(std::span<const CatalogueEntry> entries, const RunArguments& arguments,
             const std::function<int(const RunArguments&)>& run) {
  for (const auto& [option, is_given] :
       {std::pair("--json", arguments.json), std::pair("--pack", arguments.pack.has_value()),
        std::pair("--measured", arguments.measured.has_value()),
        std::pair("--columns", arguments.tables.columns.has_value()),
        std::pair("--size, --algorithm and --set: a change", arguments.changes_runs())})
    if (is_given) throw InputError(fmt::format("{} is for one experiment", option));
  require_formats(arguments.pictures);
  const std::size_t jobs = arguments.jobs ? parse_jobs(*arguments.jobs) : default_jobs();
  std::vector<Planned> all = planned(entries, arguments);
  print_text(estimate(all, jobs));
  flush_standard_output(); // before hours of work; what a child inherits it would write again
  const bool is_whole = Batch(all, arguments, jobs, run).run();
  print_tables("\n" + to_text(summary(all), table_form(arguments.tables)));
  if (!is_whole) return interrupted_exit_code;
  int code = 0;
  for (const Planned& one : all) code = std::max(code, one.code);
  return code;
}

} // namespace tutti
