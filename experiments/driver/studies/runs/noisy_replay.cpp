// The schedule stays as it was planned, on a network and with clocks that it wasn't planned for:
// what then happens is what robustness means. Each draw is held to a bound of its own.
//
// That flows share equally short routes evenly is an ideal. Switches take one by a hash of a flow's
// addresses, whose collisions differ from job to job, so that one seed tells little.
#include "experiments/driver/studies/runs/noisy_replay.hpp"

#include "experiments/driver/studies/noise/request.hpp"
#include "experiments/driver/studies/runs/with_transport.hpp"
#include "sim/engines/agreement.hpp"
#include "sim/engines/late_starts.hpp"
#include "sim/sends.hpp"
#include "synth/bounds/late_start.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace tutti {

namespace {

/// What no schedule can beat that joins as late as a draw has it, on the network of that draw.
class DrawBounds {
public:
  explicit DrawBounds(const NoisyReplay& replay)
      : replay_(replay), model_(bounding_model(replay.model, replay.schedule)),
        as_planned_(replay.topology, replay.collective, model_) {}

  /// A defect in words where the time is below it.
  [[nodiscard]] std::string problem(const DrawnConditions& drawn, Time time) const {
    if (can_beat_links(replay_.model)) return {};
    const bool is_planned = &drawn.network == &replay_.topology;
    const Time rounding =
        replay_.model.discipline == Discipline::fluid
            ? Time{1}
            : rounding_of(replay_.engine, drawn.network, replay_.collective, time);
    if (is_planned && time + rounding >= as_planned_.time(drawn.starts)) return {};
    const Bound bound =
        is_planned ? as_planned_.bound(drawn.starts)
                   : late_start_bound(drawn.network, replay_.collective, model_, drawn.starts);
    if (time + rounding >= bound.time) return {};
    return fmt::format("{} {} says {} in a draw, below the lower bound {} ({}): a defect of Tutti",
                       replay_.engine.name, discipline_text(replay_.model), to_text(time),
                       to_text(bound.time), bound.certificate);
  }

private:
  const NoisyReplay& replay_;
  TimeModel model_; ///< of bounds
  LateStartBounds as_planned_;
};

} // namespace

void add_noisy_replays(const NoisyReplay& replay, const NoiseRequest& request, unsigned threads,
                       const StageWatch& stage, Replay& quiet, std::string& problem) {
  // Who waits for what is known under fifo alone.
  const bool has_causes = replay.model.discipline == Discipline::fifo;
  const DrawBounds bounds(replay);
  const auto run = [&](const DrawnConditions& drawn, const Watch& watch) {
    RunOptions options;
    options.record_hops = options.record_deliveries = has_causes;
    options.starts = drawn.starts;
    options.watch = watch;
    const Report report =
        replay.engine.run(drawn.network, replay.collective, replay.schedule, replay.model, options);
    Draw draw{report.completion, last_start(replay.collective, drawn.starts)};
    if (has_causes)
      draw.critical_cause =
          cause_of(drawn.network, replay.collective, replay.schedule, drawn.starts, report);
    draw.problem = report.agreement ? disagreement(*report.agreement) : "";
    if (draw.problem.empty()) draw.problem = bounds.problem(drawn, draw.time);
    return draw;
  };
  NoisePlan plan;
  plan.topology = &replay.topology;
  plan.members = members_of(replay.collective);
  plan.starts.assign(replay.starts.begin(), replay.starts.end());
  plan.threads = replay.engine.name == "native" ? threads : 1; // SimGrid: one engine per process
  draw_noise(std::move(plan), request, quiet.bound.time, quiet.report.completion, run, stage,
             fmt::format("{}, {}", replay.engine.name, discipline_text(replay.model)), quiet.noises,
             problem);
}

std::vector<Time> times_of_other_seeds(const Case& c, const Attempt& made) {
  std::vector<Time> times;
  if (c.options.routing.rule != Routing::ecmp_hash || made.outcome.routing.empty() ||
      !made.outcome.schedule)
    return times;
  constexpr std::uint64_t seeds = 16;
  Case other = c;
  if (!c.algorithm.chooses_chunks) other.chunks = made.chunks;
  other.options.model.discipline = c.disciplines.front();
  const std::vector<Time> starts = parse_starts(*c.topology, made.collective, c.noise.starts);
  for (std::uint64_t s = 1; s < seeds; ++s) {
    other.options.routing.seed = c.options.routing.seed + s;
    const Attempt again = attempt(other);
    if (!again.usable() || !again.outcome.schedule) continue;
    RunOptions options;
    options.watch = watch_of(c.options.stage, "replay under other seeds of the hash");
    std::optional<Time> least;
    for (const ReplayInput& on : with_transport(other, again, starts)) {
      options.starts = on.starts;
      const Time time =
          c.engine->run(*on.topology, again.collective, *on.schedule, other.options.model, options)
              .completion;
      least = least ? std::min(*least, time) : time;
    }
    times.push_back(*least);
  }
  return times;
}

} // namespace tutti
