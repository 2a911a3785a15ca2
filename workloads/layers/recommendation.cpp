// Recommendation models (arXiv:1906.00091): large tables, of which a sample needs a few rows, and
// the products of what they give.
#include "workloads/layers/kinds.hpp"

#include <cstdint>

namespace tutti::layers {

// The tables are spread as experts are: rows are dealt to `shards` equal parts, of which expert
// parallelism gives each member some. Stored: the rows' numbers.
std::vector<Layer> lookup(ConfigTable& table) {
  const double width = dimension(table, "width"), lookups = dimension(table, "lookups", 1);
  double rows = 0, tables = 0;
  for (const ConfigValue& count : table.at("rows").array()) {
    rows += static_cast<double>(count.integer(1, std::int64_t{1} << 40));
    ++tables;
  }
  Layer layer;
  layer.outputs = tables * width;
  layer.kernels.push_back({.kind = Kernel::Kind::lookup,
                           .flops = (lookups - 1) * layer.outputs,
                           .traffic = (lookups + 1) * layer.outputs,
                           .is_expert = table.has("shards")});
  (table.has("shards") ? layer.expert_parameters : layer.parameters) = rows * width;
  if (table.has("shards")) layer.routed = layer.outputs;
  layer.stored = tables * lookups;
  return {layer};
}

// The products of all pairs of vectors, in front of which the first vector is put.
std::vector<Layer> interaction(ConfigTable& table) {
  const double features = dimension(table, "features"), width = dimension(table, "width");
  Layer layer;
  layer.outputs = features * (features - 1) / 2 + width;
  layer.kernels.push_back({.kind = Kernel::Kind::attention,
                           .flops = 2 * features * features * width,
                           .traffic = features * width + layer.outputs});
  layer.stored = features * width;
  return {layer};
}

} // namespace tutti::layers
