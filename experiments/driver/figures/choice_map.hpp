// A map: a cell for each combination of two parameters, in the colour of what is best there.
#pragma once

#include "experiments/driver/figures/picture.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace tutti {

struct MapCell {
  std::size_t column = 0, row = 0;
  std::size_t choice = 0; ///< index into `choices`
  std::string text;       ///< in the cell, where there is room in all of them
  std::string small_text; ///< under it
};

struct MapChoice {
  std::string name;
  int colour = 0;
};

struct ChoiceMap {
  std::string title, note;
  std::string x_label, y_label;
  std::vector<std::string> columns, rows; ///< values along the axes; the first row is the lowest
  std::vector<MapChoice> choices;         ///< for the legend
  std::vector<MapCell> cells;             ///< cells that aren't here have no result
};

/// Pre: at least one column, row and cell.
[[nodiscard]] Figure choice_map_figure(const ChoiceMap& map);

} // namespace tutti
