// Slurm scripts are run here with commands in place of Slurm's that write down how they are called.
#include "experiments/driver/sweep/slurm.hpp"
#include "sim/files/files.hpp"
#include "tests/catch.hpp"
#include "tests/temporary_folder.hpp"

#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>

namespace slurm_test {

using namespace tutti;
using namespace tutti::sweep;

namespace {

int code_of(const std::string& command) {
  const int status = std::system(command.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// A folder with `sbatch`, `srun` and a program that all say their name and words, one a line.
class Cluster {
public:
  Cluster() {
    std::filesystem::create_directory(folder_.file("bin"));
    for (const char* name : {"bin/sbatch", "bin/srun", "it's tutti"}) {
      const std::string file = folder_.file(name);
      write_file(file, "#!/bin/sh\nbasename \"$0\"\nprintf '%s\\n' \"$@\"\n");
      std::filesystem::permissions(file, std::filesystem::perms::owner_all);
    }
  }

  [[nodiscard]] std::string file(std::string_view name) const { return folder_.file(name); }
  void write(const SlurmRequest& request) { write_file(file("job"), slurm_script(request)); }

  // What the script says, run as a job with these variables and words.
  [[nodiscard]] std::string run(const std::string& variables, const std::string& words = "") const {
    const std::string command = "cd '" + folder_.file("") + "' && PATH=\"$PWD/bin:$PATH\" " +
                                variables + " bash ./job " + words + " >said 2>&1";
    CHECK(code_of(command) == 0);
    return read_file(file("said"));
  }

private:
  TemporaryFolder folder_;
};

SlurmRequest request(const Cluster& cluster) {
  SlurmRequest request;
  request.sweep = "my sweep.toml";
  request.program = cluster.file("it's tutti");
  request.out = "out/a b";
  return request;
}

} // namespace

TEST_CASE("a job array runs shards, and its first job sees to it that they are merged") {
  Cluster cluster;
  SlurmRequest shards = request(cluster);
  shards.shards = 16;
  cluster.write(shards);
  CHECK_THAT(slurm_script(shards), ContainsSubstring("\n#SBATCH --array=0-15\n"));
  const std::string sweep = "it's tutti\nsweep\nmy sweep.toml\n--out\nout/a b\n";
  const auto shard = [&](const std::string& number, const std::string& jobs) {
    return sweep + "--shard\n" + number + "/16\n--jobs\n" + jobs + "\n--progress\n";
  };
  CHECK(cluster.run("SLURM_ARRAY_JOB_ID=77 SLURM_ARRAY_TASK_ID=3 SLURM_CPUS_PER_TASK=2") ==
        shard("3", "2"));
  CHECK(cluster.run("SLURM_ARRAY_JOB_ID=77 SLURM_ARRAY_TASK_ID=0") ==
        "sbatch\n--array=0\n--dependency=afterany:77\n./job\nmerge\n" + shard("0", "1"));
  for (const char* name : {"out/a b/shard-0-of-16.sqlite", "out/a b/shard-3-of-16.sqlite",
                           "out/a b/shard-0-of-8.sqlite"})
    write_file(cluster.file(name), "");
  CHECK(cluster.run("SLURM_ARRAY_JOB_ID=78 SLURM_ARRAY_TASK_ID=0", "merge") ==
        sweep + "--merge\nout/a b/shard-0-of-16.sqlite\nout/a b/shard-3-of-16.sqlite\n");
}

TEST_CASE("an MPI job runs all ranks under srun") {
  Cluster cluster;
  SlurmRequest ranks = request(cluster);
  ranks.tasks = 12;
  cluster.write(ranks);
  CHECK_THAT(slurm_script(ranks), ContainsSubstring("\n#SBATCH --ntasks=12\n"));
  CHECK(cluster.run("") == "srun\n--mpi=pmix\n--kill-on-bad-exit=1\n" + ranks.program +
                               "\nsweep\nmy sweep.toml\n--out\nout/a b\n--engine\nmpi\n"
                               "--progress\n");
}

TEST_CASE("shellcheck has nothing to say about the scripts") {
  if (code_of("command -v shellcheck >/dev/null 2>&1") != 0) {
    WARN("skipped: no shellcheck");
    return;
  }
  Cluster cluster;
  for (const std::size_t shards : {0U, 3U}) {
    SlurmRequest each = request(cluster);
    each.shards = shards;
    cluster.write(each);
    INFO(read_file(cluster.file("job")));
    CHECK(code_of("shellcheck '" + cluster.file("job") + "'") == 0);
  }
}

} // namespace slurm_test
