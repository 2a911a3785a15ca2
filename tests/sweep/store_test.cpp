#include "experiments/driver/sweep/store/store.hpp"

#include "experiments/driver/cli/catalogue.hpp"
#include "experiments/driver/sweep/store/database.hpp"
#include "experiments/driver/sweep/store/store_file.hpp"
#include "sim/error.hpp"
#include "sim/files/files.hpp"
#include "tests/catch.hpp"
#include "tests/message_of.hpp"
#include "tests/sweep/sweep_samples.hpp"
#include "tests/temporary_folder.hpp"

#include <fmt/format.h>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <functional>

namespace store_test {

using namespace tutti;
using namespace tutti::sweep;

namespace {

using Positions = std::vector<std::size_t>;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

Store open_prepared(const std::string& file, const PointSpace& space,
                    std::optional<Shard> shard = {}, bool retry = false) {
  Store store = Store::open(file, samples::sweep());
  store.prepare(space, shard, retry);
  return store;
}

std::vector<FinishedPoint> simulated(const PointSpace& space, const Positions& positions) {
  std::vector<FinishedPoint> finished;
  for (const std::size_t position : positions)
    finished.push_back({position, samples::results(space.points[position].values.front().number)});
  return finished;
}

std::size_t count(const Store& store, PointStatus status) {
  const auto counts = store.counts();
  const auto found = counts.find(status);
  return found == counts.end() ? 0 : found->second;
}

// Works on the store until nothing is left; how many points it did.
std::size_t work(Store& store, const PointSpace& space, std::size_t at_once) {
  std::vector<FinishedPoint> finished;
  for (std::size_t done = 0;; done += finished.size()) {
    const Positions claimed = store.record_and_claim(finished, at_once);
    finished = simulated(space, claimed);
    if (claimed.empty()) return done;
  }
}

// The exit code of a child process that runs `body`; 100 + signal where that ended it.
int in_child(const std::function<int()>& body) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(body());
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 100 + WTERMSIG(status);
}

} // namespace

TEST_CASE("shards are parsed") {
  CHECK(parse_shard("3/16").index == 3);
  CHECK(parse_shard("3/16").count == 16);
  CHECK_NOTHROW(parse_shard("0/1"));
  for (const char* wrong : {"", "3", "16/16", "-1/4", "1/0", "a/b", "1/2/3"})
    CHECK_THROWS_AS(parse_shard(wrong), InputError);
}

TEST_CASE("points are claimed the longest first, once each, and come back with their results") {
  const TemporaryFolder folder;
  const PointSpace space = samples::space(10); // work 0 1 2 3 4 5 6 0 1 2
  Store store = open_prepared(folder.file("s.sqlite"), space);
  CHECK(count(store, PointStatus::pending) == 10);
  CHECK(store.record_and_claim({}, 0).empty());
  const Positions first = store.record_and_claim({}, 4);
  CHECK(first == Positions{6, 5, 4, 3});
  CHECK(count(store, PointStatus::running) == 4);
  const Positions second = store.record_and_claim(simulated(space, {6, 4}), 3);
  CHECK(second == Positions{2, 9, 1});
  CHECK(count(store, PointStatus::done) == 2);
  CHECK(store.record_and_claim(simulated(space, {5, 3, 2, 9, 1}), 9) == Positions{8, 0, 7});
  CHECK(store.record_and_claim(simulated(space, {8, 0, 7}), 9).empty());
  CHECK(store.counts() == std::map<PointStatus, std::size_t>{{PointStatus::done, 10}});

  const PointTable table = store.table();
  REQUIRE(table.rows == 10);
  CHECK(table.columns[0].name == "k");
  CHECK(table.columns[0].role == Role::parameter);
  CHECK(samples::column(table, "npus").role == Role::fact);
  const TableColumn& time = samples::column(table, "collective_time_s");
  CHECK(time.role == Role::result);
  CHECK(time.unit == Unit::seconds);
  for (std::size_t k = 0; k < 10; ++k) {
    CHECK(samples::column(table, "k").numbers[k] == static_cast<double>(k));
    CHECK(samples::text(table, "algorithm", k) == (k % 2 == 0 ? "ring" : "8")); // remains a text
    CHECK(time.numbers[k] == std::sqrt(static_cast<double>(k)));
    CHECK(std::isnan(samples::column(table, "gap").numbers[k]));
  }
  const std::vector<std::string> records{"status", "key", "cpu_seconds"};
  const PointTable chosen = store.table(records);
  REQUIRE(chosen.columns.size() == 3);
  CHECK(samples::text(chosen, "status", 3) == "done");
  CHECK(samples::text(chosen, "key", 3) == space.points[3].key);
  CHECK(chosen.columns[2].unit == Unit::seconds);
  const std::vector<std::string> wrong{"colective_time_s"};
  CHECK_THAT(message_of([&] { (void)store.table(wrong); }),
             ContainsSubstring("did you mean \"collective_time_s\""));
  CHECK(store.sweep_toml() == "name = \"sample\"\n");
}

TEST_CASE("a finished point stays finished, one of a claim that ended is pending again") {
  const TemporaryFolder folder;
  const std::string file = folder.file("s.sqlite");
  const PointSpace space = samples::space(6);
  {
    Store store = open_prepared(file, space);
    const Positions claimed = store.record_and_claim({}, 3);
    PointResults failed;
    failed.status = PointStatus::crashed;
    failed.message = "the process was killed";
    std::vector<FinishedPoint> finished = simulated(space, {claimed[0]});
    finished.push_back({claimed[1], failed});
    (void)store.record_and_claim(finished, 0);
    store.give_back();
    CHECK(count(store, PointStatus::pending) == 4);
    CHECK(store.record_and_claim({}, 1) == Positions{claimed[2]}); // the destructor gives it back
  }
  Store store = open_prepared(file, space);
  CHECK(count(store, PointStatus::pending) == 4);
  CHECK(count(store, PointStatus::done) == 1);
  CHECK(count(store, PointStatus::crashed) == 1);
  store.prepare(space, {}, true);
  CHECK(count(store, PointStatus::pending) == 5);
}

TEST_CASE("claims of a process that was killed are free again, those of a living one are not") {
  const TemporaryFolder folder;
  const std::string file = folder.file("s.sqlite");
  const PointSpace space = samples::space(6);
  REQUIRE(in_child([&] {
            Store store = open_prepared(file, space);
            (void)store.record_and_claim({}, 2);
            return ::raise(SIGKILL);
          }) == 100 + SIGKILL);
  Store living = Store::open(file, samples::sweep());
  CHECK(count(living, PointStatus::running) == 2);
  CHECK(living.reclaim() == 2);
  living.prepare(space, {}, false);
  REQUIRE(living.record_and_claim({}, 2).size() == 2);
  Store other = open_prepared(file, space);
  CHECK(other.reclaim() == 0);
  CHECK(other.record_and_claim({}, 100).size() == 4);
}

TEST_CASE("a sweep can grow, shrink and be renumbered without a result being lost") {
  const TemporaryFolder folder;
  const std::string file = folder.file("s.sqlite");
  {
    const PointSpace before = samples::space(6);
    Store store = open_prepared(file, before);
    CHECK(work(store, before, 4) == 6);
  }
  PointSpace after = samples::space(5, 3); // k from 3 to 7: three of them are there
  after.names.emplace_back("cost");
  after.units.push_back(Unit::none);
  for (Point& point : after.points)
    point.values.push_back(number_value(1000.0 + static_cast<double>(point.position)));
  Sweep sweep = samples::sweep();
  sweep.toml = "changed";
  {
    Store store = Store::open(file, sweep);
    store.prepare(after, {}, false);
    CHECK(count(store, PointStatus::done) == 3);
    CHECK(count(store, PointStatus::pending) == 2);
    const PointTable table = store.table();
    REQUIRE(table.rows == 5);
    for (std::size_t row = 0; row < 5; ++row) {
      CHECK(samples::column(table, "k").numbers[row] == static_cast<double>(row + 3));
      CHECK(samples::column(table, "cost").numbers[row] == static_cast<double>(row + 1000));
      CHECK(std::isnan(samples::column(table, "collective_time_s").numbers[row]) == (row >= 3));
    }
    CHECK(store.sweep_toml() == "changed");
    CHECK(work(store, after, 1) == 2);
  }
  const PointSpace again = samples::space(6); // the rows that lost their place are still there
  Store store = open_prepared(file, again);
  CHECK(store.counts() == std::map<PointStatus, std::size_t>{{PointStatus::done, 6}});
  for (const TableColumn& column : store.table().columns) CHECK(column.name != "cost");
}

TEST_CASE("whoever works on an older form of the sweep is told, and its results are kept") {
  const TemporaryFolder folder;
  const std::string file = folder.file("s.sqlite");
  const PointSpace before = samples::space(6), after = samples::space(5, 1);
  Store old = open_prepared(file, before);
  const Positions claimed = old.record_and_claim({}, 1);
  Store young = open_prepared(file, after);
  CHECK_THAT(message_of([&] { (void)old.record_and_claim(simulated(before, claimed), 1); }),
             ContainsSubstring("another process has changed the sweep"));
  CHECK(count(young, PointStatus::done) == 1);
  CHECK(count(young, PointStatus::pending) == 4);
}

TEST_CASE("two processes share a store, and no point is done twice or left") {
  const TemporaryFolder folder;
  const std::string file = folder.file("s.sqlite");
  const PointSpace space = samples::space(60);
  std::vector<pid_t> children;
  for (int i = 0; i < 2; ++i) {
    children.push_back(::fork());
    if (children.back() == 0) {
      Store store = open_prepared(file, space); // both may make it
      ::_exit(static_cast<int>(work(store, space, 2)));
    }
  }
  int done = 0;
  for (const pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    REQUIRE(WIFEXITED(status));
    done += WEXITSTATUS(status);
  }
  CHECK(done == 60);
  const Store store = Store::open_to_read(file);
  CHECK(store.counts() == std::map<PointStatus, std::size_t>{{PointStatus::done, 60}});
}

TEST_CASE("shards are parts, and merged they are the whole") {
  const TemporaryFolder folder;
  const PointSpace space = samples::space(10);
  Store whole = open_prepared(folder.file("whole"), space);
  CHECK(work(whole, space, 3) == 10);
  for (std::size_t i = 0; i < 3; ++i) {
    Store part = open_prepared(folder.file(fmt::format("part{}", i)), space, Shard{i, 3});
    CHECK(count(part, PointStatus::pending) == (i == 0 ? 4 : 3));
    if (i == 2) continue; // one isn't done
    CHECK(work(part, space, 2) == (i == 0 ? 4 : 3));
  }
  Store merged = open_prepared(folder.file("merged"), space);
  for (std::size_t i = 0; i < 3; ++i)
    CHECK(merged.merge(folder.file(fmt::format("part{}", i))) == (i == 0 ? 4 : i == 1 ? 3 : 0));
  CHECK(merged.merge(folder.file("part0")) == 0);
  CHECK(count(merged, PointStatus::pending) == 3);
  CHECK(work(merged, space, 2) == 3);
  CHECK(samples::content(merged.table()) == samples::content(whole.table()));
  CHECK_THAT(message_of([&] { (void)merged.merge(folder.file("none")); }),
             ContainsSubstring("there is no such store"));
  { Store::open(folder.file("foreign"), samples::sweep("foreign")); }
  CHECK(message_of([&] { (void)merged.merge(folder.file("foreign")); }) ==
        folder.file("foreign") + ": is the store of sweep \"foreign\", not of \"sample\"");
}

TEST_CASE("what is no store of this sweep is refused and left alone") {
  const TemporaryFolder folder;
  const auto refusal = [&](const std::string& file) {
    return message_of([&] { Store::open(file, samples::sweep()); });
  };
  { Store::open(folder.file("other"), samples::sweep("other")); }
  CHECK(refusal(folder.file("other")) ==
        folder.file("other") + ": is the store of sweep \"other\", not of \"sample\"");

  { Store::open(folder.file("newer"), samples::sweep()); }
  Database(folder.file("newer"), Database::Mode::write).run("PRAGMA user_version = 4");
  CHECK(refusal(folder.file("newer")) ==
        folder.file("newer") + ": was made by a newer Tutti (format 4, this one knows 3)");
  Database(folder.file("newer"), Database::Mode::write).run("PRAGMA user_version = 2");
  const std::string older = folder.file("newer") + ": was made by an older Tutti (format 2, this "
                                                   "one knows 3): delete it, or begin another "
                                                   "store with --store; the points are simulated "
                                                   "again";
  CHECK(refusal(folder.file("newer")) == older);
  CHECK(message_of([&] { Store::open_to_read(folder.file("newer")); }) == older);

  write_file(folder.file("text"), std::string(5000, 'x'));
  CHECK(refusal(folder.file("text")) == folder.file("text") + ": file is not a database");
  Database(folder.file("foreign"), Database::Mode::create).run("CREATE TABLE t(x)");
  CHECK(refusal(folder.file("foreign")) == folder.file("foreign") + ": is no store of a sweep");
  std::filesystem::create_directory(folder.file("folder"));
  CHECK(refusal(folder.file("folder")) == folder.file("folder") + ": is a folder, not a store");
  CHECK_THAT(refusal(folder.file("text/s")), ContainsSubstring("cannot write: Not a directory"));
  for (const char* name : {"text", "foreign", "folder"})
    CHECK_FALSE(std::filesystem::exists(folder.file(std::string(name) + "-owners")));

  CHECK_THAT(message_of([&] { Store::open_to_read(folder.file("none")); }),
             ContainsSubstring("there is no such store"));
  CHECK_FALSE(std::filesystem::exists(folder.file("none")));
  if (::getuid() == 0) return; // for whom no folder is read-only
  std::filesystem::create_directory(folder.file("closed"));
  std::filesystem::permissions(folder.file("closed"), std::filesystem::perms::owner_read |
                                                          std::filesystem::perms::owner_exec);
  CHECK_THAT(refusal(folder.file("closed/s")),
             ContainsSubstring("cannot write: Permission denied"));
}

TEST_CASE("a store whose maker died before it had a schema is made anew") {
  const TemporaryFolder folder;
  const std::string file = folder.file("s.sqlite");
  Database(file, Database::Mode::create).run("PRAGMA journal_mode = WAL");
  REQUIRE(std::filesystem::file_size(file) > 0);
  Store store = open_prepared(file, samples::space(5));
  CHECK(count(store, PointStatus::pending) == 5);
  Database other(folder.file("other.sqlite"), Database::Mode::create);
  other.run("CREATE TABLE something(x)");
  CHECK(message_of([&] { open_prepared(other.file(), samples::space(5)); }) ==
        other.file() + ": is no store of a sweep");
}

TEST_CASE("a full disk is an error, and the file stays whole") {
  const TemporaryFolder folder;
  const std::string file = folder.file("s.sqlite");
  const PointSpace space = samples::space(2000);
  {
    Store store = open_prepared(file, samples::space(20));
    CHECK(store.record_and_claim({}, 1).size() == 1);
  }
  const auto size = std::filesystem::file_size(file);
  CHECK(in_child([&] {
          ::signal(SIGXFSZ, SIG_IGN);
          const rlimit most{size + 20'000, size + 20'000}; // less than 2000 rows take
          ::setrlimit(RLIMIT_FSIZE, &most);
          const std::string message = message_of([&] { open_prepared(file, space); });
          return message.starts_with(file + ": ") ? 0 : 1;
        }) == 0);
  Database database(file, Database::Mode::read);
  CHECK(database.single_text("PRAGMA integrity_check") == "ok");
  Store store = open_prepared(file, samples::space(20));
  CHECK(count(store, PointStatus::pending) == 20);
}

TEST_CASE("where no file can be opened any more, the system's reason is told") {
  const TemporaryFolder folder;
  const std::string file = folder.file("s.sqlite");
  CHECK(in_child([&] {
          const rlimit none{3, 3}; // what is open stays so
          ::setrlimit(RLIMIT_NOFILE, &none);
          const bool of_store = message_of([&] { Database(file, Database::Mode::create); }) ==
                                file + ": unable to open database file: Too many open files";
          const bool of_folder = message_of([] {
                                   (void)find_sweep("sweeps/quick");
                                 }).ends_with("experiments: cannot read: Too many open files");
          return of_store && of_folder ? 0 : 1;
        }) == 0);
  CHECK_FALSE(std::filesystem::exists(file));
}

TEST_CASE("a store of 100,000 points is made in a second or two and opened as fast", "[slow]") {
  const TemporaryFolder folder;
  const std::string file = folder.file("s.sqlite");
  const PointSpace space = samples::space(100'000);
  for (int i = 0; i < 2; ++i) {
    Store store = Store::open(file, samples::sweep());
    const auto start = std::chrono::steady_clock::now();
    store.prepare(space, {}, false);
    CHECK(seconds_since(start) < 5);
    CHECK(store.record_and_claim({}, 1) == Positions{6});
  }
}

TEST_CASE("some 100,000 rows are read in a second or two", "[slow]") {
  const TemporaryFolder folder;
  const std::string file = folder.file("s.sqlite");
  open_prepared(file, samples::space(10));
  Database(file, Database::Mode::write)
      .run("WITH RECURSIVE numbers(n) AS (SELECT 10 UNION ALL SELECT n + 1 FROM numbers "
           "WHERE n < 299999) INSERT INTO points(position, key, expected_work, status, entered, "
           "results) SELECT n, printf('%032x', n), n % 100, 'done', "
           "json_object('k', n, 'algorithm', 'ring', 'npus', 2 * n, 'experiment_seed', 1), "
           "json_object('message', '', 'collective_time_s', sqrt(n), 'lower_bound_s', n / 3.0, "
           "'cpu_seconds', 0.1, 'tutti', '1.0', 'commit_id', 'unknown') FROM numbers");
  {
    Database database(file, Database::Mode::write);
    database.run(fmt::format("UPDATE points SET entered_sum = {}; UPDATE points SET result_sum = "
                             "{} WHERE status = 'done'",
                             entered_sum, result_sum));
    seal(database);
  }
  const std::vector<std::string> names{"collective_time_s", "lower_bound_s"};
  const auto start = std::chrono::steady_clock::now();
  const PointTable table = Store::open_to_read(file).table(names);
  CHECK(seconds_since(start) < 5);
  CHECK(table.rows == 300'000);
  CHECK(table.columns[0].numbers[10'000] == 100);
}

} // namespace store_test
