// Workloads of random specs: they fit together, and compute the same in any order.
#include "sim/random.hpp"
#include "workloads/parallelism/training.hpp"

#include "tests/catch.hpp"
#include "tests/workloads/simple_run.hpp"
#include "tests/workloads/training_samples.hpp"

#include <algorithm>

namespace training_random_test {

using namespace tutti;

namespace {

TrainingSpec random_spec(Random& random) {
  const auto one_of = [&](std::initializer_list<std::uint32_t> values) {
    return values.begin()[random.below(values.size())];
  };
  TrainingSpec spec;
  spec.tensor = one_of({1, 1, 2, 4});
  spec.expert = one_of({1, 1, 2, 4});
  spec.data = one_of({1, 2, 3});
  spec.pipeline = one_of({1, 1, 2, 3, 4});
  random.shuffle(spec.order);
  spec.micro_batch = one_of({1, 2, 5});
  spec.micro_batches = one_of({1, 2, 3, 7});
  spec.schedule = static_cast<PipelineSchedule>(random.below(3));
  if (spec.schedule == PipelineSchedule::interleaved && spec.pipeline > 1) {
    spec.model_parts = one_of({1, 2, 3});
    if (spec.model_parts > 1) spec.micro_batches *= spec.pipeline;
  }
  spec.precision = static_cast<Precision>(random.below(5));
  spec.gradient_bytes = one_of({0, 2, 4});
  spec.sequence = random.below(2) == 0;
  spec.zero = one_of({0, 1, 2, 3});
  spec.recompute = static_cast<Recompute>(random.below(3));
  spec.bucket = {one_of({0, 1, 20'000, 1'000'000'000})};
  spec.overlap = random.below(2) == 0;
  spec.in_order = random.below(2) == 0;
  for (std::uint8_t& priority : spec.priority)
    priority = static_cast<std::uint8_t>(random.below(8));
  return spec;
}

Time computing(const TrainingProgram& program) {
  Time sum;
  for (const Operation& operation : program.operations())
    if (operation.kind == Operation::Kind::compute) sum += Time{operation.amount};
  return sum;
}

} // namespace

TEST_CASE("every workload is one in which all members meet", "[training][heavy]") {
  Random random(1);
  for (int i = 0; i < 400; ++i) {
    const TrainingSpec spec = random_spec(random);
    const std::uint32_t npus = spec.tensor * spec.expert * spec.data * spec.pipeline;
    const Model model = random.below(2) == 0 || spec.expert > 1 ? samples::mixture(12, 8)
                                                                : samples::transformer(12);
    INFO(i);
    const Workload workload = make_training(samples::crowd(npus), model, samples::npu(), spec);
    check_workload(workload, npus);
    // It comes to an end, and not before its busiest stage.
    Time busiest;
    for (const TrainingProgram& program : workload.programs)
      busiest = std::max(busiest, computing(program));
    CHECK(samples::SimpleRun(workload).duration() >= busiest.ps);
    CHECK(workload.programs.size() == spec.pipeline);
    CHECK(workload.memory.size() == npus);
    CHECK(workload.items ==
          static_cast<double>(spec.micro_batch * spec.micro_batches * spec.data * spec.expert));
  }
}

TEST_CASE("how communication is ordered doesn't change what is computed", "[training]") {
  Random random(2);
  for (int i = 0; i < 100; ++i) {
    TrainingSpec spec = random_spec(random);
    const std::uint32_t npus = spec.tensor * spec.expert * spec.data * spec.pipeline;
    const auto times_of_stages = [&] {
      std::vector<Time> times;
      for (const TrainingProgram& program :
           make_training(samples::crowd(npus), samples::mixture(12, 8), samples::npu(), spec)
               .programs)
        times.push_back(computing(program));
      return times;
    };
    const std::vector<Time> before = times_of_stages();
    spec.overlap = !spec.overlap;
    spec.in_order = !spec.in_order;
    spec.bucket = {spec.bucket.count == 0 ? 50'000 : 0};
    std::reverse(spec.order.begin(), spec.order.end());
    if (spec.model_parts == 1)
      spec.schedule = spec.schedule == PipelineSchedule::gpipe ? PipelineSchedule::one_f_one_b
                                                               : PipelineSchedule::gpipe;
    INFO(i);
    CHECK(times_of_stages() == before);
  }
}

} // namespace training_random_test
