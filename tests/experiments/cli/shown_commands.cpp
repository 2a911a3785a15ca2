// Documentation that nobody runs goes wrong unseen. A page is read as its reader reads it, from top
// to bottom, and what differs is named by the line of the page; matching is a walk over lines, so
// that the first line that can't be explained is the one that is told.
#include "tests/experiments/cli/shown_commands.hpp"

#include "sim/files/files.hpp"
#include "sim/text.hpp"
#include "tests/catch.hpp"
#include "tests/paths.hpp"
#include "tests/temporary_folder.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <optional>

namespace tutti {

namespace {

constexpr std::string_view any = "...";

/// Without what a wider column changes.
std::string normalized(std::string_view line) {
  std::string text;
  for (const char c : trimmed(line)) {
    if (c == ' ' && text.ends_with(' ')) continue;
    if (c == '-' && text.ends_with("--")) continue;
    text += c;
  }
  return text;
}

/// Whether `text` is `shown`, in which `...` is any text.
bool is_as_shown(std::string_view text, std::string_view shown) {
  const std::size_t at = shown.find(any);
  if (at == std::string_view::npos) return text == shown;
  if (!text.starts_with(shown.substr(0, at))) return false;
  const std::string_view rest = shown.substr(at + any.size());
  for (std::size_t skipped = at; skipped <= text.size(); ++skipped)
    if (is_as_shown(text.substr(skipped), rest)) return true;
  return false;
}

/// How many lines of `shown` an attempt got through at most.
struct Reach {
  std::size_t shown = 0, printed = 0;
};

bool matches(const std::vector<std::string>& shown, const std::vector<std::string>& printed,
             std::size_t s, std::size_t p, Reach& reach) {
  for (; s < shown.size(); ++s, ++p) {
    if (shown[s] == any) {
      for (std::size_t skipped = p; skipped <= printed.size(); ++skipped)
        if (matches(shown, printed, s + 1, skipped, reach)) return true;
      return false;
    }
    if (s >= reach.shown) reach = {s, p};
    if (p == printed.size() || !is_as_shown(printed[p], shown[s])) return false;
  }
  if (s >= reach.shown) reach = {s, p};
  return p == printed.size();
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  for (const std::string_view line : split(text, '\n')) lines.push_back(normalized(line));
  while (!lines.empty() && lines.back().empty()) lines.pop_back();
  return lines;
}

/// The lines of a fenced block, and where it began.
struct Block {
  std::size_t line = 0;
  std::string_view info;
  std::vector<std::string_view> lines;
};

std::vector<Block> blocks_of(std::string_view markdown) {
  std::vector<Block> blocks;
  bool open = false;
  std::size_t number = 0;
  for (const std::string_view line : split(markdown, '\n')) {
    ++number;
    if (line.starts_with("```")) {
      open = !open;
      if (open) blocks.push_back({number, trimmed(line.substr(3)), {}});
    } else if (open) {
      blocks.back().lines.push_back(line);
    }
  }
  return blocks;
}

void add_file(std::vector<ShownStep>& steps, const Block& block) {
  constexpr std::string_view caption = ":caption:";
  if (block.lines.empty() || !block.lines.front().starts_with(caption)) return;
  ShownStep step{.line = block.line,
                 .file = std::string(trimmed(block.lines.front().substr(caption.size()))),
                 .text = {},
                 .output = {}};
  for (std::size_t i = 1; i < block.lines.size(); ++i)
    if (i > 1 || !trimmed(block.lines[i]).empty()) step.text += fmt::format("{}\n", block.lines[i]);
  steps.push_back(std::move(step));
}

void add_commands(std::vector<ShownStep>& steps, const Block& block) {
  constexpr std::string_view prompt = "$ ";
  bool goes_on = false;
  for (std::size_t i = 0; i < block.lines.size(); ++i) {
    const std::string_view line = block.lines[i];
    const bool begins = !goes_on && line.starts_with(prompt);
    if (begins) steps.push_back({.line = block.line + 1 + i, .file = {}, .text = {}, .output = {}});
    if (begins || goes_on) {
      steps.back().text += fmt::format("{}\n", begins ? line.substr(prompt.size()) : line);
      goes_on = line.ends_with('\\');
    } else {
      REQUIRE(i > 0); // a block begins with a command
      steps.back().output.emplace_back(line);
    }
  }
}

} // namespace

std::vector<ShownStep> shown_steps(std::string_view markdown) {
  std::vector<ShownStep> steps;
  for (const Block& block : blocks_of(markdown)) {
    if (block.info.starts_with("{code-block}")) add_file(steps, block);
    if (block.info == "console") add_commands(steps, block);
  }
  return steps;
}

std::string difference(const std::vector<std::string>& shown, std::string_view printed) {
  std::vector<std::string> expected;
  for (const std::string& line : shown) expected.push_back(normalized(line));
  while (!expected.empty() && expected.back().empty()) expected.pop_back();
  const std::vector<std::string> lines = lines_of(printed);
  Reach reach;
  if (matches(expected, lines, 0, 0, reach)) return "";
  return fmt::format("shown:   {}\nprinted: {}",
                     reach.shown < expected.size() ? expected[reach.shown] : "(nothing more)",
                     reach.printed < lines.size() ? lines[reach.printed] : "(nothing more)");
}

std::size_t check_shown_commands(const std::string& page, const std::vector<std::string>& links) {
  namespace fs = std::filesystem;
  const std::string source = TUTTI_SOURCE_DIR;
  const TemporaryFolder folder, outside;
  fs::create_symlink(TUTTI_COMMAND, outside.file("tutti"));
  if (!links.empty()) fs::create_symlink(TUTTI_COMMAND, folder.file("tutti"));
  for (const std::string& link : links)
    fs::create_directory_symlink(source + "/" + link, folder.file(link));
  std::size_t commands = 0;
  for (const ShownStep& step : shown_steps(read_file(source + "/" + page))) {
    INFO(page << ":" << step.line << ": " << step.text);
    if (!step.file.empty()) {
      fs::create_directories(fs::path(folder.file(step.file)).parent_path());
      write_file(folder.file(step.file), step.text);
      continue;
    }
    write_file(outside.file("command"), step.text);
    const std::string command =
        fmt::format("cd '{0}' && PATH='{1}':\"$PATH\" XDG_CACHE_HOME='{1}/cache' sh '{1}/command' "
                    ">'{1}/printed' 2>&1 </dev/null",
                    folder.file(""), outside.file(""));
    const int status = std::system(command.c_str()); // NOLINT: as a reader would
    const std::string printed = read_file(outside.file("printed"));
    INFO(printed);
    CHECK(difference(step.output, printed) == "");
    // Where a command is meant to fail, the page says so: `; echo "exit code $?"`.
    CHECK(status == 0);
    ++commands;
  }
  return commands;
}

} // namespace tutti
