// Chooses among plans by simulating the iteration that they are for. Trying all combinations is out
// of the question, so this is a local search: it starts with each algorithm throughout and the mix
// of what is best alone, which are the choices that users compare with, and improves the best of
// them one collective at a time.
#include "workloads/planning/plan_choice.hpp"

#include <algorithm>
#include <numeric>
#include <set>
#include <tuple>

namespace tutti {

namespace {

constexpr std::uint64_t most_steps = 20'000'000; // of exchanges: some seconds

class Search {
public:
  Search(std::span<const std::vector<PlanVariant>> collectives, const SimulateChoice& simulate,
         const std::function<bool()>& cancelled)
      : collectives_(collectives), simulate_(simulate), cancelled_(cancelled) {
    for (const std::vector<PlanVariant>& variants : collectives)
      best_.push_back(static_cast<std::size_t>(std::ranges::min_element(variants, is_better) -
                                               variants.begin()));
  }

  PlanChoice run() {
    if (std::ranges::all_of(collectives_, [](const auto& each) { return each.size() == 1; }))
      return best_;
    const PlanChoice alone = best_;
    consider(alone);
    for (const std::string& algorithm : algorithms()) consider(throughout(algorithm, alone));
    if (best_time_) exchange();
    return best_;
  }

private:
  [[nodiscard]] std::vector<std::string> algorithms() const {
    std::vector<std::string> names; // in the order of the candidates
    for (const std::vector<PlanVariant>& variants : collectives_)
      for (const PlanVariant& variant : variants)
        if (std::ranges::find(names, variant.algorithm) == names.end())
          names.push_back(variant.algorithm);
    return names;
  }

  [[nodiscard]] PlanChoice throughout(const std::string& algorithm, PlanChoice choice) const {
    for (std::size_t c = 0; c < collectives_.size(); ++c) {
      const auto& variants = collectives_[c];
      const auto own = std::ranges::find(variants, algorithm, &PlanVariant::algorithm);
      if (own != variants.end()) choice[c] = static_cast<std::size_t>(own - variants.begin());
    }
    return choice;
  }

  /// What it cost, in steps.
  std::uint64_t consider(const PlanChoice& choice) {
    if ((cancelled_ && cancelled_()) || !tried_.insert(choice).second) return 0;
    const std::optional<SimulatedChoice> simulated = simulate_(choice);
    if (!simulated) return 0;
    if (!best_time_ || simulated->duration < *best_time_) {
      best_time_ = simulated->duration;
      best_ = choice;
    }
    return simulated->steps;
  }

  void exchange() {
    std::vector<Time> shortest;
    for (const std::vector<PlanVariant>& variants : collectives_)
      shortest.push_back(std::ranges::min(variants, {}, &PlanVariant::alone).alone);
    std::vector<std::size_t> order(collectives_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, std::greater{}, [&](std::size_t c) { return shortest[c]; });
    std::uint64_t steps = 0;
    for (const std::size_t c : order)
      for (std::size_t v = 0; v < collectives_[c].size() && steps < most_steps; ++v) {
        if (collectives_[c][v].alone.ps > shortest[c].ps / 4 * 5) continue;
        PlanChoice choice = best_;
        choice[c] = v;
        steps += consider(choice);
      }
  }

  std::span<const std::vector<PlanVariant>> collectives_;
  const SimulateChoice& simulate_;
  const std::function<bool()>& cancelled_;
  PlanChoice best_;
  std::optional<Time> best_time_;
  std::set<PlanChoice> tried_;
};

} // namespace

bool is_better(const PlanVariant& a, const PlanVariant& b) {
  return std::tie(a.alone, a.busy) < std::tie(b.alone, b.busy);
}

PlanChoice best_choice(std::span<const std::vector<PlanVariant>> collectives,
                       const SimulateChoice& simulate, const std::function<bool()>& cancelled) {
  return Search(collectives, simulate, cancelled).run();
}

} // namespace tutti
