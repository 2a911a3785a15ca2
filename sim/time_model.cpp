// What a time model says of nodes, and in words.
#include "sim/time_model.hpp"

#include <string>

namespace tutti {

bool can_beat_links(const TimeModel& model) {
  return model.discipline == Discipline::fluid &&
         (model.network == NetworkModel::smpi || model.network == NetworkModel::ib);
}

Bandwidth reduction_rate(const Node& node, const TimeModel& model) {
  if (node.reduce_rate.bytes_per_second > 0 || node.kind != NodeKind::npu) return node.reduce_rate;
  return model.reduce_rate;
}

bool cuts_through(const Node& node, const TimeModel& model) {
  if (model.forwarding == Forwarding::automatic) return !node.can.store;
  return model.forwarding == Forwarding::cut_through;
}

std::string discipline_text(const TimeModel& model) {
  std::string text(to_text(model.discipline));
  if (model.discipline == Discipline::fluid && model.network != NetworkModel::ideal)
    text += " " + std::string(to_text(model.network));
  return text;
}
} // namespace tutti
