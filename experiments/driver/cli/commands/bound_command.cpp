// `tutti bound`: how fast any schedule can be at best, by each kind of bound, and why; where a
// number of chunks is given, also what schedules of these chunks can't beat.
#include "experiments/driver/cli/commands.hpp"
#include "experiments/driver/figures/bound_drawing.hpp"
#include "experiments/driver/records/json.hpp"
#include "experiments/driver/records/output.hpp"
#include "experiments/driver/records/records.hpp"
#include "experiments/driver/requests/outline_request.hpp"
#include "experiments/driver/studies/in_file.hpp"
#include "sim/error.hpp"
#include "sim/report.hpp"
#include "synth/bounds/bounds.hpp"
#include "synth/bounds/check.hpp"
#include "topologies/list.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tutti {

namespace {

using Json = nlohmann::ordered_json;

/// With a list of its chunks where the checker goes through them.
bounds::Outline outline_of(const BoundArguments& arguments, const Topology& topology) {
  CollectiveRequest request{arguments.collective.collectives, {}};
  const auto sizes = of_option("--size", [&] { return sizes_of(arguments.collective); });
  const auto chunks = parse_chunks(arguments.chunks.value_or("1"));
  if (sizes.size() > 1) throw InputError("bound takes one size");
  if (!chunks) throw InputError("bound takes a number of chunks, not auto");
  request.size = sizes.front();
  return arguments.check ? bounds::outline(make_collective(topology, request, *chunks))
                         : make_outline(topology, request, *chunks);
}

constexpr std::string_view confirmed = "holds";

/// The problem and its bounds.
struct Answer {
  const Topology& topology;
  const Collective& collective;
  const TimeModel& model;
  bool at_chunks = false; ///< a number of chunks is given
  Bounds bounds;
  /// [bound of bounds.any, bounds.given]: "holds", or why the checker refuses its certificate;
  /// empty if none was checked.
  std::vector<std::string> any_checks = {}, given_checks = {};
};

std::vector<std::string> checks_of(const Answer& answer, Chunking chunking,
                                   const std::vector<Bound>& bounds) {
  std::vector<std::string> checks;
  for (const Bound& bound : bounds) {
    const std::string fault =
        refuted(answer.topology, answer.collective, answer.model, chunking, bound);
    checks.push_back(fault.empty() ? std::string(confirmed) : fault);
  }
  return checks;
}

bool all_hold(const std::vector<std::string>& checks) {
  return std::ranges::all_of(checks, [](const std::string& check) { return check == confirmed; });
}

Json list_of(const std::vector<Bound>& bounds, const std::vector<std::string>& checks) {
  Json list = Json::array();
  for (const Bound& bound : bounds) {
    Json inside = Json::array();
    for (const NodeId node : bound.inside) inside.push_back(node.value);
    list.push_back({{"kind", to_text(bound.kind)},
                    {"lower_bound_ps", bound.time.ps},
                    {"certificate", bound.certificate},
                    {"inside", std::move(inside)}});
    if (!checks.empty()) list.back()["check"] = checks[list.size() - 1];
  }
  return list;
}

Json output_of(const Answer& answer) {
  const Bound& best = answer.bounds.best();
  const Collective& collective = answer.collective;
  Json json = {{"kind", "bound"},
               {"topology", answer.topology.name()},
               {"collective", collective_text(answer.topology, collective)},
               {"size_bytes", collective.size().count},
               {"npus", answer.topology.npu_count()},
               {"link_busy", to_text(answer.model.link_busy)},
               {"forwarding", to_text(answer.model.forwarding)},
               {"lower_bound_ps", best.time.ps},
               {"lower_bound_kind", to_text(best.kind)},
               {"algbw_bytes_per_s", algbw(collective, best.time)},
               {"busbw_bytes_per_s", busbw(collective, best.time)}};
  Json details = {{"bounds", list_of(answer.bounds.any, answer.any_checks)}};
  for (const char* key : {"chunks", "lower_bound_at_chunks_ps", "lower_bound_at_chunks_kind"})
    json[key] = nullptr; // where no number of chunks is given
  if (answer.at_chunks) {
    const Bound& at_chunks = answer.bounds.best_at_chunks();
    json["chunks"] = chunk_count(collective);
    json["lower_bound_at_chunks_ps"] = at_chunks.time.ps;
    json["lower_bound_at_chunks_kind"] = to_text(at_chunks.kind);
    details["bounds_at_chunks"] = list_of(answer.bounds.given, answer.given_checks);
  }
  json["details"] = std::move(details);
  return json;
}

std::string table_of(const Collective& collective, const std::vector<Bound>& bounds,
                     const std::vector<std::string>& checks, const char* title,
                     const TableForm& form) {
  struct R {
    const Bound& bound;
    std::string check;
  };
  std::vector<R> rows;
  for (const Bound& bound : bounds)
    rows.push_back({bound, checks.empty() ? "" : checks[rows.size()]});
  using namespace column_words;
  Fields<R> fields{{{"bound", text, ColumnRole::metric, 0, title},
                    [](const R& r) { return to_text(r.bound.kind); }},
                   {{"time", time}, [](const R& r) { return r.bound.time; }},
                   {{"algbw", rate}, [&](const R& r) { return algbw(collective, r.bound.time); }}};
  if (!checks.empty()) fields.push_back({{"check", text}, &R::check});
  fields.push_back(
      {{"certificate", text, ColumnRole::note}, [](const R& r) { return r.bound.certificate; }});
  return to_text(whole_table(records_of<R>(fields, rows)), form);
}

std::string text_of(const Answer& answer, const TableForm& form) {
  const Collective& collective = answer.collective;
  std::string text =
      fmt::format("{}, {} {} ({} NPUs)\n{}no schedule is faster than {} ({})\n",
                  answer.topology.name(), collective_text(answer.topology, collective),
                  to_text(collective.size()), answer.topology.npu_count(),
                  table_of(collective, answer.bounds.any, answer.any_checks, "bound", form),
                  short_text(answer.bounds.best().time), to_text(answer.bounds.best().kind));
  if (!answer.at_chunks) return text;
  return text + fmt::format("\n{}no schedule with {} is faster than {} ({})\n",
                            table_of(collective, answer.bounds.given, answer.given_checks,
                                     "bound at chunks", form),
                            chunk_count(collective) == 1
                                ? "this one chunk"
                                : fmt::format("these {} chunks", chunk_count(collective)),
                            short_text(answer.bounds.best_at_chunks().time),
                            to_text(answer.bounds.best_at_chunks().kind));
}

/// The best bound of any schedule or, where a number of chunks is given, at these chunks.
void draw_best(const std::string& file, const Answer& answer) {
  const Bound& best = answer.at_chunks ? answer.bounds.best_at_chunks() : answer.bounds.best();
  // the certificate is long: in the small type below
  const std::string title =
      fmt::format("{}, {} {}: at least {} by {}", answer.topology.name(),
                  collective_text(answer.topology, answer.collective),
                  to_text(answer.collective.size()), short_text(best.time), to_text(best.kind));
  draw(bound_figure({title, best.certificate}, answer.topology, best), file);
}

// What can be checked before any work.
void require_sound(const BoundArguments& arguments) {
  std::vector<std::string> columns{"bound", "bound_at_chunks", "time", "algbw", "certificate"};
  if (arguments.check) columns.emplace_back("check");
  require_columns(arguments.tables, columns);
  if (arguments.draw.empty()) return;
  require_picture_name(arguments.draw);
  require_writable(arguments.draw);
}

} // namespace

int bound_command(const BoundArguments& arguments) {
  require_sound(arguments);
  const Topology topology = make_topology_and_report(arguments.topology);
  const bounds::Outline outline = outline_of(arguments, topology);
  const TimeModel model = time_model(arguments.model);
  Answer answer{topology, outline.collective, model, arguments.chunks.has_value(),
                about_topology(arguments.topology, topology.name(), [&] {
                  return all_bounds(topology, outline, model,
                                    bound_effort_words.parse(arguments.bound.value_or("quick")));
                })};
  if (arguments.check) {
    answer.any_checks = checks_of(answer, Chunking::any, answer.bounds.any);
    if (answer.at_chunks)
      answer.given_checks = checks_of(answer, Chunking::given, answer.bounds.given);
  }
  if (!arguments.draw.empty()) draw_best(arguments.draw, answer);
  if (arguments.json)
    print_text(answer_json("bound", Json::array({output_of(answer)})));
  else
    print_tables(text_of(answer, table_form(arguments.tables)));
  return all_hold(answer.any_checks) && all_hold(answer.given_checks) ? 0 : 1;
}

} // namespace tutti
