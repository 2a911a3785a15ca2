#include "experiments/sweep/engine.hpp"

#include "sim/error.hpp"
#include "sim/files.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include <unistd.h>

namespace tutti::sweep {

void become_mpi_program() {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  const std::string program = (self.parent_path() / "tutti_mpi").string();
  std::string words = read_file("/proc/self/cmdline"); // each with a zero behind it
  std::vector<char*> arguments;
  for (std::size_t begin = 0; begin < words.size(); begin = words.find('\0', begin) + 1)
    arguments.push_back(&words[begin]);
  arguments.push_back(nullptr);
  ::execv(program.c_str(), arguments.data());
  if (errno != ENOENT)
    throw InputError(fmt::format("{}: cannot run: {}", program, std::strerror(errno)));
  throw InputError("this build has no MPI: install libboost-mpi-dev and openmpi-bin (apt-get "
                   "install libboost-mpi-dev openmpi-bin), then build again");
}

} // namespace tutti::sweep
