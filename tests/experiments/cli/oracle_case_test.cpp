#include "experiments/driver/cli/oracle_case.hpp"

#include "sim/engines/agreement.hpp"
#include "sim/engines/engine.hpp"
#include "sim/files/files.hpp"
#include "sim/verify.hpp"
#include "tests/catch.hpp"
#include "tests/message_of.hpp"
#include "tests/paths.hpp"
#include "tests/samples.hpp"
#include "tests/sim/random_case.hpp"
#include "tests/temporary_folder.hpp"

#include <nlohmann/json.hpp>

#include <cstdio>
#include <cstdlib>
#include <sstream>

namespace oracle_case_test {

using namespace tutti;
using nlohmann::json;

namespace {

// npu0 -> hub -> npu1 and back: links 0..3 of the star, one shared group over the first two.
Topology grouped_star() {
  TopologyParts parts = samples::star(2).parts();
  parts.groups.push_back({"bus", {LinkId{0}, LinkId{2}}, Bandwidth{7}});
  return Topology(std::move(parts));
}

} // namespace

TEST_CASE("a case in plain numbers") {
  const Topology topology = grouped_star();
  const Collective collective =
      make_collective(topology, {CollectiveKind::all_reduce, {6}, {}, 0, 1});
  Schedule schedule(topology.link_count());
  const std::vector<LinkId> there{LinkId{0}, LinkId{3}}, back{LinkId{2}, LinkId{1}};
  schedule.push({ChunkId{0}, schedule.paths().intern(there), Op::reduce, false});
  schedule.push({ChunkId{0}, schedule.paths().intern(back), Op::copy, true});
  const TimeModel model{
      LinkBusy::latency_and_serialization, Forwarding::cut_through, Discipline::fifo, {}};
  CHECK(oracle_case(topology, collective, schedule, model) ==
        R"({"nodes":[{"store":true,"copy":true,"reduce":true},)"
        R"({"store":true,"copy":true,"reduce":true},)"
        R"({"store":false,"copy":false,"reduce":false}],)"
        R"("links":[{"from":0,"to":2,"latency_ps":500000,"bandwidth":50000000000},)"
        R"({"from":2,"to":0,"latency_ps":500000,"bandwidth":50000000000},)"
        R"({"from":1,"to":2,"latency_ps":500000,"bandwidth":50000000000},)"
        R"({"from":2,"to":1,"latency_ps":500000,"bandwidth":50000000000}],)"
        R"("groups":[{"links":[0,2],"bandwidth":7}],)"
        R"("chunks":[{"bytes":3,"held_by":[0,1],"wanted_by":[0,1],"reduce":true},)"
        R"({"bytes":3,"held_by":[0,1],"wanted_by":[0,1],"reduce":true}],)"
        R"("transfers":[{"chunk":0,"path":[0,3],"op":"reduce","together":false},)"
        R"({"chunk":0,"path":[2,1],"op":"copy","together":true}],)"
        R"("time_model":{"link_busy":"latency+serialization","forwarding":"cut-through"}})"
        "\n");
}

TEST_CASE("what a case can't express is refused") {
  TopologyParts parts = samples::ring(3).parts();
  parts.nodes[1].reduce_rate = {1000};
  const Topology slow(std::move(parts)), plain = samples::ring(3);
  const Collective collective = make_collective(plain, {CollectiveKind::all_gather, {3}, {}, 0, 1});
  const Schedule schedule(plain.link_count());
  CHECK(message_of([&] { (void)oracle_case(slow, collective, schedule, {}); }) ==
        "a case can't be exported: node npu1 has a reduction rate, which cases don't know");
  TimeModel model;
  model.reduce_rate = {1};
  CHECK(message_of([&] { (void)oracle_case(plain, collective, schedule, model); }) ==
        "a case can't be exported: the time model has a reduction rate, which cases don't know");
}

namespace {

struct WaitingCase {
  testing::RandomCase problem;
  std::vector<Time> starts; // per node
};

/// A random case, about one in four of them with a fault, whose transfers name others and whose
/// nodes start late.
WaitingCase waiting_case(std::uint64_t seed) {
  WaitingCase made{testing::random_case(seed, seed % 2 == 0), {}};
  Random random(seed);
  testing::add_dependencies(random, made.problem);
  for (const Node& node : made.problem.topology.nodes()) {
    const bool is_late = node.can.store && random.below(3) == 0;
    made.starts.push_back(
        Time{is_late ? 500 * static_cast<std::int64_t>(random.below(20)) : std::int64_t{0}});
  }
  return made;
}

/// The independent implementation's answers to these cases, one a line; nothing without Python.
std::vector<json> oracle_answers(const std::vector<WaitingCase>& cases) {
  const TemporaryFolder folder;
  std::string lines;
  for (const WaitingCase& c : cases)
    lines += oracle_case(c.problem.topology, c.problem.collective, c.problem.schedule,
                         c.problem.model, c.starts);
  write_file(folder.file("cases"), lines);
  const std::string command =
      "python3 -c 'import sys, json\n"
      "sys.path.insert(0, sys.argv[1])\n"
      "import oracle\n"
      "for line in sys.stdin: print(json.dumps(oracle.run(json.loads(line))))' " TUTTI_SOURCE_DIR
      "/tests/sim <" +
      folder.file("cases") + " >" + folder.file("answers");
  // NOLINTNEXTLINE(concurrency-mt-unsafe,cert-env33-c)
  REQUIRE(std::system(command.c_str()) == 0);
  std::istringstream answers(read_file(folder.file("answers")));
  std::vector<json> parsed;
  for (std::string line; std::getline(answers, line);) parsed.push_back(json::parse(line));
  return parsed;
}

bool agrees(const Report& report, const json& answer) {
  for (std::size_t i = 0; i < report.deliveries.size(); ++i)
    if (report.deliveries[i].ps != answer["delivered_ps"][i]) return false;
  for (std::size_t l = 0; l < report.links.size(); ++l)
    if (report.links[l].bytes.count != answer["link_bytes"][l] ||
        report.links[l].busy.ps != answer["link_busy_ps"][l])
      return false;
  return report.completion.ps == answer["completion_ps"];
}

} // namespace

namespace {

bool has_python() {
  // NOLINTNEXTLINE(concurrency-mt-unsafe,cert-env33-c)
  if (std::system("python3 -c '' 2>/dev/null") == 0) return true;
  std::puts("no python3: the oracle isn't asked");
  return false;
}

/// verify and native on all cases, simgrid on every `simgrid_each`-th.
void compare_with_oracle(std::uint64_t first, std::uint64_t last, std::size_t simgrid_each) {
  if (!has_python()) return;
  std::vector<WaitingCase> cases;
  for (std::uint64_t seed = first; seed <= last; ++seed) cases.push_back(waiting_case(seed));
  const std::vector<json> answers = oracle_answers(cases);
  REQUIRE(answers.size() == cases.size());
  std::size_t faults = 0, differing = 0, waiting = 0, compared = 0, apart = 0;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const auto& [c, starts] = cases[i];
    const Verdict verdict = verify(c.topology, c.collective, c.schedule);
    const bool has_fault = !answers[i]["fault"].is_null();
    faults += has_fault ? 1 : 0;
    bool is_same = verdict.correct() != has_fault;
    if (verdict.correct() && is_same) {
      is_same = verdict.redundant == answers[i]["redundant"];
      waiting += c.schedule.has_dependencies() ? 1 : 0;
      RunOptions options{.record_deliveries = true};
      options.starts = starts;
      const bool with_simgrid = i % simgrid_each == 0;
      const Report report = (with_simgrid ? run_both : run_native)(c.topology, c.collective,
                                                                   c.schedule, c.model, options);
      is_same = is_same && agrees(report, answers[i]);
      compared += with_simgrid ? 1 : 0;
      apart += with_simgrid && !report.agreement->holds ? 1 : 0;
    }
    differing += is_same ? 0 : 1;
    if (!is_same) UNSCOPED_INFO("seed " << first + i);
  }
  CHECK(differing == 0);
  CHECK(apart <= compared / 20); // an order that depends on rounding
  CHECK(faults > cases.size() / 20);
  CHECK(waiting > cases.size() / 2);
}

} // namespace

namespace {

/// The schedule without its last dependency, or with the other milestone in it.
Schedule mutant(const Schedule& schedule, bool drops) {
  Schedule made = schedule;
  made.clear_dependencies();
  const std::size_t count = schedule.waiting().size();
  for (std::size_t k = 0; k < count; ++k) {
    Dependency dependency = schedule.all_dependencies()[k];
    if (k + 1 == count) {
      if (drops) break;
      dependency.milestone =
          dependency.milestone == Milestone::left ? Milestone::arrived : Milestone::left;
    }
    made.add_dependency(schedule.waiting()[k], dependency);
  }
  return made;
}

} // namespace

TEST_CASE("who forgets a dependency, takes departures for arrivals or ignores a start is caught") {
  if (!has_python()) return;
  std::vector<WaitingCase> cases;
  for (std::uint64_t seed = 1; seed <= 999; seed += 2) cases.push_back(waiting_case(seed));
  const std::vector<json> answers = oracle_answers(cases);
  std::size_t forgotten = 0, mistaken = 0, ignored = 0;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const auto& c = cases[i].problem;
    const auto& starts = cases[i].starts;
    if (!answers[i]["fault"].is_null() || !c.schedule.has_dependencies()) continue;
    RunOptions options{.record_deliveries = true};
    const auto differs = [&](const Schedule& schedule) {
      return !agrees(run_native(c.topology, c.collective, schedule, c.model, options), answers[i]);
    };
    ignored += differs(c.schedule) ? 1 : 0;
    options.starts = starts;
    REQUIRE_FALSE(differs(c.schedule));
    forgotten += differs(mutant(c.schedule, true)) ? 1 : 0;
    mistaken += differs(mutant(c.schedule, false)) ? 1 : 0;
  }
  CHECK(forgotten > 30);
  CHECK(mistaken > 30);
  CHECK(ignored > 100);
}

TEST_CASE("verify and both engines agree with the oracle on 2,000 cases that wait") {
  compare_with_oracle(1, 2000, 8);
}

TEST_CASE("verify and both engines agree with the oracle on 20,000 cases that wait", "[slow]") {
  compare_with_oracle(2001, 22'000, 1);
}

} // namespace oracle_case_test
