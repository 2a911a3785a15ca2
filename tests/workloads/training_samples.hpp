// Small models whose times and sizes can be counted by hand.
#pragma once

#include "sim/topology.hpp"
#include "workloads/model.hpp"
#include "workloads/npu_profile.hpp"
#include "workloads/parallelism/training.hpp"

#include "tests/samples.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tutti::samples {

/// A flop takes a picosecond, a byte nothing worth counting.
inline NpuProfile npu() {
  NpuProfile profile;
  profile.name = "unit";
  for (const Precision precision :
       {Precision::fp32, Precision::tf32, Precision::fp16, Precision::bf16, Precision::fp8})
    profile.peak_flops[precision] = 1e12;
  profile.vector_flops = 1e12;
  profile.memory_bandwidth = {1'000'000'000'000'000'000};
  profile.memory = {std::int64_t{1} << 40};
  profile.compute_efficiency.fill(1);
  profile.memory_efficiency.fill(1);
  return profile;
}

/// A matrix product: `flops` forward, as many for each of the two gradients.
inline Layer matmul_layer(std::string name, std::uint32_t block, double flops, double parameters,
                          double outputs) {
  Layer layer;
  layer.name = std::move(name);
  layer.block = block;
  Kernel kernel;
  kernel.flops = flops;
  kernel.parameters = parameters;
  layer.kernels = {kernel};
  layer.parameters = parameters;
  layer.outputs = outputs;
  layer.stored = 2 * outputs;
  return layer;
}

/// One layer a block, all alike.
inline Model plain(std::uint32_t blocks, double flops = 1'000'000, double parameters = 4'096,
                   double outputs = 512) {
  Model model;
  model.name = "plain";
  for (std::uint32_t b = 0; b < blocks; ++b)
    model.layers.push_back(
        matmul_layer("block" + std::to_string(b), b, flops, parameters, outputs));
  return model;
}

/// Blocks of two layers that split, between an embedding and an output that don't.
inline Model transformer(std::uint32_t blocks, double hidden = 64) {
  Model model;
  model.name = "transformer";
  model.layers.push_back(matmul_layer("embedding", 0, 1'000, 32 * hidden, hidden));
  for (std::uint32_t b = 0; b < blocks; ++b)
    for (const std::string part : {".attention", ".mlp"}) {
      Layer layer = matmul_layer("block" + std::to_string(b) + part, b, 1'000'000,
                                 4 * hidden * hidden, hidden);
      layer.split = TensorSplit::block;
      if (part == ".attention") {
        Kernel attention;
        attention.kind = Kernel::Kind::attention;
        attention.flops = 200'000;
        layer.kernels.push_back(attention);
      }
      model.layers.push_back(std::move(layer));
    }
  model.layers.push_back(matmul_layer("output", blocks - 1, 10'000, 32 * hidden, 16));
  return model;
}

/// A transformer whose second layers have experts.
inline Model mixture(std::uint32_t blocks, std::uint32_t experts, double hidden = 64) {
  Model model = transformer(blocks, hidden);
  model.name = "mixture";
  model.experts = experts;
  for (Layer& layer : model.layers) {
    if (layer.name.find(".mlp") == std::string::npos) continue;
    Kernel router, expert, sum;
    router.flops = 1'000;
    router.parameters = hidden * experts;
    expert.flops = 4'000'000;
    expert.parameters = 8 * hidden * hidden * experts;
    expert.is_expert = true;
    sum.kind = Kernel::Kind::elementwise;
    sum.flops = 500;
    layer.kernels = {router, expert, sum};
    layer.parameters = router.parameters;
    layer.expert_parameters = expert.parameters;
    layer.routed = 2 * hidden;
  }
  return model;
}

/// NPUs alone: programs are made for them, not run.
inline Topology crowd(std::uint32_t count) { return Topology(npus("crowd", count)); }

} // namespace tutti::samples
