// `tutti update`: files of earlier versions, with the names that keys have now.
#include "experiments/driver/cli/commands.hpp"
#include "experiments/driver/records/output.hpp"
#include "experiments/driver/studies/renames.hpp"
#include "sim/error.hpp"
#include "sim/files/files.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

namespace tutti {

namespace {

// write_file() would replace it, which takes no more than a folder that can be written. Whoever may
// write everything still means what the mode says.
void require_not_read_only(const std::string& file) {
  namespace fs = std::filesystem;
  if (!fs::is_regular_file(file)) return;
  constexpr fs::perms writable =
      fs::perms::owner_write | fs::perms::group_write | fs::perms::others_write;
  const bool is_writable = (fs::status(file).permissions() & writable) != fs::perms::none;
  if (!is_writable || !std::fstream(file, std::ios::in | std::ios::out | std::ios::binary))
    throw InputError(fmt::format("{}: cannot write: it is read-only", file));
}

} // namespace

// All files are read before the first is written: what is refused changes nothing.
int update_command(const UpdateArguments& arguments) {
  std::vector<std::pair<std::string, std::string>> changed;
  std::string same;
  for (const std::string& file : arguments.files) {
    const std::string toml = read_file(file);
    std::string updated = updated_toml(toml, file);
    if (updated == toml)
      same += fmt::format("{}: nothing to change\n", file);
    else
      changed.emplace_back(file, std::move(updated));
  }
  for (const auto& [file, text] : changed) {
    require_not_read_only(file);
    require_writable(file);
  }
  for (const auto& [file, text] : changed) {
    write_file(file, text);
    print_text(fmt::format("{}: updated\n", file));
  }
  print_text(same);
  return 0;
}

} // namespace tutti
