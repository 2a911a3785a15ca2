// Memory has an end of our own choosing: it is told in words, with what was asked for.
#include "experiments/driver/pool/process_memory.hpp"

#include "sim/files/files.hpp"
#include "sim/processes/child_process.hpp"
#include "sim/processes/message_stream.hpp"
#include "tests/catch.hpp"
#include "tests/temporary_folder.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace process_memory_test {

using namespace tutti;

namespace {

constexpr std::int64_t gibibyte = std::int64_t{1} << 30;

/// A machine of 64 GiB with 60 GiB free, and a process in these control groups.
std::string machine(const TemporaryFolder& folder, const std::string& groups) {
  write_file(folder.file("proc/meminfo"), "MemTotal:       67108864 kB\n"
                                          "MemFree:         1048576 kB\n"
                                          "MemAvailable:   61865984 kB\n"
                                          "SwapFree:        1048576 kB\n");
  write_file(folder.file("proc/self/cgroup"), groups);
  std::string root = folder.file("");
  return root;
}

} // namespace

TEST_CASE("the memory of a machine is what its control group leaves of it") {
  const TemporaryFolder folder;
  const std::string root = machine(folder, "0::/user/one\n");
  CHECK(machine_memory(root).total == 64 * gibibyte);
  CHECK(machine_memory(root).available == 60 * gibibyte);
  CHECK(default_memory_limit(machine_memory(root)) == 48 * gibibyte);
  write_file(folder.file("sys/fs/cgroup/user/one/memory.max"), "max\n");
  write_file(folder.file("sys/fs/cgroup/user/memory.max"), "34359738368\n"); // 32 GiB
  CHECK(machine_memory(root).total == 32 * gibibyte);
  CHECK(default_memory_limit(machine_memory(root)) == 24 * gibibyte);
  write_file(folder.file("sys/fs/cgroup/user/one/memory.max"), "4294967296\n");
  CHECK(default_memory_limit(machine_memory(root)) == 3 * gibibyte);
}

TEST_CASE("the memory of a machine with control groups of version 1") {
  const TemporaryFolder folder;
  const std::string root = machine(folder, "5:cpu:/one\n4:memory:/one/two\n0::/\n");
  write_file(folder.file("sys/fs/cgroup/memory/memory.limit_in_bytes"), "9223372036854771712\n");
  CHECK(machine_memory(root).total == 64 * gibibyte);
  write_file(folder.file("sys/fs/cgroup/memory/one/memory.limit_in_bytes"), "8589934592\n");
  CHECK(machine_memory(root).total == 8 * gibibyte);
}

TEST_CASE("no more memory than is available, and none where nothing is known") {
  CHECK(default_memory_limit({64 * gibibyte, 10 * gibibyte}) == 10 * gibibyte);
  CHECK(default_memory_limit({64 * gibibyte, 0}) == 48 * gibibyte);
  const TemporaryFolder folder;
  CHECK(default_memory_limit(machine_memory(folder.file("nowhere"))) == 0);
}

#ifndef TUTTI_ADDRESS_SANITIZER // which takes far more than the program

TEST_CASE("what is asked for beyond the memory's limit is said in words") {
  for (const std::int64_t mebibytes : {300, 700, 5000}) {
    ChildProcess child([&](int socket) {
      limit_memory(256 << 20);
      try {
        const std::vector<char> much(static_cast<std::size_t>(mebibytes) << 20, 'x');
        (void)MessageStream(socket).send(std::to_string(much.back()));
      } catch (const std::bad_alloc& error) {
        (void)MessageStream(socket).send(memory_text(error));
      }
    });
    const std::string said = MessageStream(child.socket()).receive().value_or("");
    CHECK(child.end().death().empty());
    CHECK_THAT(said, ContainsSubstring(
                         mebibytes == 5000  ? "out of memory: 4.883 GiB more were asked for"
                         : mebibytes == 700 ? "out of memory: 700.0 MiB more were asked for"
                                            : "out of memory: 300.0 MiB more were asked for") &&
                         ContainsSubstring("it may take 256.0 MiB in all"));
  }
}

#endif

} // namespace process_memory_test
