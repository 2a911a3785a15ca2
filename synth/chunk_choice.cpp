// The rule for chunks per shard (its reasons at the head of chunk_choice.hpp): candidates that
// structure suggests, tried from the coarsest on until more don't help, counted in transfers.

#include "synth/chunk_choice.hpp"

#include "sim/engines/engine.hpp"
#include "sim/error.hpp"
#include "sim/work_limit.hpp"
#include "synth/bounds/bounds.hpp"

#include <fmt/format.h>

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
        const MakeInChunks& make, std::uint64_t transfers_before, const StageWatch& stage,
        std::vector<std::uint32_t> candidates, Time known_bound)
      : replays_{topology, model, stage}, cut_(cut), make_(make), before_(transfers_before),
        known_bound_(known_bound), candidates_(std::move(candidates)) {
    replays_.model.discipline = Discipline::fifo;
    if (!candidates_.empty() && !cut_in(cut, candidates_.front())) candidates_ = {1}; // it says why
    if (candidates_.empty()) {
      candidates_ = chunk_candidates(topology.shape().size());
      candidates_.insert(candidates_.begin(), 1);
    }
    choice_.chunks = candidates_.front();
    candidates_.erase(candidates_.begin());
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
    const std::optional<ChunkedSchedule> one = make_(choice_.chunks);
    if (!one) return;
    count(*one, choice_.chunks);
    if (choice_.chunks == 1 && !can_be_cut(*one->collective, cut_)) return;
    if (candidates_.empty()) return;
    // The finest of what has so many transfers may not even fit into memory.
    if (!has_transfers(candidates_.front())) {
      if (cut_in(cut_, candidates_.front())) choice_.left_out = candidates_.front();
      return;
    }
    if (!has_finest()) return;
    if (!has_budget(candidates_.front())) {
      choice_.left_out = candidates_.front();
      return;
    }
    best_ = time_of(*one);
    if (!is_worth_it(known_bound_, best_)) return;
    try_all(
        std::max(known_bound_, least_time(replays_.topology, *one->collective, replays_.model)));
  }

  void count(const ChunkedSchedule& made, std::uint32_t chunks) {
    const std::uint64_t transfers = transfer_count(made);
    choice_.tried_transfers += transfers;
    per_chunk_ = std::max(per_chunk_, transfers / chunks + (transfers % chunks > 0 ? 1 : 0));
  }

  /// Judged by the most that any try had for each chunk of a shard.
  [[nodiscard]] std::uint64_t transfers_with(std::uint32_t chunks) const {
    return choice_.tried_transfers + per_chunk_ * chunks;
  }
  [[nodiscard]] bool has_transfers(std::uint32_t chunks) const {
    return before_ + transfers_with(chunks) <= most_tried_transfers;
  }
  [[nodiscard]] bool has_budget(std::uint32_t chunks) const {
    return has_transfers(chunks) &&
           transfers_with(chunks) <= most_tried_of_finest * per_chunk_ * finest_;
  }

  /// Leaves the candidates that can be cut: whether there are any.
  bool has_finest() {
    while (!candidates_.empty() && !cut_in(cut_, candidates_.back())) candidates_.pop_back();
    if (!candidates_.empty()) finest_ = candidates_.back();
    return !candidates_.empty();
  }

  [[nodiscard]] Time time_of(const ChunkedSchedule& made) const {
    return replays_.run(*made.collective, made).completion;
  }

  void try_all(Time least) {
    constexpr std::uint32_t reach = 4;
    for (const std::uint32_t chunks : candidates_) {
      if (chunks > reach * choice_.chunks || !is_worth_it(least, best_)) return;
      if (!has_budget(chunks)) {
        choice_.left_out = chunks;
        return;
      }
      const std::optional<ChunkedSchedule> made = make_(chunks);
      if (!made) continue;
      count(*made, chunks);
      const Time time = time_of(*made);
      if (!is_worth_it(time, best_)) continue;
      best_ = time;
      choice_.chunks = chunks;
    }
  }

  Replays replays_;
  const CollectiveMaker& cut_;
  const MakeInChunks& make_;
  std::uint64_t before_;
  Time known_bound_;
  std::vector<std::uint32_t> candidates_; ///< beyond the first
  std::uint64_t per_chunk_ = 0;
  std::uint32_t finest_ = 1; ///< candidate that can be cut
  Time best_;
  ChunkChoice choice_;
};

} // namespace

std::vector<std::uint32_t> chunk_candidates(std::size_t dimensions) {
  std::vector<std::uint32_t> candidates;
  for (const std::size_t first : {std::size_t{1}, std::size_t{3}, dimensions})
    for (std::size_t chunks = first; chunks > 0 && chunks <= most_chosen_chunks; chunks *= 2)
      if (chunks > 1) candidates.push_back(static_cast<std::uint32_t>(chunks));
  std::ranges::sort(candidates);
  const auto repeated = std::unique(candidates.begin(), candidates.end());
  candidates.erase(repeated, candidates.end());
  return candidates;
}

ChunkChoice choose_chunks(const Topology& topology, const TimeModel& model,
                          const CollectiveMaker& cut, const MakeInChunks& make,
                          std::uint64_t transfers_before, const StageWatch& stage,
                          std::vector<std::uint32_t> candidates, Time known_bound) {
  return Tries(topology, model, cut, make, transfers_before, stage, std::move(candidates),
               known_bound)
      .choose();
}

std::vector<std::uint32_t> own_candidates(const AlgorithmRow& row, const Topology& topology,
                                          const Collective& collective,
                                          const SynthesisOptions& options) {
  if (!row.outside || !row.outside->chunk_candidates) return {};
  return row.outside->chunk_candidates(topology, collective, options);
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

void note_what_was_left_out(const ChunkChoice& choice, Outcome& outcome) {
  if (choice.left_out == 0) return;
  outcome.note +=
      fmt::format("{}the choice of chunks ended after {} transfers, before {} chunks per shard",
                  outcome.note.empty() ? "" : "; ", choice.tried_transfers, choice.left_out);
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
    return {std::move(one), std::move(outcome), chunks_per_shard, 0};
  }
  const WorkLimit limit(options);
  std::map<std::uint32_t, ChunkedOutcome> made;
  bool is_cut_short = false;
  const auto make_in = [&](std::uint32_t chunks) -> std::optional<ChunkedSchedule> {
    is_cut_short = is_cut_short || (!made.empty() && limit.reached());
    if (is_cut_short) return std::nullopt;
    std::optional<Collective> collective = cut_in(cut, chunks);
    if (!collective) return std::nullopt;
    Outcome outcome = synthesize(row, topology, *collective, with_rest(options, limit));
    ChunkedOutcome& kept = made[chunks] = {std::move(*collective), std::move(outcome), chunks, 0};
    const Outcome& o = kept.outcome;
    if (!o.schedule && !o.compact) {
      is_cut_short = limit.reached();
      return std::nullopt;
    }
    return ChunkedSchedule{&kept.collective, o.schedule ? &*o.schedule : nullptr,
                           o.compact ? &*o.compact : nullptr};
  };
  const ChunkChoice choice = choose_chunks(topology, options.model, cut, make_in, 0, options.stage,
                                           own_candidates(row, topology, one, options));
  ChunkedOutcome chosen = std::move(made.at(choice.chunks));
  chosen.tried_transfers = choice.tried_transfers;
  note_what_was_left_out(choice, chosen.outcome);
  if (is_cut_short) mark_cut_short(chosen.outcome);
  return chosen;
}

} // namespace tutti
