// `tutti-gpu day` on a CUDA runtime without a GPU, by the whole command: with hangs, crashes,
// interrupts, missing memory, an old driver, damaged files.
#include "algorithms/list.hpp"
#include "gpu/benchmark_run/steps.hpp"
#include "gpu/gpu_tests.hpp"
#include "gpu/nccl.hpp"
#include "runtime/executor.hpp"
#include "runtime/lowering/lowering.hpp"
#include "runtime/pack/pack.hpp"
#include "runtime/pack/rows.hpp"
#include "sim/files/files.hpp"
#include "tests/catch.hpp"
#include "tests/paths.hpp"
#include "tests/temporary_folder.hpp"
#include "topologies/list.hpp"

#include <algorithm>
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

namespace benchmark_run_test {

using namespace tutti;
using namespace tutti::gpu;
using namespace tutti::runtime;
namespace fs = std::filesystem;

namespace {

Program ring_program(std::uint32_t ranks, CollectiveKind kind) {
  const auto row = std::ranges::find(baseline_algorithms(), "ring1", &AlgorithmRow::name);
  REQUIRE(row != baseline_algorithms().end());
  const Topology topology = make_topology("ring:" + std::to_string(ranks));
  const Collective collective = make_collective(
      topology, {kind, Bytes{4096 * std::int64_t{ranks}}, {}, 0, row->chunk_multiple});
  const Outcome outcome = synthesize(*row, topology, collective, {});
  REQUIRE(outcome.schedule);
  return lower(topology, collective, *outcome.schedule);
}

PackedRun packed(const Program& program, std::uint32_t repetitions = 2,
                 ElementType type = ElementType::float32, double watchdog_seconds = 30) {
  ExecutionRequest request;
  request.size = program.collective.size();
  request.type = type;
  request.warmups = 1;
  request.repetitions = repetitions;
  request.watchdog_seconds = watchdog_seconds;
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
  double watchdog_seconds = 30; ///< of the repeats
  std::string note = {};        ///< in a label
};

/// A pack with all cases of steps and small sizes.
PackBuilder day_pack(const PackOptions& options = {}) {
  PackBuilder builder("gpu_day");
  const Bytes size{4096};
  const Program gather = ring_program(3, CollectiveKind::all_gather);
  builder.add("test: all_gather", "ring", size, packed(gather, 1));
  builder.add("3 GiB of uint8", "ring", size, packed(gather, 1, ElementType::uint8));
  builder.add("1,000 repeats", "ring", size,
              packed(gather, options.repeats, ElementType::float32, options.watchdog_seconds));
  if (options.hangs)
    builder.add("gpu_rate: 1 instances", "ring", size,
                packed(hung_program(), 1, ElementType::float32, 0.3));
  builder.add("gpu_rate: 2 instances", "ring", size, packed(gather));
  builder.add("gpu_dgx1: All-Gather" + options.note, "ring", size, packed(gather));
  builder.predict(Time{20'000'000});
  for (const CollectiveKind kind : {CollectiveKind::all_gather, CollectiveKind::all_reduce})
    for (const std::uint32_t gpus : {2U, 4U})
      builder.add("peers: " + std::string(to_text(kind)) + ", " + std::to_string(gpus) + " GPUs",
                  "ring", Bytes{8192}, packed(ring_program(gpus, kind)));
  return builder;
}

constexpr const char* plain_sanitizer = "while [ $1 != --print-limit ]; do shift; done; shift 2\n"
                                        "\"$@\" || exit 9\necho ERROR SUMMARY: 0 errors\n";

struct Played {
  int code = -1;
  std::string said;
};

/// A machine, a pack and a folder of results.
class Workbench {
public:
  explicit Workbench(const std::string& gpus = "gpus=4") : gpus_(gpus) {
    day_pack().write(pack());
    install("compute-sanitizer", plain_sanitizer);
  }

  std::string gpus_, nccl = TUTTI_FAKE_NCCL; ///< as the environment says them

  [[nodiscard]] std::string pack() const { return folder_.file("gpu_day"); }
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

  /// Starts the command; what it prints goes to a file.
  [[nodiscard]] int start(const std::vector<std::string>& options = {}) const {
    (void)fs::remove(file("said")); // an earlier process may still write
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

  [[nodiscard]] Rows rows() const { return load_rows(out("measured.csv")); }
  /// All that is in the folder of results.
  [[nodiscard]] std::map<std::string, std::string> files() const {
    std::map<std::string, std::string> found;
    for (const fs::directory_entry& entry : fs::directory_iterator(out()))
      found[entry.path().filename()] = read_file(entry.path());
    return found;
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
  for (std::size_t at = 0; (at = text.find(part, at)) != text.npos; ++at) ++found;
  return found;
}

/// All steps but the tests, which take the longest, on a plain machine.
const std::vector<std::string> quick_steps{
    "--step", "driver,programs,large,repeats,gpu_rate,gpu_dgx1,peers,nccl"};

/// Within ten seconds.
template <typename Condition> bool comes(const Condition& condition) {
  for (int i = 0; i < 2000 && !condition(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  return condition();
}

bool is_gone(int process) {
  std::error_code ignored;
  const std::string stat = "/proc/" + std::to_string(process) + "/stat";
  return ::kill(process, 0) != 0 || !fs::exists(stat, ignored) || has(read_file(stat), ") Z");
}

} // namespace

TEST_CASE("GPU day: its table has all that a step must say, and half an hour") {
  int all = 0;
  std::set<std::string_view> names;
  for (const BenchmarkStep& step : benchmark_steps()) {
    INFO(step.name);
    CHECK(names.insert(step.name).second);
    CHECK(step.limit_seconds > 0);
    CHECK(step.limit_seconds <= 300);
    all += step.limit_seconds;
    for (const std::string_view text : {step.does, step.expected, step.otherwise}) {
      CHECK_FALSE(text.empty());
      CHECK_FALSE(text.ends_with('.')); // sentences are made of it
    }
    for (const FigureRange& range : step.figures) CHECK(range.least < range.most);
  }
  CHECK(all <= 1800);
}

TEST_CASE("GPU day: its experiment has a case for each step that runs some, and all have a step") {
  const std::string experiment =
      read_file(std::string(TUTTI_SOURCE_DIR) + "/experiments/runtime/gpu_day.toml");
  std::vector<std::string> labels{"gpu_rate: 1 instances", "gpu_dgx1: All-Gather"}; // included
  for (const char* file : {"\"gpu_rate\"", "\"gpu_dgx1\""}) CHECK(has(experiment, file));
  const std::string begin = "\nlabel = \"";
  for (std::size_t at = 0; (at = experiment.find(begin, at)) != experiment.npos;) {
    at += begin.size();
    labels.push_back(experiment.substr(at, experiment.find('"', at) - at));
  }
  CHECK(labels.size() > 10);
  for (const std::string& label : labels) {
    INFO(label);
    CHECK(std::ranges::count_if(benchmark_steps(), [&](const BenchmarkStep& step) {
            return !step.cases.empty() && label.starts_with(step.cases);
          }) == 1);
    CHECK(label.starts_with("peers: ") == peer_case(label).has_value());
  }
  for (const BenchmarkStep& step : benchmark_steps())
    CHECK((step.cases.empty() || std::ranges::any_of(labels, [&](const std::string& label) {
             return label.starts_with(step.cases);
           })));
}

TEST_CASE("GPU day: played from beginning to end, and a second time without measuring again") {
  Workbench bench;
  const Played day = bench.play(quick_steps);
  INFO(day.said);
  CHECK(day.code == 0);
  const Pack pack = load_pack(bench.pack());
  const Rows rows = bench.rows();
  CHECK(rows.pack.digest == pack.name().digest);
  for (const std::string& file : pack.files()) {
    INFO(file);
    const RunRow* run = rows.run(pack.checksum(file));
    REQUIRE(run != nullptr);
    CHECK(run->outcome == RunOutcome::done);
    CHECK(run->execution.check.checked > 0);
    CHECK(run->execution.check.wrong == 0);
  }
  for (const char* figure : {"driver", "gpus", "peers", "tick", "nccl all_gather, 4 GPUs, 8192 B",
                             "nccl all_reduce, 2 GPUs, 8192 B"}) {
    INFO(figure);
    REQUIRE(rows.figure(figure) != nullptr);
    CHECK(rows.figure(figure)->value > 0);
  }
  CHECK(rows.figure("gpus")->value == 4);
  CHECK(rows.figure("nccl all_reduce, 2 GPUs, 8192 B")->device == "2 x fake GPU, libnccl 2.27.3");
  const std::string report = bench.report();
  for (const BenchmarkStep& step : benchmark_steps()) {
    CHECK(has(report, step.expected.data()));
    CHECK(has(report, step.otherwise.data()));
  }
  CHECK(has(report, "## exec beside NCCL"));
  CHECK(count(report, "predicted 20 us (") == 1);
  CHECK(count(report, "| peers: all_gather, 4 GPUs, ring, 8 KiB |") == 1);

  auto before = bench.files();
  // What is still to be done fails now at once; what is done isn't touched.
  bench.install("compute-sanitizer", "exit 0\n");
  bench.gpus_ = "driver=11040";
  const Played again = bench.play();
  INFO(again.said);
  CHECK(again.code == 1);
  CHECK(has(again.said, "failed: micro, tests\n"));
  CHECK(count(again.said, "done before") == 8);
  const auto after = bench.files();
  before.erase("measured.csv");
  before.erase("report.md");
  for (const auto& [name, text] : before) CHECK(after.at(name) == text);
  const Rows all = bench.rows();
  for (const GpuTest& test : gpu_tests()) {
    INFO(test.name);
    REQUIRE(all.test(test.name) != nullptr);
    CHECK(all.test(test.name)->outcome == TestOutcome::failed);
    CHECK(has(all.test(test.name)->words, "its driver knows CUDA 11.4"));
  }
}

TEST_CASE("GPU day: the tests and what operations take", "[slow]") {
  Workbench bench;
  const Played day = bench.play({"--step", "driver,micro,tests,memcheck"});
  INFO(day.said);
  const Rows rows = bench.rows();
  for (const char* figure : {"block_copy", "copy_rate", "signal", "signal_peers", "launch"}) {
    INFO(figure);
    REQUIRE(rows.figure(figure) != nullptr);
    CHECK(rows.figure(figure)->value > 0);
  }
  CHECK(has(day.said, "unexpected: block_copy is ")); // of threads
  CHECK(has(bench.report(), "unexpected: block_copy is "));
  CHECK(rows.tests.size() > gpu_tests().size());
  for (const TestRow& test : rows.tests) {
    INFO(test.name << ": " << test.words);
    // What no thread of a CPU can keep to.
    if (test.name != "emulated_pace" && test.name != "copy_rate")
      CHECK(test.outcome == TestOutcome::passed);
  }
}

TEST_CASE("GPU day: one GPU, no sanitizer's finding, no NCCL: what can't be done is left out") {
  Workbench bench("gpus=1");
  bench.nccl = TUTTI_NO_NCCL; // a library without functions
  const Played day = bench.play({"--step", "driver,peers,nccl"});
  INFO(day.said);
  CHECK(day.code == 0);
  CHECK(has(bench.report(), "left out: no two GPUs reach each other's memory here"));
  CHECK(has(bench.report(), "left out: no NCCL: libnccl.so.2 has no nccl"));

  // nccl-tests in its place, for one of the two collectives.
  bench.install("all_gather_perf", "echo \"$@\" > " + bench.file("arguments") +
                                       "\necho '# size count type redop root time algbw'\n"
                                       "echo '8192 1024 float none -1 12.5 0.7'\n");
  const Played second = bench.play({"--step", "nccl"});
  INFO(second.said);
  CHECK(second.code == 0);
  CHECK(read_file(bench.file("arguments")) == "-b 8192 -e 8192 -f 2 -g 1\n");
  const Rows rows = bench.rows();
  const FigureRow* figure = rows.figure("nccl all_gather, 1 GPUs, 8192 B");
  REQUIRE(figure != nullptr);
  CHECK(figure->value == Approx(12.5e-6));
  CHECK(has(second.said, "done: in"));
  CHECK(has(bench.report(), "no all_reduce_perf on PATH"));
  CHECK(has(bench.report(), "NCCL's only rank copies"));
}

TEST_CASE("GPU day: a driver that is too old ends it at the first step, in words") {
  Workbench bench("gpus=1,driver=11040");
  const Played day = bench.play();
  INFO(day.said);
  CHECK(day.code == 1);
  CHECK(has(day.said, "its driver knows CUDA 11.4, this build needs 13.0"));
  CHECK(has(day.said, "failed: driver\n"));
  CHECK(count(day.said, "not tried") == static_cast<int>(benchmark_steps().size()) - 1);
  CHECK(has(bench.report(), "its driver knows CUDA 11.4"));
  // A newer driver: the same command does what is still to be done.
  bench.gpus_ = "gpus=1";
  CHECK(bench.play({"--step", "driver"}).code == 0);
  CHECK(bench.rows().figure("driver") != nullptr);
}

TEST_CASE("GPU day: a hang ends its step with its waits, and the others go on") {
  Workbench bench;
  day_pack({.hangs = true}).write(bench.pack());
  const Played day = bench.play(quick_steps);
  INFO(day.said);
  CHECK(day.code == 1);
  CHECK(has(day.said, "hung: the run hangs: rank 1, block 0, step 0"));
  CHECK(has(day.said, "failed: gpu_rate\n"));
  const Pack pack = load_pack(bench.pack());
  const Rows rows = bench.rows();
  std::map<std::string, RunOutcome> outcomes;
  for (const PackLine& line : pack.lines())
    if (const RunRow* run = rows.run(line.checksum)) outcomes[line.case_label] = run->outcome;
  CHECK(outcomes.at("gpu_rate: 1 instances") == RunOutcome::hung);
  CHECK(outcomes.at("gpu_dgx1: All-Gather") == RunOutcome::done);
  CHECK(outcomes.at("peers: all_reduce, 4 GPUs") == RunOutcome::done);
}

TEST_CASE("GPU day: a call that never returns ends its process, nothing else") {
  // Each process gets as far as its 40th call.
  Workbench bench("gpus=2,hanging_call=40");
  const Played day = bench.play({"--step", "gpu_rate,repeats", "--limit=800ms"});
  INFO(day.said);
  CHECK(day.code == 1);
  CHECK(has(day.said, "failed: repeats, gpu_rate\n"));
  CHECK(count(day.said, " cut off at the limit: wasn't done after ") == 2);
  CHECK_FALSE(has(day.said, "hung"));
  const Rows rows = bench.rows();
  REQUIRE(rows.runs.size() == 2);
  for (const RunRow& run : rows.runs) {
    CHECK(run.outcome == RunOutcome::cut_off);
    CHECK(has(run.words, "its last words: "));
  }
}

TEST_CASE("GPU day: a kernel that can't be stopped ends its process, with its waits in the row") {
  Workbench bench("gpus=1,never_ends=1");
  day_pack({.watchdog_seconds = 0.3}).write(bench.pack());
  const Played day = bench.play({"--step", "repeats"});
  INFO(day.said);
  CHECK(day.code == 1);
  const Rows rows = bench.rows();
  REQUIRE(rows.runs.size() == 1);
  CHECK(rows.runs[0].outcome == RunOutcome::hung);
  CHECK(has(rows.runs[0].words, "GPU 0 doesn't end its kernel, though told to stop"));
}

TEST_CASE("GPU day: whichever call fails, there are rows that say so") {
  int failed = 0;
  for (const bool stays_broken : {false, true})
    for (int call = 1; call < 120; call += stays_broken ? 23 : 11) {
      Workbench bench("gpus=2,failing_call=" + std::to_string(call) +
                      ",stays_broken=" + std::to_string(stays_broken));
      const Played day = bench.play({"--step", "repeats,gpu_dgx1"});
      INFO(bench.gpus_ << "\n" << day.said);
      const Rows rows = bench.rows();
      bool well = true;
      for (const RunRow& run : rows.runs)
        well = well && run.outcome != RunOutcome::hung && run.outcome != RunOutcome::failed &&
               run.execution.check.wrong == 0;
      CHECK(rows.runs.size() == 2);
      CHECK(day.code == (well ? 0 : 1));
      CHECK(has(day.said, "failed: ") == !well);
      for (const RunRow& run : rows.runs)
        CHECK(run.words.empty() == (run.outcome == RunOutcome::done));
      if (!well) ++failed;
    }
  CHECK(failed > 5);
}

TEST_CASE("GPU day: too little memory is a row that says so") {
  Workbench bench("gpus=1,memory=20000");
  const Played day = bench.play({"--step", "large,repeats"});
  INFO(day.said);
  CHECK(day.code == 0);
  const Rows rows = bench.rows();
  REQUIRE(rows.runs.size() == 2);
  for (const RunRow& run : rows.runs) {
    CHECK(run.outcome == RunOutcome::refused);
    CHECK(has(run.words, "memory"));
  }
  CHECK(has(bench.report(), "refused"));
  CHECK(count(day.said, "left out: ") == 2); // and so tried again where there is more
}

TEST_CASE("GPU day: what no step runs is named at once") {
  const Workbench bench;
  PackBuilder builder("gpu_day");
  builder.add("mine", "ring", Bytes{4096}, packed(ring_program(3, CollectiveKind::all_gather)));
  builder.write(bench.pack());
  const Played day = bench.play({"--step", "driver"});
  INFO(day.said);
  CHECK(day.code == 0);
  CHECK(has(day.said, "no step runs \"mine\""));
}

TEST_CASE("GPU day: crashes and findings under the sanitizer are in the rows of their tests") {
  Workbench bench;
  bench.install("compute-sanitizer", "case \"$*\" in\n"
                                     "*' test all_to_all') echo broken; kill -SEGV $$;;\n"
                                     "*' test broadcast') echo Invalid __global__ read; exit 9;;\n"
                                     "esac\n");
  const Played day = bench.play({"--step", "memcheck"});
  INFO(day.said);
  CHECK(day.code == 1);
  CHECK(has(day.said, "; and 1 more"));
  const Rows rows = bench.rows();
  std::map<std::string, std::string> wrong;
  for (const TestRow& test : rows.tests) {
    if (test.outcome != TestOutcome::passed) wrong[test.name] = test.words;
    if (test.outcome != TestOutcome::passed) CHECK(test.outcome == TestOutcome::failed);
  }
  CHECK(rows.tests.size() > 2);
  CHECK(wrong ==
        std::map<std::string, std::string>{
            {"memcheck: all_to_all",
             "was killed by signal 11 (Segmentation fault); its last words: broken"},
            {"memcheck: broadcast", "ended with code 9; its last words: Invalid __global__ read"}});
}

TEST_CASE("GPU day: Ctrl-C ends what runs; earlier results stay, and the same command goes on") {
  for (const int signal : {SIGINT, SIGTERM, SIGKILL}) {
    const bool is_killed = signal == SIGKILL;
    Workbench bench;
    bench.install("compute-sanitizer", "echo the first; exit 0\n");
    REQUIRE(bench.play({"--step", "driver,memcheck"}).code == 0);
    const auto before = bench.files();
    CHECK(has(before.at("05_memcheck.txt"), "the first"));
    const std::string mark = bench.file("mark");
    bench.install("compute-sanitizer", "echo the second; echo $$ > " + mark + ".new; mv " + mark +
                                           ".new " + mark + "; exec sleep 60\n");
    const int day = bench.start({"--step", "memcheck,synccheck"});
    REQUIRE(comes([&] { return fs::exists(mark); }));
    (void)::kill(day, signal);
    const Played ended = bench.end(day);
    INFO(ended.said);
    CHECK(comes([&] { return is_gone(std::stoi(read_file(mark))); }));
    CHECK(ended.code == (is_killed ? 128 + SIGKILL : 130));
    auto after = bench.files();
    for (const char* file : {"01_driver.csv", "05_memcheck.csv", "05_memcheck.txt"})
      CHECK(after.at(file) == before.at(file));
    CHECK_FALSE(after.contains("06_synccheck.csv"));
    if (!is_killed) {
      CHECK(has(ended.said, "interrupted: this step's results are discarded"));
      CHECK(has(ended.said, "without --step goes on with them"));
      CHECK(bench.rows().figure("gpus") != nullptr);
      CHECK_FALSE(bench.rows().tests.empty());
      CHECK(has(bench.report(), "still to be done"));
    }
    bench.install("compute-sanitizer", "echo the third; exit 0\n");
    const Played again = bench.play({"--step", "memcheck,synccheck"});
    INFO(again.said);
    CHECK(again.code == 0);
    after = bench.files();
    CHECK(after.at("01_driver.csv") == before.at("01_driver.csv"));
    CHECK(has(after.at("05_memcheck.txt"), "the third"));
    CHECK(has(after.at("06_synccheck.txt"), "the third"));
    CHECK_FALSE(after.contains("05_memcheck.csv.part"));
    CHECK(bench.rows().test("synccheck: all_gather") != nullptr);
  }
}

TEST_CASE("GPU day: files that can't be written fail their step by name, and the others go on") {
  for (const std::string obstacle :
       {"08_repeats.csv", "08_repeats.csv.part", "08_repeats.txt", "08_repeats.txt.part"}) {
    const Workbench bench("gpus=1");
    write_file(bench.out(obstacle + "/inside"), "");
    const Played day = bench.play({"--step", "driver,repeats,gpu_rate"});
    INFO(obstacle << "\n" << day.said);
    CHECK(day.code == 1);
    CHECK(has(day.said, "failed: " + bench.out(obstacle) + ": cannot write: "));
    CHECK(has(day.said, "failed: repeats\n"));
    const Rows rows = bench.rows();
    CHECK(rows.figure("gpus") != nullptr);
    CHECK(rows.runs.size() == 1);
    CHECK(has(bench.report(), bench.out(obstacle)));
    // The obstacle gone, only that step is still to be done.
    fs::remove_all(bench.out(obstacle));
    const Played again = bench.play({"--step", "repeats"});
    INFO(again.said);
    CHECK(again.code == 0);
    CHECK(bench.rows().runs.size() == 2);
  }
  for (const std::string result : {"report.md", "measured.csv"}) {
    const Workbench bench("gpus=1");
    write_file(bench.out(result + "/inside"), "");
    const Played day = bench.play({"--step", "driver"});
    INFO(day.said);
    CHECK(day.code == 2);
    CHECK(has(day.said, "error: " + bench.out(result) + ": cannot write: Is a directory"));
    CHECK(fs::is_regular_file(bench.out(result == "report.md" ? "measured.csv" : "report.md")));
  }
  const Workbench bench("gpus=1");
  write_file(bench.out(), "a file");
  const Played day = bench.play();
  CHECK(day.code == 2);
  CHECK(has(day.said, bench.out() + ": no folder can be made there: "));
  fs::remove(bench.out());
  fs::create_directories(bench.out(".lock"));
  CHECK(has(bench.play().said, bench.out(".lock") + ": cannot write: Is a directory"));
}

TEST_CASE("GPU day: rows that are damaged, or cut off don't count") {
  const Workbench bench("gpus=1");
  REQUIRE(bench.play({"--step", "driver,repeats"}).code == 0);
  const std::string file = bench.out("01_driver.csv"), good = read_file(file);
  // A step that starts no process here.
  const auto check_not_counted = [&](const std::string& text) {
    write_file(file, text);
    const Played day = bench.play({"--step", "peers"});
    INFO(day.said);
    CHECK(day.code == 0);
    CHECK(has(day.said, ": ignored\n"));
    CHECK(has(day.said, file));
    CHECK(bench.rows().figure("gpus") == nullptr);
  };
  for (std::size_t at = 0; at < good.size(); at += 41) { // any byte
    std::string text = good;
    text[at] = static_cast<char>(text[at] ^ 1);
    check_not_counted(text);
  }
  check_not_counted(good.substr(0, good.size() / 2));
  check_not_counted(good.substr(0, good.rfind("note,"))); // which says how it ended
  check_not_counted("");
  write_file(file, good);
  CHECK(bench.play({"--step", "peers"}).code == 0);
  CHECK(bench.rows().figure("gpus") != nullptr);
}

TEST_CASE("GPU day: a folder of another pack is refused, and nothing in it is replaced") {
  const Workbench bench("gpus=1");
  REQUIRE(bench.play({"--step", "repeats"}).code == 0);
  const std::string first = to_text(load_pack(bench.pack()).name());
  const auto before = bench.files();
  // The same runs under other labels are another pack, too.
  for (const PackBuilder& other : {day_pack({.repeats = 21}), day_pack({.note = "other"})}) {
    other.write(bench.pack());
    const Played day = bench.play({"--step", "driver"});
    INFO(day.said);
    CHECK(day.code == 2);
    CHECK(has(day.said, "belongs to the pack " + first + ", not to " +
                            to_text(load_pack(bench.pack()).name()) + ": name another folder"));
    CHECK(bench.files() == before);
  }
  // What is damaged behind its first line is still the other's, and so is measured.csv.
  write_file(bench.out("08_repeats.csv"), before.at("08_repeats.csv") + "damaged\n");
  fs::remove(bench.out("measured.csv"));
  CHECK(has(bench.play({"--step", "repeats"}).said, "08_repeats.csv belongs to the pack"));
  fs::remove(bench.out("08_repeats.csv"));
  write_file(bench.out("measured.csv"), before.at("measured.csv"));
  CHECK(has(bench.play({"--step", "repeats"}).said, "measured.csv belongs to the pack"));
  CHECK(read_file(bench.out("measured.csv")) == before.at("measured.csv"));
}

TEST_CASE("GPU day: input that can't be used is refused before anything is run") {
  const Workbench bench;
  const auto check_refused = [&](const std::vector<std::string>& options, const std::string& why) {
    const Played day = bench.play(options);
    INFO(day.said);
    CHECK(day.code == 2);
    CHECK(has(day.said, why));
    CHECK_FALSE(fs::exists(bench.out("01_driver.csv")));
  };
  check_refused({"--step", "drivers"}, "unknown step \"drivers\" (known: driver, micro,");
  check_refused({"--step", ""}, "unknown step \"\"");
  check_refused({"--step", "driver,"}, "unknown step \"\"");
  check_refused({"--limit", "0s"}, "--limit: \"0s\" is no time");
  check_refused({"--limit", "5x"}, "--limit: \"5x\" has an unknown unit \"x\" (known: ps,");
  check_refused({"--limit", "5"}, "--limit: \"5\" has no unit");
  check_refused({"--nothing"}, "--nothing");
  check_refused({"--again=yes"}, "--again takes no value");
  check_refused({"another"}, "another");
  Workbench within;
  fs::create_directory_symlink(within.pack(), within.out());
  CHECK(has(within.play().said, within.out() + " is within the pack"));
  const std::string run = bench.pack() + "/3_gib_of_uint8/ring_4096.run";
  for (const std::string& file : {run, bench.pack() + "/pack.csv"}) {
    const std::string whole = read_file(file);
    std::string text = whole;
    text[text.size() / 2] = static_cast<char>(text[text.size() / 2] ^ 4);
    for (const std::string& damaged : {std::string(), text.substr(0, text.size() / 2), text}) {
      write_file(file, damaged);
      check_refused({}, "gpu_day: " + file.substr(bench.pack().size() + 1));
    }
    write_file(file, whole);
  }
}

TEST_CASE("GPU day: two don't work in one folder") {
  const Workbench bench;
  const std::string mark = bench.file("mark");
  bench.install("compute-sanitizer", "touch " + mark + "; exec sleep 60\n");
  const int first = bench.start({"--step", "memcheck"});
  REQUIRE(comes([&] { return fs::exists(mark); }));
  const Played second = bench.play();
  CHECK(second.code == 2);
  CHECK(has(second.said, "another GPU day is at work there"));
  (void)::kill(first, SIGINT);
  CHECK(bench.end(first).code == 130);
}

} // namespace benchmark_run_test
