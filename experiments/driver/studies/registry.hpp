// Everything that can make a schedule: the baselines and the synthesizers, in that order; and the
// engines that a study asks for.
#pragma once

#include "sim/engines/engine.hpp"
#include "sim/synthesizer.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tutti {

class ConfigValue;

/// The rows of algorithms/list.hpp, then those of synth/list.hpp.
[[nodiscard]] std::vector<AlgorithmRow> all_algorithms();

[[nodiscard]] std::vector<std::string> algorithm_names();
/// With "all" among them.
[[nodiscard]] std::vector<std::string> algorithm_names_or_all();

/// Also one from outside (outside/outside.hpp). Errors: InputError with the known names.
[[nodiscard]] AlgorithmRow find_algorithm(std::string_view name);
/// The same at a key: a file is looked for beside the one that names it, which must be allowed to
/// run a program. Errors: also those of ConfigValue::admit().
[[nodiscard]] AlgorithmRow find_algorithm_at(std::string_view name, const ConfigValue& value);
[[nodiscard]] AlgorithmRow algorithm_of(const ConfigValue& value);

/// `all`, or names in the order given; a text may hold several, separated by commas.
/// Errors: InputError for an unknown name, or one that is named twice.
[[nodiscard]] std::vector<AlgorithmRow> find_algorithms(std::span<const std::string> names);
/// At a key, where one text or a list stands.
[[nodiscard]] std::vector<AlgorithmRow> algorithms_of(const ConfigValue& value);

/// Errors: InputError for a setting that none of the algorithms has.
void require_known_settings(std::span<const AlgorithmRow> rows, const SynthesisOptions& options);

/// The options with only those settings that this algorithm has.
[[nodiscard]] SynthesisOptions options_for(const AlgorithmRow& row, SynthesisOptions options);

[[nodiscard]] std::vector<std::string> engine_names();
/// native and simgrid, which must agree.
[[nodiscard]] std::vector<const EngineRow*> all_engines();
/// One engine by name, or `both`: all. Errors: InputError with the known names.
[[nodiscard]] std::vector<const EngineRow*> parse_engines(const std::string& text);

} // namespace tutti
