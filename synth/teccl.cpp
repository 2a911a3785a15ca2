// TE-CCL: Liu et al., "Rethinking Machine Learning Collective Communication as a Multi-Commodity
// Flow Problem" (SIGCOMM 2024), with COIN-OR (or HiGHS) for its programs. Time in epochs; chunks
// are stored, copied and pipelined; what reduces is made backwards (see teccl/). Cost: seconds for
// one machine of 8 to 16 NPUs in one shot; rounds and flows reach hundreds.
#include "sim/transforms.hpp"
#include "synth/list.hpp"
#include "synth/teccl/epoch_synthesis.hpp"
#include "synth/turned_around.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

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

class TecclSynthesis {
public:
  TecclSynthesis(const Topology& topology, const Collective& collective,
                 const SynthesisOptions& options)
      : topology_(topology), collective_(collective), options_(options),
        settings_(teccl_settings(options)), limit_(options) {}

  Outcome run() {
    const CollectivePart& part = collective_.parts.front();
    if (part.kind == CollectiveKind::all_reduce) {
      const Collective gather = make_collective(
          topology_, {CollectiveKind::all_gather, part.size, part.group, 0, part.pieces});
      make(gather, true);
      if (outcome_.schedule) make(gather, false);
    } else if (reduces(collective_)) {
      make(turned_around(collective_), true);
    } else {
      make(collective_, false);
    }
    return std::move(outcome_);
  }

private:
  /// Adds what a collective that copies takes, backwards where it stands for one that reduces.
  void make(const Collective& copied, bool backwards) {
    const Topology network = backwards ? turned_around(topology_) : topology_;
    EpochSynthesis made = synthesize_epochs(network, copied, settings_, options_, limit_);
    if (!made.schedule) {
      outcome_ = {};
      outcome_.status = made.answer.status == EpochStatus::timed_out && limit_.reached()
                            ? Status::timed_out
                            : Status::infeasible;
      outcome_.note = std::move(made.why_not);
      return;
    }
    Schedule schedule =
        backwards ? inverted(*made.schedule, Op::reduce) : std::move(*made.schedule);
    const bool first = !outcome_.schedule;
    outcome_.schedule = first ? std::move(schedule) : concatenated(*outcome_.schedule, schedule);
    outcome_.planned = first ? made.planned() : *outcome_.planned + made.planned();
    outcome_.planned_on += (first ? "" : ", then ") + plan_text(made);
    outcome_.status = limit_.reached() ? Status::timed_out : Status::feasible;
    add_facts(made, outcome_.facts);
  }

  const Topology& topology_;
  const Collective& collective_;
  const SynthesisOptions& options_;
  TecclSettings settings_;
  WorkLimit limit_;
  Outcome outcome_;
};

} // namespace

Outcome teccl(const Topology& topology, const Collective& collective,
              const SynthesisOptions& options) {
  if (std::string obstacle = turning_obstacle("teccl", collective); !obstacle.empty())
    return infeasible(std::move(obstacle));
  return TecclSynthesis(topology, collective, options).run();
}

} // namespace tutti
