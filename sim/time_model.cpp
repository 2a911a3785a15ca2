// One table of words for each setting serves both directions, text to value and value to text.

#include "sim/time_model.hpp"

#include "sim/error.hpp"

#include <array>
#include <string>
#include <utility>
#include <vector>

namespace tutti {

namespace {

constexpr std::array link_busy_names{
    std::pair{LinkBusy::serialization, std::string_view("serialization")},
    std::pair{LinkBusy::latency_and_serialization, std::string_view("latency+serialization")}};
constexpr std::array forwarding_names{
    std::pair{Forwarding::automatic, std::string_view("auto")},
    std::pair{Forwarding::cut_through, std::string_view("cut-through")},
    std::pair{Forwarding::store_and_forward, std::string_view("store-and-forward")}};
constexpr std::array discipline_names{std::pair{Discipline::fifo, std::string_view("fifo")},
                                      std::pair{Discipline::fluid, std::string_view("fluid")}};

constexpr std::array network_names{std::pair{NetworkModel::ideal, std::string_view("ideal")},
                                   std::pair{NetworkModel::cm02, std::string_view("cm02")},
                                   std::pair{NetworkModel::lv08, std::string_view("lv08")},
                                   std::pair{NetworkModel::smpi, std::string_view("smpi")},
                                   std::pair{NetworkModel::ib, std::string_view("ib")}};

template <typename Names, typename Value>
std::string_view name_of(const Names& names, Value value) {
  for (const auto& [known, name] : names)
    if (known == value) return name;
  return "?";
}

template <typename Names>
auto value_of(const Names& names, std::string_view what, std::string_view text) {
  for (const auto& [value, name] : names)
    if (name == text) return value;
  std::vector<std::string> known;
  for (const auto& [value, name] : names) known.emplace_back(name);
  throw InputError(unknown_name(what, text, known));
}

} // namespace

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

std::string_view to_text(LinkBusy value) { return name_of(link_busy_names, value); }
std::string_view to_text(Forwarding value) { return name_of(forwarding_names, value); }
std::string_view to_text(Discipline value) { return name_of(discipline_names, value); }
std::string_view to_text(NetworkModel value) { return name_of(network_names, value); }
std::string discipline_text(const TimeModel& model) {
  std::string text(to_text(model.discipline));
  if (model.discipline == Discipline::fluid && model.network != NetworkModel::ideal)
    text += " " + std::string(to_text(model.network));
  return text;
}
LinkBusy parse_link_busy(std::string_view text) {
  return value_of(link_busy_names, "link-busy model", text);
}
Forwarding parse_forwarding(std::string_view text) {
  return value_of(forwarding_names, "forwarding", text);
}
Discipline parse_discipline(std::string_view text) {
  return value_of(discipline_names, "discipline", text);
}

NetworkModel parse_network_model(std::string_view text) {
  return value_of(network_names, "network model", text);
}

} // namespace tutti
