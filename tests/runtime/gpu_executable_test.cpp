// What tutti-gpu is as a file: small, for any machine with a driver, with code for its GPU.
#include "sim/files/files.hpp"
#include "tests/catch.hpp"
#include "tests/temporary_folder.hpp"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <set>
#include <sstream>
#include <string>
#include <utility>

namespace gpu_executable_test {

using namespace tutti;

namespace {

#ifdef TUTTI_GPU_COMMAND

template <typename Value> Value value_at(const std::string& bytes, std::size_t at) {
  Value value{};
  if (at + sizeof value <= bytes.size()) std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

/// What the fatbins in a program hold, as cuobjdump lists it: ("ptx" or "elf", architecture). Each
/// begins with a mark and its own size; entries tell their kind, sizes, and what they are for.
std::set<std::pair<std::string, unsigned>> device_code(const std::string& program) {
  constexpr std::uint32_t mark = 0xBA55ED50;
  const std::string begin(reinterpret_cast<const char*>(&mark), sizeof mark);
  std::set<std::pair<std::string, unsigned>> found;
  for (std::size_t at = program.find(begin); at != std::string::npos;
       at = program.find(begin, at + 1)) {
    const auto version = value_at<std::uint16_t>(program, at + 4);
    const auto size = value_at<std::uint64_t>(program, at + 8);
    std::size_t entry = at + value_at<std::uint16_t>(program, at + 6);
    if (version != 1 || size > program.size() - entry) continue; // the same bytes elsewhere
    for (const std::size_t end = entry + size; entry < end;) {
      const auto kind = value_at<std::uint16_t>(program, entry);
      found.emplace(kind == 1 ? "ptx" : "elf", value_at<std::uint32_t>(program, entry + 28));
      entry += value_at<std::uint32_t>(program, entry + 4) +
               value_at<std::uint64_t>(program, entry + 8) + (kind == 0 ? 1 : 0);
    }
  }
  return found;
}

#endif

} // namespace

TEST_CASE("tutti-gpu is one small file that needs a C library and has code for every GPU") {
#ifdef TUTTI_GPU_COMMAND
  const std::string program = read_file(TUTTI_GPU_COMMAND);
  CHECK(program.size() < 20'000'000);
  const auto code = device_code(program);
  CHECK(code.contains({"elf", 80}));
  CHECK(code.contains({"elf", 90}));
  CHECK(code.contains({"ptx", 90})); // for what comes
  const TemporaryFolder folder;
  const std::string listed = folder.file("listed");
  if (std::system(("ldd '" TUTTI_GPU_COMMAND "' >'" + listed + "' 2>&1").c_str()) != 0) {
    WARN("left out: no ldd, or no program that it can look into");
    return;
  }
  std::istringstream lines(read_file(listed));
  for (std::string line; std::getline(lines, line);) {
    INFO(line);
    bool known = false;
    for (const char* library : {"linux-vdso", "ld-linux", "libc.so", "libm.so", "libdl.so",
                                "libpthread.so", "librt.so", "linux-gate"})
      known = known || line.find(library) != std::string::npos;
    CHECK(known);
  }
#else
  WARN("left out: no nvcc was found when this was built");
#endif
}

} // namespace gpu_executable_test
