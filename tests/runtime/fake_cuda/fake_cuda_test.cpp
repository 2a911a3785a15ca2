// The CUDA executor where calls fail, kernels don't start or end, and memory is short.
#include "algorithms/list.hpp"
#include "runtime/executor.hpp"
#include "runtime/lowering/lowering.hpp"
#include "sim/error.hpp"
#include "tests/catch.hpp"
#include "tests/ending_of.hpp"
#include "tests/message_of.hpp"
#include "tests/runtime/fake_cuda/fake_cuda.hpp"
#include "topologies/list.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <string>

using namespace tutti;
using namespace tutti::runtime;
using fake_cuda::FakeGpus;
using fake_cuda::Left;
using fake_cuda::Settings;

namespace {

using Clock = std::chrono::steady_clock;

/// Each shard has 4 KiB.
Program program_of(const std::string& algorithm, const Topology& topology, CollectiveKind kind) {
  const auto row = std::ranges::find(baseline_algorithms(), algorithm, &AlgorithmRow::name);
  REQUIRE(row != baseline_algorithms().end());
  const Bytes size{4096 * std::int64_t{topology.npu_count()}};
  const Collective collective =
      make_collective(topology, {kind, size, {}, has_root(kind) ? 1U : 0U, row->chunk_multiple});
  const Outcome outcome = synthesize(*row, topology, collective, {});
  REQUIRE(outcome.schedule);
  return lower(topology, collective, *outcome.schedule);
}

Program ring_program(std::uint32_t ranks, CollectiveKind kind = CollectiveKind::all_reduce) {
  return program_of("ring1", make_topology("ring:" + std::to_string(ranks)), kind);
}

ExecutionRequest request_of(const Program& program, double watchdog_seconds = 20) {
  ExecutionRequest request;
  request.size = program.collective.size();
  request.warmups = 0;
  request.repetitions = 1;
  request.watchdog_seconds = watchdog_seconds;
  return request;
}

/// A ring in which rank 1's first step waits for a later one of its block.
Program hung_program(std::uint32_t ranks) {
  Program program = ring_program(ranks, CollectiveKind::all_gather);
  program.ranks[1].blocks[0].steps[0].after = StepAt{0, 1};
  return program;
}

bool all_well(const Execution& execution) {
  return execution.check.checked > 0 && execution.check.wrong == 0;
}

/// What an exception says; empty where there is none.
template <typename Body> std::string words_of(const Body& body) {
  try {
    body();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

/// The first call that is for this, by the words with which it fails.
std::uint64_t call_for(const std::string& doing, const Program& program,
                       const ExecutionRequest& request) {
  Settings failing;
  std::string words;
  while (words.find(doing) == std::string::npos) {
    REQUIRE(++failing.failing_call < 10'000);
    const FakeGpus machine(failing);
    words = words_of([&] { (void)run_on_cuda(program, request); });
  }
  return failing.failing_call;
}

/// An environment variable, for the scope.
class Variable {
public:
  Variable(const char* name, const char* value) : name_(name) { (void)setenv(name, value, 1); }
  ~Variable() { (void)unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

private:
  const char* name_;
};

} // namespace

TEST_CASE("the CUDA executor moves the right data and gives everything back") {
  for (const int gpus : {1, 3, 4})
    for (const bool copies : {false, true})
      for (const ElementType type : {ElementType::float32, ElementType::uint8})
        for (const CollectiveKind kind : {CollectiveKind::all_reduce, CollectiveKind::all_gather}) {
          Settings settings;
          settings.gpus = gpus;
          const FakeGpus machine(settings);
          const Program program = ring_program(3, kind);
          ExecutionRequest request = request_of(program);
          request.copy_per_step = copies;
          request.type = type;
          request.repetitions = 2;
          const Execution execution = run_on_cuda(program, request);
          CHECK(all_well(execution));
          CHECK(execution.seconds.size() == 2);
          CHECK(execution.median_seconds() > 0);
          CHECK(execution.device == (gpus < 3 ? "fake GPU" : "3 x fake GPU"));
          CHECK(machine.left() == Left{});
          CHECK_FALSE(machine.freed_under_kernel());
        }
}

TEST_CASE("GPUs without blocks don't keep the others from meeting") {
  Settings settings;
  settings.gpus = 4;
  const FakeGpus machine(settings);
  Program program = ring_program(4, CollectiveKind::broadcast);
  for (RankProgram& rank : program.ranks) rank.blocks.clear();
  program.ranks[1].blocks = {{3U, std::nullopt, 0, {{StepKind::send, {}, {}, 1, {}}}}};
  program.ranks[3].blocks = {{std::nullopt, 1U, 0, {{StepKind::receive, {}, {}, 1, {}}}}};
  program.ranks[3].blocks[0].steps[0].target.buffer = Buffer::output;
  const Execution execution = run_on_cuda(program, request_of(program));
  // Rank 3 has it; nobody else gets it, nor does the root copy it.
  CHECK(execution.check.wrong * 4 == execution.check.checked * 3);
  CHECK(machine.left() == Left{});
}

TEST_CASE("whichever call fails, and how: words, and nothing is left or freed under a kernel") {
  const Program program = ring_program(2);
  std::uint64_t refused = 0;
  const auto check_failures = [&](Settings settings, bool copies) {
    ExecutionRequest request = request_of(program);
    request.copy_per_step = copies;
    for (settings.failing_call = 1;; ++settings.failing_call) {
      const FakeGpus machine(settings);
      INFO("call " << settings.failing_call << " on " << settings.gpus << " GPUs"
                   << (settings.stays_broken ? ", for ever" : "") << (copies ? ", copies" : ""));
      bool right = false;
      const std::string words = words_of([&] { right = all_well(run_on_cuda(program, request)); });
      REQUIRE(right == words.empty());
      REQUIRE(machine.left() == Left{});
      REQUIRE_FALSE(machine.freed_under_kernel());
      if (!words.empty()) ++refused;
      if (machine.calls() < settings.failing_call) break;
    }
  };
  for (const int gpus : {1, 2})
    for (const bool copies : {false, true})
      for (const bool broken : {false, true}) {
        Settings settings;
        settings.gpus = gpus;
        settings.stays_broken = broken;
        settings.error = broken ? cudaErrorUnknown : cudaErrorMemoryAllocation;
        check_failures(settings, copies);
      }
  CHECK(refused > 500);
}

TEST_CASE("launches are not in the measurement") {
  Settings settings;
  settings.gpus = 3;
  settings.start_delay = std::chrono::milliseconds(100);
  const FakeGpus machine(settings);
  const Program program = ring_program(3);
  const auto begin = Clock::now();
  const Execution execution = run_on_cuda(program, request_of(program));
  const std::chrono::duration<double> all = Clock::now() - begin;
  CHECK(all.count() - execution.median_seconds() >= 0.2);
}

TEST_CASE("a GPU that never starts is named, and hangs nobody beyond the watchdog") {
  for (const int late : {0, 1}) {
    Settings settings;
    settings.gpus = 2;
    settings.never_starts = late;
    const FakeGpus machine(settings);
    const Program program = ring_program(2);
    const std::string words =
        words_of([&] { (void)run_on_cuda(program, request_of(program, 0.05)); });
    CHECK_THAT(words, ContainsSubstring("blocks on GPU " + std::to_string(late) + " 0 started"));
    CHECK(machine.left() == Left{});
    CHECK_FALSE(machine.freed_under_kernel());
  }
}

TEST_CASE("a program that hangs is ended, and says where") {
  for (const int gpus : {1, 3}) {
    Settings settings;
    settings.gpus = gpus;
    const FakeGpus machine(settings);
    const Program program = hung_program(3);
    CHECK_THROWS_AS(run_on_cuda(program, request_of(program, 0.05)), HungRun);
    CHECK_THAT(words_of([&] { (void)run_on_cuda(program, request_of(program, 0.05)); }),
               ContainsSubstring("rank 1, block 0, step 0"));
    CHECK(machine.left() == Left{});
    CHECK_FALSE(machine.freed_under_kernel());
  }
}

TEST_CASE("whichever call fails while a hung run is ended, its kernels have ended before frees") {
  const Program program = hung_program(2);
  const auto run = [&](const Settings& settings) {
    const FakeGpus machine(settings);
    CHECK_FALSE(words_of([&] { (void)run_on_cuda(program, request_of(program, 0.005)); }).empty());
    CHECK(machine.left() == Left{});
    CHECK_FALSE(machine.freed_under_kernel());
    return machine.calls() - machine.releases();
  };
  for (const int gpus : {1, 2}) {
    Settings settings;
    settings.gpus = gpus;
    settings.stop_delay = std::chrono::milliseconds(20);
    settings.failures = 2; // the second, perhaps, of asking whether the kernels have ended
    const std::uint64_t last = run(settings);
    for (settings.failing_call = last - 12; settings.failing_call <= last; ++settings.failing_call)
      run(settings);
  }
}

TEST_CASE("a kernel that doesn't heed the stop flag ends the process, with the waits") {
  const Program program = hung_program(2), sound = ring_program(2);
  Settings settings;
  settings.never_ends = true;
  const Ending hung = ending_of([&] {
    const FakeGpus machine(settings);
    (void)run_on_cuda(program, request_of(program, 0.2));
  });
  CHECK(hung.code == EXIT_FAILURE);
  CHECK_THAT(hung.words, ContainsSubstring("error: GPU 0 doesn't end its kernel") &&
                             ContainsSubstring("rank 1, block 0, step 0"));
  CHECK(hung.seconds >= 1.2); // both deadlines
  const Ending silent = ending_of([&] {
    const FakeGpus machine(settings);
    (void)run_on_cuda(sound, request_of(sound, 0.05));
  });
  CHECK(silent.code == EXIT_FAILURE);
  CHECK_THAT(silent.words, ContainsSubstring("no step says that it waits"));
}

TEST_CASE("a call that never returns while kernels may run ends the process") {
  const Program program = hung_program(2);
  const ExecutionRequest request = request_of(program, 0.05);
  const std::uint64_t launch = call_for("starting the persistent kernel", program, request);
  Settings settings;
  for (const std::uint64_t after :
       {2U, 3U}) { // at the first deadline: a look, and to end it or not
    settings.hanging_call = launch + after;
    const Ending hung = ending_of([&] {
      const FakeGpus machine(settings);
      (void)run_on_cuda(program, request);
    });
    CHECK(hung.code == EXIT_FAILURE);
    CHECK_THAT(hung.words, ContainsSubstring("error: a call to CUDA doesn't return"));
  }
}

TEST_CASE("copies that don't end end the process, with the blocks that haven't") {
  const Program program = ring_program(3);
  ExecutionRequest request = request_of(program, 0.2);
  request.copy_per_step = true;
  Settings settings;
  settings.never_ends = true;
  for (settings.gpus = 1; settings.gpus <= 3; settings.gpus += 2) {
    const Ending hung = ending_of([&] {
      const FakeGpus machine(settings);
      (void)run_on_cuda(program, request);
    });
    CHECK(hung.code == EXIT_FAILURE);
    CHECK_THAT(hung.words,
               ContainsSubstring("error: a run by a copy for each step hangs: rank 0, "
                                 "block 0 doesn't end; rank 0, block 1 doesn't end; rank 1"));
    CHECK(hung.seconds >= 0.2);
  }
}

TEST_CASE("a call that never returns in a run by copies ends the process") {
  const Program program = ring_program(2);
  ExecutionRequest request = request_of(program, 0.05);
  request.copy_per_step = true;
  for (const char* doing : {"copying to another rank", "running a copy for each step"}) {
    Settings settings;
    settings.hanging_call = call_for(doing, program, request);
    const Ending hung = ending_of([&] {
      const FakeGpus machine(settings);
      (void)run_on_cuda(program, request);
    });
    CHECK(hung.code == EXIT_FAILURE);
    CHECK_THAT(hung.words, ContainsSubstring("error: a call to CUDA doesn't return in a run by a "
                                             "copy for each step"));
  }
}

TEST_CASE("long messages on emulated links are no hang") {
  // A message takes 51 ms, the watchdog has patience for 10.
  const Topology topology = make_topology("ring:2,bandwidth=80kB/s,latency=1ms");
  const Program program = program_of("ring1", topology, CollectiveKind::all_gather);
  const FakeGpus machine(Settings{});
  ExecutionRequest request = request_of(program, 0.01);
  request.plan.emulated = &topology;
  const Execution execution = run_on_cuda(program, request);
  CHECK(all_well(execution));
  CHECK(execution.median_seconds() >= 0.05);
  CHECK(machine.left() == Left{});
}

TEST_CASE("a program that depends on emulated links is ended, too") {
  const Topology topology = make_topology("ring:3,bandwidth=80kB/s,latency=1ms");
  const Program program = hung_program(3);
  const FakeGpus machine(Settings{});
  ExecutionRequest request = request_of(program, 0.05);
  request.plan.emulated = &topology;
  CHECK_THAT(words_of([&] { (void)run_on_cuda(program, request); }),
             ContainsSubstring("rank 1, block 0, step 0"));
  CHECK(machine.left() == Left{});
}

TEST_CASE("memory is counted for all that a GPU's ranks need") {
  for (const std::uint32_t ranks : {2U, 5U})
    for (const int gpus : {1, static_cast<int>(ranks)})
      for (const bool emulated : {false, true}) {
        const Topology topology = make_topology("ring:" + std::to_string(ranks));
        const Program program = ring_program(ranks);
        ExecutionRequest request = request_of(program);
        if (emulated) request.plan.emulated = &topology;
        Settings settings;
        settings.gpus = gpus;
        settings.memory = 4096;
        std::string words;
        {
          const FakeGpus machine(settings);
          words = message_of([&] { (void)run_on_cuda(program, request); });
          CHECK(machine.most_taken(0) == 0); // nothing was begun
          CHECK(machine.left() == Left{});
        }
        INFO(words);
        CHECK_THAT(words, ContainsSubstring("too little memory on GPU 0") &&
                              ContainsSubstring("of 4096 are 4096 free"));
        const std::string before = "together ";
        REQUIRE(words.find(before) != std::string::npos);
        const std::size_t needed = std::stoul(words.substr(words.find(before) + before.size()));
        for (const std::size_t memory : {needed, needed - 1}) {
          settings.memory = memory;
          const FakeGpus machine(settings);
          bool right = false;
          const std::string refusal =
              message_of([&] { right = all_well(run_on_cuda(program, request)); });
          CHECK(right == refusal.empty());
          CHECK(refusal.empty() == (memory == needed));
          CHECK(machine.most_taken(0) <= needed);
          if (memory == needed) CHECK(machine.most_taken(0) + 4096 > needed);
        }
      }
}

TEST_CASE("why there is no GPU that can be used") {
  Settings settings;
  settings.counting = cudaErrorInsufficientDriver;
  settings.driver = 11040;
  CHECK((FakeGpus(settings), why_no_cuda()) ==
        "no GPU that can be used: its driver knows CUDA 11.4, this build needs 13.0");
  settings.driver = 0;
  CHECK((FakeGpus(settings), why_no_cuda()) == "no GPU: no driver is installed");
  settings.counting = cudaErrorNoDevice;
  CHECK((FakeGpus(settings), why_no_cuda()) == "no GPU: no CUDA-capable device is detected");
  settings.counting = cudaErrorUnknown;
  CHECK((FakeGpus(settings), why_no_cuda()) == "no GPU that can be used: unknown error");
  settings.counting = cudaSuccess;
  CHECK((FakeGpus(settings), why_no_cuda()) == std::nullopt);
  settings.failing_call = 3; // of asking for a kernel's attributes
  settings.error = cudaErrorNoKernelImageForDevice;
  CHECK((FakeGpus(settings), why_no_cuda()) == "no GPU that this build has code for: no kernel "
                                               "image is available for execution");
  settings.gpus = 0;
  settings.failing_call = 0;
  CHECK((FakeGpus(settings), why_no_cuda()) == "no GPU: the driver knows none");
}

TEST_CASE("launches that wait for their kernels are refused before anything starts") {
  const Program program = ring_program(2);
  const FakeGpus machine(Settings{});
  {
    const Variable blocking("CUDA_LAUNCH_BLOCKING", "1");
    CHECK_THAT(message_of([&] { (void)run_on_cuda(program, request_of(program)); }),
               ContainsSubstring("CUDA_LAUNCH_BLOCKING=1") && ContainsSubstring("unset it"));
    CHECK(machine.calls() == 0);
  }
  const Variable off("CUDA_LAUNCH_BLOCKING", "0");
  CHECK(all_well(run_on_cuda(program, request_of(program))));
}

TEST_CASE("the copy rate is measured in what memory there is") {
  Settings settings;
  settings.memory = std::size_t{1} << 29;
  const FakeGpus machine(settings);
  CHECK(message_of([] { (void)device_copy_rate(); }) ==
        "too little memory on GPU 0 to measure what it copies: of 536870912 bytes 536870912 are "
        "free, 1073741824 are needed");
  CHECK(machine.left() == Left{});
}
