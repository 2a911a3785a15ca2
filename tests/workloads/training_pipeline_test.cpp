// Pipelines: blocks to stages against all other cuts, the order of passes by hand, and the bubble
// against its formula.
#include "sim/random.hpp"
#include "workloads/parallelism/pipeline_order.hpp"
#include "workloads/parallelism/stages.hpp"
#include "workloads/parallelism/training.hpp"

#include "tests/catch.hpp"
#include "tests/workloads/simple_run.hpp"
#include "tests/workloads/training_samples.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace training_pipeline_test {

using namespace tutti;

namespace {

/// The longest run of a cut, and the sum of their squares.
std::pair<double, double> quality(const std::vector<Time>& costs,
                                  const std::vector<std::uint32_t>& cut) {
  double longest = 0, squares = 0;
  for (std::size_t s = 0; s + 1 < cut.size(); ++s) {
    double run = 0;
    for (std::uint32_t b = cut[s]; b < cut[s + 1]; ++b) run += static_cast<double>(costs[b].ps);
    longest = std::max(longest, run);
    squares += run * run;
  }
  return {longest, squares};
}

std::pair<double, double> best_quality(const std::vector<Time>& costs, std::uint32_t stages,
                                       std::vector<std::uint32_t> cut = {0}) {
  const auto blocks = static_cast<std::uint32_t>(costs.size());
  if (cut.size() == stages) {
    cut.push_back(blocks);
    return quality(costs, cut);
  }
  std::pair<double, double> best{1e300, 1e300};
  cut.push_back(0);
  const std::uint32_t still = stages - static_cast<std::uint32_t>(cut.size());
  for (cut.back() = cut[cut.size() - 2] + 1; cut.back() + still < blocks; ++cut.back())
    best = std::min(best, best_quality(costs, stages, cut));
  return best;
}

/// "F0.1" is the forward pass of micro-batch 1 through model part 0.
std::string text_of(const std::vector<PipelineSlot>& order) {
  std::string text;
  for (const PipelineSlot& slot : order)
    text += (text.empty() ? "" : " ") + std::string(slot.is_backward ? "B" : "F") +
            std::to_string(slot.part) + "." + std::to_string(slot.micro_batch);
  return text;
}

std::int64_t computing(const TrainingProgram& program) {
  std::int64_t sum = 0;
  for (const Operation& operation : program.operations())
    if (operation.kind == Operation::Kind::compute) sum += operation.amount;
  return sum;
}

/// Blocks without parameters: all stages are alike and nothing is left to do in the end.
Model weightless(std::uint32_t blocks) { return samples::plain(blocks, 1'000'000, 0, 512); }

} // namespace

TEST_CASE("no cut into stages is better", "[training]") {
  Random random(5);
  for (int i = 0; i < 300; ++i) {
    std::vector<Time> costs(1 + random.below(9));
    for (Time& cost : costs) cost = {static_cast<std::int64_t>(random.below(i % 2 == 0 ? 4 : 100))};
    const auto stages = static_cast<std::uint32_t>(1 + random.below(costs.size()));
    const std::vector<std::uint32_t> cut = balanced_stages(costs, stages);
    REQUIRE(cut.size() == stages + 1);
    CHECK(cut.front() == 0);
    CHECK(cut.back() == costs.size());
    CHECK(std::adjacent_find(cut.begin(), cut.end(), std::greater_equal<>()) == cut.end());
    CHECK(quality(costs, cut) == best_quality(costs, stages));
  }
}

TEST_CASE("126 equal blocks on 16 stages: 14 of eight, 2 of seven", "[training]") {
  const std::vector<std::uint32_t> cut = balanced_stages(std::vector<Time>(126, Time{1'000}), 16);
  std::map<std::uint32_t, int> lengths;
  for (std::size_t s = 0; s < 16; ++s) ++lengths[cut[s + 1] - cut[s]];
  CHECK(lengths == std::map<std::uint32_t, int>{{7, 2}, {8, 14}});
}

TEST_CASE("the order of passes", "[training]") {
  TrainingSpec spec;
  spec.pipeline = 3;
  spec.micro_batches = 4;
  spec.schedule = PipelineSchedule::gpipe;
  for (std::uint32_t stage = 0; stage < 3; ++stage)
    CHECK(text_of(pipeline_order(spec, stage)) == "F0.0 F0.1 F0.2 F0.3 B0.3 B0.2 B0.1 B0.0");
  spec.schedule = PipelineSchedule::one_f_one_b;
  CHECK(text_of(pipeline_order(spec, 0)) == "F0.0 F0.1 F0.2 B0.0 F0.3 B0.1 B0.2 B0.3");
  CHECK(text_of(pipeline_order(spec, 1)) == "F0.0 F0.1 B0.0 F0.2 B0.1 F0.3 B0.2 B0.3");
  CHECK(text_of(pipeline_order(spec, 2)) == "F0.0 B0.0 F0.1 B0.1 F0.2 B0.2 F0.3 B0.3");
  // As few micro-batches as don't fill it.
  spec.micro_batches = 1;
  CHECK(text_of(pipeline_order(spec, 0)) == "F0.0 B0.0");
  // arXiv:2104.04473 fig. 4, for two stages of two model parts.
  spec.pipeline = 2;
  spec.micro_batches = 4;
  spec.model_parts = 2;
  spec.schedule = PipelineSchedule::interleaved;
  CHECK(text_of(pipeline_order(spec, 0)) ==
        "F0.0 F0.1 F1.0 F1.1 F0.2 B1.0 F0.3 B1.1 F1.2 B0.0 F1.3 B0.1 B1.2 B1.3 B0.2 B0.3");
  CHECK(text_of(pipeline_order(spec, 1)) ==
        "F0.0 F0.1 F1.0 B1.0 F1.1 B1.1 F0.2 B0.0 F0.3 B0.1 F1.2 B1.2 F1.3 B1.3 B0.2 B0.3");
}

TEST_CASE("the bubble of equal stages is (p-1) / (m+p-1), a model part's share if interleaved",
          "[training]") {
  for (const auto& [p, m, parts] :
       std::vector<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>>{{1, 5, 1},
                                                                            {2, 1, 1},
                                                                            {2, 8, 1},
                                                                            {4, 4, 1},
                                                                            {4, 3, 1},
                                                                            {4, 16, 1},
                                                                            {8, 32, 1},
                                                                            {2, 4, 2},
                                                                            {4, 8, 2},
                                                                            {4, 4, 3},
                                                                            {3, 9, 4}})
    for (const PipelineSchedule schedule :
         {PipelineSchedule::gpipe, PipelineSchedule::one_f_one_b, PipelineSchedule::interleaved}) {
      if ((schedule == PipelineSchedule::interleaved) != (parts > 1)) continue;
      TrainingSpec spec;
      spec.pipeline = p;
      spec.micro_batches = m;
      spec.model_parts = parts;
      spec.schedule = schedule;
      const Workload workload =
          make_training(samples::crowd(p), weightless(12 * p), samples::npu(), spec);
      INFO(p << " stages, " << m << " micro-batches, " << parts << " parts");
      const std::int64_t busy = computing(workload.programs[0]), each = busy / m;
      CHECK(busy % m == 0);
      CHECK(each % parts == 0);
      CHECK(samples::SimpleRun(workload).duration() == busy + (p - 1) * each / parts);
    }
}

TEST_CASE("the end of a small pipeline by hand", "[training]") {
  // Two stages of a block, three micro-batches, forward f and backward 2f each: the second stage
  // begins after f, works 9f, and the first has 2f left behind it.
  TrainingSpec spec;
  spec.pipeline = 2;
  spec.micro_batches = 3;
  Model model = weightless(2);
  for (Layer& layer : model.layers) layer.times = GivenTimes{{100}, {100}, {100}};
  const auto duration = [&] {
    return samples::SimpleRun(make_training(samples::crowd(2), model, samples::npu(), spec))
        .duration();
  };
  CHECK(duration() == 100 + 900 + 200);
  // A second stage of a tenth is done with a micro-batch while the first computes the next.
  model.layers[1].times = GivenTimes{{10}, {10}, {10}};
  CHECK(duration() == 900);
  spec.micro_batches = 1;
  CHECK(duration() == 100 + 30 + 200);
}

TEST_CASE("an NPU computes one thing after another, in the order of the schedule", "[training]") {
  TrainingSpec spec;
  spec.tensor = 2;
  spec.data = 2;
  spec.pipeline = 2;
  spec.micro_batches = 4;
  spec.sequence = true;
  const Workload workload =
      make_training(samples::crowd(8), samples::transformer(6), samples::npu(), spec);
  for (const TrainingProgram& program : workload.programs) {
    std::vector<std::int64_t> last(program.size(), -1); // computing that comes before, the latest
    std::int64_t previous = -1;
    for (std::size_t i = 0; i < program.size(); ++i) {
      for (const std::uint32_t before : program.dependencies(i))
        last[i] = std::max(last[i], program[before].kind == Operation::Kind::compute
                                        ? static_cast<std::int64_t>(before)
                                        : last[before]);
      if (program[i].kind != Operation::Kind::compute) continue;
      CHECK(last[i] == previous);
      previous = static_cast<std::int64_t>(i);
    }
    CHECK(previous > 0);
  }
}

} // namespace training_pipeline_test
