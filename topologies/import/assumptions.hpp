// What files of other programs don't say, and is assumed: each value in one table, with its source.
#pragma once

#include "sim/units.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::topologies {

/// Those that one file needed, in the order in which they were first asked for.
class Assumptions {
public:
  /// A row of the table, which is noted. Pre: the table has it, as a rate or as a time.
  [[nodiscard]] Bandwidth rate(std::string_view key);
  [[nodiscard]] Time time(std::string_view key);
  /// Another one, in words: "switches: they forward only".
  void add(std::string_view what, std::string_view words);

  /// Lines from this one on by their words, where a file has what they are of in any order.
  void sort_from(std::size_t line);

  [[nodiscard]] const std::vector<std::string>& lines() const { return lines_; }

private:
  void note(std::string line);

  std::vector<std::string> lines_;
};

} // namespace tutti::topologies
