#include "experiments/registry.hpp"

#include "algorithms/list.hpp"
#include "sim/error.hpp"
#include "sim/text.hpp"
#include "synth/list.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tutti {

std::vector<AlgorithmRow> all_algorithms() {
  const auto baselines = baseline_algorithms();
  std::vector<AlgorithmRow> rows(baselines.begin(), baselines.end());
  const auto others = synthesizers();
  rows.insert(rows.end(), others.begin(), others.end());
  return rows;
}

AlgorithmRow find_algorithm(std::string_view name) {
  std::vector<std::string> known;
  for (const AlgorithmRow& row : all_algorithms()) {
    if (row.name == name) return row;
    known.emplace_back(row.name);
  }
  throw InputError(unknown_name("algorithm", name, known));
}

std::vector<AlgorithmRow> find_algorithms(std::span<const std::string> names) {
  std::vector<AlgorithmRow> found;
  const auto add = [&found](const AlgorithmRow& row) {
    const bool repeated =
        std::any_of(found.begin(), found.end(),
                    [&row](const AlgorithmRow& other) { return other.name == row.name; });
    if (repeated) throw InputError(fmt::format("algorithm \"{}\" is named twice", row.name));
    found.push_back(row);
  };
  for (const std::string& text : names)
    for (const std::string_view piece : split(text, ',')) {
      const std::string_view name = trimmed(piece);
      if (name != "all") {
        add(find_algorithm(name));
        continue;
      }
      for (const AlgorithmRow& row : all_algorithms()) add(row);
    }
  return found;
}

} // namespace tutti
