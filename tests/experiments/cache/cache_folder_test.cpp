#include "experiments/driver/cache/cache_folder.hpp"

#include "sim/error.hpp"
#include "sim/files/files.hpp"
#include "tests/catch.hpp"
#include "tests/temporary_folder.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cache_folder_test {

using namespace tutti;

namespace {

namespace fs = std::filesystem;

constexpr Bytes kib(std::int64_t count) { return {count * 1024}; }

/// Numbers that lie in different folders.
std::uint64_t number(std::uint64_t i) { return i << 56U | i; }

void use(const CacheFolder& folder, std::uint64_t i, std::chrono::hours ago) {
  fs::last_write_time(folder.path_of(number(i)), fs::file_time_type::clock::now() - ago);
}

/// Bytes of all files of a cache, in blocks.
std::int64_t taken(const std::string& folder) {
  std::int64_t blocks = 0;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder))
    if (entry.path().extension() == ".schedule")
      blocks += (static_cast<std::int64_t>(entry.file_size()) + 4095) / 4096;
  return blocks * 4096;
}

std::vector<std::uint64_t> kept(const CacheFolder& folder, std::uint64_t count) {
  std::vector<std::uint64_t> found;
  for (std::uint64_t i = 0; i < count; ++i)
    if (folder.read(number(i))) found.push_back(i);
  return found;
}

} // namespace

TEST_CASE("files of a cache lie in folders by their first digits") {
  const TemporaryFolder temporary;
  const CacheFolder folder(temporary.file("cache"), kib(1024));
  CHECK(folder.path_of(0xab00000000000001ULL) ==
        temporary.file("cache") + "/ab/ab00000000000001.schedule");
  CHECK_FALSE(folder.read(0xab00000000000001ULL));
  folder.write(0xab00000000000001ULL, "content");
  CHECK(folder.read(0xab00000000000001ULL) == "content");
  CHECK(read_file(folder.path_of(0xab00000000000001ULL)) == "content");
}

TEST_CASE("the least recently used files of a cache go first") {
  const TemporaryFolder temporary;
  const CacheFolder folder(temporary.file("cache"), kib(64)); // 16 blocks
  // Of 14 blocks in use none has to go (7/8), nor is 15 more than 15/16: there is no look.
  for (std::uint64_t i = 0; i < 15; ++i) {
    folder.write(number(i), "x");
    use(folder, i, std::chrono::hours(100 - i));
  }
  CHECK(kept(folder, 16).size() == 15);
  folder.touch(number(0));
  folder.touch(number(2));
  folder.write(number(15), "x"); // down to 12: 4 of 16 go
  CHECK(kept(folder, 16) == std::vector<std::uint64_t>{0, 2, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15});
}

TEST_CASE("a cache never takes more than its limit") {
  const TemporaryFolder temporary;
  const CacheFolder folder(temporary.file("cache"), kib(256));
  std::uint64_t random = 1;
  for (std::uint64_t i = 0; i < 300; ++i) {
    random = random * 6364136223846793005ULL + 1442695040888963407ULL;
    folder.write(random, std::string(random >> 48U, 'x')); // up to 64 KiB
    REQUIRE(taken(folder.folder()) <= 256 * 1024);
  }
  CHECK(taken(folder.folder()) > 128 * 1024); // and is used
}

TEST_CASE("a limit that is lowered holds from the next file on") {
  const TemporaryFolder temporary;
  const CacheFolder large(temporary.file("cache"), kib(1024));
  for (std::uint64_t i = 0; i < 100; ++i) large.write(number(i), "x");
  CHECK(kept(large, 100).size() == 100);
  const CacheFolder small(temporary.file("cache"), kib(64));
  small.write(number(100), "x");
  CHECK(kept(small, 101).size() == 12);
  CHECK(small.read(number(100)));
}

TEST_CASE("a file that would take more than a quarter of a cache isn't kept") {
  const TemporaryFolder temporary;
  const CacheFolder folder(temporary.file("cache"), kib(64));
  folder.write(number(1), std::string(16 * 1024, 'x'));
  folder.write(number(2), std::string(16 * 1024 + 1, 'x'));
  CHECK(kept(folder, 3) == std::vector<std::uint64_t>{1});
  const CacheFolder nothing(temporary.file("none"), kib(0));
  nothing.write(number(1), "x");
  CHECK_FALSE(fs::exists(temporary.file("none")));
}

TEST_CASE("nothing but a cache's own files is removed") {
  const TemporaryFolder temporary;
  const std::string cache = temporary.file("cache");
  const std::string name = "0123456789abcdef.schedule";
  const std::vector<std::string> foreign{cache + "/notes.txt",
                                         cache + "/01/notes.schedule",
                                         cache + "/01/0123456789ABCDEF.schedule",
                                         cache + "/01/" + name + ".gz",
                                         cache + "/01/" + name + "s",
                                         cache + "/01/0123456789abcde.schedule",
                                         cache + "/01/notes.part",
                                         cache + "/xy/" + name,
                                         cache + "/01/deeper/" + name,
                                         temporary.file(name)};
  const auto long_ago = fs::file_time_type::clock::now() - std::chrono::hours(1'000);
  for (const std::string& file : foreign) {
    write_file(file, std::string(50'000, 'x'));
    fs::last_write_time(file, long_ago);
  }
  fs::create_directories(cache + "/02/0223456789abcdef.schedule"); // a folder by that name
  fs::create_symlink(foreign.front(), cache + "/03");
  fs::create_symlink(foreign.front(), cache + "/01/0123456789abcdee.schedule");
  const CacheFolder folder(cache, kib(64));
  for (std::uint64_t i = 16; i < 80; ++i) folder.write(number(i), "x");
  CHECK(kept(folder, 80).size() <= 15);
  for (const std::string& file : foreign) CHECK(fs::exists(file));
  CHECK(fs::exists(cache + "/02/0223456789abcdef.schedule"));
  CHECK(fs::is_symlink(cache + "/01/0123456789abcdee.schedule"));
}

TEST_CASE("files of an earlier version are the first to go") {
  const TemporaryFolder temporary;
  const std::string cache = temporary.file("cache");
  const std::string flat = cache + "/00000000000000ff.schedule";
  write_file(flat, std::string(4 * 4096, 'x'));
  const CacheFolder folder(cache, kib(64));
  for (std::uint64_t i = 0; i < 10; ++i) folder.write(number(i), "x");
  CHECK_FALSE(folder.read(0xff));
  CHECK(fs::exists(flat)); // 14 blocks
  for (std::uint64_t i = 0; i < 10; ++i) use(folder, i, std::chrono::hours(100));
  folder.write(number(10), "x");
  folder.write(number(11), "x"); // 16 blocks
  CHECK_FALSE(fs::exists(flat));
  CHECK(kept(folder, 12).size() == 12);
}

TEST_CASE("leftovers of killed writers go after an hour") {
  const TemporaryFolder temporary;
  const CacheFolder folder(temporary.file("cache"), kib(64));
  const std::string old_one = folder.path_of(number(1)) + ".0badcafe-12.part",
                    older = old_one + ".12.part",
                    new_one = folder.path_of(number(2)) + ".0badcafe-13.part";
  for (const std::string& file : {old_one, older, new_one}) write_file(file, "torn");
  for (const std::string& file : {old_one, older})
    fs::last_write_time(file, fs::file_time_type::clock::now() - std::chrono::minutes(61));
  fs::last_write_time(new_one, fs::file_time_type::clock::now() - std::chrono::minutes(59));
  folder.write(number(3), "x"); // the first: there is a look
  CHECK_FALSE(fs::exists(old_one));
  CHECK_FALSE(fs::exists(older));
  CHECK(fs::exists(new_one));
}

TEST_CASE("a cache that can't be written is an error") {
  const TemporaryFolder temporary;
  write_file(temporary.file("plain"), "a file, no folder");
  const CacheFolder folder(temporary.file("plain") + "/cache", kib(64));
  CHECK_THROWS_WITH(folder.write(number(1), "x"), ContainsSubstring("cannot write"));
  CHECK_FALSE(folder.read(number(1)));
}

TEST_CASE("processes that fill, read and clean one folder see whole files only") {
  const TemporaryFolder temporary;
  constexpr std::uint64_t numbers = 40;
  constexpr int rounds = 400, processes = 4;
  const auto content_of = [](std::uint64_t i) { // of 1 to 3 blocks
    return std::to_string(i) + std::string(1 + i * 300, static_cast<char>('a' + i % 26));
  };
  const auto plays = [&](std::uint64_t who) {
    const CacheFolder folder(temporary.file("cache"), kib(128)); // a third of what is written
    std::uint64_t random = who;
    for (int round = 0; round < rounds; ++round) {
      random = random * 6364136223846793005ULL + 1442695040888963407ULL;
      const std::uint64_t i = (random >> 33U) % numbers;
      if (const std::optional<std::string> found = folder.read(number(i))) {
        if (*found != content_of(i)) return false;
        folder.touch(number(i));
      }
      folder.write(number((i + who) % numbers), content_of((i + who) % numbers));
    }
    return true;
  };
  std::vector<pid_t> children;
  for (int child = 1; child < processes; ++child) {
    const pid_t process = fork();
    if (process == 0) _exit(plays(static_cast<std::uint64_t>(child)) ? 0 : 1);
    children.push_back(process);
  }
  CHECK(plays(0));
  for (const pid_t child : children) {
    int status = -1;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(status == 0);
  }
  // Each of the others may have written one file while the last one to clean looked.
  CHECK(taken(temporary.file("cache")) <= (128 + (processes - 1) * 16) * 1024);
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(temporary.file("cache")))
    CHECK(entry.path().extension() != ".part");
}

} // namespace cache_folder_test
