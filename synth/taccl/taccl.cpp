// TACCL: Shah et al., "TACCL: Guiding Collective Algorithm Synthesis using Communication Sketches"
// (NSDI 2023), without a commercial solver. What reduces is an inverted schedule of the reversed
// logical topology; an All-Reduce is both halves at once.
// `taccl_paper` is what the paper prints; `taccl` tries more sketches, and more paths.
// Cost: below a second for two machines of 8 to 16 NPUs; hundreds of NPUs in a minute.
#include "sim/engines/engine.hpp"
#include "sim/error.hpp"
#include "sim/renumbering.hpp"
#include "sim/text.hpp"
#include "sim/transforms.hpp"
#include "sim/words.hpp"
#include "synth/bounds/bounds.hpp"
#include "synth/chunk_choice.hpp"
#include "synth/direct_paths.hpp"
#include "synth/list.hpp"
#include "synth/taccl/mutations.hpp"
#include "synth/taccl/proposals.hpp"
#include "synth/taccl/synthesis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tutti {

namespace {

TacclSettings taccl_settings(const SynthesisOptions& options) {
  TacclSettings settings;
  settings.joins_chunks = find_yes(options, "contiguous").value_or(settings.joins_chunks);
  if (const auto* text = find_setting(options, "slack"))
    settings.slack = parse_decimal(*text, "slack", 0, 100);
  if (const auto* text = find_setting(options, "routes")) {
    constexpr Words<RouteSource, 3> words{"value of routes", {"flows", "taccl", "tacos"}};
    settings.routes.clear();
    for (const std::string_view name : split(*text, '+'))
      settings.routes.push_back(words.parse(name));
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

/// The best of several sketches for one collective.
class SketchTrials {
public:
  SketchTrials(const Topology& topology, const Collective& collective,
               const SynthesisOptions& options)
      : topology_(topology), collective_(collective), options_(options), limit_(options),
        settings_(taccl_settings(options)) {}

  Outcome run() {
    if (instances_ > 1 && !options_.choose_chunks)
      throw InputError("instances cut chunks further, and need chunks per shard left to choose");
    settings_.enough = near_bound();
    if (const std::string* const file = find_setting(options_, "sketch")) {
      if (file->empty()) throw InputError("sketch needs a file: sketch=FILE");
      const Sketch sketch = read_sketch(*file);
      require_fitting(sketch, topology_);
      attempt_in_time({sketch, settings_.slack});
    } else {
      // What others route is worth a try where it takes no longer than all the rest.
      if (find_setting(options_, "routes") == nullptr && topology_.npu_count() <= most_flow_npus)
        settings_.routes = {RouteSource::taccl, RouteSource::tacos, RouteSource::flows};
      const std::uint32_t machines = machines_of(topology_);
      attempt_proposals(machines);
      if (!best_ && machines > 1) attempt_proposals(1);
      // Where the first ones were enough, whole shards may still be a little faster.
      if (is_done() && best_->parts > 1 && !limit_.reached()) {
        SketchTrial whole = best_->trial;
        whole.sketch.partitions = 1;
        attempt_quietly(whole);
      }
    }
    if (find_setting(options_, "sketch") == nullptr && most_sketches_ == UINT32_MAX && best_)
      cut_finer();
    if (const std::string* const text = find_setting(options_, "search")) search(*text);
    if (!best_) return unsupported(std::move(why_not_));
    return outcome();
  }

private:
  struct Best {
    SketchTrial trial;
    SketchAnswer answer;
    std::uint32_t parts = 1;
  };

  /// Whether it is the best so far. Errors: InputError where the sketch doesn't fit.
  bool attempt(const SketchTrial& trial) {
    ++trials_;
    const CollectivePart& part = collective_.parts.front();
    Best made{trial, {}, 1};
    if (options_.choose_chunks && part.kind != CollectiveKind::custom)
      made.parts = static_cast<std::uint32_t>(std::min<std::int64_t>(
          trial.sketch.partitions, std::max<std::int64_t>(1, collective_.smallest_chunk().count)));
    const Collective cut = in_parts(made.parts);
    TacclSettings settings = settings_;
    if (trial.slack) settings.slack = trial.slack;
    made.answer = synthesize_by_sketch(topology_, cut, trial.sketch, settings, options_, limit_);
    if (!made.answer.schedule) {
      if (why_not_.empty()) why_not_ = made.answer.why_not;
      return false;
    }
    if (best_ && best_->answer.replayed <= made.answer.replayed) return false;
    best_ = std::move(made);
    return true;
  }

  /// Where the limit comes before anything is in hand: first paths for whole shards, in well below
  /// a second. Errors: LimitReached where these are too many for that.
  bool attempt_in_time(const SketchTrial& trial) {
    try {
      return attempt(trial);
    } catch (const LimitReached&) {
      if (best_) return false;
      if (!is_quick()) throw;
    }
    TacclSettings settings = settings_;
    settings.is_hasty = true;
    Best made{trial, {}, 1};
    made.answer =
        synthesize_by_sketch(topology_, collective_, trial.sketch, settings, options_, {});
    if (made.answer.schedule)
      best_ = std::move(made);
    else
      why_not_ = std::move(made.answer.why_not);
    return best_.has_value();
  }

  /// Whether whole shards are few enough to be sent by paths that are found at once.
  [[nodiscard]] bool is_quick() const {
    constexpr std::size_t most_sends = 100'000;
    std::size_t sends = 0;
    for (std::uint32_t c = 0; c < collective_.chunks.size() && sends <= most_sends; ++c)
      sends += collective_.destinations(ChunkId{c}).size();
    return sends <= most_sends;
  }

  /// One that was proposed or changed: where it doesn't fit, it is passed over.
  bool attempt_quietly(const SketchTrial& trial) {
    try {
      return attempt_in_time(trial);
    } catch (const InputError& e) {
      if (why_not_.empty()) why_not_ = e.what();
    }
    return false;
  }

  /// As many as are asked for of those that fit.
  void attempt_proposals(std::uint32_t machines) {
    std::uint32_t fitting = 0;
    for (SketchProposal& proposal : sketch_proposals(topology_, machines)) {
      if (is_done() || fitting == most_sketches_) return;
      if (attempt_quietly({std::move(proposal.sketch), settings_.slack})) ++fitting;
    }
  }

  /// Within a hundred-thousandth of what no schedule is faster than, whatever its chunks and joins.
  [[nodiscard]] Time near_bound() const {
    if (options_.model.discipline != Discipline::fifo) return {};
    TimeModel model = options_.model;
    if (settings_.joins_chunks) model.link_busy = LinkBusy::serialization;
    const Time bound =
        lower_bound(topology_, collective_, model, Chunking::any, BoundEffort::least).time;
    return bound + Time{bound.ps / 100'000};
  }
  [[nodiscard]] bool is_done() const {
    return best_ && (limit_.reached() || best_->answer.replayed <= settings_.enough);
  }

  /// Where no sketch says how many chunks there are, as many as choose_chunks() takes. Few
  /// transfers are routed and ordered anew by the best sketch so far. For many that takes minutes:
  /// subchunks follow each other on the paths of their chunk (sec. 6.2), and a try costs a replay.
  void cut_finer() {
    if (!options_.choose_chunks || instances_ > 1 || is_done() ||
        collective_.parts.front().kind == CollectiveKind::custom ||
        options_.model.discipline != Discipline::fifo)
      return;
    const Best coarse = *best_;
    const CollectiveMaker cut = [&](std::uint32_t subchunks) {
      if (coarse.parts * subchunks > most_chosen_chunks)
        throw InputError("more chunks per shard than are tried");
      return in_parts(coarse.parts * subchunks);
    };
    std::map<std::uint32_t, Finer> made;
    choice_ = choose_chunks(
        topology_, options_.model, cut,
        [&](std::uint32_t subchunks) -> std::optional<ChunkedSchedule> {
          if (limit_.reached()) return std::nullopt;
          Finer& finer = made[subchunks];
          finer = finer_in(coarse, subchunks);
          return ChunkedSchedule{&finer.collective, &*finer.plan.answer.schedule, nullptr};
        });
    choice_.left_out *= coarse.parts;
    if (choice_.chunks > 1) best_ = std::move(made.at(choice_.chunks).plan);
  }

  struct Finer {
    Collective collective;
    Best plan;
  };
  [[nodiscard]] Finer finer_in(const Best& coarse, std::uint32_t subchunks) const {
    constexpr std::size_t most_planned_anew = 4000; // transfers
    Finer finer{in_parts(coarse.parts * subchunks), coarse};
    if (subchunks == 1) return finer;
    finer.plan.parts *= subchunks;
    if (coarse.answer.schedule->size() * subchunks <= most_planned_anew) {
      TacclSettings settings = settings_;
      if (coarse.trial.slack) settings.slack = coarse.trial.slack;
      try {
        finer.plan.answer = synthesize_by_sketch(topology_, finer.collective, coarse.trial.sketch,
                                                 settings, options_, limit_);
      } catch (const LimitReached&) {
        finer.plan.answer.schedule.reset();
      }
      if (finer.plan.answer.schedule) return finer;
      finer.plan.answer = coarse.answer;
    }
    finer.plan.answer.schedule = split_chunks(*coarse.answer.schedule, subchunks);
    finer.plan.answer.replayed =
        run_native(topology_, finer.collective, *finer.plan.answer.schedule, options_.model)
            .completion;
    return finer;
  }

  /// "60s", or a number of sketches.
  void search(const std::string& text) {
    const bool is_count = text.find_first_not_of("0123456789") == std::string::npos;
    const std::int64_t most =
        is_count ? parse_integer(text, "search", 0, 1'000'000'000) : INT64_MAX;
    SynthesisOptions within = options_;
    within.limit_seconds = is_count ? 0 : parse_time(text).seconds();
    const WorkLimit end(within);
    if (!best_) return;
    SketchMutations mutations(topology_, options_.choose_chunks, options_.seed);
    for (std::int64_t i = 0; i < most && !is_done(); ++i) {
      if (end.reached()) break;
      const std::optional<SketchTrial> next = mutations.next(best_->trial);
      if (!next) break;
      attempt_quietly(*next);
    }
  }

  Outcome outcome() {
    Outcome outcome;
    outcome.status = limit_.reached() ? Status::timed_out : Status::feasible;
    outcome.planned = best_->answer.planned;
    outcome.planned_on = fmt::format("sketch {}: {}", best_->trial.sketch.name, best_->answer.how);
    outcome.parts_per_chunk = best_->parts * instances_;
    add_facts(best_->answer, outcome.facts);
    if (const std::optional<Time> without = without_sketch())
      outcome.facts["without_sketch_seconds"] = without->seconds();
    if (trials_ > 1) outcome.facts["sketches"] = trials_;
    outcome.schedule = instances_ == 1 ? std::move(best_->answer.schedule)
                                       : split_chunks(*best_->answer.schedule, instances_);
    note_what_was_left_out(choice_, outcome);
    return outcome;
  }

  /// What the schedule of flows takes with the same chunks on the whole network: what a sketch
  /// costs is said beside it. Nothing where it takes longer to make than all the rest.
  [[nodiscard]] std::optional<Time> without_sketch() const {
    if (topology_.npu_count() > most_flow_npus || limit_.reached() ||
        options_.model.discipline != Discipline::fifo)
      return std::nullopt;
    const Collective cut = in_parts(best_->parts);
    try {
      const Outcome made = flows(topology_, cut, plain_options(options_, limit_));
      if (!made.schedule) return std::nullopt;
      return run_native(topology_, cut, *made.schedule, options_.model, {.watch = limit_.watch()})
          .completion;
    } catch (const LimitReached&) {
      return std::nullopt;
    }
  }

  [[nodiscard]] Collective in_parts(std::uint32_t parts) const {
    if (parts == 1) return collective_;
    const CollectivePart& part = collective_.parts.front();
    return make_collective(topology_, spec_of(part, part.chunks_per_shard * parts));
  }

  static constexpr std::uint32_t most_flow_npus = 64;

  const Topology& topology_;
  const Collective& collective_;
  const SynthesisOptions& options_;
  WorkLimit limit_;
  TacclSettings settings_;
  /// Subchunks that go the paths of their chunk side by side (sec. 6.2).
  std::uint32_t instances_ = find_count(options_, "instances", 1, 64).value_or(1);
  /// Proposals.
  std::uint32_t most_sketches_ = find_count(options_, "sketches", 1, 64).value_or(UINT32_MAX);
  std::optional<Best> best_;
  ChunkChoice choice_;
  std::string why_not_;
  std::uint32_t trials_ = 0;
};

Outcome taccl_as_numbered(const Topology& topology, const Collective& collective,
                          const SynthesisOptions& options) {
  return SketchTrials(topology, collective, options).run();
}

/// A sketch speaks of the network as it was listed: its paths, or none.
Outcome by_sketches(const Topology& topology, const Collective& collective,
                    const SynthesisOptions& options) {
  if (find_setting(options, "sketch") != nullptr)
    return taccl_as_numbered(topology, collective, options);
  return planned_by_structure(taccl_as_numbered, topology, collective, options);
}

/// A collective that isn't an All-Reduce, or a half of one, as the paper has it.
Outcome printed(const Topology& topology, CollectiveKind kind, const Collective& collective,
                SynthesisOptions options, const WorkLimit& limit) {
  options.settings.try_emplace("routes", "taccl");
  options.settings.try_emplace("slack", "0");
  if (!options.settings.contains("sketch")) options.settings.try_emplace("sketches", "1");
  if (options.limit_seconds > 0) options.limit_seconds = std::max(0.01, limit.remaining_seconds());
  const CollectivePart& part = collective.parts.front();
  if (part.kind == kind) return by_sketches(topology, collective, options);
  return by_sketches(
      topology, make_collective(topology, {kind, part.size, part.group, 0, part.chunks_per_shard}),
      options);
}

} // namespace

Outcome taccl(const Topology& topology, const Collective& collective,
              const SynthesisOptions& options) {
  if (needs_direct_paths(topology, collective)) return direct_paths(topology, collective, options);
  Outcome made = by_sketches(topology, collective, options);
  if (find_setting(options, "sketch") != nullptr) return made;
  return or_direct_paths(std::move(made), topology, collective, options);
}

// One sketch, paths of its own routing, and a Reduce-Scatter, then an All-Gather (sec. 5.3).
Outcome taccl_paper(const Topology& topology, const Collective& collective,
                    const SynthesisOptions& options) {
  if (needs_direct_paths(topology, collective)) return direct_paths(topology, collective, options);
  const WorkLimit limit(options);
  const CollectiveKind kind = collective.parts.front().kind;
  const bool has_halves = kind == CollectiveKind::all_reduce;
  Outcome outcome = printed(topology, has_halves ? CollectiveKind::reduce_scatter : kind,
                            collective, options, limit);
  if (has_halves && outcome.schedule) {
    Outcome copies = printed(topology, CollectiveKind::all_gather, collective, options, limit);
    if (!copies.schedule) {
      outcome = std::move(copies);
    } else if (copies.parts_per_chunk != outcome.parts_per_chunk) {
      outcome = unsupported("the limit left both halves in different chunks");
    } else {
      outcome.schedule = concatenated(*outcome.schedule, *copies.schedule);
      if (outcome.planned && copies.planned) outcome.planned = *outcome.planned + *copies.planned;
      if (copies.status == Status::timed_out) outcome.status = copies.status;
    }
  }
  if (find_setting(options, "sketch") != nullptr) return outcome;
  return or_direct_paths(std::move(outcome), topology, collective, options);
}

} // namespace tutti
