// Hand-written programs (hand_programs.hpp) with every element checked, and what must be noticed:
// wrong data, a program that hangs, too many blocks, too little memory.

#include "gpu/gpu_tests.hpp"

#include "gpu/hand_programs.hpp"
#include "runtime/executor.hpp"
#include "sim/error.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

namespace tutti::gpu {

using namespace tutti::runtime;

namespace {

constexpr std::array all_types{ElementType::float32, ElementType::float64, ElementType::int32,
                               ElementType::uint8};

RunSettings settings_of(bool copies) {
  RunSettings settings;
  settings.warmups = 0;
  settings.repetitions = 2; // what the first leaves behind mustn't matter
  settings.watchdog_seconds = 20;
  settings.copy_per_step = copies;
  return settings;
}

void require(bool holds, const std::string& why) {
  if (!holds) throw TestFailed(why);
}

std::string case_text(const PlannedRun& run) {
  return std::to_string(run.data.size()) + " ranks, units of " +
         std::to_string(run.plan.unit_bytes) + " bytes, " + std::string(to_text(run.combine)) +
         " of " + std::string(to_text(run.type));
}

/// That every element is what the reference says.
void require_right(const PlannedRun& run, const RunSettings& settings) {
  const DataCheck check = run_on_cuda(run, settings).check;
  require(check.checked > 0, case_text(run) + ": no element was checked");
  if (!check.first) return;
  require(false, case_text(run) + ": " + std::to_string(check.wrong) + " of " +
                     std::to_string(check.checked) + " elements are wrong, the first at rank " +
                     std::to_string(check.first->npu) + ", chunk " +
                     std::to_string(check.first->chunk.value) + ", element " +
                     std::to_string(check.first->element) + ": " +
                     std::to_string(check.first->found) + " instead of " +
                     std::to_string(check.first->expected));
}

/// All-Gathers of sizes that vectors of 16 bytes divide, and of sizes that they don't.
void gather(bool copies) {
  for (const std::uint32_t ranks : {2U, 3U, 8U})
    for (const ElementType type : all_types)
      for (const std::size_t elements : {1U, 333U, 4096U})
        require_right(planned(ring_all_gather(ranks), elements * element_size(type), type),
                      settings_of(copies));
}
void all_gather() { gather(false); }
void all_gather_by_copies() { gather(true); }

void reduce(bool copies) {
  for (const bool in_place : {false, true})
    for (const ElementType type : all_types)
      for (const Combine combine : {Combine::sum, Combine::max})
        for (const std::size_t elements : {333U, 4096U})
          require_right(planned(ring_all_reduce(in_place ? 3 : 8, in_place),
                                elements * element_size(type), type, combine),
                        settings_of(copies));
}
void all_reduce() { reduce(false); }
void all_reduce_by_copies() { reduce(true); }

/// More messages than slots, and steps that wait for those of another block.
void broadcast() {
  for (const std::uint32_t slots : {1U, 4U})
    for (const bool copies : {false, true})
      require_right(
          planned(chain_broadcast(4, 100), 4 * 77, ElementType::float32, Combine::sum, slots),
          settings_of(copies));
}

void all_to_all() {
  for (const ElementType type : all_types)
    require_right(planned(direct_all_to_all(5), 1024 * element_size(type), type),
                  settings_of(false));
}

/// There and back: what lands in one place again and again takes slots.
void round_trips() { require_right(planned(ping_pong(2, 100), 256), settings_of(false)); }

/// A check that finds nothing would pass all tests.
void wrong_data() {
  PlannedRun run = planned(ring_all_gather(3), 4096);
  ++run.data[1].output.chunks[2].chunk; // other values than rank 2 sends
  const DataCheck check = run_on_cuda(run, settings_of(false)).check;
  require(check.wrong > 900 && check.wrong <= 1024 && check.first && check.first->npu == 1,
          "of 1024 wrong elements " + std::to_string(check.wrong) + " were found");
}

void hang() {
  Program program = ring_all_gather(4);
  program.ranks[1].blocks[0].steps[0].after = StepAt{0, 1}; // a later one of its own block
  RunSettings settings = settings_of(false);
  settings.watchdog_seconds = 0.5;
  std::string words = "nothing";
  try {
    (void)run_on_cuda(planned(program, 64), settings);
  } catch (const HungRun& hung) {
    words = hung.what();
  }
  require(words.find("rank 1, block 0, step 0") != std::string::npos,
          "a run that hangs was reported as: " + words);
  require_right(planned(ring_all_gather(4), 64), settings_of(false)); // what comes after is well
}

/// What run_on_cuda() refuses; "nothing" where it doesn't.
std::string refusal_of(const PlannedRun& run) {
  try {
    (void)run_on_cuda(run, settings_of(false));
  } catch (const InputError& error) {
    return error.what();
  }
  return "nothing";
}

void too_many_blocks() {
  Program program = ring_all_gather(4);
  Block idle;
  idle.steps.resize(1);
  program.ranks[0].blocks.insert(program.ranks[0].blocks.end(), 100'000, idle);
  const std::string words = refusal_of(planned(program, 64));
  require(words.find("can be resident at once") != std::string::npos,
          "100,000 blocks were refused with: " + words);
}

void too_little_memory() {
  const std::string words = refusal_of(planned(one_message(2), std::size_t{1} << 44));
  require(words.find("too little memory") != std::string::npos,
          "32 TiB were refused with: " + words);
}

/// 3 steps, each with a quarter of 64 MB at 25 GB/s, 0.64 ms, and a latency of 10 us.
void emulated_pace() {
  PlannedRun run = planned(ring_all_gather(4), 16'000'000);
  emulate_links(run, 10e-6, 25e9);
  RunSettings settings = settings_of(false);
  settings.warmups = 1;
  settings.repetitions = 5;
  const Execution execution = run_on_cuda(run, settings);
  const double expected = 3 * (16e6 / 25e9 + 10e-6), found = execution.median_seconds();
  require(execution.check.wrong == 0, "wrong data");
  require(std::abs(found / expected - 1) < 0.05,
          "links of 25 GB/s take " + std::to_string(found * 1e6) + " us instead of " +
              std::to_string(expected * 1e6));
}

void fast_copies() {
  const double rate = device_copy_rate();
  require(rate > 50e9, // the slowest cards with sm_80 have ten times as much
          "it copies " + std::to_string(rate * 1e-9) + " GB/s only");
}

constexpr std::array<GpuTest, 13> tests{{
    {"all_gather", "every element right, all types, odd sizes", true, all_gather},
    {"all_gather_by_copies", "the same by one copy call for each step", true, all_gather_by_copies},
    {"all_reduce", "sum and max of all types, in place too", true, all_reduce},
    {"all_reduce_by_copies", "the same by one call for each step", true, all_reduce_by_copies},
    {"broadcast", "slots are used again, steps wait for other blocks", true, broadcast},
    {"all_to_all", "45 blocks at once", true, all_to_all},
    {"round_trips", "200 messages there and back", true, round_trips},
    {"wrong_data", "the check finds elements that are wrong", true, wrong_data},
    {"hang", "the watchdog ends a run and names what waits", false, hang},
    {"too_many_blocks", "refused, as a persistent kernel would hang", true, too_many_blocks},
    {"too_little_memory", "refused before anything is reserved", true, too_little_memory},
    {"emulated_pace", "links of 25 GB/s and 10 us take 1.95 ms for 3 steps, within 5 %", false,
     emulated_pace},
    {"copy_rate", "the card copies 50 GB/s and more", false, fast_copies},
}};

} // namespace

std::span<const GpuTest> gpu_tests() { return tests; }

const GpuTest& find_gpu_test(std::string_view name) {
  std::vector<std::string> known;
  for (const GpuTest& test : tests) {
    if (test.name == name) return test;
    known.emplace_back(test.name);
  }
  throw InputError(unknown_name("GPU test", name, known));
}

} // namespace tutti::gpu
