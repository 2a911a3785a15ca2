// Everything that can make a schedule: the baselines and the synthesizers, in that order.
#pragma once

#include "sim/synthesizer.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tutti {

/// The rows of algorithms/list.hpp, then those of synth/list.hpp.
[[nodiscard]] std::vector<AlgorithmRow> all_algorithms();

/// Errors: InputError with the known names.
[[nodiscard]] AlgorithmRow find_algorithm(std::string_view name);

/// `all`, or names in the order given; a text may hold several, separated by commas.
/// Errors: InputError for an unknown name, or one that is named twice.
[[nodiscard]] std::vector<AlgorithmRow> find_algorithms(std::span<const std::string> names);

} // namespace tutti
