#include "synth/solvers/linear_program.hpp"

#include <algorithm>
#include <cassert>
#include <map>

namespace tutti {

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

} // namespace tutti
