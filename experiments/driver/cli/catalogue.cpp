// A name is a file's path below experiments/, so that adding an experiment is adding a file.
// Finding one opens no file; only a list of titles reads them all.
#include "experiments/driver/cli/catalogue.hpp"

#include "sim/error.hpp"
#include "sim/files/config.hpp"
#include "sim/files/data_files.hpp"
#include "sim/files/gzip.hpp"

#include <fmt/format.h>

#include <fnmatch.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <system_error>

namespace tutti {

namespace {

namespace fs = std::filesystem;

constexpr const char* paper_file = "paper.toml"; ///< says what is run of a paper

// Names and files of all sweeps (below a folder of their own) or of all experiments. No file is
// opened.
// Errors: InputError where the folder is there and can't be read.
std::vector<CatalogueEntry> untitled_catalogue(bool sweeps) {
  const fs::path folder = data_folder("experiments", TUTTI_EXPERIMENTS_SOURCE_DIR);
  std::vector<CatalogueEntry> entries;
  std::error_code error;
  for (fs::recursive_directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const fs::path name = entry->path().lexically_relative(folder);
    constexpr std::array<std::string_view, 4> spoken_of{"models", "costs", "sketches", "networks"};
    if (std::ranges::find(spoken_of, name.filename().string()) != spoken_of.end())
      entry.disable_recursion_pending(); // what experiments speak of
    if (name.extension() != ".toml" || name.filename() == paper_file ||
        sweeps != (*name.begin() == "sweeps"))
      continue;
    entries.push_back(
        {fs::path(name).replace_extension().generic_string(), "", entry->path().string()});
  }
  // A folder that can't be read isn't an empty one.
  if (error && error != std::errc::no_such_file_or_directory)
    throw InputError(fmt::format("{}: cannot read: {}", folder.string(), error.message()));
  std::sort(entries.begin(), entries.end(),
            [](const CatalogueEntry& a, const CatalogueEntry& b) { return a.name < b.name; });
  return entries;
}

std::vector<CatalogueEntry> titled(std::vector<CatalogueEntry> entries) {
  for (CatalogueEntry& entry : entries) {
    ConfigTable table = read_config(entry.file);
    if (const auto title = table.find("title")) entry.title = title->string();
    if (const auto time = table.find("cpu_time")) entry.cpu_seconds = time->time().seconds();
  }
  return entries;
}

// A sweep that is asked for as an experiment, or the reverse, is answered with the right command.
std::string find(const std::string& text, bool sweeps) {
  if (unpacked_name(text).ends_with(".toml")) return text;
  for (const CatalogueEntry& entry : untitled_catalogue(sweeps))
    if (entry.name == text) return entry.file;
  const std::vector<CatalogueEntry> others = untitled_catalogue(!sweeps);
  if (std::any_of(others.begin(), others.end(),
                  [&](const CatalogueEntry& entry) { return entry.name == text; }))
    throw InputError(sweeps ? fmt::format("\"{0}\" is an experiment: tutti run {0}", text)
                            : fmt::format("\"{0}\" is a sweep: tutti sweep {0}", text));
  throw InputError(sweeps ? unknown_name("sweep", text, sweep_names())
                          : unknown_name("experiment", text, experiment_names()));
}

} // namespace

std::vector<std::string> experiment_names() {
  std::vector<std::string> names;
  for (const CatalogueEntry& entry : untitled_catalogue(false)) {
    const std::string folder = entry.name.substr(0, entry.name.find('/'));
    if (folder != entry.name && (names.empty() || !names.back().starts_with(folder + "/")))
      names.push_back(folder);
    names.push_back(entry.name);
  }
  return names;
}

std::vector<std::string> paper_names() {
  const fs::path experiments = data_folder("experiments", TUTTI_EXPERIMENTS_SOURCE_DIR);
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(experiments))
    if (fs::exists(entry.path() / paper_file)) names.push_back(entry.path().filename());
  std::ranges::sort(names);
  return names;
}

std::vector<std::string> sweep_names() {
  std::vector<std::string> names;
  for (const CatalogueEntry& entry : untitled_catalogue(true)) names.push_back(entry.name);
  return names;
}

std::vector<CatalogueEntry> catalogue() { return titled(untitled_catalogue(false)); }
std::vector<CatalogueEntry> sweep_catalogue() { return titled(untitled_catalogue(true)); }

std::string find_experiment(const std::string& text) { return find(text, false); }
std::string find_sweep(const std::string& text) { return find(text, true); }

std::vector<CatalogueEntry> find_experiments(const std::string& text) {
  const std::string pattern = text == "all" ? "*" : text;
  const bool is_pattern = pattern.find_first_of("*?[") != std::string::npos;
  std::vector<CatalogueEntry> found;
  for (CatalogueEntry& entry : untitled_catalogue(false))
    if (is_pattern ? fnmatch(pattern.c_str(), entry.name.c_str(), 0) == 0
                   : entry.name.starts_with(text.ends_with('/') ? text : text + "/"))
      found.push_back(std::move(entry));
  return titled(std::move(found));
}

std::string find_paper(const std::string& folder) {
  if (folder.ends_with(".toml")) return folder;
  const std::vector<std::string> known = paper_names();
  if (std::ranges::find(known, folder) == known.end())
    throw InputError(unknown_name("paper", folder, known));
  return data_folder("experiments", TUTTI_EXPERIMENTS_SOURCE_DIR) + "/" + folder + "/" + paper_file;
}

std::string default_folder(const std::string& file, const std::string& name) {
  const fs::path folder = data_folder("experiments", TUTTI_EXPERIMENTS_SOURCE_DIR);
  std::error_code error; // what can't be resolved isn't there
  const fs::path known = fs::weakly_canonical(file, error)
                             .lexically_relative(fs::weakly_canonical(folder, error))
                             .replace_extension();
  const bool is_known = !error && !known.empty() && *known.begin() != "..";
  return "out/" + (is_known ? known.generic_string() : name);
}

} // namespace tutti
