// What a rank prints on stderr is kept in a file in memory and printed after a pause: a rank whose
// error rank 0 has met as well is ended by the launcher within it.
#include "experiments/driver/mpi/quiet_rank.hpp"

#include <chrono>
#include <cstdlib>
#include <thread>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace tutti::sweep {

namespace {

constexpr auto patience = std::chrono::seconds(2);

}

int launched_rank() {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"})
    if (const char* rank = std::getenv(name)) return std::atoi(rank);
  return 0;
}

QuietRank::QuietRank()
    : stderr_(::dup(STDERR_FILENO)), file_(::memfd_create("stderr", MFD_CLOEXEC)) {
  const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  ::dup2(nowhere, STDOUT_FILENO);
  ::dup2(file_, STDERR_FILENO);
  ::close(nowhere);
}

int QuietRank::ended(int code) const {
  if (code == 0) return code;
  std::this_thread::sleep_for(patience);
  char buffer[4096];
  ::lseek(file_, 0, SEEK_SET);
  for (ssize_t count = 0; (count = ::read(file_, buffer, sizeof buffer)) > 0;)
    if (::write(stderr_, buffer, static_cast<std::size_t>(count)) < 0) break;
  return code;
}

} // namespace tutti::sweep
