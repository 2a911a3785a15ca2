// The TOML files that come with Tutti (machines, models, ...): found beside an installed command
// (../share/tutti/KIND) or library (share/tutti/KIND beside it, too), or else in the source tree. A
// name is a file's without ".toml".
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace tutti {

/// The folders of the file that holds this code (a program, or a shared library such as Python's),
/// where that is known, and of this process's program.
[[nodiscard]] std::vector<std::filesystem::path> own_folders();

/// Where files of a kind ("machines") lie: `source_folder`, unless the command is installed.
[[nodiscard]] std::string data_folder(std::string_view kind, const std::string& source_folder);

/// The names of the files in a folder, ascending; none where there is no such folder.
[[nodiscard]] std::vector<std::string> data_names(const std::string& folder);

/// The file of a name in a folder; a text that ends with ".toml" or has a "/" is a file itself.
/// Errors: InputError `unknown WHAT "rign" (known: ...)`.
[[nodiscard]] std::string find_data_file(std::string_view what, const std::string& name_or_file,
                                         const std::string& folder);

} // namespace tutti
