// Every command with good input that has slips in it, in its words or in a file that it reads: the
// exit code is one of the documented four, results or an error in words come with it, no signal, no
// defect, no sanitizer's report, and a Ctrl-C ends what takes long. TUTTI_MUTANTS and
// TUTTI_MUTANT_SEED say how many, and the seed of the first; each has the next one, so that one
// alone can be done again.
#include "sim/files/files.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/cli/good_commands.hpp"
#include "tests/experiments/cli/mutations.hpp"
#include "tests/experiments/cli/run_tutti.hpp"
#include "tests/paths.hpp"

#include <nlohmann/json.hpp>

#include <fcntl.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <initializer_list>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace mutated_commands_test {

using namespace tutti;

namespace {

namespace fs = std::filesystem;

std::vector<std::string> words_of(const std::string& command) {
  std::istringstream in(command);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

/// Every word and value of the good commands, and the lines of the files.
std::vector<std::string> vocabulary() {
  std::set<std::string> words;
  for (const std::string& command : good_commands())
    for (const std::string& word : words_of(command)) words.insert(word);
  for (const auto& [name, content] : written_files()) {
    std::istringstream in(content);
    for (std::string line; std::getline(in, line);) words.insert(line);
  }
  return {words.begin(), words.end()};
}

std::vector<KnownOption> given_options() {
  std::vector<KnownOption> options;
  for (const std::string& command : good_commands()) {
    const std::vector<std::string> words = words_of(command);
    for (std::size_t i = 0; i + 1 < words.size(); ++i)
      if (words[i].starts_with("-") && !words[i + 1].starts_with("-"))
        options.push_back({words[i], words[i + 1]});
  }
  return options;
}

/// What a command did, and how it ended.
struct Ending {
  CommandResult result;
  int signal = 0;
  bool was_interrupted = false, was_killed = false;
};

constexpr auto patience = std::chrono::seconds(20);      ///< before a Ctrl-C
constexpr auto last_patience = std::chrono::seconds(90); ///< after it

[[noreturn]] void become(const std::vector<std::string>& words, const fs::path& folder) {
  if (::chdir(folder.c_str()) != 0) _exit(127);
  const auto redirect = [](const char* file, int flags, int to) {
    if (const int from = ::open(file, flags, 0600); from < 0 || ::dup2(from, to) < 0) _exit(127);
  };
  redirect("/dev/null", O_RDONLY, STDIN_FILENO);
  redirect("stdout", O_WRONLY | O_CREAT | O_TRUNC, STDOUT_FILENO);
  redirect("stderr", O_WRONLY | O_CREAT | O_TRUNC, STDERR_FILENO);
#ifndef TUTTI_ADDRESS_SANITIZER // which maps terabytes
  const rlimit memory{rlim_t{4} << 30, rlim_t{4} << 30};
  ::setrlimit(RLIMIT_AS, &memory);
#endif
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
  std::vector<char*> arguments;
  std::string command = TUTTI_COMMAND;
  arguments.push_back(command.data());
  std::vector<std::string> copies = words;
  for (std::string& word : copies) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  ::setenv("XDG_CACHE_HOME", folder.c_str(), 1); // NOLINT(concurrency-mt-unsafe): own process
  ::execv(arguments.front(), arguments.data());
  _exit(127);
}

/// True where it ended by then.
bool has_ended(pid_t child, int& status, std::chrono::steady_clock::duration patience_left) {
  const auto deadline = std::chrono::steady_clock::now() + patience_left;
  while (::waitpid(child, &status, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

Ending run_words(const std::vector<std::string>& words, const fs::path& folder) {
  const pid_t child = ::fork();
  if (child == 0) become(words, folder);
  Ending ending;
  int status = 0;
  if (!has_ended(child, status, patience)) {
    ending.was_interrupted = true;
    ::kill(child, SIGINT);
    if (!has_ended(child, status, last_patience)) {
      ending.was_killed = true;
      ::kill(child, SIGKILL);
      ::waitpid(child, &status, 0);
    }
  }
  if (WIFSIGNALED(status)) ending.signal = WTERMSIG(status);
  ending.result = {WIFEXITED(status) ? WEXITSTATUS(status) : -1,
                   read_file((folder / "stdout").string()),
                   read_file((folder / "stderr").string())};
  return ending;
}

bool has_any(const std::string& text, std::initializer_list<const char*> parts) {
  return std::ranges::any_of(parts, [&](const char* part) { return text.find(part) != text.npos; });
}

/// What is wrong with how a command ended, in words; empty where all is well.
std::string fault_of(const Ending& ending, const std::vector<std::string>& words) {
  const auto& [code, out, err] = ending.result;
  if (ending.was_killed) return "it doesn't end after a Ctrl-C";
  const bool died_of_ctrl_c = ending.was_interrupted && ending.signal == SIGINT;
  if (ending.signal != 0 && !died_of_ctrl_c) return "signal " + std::to_string(ending.signal);
  if (has_any(out + err, {"defect", "DEFECT", "Sanitizer", "runtime error: ", "terminate called",
                          "Assertion", "by signal", "without a word"}))
    return "a defect";
  if (died_of_ctrl_c || (ending.was_interrupted && code == 130)) return {};
  if (code != 0 && code != 1 && code != 2) return "exit code " + std::to_string(code);
  if (code == 0 && out.empty()) return "success without a word";
  const bool is_verdict = code == 1 && !out.empty() && words.front() == "verify"; // its result
  if (code != 0 && !is_verdict && !err.starts_with("tutti: ") && err.find("\ntutti: ") == err.npos)
    return "failure without a word";
  const bool has_controls = std::ranges::any_of(err, [](char c) {
    return (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') || c == 0x7f;
  });
  if (has_controls) return "control characters on stderr";
  const bool is_json = std::ranges::find(words, "--json") != words.end();
  if (code == 0 && is_json && !nlohmann::json::accept(out) && out.front() == '{') return "bad JSON";
  return {};
}

bool is_binary(const std::string& file) {
  return file.ends_with(".tutti") || file.ends_with(".et") || file.ends_with(".sqlite");
}

std::string shown(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += " '" + word + "'";
  return text;
}

/// A folder with all files, and the good commands that ran in it.
class GoodInput {
public:
  GoodInput() {
    for (const auto& [name, content] : written_files()) write_file(file(name), content);
    const fs::path workloads = fs::path(TUTTI_SOURCE_DIR) / "workloads";
    write_file(file("model.toml"), read_file((workloads / "models/gpt3_small.toml").string()));
    write_file(file("npu.toml"), read_file((workloads / "npus/v100.toml").string()));
    for (const std::string& command : good_commands()) {
      INFO(command);
      const Ending ending = run_words(words_of(command), folder_.file(""));
      CAPTURE(ending.result.out, ending.result.err);
      CHECK(fault_of(ending, words_of(command)) == "");
      CHECK((ending.result.code == 0 || ending.was_interrupted));
    }
    for (const fs::directory_entry& entry : fs::directory_iterator(folder_.file("")))
      if (entry.is_regular_file() && !entry.path().filename().string().starts_with("std"))
        files_.push_back(entry.path().filename().string());
    std::ranges::sort(files_); // the order in which a folder lists them is any
  }

  /// A copy of the folder without what the commands wrote into folders.
  void copy_to(const fs::path& there) const {
    for (const std::string& name : files_) fs::copy_file(file(name), there / name);
  }

  /// Those that a command names, as a whole word or as the prefix of traces.
  [[nodiscard]] std::vector<std::string> read_by(const std::vector<std::string>& words) const {
    std::vector<std::string> found;
    for (const std::string& name : files_)
      for (const std::string& word : words)
        if (name == word || (name.ends_with(".et") && name.starts_with(word + "."))) {
          found.push_back(name);
          break;
        }
    return found;
  }

  [[nodiscard]] std::string file(const std::string& name) const { return folder_.file(name); }

private:
  TemporaryFolder folder_;
  std::vector<std::string> files_;
};

/// Returns its exit code.
int check_mutant(std::uint64_t seed, const GoodInput& good,
                 const std::vector<std::string>& vocabulary,
                 const std::vector<KnownOption>& options) {
  Random random(seed);
  const TemporaryFolder folder;
  good.copy_to(folder.file(""));
  std::vector<std::string> words = words_of(good_commands()[random.below(good_commands().size())]);
  const std::vector<std::string> files = good.read_by(words);
  std::string name, changed;
  if (!files.empty() && random.below(3) != 0) {
    name = files[random.below(files.size())];
    changed = mutated(read_file(folder.file(name)), !is_binary(name), vocabulary, random);
    write_file(folder.file(name), changed);
  } else {
    words = mutated(std::move(words), vocabulary, options, random);
  }
  const Ending ending = run_words(words, folder.file(""));
  const std::string fault = fault_of(ending, words);
  INFO("TUTTI_MUTANTS=1 TUTTI_MUTANT_SEED=" << seed << ": tutti" << shown(words));
  INFO(name << ": " << changed);
  INFO(ending.result.out);
  INFO(ending.result.err);
  CHECK(fault == "");
  const auto is_named = [&](const std::string& file) {
    return ending.result.err.find(file) != std::string::npos;
  };
  if (!name.empty() && ending.result.code == 2) CHECK(std::ranges::any_of(files, is_named));
  return ending.result.code;
}

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable); // NOLINT(concurrency-mt-unsafe): no other thread
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

} // namespace

TEST_CASE("commands with slips end in order, and say what is wrong", "[slow]") {
  const GoodInput good;
  const std::vector<std::string> words = vocabulary();
  const std::vector<KnownOption> options = given_options();
  const std::uint64_t first = number_from("TUTTI_MUTANT_SEED", 1);
  const std::uint64_t count = number_from("TUTTI_MUTANTS", 2'000);
  std::map<int, std::uint64_t> endings; // by exit code
  for (std::uint64_t seed = first; seed < first + count; ++seed)
    ++endings[check_mutant(seed, good, words, options)];
  if (count < 1'000) return;
  CHECK(endings[0] > count / 20); // slips that nobody could notice say nothing, nor do such that
  CHECK(endings[2] > count / 20); // end in the first line of a command
}

} // namespace mutated_commands_test
