// How long an NPU computes, what it holds, and what is refused.
#include "workloads/parallelism/training.hpp"

#include "tests/catch.hpp"
#include "tests/message_of.hpp"
#include "tests/workloads/simple_run.hpp"
#include "tests/workloads/training_samples.hpp"

namespace training_work_test {

using namespace tutti;

namespace {

Workload workload_of(const Model& model, const TrainingSpec& spec,
                     const NpuProfile& npu = samples::npu()) {
  const std::uint32_t npus = spec.tensor * spec.expert * spec.data * spec.pipeline;
  return make_training(samples::crowd(npus), model, npu, spec);
}

/// All computing of the first NPU but the optimizer's.
double computing(const Workload& workload) {
  double sum = 0;
  for (const Operation& operation : workload.programs[0].operations())
    if (operation.kind == Operation::Kind::compute && workload.names[operation.name] != "optimizer")
      sum += static_cast<double>(operation.amount);
  return sum;
}

/// Rounded up once per kernel and pass: to a picosecond in a thousand.
auto about(double ps) { return Approx(ps).epsilon(1e-4); }

std::string refusal(const Model& model, const TrainingSpec& spec) {
  return message_of([&] { static_cast<void>(workload_of(model, spec)); });
}

} // namespace

TEST_CASE("computing by hand: forward once, backward twice, and what is done again", "[training]") {
  // A block: two products of 10^6 flops and 2 x 10^5 of attention; around them 10^3 and 10^4.
  // Backward: products once for inputs and once for parameters, attention twice for inputs.
  const double products = 2'000'000, attention = 200'000, around = 11'000;
  const double forward = 3 * (products + attention) + around;
  const double all = 3 * forward;
  TrainingSpec spec;
  const auto time = [&] { return computing(workload_of(samples::transformer(3), spec)); };
  CHECK(time() == about(all));
  spec.recompute = Recompute::attention;
  CHECK(time() == about(all + 3 * attention));
  spec.recompute = Recompute::full;
  CHECK(time() == about(all + forward));
  spec.recompute = Recompute::none;
  spec.micro_batch = 4;
  spec.micro_batches = 5;
  CHECK(time() == about(20 * all));
  spec.tensor = 2; // what doesn't split is done by both
  CHECK(time() == about(20 * (3 * around + 3 * (forward - around) / 2)));
}

TEST_CASE("the bytes of a kernel: activations by the sample, parameters once", "[training]") {
  // A byte takes a picosecond, a flop nothing. Forward and two backward passes over a layer of 100
  // activations and 5,000 parameters; the optimizer reads and writes 12 bytes of state, reads a
  // gradient of 2 and writes a parameter of 2.
  NpuProfile npu = samples::npu();
  npu.memory_bandwidth = {1'000'000'000'000};
  for (auto& [precision, peak] : npu.peak_flops) peak = 1e24;
  Model model = samples::plain(1, 1, 5'000, 1);
  model.layers[0].kernels[0].traffic = 100;
  TrainingSpec spec;
  spec.micro_batch = 7;
  Workload workload = workload_of(model, spec, npu);
  CHECK(computing(workload) == about(3 * (7 * 100 + 5'000) * 2));
  const Operation& optimizer = workload.programs[0].operations().back();
  CHECK(workload.names[optimizer.name] == "optimizer");
  CHECK(static_cast<double>(optimizer.amount) == about(5'000 * (2 * 12 + 2 + 2)));
  // In four bytes there is no second copy: moments of 8, a gradient, a parameter read and written.
  spec.precision = Precision::fp32;
  workload = workload_of(model, spec, npu);
  CHECK(static_cast<double>(workload.programs[0].operations().back().amount) ==
        about(5'000 * (2 * 8 + 4 + 2 * 4)));
  // A share for each replica.
  spec.data = 5;
  spec.zero = 1;
  workload = workload_of(model, spec, npu);
  for (const Operation& operation : workload.programs[0].operations())
    if (workload.names[operation.name] == "optimizer")
      CHECK(static_cast<double>(operation.amount) == about(1'000 * (2 * 8 + 4 + 2 * 4)));
}

TEST_CASE("given times hold instead of kernels", "[training]") {
  Model model = samples::plain(2);
  model.layers[1].times = GivenTimes{{1'000}, {2'000}, {4'000}};
  model.layers[0].times = GivenTimes{{10}, {20}, {40}};
  TrainingSpec spec;
  CHECK(computing(workload_of(model, spec)) == 7'070);
  spec.micro_batch = 3;
  spec.micro_batches = 2;
  CHECK(computing(workload_of(model, spec)) == 6 * 7'070);
}

TEST_CASE("what waits for tensor communication, and what doesn't", "[training]") {
  // Two layers, each member's share: forward 50, for inputs 50, for parameters 100. A communication
  // takes 1,000.
  Model model = samples::plain(2, 1, 0, 512);
  for (Layer& layer : model.layers) {
    layer.split = TensorSplit::block;
    layer.times = GivenTimes{{100}, {100}, {200}};
  }
  TrainingSpec spec;
  spec.tensor = 2;
  const auto duration = [&] {
    return samples::SimpleRun(workload_of(model, spec), 1'000).duration();
  };
  // Forward: each layer and its sum. Backward: the last layer's parameters beside the sum of its
  // inputs' gradients; the first layer's inputs need none.
  CHECK(duration() == 2 * (50 + 1'000) + (50 + 1'000) + (50 + 100));
  // Forward: scattered, gathered, and the loss summed. Backward: the last layer's inputs arrive
  // after 1,000 and are used for 100; the first layer's outputs' gradients are gathered.
  spec.sequence = true;
  CHECK(duration() == 50 + 1'000 + 1'000 + 50 + 1'000 + (1'000 + 100) + 1'000 + (50 + 100));
}

TEST_CASE("what waits for tokens, and what doesn't", "[training]") {
  // Router 1,000, experts 4,000, sum 500 forward; a communication takes 100,000.
  Model model = samples::mixture(1, 2);
  model.layers = {model.layers[2]};
  Layer& layer = model.layers[0];
  layer.parameters = layer.expert_parameters = 0;
  for (Kernel& kernel : layer.kernels) kernel.parameters = 0;
  layer.kernels[1].flops = 4'000;
  TrainingSpec spec;
  spec.expert = 2;
  const Workload workload = workload_of(model, spec);
  // Backward: the sum's gradient travels, experts' inputs' travel beside their parameters', and
  // what is left is the router's.
  CHECK(static_cast<double>(samples::SimpleRun(workload, 100'000).duration()) ==
        about(1'000 + 100'000 + 4'000 + 100'000 + 500 + 500 + 100'000 + 4'000 + 100'000 + 2'000));
}

TEST_CASE("a pipeline waits for what is sent", "[training]") {
  Model model = samples::plain(2, 1, 0);
  for (Layer& layer : model.layers) layer.times = GivenTimes{{100}, {100}, {100}};
  TrainingSpec spec;
  spec.pipeline = 2;
  CHECK(samples::SimpleRun(workload_of(model, spec), 70).duration() == 600 + 2 * 70);
  spec.micro_batches = 2; // the second stage has the second when it is done with the first
  CHECK(samples::SimpleRun(workload_of(model, spec), 70).duration() == 900 + 2 * 70);
}

TEST_CASE("items and flops are those of all samples", "[training]") {
  Model model = samples::mixture(4, 4);
  model.items_per_sample = 8'192;
  model.item = "token";
  TrainingSpec spec;
  spec.tensor = 2;
  spec.expert = 2;
  spec.data = 3;
  spec.pipeline = 2;
  spec.micro_batch = 5;
  spec.micro_batches = 7;
  spec.recompute = Recompute::full; // doesn't count
  const Workload workload = workload_of(model, spec);
  CHECK(workload.items == 5 * 7 * 2 * 3 * 8'192.0);
  CHECK(workload.item == "token");
  CHECK(workload.flops == Approx(5 * 7 * 2 * 3 * model.training_flops()));
}

TEST_CASE("memory by hand", "[training]") {
  // 4 blocks of 4,096 parameters that store 1,024 elements a sample; outputs 512. bf16.
  const Model model = samples::plain(4);
  TrainingSpec spec;
  spec.micro_batch = 3;
  const auto memory = [&] { return workload_of(model, spec).memory; };
  MemoryEstimate first = memory()[0];
  CHECK(first.parameters.count == 4 * 4'096 * 2);
  CHECK(first.gradients.count == 4 * 4'096 * 2);
  CHECK(first.optimizer.count == 4 * 4'096 * 12);
  CHECK(first.activations.count == 4 * 3 * 1'024 * 2);
  CHECK(first.total().count == 4 * (4'096 * 16 + 3 * 1'024 * 2));

  // A pipeline of 4: as many micro-batches at once as there are stages from here on; GPipe: all.
  spec.pipeline = 4;
  spec.micro_batches = 10;
  for (std::size_t stage = 0; stage < 4; ++stage) {
    CHECK(memory()[stage].parameters.count == 4'096 * 2);
    CHECK(memory()[stage].activations.count ==
          static_cast<std::int64_t>(4 - stage) * 3 * 1'024 * 2);
  }
  spec.schedule = PipelineSchedule::gpipe;
  CHECK(memory()[3].activations.count == 10 * 3 * 1'024 * 2);
  // Recomputed: the inputs of each, and one block in whole. The first stage has none to keep.
  spec.recompute = Recompute::full;
  CHECK(memory()[1].activations.count == 10 * 3 * 512 * 2 + 3 * 1'024 * 2);
  CHECK(memory()[0].activations.count == 3 * 1'024 * 2);

  // ZeRO over 4 replicas: optimizer, gradients, parameters in parts, and two blocks gathered.
  spec = {};
  spec.data = 4;
  spec.gradient_bytes = 4;
  spec.zero = 1;
  CHECK(memory()[0].optimizer.count == 4'096 * 12);
  CHECK(memory()[0].gradients.count == 4 * 4'096 * 4);
  spec.zero = 2;
  CHECK(memory()[0].gradients.count == 4'096 * 4);
  CHECK(memory()[0].parameters.count == 4 * 4'096 * 2);
  spec.zero = 3;
  CHECK(memory()[0].parameters.count == (4'096 + 2 * 4'096) * 2);
  spec.overlap = false;
  CHECK(memory()[0].parameters.count == (4'096 + 4'096) * 2);
}

TEST_CASE("memory of split layers: inputs stay whole unless the sequence is split", "[training]") {
  // Two blocks of two layers that store 128 elements each, of them twice their inputs of 64 whole;
  // the embedding stores 128, the output 32, whole as well.
  TrainingSpec spec;
  spec.tensor = 4;
  Model model = samples::transformer(2);
  for (Layer& layer : model.layers)
    if (layer.split == TensorSplit::block) layer.stored = 200;
  const auto activations = [&] { return workload_of(model, spec).memory[0].activations.count; };
  CHECK(activations() == (4 * (128 + (200 - 128) / 4) + 128 + 32) * 2);
  spec.sequence = true;
  CHECK(activations() == (4 * 200 / 4 + 128 + 32) * 2);
  // Attention matrices that are made again: those of one layer at a time.
  for (Layer& layer : model.layers)
    if (layer.kernels.size() > 1) layer.scores = 40;
  spec.recompute = Recompute::attention;
  CHECK(activations() == (4 * 200 / 4 - 2 * 40 / 4 + 40 / 4 + 128 + 32) * 2);
}

TEST_CASE("too little memory is told with figures", "[training]") {
  const Model model = samples::plain(4);
  TrainingSpec spec;
  spec.pipeline = 2;
  spec.micro_batches = 8;
  NpuProfile npu = samples::npu();
  const Topology topology = samples::crowd(2);
  const Workload workload = workload_of(model, spec);
  // The first stage keeps two micro-batches of its two blocks, the second one.
  const std::int64_t state = 2 * 4'096 * 16, each = 2 * 1'024 * 2;
  npu.memory = {state + 2 * each};
  CHECK(memory_warning(workload, topology, npu).empty());
  npu.memory = {state + 2 * each - 1'024};
  CHECK(memory_warning(workload, topology, npu) ==
        "1 NPU of 2 needs more memory than unit has: npu0 an estimated 136.0 KiB (parameters "
        "16.00 KiB, gradients 16.00 KiB, optimizer 96.00 KiB, activations 8.000 KiB) where there "
        "is 135.0 KiB: 1.000 KiB too much");
  npu.memory = {1'024};
  CHECK_THAT(memory_warning(workload, topology, npu), ContainsSubstring("2 NPUs of 2 need"));
}

TEST_CASE("tables: only the rows that are looked up have gradients", "[training]") {
  // A table of 10^6 rows' elements, spread over 2; a sample looks up 30 of them and hands on 10.
  Model model = samples::plain(1, 1'000, 100, 10);
  model.experts = 2;
  Layer tables;
  tables.name = "tables";
  Kernel lookup;
  lookup.kind = Kernel::Kind::lookup;
  lookup.traffic = 40;
  lookup.is_expert = true;
  tables.kernels = {lookup};
  tables.expert_parameters = 1'000'000;
  tables.outputs = tables.routed = 10;
  model.layers.insert(model.layers.begin(), tables);
  TrainingSpec spec;
  spec.expert = 2;
  spec.data = 2;
  spec.micro_batch = 50;
  const Workload workload = workload_of(model, spec);
  std::int64_t summed = 0, travelling = 0;
  for (const Operation& operation : workload.programs[0].operations()) {
    if (operation.kind != Operation::Kind::collective) continue;
    (operation.purpose == Purpose::expert ? travelling : summed) += operation.amount;
  }
  CHECK(summed == (100 + 50 * 40) * 2);
  CHECK(travelling == 2 * 50 * 10 * 2); // outputs there, their gradients back; no inputs
  CHECK(workload.memory[0].parameters.count == (100 + 500'000) * 2);
  CHECK(workload.memory[0].gradients.count == (100 + 50 * 40) * 2);
}

TEST_CASE("specs that can't be are refused in words", "[training]") {
  const auto with = [](const auto& change) {
    TrainingSpec spec;
    change(spec);
    return spec;
  };
  const Model plain = samples::plain(4);
  CHECK(refusal(plain, with([](auto& s) { s.pipeline = 5; })) ==
        "pipeline 5 x model_parts 1 = 5 stages, but plain has 4 blocks");
  const auto interleaved = [](TrainingSpec& s) {
    s.schedule = PipelineSchedule::interleaved;
    s.pipeline = 2;
    s.model_parts = 2;
    s.micro_batches = 4;
  };
  CHECK(refusal(plain, with(interleaved)).empty());
  CHECK(refusal(plain, with([&](auto& s) { interleaved(s), s.model_parts = 3; })) ==
        "pipeline 2 x model_parts 3 = 6 stages, but plain has 4 blocks");
  CHECK(refusal(plain, with([&](auto& s) { interleaved(s), s.micro_batches = 5; })) ==
        "micro_batches 5: the interleaved schedule needs a multiple of pipeline 2");
  CHECK(refusal(plain, with([&](auto& s) { interleaved(s), s.schedule = {}; })) ==
        "model_parts 2: only the interleaved schedule has several");
  CHECK(refusal(plain, with([&](auto& s) { interleaved(s), s.pipeline = 1; })) ==
        "model_parts 2: a pipeline of 1 stage has nothing to interleave");
  CHECK(refusal(plain, with([](auto& s) { s.model_parts = 0; })) ==
        "model_parts 0: a stage has at least 1");
  CHECK(refusal(plain, with([](auto& s) { s.tensor = 8; })) ==
        "tensor 8: plain has no layer that can be split");
  CHECK(refusal(plain, with([](auto& s) { s.expert = 2; })) == "expert 2: plain has no experts");
  CHECK(refusal(samples::mixture(2, 8), with([](auto& s) { s.expert = 3; })) ==
        "expert 3: mixture has 8 experts, which don't divide by it");
  CHECK(refusal(plain, with([](auto& s) { s.zero = 4; })) ==
        "zero 4: its stages are 0 (none) to 3");
  CHECK(refusal(plain, with([](auto& s) { s.micro_batches = 0; })) ==
        "an iteration of 0 samples (micro_batch 1 x micro_batches 0)");
  CHECK(refusal(plain, with([](auto& s) { s.micro_batch = 0; })) ==
        "an iteration of 0 samples (micro_batch 0 x micro_batches 1)");
  CHECK_THAT(refusal(plain, with([](auto& s) { s.micro_batches = 1U << 31; })),
             ContainsSubstring("are too many"));
  CHECK_THAT(refusal(plain, with([](auto& s) { s.priority[2] = 8; })),
             ContainsSubstring("priority 8 is out of range (0 to 7)"));
  CHECK_THAT(refusal(plain, with([](auto& s) { s.gradient_bytes = -1; })),
             ContainsSubstring("gradient_bytes -1"));
  CHECK_THAT(refusal(plain, with([](auto& s) { s.bucket = {-1}; })),
             ContainsSubstring("a bucket of -1 bytes"));
  CHECK(refusal(samples::plain(0), {}) == "plain has no layers");
  CHECK(refusal(plain, with([](auto& s) { s.order.pop_back(); })).empty()); // pipeline has 1 stage
  CHECK_THAT(refusal(plain, with([](auto& s) { s.data = 2, s.order = {Parallelism::tensor}; })),
             ContainsSubstring("\"order\" lacks data, of which there are 2"));
}

} // namespace training_work_test
