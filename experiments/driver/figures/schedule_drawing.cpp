// Schedules are drawn from a replay, since steps are instants at which something starts. What a
// node holds then is worked out from the list (a set of contributions for each chunk), and ordered
// by the deliveries of the replay.
#include "experiments/driver/figures/schedule_drawing.hpp"

#include "experiments/driver/figures/chart.hpp"
#include "experiments/driver/figures/layout/layout.hpp"
#include "experiments/driver/figures/palette.hpp"
#include "sim/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <string_view>
#include <vector>

namespace tutti {

namespace {

constexpr std::size_t most_drawn_nodes = 64, most_drawn_chunks = 64, most_drawn_steps = 48;

// Lengths in points.
constexpr double cell = 17;          // a chunk's place in its NPU
constexpr double chunk_radius = 7.6; // radius of a chunk that is held or moves
constexpr double corridor = 52;      // between neighbours, for the arrows
constexpr double arrow_offset = 8;   // of an arrow from the middle of the corridor
constexpr double panel_gap = 56, page_margin = 36, above_panel = 38;

// Layers.
constexpr int npu_layer = 0, course_layer = 1, tail_layer = 2, disc_layer = 10;

// ---- what the nodes hold

// For chunks that reduce: a bit per node that has contributed; for others one bit. 0: not there.
using Content = std::uint64_t;

class Holdings {
public:
  Holdings(const Topology& topology, const Collective& collective)
      : nodes_(topology.node_count()), contents_(nodes_ * collective.chunks.size(), 0) {
    for (std::uint32_t c = 0; c < collective.chunks.size(); ++c)
      for (const NodeId node : collective.sources(ChunkId{c}))
        at(ChunkId{c}, node) = collective.chunks[c].reduces ? Content{1} << node.value : 1;
  }
  Content& at(ChunkId chunk, NodeId node) { return contents_[chunk.value * nodes_ + node.value]; }
  void deliver(ChunkId chunk, NodeId node, Op op, Content content) {
    Content& held = at(chunk, node);
    held = op == Op::reduce ? held | content : content;
  }

private:
  std::size_t nodes_;
  std::vector<Content> contents_;
};

Content complete(const Collective& collective, ChunkId chunk) {
  if (!collective.chunks[chunk.value].reduces) return 1;
  Content all = 0;
  for (const NodeId node : collective.sources(chunk)) all |= Content{1} << node.value;
  return all;
}

struct Ends {
  NodeId from, to;
};

Ends ends_of(const Topology& topology, const Schedule& schedule, std::size_t transfer) {
  const PathId path = schedule.path_of(transfer);
  return {topology.link(schedule.paths().first(path)).from,
          topology.link(schedule.paths().last(path)).to};
}

// What each transfer carries, by the meaning of the list (not by time).
std::vector<Content> carried(const Topology& topology, const Collective& collective,
                             const Schedule& schedule) {
  Holdings now(topology, collective), before = now;
  std::vector<Content> contents;
  for (std::size_t i = 0; i < schedule.size(); ++i) {
    const Transfer transfer = schedule[i];
    const Ends ends = ends_of(topology, schedule, i);
    if (!transfer.together) before = now;
    contents.push_back(before.at(transfer.chunk, ends.from));
    now.deliver(transfer.chunk, ends.to, transfer.op, contents.back());
  }
  return contents;
}

// ---- colours

int chunk_colour(ChunkId chunk) { return series_colour(chunk.value); }

// ---- the picture

class StepDrawing {
public:
  StepDrawing(const Topology& topology, const Collective& collective, const Schedule& schedule,
              const Report& report)
      : topology_(topology), collective_(collective), schedule_(schedule), report_(report),
        held_(topology, collective), carried_(carried(topology, collective, schedule)) {
    cells_ = static_cast<std::size_t>(
        std::ceil(std::sqrt(static_cast<double>(collective.chunks.size()))));
    box_ = static_cast<double>(cells_) * cell + 6;
    place_nodes();
    arrivals_.resize(schedule.size());
    std::iota(arrivals_.begin(), arrivals_.end(), 0U);
    std::stable_sort(arrivals_.begin(), arrivals_.end(), [&](std::size_t a, std::size_t b) {
      return report_.deliveries[a] < report_.deliveries[b];
    });
    for (const HopRecord& hop : report.hops)
      if (starts_.empty() || starts_.back() != hop.start) starts_.push_back(hop.start);
  }

  Figure draw(const Heading& heading) {
    if (starts_.size() > most_drawn_steps)
      throw InputError(fmt::format("a schedule of {} steps can't be drawn, only of up to {}",
                                   starts_.size(), most_drawn_steps));
    const std::size_t panels = starts_.size() + 1;
    for (std::size_t p = 0; p < panels; ++p) // titles stand side by side
      panel_.x = std::max(panel_.x, text_width(title_of(p), chart_font) + 8 - panel_gap);
    // As wide as a page, where that has room for a panel: what is wider can't be read in print.
    const auto on_page = static_cast<std::size_t>((page_width - 2 * page_margin + panel_gap) /
                                                  (panel_.x + panel_gap));
    const std::size_t columns = std::min(columns_for(panels), std::max<std::size_t>(on_page, 1));
    const std::size_t rows = (panels + columns - 1) / columns;
    const auto extent = [](std::size_t count, double size) {
      return static_cast<double>(count) * (size + panel_gap) - panel_gap;
    };
    const double below = 2 * page_margin + text_width(legend(), least_font);
    const int width = std::max({static_cast<int>(2 * page_margin + extent(columns, panel_.x)),
                                heading_width(heading), static_cast<int>(std::ceil(below))});
    const FigureFrame frame(heading, width, {14, least_font});
    for (std::size_t p = 0; p < panels; ++p) {
      const std::size_t column = p % columns, row = p / columns;
      origin_ = {page_margin + static_cast<double>(column) * (panel_.x + panel_gap),
                 frame.top() + above_panel + static_cast<double>(row) * (panel_.y + panel_gap)};
      draw_panel(p);
    }
    const double picture = above_panel + extent(rows, panel_.y) + 40;
    canvas_.text(text_layer, {page_margin, frame.top() + picture - 12}, legend(), least_font,
                 0x444444, Anchor::left);
    frame.paint(canvas_, picture);
    Figure figure = canvas_.figure(width, frame.height(picture));
    figure.data = data();
    return figure;
  }

private:
  // A row for each hop that is drawn.
  [[nodiscard]] std::vector<std::vector<std::string>> data() const {
    std::vector<std::vector<std::string>> rows{{"step", "from", "to", "chunks", "start [us]"}};
    for (const HopRecord& hop : report_.hops) {
      const auto step = std::ranges::lower_bound(starts_, hop.start) - starts_.begin();
      const Link& link = topology_.link(hop.link);
      rows.push_back({fmt::format("{}", step + 1), topology_.node(link.from).name,
                      topology_.node(link.to).name, chunks_of(hop),
                      fmt::format("{:.6g}", static_cast<double>(hop.start.ps) / 1e6)});
    }
    return rows;
  }

  // As the network's layout has them, so much larger that boxes have room between them.
  void place_nodes() {
    layout_ = layout_of(topology_);
    constexpr std::string_view roomy[] = {"ring", "hypercube", "grid", "star", "circle"};
    if (std::ranges::find(roomy, layout_.arrangement) == std::end(roomy))
      layout_ = layout_around(topology_);
    assert(layout_.nodes.size() == topology_.node_count());
    double nearest = std::numeric_limits<double>::infinity(); // of two NPUs
    for (std::uint32_t a = 0; a < topology_.npu_count(); ++a)
      for (std::uint32_t b = 0; b < a; ++b)
        nearest = std::min(nearest, std::hypot(layout_.nodes[a].at.x - layout_.nodes[b].at.x,
                                               layout_.nodes[a].at.y - layout_.nodes[b].at.y));
    layout_ = scaled(layout_, topology_.npu_count() > 1 ? (box_ + corridor) / nearest : 1);
    Position least = layout_.nodes.front().at, most = least;
    for (const LayoutNode& node : layout_.nodes) {
      least = {std::min(least.x, node.at.x), std::min(least.y, node.at.y)};
      most = {std::max(most.x, node.at.x), std::max(most.y, node.at.y)};
    }
    const bool has_stubs = std::ranges::any_of(
        layout_.links, [](const LayoutLink& link) { return link.course == LinkCourse::stubs; });
    const double margin = has_stubs ? 0.5 * corridor : 0;
    upper_left_ = least - Position{margin, margin};
    panel_ = most - least + Position{box_ + 2 * margin, box_ + 2 * margin};
  }

  // As near to the shape of a page as whole panels allow.
  [[nodiscard]] std::size_t columns_for(std::size_t panels) const {
    const double wish = std::sqrt(1.5 * static_cast<double>(panels) * (panel_.y + panel_gap) /
                                  (panel_.x + panel_gap));
    return std::clamp<std::size_t>(static_cast<std::size_t>(std::lround(wish)), 1, panels);
  }

  [[nodiscard]] std::string title_of(std::size_t step) const {
    if (step == starts_.size()) return fmt::format("end, {}", short_text(report_.completion));
    const Time from = starts_[step];
    return fmt::format("step {}, from {}", step + 1, from.ps == 0 ? "0" : short_text(from));
  }

  void draw_panel(std::size_t step) {
    const bool last = step == starts_.size();
    const Time now = last ? report_.completion : starts_[step];
    const Holdings before = held_;
    for (; arrived_ < arrivals_.size() && report_.deliveries[arrivals_[arrived_]] <= now;
         ++arrived_) {
      const std::size_t i = arrivals_[arrived_];
      held_.deliver(schedule_[i].chunk, ends_of(topology_, schedule_, i).to, schedule_[i].op,
                    carried_[i]);
    }
    canvas_.text(text_layer, origin_ - Position{0, 15}, title_of(step), chart_font, 0,
                 Anchor::left);
    for (std::uint32_t l = 0; l < topology_.link_count(); ++l) draw_link(LinkId{l});
    for (std::uint32_t n = 0; n < topology_.node_count(); ++n) draw_node(NodeId{n}, before);
    if (last) return;
    for (const HopRecord& hop : report_.hops)
      if (hop.start == now) draw_hop(hop);
  }

  [[nodiscard]] Position on_panel(Position place) const {
    return origin_ + place - upper_left_ + Position{box_ / 2, box_ / 2};
  }
  [[nodiscard]] Position centre(NodeId node) const {
    return on_panel(layout_.nodes[node.value].at);
  }

  void draw_node(NodeId node, Holdings before) {
    const Position middle = centre(node);
    const bool npu = topology_.node(node).kind == NodeKind::npu;
    const double half = npu ? box_ / 2 : cell / 2 + 3;
    canvas_.square(npu_layer, middle, half, npu ? 0xf7f7f7 : 0xbbbbbb, 0x888888);
    if (!npu) return;
    for (std::uint32_t c = 0; c < collective_.chunks.size(); ++c) {
      const ChunkId chunk{c};
      const auto column = c % cells_, row = c / cells_;
      const Position at{middle.x - half + 3 + (static_cast<double>(column) + 0.5) * cell,
                        middle.y - half + 3 + (static_cast<double>(row) + 0.5) * cell};
      const Content content = held_.at(chunk, node);
      if (content == 0) {
        canvas_.disc(disc_layer, at, 1.3, 0xcccccc);
        continue;
      }
      const bool is_new = content != before.at(chunk, node);
      const int colour = chunk_colour(chunk);
      draw_disc(at, content == complete(collective_, chunk) ? colour : paler(colour, 2.0 / 3),
                fmt::to_string(c), is_new);
    }
  }

  void draw_disc(Position at, int colour, const std::string& text, bool ringed) {
    if (ringed) canvas_.disc(disc_layer, at, chunk_radius + 0.9, 0x111111);
    canvas_.disc(disc_layer + 1, at, ringed ? chunk_radius - 0.5 : chunk_radius, colour);
    canvas_.text(text_layer, at, text, least_font, text_colour_on(colour));
  }

  // How far the node's edge is from its middle in a direction of length 1.
  [[nodiscard]] double edge(NodeId node, Position direction) const {
    const bool npu = topology_.node(node).kind == NodeKind::npu;
    const double half = npu ? box_ / 2 : cell / 2 + 3;
    return half / std::max(std::abs(direction.x), std::abs(direction.y)) + 3;
  }

  // From edge to edge, on its own right-hand side; only the beginning of a link around a torus.
  [[nodiscard]] std::vector<Position> course(LinkId id) const {
    const Link& link = topology_.link(id);
    const Position a = centre(link.from), b = centre(link.to);
    const LayoutLink& drawn = layout_.links[layout_.link_of[id.value]];
    std::vector<Position> line{a};
    if (drawn.course == LinkCourse::stubs) {
      const std::vector<Position>& stub = drawn.strokes.front();
      const Position by = stub.back() - stub.front();
      const Position direction = by * (1 / std::hypot(by.x, by.y));
      line.push_back(a + direction * (edge(link.from, direction) + 0.5 * corridor));
    } else {
      if (drawn.course == LinkCourse::bent)
        for (const Position& place : drawn.strokes.front())
          if (is_outside(link.from, on_panel(place)) && is_outside(link.to, on_panel(place)))
            line.push_back(on_panel(place));
      line.push_back(b);
    }
    const auto beside = [](Position from, Position to, double along) {
      const double length = std::hypot(to.x - from.x, to.y - from.y);
      const Position d = (to - from) * (1 / length);
      return from + d * along + Position{-d.y, d.x} * arrow_offset;
    };
    const auto unit = [](Position from, Position to) {
      return (to - from) * (1 / std::hypot(to.x - from.x, to.y - from.y));
    };
    const std::size_t last = line.size() - 1;
    const Position first_point = beside(line[0], line[1], edge(link.from, unit(line[0], line[1])));
    const double last_length =
        std::hypot(line[last].x - line[last - 1].x, line[last].y - line[last - 1].y);
    const double trimmed =
        drawn.course == LinkCourse::stubs ? 0 : edge(link.to, unit(line[last - 1], line[last]));
    const Position last_point = beside(line[last - 1], line[last], last_length - trimmed);
    line.front() = first_point;
    line.back() = last_point;
    return line;
  }

  [[nodiscard]] bool is_outside(NodeId node, Position place) const {
    const Position away = place - centre(node);
    return std::max(std::abs(away.x), std::abs(away.y)) > box_ / 2 + 4;
  }

  void draw_link(LinkId link) { canvas_.line(course_layer, course(link), 0xd0d0d0, 1); }

  void draw_hop(const HopRecord& hop) {
    std::vector<Position> line = course(hop.link);
    const Transfer transfer = schedule_[hop.transfer];
    const int colour = chunk_colour(transfer.chunk);
    const Position before = line[line.size() - 2], end = line.back();
    const Position along = (end - before) * (1 / std::hypot(end.x - before.x, end.y - before.y));
    const Position foot = end - along * 6.5, side = Position{-along.y, along.x} * 2.3;
    canvas_.area(tail_layer, std::array{end, foot + side, foot - side}, colour);
    line.back() = foot;
    canvas_.line(tail_layer, line, colour, 1.6);
    line.back() = end;
    // A little before the middle, since the head is at the end.
    const Position middle = line.size() > 2 ? line[line.size() / 2] : (before + end) * 0.5;
    draw_disc(middle - along * 2, colour,
              fmt::format("{}{}", transfer.op == Op::reduce ? "+" : "", chunks_of(hop)),
              waits_for_named(hop));
  }

  // Chunks of the send: the first and the last of three or more in a row, else each.
  [[nodiscard]] std::string chunks_of(const HopRecord& hop) const {
    const std::size_t first = hop.transfer, last = schedule_.send_end(first) - 1;
    bool in_row = last > first + 1;
    std::vector<std::uint32_t> chunks;
    for (std::size_t i = first; i <= last; ++i) {
      chunks.push_back(schedule_[i].chunk.value);
      in_row = in_row && chunks.back() == chunks.front() + (i - first);
    }
    if (in_row) return fmt::format("{}-{}", chunks.front(), chunks.back());
    return fmt::format("{}", fmt::join(chunks, ","));
  }

  // Whether the hop sets out after transfers that its own names.
  [[nodiscard]] bool waits_for_named(const HopRecord& hop) const {
    if (schedule_.paths().first(schedule_.path_of(hop.transfer)) != hop.link) return false;
    bool names = false;
    for (std::size_t i = hop.transfer; i < schedule_.send_end(hop.transfer); ++i)
      names = names || !schedule_.dependencies(i).empty();
    return names;
  }

  [[nodiscard]] std::string legend() const {
    const bool reduces = std::any_of(collective_.chunks.begin(), collective_.chunks.end(),
                                     [](const Chunk& chunk) { return chunk.reduces; });
    return fmt::format("disc: a chunk{}; ringed: it came in the step before{}{}",
                       reduces ? "; pale: a partial sum" : "",
                       std::ranges::any_of(
                           report_.hops, [&](const HopRecord& hop) { return waits_for_named(hop); })
                           ? ", on a link: it waited for transfers that it names"
                           : "",
                       reduces ? "; +: to be added" : "");
  }

  const Topology& topology_;
  const Collective& collective_;
  const Schedule& schedule_;
  const Report& report_;
  Holdings held_;
  std::vector<Content> carried_;
  std::size_t cells_ = 0; // chunks in a row of an NPU
  double box_ = 0;
  Position panel_, origin_; // panel: its extent
  Layout layout_;
  Position upper_left_;               // of the middles of nodes
  std::vector<std::size_t> arrivals_; // transfers by delivery
  std::size_t arrived_ = 0;
  std::vector<Time> starts_;
  Canvas canvas_;
};

} // namespace

Figure schedule_figure(const Heading& heading, const Topology& topology,
                       const Collective& collective, const Schedule& schedule,
                       const Report& report) {
  assert(report.deliveries.size() == schedule.size());
  if (topology.node_count() > most_drawn_nodes || collective.chunks.size() > most_drawn_chunks)
    throw InputError(fmt::format("a schedule of {} nodes and {} chunks can't be drawn, only of up "
                                 "to {} and {}",
                                 topology.node_count(), collective.chunks.size(), most_drawn_nodes,
                                 most_drawn_chunks));
  return StepDrawing(topology, collective, schedule, report).draw(heading);
}

} // namespace tutti
