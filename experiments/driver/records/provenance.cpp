// A result that can't be traced to a commit can't be repeated, and "-dirty" says that it can't. The
// versions of libraries are those of the build; git is asked when it runs.
#include "experiments/driver/records/provenance.hpp"

#include "experiments/driver/records/shell_word.hpp"
#include "sim/text.hpp"

#include <cstdio>
#include <memory>

namespace tutti {

namespace {

// The first line that a command prints; empty where it fails.
std::string first_line_of(const std::string& command) {
  const auto close = [](FILE* pipe) { ::pclose(pipe); };
  const std::unique_ptr<FILE, decltype(close)> pipe(::popen(command.c_str(), "r"), close);
  char line[256];
  if (!pipe || std::fgets(line, sizeof line, pipe.get()) == nullptr) return {};
  return std::string(trimmed(line));
}

std::string commit_of(const std::string& folder) {
  const std::string git = "git -C " + shell_word(folder) + " ";
  const std::string commit = first_line_of(git + "rev-parse --verify HEAD 2>/dev/null");
  if (commit.empty()) return "unknown";
  const bool dirty =
      !first_line_of(git + "status --porcelain --untracked-files=no 2>/dev/null").empty();
  return dirty ? commit + "-dirty" : commit;
}

} // namespace

std::string tutti_version() { return TUTTI_VERSION; }

Provenance find_provenance() {
  return {tutti_version(), commit_of(TUTTI_EXPERIMENTS_SOURCE_DIR), TUTTI_SIMGRID_VERSION};
}

} // namespace tutti
