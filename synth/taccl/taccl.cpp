// TACCL: Shah et al., "TACCL: Guiding Collective Algorithm Synthesis using Communication Sketches"
// (NSDI 2023), without a commercial solver. What reduces is an inverted schedule of the reversed
// logical topology; an All-Reduce is both halves at once.
// Cost: below a second for two machines of 8 to 16 NPUs; hundreds of NPUs in a minute.
#include "sim/error.hpp"
#include "sim/text.hpp"
#include "synth/inversion.hpp"
#include "synth/list.hpp"
#include "synth/taccl/synthesis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace tutti {

namespace {

const std::string* find_setting(const SynthesisOptions& options, const std::string& key) {
  const auto found = options.settings.find(key);
  return found == options.settings.end() ? nullptr : &found->second;
}

bool yes_or_no(const std::string& key, const std::string& text) {
  static const std::array<std::string, 2> known{"no", "yes"};
  if (text != "yes" && text != "no") throw InputError(unknown_name("value of " + key, text, known));
  return text == "yes";
}

TacclSettings taccl_settings(const SynthesisOptions& options) {
  TacclSettings settings;
  if (const auto* text = find_setting(options, "contiguous"))
    settings.joins_chunks = yes_or_no("contiguous", *text);
  if (const auto* text = find_setting(options, "slack"))
    settings.slack = parse_decimal(*text, "slack", 0, 100);
  if (const auto* text = find_setting(options, "routes")) {
    static const std::array<std::string, 3> known{"flows", "taccl", "tacos"};
    settings.routes.clear();
    for (const std::string_view name : split(*text, '+')) {
      if (name == "taccl")
        settings.routes.push_back(RouteSource::taccl);
      else if (name == "tacos")
        settings.routes.push_back(RouteSource::tacos);
      else if (name == "flows")
        settings.routes.push_back(RouteSource::flows);
      else
        throw InputError(unknown_name("value of routes", name, known));
    }
  }
  return settings;
}

double gap(Time time, Time at_least) {
  return at_least.ps > 0 ? static_cast<double>(time.ps) / static_cast<double>(at_least.ps) - 1 : 0;
}

void add_facts(const SketchAnswer& answer, std::map<std::string, double>& facts) {
  facts["routing_seconds"] = answer.routing.seconds();
  facts["routing_gap"] = gap(answer.routing, answer.routing_at_least);
  facts["ordering_gap"] = gap(answer.ordering, answer.ordering_at_least);
  facts["contiguity_gap"] = answer.is_exact ? 0 : gap(answer.planned, answer.planned_at_least);
  facts["joined_chunks"] = answer.joined;
  facts["switched_connections"] = answer.connections;
  facts["symmetry"] = answer.symmetry;
}

} // namespace

Outcome taccl(const Topology& topology, const Collective& collective,
              const SynthesisOptions& options) {
  if (std::string obstacle = inversion_obstacle("taccl", collective); !obstacle.empty())
    return infeasible(std::move(obstacle));
  const WorkLimit limit(options);
  const TacclSettings settings = taccl_settings(options);
  const std::string* const file = find_setting(options, "sketch");
  if (file == nullptr) throw InputError("taccl needs a sketch: --set sketch=FILE");
  const Sketch sketch = read_sketch(*file);
  const CollectivePart& part = collective.parts.front();
  Outcome outcome;
  Collective cut = collective;
  if (options.choose_chunks && part.kind != CollectiveKind::custom && sketch.partitions > 1) {
    cut = make_collective(topology, {part.kind, part.size, part.group, part.root,
                                     part.chunks_per_shard * sketch.partitions});
    outcome.parts_per_chunk = sketch.partitions;
  }
  SketchAnswer answer = synthesize_by_sketch(topology, cut, sketch, settings, options, limit);
  if (!answer.schedule) {
    if (answer.why_not.empty()) throw LimitReached();
    return infeasible(std::move(answer.why_not));
  }
  outcome.status = limit.reached() ? Status::timed_out : Status::feasible;
  outcome.planned = answer.planned;
  outcome.planned_on = fmt::format("sketch {}: {}", sketch.name, answer.how);
  add_facts(answer, outcome.facts);
  outcome.schedule = std::move(answer.schedule);
  return outcome;
}

} // namespace tutti
