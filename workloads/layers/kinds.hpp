// The kinds of layers that a model's file can name, each with its published dimensions, and what
// is derived from them: work, traffic, parameters and activations for one sample.
//
// Work: a matrix product of m x k by k x n takes 2mkn flops. What is done element by element is
// counted with the factors below; memory limits it, so that they matter little.
#pragma once

#include "sim/files/config.hpp"
#include "workloads/model.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::layers {

/// Flops per element: mean, variance, scale, shift; exponential, sum and division; a polynomial or
/// a hyperbolic tangent.
inline constexpr double norm_flops = 7, softmax_flops = 5, activation_flops = 8;

struct LayerKind {
  std::string_view name;
  std::string_view keys; ///< with blanks between, beside those that every layer takes
  /// The layers that one table makes: one without a name, or several named by their part.
  std::vector<Layer> (*derive)(ConfigTable& table);
};
[[nodiscard]] std::span<const LayerKind> layer_kinds();

[[nodiscard]] std::vector<Layer> transformer(ConfigTable& table);
[[nodiscard]] std::vector<Layer> embedding(ConfigTable& table);
[[nodiscard]] std::vector<Layer> output(ConfigTable& table);
[[nodiscard]] std::vector<Layer> linear(ConfigTable& table);
[[nodiscard]] std::vector<Layer> convolution(ConfigTable& table);
[[nodiscard]] std::vector<Layer> lstm(ConfigTable& table);
[[nodiscard]] std::vector<Layer> additive_attention(ConfigTable& table);
[[nodiscard]] std::vector<Layer> lookup(ConfigTable& table);
[[nodiscard]] std::vector<Layer> interaction(ConfigTable& table);
[[nodiscard]] std::vector<Layer> custom(ConfigTable& table);

/// A dimension or count. Errors: InputError below 1, or where it is missing and has no default.
[[nodiscard]] double dimension(ConfigTable& table, const std::string& key,
                               std::optional<double> otherwise = std::nullopt);
[[nodiscard]] bool flag(ConfigTable& table, const std::string& key, bool otherwise);
/// A number of at least 0; 0 where it is missing.
[[nodiscard]] double amount(ConfigTable& table, const std::string& key);
/// Parameters of a norm over `width` elements: key "norm" = "layer" (scale and shift), "rms"
/// (scale), "none"; `otherwise` where it is missing.
[[nodiscard]] double norm_parameters(ConfigTable& table, double width, std::string_view otherwise);
/// The word of a key among those that are known, the first where the key is missing.
/// Errors: InputError, as unknown_name().
[[nodiscard]] std::string choice(ConfigTable& table, const std::string& key,
                                 const std::vector<std::string>& known);

[[nodiscard]] Kernel matmul(double rows, double inputs, double outputs, bool bias);
/// Moves `traffic` elements, with so many flops.
[[nodiscard]] Kernel elementwise(double flops, double traffic);

} // namespace tutti::layers
