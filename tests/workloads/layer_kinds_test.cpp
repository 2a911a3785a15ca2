// Every kind of layer against numbers worked out by hand.
#include "tests/workloads/model_text.hpp"

#include "tests/catch.hpp"

#include <string>

namespace layer_kinds_test {

using namespace tutti;

namespace {

double products(const Layer& layer) {
  double sum = 0;
  for (const Kernel& kernel : layer.kernels)
    if (kernel.kind != Kernel::Kind::elementwise) sum += kernel.flops;
  return sum;
}

const std::string small_block = "[[layers]]\nkind = \"transformer\"\nhidden = 8\nheads = 2\n"
                                "feed_forward = 32\nsequence = 16\n";

} // namespace

// h = 8, a = 2, s = 16, f = 4h: parameters 12 h^2 + 13 h; products 24 s h^2 + 4 s^2 h; stored
// 34 sh + 5 a s^2 bytes (arXiv:2205.05198 eq. 1), which are half as many elements.
TEST_CASE("a transformer block: two layers of one block") {
  const Model model = model_of(small_block + "dropout = true\n");
  REQUIRE(model.layers.size() == 2);
  const Layer &attention = model.layers[0], &perceptron = model.layers[1];
  CHECK(attention.name == "transformer.attention");
  CHECK(perceptron.name == "transformer.mlp");
  CHECK(model.block_count() == 1);
  for (const Layer& layer : model.layers) {
    CHECK(layer.split == TensorSplit::block);
    CHECK(layer.outputs == 16 * 8);
    CHECK(layer.routed == 0);
  }
  CHECK(attention.parameters == 4 * 8 * 8 + 4 * 8 + 2 * 8);
  CHECK(perceptron.parameters == 8 * 8 * 8 + 5 * 8 + 2 * 8);
  CHECK(products(attention) == 8.0 * 16 * 64 + 4.0 * 256 * 8);
  CHECK(products(perceptron) == 16.0 * 16 * 64);
  CHECK(attention.stored + perceptron.stored == (34 * 16 * 8 + 5 * 2 * 256) / 2);
  CHECK(attention.scores == 5 * 2 * 256 / 2);
  CHECK(perceptron.scores == 0);
}

TEST_CASE("flash attention keeps no scores; without dropout there are no masks") {
  const Model plain = model_of(small_block), flash = model_of(small_block + "flash = true\n");
  CHECK(plain.layers[0].scores == 2 * 256);
  CHECK(flash.layers[0].scores == 0);
  CHECK(plain.layers[0].stored == 6 * 16 * 8 + 2 * 256);
  CHECK(flash.layers[0].stored == 6 * 16 * 8);
  CHECK(plain.layers[1].stored == 10 * 16 * 8);
}

// Queries of 4 heads and keys and values of one, 2 elements each; 2 x 5 and 5 x ... gated.
TEST_CASE("grouped queries, a gated perceptron, half of the scores") {
  const Model model = model_of("[[layers]]\nkind = \"transformer\"\nhidden = 8\nheads = 4\n"
                               "kv_heads = 1\nfeed_forward = 5\nsequence = 6\ngated = true\n"
                               "bias = false\nnorm = \"rms\"\nskip_masked = true\n");
  const Layer &attention = model.layers[0], &perceptron = model.layers[1];
  CHECK(attention.parameters == 8 * (8 + 2 + 2) + 8 * 8 + 8);
  CHECK(perceptron.parameters == 3 * 8 * 5 + 8);
  // Products 2 x 6 x 160; scores and values 2 x 2 x 6 x 3 x 8.
  CHECK(products(attention) == 2 * 6 * 160 + 4 * 6 * 3 * 8);
  CHECK(products(perceptron) == 2 * 6 * 120);
  CHECK(perceptron.stored == 2 * 6 * 8 + 3 * 6 * 5);
}

TEST_CASE("attention over earlier segments, with relative positions") {
  const Model model = model_of(small_block + "bias = false\nmemory = 4\nrelative = true\n");
  // 16 queries meet 20 keys in three products of 2 x 16 x 20 x 8.
  CHECK(products(model.layers[0]) == 8 * 16 * 64 + 3 * 2 * 16 * 20 * 8);
  CHECK(model.layers[0].parameters == 5 * 64 + 2 * 8);
}

TEST_CASE("attention to another sequence is a layer of its own") {
  const Model model = model_of(small_block + "bias = false\ncross_sequence = 10\n");
  REQUIRE(model.layers.size() == 3);
  const Layer& cross = model.layers[1];
  CHECK(cross.name == "transformer.cross_attention");
  CHECK(cross.parameters == 4 * 64 + 2 * 8);
  CHECK(products(cross) == 4 * 16 * 64 + 4 * 10 * 64 + 4 * 16 * 10 * 8);
  CHECK(model.block_count() == 1);
}

// 4 experts of 2 x 8 x 32 parameters; 16 tokens to 2 of them each.
TEST_CASE("a mixture of experts") {
  const Model model = model_of(small_block + "bias = false\nexperts = 4\ntop_k = 2\n");
  const Layer& layer = model.layers[1];
  CHECK(model.experts == 4);
  CHECK(layer.expert_parameters == 4 * 512);
  CHECK(layer.parameters == 2 * 8 + 8 * 4);
  CHECK(layer.routed == 16 * 2 * 8);
  CHECK(products(layer) == 2 * 16 * 8 * 4 + 2 * 32 * 512);
}

TEST_CASE("embedding and output are split along the vocabulary") {
  const std::string sizes = "vocabulary = 100\nhidden = 8\nsequence = 16\n";
  const Model model = model_of("[[layers]]\nkind = \"embedding\"\npositions = 16\n" + sizes +
                               "[[layers]]\nkind = \"output\"\nnorm = \"rms\"\n" + sizes +
                               "[[layers]]\nkind = \"output\"\nname = \"tied\"\ntied = true\n" +
                               sizes + "scored = 10\n");
  const Layer &embedding = model.layers[0], &output = model.layers[1], &tied = model.layers[2];
  CHECK(embedding.parameters == 116 * 8);
  CHECK(embedding.kernels.front().kind == Kernel::Kind::lookup);
  CHECK(embedding.outputs == 128);
  CHECK(embedding.split == TensorSplit::block);
  CHECK(output.parameters == 800 + 8);
  CHECK(products(output) == 2 * 16 * 800);
  CHECK(output.split == TensorSplit::block);
  CHECK(output.stored == 128 + 128 + 2 * 1600); // logits in four bytes
  CHECK(tied.parameters == 0);
  CHECK(products(tied) == 2 * 16 * 80);
  CHECK(model.block_count() == 3);
}

// ResNet-50's first convolution, and a 3 x 3 of its first stage.
TEST_CASE("convolutions") {
  const Model model =
      model_of("[[layers]]\nkind = \"convolution\"\nimage = 224\nchannels = [3, 64]\nkernel = 7\n"
               "stride = 2\npool = 2\n[[layers]]\nkind = \"convolution\"\nname = \"second\"\n"
               "image = 56\nchannels = [64, 64]\nkernel = 3\n[[layers]]\nkind = \"convolution\"\n"
               "name = \"grouped\"\nimage = 5\nchannels = [4, 6]\nkernel = 3\nstride = 2\n"
               "groups = 2\nbias = true\nbatch_norm = false\n");
  const Layer &first = model.layers[0], &second = model.layers[1], &grouped = model.layers[2];
  CHECK(first.parameters == 9408 + 128);
  CHECK(products(first) == 236027904); // 2 x 9408 x 112 x 112
  CHECK(first.outputs == 64 * 56 * 56);
  CHECK(first.stored == 3 * 224 * 224 + 64 * 112 * 112);
  CHECK(second.parameters == 36864 + 128);
  CHECK(products(second) == 231211008); // 2 x 36864 x 56 x 56
  CHECK(second.split == TensorSplit::none);
  CHECK(grouped.parameters == 9 * 2 * 6 + 6);
  CHECK(products(grouped) == 2 * 108 * 9); // 5 x 5 becomes 3 x 3
  CHECK(grouped.outputs == 6 * 9);
  CHECK(grouped.stored == 4 * 25);
}

TEST_CASE("linear layers") {
  const Model model = model_of("[[layers]]\nkind = \"linear\"\ninputs = 10\noutputs = 4\n"
                               "positions = 3\nactivation = true\n");
  CHECK(model.layers[0].parameters == 44);
  CHECK(model.layers[0].outputs == 12);
  CHECK(products(model.layers[0]) == 2 * 3 * 40);
  CHECK(model.layers[0].stored == 30 + 12);
}

// Four gates of 4 from 3 inputs and 4 outputs, with two biases each, in both directions.
TEST_CASE("long short-term memory reads its recurrent parameters at every step") {
  const Model model = model_of("[[layers]]\nkind = \"lstm\"\ninputs = 3\nhidden = 4\n"
                               "sequence = 5\nbidirectional = true\n");
  const Layer& layer = model.layers[0];
  CHECK(layer.parameters == 2 * (16 * (3 + 4) + 2 * 16));
  CHECK(products(layer) == 2 * 5 * 2 * 16 * (3 + 4));
  CHECK(layer.outputs == 5 * 8);
  CHECK(layer.kernels[0].parameters == 2 * 16 * 3);
  CHECK(layer.kernels[1].parameters == 5 * 2 * 16 * 4);
}

TEST_CASE("additive attention") {
  const Model model = model_of("[[layers]]\nkind = \"additive_attention\"\nhidden = 4\n"
                               "queries = 3\nkeys = 5\n");
  CHECK(model.layers[0].parameters == 2 * 16 + 2 * 4 + 1);
  CHECK(products(model.layers[0]) == 2 * 16 * (3 + 5) + 2 * 3 * 5 * 4);
  CHECK(model.layers[0].outputs == 3 * 4);
}

TEST_CASE("tables that are looked up, in parts or whole, and products of what they give") {
  const std::string tables = "[[layers]]\nkind = \"lookup\"\nrows = [100, 20]\nwidth = 4\n";
  const Model whole = model_of(tables);
  CHECK(whole.experts == 0);
  CHECK(whole.layers[0].parameters == 480);
  CHECK(whole.layers[0].expert_parameters == 0);
  CHECK(whole.layers[0].outputs == 8);
  const Model parts = model_of(tables + "shards = 16\nlookups = 10\n"
                                        "[[layers]]\nkind = \"interaction\"\nfeatures = 3\n"
                                        "width = 4\n");
  CHECK(parts.experts == 16);
  CHECK(parts.layers[0].parameters == 0);
  CHECK(parts.layers[0].expert_parameters == 480);
  CHECK(parts.layers[0].routed == 8);
  CHECK(parts.layers[0].kernels[0].flops == 9 * 8);
  CHECK(parts.layers[0].kernels[0].is_expert);
  CHECK(parts.layers[1].outputs == 3 + 4);
}

TEST_CASE("custom layers, and times that are given") {
  const Model model = model_of(
      "[[layers]]\nkind = \"custom\"\nwork = \"convolution\"\nflops = 1e9\ntraffic = 5\n"
      "parameters = 7\noutputs = 3\nstored = 2\nsplit = \"block\"\n"
      "times = { forward = \"1ms\", input_gradient = \"2ms\", parameter_gradient = \"3ms\" }\n");
  const Layer& layer = model.layers[0];
  CHECK(layer.kernels[0].kind == Kernel::Kind::convolution);
  CHECK(layer.kernels[0].flops == 1e9);
  CHECK(layer.kernels[0].traffic == 5);
  CHECK(layer.parameters == 7);
  CHECK(layer.outputs == 3);
  CHECK(layer.stored == 2);
  CHECK(layer.split == TensorSplit::block);
  REQUIRE(layer.times);
  CHECK(layer.times->forward == Time{1'000'000'000});
  CHECK(layer.times->input_gradient == Time{2'000'000'000});
  CHECK(layer.times->parameter_gradient == Time{3'000'000'000});
}

TEST_CASE("the backward pass: twice the forward's products, once what is element by element") {
  const auto gradients = [](Kernel::Kind kind) {
    const Kernel kernel{.kind = kind, .flops = 10};
    return std::pair{input_gradient_flops(kernel), parameter_gradient_flops(kernel)};
  };
  CHECK(gradients(Kernel::Kind::matmul) == std::pair{10.0, 10.0});
  CHECK(gradients(Kernel::Kind::convolution) == std::pair{10.0, 10.0});
  CHECK(gradients(Kernel::Kind::attention) == std::pair{20.0, 0.0});
  CHECK(gradients(Kernel::Kind::elementwise) == std::pair{10.0, 0.0});
  CHECK(gradients(Kernel::Kind::lookup) == std::pair{10.0, 0.0});
  const Model model = model_of("[[layers]]\nkind = \"linear\"\ninputs = 3\noutputs = 5\n");
  CHECK(model.forward_flops() == 30);
  CHECK(model.training_flops() == 90);
}

} // namespace layer_kinds_test
