// Where data lies is decided at run time by the place of the executable, so that an installed
// command needs no configuration and one from the build folder reads the source tree.

#include "sim/files/data_files.hpp"

#include "sim/error.hpp"
#include "sim/files/gzip.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace tutti {

namespace fs = std::filesystem;

std::string data_folder(std::string_view kind, const std::string& source_folder) {
  std::error_code error;
  const fs::path command = fs::read_symlink("/proc/self/exe", error);
  const fs::path installed = command.parent_path().parent_path() / "share/tutti" / kind;
  return fs::is_directory(installed, error) ? installed.string() : source_folder;
}

std::vector<std::string> data_names(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error))
    if (entry->path().extension() == ".toml") names.push_back(entry->path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

std::string find_data_file(std::string_view what, const std::string& name_or_file,
                           const std::string& folder) {
  if (unpacked_name(name_or_file).ends_with(".toml") || name_or_file.find('/') != std::string::npos)
    return name_or_file;
  const std::vector<std::string> known = data_names(folder);
  if (!std::binary_search(known.begin(), known.end(), name_or_file))
    throw InputError(unknown_name(what, name_or_file, known));
  return (fs::path(folder) / (name_or_file + ".toml")).string();
}

} // namespace tutti
