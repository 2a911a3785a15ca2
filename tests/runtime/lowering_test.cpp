#include "runtime/lowering.hpp"

#include "algorithms/list.hpp"
#include "runtime/verify_program.hpp"
#include "sim/error.hpp"
#include "sim/verify.hpp"
#include "synth/list.hpp"
#include "tests/catch.hpp"
#include "tests/message_of.hpp"
#include "tests/samples.hpp"
#include "topologies/list.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

using namespace tutti;
using namespace tutti::runtime;

namespace {

void check_lowers(const Topology& topology, const Collective& collective, const Schedule& schedule,
                  const LoweringOptions& options) {
  INFO("instances " << options.instances << (options.in_place ? ", in place" : "")
                    << (options.fuse ? ", fused" : "") << (options.share_blocks ? ", shared" : ""));
  const Program program = lower(topology, collective, schedule, options);
  for (const std::uint32_t slots : {1U, 0U}) {
    const ProgramVerdict verdict = verify_program(program, slots);
    INFO((verdict.fault ? verdict.fault->text : ""));
    REQUIRE(verdict.correct());
  }
}

/// Every combination of the options that applies.
void check_lowers(const Topology& topology, const Collective& collective,
                  const Schedule& schedule) {
  for (const std::uint32_t instances : {1U, 2U})
    for (const bool in_place : {false, true})
      for (const bool fuse : {false, true})
        for (const bool share : {false, true})
          if (!in_place || can_be_in_place(collective))
            check_lowers(topology, collective, schedule,
                         {"x", instances, 32, in_place, fuse, share});
}

std::vector<const AlgorithmRow*> rows(std::string_view only_synthesizers) {
  std::vector<const AlgorithmRow*> rows;
  if (only_synthesizers.empty())
    for (const AlgorithmRow& row : baseline_algorithms()) rows.push_back(&row);
  for (const AlgorithmRow& row : synthesizers())
    if (only_synthesizers.find(row.name) != std::string_view::npos) rows.push_back(&row);
  return rows;
}

std::size_t check_all(const std::vector<const AlgorithmRow*>& rows, std::string_view topology_text,
                      std::uint32_t pieces) {
  const Topology topology = make_topology(topology_text);
  std::size_t lowered = 0;
  for (const CollectiveKind kind : named_collectives())
    for (const AlgorithmRow* row : rows) {
      if (std::ranges::find(row->collectives, kind) == row->collectives.end()) continue;
      const std::uint32_t cut = std::max(pieces, row->pieces);
      const Collective collective =
          make_collective(topology, {kind, Bytes{1 << 20}, {}, has_root(kind) ? 3U : 0U, cut});
      SynthesisOptions options;
      options.limit_seconds = 5;
      const Outcome outcome = synthesize(*row, topology, collective, options);
      if (!outcome.schedule) continue;
      INFO(row->name << " for " << collective.name() << " on " << topology_text);
      check_lowers(topology, collective, *outcome.schedule);
      ++lowered;
    }
  return lowered;
}

} // namespace

TEST_CASE("every baseline lowers to a correct program") {
  for (const std::string_view topology :
       {"ring:8", "dgx1", "mesh2d:2x4", "hypercube:3", "switch:8"}) {
    const std::size_t lowered = check_all(rows(""), topology, 1);
    INFO(topology);
    CHECK(lowered > 20);
  }
}

TEST_CASE("synthesized schedules lower to correct programs") {
  for (const std::string_view topology : {"ring:8", "dgx1", "mesh2d:2x4", "switch:8"}) {
    const std::size_t lowered = check_all(rows("tacos flows trees"), topology, 2);
    INFO(topology);
    CHECK(lowered > 5);
  }
}
