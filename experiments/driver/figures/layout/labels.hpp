// Where names stand without hiding anything.
#pragma once

#include "experiments/driver/figures/layout/arrangement.hpp"

namespace tutti::layouts {

/// A rectangle around a label.
struct LabelBox {
  Position least, most;
};
[[nodiscard]] LabelBox box_of(const LayoutLabel& label);

/// Gives each node the label that it wishes for on the first free side, preferring one that no link
/// crosses; and none where no side is free of other labels and nodes. Names of boxes that have no
/// place yet stand in their upper left corners. Pre: nodes, boxes and links have their places.
void place_labels(Layout& layout, const std::vector<LabelWish>& wishes, double font);

} // namespace tutti::layouts
