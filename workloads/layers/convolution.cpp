// Square two-dimensional convolutions, padded so that a stride alone makes images smaller, with
// batch norm and the activation that follows it, a residual, and pooling (arXiv:1512.03385).
// Stored: the convolution's input and, for the batch norm, its output; what the activation leaves
// is the next convolution's input.
#include "sim/error.hpp"
#include "workloads/layers/kinds.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>

namespace tutti::layers {

namespace {

struct Channels {
  double in, out;
};

Channels read_channels(ConfigTable& table) {
  const ConfigValue value = table.at("channels");
  const std::vector<ConfigValue> pair = value.array();
  if (pair.size() != 2) throw value.error("channels are [in, out]");
  constexpr std::int64_t most = std::int64_t{1} << 40;
  return {static_cast<double>(pair[0].integer(1, most)),
          static_cast<double>(pair[1].integer(1, most))};
}

double read_groups(ConfigTable& table, const Channels& channels) {
  const double groups = dimension(table, "groups", 1);
  if (std::fmod(channels.in, groups) != 0 || std::fmod(channels.out, groups) != 0)
    throw table.at("groups").error(fmt::format("{} groups don't divide {} and {} channels", groups,
                                               channels.in, channels.out));
  return groups;
}

} // namespace

std::vector<Layer> convolution(ConfigTable& table) {
  const Channels channels = read_channels(table);
  const double image = dimension(table, "image"), kernel = dimension(table, "kernel");
  const double side = std::ceil(image / dimension(table, "stride", 1));
  const double weights =
      kernel * kernel * channels.in / read_groups(table, channels) * channels.out;
  const double in = channels.in * image * image, out = channels.out * side * side;

  Layer layer;
  layer.parameters = weights + (flag(table, "bias", false) ? channels.out : 0);
  layer.kernels.push_back({.kind = Kernel::Kind::convolution,
                           .flops = 2 * weights * side * side,
                           .traffic = in + out,
                           .parameters = layer.parameters});
  layer.stored = in;
  const double residual = flag(table, "residual", false) ? out : 0;
  if (flag(table, "batch_norm", true)) {
    layer.parameters += 2 * channels.out;
    layer.stored += out;
    // Read for the moments, then read and written.
    layer.kernels.push_back(elementwise(norm_flops * out + residual, 3 * out + residual));
  } else if (residual > 0) {
    layer.kernels.push_back(elementwise(residual, 3 * residual));
  }
  const double pooled_side = std::ceil(side / dimension(table, "pool", 1));
  layer.outputs = channels.out * pooled_side * pooled_side;
  if (pooled_side != side) layer.kernels.push_back(elementwise(out, out + layer.outputs));
  return {layer};
}

} // namespace tutti::layers
