// A sweep that tests make by hand: points whose results follow from their values by arithmetic.
#pragma once

#include "experiments/driver/sweep/space/point_results.hpp"
#include "experiments/driver/sweep/space/point_table.hpp"
#include "experiments/driver/sweep/space/points.hpp"
#include "experiments/driver/sweep/space/sweep.hpp"
#include "sim/files/config.hpp"

#include <charconv>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>

namespace tutti::sweep::samples {

inline Sweep sweep(const std::string& name = "sample") {
  const std::string experiment = R"(topologies = {net = "ring:${k}"}
[[runs]]
collectives = ["all_gather"]
sizes = ["1MB"]
algorithms = ["${algorithm}"]
)";
  Sweep sweep;
  sweep.name = sweep.title = name;
  sweep.source_name = name + ".toml";
  sweep.toml = "name = \"" + name + "\"\n";
  sweep.axes = {{{"k"}, {{number_value(0)}}}, {{"algorithm"}, {{text_value("ring")}}}};
  sweep.experiment = std::make_shared<const ExperimentTemplate>(
      parse_config(experiment, sweep.source_name), sweep.source_name);
  return sweep;
}

/// Point i has k = i and an algorithm; its expected work is i modulo 7.
inline PointSpace space(std::size_t points, std::size_t first = 0) {
  PointSpace space;
  space.names = {"k", "algorithm", "npus"};
  space.parameters = 2;
  space.units = {Unit::none, Unit::none, Unit::none};
  for (std::size_t i = 0; i < points; ++i) {
    const std::size_t k = first + i;
    Point point;
    point.position = i;
    point.values = {number_value(static_cast<double>(k)),
                    {Value::Kind::text, Unit::none, 0, k % 2 == 0 ? "ring" : "8"},
                    number_value(static_cast<double>(2 * k))};
    point.key = std::to_string(k);
    point.key.insert(0, 32 - point.key.size(), '0');
    point.expected_work = static_cast<double>(k % 7);
    space.points.push_back(point);
  }
  return space;
}

/// Of the point with this k.
inline PointResults results(double k) {
  PointResults results;
  results.status = PointStatus::done;
  results.numbers = {{"collective_time_s", std::sqrt(k)}, {"lower_bound_s", k / 3}};
  return results;
}

inline const TableColumn& column(const PointTable& table, const std::string& name) {
  for (const TableColumn& each : table.columns)
    if (each.name == name) return each;
  throw std::out_of_range(name);
}

inline std::string text(const PointTable& table, const std::string& name, std::size_t row) {
  const TableColumn& found = column(table, name);
  return found.texts[row] == 0 ? "" : found.dictionary[found.texts[row] - 1];
}

/// All columns that don't depend on clocks or versions, as a text.
inline std::string content(const PointTable& table) {
  std::string content;
  for (std::size_t row = 0; row < table.rows; ++row) {
    for (const TableColumn& each : table.columns) {
      char number[32];
      char* const end = std::to_chars(number, number + sizeof number, each.numbers[row]).ptr;
      content += each.texts[row] != 0 ? each.dictionary[each.texts[row] - 1]
                                      : std::string(std::begin(number), end);
      content += ',';
    }
    content += '\n';
  }
  return content;
}

} // namespace tutti::sweep::samples
