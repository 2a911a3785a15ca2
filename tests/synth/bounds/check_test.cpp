// Every bound has a proof that the checker confirms, and the checker doesn't believe anything.
#include "sim/random.hpp"
#include "synth/bounds/bounds.hpp"
#include "synth/bounds/check.hpp"
#include "synth/bounds/flow_prices.hpp"
#include "tests/catch.hpp"
#include "tests/synth/bounds/bound_cases.hpp"
#include "topologies/list.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <iterator>
#include <map>
#include <string>
#include <vector>

namespace tutti {
namespace {

/// Of every kind, with the prices of flows.
std::vector<Bound> all_bounds(const samples::BoundCase& given, Chunking chunking) {
  std::vector<Bound> bounds =
      lower_bounds(given.topology, given.collective, given.model, chunking);
  std::ranges::move(flow_bounds(given.topology, given.collective, given.model, chunking),
                    std::back_inserter(bounds));
  return bounds;
}

std::string refuted(const samples::BoundCase& given, Chunking chunking, const Bound& bound) {
  return refuted(given.topology, given.collective, given.model, chunking, bound);
}

/// What the checker says of all bounds of random cases.
struct Verdicts {
  std::map<BoundKind, int> confirmed;
  std::string refuted; ///< the first
};

Verdicts verdicts(std::uint64_t seed, int cases) {
  Random random(seed);
  Verdicts result;
  for (int i = 0; i < cases; ++i) {
    const samples::BoundCase given = samples::random_bound_case(random);
    for (const Chunking chunking : {Chunking::any, Chunking::given})
      for (const Bound& bound : all_bounds(given, chunking)) {
        const std::string fault = refuted(given, chunking, bound);
        if (fault.empty())
          ++result.confirmed[bound.kind];
        else if (result.refuted.empty())
          result.refuted = fmt::format("seed {}, case {}, {}: {} by {} ({}): {}", seed, i,
                                       given.collective.name(), bound.time.ps,
                                       to_text(bound.kind), bound.certificate, fault);
      }
  }
  return result;
}

TEST_CASE("the checker confirms every bound", "[bounds]") {
  const Verdicts result = verdicts(1, 60);
  CHECK(result.refuted == "");
  CHECK(result.confirmed.size() == 13);
}

TEST_CASE("the checker confirms every bound of many cases", "[bounds][slow]") {
  for (std::uint64_t seed = 2; seed < 12; ++seed) CHECK(verdicts(seed, 500).refuted == "");
}

} // namespace
} // namespace tutti
