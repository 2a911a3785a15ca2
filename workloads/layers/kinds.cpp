// One table row for each kind of layer: its name and the function that reads it.
#include "workloads/layers/kinds.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace tutti::layers {

namespace {

constexpr std::array<LayerKind, 10> kinds{{
    {"transformer",
     "hidden heads head_size kv_heads feed_forward sequence memory cross_sequence gated bias norm "
     "dropout flash skip_masked relative experts top_k",
     transformer},
    {"embedding", "vocabulary hidden sequence positions segments norm shared", embedding},
    {"output", "vocabulary scored hidden sequence tied bias norm", output},
    {"linear", "inputs outputs positions bias norm activation", linear},
    {"convolution", "image channels kernel stride groups bias batch_norm residual pool",
     convolution},
    {"lstm", "inputs hidden sequence bidirectional bias_vectors", lstm},
    {"additive_attention", "hidden queries keys", additive_attention},
    {"lookup", "rows width lookups shards", lookup},
    {"interaction", "features width", interaction},
    {"custom", "work flops traffic parameters outputs stored split", custom},
}};

} // namespace

std::span<const LayerKind> layer_kinds() { return kinds; }

double dimension(ConfigTable& table, const std::string& key, std::optional<double> otherwise) {
  if (otherwise && !table.has(key)) return *otherwise;
  constexpr std::int64_t most = std::int64_t{1} << 40; // products of a few stay finite
  return static_cast<double>(table.at(key).integer(1, most));
}

bool flag(ConfigTable& table, const std::string& key, bool otherwise) {
  const std::optional<ConfigValue> value = table.find(key);
  return value ? value->boolean() : otherwise;
}

double amount(ConfigTable& table, const std::string& key) {
  const std::optional<ConfigValue> value = table.find(key);
  if (!value) return 0;
  const double number = value->number();
  if (number < 0) throw value->error(key + " must not be negative");
  return number;
}

std::string choice(ConfigTable& table, const std::string& key,
                   const std::vector<std::string>& known) {
  const std::optional<ConfigValue> value = table.find(key);
  if (!value) return known.front();
  std::string word = value->string();
  if (std::find(known.begin(), known.end(), word) == known.end())
    throw value->error(unknown_name(key, word, known));
  return word;
}

double norm_parameters(ConfigTable& table, double width, std::string_view otherwise) {
  const std::string word =
      table.has("norm") ? choice(table, "norm", {"layer", "rms", "none"}) : std::string(otherwise);
  return word == "layer" ? 2 * width : word == "rms" ? width : 0;
}

Kernel matmul(double rows, double inputs, double outputs, bool bias) {
  return {.kind = Kernel::Kind::matmul,
          .flops = 2 * rows * inputs * outputs,
          .traffic = rows * (inputs + outputs),
          .parameters = inputs * outputs + (bias ? outputs : 0)};
}

Kernel elementwise(double flops, double traffic) {
  return {.kind = Kernel::Kind::elementwise, .flops = flops, .traffic = traffic};
}

} // namespace tutti::layers
