// The models that come with Tutti against what is published of them.
#include "workloads/model.hpp"

#include "tests/catch.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace models_test {

using namespace tutti;

namespace {

bool is_within(double found, double expected, double tolerance) {
  return std::abs(found / expected - 1) <= tolerance;
}

/// Of the kernels that published counts count: products.
double product_flops(const Model& model) {
  double sum = 0;
  for (const Layer& layer : model.layers)
    for (const Kernel& kernel : layer.kernels)
      if (kernel.kind != Kernel::Kind::elementwise && kernel.kind != Kernel::Kind::lookup)
        sum += kernel.flops;
  return sum;
}

} // namespace

TEST_CASE("every model: its name, its source, and parameters within 1 % of the published") {
  std::vector<std::string> names;
  for (const NamedModel& named : named_models()) {
    INFO(named.name);
    names.push_back(named.name);
    const Model model = load_model(named.name);
    CHECK(model.name == named.name);
    CHECK(model.note == named.note);
    CHECK(model.note.size() > 20);
    CHECK(model.source.size() > 10);
    REQUIRE(model.published.parameters > 0);
    CHECK(is_within(model.parameters(), model.published.parameters, 0.01));
  }
  for (const std::string required :
       {"resnet50", "gnmt", "turing_nlg", "transformer_xl", "bert_large", "gpt3_175b",
        "llama3_405b", "mixtral_8x7b", "switch_base", "dlrm"})
    CHECK(std::count(names.begin(), names.end(), required) == 1);
}

TEST_CASE("every model: flops within its tolerance of the published") {
  std::vector<std::string> checked;
  for (const NamedModel& named : named_models()) {
    const Model model = load_model(named.name);
    const PublishedTotals& published = model.published;
    INFO(model.name);
    CHECK(published.flops_tolerance < 0.2);
    const double samples = published.items / model.items_per_sample;
    if (published.forward_flops > 0)
      CHECK(is_within(model.forward_flops() * samples, published.forward_flops,
                      published.flops_tolerance));
    if (published.training_flops > 0)
      CHECK(is_within(model.training_flops() * samples, published.training_flops,
                      published.flops_tolerance));
    if (published.forward_flops + published.training_flops > 0) checked.push_back(model.name);
  }
  CHECK(checked == std::vector<std::string>{"gpt3_175b", "llama3_405b", "mixtral_8x7b", "resnet50",
                                            "switch_base"});
}

TEST_CASE("every model: whole blocks in order, layers that have work, hand something on") {
  for (const NamedModel& named : named_models()) {
    const Model model = load_model(named.name);
    INFO(model.name);
    std::uint32_t block = 0;
    for (const Layer& layer : model.layers) {
      INFO(layer.name);
      CHECK((layer.block == block || layer.block == block + 1));
      block = layer.block;
      CHECK(!layer.kernels.empty());
      CHECK(layer.outputs > 0);
      CHECK(layer.stored >= layer.scores);
      CHECK(layer.parameters >= 0);
      CHECK(!layer.times);
      CHECK((layer.expert_parameters > 0) == (layer.routed > 0));
      // A kernel that reads parameters has them, unless they are tied or read at each step.
      double read = 0;
      for (const Kernel& kernel : layer.kernels) read += kernel.parameters;
      if (layer.name != "output" && layer.name.find("coder") == std::string::npos)
        CHECK(read <= layer.parameters + layer.expert_parameters);
    }
    CHECK(model.block_count() == block + 1);
    const bool has_experts =
        std::any_of(model.layers.begin(), model.layers.end(),
                    [](const Layer& layer) { return layer.expert_parameters > 0; });
    CHECK(has_experts == (model.experts > 0));
  }
}

// arXiv:2104.04473 section 5.1, eq. 2: P = 12 l h^2 (1 + 13/(12h) + (V + s)/(12 l h)).
TEST_CASE("GPT-3's parameters by Megatron-LM's formula") {
  const double l = 96, h = 12288, v = 50257, s = 2048;
  const double expected = 12 * l * h * h * (1 + 13 / (12 * h) + (v + s) / (12 * l * h));
  CHECK(is_within(load_model("gpt3_175b").parameters(), expected, 1e-6)); // a last norm: 2h more
}

TEST_CASE("a model in one line is the one of its file") {
  const Model line =
      load_model("gpt:layers=96,hidden=12288,heads=96,vocabulary=50257,sequence=2048");
  const Model file = load_model("gpt3_175b");
  CHECK(line.parameters() == file.parameters());
  CHECK(line.training_flops() == file.training_flops());
  CHECK(line.block_count() == file.block_count());
}

TEST_CASE("a model in one line is refused where it says too little, too much or nonsense") {
  const std::string most = "gpt:layers=2,hidden=64,heads=4,vocabulary=100";
  CHECK_THROWS_WITH(load_model(most), "model gpt: sequence is missing");
  CHECK_THROWS_WITH(load_model(most + ",sequence=8,heads=4"), "model gpt: heads is given twice");
  CHECK_THROWS_WITH(load_model(most + ",sequence"), "model gpt: sequence has no value");
  CHECK_THROWS_WITH(load_model(most + ",sequence=8,tied=no"),
                    "model gpt: tied is on or off, not \"no\"");
  CHECK_THROWS_WITH(load_model(most + ",sequence=8,depth=3"),
                    ContainsSubstring("unknown key of model gpt \"depth\""));
  CHECK_THROWS_WITH(load_model(most + ",sequence=0"), ContainsSubstring("1"));
  CHECK_THROWS_WITH(load_model("gpt:layers=2,hidden=64,heads=5,vocabulary=100,sequence=8"),
                    ContainsSubstring("5 heads don't divide hidden 64"));
}

// arXiv:2104.04473 section 5.1, eq. 3, less a quarter, since nothing is computed again:
// F = 72 s l h^2 (1 + s/(6h) + V/(12 l h)) for a sequence.
TEST_CASE("GPT-3's flops by Megatron-LM's formula") {
  const Model model = load_model("gpt3_175b");
  const double l = 96, h = 12288, v = 50257, s = 2048;
  const double expected = 72 * s * l * h * h * (1 + s / (6 * h) + v / (12 * l * h));
  CHECK(3 * product_flops(model) == Approx(expected).epsilon(1e-12));
  CHECK(model.training_flops() > expected);
  CHECK(is_within(model.training_flops(), expected, 0.002)); // element by element: next to nothing
}

TEST_CASE("ResNet-50 has ASTRA-sim's 54 layers: 53 convolutions and one that is linear") {
  const Model model = load_model("resnet50");
  CHECK(model.layers.size() == 54);
  std::size_t convolutions = 0;
  for (const Layer& layer : model.layers)
    convolutions += layer.kernels.front().kind == Kernel::Kind::convolution ? 1 : 0;
  CHECK(convolutions == 53);
  CHECK(model.block_count() == 18); // 16 residual blocks
  CHECK(model.layers[52].outputs == 2048);
  CHECK(model.layers.back().parameters == 2048 * 1000 + 1000);
}

TEST_CASE("experts: what a token reaches, and what all hold") {
  // arXiv:2401.04088 table 1: 8 experts of 3 x 4096 x 14336 parameters, of which a token takes 2.
  const Model model = load_model("mixtral_8x7b");
  const Layer& layer = model.layers[2];
  REQUIRE(layer.name == "block0.mlp");
  const double expert = 3.0 * 4096 * 14336;
  CHECK(model.experts == 8);
  CHECK(layer.expert_parameters == 8 * expert);
  CHECK(layer.parameters == 4096 + 4096 * 8); // norm and router
  CHECK(layer.routed == 2.0 * 4096 * 4096);
  double flops = 0, read = 0;
  for (const Kernel& kernel : layer.kernels)
    if (kernel.is_expert && kernel.kind == Kernel::Kind::matmul)
      flops += kernel.flops, read += kernel.parameters;
  CHECK(flops == 2 * 4096 * 2 * expert);
  CHECK(read == 8 * expert);
}

TEST_CASE("an unknown model names those that are known") {
  try {
    (void)load_model("gpt3_157b");
    FAIL("no error");
  } catch (const std::exception& e) {
    const std::string message = e.what();
    CHECK(message.starts_with("unknown model \"gpt3_157b\" (known: bert_large, dlrm, "));
    CHECK(message.ends_with("did you mean \"gpt3_175b\"?)"));
  }
}

} // namespace models_test
