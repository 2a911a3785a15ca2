// What is the same for every algorithm: unknown settings are errors, what is proven to have no
// schedule at all is infeasible before any algorithm is asked, what an algorithm isn't made for is
// unsupported, collectives of several parts are synthesized part by part and interleaved unless the
// algorithm takes them jointly, and a limit that was reached becomes a status.

#include "sim/synthesizer.hpp"

#include "sim/compact_schedule.hpp"
#include "sim/error.hpp"
#include "sim/feasibility.hpp"
#include "sim/out_of_reach.hpp"
#include "sim/text.hpp"
#include "sim/transforms.hpp"
#include "sim/work_limit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tutti {

namespace {

/// The outcome of several parts from theirs. Each alone optimal doesn't make all at once optimal;
/// what bounds one part bounds the whole.
Outcome combined(std::span<const Outcome> outcomes) {
  Outcome all;
  all.status = Status::feasible;
  all.routing = outcomes.front().routing;
  for (const Outcome& one : outcomes) {
    if (is_cut_short(one.status)) all.status = Status::timed_out;
    if (all.note.empty()) all.note = one.note;
    if (one.bound) all.bound = std::max(all.bound.value_or(Time{}), *one.bound);
    all.outside_seconds += one.outside_seconds;
  }
  return all;
}

void require_known_settings(const AlgorithmRow& row, const SynthesisOptions& options) {
  if (row.outside) return;
  std::vector<std::string> known;
  for (const Setting& setting : row.settings) known.emplace_back(setting.name);
  for (const auto& [key, value] : options.settings)
    if (!row.has_setting(key))
      throw InputError(known.empty()
                           ? fmt::format("unknown setting \"{}\" ({} has none)", key, row.name)
                           : unknown_name(fmt::format("setting of {}", row.name), key, known));
}

} // namespace

const std::string* find_setting(const SynthesisOptions& options, const std::string& key) {
  const auto found = options.settings.find(key);
  return found == options.settings.end() ? nullptr : &found->second;
}

std::optional<std::uint32_t> find_count(const SynthesisOptions& options, const std::string& key,
                                        std::uint32_t low, std::uint32_t high) {
  const std::string* const text = find_setting(options, key);
  if (text == nullptr) return std::nullopt;
  return static_cast<std::uint32_t>(parse_integer(*text, key, low, high));
}

std::optional<bool> find_yes(const SynthesisOptions& options, const std::string& key) {
  const std::string* const text = find_setting(options, key);
  if (text == nullptr) return std::nullopt;
  static const std::vector<std::string> known{"yes", "no"};
  if (*text != "yes" && *text != "no")
    throw InputError(unknown_name("value of " + key, *text, known));
  return *text == "yes";
}

std::string_view to_text(Status status) {
  switch (status) {
  case Status::optimal: return "optimal";
  case Status::feasible: return "feasible";
  case Status::infeasible: return "infeasible";
  case Status::unsupported: return "unsupported";
  case Status::timed_out: return "timed_out";
  case Status::out_of_memory: break;
  }
  return "out_of_memory";
}

std::string missing_ability(const Topology& topology, const Collective& collective) {
  for (const CollectivePart& part : collective.parts)
    for (const NodeId member : part.group) {
      const Node& node = topology.node(member);
      if (!node.can.store) return fmt::format("{} can't store", node.name);
      if (!node.can.copy) return fmt::format("{} can't copy", node.name);
      if (!node.can.reduce && is_reducing(part.kind))
        return fmt::format("{} can't reduce", node.name);
    }
  for (const CollectivePart& part : collective.parts)
    for (std::uint32_t c = 0; part.kind == CollectiveKind::custom && c < part.chunk_count; ++c) {
      const Chunk& chunk = collective.chunks[part.first.value + c];
      if (!chunk.reduces || collective.sets[chunk.sources].size() < 2) continue;
      for (const NodeId destination : collective.sets[chunk.destinations])
        if (!topology.node(destination).can.reduce)
          return fmt::format("{} can't reduce", topology.node(destination).name);
    }
  return {};
}

Outcome infeasible(std::string note) {
  Outcome outcome;
  outcome.note = std::move(note);
  return outcome;
}

Outcome unsupported(std::string note) {
  Outcome outcome = infeasible(std::move(note));
  outcome.status = Status::unsupported;
  return outcome;
}

bool AlgorithmRow::has_setting(std::string_view setting) const {
  return outside || std::ranges::find(settings, setting, &Setting::name) != settings.end();
}

Outcome synthesize_part_by_part(
    const std::function<Outcome(const Topology&, const Collective&, const SynthesisOptions&)>& run,
    const Topology& topology, const Collective& collective, const SynthesisOptions& options) {
  std::vector<Outcome> outcomes;
  std::vector<Schedule> schedules;
  for (std::size_t p = 0; p < collective.parts.size(); ++p) {
    const Collective part = part_alone(collective, p);
    Outcome one = run(topology, part, options);
    if (one.compact) // has no order that could be interleaved with another's
      one.schedule = expanded(topology, part, *std::exchange(one.compact, std::nullopt));
    if (!one.schedule) return one;
    schedules.push_back(*std::exchange(one.schedule, std::nullopt));
    outcomes.push_back(std::move(one));
  }
  Outcome all = combined(outcomes);
  std::vector<std::uint32_t> first_chunks;
  for (const CollectivePart& part : collective.parts) first_chunks.push_back(part.first.value);
  all.schedule = interleaved(schedules, first_chunks);
  return all;
}

namespace {

/// The same chunks, without what their kinds say of them.
Collective as_custom(Collective collective) {
  for (CollectivePart& part : collective.parts) {
    part.kind = CollectiveKind::custom;
    part.root = 0;
    part.chunks_per_shard = 1;
    std::ranges::sort(part.group);
  }
  return collective;
}

} // namespace

Outcome synthesize(const AlgorithmRow& row, const Topology& topology, const Collective& collective,
                   const SynthesisOptions& options) {
  require_known_settings(row, options);
  if (std::string proof = infeasibility(topology, collective); !proof.empty())
    return infeasible(std::move(proof));
  const auto defines = [&row](CollectiveKind kind) {
    return std::ranges::find(row.collectives, kind) != row.collectives.end();
  };
  for (const CollectivePart& part : collective.parts) {
    if (defines(part.kind)) continue;
    if (!defines(CollectiveKind::custom))
      return unsupported(fmt::format("{} doesn't define {}", row.name, to_text(part.kind)));
    return synthesize(row, topology, as_custom(collective), options);
  }
  if (!row.any_abilities)
    if (std::string missing = missing_ability(topology, collective); !missing.empty())
      return unsupported(std::move(missing));
  try {
    if (row.outside && collective.parts.size() == 1)
      return row.outside->run(topology, collective, options);
    if (row.outside)
      return synthesize_part_by_part(row.outside->run, topology, collective, options);
    if (row.joint || collective.parts.size() == 1) return row.run(topology, collective, options);
    return synthesize_part_by_part(row.run, topology, collective, options);
  } catch (const OutOfReach& error) { // by the paths that this algorithm needs
    return unsupported(error.what());
  } catch (const LimitReached&) {
    const bool by_memory =
        options.limit_bytes > 0 && peak_rss_bytes() > options.limit_bytes / 10 * 9;
    Outcome outcome = unsupported(
        by_memory ? fmt::format(
                        "out of memory: no schedule yet, and nine tenths of the limit of {} in use",
                        short_text(Bytes{options.limit_bytes}))
                  : "no schedule within the limit");
    outcome.status = by_memory ? Status::out_of_memory : Status::timed_out;
    return outcome;
  }
}

} // namespace tutti
