// Which plans an iteration uses: by what it takes, not by what each collective takes alone.
#include "tests/catch.hpp"
#include "workloads/planning/plan_choice.hpp"

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace plan_choice_test {

using namespace tutti;

namespace {

/// Durations that say nothing about what is best alone: a hash of the choice.
Time arbitrary_duration(const PlanChoice& choice, std::uint64_t seed) {
  std::uint64_t hash = seed;
  for (const std::size_t variant : choice) hash = (hash ^ (variant + 1)) * 0x9e3779b97f4a7c15;
  return Time{static_cast<std::int64_t>(hash >> 40)};
}

} // namespace

TEST_CASE("equally fast alone: the plan that leaves more of the links to others") {
  CHECK(is_better({"a", Time{5}, Time{9}}, {"b", Time{5}, Time{10}}));
  CHECK(is_better({"a", Time{4}, Time{90}}, {"b", Time{5}, Time{10}}));
  CHECK_FALSE(is_better({"a", Time{5}, Time{9}}, {"b", Time{5}, Time{9}}));
}

TEST_CASE("where there is nothing to choose nothing is simulated") {
  const std::vector<std::vector<PlanVariant>> collectives(3, {{"a", Time{1}, Time{1}}});
  const auto never = [](const PlanChoice&) -> std::optional<SimulatedChoice> {
    FAIL("simulated");
    return std::nullopt;
  };
  CHECK(best_choice(collectives, never) == PlanChoice{0, 0, 0});
}

TEST_CASE("no algorithm throughout is faster than the choice, whatever the durations") {
  std::mt19937_64 random(GENERATE(1U, 2U, 3U));
  const std::vector<std::string> names{"a", "b", "c", "d"};
  for (int trial = 0; trial < 300; ++trial) {
    std::vector<std::vector<PlanVariant>> collectives(1 + random() % 5);
    for (auto& variants : collectives) {
      for (const std::string& name : names)
        if (random() % 3 > 0)
          variants.push_back({name, Time{static_cast<std::int64_t>(random() % 50)}, Time{1}});
      if (variants.empty()) variants.push_back({names[random() % 4], Time{7}, Time{1}});
    }
    const std::uint64_t seed = random();
    const auto simulate = [&](const PlanChoice& choice) {
      return std::optional(SimulatedChoice{arbitrary_duration(choice, seed), 1});
    };
    const PlanChoice best = best_choice(collectives, simulate);
    REQUIRE(best.size() == collectives.size());
    for (std::size_t c = 0; c < best.size(); ++c) REQUIRE(best[c] < collectives[c].size());
    for (const std::string& name : names) {
      PlanChoice choice;
      for (const auto& variants : collectives) {
        const auto own = std::ranges::find(variants, name, &PlanVariant::algorithm);
        if (own == variants.end()) break;
        choice.push_back(static_cast<std::size_t>(own - variants.begin()));
      }
      if (choice.size() == collectives.size())
        CHECK(arbitrary_duration(best, seed) <= arbitrary_duration(choice, seed));
    }
  }
}

TEST_CASE("exchanges end where they have cost enough, or somebody cancels") {
  const std::vector<std::vector<PlanVariant>> collectives(
      1'000, {{"a", Time{100}, Time{1}}, {"b", Time{101}, Time{1}}, {"c", Time{102}, Time{1}}});
  int simulated = 0;
  const auto simulate = [&](const PlanChoice&) {
    ++simulated;
    return std::optional(SimulatedChoice{Time{1'000'000 - simulated}, 1'000'000});
  };
  (void)best_choice(collectives, simulate);
  CHECK(simulated <= 3 + 20);
  simulated = 0;
  (void)best_choice(collectives, simulate, [&] { return simulated == 2; });
  CHECK(simulated == 2);
}

} // namespace plan_choice_test
