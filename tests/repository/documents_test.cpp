// What documents say of the repository: links lead somewhere, papers are mapped to code that is
// there, every page is in the manual, and README stays one that is read.
#include "algorithms/list.hpp"
#include "synth/list.hpp"
#include "tests/catch.hpp"
#include "tests/paths.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace documents_test {

namespace fs = std::filesystem;

namespace {

const fs::path root = TUTTI_SOURCE_DIR;

std::string text_of(const fs::path& file) {
  std::ifstream in(file);
  REQUIRE(in);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// All documents but those below folders that hold results or builds.
std::vector<fs::path> documents() {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(root))
    if (entry.path().extension() == ".md") files.push_back(entry.path());
  for (const char* folder : {"docs", "synth", "algorithms", "workloads", ".github"})
    for (const auto& entry : fs::recursive_directory_iterator(root / folder))
      if (entry.path().extension() == ".md") files.push_back(entry.path());
  std::ranges::sort(files);
  return files;
}

/// Without fenced blocks, in which brackets are no links.
std::string prose_of(const std::string& text) {
  std::istringstream lines(text);
  std::string prose;
  bool fenced = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("```")) fenced = !fenced;
    if (!fenced) prose += line + "\n";
  }
  return prose;
}

/// As GitHub and MyST make it of a heading: "What's in `run`?" is "whats-in-run".
std::string anchor_of(const std::string& heading) {
  std::string anchor;
  for (const char c : heading) {
    if (c >= 'A' && c <= 'Z') anchor += static_cast<char>(c - 'A' + 'a');
    if (c == ' ') anchor += '-';
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || (c & 0x80) != 0)
      anchor += c;
  }
  return anchor;
}

std::set<std::string> anchors_of(const fs::path& file) {
  std::istringstream lines(prose_of(text_of(file)));
  std::set<std::string> anchors;
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("#") && line.find("# ") != std::string::npos)
      anchors.insert(anchor_of(line.substr(line.find("# ") + 2)));
  return anchors;
}

std::vector<std::string> matches(const std::string& text, const std::regex& pattern) {
  std::vector<std::string> found;
  for (std::sregex_iterator each(text.begin(), text.end(), pattern), end; each != end; ++each)
    found.push_back((*each)[1].str());
  return found;
}

/// The sources, as one text.
const std::string& all_code() {
  static const std::string code = [] {
    std::string text;
    for (const char* folder : {"sim", "algorithms", "synth", "topologies", "workloads", "runtime",
                               "experiments/driver", "tests", "gpu"})
      for (const auto& entry : fs::recursive_directory_iterator(root / folder))
        if (const auto ending = entry.path().extension(); ending == ".cpp" || ending == ".hpp")
          text += text_of(entry.path());
    return text;
  }();
  return code;
}

} // namespace

TEST_CASE("links of documents lead to files, folders and headings that are there") {
  const std::regex link(R"(\]\(([^)\s]+)\))");
  std::size_t links = 0;
  for (const fs::path& document : documents())
    for (const std::string& target : matches(prose_of(text_of(document)), link)) {
      if (target.find("://") != std::string::npos || target.starts_with("mailto:")) continue;
      INFO(fs::relative(document, root).string() << ": " << target);
      const std::size_t hash = target.find('#');
      const fs::path file = hash == 0 ? document : document.parent_path() / target.substr(0, hash);
      const bool is_there = fs::exists(file);
      CHECK(is_there);
      ++links;
      if (is_there && hash != std::string::npos && file.extension() == ".md")
        CHECK(anchors_of(file).contains(target.substr(hash + 1)));
    }
  CHECK(links > 200);
}

TEST_CASE("papers are mapped to files and functions that are there") {
  for (const char* page : {"synth/README.md", "algorithms/README.md", "ARCHITECTURE.md"}) {
    const std::string text = text_of(root / page);
    const auto paths = matches(text, std::regex(R"(`([a-z_]+/[a-z_/0-9]+\.[a-z]+)`)"));
    CHECK(paths.size() > 10);
    for (const std::string& path : paths) {
      INFO(page << ": " << path);
      CHECK((fs::exists(root / path) || fs::exists((root / page).parent_path() / path) ||
             fs::exists(root / "experiments/driver" / path)));
    }
    for (const std::string& name : matches(text, std::regex(R"(`([a-z_0-9]+)\(\)`)"))) {
      INFO(page << ": " << name);
      CHECK(all_code().find(name + "(") != std::string::npos);
    }
  }
}

TEST_CASE("every page of docs/ is in the manual") {
  std::set<std::string> listed;
  for (const fs::path& document : documents()) {
    const std::string text = text_of(document);
    const std::regex toctree(R"(```\{toctree\}\n([^`]*)```)");
    for (const std::string& tree : matches(text, toctree)) {
      std::istringstream lines(tree);
      for (std::string line; std::getline(lines, line);)
        if (!line.empty() && !line.starts_with(":"))
          listed.insert((document.parent_path() / (line + ".md")).lexically_normal().string());
    }
  }
  for (const auto& entry : fs::recursive_directory_iterator(root / "docs")) {
    if (entry.path().extension() != ".md" || entry.path().parent_path().filename() == "schemas" ||
        entry.path().parent_path().filename() == "_static")
      continue;
    INFO(entry.path().string());
    CHECK((listed.contains(entry.path().string()) || entry.path() == root / "docs/index.md"));
  }
}

TEST_CASE("the guide has every algorithm") {
  const std::string guide = text_of(root / "docs/guide/algorithms.md");
  for (const auto& rows : {tutti::baseline_algorithms(), tutti::synthesizers()})
    for (const tutti::AlgorithmRow& row : rows) {
      INFO(row.name);
      CHECK(guide.find("`" + std::string(row.name) + "`") != std::string::npos);
      for (const tutti::Setting& setting : row.settings) {
        INFO(setting.name);
        CHECK((guide + text_of(root / "docs/guide/frontiers.md"))
                  .find("`" + std::string(setting.name) + "`") != std::string::npos);
      }
    }
}

TEST_CASE("build, changelog and citation tell one version") {
  const auto version_in = [](const char* file, const char* pattern) {
    const auto versions = matches(text_of(root / file), std::regex(pattern));
    REQUIRE_FALSE(versions.empty());
    return versions.front();
  };
  const std::string version = version_in("CMakeLists.txt", R"(VERSION ([0-9]+\.[0-9]+\.[0-9]+))");
  CHECK(version == version_in("CHANGELOG.md", R"(## ([0-9.]+) )"));
  CHECK(version == version_in("CITATION.cff", R"re(\nversion: "([0-9.]+)")re"));
}

TEST_CASE("pages of results stay small: 1 MB each, 8 MB in all") {
  std::uintmax_t all = 0;
  for (const auto& entry : fs::recursive_directory_iterator(root / "results")) {
    const fs::path& page = entry.path();
    const bool is_made_when_wanted = // .gitignore
        page.filename() == "index.html" && page.parent_path().parent_path().filename() != "sweeps";
    if (page.extension() != ".html" || is_made_when_wanted) continue;
    INFO(page);
    CHECK(entry.file_size() <= 1'000'000);
    all += entry.file_size();
  }
  CHECK(all <= 8'000'000);
  CHECK(all > 0);
}

TEST_CASE("README takes five minutes") {
  const std::string readme = text_of(root / "README.md");
  CHECK(std::ranges::count(readme, '\n') <= 200);
  std::istringstream words(readme);
  CHECK(std::distance(std::istream_iterator<std::string>(words), {}) <= 1500);
}

TEST_CASE("the page of columns has every column, as its schema says it") {
  const std::string page = text_of(root / "docs/columns.md");
  const std::regex definition(R"re(\n    "([a-z_0-9]+)": \{)re");
  const auto columns = matches(text_of(root / "docs/schemas/rows.json"), definition);
  CHECK(columns.size() > 80);
  for (const std::string& column : columns) {
    INFO(column);
    CHECK(page.find("`" + column + "`") != std::string::npos);
  }
  if (std::system("command -v python3 >/dev/null 2>&1") != 0) return; // NOLINT
  const std::string same =
      "cd '" + (root / "docs").string() + "' && python3 -B columns_page.py | cmp -s - columns.md";
  CHECK(std::system(same.c_str()) == 0); // else: python3 columns_page.py >columns.md; NOLINT
}

} // namespace documents_test
