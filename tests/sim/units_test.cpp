// Quantities are read and written exactly, to the picosecond and the byte, and refused where that
// is impossible.

#include "sim/random.hpp"
#include "sim/text.hpp"
#include "sim/units.hpp"
#include "tests/catch.hpp"
#include "tests/message_of.hpp"

#include <vector>

namespace units_test {

using namespace tutti;

__extension__ typedef __int128 int128;

TEST_CASE("sizes, times and bandwidths are read exactly") {
  CHECK(parse_bytes("1GB") == Bytes{1'000'000'000});
  CHECK(parse_bytes("1GiB") == Bytes{1'073'741'824});
  CHECK(parse_bytes(" 1.5 KiB ") == Bytes{1536});
  CHECK(parse_bytes("0B") == Bytes{0});
  CHECK(parse_time("0.5us") == Time{500'000});
  CHECK(parse_time("0.001ns") == Time{1});
  CHECK(parse_time("2s") == Time{2'000'000'000'000});
  CHECK(parse_bandwidth("50GB/s") == Bandwidth{50'000'000'000});
  CHECK(parse_bandwidth("50GiB/s") == Bandwidth{53'687'091'200});
  CHECK(parse_bandwidth("400Gb/s") == parse_bandwidth("50GB/s"));
  CHECK(parse_bandwidth("12.5GB/s") == Bandwidth{12'500'000'000});
  CHECK(parse_bandwidth("8b/s") == Bandwidth{1});
}

TEST_CASE("a quantity that is none is refused in words") {
  const auto bytes = [](const char* text) { return message_of([&] { (void)parse_bytes(text); }); };
  CHECK(bytes("12") == "size \"12\" has no unit (known: B, kB, MB, GB, TB, KiB, MiB, GiB, TiB)");
  CHECK(bytes("8G") ==
        "size \"8G\" has no unit: did you mean \"8GiB\" (as nccl-tests' 8G) or \"8GB\"?");
  CHECK(bytes("1.5 m") ==
        "size \"1.5 m\" has no unit: did you mean \"1.5MiB\" (as nccl-tests' 1.5M) or \"1.5MB\"?");
  CHECK(bytes("12GIB") == "size \"12GIB\" has an unknown unit \"GIB\" (known: B, kB, MB, GB, TB, "
                          "KiB, MiB, GiB, TiB; did you mean \"GB\"?)");
  CHECK(bytes("-1GB") == "size \"-1GB\" is negative");
  CHECK(bytes("nan") == "size \"nan\" is not a number with a unit");
  CHECK(bytes("infGB") == "size \"infGB\" is not a number with a unit");
  CHECK(bytes("") == "size \"\" is not a number with a unit");
  CHECK(bytes(".") == "size \".\" is not a number with a unit");
  CHECK(bytes("1.5B") == "size \"1.5B\" is not a whole number of B");
  CHECK(bytes("99999999999999999999B") == "size \"99999999999999999999B\" is out of range");
  CHECK(bytes("9000000TB") == "size \"9000000TB\" is out of range");
  CHECK(message_of([] { (void)parse_time("0.1ps"); }) ==
        "time \"0.1ps\" is not a whole number of ps");
  CHECK(message_of([] { (void)parse_time("5 h"); }) ==
        "time \"5 h\" has an unknown unit \"h\" (known: ps, ns, us, ms, s)");
  CHECK(message_of([] { (void)parse_bandwidth("0GB/s"); }) ==
        "bandwidth \"0GB/s\" must be positive");
  CHECK_THAT(message_of([] { (void)parse_bandwidth("50GB"); }),
             ContainsSubstring("unknown unit \"GB\"") &&
                 ContainsSubstring("did you mean \"GB/s\""));
  CHECK(message_of([] { (void)parse_bandwidth("4b/s"); }) ==
        "bandwidth \"4b/s\" is not a whole number of B/s");
}

TEST_CASE("exact texts read back to the same value") {
  CHECK(to_text(Bytes{1 << 30}) == "1GiB");
  CHECK(to_text(Bytes{1'000'000'000}) == "1GB");
  CHECK(to_text(Time{500'000}) == "500ns");
  CHECK(to_text(Bandwidth{12'500'000'000}) == "12.5GB/s");
  Random random(3);
  for (int i = 0; i < 2000; ++i) {
    const auto value = static_cast<std::int64_t>(random.next() >> (2 + random.below(60)));
    CHECK(parse_bytes(to_text(Bytes{value})) == Bytes{value});
    CHECK(parse_time(to_text(Time{value})) == Time{value});
    if (value > 0) CHECK(parse_bandwidth(to_text(Bandwidth{value})) == Bandwidth{value});
  }
}

TEST_CASE("short texts have four digits and a unit") {
  CHECK(short_text(Time{21'417'300'000}) == "21.42 ms");
  CHECK(short_text(Time{0}) == "0.000 ps");
  CHECK(short_text(Time{1'500'000}) == "1.500 us");
  CHECK(short_text(Bytes{120'525}) == "117.7 KiB");
  CHECK(short_text(Bytes{512}) == "0.500 KiB");
  CHECK(short_text(Bytes{std::int64_t{3} << 40}) == "3.000 TiB");
  CHECK(short_rate_text(48.287e9) == "48.29 GB/s");
  CHECK(short_rate_text(999.96e9) == "1000.0 GB/s");
  CHECK(short_text(Bandwidth{50'000'000'000}) == "50GB/s"); // exact where that is short
  CHECK(short_text(Bandwidth{63'015'384'615}) == "63.02 GB/s");
}

TEST_CASE("serialization rounds up to a picosecond") {
  CHECK(serialization(Bytes{1}, Bandwidth{50'000'000'000}) == Time{20});
  CHECK(serialization(Bytes{1}, Bandwidth{3'000'000'000}) == Time{334}); // 333.3
  CHECK(serialization(Bytes{0}, Bandwidth{7}) == Time{0});
  // 2^40 B at 3 B/s: 128-bit arithmetic, 366503875925.33.. s
  CHECK(serialization(Bytes{std::int64_t{1} << 30}, Bandwidth{3'000'000}) ==
        Time{357'913'941'333'334});
  CHECK(message_of([] { (void)serialization(Bytes{INT64_MAX / 2}, Bandwidth{1}); }) ==
        "4611686018427387903B at 1B/s take longer than 53 days");
  // Just below and above where 64 bits suffice: the least time with time * rate >= size * 10^12.
  for (const std::int64_t size : {9'223'371, 9'223'372, 9'223'373})
    for (const std::int64_t rate : {1'000'003LL, 77'777'777LL, 50'000'000'000LL}) {
      const int128 work = static_cast<int128>(size) * 1'000'000'000'000;
      const Time time = serialization(Bytes{size}, Bandwidth{rate});
      CHECK(static_cast<int128>(time.ps) * rate >= work);
      CHECK(static_cast<int128>(time.ps - 1) * rate < work);
    }
}

TEST_CASE("lists of numbers") {
  CHECK(parse_ranges("0-3+7+5-6", "group") == std::vector<std::uint32_t>{0, 1, 2, 3, 7, 5, 6});
  CHECK(ranges_text({0, 1, 2, 3, 7, 5, 6}) == "0-3+7+5-6");
  CHECK(message_of([] { (void)parse_ranges("3-1", "group"); }) ==
        "group range \"3-1\" runs backwards");
  CHECK(message_of([] { (void)parse_ranges("0-x", "group"); }) ==
        "group \"x\" is not a whole number");
  CHECK(message_of([] { (void)parse_integer("12", "seed", 0, 9); }) ==
        "seed 12 is out of range (0 .. 9)");
  CHECK(message_of([] { (void)parse_integer("99999999999999999999", "seed", 0, 9); }) ==
        "seed 99999999999999999999 is out of range (0 .. 9)");
}

TEST_CASE("unknown names come with what is known") {
  const std::vector<std::string> known{"ring", "mesh2d", "torus2d"};
  CHECK(unknown_name("topology", "rign", known) ==
        "unknown topology \"rign\" (known: ring, mesh2d, torus2d; did you mean \"ring\"?)");
  CHECK(unknown_name("topology", "butterfly", known) ==
        "unknown topology \"butterfly\" (known: ring, mesh2d, torus2d)");
}

TEST_CASE("the generator gives the same numbers on every machine") {
  // SplitMix64 with seed 1234567, from its reference implementation.
  Random random(1234567);
  CHECK(random.next() == 6457827717110365317ULL);
  CHECK(random.next() == 3203168211198807973ULL);
  CHECK(random.next() == 9817491932198370423ULL);
}

} // namespace units_test
