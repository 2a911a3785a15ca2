// The program `tutti_mpi`: the command `tutti` with sweeps over the ranks of an MPI job. `tutti`
// becomes it where that is asked for, so that the command itself needs no MPI. Ranks behind rank 0
// keep quiet, so that an error that all of them meet (a sweep that can't be read) is said once.
#include "experiments/driver/cli/cli.hpp"
#include "experiments/driver/mpi/mpi_sweep.hpp"

#include <chrono>
#include <cstdlib>
#include <thread>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace tutti::sweep {

namespace {

constexpr auto patience = std::chrono::seconds(2);

// Rank of this process as its launcher tells it (Open MPI, PMIx, PMI or Slurm), before MPI is
// initialised; 0 where nobody does.
int launched_rank() {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"})
    if (const char* rank = std::getenv(name)) return std::atoi(rank);
  return 0;
}

// From its making on, stdout goes nowhere and stderr to a file.
class QuietRank {
public:
  QuietRank() : stderr_(::dup(STDERR_FILENO)), file_(::memfd_create("stderr", MFD_CLOEXEC)) {
    const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    ::dup2(nowhere, STDOUT_FILENO);
    ::dup2(file_, STDERR_FILENO);
    ::close(nowhere);
  }

  // For the end of this process, of which MPI does not know yet. An error is printed after two
  // seconds: where rank 0 has met it as well, the launcher has ended all ranks by then. Returns
  // the code.
  int ended(int code) const {
    if (code == 0) return code;
    std::this_thread::sleep_for(patience);
    char buffer[4096];
    ::lseek(file_, 0, SEEK_SET);
    for (ssize_t count = 0; (count = ::read(file_, buffer, sizeof buffer)) > 0;)
      if (::write(stderr_, buffer, static_cast<std::size_t>(count)) < 0) break;
    return code;
  }

private:
  int stderr_ = -1, file_ = -1;
};

} // namespace

} // namespace tutti::sweep

int main(int argc, char** argv) {
  using namespace tutti::sweep;
  const SweepEngine engine = [](const Sweep& sweep, const SweepOptions& options) {
    return sweep_with_mpi(sweep, options);
  };
  if (launched_rank() == 0) return tutti::command_line(argc, argv, engine);
  QuietRank quiet;
  return quiet.ended(tutti::command_line(argc, argv, engine));
}
