// The space is walked like an odometer, the last axis fastest, and from one point to the next only
// what follows from the changed parameters is computed anew. Making a topology is the dear part:
// constraints that need none are tried first, and each distinct topology text is made once.
#include "experiments/driver/sweep/space/points.hpp"

#include "experiments/driver/records/renames.hpp"
#include "experiments/driver/sweep/space/dependencies.hpp"
#include "experiments/driver/sweep/space/four_digits.hpp"
#include "experiments/driver/sweep/space/network_facts.hpp"
#include "sim/error.hpp"
#include "sim/expressions/expression.hpp"
#include "sim/hash.hpp"
#include "topologies/list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace tutti::sweep {

namespace {

constexpr std::size_t most_points = 10'000'000;

// The key of a point, of all that decides its results: 128 bits, of two hashes that begin
// differently, for a store finds the results of millions of points by it, over years. What is added
// in parts counts as parts.
class PointKey {
public:
  PointKey() { parts_[1].add(std::uint64_t{0x746f7474}); } // any other beginning
  void add(std::uint64_t word) {
    for (Fingerprint& part : parts_) part.add(word);
  }
  void add(std::string_view text) {
    for (Fingerprint& part : parts_) part.add(text);
  }
  // 32 hexadecimal digits.
  [[nodiscard]] std::string text() const {
    return fmt::format("{:016x}{:016x}", parts_[0].value(), parts_[1].value());
  }

private:
  std::array<Fingerprint, 2> parts_;
};

/// An expression and where its values are.
struct PlacedExpression {
  Expression expression;
  std::vector<std::size_t> uses;
  std::string place;
};

/// Goes through the space point by point. Values are made when they are asked for and kept until
/// something that they follow from changes; a value that is known has known sources.
class SpaceWalk {
public:
  explicit SpaceWalk(const Sweep& sweep)
      : sweep_(sweep), dependencies_(dependencies_of(sweep)), values_(dependencies_.names.size()),
        texts_(values_.size()), is_known_(values_.size()), units_(values_.size()),
        has_unit_(values_.size()),
        value_of_([this](const std::string& name) { return values_[indices_.at(name)]; }) {
    for (std::size_t i = 0; i < values_.size(); ++i) {
      indices_[dependencies_.names[i]] = i;
      followers_.push_back(dependencies_.followers(i));
    }
    for (const Definition& definition : sweep.definitions) {
      const std::string* text = nullptr;
      if (const auto* number = std::get_if<NumberDefinition>(&definition.what))
        text = &number->expression;
      else if (const auto* largest = std::get_if<LargestDefinition>(&definition.what))
        text = &largest->condition;
      expressions_.push_back(text ? std::optional(placed(*text, definition.place)) : std::nullopt);
    }
    for (const Constraint& constraint : sweep.constraints)
      constraints_.push_back(placed(constraint.expression, constraint.place));
    for (std::size_t i = 0; i < constraints_.size(); ++i) constraint_order_.push_back(i);
    // A network that a constraint leaves out needn't exist.
    std::stable_partition(constraint_order_.begin(), constraint_order_.end(),
                          [this](std::size_t i) { return !needs_network(constraints_[i]); });
    excluded_.resize(constraints_.size());
    template_key_.add(sweep.experiment->fingerprint_text());
  }

  PointSpace walk() {
    const std::size_t combinations = combinations_of_axes();
    std::vector<std::size_t> rows(sweep_.axes.size());
    for (std::size_t axis = 0; axis < rows.size(); ++axis) take_row(axis, 0);
    for (std::size_t i = 0; i < combinations; ++i) {
      if (i > 0) take_next(rows);
      if (!add_point()) ++space_.left_out;
    }
    if (space_.points.empty()) throw nothing_left(combinations);
    space_.names = dependencies_.names;
    space_.parameters = dependencies_.parameters;
    space_.definitions = dependencies_.definitions;
    space_.units = std::move(units_);
    return std::move(space_);
  }

private:
  [[nodiscard]] std::size_t combinations_of_axes() const {
    try {
      return point_count(sweep_.axes, most_points);
    } catch (const InputError& e) {
      throw InputError(fmt::format("{}: {}", sweep_.source_name, e.what()));
    }
  }

  PlacedExpression placed(const std::string& text, const std::string& place) const {
    PlacedExpression made{Expression(text, dependencies_.names, unknown_column), {}, place};
    for (const std::string& name : made.expression.names()) made.uses.push_back(indices_.at(name));
    return made;
  }

  [[nodiscard]] std::size_t first_fact() const {
    return dependencies_.parameters + dependencies_.definitions;
  }
  [[nodiscard]] bool needs_network(const PlacedExpression& expression) const {
    return std::any_of(expression.uses.begin(), expression.uses.end(), [this](std::size_t value) {
      const std::vector<std::size_t> sources = dependencies_.sources(value);
      return value >= first_fact() || (!sources.empty() && sources.back() >= first_fact());
    });
  }

  /// The last axis is the fastest.
  void take_next(std::vector<std::size_t>& rows) {
    std::size_t axis = rows.size();
    do {
      --axis;
      rows[axis] = (rows[axis] + 1) % sweep_.axes[axis].rows.size();
      take_row(axis, rows[axis]);
    } while (rows[axis] == 0);
  }

  void take_row(std::size_t axis, std::size_t row) {
    std::size_t value = 0;
    for (std::size_t i = 0; i < axis; ++i) value += sweep_.axes[i].names.size();
    for (const Value& each : sweep_.axes[axis].rows[row]) set(value++, each);
  }

  void set(std::size_t value, const Value& to) {
    values_[value] = to;
    texts_[value] = to_text(to);
    is_known_[value] = true;
    note_unit(value);
    for (const std::size_t follower : followers_[value]) is_known_[follower] = false;
  }

  // A column has one unit, or its numbers couldn't be compared: 1 ms and 1 KiB are no axis.
  void note_unit(std::size_t value) {
    if (values_[value].kind != Value::Kind::number) return;
    const Unit unit = values_[value].unit;
    if (has_unit_[value] && units_[value] != unit)
      throw error(place_of(value),
                  fmt::format("\"{}\" has different units: \"{}\" isn't in {}",
                              dependencies_.names[value], texts_[value],
                              units_[value] == Unit::none ? "numbers" : to_text(units_[value])));
    has_unit_[value] = true;
    units_[value] = unit;
  }

  [[nodiscard]] const std::string& place_of(std::size_t value) const {
    const bool is_definition = value >= dependencies_.parameters && value < first_fact();
    return is_definition ? sweep_.definitions[value - dependencies_.parameters].place
                         : sweep_.source_name;
  }

  /// With the place and the point.
  [[nodiscard]] InputError error(const std::string& place, const std::string& what) const {
    std::string point;
    for (std::size_t i = 0; i < dependencies_.parameters; ++i)
      point += fmt::format("{}{} = {}", i == 0 ? "" : ", ", dependencies_.names[i], texts_[i]);
    return InputError(fmt::format("{}: {} (where {})", place, what,
                                  point.empty() ? "there are no parameters" : point));
  }

  /// Whether it has a value, which is then known.
  bool resolve(std::size_t value) {
    if (is_known_[value]) return true;
    if (value >= first_fact()) return resolve_facts();
    const Definition& definition = sweep_.definitions[value - dependencies_.parameters];
    if (const auto* text = std::get_if<TextDefinition>(&definition.what)) {
      if (!resolve_all(dependencies_.uses[value])) return false;
      set(value, filled_value(text->text, value_of_));
      return true;
    }
    const PlacedExpression& expression = *expressions_[value - dependencies_.parameters];
    if (const auto* largest = std::get_if<LargestDefinition>(&definition.what))
      return resolve_largest(value, *largest, expression);
    return resolve_number(value, std::get<NumberDefinition>(definition.what).unit, expression);
  }

  bool resolve_all(const std::vector<std::size_t>& values) {
    return std::all_of(values.begin(), values.end(),
                       [this](std::size_t value) { return resolve(value); });
  }

  /// Pre: all that it uses is known.
  template <typename Evaluate>
  auto evaluated(const PlacedExpression& expression, const Evaluate& evaluate) {
    arguments_.clear();
    for (const std::size_t value : expression.uses) arguments_.push_back(&values_[value]);
    try {
      return evaluate(std::span<const Value* const>(arguments_));
    } catch (const InputError& e) {
      throw error(expression.place, e.what());
    }
  }

  bool resolve_number(std::size_t value, Unit unit, const PlacedExpression& expression) {
    if (!resolve_all(expression.uses)) return false;
    Value result = *evaluated(expression, [&expression](auto arguments) {
      return expression.expression.evaluate(arguments); // known, as all that it uses is
    });
    if (unit != Unit::none) {
      if (result.kind != Value::Kind::number || !has_text(result.number, unit))
        throw error(expression.place,
                    fmt::format("\"{}\" is {}, not a number of {}", dependencies_.names[value],
                                to_text(result), to_text(unit)));
      result = tidied_number(result.number, unit); // as it is simulated
    }
    set(value, result);
    return true;
  }

  bool condition_holds(const PlacedExpression& condition) {
    return resolve_all(condition.uses) && evaluated(condition, [&](auto arguments) {
             return condition.expression.holds(arguments);
           });
  }

  // Each trial is set like any value, so that what the condition uses is recomputed from it.
  bool resolve_largest(std::size_t value, const LargestDefinition& range,
                       const PlacedExpression& condition) {
    const auto found = largest_of_four_digits(range.from, range.to, [&](const Value& trial) {
      set(value, trial);
      return condition_holds(condition);
    });
    if (found)
      set(value, *found);
    else
      is_known_[value] = false;
    return found.has_value();
  }

  bool resolve_facts() {
    if (first_fact() < values_.size() && !resolve_all(dependencies_.uses[first_fact()]))
      return false;
    const std::string text = filled_in(sweep_.experiment->topology_text(), value_of_);
    std::string key = text;
    for (const std::string& name : sweep_.cost_names) key += "\n" + texts_[indices_.at(name)];
    const auto [known, is_new] = facts_.try_emplace(key);
    if (is_new) known->second = facts_of_text(text);
    for (std::size_t i = 0; i < known->second.size(); ++i)
      set(first_fact() + i, number_value(known->second[i]));
    return true;
  }

  [[nodiscard]] std::vector<double> facts_of_text(const std::string& text) {
    std::optional<CostModel> cost = sweep_.cost;
    if (sweep_.cost_template)
      cost = cost_model_of(*sweep_.cost_template, sweep_.source_name, value_of_);
    try {
      const Topology topology = sweep_.experiment->topology(text);
      for (const std::string& line : topology.parts().assumed)
        space_.assumed.push_back(fmt::format("{}: assumed: {}", topology.name(), line));
      for (const Finding& finding : topology.parts().odd) space_.assumed.push_back(finding.words);
      return network_facts(topology, cost);
    } catch (const InputError& e) {
      throw error(sweep_.topology_place,
                  fmt::format("the topology \"{}\" can't be had: {}", text, e.what()));
    }
  }

  /// Whether the point that the axes stand at is one.
  bool add_point() {
    for (const std::size_t i : constraint_order_) {
      if (!resolve_all(constraints_[i].uses)) return without_value();
      if (condition_holds(constraints_[i])) continue;
      ++excluded_[i];
      return false;
    }
    for (std::size_t value = dependencies_.parameters; value < values_.size(); ++value)
      if (!resolve(value)) return without_value();
    Point point;
    point.seed = seed();
    const PointKey key = key_of_point(point.seed);
    if (!keys_.insert(key.text()).second) return false;
    point.position = space_.points.size();
    point.key = key.text();
    point.values = values_;
    point.expected_work = expected_work();
    space_.points.push_back(std::move(point));
    return true;
  }

  /// There is no such point.
  bool without_value() {
    ++space_.without_value;
    return false;
  }

  [[nodiscard]] const Value* find(const std::string& name) const {
    const auto found = indices_.find(name);
    return found == indices_.end() ? nullptr : &values_[found->second];
  }

  [[nodiscard]] std::uint64_t seed() const {
    const Value* given = find("seed");
    return given ? static_cast<std::uint64_t>(given->number) : sweep_.seed;
  }

  // The experiment's own text, the values in it, the files that it reads, and the seed.
  [[nodiscard]] PointKey key_of_point(std::uint64_t seed) const {
    PointKey key = template_key_;
    const auto add = [&](std::size_t value) {
      key.add(static_cast<std::uint64_t>(values_[value].kind));
      key.add(texts_[value]);
    };
    for (const std::string& name : sweep_.experiment->names()) add(indices_.at(name));
    // And what the experiment doesn't use: analyses tell points apart by it.
    for (std::size_t value = 0; value < dependencies_.parameters; ++value) add(value);
    key.add(sweep_.experiment->file_fingerprints(value_of_));
    key.add(seed);
    return key;
  }

  // For the order only: a long point that starts last would keep all other processes waiting.
  [[nodiscard]] double expected_work() const {
    const double npus = values_[first_fact()].number;
    const Value* chunks = find("chunks");
    const bool is_number = chunks != nullptr && chunks->kind == Value::Kind::number;
    return npus * npus * (is_number ? chunks->number : 1);
  }

  // Which constraint is to blame, with counts: a sweep without points is a mistake of its author.
  [[nodiscard]] InputError nothing_left(std::size_t combinations) const {
    std::string why;
    std::size_t rest = combinations;
    for (const std::size_t i : constraint_order_) {
      if (excluded_[i] == 0) continue;
      why += fmt::format(", \"{}\" excludes {}", sweep_.constraints[i].expression, excluded_[i]);
      rest -= excluded_[i];
    }
    if (rest > 0) why += fmt::format(", {} have no value of `largest`", rest);
    return InputError(fmt::format("{}: no point of {} is left: {}",
                                  sweep_.constraints.empty() ? sweep_.source_name
                                                             : sweep_.constraints.front().place,
                                  combinations, why.substr(2)));
  }

  const Sweep& sweep_;
  Dependencies dependencies_;
  std::vector<Value> values_;
  std::vector<std::string> texts_; ///< to_text() of values
  std::vector<bool> is_known_;
  std::vector<Unit> units_;
  std::vector<bool> has_unit_; ///< whether there was a number
  std::unordered_map<std::string, std::size_t> indices_;
  std::vector<std::vector<std::size_t>> followers_;
  ValueOf value_of_;
  std::vector<std::optional<PlacedExpression>> expressions_; ///< of definitions; none: a text
  std::vector<PlacedExpression> constraints_;
  std::vector<std::size_t> constraint_order_; ///< those that need no network first
  std::vector<std::size_t> excluded_;         ///< by each constraint
  std::vector<const Value*> arguments_;
  std::unordered_map<std::string, std::vector<double>> facts_; ///< by what decides them
  std::unordered_set<std::string> keys_;
  PointKey template_key_;
  PointSpace space_;
};

} // namespace

PointSpace points_of(const Sweep& sweep) { return SpaceWalk(sweep).walk(); }

} // namespace tutti::sweep
