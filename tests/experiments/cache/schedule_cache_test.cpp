#include "experiments/driver/cache/schedule_cache.hpp"

#include "experiments/driver/studies/registry.hpp"
#include "sim/files/files.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/studies/training_planning.hpp"
#include "tests/samples.hpp"
#include "tests/temporary_folder.hpp"
#include "tests/workloads/planning/workload_samples.hpp"
#include "workloads/planning/planning.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace schedule_cache_test {

using namespace tutti;
using namespace tutti::samples;

namespace {

namespace fs = std::filesystem;

struct Made {
  Collective collective;
  Outcome outcome;
};

/// A Broadcast from npu0 round a one-way ring.
Made around(const Topology& ring, Bytes size) {
  Made made{make_collective(ring, {CollectiveKind::broadcast, size, {}}), {}};
  Schedule schedule(ring.link_count());
  for (std::uint32_t l = 0; l + 1 < ring.link_count(); ++l)
    schedule.push(ChunkId{0}, LinkId{l}, Op::copy);
  made.outcome.status = Status::feasible;
  made.outcome.schedule = std::move(schedule);
  made.outcome.bound = Time{size.count}; // so that outcomes of different sizes differ
  return made;
}

Topology three_in_a_ring() { return samples::ring(3, true); }

void remember(ScheduleCache& cache, const std::string& key, const Topology& topology,
              const Made& made) {
  cache.remember(key, topology, made.collective, made.outcome);
}

bool are_equal(const Outcome& a, const Outcome& b) {
  const bool same_compact = a.compact.has_value() == b.compact.has_value() &&
                            (!a.compact || (a.compact->copies.begin == b.compact->copies.begin &&
                                            a.compact->copies.end == b.compact->copies.end &&
                                            a.compact->copies.chunks == b.compact->copies.chunks));
  return same_compact && a.status == b.status && a.schedule == b.schedule && a.note == b.note &&
         a.routing == b.routing && a.bound == b.bound && a.planned == b.planned &&
         a.planned_on == b.planned_on && a.attempts == b.attempts && a.facts == b.facts &&
         a.parts_per_chunk == b.parts_per_chunk;
}

bool finds(const ScheduleCache& cache, const std::string& key, const Made& expected) {
  const std::optional<RememberedOutcome> found = cache.find(key, three_in_a_ring());
  return found && found->has_same_names && are_equal(found->outcome, expected.outcome);
}

PlanningOptions by_two() {
  PlanningOptions options;
  options.algorithms = {find_algorithm("ring"), find_algorithm("tacos")};
  return options;
}

std::vector<fs::path> files_in(const std::string& folder) {
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder))
    if (entry.path().extension() == ".schedule") files.push_back(entry.path());
  return files;
}

} // namespace

TEST_CASE("a schedule that is remembered is found, by its key only") {
  const Topology three = three_in_a_ring();
  const TemporaryFolder folder;
  ScheduleCache cache(folder.file("a/b"));
  const Made made = around(three, Bytes{100});
  CHECK_FALSE(cache.find("key", three));
  remember(cache, "key", three, made);
  CHECK(finds(cache, "key", made));
  CHECK_FALSE(cache.find("another key", three));
  CHECK_FALSE(cache.find("", three));
  CHECK(cache.warning().empty());
  CHECK(finds(ScheduleCache(folder.file("a/b")), "key", made)); // by the next process, too
}

TEST_CASE("without a folder nothing is remembered, and nothing warns") {
  const Topology three = three_in_a_ring();
  ScheduleCache cache("");
  remember(cache, "key", three, around(three, Bytes{100}));
  CHECK_FALSE(cache.find("key", three));
  CHECK(cache.warning().empty());
}

TEST_CASE("a file that is torn or damaged anywhere is a miss, and replaced") {
  const Topology three = three_in_a_ring();
  const TemporaryFolder folder;
  ScheduleCache cache(folder.file("cache"));
  const Made made = around(three, Bytes{100});
  const std::string file = cache.file_of("key");
  remember(cache, "key", three, made);
  const std::string content = read_file(file);
  for (std::size_t length = 0; length < content.size(); ++length) {
    INFO(length);
    write_file(file, content.substr(0, length));
    REQUIRE_FALSE(cache.find("key", three));
  }
  for (std::size_t place = 0; place < content.size(); ++place) {
    INFO(place);
    std::string damaged = content;
    damaged[place] = static_cast<char>(damaged[place] ^ (1 << place % 8));
    write_file(file, damaged);
    REQUIRE_FALSE(cache.find("key", three));
  }
  for (const std::string& foreign :
       {content + "x", std::string("ring.toml\n"), content + content}) {
    write_file(file, foreign);
    REQUIRE_FALSE(cache.find("key", three));
  }
  remember(cache, "key", three, made);
  CHECK(read_file(file) == content);
  CHECK(finds(cache, "key", made));
}

TEST_CASE("another key under the same name is a miss") {
  const Topology three = three_in_a_ring();
  const TemporaryFolder folder;
  ScheduleCache cache(folder.file("cache"));
  const Made made = around(three, Bytes{100});
  remember(cache, "key", three, made);
  write_file(cache.file_of("other"), read_file(cache.file_of("key")));
  CHECK_FALSE(cache.find("other", three));
}

TEST_CASE("a schedule for another network is a miss") {
  const Topology three = three_in_a_ring();
  const TemporaryFolder folder;
  ScheduleCache cache(folder.file("cache"));
  remember(cache, "key", three, around(three, Bytes{100}));
  CHECK_FALSE(cache.find("key", samples::ring(4, true)));
}

TEST_CASE("where nothing can be written that is said once, and no error") {
  const Topology three = three_in_a_ring();
  const TemporaryFolder folder;
  write_file(folder.file("plain"), "a file, no folder");
  ScheduleCache cache(folder.file("plain") + "/cache");
  remember(cache, "key", three, around(three, Bytes{100}));
  CHECK_THAT(cache.warning(), ContainsSubstring("cannot write"));
  CHECK_FALSE(cache.find("key", three));

  const PlanningOptions options = by_two();
  const Workload workload =
      communicating(3, {{0, 1, 2}}, {{CollectiveKind::all_gather, Bytes{3'000}}});
  const WorkloadPlanning planning =
      planned(samples::full(3), workload, options, folder.file("plain") + "/cache");
  CHECK(planning.plans.plans.size() == 1);
  CHECK(planning.problem.empty());
  CHECK_THAT(planning.warning, ContainsSubstring("cannot write"));
}

TEST_CASE("a schedule that is used is touched") {
  const Topology three = three_in_a_ring();
  const TemporaryFolder folder;
  ScheduleCache cache(folder.file("cache"));
  remember(cache, "key", three, around(three, Bytes{100}));
  const std::string file = cache.file_of("key");
  const auto long_ago = fs::file_time_type::clock::now() - std::chrono::hours(24);
  fs::last_write_time(file, long_ago);
  CHECK_FALSE(cache.find("other", three));
  CHECK(fs::last_write_time(file) == long_ago);
  CHECK(cache.find("key", three));
  CHECK(fs::last_write_time(file) > long_ago + std::chrono::hours(23));
}

TEST_CASE("all that an outcome says is remembered") {
  const Topology three = three_in_a_ring();
  const TemporaryFolder folder;
  ScheduleCache cache(folder.file("cache"));
  Made made = around(three, Bytes{100});
  Outcome& outcome = made.outcome;
  outcome.status = Status::optimal;
  outcome.note = "a note\nof two lines";
  outcome.routing = "shortest";
  outcome.bound = Time{};
  outcome.planned = Time{-1};
  outcome.planned_on = "a picture";
  outcome.attempts = {Time{3}, Time{1}, Time{INT64_MAX}};
  outcome.facts = {{"", -0.0}, {"a third", 1.0 / 3}, {"infinite", INFINITY}, {"tiny", 5e-324}};
  outcome.parts_per_chunk = 7;
  remember(cache, "key", three, made);
  CHECK(finds(cache, "key", made));

  outcome.compact = compacted(three, made.collective, *outcome.schedule);
  outcome.schedule.reset();
  REQUIRE(outcome.compact);
  remember(cache, "key", three, made);
  CHECK(finds(cache, "key", made));

  outcome.compact.reset();
  outcome.bound.reset();
  outcome.planned.reset();
  for (const Status status : {Status::infeasible, Status::unsupported}) {
    outcome.status = status;
    remember(cache, "key", three, made);
    CHECK(finds(cache, "key", made));
  }
}

TEST_CASE("a remembered outcome says whether it is of a network with the same names") {
  const auto same = [](const TopologyParts& parts) {
    const TemporaryFolder folder;
    ScheduleCache cache(folder.file("cache"));
    const Topology mesh = samples::mesh(2, 2);
    cache.remember("key", mesh, make_collective(mesh, {}), unsupported("npu3 can't copy"));
    const std::optional<RememberedOutcome> found = cache.find("key", Topology(parts));
    return found && found->has_same_names;
  };
  TopologyParts parts = samples::mesh_parts(2, 2);
  CHECK(same(parts));
  parts.nodes[3].name = "last";
  CHECK_FALSE(same(parts));
  parts = samples::mesh_parts(2, 2);
  parts.name = "another";
  CHECK_FALSE(same(parts));
}

TEST_CASE("every property that decides a schedule is in its key") {
  const AlgorithmRow tacos = find_algorithm("tacos"), ring = find_algorithm("ring");
  const Topology mesh = samples::mesh(2, 2);
  const CollectiveSpec spec{CollectiveKind::broadcast, Bytes{1'000}, nodes({0, 1, 2, 3})};
  const Collective collective = make_collective(mesh, spec);
  const SynthesisOptions options;
  std::set<std::string> keys{schedule_key(mesh, collective, tacos, options)};
  std::size_t expected = 1;
  const auto adds = [&](const std::string& key) {
    keys.insert(key);
    CHECK(keys.size() == ++expected);
  };
  adds(schedule_key(samples::mesh(1, 4), collective, tacos, options));
  TopologyParts without_coordinates = samples::mesh_parts(2, 2);
  without_coordinates.shape.clear();
  without_coordinates.coordinates.clear();
  adds(schedule_key(Topology(without_coordinates), collective, tacos, options));
  TopologyParts renamed = samples::mesh_parts(2, 2);
  renamed.nodes[0].name = "first";
  CHECK(keys.contains(schedule_key(Topology(renamed), collective, tacos, options)));
  SynthesisOptions counting = options;
  counting.settings["traffic"] = "npu";
  adds(schedule_key(mesh, collective, tacos, counting));
  adds(schedule_key(Topology(renamed), collective, tacos, counting));
  adds(schedule_key(mesh, collective, ring, options));
  for (const CollectiveSpec& other :
       {CollectiveSpec{CollectiveKind::reduce, Bytes{1'000}, spec.group},
        CollectiveSpec{CollectiveKind::broadcast, Bytes{1'001}, spec.group},
        CollectiveSpec{CollectiveKind::broadcast, Bytes{1'000}, spec.group, 1},
        CollectiveSpec{CollectiveKind::broadcast, Bytes{1'000}, spec.group, 0, 2},
        CollectiveSpec{CollectiveKind::broadcast, Bytes{1'000}, nodes({1, 0, 2, 3})},
        CollectiveSpec{CollectiveKind::broadcast, Bytes{1'000}, nodes({0, 1, 2})}})
    adds(schedule_key(mesh, make_collective(mesh, other), tacos, options));
  CHECK(keys.contains(schedule_key(
      mesh, make_collective(mesh, {CollectiveKind::broadcast, Bytes{1'000}, {}}), tacos, options)));
  const Collective gathering =
      make_collective(mesh, {CollectiveKind::all_gather, Bytes{1'000}, {}});
  adds(schedule_key(mesh, merge(std::vector{collective, gathering}), tacos, options));
  adds(schedule_key(mesh, merge(std::vector{gathering, collective}), tacos, options));

  const auto other_options = [&](const auto& change) {
    SynthesisOptions other = options;
    change(other);
    return schedule_key(mesh, collective, tacos, other);
  };
  using Options = SynthesisOptions;
  adds(other_options([](Options& o) { o.seed = 2; }));
  adds(other_options([](Options& o) { o.routing = Routing::shortest; }));
  adds(other_options([](Options& o) { o.limit_seconds = 1; }));
  adds(other_options([](Options& o) { o.limit_bytes = 1; }));
  adds(other_options([](Options& o) { o.choose_chunks = true; }));
  adds(other_options([](Options& o) { o.settings["starts"] = "3"; }));
  adds(other_options([](Options& o) { o.model.link_busy = LinkBusy::latency_and_serialization; }));
  adds(other_options([](Options& o) { o.model.forwarding = Forwarding::cut_through; }));
  adds(other_options([](Options& o) { o.model.discipline = Discipline::fluid; }));
  adds(other_options([](Options& o) { o.model.reduce_rate = bandwidth; }));
  CHECK(keys.contains(other_options([](Options& o) { o.threads = 7; })));
}

TEST_CASE("custom collectives are told apart by every chunk") {
  const Topology mesh = samples::mesh(2, 2);
  const TemporaryFolder folder;
  const auto key = [&](const std::string& chunk) {
    const std::string file = folder.file("custom.toml");
    write_file(file, "[[collective]]\nname = \"custom\"\n[[collective.chunks]]\nsize = \"7B\"\n"
                     "sources = [0]\ndestinations = [1, 2, 3]\n[[collective.chunks]]\n" +
                         chunk);
    return schedule_key(mesh, read_collective(file, mesh), find_algorithm("tacos"), {});
  };
  const std::string chunk = "size = \"8B\"\nsources = [1]\ndestinations = [0, 2]\n";
  const std::set<std::string> keys{
      key(chunk),
      key("size = \"9B\"\nsources = [1]\ndestinations = [0, 2]\n"),
      key("size = \"8B\"\nsources = [3]\ndestinations = [0, 2]\n"),
      key("size = \"8B\"\nsources = [1]\ndestinations = [0, 3]\n"),
      key("size = \"8B\"\nsources = [1, 3]\ndestinations = [0, 2]\n"),
      key("size = \"8B\"\nsources = [1, 3]\ndestinations = [0, 2]\nreduces = true\n")};
  CHECK(keys.size() == 6);
  CHECK(keys.contains(key(chunk)));
}

TEST_CASE("what was planned before is remembered, to the byte") {
  const Topology three = three_in_a_ring();
  const TemporaryFolder folder;
  const std::string used = folder.file("cache");
  PlanningOptions options = by_two();
  options.chunks = {1};
  const Topology topology = samples::mesh(3, 3);
  const Workload workload = communicating(
      9, {{0, 1, 2}, {0, 3, 6}, {0, 1, 2, 3, 4, 5, 6, 7, 8}, {0, 4, 8}},
      {{CollectiveKind::all_reduce, Bytes{90'001}}, {CollectiveKind::all_gather, Bytes{9'000}}});
  const WorkloadPlanning first = planned(topology, workload, options, used);
  const WorkloadPlanning second = planned(topology, workload, options, used);
  CHECK(second.warning.empty());
  CHECK(second.synthesis_seconds == 0);
  REQUIRE(second.plans.plans.size() == first.plans.plans.size());
  for (std::size_t i = 0; i < first.plans.plans.size(); ++i) {
    CHECK(second.plans.plans[i].plan->schedule == first.plans.plans[i].plan->schedule);
    CHECK(second.plans.plans[i].plan->algorithm == first.plans.plans[i].plan->algorithm);
    CHECK(second.plans.plans[i].links == first.plans.plans[i].links);
    CHECK(second.plans.plans[i].nodes == first.plans.plans[i].nodes);
  }
  for (std::size_t i = 0; i < first.communications.size(); ++i) {
    CHECK_FALSE(first.communications[i].was_remembered);
    CHECK(second.communications[i].was_remembered);
    CHECK(second.communications[i].alone == first.communications[i].alone);
    CHECK(second.communications[i].bound == first.communications[i].bound);
  }
  // Each task by each of two algorithms; lines of three are alike.
  CHECK(files_in(used).size() == 2 * first.communications.size());
  for (const fs::path& file : files_in(used)) fs::resize_file(file, 40);
  const WorkloadPlanning third = planned(topology, workload, options, used);
  CHECK_FALSE(third.communications.front().was_remembered);
  CHECK(third.plans.plans.front().plan->schedule == first.plans.plans.front().plan->schedule);
}

TEST_CASE("a remembered schedule that isn't correct is made anew") {
  const TemporaryFolder folder;
  const std::string used = folder.file("cache");
  PlanningOptions options = by_two();
  options.algorithms = {find_algorithm("direct")};
  const Topology topology = samples::full(3);
  const Workload workload =
      communicating(3, {{0, 1, 2}}, {{CollectiveKind::all_gather, Bytes{3'000}}});
  const WorkloadPlanning made = planned(topology, workload, options, used);

  const Collective collective =
      make_collective(topology, {CollectiveKind::all_gather, Bytes{3'000}, nodes({0, 1, 2})});
  const std::string key = schedule_key(topology, collective, options.algorithms.front(), {});
  ScheduleCache cache(used);
  const std::optional<RememberedOutcome> right = cache.find(key, topology);
  REQUIRE(right);
  Outcome idle = right->outcome, wasteful = right->outcome, undone = right->outcome;
  idle.schedule = Schedule(topology.link_count());
  wasteful.schedule->push((*wasteful.schedule)[0]);
  undone.schedule.reset();
  for (const Outcome& wrong : {idle, wasteful, undone}) {
    cache.remember(key, topology, collective, wrong);
    const WorkloadPlanning again = planned(topology, workload, options, used);
    CHECK(again.problem.empty());
    CHECK_FALSE(again.communications.front().was_remembered);
    CHECK(again.plans.plans.front().plan->schedule == made.plans.plans.front().plan->schedule);
  }
  CHECK(planned(topology, workload, options, used).communications.front().was_remembered);
}

TEST_CASE("processes share a folder") {
  const Topology three = three_in_a_ring();
  const TemporaryFolder folder;
  constexpr int keys = 20, rounds = 200;
  const auto plays = [&] { // whether all that is found is right, while others make room
    ScheduleCache cache(folder.file("cache"), Bytes{16 * 4096});
    for (int round = 0; round < rounds; ++round) {
      const std::string key = "key " + std::to_string(round % keys);
      const Made made = around(three, Bytes{100 + round % keys});
      const std::optional<RememberedOutcome> found = cache.find(key, three);
      if (found && !are_equal(found->outcome, made.outcome)) return false;
      if (!found || round % 3 == 0) remember(cache, key, three, made);
    }
    return cache.warning().empty();
  };
  std::vector<pid_t> children;
  for (int child = 0; child < 3; ++child) {
    const pid_t process = fork();
    if (process == 0) _exit(plays() ? 0 : 1);
    children.push_back(process);
  }
  CHECK(plays());
  for (const pid_t child : children) {
    int status = -1;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(status == 0);
  }
  CHECK(files_in(folder.file("cache")).size() <= 16 + 3);
}

TEST_CASE("the size of caches is what the environment says") {
  const auto with = [](const char* size) {
    setenv("TUTTI_CACHE_SIZE", size, 1);
    struct Restore {
      ~Restore() { unsetenv("TUTTI_CACHE_SIZE"); }
    } restore;
    return schedule_cache_size();
  };
  CHECK(schedule_cache_size() == Bytes{std::int64_t{1} << 30});
  CHECK(with("") == Bytes{std::int64_t{1} << 30});
  CHECK(with("2GiB") == Bytes{std::int64_t{1} << 31});
  CHECK(with("0B") == Bytes{});
  CHECK_THROWS_WITH(with("much"), ContainsSubstring("TUTTI_CACHE_SIZE: "));
  CHECK_THROWS_WITH(with("-1GiB"), ContainsSubstring("TUTTI_CACHE_SIZE: "));
}

TEST_CASE("schedules are remembered where caches belong") {
  const auto with = [](const char* cache, const char* home) {
    const char* old_cache = std::getenv("XDG_CACHE_HOME");
    const char* old_home = std::getenv("HOME");
    const std::string kept_cache = old_cache ? old_cache : "", kept_home = old_home ? old_home : "";
    setenv("XDG_CACHE_HOME", cache, 1);
    setenv("HOME", home, 1);
    std::string folder = default_schedule_cache();
    old_cache ? setenv("XDG_CACHE_HOME", kept_cache.c_str(), 1) : unsetenv("XDG_CACHE_HOME");
    old_home ? setenv("HOME", kept_home.c_str(), 1) : unsetenv("HOME");
    return folder;
  };
  CHECK(with("/caches", "/home/me") == "/caches/tutti/schedules");
  CHECK(with("", "/home/me") == "/home/me/.cache/tutti/schedules");
  CHECK(with("", "").empty());
}

} // namespace schedule_cache_test
