// Machines are data (TOML), so that one can be added without a compiler.

#include "topologies/machines.hpp"

#include "sim/files/config.hpp"
#include "sim/files/data_files.hpp"
#include "topologies/list.hpp"

#include <algorithm>

namespace tutti {

namespace topologies {

namespace {

std::string machine_folder() { return data_folder("machines", TUTTI_MACHINES_SOURCE_DIR); }

} // namespace

std::vector<std::string> machine_names() { return data_names(machine_folder()); }

std::optional<std::string> machine_file(const std::string& name) {
  const std::vector<std::string> names = machine_names();
  if (!std::binary_search(names.begin(), names.end(), name)) return std::nullopt;
  return machine_folder() + "/" + name + ".toml";
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
