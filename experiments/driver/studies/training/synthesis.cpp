// Planning lies in workloads/, which knows neither synth/ nor the driver. What crosses goes through
// the functions that are made here. Bounds are those of paths and cuts alone: with programs of
// flows, those of dozens of sizes would take longer than the planning itself.
#include "experiments/driver/studies/training/synthesis.hpp"

#include "experiments/driver/cache/schedule_cache.hpp"
#include "experiments/driver/studies/registry.hpp"
#include "experiments/driver/studies/runs/attempt.hpp"
#include "sim/sends.hpp"
#include "synth/bounds/bounds.hpp"

#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace tutti {

namespace {

SynthesizedCollective planned_from(Attempt made, const Topology& network) {
  SynthesizedCollective result;
  result.problem = verdict_problem(made);
  result.was_remembered = made.was_remembered;
  if (!made.was_remembered) result.seconds = made.synthesis_seconds;
  result.status = made.outcome.status;
  if (!made.usable()) {
    result.note = made.has_schedule() ? made.verdict.fault->text : made.outcome.note;
    if (result.note.empty()) result.note = to_text(made.outcome.status);
    return result;
  }
  result.schedule = schedule_of(network, made.collective, made.outcome);
  result.collective = std::move(made.collective);
  result.library = std::move(made.outcome.library);
  return result;
}

} // namespace

WorkloadSynthesis synthesis_for(const PlanningOptions& options, const std::string& cache) {
  std::vector<AlgorithmRow> rows = options.algorithms;
  for (const auto& [kind, row] : options.by_collective) rows.push_back(row);
  require_known_settings(rows, options.options);

  const auto remembered = std::make_shared<ScheduleCache>(cache);
  WorkloadSynthesis synthesis;
  synthesis.synthesize = [remembered, of_all = options.options, transport = options.transport](
                             const AlgorithmRow& row, const Topology& network,
                             const CollectiveSpec& spec, std::optional<std::uint32_t> chunks) {
    const auto make = [&](std::uint32_t chunks_per_shard) {
      CollectiveSpec cut = spec;
      cut.chunks_per_shard = chunks_per_shard;
      return make_collective(network, cut);
    };
    const std::optional<Topology> planned = // algorithms know how long a step takes
        transport ? std::optional(with_latencies(network, *transport)) : std::nullopt;
    SynthesizedCollective result =
        planned_from(attempt_in_chunks(row, planned ? *planned : network, make, chunks,
                                       options_for(row, of_all), *remembered, Wanted::schedule),
                     network);
    result.warning = remembered->warning();
    return result;
  };
  synthesis.bound = [model = options.options.model](const Topology& network,
                                                    const CommunicationPlan& plan) {
    Bound bound = lower_bound(network, plan.collective, bounding_model(model, plan.schedule),
                              Chunking::any, BoundEffort::least);
    return ProvenBound{bound.time, std::move(bound.certificate)};
  };
  synthesis.goes_by_names = goes_by_names(options.options);
  return synthesis;
}

} // namespace tutti
