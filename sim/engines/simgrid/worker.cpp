// The program gets the caller's version as its argument and refuses another than its own, as both
// exchange values byte for byte. A static library has no place of its own, so the search begins at
// the file that this function was loaded from: a program, or a shared library such as Python's. A
// small replay costs 1 ms in a forked process and 20 ms of a processor's time here, nearly all of
// it to load SimGrid's library: so a process with one thread goes on to fork.
#include "sim/engines/simgrid/worker.hpp"

#include "sim/engines/simgrid/requests.hpp"
#include "sim/error.hpp"
#include "sim/files/data_files.hpp"
#include "sim/processes/child_process.hpp"
#include "sim/processes/isolated.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <stdexcept>
#include <system_error>
#include <vector>

#include <unistd.h>

namespace tutti {

namespace fs = std::filesystem;

namespace {

constexpr const char* worker_name = "tutti_simgrid_worker";
constexpr const char* worker_variable = "TUTTI_SIMGRID_WORKER";
constexpr int requests_version = 4; // raised by one when anything in them changes

std::string variable(const char* name) {
  const char* const value = std::getenv(name); // NOLINT(concurrency-mt-unsafe): nobody sets it
  return value == nullptr ? "" : value;
}

bool is_program(const fs::path& file) {
  std::error_code error;
  return fs::is_regular_file(file, error) && ::access(file.c_str(), X_OK) == 0;
}

std::vector<fs::path> candidates() {
  std::vector<fs::path> files;
  for (const fs::path& folder : own_folders()) {
    files.push_back(folder / worker_name);
    files.push_back(folder.parent_path() / worker_name);
    files.push_back(folder.parent_path() / "libexec/tutti" / worker_name);
  }
  files.push_back(fs::path(TUTTI_BUILD_FOLDER) / worker_name);
  files.push_back(fs::path(TUTTI_INSTALLED_WORKERS) / worker_name);
  std::istringstream path(variable("PATH"));
  for (std::string folder; std::getline(path, folder, ':');)
    if (!folder.empty()) files.push_back(fs::path(folder) / worker_name);
  return files;
}

} // namespace

std::string simgrid_worker_version() {
  return fmt::format("Tutti {}, requests {}", TUTTI_VERSION, requests_version);
}

std::string find_simgrid_worker() {
  if (const std::string named = variable(worker_variable); !named.empty()) {
    if (is_program(named)) return named;
    throw InputError(fmt::format("{}: \"{}\" is no program", worker_variable, named));
  }
  const std::vector<fs::path> files = candidates();
  for (const fs::path& file : files)
    if (is_program(file)) return file.string();
  throw InputError(fmt::format(
      "SimGrid in a process with several threads needs the program {}, which is neither {}, nor "
      "there in a folder above, nor on the path; {} can name it",
      worker_name, files.front().string(), worker_variable));
}

std::string answer_of_simgrid_worker(const std::string& request, const Watch& watch) {
  const std::array<std::string, 1> arguments{simgrid_worker_version()};
  return bytes_of_program(find_simgrid_worker(), arguments, request, watch);
}

int serve_simgrid(const std::string& version) {
  end_with_parent();
  const bool is_heard =
      answer_request(ChildProcess::executed_socket, [&](const std::string& request) {
        if (version != simgrid_worker_version())
          throw std::runtime_error(fmt::format("{} is of {}, not of {}", worker_name,
                                               simgrid_worker_version(), version));
        return simgrid_answer(request);
      });
  return is_heard ? 0 : 1;
}

} // namespace tutti
