// TE-CCL: Liu et al., "Rethinking Machine Learning Collective Communication as a Multi-Commodity
// Flow Problem" (SIGCOMM 2024), with COIN-OR (or HiGHS) for its programs. Time in epochs; chunks
// are stored, copied and pipelined; what reduces is an inverted schedule of the reversed topology.
// Cost: seconds for one machine of 8 to 16 NPUs in one shot; rounds and flows reach hundreds.
#include "sim/engines/engine.hpp"
#include "sim/error.hpp"
#include "sim/transforms.hpp"
#include "sim/work_limit.hpp"
#include "synth/direct_paths.hpp"
#include "synth/inversion.hpp"
#include "synth/list.hpp"
#include "synth/scheduling/kept_order.hpp"
#include "synth/tacos/multicasts.hpp"
#include "synth/teccl/settings.hpp"
#include "synth/teccl/synthesis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tutti {

namespace {

std::string plan_text(const EpochSynthesis& made) {
  std::string text = fmt::format("{} epochs of {}", made.epochs, to_text(made.epoch));
  text += made.epochs == made.at_least ? " (the fewest, proven)"
                                       : fmt::format(" (at least {})", made.at_least);
  if (made.rounds > 0) text += fmt::format(" in {} rounds", made.rounds);
  return text + ", " + made.answer.method;
}

void add_facts(const EpochSynthesis& made, std::map<std::string, double>& facts) {
  facts["epochs"] += made.epochs;
  facts["epochs_at_least"] += made.at_least;
  facts["epoch_seconds"] = made.epoch.seconds();
  if (made.rounds > 0) facts["rounds"] += made.rounds;
  const auto& [status, plan, objective, at_most, method, seconds] = made.answer;
  if (objective && at_most && *objective > 0)
    facts["reward_gap"] = std::max(facts["reward_gap"], *at_most / *objective - 1);
}

/// Whether not every schedule is an answer.
bool restricts_plans(const TecclSettings& settings) {
  return settings.epoch_count || settings.epochs_by_bound || settings.buffer_limit;
}

/// Status without a plan. Infeasible: proven of the epochs that were asked for; other answers
/// say that the method, or epochs of this length, don't do.
Status status_without(const EpochSynthesis& made, const TecclSettings& settings,
                      bool is_cut_short) {
  if (is_cut_short) return Status::timed_out;
  const bool asks_for_epochs = settings.epoch_count || settings.epochs_by_bound;
  return made.answer.status == EpochStatus::infeasible && asks_for_epochs ? Status::infeasible
                                                                          : Status::unsupported;
}

/// Whether a setting only bounds the search: it says nothing of epochs, or of how to find a plan.
bool says_only_how_long(std::string_view setting) {
  constexpr std::array<std::string_view, 4> known{"effort", "gap", "largest", "nodes"};
  return std::ranges::find(known, setting) != known.end();
}

bool any_will_do(const SynthesisOptions& options) {
  return std::ranges::all_of(options.settings,
                             [](const auto& setting) { return says_only_how_long(setting.first); });
}

/// A collective that copies, and TACOS's schedule for it, if it found one.
struct Task {
  Topology network;
  Collective copied;
  bool backwards = false; ///< it stands for one that reduces
  std::optional<Schedule> start;
};

class TecclSynthesis {
public:
  TecclSynthesis(const Topology& topology, const Collective& collective,
                 const SynthesisOptions& options)
      : topology_(topology), collective_(collective), options_(options),
        settings_(teccl_settings(options)), limit_(options) {}

  Outcome run() {
    const std::string why_not = divide();
    // All of them first: by then there is an answer, however long the rest takes.
    for (Task& task : tasks_) task.start = by_tacos(task);
    if (any_will_do(options_)) {
      const bool is_one = tasks_.size() == 1 && !tasks_.front().backwards;
      whole_ = is_one ? tasks_.front().start : by_tacos({topology_, collective_, false, {}});
    }
    if (why_not.empty()) {
      make_all();
      keep_order();
    } else {
      outcome_ = unsupported(why_not);
    }
    if (whole_ && !is_faster_than_whole()) answer_whole();
    return std::move(outcome_);
  }

private:
  /// Into collectives that copy. Returns why not; empty: done.
  std::string divide() {
    const CollectivePart& part = collective_.parts.front();
    if (part.kind == CollectiveKind::all_reduce) {
      Collective gather = make_collective(
          topology_, {CollectiveKind::all_gather, part.size, part.group, 0, part.chunks_per_shard});
      tasks_.push_back({reversed_with_copies(topology_), gather, true, {}});
      tasks_.push_back({topology_, std::move(gather), false, {}});
    } else if (part.kind == CollectiveKind::custom && reduces(collective_)) {
      const std::optional<Multicasts> custom = as_multicasts(topology_, collective_);
      if (!custom) return std::string(no_multicasts);
      if (custom->reductions)
        tasks_.push_back({reversed_with_copies(topology_), *custom->reductions, true, {}});
      if (custom->copies) tasks_.push_back({topology_, *custom->copies, false, {}});
    } else if (reduces(collective_)) {
      tasks_.push_back({reversed_with_copies(topology_), inverted(collective_), true, {}});
    } else {
      tasks_.push_back({topology_, collective_, false, {}});
    }
    return {};
  }

  void make_all() {
    try {
      for (const Task& task : tasks_) {
        make(task);
        if (!outcome_.schedule) return;
      }
    } catch (const InputError& error) { // of epochs that weren't requested
      if (!whole_) throw;
      outcome_ = unsupported(error.what());
    }
  }

  [[nodiscard]] std::optional<Schedule> by_tacos(const Task& task) const {
    SynthesisOptions plain = options_;
    plain.settings.clear();
    plain.progress = nullptr;
    if (plain.limit_seconds > 0) plain.limit_seconds = std::max(limit_.remaining_seconds(), 1e-9);
    Outcome outcome;
    try {
      outcome = tacos(task.network, task.copied, plain);
    } catch (const LimitReached&) { // what other tasks have may do
      return std::nullopt;
    }
    if (outcome.compact) outcome.schedule = expanded(task.network, task.copied, *outcome.compact);
    if (outcome.schedule && task.backwards && !arrives_once(task.network, *outcome.schedule))
      return std::nullopt;
    return std::move(outcome.schedule);
  }

  /// Whether no chunk stops twice at a node: what does so, at a switch that stores and can't copy,
  /// would be a sum there when inverted.
  static bool arrives_once(const Topology& network, const Schedule& schedule) {
    std::set<std::pair<ChunkId, NodeId>> seen;
    for (std::size_t i = 0; i < schedule.size(); ++i) {
      const LinkId last = schedule.paths().links(schedule[i].path).back();
      if (!seen.emplace(schedule[i].chunk, network.link(last).to).second) return false;
    }
    return true;
  }

  /// Adds what the task takes, backwards where it stands for what reduces.
  void make(const Task& task) {
    EpochSynthesis made =
        synthesize_epochs(task.network, task.copied, settings_, task.start, limit_);
    const bool is_cut_short = made.answer.status == EpochStatus::timed_out && limit_.reached();
    if (!made.schedule && !(is_cut_short && task.start && !restricts_plans(settings_))) {
      outcome_ = {};
      outcome_.status = status_without(made, settings_, is_cut_short);
      outcome_.note = std::move(made.why_not);
      return;
    }
    if (made.schedule)
      add_plan(made);
    else
      outcome_.note = "TACOS's schedule, not in epochs: " + made.answer.method;
    const Schedule& copies = made.schedule ? *made.schedule : *task.start;
    Schedule schedule = task.backwards ? inverted(topology_, copies, Op::reduce) : copies;
    outcome_.schedule =
        outcome_.schedule ? concatenated(*outcome_.schedule, schedule) : std::move(schedule);
    outcome_.status = limit_.reached() ? Status::timed_out : Status::feasible;
    if (outcome_.note.empty()) return;
    outcome_.planned.reset(); // what is known of one half says nothing of the whole
    outcome_.planned_on.clear();
    outcome_.facts.clear();
  }

  /// Epochs order what sets out over a link; queues must not change that.
  void keep_order() {
    if (!outcome_.schedule || options_.model.discipline != Discipline::fifo ||
        !needs_kept_order(topology_, *outcome_.schedule))
      return;
    outcome_.schedule =
        with_kept_plan(topology_, collective_, *std::move(outcome_.schedule), options_.model)
            .schedule;
  }

  /// By replays; also where the limit leaves no time for them.
  [[nodiscard]] bool is_faster_than_whole() const {
    if (!outcome_.schedule) return false;
    try {
      return time_of(*outcome_.schedule) <= time_of(*whole_);
    } catch (const LimitReached&) {
      return true;
    }
  }

  /// Errors: LimitReached.
  [[nodiscard]] Time time_of(const Schedule& schedule) const {
    constexpr std::size_t quick = 100'000; // transfers, of which a replay takes no time to speak of
    const Watch watch = schedule.size() > quick ? limit_.watch() : Watch{};
    TimeModel model = options_.model;
    model.discipline = Discipline::fifo;
    return run_native(topology_, collective_, schedule, model, {.watch = watch}).completion;
  }

  void answer_whole() {
    std::string note = outcome_.note; // of its parts, where there was no time for epochs
    if (!outcome_.schedule)
      note = fmt::format("TACOS's schedule, not in epochs: {}", outcome_.note);
    else if (!outcome_.planned_on.empty())
      note = fmt::format("TACOS's schedule, faster than {}", outcome_.planned_on);
    outcome_ = {};
    outcome_.status = limit_.reached() ? Status::timed_out : Status::feasible;
    outcome_.note = std::move(note);
    outcome_.schedule = std::move(whole_);
  }

  void add_plan(const EpochSynthesis& made) {
    outcome_.planned = outcome_.planned.value_or(Time{}) + made.planned();
    outcome_.planned_on += (outcome_.planned_on.empty() ? "" : ", then ") + plan_text(made);
    add_facts(made, outcome_.facts);
  }

  const Topology& topology_;
  const Collective& collective_;
  const SynthesisOptions& options_;
  TecclSettings settings_;
  WorkLimit limit_;
  std::vector<Task> tasks_;       ///< one after the other
  std::optional<Schedule> whole_; ///< TACOS's, where any schedule is an answer
  Outcome outcome_;
};

} // namespace

Outcome teccl(const Topology& topology, const Collective& collective,
              const SynthesisOptions& options) {
  if (needs_direct_paths(topology, collective)) return direct_paths(topology, collective, options);
  Outcome found = TecclSynthesis(topology, collective, options).run();
  return any_will_do(options) ? or_direct_paths(std::move(found), topology, collective, options)
                              : found;
}

// The program of sec. 3 in one shot, whatever it takes, and nothing in its place.
Outcome teccl_paper(const Topology& topology, const Collective& collective,
                    const SynthesisOptions& options) {
  SynthesisOptions printed = options;
  printed.settings.try_emplace("method", "program");
  return teccl(topology, collective, printed);
}

} // namespace tutti
