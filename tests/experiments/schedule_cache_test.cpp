#include "experiments/schedule_cache.hpp"

#include "experiments/registry.hpp"
#include "experiments/workload_planning.hpp"
#include "sim/files.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/workload_samples.hpp"
#include "tests/samples.hpp"
#include "tests/temporary_folder.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

using namespace tutti;
using namespace tutti::samples;

namespace {

namespace fs = std::filesystem;

/// A Broadcast from npu0 round a one-way ring.
ScheduleFile around(const Topology& ring, Bytes size) {
  ScheduleFile file{ring.name(),
                    "by hand",
                    {},
                    make_collective(ring, {CollectiveKind::broadcast, size, {}}),
                    Schedule(ring.link_count()),
                    std::nullopt};
  for (std::uint32_t l = 0; l + 1 < ring.link_count(); ++l)
    file.schedule.push(ChunkId{0}, LinkId{l}, Op::copy);
  return file;
}

Topology three_in_a_ring() { return samples::ring(3, true); }

bool finds(const ScheduleCache& cache, const std::string& key, const ScheduleFile& expected) {
  const Topology three = three_in_a_ring();
  const std::optional<ScheduleFile> found = cache.find(key, three);
  return found && found->schedule == expected.schedule && found->algorithm == expected.algorithm &&
         found->collective.fingerprint() == expected.collective.fingerprint();
}

PlanningOptions remembering(const TemporaryFolder& folder) {
  PlanningOptions options;
  options.algorithms = {find_algorithm("ring"), find_algorithm("tacos")};
  options.cache = folder.file("cache");
  return options;
}

std::vector<fs::path> files_in(const std::string& folder) {
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder))
    files.push_back(entry.path());
  return files;
}

} // namespace

TEST_CASE("a schedule that is remembered is found, by its key only") {
  const Topology three = three_in_a_ring();
  const TemporaryFolder folder;
  ScheduleCache cache(folder.file("a/b"));
  const ScheduleFile made = around(three, Bytes{100});
  CHECK_FALSE(cache.find("key", three));
  cache.remember("key", three, made);
  CHECK(finds(cache, "key", made));
  CHECK_FALSE(cache.find("another key", three));
  CHECK_FALSE(cache.find("", three));
  CHECK(cache.warning().empty());
  CHECK(finds(ScheduleCache(folder.file("a/b")), "key", made)); // by the next process, too
}

TEST_CASE("without a folder nothing is remembered, and nothing warns") {
  const Topology three = three_in_a_ring();
  ScheduleCache cache("");
  cache.remember("key", three, around(three, Bytes{100}));
  CHECK_FALSE(cache.find("key", three));
  CHECK(cache.warning().empty());
}

TEST_CASE("a file that is torn or damaged anywhere is a miss, and replaced") {
  const Topology three = three_in_a_ring();
  const TemporaryFolder folder;
  ScheduleCache cache(folder.file("cache"));
  const ScheduleFile made = around(three, Bytes{100});
  const std::string file = cache.file_of("key");
  cache.remember("key", three, made);
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
  cache.remember("key", three, made);
  CHECK(read_file(file) == content);
  CHECK(finds(cache, "key", made));
}

TEST_CASE("another key under the same name is a miss") {
  const Topology three = three_in_a_ring();
  const TemporaryFolder folder;
  ScheduleCache cache(folder.file("cache"));
  const ScheduleFile made = around(three, Bytes{100});
  cache.remember("key", three, made);
  fs::copy_file(cache.file_of("key"), cache.file_of("other"));
  CHECK_FALSE(cache.find("other", three));
}

TEST_CASE("a schedule for another network is a miss") {
  const Topology three = three_in_a_ring();
  const TemporaryFolder folder;
  ScheduleCache cache(folder.file("cache"));
  cache.remember("key", three, around(three, Bytes{100}));
  CHECK_FALSE(cache.find("key", samples::ring(4, true)));
}

TEST_CASE("where nothing can be written that is said once, and no error") {
  const Topology three = three_in_a_ring();
  const TemporaryFolder folder;
  write_file(folder.file("plain"), "a file, no folder");
  ScheduleCache cache(folder.file("plain") + "/cache");
  cache.remember("key", three, around(three, Bytes{100}));
  CHECK_THAT(cache.warning(), ContainsSubstring("cannot write"));
  CHECK_FALSE(cache.find("key", three));

  PlanningOptions options = remembering(folder);
  options.cache = folder.file("plain") + "/cache";
  const Workload workload =
      communicating(3, {{0, 1, 2}}, {{CollectiveKind::all_gather, Bytes{3'000}}});
  const WorkloadPlanning planning = plan_workload(samples::full(3), workload, options);
  CHECK(planning.plans.plans.size() == 1);
  CHECK(planning.problem.empty());
  CHECK_THAT(planning.warning, ContainsSubstring("cannot write"));
}

TEST_CASE("a schedule that is used is touched") {
  const Topology three = three_in_a_ring();
  const TemporaryFolder folder;
  ScheduleCache cache(folder.file("cache"));
  cache.remember("key", three, around(three, Bytes{100}));
  const std::string file = cache.file_of("key");
  const auto long_ago = fs::file_time_type::clock::now() - std::chrono::hours(24);
  fs::last_write_time(file, long_ago);
  CHECK_FALSE(cache.find("other", three));
  CHECK(fs::last_write_time(file) == long_ago);
  CHECK(cache.find("key", three));
  CHECK(fs::last_write_time(file) > long_ago + std::chrono::hours(23));
}

TEST_CASE("every property that decides a schedule is in its key") {
  const AlgorithmRow tacos = find_algorithm("tacos"), ring = find_algorithm("ring");
  const Topology mesh = samples::mesh(2, 2);
  const CollectiveSpec spec{CollectiveKind::broadcast, Bytes{1'000}, nodes({0, 1, 2, 3})};
  const SynthesisOptions options;
  std::set<std::string> keys{schedule_key(mesh, spec, tacos, 1, options, false)};
  std::size_t expected = 1;
  const auto adds = [&](const std::string& key) {
    keys.insert(key);
    CHECK(keys.size() == ++expected);
  };
  adds(schedule_key(samples::mesh(1, 4), spec, tacos, 1, options, false));
  TopologyParts without_coordinates = samples::mesh_parts(2, 2);
  without_coordinates.shape.clear();
  without_coordinates.coordinates.clear();
  adds(schedule_key(Topology(without_coordinates), spec, tacos, 1, options, false));
  TopologyParts renamed = samples::mesh_parts(2, 2);
  renamed.nodes[0].name = "first";
  CHECK(keys.contains(schedule_key(Topology(renamed), spec, tacos, 1, options, false)));
  adds(schedule_key(Topology(renamed), spec, tacos, 1, options, true));
  adds(schedule_key(mesh, spec, ring, 1, options, false));
  adds(schedule_key(mesh, spec, tacos, 2, options, false));
  for (const CollectiveSpec& other :
       {CollectiveSpec{CollectiveKind::reduce, Bytes{1'000}, spec.group},
        CollectiveSpec{CollectiveKind::broadcast, Bytes{1'001}, spec.group},
        CollectiveSpec{CollectiveKind::broadcast, Bytes{1'000}, spec.group, 1},
        CollectiveSpec{CollectiveKind::broadcast, Bytes{1'000}, nodes({1, 0, 2, 3})}})
    adds(schedule_key(mesh, other, tacos, 1, options, false));
  SynthesisOptions other = options;
  other.seed = 2;
  adds(schedule_key(mesh, spec, tacos, 1, other, false));
  other = options;
  other.routing = Routing::shortest;
  adds(schedule_key(mesh, spec, tacos, 1, other, false));
  other = options;
  other.limit_seconds = 1;
  adds(schedule_key(mesh, spec, tacos, 1, other, false));
  other = options;
  other.settings["starts"] = "3";
  adds(schedule_key(mesh, spec, tacos, 1, other, false));
  other = options;
  other.model.link_busy = LinkBusy::latency_and_serialization;
  adds(schedule_key(mesh, spec, tacos, 1, other, false));
  other = options;
  other.model.forwarding = Forwarding::cut_through;
  adds(schedule_key(mesh, spec, tacos, 1, other, false));
  other = options;
  other.model.reduce_rate = bandwidth;
  adds(schedule_key(mesh, spec, tacos, 1, other, false));
  other = options;
  other.threads = 7;
  CHECK(keys.contains(schedule_key(mesh, spec, tacos, 1, other, false)));
}

TEST_CASE("what was planned before is remembered, to the byte") {
  const Topology three = three_in_a_ring();
  const TemporaryFolder folder;
  const PlanningOptions options = remembering(folder);
  const Topology topology = samples::mesh(3, 3);
  const Workload workload = communicating(
      9, {{0, 1, 2}, {0, 3, 6}, {0, 1, 2, 3, 4, 5, 6, 7, 8}, {0, 4, 8}},
      {{CollectiveKind::all_reduce, Bytes{90'001}}, {CollectiveKind::all_gather, Bytes{9'000}}});
  const WorkloadPlanning first = plan_workload(topology, workload, options);
  const WorkloadPlanning second = plan_workload(topology, workload, options);
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
  CHECK(files_in(options.cache).size() == 2 * first.communications.size());
  for (const fs::path& file : files_in(options.cache)) fs::resize_file(file, 40);
  const WorkloadPlanning third = plan_workload(topology, workload, options);
  CHECK_FALSE(third.communications.front().was_remembered);
  CHECK(third.plans.plans.front().plan->schedule == first.plans.plans.front().plan->schedule);
}

TEST_CASE("a remembered schedule that isn't correct is made anew") {
  const TemporaryFolder folder;
  PlanningOptions options = remembering(folder);
  options.algorithms = {find_algorithm("direct")};
  const Topology topology = samples::full(3);
  const Workload workload =
      communicating(3, {{0, 1, 2}}, {{CollectiveKind::all_gather, Bytes{3'000}}});
  const WorkloadPlanning made = plan_workload(topology, workload, options);

  const CollectiveSpec spec{CollectiveKind::all_gather, Bytes{3'000}, nodes({0, 1, 2})};
  const std::string key = schedule_key(topology, spec, options.algorithms.front(), 1, {}, false);
  ScheduleCache cache(options.cache);
  REQUIRE(cache.find(key, topology));
  for (const ScheduleFile& wrong :
       {ScheduleFile{"",
                     "direct",
                     {},
                     make_collective(topology, spec),
                     Schedule(topology.link_count()),
                     std::nullopt}, // nothing is sent
        ScheduleFile{"",
                     "direct",
                     {},
                     make_collective(topology, {CollectiveKind::all_gather, Bytes{6'000}, {}}),
                     made.plans.plans.front().plan->schedule,
                     std::nullopt}}) {
    cache.remember(key, topology, wrong);
    const WorkloadPlanning again = plan_workload(topology, workload, options);
    CHECK(again.problem.empty());
    CHECK_FALSE(again.communications.front().was_remembered);
    CHECK(again.plans.plans.front().plan->schedule == made.plans.plans.front().plan->schedule);
  }
  CHECK(plan_workload(topology, workload, options).communications.front().was_remembered);
}

TEST_CASE("processes share a folder") {
  const Topology three = three_in_a_ring();
  const TemporaryFolder folder;
  constexpr int keys = 3, rounds = 100;
  const auto plays = [&] { // whether all that is found is right
    ScheduleCache cache(folder.file("cache"));
    for (int round = 0; round < rounds; ++round) {
      const std::string key = "key " + std::to_string(round % keys);
      const ScheduleFile made = around(three, Bytes{100 + round % keys});
      if (cache.find(key, three) && !finds(cache, key, made)) return false;
      cache.remember(key, three, made);
      if (!finds(cache, key, made)) return false;
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
  CHECK(files_in(folder.file("cache")).size() == keys); // and no temporaries
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
