// The command itself is not linked with MPI, which need not be installed: it executes the program
// that is, in its own place and with its own arguments.
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
