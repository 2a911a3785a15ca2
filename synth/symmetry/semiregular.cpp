#include "synth/symmetry/semiregular.hpp"

#include "synth/solvers/limit_watch.hpp"
#include "synth/symmetry/permutation_powers.hpp"
#include "synth/symmetry/random_products.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

namespace tutti {

namespace {

using Group = std::vector<Permutation>; // by where the elements take point 0

// Work is counted in points that are mapped; this many take some hundredths of a second.
constexpr std::int64_t most_work = 10'000'000;
// Of candidates, which are kept, too: for permutations of some 10,000 points as many as are asked
// for, of millions a few.
constexpr std::size_t most_candidate_points = 40'000'000;
// Groups that look conjugate are equal in use; a few are kept as looks may deceive.
constexpr std::size_t most_alike = 3;

struct Candidates {
  std::vector<Permutation> permutations;        // semiregular
  std::map<Permutation, std::uint32_t> classes; // of conjugate ones; empty where not known
};

// Conjugation by a generator permutes the candidates: its orbits are the classes.
void find_classes(std::span<const Permutation> generators, Candidates& candidates) {
  std::map<Permutation, std::uint32_t>& index = candidates.classes;
  for (std::uint32_t i = 0; i < candidates.permutations.size(); ++i)
    index.emplace(candidates.permutations[i], i);
  std::vector<Permutation> conjugations;
  for (const Permutation& generator : generators) {
    const Permutation back = inverse(generator);
    Permutation& image = conjugations.emplace_back();
    for (const Permutation& permutation : candidates.permutations)
      image.push_back(index.at(composed(composed(back, permutation), generator)));
  }
  const std::vector<std::uint32_t> orbit_of = orbits(conjugations, index.size());
  for (auto& [permutation, i] : index) i = orbit_of[i];
}

Candidates candidates(std::span<const Permutation> generators, std::size_t points, std::size_t most,
                      LimitWatch& watch) {
  Candidates result;
  most =
      std::min(most, std::max<std::size_t>(1, most_candidate_points / generators.front().size()));
  const std::vector<Permutation> all = elements(generators, generators.front().size(), most);
  if (!all.empty()) {
    std::copy_if(all.begin(), all.end(), std::back_inserter(result.permutations),
                 [&](const Permutation& made) { return semiregular_order(made, points) > 0; });
    find_classes(generators, result);
  } else {
    RandomProducts products(generators, most);
    std::set<Permutation> known;
    for (std::size_t i = 0; i < most; ++i) {
      watch.require();
      for (Permutation& made : semiregular_powers(products.next(), points))
        if (known.insert(made).second) result.permutations.push_back(std::move(made));
    }
  }
  std::stable_sort(result.permutations.begin(), result.permutations.end(),
                   [&](const Permutation& a, const Permutation& b) {
                     return semiregular_order(a, points) > semiregular_order(b, points);
                   });
  return result;
}

// Sorted classes of a group's elements: the same for conjugate groups.
using Look = std::vector<std::size_t>;

Look look_of(const Group& group, const Candidates& candidates, std::size_t points) {
  Look look;
  for (const Permutation& element : group) {
    const auto known = candidates.classes.find(element);
    look.push_back(known != candidates.classes.end() ? known->second
                                                     : semiregular_order(element, points));
  }
  std::sort(look.begin(), look.end());
  return look;
}

bool moves_all(const Permutation& permutation, std::size_t points) {
  for (std::size_t i = 0; i < points; ++i)
    if (permutation[i] == i) return false;
  return true;
}

struct Grown {
  std::vector<Permutation> generators;
  Group group;
  Look look;
  std::size_t next = 0; // the candidate to extend it by
};

// Extends groups by one candidate, the largest first, until nothing is left to try or the work is
// done.
class GroupSearch {
public:
  GroupSearch(Candidates candidates, std::size_t points, LimitWatch& watch)
      : candidates_(std::move(candidates)), points_(points), watch_(watch) {}

  std::vector<Grown> run() {
    for (const Permutation& candidate : candidates_.permutations)
      if (work_ < most_work) add({candidate});
    while (work_ < most_work) {
      Grown* const largest = largest_open();
      if (largest == nullptr) break;
      const Permutation& candidate = candidates_.permutations[largest->next++];
      work_ += static_cast<std::int64_t>(found_.size());
      if (std::binary_search(largest->group.begin(), largest->group.end(), candidate)) continue;
      std::vector<Permutation> generators = largest->generators;
      generators.push_back(candidate);
      add(std::move(generators));
    }
    return std::move(found_);
  }

private:
  // The first among the largest with something left to try; a regular group can't grow.
  Grown* largest_open() {
    Grown* largest = nullptr;
    for (Grown& grown : found_)
      if (grown.group.size() < points_ && grown.next < candidates_.permutations.size() &&
          (largest == nullptr || grown.group.size() > largest->group.size()))
        largest = &grown;
    return largest;
  }

  void add(std::vector<Permutation> generators) {
    std::optional<Group> group = generated(generators);
    if (!group || !groups_.insert(*group).second) return;
    Look look = look_of(*group, candidates_, points_);
    if (++alike_[look] > most_alike) return;
    found_.push_back({std::move(generators), *std::move(group), std::move(look)});
  }

  // Nothing where some element leaves a point in place. In a semiregular group the image of point 0
  // tells which element it is.
  std::optional<Group> generated(const std::vector<Permutation>& generators) {
    watch_.require();
    std::vector<Permutation> by_image(points_);
    by_image[0] = power(generators.front(), 0);
    std::vector<std::uint32_t> images{0};
    for (std::size_t i = 0; i < images.size(); ++i) {
      for (const Permutation& generator : generators) {
        work_ += static_cast<std::int64_t>(generator.size());
        Permutation made = composed(by_image[images[i]], generator);
        Permutation& known = by_image[made.front()];
        if (known == made) continue;
        if (!known.empty() || !moves_all(made, points_)) return std::nullopt;
        images.push_back(made.front());
        known = std::move(made);
      }
    }
    std::erase_if(by_image, [](const Permutation& element) { return element.empty(); });
    return by_image;
  }

  Candidates candidates_;
  std::size_t points_;
  LimitWatch& watch_;
  std::vector<Grown> found_;
  std::set<Group> groups_;
  std::map<Look, std::size_t> alike_;
  std::int64_t work_ = 0;
};

// The first of each order, then those that look new, then the others.
std::vector<std::size_t> by_variety(const std::vector<Grown>& found) {
  std::set<std::size_t> orders;
  std::set<Look> looks;
  std::vector<std::size_t> first_of_order, new_look, others;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const bool new_order = orders.insert(found[i].group.size()).second;
    const bool is_new_look = looks.insert(found[i].look).second;
    (new_order ? first_of_order : is_new_look ? new_look : others).push_back(i);
  }
  first_of_order.insert(first_of_order.end(), new_look.begin(), new_look.end());
  first_of_order.insert(first_of_order.end(), others.begin(), others.end());
  return first_of_order;
}

} // namespace

std::vector<std::vector<Permutation>>
semiregular_subgroups(std::span<const Permutation> generators, std::size_t points,
                      std::size_t most_elements, std::size_t most_groups, const WorkLimit& limit) {
  if (generators.empty() || points < 2) return {};
  LimitWatch watch(limit);
  std::vector<Grown> found =
      GroupSearch(candidates(generators, points, most_elements, watch), points, watch).run();
  std::stable_sort(found.begin(), found.end(),
                   [](const Grown& a, const Grown& b) { return a.group.size() > b.group.size(); });
  std::vector<std::size_t> chosen = by_variety(found);
  chosen.resize(std::min(chosen.size(), most_groups));
  std::sort(chosen.begin(), chosen.end());
  std::vector<std::vector<Permutation>> groups;
  groups.reserve(chosen.size());
  for (const std::size_t i : chosen) groups.push_back(std::move(found[i].group));
  return groups;
}

} // namespace tutti
