// Stores whose bytes have changed: at every reading either the content is as it was written, or
// somebody says that it isn't.
#include "experiments/driver/sweep/store/database.hpp"
#include "experiments/driver/sweep/store/store.hpp"
#include "sim/error.hpp"
#include "sim/files/files.hpp"
#include "sim/random.hpp"
#include "sim/text.hpp"
#include "tests/catch.hpp"
#include "tests/message_of.hpp"
#include "tests/sweep/sweep_samples.hpp"
#include "tests/temporary_folder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string_view>

namespace store_damage_test {

using namespace tutti;
using namespace tutti::sweep;
using Catch::Matchers::StartsWith;

namespace {

constexpr std::size_t points = 60;

PointResults results_of(const Point& point) {
  const double k = point.values.front().number;
  PointResults results = samples::results(k);
  if (point.position % 5 == 4) {
    results = {};
    results.status = PointStatus::refused;
    results.message = fmt::format("no network of {} NPUs", k);
  }
  return results;
}

void work(Store& store, const PointSpace& space) {
  std::vector<FinishedPoint> finished;
  while (true) {
    const std::vector<std::size_t> claimed = store.record_and_claim(finished, 7);
    if (claimed.empty()) return;
    finished.clear();
    for (const std::size_t position : claimed)
      finished.push_back({position, results_of(space.points[position])});
  }
}

void make_store(const std::string& file, const PointSpace& space) {
  Store store = Store::open(file, samples::sweep());
  store.prepare(space, {}, false);
  work(store, space);
}

const std::vector<std::string>& all_names() {
  static const std::vector<std::string_view> words =
      split("position key status message experiment_seed expected_work k npus "
            "collective_time_s lower_bound_s algorithm algbw_bytes_per_s tutti commit_id",
            ' ');
  static const std::vector<std::string> names(words.begin(), words.end());
  return names;
}

std::string content_of(const std::string& file) {
  return samples::content(Store::open_to_read(file).table(all_names()));
}

std::string damaged(std::string bytes, Random& random) {
  const std::size_t changes = 1 + random.below(3);
  for (std::size_t i = 0; i < changes; ++i) {
    char& byte = bytes[random.below(bytes.size())];
    if (random.below(2) == 0)
      byte = static_cast<char>(byte ^ (1 << random.below(8)));
    else
      byte = static_cast<char>(random.below(256));
  }
  return bytes;
}

// The first line that differs; empty: none.
std::string difference(const std::string& found, const std::string& expected) {
  const auto [a, b] = std::mismatch(found.begin(), found.end(), expected.begin(), expected.end());
  if (a == found.end() && b == expected.end()) return {};
  const auto at = static_cast<std::size_t>(a - found.begin());
  const std::size_t begin = at == 0 ? 0 : found.rfind('\n', at - 1) + 1;
  return "\"" + found.substr(begin, found.find('\n', begin) - begin) + "\"";
}

struct Tally {
  std::size_t same = 0, told = 0, mended = 0;
};

// The content that is read from a damaged copy is the original's, or there is an error; whoever
// goes on with it ends with the original's content, or with an error.
Tally try_damages(std::uint64_t seed, std::size_t times) {
  const TemporaryFolder folder;
  const PointSpace space = samples::space(points);
  make_store(folder.file("whole"), space);
  const std::string bytes = read_file(folder.file("whole")),
                    whole = content_of(folder.file("whole"));
  Random random(seed);
  Tally tally;
  for (std::size_t i = 0; i < times; ++i) {
    const std::string file = folder.file(fmt::format("{}.sqlite", i));
    write_file(file, damaged(bytes, random));
    CAPTURE(seed, i);
    std::optional<std::string> read;
    const std::string message = message_of([&] { read = content_of(file); });
    if (read) {
      CHECK(difference(*read, whole) == "");
      ++tally.same;
    } else {
      CHECK_FALSE(message.empty());
      ++tally.told;
    }
    bool finished = false;
    const std::string refusal = message_of([&] {
      Store store = Store::open(file, samples::sweep());
      store.prepare(space, {}, false);
      const bool found = !store.damage().empty();
      work(store, space);
      const std::string mended = samples::content(store.table(all_names()));
      CHECK(difference(mended, whole) == "");
      finished = true;
      if (found) ++tally.mended;
    });
    if (!finished) CHECK_FALSE(refusal.empty());
    for (const char* ending : {"", "-owners", "-wal", "-shm"})
      std::filesystem::remove(file + ending);
  }
  return tally;
}

} // namespace

TEST_CASE("no number of a damaged store comes back changed") {
  const Tally tally = try_damages(1, 60);
  CHECK(tally.told > 12); // else the damage hits nothing
  CHECK(tally.mended > 3);
}

TEST_CASE("no number of a damaged store comes back changed, many times", "[slow]") {
  for (std::uint64_t seed = 100; seed < 110; ++seed) (void)try_damages(seed, 500);
}

TEST_CASE("rows aren't written into tables that lack pages") {
  const TemporaryFolder folder;
  const std::string file = folder.file("s.sqlite");
  const PointSpace space = samples::space(points);
  make_store(file, space);
  std::int64_t page_size = 0, root = 0;
  {
    Database database(file, Database::Mode::read);
    page_size = *database.single_integer("PRAGMA page_size");
    root = *database.single_integer("SELECT rootpage FROM sqlite_master WHERE name = 'points'");
  }
  std::string bytes = read_file(file);
  const auto first_cell = static_cast<std::size_t>((root - 1) * page_size + 12);
  REQUIRE(bytes[first_cell - 12] == 5); // an inner page of a table: pages lie below it
  bytes[first_cell] = '\x7f';           // its first child is nowhere
  write_file(file, bytes);
  Store store = Store::open(file, samples::sweep());
  CHECK_THAT(message_of([&] { store.prepare(space, {}, false); }),
             StartsWith(file + ": is damaged: "));
}

TEST_CASE("a damaged row is named, refused where it is read, and simulated again") {
  const TemporaryFolder folder;
  const std::string file = folder.file("s.sqlite");
  const PointSpace space = samples::space(points);
  make_store(file, space);
  const std::string whole = content_of(file);
  const std::string change =
      GENERATE("results = json_set(results, '$.collective_time_s', 12.5)",
               "results = json_remove(results, '$.collective_time_s')",
               "results = json_set(results, '$.lower_bound_s', -1)", "results = NULL",
               "results = 'x'", "results = results || ' '", "results = CAST(results AS BLOB)",
               "status = 'refused'", "status = 'pending'", "entered = json_set(entered, '$.k', 4)",
               "entered = NULL", "entered = replace(entered, '\"8\"', '8')",
               "entered = replace(entered, '8', '9')", "position = 99", "position = NULL",
               "key = 'other'", "expected_work = 7", "result_sum = NULL", "entered_sum = 0");
  CAPTURE(change);
  Database(file, Database::Mode::write)
      .run(fmt::format("UPDATE points SET {} WHERE position = 17", change));
  CHECK_THAT(message_of([&] { (void)content_of(file); }),
             StartsWith(file + ": 1 damaged row (") &&
                 ContainsSubstring("the command without --report or --where simulates them again"));
  {
    Store merged = Store::open(folder.file("merged"), samples::sweep());
    merged.prepare(space, {}, false);
    CHECK(merged.merge(file) == points - 1);
    CHECK_THAT(merged.damage(),
               StartsWith(file + ": 1 damaged row (") && ContainsSubstring("not taken over"));
    CHECK(merged.counts()[PointStatus::pending] == 1);
  }
  Store store = Store::open(file, samples::sweep());
  store.prepare(space, {}, false);
  CHECK_THAT(store.damage(),
             StartsWith(file + ": 1 damaged row (") && ContainsSubstring("is simulated again"));
  CHECK(store.counts()[PointStatus::pending] == 1);
  work(store, space);
  CHECK(content_of(file) == whole);
}

TEST_CASE("rows that are gone or doubled, and a damaged description, are told") {
  const TemporaryFolder folder;
  const std::string file = folder.file("s.sqlite");
  const PointSpace space = samples::space(points);
  make_store(file, space);
  const std::string bytes = read_file(file);
  for (const char* change :
       {"DELETE FROM points WHERE position = 3",
        "UPDATE points SET position = NULL, entered_sum = NULL WHERE position = 3",
        "UPDATE columns SET unit = 'bytes' WHERE name = 'collective_time_s'",
        "UPDATE columns SET role = 'fact' WHERE name = 'collective_time_s'",
        "UPDATE sweep SET value = 'x' WHERE name = 'toml'"}) {
    CAPTURE(change);
    write_file(file, bytes);
    Database(file, Database::Mode::write).run(change);
    CHECK_THAT(message_of([&] { (void)content_of(file); }), ContainsSubstring("damaged"));
  }
}

TEST_CASE("names that SQLite has no files for are refused") {
  CHECK_FALSE(message_of([&] { Store::open("/dev/null", samples::sweep()); }).empty());
  for (const char* name : {"", ":memory:", "file:s.sqlite", "file::memory:?cache=shared"}) {
    CHECK_THAT(message_of([&] { Database(name, Database::Mode::create); }),
               ContainsSubstring("the name of a file"));
    CHECK_FALSE(message_of([&] { Store::open(name, samples::sweep()); }).empty());
    CHECK_FALSE(message_of([&] { Store::open_to_read(name); }).empty());
    CHECK_FALSE(std::filesystem::exists(std::string(name) + "-owners"));
  }
}

} // namespace store_damage_test
