// What a kernel's backward passes cost follows from its kind; a model's totals are sums over the
// kernels of its layers.
#include "workloads/model.hpp"

#include <array>
#include <cstddef>

namespace tutti {

std::string_view to_text(Kernel::Kind kind) {
  constexpr std::array<std::string_view, kernel_kind_count> names{
      "matmul", "convolution", "attention", "elementwise", "lookup"};
  return names[static_cast<std::size_t>(kind)];
}

double input_gradient_flops(const Kernel& kernel) {
  return kernel.kind == Kernel::Kind::attention ? 2 * kernel.flops : kernel.flops;
}

double parameter_gradient_flops(const Kernel& kernel) {
  const bool has_parameters =
      kernel.kind == Kernel::Kind::matmul || kernel.kind == Kernel::Kind::convolution;
  return has_parameters ? kernel.flops : 0;
}

double Model::parameters() const {
  double sum = 0;
  for (const Layer& layer : layers) sum += layer.parameters + layer.expert_parameters;
  return sum;
}

double Model::forward_flops() const {
  double sum = 0;
  for (const Layer& layer : layers)
    for (const Kernel& kernel : layer.kernels) sum += kernel.flops;
  return sum;
}

double Model::training_flops() const {
  double sum = forward_flops();
  for (const Layer& layer : layers)
    for (const Kernel& kernel : layer.kernels)
      sum += input_gradient_flops(kernel) + parameter_gradient_flops(kernel);
  return sum;
}

std::uint32_t Model::block_count() const { return layers.empty() ? 0 : layers.back().block + 1; }

} // namespace tutti
