// The table of steps. A new one is a row here and a function that says which processes it takes.
#include "gpu/benchmark_run/steps.hpp"

#include "gpu/gpu_tests.hpp"
#include "gpu/nccl.hpp"
#include "gpu/toolkits.hpp"

#include <algorithm>
#include <cstdio>

namespace tutti::gpu {

namespace {

/// A command of this program that adds rows.
std::vector<std::string> command(const Scene& scene, std::vector<std::string> words) {
  words.insert(words.begin(), scene.program);
  words.insert(words.end(), {"--out", scene.rows_file()});
  return words;
}

Tasks driver_figures(const Scene& scene) {
  return {{{command(scene, {"ticks", "--pack", scene.pack_folder, "driver", "runtime", "gpus",
                            "peers", "compute_capability", "memory", "processors", "tick"})}}};
}

Tasks operation_figures(const Scene& scene) {
  return {{{command(scene, {"ticks", "--pack", scene.pack_folder, "block_copy", "copy_rate",
                            "signal", "launch"})}}};
}

Tasks all_tests(const Scene& scene) {
  Tasks tasks;
  for (const GpuTest& test : gpu_tests()) {
    const std::string name(test.name);
    tasks.list.push_back({command(scene, {"test", name, "--pack", scene.pack_folder}), name});
  }
  return tasks;
}

/// Small tests under the tool of compute-sanitizer that has the step's name.
Tasks sanitized(const Scene& scene) {
  const std::string sanitizer = find_compute_sanitizer(), tool(scene.step.name);
  if (sanitizer.empty())
    return {{},
            "there is no compute-sanitizer: neither on PATH nor in the folders of CUDA_HOME, "
            "CUDA_PATH and /usr/local/cuda*"};
  Tasks tasks;
  for (const GpuTest& test : gpu_tests())
    if (const std::string name(test.name); test.small)
      tasks.list.push_back({{sanitizer, "--tool", tool, "--error-exitcode", "9", "--print-limit",
                             "5", scene.program, "test", name},
                            tool + ": " + name});
  return tasks;
}

/// The step's cases, of peers no more than there are.
Tasks runs(const Scene& scene) {
  const runtime::FigureRow* peers = scene.before.figure("peers");
  std::vector<std::string> words{"run", scene.pack_folder}, files;
  const auto add = [](std::vector<std::string>& list, const std::string& name) {
    if (std::ranges::find(list, name) == list.end()) list.push_back(name);
  };
  for (const runtime::PackLine& line : scene.pack.lines()) {
    const auto shape = peer_case(line.case_label);
    if (!line.case_label.starts_with(scene.step.cases) ||
        (shape && (peers == nullptr || shape->gpus > peers->value)))
      continue;
    add(words, line.case_label);
    add(files, line.file);
  }
  if (files.empty()) return {{}, "the pack has no case for it"};
  return {{{command(scene, words), "", files}}};
}

Tasks peer_runs(const Scene& scene) {
  const runtime::FigureRow* peers = scene.before.figure("peers");
  if (peers == nullptr)
    return {{}, "how many GPUs reach each other isn't known: step driver comes first"};
  if (peers->value < 2) return {{}, "no two GPUs reach each other's memory here"};
  return runs(scene);
}

Tasks time_nccl(const Scene& scene) { return {{{command(scene, {"nccl", scene.pack_folder})}}}; }

} // namespace

std::string Scene::path() const {
  const auto number = std::ranges::find(benchmark_steps(), step.name, &BenchmarkStep::name) -
                      benchmark_steps().begin() + 1;
  return folder + (number < 10 ? "/0" : "/") + std::to_string(number) + "_" +
         std::string(step.name);
}

const std::vector<BenchmarkStep>& benchmark_steps() {
  // Name, seconds, tasks and cases; what it does, what is expected, what it means if not; figures.
  static const std::vector<BenchmarkStep> table{
      {"driver",
       60,
       driver_figures,
       "",
       "Driver, GPUs and the tick of the timer that all times are taken with",
       "a driver that knows this build's CUDA, a tick of 1 us at most (32 ns on most cards)",
       "without a driver nothing else can run: install one that is newer, or build with an older "
       "toolkit; with a coarser tick, times below a hundred ticks say little",
       {{"tick", 1e-9, 1.1e-6}}},
      {"micro",
       60,
       operation_figures,
       "",
       "What one thread block copies, how long a signal and a launch take",
       "a block copies 10 to 200 GB/s, a signal takes 0.3 to 5 us (10 between GPUs), a launch 3 to "
       "50 us",
       "slower copies: an emulated link of 25 GB/s needs more blocks, that is more `instances`; "
       "slower signals: all latencies are longer by as much, and small sizes are off; slower "
       "launches: the host is busy, but no measured time includes a launch",
       {{"block_copy", 10e9, 200e9},
        {"signal", 0.3e-6, 5e-6},
        {"signal_peers", 0.5e-6, 10e-6},
        {"launch", 3e-6, 50e-6}}},
      {"tests", 180, all_tests, "", "The GPU tests, each in a process of its own", "all pass",
       "wrong data or a hang in small programs: memory order, residency or resets; nothing after "
       "this can be trusted before it is mended"},
      {"programs", 120, runs, "test: ",
       "Programs of every baseline and collective, in one run and by copies", "no wrong element",
       "the program's kind of step, or its order: the first wrong element names rank and chunk"},
      {"memcheck", 180, sanitized, "", "compute-sanitizer memcheck over small tests", "no error",
       "a kernel reads or writes outside its arrays: the first error names kernel and address"},
      {"synccheck", 120, sanitized, "", "compute-sanitizer synccheck over small tests", "no error",
       "threads of a block part at a barrier: a branch that isn't the same for all of them"},
      {"large", 240, runs, "3 GiB of uint8",
       "3 GiB of uint8: elements beyond 2^31, offsets beyond 2^32",
       "no wrong element, or a row that says how much memory is missing",
       "an index of 32 bits somewhere: the first wrong element says from where on"},
      {"repeats", 60, runs, "1,000 repeats", "1,000 runs of one program, one after another",
       "no wrong element after the last, no hang, times that don't grow",
       "a flag that isn't reset, or a race that is rare: run it again under synccheck"},
      {"gpu_rate", 120, runs, "gpu_rate",
       "Direct All-Gather of eight ranks on one GPU, as fast as it copies",
       "70 % of the card's own copy rate with 4 instances",
       "copies are short of blocks or bytes in flight: compare with what one block copies"},
      {"gpu_dgx1", 300, runs, "gpu_dgx1", "A DGX-1 emulated on one GPU against what is simulated",
       "times within 5 % of the predicted from 1 MB on",
       "too long by a constant: signals and polls (see signal); by a factor: a block copies less "
       "than the link (see block_copy)"},
      {"peers", 180, peer_runs,
       "peers: ", "A rank for each GPU, where they reach each other's memory",
       "right data; rates near those of the links",
       "wrong data or a hang: flags or fences across GPUs; slow: copies go by the host"},
      {"nccl", 120, time_nccl, "", "NCCL's own times of the same collectives and sizes",
       "exec within a factor of two of NCCL for sizes from 1 MB on",
       "NCCL has more channels, or a protocol that needs no flags: more instances"},
  };
  return table;
}

} // namespace tutti::gpu
