// Why: an answer that rests on a guess has to say so. Files of other programs leave out what their
// readers know or don't care for. All such values stand here, so that two readers assume the same,
// and each use of one is told.
#include "topologies/import/assumptions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <utility>

namespace tutti::topologies {

namespace {

struct Assumed {
  std::string_view key, value, source;
};

constexpr std::array table{
    Assumed{"bandwidth of a link", "50GB/s", "Tutti's default"},
    Assumed{"latency of a link", "0.5us", "Tutti's default"},
};

const Assumed& row_of(std::string_view key) {
  const auto row = std::ranges::find(table, key, &Assumed::key);
  assert(row != table.end());
  return *row;
}

std::string line_of(const Assumed& row) {
  return fmt::format("{}: {} ({})", row.key, row.value, row.source);
}

} // namespace

Bandwidth Assumptions::rate(std::string_view key) {
  note(line_of(row_of(key)));
  return parse_bandwidth(row_of(key).value);
}

Time Assumptions::time(std::string_view key) {
  note(line_of(row_of(key)));
  return parse_time(row_of(key).value);
}

void Assumptions::add(std::string_view what, std::string_view words) {
  note(fmt::format("{}: {}", what, words));
}

void Assumptions::note(std::string line) {
  if (std::ranges::find(lines_, line) == lines_.end()) lines_.push_back(std::move(line));
}

} // namespace tutti::topologies
