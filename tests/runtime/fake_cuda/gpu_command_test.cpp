// tutti-gpu, its tests and its figures, where calls fail and runs were made by chance.
#include "gpu/commands.hpp"
#include "gpu/execute.hpp"
#include "gpu/hand_programs.hpp"
#include "runtime/checking/verify_program.hpp"
#include "runtime/pack/pack.hpp"
#include "runtime/pack/rows.hpp"
#include "sim/error.hpp"
#include "sim/files/files.hpp"
#include "sim/random.hpp"
#include "tests/catch.hpp"
#include "tests/message_of.hpp"
#include "tests/runtime/fake_cuda/fake_cuda.hpp"
#include "tests/temporary_folder.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <exception>
#include <set>
#include <string>

#include <sys/wait.h>

using namespace tutti;
using namespace tutti::runtime;
using fake_cuda::FakeGpus;
using fake_cuda::Left;
using fake_cuda::Settings;

namespace {

PackedRun packed_of(const Program& program, std::size_t unit_bytes) {
  PackedRun packed{gpu::planned(program, unit_bytes), {}};
  packed.settings.warmups = 0;
  packed.settings.repetitions = 1;
  packed.settings.watchdog_seconds = 0.5; // a busy machine is slow
  return packed;
}

PackBuilder some_pack() {
  PackBuilder builder("fake");
  builder.add("first", "ring", Bytes{1 << 12}, packed_of(gpu::ring_all_gather(3), 4096));
  builder.predict(Time{5'000'000});
  builder.add("large", "ring", Bytes{1 << 28}, packed_of(gpu::ring_all_gather(3), 1 << 28));
  Program hung = gpu::ring_all_gather(3);
  hung.ranks[1].blocks[0].steps[0].after = StepAt{0, 1};
  builder.add("hung", "ring", Bytes{64}, packed_of(hung, 64));
  builder.add("last", "ring", Bytes{1 << 10}, packed_of(gpu::ring_all_reduce(3, false), 1024));
  return builder;
}

struct CommandEnd {
  int code = 0;
  std::string said;
};

class Machine {
public:
  explicit Machine(std::string settings) : settings_(std::move(settings)) {
    some_pack().write(folder_.file("gpus"));
  }
  [[nodiscard]] CommandEnd run(const std::string& arguments,
                               const std::string& output = ">said 2>&1") const {
    const int status =
        std::system(("cd '" + folder_.file("") + "' && TUTTI_FAKE_GPU='" + settings_ +
                     "' '" TUTTI_GPU_FAKE "' " + arguments + " " + output)
                        .c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_file(folder_.file("said"))};
  }
  [[nodiscard]] Rows rows() const { return load_rows(folder_.file("rows.csv")); }

private:
  std::string settings_;
  TemporaryFolder folder_;
};

/// One number of the run becomes another, near or far.
void change_number(PlannedRun& run, Random& random) {
  const std::uint64_t values[] = {0, 1, 4, 7, 64, 1 << 12, 1 << 20, UINT32_MAX, UINT64_MAX - 3};
  const std::uint64_t value = values[random.below(std::size(values))];
  const auto small = static_cast<std::uint32_t>(value);
  const auto one_of = [&](auto& all) -> auto& { return all[random.below(all.size())]; };
  PlannedStep& step = one_of(run.plan.steps);
  PlannedBlock& block = one_of(run.plan.blocks);
  Connection& connection = one_of(run.plan.connections);
  RankData& data = one_of(run.data);
  switch (random.below(19)) {
  case 0: step.source = value; break;
  case 1: step.target = value; break;
  case 2: step.landing = value; break;
  case 3: step.got = value; break;
  case 4: step.bytes = value; break;
  case 5: step.kind = static_cast<StepKind>(random.below(step_kind_count)); break;
  case 6: step.takes_slot = !step.takes_slot; break;
  case 7: step.frees_slot = !step.frees_slot; break;
  case 8: step.after_block = static_cast<std::uint32_t>(random.below(3)); break;
  case 9: step.slot_messages = small; break;
  case 10: block.sends = small; break;
  case 11: block.receives = small; break;
  case 12: connection.messages = small; break;
  case 13: connection.slots = small; break;
  case 14: one_of(run.plan.arenas).size = value; break;
  case 15: one_of(data.input).first_byte = value; break;
  case 16: one_of(data.output.chunks).elements = value; break;
  case 17: one_of(data.output.chunks).first_contributor = small; break;
  default: block.steps = small; break;
  }
}

} // namespace

TEST_CASE("programs written by hand are correct") {
  std::vector<Program> programs{gpu::chain_broadcast(4, 10), gpu::ping_pong(2, 9),
                                gpu::ping_pong(5, 3), gpu::one_message(3)};
  for (const std::uint32_t ranks : {2U, 3U, 6U}) {
    programs.push_back(gpu::ring_all_gather(ranks));
    programs.push_back(gpu::direct_all_to_all(ranks));
    for (const bool in_place : {false, true})
      programs.push_back(gpu::ring_all_reduce(ranks, in_place));
  }
  for (const Program& program : programs) {
    const ProgramVerdict verdict = verify_program(program, 2); // rings hang with one slot
    INFO((verdict.fault ? verdict.fault->text : ""));
    CHECK(verdict.correct());
    CHECK(message_of([&] { require_sound(gpu::planned(program, 64)); }) == "");
  }
}

TEST_CASE("GPU tests pass, and fail where calls do") {
  std::set<std::string_view> names;
  for (const gpu::GpuTest& test : gpu::gpu_tests()) {
    CHECK(names.insert(test.name).second);
    if (!test.small) continue;
    INFO(test.name);
    Settings settings;
    {
      const FakeGpus machine(settings);
      const TestRow row = gpu::test_row(test);
      CHECK(row.outcome == TestOutcome::passed);
      CHECK(row.words == "");
      CHECK(machine.left() == Left{});
    }
    if (test.name == "too_little_memory") continue; // begins nothing that could fail
    settings.failing_call = 25;
    settings.stays_broken = true;
    const FakeGpus machine(settings);
    CHECK(gpu::test_row(test).outcome == TestOutcome::failed);
  }
  CHECK(message_of([] { (void)gpu::find_gpu_test("all_gathr"); }).find("did you mean") !=
        std::string::npos);
}

TEST_CASE("every figure has a value or doesn't apply") {
  for (const int gpus : {1, 2}) {
    Settings settings;
    settings.gpus = gpus;
    settings.memory = std::size_t{3} << 29;
    const FakeGpus machine(settings);
    for (const gpu::FigureKind& kind : gpu::figure_kinds()) {
      const bool is_of_peers = kind.name == "signal_peers";
      if (gpus == 1 && !is_of_peers) continue;
      if (kind.name == "copy_rate") continue; // takes long; has a test of its own
      INFO(kind.name);
      const auto row = gpu::figure_row(kind);
      CHECK(row.has_value() == (gpus == 2));
      if (row) CHECK(row->value > 0);
    }
    CHECK(machine.left() == Left{});
  }
}

TEST_CASE("a run that was made by chance is refused, or runs without harm") {
  const PackedRun sound = packed_of(gpu::ring_all_reduce(3, false), 256);
  Random random(11);
  std::size_t refused = 0, ran = 0;
  for (int trial = 0; trial < 300; ++trial) {
    PackedRun packed = sound;
    change_number(packed.run, random);
    if (!message_of([&] { packed = read_run(to_bytes(packed), "x.run"); }).empty()) {
      ++refused;
      continue;
    }
    if (ran == 60) continue;
    ++ran;
    packed.settings.copy_per_step = trial % 2 == 0;
    Settings settings;
    settings.memory = std::size_t{1} << 24;
    const FakeGpus machine(settings);
    try {
      (void)run_on_cuda(packed.run, packed.settings);
    } catch (const std::runtime_error&) { // no memory, or it hangs
    }
    CHECK(machine.left() == Left{});
  }
  CHECK(refused > 30);
  CHECK(ran > 30);
}

TEST_CASE("the command runs a pack until something hangs, and goes on with what is named") {
  const Machine machine("memory=134217728");
  CHECK(machine.run("list gpus").said.find("predicted 5 us") != std::string::npos);
  const CommandEnd all = machine.run("run gpus --out rows.csv");
  INFO(all.said);
  CHECK(all.code == 1);
  Rows rows = machine.rows();
  REQUIRE(rows.runs.size() == 3);
  CHECK(rows.runs[0].outcome == RunOutcome::done);
  CHECK(rows.runs[0].execution.check.wrong == 0);
  CHECK(rows.runs[1].outcome == RunOutcome::refused);
  CHECK(rows.runs[1].words.find("too little memory") != std::string::npos);
  CHECK(rows.runs[2].outcome == RunOutcome::hung);
  CHECK(rows.runs[2].words.find("rank 1, block 0, step 0") != std::string::npos);
  CHECK(machine.run("run gpus --out rows.csv last first large").code == 0);
  rows = machine.rows();
  REQUIRE(rows.runs.size() == 6);
  CHECK(rows.runs[5].file == "last/ring_1024.run");
  CHECK(machine.run("test round_trips --pack gpus --out rows.csv").code == 0);
  CHECK(machine.run("ticks tick --pack gpus --out rows.csv").code == 0);
  rows = machine.rows();
  REQUIRE(rows.test("round_trips") != nullptr);
  CHECK(rows.figure("tick")->value > 0);
}

TEST_CASE("what the command can't use it refuses in words") {
  const auto refused = [](const std::string& arguments, const std::string& words,
                          const std::string& settings = "") {
    const CommandEnd end = Machine(settings).run(arguments);
    INFO(end.said);
    CHECK(end.code == 2);
    CHECK(end.said.find("error: ") != std::string::npos);
    CHECK(end.said.find(words) != std::string::npos);
  };
  refused("rnu gpus", "did you mean \"run\"");
  refused("run", "a pack is missing");
  refused("run gpus", "--out is missing");
  refused("run gpus --out", "--out needs a value");
  refused("run gpus --out a --out b", "--out is given twice");
  refused("run gpus --uot a", "unknown option");
  refused("run nothing --out a", "nothing: no pack: there is no pack.csv in it");
  refused("run said --out a", "said: a pack is a folder: extract a tar of one first");
  refused("run gpus --out a frist", "did you mean \"first\"");
  refused("test nothing", "unknown GPU test");
  refused("test hang --out rows.csv", "--out needs --pack");
  refused("ticks nothing", "no figure's name begins like this");
  const std::string old = "its driver knows CUDA 11.4";
  refused("run gpus --out rows.csv", old, "driver=11040");
  refused("test", old, "driver=11040");
  refused("test hang", old, "driver=11040");
  refused("ticks", old, "driver=11040");
  CHECK(Machine("").run("").code == 2);
  CHECK(Machine("").run("--help").code == 0);
}

TEST_CASE("the command takes values behind =, and --help anywhere") {
  const Machine machine("");
  CHECK(machine.run("run --out=rows.csv gpus first").code == 0);
  CHECK(machine.rows().runs.size() == 1);
  CHECK(machine.run("run --out=a=b gpus first").code == 0); // a file a=b
  const CommandEnd empty = machine.run("run --out= gpus first");
  CHECK(empty.code == 2);
  for (const gpu::Command& command : gpu::commands())
    for (const std::string help : {" --help", " -h", " gpus --help"}) {
      const CommandEnd end = machine.run(std::string(command.name) + help);
      INFO(end.said);
      CHECK(end.code == 0);
      CHECK(end.said.find("tutti-gpu " + std::string(command.name)) != std::string::npos);
      for (std::size_t at = 0; (at = command.synopsis.find("--", at)) != command.synopsis.npos;) {
        const std::size_t stop = command.synopsis.find_first_of(" ]=", at); // each is explained
        const std::string option(command.synopsis.substr(at, stop - at));
        CHECK(command.options.find("      " + option + " ") != command.options.npos);
        at = std::min(stop, command.synopsis.size());
      }
    }
}

TEST_CASE("what can't be written is an error with its reason, for every command") {
  const Machine machine("gpus=1");
  for (const std::string command :
       {"--help", "list", "list gpus", "run --help", "ticks tick --pack gpus --out rows.csv",
        "run gpus --out rows.csv first", "test round_trips", "day --list",
        "day gpus --out day --step large"}) {
    const CommandEnd end = machine.run(command, "2>said >/dev/full");
    INFO(command << ": " << end.said);
    CHECK(end.code == 2);
  }
  CHECK(machine.run("list", "2>said >/dev/full").said ==
        "error: cannot write to the standard output: No space left on device\n");
  CHECK(machine.rows().figure("tick") != nullptr); // rows are on the disk all the same
  CHECK(machine.run("run gpus --out rows.csv first", "2>said >&-").code == 2);
  CHECK(machine.rows().runs.size() == 2);
  for (const std::string file :
       {"/dev/full", "/dev/full/rows.csv", "gpus/pack.csv/rows.csv", "."}) {
    const CommandEnd end = machine.run("run gpus first --out " + file);
    INFO(end.said);
    CHECK(end.code == 2);
    CHECK(end.said.find("error: " + file + ": cannot write: ") == 0);
  }
  CHECK(machine.run("run gpus first --out /dev/full").said.find("No space left") !=
        std::string::npos);
  CHECK(machine.run("run gpus first --out /dev/null").code == 0);
}

TEST_CASE("tests run in processes of their own: one that is ended ends no other") {
  const CommandEnd end =
      Machine("crashing_call=20").run("test all_to_all round_trips --pack gpus --out rows.csv");
  INFO(end.said);
  CHECK(end.code == 1);
  for (const std::string test : {"all_to_all", "round_trips"})
    CHECK(end.said.find(test + ": failed: its process ended with code 134") != std::string::npos);
}
