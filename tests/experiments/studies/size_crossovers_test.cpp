#include "experiments/driver/studies/frontiers/size_crossovers.hpp"

#include "tests/catch.hpp"

#include <cstdint>

namespace size_crossovers_test {

using namespace tutti;

namespace {

// Straight lines: from this size on the next is best.
std::optional<std::size_t> best_of_three(Bytes size) {
  return size.count >= 5'000 ? 2 : size.count >= 1'000 ? 1 : 0;
}

} // namespace

TEST_CASE("crossovers are found to the byte, also two between neighbouring sizes") {
  const std::vector<BestFrom> all{{{16}, 0}, {{1'000}, 1}, {{5'000}, 2}};
  const std::vector<Bytes> few{{16}, {1 << 20}}, many{{16}, {999}, {1'000}, {1'001}, {8'000}};
  CHECK(best_by_size(few, best_of_three) == all);
  CHECK(best_by_size(many, best_of_three) == all);
  CHECK(best_by_size(std::vector<Bytes>{{2'000}}, best_of_three) ==
        std::vector<BestFrom>{{{2'000}, 1}});
  CHECK(best_by_size(std::vector<Bytes>{}, best_of_three).empty());
}

TEST_CASE("it begins at the first size that has a best one") {
  const auto best = [](Bytes size) {
    return size.count < 100 ? std::nullopt : best_of_three(size);
  };
  const std::vector<Bytes> sizes{{10}, {200}, {2'000}};
  CHECK(best_by_size(sizes, best) == std::vector<BestFrom>{{{200}, 0}, {{1'000}, 1}});
  CHECK(best_by_size(std::vector<Bytes>{{10}}, best).empty());
}

TEST_CASE("a crossover over a wide range costs some thirty looks") {
  std::size_t looks = 0;
  const auto best = [&looks](Bytes size) -> std::optional<std::size_t> {
    ++looks;
    return size.count >= 123'456'789 ? 1 : 0;
  };
  const std::vector<Bytes> sizes{{1'024}, {std::int64_t{1} << 30}};
  CHECK(best_by_size(sizes, best).back() == BestFrom{{123'456'789}, 1});
  CHECK(looks <= 33); // the two sizes, then halves of 2^30
}

} // namespace size_crossovers_test
