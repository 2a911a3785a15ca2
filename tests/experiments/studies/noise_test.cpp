// Start times and noise as users ask for them: what is refused in words, what draws come to by
// hand, and that neither threads nor engines decide it.
#include "experiments/driver/studies/experiment.hpp"
#include "experiments/driver/studies/noise/draws.hpp"
#include "experiments/driver/studies/noise/figures.hpp"
#include "experiments/driver/studies/noise/request.hpp"
#include "experiments/driver/studies/runs/evaluation.hpp"
#include "experiments/driver/studies/runs/message.hpp"
#include "experiments/driver/studies/runs/records.hpp"
#include "sim/files/config.hpp"
#include "sim/files/files.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/figures/svg_reading.hpp"
#include "tests/experiments/records/cells.hpp"
#include "tests/experiments/studies/experiment_error.hpp"
#include "tests/message_of.hpp"
#include "tests/samples.hpp"
#include "tests/temporary_folder.hpp"

#include <nlohmann/json.hpp>

#include <cstdlib>
#include <string>
#include <vector>

namespace noise_test {

using namespace tutti;

namespace {

/// An experiment of one case, All-Gather on a ring of 4 by `ring1`, with more keys.
std::string experiment_with(const std::string& keys) {
  return "name = \"e\"\n[topologies]\nA = \"ring:4,bandwidth=50GB/s,latency=0.5us\"\n[[runs]]\n"
         "collectives = [\"all_gather\"]\nsizes = [\"4MB\"]\nalgorithms = [\"ring1\"]\n"
         "chunks = 1\nengine = \"native\"\n" +
         keys;
}

Case case_with(const Experiment& experiment) {
  return experiment.all<RunStudy>().at(0)->cases(experiment.topologies).at(0);
}

Evaluation evaluated(const std::string& keys) {
  const Experiment experiment = parse_experiment(experiment_with(keys), "e.toml");
  return evaluate(case_with(experiment));
}

std::string refusal(const std::string& keys) { return experiment_error(experiment_with(keys)); }

Draw draw_of(std::int64_t time, std::int64_t last_start, const std::string& critical_cause) {
  return {Time{time}, Time{last_start}, critical_cause};
}

} // namespace

TEST_CASE("start times by name, and what is wrong with them") {
  const Topology ring = samples::ring(4);
  const Collective group = make_collective(
      ring, {CollectiveKind::all_gather, Bytes{30}, {NodeId{0}, NodeId{1}, NodeId{2}}, 0, 1});
  const std::vector<NodeId> members = members_of(group);
  CHECK(members == std::vector{NodeId{0}, NodeId{1}, NodeId{2}});
  Collective with_unused_set = group; // as what is left of a larger collective may have
  with_unused_set.sets.push_back({NodeId{3}});
  CHECK(members_of(with_unused_set) == members);
  const auto starts = [&](const std::vector<std::string>& texts) {
    return parse_starts(ring, members, texts);
  };
  CHECK(starts({}).empty());
  CHECK(starts({"npu2=20us", "npu0=1ns"}) ==
        std::vector<Time>{Time{1000}, Time{}, Time{20'000'000}, Time{}});
  CHECK(late_text(ring, starts({"npu2=20us", "npu0=1ns"})) ==
        "2 NPUs start late, npu2 last, at 20.00 us");
  CHECK(late_text(ring, starts({"npu2=0us"})).empty());
  const auto start_refusal = [&](const std::vector<std::string>& texts) {
    return message_of([&] { (void)starts(texts); });
  };
  CHECK(start_refusal({"npu2"}) == "\"npu2\" isn't NPU=TIME, as npu3=20us");
  CHECK(start_refusal({"npu3=1us"}) ==
        "npu3 neither holds nor wants a chunk of the collective, so it can't start late");
  CHECK(start_refusal({"npu1=1us", "npu1=2us"}) == "the start of npu1 is given twice");
  CHECK_THAT(start_refusal({"gpu1=1us"}), ContainsSubstring("gpu1"));
  CHECK_THAT(start_refusal({"npu1=-1us"}), ContainsSubstring("-1us"));
  CHECK_THAT(start_refusal({"npu1=1"}), ContainsSubstring("\"1\""));
  CHECK_THAT(start_refusal({"npu1=99999999s"}), ContainsSubstring("99999999s"));
  CHECK(start_refusal({"npu1=600000s"}) == "npu1 starts after 600000s; up to six days is possible");
}

TEST_CASE("a file of start times, and the place of what is wrong in it") {
  const TemporaryFolder folder;
  const auto read = [&](const std::string& text) {
    write_file(folder.file("starts.toml"), text);
    return read_start_file(folder.file("starts.toml"), [](const std::string& start) {
      if (start.starts_with("npu9")) throw InputError("there is no npu9");
    });
  };
  CHECK(read("npu3 = \"20us\"\nnpu1 = \"5us\"\n") ==
        std::vector<std::string>{"npu3=20us", "npu1=5us"});
  const auto file_refusal = [&](const std::string& text) {
    const std::string message = message_of([&] { (void)read(text); });
    const std::size_t at = message.find("starts.toml");
    return at == std::string::npos ? message : message.substr(at);
  };
  CHECK(file_refusal("npu3 = \"20us\"\nnpu9 = \"5us\"\n") == "starts.toml:2:8: there is no npu9");
  CHECK_THAT(file_refusal("npu3 = 20\n"), ContainsSubstring("starts.toml:1:8: expected a string"));
  CHECK_THAT(file_refusal(""), ContainsSubstring("names no NPU"));
}

TEST_CASE("noise that can't be is refused at its place") {
  CHECK_THAT(refusal("skews = [\"gauss:1us\"]\n"),
             ContainsSubstring("e.toml:10:10: unknown skew \"gauss\""));
  CHECK_THAT(refusal("skews = \"uniform\"\n"), ContainsSubstring("uniform:20us"));
  CHECK_THAT(refusal("skews = \"normal:\"\n"), ContainsSubstring("needs a scale"));
  CHECK_THAT(refusal("skews = \"normal:3\"\n"), ContainsSubstring("no unit"));
  CHECK_THAT(refusal("skews = \"none:3us\"\n"), ContainsSubstring("no scale"));
  CHECK_THAT(refusal("skews = \"normal:nanx\"\n"), ContainsSubstring("0x to 1000000x"));
  CHECK_THAT(refusal("skews = [\"none\", \"none\"]\n"),
             ContainsSubstring("e.toml:10:18: skew none is named twice"));
  CHECK_THAT(refusal("skews = [\"uniform:20us\", \"uniform:20000ns\"]\n"),
             ContainsSubstring("skews uniform:20us and uniform:20000ns are the same"));
  CHECK(refusal("skews = [3]\n") == "e.toml:10:10: expected a string, found the integer 3");
  for (const char* late : {"uniform:600000s", "normal:100000s", "exponential:20000s"})
    CHECK_THAT(refusal("skews = \"" + std::string(late) + "\"\n"),
               ContainsSubstring("draws starts more than six days apart"));
  CHECK_THAT(refusal("jitter = \"bandwidth=34%\"\n"),
             ContainsSubstring("three deviations of it would make a bandwidth 0"));
  CHECK_THAT(refusal("jitter = \"latency\"\n"), ContainsSubstring("latency=5%"));
  CHECK_THAT(refusal("jitter = \"\"\n"), ContainsSubstring("unknown jitter \"\""));
  CHECK_THAT(refusal("jitter = \"size=1%\"\n"), ContainsSubstring("known: bandwidth, latency"));
  CHECK_THAT(refusal("jitter = \"latency=1%,latency=2%\"\n"), ContainsSubstring("given twice"));
  CHECK_THAT(refusal("draws = 3\n"), ContainsSubstring("e.toml:10:9: nothing is drawn"));
  CHECK_THAT(refusal("noise_seed = 3\n"), ContainsSubstring("nothing is drawn"));
  CHECK_THAT(refusal("skews = \"uniform:1us\"\ndraws = 0\n"), ContainsSubstring("out of range"));
  CHECK_THAT(refusal("starts = [\"npu7=1us\"]\n"), ContainsSubstring("e.toml:10:11:"));
  CHECK_THAT(refusal("starts = [\"npu1=1us\", \"npu1=2us\"]\n"), ContainsSubstring("given twice"));
  CHECK_THAT(refusal("start_file = \"nowhere.toml\"\n"), ContainsSubstring("nowhere.toml"));
  CHECK_THAT(refusal("relays = \"hardware\"\n"), ContainsSubstring("known: paths, transfers"));
  CHECK_THAT(refusal("dependencies = \"none\"\n"), ContainsSubstring("known: kept, dropped"));
}

TEST_CASE("a multiple of the bound is a scale that cannot overflow") {
  CHECK(parse_skew("uniform:0.5x").skew(Time{3000}).scale == Time{1500});
  CHECK(parse_skew("uniform:0x").skew(Time{3000}).scale == Time{});
  CHECK(parse_skew("normal:7ns").skew(Time{3000}).scale == Time{7000});
  CHECK_THAT(message_of([] { (void)parse_skew("normal:1000000x").skew(Time{INT64_MAX / 4}); }),
             ContainsSubstring("six days"));
}

TEST_CASE("what is wrong with a collective isn't put on who starts late") {
  std::string text = experiment_with("starts = [\"npu1=1us\"]\n");
  text.replace(text.find("all_gather"), 10, "all_gather,group=2");
  const Experiment experiment = parse_experiment(text, "e.toml");
  CHECK_THAT(message_of([&] { (void)evaluate(case_with(experiment)); }),
             ContainsSubstring("a collective over one NPU"));
}

TEST_CASE("figures of draws that there won't be are refused before anything runs") {
  const auto figure = [](const std::string& keys, const std::string& kind,
                         const std::string& more = "") {
    return refusal(keys + "[[figures]]\nkind = \"" + kind + "\"\nfile = \"f\"\n" + more);
  };
  for (const char* kind : {"skews", "histogram", "robustness"})
    CHECK_THAT(figure("", kind), ContainsSubstring("e.toml:11:8: there are no draws to show"));
  CHECK_THAT(figure("", "bars", "metric = \"time_p99\"\n"),
             ContainsSubstring("e.toml:13:10: time_p99 is of draws, and nothing is drawn"));
  CHECK_THAT(figure("skews = [\"uniform:3us\", \"normal:2us\"]\n", "skews"),
             ContainsSubstring("e.toml:12:8: curves over skews are of one distribution"));
  CHECK_THAT(figure("skews = [\"uniform:3us\", \"uniform:0.5x\"]\n", "skews"),
             ContainsSubstring("by times or by multiples"));
  CHECK_THAT(figure("skews = [\"none\"]\n", "skews"), ContainsSubstring("one that isn't none"));
}

TEST_CASE("percentiles, slowdown and causes of draws by hand") {
  NoiseOutcome outcome{"uniform:1us", "none", 1, Time{100}, {}};
  for (const int time : {400, 100, 300, 200})
    outcome.draws.push_back(draw_of(time, 50, time > 200 ? "npu1, late" : "npu0>npu1"));
  CHECK(outcome.time_at(0.5) == Time{200});
  CHECK(outcome.time_at(0.51) == Time{300});
  CHECK(outcome.time_at(0.99) == Time{400});
  CHECK(outcome.time_at(0) == Time{100});
  CHECK(outcome.after_last_start_at(1) == Time{350});
  CHECK(outcome.slowdown_at(0.5) == 2);
  CHECK(outcome.usual_cause().name == "npu0>npu1"); // as many as the other, and first by name
  CHECK(outcome.usual_cause().share == 0.5);
  outcome.draws.push_back(draw_of(100, 50, "npu1, late"));
  CHECK(outcome.usual_cause().name == "npu1, late");
}

TEST_CASE("one late NPU in a ring: by hand") {
  // 1 MB takes 20 us a hop and 0.5 us of latency. Alone the ring takes 3 hops, 61.5 us. What the
  // late NPU has to send leaves at 100 us and goes three hops.
  const Evaluation e = evaluated("starts = [\"npu2=100us\"]\n");
  REQUIRE(e.replays.size() == 1);
  CHECK(e.problem == "");
  CHECK(e.replays[0].report.completion == Time{161'500'000});
  CHECK(e.replays[0].bound.kind == "late-start");
  CHECK(e.replays[0].bound.time == Time{110'500'000});           // 1 MB over both of its links
  CHECK(e.replays[0].bound_at_chunks.time == Time{141'000'000}); // whole, two hops away
  CHECK(e.note == "1 NPU starts late, npu2 last, at 100.0 us");
  CHECK(e.replays[0].noises.empty());
  CHECK(run_records({&e, 1}).columns.size() == run_records({}).columns.size()); // none of noise
}

TEST_CASE("draws are the same for any number of threads, and on both engines") {
  const std::string keys = "skews = [\"none\", \"uniform:50us\", \"exponential:0.5x\"]\n"
                           "jitter = \"bandwidth=5%,latency=10%\"\ndraws = 24\n";
  const Experiment experiment = parse_experiment(experiment_with(keys), "e.toml");
  std::vector<Evaluation> made;
  for (const char* engine : {"native", "simgrid"})
    for (const unsigned threads : {1U, 3U}) {
      Case c = case_with(experiment);
      c.options.threads = threads;
      c.engine = &find_engine(engine);
      const Evaluation e = evaluate(c);
      REQUIRE(e.problem == "");
      REQUIRE(e.replays.at(0).noises.size() == 3);
      for (const NoiseOutcome& outcome : e.replays[0].noises) {
        CHECK(outcome.draws.size() == 24); // jitter is drawn in all of them
        CHECK(outcome.quiet == Time{61'500'000});
        for (const Draw& draw : outcome.draws) CHECK(draw.last_start <= draw.time);
      }
      made.push_back(e);
    }
  const auto draws = [](const Evaluation& e) {
    std::vector<Draw> all;
    for (const NoiseOutcome& outcome : e.replays[0].noises)
      all.insert(all.end(), outcome.draws.begin(), outcome.draws.end());
    return all;
  };
  CHECK(draws(made[0]) == draws(made[1]));
  CHECK(draws(made[2]) == draws(made[3]));
  for (std::size_t n = 0; n < 3; ++n)
    for (std::size_t d = 0; d < 24; ++d) {
      const Draw &native = made[0].replays[0].noises[n].draws[d],
                 &simgrid = made[2].replays[0].noises[n].draws[d];
      CHECK(std::abs(native.time.ps - simgrid.time.ps) <= 10); // drawn rates aren't round
      CHECK(native.critical_cause == simgrid.critical_cause);
    }
}

TEST_CASE("without chance one draw stands for all") {
  const Evaluation e = evaluated("skews = [\"none\", \"uniform:40us\"]\ndraws = 10\n");
  REQUIRE(e.replays.at(0).noises.size() == 2);
  const NoiseOutcome& quiet = e.replays[0].noises[0];
  CHECK(quiet.draws.size() == 1);
  CHECK(quiet.time_at(1) == quiet.quiet);
  const Records records = run_records({&e, 1});
  REQUIRE(records.rows.size() == 2); // one for each skew
  CHECK(cell_of(records, 0, "skew").text() == "none");
  CHECK(cell_of(records, 1, "skew").text() == "uniform:40us");
  const Evaluation back = parse_evaluation(evaluation_message(e));
  CHECK(evaluation_message(back) == evaluation_message(e));
}

TEST_CASE("noise that is named as none is a draw, as a sweep over skews needs it") {
  const Evaluation e = evaluated("skews = \"none\"\ndraws = 10\n");
  REQUIRE(e.replays.at(0).noises.size() == 1);
  CHECK(e.replays[0].noises[0].time_at(1) == Time{61'500'000});
}

TEST_CASE("expectations choose a skew, and mean the first where they choose none") {
  const std::string keys = "skews = [\"none\", \"uniform:1us\"]\ndraws = 2\n";
  const std::string expect = "[[expect]]\nlabel = \"x\"\nmetric = \"noise_slowdown_p50\"\n"
                             "at_most = 1\n";
  const auto rows = [&](const std::string& more) {
    const Experiment experiment = parse_experiment(experiment_with(keys + expect + more), "e.toml");
    return experiment.all<RunStudy>().at(0)->expectations.at(0).values.at(0);
  };
  CHECK(rows("").of == std::vector<std::size_t>{0});
  CHECK(rows("of = {skew = \"uniform:1us\"}\n").of == std::vector<std::size_t>{1});
  const Quotient ratio = rows("of = {skew = \"uniform:1us\"}\nover = {skew = \"none\"}\n");
  CHECK(ratio == Quotient{{1}, {0}});
  CHECK_THAT(refusal(keys + expect + "of = {skew = \"uniform:2us\"}\n"),
             ContainsSubstring("unknown skew \"uniform:2us\""));
}

TEST_CASE("what the end of a draw depended on") {
  // Everybody but npu2 is there at once; without noise the last hop of the ring decides.
  const Evaluation late = evaluated("starts = [\"npu2=300us\"]\njitter = \"bandwidth=1%\"\n"
                                    "draws = 5\n");
  CHECK(late.replays.at(0).noises.at(0).usual_cause().name == "npu2, late");
  CHECK(late.replays[0].noises[0].usual_cause().share == 1);
  const Evaluation slow = evaluated("starts = [\"npu2=1us\"]\njitter = \"bandwidth=1%\"\n"
                                    "draws = 5\n");
  CHECK_THAT(slow.replays.at(0).noises.at(0).usual_cause().name, ContainsSubstring(">"));
}

TEST_CASE("relays that send are pieces of the same crossings, and reductions have none") {
  const auto evaluated_on_mesh = [](const std::string& collective, const std::string& keys) {
    const Experiment experiment = parse_experiment(
        "name = \"e\"\n[topologies]\nM = \"mesh2d:3x3\"\n[[runs]]\ncollectives = [\"" + collective +
            "\"]\nsizes = [\"9MB\"]\nalgorithms = [\"direct\"]\nchunks = 1\n" +
            "engine = \"native\"\n" + keys,
        "e.toml");
    return evaluate(case_with(experiment));
  };
  const Evaluation paths = evaluated_on_mesh("all_to_all", "");
  const Evaluation pieces = evaluated_on_mesh("all_to_all", "relays = \"transfers\"\n");
  REQUIRE(paths.replays.size() == 1);
  REQUIRE(pieces.replays.size() == 1);
  CHECK(pieces.verified);
  CHECK(pieces.problem == "");
  CHECK(paths.transfers == 72); // 9 x 8, and twice the sum of distances is 2 x 72
  CHECK(pieces.transfers == 144);
  CHECK(pieces.replays[0].report.link_transfers == paths.replays[0].report.link_transfers);
  const Evaluation reduced = evaluated_on_mesh("all_reduce", "relays = \"transfers\"\n");
  CHECK(reduced.status == Status::unsupported);
  CHECK_THAT(reduced.note, ContainsSubstring("what it reduces has a contribution there"));
  CHECK(reduced.problem == "");
}

TEST_CASE("dropped dependencies leave a correct schedule to its queues") {
  const auto evaluated_with = [](const std::string& keys) {
    const Experiment experiment =
        parse_experiment("name = \"e\"\n[topologies]\nD = \"dgx_a100x2\"\n[[runs]]\n"
                         "collectives = [\"all_gather\"]\nsizes = [\"64MiB\"]\n"
                         "algorithms = [\"tree_packing\"]\nchunks = 4\nengine = \"native\"\n" +
                             keys,
                         "e.toml");
    return evaluate(case_with(experiment));
  };
  const Evaluation kept = evaluated_with("");
  const Evaluation dropped = evaluated_with("dependencies = \"dropped\"\n");
  REQUIRE(kept.replays.size() == 1);
  REQUIRE(dropped.replays.size() == 1);
  CHECK(dropped.verified);
  CHECK(dropped.transfers == kept.transfers);
  CHECK(dropped.replays[0].report.completion != kept.replays[0].report.completion);
}

TEST_CASE("draws can be ended by their watch") {
  const Topology ring = samples::ring(4);
  NoisePlan plan;
  plan.topology = &ring;
  plan.members = {NodeId{0}, NodeId{1}};
  plan.noise.skew = {Skew::Kind::uniform, Time{1000}};
  plan.draws = 1000;
  plan.threads = 3;
  const Watch ends = [](const WorkProgress& progress) { return progress.done >= 5; };
  CHECK_THROWS_AS(performed(
                      plan, [](const DrawnConditions&, const Watch&) { return Draw{}; }, ends),
                  Stopped);
  CHECK(performed(plan, [](const DrawnConditions&, const Watch&) { return Draw{}; }, {}).size() ==
        1000);
  CHECK_THROWS_AS(
      performed(plan, [](const DrawnConditions&, const Watch&) -> Draw { throw InputError("no"); },
                {}),
      InputError);
}

TEST_CASE("who interrupts draws keeps what is complete") {
  const Experiment experiment = parse_experiment(
      experiment_with("skews = [\"uniform:1us\", \"uniform:2us\"]\ndraws = 20\n"), "e.toml");
  Case c = case_with(experiment);
  c.options.stage = [](std::string_view stage, const WorkProgress&) {
    return stage.find("uniform:2us") != std::string_view::npos;
  };
  const Evaluation e = evaluate(c);
  CHECK(e.note == "interrupted in its draws");
  REQUIRE(e.replays.size() == 1);
  CHECK(e.replays[0].report.completion > Time{});
  REQUIRE(e.replays[0].noises.size() == 1);
  CHECK(e.replays[0].noises[0].skew == "uniform:1us");
  CHECK(e.replays[0].noises[0].draws.size() == 20);
}

TEST_CASE("a histogram counts each draw once, also where all are alike") {
  NoiseOutcome outcome{"uniform:1us", "none", 1, Time{100}, {}};
  outcome.draws.assign(3, draw_of(5'000'000, 0, ""));
  using svg_reading::read;
  CHECK(read(histogram_figure({"t"}, {{{"ring", &outcome}}})).has("100"));
  CHECK(read(robustness_figure({"t"}, {{{"ring", &outcome}}})).has("half of all draws"));
  CHECK_THROWS_AS(histogram_figure({"t"}, {}), InputError);
}

} // namespace noise_test
