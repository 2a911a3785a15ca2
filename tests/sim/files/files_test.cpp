// A file is there as a whole or not at all; links, devices and full disks.

#include "sim/files/files.hpp"
#include "tests/catch.hpp"
#include "tests/message_of.hpp"
#include "tests/temporary_folder.hpp"

#include <filesystem>

namespace files_test {

using namespace tutti;

TEST_CASE("a file is written whole, under its name only") {
  const TemporaryFolder folder;
  write_file(folder.file("a/b.txt"), "content");
  CHECK(read_file(folder.file("a/b.txt")) == "content");
  CHECK(std::distance(std::filesystem::directory_iterator(folder.file("a")), {}) == 1);
}

TEST_CASE("a link is followed, not replaced") {
  const TemporaryFolder folder;
  write_file(folder.file("real"), "old");
  std::filesystem::create_symlink(folder.file("real"), folder.file("link"));
  write_file(folder.file("link"), "new");
  CHECK(std::filesystem::is_symlink(folder.file("link")));
  CHECK(read_file(folder.file("real")) == "new");
}

TEST_CASE("a device stays a device, and a full one is an error") {
  if (!std::filesystem::is_character_file("/dev/full")) return;
  CHECK(message_of([] { write_file("/dev/full", "content"); }) ==
        "/dev/full: cannot write: No space left on device");
  CHECK(std::filesystem::is_character_file("/dev/full"));
}

TEST_CASE("what can't be read or written is said in words") {
  const TemporaryFolder folder;
  CHECK(message_of([&] { (void)read_file(folder.file("nothing")); }) ==
        folder.file("nothing") + ": cannot read: No such file or directory");
  CHECK(message_of([&] { (void)read_file(folder.file("")); }) ==
        folder.file("") + ": cannot read: Is a directory");
  CHECK(message_of([&] { write_file(folder.file(""), "x"); }) ==
        folder.file("") + ": cannot write: Is a directory");
}

} // namespace files_test
