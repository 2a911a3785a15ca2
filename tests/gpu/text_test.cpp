// Durations as the commands of tutti-gpu read them: by the rules of the command tutti.
#include "gpu/text.hpp"
#include "sim/random.hpp"
#include "sim/units.hpp"
#include "tests/catch.hpp"
#include "tests/message_of.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace text_test {

using namespace tutti;

TEST_CASE("durations are those of the command tutti, rounded up to a millisecond") {
  Random random(7);
  const std::string letters = "0123456789..  eE-+munps";
  const char* units[] = {"ps", "ns", "us", "ms", "s"};
  std::size_t accepted = 0, refused = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    std::string text;
    if (trial % 2 == 0) {
      text = std::to_string(random.below(100'000)) + "." + std::to_string(random.below(1000)) +
             (random.below(2) == 0 ? " " : "") + units[1 + random.below(4)];
    } else {
      for (std::uint64_t n = random.below(6); n > 0; --n)
        text += letters[random.below(letters.size())];
      text += units[random.below(5)];
    }
    std::int64_t meant = 0; // picoseconds; a time of nothing is refused, too
    const std::string why = message_of([&] { meant = parse_time(text).ps; });
    const bool is_whole = why.find("whole number") == std::string::npos; // finer than a picosecond
    if (meant > 24 * 3600 * ps_per_s) meant = 0;
    std::optional<std::chrono::milliseconds> found;
    const std::string words = message_of([&] { found = gpu::parse_duration(text, "--limit"); });
    INFO("\"" << text << "\" " << why << " | " << words);
    if (!is_whole) continue;
    REQUIRE(found.has_value() == (meant > 0));
    if (found) {
      CHECK(found->count() == (meant + 999'999'999) / 1'000'000'000);
      ++accepted;
    } else {
      CHECK(words.starts_with("--limit: \"" + text + "\" "));
      ++refused;
    }
  }
  CHECK(accepted > 500);
  CHECK(refused > 100);
}

} // namespace text_test
