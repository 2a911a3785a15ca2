// What binary fractions do to steps and factors must not show: 0.1 to 0.5 in steps of 0.1 are five
// values, the last of them 0.5. So values are counted with some slack and tidied one by one, and a
// range that doesn't end at its `to` is an error: a reader would believe that it does.
#include "experiments/driver/sweep/space/value_reader.hpp"

#include "experiments/driver/requests/collective_request.hpp"
#include "sim/error.hpp"
#include "sim/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>

namespace tutti::sweep {

namespace {

constexpr std::size_t most_values = 1'000'000; // of a range, or drawn by a sample
constexpr double slack = 1e-9; // what steps and factors may lose to binary fractions

bool is_size(std::string_view text) {
  const Value value = text_value(text);
  return value.kind == Value::Kind::number && value.unit == Unit::bytes;
}

/// "1KiB..1GiB", but not "../file.toml".
bool is_size_range(const std::string& text) {
  const std::size_t dots = text.find("..");
  return dots != std::string::npos && is_size(text.substr(0, dots)) &&
         is_size(text.substr(dots + 2));
}

void add_values(const ConfigValue& value, std::vector<Value>& values) {
  if (!value.is_string() || !is_size_range(value.string())) {
    values.push_back(scalar_of(value));
    return;
  }
  const std::string text = value.string();
  for (const Bytes size : value.located([&text] { return parse_sizes(text); }))
    values.push_back(number_value(static_cast<double>(size.count), Unit::bytes));
}

Value number_of(const ConfigValue& value) {
  Value number = scalar_of(value);
  if (number.kind != Value::Kind::number)
    throw value.error("expected a number or a quantity such as \"1GiB\", \"0.5us\" or \"50GB/s\"");
  return number;
}

std::vector<Value> stepped(const ValueRange& range, const ConfigValue& step) {
  const Value by = number_of(step);
  if (by.unit != range.from.unit || by.number <= 0)
    throw step.error("a step is more than 0, in the unit of the range");
  const double steps = (range.to.number - range.from.number) / by.number + slack;
  if (steps >= static_cast<double>(most_values))
    throw step.error(fmt::format("more than {} values", most_values));
  std::vector<Value> values;
  for (std::size_t i = 0; i <= static_cast<std::size_t>(steps); ++i)
    values.push_back(
        tidied_number(range.from.number + static_cast<double>(i) * by.number, range.from.unit));
  return values;
}

std::vector<Value> multiplied(const ValueRange& range, const ConfigValue& factor) {
  const double by = factor.number();
  if (by <= 1 || range.from.number <= 0)
    throw factor.error("a factor is more than 1, and its range begins above 0");
  std::vector<Value> values;
  double number = range.from.number;
  for (int i = 1; number <= range.to.number * (1 + slack); ++i) {
    if (values.size() == most_values)
      throw factor.error(fmt::format("more than {} values", most_values));
    values.push_back(tidied_number(number, range.from.unit));
    number = range.from.number * std::pow(by, i);
  }
  return values;
}

std::vector<Value> range_values(ConfigTable table) {
  table.allow_only({"from", "to", "step", "factor"});
  const ValueRange range = range_of(table, false);
  const auto step = table.find("step"), factor = table.find("factor");
  if (step.has_value() == factor.has_value())
    throw table.error("a range needs a \"step\" or a \"factor\"");
  std::vector<Value> values = step ? stepped(range, *step) : multiplied(range, *factor);
  const double last = values.back().number;
  if (last < range.to.number * (1 - slack) || last > range.to.number * (1 + slack))
    throw table.at("to").error(
        fmt::format("the range ends at {}, not at {}", to_text(values.back()), to_text(range.to)));
  return values;
}

SampledRange sampled_range(const std::string& name, const ConfigValue& value) {
  SampledRange range;
  range.name = name;
  if (!value.is_table()) {
    range.choices = values_of(value);
    return range;
  }
  ConfigTable table = value.table();
  table.allow_only({"from", "to", "scale"});
  if (const auto scale = table.find("scale")) {
    constexpr Words<bool, 2> words{"scale", {"linear", "log"}};
    const std::string text = scale->string();
    range.logarithmic = scale->located([&] { return words.parse(text); });
  }
  const ValueRange ends = range_of(table, range.logarithmic);
  range.from = ends.from;
  range.to = ends.to;
  range.whole = table.at("from").is_integer() && table.at("to").is_integer();
  return range;
}

SampleMethod method_of(const ConfigValue& value) {
  constexpr Words<SampleMethod, 2> words{"method", {"random", "latin_hypercube"}};
  const std::string text = value.string();
  return value.located([&] { return words.parse(text); });
}

} // namespace

std::vector<Value> values_of(const ConfigValue& value) {
  std::vector<Value> values;
  if (value.is_table()) {
    values = range_values(value.table());
  } else if (value.is_array()) {
    for (const ConfigValue& item : value.array()) add_values(item, values);
  } else {
    add_values(value, values);
  }
  if (values.empty()) throw value.error("a parameter needs values");
  std::optional<Unit> unit;
  for (const Value& each : values) {
    if (each.kind != Value::Kind::number) continue;
    if (unit.value_or(each.unit) != each.unit)
      throw value.error(fmt::format("values of different units: \"{}\" isn't in {}", to_text(each),
                                    *unit == Unit::none ? "numbers" : to_text(*unit)));
    unit = each.unit;
  }
  return values;
}

ValueRange range_of(ConfigTable& table, bool positive) {
  const ConfigValue to = table.at("to");
  const ValueRange range{number_of(table.at("from")), number_of(to)};
  if (range.from.unit != range.to.unit) throw to.error("\"from\" and \"to\" have different units");
  if (range.from.number >= range.to.number) throw to.error("\"to\" must be above \"from\"");
  if (positive && range.from.number <= 0) throw table.error("\"from\" must be above 0");
  return range;
}

Axis sample_of(ConfigTable table, std::uint64_t seed) {
  table.allow_only({"method", "count", "seed", "parameters"});
  const SampleMethod method = method_of(table.at("method"));
  if (const auto value = table.find("seed")) seed = static_cast<std::uint64_t>(value->integer(0));
  ConfigTable parameters = table.at("parameters").table();
  std::vector<SampledRange> ranges;
  for (const std::string& name : parameters.keys())
    ranges.push_back(sampled_range(name, parameters.at(name)));
  if (ranges.empty()) throw parameters.error("a sample needs parameters");
  const auto most = static_cast<std::int64_t>(most_values / ranges.size());
  const auto count = static_cast<std::size_t>(table.at("count").integer(1, most));
  return sampled_axis(method, ranges, count, seed);
}

} // namespace tutti::sweep
