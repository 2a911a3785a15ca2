// [[fits]]: constants that are known are found again, those that rows say nothing of stay, and what
// is left out is predicted without being seen.
#include "experiments/driver/studies/experiment.hpp"
#include "experiments/driver/studies/fits/least_squares.hpp"
#include "experiments/driver/studies/fits/study.hpp"
#include "experiments/driver/studies/registry.hpp"
#include "experiments/driver/studies/runs/evaluation.hpp"
#include "sim/error.hpp"
#include "sim/files/files.hpp"
#include "sim/random.hpp"
#include "sim/text.hpp"
#include "sim/transport/constants.hpp"
#include "tests/catch.hpp"
#include "tests/message_of.hpp"
#include "tests/paths.hpp"
#include "tests/refusals.hpp"
#include "tests/temporary_folder.hpp"
#include "topologies/list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

namespace fit_test {

using namespace tutti;

namespace {

TransportRule rule_of(const std::string& part, double share, std::int64_t latency_ns) {
  TransportRule rule;
  rule.part = part;
  rule.protocol = "simple";
  rule.share = share;
  rule.latency = Time{1000 * latency_ns};
  rule.handover = Time{500'000};
  return rule;
}

Transport two_parts(double share, std::int64_t latency_ns, std::int64_t launch_ns) {
  Transport transport;
  transport.name = "t";
  transport.launch["gpu"] = Time{1000 * launch_ns};
  transport.rules = {rule_of("wire", share, latency_ns), rule_of("other", 0.8, 2000)};
  return transport;
}

/// launch + 14 latencies + bytes over the share of 100 GB/s, by hand: no replay.
FitRow row_of(const Transport& truth, std::int64_t size, std::size_t system, double noise = 1) {
  FitRow row;
  row.size = Bytes{size};
  row.system = system;
  row.constants = {"launch.gpu", "wire.simple.share", "wire.simple.latency",
                   "wire.simple.handover"};
  row.predict = [size](const Transport& t) {
    return t.launch.at("gpu").seconds() + 14 * t.rules[0].latency.seconds() +
           static_cast<double>(size) / (t.rules[0].share * 100e9);
  };
  row.seconds = row.predict(truth) * noise;
  return row;
}

FitRequest request_of(const Transport& start, const Transport& truth, std::size_t systems = 1) {
  FitRequest request;
  request.start = start;
  for (std::size_t s = 0; s < systems; ++s)
    for (std::int64_t size = 1 << 16; size <= 1 << 30; size *= 4)
      request.rows.push_back(row_of(truth, size, s));
  return request;
}

const FittedConstant& constant(const FitResult& result, const std::string& name) {
  return *std::ranges::find(result.constants, name, &FittedConstant::name);
}

} // namespace

TEST_CASE("a fit finds what made the rows, and keeps what they don't determine") {
  const FitResult result =
      fit_transport(request_of(two_parts(0.8, 2000, 10'000), two_parts(0.62, 2000, 31'000)));
  const FittedConstant& share = constant(result, "wire.simple.share");
  CHECK(share.verdict == FitVerdict::fitted);
  CHECK(share.value == Approx(0.62).epsilon(0.01));
  CHECK(share.low < share.value);
  CHECK(share.high > share.value);
  CHECK(share.rows == 8);
  // All that rows say of launch and latency is what they come to together.
  const Transport& made = result.transport;
  CHECK(made.launch.at("gpu").seconds() + 14 * made.rules[0].latency.seconds() ==
        Approx(31e-6 + 28e-6).epsilon(0.03));
  const FittedConstant& handover = constant(result, "wire.simple.handover"); // it does nothing
  CHECK(handover.verdict == FitVerdict::undetermined);
  CHECK(handover.value == handover.start);
  CHECK(constant(result, "other.simple.share").verdict == FitVerdict::unused);
  CHECK(made.rules[1].share == 0.8);
  for (const FitErrors& row : result.rows) {
    CHECK(std::abs(row.fitted) < 0.02);
    CHECK(std::abs(row.without_size) < 0.05);
    CHECK(row.times >= 0);
  }
  CHECK(result.rows.front().times > 0.9); // 64 KiB
  CHECK(result.rows.back().times < 0.1);  // 1 GiB
}

TEST_CASE("a system that is left out is predicted by the others, or by the start") {
  const Transport start = two_parts(0.8, 2000, 10'000), truth = two_parts(0.5, 2000, 10'000);
  const FitResult alone = fit_transport(request_of(start, truth));
  CHECK(alone.rows.back().without_system == Approx(std::log(0.5 / 0.8)).margin(0.01));
  const FitResult two = fit_transport(request_of(start, truth, 2));
  for (const FitErrors& row : two.rows) CHECK(std::abs(row.without_system) < 0.02);
}

TEST_CASE("what isn't fitted moves nothing") {
  const Transport start = two_parts(0.8, 2000, 10'000), truth = two_parts(0.6, 2000, 10'000);
  FitRequest request = request_of(start, truth);
  const FitResult clean = fit_transport(request);
  FitRow wild = row_of(truth, 1 << 20, 0, 50);
  wild.is_fitted = false;
  request.rows.push_back(wild);
  const FitResult with_it = fit_transport(request);
  CHECK(with_it.transport.rules[0].share == clean.transport.rules[0].share);
  CHECK(with_it.rows.back().fitted == Approx(-std::log(50)).margin(0.05));
  request.rows.back().is_fitted = true;
  CHECK(fit_transport(request).transport.rules[0].share != clean.transport.rules[0].share);
}

TEST_CASE("only what is free moves, and a name that is none's is refused") {
  FitRequest request = request_of(two_parts(0.8, 2000, 10'000), two_parts(0.6, 3000, 30'000));
  request.free = {"*.share"};
  const FitResult result = fit_transport(request);
  CHECK(result.constants.size() == 2);
  CHECK(result.transport.launch.at("gpu") == Time{10'000'000});
  request.free = {"wire.simple.shar"};
  CHECK_THROWS_WITH(fit_transport(request),
                    ContainsSubstring("did you mean \"wire.simple.share\""));
  request.free.clear();
  for (FitRow& row : request.rows) row.is_fitted = false;
  CHECK_THROWS_AS(fit_transport(request), InputError);
}

TEST_CASE("intervals of constants hold the truth nine times of ten") {
  const Transport start = two_parts(0.8, 2000, 10'000), truth = two_parts(0.65, 2000, 30'000);
  Random random(7);
  int held = 0;
  constexpr int trials = 60;
  for (int trial = 0; trial < trials; ++trial) {
    FitRequest request = request_of(start, truth);
    for (FitRow& row : request.rows) {
      // A sum of twelve: normal enough. As large as the fit takes errors of bandwidth to be.
      double sum = -6;
      for (int i = 0; i < 12; ++i) sum += static_cast<double>(random.below(1'000'000)) / 1e6;
      row.seconds *= std::exp(0.03 * sum);
    }
    const FitResult result = fit_transport(request);
    const FittedConstant& share = constant(result, "wire.simple.share");
    held += share.low <= 0.65 && 0.65 <= share.high ? 1 : 0;
  }
  CHECK(held >= trials * 8 / 10);
  CHECK(held < trials); // wider than that is no interval
}

TEST_CASE("a spread holds nine of ten, by rates and times") {
  std::vector<LeftOut> rows;
  for (int i = 0; i < 40; ++i) {
    const double times = (i % 2 == 0) ? 0.0 : 1.0;
    rows.push_back({(i % 2 == 0 ? 0.02 : 0.3) * (1 + 0.01 * i), times});
  }
  const Spread spread = spread_of(rows);
  CHECK(spread.rates < 0.05);
  CHECK(spread.times < 0.5);
  const auto held = std::ranges::count_if(
      rows, [&](const LeftOut& row) { return row.off <= spread.half_width(row.times) + 1e-12; });
  CHECK(held >= 36);
  CHECK(spread.times >= spread.rates);
  // One of ten is far off: the interval of the others doesn't hold it.
  std::vector<LeftOut> outliers(10, LeftOut{0.01, 0});
  outliers[3].off = 2;
  const std::vector<bool> covered = covered_by_others(outliers);
  CHECK_FALSE(covered[3]);
  CHECK(std::ranges::count(covered, true) == 9);
  // What no row is of isn't known to be narrow.
  CHECK(spread_of(std::vector<LeftOut>{{0.4, 0.9}, {0.2, 0.9}}).rates == Approx(0.4 / 0.9));
  CHECK(covered_by_others(std::vector<LeftOut>{{0.1, 0}}) == std::vector<bool>{false});
}

namespace {

/// What an H100 node would measure if its constants were these: by the road of `tutti synth`.
std::string table_of(const Transport& truth, const Topology& topology) {
  std::string csv = "collective,bytes,time_us\n";
  for (std::int64_t size = 1 << 16; size <= 1 << 26; size *= 4) {
    Case c;
    c.topology_label = topology.name();
    c.topology = &topology;
    c.collective = {{"all_reduce"}, Bytes{size}};
    c.algorithm = find_algorithm("nccl");
    c.chunks = std::nullopt;
    c.engine = &find_engine("native");
    c.transport = std::make_shared<const Transport>(truth);
    csv += fmt::format("AllReduce,{},{:.6f}\n", size,
                       evaluate(c).replays.at(0).report.completion.seconds() * 1e6);
  }
  return csv;
}

TransportRule& rule_in(Transport& transport, const std::string& part, const std::string& protocol) {
  return *std::ranges::find_if(transport.rules, [&](const TransportRule& rule) {
    return rule.part == part && rule.protocol == protocol;
  });
}

} // namespace

TEST_CASE("[[fits]] finds the constants of the machine that has measured") {
  const Topology topology = make_topology("dgx_h100");
  Transport truth = read_transport("nccl");
  truth.launch["h100"] = Time{25'000'000};
  rule_in(truth, "nvlink4", "nvls").share = 0.6;
  const TemporaryFolder folder;
  write_file(folder.file("rows.csv"), table_of(truth, topology));
  const std::string toml = "name = \"f\"\n[topologies]\nH = \"dgx_h100\"\n[[fits]]\n"
                           "measured = \"rows.csv\"\nname = \"ours\"\n"
                           "free = [\"launch.h100\", \"nvlink4.nvls.share\"]\n";
  const Experiment experiment = parse_experiment(toml, folder.file("f.toml"));
  const FitStudy& study = *experiment.all<FitStudy>().at(0);
  CHECK(study.start.name == "nccl");
  const FitEvaluation made = evaluate_fit(study, experiment.topologies, {}, 2);
  CHECK(made.fit.transport.launch.at("h100").seconds() == Approx(25e-6).epsilon(0.03));
  CHECK(made.fit.transport.rule("nvlink4", "nvls").share == Approx(0.6).epsilon(0.03));
  REQUIRE(made.rows.size() == 6);
  for (const FittedRow& row : made.rows) {
    CHECK(std::abs(row.errors.fitted) < 0.03);
    CHECK(row.interval.low <= row.predicted);
    CHECK(row.interval.high >= row.predicted);
  }
  // What is written is what was made.
  write_file(folder.file("ours.toml"), transport_text(study, made));
  const Transport read = read_transport(folder.file("ours.toml"));
  CHECK(read.name == "ours");
  CHECK(read.launch.at("h100") == made.fit.transport.launch.at("h100"));
  CHECK(read.rule("nvlink4", "nvls").share == made.fit.transport.rule("nvlink4", "nvls").share);
  CHECK(read.rule("nvlink4", "nvls").times_within ==
        Approx(made.fit.transport.rule("nvlink4", "nvls").times_within));
  // Another count of threads, the same bytes.
  CHECK(transport_text(study, evaluate_fit(study, experiment.topologies, {}, 1)) ==
        transport_text(study, made));
}

TEST_CASE("of two machines with one part each is left out, and others get what that showed") {
  Transport one = read_transport("nccl"), other = one;
  rule_in(one, "nvlink4", "nvls").share = 0.7;
  rule_in(other, "nvlink4", "nvls").share = 0.5; // of the same part
  const TemporaryFolder folder;
  std::string csv;
  const auto add = [&](const Transport& truth, const char* machine) {
    const std::string table = table_of(truth, make_topology(machine));
    for (const std::string_view line : split(table, '\n'))
      if (line.starts_with("collective") ? csv.empty() : !line.empty())
        csv += fmt::format("{},{}\n", line, csv.empty() ? "hardware" : machine);
  };
  add(one, "dgx_h100");
  add(other, "dgx_h200");
  write_file(folder.file("both.csv"), csv);
  const std::string toml = "name = \"f\"\n[topologies]\nH = \"dgx_h100\"\nG = \"dgx_h200\"\n"
                           "[[fits]]\nfree = [\"nvlink4.nvls.share\"]\nmeasured = \"both.csv\"\n"
                           "[[fits.systems]]\ntopology = \"H\"\nonly = {hardware = \"dgx_h100\"}\n"
                           "[[fits.systems]]\ntopology = \"G\"\nonly = {hardware = \"dgx_h200\"}\n";
  const Experiment experiment = parse_experiment(toml, folder.file("f.toml"));
  const FitEvaluation made =
      evaluate_fit(*experiment.all<FitStudy>().at(0), experiment.topologies, {}, 2);
  const TransportRule& rule = made.fit.transport.rule("nvlink4", "nvls");
  CHECK(rule.measured_on == std::vector<std::string>{"h100", "h200"});
  // By one machine's share the other is off by ln(0.7 / 0.5), a third; by both half as much.
  REQUIRE(rule.times_elsewhere);
  CHECK(*rule.times_elsewhere > 0.3);
  CHECK(*rule.times_elsewhere > 1.5 * rule.times_within);
  CHECK(*rule.rates_elsewhere >= rule.rates_within);
  for (const FittedRow& row : made.rows) CHECK(row.is_covered_elsewhere.has_value());
  // No row of these is of NVLink 5: on any NPU it has the width of machines that were left out.
  CHECK(made.fit.transport.rule("nvlink5", "nvls").measured_on.empty());
}

TEST_CASE("what is wrong in [[fits]] is told by its place") {
  const TemporaryFolder folder;
  write_file(folder.file("rows.csv"), "collective,npus,bytes,time_us\nAllReduce,8,1048576,40\n");
  write_file(folder.file("four.csv"), "collective,npus,bytes,time_us\nAllReduce,4,1048576,40\n");
  const auto refused = [&](const std::string& rest) {
    return message_of([&] {
      (void)parse_experiment("name = \"f\"\n[topologies]\nH = \"dgx_h100\"\n[[fits]]\n" + rest,
                             folder.file("f.toml"));
    });
  };
  const std::string rows = "measured = \"rows.csv\"\n";
  const RefusalRows refusals = {
      {"", "needs a key \"measured\""},
      {"measured = 'no.csv'\n", "no.csv"},
      {"measured = 'four.csv'\n", "four.csv:2: measured on 4 ranks"},
      {rows + "free = ['nvlink4.nvls.shar']\n", "6:8: unknown constant \"nvlink4.nvls.shar\""},
      {rows + "transport = 'ncl'\n", "did you mean"},
      {rows + "[[fits.exclude]]\nsizes = ['1GiB']\nreason = 'x'\n", "no row is of these sizes"},
      {rows + "[[fits.exclude]]\nsizes = ['1MiB']\n", "needs a key \"reason\""},
      {rows + "[[fits.systems]]\ntopology = 'H'\n[[fits.systems]]\ntopology = 'H'\n",
       "a second system of this topology"},
      {rows + "[[fits.expect]]\nlabel = 'x'\nof = {from = '2MiB'}\nat_most = 0.1\n",
       "8:6: no row of the study is as asked for"},
  };
  check_refusals(refused, refusals);
}

TEST_CASE("nccl and rccl are what fits to measured rows make, and reach their goals", "[slow]") {
  for (const char* library : {"rccl", "nccl"}) {
    CAPTURE(library);
    const std::string file =
        fmt::format("{}/experiments/validation/{}_fit.toml", TUTTI_SOURCE_DIR, library);
    const Experiment experiment = read_experiment(file);
    const FitStudy& study = *experiment.all<FitStudy>().at(0);
    const FitEvaluation made = evaluate_fit(study, experiment.topologies, {}, 2);
    CHECK(all_agree(result_of(study, experiment.topologies, made).comparisons));
    Transport fitted = made.fit.transport, shipped = read_transport(library);
    const std::vector<TransportConstant> ours = constants_of(fitted),
                                         theirs = constants_of(shipped);
    REQUIRE(ours.size() == theirs.size());
    for (std::size_t k = 0; k < ours.size(); ++k) {
      CAPTURE(ours[k].name);
      CHECK(ours[k].name == theirs[k].name);
      CHECK(ours[k].value() ==
            Approx(theirs[k].value()).epsilon(0.02)); // compilers round otherwise
    }
    double fits = 0, covered = 0;
    for (const FittedRow& row : made.rows) {
      fits += row.row->left_aside.empty() ? 1 : 0;
      covered += row.is_covered.value_or(false) ? 1 : 0;
    }
    CHECK(covered >= 0.9 * fits);
    double known = 0, covered_elsewhere = 0; // of machines whose parts others have, too
    for (const FittedRow& row : made.rows) {
      known += row.is_covered_elsewhere ? 1 : 0;
      covered_elsewhere += row.is_covered_elsewhere.value_or(false) ? 1 : 0;
    }
    CHECK(covered_elsewhere >= 0.9 * known);
  }
}

} // namespace fit_test
