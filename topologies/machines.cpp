// The named machines: topologies/machines/*.toml, found beside an installed command
// (../share/tutti/machines) or else in the source tree.
#include "topologies/machines.hpp"

#include "sim/config.hpp"
#include "topologies/list.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace tutti {

namespace topologies {

namespace fs = std::filesystem;

namespace {

fs::path machine_folder() {
  std::error_code error;
  const fs::path command = fs::read_symlink("/proc/self/exe", error);
  const fs::path installed = command.parent_path().parent_path() / "share/tutti/machines";
  return fs::is_directory(installed, error) ? installed : fs::path(TUTTI_MACHINES_SOURCE_DIR);
}

} // namespace

std::vector<std::string> machine_names() {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry(machine_folder(), error), end; !error && entry != end;
       entry.increment(error))
    if (entry->path().extension() == ".toml") names.push_back(entry->path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

std::optional<std::string> machine_file(const std::string& name) {
  const std::vector<std::string> names = machine_names();
  if (!std::binary_search(names.begin(), names.end(), name)) return std::nullopt;
  return (machine_folder() / (name + ".toml")).string();
}

} // namespace topologies

std::vector<Machine> machines() {
  std::vector<Machine> machines;
  for (const std::string& name : topologies::machine_names()) {
    ConfigTable file = read_config(*topologies::machine_file(name));
    const std::optional<ConfigValue> note = file.find("note");
    machines.push_back({name, note ? note->string() : ""});
  }
  return machines;
}

} // namespace tutti
