#include "experiments/driver/studies/runs/runner.hpp"

#include "experiments/driver/studies/registry.hpp"
#include "experiments/driver/studies/runs/message.hpp"
#include "experiments/driver/studies/runs/recorded_run.hpp"
#include "experiments/driver/studies/runs/records.hpp"
#include "experiments/driver/studies/runs/table.hpp"
#include "sim/error.hpp"
#include "sim/files/files.hpp"
#include "sim/files/schedule_file.hpp"
#include "sim/random.hpp"
#include "sim/transforms.hpp"
#include "synth/bounds/bounds.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/records/cells.hpp"
#include "tests/message_of.hpp"
#include "tests/pick.hpp"
#include "tests/samples.hpp"
#include "tests/temporary_folder.hpp"

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <map>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <unistd.h>

namespace runner_test {

using namespace tutti;

namespace {

Case case_of(const Topology& topology, const AlgorithmRow& algorithm) {
  Case c;
  c.topology_label = "sample";
  c.topology = &topology;
  c.collective = {{"all_gather"}, {4000}};
  c.algorithm = algorithm;
  c.engine = &find_engine("native");
  return c;
}

Case case_of(const Topology& topology, const char* algorithm) {
  return case_of(topology, find_algorithm(algorithm));
}

constexpr CollectiveKind only_all_gather[]{CollectiveKind::all_gather};

// Nothing is sent: the postcondition fails.
Outcome idle(const Topology& topology, const Collective&, const SynthesisOptions&) {
  Outcome outcome;
  outcome.status = Status::feasible;
  outcome.schedule = Schedule(topology.link_count());
  return outcome;
}

// Direct, and then its first transfer once more.
Outcome twice(const Topology& topology, const Collective& collective,
              const SynthesisOptions& options) {
  Outcome outcome = find_algorithm("direct").run(topology, collective, options);
  outcome.schedule->push((*outcome.schedule)[0]);
  return outcome;
}

// Ring one way, in compact form, with a plan and three attempts.
Outcome compact_ring(const Topology& topology, const Collective& collective,
                     const SynthesisOptions& options) {
  Outcome outcome = find_algorithm("ring1").run(topology, collective, options);
  outcome.compact = compacted(topology, collective, *outcome.schedule);
  outcome.schedule.reset();
  outcome.planned = Time{1'000'000};
  outcome.planned_on = "a ring of its own";
  outcome.attempts = {Time{3'000'000}, Time{1'000'000}, Time{2'000'000}};
  outcome.facts = {{"hops", 3}, {"a third", 1.0 / 3}};
  return outcome;
}

Outcome greedy(const Topology&, const Collective&, const SynthesisOptions&) {
  throw std::bad_alloc();
}

// Direct, with every shard cut in three where that is left to it.
Outcome in_three(const Topology& topology, const Collective& collective,
                 const SynthesisOptions& options) {
  Outcome outcome = find_algorithm("direct").run(topology, collective, options);
  if (!options.choose_chunks) return outcome;
  outcome.schedule = split_chunks(*outcome.schedule, 3);
  outcome.parts_per_chunk = 3;
  return outcome;
}

AlgorithmRow chooser_row() {
  AlgorithmRow row{"chooser", in_three, only_all_gather, 1, "any", "none"};
  row.chooses_chunks = true;
  return row;
}

const AlgorithmRow compact_row{"compact_ring", compact_ring, only_all_gather, 1, "any", "none"};

// Ring one way, which "proves" that so many picoseconds are needed as the seed says.
Outcome prover(const Topology& topology, const Collective& collective,
               const SynthesisOptions& options) {
  Outcome outcome = find_algorithm("ring1").run(topology, collective, options);
  outcome.bound = Time{static_cast<std::int64_t>(options.seed)};
  return outcome;
}

Report far_apart(const Topology& topology, const Collective& collective, const Schedule& schedule,
                 const TimeModel& model, const RunOptions& options) {
  Report report = run_native(topology, collective, schedule, model, options);
  report.agreement = EngineAgreement{Time{7}, Time{2}, "the delivery of transfer 3", false};
  return report;
}

Report at_once(const Topology& topology, const Collective& collective, const Schedule& schedule,
               const TimeModel& model, const RunOptions& options) {
  Report report = run_native(topology, collective, schedule, model, options);
  report.completion = {1};
  return report;
}

} // namespace

TEST_CASE("an evaluation of Ring on a 4-ring") {
  // ring1: 3 steps, each 0.5 us + 1000 B / 50 GB/s = 0.52 us. The chunk of npu0 needs two hops to
  // npu2, so 2 x 0.52 us is a bound. Each of the four links one way round is busy for 3 x 0.02 of
  // 1.56 us.
  const Topology topology = samples::ring(4);
  const Evaluation e = evaluate(case_of(topology, "ring1"));
  REQUIRE(e.replays.size() == 1);
  CHECK(e.verified);
  CHECK(e.problem.empty());
  CHECK(e.transfers == 12);
  CHECK(e.chunks == 4);
  CHECK(e.redundant == 0);
  CHECK(e.replays[0].report.completion == Time{1'560'000});
  CHECK(e.replays[0].bound_at_chunks.time == Time{1'040'000});
  CHECK(e.replays[0].gap_at_chunks() == Approx(1.5));
  // the far shard in two halves, one from each side: 0.5 us + 10 ns + 0.5 us
  CHECK(e.replays[0].bound.time == Time{1'010'000});
  CHECK(e.replays[0].gap() == Approx(1.56 / 1.01));
  CHECK(e.replays[0].algbw == Approx(4000 / 1.56e-6));
  CHECK(e.replays[0].busbw == Approx(3000 / 1.56e-6));
  CHECK(e.replays[0].max_utilisation() == Approx(0.06 / 1.56));
  CHECK(e.replays[0].mean_utilisation() == Approx(0.06 / 1.56 / 2));
  CHECK(e.hottest_link == "npu0>npu1 +3");
}

TEST_CASE("engines that are held against each other say how far apart they are, and beyond fail") {
  const Topology topology = samples::ring(4);
  Case c = case_of(topology, "ring1");
  c.engine = &find_engine("both");
  const Evaluation e = evaluate(c);
  CHECK(e.problem.empty());
  const Evaluation read = parse_evaluation(evaluation_message(e));
  CHECK(read.replays[0].report.engine == "native+simgrid");
  REQUIRE(read.replays[0].report.agreement);
  CHECK(read.replays[0].report.agreement->holds);
  CHECK_THAT(report_text({&e, 1}, {}),
             ContainsSubstring("native and simgrid agree to the picosecond"));
  const EngineRow apart{"both", far_apart, false, ""};
  c.engine = &apart;
  const Evaluation bad = evaluate(c);
  CHECK(bad.problem ==
        "native and simgrid differ: 7ps apart at most, in the delivery of transfer 3 "
        "(2ps allowed for rounding)");
}

TEST_CASE("no gap is below 1 by rounding alone") {
  TopologyParts parts = samples::ring(3).parts(); // a third of a nanosecond for each byte
  for (Link& link : parts.links) link = {link.from, link.to, Time{}, Bandwidth{3'000'000'000}};
  const Topology topology(std::move(parts));
  std::size_t below = 0;
  for (std::int64_t size = 990; size <= 1020; ++size) {
    Case c = case_of(topology, "ring");
    c.engine = &find_engine("simgrid");
    c.collective.size = Bytes{size};
    c.chunks = 1;
    const Evaluation e = evaluate(c);
    INFO(size << " bytes: " << e.problem);
    REQUIRE(e.replays.size() == 1);
    const Replay& replay = e.replays[0];
    below += replay.report.completion < replay.bound_at_chunks.time ? 1U : 0U;
    CHECK(replay.gap() >= 1);
    CHECK(replay.gap_at_chunks() >= 1);
  }
  CHECK(below > 0); // or nothing was asked
}

TEST_CASE("the number of chunks that is best is found") {
  // A line npu0 - npu1 - npu2: a Broadcast of n bytes in k chunks takes
  // 2 alpha + (k + 1) n / k / B; the more the better, but those that gain less than 1 % aren't
  // taken.
  const Topology line = samples::wired("line", 3, {{0, 1}, {1, 2}});
  Case c = case_of(line, "tacos");
  c.collective = {{"broadcast"}, {6'400'000}};
  c.chunks = 1;
  CHECK(evaluate(c).replays.at(0).report.completion == Time{1'000'000 + 2 * 128'000'000});
  c.chunks.reset();
  const Evaluation best = evaluate(c);
  CHECK(best.chunks >= 32);
  constexpr std::int64_t of_64 = 1'000'000 + 65 * 2'000'000;
  CHECK(static_cast<double>(best.replays.at(0).report.completion.ps) <= 1.01 * of_64);
}

TEST_CASE("an algorithm may choose the number of chunks itself") {
  const Topology topology = samples::ring(4);
  const TemporaryFolder folder;
  Case c = case_of(topology, chooser_row());
  c.chunks.reset();
  c.schedule_file = folder.file("chosen.schedule");
  const Evaluation chosen = evaluate(c);
  CHECK(chosen.problem.empty());
  CHECK(chosen.verified);
  CHECK(chosen.chunks_per_shard == 3);
  CHECK(chosen.chunks == 12);
  CHECK(chosen.size == Bytes{4000});
  CHECK(record_run(c, chosen).collective.chunks.size() == 12);

  c.chunks = 2; // told how many, it doesn't choose
  const Evaluation told = evaluate(c);
  CHECK(told.verified);
  CHECK(told.chunks_per_shard == 2);

  c.chunks.reset();
  c.collective.texts = {"all_gather", "all_gather"}; // several: 1, 2, 4, ... are tried
  CHECK(evaluate(c).verified);

  c.collective = {{"all_gather"}, {8}}; // shards of two bytes
  const Evaluation fine = evaluate(c);
  CHECK(fine.status == Status::unsupported);
  CHECK_THAT(fine.note, ContainsSubstring("chooser cuts every shard in 3: ") &&
                            ContainsSubstring("at least one byte"));
}

TEST_CASE("without a word the chunks are those of the library's rule") {
  const Topology topology = samples::ring(8);
  for (const char* name : {"ring", "direct", "tacos", "flows", "tree_packing", "dbt"}) {
    Case c = case_of(topology, name);
    c.collective = {{"all_reduce"}, {8'000'000}};
    c.chunks.reset();
    const Evaluation e = evaluate(c);
    const ChunkedOutcome made = synthesize_in_chunks(
        c.algorithm, topology,
        [&](std::uint32_t chunks_per_shard) {
          return make_collective(topology, c.collective, chunks_per_shard);
        },
        c.options);
    CHECK(e.chose_chunks);
    CHECK(e.chunks_per_shard == made.collective.parts.front().chunks_per_shard);
    c.chunks = 1;
    const Evaluation one = evaluate(c);
    CHECK_FALSE(one.chose_chunks);
    CHECK(e.replays.front().report.completion <= one.replays.front().report.completion);
  }
}

TEST_CASE("a choice of chunks that a limit cuts short is no complete row, whenever that is") {
  const Topology topology = samples::ring(4);
  for (const char* name : {"direct", "tacos"}) {
    Case c = case_of(topology, name);
    c.collective = {{"broadcast"}, {8'000'000}};
    c.chunks.reset();
    const std::uint32_t free = evaluate(c).chunks_per_shard;
    CAPTURE(name, free);
    REQUIRE(free > 1);
    std::size_t marked = 0;
    bool is_over = false;
    for (int allowed = 0; !is_over; allowed += 1 + allowed / 4) {
      std::atomic<int> asked = 0;
      c.options.cancelled = [&asked, allowed] { return asked++ >= allowed; };
      const Evaluation e = evaluate(c);
      is_over = asked <= allowed; // nothing was cut
      CAPTURE(allowed, e.note, e.chunks_per_shard);
      const bool says = e.note.find("the choice of chunks was cut short") != std::string::npos;
      if (says) CHECK(e.status == Status::timed_out);
      if (!e.replays.empty() && e.status != Status::timed_out) CHECK(e.chunks_per_shard == free);
      if (is_over) CHECK_FALSE(says);
      marked += says ? 1 : 0;
    }
    CHECK(marked > 0);
  }
}

TEST_CASE("the best of a table is complete, if any row is") {
  const Topology topology = samples::ring(4);
  const auto rows = [&](const std::vector<Status>& statuses) {
    std::vector<Evaluation> made;
    for (const Status status : statuses) {
      made.push_back(evaluate(case_of(topology, "ring1"))); // all take the same time
      made.back().algorithm = std::string("row") + std::to_string(made.size());
      made.back().status = status;
    }
    return made;
  };
  const std::string tie = report_text(rows({Status::timed_out, Status::feasible}));
  CHECK_THAT(tie, ContainsSubstring("\nbest: row2, "));
  CHECK(tie.find("row2") < tie.find("row1"));
  CHECK_THAT(report_text(rows({Status::timed_out, Status::timed_out})),
             ContainsSubstring("\nbest: row1 (timed_out), "));
  std::vector<Evaluation> with_defect = rows({Status::feasible, Status::timed_out});
  with_defect[0].problem = "broken";
  CHECK_THAT(report_text(with_defect), ContainsSubstring("\nbest: row2 (timed_out), "));
  with_defect[1].problem = "broken, too";
  CHECK(report_text(with_defect).find("best: ") == std::string::npos);
}

TEST_CASE("a plan that is faster than any schedule can be says so") {
  const Topology topology = samples::ring(4);
  Evaluation e = evaluate(case_of(topology, "ring1"));
  e.planned = Time{e.replays.front().bound.time.ps - 1};
  e.planned_on = "fluid, 3 trees, optimal";
  CHECK_THAT(report_text({&e, 1}),
             ContainsSubstring(" on fluid, 3 trees, optimal, without latencies, and so below the "
                               "lower bound"));
  e.planned = e.replays.front().bound.time;
  CHECK(report_text({&e, 1}).find("below the lower bound") == std::string::npos);
}

TEST_CASE("facts are written in their units, and nothing for what floating point has left") {
  const Topology topology = samples::ring(4);
  Evaluation e = evaluate(case_of(topology, "ring1"));
  e.facts = {{"epoch_seconds", 1e-6},
             {"reward_gap", 1.77e-15},
             {"traffic_gb", 3.2},
             {"tree_bytes_per_second", 5e9}};
  CHECK_THAT(report_text({&e, 1}),
             ContainsSubstring("epoch 1.000 us; reward gap 0; traffic 3.2 GB; tree 5.000 GB/s"));
}

TEST_CASE("a defect of an algorithm or an engine is a problem in words") {
  const Topology topology = samples::ring(4);
  const AlgorithmRow idle_row{"idle", idle, only_all_gather, 1, "any", "none"};
  const AlgorithmRow twice_row{"twice", twice, only_all_gather, 1, "any", "none"};
  const Evaluation nothing = evaluate(case_of(topology, idle_row));
  CHECK_THAT(nothing.problem, ContainsSubstring("fault: "));
  CHECK(nothing.replays.empty());
  CHECK_FALSE(nothing.verified);
  CHECK(evaluate(case_of(topology, twice_row)).problem == "redundant copies: 1");

  Case c = case_of(topology, "ring1");
  const EngineRow hasty{"hasty", at_once, false, ""};
  c.engine = &hasty;
  CHECK_THAT(evaluate(c).problem,
             ContainsSubstring("native fifo says 1ps, below the lower bound 1040ns (") &&
                 ContainsSubstring("a defect of Tutti"));
}

TEST_CASE("what an algorithm proves is told, and leaves the bounds as they are") {
  const Topology topology = samples::ring(4);
  const AlgorithmRow row{"prover", prover, only_all_gather, 1, "any", "none"};
  for (const std::uint64_t proven : {1'009'000U, 1'010'000U, 1'300'000U, 1'560'000U, 1'560'001U}) {
    Case c = case_of(topology, row);
    c.options.seed = proven;
    const auto results = run_cases(std::vector<Case>{c, case_of(topology, "ring1")}, 1);
    INFO(proven << " ps: " << results[0].note);
    CHECK(results[0].replays[0].bound == results[1].replays[0].bound);
    CHECK(results[0].replays[0].bound_at_chunks == results[1].replays[0].bound_at_chunks);
    CHECK((results[0].note.find("proves that no schedule takes less than") != std::string::npos) ==
          (proven > 1'010'000));
    CHECK((results[0].problem.find("below what the algorithm proves") != std::string::npos) ==
          (proven > 1'560'000));
  }
}

TEST_CASE("results come in the order of the cases, however many jobs there are") {
  const Topology small = samples::ring(3), large = samples::ring(8);
  std::vector<Case> cases;
  for (const char* name : {"tacos", "ring", "direct"})
    for (const Topology* topology : {&large, &small}) cases.push_back(case_of(*topology, name));
  std::vector<std::size_t> done;
  const auto one = run_cases(
      cases, 1,
      {.finished = [&](std::size_t n, std::size_t) { done.push_back(n); }, .progress = {}});
  const auto many = run_cases(cases, 4);
  CHECK(done == std::vector<std::size_t>{1, 2, 3, 4, 5, 6});
  REQUIRE(one.size() == cases.size());
  REQUIRE(many.size() == cases.size());
  for (std::size_t i = 0; i < cases.size(); ++i) {
    CHECK(one[i].algorithm == cases[i].algorithm.name);
    CHECK(one[i].npus == cases[i].topology->npu_count());
    const Evaluation here = evaluate(cases[i]);
    for (const Evaluation& e : {one[i], many[i]}) {
      REQUIRE(e.replays.size() == 1);
      CHECK(e.replays[0].report.completion == here.replays[0].report.completion);
      CHECK(e.replays[0].bound == here.replays[0].bound);
      CHECK(e.replays[0].busbw == here.replays[0].busbw);
      CHECK(e.replays[0].mean_utilisation() == here.replays[0].mean_utilisation());
      CHECK(e.hottest_link == here.hottest_link);
      CHECK(e.transfers == here.transfers);
    }
  }
}

TEST_CASE("a process that dies costs its own row only") {
  const Topology topology = samples::ring(4);
  const std::vector<Case> cases{case_of(topology, "ring"), case_of(topology, "direct"),
                                case_of(topology, "tacos"), case_of(topology, "rhd")};
  const auto results = run_cases(cases, 2, {}, [](const Case& c) {
    if (c.algorithm.name == "ring") std::raise(SIGKILL);
    if (c.algorithm.name == "direct") std::_Exit(3);
    if (c.algorithm.name == "tacos") throw std::logic_error("lost count");
    return evaluate(c);
  });
  CHECK(results[0].problem == "the process was killed by signal 9 (Killed)");
  CHECK(results[0].algorithm == "ring");
  CHECK(results[0].topology == "sample");
  CHECK(results[1].problem == "the process ended with code 3");
  CHECK(results[2].problem == "lost count");
  CHECK(results[3].problem.empty());
  CHECK(results[3].verified);
}

TEST_CASE("a compact schedule goes through like a list") {
  const Topology topology = samples::ring(4);
  const TemporaryFolder folder;
  Case c = case_of(topology, compact_row);
  c.schedule_file = folder.file("s.bin");
  const Evaluation list = evaluate(case_of(topology, "ring1")), e = evaluate(c);
  CHECK(e.problem.empty());
  CHECK(e.verified);
  CHECK(e.transfers == 12);
  REQUIRE(e.replays.size() == 1);
  CHECK(e.replays[0].report.completion == list.replays[0].report.completion);
  CHECK(e.replays[0].bound == list.replays[0].bound);
  CHECK(e.hottest_link == list.hottest_link);
  CHECK(read_schedule(c.schedule_file, topology).size() == 12);

  // What only a list can do is done with one.
  c.engine = &find_engine("simgrid");
  c.disciplines = {Discipline::fifo, Discipline::fluid};
  const Evaluation listed = evaluate(c);
  CHECK(listed.verified);
  CHECK(listed.problem.empty());
  CHECK(listed.note.empty());
  REQUIRE(listed.replays.size() == 2);
  CHECK(listed.replays[0].report.completion == e.replays[0].report.completion);
}

TEST_CASE("what long runs take is said beforehand") {
  const auto text = [](std::uint32_t npus, CollectiveKind kind) {
    const Topology topology = samples::ring(npus, true);
    return long_run_text(topology, make_collective(topology, {kind, Bytes{1 << 20}, {}, 0, 1}));
  };
  CHECK(text(1000, CollectiveKind::all_gather).empty());
  CHECK(text(5000, CollectiveKind::all_gather) ==
        "at least 25 million transfers, some 5 s and 0.25 GB in all");
  CHECK(text(5000, CollectiveKind::all_reduce) ==
        "at least 50 million transfers, some 10 s and 0.3 GB in all");
}

TEST_CASE("plan, attempts and facts reach JSON, table and CSV, and come back from a message") {
  const Topology topology = samples::ring(4);
  const Evaluation made = evaluate(case_of(topology, compact_row));
  const Evaluation e = parse_evaluation(evaluation_message(made));
  CHECK(evaluation_message(e) == evaluation_message(made));
  const std::string message = evaluation_message(e);
  for (std::size_t length = 0; length < message.size(); ++length)
    CHECK_THROWS_AS(parse_evaluation(message.substr(0, length)), std::runtime_error);
  CHECK(e.planned == Time{1'000'000});
  CHECK(e.planned_on == "a ring of its own");
  REQUIRE(e.attempts);
  CHECK(e.attempts->count == 3);
  CHECK(e.attempts->best == Time{1'000'000});
  CHECK(e.attempts->median == Time{2'000'000});
  CHECK(e.attempts->worst == Time{3'000'000});
  CHECK(e.facts == std::map<std::string, double>{{"a third", 1.0 / 3}, {"hops", 3}});
  CHECK(e.replay_seconds == made.replay_seconds);
  CHECK(e.bound_seconds == made.bound_seconds);
  CHECK_THAT(
      report_text({&e, 1}),
      ContainsSubstring("planned 1.000 us on a ring of its own, a simpler picture of the network, "
                        "and so below the lower bound; 3 attempts: best 1.000 us, "
                        "median 2.000 us, worst 3.000 us; a third 0.333333; hops 3"));
  Evaluation late = e; // whoever starts late is no part of a plan
  late.replays[0].bound.kind = "late-start";
  CHECK_THAT(report_text({&late, 1}),
             ContainsSubstring("planned 1.000 us on a ring of its own, if all start at once; 3 "));
  const auto rows = csv_rows(run_records({&e, 1}));
  REQUIRE(rows.size() == 2);
  const auto cell = [&rows](const std::string& column) { return cell_of(rows, 1, column); };
  CHECK(cell("planned_time_ps") == "1000000");
  CHECK(cell("planned_on") == "a ring of its own");
  CHECK(cell("attempts") == "3");
  CHECK(cell("attempts_worst_ps") == "3000000");
  CHECK(cell("fact:a third") == "0.3333333333");
  CHECK(cell("fact:hops") == "3");
  CHECK(rows[0].back() == "peak_rss_bytes");
  CHECK_FALSE(evaluate(case_of(topology, "ring1")).planned);

  // Beside one without facts, that one's cells are empty; without any there are no such columns.
  const std::vector both{e, evaluate(case_of(topology, "ring1"))};
  const auto columns = csv_rows(run_records(both));
  CHECK(cell_of(columns, 1, "fact:hops") == "3");
  CHECK(cell_of(columns, 2, "fact:hops").empty());
  CHECK(csv_rows(run_records({&both[1], 1}))[0].size() == columns[0].size() - 2);
}

TEST_CASE("chunks below a byte because of an algorithm's chunk multiple are unsupported") {
  const Topology topology = samples::ring(4);
  Case c = case_of(topology, "ring"); // cuts every shard in 2
  c.collective.size = {4};
  CHECK_NOTHROW(require_sound({&c, 1}));
  const Evaluation e = evaluate(c);
  CHECK(e.status == Status::unsupported);
  CHECK_THAT(e.note, ContainsSubstring("ring cuts every shard in 2: ") &&
                         ContainsSubstring("at least one byte"));
  CHECK(e.size == Bytes{4});
}

TEST_CASE("running out of memory ends a synthesis, not the run") {
  const Topology topology = samples::ring(4);
  const AlgorithmRow greedy_row{"greedy", greedy, only_all_gather, 1, "any", "none"};
  const Evaluation e = evaluate(case_of(topology, greedy_row));
  CHECK(e.status == Status::out_of_memory);
  CHECK(to_text(e.status) == "out_of_memory");
  CHECK(e.note.starts_with("out of memory"));
  CHECK(e.problem.empty());

  std::vector<Case> cases{case_of(topology, "ring"), case_of(topology, "direct")};
  cases[0].options.limit_bytes = std::int64_t{1} << 30;
  const auto results = run_cases(cases, 1, {}, [](const Case& one) -> Evaluation {
    if (one.options.limit_bytes == 0) return evaluate(one);
#ifndef TUTTI_ADDRESS_SANITIZER // which has no bad_alloc
    const std::vector<char> much(std::size_t{2} << 30, 'x');
    if (much.back() == 'x') throw std::logic_error("the limit didn't hold");
#endif
    throw std::bad_alloc();
  });
  CHECK(results[0].status == Status::out_of_memory);
  CHECK(results[0].note.starts_with("out of memory"));
  CHECK(results[0].problem.empty());
  CHECK(results[0].algorithm == "ring");
  CHECK(results[1].verified);
}

TEST_CASE("progress comes from the jobs, but not too often") {
  const Topology topology = samples::ring(4);
  const std::vector<Case> cases(1, case_of(topology, "ring"));
  std::vector<SynthesisProgress> heard;
  const RunWatcher watcher{.finished = {},
                           .progress = [&](const Case& c, const SynthesisProgress& progress) {
                             CHECK(&c == &cases[0]);
                             heard.push_back(progress);
                           }};
  const auto results = run_cases(cases, 1, watcher, [](const Case& c) {
    for (std::uint64_t i = 1; i <= 1000; ++i) c.options.progress({i, 1000, Time{42}});
    return evaluate(c);
  });
  CHECK(results[0].verified);
  REQUIRE(!heard.empty());
  CHECK(heard.size() < 100);
  CHECK(heard[0].done == 1);
  CHECK(heard[0].total == 1000);
  CHECK(heard[0].reached == Time{42});
}

TEST_CASE("the first signal cancels what runs, and nothing else is started") {
  const Topology topology = samples::ring(4);
  const std::vector<Case> cases(4, case_of(topology, "ring"));
  for (const int signal : {SIGINT, SIGTERM}) {
    Interrupts interrupts;
    std::size_t heard = 0;
    const RunWatcher watcher{.finished = {},
                             .progress =
                                 [&](const Case&, const SynthesisProgress&) {
                                   if (++heard == 2) ::kill(::getpid(), signal);
                                 },
                             .interrupts = &interrupts};
    const auto results = run_cases(cases, 2, watcher, [](const Case& c) {
      c.options.progress({1, 2, Time{0}});
      while (!c.options.cancelled()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      Evaluation e = evaluate(c);
      e.note = "cancelled";
      return e;
    });
    CHECK(interrupts.count() == 1);
    for (const std::size_t i : {0U, 1U}) {
      CHECK(results[i].note == "cancelled");
      CHECK(results[i].verified);
    }
    for (const std::size_t i : {2U, 3U}) {
      CHECK(results[i].note == "interrupted before it began");
      CHECK(results[i].status == Status::timed_out);
    }
  }
}

TEST_CASE("the second signal kills what runs") {
  const Topology topology = samples::ring(4);
  const TemporaryFolder folder;
  std::vector<Case> cases(1, case_of(topology, "ring"));
  cases[0].schedule_file = folder.file("s.bin");
  Interrupts interrupts;
  pid_t child = 0;
  const RunWatcher watcher{.finished = {},
                           .progress =
                               [&](const Case&, const SynthesisProgress& progress) {
                                 child = static_cast<pid_t>(progress.total);
                                 ::kill(::getpid(), SIGINT);
                               },
                           .interrupts = &interrupts};
  CHECK_THROWS_AS(
      run_cases(cases, 1, watcher,
                [](const Case& c) -> Evaluation {
                  write_file(temporary_of(c.schedule_file, ::getpid()), "half");
                  while (true) {
                    c.options.progress({1, static_cast<std::uint64_t>(::getpid()), Time{0}});
                    std::this_thread::sleep_for(std::chrono::milliseconds(10));
                  }
                }),
      Interrupted);
  CHECK(interrupts.count() == 2);
  REQUIRE(child > 0);
  CHECK(::kill(child, 0) != 0); // gone, and not a zombie either
  CHECK(std::filesystem::is_empty(folder.file("")));
}

TEST_CASE("bad input that one job meets is its row's note, and that all meet an InputError") {
  const Topology topology = samples::ring(4);
  for (const std::size_t jobs : {1U, 3U})
    for (std::uint32_t refusing = 0; refusing < 16; ++refusing) { // as bits
      std::vector<Case> cases(4, case_of(topology, "ring"));
      for (std::size_t i = 0; i < cases.size(); ++i)
        if ((refusing >> i & 1) != 0)
          cases[i].options.settings["colour" + std::to_string(i)] = "red";
      if (refusing == 15) {
        CHECK(message_of([&] { (void)run_cases(cases, jobs); }) ==
              "unknown setting \"colour0\" (ring has none)");
        continue;
      }
      const auto results = run_cases(cases, jobs);
      for (std::size_t i = 0; i < cases.size(); ++i) {
        const bool refuses = (refusing >> i & 1) != 0;
        CHECK(results[i].verified == !refuses);
        CHECK(results[i].problem.empty());
        CHECK(results[i].algorithm == "ring");
        CHECK((results[i].status == Status::unsupported) == refuses);
        CHECK(results[i].note ==
              (refuses ? "unknown setting \"colour" + std::to_string(i) + "\" (ring has none)"
                       : std::string()));
      }
    }
}

namespace {

// A small network, and latencies, bandwidths and sizes between nothing and far too much. Each row
// tells the same bound as the library.
void check_rows(std::uint64_t seed) {
  constexpr std::int64_t latencies[]{0, 1, 1'000, 10'000'000, 1'000'000'000'000};
  constexpr std::int64_t bandwidths[]{1'000, 1'000'000'000, 100'000'000'000, 4'000'000'000'000};
  constexpr std::int64_t sizes[]{24, 300, 1 << 20, std::int64_t{1} << 40};
  Random random(seed);
  const auto nodes = static_cast<std::uint32_t>(2 + random.below(3));
  TopologyParts parts = samples::npus("any", nodes);
  for (std::uint32_t a = 0; a < nodes; ++a)
    for (std::uint32_t b = 0; b < nodes; ++b)
      if (b == (a + 1) % nodes || (a != b && random.below(2) == 0)) {
        Link link = samples::link(a, b);
        link.latency = Time{testing::pick(random, latencies)};
        link.bandwidth = Bandwidth{testing::pick(random, bandwidths)};
        parts.add_link(link);
      }
  const Topology topology(std::move(parts));
  std::vector<Case> cases;
  for (const AlgorithmRow& row : all_algorithms()) {
    Case c = case_of(topology, row);
    c.collective.size = Bytes{testing::pick(random, sizes)};
    c.options.limit_seconds = 5;
    cases.push_back(c);
  }
  std::size_t verified = 0;
  for (const Evaluation& e : run_cases(cases, 2)) {
    INFO("seed " << seed << ", " << e.algorithm << ", " << e.size.count << " B: " << e.note);
    CHECK(e.problem.empty());
    CHECK((e.verified || !e.note.empty()));
    verified += e.verified;
    for (const Replay& replay : e.replays)
      CHECK(replay.bound.time ==
            lower_bound(topology,
                        make_collective(topology, CollectiveRequest{{"all_gather"}, e.size}, 1),
                        replay.report.model)
                .time);
  }
  CHECK(verified > 0);
}

} // namespace

TEST_CASE("whatever network and size: each algorithm is a row") { check_rows(1); }

TEST_CASE("whatever networks and sizes: each algorithm is a row", "[slow]") {
  for (std::uint64_t seed = 2; seed <= 60; ++seed) check_rows(seed);
}

TEST_CASE("what can't work shows before anything runs") {
  const Topology topology = samples::ring(4);
  std::vector<Case> cases{case_of(topology, "ring"), case_of(topology, "ring")};
  CHECK_NOTHROW(require_sound(cases));
  cases[1].disciplines = {Discipline::fifo, Discipline::fluid};
  CHECK(message_of([&] { require_sound(cases); }) ==
        "engine native knows no fluid sharing (engines that do: simgrid)");
  cases[1].disciplines = {Discipline::fifo};
  cases[1].collective.size = {3};
  CHECK_THAT(message_of([&] { require_sound(cases); }), ContainsSubstring("at least one byte"));

  const Topology broken = samples::linked("broken", 2, {{0, 1}});
  const Evaluation cut = evaluate(case_of(broken, "ring")); // no bad input
  CHECK(cut.status == Status::infeasible);
  CHECK_THAT(cut.note, ContainsSubstring("can't get from npu1 to npu0"));
}

} // namespace runner_test
