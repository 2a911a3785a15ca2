// Which folder data files come from, and which names they have.

#include "sim/files/data_files.hpp"

#include "sim/files/files.hpp"

#include "tests/catch.hpp"
#include "tests/message_of.hpp"
#include "tests/temporary_folder.hpp"

#include <filesystem>
#include <string>
#include <vector>

#include <unistd.h>

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

TEST_CASE("data files: what is beside the program comes first") {
  const std::vector<std::filesystem::path> own = own_folders();
  REQUIRE_FALSE(own.empty());
  CHECK(own.back() == std::filesystem::read_symlink("/proc/self/exe").parent_path());
  const std::string kind = "things_of_" + std::to_string(::getpid());
  const std::filesystem::path share = own.front() / "share/tutti" / kind;
  std::filesystem::create_directories(share);
  const std::string found = data_folder(kind, "/source/things");
  std::filesystem::remove(share);
  CHECK(found == share.string());
}

} // namespace data_files_test
