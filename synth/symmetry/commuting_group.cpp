// Why: the whole group of a torus or a cluster of 1,024 NPUs can't be listed, its translations can.
// Idea: grow an abelian group by one candidate at a time inside the centralizer of what was found,
// which is again given by generators. Candidates that commute with most others come first. In a
// semiregular group point 0's image identifies an element, so membership is one look.

#include "synth/symmetry/commuting_group.hpp"

#include "synth/symmetry/permutation_powers.hpp"
#include "synth/symmetry/random_products.hpp"
#include "synth/symmetry/swap_products.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

namespace tutti {

namespace {

/// How many points lie in each orbit, by the orbit's least point; 0 for other points.
std::vector<std::size_t> orbit_sizes(std::span<const Permutation> generators, std::size_t points) {
  std::vector<std::size_t> sizes(points);
  for (const std::uint32_t orbit : orbits(generators, points)) ++sizes[orbit];
  return sizes;
}

std::size_t orbit_count(std::span<const Permutation> generators, std::size_t points) {
  const std::vector<std::size_t> sizes = orbit_sizes(generators, points);
  return points - static_cast<std::size_t>(std::ranges::count(sizes, 0U));
}

bool commute(const Permutation& a, const Permutation& b, std::size_t points) {
  for (std::size_t i = 0; i < points; ++i)
    if (a[b[i]] != b[a[i]]) return false;
  return true;
}

/// The element that takes point 0 where `like` does. Pre: there is one.
Permutation element_like(const CommutingGroup& group, const Permutation& like) {
  std::vector<std::uint32_t> images{0}; // of point 0, by exponents, the first fastest
  for (std::size_t g = 0; g < group.generators.size(); ++g) {
    const std::size_t before = images.size();
    for (std::size_t i = 0; i < before * (group.relative_orders[g] - 1); ++i)
      images.push_back(group.generators[g][images[i]]);
  }
  auto rest = static_cast<std::size_t>(std::ranges::find(images, like.front()) - images.begin());
  Permutation made(like.size());
  std::iota(made.begin(), made.end(), 0U);
  for (std::size_t g = 0; g < group.generators.size(); ++g) {
    made = composed(made, power(group.generators[g], rest % group.relative_orders[g]));
    rest /= group.relative_orders[g];
  }
  return made;
}

/// Nothing where it doesn't commute with the group, is one of it, or together they aren't
/// semiregular.
std::optional<CommutingGroup> extended(const CommutingGroup& group, const Permutation& by,
                                       std::size_t points) {
  if (!std::ranges::all_of(group.generators,
                           [&](const auto& one) { return commute(one, by, by.size()); }))
    return std::nullopt;
  CommutingGroup larger = group;
  larger.generators.push_back(by);
  const std::vector<std::size_t> sizes = orbit_sizes(larger.generators, points);
  if (sizes[0] <= group.order() ||
      std::ranges::any_of(sizes, [&](std::size_t size) { return size != 0 && size != sizes[0]; }))
    return std::nullopt;
  // As many elements as points in each orbit, if the power that takes point 0 where an element of
  // the group does is that element.
  larger.relative_orders.push_back(sizes[0] / group.order());
  const Permutation back = power(by, larger.relative_orders.back());
  if (back != element_like(group, back)) return std::nullopt;
  return larger;
}

/// Those that commute with most others first: translations do, which symmetries that turn or mirror
/// something don't.
void sort_by_commuting(std::vector<Permutation>& candidates, std::size_t points) {
  std::vector<std::pair<std::size_t, std::size_t>> order; // those that don't commute, place
  for (std::size_t i = 0; i < candidates.size(); ++i)
    order.emplace_back(std::ranges::count_if(candidates,
                                             [&](const Permutation& other) {
                                               return !commute(candidates[i], other, points);
                                             }),
                       i);
  std::ranges::sort(order);
  std::vector<Permutation> sorted;
  for (const auto& [ignored, i] : order) sorted.push_back(std::move(candidates[i]));
  candidates = std::move(sorted);
}

/// Semiregular elements of the group that these generate.
std::vector<Permutation> candidates(std::span<const Permutation> generators, std::size_t points) {
  constexpr std::size_t most = 48, most_products = 200, most_work = 2'000'000; // mapped points
  std::set<Permutation> known;
  std::vector<Permutation> found;
  const auto add = [&](const Permutation& permutation) {
    for (Permutation& made : semiregular_powers(permutation, points))
      if (found.size() < most && known.insert(made).second) found.push_back(std::move(made));
  };
  for (const Permutation& product : swap_products(generators, points)) add(product);
  for (const Permutation& generator : generators) add(generator);
  const std::size_t products = std::min(most_products, most_work / generators.front().size());
  RandomProducts random(generators, products);
  for (std::size_t i = 0; i < products && found.size() < most; ++i) add(random.next());
  sort_by_commuting(found, points);
  return found;
}

class Growth {
public:
  Growth(std::size_t points, std::size_t most, const Centralizer& centralizer)
      : points_(points), most_(most), centralizer_(centralizer) {}

  CommutingGroup run(std::vector<Permutation> generators) {
    CommutingGroup group;
    while (group.order() < most_ && !generators.empty()) {
      const std::vector<Permutation> choice = candidates(generators, points_);
      grow_greedily(group, choice);
      if (best_.order() == most_) break;
      std::optional<Step> step = best_step(group, choice, orbit_count(generators, points_));
      if (!step) break;
      group = std::move(step->group);
      generators = std::move(step->centralizer);
    }
    return std::move(best_);
  }

private:
  struct Step {
    CommutingGroup group;
    std::vector<Permutation> centralizer; // of the group
  };

  /// By a power of the candidate where it would make too many elements.
  std::optional<CommutingGroup> step(const CommutingGroup& group, const Permutation& by) const {
    std::optional<CommutingGroup> larger = extended(group, by, points_);
    if (!larger || larger->order() <= most_) return larger;
    const std::size_t order = larger->relative_orders.back();
    std::size_t exponent = 2;
    while (order % exponent != 0 || larger->order() / exponent > most_) {
      if (exponent++ == order) return std::nullopt;
    }
    return exponent == order ? std::nullopt : extended(group, power(by, exponent), points_);
  }

  /// Adds whatever fits, which is quick and often enough.
  void grow_greedily(CommutingGroup group, const std::vector<Permutation>& choice) {
    for (const Permutation& candidate : choice)
      if (std::optional<CommutingGroup> larger = step(group, candidate)) group = *std::move(larger);
    if (group.order() > best_.order()) best_ = std::move(group);
  }

  /// The first one after which the centralizer has as few orbits as before, else the fewest.
  std::optional<Step> best_step(const CommutingGroup& group, const std::vector<Permutation>& choice,
                                std::size_t orbits_before) const {
    constexpr std::size_t most_tries = 12;
    std::optional<Step> best;
    std::size_t fewest = SIZE_MAX, tries = 0;
    for (const Permutation& candidate : choice) {
      if (tries == most_tries || fewest == orbits_before) break;
      std::optional<CommutingGroup> larger = step(group, candidate);
      if (!larger) continue;
      ++tries;
      std::vector<Permutation> commuting = centralizer_(larger->generators);
      const std::size_t orbits = orbit_count(commuting, points_);
      if (orbits >= fewest) continue;
      fewest = orbits;
      best = Step{*std::move(larger), std::move(commuting)};
    }
    return best;
  }

  std::size_t points_, most_;
  const Centralizer& centralizer_;
  CommutingGroup best_;
};

} // namespace

std::size_t CommutingGroup::order() const {
  return std::accumulate(relative_orders.begin(), relative_orders.end(), std::size_t{1},
                         std::multiplies<>());
}

std::vector<Permutation> elements(const CommutingGroup& group, std::size_t size) {
  std::vector<Permutation> all(1, Permutation(size));
  all.reserve(group.order());
  std::iota(all.front().begin(), all.front().end(), 0U);
  for (std::size_t g = 0; g < group.generators.size(); ++g) {
    const std::size_t made = all.size() * (group.relative_orders[g] - 1);
    for (std::size_t i = 0; i < made; ++i) all.push_back(composed(all[i], group.generators[g]));
  }
  return all;
}

std::size_t most_semiregular_elements(std::span<const Permutation> generators, std::size_t points,
                                      std::size_t most) {
  std::size_t common = 0;
  for (const std::size_t size : orbit_sizes(generators, points)) common = std::gcd(common, size);
  std::size_t order = std::min(common, most);
  while (order > 1 && common % order != 0) --order;
  return order;
}

CommutingGroup semiregular_commuting_group(std::span<const Permutation> generators,
                                           std::size_t points, std::size_t most,
                                           const Centralizer& centralizer) {
  if (generators.empty() || points == 0) return {};
  const std::size_t reachable = most_semiregular_elements(generators, points, most);
  return Growth(points, reachable, centralizer).run({generators.begin(), generators.end()});
}

} // namespace tutti
