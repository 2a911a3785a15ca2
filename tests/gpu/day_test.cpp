// GPU days on a CUDA runtime without a GPU, by the whole command: with hangs, crashes, interrupts,
// missing memory, an old driver, damaged files.
#include "algorithms/list.hpp"
#include "gpu/day/steps.hpp"
#include "gpu/nccl.hpp"
#include "runtime/executor.hpp"
#include "runtime/lowering.hpp"
#include "runtime/pack/pack.hpp"
#include "runtime/pack/rows.hpp"
#include "sim/files.hpp"
#include "tests/catch.hpp"
#include "tests/temporary_folder.hpp"
#include "topologies/list.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace tutti;
using namespace tutti::gpu;
using namespace tutti::runtime;
namespace fs = std::filesystem;

namespace {

Program ring_program(std::uint32_t ranks, CollectiveKind kind) {
  const auto row = std::ranges::find(baseline_algorithms(), "ring1", &AlgorithmRow::name);
  REQUIRE(row != baseline_algorithms().end());
  const Topology topology = make_topology("ring:" + std::to_string(ranks));
  const Collective collective =
      make_collective(topology, {kind, Bytes{4096 * std::int64_t{ranks}}, {}, 0, row->pieces});
  const Outcome outcome = synthesize(*row, topology, collective, {});
  REQUIRE(outcome.schedule);
  return lower(topology, collective, *outcome.schedule);
}

PackedRun packed(const Program& program, std::uint32_t repetitions = 2,
                 ElementType type = ElementType::float32) {
  ExecutionRequest request;
  request.size = program.collective.size();
  request.type = type;
  request.warmups = 1;
  request.repetitions = repetitions;
  request.watchdog_seconds = 0.3;
  return {planned_run(program, request), request};
}

/// Rank 1's first step waits for a later one of its block.
Program hung_program() {
  Program program = ring_program(3, CollectiveKind::all_gather);
  program.ranks[1].blocks[0].steps[0].after = StepAt{0, 1};
  return program;
}

struct PackOptions {
  bool hangs = false; ///< a case of gpu_rate does
  std::uint32_t repeats = 20;
};

/// A day's pack, with all its cases and small sizes.
std::string day_pack(const PackOptions& options = {}) {
  PackBuilder builder("gpu_day");
  const Bytes size{4096};
  const Program gather = ring_program(3, CollectiveKind::all_gather);
  builder.add("3 GiB of uint8", "ring", size, {}, packed(gather, 1, ElementType::uint8));
  builder.add("1,000 repeats", "ring", size, {}, packed(gather, options.repeats));
  if (options.hangs) builder.add("gpu_rate: 1 instances", "ring", size, {}, packed(hung_program()));
  builder.add("gpu_rate: 2 instances", "ring", size, {}, packed(gather));
  builder.add("gpu_dgx1: All-Gather", "ring", size, Time{20'000'000}, packed(gather));
  for (const CollectiveKind kind : {CollectiveKind::all_gather, CollectiveKind::all_reduce})
    for (const std::uint32_t gpus : {2U, 4U})
      builder.add("peers: " + std::string(to_text(kind)) + ", " + std::to_string(gpus) + " GPUs",
                  "ring", Bytes{8192}, {}, packed(ring_program(gpus, kind)));
  return builder.bytes();
}

constexpr const char* plain_sanitizer = "while [ $1 != --print-limit ]; do shift; done; shift 2\n"
                                        "\"$@\" || exit 9\necho ERROR SUMMARY: 0 errors\n";

struct Played {
  int code = -1;
  std::string said;
};

/// A machine, a pack and a folder of results.
class Machine {
public:
  explicit Machine(const std::string& gpus = "gpus=4") : gpus_(gpus) {
    write_file(pack(), day_pack());
    install("compute-sanitizer", plain_sanitizer);
  }

  std::string gpus_, nccl = TUTTI_FAKE_NCCL; ///< as the environment says them

  [[nodiscard]] std::string pack() const { return folder_.file("gpu_day.tar"); }
  [[nodiscard]] std::string out(const std::string& name = "") const {
    return folder_.file("out") + (name.empty() ? "" : "/" + name);
  }
  [[nodiscard]] std::string file(const std::string& name) const { return folder_.file(name); }

  /// A program on PATH.
  void install(const std::string& name, const std::string& script) const {
    const std::string path = folder_.file("bin/" + name);
    write_file(path, "#!/bin/sh\n" + script);
    fs::permissions(path, fs::perms::owner_all);
  }

  /// Starts the day; what it says goes to a file.
  [[nodiscard]] int start(const std::vector<std::string>& options = {}) const {
    const int child = ::fork();
    REQUIRE(child >= 0);
    if (child != 0) return child;
    const int said = ::open(file("said").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
    (void)::dup2(said, STDOUT_FILENO);
    (void)::dup2(said, STDERR_FILENO);
    (void)::setenv("TUTTI_FAKE_GPU", gpus_.c_str(), 1);
    (void)::setenv("LD_LIBRARY_PATH", nccl.c_str(), 1);
    (void)::setenv("PATH", (folder_.file("bin") + ":/usr/bin:/bin").c_str(), 1);
    std::vector<std::string> words{TUTTI_GPU_FAKE, "day", pack(), "--out", out()};
    words.insert(words.end(), options.begin(), options.end());
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    (void)::execv(TUTTI_GPU_FAKE, arguments.data());
    ::_exit(127);
  }

  [[nodiscard]] Played end(int child) const {
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
            read_file(file("said"))};
  }

  [[nodiscard]] Played play(const std::vector<std::string>& options = {}) const {
    return end(start(options));
  }

  [[nodiscard]] Rows rows(const std::string& name = "measured.csv") const {
    return load_rows(out(name));
  }
  [[nodiscard]] std::string report() const { return read_file(out("report.md")); }

private:
  TemporaryFolder folder_;
};

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

int count(const std::string& text, const std::string& part) {
  int found = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++found;
  return found;
}

/// All steps but the tests, which take the longest, on a plain machine.
const std::vector<std::string> quick_steps{
    "--step", "driver,micro,large,repeats,gpu_rate,gpu_dgx1,peers,nccl"};

bool waited_for(const std::string& file) {
  for (int i = 0; i < 2000 && !fs::exists(file); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  return fs::exists(file);
}

bool is_gone(int process) {
  for (int i = 0; i < 400; ++i) {
    if (::kill(process, 0) != 0 && errno == ESRCH) return true;
    std::error_code ignored;
    const std::string stat = "/proc/" + std::to_string(process) + "/stat";
    if (!fs::exists(stat, ignored) || has(read_file(stat), ") Z")) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return false;
}

} // namespace

TEST_CASE("GPU day: its table has all that a step must say, and half an hour") {
  int all = 0;
  std::set<std::string_view> names;
  for (const Step& step : day_steps()) {
    INFO(step.name);
    CHECK(names.insert(step.name).second);
    CHECK(step.limit_seconds > 0);
    CHECK(step.limit_seconds <= 300);
    all += step.limit_seconds;
    for (const std::string_view text : {step.does, step.expected, step.otherwise}) {
      CHECK_FALSE(text.empty());
      CHECK_FALSE(text.ends_with('.')); // sentences are made of it
      CHECK_FALSE(has(std::string(text), "\n"));
    }
    CHECK(step.tasks != nullptr);
    for (const FigureRange& range : step.figures) CHECK(range.least < range.most);
  }
  CHECK(all <= 1800);
}

TEST_CASE("GPU day: played from beginning to end, and a second time without measuring again") {
  const Machine machine;
  const Played day = machine.play(quick_steps);
  INFO(day.said);
  CHECK(day.code == 0);

  const Pack pack = load_pack(machine.pack());
  const Rows rows = machine.rows();
  CHECK(rows.pack_digest == pack.digest());
  for (const std::string& file : pack.files()) {
    INFO(file);
    const RunRow* run = rows.run(pack.checksum(file));
    REQUIRE(run != nullptr);
    CHECK(run->outcome == RunOutcome::done);
    CHECK(run->execution.check.checked > 0);
    CHECK(run->execution.check.wrong == 0);
  }
  for (const char* figure :
       {"driver", "gpus", "peers", "tick", "block_copy", "signal", "signal_peers", "launch",
        "nccl all_gather, 4 GPUs, 8192 B", "nccl all_reduce, 2 GPUs, 8192 B"}) {
    INFO(figure);
    REQUIRE(rows.figure(figure) != nullptr);
    CHECK(rows.figure(figure)->value > 0);
  }
  CHECK(rows.figure("gpus")->value == 4);
  CHECK(rows.figure("nccl all_reduce, 2 GPUs, 8192 B")->device == "2 x fake GPU, libnccl 2.27.3");
  const std::string report = machine.report();
  for (const Step& step : day_steps()) {
    CHECK(has(report, step.expected.data()));
    CHECK(has(report, step.otherwise.data()));
  }
  CHECK(has(report, "## exec beside NCCL"));
  CHECK(count(report, "predicted 20 us") == 1);

  const auto written = [&] {
    std::map<std::string, std::string> files;
    for (const fs::directory_entry& entry : fs::directory_iterator(machine.out()))
      if (entry.path().extension() == ".csv" || entry.path().extension() == ".txt")
        files[entry.path().filename()] = read_file(entry.path());
    return files;
  };
  const std::map<std::string, std::string> before = written();
  const Played again = machine.play({"--limit", "60"}); // with tests
  INFO(again.said);
  CHECK(count(again.said, "done before") == 8);
  for (const auto& [name, text] : written())
    if (name != "measured.csv" && before.contains(name)) {
      INFO(name);
      CHECK(text == before.at(name));
    }
  const Rows all = machine.rows();
  CHECK(all.tests.size() > 20);
  for (const TestRow& test : all.tests) {
    INFO(test.name << ": " << test.words);
    // What no thread of a CPU can keep to.
    if (test.name != "emulated_pace" && test.name != "copy_rate")
      CHECK(test.outcome == TestOutcome::passed);
  }
}
