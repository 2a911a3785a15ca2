// An evaluation is the same whether its schedule was made now or remembered.
#include "experiments/driver/cache/schedule_cache.hpp"
#include "experiments/driver/studies/registry.hpp"
#include "experiments/driver/studies/runs/evaluation.hpp"
#include "experiments/driver/studies/runs/message.hpp"
#include "sim/compact_schedule.hpp"
#include "sim/files/files.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/studies/training_planning.hpp"
#include "tests/samples.hpp"
#include "tests/temporary_folder.hpp"
#include "tests/workloads/planning/workload_samples.hpp"
#include "workloads/planning/planning.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace remembered_evaluation_test {

using namespace tutti;

namespace {

namespace fs = std::filesystem;

/// How often the algorithms below were run.
int& runs() {
  static int count = 0;
  return count;
}

/// TACOS in compact form, with something in every field.
Outcome told(const Topology& topology, const Collective& collective,
             const SynthesisOptions& options) {
  ++runs();
  static const AlgorithmRow tacos = find_algorithm("tacos");
  Outcome outcome = tacos.run(topology, collective, options);
  if (!outcome.schedule) return outcome; // cancelled before it had one
  outcome.compact = compacted(topology, collective, *outcome.schedule);
  outcome.schedule.reset();
  outcome.note = "a note";
  outcome.routing = "shortest";
  outcome.bound = Time{7};
  outcome.planned = Time{1'000};
  outcome.planned_on = "a picture of " + topology.name();
  outcome.attempts = {Time{1'000}, Time{1'002}, Time{1'001}};
  outcome.facts = {{"a_third", 1.0 / 3}};
  return outcome;
}

Outcome none(const Topology& topology, const Collective&, const SynthesisOptions&) {
  ++runs();
  return unsupported(topology.node(NodeId{0}).name + " doesn't want to");
}

Outcome cut_short(const Topology& topology, const Collective& collective,
                  const SynthesisOptions& options) {
  Outcome outcome = told(topology, collective, options);
  outcome.status = Status::timed_out;
  return outcome;
}

Outcome wasteful(const Topology& topology, const Collective& collective,
                 const SynthesisOptions& options) {
  Outcome outcome = told(topology, collective, options);
  outcome.schedule = expanded(topology, collective, *std::exchange(outcome.compact, {}));
  outcome.schedule->push((*outcome.schedule)[0]);
  return outcome;
}

AlgorithmRow counted(SynthesisFunction function) {
  AlgorithmRow row = find_algorithm("tacos");
  row.name = "counted";
  row.run = function;
  return row;
}

Case case_of(const Topology& topology, const AlgorithmRow& algorithm,
             const std::vector<std::string>& collectives, Bytes size) {
  Case c;
  c.topology_label = "a network";
  c.topology = &topology;
  c.collective = {collectives, size};
  c.algorithm = algorithm;
  c.engine = &find_engine("native");
  return c;
}

/// All that an evaluation says, less what is measured.
std::string said(Evaluation evaluation) {
  evaluation.synthesis_seconds = evaluation.verify_seconds = 0;
  evaluation.replay_seconds = evaluation.bound_seconds = 0;
  evaluation.peak_rss_bytes = 0;
  for (Replay& replay : evaluation.replays) replay.replay_seconds = replay.bound_seconds = 0;
  return evaluation_message(evaluation);
}

std::size_t files_in(const std::string& folder) {
  std::size_t count = 0;
  if (!fs::exists(folder)) return 0;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder))
    count += entry.path().extension() == ".schedule" ? 1 : 0;
  return count;
}

void change_every_file(const std::string& folder,
                       const std::function<std::string(std::string)>& change) {
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder))
    if (entry.path().extension() == ".schedule")
      write_file(entry.path().string(), change(read_file(entry.path().string())));
}

struct Sample {
  std::string algorithm;
  std::vector<std::string> collectives;
  std::optional<std::uint32_t> chunks = 1;
  std::map<std::string, std::string> settings = {};
};

} // namespace

TEST_CASE("evaluations are the same without a cache, with a cold one and with a warm one") {
  const TemporaryFolder folder;
  const std::string custom = folder.file("custom.toml");
  write_file(custom,
             "[[collective]]\nname = \"custom\"\n"
             "[[collective.chunks]]\nsize = \"7kB\"\nsources = [0]\ndestinations = [1, 2, 3]\n"
             "[[collective.chunks]]\nsize = \"9kB\"\nsources = [3]\ndestinations = [1]\n");
  const std::vector<Sample> samples{
      {"ring", {"all_reduce"}},
      {"ring", {"all_gather"}, 3},
      {"ring", {"all_gather"}, std::nullopt},
      {"direct", {"all_to_all"}, 2},
      {"direct", {"broadcast,root=2", "all_gather,group=0-1"}},
      {"tacos", {"all_gather"}},
      {"tacos", {"all_reduce"}, std::nullopt},
      {"tacos", {"reduce_scatter", "all_gather"}},
      {"tacos", {custom}},
      {"tacos", {custom, "broadcast"}},
      {"flows", {"all_gather"}},
      {"flows", {"all_gather"}, std::nullopt},
      {"flows", {"broadcast", "broadcast,root=3"}},
      {"flows", {custom}},
      {"sccl", {"all_gather"}},
      {"teccl", {"all_gather"}},
      {"rhd", {"all_reduce"}},
      {"rhd", {"all_to_all"}}, // unsupported
  };
  const Topology mesh = samples::mesh(2, 2);
  for (const Sample& sample : samples) {
    INFO(sample.algorithm << " " << sample.collectives.front());
    Case c = case_of(mesh, find_algorithm(sample.algorithm), sample.collectives, Bytes{40'000});
    c.chunks = sample.chunks;
    const std::string expected = said(evaluate(c));
    c.cache = folder.file("cache");
    const std::size_t before = files_in(c.cache);
    CHECK(said(evaluate(c)) == expected);
    const std::size_t after = files_in(c.cache);
    CHECK(after > before); // it wasn't remembered for another sample
    CHECK(said(evaluate(c)) == expected);
    CHECK(files_in(c.cache) == after);
  }
}

TEST_CASE("what is remembered isn't made again, and all of it is reported") {
  const TemporaryFolder folder;
  const Topology mesh = samples::mesh(3, 3);
  Case c = case_of(mesh, counted(told), {"all_gather"}, Bytes{90'000});
  c.cache = folder.file("cache");
  runs() = 0;
  const std::string first = said(evaluate(c));
  const Evaluation second = evaluate(c);
  CHECK(runs() == 1);
  CHECK(said(second) == first);
  CHECK(second.verified);
  CHECK(second.planned == Time{1'000});
  CHECK(second.planned_on == "a picture of " + mesh.name());
  REQUIRE(second.attempts);
  CHECK(second.attempts->median == Time{1'001});
  CHECK(second.facts == std::map<std::string, double>{{"a_third", 1.0 / 3}});
  CHECK(second.replays.size() == 1);
  CHECK(second.replays.front().bound.kind != "algorithm"); // it proved less than is known
  CHECK(second.note == "a note");
  CHECK(second.routing == "shortest");

  c.chunks = std::nullopt; // that with one chunk is remembered
  const std::string chosen = said(evaluate(c));
  const int tries = runs();
  CHECK(tries > 1);
  CHECK(said(evaluate(c)) == chosen);
  CHECK(runs() == tries);

  c.options.threads = 3;
  (void)evaluate(c);
  CHECK(runs() == tries);
  c.options.seed = 2;
  (void)evaluate(c);
  CHECK(runs() == 2 * tries);
  c.cache.clear();
  (void)evaluate(c);
  CHECK(runs() == 3 * tries);
}

TEST_CASE("a schedule file is written from what is remembered, too") {
  const TemporaryFolder folder;
  const Topology mesh = samples::mesh(3, 3);
  Case c = case_of(mesh, find_algorithm("tacos"), {"all_reduce"}, Bytes{90'000});
  c.cache = folder.file("cache");
  c.schedule_file = folder.file("made.schedule");
  (void)evaluate(c);
  c.schedule_file = folder.file("remembered.schedule");
  (void)evaluate(c);
  CHECK(read_file(folder.file("made.schedule")) == read_file(folder.file("remembered.schedule")));
}

TEST_CASE("outcomes without a schedule are remembered, for networks with the same names") {
  const TemporaryFolder folder;
  TopologyParts parts = samples::mesh_parts(2, 2);
  const Topology mesh(parts);
  parts.nodes[0].name = "first";
  const Topology renamed(parts);
  Case c = case_of(mesh, counted(none), {"all_gather"}, Bytes{4'000});
  c.cache = folder.file("cache");
  runs() = 0;
  CHECK(evaluate(c).note == "npu0 doesn't want to");
  CHECK(evaluate(c).note == "npu0 doesn't want to");
  CHECK(evaluate(c).status == Status::unsupported);
  CHECK(runs() == 1);
  c.topology = &renamed;
  CHECK(evaluate(c).note == "first doesn't want to");
  CHECK(evaluate(c).note == "first doesn't want to");
  CHECK(runs() == 2);
}

TEST_CASE("what was cut short, cancelled or is a defect isn't remembered") {
  const TemporaryFolder folder;
  const Topology mesh = samples::mesh(2, 2);
  for (SynthesisFunction function : {cut_short, wasteful}) {
    Case c = case_of(mesh, counted(function), {"all_gather"}, Bytes{4'000});
    c.cache = folder.file("cache");
    const std::string first = said(evaluate(c));
    CHECK(said(evaluate(c)) == first);
    CHECK(files_in(c.cache) == 0);
  }
  Case c = case_of(mesh, counted(told), {"all_gather"}, Bytes{4'000});
  c.cache = folder.file("cache");
  bool is_cancelled = true;
  c.options.cancelled = [&] { return is_cancelled; };
  (void)evaluate(c);
  CHECK(files_in(c.cache) == 0);
  is_cancelled = false;
  (void)evaluate(c);
  CHECK(files_in(c.cache) == 1);
}

TEST_CASE("a remembered outcome that isn't correct is made anew and replaced") {
  const TemporaryFolder folder;
  const Topology mesh = samples::mesh(2, 2);
  Case c = case_of(mesh, counted(told), {"all_gather"}, Bytes{4'000});
  c.cache = folder.file("cache");
  const std::string first = said(evaluate(c));
  const Collective collective =
      make_collective(mesh, {CollectiveKind::all_gather, Bytes{4'000}, {}});
  const std::string key = schedule_key(mesh, collective, c.algorithm, c.options);
  ScheduleCache cache(c.cache);
  const std::optional<RememberedOutcome> right = cache.find(key, mesh);
  REQUIRE(right);
  Outcome idle = right->outcome;
  idle.compact = CompactSchedule(mesh.link_count(), collective.chunks.size());
  cache.remember(key, mesh, collective, idle);
  runs() = 0;
  CHECK(said(evaluate(c)) == first);
  CHECK(said(evaluate(c)) == first);
  CHECK(runs() == 1);
  // Of another collective: its chunks aren't those that are asked for.
  const Collective finer =
      make_collective(mesh, {CollectiveKind::all_gather, Bytes{4'000}, {}, 0, 2});
  cache.remember(key, mesh, finer, told(mesh, finer, c.options));
  runs() = 0;
  CHECK(said(evaluate(c)) == first);
  CHECK(runs() == 1);
}

TEST_CASE("a file of a cache that is torn or damaged anywhere doesn't show") {
  const TemporaryFolder folder;
  const Topology mesh = samples::mesh(1, 2);
  Case c = case_of(mesh, counted(told), {"broadcast"}, Bytes{40});
  c.cache = folder.file("cache");
  const std::string first = said(evaluate(c));
  std::size_t size = 0;
  change_every_file(c.cache, [&](std::string content) {
    size = content.size();
    return content;
  });
  for (std::size_t place = 0; place < size; ++place) {
    INFO(place);
    runs() = 0;
    change_every_file(c.cache, [&](std::string content) { return content.substr(0, place); });
    REQUIRE(said(evaluate(c)) == first);
    change_every_file(c.cache, [&](std::string content) {
      content[place] = static_cast<char>(content[place] ^ (1 << place % 8));
      return content;
    });
    REQUIRE(said(evaluate(c)) == first);
    REQUIRE(runs() == 2);
  }
}

TEST_CASE("a cache that can't be written doesn't show") {
  const TemporaryFolder folder;
  write_file(folder.file("plain"), "a file, no folder");
  const Topology mesh = samples::mesh(2, 2);
  Case c = case_of(mesh, find_algorithm("ring"), {"all_gather"}, Bytes{4'000});
  const std::string expected = said(evaluate(c));
  c.cache = folder.file("plain") + "/cache";
  CHECK(said(evaluate(c)) == expected);
}

TEST_CASE("training and evaluations share what is remembered") {
  const TemporaryFolder folder;
  const Topology mesh = samples::mesh(3, 3);
  PlanningOptions options;
  options.algorithms = {find_algorithm("tacos")};
  options.chunks = {1};
  const std::string used = folder.file("cache");
  const Workload workload = samples::communicating(9, {{0, 1, 2, 3, 4, 5, 6, 7, 8}},
                                                   {{CollectiveKind::all_gather, Bytes{90'000}}});
  Case c = case_of(mesh, options.algorithms.front(), {"all_gather"}, Bytes{90'000});
  const std::string expected = said(evaluate(c));
  (void)samples::planned(mesh, workload, options, used);
  CHECK(files_in(used) == 1);
  c.cache = used;
  CHECK(said(evaluate(c)) == expected);
  CHECK(files_in(used) == 1);
}

} // namespace remembered_evaluation_test
