// The table of the day. A new step is a row here and a function that says which processes it takes.
#include "gpu/benchmark_run/steps.hpp"

#include "gpu/gpu_tests.hpp"
#include "gpu/nccl.hpp"
#include "gpu/toolkits.hpp"

#include <algorithm>
#include <initializer_list>

namespace tutti::gpu {

namespace {

Tasks figures(const Scene& scene, std::initializer_list<const char*> names) {
  Task task{{scene.program, "ticks", "--pack", scene.pack_file, "--out", scene.rows_file}, "", {}};
  task.words.insert(task.words.end(), names.begin(), names.end());
  return {{task}, ""};
}

Tasks driver_figures(const Scene& scene) {
  return figures(scene, {"driver", "runtime", "gpus", "peers", "compute_capability", "memory",
                         "processors", "tick"});
}

Tasks operation_figures(const Scene& scene) {
  return figures(scene, {"block_copy", "copy_rate", "signal", "launch"});
}

Tasks all_tests(const Scene& scene) {
  Tasks tasks;
  for (const GpuTest& test : gpu_tests()) {
    const std::string name(test.name);
    tasks.list.push_back(
        {{scene.program, "test", name, "--pack", scene.pack_file, "--out", scene.rows_file},
         name,
         {}});
  }
  return tasks;
}

Tasks sanitized(const Scene& scene, const std::string& tool) {
  const std::string sanitizer = find_compute_sanitizer();
  if (sanitizer.empty())
    return {{},
            "there is no compute-sanitizer: neither on PATH nor in the folders of CUDA_HOME, "
            "CUDA_PATH and /usr/local/cuda*"};
  const std::string prefix = tool + ": ";
  Tasks tasks;
  for (const GpuTest& test : gpu_tests())
    if (test.small) {
      const std::string name(test.name);
      tasks.list.push_back({{sanitizer, "--tool", tool, "--error-exitcode", "9", "--print-limit",
                             "5", scene.program, "test", name},
                            prefix + name,
                            {}});
    }
  return tasks;
}
Tasks memcheck(const Scene& scene) { return sanitized(scene, "memcheck"); }
Tasks synccheck(const Scene& scene) { return sanitized(scene, "synccheck"); }

/// The runs of those of the step's cases whose label `is_meant(label)`.
template <typename IsMeant> Tasks runs_of(const Scene& scene, const IsMeant& is_meant) {
  Task task{{scene.program, "run", scene.pack_file, "--out", scene.rows_file}, "", {}};
  const auto add = [](std::vector<std::string>& list, const std::string& name) {
    if (std::ranges::find(list, name) == list.end()) list.push_back(name);
  };
  for (const runtime::PackLine& line : scene.pack.lines())
    if (line.case_label.starts_with(scene.step.cases) && is_meant(line.case_label)) {
      add(task.words, line.case_label);
      add(task.files, line.file);
    }
  if (task.files.empty()) return {{}, "the pack has no case for it"};
  return {{task}, ""};
}

Tasks runs(const Scene& scene) {
  return runs_of(scene, [](const std::string&) { return true; });
}

Tasks peer_runs(const Scene& scene) {
  const runtime::FigureRow* figure = scene.before.figure("peers");
  if (figure == nullptr)
    return {{}, "how many GPUs reach each other isn't known: step driver comes first"};
  if (figure->value < 2) return {{}, "no two GPUs reach each other's memory here"};
  return runs_of(scene, [&](const std::string& label) {
    const auto shape = peer_case(label);
    return shape && shape->gpus <= figure->value;
  });
}

Tasks time_nccl(const Scene& scene) {
  return {{{{scene.program, "nccl", scene.pack_file, "--out", scene.rows_file}, "", {}}}, ""};
}

} // namespace

const std::vector<DayStep>& day_steps() {
  static const std::vector<DayStep> steps{
      {.name = "driver",
       .does = "Driver, GPUs and the tick of the timer that all times are taken with",
       .expected =
           "a driver that knows this build's CUDA, a tick of 1 us at most (32 ns on most cards)",
       .otherwise =
           "without a driver nothing else can run: install one that is newer, or build with an "
           "older toolkit; with a coarser tick, times below a hundred ticks say little",
       .limit_seconds = 60,
       .tasks = driver_figures,
       .figures = {{"tick", 1e-9, 1.1e-6}}},
      {.name = "micro",
       .does = "What one thread block copies, how long a signal and a launch take",
       .expected = "a block copies 10 to 200 GB/s, a signal takes 0.3 to 5 us (10 between GPUs), a "
                   "launch 3 to 50 us",
       .otherwise =
           "slower copies: an emulated link of 25 GB/s needs more blocks, that is more "
           "`instances`; slower signals: all latencies are longer by as much, and small sizes are "
           "off; slower launches: the host is busy, nothing that is measured has them in it",
       .limit_seconds = 60,
       .tasks = operation_figures,
       .figures = {{"block_copy", 10e9, 200e9},
                   {"signal", 0.3e-6, 5e-6},
                   {"signal_peers", 0.5e-6, 10e-6},
                   {"launch", 3e-6, 50e-6}}},
      {.name = "tests",
       .does = "The GPU tests, each in a process of its own",
       .expected = "all pass",
       .otherwise = "wrong data or a hang in small programs: memory order, residency or resets; "
                    "nothing after this can be trusted before it is mended",
       .limit_seconds = 180,
       .tasks = all_tests},
      {.name = "programs",
       .does = "Programs of every baseline and collective, in one run and by copies",
       .expected = "no wrong element",
       .otherwise = "the program's kind of step, or its order: the first wrong element names rank "
                    "and chunk",
       .limit_seconds = 120,
       .tasks = runs,
       .cases = "test: "},
      {.name = "memcheck",
       .does = "compute-sanitizer memcheck over small tests",
       .expected = "no error",
       .otherwise =
           "a kernel reads or writes outside its arrays: the first error names kernel and address",
       .limit_seconds = 180,
       .tasks = memcheck},
      {.name = "synccheck",
       .does = "compute-sanitizer synccheck over small tests",
       .expected = "no error",
       .otherwise =
           "threads of a block part at a barrier: a branch that isn't the same for all of them",
       .limit_seconds = 120,
       .tasks = synccheck},
      {.name = "large",
       .does = "3 GiB of uint8: elements beyond 2^31, offsets beyond 2^32",
       .expected = "no wrong element, or a row that says how much memory is missing",
       .otherwise = "an index of 32 bits somewhere: the first wrong element says from where on",
       .limit_seconds = 240,
       .tasks = runs,
       .cases = "3 GiB of uint8"},
      {.name = "repeats",
       .does = "1,000 runs of one program, one after another",
       .expected = "no wrong element after the last, no hang, times that don't grow",
       .otherwise = "a flag that isn't reset, or a race that is rare: run it again under synccheck",
       .limit_seconds = 60,
       .tasks = runs,
       .cases = "1,000 repeats"},
      {.name = "gpu_rate",
       .does = "Direct All-Gather of eight ranks on one GPU, as fast as it copies",
       .expected = "70 % of the card's own copy rate with 4 instances",
       .otherwise =
           "copies are short of blocks or bytes in flight: compare with what one block copies",
       .limit_seconds = 120,
       .tasks = runs,
       .cases = "gpu_rate"},
      {.name = "gpu_dgx1",
       .does = "A DGX-1 emulated on one GPU against what is simulated",
       .expected = "times within 5 % of the predicted from 1 MB on",
       .otherwise = "too long by a constant: signals and polls (see signal); by a factor: a block "
                    "copies less than the link (see block_copy)",
       .limit_seconds = 300,
       .tasks = runs,
       .cases = "gpu_dgx1"},
      {.name = "peers",
       .does = "A rank for each GPU, where they reach each other's memory",
       .expected = "right data; rates near those of the links",
       .otherwise =
           "wrong data or a hang: flags or fences across GPUs; slow: copies go by the host",
       .limit_seconds = 180,
       .tasks = peer_runs,
       .cases = "peers: "},
      {.name = "nccl",
       .does = "NCCL's own times of the same collectives and sizes",
       .expected = "exec within a factor of two of NCCL for sizes from 1 MB on",
       .otherwise = "NCCL has more channels, or a protocol that needs no flags: more instances",
       .limit_seconds = 120,
       .tasks = time_nccl},
  };
  return steps;
}

} // namespace tutti::gpu
