// What stands before and after the blocks of a language model: from words to vectors and back.
// Both are split along the vocabulary, with the sum of the vectors, or of the loss's parts, as the
// All-Reduce of the forward pass (arXiv:1909.08053 section 3).
#include "workloads/layers/kinds.hpp"

namespace tutti::layers {

std::vector<Layer> embedding(ConfigTable& table) {
  const double hidden = dimension(table, "hidden"), sequence = dimension(table, "sequence");
  const double vocabulary = dimension(table, "vocabulary");
  const double positions = dimension(table, "positions", 0);
  const double segments = dimension(table, "segments", 0);
  const double norm = norm_parameters(table, hidden, "none");
  const double vectors = 1 + (positions > 0 ? 1 : 0) + (segments > 0 ? 1 : 0);

  Layer layer;
  layer.outputs = sequence * hidden;
  layer.kernels.push_back({.kind = Kernel::Kind::lookup,
                           .flops = (vectors - 1) * layer.outputs,
                           .traffic = (vectors + 1) * layer.outputs});
  if (norm > 0) {
    layer.kernels.push_back(elementwise(norm_flops * layer.outputs, 2 * layer.outputs));
    layer.stored = layer.outputs;
  }
  const bool is_shared = flag(table, "shared", false);
  layer.parameters = (is_shared ? 0 : vocabulary + positions + segments) * hidden + norm;
  layer.split = TensorSplit::block;
  return {layer};
}

// `scored`: the words that every token is compared with, fewer than all in an adaptive softmax
// (arXiv:1609.04309). Stored (arXiv:2205.05198 section 4.3): the norm's input, the product's, and
// the logits in four bytes.
std::vector<Layer> output(ConfigTable& table) {
  const double hidden = dimension(table, "hidden"), sequence = dimension(table, "sequence");
  const double vocabulary = dimension(table, "vocabulary");
  const double norm = norm_parameters(table, hidden, "none");
  const bool is_tied = flag(table, "tied", false), bias = flag(table, "bias", false);
  const double scored = dimension(table, "scored", vocabulary);
  if (scored > vocabulary) throw table.at("scored").error("more words scored than there are");
  const double inputs = sequence * hidden, logits = sequence * scored;

  Layer layer;
  if (norm > 0) {
    layer.kernels.push_back(elementwise(norm_flops * inputs, 2 * inputs));
    layer.stored += inputs;
  }
  layer.kernels.push_back(matmul(sequence, hidden, scored, bias));
  layer.kernels.push_back(elementwise(softmax_flops * logits, 2 * logits));
  layer.parameters = norm + (is_tied ? 0 : vocabulary * hidden) + (bias ? vocabulary : 0);
  layer.stored += inputs + 2 * logits;
  layer.outputs = sequence; // a loss per token
  layer.split = TensorSplit::block;
  return {layer};
}

} // namespace tutti::layers
