// Where data lies is decided at run time by the place of the executable, so that an installed
// command needs no configuration and one from the build folder reads the source tree.

#include "sim/files/data_files.hpp"

#include "sim/error.hpp"
#include "sim/files/gzip.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include <dlfcn.h>

namespace tutti {

namespace fs = std::filesystem;

std::vector<fs::path> own_folders() {
  std::vector<fs::path> folders;
  std::error_code error;
  Dl_info found{};
  if (::dladdr(reinterpret_cast<const void*>(&own_folders), &found) != 0 &&
      found.dli_fname != nullptr && fs::path(found.dli_fname).is_absolute())
    folders.push_back(fs::weakly_canonical(found.dli_fname, error).parent_path());
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (!error) folders.push_back(program.parent_path());
  return folders;
}

std::string data_folder(std::string_view kind, const std::string& source_folder) {
  std::error_code error;
  if (const std::vector<fs::path> own = own_folders(); !own.empty())
    for (const fs::path& place : {own.front(), own.front().parent_path()})
      if (const fs::path installed = place / "share/tutti" / kind;
          fs::is_directory(installed, error))
        return installed.string();
  return source_folder;
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
