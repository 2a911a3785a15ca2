// Every command with good input that has slips in it, in its words or in a file that it reads: the
// exit code is one of the documented four, results or an error in words come with it, no signal, no
// defect, no sanitizer's report, and a Ctrl-C ends what takes long. TUTTI_MUTANTS and
// TUTTI_MUTANT_SEED say how many, and the seed of the first; each has the next one, so that one
// alone can be done again.
#include "sim/files/files.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/cli/mutations.hpp"
#include "tests/experiments/cli/run_tutti.hpp"

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

using namespace tutti;

namespace {

namespace fs = std::filesystem;

/// In the folder in which commands run. What they read is all small.
const std::vector<std::pair<std::string, std::string>>& written_files() {
  static const std::vector<std::pair<std::string, std::string>> files{
      {"net.toml", R"(name = "pods"
[[nodes]]
name = "gpu"
count = 4
kind = "npu"
reduce_rate = "100GB/s"
[[nodes]]
name = "leaf"
count = 2
kind = "switch"
copy = true
reduce = true
[[links]]
from = ["gpu0", "gpu1"]
to = "leaf0"
bandwidth = "50GB/s"
latency = "0.5us"
[[links]]
from = ["gpu2", "gpu3"]
to = "leaf1"
bandwidth = "50GB/s"
latency = "0.5us"
[[links]]
from = "leaf0"
to = "leaf1"
bandwidth = "25GB/s"
latency = "1us"
[[groups]]
name = "bus"
bandwidth = "40GB/s"
links = [["gpu0", "leaf0"], ["gpu1", "leaf0"]]
)"},
      {"named.toml", "[[collective]]\nname = \"all_reduce\"\nsize = \"1MiB\"\npieces = 2\n"
                     "[[collective]]\nname = \"broadcast,root=1,group=0-2\"\nsize = \"3kB\"\n"},
      {"custom.toml", R"([[collective]]
name = "custom"
[[collective.chunks]]
size = "1MiB"
held_by = [0, 1]
wanted_by = [2]
reduces = true
[[collective.chunks]]
size = "7B"
held_by = [2]
wanted_by = "0-3"
)"},
      {"jobs.toml", R"(algorithms = ["ring", "direct"]
together = ["tacos"]
[[job]]
name = "a"
collective = "all_reduce,group=0-1"
size = "1MB"
chunks = 2
start = "5us"
priority = 7
[[job]]
name = "b"
collective = "all_gather"
size = "64KiB"
algorithm = "direct"
)"},
      {"events.toml", R"([[events]]
at = "10%"
link_rate = "npu0>npu1"
share = 0.25
[[events]]
at = "30%"
link_down = "npu2-npu3"
[[events]]
at = "60%"
npu_down = "npu1"
)"},
      {"model.toml", ""}, // from the repository
      {"npu.toml", ""},
      {"work.txt", "DATA\n2\na -1 10 NONE 0 0 NONE 0 40 ALLREDUCE 100000 0\n"
                   "b -1 20 NONE 0 5 ALLTOALL 640 30 ALLREDUCE 1000 7\n"},
      {"runs.toml", R"(name = "small"
title = "A small experiment"
seed = 2
[topologies]
Ring = "ring:4,latency=1us"
Mesh = "net.toml"
[[runs]]
topologies = ["Ring", "Mesh"]
collectives = ["all_reduce", "broadcast,root=1"]
sizes = ["1KiB..2KiB"]
algorithms = ["ring", "direct", "tacos"]
chunks = "auto"
limit = "2s,1GiB"
link_busy = "latency+serialization"
[[figures]]
kind = "bars"
file = "bandwidth"
title = "Bandwidth"
metric = "algbw"
[[expect]]
label = "Ring / Direct"
of = {topology = "Ring", algorithm = "ring", collective = "all_reduce", size = "2KiB"}
over = {topology = "Ring", algorithm = "direct", collective = "all_reduce", size = "2KiB"}
metric = "algbw"
paper = 1.0
tolerance = "90%"
)"},
      {"studies.toml", R"(name = "studies"
[topologies]
R = "ring:4"
[[failures]]
label = "A"
topology = "R"
collective = "all_reduce"
size = "1MB"
algorithms = ["ring", "tacos"]
policies = ["report", "restart", "resynthesize", "reroute"]
failed_links = [0, 1]
at = "50%"
seeds = [1, 2]
[[failures.events]]
at = "10%"
link_rate = "npu0>npu1"
share = 0.25
[[frontiers]]
label = "F"
topology = "R"
collective = "all_gather,group=0-3"
sizes = ["1kB..4kB"]
settings = {k = "1", max_steps = "3"}
limit = "1s"
[[jobs]]
label = "J"
topology = "R"
algorithms = "ring"
together = ["tacos"]
[[jobs.job]]
name = "a"
collective = "all_reduce,group=0-1"
size = "1MB"
[[executions]]
label = "E"
topology = "R"
collective = "all_gather"
sizes = ["1KiB"]
algorithms = ["direct"]
predicted_by = "nothing"
links = "real"
repetitions = 1
)"},
      {"study.toml", R"(name = "small"
title = "A small study"
seed = 2
constraints = ["npus <= 64", "size >= 1024 OR algorithm = 'ring'"]
[parameters]
size = "1KiB..2KiB"
algorithm = ["ring", "direct"]
k = {from = 2, to = 4, step = 2}
latency = "1us"
[experiment]
topologies = {net = "mesh2d:${k}x${k},latency=${latency}"}
[[experiment.runs]]
collectives = ["all_reduce"]
sizes = ["${size}"]
algorithms = ["${algorithm}"]
[objectives]
time = "time_s"
rate = {expression = "algbw_bytes_per_s / 2", maximise = true, unit = "bytes_per_second"}
[[best]]
label = "Best"
objective = "time"
of = "algorithm"
x = "size"
y = "k"
[[curves]]
label = "Curves"
objective = "rate"
x = "size"
series = "algorithm"
by = ["k"]
relative_to = "ring"
logarithmic = true
[limits]
time = "5s"
memory = "1GiB"
)"}};
  return files;
}

/// Good commands. The first ones make files that others read.
const std::vector<std::string>& good_commands() {
  static const std::vector<std::string> commands{
      "synth -t ring:4 -c all_reduce -a ring --size 64KiB --chunks 1 -o s.tutti",
      "synth -t mesh2d:2x2 -c all_gather -a tacos --size 64KiB --chunks 2 -o s.json",
      "synth -t net.toml -c broadcast,root=1 -a direct --size 4kB -o net.json",
      "lower -t ring:4 s.tutti -o p.xml --instances 2 --channels 8 --protocol LL --json",
      "lower -t mesh2d:2x2 s.json -o q.xml --share-blocks --min-bytes 1KiB --max-bytes 1MiB "
      "--runtime executor@2.23",
      "train -t ring:2 --model model.toml --npu npu.toml -a ring --cache none --export-chakra t",
      "verify -t ring:4 s.tutti",
      "verify -t mesh2d:2x2 s.json --json",
      "verify -t net.toml net.json",
      "replay -t ring:4 s.tutti --engine simgrid --discipline fifo,fluid --link-busy serialization",
      "replay -t mesh2d:2x2 s.json --export-case case.json --engine simgrid --trace o.json "
      "--heatmap h.svg --json",
      "replay -t net.toml net.json --forwarding store-and-forward --engine native",
      "exec -t ring:4 s.tutti --links real --repeat 1 --warmups 0 --watchdog 5s --predicted-by "
      "nothing",
      "exec -t ring:4 p.xml --size 64KiB --links real --repeat 1 --predicted-by nothing --type "
      "int32",
      "exec -t ring:3 -c all_reduce -a ring,direct --size 3KiB..6KiB --op max --in-place --links "
      "real "
      "--repeat 2 --json --predicted-by nothing",
      "import -t ring:4 p.xml --size 64KiB -o back.tutti --json",
      "import -t mesh2d:2x2 q.xml --size 64KiB --paths q.xml.paths.json --routing shortest "
      "--discipline fluid,fifo --program 1",
      "profile -t ring:2 --links real --repeat 1 --sizes 1KiB,4KiB --chunks 2 -o measured.toml",
      "show -t net.toml",
      "show -t torus2d:3x4,bandwidth=50GB/s+25GB/s,latency=1us,fail-links=1 --json",
      "show -t dgx1",
      "list algorithms",
      "list topologies --json",
      "list collectives",
      "list models",
      "list npus --json",
      "list experiments",
      "list studies",
      "list engines",
      "list runtimes",
      "bound -t ring:6 -c all_to_all,group=1+5 --size 1MiB --chunks 2 --draw cut.svg",
      "bound -t net.toml -c reduce,root=2 -c all_gather --size 1kB --json",
      "bound -t mesh2d:2x2 -c custom.toml --link-busy latency+serialization",
      "synth -t ring:4 -c all_reduce -a all --size 4KiB --limit 2s,1GiB --chunks 1",
      "synth -t fully_connected:4 -c all_to_all -a all --size 4KiB --limit 2s,1GiB --json",
      "synth -t net.toml -c all_gather -a all --size 4KiB --limit 2s,1GiB --chunks 1",
      "synth -t hypercube:3 -c reduce_scatter -a rhd,tacos --size 1KiB..8KiB --jobs 2 --threads 2",
      "synth -t two_level_switch:2x3,bandwidth=50GB/s+25GB/s -c named.toml -a direct,flows --seed "
      "7",
      "synth -t switch:4 -c custom.toml -a tacos,flows --limit 2s --set starts=2",
      "synth -t torus2d:3x3 -c scatter,root=4 -a direct --size 9kB --routing dimension-order "
      "--engine simgrid --discipline fifo,fluid --forwarding cut-through",
      "synth -t ring:3 -c all_gather -a teccl --size 3KiB --set method=rounds --set epoch=slowest "
      "--limit 2s",
      "synth -t ring:3 -c all_gather -a sccl --size 3KiB --chunks 1 --set steps=2 --set rounds=3 "
      "--limit 2s",
      "synth -t random:6,degree=3,seed=2 -c gather,root=1 -a flows,tree_packing,direct --size 6KiB",
      "synth -t dgx1 -c all_gather,group=0-3 -c broadcast,root=5,group=4-7 -a tacos --size 1MB",
      "frontier -t ring:4 -c all_gather --size 1KiB..4KiB --set k=1 --set max_steps=3 --limit 2s",
      "frontier -t dgx1 -c broadcast,root=1 --engine native --limit 1s --json --out front",
      "jobs -t ring:4 jobs.toml --seed 3 --out j",
      "failures -t mesh2d:2x3 -c reduce,root=2 -a direct,tacos --size 6KiB --event "
      "at=60%,link_down=npu4-npu2 --event at=84%,npu_down=npu0 --engine both --detection 1us "
      "--decision 1us",
      "failures -t ring:4 -c all_reduce -a ring --size 64KiB --events events.toml --planner tacos "
      "--policy report,restart --json",
      "failures -t ring:4 -c all_gather -a tacos --chunks 2 --event at=1us,link_latency=npu0>npu1,"
      "latency=5us --event at=2us,straggler=npu2,share=0.5 --policy resynthesize,reroute --out f",
      "train -t ring:4 --model model.toml --npu npu.toml --tensor 2 --micro-batches 2 --bucket "
      "25MB "
      "--zero 1 -a ring,auto --cache none --engine both --limit 2s",
      "train -t mesh2d:2x2 --workload work.txt --unit us -a ring --straggler npu1=0.5 "
      "--failed-links 1 --cache none --json",
      "train -t ring:2 --chakra t -a direct --cache c --trace tr.json --trace-npus 0 --heatmap "
      "h.svg",
      "train -t ring:4 --model model.toml --npu npu.toml --pipeline 2 --schedule 1f1b --recompute "
      "full --one-at-a-time --local-mem-bw 1600GB/s --micro-batches 4 --by-collective "
      "all_reduce=ring -a direct --cache none --event "
      "at=1us,link_rate=npu0>npu1,share=0.5 --policy reroute --unfolded",
      "run runs.toml --jobs 2 --out r",
      "run studies.toml --out r --json",
      "sweep study.toml --jobs 2 --out w --cache none",
      "sweep study.toml --shard 1/3 --store shard.sqlite --out w --json --cache none",
      "sweep study.toml --store shard.sqlite --out w --report",
      "sweep study.toml --emit-slurm job.sh --slurm-shards 4",
      "--version",
      "--help",
      "synth --help"};
  return commands;
}

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

std::vector<GivenOption> given_options() {
  std::vector<GivenOption> options;
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
                 const std::vector<GivenOption>& options) {
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
  const std::vector<GivenOption> options = given_options();
  const std::uint64_t first = number_from("TUTTI_MUTANT_SEED", 1);
  const std::uint64_t count = number_from("TUTTI_MUTANTS", 2'000);
  std::map<int, std::uint64_t> endings; // by exit code
  for (std::uint64_t seed = first; seed < first + count; ++seed)
    ++endings[check_mutant(seed, good, words, options)];
  if (count < 1'000) return;
  CHECK(endings[0] > count / 20); // slips that nobody could notice say nothing, nor do such that
  CHECK(endings[2] > count / 20); // end in the first line of a command
}
