// Servers as boxes. Inside, NPUs without links of their own stand in a row, what joins them all
// above, PCIe switches, NICs and memories below, by their distance; so what leaves the server
// leaves it downwards, to the rails below the boxes (a second row of boxes stands on its head below
// those). NPUs with links of their own stand on a circle as in circles.cpp, their switches around
// it, turned so that what leaves the server faces where it leads. From nine boxes on what leaves
// them is drawn as stubs, or nothing else would be seen.
#include "experiments/driver/figures/layout/arrangement.hpp"
#include "experiments/driver/figures/layout/neighbours.hpp"
#include "experiments/driver/figures/layout/servers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

namespace tutti::layouts {

namespace {

constexpr double box_margin = 13, box_head = 17; // points; head: for its name

/// A server by itself, around (0, 0).
struct ServerBox {
  std::vector<std::uint32_t> nodes; ///< NPUs first
  std::size_t npus = 0;
  std::vector<Position> at; ///< [nodes]
  Position least, most;     ///< with the nodes' extent
  bool is_row = false, is_on_head = false;

  /// `arcs`: height of links that run above a row.
  void measure(double radius, double arcs = 0) {
    least = most = at.front();
    for (const Position& place : at) {
      least = {std::min(least.x, place.x), std::min(least.y, place.y)};
      most = {std::max(most.x, place.x), std::max(most.y, place.y)};
    }
    least = least - Position{radius, radius};
    most = most + Position{radius, radius};
    least.y = std::min(least.y, at.front().y - arcs);
  }
};

/// Moves what stands too close apart: `at` are places along a line, in any order.
void keep_apart(std::vector<double>& at, double least) {
  std::vector<std::size_t> order(at.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return at[i]; });
  for (int round = 0; round < 200; ++round) {
    bool moved = false;
    for (std::size_t k = 1; k < order.size(); ++k) {
      double &a = at[order[k - 1]], &b = at[order[k]];
      const double missing = least - (b - a);
      if (missing <= 1e-6) continue;
      a -= missing / 2;
      b += missing / 2;
      moved = true;
    }
    if (!moved) return;
  }
}

/// What the servers of one network share.
class ServerLayout {
public:
  ServerLayout(const Topology& topology, const Servers& servers)
      : topology_(topology), next_(topology), server_(servers.of), kind_(servers.kind),
        boxes_(servers.count) {
    for (std::uint32_t n = 0; n < topology.node_count(); ++n) {
      if (server_[n] == no_server) {
        between_.push_back(n);
        continue;
      }
      ServerBox& box = boxes_[server_[n]];
      box.nodes.push_back(n);
      box.npus += n < topology.npu_count() ? 1U : 0U;
    }
    are_rows_ = choose_rows();
  }

  [[nodiscard]] Arrangement arranged() {
    Arrangement result = blank(topology_, boxes_.size() > 1 ? "servers" : "server");
    result.bends.resize(topology_.link_count());
    const auto count = static_cast<double>(boxes_.size());
    has_stubs_ = boxes_.size() > 8;
    constexpr double page = 620, widest_page = 900, least_pitch = 8.5;
    const auto npus = static_cast<double>(boxes_[0].npus);
    const double most_per_row =
        are_rows_ ? std::max(1.0, std::floor(widest_page / (least_pitch * (npus + 1.6)))) : count;
    const double per_row = has_stubs_
                               ? std::min(std::ceil(std::sqrt(0.55 * count)) + 1, most_per_row)
                               : std::ceil(count > 4 ? count / 2 : count);
    pitch_ = are_rows_
                 ? std::clamp(page / (per_row * (npus + 1.6)), least_pitch, count > 1 ? 24.0 : 30.0)
             : has_stubs_ || count > 4 ? 20
                                       : 26;
    radius_ = std::clamp(0.35 * pitch_, 3.2, 9.5);
    find_tiers(result);
    if (are_rows_) // discs that nearly touch rather than numbers beside them
      radius_ = std::clamp(label_width(longest_[0], least_label_font) / 1.86, radius_,
                           std::max(radius_, 0.46 * pitch_));
    for (ServerBox& box : boxes_) {
      if (are_rows_)
        place_in_row(box);
      else
        place_around(box);
      box.measure(radius_, arcs_of(box));
      if (are_rows_) widen_for_names(box);
    }
    if (has_stubs_)
      place_as_grid(static_cast<std::size_t>(per_row));
    else if (are_rows_)
      place_in_lines();
    else
      place_in_the_round();
    finish(result);
    return result;
  }

private:
  [[nodiscard]] bool is_npu(std::uint32_t node) const { return node < topology_.npu_count(); }

  /// Rows are for NPUs without direct links, and for servers that much leaves, but not straight for
  /// another one.
  [[nodiscard]] bool choose_rows() const {
    const ServerBox& box = boxes_[0];
    constexpr std::size_t many = 4;
    std::size_t direct = 0, leaving = 0;
    for (std::size_t i = 0; i < box.nodes.size(); ++i) {
      bool leaves = false;
      for (const Neighbour& neighbour : next_.of(box.nodes[i])) {
        const std::uint32_t other = server_[neighbour.node];
        if (other == no_server)
          leaves = true;
        else if (other != server_[box.nodes[i]])
          return false;
        else if (i < box.npus && is_npu(neighbour.node))
          ++direct;
      }
      leaving += leaves ? 1U : 0U;
    }
    return direct == 0 || leaving >= many;
  }

  /// And the longest name in each, so that all servers have their labels in the same places.
  void find_tiers(Arrangement& result) {
    tier_.assign(topology_.node_count(), INT32_MAX);
    for (const ServerBox& box : boxes_) {
      find_tiers(box);
      for (const std::uint32_t node : box.nodes) {
        std::string& longest = longest_[tier_[node]];
        const std::string& name = result.labels[node].text;
        if (label_width(name, 1) > label_width(longest, 1)) longest = name;
      }
    }
    for (const ServerBox& box : boxes_)
      for (const std::uint32_t node : box.nodes)
        result.labels[node].longest = longest_[tier_[node]];
  }

  /// Sets the tiers of the server's nodes: 0 for NPUs, -1 for nodes that join only NPUs and more
  /// than half of them, for all others their distance from the NPUs.
  void find_tiers(const ServerBox& box) {
    std::vector<int>& tier = tier_;
    for (std::size_t i = 0; i < box.npus; ++i) tier[box.nodes[i]] = 0;
    for (std::size_t i = box.npus; i < box.nodes.size(); ++i) {
      const auto neighbours = next_.of(box.nodes[i]);
      const bool joins_npus = std::ranges::all_of(
          neighbours, [&](const Neighbour& neighbour) { return is_npu(neighbour.node); });
      if (joins_npus && 2 * neighbours.size() > box.npus) tier[box.nodes[i]] = -1;
    }
    for (int level = 1; level < 8; ++level)
      for (std::size_t i = box.npus; i < box.nodes.size(); ++i)
        if (tier[box.nodes[i]] == INT32_MAX &&
            std::ranges::any_of(next_.of(box.nodes[i]), [&](const Neighbour& neighbour) {
              return tier[neighbour.node] == level - 1;
            }))
          tier[box.nodes[i]] = level;
  }

  /// [nodes of the tier]: the mean place of their neighbours that are nearer to the NPUs.
  template <typename Value>
  [[nodiscard]] Value mean_below(const ServerBox& box, std::size_t i,
                                 const std::vector<Value>& value) const {
    const std::vector<int>& tier = tier_;
    Value sum{};
    double count = 0;
    for (const Neighbour& neighbour : next_.of(box.nodes[i])) {
      const auto found = std::ranges::find(box.nodes, neighbour.node);
      if (found == box.nodes.end()) continue;
      const bool nearer = tier[box.nodes[i]] < 0 ? tier[neighbour.node] == 0
                                                 : tier[neighbour.node] < tier[box.nodes[i]] &&
                                                       tier[neighbour.node] >= 0;
      if (!nearer) continue;
      sum = sum + value[static_cast<std::size_t>(found - box.nodes.begin())];
      ++count;
    }
    return count == 0 ? sum : sum * (1 / count);
  }

  /// Distance between names of this tier that stand side by side; 0 where it has none.
  [[nodiscard]] double name_pitch(int level) const {
    const auto found = longest_.find(level);
    return found == longest_.end() ? 0 : label_width(found->second, name_font()) + 3;
  }
  [[nodiscard]] bool names_fit(const ServerBox& box, std::size_t count, int level) const {
    return static_cast<double>(count) * name_pitch(level) <=
           pitch_ * static_cast<double>(box.npus) + 2 * (box_margin - 4);
  }
  void widen_for_names(ServerBox& box) const {
    for (std::size_t i = box.npus; i < box.nodes.size(); ++i) {
      const double half = name_pitch(tier_[box.nodes[i]]) / 2;
      box.least.x = std::min(box.least.x, box.at[i].x - half + box_margin - 4);
      box.most.x = std::max(box.most.x, box.at[i].x + half - box_margin + 4);
    }
  }
  [[nodiscard]] double font() const { return pitch_ < 20 ? 7.5 : 9; }
  [[nodiscard]] double name_font() const { return std::max(font() - 0.5, least_label_font); }

  void place_in_row(ServerBox& box) {
    box.is_row = true;
    box.at.resize(box.nodes.size());
    const double middle = 0.5 * (static_cast<double>(box.npus) - 1);
    for (std::size_t i = 0; i < box.npus; ++i)
      box.at[i] = {pitch_ * (static_cast<double>(i) - middle), 0};
    const double gap = std::clamp(2.1 * pitch_, 34.0, 52.0);
    for (const int level : {-1, 1, 2, 3, 4, 5, 6, 7}) {
      std::vector<std::size_t> own;
      std::vector<double> x;
      for (std::size_t i = box.npus; i < box.nodes.size(); ++i)
        if (tier_[box.nodes[i]] == level) {
          own.push_back(i);
          x.push_back(mean_below(box, i, box.at).x);
        }
      keep_apart(x, std::max({2.6 * radius_, 1.6 * pitch_,
                              names_fit(box, own.size(), level) ? name_pitch(level) : 0}));
      for (std::size_t k = 0; k < own.size(); ++k) box.at[own[k]] = {x[k], level * gap};
    }
  }

  void place_around(ServerBox& box) {
    box.at.resize(box.nodes.size());
    const auto n = static_cast<std::uint32_t>(box.npus);
    std::vector<double> bandwidth(std::size_t{n} * n);
    for (std::uint32_t i = 0; i < n; ++i)
      for (const Neighbour& neighbour : next_.of(box.nodes[i])) {
        const auto found = std::ranges::find(box.nodes, neighbour.node);
        const auto j = static_cast<std::size_t>(found - box.nodes.begin());
        if (j < n) bandwidth[std::size_t{i} * n + j] = neighbour.bandwidth;
      }
    const std::vector<std::uint32_t> order = circular_order(bandwidth, n);
    const double radius = std::max(46.0, 1.12 * pitch_ * n / (2 * std::numbers::pi));
    for (std::uint32_t i = 0; i < n; ++i) box.at[order[i]] = on_circle(radius, (i + 0.5) / n);
    for (const int level : {-1, 1, 2, 3, 4, 5, 6, 7}) {
      std::vector<std::size_t> own;
      std::vector<double> turns;
      for (std::size_t i = box.npus; i < box.nodes.size(); ++i)
        if (tier_[box.nodes[i]] == level) {
          own.push_back(i);
          turns.push_back(turn_of(mean_below(box, i, box.at)));
        }
      const double ring = radius + 30 * level;
      if (level > 0) keep_apart(turns, 24 / (2 * std::numbers::pi * ring));
      for (std::size_t k = 0; k < own.size(); ++k)
        box.at[own[k]] = level < 0
                             ? on_circle(own.size() == 1 ? 0 : 0.4 * radius,
                                         static_cast<double>(k) / static_cast<double>(own.size()))
                             : on_circle(ring, turns[k]);
    }
  }

  [[nodiscard]] static Position size(const ServerBox& box) { return box.most - box.least; }
  void move(ServerBox& box, Position by) const {
    for (Position& place : box.at) place = place + by;
    box.least = box.least + by;
    box.most = box.most + by;
  }

  /// So that its lower left (or upper left) corner is there.
  void put(ServerBox& box, Position corner) const { move(box, corner - box.least); }

  // One line of boxes, or two of which the lower stands on its head, and what joins them below the
  // first.
  void place_in_lines() {
    const std::size_t lines = boxes_.size() > 4 ? 2 : 1;
    const std::size_t per_line = (boxes_.size() + lines - 1) / lines;
    const Position extent = size(boxes_[0]);
    const double step = extent.x + 2 * box_margin + 9, below = extent.y + box_margin + 58;
    for (std::size_t s = 0; s < boxes_.size(); ++s) {
      ServerBox& box = boxes_[s];
      const bool is_lower = s >= per_line;
      if (is_lower) {
        for (Position& place : box.at) place.y = -place.y;
        const double top = -box.most.y, bottom = -box.least.y;
        box.least.y = top;
        box.most.y = bottom;
        box.is_on_head = true;
      }
      put(box, {step * static_cast<double>(is_lower ? s - per_line : s),
                is_lower ? below + 66 + box_margin : 0});
    }
    const double width = step * static_cast<double>(per_line) - 2 * box_margin - 9;
    between_at_.resize(between_.size());
    const std::vector<std::vector<std::size_t>> tiers = tiers_between();
    for (std::size_t tier = 0; tier < tiers.size(); ++tier)
      for (std::size_t i = 0; i < tiers[tier].size(); ++i)
        between_at_[tiers[tier][i]] = {
            width * (static_cast<double>(i) + 0.5) / static_cast<double>(tiers[tier].size()),
            below + (lines == 2 ? 8 : 6) + 62 * static_cast<double>(tier)};
  }

  /// What joins the servers, by hops from them: leaves, then spines. Between two lines of servers
  /// it is one tier.
  [[nodiscard]] std::vector<std::vector<std::size_t>> tiers_between() const {
    std::vector<std::uint32_t> hops(next_.count(), UINT32_MAX);
    std::vector<std::uint32_t> reached;
    for (std::uint32_t node = 0; node < next_.count(); ++node)
      if (server_[node] != no_server) {
        hops[node] = 0;
        reached.push_back(node);
      }
    for (std::size_t i = 0; i < reached.size(); ++i)
      for (const Neighbour& neighbour : next_.of(reached[i]))
        if (hops[neighbour.node] == UINT32_MAX) {
          hops[neighbour.node] = hops[reached[i]] + 1;
          reached.push_back(neighbour.node);
        }
    std::map<std::uint32_t, std::vector<std::size_t>> by_hops;
    for (std::size_t i = 0; i < between_.size(); ++i)
      by_hops[boxes_.size() > 4 ? 1 : hops[between_[i]]].push_back(i);
    std::vector<std::vector<std::size_t>> tiers;
    for (auto& [count, nodes] : by_hops) tiers.push_back(std::move(nodes));
    return tiers;
  }

  void place_as_grid(std::size_t columns) {
    const Position extent = size(boxes_[0]);
    const double step_x = extent.x + 2 * box_margin - 4,
                 step_y = extent.y + box_margin + box_head + 14;
    const std::size_t rows = (boxes_.size() + columns - 1) / columns;
    for (std::size_t s = 0; s < boxes_.size(); ++s) {
      const std::size_t column = s % columns, row = s / columns;
      put(boxes_[s], {step_x * static_cast<double>(column), step_y * static_cast<double>(row)});
    }
    const double width = step_x * static_cast<double>(columns) - 2 * box_margin + 4;
    double widest = 22;
    for (const std::uint32_t node : between_)
      widest = std::max(widest, label_width(short_name(topology_.node(NodeId{node})), font()) + 4);
    const std::size_t per_line =
        std::clamp<std::size_t>(static_cast<std::size_t>(width / widest), 1, between_.size() + 1);
    const std::size_t lines = (between_.size() + per_line - 1) / per_line;
    for (std::size_t i = 0; i < between_.size(); ++i) {
      const std::size_t line = i * lines / between_.size();
      const std::size_t first = (line * between_.size() + lines - 1) / lines,
                        end = ((line + 1) * between_.size() + lines - 1) / lines;
      between_at_.push_back(
          {width * (static_cast<double>(i - first) + 0.5) / static_cast<double>(end - first),
           step_y * static_cast<double>(rows) + 12 + 32 * static_cast<double>(line)});
    }
  }

  // Two boxes side by side, or more around the middle; what joins them stands in the middle.
  void place_in_the_round() {
    const auto count = static_cast<double>(boxes_.size());
    const double half = 0.5 * std::max(size(boxes_[0]).x, size(boxes_[0]).y) + box_margin;
    const bool pair = boxes_.size() == 2;
    const double column = 14.0 * static_cast<double>(std::max<std::size_t>(between_.size(), 1));
    const double away =
        boxes_.size() == 1 ? 0
        : pair             ? half + (between_.empty() ? 16 : 34)
               : std::max(1.22 * half / std::sin(std::numbers::pi / count), half + column);
    std::vector<Position> centres;
    for (std::size_t s = 0; s < boxes_.size(); ++s)
      centres.push_back(
          pair ? Position{s == 0 ? -away : away, 0}
               : on_circle(away, (static_cast<double>(s) + (count == 4 ? 0.5 : 0)) / count -
                                     (count == 4 ? 0.25 : 0)));
    for (std::size_t i = 0; i < between_.size(); ++i) {
      const double steps =
          static_cast<double>(i) - 0.5 * (static_cast<double>(between_.size()) - 1);
      between_at_.push_back(
          pair ? Position{0, 28 * steps}
               : on_circle(between_.size() == 1 ? 0 : column / std::numbers::pi,
                           static_cast<double>(i) / static_cast<double>(between_.size())));
    }
    for (std::size_t s = 0; s < boxes_.size(); ++s) turn_to_others(s, centres);
    for (std::size_t s = 0; s < boxes_.size(); ++s) {
      boxes_[s].measure(radius_);
      const Position middle = (boxes_[s].least + boxes_[s].most) * 0.5;
      move(boxes_[s], centres[s] - middle);
    }
  }

  /// By as many NPUs as brings what leaves the server nearest to where it leads.
  void turn_to_others(std::size_t s, const std::vector<Position>& centres) {
    ServerBox& box = boxes_[s];
    const auto n = static_cast<double>(box.npus);
    double least = 0;
    std::vector<Position> best = box.at;
    for (std::size_t turn = 0; turn < box.npus; ++turn) {
      const double angle = 2 * std::numbers::pi * static_cast<double>(turn) / n;
      std::vector<Position> turned;
      for (const Position& place : box.at)
        turned.push_back({place.x * std::cos(angle) - place.y * std::sin(angle),
                          place.x * std::sin(angle) + place.y * std::cos(angle)});
      double cost = 0;
      for (std::size_t i = 0; i < box.nodes.size(); ++i)
        for (const Neighbour& neighbour : next_.of(box.nodes[i])) {
          const std::uint32_t other = server_[neighbour.node];
          if (other == s) continue;
          Position goal;
          if (other != no_server)
            goal = centres[other];
          else
            goal = between_at_[static_cast<std::size_t>(
                std::ranges::find(between_, neighbour.node) - between_.begin())];
          cost += distance(centres[s] + turned[i], goal);
        }
      if (turn == 0 || cost < least - 1e-6) {
        least = cost;
        best = std::move(turned);
      }
    }
    box.at = std::move(best);
  }

  void finish(Arrangement& result) {
    for (std::size_t s = 0; s < boxes_.size(); ++s) {
      const ServerBox& box = boxes_[s];
      for (std::size_t i = 0; i < box.nodes.size(); ++i) {
        result.at[box.nodes[i]] = box.at[i];
        result.radius[box.nodes[i]] = i < box.npus ? radius_ : std::min(radius_, 8.0);
      }
      if (boxes_.size() == 1) continue;
      LayoutBox frame;
      const double foot = box.is_on_head ? box_head : box_margin - 4,
                   head = box.is_on_head ? box_margin - 4 : box_head;
      frame.outline = rectangle(box.least - Position{box_margin - 4, head},
                                box.most + Position{box_margin - 4, foot});
      frame.label.text = fmt::format("{} {}", kind_, s);
      if (box.is_on_head) {
        frame.label.font = 8;
        frame.label.at = frame.outline.back() + Position{4 + label_width(frame.label.text, 8) / 2,
                                                         -2 - label_height(8) / 2};
      }
      frame.nodes = box.nodes;
      result.boxes.push_back(std::move(frame));
    }
    for (std::size_t i = 0; i < between_.size(); ++i) {
      result.at[between_[i]] = between_at_[i];
      result.radius[between_[i]] = between_.size() == 1 ? 11 : 8;
    }
    for (std::uint32_t n = topology_.npu_count(); n < topology_.node_count(); ++n)
      result.labels[n].sides = {Side::inside, Side::below, Side::above, Side::right, Side::left};
    if (are_rows_) name_rows(result);
    result.lane = std::clamp(0.14 * pitch_, 1.5, 3.6);
    result.font = font();
    if (are_rows_) bend_rows(result);
    if (has_stubs_)
      leave_by_stubs(result);
    else if (are_rows_ && boxes_.size() > 1)
      leave_straight_down(result);
  }

  /// Places names in rows. Where a row has no room for all of them, only its first and its last
  /// node have one. What joins the NPUs is named on its far side, where no link leaves it.
  void name_rows(Arrangement& result) const {
    for (const ServerBox& box : boxes_) {
      const Side up = box.is_on_head ? Side::below : Side::above,
                 down = box.is_on_head ? Side::above : Side::below;
      std::map<int, std::vector<std::uint32_t>> tiers;
      for (const std::uint32_t node : box.nodes) tiers[tier_[node]].push_back(node);
      for (auto& [level, nodes] : tiers) {
        std::ranges::sort(nodes, {}, [&](std::uint32_t node) { return result.at[node].x; });
        const bool has_room = level == 0
                                  ? 1.87 * radius_ >= label_width(longest_.at(0), least_label_font)
                                  : names_fit(box, nodes.size(), level);
        for (std::size_t i = 0; i < nodes.size(); ++i) {
          LabelWish& label = result.labels[nodes[i]];
          if (level == 0 && !has_room) label.sides = {up};
          if (level < 0) label.sides = {Side::inside, up, Side::right, Side::left, down};
          if (level > 0) label.sides = {Side::inside, down, Side::right, Side::left, up};
          if (!has_room && i != 0 && i + 1 != nodes.size()) label.text.clear();
        }
      }
    }
  }

  [[nodiscard]] double arc_height(double steps) const {
    return (steps < 1.5 ? 0 : 4 + 3.2 * steps) * pitch_ / 17;
  }

  /// Height of the highest arc over a row, and a little more; 0 without arcs.
  [[nodiscard]] double arcs_of(const ServerBox& box) const {
    if (!box.is_row) return 0;
    double highest = 0;
    for (std::size_t i = 0; i < box.npus; ++i)
      for (const Neighbour& neighbour : next_.of(box.nodes[i]))
        if (is_npu(neighbour.node) && server_[neighbour.node] == server_[box.nodes[i]]) {
          const auto j = static_cast<std::size_t>(std::ranges::find(box.nodes, neighbour.node) -
                                                  box.nodes.begin());
          highest = std::max(highest, arc_height(std::abs(box.at[i].x - box.at[j].x) / pitch_));
        }
    return highest > 0 ? highest + 4 : 0;
  }

  /// Direct links between NPUs of a row that aren't neighbours run over those between them.
  void bend_rows(Arrangement& result) const {
    for (std::uint32_t l = 0; l < topology_.link_count(); ++l) {
      const Link& link = topology_.link(LinkId{l});
      if (!is_npu(link.from.value) || !is_npu(link.to.value) ||
          server_[link.from.value] != server_[link.to.value])
        continue;
      const Position a = result.at[link.from.value], b = result.at[link.to.value];
      const double steps = std::abs(a.x - b.x) / pitch_;
      if (steps < 1.5) continue;
      const ServerBox& box = boxes_[server_[link.from.value]];
      const double up = box.is_on_head ? 1 : -1;
      result.bends[l] = {LinkCourse::bent, Position{0, up * arc_height(steps)}, {}};
    }
  }

  /// What leaves a row goes down (up, from a row on its head) to the edge of the box before it
  /// turns to where it leads, and comes to it from above, so that it passes over nothing. Each link
  /// has its own corners there.
  void leave_straight_down(Arrangement& result) const {
    using Ends = std::pair<std::uint32_t, std::uint32_t>; // in a server, between them
    std::vector<Ends> ends;
    for (const ServerBox& box : boxes_)
      for (const std::uint32_t node : box.nodes)
        for (const Neighbour& neighbour : next_.of(node))
          if (server_[neighbour.node] == no_server) ends.emplace_back(node, neighbour.node);
    std::map<Ends, std::pair<Position, Position>> corners;
    const auto on_head = [&](std::uint32_t node) { return boxes_[server_[node]].is_on_head; };
    const double step = 2.3 * result.lane;
    for (const auto& [node, hub] : ends) {
      const ServerBox& box = boxes_[server_[node]];
      double left = 0, all = 0, hub_left = 0, hub_all = 0; // of the node's and the hub's links
      for (const auto& [other_node, other_hub] : ends) {
        if (other_node == node) {
          ++all;
          left += result.at[other_hub].x < result.at[hub].x ? 1 : 0;
        }
        if (other_hub == hub && on_head(other_node) == on_head(node)) {
          ++hub_all;
          hub_left += result.at[other_node].x < result.at[node].x ? 1 : 0;
        }
      }
      const double down = box.is_on_head ? -1 : 1;
      const double edge =
          box.is_on_head ? box.least.y - box_margin + 4 : box.most.y + box_margin - 4;
      const double hub_step = std::min(step, 44 / hub_all);
      corners[{node, hub}] = {
          {result.at[node].x + step * (left - 0.5 * (all - 1)), edge + 3 * down},
          {result.at[hub].x + hub_step * (hub_left - 0.5 * (hub_all - 1)),
           result.at[hub].y - down * (result.radius[hub] + 15)}};
    }
    for (std::uint32_t l = 0; l < topology_.link_count(); ++l) {
      const Link& link = topology_.link(LinkId{l});
      const auto up = corners.find({link.from.value, link.to.value}),
                 back = corners.find({link.to.value, link.from.value});
      if (up != corners.end())
        result.bends[l] = {LinkCourse::bent, {}, {up->second.first, up->second.second}};
      else if (back != corners.end())
        result.bends[l] = {LinkCourse::bent, {}, {back->second.second, back->second.first}};
    }
  }

  void leave_by_stubs(Arrangement& result) const {
    constexpr double stub = 9;
    for (std::uint32_t l = 0; l < topology_.link_count(); ++l) {
      const Link& link = topology_.link(LinkId{l});
      const std::uint32_t from = server_[link.from.value], to = server_[link.to.value];
      if (from == to) continue;
      const double down = from != no_server ? 1 : -1;
      result.bends[l] = {
          LinkCourse::stubs, {0, stub * down}, {}, from != no_server, to != no_server};
      if (from != no_server && !is_npu(link.from.value)) result.labels[link.from.value].gap = stub;
    }
    result.note = "stubs at the servers: links that leave them";
  }

  const Topology& topology_;
  Neighbours next_;
  std::vector<std::uint32_t> server_;
  std::string_view kind_;
  std::vector<ServerBox> boxes_;
  std::vector<std::uint32_t> between_;
  std::vector<Position> between_at_;
  bool are_rows_ = false, has_stubs_ = false;
  double pitch_ = 0, radius_ = 0;
  std::vector<int> tier_;              ///< [node of a server]: see find_tiers
  std::map<int, std::string> longest_; ///< name of a tier
};

} // namespace

std::optional<Arrangement> as_servers(const Topology& topology) {
  constexpr std::uint32_t most_nodes = 2500, most_in_one = 40;
  if (topology.node_count() > most_nodes || is_tree(topology)) return std::nullopt;
  Servers servers = servers_of(topology);
  if (servers.count == 0) {
    if (topology.npu_count() > most_in_one || topology.node_count() == topology.npu_count() ||
        topology.node_count() > 2 * most_in_one)
      return std::nullopt;
    servers.of.assign(topology.node_count(), 0);
    servers.count = 1;
  }
  return ServerLayout(topology, servers).arranged();
}

} // namespace tutti::layouts
