// Which folder data files come from, and which names they have.

#include "sim/files/data_files.hpp"

#include "sim/files/files.hpp"

#include "tests/catch.hpp"
#include "tests/message_of.hpp"
#include "tests/temporary_folder.hpp"

#include <string>
#include <vector>

namespace data_files_test {

using namespace tutti;

TEST_CASE("data files: the names of a folder's TOML files, ascending") {
  const TemporaryFolder folder;
  for (const std::string name : {"b.toml", "a.toml", "notes.txt"})
    write_file(folder.file(name), "x = 1\n");
  const std::string path = folder.file("");
  CHECK(data_names(path) == std::vector<std::string>{"a", "b"});
  CHECK(data_names(path + "missing").empty());

  CHECK(find_data_file("thing", "a", path) == path + "a.toml");
  CHECK(find_data_file("thing", "else.toml", path) == "else.toml");
  CHECK(find_data_file("thing", "there/else", path) == "there/else");
  CHECK(message_of([&] { (void)find_data_file("thing", "c", path); }) ==
        "unknown thing \"c\" (known: a, b)");
}

TEST_CASE("data files: the source tree's where the command isn't installed") {
  CHECK(data_folder("no_such_kind_of_data", "/source/things") == "/source/things");
}

} // namespace data_files_test
