// Fully connected layers, over each of several positions.
#include "workloads/layers/kinds.hpp"

namespace tutti::layers {

std::vector<Layer> linear(ConfigTable& table) {
  const double inputs = dimension(table, "inputs"), outputs = dimension(table, "outputs");
  const double positions = dimension(table, "positions", 1);
  const bool has_activation = flag(table, "activation", false);
  const double norm = norm_parameters(table, outputs, "none");

  Layer layer;
  layer.outputs = positions * outputs;
  layer.kernels.push_back(matmul(positions, inputs, outputs, flag(table, "bias", true)));
  layer.parameters = layer.kernels.front().parameters + norm;
  layer.stored = positions * inputs;
  for (const double flops : {has_activation ? activation_flops : 0, norm > 0 ? norm_flops : 0})
    if (flops > 0) {
      layer.kernels.push_back(elementwise(flops * layer.outputs, 2 * layer.outputs));
      layer.stored += layer.outputs;
    }
  return {layer};
}

} // namespace tutti::layers
