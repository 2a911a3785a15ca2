#include "synth/solvers/semiregular.hpp"

#include "sim/random.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

namespace tutti {

namespace {

using Group = std::vector<Permutation>; // by where the elements take point 0

// Work is counted in points that are mapped; this many take some hundredths of a second.
constexpr std::int64_t most_work = 10'000'000;
// Groups that look conjugate are equal in use; a few are kept as looks may deceive.
constexpr std::size_t most_alike = 3;

std::vector<std::size_t> cycle_lengths(const Permutation& permutation) {
  std::vector<std::size_t> lengths;
  std::vector<bool> seen(permutation.size());
  for (std::uint32_t first = 0; first < permutation.size(); ++first) {
    if (seen[first]) continue;
    std::size_t length = 0;
    for (std::uint32_t i = first; !seen[i]; i = permutation[i], ++length) seen[i] = true;
    lengths.push_back(length);
  }
  return lengths;
}

// The order of a permutation other than the identity whose powers leave no point in place: then all
// cycles are as long. 0 for others.
std::size_t semiregular_order(const Permutation& permutation) {
  const std::vector<std::size_t> lengths = cycle_lengths(permutation);
  const bool even = std::all_of(lengths.begin(), lengths.end(),
                                [&](std::size_t length) { return length == lengths.front(); });
  return even && lengths.front() > 1 ? lengths.front() : 0;
}

Permutation power(const Permutation& permutation, std::size_t exponent) {
  Permutation result(permutation.size());
  std::vector<bool> seen(permutation.size());
  for (std::uint32_t first = 0; first < permutation.size(); ++first) {
    if (seen[first]) continue;
    std::vector<std::uint32_t> cycle;
    for (std::uint32_t i = first; !seen[i]; i = permutation[i]) {
      seen[i] = true;
      cycle.push_back(i);
    }
    for (std::size_t k = 0; k < cycle.size(); ++k)
      result[cycle[k]] = cycle[(k + exponent) % cycle.size()];
  }
  return result;
}

// Per prime the largest power of it that divides some cycle's length.
std::map<std::size_t, std::size_t> prime_powers(const Permutation& permutation) {
  std::map<std::size_t, std::size_t> largest;
  for (std::size_t rest : cycle_lengths(permutation)) {
    for (std::size_t prime = 2; rest > 1; ++prime) {
      std::size_t dividing = 1;
      for (; rest % prime == 0; rest /= prime) dividing *= prime;
      if (dividing > 1) largest[prime] = std::max(largest[prime], dividing);
    }
  }
  return largest;
}

// The permutation itself and, for each prime, its power whose order is one of that prime: those
// that move every point. In a product of groups these are what stays within one factor.
void add_semiregular_powers(const Permutation& permutation, std::set<Permutation>& known,
                            std::vector<Permutation>& found) {
  const auto add = [&](const Permutation& made) {
    if (semiregular_order(made) > 0 && known.insert(made).second) found.push_back(made);
  };
  add(permutation);
  const std::map<std::size_t, std::size_t> powers = prime_powers(permutation);
  for (const auto& [kept, ignored] : powers) {
    Permutation part = permutation;
    for (const auto& [prime, dividing] : powers)
      if (prime != kept) part = power(part, dividing);
    add(part);
  }
}

// Product replacement (Celler, Leedham-Green, Murray, Niemeyer, O'Brien 1995, "Generating random
// elements of a finite group").
class RandomProducts {
public:
  explicit RandomProducts(std::span<const Permutation> generators) {
    for (std::size_t i = 0; i < std::max<std::size_t>(10, generators.size()); ++i)
      slots_.push_back(generators[i % generators.size()]);
    for (std::size_t i = 0; i < 10 * slots_.size(); ++i) (void)next();
  }

  const Permutation& next() {
    const std::size_t target = random_.below(slots_.size());
    const std::size_t other = (target + 1 + random_.below(slots_.size() - 1)) % slots_.size();
    const bool inverted = random_.below(2) == 1;
    slots_[target] = composed(slots_[target], inverted ? inverse(slots_[other]) : slots_[other]);
    return slots_[target];
  }

private:
  std::vector<Permutation> slots_;
  Random random_{1};
};

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

Candidates candidates(std::span<const Permutation> generators, std::size_t points,
                      std::size_t most) {
  Candidates result;
  const std::vector<Permutation> all = elements(generators, points, most);
  if (!all.empty()) {
    std::copy_if(all.begin(), all.end(), std::back_inserter(result.permutations),
                 [](const Permutation& made) { return semiregular_order(made) > 0; });
    find_classes(generators, result);
  } else {
    RandomProducts products(generators);
    std::set<Permutation> known;
    for (std::size_t i = 0; i < most; ++i)
      add_semiregular_powers(products.next(), known, result.permutations);
  }
  std::stable_sort(result.permutations.begin(), result.permutations.end(),
                   [](const Permutation& a, const Permutation& b) {
                     return semiregular_order(a) > semiregular_order(b);
                   });
  return result;
}

// Sorted classes of a group's elements: the same for conjugate groups.
using Look = std::vector<std::size_t>;

Look look_of(const Group& group, const Candidates& candidates) {
  Look look;
  for (const Permutation& element : group) {
    const auto known = candidates.classes.find(element);
    look.push_back(known != candidates.classes.end() ? known->second : semiregular_order(element));
  }
  std::sort(look.begin(), look.end());
  return look;
}

bool moves_all(const Permutation& permutation) {
  for (std::size_t i = 0; i < permutation.size(); ++i)
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
class Search {
public:
  Search(Candidates candidates, std::size_t points)
      : candidates_(std::move(candidates)), points_(points) {}

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
    Look look = look_of(*group, candidates_);
    if (++alike_[look] > most_alike) return;
    found_.push_back({std::move(generators), *std::move(group), std::move(look)});
  }

  // Nothing where some element leaves a point in place. In a semiregular group the image of point 0
  // tells which element it is.
  std::optional<Group> generated(const std::vector<Permutation>& generators) {
    std::vector<Permutation> by_image(points_);
    by_image[0] = power(generators.front(), 0);
    std::vector<std::uint32_t> images{0};
    for (std::size_t i = 0; i < images.size(); ++i) {
      for (const Permutation& generator : generators) {
        work_ += static_cast<std::int64_t>(points_);
        Permutation made = composed(by_image[images[i]], generator);
        Permutation& known = by_image[made.front()];
        if (known == made) continue;
        if (!known.empty() || !moves_all(made)) return std::nullopt;
        images.push_back(made.front());
        known = std::move(made);
      }
    }
    std::erase_if(by_image, [](const Permutation& element) { return element.empty(); });
    return by_image;
  }

  Candidates candidates_;
  std::size_t points_;
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

std::vector<std::vector<Permutation>> semiregular_subgroups(std::span<const Permutation> generators,
                                                            std::size_t points,
                                                            std::size_t most_elements,
                                                            std::size_t most_groups) {
  if (generators.empty() || points < 2) return {};
  std::vector<Grown> found = Search(candidates(generators, points, most_elements), points).run();
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
