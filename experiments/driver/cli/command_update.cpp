// `tutti update`: files of earlier versions, with the names that keys have now.
#include "experiments/driver/cli/commands.hpp"
#include "experiments/driver/cli/output.hpp"
#include "experiments/driver/studies/renames.hpp"
#include "sim/error.hpp"
#include "sim/files/files.hpp"

#include <fmt/format.h>

#include <utility>

namespace tutti {

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
  for (const auto& [file, text] : changed) require_writable(file);
  for (const auto& [file, text] : changed) {
    write_file(file, text);
    print_text(fmt::format("{}: updated\n", file));
  }
  print_text(same);
  return 0;
}

} // namespace tutti
