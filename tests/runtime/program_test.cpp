// Buffers are laid out as NCCL lays them out, in place too.

#include "runtime/program.hpp"

#include "sim/error.hpp"
#include "tests/catch.hpp"
#include "topologies/list.hpp"

namespace program_test {

using namespace tutti;
using namespace tutti::runtime;

namespace {

Collective collective(CollectiveKind kind, std::uint32_t chunks_per_shard) {
  return make_collective(make_topology("ring:4"), {kind, Bytes{1 << 20}, {}, 0, chunks_per_shard});
}

} // namespace

TEST_CASE("buffers are laid out as NCCL's") {
  const Program gather = empty_program(collective(CollectiveKind::all_gather, 2), 4, 1, false);
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    CHECK(gather.ranks[rank].input == 2);
    CHECK(gather.ranks[rank].output == 8);
    CHECK(gather.inputs[rank][1] == ChunkPlace{ChunkId{2 * rank + 1}, 1});
    CHECK(gather.outputs[rank][5] == ChunkPlace{ChunkId{5}, 5});
  }
  const Program exchange = empty_program(collective(CollectiveKind::all_to_all, 1), 4, 3, false);
  CHECK(exchange.ranks[1].input == 12);
  CHECK(exchange.inputs[1][2] == ChunkPlace{ChunkId{6}, 6});  // to rank 2
  CHECK(exchange.outputs[1][2] == ChunkPlace{ChunkId{9}, 6}); // from rank 2
  const Program reduce = empty_program(collective(CollectiveKind::reduce, 2), 4, 1, false);
  CHECK(reduce.ranks[0].output == 2);
  CHECK(reduce.ranks[1].output == 0);
}

TEST_CASE("in place a unit of memory has one name") {
  const Program gather = empty_program(collective(CollectiveKind::all_gather, 2), 4, 1, true);
  CHECK(alias(gather, 3, {Buffer::input, 1}) == Place{Buffer::output, 7});
  CHECK(alias(gather, 3, {Buffer::output, 1}) == Place{Buffer::output, 1});
  const Program scatter = empty_program(collective(CollectiveKind::reduce_scatter, 2), 4, 1, true);
  CHECK(alias(scatter, 3, {Buffer::output, 1}) == Place{Buffer::input, 7});
  const Program reduce = empty_program(collective(CollectiveKind::all_reduce, 2), 4, 2, true);
  CHECK(alias(reduce, 0, {Buffer::input, 5}) == Place{Buffer::output, 5});
  CHECK(alias(reduce, 0, {Buffer::scratch, 5}) == Place{Buffer::scratch, 5});
}

TEST_CASE("unequal chunks have units of the size that they have in common") {
  Collective custom;
  custom.sets = {{NodeId{0}}, {NodeId{1}}};
  custom.chunks = {{Bytes{600}, 0, 1}, {Bytes{400}, 0, 1}};
  custom.parts = {
      {CollectiveKind::custom, Bytes{1000}, {NodeId{0}, NodeId{1}}, 0, 1, ChunkId{0}, 2}};
  const Program program = empty_program(custom, 2, 1, false);
  CHECK(program.chunk_units == std::vector<std::uint32_t>{3, 2});
  CHECK(program.inputs[0][1] == ChunkPlace{ChunkId{1}, 3});
  custom.chunks = {{Bytes{1 << 29}, 0, 1}, {Bytes{(1 << 29) - 7}, 0, 1}};
  CHECK_THROWS_AS(empty_program(custom, 2, 1, false), InputError);
  CHECK_THROWS_AS(empty_program(custom, 2, 1, true), InputError);
}

} // namespace program_test
