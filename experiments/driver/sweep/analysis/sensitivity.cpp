// Parameters multiply times rather than add to them (twice the bytes take about twice as long on a
// slow network and on a fast one), so what is analysed is the logarithm, where all values are
// positive: means become geometric, differences ratios, and the slowest points alone don't decide
// what share of the variance a parameter explains.
#include "experiments/driver/sweep/analysis/sensitivity.hpp"

#include "experiments/driver/sweep/analysis/cells.hpp"
#include "sim/ids.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>

namespace tutti::sweep {

namespace {

constexpr std::uint32_t most_groups = 8;

// Rows with a value of the objective, and that value or its logarithm.
struct Response {
  std::vector<std::uint32_t> rows;
  std::vector<double> values; ///< [place in rows]
  bool ratios = true;
};

Response response_of(const ObjectiveValues& objective, std::span<const std::uint32_t> rows) {
  Response response;
  for (const std::uint32_t row : rows)
    if (objective.has(row)) response.rows.push_back(row);
  for (const std::uint32_t row : response.rows)
    response.ratios = response.ratios && objective.values[row] > 0;
  for (const std::uint32_t row : response.rows) {
    const double value = objective.values[row];
    response.values.push_back(response.ratios ? std::log(value) : value);
  }
  return response;
}

// Points by values of a parameter.
struct ValueGroups {
  std::vector<std::uint32_t> of_place; ///< [place in rows]; no_index: the row has no value
  std::vector<std::string> texts;      ///< [group]
};

// How many of the rows have each level.
std::vector<std::size_t> level_counts(const Levels& levels, const Response& response) {
  std::vector<std::size_t> counts(levels.values.size(), 0);
  for (const std::uint32_t row : response.rows)
    if (levels.of_row[row] != no_index) ++counts[levels.of_row[row]];
  return counts;
}

std::string range_text(const Value& from, const Value& to) {
  return from == to ? display_text(from) : display_text(from) + " to " + display_text(to);
}

// Each level that occurs is a group; more than eight numbers become eight groups of about as many
// points, equal values together.
ValueGroups value_groups(const Levels& levels, const Response& response) {
  const std::vector<std::size_t> counts = level_counts(levels, response);
  std::size_t total = 0, distinct = 0;
  for (const std::size_t count : counts) {
    total += count;
    distinct += count > 0;
  }
  const bool ranges = distinct > most_groups && levels.numeric();
  ValueGroups groups;
  std::vector<std::uint32_t> group_of(counts.size(), no_index);
  std::size_t before = 0, part = 0, first = 0; // points below, the group's part of 8, its level
  for (std::size_t level = 0; level < counts.size(); ++level) {
    if (counts[level] == 0) continue;
    const std::size_t own_part = most_groups * before / total;
    const bool begins = groups.texts.empty() || !ranges || own_part != part;
    before += counts[level];
    if (begins) {
      first = level;
      part = own_part;
      groups.texts.emplace_back();
    }
    groups.texts.back() = range_text(levels.values[first], levels.values[level]);
    group_of[level] = static_cast<std::uint32_t>(groups.texts.size() - 1);
  }
  for (const std::uint32_t row : response.rows) {
    const std::uint32_t level = levels.of_row[row];
    groups.of_place.push_back(level == no_index ? no_index : group_of[level]);
  }
  return groups;
}

struct GroupMoments {
  std::vector<std::size_t> counts; ///< [group]
  std::vector<double> means;
  std::size_t count = 0; ///< of all
  double mean = 0, total_squares = 0;
};

GroupMoments moments_of(const ValueGroups& groups, const Response& response) {
  GroupMoments m{std::vector<std::size_t>(groups.texts.size(), 0),
                 std::vector<double>(groups.texts.size(), 0), 0, 0, 0};
  for (std::size_t i = 0; i < response.values.size(); ++i) {
    if (groups.of_place[i] == no_index) continue;
    ++m.counts[groups.of_place[i]];
    m.means[groups.of_place[i]] += response.values[i];
    m.mean += response.values[i];
    ++m.count;
  }
  for (std::size_t g = 0; g < m.means.size(); ++g) m.means[g] /= static_cast<double>(m.counts[g]);
  if (m.count > 0) m.mean /= static_cast<double>(m.count);
  for (std::size_t i = 0; i < response.values.size(); ++i)
    if (groups.of_place[i] != no_index) m.total_squares += std::pow(response.values[i] - m.mean, 2);
  return m;
}

// Eta squared. With one point for each value it would be 1, whatever the parameter does: none.
std::optional<double> explained_share(const GroupMoments& m) {
  // Below that, differences are roundings.
  const double nothing = static_cast<double>(m.count) * std::pow(1e-12 * m.mean, 2);
  if (m.count == m.counts.size() || m.total_squares <= nothing) return std::nullopt;
  double between = 0;
  for (std::size_t g = 0; g < m.counts.size(); ++g)
    between += static_cast<double>(m.counts[g]) * std::pow(m.means[g] - m.mean, 2);
  return std::min(between / m.total_squares, 1.0);
}

// A difference of responses as ratio or difference.
double effect_of(double difference, bool ratios) {
  return ratios ? std::exp(std::abs(difference)) : std::abs(difference);
}

void add_range(ParameterSensitivity& result, const ValueGroups& groups, const GroupMoments& m,
               const Response& response, const ObjectiveValues& objective) {
  if (m.means.empty()) return;
  std::size_t best = 0, worst = 0;
  for (std::size_t g = 1; g < m.means.size(); ++g) {
    if (objective.better(m.means[g], m.means[best])) best = g;
    if (objective.better(m.means[worst], m.means[g])) worst = g;
  }
  const auto mean = [&](std::size_t g) {
    return response.ratios ? std::exp(m.means[g]) : m.means[g];
  };
  result.best = {groups.texts[best], mean(best)};
  result.worst = {groups.texts[worst], mean(worst)};
  result.effect = effect_of(m.means[worst] - m.means[best], response.ratios);
}

// The varied parameters that have to be equal when only `name` differs: not those of its zip that
// follow from it.
std::vector<std::string> others_of(const std::string& name, AnalysedPoints& points) {
  std::vector<std::string> others = points.varied_parameters();
  std::erase_if(others, [&](const std::string& other) {
    return other == name || points.follows(other, name);
  });
  return others;
}

double median_of(std::vector<double>& values) {
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

// The share compares means over all other parameters, which misleads where points are missing or
// parameters act together. This compares like with like: within each set of points that differ in
// this parameter alone, the worst with the best.
EqualOthers equal_others(const std::string& name, AnalysedPoints& points,
                         const Response& response) {
  struct Extremes {
    double least = 0, largest = 0;
    std::uint32_t level = no_index; ///< of the first point
    bool differ = false;
  };
  const Levels& own = points.levels(name);
  const Grouping groups = points.grouped_by(others_of(name, points));
  std::vector<Extremes> extremes(groups.size());
  for (std::size_t i = 0; i < response.rows.size(); ++i) {
    const std::uint32_t row = response.rows[i];
    if (groups.of_row[row] == no_index || own.of_row[row] == no_index) continue;
    Extremes& e = extremes[groups.of_row[row]];
    const double value = response.values[i];
    if (e.level == no_index) e = {value, value, own.of_row[row], false};
    e.least = std::min(e.least, value);
    e.largest = std::max(e.largest, value);
    e.differ = e.differ || e.level != own.of_row[row];
  }
  std::vector<double> effects;
  for (const Extremes& e : extremes)
    if (e.differ) effects.push_back(effect_of(e.largest - e.least, response.ratios));
  if (effects.empty()) return {};
  const double median = median_of(effects);
  return {effects.size(), effects.front(), median, effects.back()};
}

} // namespace

Sensitivity sensitivity_of(AnalysedPoints& points, const ObjectiveValues& objective,
                           std::span<const std::string> parameters,
                           std::span<const std::uint32_t> rows) {
  assert(std::is_sorted(rows.begin(), rows.end()));
  const Response response = response_of(objective, rows);
  Sensitivity result{response.ratios, response.rows.size(), {}};
  for (const std::string& name : parameters) {
    const ValueGroups groups = value_groups(points.levels(name), response);
    const GroupMoments moments = moments_of(groups, response);
    ParameterSensitivity each;
    each.name = name;
    each.levels = groups.texts.size();
    each.share = explained_share(moments);
    add_range(each, groups, moments, response, objective);
    each.equal_others = equal_others(name, points, response);
    result.parameters.push_back(std::move(each));
  }
  std::stable_sort(result.parameters.begin(), result.parameters.end(),
                   [](const ParameterSensitivity& a, const ParameterSensitivity& b) {
                     return a.share.value_or(-1) > b.share.value_or(-1);
                   });
  return result;
}

} // namespace tutti::sweep
