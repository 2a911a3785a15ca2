// The folder table of ARCHITECTURE.md, read from the sources themselves: who may include whom,
// which file sees which third-party library, and that nothing which should be in a written list is
// missing.
#include "tests/catch.hpp"
#include "tests/paths.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace layers_test {

namespace fs = std::filesystem;

namespace {

const fs::path root = TUTTI_SOURCE_DIR;

// What a folder may include beside itself. experiments/ and tests/ may include everything.
const std::map<std::string, std::set<std::string>> layers = {
    {"sim", {}},
    {"algorithms", {"sim"}},
    {"synth", {"sim"}},
    {"topologies", {"sim"}},
    {"workloads", {"sim"}},
    {"runtime", {"sim"}},
    {"gpu", {"sim", "runtime"}},
    {"experiments", {"sim", "algorithms", "synth", "topologies", "workloads", "runtime"}},
    {"python", {"sim", "algorithms", "synth", "topologies", "workloads", "runtime", "experiments"}},
    {"tests",
     {"sim", "algorithms", "synth", "topologies", "workloads", "runtime", "gpu", "experiments"}},
};

// The folders of experiments/driver, from the ground up: each may include those before it.
const std::vector<std::string> driver_floors = {"records", "requests", "pool",    "terminal",
                                                "outside", "cache",    "figures", "studies",
                                                "results", "sweep",    "cli",     "mpi"};

// The only files, as a regular expression over their path, that see a third-party library.
const std::map<std::string, std::string> libraries = {
    {"simgrid", "sim/engines/simgrid/library/[a-z_]+\\.[ch]pp|"
                "tests/sim/engine_agreement_test\\.cpp"},
    {"xbt", "sim/engines/simgrid/library/[a-z_]+\\.[ch]pp"},
    {"toml++", "sim/files/config\\.cpp"},
    {"lemon", "(synth/bounds/flow_cuts|algorithms/arborescence_packing)\\.cpp"},
    {"zstd.h", "sim/files/schedule_binary\\.cpp"},
    {"zlib.h",
     "(sim/files/gzip|experiments/driver/figures/explorer|tests/workloads/chakra_test)\\.cpp|"
     "tests/explored_page\\.hpp"},
    {"google", "workloads/traces/chakra_(messages|writer)\\.cpp"},
    {"chakra.pb.h", "workloads/traces/chakra_(messages|writer)\\.cpp"},
    {"nlohmann", "(sim/files/(schedule_json|tree_value)|workloads/traces/process_groups)\\.cpp|"
                 "experiments/.+|tests/.+"},
    {"CLI", "experiments/driver/cli/[a-z_]+\\.cpp"},
    {"coin", "synth/solvers/(clp|cbc|column_program|clp_limit)\\.[ch]pp"},
    {"Highs.h", "synth/solvers/highs\\.cpp"},
    {"cadical.hpp", "synth/solvers/sat\\.cpp"},
    {"bliss", "synth/symmetry/automorphisms\\.cpp"},
    {"pugixml.hpp", "(runtime/formats/msccl|topologies/(im|ex)port)/[a-z_]+\\.cpp|"
                    "tests/experiments/figures/(network_figure_test\\.cpp|svg_reading\\.hpp)"},
    {"yaml-cpp", "topologies/import/[a-z_]+\\.cpp"},
    {"eigen3", "experiments/driver/studies/(fits/least_squares|measurements/diagnosis)\\.cpp"},
    {"sqlite3.h", "experiments/driver/sweep/store/database\\.cpp"},
    {"boost",
     "synth/solvers/proven_minimum\\.cpp|experiments/driver/(mpi|sweep/analysis)/[a-z_]+\\.cpp|"
     "experiments/driver/studies/measurements/diagnosis\\.cpp|"
     "experiments/driver/figures/layout/forces\\.cpp|tests/sim/exact_fluid\\.cpp"},
    {"fmt", "[a-z0-9_/]+\\.cpp"},
    {"pybind11", "python/bindings/bindings\\.hpp"},
    {"sanitizer", "tests/runtime/cuda_order/host_gpu\\.hpp"},
    {"benchmark", "tests/benchmarks/[a-z_]+\\.cpp"},
    {"catch2", "tests/(catch\\.hpp|catch_main\\.cpp)"},
};

std::string read(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

// Paths relative to the root, sorted; without what is built as a project of its own.
std::vector<std::string> sources(const std::string& folder) {
  std::vector<std::string> found;
  for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
    const std::string path = fs::relative(entry.path(), root).generic_string();
    const fs::path extension = entry.path().extension();
    const bool own =
        path.starts_with("tests/consumer/") || path.starts_with("tests/runtime/foreign_readers/");
    if ((extension == ".hpp" || extension == ".cpp") && !own) found.push_back(path);
  }
  std::sort(found.begin(), found.end());
  return found;
}

struct Include {
  std::string path;
  bool quoted;
};

std::vector<Include> includes(const std::string& file) {
  static const std::regex directive(R"re((^|\n)\s*#\s*include\s*(["<])([^">]+)[">])re");
  const std::string text = read(root / file);
  std::vector<Include> found;
  for (std::sregex_iterator i(text.begin(), text.end(), directive), end; i != end; ++i)
    found.push_back({(*i)[3], (*i)[2] == "\""});
  return found;
}

std::string first_part(const std::string& path) { return path.substr(0, path.find('/')); }

// Every match of the first group of `pattern` in the file.
std::set<std::string> matches(const std::string& file, const std::string& pattern) {
  const std::regex expression(pattern);
  const std::string text = read(root / file);
  std::set<std::string> found;
  for (std::sregex_iterator i(text.begin(), text.end(), expression), end; i != end; ++i)
    found.insert((*i)[1]);
  return found;
}

// The functions that headers of a folder declare.
std::set<std::string> declarations(const std::string& folder) {
  std::set<std::string> found;
  for (const std::string& file : sources(folder))
    if (file.ends_with(".hpp")) found.merge(matches(file, R"((\w+)\()"));
  return found;
}

bool intersect(const std::set<std::string>& a, const std::set<std::string>& b) {
  return std::any_of(a.begin(), a.end(), [&](const std::string& x) { return b.contains(x); });
}

} // namespace

TEST_CASE("folders include only what the layers allow") {
  for (const auto& [folder, allowed] : layers) {
    const std::vector<std::string> files = sources(folder);
    REQUIRE_FALSE(files.empty());
    for (const std::string& file : files) {
      for (const Include& include : includes(file)) {
        if (!include.quoted) continue;
        INFO(file << " includes \"" << include.path << '"');
        const std::string target = first_part(include.path);
        CHECK((target == folder || allowed.contains(target)));
        CHECK(fs::exists(root / include.path));
      }
    }
  }
}

TEST_CASE("no folder of the driver includes one above it") {
  const std::string driver = "experiments/driver/";
  std::map<std::string, std::size_t> floor_of;
  for (const std::string& name : driver_floors) floor_of.emplace(name, floor_of.size());
  for (const auto& entry : fs::directory_iterator(root / driver)) {
    INFO(entry.path().filename());
    CHECK(floor_of.contains(entry.path().filename().string()));
  }
  for (const std::string& file : sources(driver))
    for (const Include& include : includes(file)) {
      if (!include.path.starts_with(driver)) continue;
      INFO(file << " includes \"" << include.path << '"');
      CHECK(floor_of[first_part(include.path.substr(driver.size()))] <=
            floor_of[first_part(file.substr(driver.size()))]);
    }
}

TEST_CASE("analyses and reports of a sweep know no store, and its space none of them") {
  const std::string sweep = "experiments/driver/sweep/";
  const std::map<std::string, std::set<std::string>> allowed = {
      {"space", {"space"}},
      {"store", {"space", "store"}},
      {"analysis", {"space", "analysis"}},
      {"report", {"space", "analysis", "report"}}};
  for (const auto& [folder, others] : allowed)
    for (const std::string& file : sources(sweep + folder))
      for (const Include& include : includes(file)) {
        if (!include.path.starts_with(sweep)) continue;
        INFO(file << " includes \"" << include.path << '"');
        CHECK(others.contains(first_part(include.path.substr(sweep.size()))));
      }
}

TEST_CASE("the checker of bounds shares nothing with their makers but types") {
  for (const std::string& file : sources("synth/bounds")) {
    if (!file.starts_with("synth/bounds/check")) continue;
    for (const Include& include : includes(file)) {
      INFO(file << " includes \"" << include.path << '"');
      CHECK((!include.quoted || include.path.starts_with("sim/") ||
             include.path.starts_with("synth/bounds/check") ||
             include.path == "synth/bounds/bounds.hpp"));
    }
  }
}

TEST_CASE("third-party libraries are seen by as few files as possible") {
  std::set<std::string> seen;
  for (const auto& [folder, allowed] : layers) {
    for (const std::string& file : sources(folder)) {
      for (const Include& include : includes(file)) {
        if (include.quoted) continue;
        const std::string library = first_part(include.path);
        INFO(file << " includes <" << include.path << '>');
        if (const auto rule = libraries.find(library); rule != libraries.end()) {
          CHECK(std::regex_match(file, std::regex(rule->second)));
          seen.insert(library);
        } else {
          // The standard library (no extension), or C headers of the system, which stay in .cpp.
          const bool standard = include.path.find_first_of("./") == std::string::npos;
          const bool system = library == include.path || library == "sys";
          CHECK((standard || (system && (file.ends_with(".cpp") || folder == "tests"))));
        }
      }
    }
  }
  CHECK(seen.contains("simgrid")); // the scan does find what it looks for
}

TEST_CASE("every algorithm, synthesizer and topology family has a row in its list") {
  struct Family {
    std::string header;   // declares the functions that rows name
    std::string function; // what such a declaration looks like
  };
  const std::map<std::string, Family> families = {
      {"algorithms", {"algorithms/list.hpp", R"(\nOutcome (\w+)\()"}},
      {"synth", {"synth/list.hpp", R"(\nOutcome (\w+)\()"}},
      {"topologies", {"topologies/families.hpp", R"(Topology (\w+)\(const TopologySpec&)"}},
  };
  for (const auto& [folder, family] : families) {
    const std::set<std::string> functions = matches(family.header, family.function);
    const std::set<std::string> rows = matches(folder + "/list.cpp", R"((\w+))");
    REQUIRE_FALSE(functions.empty());
    for (const std::string& function : functions) {
      INFO(folder << "/list.cpp has no row for " << function);
      CHECK(rows.contains(function));
    }
    // A source is a helper with a header of its own, or defines something that is declared above
    // or in some header of its room.
    std::set<std::string> listed = matches(folder + "/list.hpp", R"((\w+)\()");
    listed.insert(functions.begin(), functions.end());
    for (const std::string& file : sources(folder)) {
      if (!file.ends_with(".cpp") || fs::exists((root / file).replace_extension(".hpp"))) continue;
      const std::string room = file.substr(0, file.find('/', folder.size() + 1));
      std::set<std::string> declared = listed;
      if (room != file) declared.merge(declarations(room));
      INFO(file << " has neither a row nor a header");
      CHECK(intersect(matches(file, R"(\n[A-Za-z][\w:<> ]* (\w+)\()"), declared));
    }
  }
}

} // namespace layers_test
