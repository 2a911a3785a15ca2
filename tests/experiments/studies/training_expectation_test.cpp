// The figures of training iterations that papers speak of, from accounts by hand, and which rows of
// a study an expectation picks.
#include "experiments/driver/studies/expectation_reader.hpp"
#include "experiments/driver/studies/training/columns.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/records/cells.hpp"
#include "tests/experiments/studies/training_samples.hpp"
#include "tests/message_of.hpp"

#include <optional>
#include <string>
#include <vector>

namespace training_expectation_test {

using namespace tutti;
using samples::account_of;
using samples::us;

namespace {

/// Two algorithms on two networks, undisturbed; by ring also two ways through a failed cable, of
/// two seeds.
PlannedRows two_by_two() {
  using enum Quantity;
  PlannedRows rows{{{{"topology", text},
                     {"algorithm", text},
                     {"condition", text},
                     {"failed_links", count},
                     {"seed", count}},
                    {}},
                   {},
                   {{"condition", {}}},
                   {{"iterations_per_s", number}},
                   "iterations_per_s"};
  for (const char* topology : {"A", "B"})
    for (const char* algorithm : {"ring", "tacos"}) {
      rows.keys.rows.push_back({topology, algorithm, "undisturbed", Cell(), Cell()});
      rows.opt_in.front().rows.push_back(false);
    }
  for (const int seed : {1, 2})
    for (const char* condition : {"reroute", "resynthesize"}) {
      rows.keys.rows.push_back({"A", "ring", condition, 1, seed});
      rows.opt_in.front().rows.push_back(true);
    }
  return rows;
}

std::vector<Quotient> values_of(const std::string& selectors) {
  return read_expectation(
             parse_config("label = \"x\"\nsummary = \"geometric_mean\"\nat_most = 1\n" + selectors,
                          "x.toml"),
             two_by_two())
      .at(0)
      .values;
}

} // namespace

TEST_CASE("ratios pair rows that agree in all that isn't compared") {
  CHECK(values_of("of = {algorithm = \"tacos\"}\nover = {algorithm = \"ring\"}\n") ==
        std::vector<Quotient>{{{1}, {0}}, {{3}, {2}}});
  CHECK(values_of("of = {algorithm = \"ring\", topology = \"A\"}\n"
                  "over = {algorithm = \"ring\", topology = \"B\"}\n") ==
        std::vector<Quotient>{{{0}, {2}}});
  CHECK(values_of("over = {topology = \"A\"}\n") ==
        std::vector<Quotient>{{{0}, {0}}, {{1}, {1}}, {{2}, {0}}, {{3}, {1}}});
  CHECK(values_of("of = {topology = [\"A\", \"B\"], algorithm = \"tacos\"}\n"
                  "over = {topology = [\"A\", \"B\"], algorithm = \"ring\"}\n") ==
        std::vector<Quotient>{{{1}, {0}}, {{3}, {2}}});
}

TEST_CASE("disturbed runs are picked only where they are named, and seeds go together") {
  CHECK(values_of("of.condition = \"resynthesize\"\n") == std::vector<Quotient>{{{5, 7}, {}}});
  CHECK(values_of("of.condition = \"resynthesize\"\nover = {}\n") ==
        std::vector<Quotient>{{{5, 7}, {0}}});
  CHECK(values_of("of.condition = \"resynthesize\"\nover.condition = \"reroute\"\n") ==
        std::vector<Quotient>{{{5, 7}, {4, 6}}});
  CHECK(values_of("of = {condition = \"reroute\", seed = 2}\n") ==
        std::vector<Quotient>{{{6}, {}}});
  CHECK(values_of("of.topology = \"B\"\n") == std::vector<Quotient>{{{2}, {}}, {{3}, {}}});
}

TEST_CASE("metrics of a run") {
  TrainingRun run = samples::run_of(
      "A", "ring",
      {account_of(Time{60 * us}, Time{20 * us}, Time{10 * us}, Time{6 * us}, Time{4 * us}),
       account_of(Time{80 * us}, Time{0}, Time{20 * us})});
  run.workload.iterations = 2;
  run.workload.items = 1000;
  run.workload.flops = 3e9;
  run.workload.peak_flops = 1e14;
  const auto value = [&](const char* metric) -> std::optional<double> {
    TrainingEvaluation evaluation;
    evaluation.runs = {run};
    const Records records = training_records(evaluation);
    const Cell& cell = cell_of(records, 0, metric_column(metric, records.columns).name);
    return cell.is_known() ? std::optional(cell.number()) : std::nullopt;
  };
  CHECK(value("iteration_time") == Approx(50e6));
  CHECK(value("iterations_per_s") == Approx(20'000));
  CHECK(value("items_per_s") == Approx(2e7));
  CHECK(value("flops_utilisation") == Approx(6e9 / (2e14 * 100e-6)));
  CHECK(value("exposed") == Approx(12.5e6)); // 50 us of 200, of an iteration of 50
  CHECK(value("exposed_tensor_fraction") == Approx(0.15));
  CHECK(value("exposed_fraction") == Approx(0.25));
  CHECK(value("exposed_data_fraction") == Approx(0.1));
  CHECK(value("bubble_fraction") == Approx(0.03));
  CHECK(value("waiting_fraction") == Approx(0.02));
  CHECK(value("compute_fraction") == Approx(0.7));
  CHECK(value("hidden_fraction") == Approx(0)); // as much under way as exposed
  CHECK_FALSE(value("memory"));
  run.workload.memory = MemoryEstimate{Bytes{1}, Bytes{2}, Bytes{3}, Bytes{4}};
  CHECK(value("memory") == 10);
  run.workload.items = run.workload.flops = 0;
  CHECK_FALSE(value("items_per_s"));
  CHECK_FALSE(value("flops_utilisation"));
  run.report.reset();
  CHECK_FALSE(value("iteration_time"));
}

} // namespace training_expectation_test
