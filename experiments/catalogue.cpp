#include "experiments/catalogue.hpp"

#include "sim/config.hpp"
#include "sim/data_files.hpp"
#include "sim/error.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace tutti {

namespace {

namespace fs = std::filesystem;

// Names and files, without opening them.
std::vector<CatalogueEntry> untitled_catalogue() {
  const fs::path folder = data_folder("experiments", TUTTI_EXPERIMENTS_SOURCE_DIR);
  std::vector<CatalogueEntry> entries;
  std::error_code error;
  for (fs::recursive_directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    if (entry->path().filename() == "models") entry.disable_recursion_pending(); // theirs
    if (entry->path().extension() != ".toml") continue;
    fs::path name = entry->path().lexically_relative(folder);
    entries.push_back({name.replace_extension().generic_string(), "", entry->path().string()});
  }
  std::sort(entries.begin(), entries.end(),
            [](const CatalogueEntry& a, const CatalogueEntry& b) { return a.name < b.name; });
  return entries;
}

} // namespace

std::vector<CatalogueEntry> catalogue() {
  std::vector<CatalogueEntry> entries = untitled_catalogue();
  for (CatalogueEntry& entry : entries)
    if (const auto title = read_config(entry.file).find("title")) entry.title = title->string();
  return entries;
}

std::string find_experiment(const std::string& text) {
  if (text.ends_with(".toml")) return text;
  std::vector<std::string> known;
  for (const CatalogueEntry& entry : untitled_catalogue()) {
    if (entry.name == text) return entry.file;
    known.push_back(entry.name);
  }
  throw InputError(unknown_name("experiment", text, known));
}

} // namespace tutti
