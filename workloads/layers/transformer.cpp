// A transformer block: attention, then a multi-layer perceptron or a mixture of experts, each with
// its norm and its residual. With hidden size h, a heads of d elements, k heads of keys and values,
// feed-forward size f, sequence s: h (2a + 2k) d parameters in attention and 2hf in the perceptron
// (3hf gated), which are 12 h^2 where ad = kd = h and f = 4h (arXiv:2104.04473 section 5.1).
//
// Stored for the backward pass (arXiv:2205.05198 section 4.1), there in bytes at 16 bit, here in
// elements of two bytes, so that a dropout mask of a byte per element is half an element:
//   attention  11 sh + 5 a s^2 bytes, and 2 sh of the norm:
//              norm's input sh; input sh; queries, keys, values s (a + 2k) d; projection's input
//              sad; mask sh/2; unless flash, softmax's output a s^2, its mask and the masked output
//              a s^2 3/2
//   perceptron 19 sh bytes, and 2 sh of the norm: norm's input sh; input sh; its first product's
//              output f s (gated 2 f s); the second's input f s; mask sh/2
// Together 17 sh + 5/2 a s^2 elements. Without dropout there are no masks.
#include "sim/error.hpp"
#include "workloads/layers/kinds.hpp"

#include <fmt/format.h>

#include <cmath>

namespace tutti::layers {

namespace {

struct Shape {
  double hidden, heads, head_size, kv_heads, feed_forward, sequence;
  double memory = 0; ///< tokens of earlier segments that queries see beside their own
  double experts = 0, top_k = 0;
  double norm = 0; ///< parameters
  bool gated, bias, dropout, flash, skip_masked, relative;
};

double read_head_size(ConfigTable& table, double hidden, double heads) {
  if (table.has("head_size")) return dimension(table, "head_size");
  if (std::fmod(hidden, heads) != 0)
    throw table.at("heads").error(
        fmt::format("{} heads don't divide hidden {} (or give head_size)", heads, hidden));
  return hidden / heads;
}

void read_experts(ConfigTable& table, Shape& shape) {
  if (!table.has("experts") && !table.has("top_k")) return;
  shape.experts = dimension(table, "experts");
  shape.top_k = dimension(table, "top_k");
  if (shape.top_k > shape.experts)
    throw table.at("top_k").error(
        fmt::format("top_k {} exceeds {} experts", shape.top_k, shape.experts));
}

Shape read_shape(ConfigTable& table) {
  Shape shape{};
  shape.hidden = dimension(table, "hidden");
  shape.heads = dimension(table, "heads");
  shape.head_size = read_head_size(table, shape.hidden, shape.heads);
  shape.kv_heads = dimension(table, "kv_heads", shape.heads);
  if (std::fmod(shape.heads, shape.kv_heads) != 0)
    throw table.at("kv_heads")
        .error(fmt::format("{} kv_heads don't divide {} heads", shape.kv_heads, shape.heads));
  shape.feed_forward = dimension(table, "feed_forward");
  shape.sequence = dimension(table, "sequence");
  shape.memory = dimension(table, "memory", 0);
  shape.norm = norm_parameters(table, shape.hidden, "layer");
  shape.gated = flag(table, "gated", false);
  shape.bias = flag(table, "bias", true);
  shape.dropout = flag(table, "dropout", false);
  shape.flash = flag(table, "flash", false);
  shape.skip_masked = flag(table, "skip_masked", false);
  shape.relative = flag(table, "relative", false);
  read_experts(table, shape);
  return shape;
}

Kernel norm_kernel(double elements) { return elementwise(norm_flops * elements, 2 * elements); }

Kernel residual_kernel(const Shape& shape) {
  const double elements = shape.sequence * shape.hidden;
  return elementwise((shape.dropout ? 2 : 1) * elements, 3 * elements);
}

/// Parameters are those of the kernels and of the norm.
void finish(Layer& layer, const Shape& shape) {
  layer.parameters += shape.norm;
  for (const Kernel& kernel : layer.kernels)
    (kernel.is_expert ? layer.expert_parameters : layer.parameters) += kernel.parameters;
  layer.outputs = shape.sequence * shape.hidden;
  if (shape.dropout) layer.stored += layer.outputs / 2;
  layer.split = TensorSplit::block;
}

/// Scores, softmax and the values' sum. Position scores of relative attention are one more product
/// (arXiv:1901.02860 section 3.3).
std::vector<Kernel> attention_kernels(const Shape& shape, double keys) {
  const double queries = shape.sequence * shape.heads, width = shape.head_size;
  const double products = shape.relative ? 3 : 2;
  Kernel attention{.kind = Kernel::Kind::attention, .flops = products * 2 * queries * keys * width};
  attention.traffic = 2 * queries * width + 2 * keys * shape.kv_heads * width;
  if (shape.flash) {
    attention.flops += softmax_flops * queries * keys;
    return {attention};
  }
  attention.traffic += products * queries * keys;
  return {attention, elementwise((softmax_flops + (shape.dropout ? 1 : 0)) * queries * keys,
                                 2 * queries * keys)};
}

Layer attention(const Shape& shape, std::string name, double key_tokens, double visible_keys,
                bool from_other) {
  const double s = shape.sequence, h = shape.hidden;
  const double q = shape.heads * shape.head_size, kv = 2 * shape.kv_heads * shape.head_size;
  Layer layer;
  layer.name = std::move(name);
  layer.kernels.push_back(norm_kernel(s * h));
  if (from_other) {
    layer.kernels.push_back(matmul(s, h, q, shape.bias));
    layer.kernels.push_back(matmul(key_tokens, h, kv, shape.bias));
  } else {
    layer.kernels.push_back(matmul(s, h, q + kv, shape.bias));
  }
  for (const Kernel& kernel : attention_kernels(shape, visible_keys))
    layer.kernels.push_back(kernel);
  layer.kernels.push_back(matmul(s, q, h, shape.bias));
  layer.kernels.push_back(residual_kernel(shape));
  // The relative positions' projection, once per batch: its work is left out, for one sample.
  if (shape.relative) layer.parameters += h * q;

  if (!shape.flash) layer.scores = (shape.dropout ? 2.5 : 1) * s * shape.heads * visible_keys;
  layer.stored = 2 * s * h + s * q + key_tokens * kv + s * q + layer.scores;
  finish(layer, shape);
  return layer;
}

/// The perceptron's kernels for `rows` tokens; each of the `experts` holds parameters of its own.
std::vector<Kernel> perceptron_kernels(const Shape& shape, double rows, double experts) {
  const double h = shape.hidden, f = shape.feed_forward, first = (shape.gated ? 2 : 1) * f;
  std::vector<Kernel> kernels{
      matmul(rows, h, first, shape.bias),
      elementwise((activation_flops + (shape.gated ? 1 : 0)) * rows * f, rows * (first + f)),
      matmul(rows, f, h, shape.bias)};
  for (Kernel& kernel : kernels) {
    kernel.parameters *= experts;
    kernel.is_expert = shape.experts > 0;
  }
  return kernels;
}

/// Tokens choose `top_k` experts each, equally often (arXiv:2101.03961, arXiv:2401.04088).
Layer perceptron(const Shape& shape) {
  const double s = shape.sequence, h = shape.hidden;
  const bool is_mixture = shape.experts > 0;
  const double rows = is_mixture ? s * shape.top_k : s;
  Layer layer;
  layer.name = "mlp";
  layer.kernels.push_back(norm_kernel(s * h));
  if (is_mixture) {
    layer.kernels.push_back(matmul(s, h, shape.experts, false));
    layer.kernels.push_back(elementwise(softmax_flops * s * shape.experts, 2 * s * shape.experts));
    layer.kernels.push_back(elementwise(0, s * h + rows * h)); // tokens in their experts' order
  }
  for (const Kernel& kernel : perceptron_kernels(shape, rows, is_mixture ? shape.experts : 1))
    layer.kernels.push_back(kernel);
  if (is_mixture) layer.kernels.push_back(elementwise(2 * rows * h, rows * h + s * h)); // their sum
  layer.kernels.push_back(residual_kernel(shape));

  layer.stored = 2 * s * h + (shape.gated ? 3 : 2) * rows * shape.feed_forward;
  // Experts' inputs and outputs, and the router's choice.
  if (is_mixture) layer.stored += 2 * rows * h + s * shape.experts;
  if (is_mixture) layer.routed = rows * h;
  finish(layer, shape);
  return layer;
}

} // namespace

std::vector<Layer> transformer(ConfigTable& table) {
  const Shape shape = read_shape(table);
  const double own = shape.skip_masked ? shape.sequence / 2 : shape.sequence;
  std::vector<Layer> layers{
      attention(shape, "attention", shape.sequence + shape.memory, own + shape.memory, false)};
  if (table.has("cross_sequence")) {
    const double tokens = dimension(table, "cross_sequence");
    layers.push_back(attention(shape, "cross_attention", tokens, tokens, true));
  }
  layers.push_back(perceptron(shape));
  return layers;
}

} // namespace tutti::layers
