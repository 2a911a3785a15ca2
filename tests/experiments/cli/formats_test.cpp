// The manual's tables of keys against the program. Above each table of docs/formats stands
// `<!-- keys: KIND TABLE -->`; formats/KIND.TABLE.toml is a file with an unknown key in that table,
// and commands.txt has the command that reads it, whose answer lists the keys that it knows. Tables
// of equal comments count together; `+FORM` tells apart forms of one table that take other keys.
#include "experiments/driver/cli/options.hpp"
#include "sim/files/files.hpp"
#include "sim/text.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/cli/run_tutti.hpp"
#include "tests/paths.hpp"

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace formats_test {

using namespace tutti;

namespace {

const std::string source = TUTTI_SOURCE_DIR;
constexpr std::string_view table_head = "| key | value | default | what it says |";

using KeysOfTables = std::map<std::string, std::set<std::string>>;

/// Those of "<!-- keys: topology links -->": "topology.links"; of the top level "topology".
std::string table_of(std::string_view comment) {
  constexpr std::string_view begin = "<!-- keys: ", end = " -->";
  REQUIRE(comment.ends_with(end));
  std::string name(comment.substr(begin.size(), comment.size() - begin.size() - end.size()));
  const std::size_t blank = name.find(' ');
  REQUIRE(blank != std::string::npos);
  name[blank] = '.';
  return name.ends_with("..") ? name.substr(0, blank) : name;
}

/// What a page's tables of keys say, added to `documented`.
void read_page(const std::string& page, KeysOfTables& documented) {
  std::vector<std::string> tables; // of the comments above what comes next
  bool in_table = false;
  for (const std::string_view line : split(page, '\n')) {
    INFO(line);
    if (line.starts_with("<!-- keys: ")) {
      tables.push_back(table_of(line));
    } else if (line == table_head) {
      REQUIRE_FALSE(tables.empty());
      in_table = true;
    } else if (in_table && line.starts_with("| `")) {
      const std::string key(line.substr(3, line.find('`', 3) - 3));
      for (const std::string& table : tables) CHECK(documented[table].insert(key).second);
    } else if (!line.empty() && !line.starts_with("|")) {
      tables.clear();
      in_table = false;
    } else if (line.empty() && in_table) {
      tables.clear();
      in_table = false;
    }
  }
}

KeysOfTables documented_keys() {
  KeysOfTables documented;
  for (const auto& entry : std::filesystem::directory_iterator(source + "/docs/formats"))
    if (entry.path().extension() == ".md") {
      INFO(entry.path().string());
      read_page(read_file(entry.path().string()), documented);
    }
  return documented;
}

/// The keys in `... unknown key "zzz" (known: a, b, c)`.
std::set<std::string> known_keys(const std::string& answer) {
  constexpr std::string_view begin = "unknown key \"zzz\" (known: ";
  const std::size_t at = answer.find(begin);
  REQUIRE(at != std::string::npos);
  std::string_view list = std::string_view(answer).substr(at + begin.size());
  list = list.substr(0, list.find_first_of(";)"));
  std::set<std::string> keys;
  for (const std::string_view key : split(list, ',')) keys.emplace(trimmed(key));
  return keys;
}

} // namespace

TEST_CASE("the manual's tables of keys have the keys that the program knows") {
  KeysOfTables documented = documented_keys();
  const std::string folder = source + "/tests/experiments/cli/formats";
  const std::string commands = read_file(folder + "/commands.txt");
  for (const std::string_view line : split(commands, '\n')) {
    if (line.empty()) continue;
    const std::size_t tab = line.find('\t');
    REQUIRE(tab != std::string_view::npos);
    const std::string name(line.substr(0, tab));
    std::string arguments(line.substr(tab + 1));
    REQUIRE(arguments.starts_with("tutti "));
    arguments = arguments.substr(std::string_view("tutti ").size());
    const std::size_t file = arguments.find("FILE");
    REQUIRE(file != std::string::npos);
    arguments.replace(file, 4, "'" + folder + "/" + name + ".toml'");
    INFO(name);
    const CommandResult result = run_tutti(arguments);
    INFO(result.err);
    CHECK(result.code == 2);
    CHECK(documented[name] == known_keys(result.err));
    documented.erase(name);
  }
  CHECK(documented.empty()); // else: a table that no command reads
}

TEST_CASE("the manual's tables of keys have the words that may stand at a key") {
  std::size_t checked = 0;
  for (const StudyCommand& command : study_commands()) {
    const std::string page =
        read_file(source + "/docs/formats/" + std::string(command.kind) + ".md");
    for (const StudyOption& row : command.options) {
      const Names words = row.words == nullptr ? Names{} : row.words();
      if (words.empty() || words.size() > 6) continue; // more are names that may grow in number
      const std::size_t at = page.find("\n| `" + std::string(row.key) + "` |");
      INFO(command.kind << ": " << row.key);
      REQUIRE(at != std::string::npos);
      const std::string line = page.substr(at + 1, page.find('\n', at + 1) - at);
      if (line.find("| name") != std::string::npos) continue; // likewise
      for (const std::string& word : words) CHECK_THAT(line, ContainsSubstring("\"" + word));
      ++checked;
    }
  }
  CHECK(checked > 20);
}

} // namespace formats_test
