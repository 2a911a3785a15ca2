// What isn't a match can fail too: the experiment says what ours comes to, so that a row that
// differs from its paper can't drift unseen. A value that is missing fails the run in any case, or
// a schedule that nobody could make would pass.
#include "experiments/driver/studies/expectation.hpp"

#include "experiments/driver/records/power_law.hpp"
#include "sim/error.hpp"
#include "sim/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <utility>

namespace tutti {

bool is_within(double deviation, double tolerance, Limit limit) {
  return (deviation <= tolerance || limit == Limit::at_least) &&
         (-deviation <= tolerance || limit == Limit::at_most);
}

namespace {

template <typename Transform>
double mean_of(std::span<const double> values, Transform&& transform) {
  double sum = 0;
  for (const double value : values) sum += transform(value);
  return sum / static_cast<double>(values.size());
}

double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  if (values.size() % 2 == 1) return *middle;
  return (*std::max_element(values.begin(), middle) + *middle) / 2;
}

std::size_t column_index(const Records& records, std::string_view name) {
  const auto found = std::ranges::find(records.columns, name, &RecordColumn::name);
  return static_cast<std::size_t>(found - records.columns.begin());
}

/// What a study came to, as an expectation asks for it.
class Measured {
public:
  Measured(const Expectation& expectation, const Records& records,
           std::span<const std::size_t> places)
      : expectation_(expectation), records_(records), places_(places),
        metric_(column_index(records, expectation.metric.name)) {}

  /// One per quotient, or none at all: a mean over what happens to be there would say something
  /// else.
  [[nodiscard]] std::vector<double> values(std::span<const Quotient> quotients) const {
    std::vector<double> values;
    for (const Quotient& quotient : quotients) {
      const std::optional<double> of =
          quotient.alternatives.empty() ? median(quotient.of) : best(quotient);
      const std::optional<double> over = quotient.over.empty() ? 1.0 : median(quotient.over);
      if (!of || !over || *over == 0) return {};
      values.push_back(*of / *over);
    }
    return values;
  }

  /// NaN where there is none. `values`: of values().
  [[nodiscard]] double summary(std::span<const Quotient> quotients,
                               std::span<const double> values) const {
    if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
    switch (expectation_.summary) {
    case Summary::geometric_mean:
      return std::exp(mean_of(values, [](double value) { return std::log(value); }));
    case Summary::arithmetic_mean: return mean_of(values, [](double value) { return value; });
    case Summary::largest: return *std::ranges::max_element(values);
    case Summary::smallest: return *std::ranges::min_element(values);
    case Summary::error:
      return std::exp(mean_of(values, [](double value) { return std::abs(std::log(value)); })) - 1;
    case Summary::exponent: return exponent(quotients, values);
    case Summary::single: break;
    }
    assert(values.size() == 1);
    return values.front();
  }

  /// Why there is no value.
  [[nodiscard]] std::string missing() const {
    for (const Quotient& quotient : expectation_.values)
      for (const std::vector<std::size_t>* rows : {&quotient.of, &quotient.over})
        for (const std::size_t planned : *rows)
          if (!value(planned)) return "there is no value: " + missing(planned);
    return "there is no value: a division by 0, or a fit of fewer than two sizes";
  }

  /// The largest spread of repetitions (`spread_column`) of any row; nothing where a row has none.
  [[nodiscard]] std::optional<double> widest_spread() const {
    double widest = 0;
    const std::size_t column = column_index(records_, spread_column);
    for (const Quotient& quotient : expectation_.values)
      for (const std::size_t planned : quotient.of) {
        const std::optional<double> spread = number(planned, column);
        if (!spread) return std::nullopt;
        widest = std::max(widest, *spread);
      }
    return widest;
  }

private:
  [[nodiscard]] std::optional<std::size_t> row(std::size_t planned) const {
    if (!places_.empty() && planned >= places_.size()) return std::nullopt;
    const std::size_t row = places_.empty() ? planned : places_[planned];
    return row < records_.rows.size() ? std::optional(row) : std::nullopt;
  }

  [[nodiscard]] std::optional<double> number(std::size_t planned, std::size_t column) const {
    const std::optional<std::size_t> at = row(planned);
    if (!at || column == records_.columns.size()) return std::nullopt;
    const Cell& cell = records_.rows[*at][column];
    return cell.is_known() ? std::optional(cell.number()) : std::nullopt;
  }

  /// Whether anything came of the row: its first time is known.
  [[nodiscard]] bool has_answer(std::size_t planned) const {
    for (std::size_t c = 0; c < records_.columns.size(); ++c)
      if (const RecordColumn& column = records_.columns[c];
          column.quantity == Quantity::time && column.role == ColumnRole::metric)
        return number(planned, c).has_value();
    return true;
  }

  /// What it took to fail is no figure, nor in how many chunks it was tried.
  [[nodiscard]] std::optional<double> value(std::size_t planned) const {
    const bool needs_answer = expectation_.metric.role == ColumnRole::cost ||
                              expectation_.metric.quantity == Quantity::count;
    if (needs_answer && !has_answer(planned)) return std::nullopt;
    return number(planned, metric_);
  }

  [[nodiscard]] std::optional<double> median(std::span<const std::size_t> rows) const {
    std::vector<double> values;
    for (const std::size_t planned : rows) {
      const std::optional<double> one = value(planned);
      if (!one) return std::nullopt;
      values.push_back(*one);
    }
    return median_of(std::move(values));
  }

  /// The best of those that have a value.
  [[nodiscard]] std::optional<double> best(const Quotient& quotient) const {
    const bool more = expectation_.metric.better == Better::higher;
    std::optional<double> best = median(quotient.of);
    for (const std::vector<std::size_t>& rows : quotient.alternatives)
      if (const std::optional<double> one = median(rows);
          one && (!best || (more ? *one > *best : *one < *best)))
        best = one;
    return best;
  }

  /// The slope of the least-squares line through the logarithms of size and value.
  [[nodiscard]] double exponent(std::span<const Quotient> quotients,
                                std::span<const double> values) const {
    constexpr double none = std::numeric_limits<double>::quiet_NaN();
    const std::size_t column = column_index(records_, expectation_.size);
    std::vector<PlotPoint> points;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::optional<double> size = number(quotients[i].of.front(), column);
      if (!size) return none;
      points.push_back({*size, values[i]});
    }
    const auto law = fitted_power_law(points);
    return law ? law->exponent : none;
  }

  [[nodiscard]] std::string text(std::size_t row, std::string_view column) const {
    const std::size_t c = column_index(records_, column);
    return c == records_.columns.size()
               ? ""
               : exact_text(records_.rows[row][c], records_.columns[c].quantity);
  }

  [[nodiscard]] std::string missing(std::size_t planned) const {
    const std::optional<std::size_t> at = row(planned);
    if (!at) return "it wasn't run";
    const std::string where =
        fmt::format("{} on {}", text(*at, "algorithm"), text(*at, "topology"));
    const std::string note = text(*at, "note");
    if (!has_answer(planned))
      return note.empty() ? "nothing came of " + where : fmt::format("{}: {}", where, note);
    if (metric_ < records_.columns.size())
      return fmt::format("{} isn't known of {}", expectation_.metric.name, where);
    std::vector<std::string> known;
    for (std::size_t c = 0; c < records_.columns.size(); ++c)
      if (records_.columns[c].quantity == Quantity::fact && records_.rows[*at][c].is_known())
        known.push_back(records_.columns[c].name);
    if (known.empty()) return where + " states no facts";
    return fmt::format("{}: {}", where, unknown_name("fact", expectation_.metric.name, known));
  }

  const Expectation& expectation_;
  const Records& records_;
  std::span<const std::size_t> places_; ///< as compare() has them
  std::size_t metric_; ///< index of the column; the number of columns where there is none
};

/// Whether it is said without a unit.
bool is_plain(const Expectation& expectation) {
  return expectation.summary == Summary::exponent || expectation.summary == Summary::error ||
         !expectation.values.front().over.empty();
}

std::string text_of(double value, const Expectation& expectation) {
  if (is_plain(expectation)) return fmt::format("{:.2f}", value);
  switch (expectation.metric.quantity) {
  case Quantity::rate: return short_rate_text(value);
  case Quantity::time: return short_text(Time{std::llround(value)});
  case Quantity::bytes: return short_text(Bytes{std::llround(value)});
  case Quantity::seconds:
  case Quantity::effort: return fmt::format("{:.4g} s", value);
  case Quantity::fact: return fmt::format("{:.6g}", value);
  case Quantity::text:
  case Quantity::texts:
  case Quantity::numeral:
  case Quantity::truth:
  case Quantity::count:
  case Quantity::ratio:
  case Quantity::part:
  case Quantity::amount:
  case Quantity::number: break;
  }
  return fmt::format("{:.4g}", value);
}

/// The value, of several with the range of what it is of: "2.61 (1.95 to 3.40)".
std::string ours_of(double value, std::span<const double> values, const Expectation& expectation) {
  const std::string text = text_of(value, expectation);
  if (expectation.summary != Summary::geometric_mean &&
      expectation.summary != Summary::arithmetic_mean)
    return text;
  const auto [least, most] = std::ranges::minmax(values);
  return fmt::format("{} ({} to {})", text, text_of(least, expectation),
                     text_of(most, expectation));
}

std::string paper_of(const Expectation& expectation) {
  const std::string text = text_of(expectation.value, expectation);
  switch (expectation.limit) {
  case Limit::at_most: return "at most " + text;
  case Limit::at_least: return "at least " + text;
  case Limit::equal: break;
  }
  switch (expectation.stated) {
  case Stated::up_to: return "up to " + text;
  case Stated::about: return "about " + text;
  case Stated::mean: return "mean " + text;
  case Stated::exactly: break;
  }
  return text;
}

ComparedBeside compared_beside(const Expectation& expectation, const Measured& measured) {
  const std::vector<double> values = measured.values(expectation.beside->values);
  ComparedBeside result{expectation.beside->algorithm, expectation.beside->in_place_of, "-",
                        measured.summary(expectation.beside->values, values)};
  if (std::isfinite(result.value)) result.text = ours_of(result.value, values, expectation);
  return result;
}

bool agrees(const Expectation& expectation, double value) {
  return is_within(value / expectation.value - 1, expectation.tolerance, expectation.limit);
}

/// Whether the same one wins, by about as much.
bool direction_agrees(const Expectation& expectation, double value) {
  const double apart = std::abs(std::log(value / expectation.value));
  return expectation.stated != Stated::exactly && apart <= std::log(direction_factor) &&
         (value > 1) == (expectation.value > 1);
}

/// How ours is as it is known to be; `unexpected` otherwise, with the reason in the explanation.
void judge(const Expectation& expectation, Comparison& result) {
  const bool is_match = agrees(expectation, result.value);
  if (const std::optional<KnownValue>& known = expectation.ours;
      known && !is_within(result.value / known->value - 1, known->tolerance, Limit::equal)) {
    result.explanation = fmt::format(
        "ours is known to be {}, within {:g} %; {}", text_of(known->value, expectation),
        100 * known->tolerance, is_match ? "it matches now: remove \"ours\"" : "what has changed?");
  } else if (is_match) {
    result.agreement = Agreement::match;
  } else if (!known) {
    result.explanation = "no match, and the experiment doesn't say what \"ours\" comes to";
  } else {
    result.agreement = direction_agrees(expectation, result.value) ? Agreement::direction_holds
                                                                   : Agreement::differs;
  }
}

Comparison compare(const Expectation& expectation, const Records& records,
                   std::span<const std::size_t> places) {
  const Measured ours(expectation, records, places);
  Comparison result;
  if (expectation.beside) result.beside = compared_beside(expectation, ours);
  result.label = expectation.label;
  result.paper = paper_of(expectation);
  result.explanation = expectation.explanation;
  const bool is_of_seconds = expectation.limit == Limit::at_most &&
                             (expectation.metric.quantity == Quantity::seconds ||
                              expectation.metric.quantity == Quantity::effort) &&
                             expectation.summary != Summary::exponent;
  result.apart = expectation.apart.empty() && is_of_seconds ? "seconds" : expectation.apart;
  const std::vector<double> values = ours.values(expectation.values);
  result.value = ours.summary(expectation.values, values);
  if (!std::isfinite(result.value)) {
    result.value = result.deviation = std::nan("");
    result.ours = "-";
    result.explanation = ours.missing();
    return result;
  }
  result.ours = ours_of(result.value, values, expectation);
  result.deviation = result.value / expectation.value - 1;
  judge(expectation, result);
  if (!expectation.repeats_within) return result;
  const std::optional<double> spread = ours.widest_spread();
  if (spread && *spread <= *expectation.repeats_within) return result;
  result.agreement = Agreement::not_judged;
  result.explanation =
      spread ? fmt::format("ratios differ by up to {:.0f} % between passes: no verdict on what the "
                           "machine's load decides",
                           100 * *spread)
             : "one pass can't say whether its ratios repeat themselves";
  return result;
}

/// For each choice of what is left open, what ours comes to.
std::vector<double> values_by_choice(const Expectation& expectation, const Records& records,
                                     std::span<const std::size_t> places) {
  const Measured measured(expectation, records, places);
  std::vector<double> values;
  for (const LeftOpen::Choice& choice : expectation.left_open->choices)
    values.push_back(measured.summary(choice.values, measured.values(choice.values)));
  return values;
}

// A choice explains one row easily; what it has to explain are all rows that leave the same open.
void judge_left_open(std::span<const Expectation> expectations, const Records& records,
                     std::span<const std::size_t> places, std::span<Comparison> comparisons) {
  std::map<std::string, std::size_t> rows;                            // [column]
  std::map<std::pair<std::string, std::string>, std::size_t> fitting; // [column, choice]: rows
  std::vector<std::vector<double>> values(expectations.size());
  for (std::size_t i = 0; i < expectations.size(); ++i) {
    if (!expectations[i].left_open) continue;
    const auto& [column, choices] = *expectations[i].left_open;
    ++rows[column];
    values[i] = values_by_choice(expectations[i], records, places);
    for (std::size_t c = 0; c < choices.size(); ++c)
      if (agrees(expectations[i], values[i][c])) ++fitting[{column, choices[c].text}];
  }
  for (std::size_t i = 0; i < expectations.size(); ++i) {
    if (!expectations[i].left_open) continue;
    const auto& [column, choices] = *expectations[i].left_open;
    std::vector<std::string> texts;
    std::string fits;
    for (std::size_t c = 0; c < choices.size(); ++c) {
      const std::string& text = choices[c].text;
      const bool is_known = std::isfinite(values[i][c]);
      texts.push_back(fmt::format(
          "{} at {}", is_known ? text_of(values[i][c], expectations[i]) : "nothing", text));
      if (fits.empty() && fitting[{column, text}] == rows[column]) fits = text;
    }
    Comparison& comparison = comparisons[i];
    if (!comparison.explanation.empty()) comparison.explanation += "; ";
    comparison.explanation += fmt::format("by {}: {}", column, joined(texts, ", "));
    if (fits.empty() || comparison.agreement != Agreement::differs) continue;
    comparison.agreement = Agreement::left_open;
    comparison.explanation +=
        fmt::format("; {} gives what the paper has in {}", fits,
                    rows[column] == 1 ? "this row" : "all rows that leave it open");
  }
}

} // namespace

std::vector<Comparison> compare(std::span<const Expectation> expectations, const Records& records,
                                std::span<const std::size_t> places) {
  std::vector<Comparison> results;
  for (const Expectation& expectation : expectations)
    results.push_back(compare(expectation, records, places));
  judge_left_open(expectations, records, places, results);
  return results;
}

} // namespace tutti
