// How many chunks a shard is cut into decides both what is synthesized and whether it can be: the
// cut is made here, around the algorithm, and every schedule is verified against the collective as
// it was cut, whether it has just been made or was remembered. Time is CPU time of all threads, so
// that it doesn't depend on what else the machine does.
#include "experiments/driver/studies/runs/attempt.hpp"

#include "experiments/driver/pool/process_memory.hpp"
#include "experiments/driver/terminal/progress.hpp"
#include "sim/compact_schedule.hpp"
#include "sim/error.hpp"
#include "sim/verify_compact.hpp"
#include "sim/work_limit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <map>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include <sys/resource.h>

namespace tutti {

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  rusage children{}; // SimGrid runs in one
  getrusage(RUSAGE_CHILDREN, &children);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9 +
         seconds(children.ru_utime) + seconds(children.ru_stime);
}

std::string long_run_text(const Topology& topology, const Collective& collective) {
  std::uint64_t transfers = 0;
  for (const Chunk& chunk : collective.chunks) {
    const std::span<const NodeId> sources = collective.sets[chunk.sources],
                                  wanting = collective.sets[chunk.destinations];
    if (chunk.reduces && !sources.empty()) {
      transfers += sources.size() - 1;
      transfers += wanting.empty() ? 0 : wanting.size() - 1;
    } else {
      const bool few_have_it = sources.size() < wanting.size();
      const std::span<const NodeId> few = few_have_it ? sources : wanting,
                                    others = few_have_it ? wanting : sources;
      transfers += wanting.size();
      transfers -= static_cast<std::uint64_t>(std::ranges::count_if(
          few, [&](NodeId node) { return std::ranges::binary_search(others, node); }));
    }
  }
  constexpr std::uint64_t many = 20'000'000;
  if (transfers < many) return {};
  constexpr double seconds = 0.2e-6, state_bytes = 8;
  const double id_bytes = collective.chunks.size() > std::size_t{UINT16_MAX} + 1 ? 4 : 2,
               states = static_cast<double>(collective.chunks.size() * topology.node_count()),
               count = static_cast<double>(transfers);
  return fmt::format("at least {:.0f} million transfers, some {} and {:.2g} GB in all", count / 1e6,
                     duration_text(count * seconds),
                     (states * state_bytes + count * id_bytes) / 1e9);
}

namespace {

// Too little memory and Ctrl-C end one synthesis, not the command: both are an outcome with a note.
Outcome synthesis(const AlgorithmRow& algorithm, const Topology& topology,
                  const Collective& collective, const SynthesisOptions& options) {
  if (options.stage) {
    const std::string much = long_run_text(topology, collective);
    (void)options.stage(
        fmt::format("synthesis by {}{}{}", algorithm.name, much.empty() ? "" : ": ", much), {});
  }
  Outcome outcome;
  try {
    outcome = synthesize(algorithm, topology, collective, options);
  } catch (const std::bad_alloc& error) {
    outcome.status = Status::out_of_memory;
    outcome.note = memory_text(error);
  }
  if (is_cut_short(outcome.status) && is_cancelled(options)) {
    outcome.status = Status::timed_out;
    outcome.note = outcome.schedule || outcome.compact ? "interrupted; the best so far"
                                                       : "interrupted; no schedule yet";
  }
  return outcome;
}

// The collective with `chunks_per_shard` (an algorithm's chunk multiple) times the chunks that are
// asked for. Chunks below a byte are bad input, unless only the multiple makes them so: words then,
// and the collective without it.
std::optional<std::string> cut(const AlgorithmRow& algorithm, const CollectiveMaker& make,
                               std::uint32_t chunks, std::uint32_t chunks_per_shard,
                               Collective& collective) {
  try {
    collective = make(chunks * chunks_per_shard);
    return std::nullopt;
  } catch (const InputError& error) {
    collective = make(chunks);
    return fmt::format("{} cuts every shard in {}: {}", algorithm.name, chunks * chunks_per_shard,
                       error.what());
  }
}

/// What an attempt is of.
struct Task {
  const AlgorithmRow& algorithm;
  const Topology& topology;
  const CollectiveMaker& make;
  std::uint32_t chunks;
  const SynthesisOptions& options;
};

// Pre: there is a schedule.
Verdict verdict_of(const Topology& topology, const Attempt& made, const Watch& watch) {
  return made.outcome.schedule ? verify(topology, made.collective, *made.outcome.schedule, watch)
                               : verify(topology, made.collective, *made.outcome.compact, watch);
}

// Cuts the collective as the outcome says, and verifies its schedule: false where that is too fine,
// or was interrupted: nobody knows whether such a schedule is correct.
bool verify_made(const Task& task, Attempt& made) {
  const double start = cpu_seconds();
  made.may_repeat = task.algorithm.imitates;
  if (std::optional<std::string> too_fine =
          cut(task.algorithm, task.make, task.chunks,
              task.algorithm.chunk_multiple * made.outcome.parts_per_chunk, made.collective)) {
    made.outcome = unsupported(std::move(*too_fine));
    return false;
  }
  bool is_verified = true;
  try {
    if (made.has_schedule())
      made.verdict = verdict_of(task.topology, made, watch_of(task.options.stage, "verification"));
  } catch (const Stopped&) {
    made.outcome = unsupported(ended_text(task.options, "the verification of its schedule"));
    made.outcome.status = Status::timed_out;
    is_verified = false;
  }
  made.verify_seconds = cpu_seconds() - start;
  return is_verified;
}

// Only what may be remembered: a correct schedule, or the statement that there is none.
bool is_sound(const Attempt& made) {
  const Status status = made.outcome.status;
  return made.has_schedule() ? verdict_problem(made).empty()
                             : status == Status::infeasible || status == Status::unsupported;
}

// A file in the cache is input like any other: it is verified, and what isn't correct is no answer.
std::optional<Attempt> remembered(const Task& task, const ScheduleCache& cache,
                                  const std::string& key, Wanted wanted) {
  std::optional<RememberedOutcome> found = cache.find(key, task.topology);
  if (!found) return std::nullopt;
  Attempt made;
  made.was_remembered = true;
  made.outcome = std::move(found->outcome);
  made.chunks = task.chunks * made.outcome.parts_per_chunk;
  const bool has_own_texts =
      found->has_same_names || (wanted == Wanted::schedule && made.has_schedule());
  if (!has_own_texts || !verify_made(task, made) || !is_sound(made)) return std::nullopt;
  return made;
}

} // namespace

Attempt attempt(const AlgorithmRow& algorithm, const Topology& topology,
                const CollectiveMaker& make, std::uint32_t chunks,
                const SynthesisOptions& options) {
  ScheduleCache none("");
  return attempt(algorithm, topology, make, chunks, options, none, Wanted::everything);
}

Attempt attempt(const AlgorithmRow& algorithm, const Topology& topology,
                const CollectiveMaker& make, std::uint32_t chunks, const SynthesisOptions& options,
                ScheduleCache& cache, Wanted wanted) {
  const Task task{algorithm, topology, make, chunks, options};
  Attempt made;
  made.chunks = chunks;
  if (std::optional<std::string> too_fine =
          cut(algorithm, make, chunks, algorithm.chunk_multiple, made.collective)) {
    made.outcome = unsupported(std::move(*too_fine));
    return made;
  }
  std::string key;
  if (cache.is_used() && !algorithm.outside) {
    const double start = cpu_seconds();
    key = schedule_key(topology, made.collective, algorithm, options);
    if (std::optional<Attempt> found = remembered(task, cache, key, wanted)) {
      found->synthesis_seconds = cpu_seconds() - start - found->verify_seconds;
      return std::move(*found);
    }
  }
  const double start = cpu_seconds();
  made.outcome = synthesis(algorithm, topology, made.collective, options);
  made.chunks = chunks * made.outcome.parts_per_chunk;
  made.synthesis_seconds = cpu_seconds() - start + made.outcome.outside_seconds;
  const bool was_cut_short = is_cut_short(made.outcome.status) || is_cancelled(options);
  if (verify_made(task, made) && is_sound(made) && !was_cut_short && !algorithm.outside)
    cache.remember(key, topology, made.collective, made.outcome);
  return made;
}

namespace {

/// The tries of one choice, by chunks per shard.
class ChunkTries {
public:
  ChunkTries(const Task& task, ScheduleCache& cache, Wanted wanted)
      : task_(task), cache_(cache), wanted_(wanted), limit_(task.options) {}

  Attempt choose() {
    const double start = cpu_seconds();
    const CollectiveMaker cut = [this](std::uint32_t chunks) {
      return task_.make(chunks * task_.algorithm.chunk_multiple);
    };
    const ChunkChoice choice = choose_chunks(
        task_.topology, task_.options.model, cut,
        [this](std::uint32_t chunks) { return tried(chunks); }, 0,
        [this](std::string_view stage, const WorkProgress& progress) {
          cut_short_ = cut_short_ || limit_.remaining_seconds() <= 0;
          return (task_.options.stage && task_.options.stage(stage, progress)) || cut_short_;
        },
        own_candidates(task_.algorithm, task_.topology, task_.make(1), task_.options));
    Attempt chosen = std::move(made_.at(faulty_.value_or(choice.chunks)));
    note_what_was_left_out(choice, chosen.outcome);
    if (cut_short_) mark_cut_short(chosen.outcome);
    chosen.verify_seconds = verify_seconds_;
    chosen.synthesis_seconds = cpu_seconds() - start - verify_seconds_ + outside_seconds_;
    chosen.was_remembered = all_remembered_;
    return chosen;
  }

private:
  std::optional<ChunkedSchedule> tried(std::uint32_t chunks) {
    cut_short_ = cut_short_ || (!made_.empty() && !faulty_ && limit_.reached());
    if (faulty_ || cut_short_) return std::nullopt;
    std::optional<Attempt> next = attempted(chunks);
    if (!next) return std::nullopt;
    verify_seconds_ += next->verify_seconds;
    outside_seconds_ += next->outcome.outside_seconds;
    all_remembered_ = all_remembered_ && next->was_remembered;
    const Attempt& kept = made_[chunks] = std::move(*next);
    if (!kept.has_schedule()) {
      cut_short_ = limit_.reached();
      if (kept.outcome.failed) faulty_ = chunks;
      return std::nullopt;
    }
    if (!kept.verdict.correct()) {
      faulty_ = chunks;
      return std::nullopt;
    }
    const Outcome& outcome = kept.outcome;
    return ChunkedSchedule{&kept.collective, outcome.schedule ? &*outcome.schedule : nullptr,
                           outcome.compact ? &*outcome.compact : nullptr};
  }

  std::optional<Attempt> attempted(std::uint32_t chunks) {
    if (made_.empty()) // a program has been asked for the numbers by now
      return attempt(task_.algorithm, task_.topology, task_.make, chunks,
                     task_.algorithm.outside ? with_rest(task_.options, limit_) : task_.options,
                     cache_, wanted_);
    // what a clock leaves isn't the same next time
    ScheduleCache none("");
    ScheduleCache& cache = task_.options.limit_seconds > 0 ? none : cache_;
    try {
      return attempt(task_.algorithm, task_.topology, task_.make, chunks,
                     with_rest(task_.options, limit_), cache, wanted_);
    } catch (const InputError&) {
      return std::nullopt;
    }
  }

  const Task& task_;
  ScheduleCache& cache_;
  Wanted wanted_;
  WorkLimit limit_;
  std::map<std::uint32_t, Attempt> made_;
  std::optional<std::uint32_t> faulty_;
  bool cut_short_ = false; ///< the limit ended the choice
  double verify_seconds_ = 0, outside_seconds_ = 0;
  bool all_remembered_ = true;
};

} // namespace

Attempt attempt_in_chunks(const AlgorithmRow& algorithm, const Topology& topology,
                          const CollectiveMaker& make, std::optional<std::uint32_t> chunks,
                          const SynthesisOptions& options, ScheduleCache& cache, Wanted wanted) {
  if (chunks) return attempt(algorithm, topology, make, *chunks, options, cache, wanted);
  const CollectiveMaker cut = [&](std::uint32_t count) {
    return make(count * algorithm.chunk_multiple);
  };
  SynthesisOptions own = options;
  own.choose_chunks = algorithm.chooses_chunks && chooses_chunks(algorithm, make(1), cut);
  const Task task{algorithm, topology, make, 1, own};
  Attempt made = own.choose_chunks ? attempt(algorithm, topology, make, 1, own, cache, wanted)
                                   : ChunkTries(task, cache, wanted).choose();
  made.chose_chunks = true;
  return made;
}

Attempt given_attempt(const Topology& topology, ScheduleFile& file, const Watch& watch) {
  Attempt made;
  made.collective = std::move(file.collective);
  made.outcome.status = Status::feasible;
  made.outcome.compact = std::move(file.compact);
  if (!made.outcome.compact) made.outcome.schedule = std::move(file.schedule);
  made.may_repeat = true;
  const double start = cpu_seconds();
  made.verdict = verdict_of(topology, made, watch);
  made.verify_seconds = cpu_seconds() - start;
  return made;
}

std::string verdict_problem(const Verdict& verdict, bool may_repeat) {
  if (verdict.fault) return "fault: " + verdict.fault->text;
  if (verdict.redundant > 0 && !may_repeat)
    return fmt::format("redundant copies: {}", verdict.redundant);
  return {};
}

std::string verdict_problem(const Attempt& made) {
  if (made.outcome.failed) return made.outcome.note;
  return made.has_schedule() ? verdict_problem(made.verdict, made.may_repeat) : std::string();
}

std::optional<Schedule> schedule_of(const Topology& topology, const Collective& collective,
                                    Outcome& outcome) {
  if (outcome.schedule) return std::move(outcome.schedule);
  if (outcome.compact) return expanded(topology, collective, *outcome.compact);
  return std::nullopt;
}

bool is_cancelled(const SynthesisOptions& options) {
  return options.cancelled && options.cancelled();
}

} // namespace tutti
