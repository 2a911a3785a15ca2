// Draws don't know of each other, so any of them may be first. A draw's number decides what is
// drawn (sim/noise.hpp); threads take turns.
#include "experiments/driver/studies/noise/draws.hpp"

#include "sim/critical_chain.hpp"
#include "sim/error.hpp"
#include "sim/side_by_side.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <mutex>

namespace tutti {

namespace {

using Json = nlohmann::ordered_json;

/// The nearest rank. Pre: not empty.
Time ranked(std::vector<Time> times, double share) {
  const double rank = std::ceil(share * static_cast<double>(times.size()));
  const auto index = static_cast<std::ptrdiff_t>(std::max(rank, 1.0)) - 1;
  std::ranges::nth_element(times, times.begin() + index);
  return times[static_cast<std::size_t>(index)];
}

bool is_random(const Noise& noise) {
  return noise.skew.kind != Skew::Kind::none || noise.jitter.bandwidth > 0 ||
         noise.jitter.latency > 0;
}

/// What all threads of some draws share.
class Draws {
public:
  Draws(const NoisePlan& plan, const DrawnRun& run, const Watch& watch)
      : plan_(plan), run_(run), watch_(watch), draws_(is_random(plan.noise) ? plan.draws : 1) {}

  std::vector<Draw> perform() {
    const auto threads = static_cast<unsigned>(
        std::clamp<std::size_t>(plan_.threads, 1, std::max<std::size_t>(draws_.size(), 1)));
    run_side_by_side(threads, [&](unsigned) {
      try {
        while (!ended_) {
          const std::size_t draw = next_++;
          if (draw >= draws_.size()) return;
          draws_[draw] = drawn(static_cast<std::uint32_t>(draw));
          ++done_;
        }
      } catch (...) {
        ended_ = true;
        throw;
      }
    });
    return std::move(draws_);
  }

private:
  Draw drawn(std::uint32_t draw) {
    std::vector<Time> starts = drawn_starts(*plan_.topology, plan_.members, plan_.noise, draw);
    for (std::size_t node = 0; node < plan_.starts.size(); ++node)
      starts[node] += plan_.starts[node];
    const Watch asked = [this](const WorkProgress&) { return is_over(); };
    if (asked({})) throw Stopped();
    if (plan_.noise.jitter.bandwidth == 0 && plan_.noise.jitter.latency == 0)
      return run_({*plan_.topology, starts}, asked);
    return run_({drawn_network(*plan_.topology, plan_.noise, draw), starts}, asked);
  }

  /// Asks whoever watches, one thread at a time.
  bool is_over() {
    const std::lock_guard lock(asking_);
    if (!ended_ && watch_) ended_ = watch_({done_, draws_.size()});
    return ended_;
  }

  const NoisePlan& plan_;
  const DrawnRun& run_;
  const Watch& watch_;
  std::vector<Draw> draws_;
  std::atomic<std::size_t> next_ = 0, done_ = 0;
  std::atomic<bool> ended_ = false;
  std::mutex asking_;
};

Cell known(Time time) { return time == Draw::never ? Cell() : Cell(time); }

Json times_json(std::span<const Draw> draws, Time Draw::*member) {
  Json json = Json::array();
  for (const Draw& draw : draws)
    json.push_back(draw.*member == Draw::never ? Json(nullptr) : Json((draw.*member).ps));
  return json;
}

Cell of_cause(const NoiseOutcome& outcome, bool name) {
  const NoiseOutcome::Cause cause = outcome.usual_cause();
  if (cause.name.empty()) return {};
  return name ? Cell(cause.name) : Cell(cause.share);
}

constexpr double median = 0.5, most = 0.9, nearly_all = 0.99, all = 1;

} // namespace

Time NoiseOutcome::time_at(double share) const {
  std::vector<Time> times;
  for (const Draw& draw : draws) times.push_back(draw.time);
  return ranked(std::move(times), share);
}

Time NoiseOutcome::after_last_start_at(double share) const {
  std::vector<Time> times;
  for (const Draw& draw : draws)
    times.push_back(draw.time == Draw::never ? draw.time : draw.time - draw.last_start);
  return ranked(std::move(times), share);
}

double NoiseOutcome::slowdown_at(double share) const {
  const Time time = time_at(share);
  if (quiet.ps <= 0 || time == Draw::never) return std::numeric_limits<double>::quiet_NaN();
  return static_cast<double>(time.ps) / static_cast<double>(quiet.ps);
}

NoiseOutcome::Cause NoiseOutcome::usual_cause() const {
  std::map<std::string, std::size_t> counts;
  for (const Draw& draw : draws)
    if (!draw.critical_cause.empty()) ++counts[draw.critical_cause];
  const auto most_often =
      std::ranges::max_element(counts, {}, [](const auto& counted) { return counted.second; });
  if (most_often == counts.end()) return {};
  return {most_often->first,
          static_cast<double>(most_often->second) / static_cast<double>(draws.size())};
}

std::vector<Draw> performed(const NoisePlan& plan, const DrawnRun& run, const Watch& watch) {
  return Draws(plan, run, watch).perform();
}

void draw_noise(NoisePlan plan, const NoiseRequest& request, Time lower_bound, Time quiet,
                const DrawnRun& run, const StageWatch& stage, const std::string& what,
                std::vector<NoiseOutcome>& outcomes, std::string& problem) {
  plan.draws = request.draws;
  for (const SkewRequest& skew : request.skews) {
    const std::string name = "draws of skew " + skew.text;
    try {
      plan.noise = {skew.skew(lower_bound), request.jitter, request.seed};
      outcomes.push_back({skew.text, request.jitter_text, request.seed, quiet,
                          performed(plan, run, watch_of(stage, name + ", " + what))});
    } catch (const InputError& error) {
      throw InputError(name + ": " + error.what());
    }
    for (const Draw& draw : outcomes.back().draws)
      if (problem.empty()) problem = draw.problem;
  }
}

std::string cause_of(const Topology& topology, const Collective& collective,
                     const Schedule& schedule, std::span<const Time> starts, const Report& report) {
  const CriticalChain chain = critical_chain(topology, collective, schedule, starts, report);
  if (chain.late && (chain.hops.empty() || starts[chain.late->value] >= chain.longest))
    return topology.node(*chain.late).name + ", late";
  if (chain.hops.empty()) return "";
  const Link& link = topology.link(chain.longest_on);
  return fmt::format("{}>{}", topology.node(link.from).name, topology.node(link.to).name);
}

const Fields<NoiseOutcome>& noise_fields() {
  using N = NoiseOutcome;
  using namespace column_words;
  static const Fields<N> fields{
      {{"skew", text, key, optional,
        "Distribution of the start times that are drawn, as asked for: `none`, `uniform:20us` "
        "(from 0 to 20 us), `normal:5us` (standard deviation), `exponential:10us` (mean), "
        "`uniform:0.5x` (times the lower bound); the earliest start of each draw is 0"},
       [](const N& n) { return n.skew; }},
      {{"jitter", text, key, optional,
        "Standard deviations of the factors that each link's bandwidth and latency are drawn by, "
        "as asked for: `bandwidth=5%,latency=10%`, or `none`"},
       [](const N& n) { return n.jitter; }},
      {{"noise_seed", count, key, optional, "Seed of start times and links that are drawn"},
       [](const N& n) { return n.seed; }},
      {{"draws", count, key, optional,
        "Number of draws of start times and links; 1 where skew and jitter are `none`"},
       [](const N& n) { return n.draws.size(); }},
      {{"time_p50_ps", time, metric, optional,
        "Time that half of the draws don't exceed, from 0 to the end: of `n` draws in order of "
        "their times the number `ceil(0.5 n)`",
        0, "p50"},
       [](const N& n) { return known(n.time_at(median)); }},
      {{"time_p90_ps", time, metric, optional, "Time that nine tenths of the draws don't exceed", 0,
        "p90"},
       [](const N& n) { return known(n.time_at(most)); }},
      {{"time_p99_ps", time, metric, optional, "Time that 99 of 100 draws don't exceed", 0, "p99"},
       [](const N& n) { return known(n.time_at(nearly_all)); }},
      {{"time_worst_ps", time, metric, optional, "Longest time of all draws", 0, "worst"},
       [](const N& n) { return known(n.time_at(all)); }},
      {{"after_last_start_p50_ps", time, metric, optional,
        "What is left of a draw's time after its last NPU has started: what half of the draws "
        "don't exceed",
        0, "after last start"},
       [](const N& n) { return known(n.after_last_start_at(median)); }},
      {{"after_last_start_p99_ps", time, metric, optional,
        "What is left of a draw's time after its last NPU has started: what 99 of 100 draws don't "
        "exceed"},
       [](const N& n) { return known(n.after_last_start_at(nearly_all)); }},
      {{"noise_slowdown_p50", ratio, metric, optional,
        "`time_p50_ps` over the time of the same run without noise (late starts that are given are "
        "no noise)",
        0, "x quiet"},
       [](const N& n) { return n.slowdown_at(median); }},
      {{"noise_slowdown_p99", ratio, metric, optional, "`time_p99_ps` over that time", 0,
        "p99 x quiet"},
       [](const N& n) { return n.slowdown_at(nearly_all); }},
      {{"critical_cause", text, note, optional,
        "The cause of the end in most draws: the NPU whose late start (`npu3, late`), or the link "
        "on which (`npu3>npu4`), most of the time of the chain of events was spent that the end "
        "waited for; null under `fluid`"},
       [](const N& n) { return of_cause(n, true); }},
      {{"critical_cause_fraction", part, metric, optional,
        "Part of the draws with this cause; 0 to 1", 0, "in draws"},
       [](const N& n) { return of_cause(n, false); }}};
  return fields;
}

// Times first, then how much more than without noise; what is spared first on a narrow terminal is
// what depends on who was late.
std::vector<ShownColumn> shown_noise(bool causes) {
  std::vector<ShownColumn> shown{{"time_p50"},
                                 {"time_p90", 2},
                                 {"time_p99"},
                                 {"time_worst", 1},
                                 {"after_last_start_p50", 4},
                                 {"noise_slowdown_p50", 3},
                                 {"noise_slowdown_p99"}};
  if (causes) {
    shown.push_back({"critical_cause", 5});
    shown.push_back({"critical_cause_fraction", 6});
  }
  return shown;
}

Json draws_json(const NoiseOutcome& outcome) {
  Json causes = Json::array();
  for (const Draw& draw : outcome.draws)
    causes.push_back(draw.critical_cause.empty() ? Json(nullptr) : Json(draw.critical_cause));
  return {{"time_ps", times_json(outcome.draws, &Draw::time)},
          {"last_start_ps", times_json(outcome.draws, &Draw::last_start)},
          {"critical_cause", std::move(causes)}};
}

std::string noise_text(const NoiseOutcome& outcome) {
  return fmt::format("{} draw{} of skew {}, jitter {}, seed {}", outcome.draws.size(),
                     outcome.draws.size() == 1 ? "" : "s", outcome.skew, outcome.jitter,
                     outcome.seed);
}

std::string noise_heading(std::span<const NoiseOutcome* const> outcomes) {
  const NoiseOutcome& first = *outcomes.front();
  std::size_t draws = 0; // skew none without jitter has a single one
  for (const NoiseOutcome* outcome : outcomes) draws = std::max(draws, outcome->draws.size());
  const bool one_skew = std::ranges::all_of(
      outcomes, [&](const NoiseOutcome* outcome) { return outcome->skew == first.skew; });
  return fmt::format("{}jitter {}, seed {}, {} draw{}",
                     one_skew ? fmt::format("skew {}, ", first.skew) : "", first.jitter, first.seed,
                     draws, draws == 1 ? "" : "s");
}

} // namespace tutti
