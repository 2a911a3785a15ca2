// `tutti bound`: how fast any schedule can be at best, by each kind of bound, and why.
#include "experiments/all_bounds.hpp"
#include "experiments/bound_drawing.hpp"
#include "experiments/collective_request.hpp"
#include "experiments/commands.hpp"
#include "experiments/evaluation_json.hpp"
#include "experiments/output.hpp"
#include "experiments/table.hpp"
#include "sim/error.hpp"
#include "sim/report.hpp"
#include "synth/bounds/bounds.hpp"
#include "topologies/list.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace tutti {

namespace {

using Json = nlohmann::ordered_json;

Collective collective_of(const BoundArguments& arguments, const Topology& topology) {
  CollectiveRequest request{arguments.collective.collectives, {}};
  const auto sizes = sizes_of(arguments.collective);
  const auto chunks = parse_chunks(arguments.chunks);
  if (sizes.size() > 1) throw InputError("bound takes one size");
  if (!chunks) throw InputError("bound takes a number of chunks, not auto");
  request.size = sizes.front();
  return make_collective(topology, request, *chunks);
}

Json output_of(const Topology& topology, const Collective& collective, const TimeModel& model,
               const std::vector<Bound>& bounds, const Bound& best) {
  Json list = Json::array();
  for (const Bound& bound : bounds) {
    Json inside = Json::array();
    for (const NodeId node : bound.inside) inside.push_back(node.value);
    list.push_back({{"kind", to_text(bound.kind)},
                    {"lower_bound_ps", bound.time.ps},
                    {"certificate", bound.certificate},
                    {"inside", std::move(inside)}});
  }
  return {{"topology", topology.name()},
          {"collective", collective_text(topology, collective)},
          {"size_bytes", collective.size().count},
          {"npus", topology.npu_count()},
          {"chunks", collective.chunks.size()},
          {"link_busy", to_text(model.link_busy)},
          {"forwarding", to_text(model.forwarding)},
          {"lower_bound_ps", best.time.ps},
          {"lower_bound_kind", to_text(best.kind)},
          {"algbw_bytes_per_s", algbw(collective, best.time)},
          {"busbw_bytes_per_s", busbw(collective, best.time)},
          {"bounds", std::move(list)}};
}

std::string text_of(const Topology& topology, const Collective& collective,
                    const std::vector<Bound>& bounds, const Bound& best) {
  Table table{{{"bound"}, {"time", Align::right}, {"algbw", Align::right}, {"certificate"}}, {}};
  for (const Bound& bound : bounds)
    table.rows.push_back({std::string(to_text(bound.kind)), short_text(bound.time),
                          short_rate_text(algbw(collective, bound.time)), bound.certificate});
  return fmt::format("{}, {} {} ({} NPUs)\n{}no schedule is faster than {} ({})\n", topology.name(),
                     collective_text(topology, collective), to_text(collective.size()),
                     topology.npu_count(), to_text(table), short_text(best.time),
                     to_text(best.kind));
}

void draw_best_cut(const std::string& file, const Topology& topology, const Collective& collective,
                   const std::vector<Bound>& bounds) {
  const Bound& cut = best_cut(bounds);
  const Bound& best = best_of(bounds);
  // the certificate is long: in the small type below
  const std::string title = fmt::format(
      "{}, {} {}: at least {} by a {}", topology.name(), collective_text(topology, collective),
      to_text(collective.size()), short_text(cut.time), to_text(cut.kind));
  std::string note = cut.certificate;
  if (best.time > cut.time)
    note += fmt::format("; the best bound of all is no cut: {}, {}", short_text(best.time),
                        to_text(best.kind));
  draw(cut_figure({title, note}, topology, cut), file);
}

// What can be checked before any work.
void require_sound(const BoundArguments& arguments) {
  if (arguments.draw.empty()) return;
  if (!arguments.draw.ends_with(".svg") && !arguments.draw.ends_with(".png"))
    throw InputError(fmt::format("{}: a drawing is .svg or .png", arguments.draw));
  require_writable(arguments.draw);
}

} // namespace

int bound_command(const BoundArguments& arguments) {
  require_sound(arguments);
  const Topology topology = make_topology(arguments.topology);
  const Collective collective = collective_of(arguments, topology);
  const TimeModel model = time_model(arguments.model);
  const std::vector<Bound> bounds = all_bounds(topology, collective, model);
  const Bound& best = best_of(bounds);
  if (!arguments.draw.empty()) draw_best_cut(arguments.draw, topology, collective, bounds);
  print_text(arguments.json ? json_text(output_of(topology, collective, model, bounds, best))
                            : text_of(topology, collective, bounds, best));
  return 0;
}

} // namespace tutti
