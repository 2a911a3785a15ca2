// How much is communicated, against closed formulas.
#include "workloads/parallelism/training.hpp"

#include "tests/catch.hpp"
#include "tests/workloads/training_samples.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace training_volume_test {

using namespace tutti;

namespace {

struct Volume {
  std::int64_t count = 0, bytes = 0;
  bool operator==(const Volume&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Volume& volume) {
  return out << volume.count << " of together " << volume.bytes;
}

Volume volume(const TrainingProgram& program, Purpose purpose, CollectiveKind kind) {
  Volume volume;
  for (const Operation& operation : program.operations())
    if (operation.kind == Operation::Kind::collective && operation.purpose == purpose &&
        operation.collective == kind) {
      ++volume.count;
      volume.bytes += operation.amount;
    }
  return volume;
}

Volume sent(const TrainingProgram& program) {
  Volume volume;
  for (const Operation& operation : program.operations())
    if (operation.kind == Operation::Kind::send) {
      ++volume.count;
      volume.bytes += operation.amount;
    }
  return volume;
}

std::size_t communications(const TrainingProgram& program) {
  return static_cast<std::size_t>(
      std::count_if(program.operations().begin(), program.operations().end(),
                    [](const Operation& o) { return o.kind != Operation::Kind::compute; }));
}

Workload workload_of(const Model& model, const TrainingSpec& spec) {
  const std::uint32_t npus = spec.tensor * spec.expert * spec.data * spec.pipeline;
  Workload workload = make_training(samples::crowd(npus), model, samples::npu(), spec);
  check_workload(workload, npus);
  return workload;
}

constexpr auto all_reduce = CollectiveKind::all_reduce;
constexpr auto all_gather = CollectiveKind::all_gather;
constexpr auto reduce_scatter = CollectiveKind::reduce_scatter;
constexpr auto all_to_all = CollectiveKind::all_to_all;

// In all models of these tests the precision is bf16: two bytes.
constexpr std::int64_t element = 2;

} // namespace

TEST_CASE("one NPU communicates nothing", "[training]") {
  const Workload workload = workload_of(samples::transformer(3), {});
  REQUIRE(workload.programs.size() == 1);
  CHECK(communications(workload.programs[0]) == 0);
  CHECK(workload.groups.empty());
}

TEST_CASE("data parallel: every gradient once, in buckets, with the last micro-batch",
          "[training]") {
  // 10 layers of 4,096 parameters.
  TrainingSpec spec;
  spec.data = 4;
  for (const std::uint32_t micro_batches : {1U, 3U})
    for (const bool overlap : {false, true}) {
      spec.micro_batches = micro_batches;
      spec.overlap = overlap;
      spec.bucket = {};
      const auto summed = [&] {
        return volume(workload_of(samples::plain(10), spec).programs[0], Purpose::data, all_reduce);
      };
      CHECK(summed() == Volume{10, 10 * 4'096 * element});
      spec.bucket = {3 * 4'096 * element}; // three, three, three, one
      CHECK(summed() == Volume{4, 10 * 4'096 * element});
      spec.bucket = {3 * 4'096 * element + 1}; // four, four, two
      CHECK(summed() == Volume{3, 10 * 4'096 * element});
      spec.bucket = {1'000'000'000};
      CHECK(summed() == Volume{1, 10 * 4'096 * element});
      spec.gradient_bytes = 4;
      CHECK(summed() == Volume{1, 10 * 4'096 * 4});
      spec.gradient_bytes = 0;
    }
}

TEST_CASE("gradients begin with their bucket, or when all are there", "[training]") {
  TrainingSpec spec;
  spec.data = 2;
  const auto program = [&] { return workload_of(samples::plain(3), spec).programs[0]; };
  const auto is_sum = [](const Operation& o) { return o.purpose == Purpose::data; };
  // forward, backward of block 2, its sum, of block 1, its sum, of block 0, its sum, optimizer
  TrainingProgram made = program();
  REQUIRE(made.size() == 8);
  for (const std::size_t i : {2U, 4U, 6U}) {
    CHECK(is_sum(made[i]));
    CHECK(made.dependencies(i).size() == 1);
    CHECK(made.dependencies(i)[0] == i - 1);
  }
  CHECK(made.dependencies(3)[0] == 1); // computing goes on meanwhile
  CHECK(made.dependencies(7).size() == 4);
  spec.in_order = true;
  made = program();
  CHECK(std::vector(made.dependencies(4).begin(), made.dependencies(4).end()) ==
        std::vector<std::uint32_t>{2, 3});
  spec.in_order = false;
  spec.overlap = false;
  made = program(); // forward, backward of all, three sums, optimizer
  REQUIRE(made.size() == 6);
  for (const std::size_t i : {2U, 3U, 4U}) {
    CHECK(is_sum(made[i]));
    CHECK(made.dependencies(i)[0] == 1);
  }
}

TEST_CASE("ZeRO-2 without overlap: sums behind each backward pass", "[training]") {
  TrainingSpec spec;
  spec.data = 2;
  spec.zero = 2;
  spec.micro_batches = 2;
  spec.overlap = false;
  const TrainingProgram program = workload_of(samples::plain(3), spec).programs[0];
  // forward, backward, three sums; again; optimizer, three gathers
  REQUIRE(program.size() == 14);
  for (const std::size_t i : {2U, 3U, 4U, 7U, 8U, 9U}) {
    CHECK(program[i].collective == reduce_scatter);
    CHECK(program.dependencies(i)[0] == (i < 5 ? 1 : 6));
  }
  for (const std::size_t i : {11U, 12U, 13U}) CHECK(program.dependencies(i)[0] == 10);
}

TEST_CASE("ranks of replicas follow the placement", "[training]") {
  TrainingSpec spec;
  spec.expert = 2;
  spec.data = 2;
  for (const bool data_first : {false, true}) {
    if (data_first)
      spec.order = {Parallelism::data, Parallelism::expert, Parallelism::tensor,
                    Parallelism::pipeline};
    const Workload workload = workload_of(samples::mixture(2, 2), spec);
    int all = 0;
    for (const std::vector<NodeId>& group : workload.groups)
      if (group.size() == 4) {
        ++all;
        CHECK(group == std::vector<NodeId>{NodeId{0}, NodeId{1}, NodeId{2}, NodeId{3}});
      }
    CHECK(all == 1);
  }
}

TEST_CASE("tensor parallel: four All-Reduces per block and micro-batch", "[training]") {
  // 2 layers a block, each summing its outputs and its inputs' gradients: all of `hidden` = 64.
  TrainingSpec spec;
  spec.tensor = 4;
  spec.micro_batch = 3;
  spec.micro_batches = 5;
  const std::int64_t size = 3 * 64 * element;
  const auto made = [&] { return workload_of(samples::transformer(7), spec).programs[0]; };
  CHECK(volume(made(), Purpose::tensor, all_reduce) == Volume{7 * 4 * 5, 7 * 4 * 5 * size});
  CHECK(communications(made()) == 7 * 4 * 5);
  // arXiv:2104.04473 section 3.5: six with full recomputation.
  spec.recompute = Recompute::full;
  CHECK(volume(made(), Purpose::tensor, all_reduce) == Volume{7 * 6 * 5, 7 * 6 * 5 * size});
  // One All-Reduce is a Reduce-Scatter and an All-Gather; and each layer's inputs once more.
  spec.recompute = Recompute::none;
  spec.sequence = true;
  CHECK(volume(made(), Purpose::tensor, all_reduce) == Volume{});
  CHECK(volume(made(), Purpose::tensor, reduce_scatter) == Volume{7 * 4 * 5, 7 * 4 * 5 * size});
  // The embedding's gradients and the output layer's inputs, which every member needs in whole, are
  // gathered; the first block's inputs are there in whole, but its members work on shares.
  const std::int64_t gathers = (7 * 4 + 7 * 2 + 2) * 5;
  CHECK(volume(made(), Purpose::tensor, all_gather).count == gathers);
}

TEST_CASE("expert parallel: there and back, forward and backward; experts' gradients apart",
          "[training]") {
  // Per mixture layer 128 elements a sample travel; dense parameters: embedding and output 32 x 64
  // each, per block attention 4 x 64^2 and router 64 x 8; experts 8 x 64^2 x 8 per block.
  TrainingSpec spec;
  spec.expert = 4;
  spec.data = 2;
  spec.micro_batch = 2;
  spec.micro_batches = 3;
  const Workload workload = workload_of(samples::mixture(5, 8), spec);
  const TrainingProgram& program = workload.programs[0];
  CHECK(volume(program, Purpose::expert, all_to_all) ==
        Volume{5 * 4 * 3, 5 * 4 * 3 * 2 * 128 * element});
  std::map<std::size_t, std::int64_t> summed; // [members] bytes
  for (const Operation& operation : program.operations())
    if (operation.purpose == Purpose::data && operation.kind == Operation::Kind::collective)
      summed[workload.groups[workload.places[0].groups[operation.role]].size()] += operation.amount;
  const std::int64_t dense = 2 * 32 * 64 + 5 * (4 * 64 * 64 + 64 * 8);
  const std::int64_t experts = 5 * 8 * 64 * 64 * 8 / 4;
  CHECK(summed ==
        std::map<std::size_t, std::int64_t>{{8, dense * element}, {2, experts * element}});
}

TEST_CASE("pipeline: outputs forward, their gradients back", "[training]") {
  TrainingSpec spec;
  spec.pipeline = 3;
  spec.micro_batch = 2;
  spec.micro_batches = 6;
  std::vector<TrainingProgram> programs = workload_of(samples::plain(6), spec).programs;
  const std::int64_t size = 2 * 512 * element;
  CHECK(sent(programs[0]) == Volume{6, 6 * size});
  CHECK(sent(programs[1]) == Volume{12, 12 * size});
  CHECK(sent(programs[2]) == Volume{6, 6 * size});
  // Two parts: five boundaries in all.
  spec.schedule = PipelineSchedule::interleaved;
  spec.model_parts = 2;
  programs = workload_of(samples::plain(6), spec).programs;
  std::int64_t all = 0;
  for (const TrainingProgram& program : programs) all += sent(program).bytes;
  CHECK(all == 2 * 5 * 6 * size);
  // Members of a tensor group send a share each.
  spec = {};
  spec.pipeline = 2;
  spec.tensor = 4;
  CHECK(sent(workload_of(samples::transformer(4), spec).programs[0]) == Volume{1, 64 * element});
  spec.sequence = true;
  CHECK(sent(workload_of(samples::transformer(4), spec).programs[0]) ==
        Volume{1, 64 * element / 4});
}

TEST_CASE("ZeRO: gradients in parts, parameters gathered", "[training]") {
  const std::int64_t parameters = 10 * 4'096;
  TrainingSpec spec;
  spec.data = 4;
  spec.micro_batches = 3;
  spec.gradient_bytes = 4;
  const auto program = [&](std::uint32_t zero) {
    spec.zero = zero;
    return workload_of(samples::plain(10), spec).programs[0];
  };
  for (const bool overlap : {false, true}) {
    spec.overlap = overlap;
    CHECK(volume(program(1), Purpose::data, all_reduce) == Volume{});
    CHECK(volume(program(1), Purpose::data, reduce_scatter) == Volume{10, parameters * 4});
    CHECK(volume(program(1), Purpose::sharding, all_gather) == Volume{10, parameters * element});
    // Gradients have nowhere to add up in whole.
    CHECK(volume(program(2), Purpose::data, reduce_scatter) == Volume{3 * 10, 3 * parameters * 4});
    CHECK(volume(program(2), Purpose::sharding, all_gather) == Volume{10, parameters * element});
    // Twice for each micro-batch: forward and backward.
    CHECK(volume(program(3), Purpose::data, reduce_scatter) == Volume{3 * 10, 3 * parameters * 4});
    CHECK(volume(program(3), Purpose::sharding, all_gather) ==
          Volume{3 * 2 * 10, 3 * 2 * parameters * element});
  }
}

TEST_CASE("ZeRO-3 gathers the next block while one computes", "[training]") {
  TrainingSpec spec;
  spec.data = 2;
  spec.zero = 3;
  // [index of a gather]: how much computing comes before it, and before the computing behind it.
  const auto gathers = [&] {
    const TrainingProgram program = workload_of(samples::plain(3), spec).programs[0];
    std::vector<std::size_t> computed(program.size(), 0), found;
    for (std::size_t i = 0; i < program.size(); ++i) {
      for (const std::uint32_t before : program.dependencies(i))
        computed[i] = std::max(computed[i], computed[before]);
      if (program[i].kind == Operation::Kind::compute) ++computed[i];
      if (program[i].purpose == Purpose::sharding) found.push_back(computed[i]);
    }
    return found;
  };
  CHECK(gathers() == std::vector<std::size_t>{0, 0, 1, 2, 3, 4});
  spec.overlap = false;
  CHECK(gathers() == std::vector<std::size_t>{0, 1, 2, 3, 4, 5});
}

TEST_CASE("products of parallelisms share parameters out", "[training]") {
  // Layers split four ways: a member sums a fourth of them, and all of what doesn't split.
  TrainingSpec spec;
  spec.tensor = 4;
  spec.data = 3;
  spec.pipeline = 2;
  const Workload workload = workload_of(samples::transformer(6), spec);
  std::int64_t summed = 0;
  for (const TrainingProgram& program : workload.programs)
    summed += volume(program, Purpose::data, all_reduce).bytes;
  CHECK(summed == (6 * 2 * 4 * 64 * 64 / 4 + 2 * 32 * 64) * element);
}

TEST_CASE("priorities go by purpose", "[training]") {
  TrainingSpec spec;
  spec.tensor = 2;
  spec.expert = 2;
  spec.data = 2;
  spec.pipeline = 2;
  spec.zero = 3;
  spec.priority = {1, 2, 3, 4, 5, 6};
  for (const TrainingProgram& program : workload_of(samples::mixture(4, 4), spec).programs) {
    std::map<Purpose, std::uint8_t> found;
    for (const Operation& operation : program.operations())
      if (operation.kind != Operation::Kind::compute) {
        CHECK(operation.priority == 1 + static_cast<int>(operation.purpose));
        found[operation.purpose] = operation.priority;
      }
    CHECK(found.size() == 5);
  }
}

} // namespace training_volume_test
