// Recurrent networks with attention (arXiv:1609.08144).
#include "workloads/layers/kinds.hpp"

namespace tutti::layers {

// Four gates of `hidden` elements each, from the input (one product over all steps) and from the
// last step's output (a product per step, which reads its parameters anew). Stored: input, gates,
// cell and output.
std::vector<Layer> lstm(ConfigTable& table) {
  const double inputs = dimension(table, "inputs"), hidden = dimension(table, "hidden");
  const double sequence = dimension(table, "sequence");
  const double directions = flag(table, "bidirectional", false) ? 2 : 1;
  const double gates = 4 * hidden * directions;
  const double biases = dimension(table, "bias_vectors", 2) * gates;

  Kernel recurrent = matmul(sequence, hidden, gates, false);
  recurrent.parameters *= sequence;
  Layer layer;
  layer.kernels = {matmul(sequence, inputs, gates, false), recurrent,
                   elementwise(activation_flops * sequence * 1.25 * gates,
                               sequence * (gates + 4 * hidden * directions))};
  layer.parameters = (inputs + hidden) * gates + biases;
  layer.outputs = sequence * hidden * directions;
  layer.stored = sequence * inputs + sequence * gates + 2 * layer.outputs;
  return {layer};
}

// Every query meets every key in a sum under a hyperbolic tangent (arXiv:1409.0473 appendix A.1.2),
// here with queries, keys and the sum of the same size. Stored: both inputs, their projections, the
// tangents, the softmax's output.
std::vector<Layer> additive_attention(ConfigTable& table) {
  const double hidden = dimension(table, "hidden");
  const double queries = dimension(table, "queries"), keys = dimension(table, "keys");
  const double pairs = queries * keys;

  Layer layer;
  layer.kernels = {
      matmul(queries, hidden, hidden, false),
      matmul(keys, hidden, hidden, false),
      elementwise((activation_flops + 4) * pairs * hidden, (queries + keys + 2 * pairs) * hidden),
      elementwise(softmax_flops * pairs, 2 * pairs),
      {.kind = Kernel::Kind::attention,
       .flops = 2 * pairs * hidden,
       .traffic = (keys + queries) * hidden + pairs}};
  layer.parameters = 2 * hidden * hidden + 2 * hidden + 1; // the sum's weights, bias and scale
  layer.outputs = queries * hidden;
  layer.stored = 2 * (queries + keys) * hidden + pairs * hidden + pairs;
  return {layer};
}

} // namespace tutti::layers
