// The commands that measure, each row on the disk before the next begins.
#include "gpu/arguments.hpp"
#include "gpu/commands.hpp"
#include "gpu/execute.hpp"
#include "gpu/text.hpp"
#include "sim/error.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <system_error>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

namespace tutti::gpu {

using namespace tutti::runtime;

namespace {

/// What can't be written is an error once the rows are on the disk (tutti_gpu()).
void say(const std::string& text) {
  (void)std::fputs(text.c_str(), stdout);
  (void)std::fflush(stdout);
}

/// --out, with --pack for the digest that rows begin with; none: nothing is written.
std::unique_ptr<RowsFile> rows_file(const Arguments& arguments) {
  const auto out = arguments.option("--out"), pack = arguments.option("--pack");
  if (!out) return nullptr;
  if (!pack) throw InputError("--out needs --pack: rows belong to a pack");
  return std::make_unique<RowsFile>(*out, load_pack(*pack).name());
}

bool is_meant(std::string_view name, const std::vector<std::string>& beginnings) {
  return beginnings.empty() || std::ranges::any_of(beginnings, [&](const std::string& beginning) {
           return name.starts_with(beginning);
         });
}

std::string result_text(const TestRow& row) {
  return std::string(to_text(row.outcome)) + (row.words.empty() ? "" : ": " + row.words) + "\n";
}

/// What a child writes until it ends, and its exit code; 128 + the signal that ended it.
struct ChildEnd {
  std::string written;
  int code = 0;
};

/// body(file) in a process of its own. Errors: std::system_error where there can't be one.
ChildEnd in_child(const std::function<int(int file)>& body) {
  int ends[2];
  if (pipe(ends) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
  (void)std::fflush(stdout);
  const pid_t child = fork();
  if (child < 0) throw std::system_error(errno, std::generic_category(), "fork");
  if (child == 0) {
    (void)close(ends[0]);
    std::_Exit(body(ends[1]));
  }
  (void)close(ends[1]);
  ChildEnd end;
  std::array<char, 4096> text{};
  for (ssize_t got = 0; (got = read(ends[0], text.data(), text.size())) > 0;)
    end.written.append(text.data(), static_cast<std::size_t>(got));
  (void)close(ends[0]);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  end.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return end;
}

/// What breaks the GPU for one test breaks it for no other. Nothing where no GPU can be used, which
/// has been said.
std::optional<TestRow> test_row_of_child(const GpuTest& test) {
  const std::string head = rows_head({});
  const ChildEnd end = in_child([&](int file) {
    try {
      const std::string row = head + line_of(test_row(test));
      return write(file, row.data(), row.size()) == static_cast<ssize_t>(row.size()) ? 0 : 1;
    } catch (const InputError& error) {
      (void)std::fprintf(stderr, "error: %s\n", error.what());
      return 2;
    }
  });
  if (end.code == 2) return std::nullopt;
  if (end.code == 0) return read_rows(end.written, "a test").tests.front();
  return TestRow{std::string(test.name), TestOutcome::failed,
                 "its process ended with code " + std::to_string(end.code)};
}

/// The files of a pack that are meant, in its order. Errors: InputError for a name that means none.
std::vector<std::string> files_of(const Pack& pack, std::span<const std::string> names) {
  std::set<std::string> meant;
  for (const std::string& name : names) {
    bool found = false;
    for (const PackLine& line : pack.lines())
      if (line.file.starts_with(name) || line.case_label.starts_with(name)) {
        meant.insert(line.file);
        found = true;
      }
    if (found) continue;
    std::set<std::string> cases;
    for (const PackLine& line : pack.lines()) cases.insert(line.case_label);
    throw InputError(
        unknown_name("case or file", name, std::vector<std::string>(cases.begin(), cases.end())));
  }
  std::vector<std::string> files = pack.files();
  if (!names.empty())
    std::erase_if(files, [&](const std::string& f) { return !meant.contains(f); });
  return files;
}

std::string result_text(const Pack& pack, const RunRow& row) {
  if (row.outcome != RunOutcome::done)
    return std::string(to_text(row.outcome)) + ": " + row.words + "\n";
  std::string text = figure_text(row.execution.median_seconds(), "s");
  for (const PackLine& line : pack.lines())
    if (line.file == row.file && line.predicted) {
      text += ", predicted " + figure_text(line.predicted->seconds(), "s");
      break;
    }
  if (row.execution.check.wrong > 0)
    text += ", " + std::to_string(row.execution.check.wrong) + " of " +
            std::to_string(row.execution.check.checked) + " elements WRONG";
  return text + "\n";
}

} // namespace

int list_command(std::span<const std::string> words) {
  const Arguments arguments(words, {});
  if (arguments.rest().empty()) {
    say("tests\n");
    for (const GpuTest& test : gpu_tests())
      say("  " + std::string(test.name) + ": " + std::string(test.expects) + "\n");
    say("figures\n");
    for (const FigureKind& kind : figure_kinds())
      say("  " + std::string(kind.name) + ": " + std::string(kind.what) + "\n");
    return 0;
  }
  const Pack pack = load_pack(arguments.first("a pack"));
  say("pack " + to_text(pack.name()) + ", " + std::to_string(pack.files().size()) + " runs\n");
  for (const PackLine& line : pack.lines())
    say("  " + line.file + ": " + line.case_label + ", " + line.algorithm + ", " +
        std::to_string(line.size.count) + " B" +
        (line.predicted ? ", predicted " + figure_text(line.predicted->seconds(), "s") : "") +
        "\n");
  return 0;
}

int ticks_command(std::span<const std::string> words) {
  const Arguments arguments(words, std::array<std::string_view, 2>{"--pack", "--out"});
  const auto rows = rows_file(arguments);
  std::size_t meant = 0;
  for (const FigureKind& kind : figure_kinds()) {
    if (!is_meant(kind.name, arguments.rest())) continue;
    ++meant;
    say(std::string(kind.name) + ": ");
    const auto row = figure_row(kind);
    say(row ? figure_text(row->value, row->unit) + "\n" : "doesn't apply here\n");
    if (row && rows) rows->add(*row);
  }
  if (meant == 0)
    throw InputError("no figure's name begins like this: `tutti-gpu list` shows them");
  return 0;
}

int test_command(std::span<const std::string> words) {
  const Arguments arguments(words, std::array<std::string_view, 2>{"--pack", "--out"});
  const auto rows = rows_file(arguments);
  std::vector<const GpuTest*> meant;
  for (const std::string& name : arguments.rest()) meant.push_back(&find_gpu_test(name));
  if (meant.empty())
    for (const GpuTest& test : gpu_tests()) meant.push_back(&test);
  bool well = true;
  for (const GpuTest* test : meant) {
    say(std::string(test->name) + ": ");
    const std::optional<TestRow> row =
        meant.size() == 1 ? test_row(*test) : test_row_of_child(*test);
    if (!row) return 2;
    say(result_text(*row));
    if (rows) rows->add(*row);
    well = well && is_well(*row);
  }
  return well ? 0 : 1;
}

int run_command(std::span<const std::string> words) {
  const Arguments arguments(words, std::array<std::string_view, 1>{"--out"});
  const Pack pack = load_pack(arguments.first("a pack"));
  const std::vector<std::string> files = files_of(pack, std::span(arguments.rest()).subspan(1));
  if (const auto why = why_no_cuda()) throw InputError(*why);
  RowsFile rows(arguments.required("--out"), pack.name());
  bool well = true;
  for (const std::string& file : files) {
    say(file + ": ");
    const RunRow row = run_row(pack, file);
    rows.add(row);
    say(result_text(pack, row));
    well = well && is_well(row);
    if (row.outcome == RunOutcome::hung || row.outcome == RunOutcome::failed) break;
  }
  return well ? 0 : 1;
}

} // namespace tutti::gpu
