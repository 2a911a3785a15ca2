// A layer whose totals are given, of one kind of work.
#include "workloads/layers/kinds.hpp"

#include <array>
#include <cstddef>

namespace tutti::layers {

namespace {

Kernel::Kind read_work(ConfigTable& table) {
  std::vector<std::string> known;
  for (std::size_t kind = 0; kind < kernel_kind_count; ++kind)
    known.emplace_back(to_text(static_cast<Kernel::Kind>(kind)));
  const std::string word = choice(table, "work", known);
  std::size_t kind = 0;
  while (known[kind] != word) ++kind;
  return static_cast<Kernel::Kind>(kind);
}

} // namespace

std::vector<Layer> custom(ConfigTable& table) {
  Layer layer;
  layer.parameters = amount(table, "parameters");
  layer.kernels.push_back({.kind = read_work(table),
                           .flops = amount(table, "flops"),
                           .traffic = amount(table, "traffic"),
                           .parameters = layer.parameters});
  layer.outputs = amount(table, "outputs");
  layer.stored = amount(table, "stored");
  const bool is_split = choice(table, "split", {"none", "block"}) == "block";
  layer.split = is_split ? TensorSplit::block : TensorSplit::none;
  return {layer};
}

} // namespace tutti::layers
