// What nvcc makes of the kernels, where it is: registers, spills, fences and wide accesses, which
// no test on the host can see and no run without a GPU would show.
#include "sim/files/files.hpp"
#include "tests/catch.hpp"
#include "tests/paths.hpp"
#include "tests/temporary_folder.hpp"

#include <cstdlib>
#include <map>
#include <regex>
#include <sstream>
#include <string>

namespace cuda_golden_test {

using namespace tutti;

namespace {

#ifdef TUTTI_NVCC

/// By ptxas -v, and counted in the PTX.
struct KernelFigures {
  int registers = -1, stack_bytes = -1, spilled_bytes = -1;
  std::size_t device_fences = 0, system_fences = 0, other_fences = 0;
  std::size_t wide_loads = 0, wide_stores = 0, unknown_space = 0;
};

std::size_t count_of(const std::string& text, const std::string& pattern) {
  const std::regex regex(pattern);
  return static_cast<std::size_t>(
      std::distance(std::sregex_iterator(text.begin(), text.end(), regex), {}));
}

/// By mangled names.
using Figures = std::map<std::string, KernelFigures>;

void read_ptxas(const std::string& said, Figures& figures) {
  const std::regex entry("Compiling entry function '([^']+)'"),
      spills("(\\d+) bytes stack frame, (\\d+) bytes spill stores, (\\d+) bytes spill loads"),
      used("Used (\\d+) registers");
  std::istringstream lines(said);
  KernelFigures* kernel = nullptr;
  std::smatch match;
  for (std::string line; std::getline(lines, line);) {
    if (std::regex_search(line, match, entry)) kernel = &figures[match[1]];
    if (kernel == nullptr) continue;
    if (std::regex_search(line, match, spills)) {
      kernel->stack_bytes = std::stoi(match[1]);
      kernel->spilled_bytes = std::stoi(match[2]) + std::stoi(match[3]);
    }
    if (std::regex_search(line, match, used)) kernel->registers = std::stoi(match[1]);
  }
}

void read_ptx(const std::string& ptx, Figures& figures) {
  const std::string mark = ".entry ";
  for (std::size_t at = ptx.find(mark); at != std::string::npos;) {
    const std::size_t begin = at + mark.size(), end = ptx.find(mark, begin);
    KernelFigures& kernel = figures[ptx.substr(begin, ptx.find_first_of("( \n", begin) - begin)];
    const std::string body = ptx.substr(begin, end - begin);
    kernel.device_fences = count_of(body, "fence\\.acq_rel\\.gpu");
    kernel.system_fences = count_of(body, "fence\\.acq_rel\\.sys");
    kernel.other_fences =
        count_of(body, "(fence|membar)\\.") - kernel.device_fences - kernel.system_fences;
    kernel.wide_loads = count_of(body, "ld\\.global\\.(nc\\.)?v4");
    kernel.wide_stores = count_of(body, "st\\.global\\.v4");
    kernel.unknown_space = count_of(body, "\\b(ld|st)\\.(v[24]\\.)?[bfsu]\\d");
    at = end;
  }
}

/// Of all kernels, for one architecture.
Figures compile_kernels(const std::string& architecture) {
  const TemporaryFolder folder;
  const std::string said = folder.file("said");
  const std::string command = "cd '" + folder.file("") +
                              "' && " TUTTI_NVCC " -std=c++20 --expt-relaxed-constexpr -O3 -I'" +
                              TUTTI_SOURCE_DIR "' -arch=sm_" + architecture +
                              " -cubin -Xptxas -v --keep '" TUTTI_SOURCE_DIR
                              "/runtime/cuda/kernels.cu' -o kernels.cubin >'" +
                              said + "' 2>&1";
  const int status = std::system(command.c_str());
  INFO(read_file(said));
  REQUIRE(status == 0);
  Figures figures;
  read_ptxas(read_file(said), figures);
  read_ptx(read_file(folder.file("kernels.ptx")), figures);
  return figures;
}

#endif

} // namespace

TEST_CASE("kernels keep to their registers, fences and wide accesses", "[slow]") {
#ifdef TUTTI_NVCC
  for (const std::string architecture : {"80", "90"}) {
    std::map<std::string, int> found;
    for (const auto& [name, kernel] : compile_kernels(architecture)) {
      INFO(name << " for sm_" << architecture);
      CHECK(kernel.stack_bytes == 0);
      CHECK(kernel.spilled_bytes == 0);
      CHECK(kernel.other_fences == 0); // those of sequential consistency cost more
      const bool runs = name.find("run_blocks") != std::string::npos;
      const bool moves = runs || name.find("move_step") != std::string::npos;
      ++found[runs ? "run_blocks" : moves ? "move_step" : "count_wrong"];
      CHECK(kernel.registers > 0);
      // A multiprocessor has 65,536: blocks of 1,024 threads are resident with 64.
      CHECK(kernel.registers <= (runs ? 64 : 48));
      // After each of three awaits, where all meet, and to publish, of either scope: one of the
      // two is passed.
      CHECK(kernel.device_fences == (runs ? 5 : 0));
      CHECK(kernel.system_fences == (runs ? 5 : 0));
      if (!moves) continue;
      CHECK(kernel.wide_loads >= 4); // on their way at once
      CHECK(kernel.wide_stores >= 4);
      CHECK(kernel.unknown_space == 0); // whose address is looked at before each access
    }
    CHECK(found ==
          std::map<std::string, int>{{"run_blocks", 8}, {"move_step", 8}, {"count_wrong", 8}});
  }
#else
  WARN("left out: no nvcc was found when this was built");
#endif
}

} // namespace cuda_golden_test
