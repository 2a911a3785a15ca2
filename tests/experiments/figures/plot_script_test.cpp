// experiments/plot.py draws every kind of data that stands beside a figure in results/.
#include "sim/files/files.hpp"
#include "tests/catch.hpp"
#include "tests/paths.hpp"
#include "tests/temporary_folder.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>

namespace plot_script_test {

using namespace tutti;

namespace {

/// The picture that a CSV has the data of; empty for a table.
std::string picture_of(std::string csv) {
  const std::string stem = csv.substr(0, csv.size() - 4);
  for (const std::string& each : {stem, stem.substr(0, stem.rfind("_data"))})
    if (std::filesystem::exists(each + ".svg") &&
        (each != stem || !std::filesystem::exists(each + "_data.csv")))
      return each + ".svg";
  return "";
}

/// A file of each kind: kinds differ in the first two cells of their headers.
std::map<std::string, std::string> data_files() {
  namespace fs = std::filesystem;
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(TUTTI_SOURCE_DIR "/results")) {
    const std::string file = entry.path().string();
    if (!file.ends_with(".csv") || picture_of(file).empty()) continue;
    const std::string text = read_file(file), header = text.substr(0, text.find('\n'));
    const std::string first = header.substr(0, header.find(','));
    const bool has_bars = header.starts_with(first + ",group,");
    std::string& chosen = files[first + (has_bars ? ",group" : "")];
    if (chosen.empty() || file < chosen) chosen = file;
  }
  return files;
}

} // namespace

TEST_CASE("the data of figures is drawn anew", "[slow]") {
  if (std::system("python3 -c 'import matplotlib' 2>/dev/null") != 0) {
    WARN("skipped: python3 has no matplotlib");
    return;
  }
  const TemporaryFolder folder;
  const std::map<std::string, std::string> files = data_files();
  for (const char* kind : {"series", "series,group", "part,group", "panel", "point", "from", "step",
                           "choice", "parameter"})
    CHECK(files.contains(kind));
  for (const auto& [kind, file] : files) {
    INFO(file);
    const std::string picture = folder.file("picture.svg");
    CHECK(std::system(fmt::format("python3 '{}/experiments/plot.py' '{}' '{}'", TUTTI_SOURCE_DIR,
                                  file, picture)
                          .c_str()) == 0);
    CHECK(read_file(picture).find("</svg>") != std::string::npos);
    std::filesystem::remove(picture);
  }
}

} // namespace plot_script_test
