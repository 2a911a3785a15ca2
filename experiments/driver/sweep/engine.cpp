// A program linked with MPI may start its runtime even where a user wants none, and Tutti must run
// without it: MPI lives in a program of its own, which takes over with the same arguments.
#include "experiments/driver/sweep/engine.hpp"

#include "sim/error.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>
#include <system_error>

#include <unistd.h>

namespace tutti::sweep {

void become_mpi_program(char** arguments) {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  const std::string program = (self.parent_path() / "tutti_mpi").string();
  ::execv(program.c_str(), arguments);
  if (errno != ENOENT)
    throw InputError(fmt::format("{}: cannot run: {}", program, std::strerror(errno)));
  throw InputError("this build has no MPI: install libboost-mpi-dev and openmpi-bin (apt-get "
                   "install libboost-mpi-dev openmpi-bin), then build again");
}

} // namespace tutti::sweep
