// The pictures of results/ and of the manual are well-formed, their texts stay within them and
// apart.
#include "sim/files/files.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/figures/svg_reading.hpp"
#include "tests/paths.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace shown_pictures_test {

using namespace tutti;

/// By which part a text of narrow letters seems to be longer than it is.
constexpr double narrow_letters = 0.1;

TEST_CASE("shown pictures can be read", "[slow]") {
  namespace fs = std::filesystem;
  std::size_t pictures = 0;
  for (const char* folder : {"/results", "/docs/pictures"})
    for (const auto& entry :
         fs::recursive_directory_iterator(TUTTI_SOURCE_DIR + std::string(folder))) {
      if (entry.path().extension() != ".svg") continue;
      INFO(entry.path().string());
      CHECK(svg_reading::faults_of(svg_reading::read_svg(read_file(entry.path().string())),
                                   narrow_letters) == std::vector<std::string>{});
      ++pictures;
    }
  CHECK(pictures > 300);
}

} // namespace shown_pictures_test
