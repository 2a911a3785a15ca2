// The rule for chunks per shard (derivation at the head of chunk_choice.hpp): figures of the
// schedule with one chunk, candidates from a formula, and tries that transfers count.

#include "synth/chunk_choice.hpp"

#include "sim/engines/engine.hpp"
#include "sim/error.hpp"
#include "sim/work_limit.hpp"
#include "synth/bounds/bounds.hpp"

#include <algorithm>
#include <cassert>
#include <map>
#include <utility>

namespace tutti {

namespace {

constexpr double worth = 1.01; ///< faster by more than 1 %

bool is_worth_it(Time one, Time other) {
  return worth * static_cast<double>(one.ps) < static_cast<double>(other.ps);
}

double picoseconds(Time time) { return static_cast<double>(time.ps); }

/// P(K): one wave after the other.
double in_waves(const PipelineFigures& f, double k) {
  const double fixed = picoseconds(f.latency), scaled = picoseconds(f.whole - f.latency);
  const double busy = picoseconds(f.busy - f.busy_latency), each = picoseconds(f.busy_latency);
  return fixed + scaled / k + (k - 1) * (each + busy / k);
}

/// E(K): nothing is left idle that could be filled.
double at_best(const PipelineFigures& f, double k) {
  const double fixed = picoseconds(f.latency), scaled = picoseconds(f.whole - f.latency);
  const double busy = picoseconds(f.busy - f.busy_latency), each = picoseconds(f.busy_latency);
  const double less = (1 - 1 / k) / static_cast<double>(std::max<std::uint64_t>(f.crossings, 1));
  return std::max(fixed + scaled / k, busy * (1 - less) + k * each);
}

std::uint64_t transfer_count(const ChunkedSchedule& made) {
  return made.schedule ? made.schedule->size() : made.compact->size();
}

/// Where tries are replayed. Errors: Stopped.
struct Replays {
  const Topology& topology;
  TimeModel model;
  const StageWatch& stage;

  [[nodiscard]] Report run(const Collective& collective, const ChunkedSchedule& made) const {
    RunOptions options;
    options.watch = watch_of(stage, "replay, to choose the chunks");
    return made.schedule
               ? run_native(topology, collective, *made.schedule, model, options)
               : run_native_compact(topology, collective, *made.compact, model, options.watch);
  }
};

/// The same with chunks of one byte: what latencies alone take.
Report latencies(const Replays& replays, const ChunkedSchedule& made) {
  Collective small = *made.collective;
  for (Chunk& chunk : small.chunks) chunk.size = Bytes{1};
  return replays.run(small, made);
}

PipelineFigures figures_of(const Replays& replays, const ChunkedSchedule& made) {
  const Report full = replays.run(*made.collective, made);
  PipelineFigures figures;
  figures.whole = figures.latency = full.completion;
  if (full.links.empty()) return figures;
  const auto busiest = std::ranges::max_element(full.links, {}, &LinkUse::busy);
  figures.busy = busiest->busy;
  figures.crossings = busiest->transfers;
  figures.latency = Time{};
  if (chunk_candidates(figures).empty()) return figures; // whatever latencies are
  const Report small = latencies(replays, made);
  figures.latency = std::min(small.completion, figures.whole);
  if (replays.model.link_busy == LinkBusy::latency_and_serialization)
    figures.busy_latency = std::min(
        small.links[static_cast<std::size_t>(busiest - full.links.begin())].busy, figures.busy);
  return figures;
}

/// Nothing where that is too fine.
std::optional<Collective> cut_in(const CollectiveMaker& cut, std::uint32_t chunks) {
  try {
    return cut(chunks);
  } catch (const InputError&) {
    return std::nullopt;
  }
}

/// What no number of chunks beats.
Time least_time(const Topology& topology, const Collective& collective, const TimeModel& model) {
  return lower_bound(topology, collective, model, Chunking::any, BoundEffort::least).time;
}

/// One choice.
class Tries {
public:
  Tries(const Topology& topology, const TimeModel& model, const CollectiveMaker& cut,
        const MakeInChunks& make, std::uint64_t transfers_before, const StageWatch& stage)
      : replays_{topology, model, stage}, cut_(cut), make_(make), before_(transfers_before) {
    replays_.model.discipline = Discipline::fifo;
  }

  /// The best until somebody stops it.
  ChunkChoice choose() {
    try {
      search();
    } catch (const Stopped&) {
    }
    return choice_;
  }

private:
  void search() {
    const std::optional<ChunkedSchedule> one = make_(1);
    if (!one) return;
    count(*one, 1);
    if (!has_budget(2)) return;
    if (!can_be_cut(*one->collective, cut_)) return;
    const PipelineFigures figures = figures_of(replays_, *one);
    best_ = figures.whole;
    std::vector<std::uint32_t> candidates = chunk_candidates(figures);
    std::erase_if(candidates, [&](std::uint32_t chunks) { return !has_budget(chunks); });
    const std::optional<Collective> finest = finest_of(candidates);
    if (!finest) return;
    try_all(candidates, least_time(replays_.topology, *finest, replays_.model));
  }

  void count(const ChunkedSchedule& made, std::uint32_t chunks) {
    const std::uint64_t transfers = transfer_count(made);
    choice_.tried_transfers += transfers;
    per_chunk_ = std::max(per_chunk_, transfers / chunks + (transfers % chunks > 0 ? 1 : 0));
  }

  /// Judged by the most that any try had for each chunk of a shard.
  [[nodiscard]] bool has_budget(std::uint32_t chunks) const {
    return before_ + choice_.tried_transfers + per_chunk_ * chunks < most_tried_transfers;
  }

  /// Leaves the candidates that can be cut; the collective of the last one.
  std::optional<Collective> finest_of(std::vector<std::uint32_t>& candidates) const {
    while (!candidates.empty()) {
      if (std::optional<Collective> finest = cut_in(cut_, candidates.back())) return finest;
      candidates.pop_back();
    }
    return std::nullopt;
  }

  void try_all(const std::vector<std::uint32_t>& candidates, Time least) {
    int in_vain = 0;
    for (const std::uint32_t chunks : candidates) {
      if (in_vain == 2 || !is_worth_it(least, best_) || !has_budget(chunks)) return;
      ++in_vain;
      const std::optional<ChunkedSchedule> made = make_(chunks);
      if (!made) continue;
      count(*made, chunks);
      const Time time = replays_.run(*made->collective, *made).completion;
      if (!is_worth_it(time, best_)) continue;
      best_ = time;
      choice_.chunks = chunks;
      in_vain = 0;
    }
  }

  Replays replays_;
  const CollectiveMaker& cut_;
  const MakeInChunks& make_;
  std::uint64_t before_;
  std::uint64_t per_chunk_ = 0;
  Time best_;
  ChunkChoice choice_;
};

} // namespace

std::vector<std::uint32_t> chunk_candidates(const PipelineFigures& figures) {
  std::vector<std::uint32_t> candidates;
  const double one = picoseconds(figures.whole);
  for (std::uint32_t chunks = 2; chunks <= most_chosen_chunks; chunks *= 2) {
    const double best = at_best(figures, chunks), waves = in_waves(figures, chunks);
    const bool gains = best * worth < at_best(figures, chunks / 2) ||
                       waves * worth < in_waves(figures, chunks / 2);
    if (best * worth < one && gains) candidates.push_back(chunks);
  }
  return candidates;
}

ChunkChoice choose_chunks(const Topology& topology, const TimeModel& model,
                          const CollectiveMaker& cut, const MakeInChunks& make,
                          std::uint64_t transfers_before, const StageWatch& stage) {
  return Tries(topology, model, cut, make, transfers_before, stage).choose();
}

bool can_be_cut(const Collective& collective, const CollectiveMaker& cut) {
  const std::optional<Collective> two = cut_in(cut, 2);
  return two && two->chunks.size() > collective.chunks.size();
}

bool chooses_chunks(const AlgorithmRow& row, const Collective& collective,
                    const CollectiveMaker& cut) {
  return row.chooses_chunks && collective.parts.size() == 1 &&
         collective.parts.front().kind != CollectiveKind::custom && can_be_cut(collective, cut);
}

void mark_cut_short(Outcome& outcome) {
  if (!outcome.schedule && !outcome.compact) return; // which says why itself
  outcome.status = Status::timed_out;
  outcome.note +=
      (outcome.note.empty() ? "" : "; ") + std::string("the choice of chunks was cut short");
}

SynthesisOptions with_rest(const SynthesisOptions& options, const WorkLimit& limit) {
  constexpr double least_seconds = 1e-3; // 0 is no limit
  SynthesisOptions rest = options;
  if (options.limit_seconds > 0)
    rest.limit_seconds = std::max(limit.remaining_seconds(), least_seconds);
  return rest;
}

ChunkedOutcome synthesize_in_chunks(const AlgorithmRow& row, const Topology& topology,
                                    const CollectiveMaker& make, const SynthesisOptions& options) {
  const CollectiveMaker cut = [&](std::uint32_t chunks) {
    return make(chunks * row.chunk_multiple);
  };
  Collective one = cut(1);
  if (chooses_chunks(row, one, cut)) {
    SynthesisOptions choosing = options;
    choosing.choose_chunks = true;
    Outcome outcome = synthesize(row, topology, one, choosing);
    const std::uint32_t chunks_per_shard = outcome.parts_per_chunk;
    if (chunks_per_shard > 1) one = cut(chunks_per_shard);
    return {std::move(one), std::move(outcome), chunks_per_shard};
  }
  const WorkLimit limit(options);
  std::map<std::uint32_t, ChunkedOutcome> made;
  bool is_cut_short = false;
  const auto make_in = [&](std::uint32_t chunks) -> std::optional<ChunkedSchedule> {
    is_cut_short = is_cut_short || (chunks > 1 && limit.reached());
    if (is_cut_short) return std::nullopt;
    std::optional<Collective> collective = chunks == 1 ? std::move(one) : cut_in(cut, chunks);
    if (!collective) return std::nullopt;
    Outcome outcome = synthesize(row, topology, *collective, with_rest(options, limit));
    ChunkedOutcome& kept = made[chunks] = {std::move(*collective), std::move(outcome), chunks};
    const Outcome& o = kept.outcome;
    if (!o.schedule && !o.compact) {
      is_cut_short = limit.reached();
      return std::nullopt;
    }
    return ChunkedSchedule{&kept.collective, o.schedule ? &*o.schedule : nullptr,
                           o.compact ? &*o.compact : nullptr};
  };
  const ChunkChoice choice = choose_chunks(topology, options.model, cut, make_in, 0, options.stage);
  ChunkedOutcome chosen = std::move(made.at(choice.chunks));
  if (is_cut_short) mark_cut_short(chosen.outcome);
  return chosen;
}

} // namespace tutti
