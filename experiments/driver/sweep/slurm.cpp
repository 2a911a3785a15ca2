// Two shapes of job. An array of shards needs no MPI and any free node will do for each part; one
// MPI job spreads the points by itself and loads its nodes evenly. Both are plain files, so that a
// user can add what a cluster wants, and both may be submitted again: a store keeps what is
// finished.
#include "experiments/driver/sweep/slurm.hpp"

#include "experiments/driver/records/shell_word.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace tutti::sweep {

namespace {

constexpr double start_seconds = 600; // for reading, making topologies, analyses
constexpr const char* merge_step = "merge";

// A limit that a job isn't likely to meet: it says how long a point may take, not how many come one
// after another, so this is for a hundred of them. A job that meets it loses only what runs.
std::string time_limit(double point_seconds) {
  const auto minutes = static_cast<std::int64_t>((start_seconds + 100 * point_seconds) / 60) + 1;
  const std::int64_t hours = std::clamp<std::int64_t>(minutes / 60 + 1, 1, 24 * 7);
  return fmt::format("{}-{:02}:00:00", hours / 24, hours % 24);
}

std::string head(const SlurmRequest& request, std::string_view what) {
  return fmt::format(
      "#!/bin/bash\n"
      "# {}\n"
      "# What is finished when the time is over is kept, and the same script goes on.\n"
      "#SBATCH --job-name=tutti-sweep\n"
      "#SBATCH --time={}\n",
      what, time_limit(request.point_seconds));
}

std::string sweep_command(const SlurmRequest& request) {
  return fmt::format("{} sweep {} --out {}{}", shell_word(request.program),
                     shell_word(request.sweep), shell_word(request.out),
                     request.allow_programs ? " --allow-programs" : "");
}

std::string mpi_script(const SlurmRequest& request) {
  return head(request, fmt::format("A sweep over {} MPI ranks: sbatch this file.", request.tasks)) +
         fmt::format("#SBATCH --ntasks={}\n#SBATCH --cpus-per-task=1\n\n"
                     "exec srun --mpi=pmix --kill-on-bad-exit=1 {} --engine mpi --progress\n",
                     request.tasks, sweep_command(request));
}

// The script submits its own last step, which waits for the whole array.
std::string array_script(const SlurmRequest& request) {
  return head(request, fmt::format("A sweep in {} shards: sbatch this file. A job that waits for "
                                   "all of them merges.",
                                   request.shards)) +
         fmt::format(
             "#SBATCH --array=0-{last}\n#SBATCH --ntasks=1\n#SBATCH --cpus-per-task=1\n\n"
             "if [ \"${{1-}}\" = {merge} ]; then\n"
             "  exec {command} --merge {out}/shard-*-of-{shards}.sqlite\n"
             "fi\n"
             "if [ \"$SLURM_ARRAY_TASK_ID\" = 0 ]; then\n"
             "  sbatch --array=0 --dependency=\"afterany:$SLURM_ARRAY_JOB_ID\" \"$0\" {merge}\n"
             "fi\n"
             "exec {command} --shard \"$SLURM_ARRAY_TASK_ID/{shards}\" "
             "--jobs \"${{SLURM_CPUS_PER_TASK:-1}}\" --progress\n",
             fmt::arg("last", request.shards - 1), fmt::arg("shards", request.shards),
             fmt::arg("merge", merge_step), fmt::arg("command", sweep_command(request)),
             fmt::arg("out", shell_word(request.out)));
}

} // namespace

std::string slurm_script(const SlurmRequest& request) {
  return request.shards == 0 ? mpi_script(request) : array_script(request);
}

} // namespace tutti::sweep
