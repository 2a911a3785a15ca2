// Rows are stored one after another, terms of a column merged when a row is added, so that every
// solver gets the same matrix. Feasibility is judged here and not by a solver: to 1e-6 of each
// side.

#include "synth/solvers/linear_program.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <map>

namespace tutti {

namespace {

bool within(double value, const LinearProgram::Range& range) {
  const auto tolerance = [](double side) { return 1e-6 * std::max(1.0, std::abs(side)); };
  return value >= range.low - tolerance(range.low) && value <= range.high + tolerance(range.high);
}

} // namespace

std::uint32_t LinearProgram::add_column(double cost, double low, double high, bool integer) {
  assert(low <= high);
  costs_.push_back(cost);
  columns_.push_back({low, high});
  integer_.push_back(integer ? 1 : 0);
  return column_count() - 1;
}

std::uint32_t LinearProgram::add_row(double low, double high, std::span<const Term> terms) {
  assert(low <= high);
  const auto begin = static_cast<std::ptrdiff_t>(terms_.size());
  std::map<std::uint32_t, std::size_t> place; // in terms_
  for (const Term& term : terms) {
    assert(term.column < column_count());
    const auto [known, is_new] = place.emplace(term.column, terms_.size());
    if (is_new)
      terms_.push_back(term);
    else
      terms_[known->second].factor += term.factor;
  }
  terms_.erase(std::remove_if(terms_.begin() + begin, terms_.end(),
                              [](const Term& term) { return term.factor == 0; }),
               terms_.end());
  rows_.push_back({low, high});
  row_begin_.push_back(terms_.size());
  return row_count() - 1;
}

bool satisfies(const LinearProgram& program, std::span<const double> columns, std::uint32_t rows) {
  for (std::uint32_t c = 0; c < columns.size(); ++c)
    if (!within(columns[c], program.column(c))) return false;
  for (std::uint32_t r = 0; r < rows; ++r) {
    double sum = 0;
    for (const Term& term : program.terms(r)) sum += term.factor * columns[term.column];
    if (!within(sum, program.row(r))) return false;
  }
  return true;
}

} // namespace tutti
