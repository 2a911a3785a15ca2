// SimGrid and what it is linked with (ns-3's 17 libraries among them) take 20 ms of a processor's
// time to load, more than most commands need for all they do: what is linked with them is a library
// of its own, tutti_simgrid.so, that is loaded when SimGrid is first asked for. The program gets
// the caller's version as its argument and refuses another than its own, as both exchange values
// byte for byte; so does the library. A static library has no place of its own, so the search
// begins at the file that this function was loaded from: a program, or a shared library such as
// Python's.
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
#include <string_view>
#include <system_error>
#include <vector>

#include <dlfcn.h>
#include <unistd.h>

namespace tutti {

namespace fs = std::filesystem;

namespace {

constexpr const char* worker_name = "tutti_simgrid_worker";
constexpr const char* library_name = "tutti_simgrid.so";
constexpr const char* worker_variable = "TUTTI_SIMGRID_WORKER";
constexpr int requests_version = 4; // raised by one when anything in them changes

std::string variable(const char* name) {
  const char* const value = std::getenv(name); // NOLINT(concurrency-mt-unsafe): nobody sets it
  return value == nullptr ? "" : value;
}

bool is_there(const fs::path& file, int access) {
  std::error_code error;
  return fs::is_regular_file(file, error) && ::access(file.c_str(), access) == 0;
}

std::vector<fs::path> candidates(const char* name) {
  std::vector<fs::path> files;
  for (const fs::path& folder : own_folders()) {
    files.push_back(folder / name);
    files.push_back(folder.parent_path() / name);
    files.push_back(folder.parent_path() / "libexec/tutti" / name);
  }
  files.push_back(fs::path(TUTTI_BUILD_FOLDER) / name);
  files.push_back(fs::path(TUTTI_INSTALLED_WORKERS) / name);
  std::istringstream path(variable("PATH"));
  for (std::string folder; std::getline(path, folder, ':');)
    if (!folder.empty()) files.push_back(fs::path(folder) / name);
  return files;
}

std::string found(const char* name, int access, std::string_view why) {
  const std::vector<fs::path> files = candidates(name);
  for (const fs::path& file : files)
    if (is_there(file, access)) return file.string();
  throw InputError(
      fmt::format("{} {}, which is neither {}, nor there in a folder above, nor on the "
                  "path; {} can name the program, beside which the library lies",
                  why, name, files.front().string(), worker_variable));
}

using Answer = void (*)(const std::string& version, const std::string& request,
                        std::string& answer);

/// What the variable names; empty where it isn't set. Errors: InputError where that is no program.
std::string named_worker() {
  const std::string named = variable(worker_variable);
  if (named.empty() || is_there(named, X_OK)) return named;
  throw InputError(fmt::format("{}: \"{}\" is no program", worker_variable, named));
}

/// The function of SimGrid's library, which stays loaded.
Answer loaded_answer() {
  fs::path file;
  if (const std::string named = named_worker(); !named.empty())
    if (const fs::path beside = fs::absolute(named).parent_path() / library_name;
        is_there(beside, R_OK))
      file = beside;
  if (file.empty()) file = found(library_name, R_OK, "SimGrid needs the library");
  void* const library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    throw InputError(fmt::format("SimGrid's library can't be loaded: {}",
                                 ::dlerror())); // NOLINT(concurrency-mt-unsafe)
  void* const answer = ::dlsym(library, "tutti_simgrid_answer");
  if (answer == nullptr) throw InputError(file.string() + " is none of Tutti's libraries");
  return reinterpret_cast<Answer>(answer);
}

} // namespace

std::string simgrid_worker_version() {
  return fmt::format("Tutti {}, requests {}", TUTTI_VERSION, requests_version);
}

std::string find_simgrid_worker() {
  if (std::string named = named_worker(); !named.empty()) return named;
  return found(worker_name, X_OK, "SimGrid in a process with several threads needs the program");
}

namespace {

/// By a fork of this process.
std::string forked_answer(const std::string& request, const Watch& watch) {
  const Answer answer = loaded_answer(); // before the fork, so that it is done once
  return bytes_of_child(
      [&] {
        std::string bytes;
        answer(simgrid_worker_version(), request, bytes);
        return bytes;
      },
      watch);
}

} // namespace

std::string answer_of_simgrid(const std::string& request, const Watch& watch) {
  return SimGridSession().answer(request, watch);
}

std::string SimGridSession::answer(const std::string& request, const Watch& watch) {
  if (!has_other_threads()) return forked_answer(request, watch);
  if (!program_)
    program_.emplace(find_simgrid_worker(), std::vector<std::string>{simgrid_worker_version()});
  return program_->ask(request, watch);
}

int serve_simgrid(const std::string& version) {
  end_with_parent();
  const std::size_t answered =
      answer_requests(ChildProcess::executed_socket, [&](const std::string& request) {
        if (version != simgrid_worker_version())
          throw std::runtime_error(fmt::format("{} is of {}, not of {}", worker_name,
                                               simgrid_worker_version(), version));
        return forked_answer(request, {});
      });
  return answered > 0 ? 0 : 1;
}

} // namespace tutti
