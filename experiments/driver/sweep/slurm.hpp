// A sweep as a job of a Slurm cluster.
#pragma once

#include <cstddef>
#include <string>

namespace tutti::sweep {

/// A file for `sbatch`: an array of `shards` jobs that run shards, and one after them that merges;
/// or (shards = 0) one job of `tasks` MPI ranks under srun. Paths are quoted for the shell.
struct SlurmRequest {
  std::string sweep, program, out; ///< files as given; `program`: how to call Tutti
  std::size_t shards = 0, tasks = 4;
  bool allow_programs = false;
  double point_seconds = 600; ///< limit of a point, for the time that is asked for
};
[[nodiscard]] std::string slurm_script(const SlurmRequest& request);

} // namespace tutti::sweep
