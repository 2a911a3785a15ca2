// Every kind of collective spelled out on three NPUs, and how buffers are cut.

#include "sim/collective.hpp"
#include "sim/topology.hpp"
#include "tests/catch.hpp"
#include "tests/message_of.hpp"
#include "tests/samples.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace collective_test {

using namespace tutti;

namespace {

std::vector<std::uint32_t> values(std::span<const NodeId> nodes) {
  std::vector<std::uint32_t> list;
  for (const NodeId node : nodes) list.push_back(node.value);
  return list;
}

CollectiveSpec spec_of(CollectiveKind kind, Bytes size, std::uint32_t chunks_per_shard = 1) {
  CollectiveSpec spec;
  spec.kind = kind;
  spec.size = size;
  spec.chunks_per_shard = chunks_per_shard;
  return spec;
}

} // namespace

TEST_CASE("what each collective means on three NPUs") {
  const Topology topology = samples::ring(3);
  const std::vector<std::uint32_t> all{0, 1, 2};
  const auto check = [&](CollectiveKind kind, std::size_t chunks, std::size_t chunk,
                         const std::vector<std::uint32_t>& held,
                         const std::vector<std::uint32_t>& wanted) {
    INFO(to_text(kind));
    CollectiveSpec spec = spec_of(kind, Bytes{90});
    spec.root = has_root(kind) ? 1 : 0;
    const Collective c = make_collective(topology, spec);
    CHECK(c.chunks.size() == chunks);
    const ChunkId id{static_cast<std::uint32_t>(chunk)};
    CHECK(values(c.sources(id)) == held);
    CHECK(values(c.destinations(id)) == wanted);
    CHECK(c.chunks[chunk].reduces == is_reducing(kind));
    CHECK(c.chunks[chunk].size ==
          Bytes{90 / static_cast<std::int64_t>(kind == CollectiveKind::all_to_all ? 3 : chunks)});
  };
  check(CollectiveKind::broadcast, 1, 0, {1}, all);
  check(CollectiveKind::reduce, 1, 0, all, {1});
  check(CollectiveKind::gather, 3, 2, {2}, {1});
  check(CollectiveKind::scatter, 3, 2, {1}, {2});
  check(CollectiveKind::all_gather, 3, 2, {2}, all);
  check(CollectiveKind::reduce_scatter, 3, 2, all, {2});
  check(CollectiveKind::all_reduce, 3, 2, all, all);
  check(CollectiveKind::all_to_all, 9, 5, {1}, {2}); // chunk i * n + j
}

TEST_CASE("sendrecv, hypercube and alltoallv are those of nccl-tests and rccl-tests") {
  const Topology topology = samples::ring(4);
  CollectiveSpec spec = spec_of(CollectiveKind::sendrecv, Bytes{64}, 2);
  spec.group = {NodeId{2}, NodeId{0}, NodeId{3}};
  const Collective ring = make_collective(topology, spec);
  REQUIRE(ring.chunks.size() == 6); // two for each, of the whole buffer
  CHECK(ring.chunks[5].size == Bytes{32});
  CHECK(values(ring.sources(ChunkId{0})) == std::vector<std::uint32_t>{2});
  CHECK(values(ring.destinations(ChunkId{0})) == std::vector<std::uint32_t>{0});
  CHECK(values(ring.destinations(ChunkId{5})) == std::vector<std::uint32_t>{2});
  CHECK(ring.size() == Bytes{64});

  const Collective cube = make_collective(topology, spec_of(CollectiveKind::hypercube, Bytes{64}));
  const Collective gather =
      make_collective(topology, spec_of(CollectiveKind::all_gather, Bytes{64}));
  REQUIRE(cube.chunks.size() == 4);
  CHECK(values(cube.destinations(ChunkId{3})) == std::vector<std::uint32_t>{0, 1, 2, 3});
  CHECK(cube.fingerprint() != gather.fingerprint()); // other sends, though the same is wanted

  // alltoallv.cu of four ranks and 64 bytes: a step is 64 / 4 * 2 / 4 = 8, the rest 64 - 6 * 8.
  const Collective uneven =
      make_collective(topology, spec_of(CollectiveKind::all_to_all_v, Bytes{64}));
  const std::vector<std::uint32_t> first = block_offsets(uneven, uneven.parts.front());
  REQUIRE(first.size() == 17);
  const std::vector<std::int64_t> of_rank_1{8, 16, 24, 16}; // to 0, 1, 2 and 3, where 1 + 3 = 4
  for (std::uint32_t to = 0; to < 4; ++to) {
    std::int64_t bytes = 0;
    for (std::uint32_t c = first[4 + to]; c < first[5 + to]; ++c) {
      bytes += uneven.chunks[c].size.count;
      CHECK(values(uneven.sources(ChunkId{c})) == std::vector<std::uint32_t>{1});
      CHECK(values(uneven.destinations(ChunkId{c})) == std::vector<std::uint32_t>{to});
    }
    CHECK(bytes == of_rank_1[to]);
  }
  CHECK(first[7] - first[6] == 2); // 24, where the mean of the others is 16
  // 100 floats: 25 * 2 / 4 of them are a step, 100 - 6 * 12 the rest.
  const Collective floats =
      make_collective(topology, spec_of(CollectiveKind::all_to_all_v, Bytes{400}));
  CHECK(floats.chunks[0].size == Bytes{112}); // which stays, so that it isn't cut
  CHECK(floats.chunks[1].size == Bytes{48});
  CHECK(message_of([&] {
          (void)make_collective(topology, spec_of(CollectiveKind::all_to_all_v, Bytes{7}));
        }) == "7B can't be cut into the shares of alltoallv over 4 NPUs");
}

TEST_CASE("names of collectives are understood as programs and people write them") {
  using enum CollectiveKind;
  for (const auto& [name, kind] :
       {std::pair("alltoall", all_to_all), std::pair("AllToAll", all_to_all),
        std::pair("allreduce", all_reduce), std::pair("all-reduce", all_reduce),
        std::pair("AllReduce", all_reduce), std::pair("all_reduce_perf", all_reduce),
        std::pair("reduce-scatter", reduce_scatter), std::pair("ReduceScatter", reduce_scatter),
        std::pair("broadcast_perf_mpi", broadcast), std::pair("send_recv", sendrecv),
        std::pair("alltoallv", all_to_all_v), std::pair("HyperCube", hypercube)}) {
    CAPTURE(name);
    CHECK(find_collective_kind(name) == kind);
  }
  for (const char* none : {"", "custom", "all", "reduce_all", "perf"})
    CHECK_FALSE(find_collective_kind(none));
}

TEST_CASE("a buffer that doesn't divide is cut into parts a byte apart at most") {
  const Topology topology = samples::ring(7);
  for (const std::int64_t size : {21, 22, 100, 12345}) {
    const Collective c =
        make_collective(topology, spec_of(CollectiveKind::all_reduce, Bytes{size}, 3));
    Bytes sum, least{INT64_MAX}, most;
    for (const Chunk& chunk : c.chunks) {
      sum += chunk.size;
      least = std::min(least, chunk.size);
      most = std::max(most, chunk.size);
    }
    CHECK(sum == Bytes{size});
    CHECK(most.count - least.count <= 1);
  }
}

TEST_CASE("process groups keep their order, roots their place") {
  const Topology topology = samples::ring(8);
  const CollectiveSpec spec = parse_collective("broadcast,root=6,group=6+2-4");
  CHECK(spec.root == 0);
  const Collective c = make_collective(topology, spec);
  CHECK(values(c.sources(ChunkId{0})) == std::vector<std::uint32_t>{6});
  CHECK(values(c.destinations(ChunkId{0})) == std::vector<std::uint32_t>{2, 3, 4, 6});
  CHECK(c.name() == "broadcast 1GiB,root=6,group=6+2-4");
  CHECK(parse_collective("all-to-all").kind == CollectiveKind::all_to_all);
  CHECK(parse_collective("gather,root=3").root == 3);
}

TEST_CASE("several collectives at once") {
  const Topology topology = samples::ring(4);
  const std::vector<Collective> both{
      make_collective(topology, spec_of(CollectiveKind::all_gather, Bytes{400})),
      make_collective(topology, spec_of(CollectiveKind::reduce, Bytes{100}, 2))};
  const Collective merged = merge(both);
  CHECK(merged.chunks.size() == 6);
  CHECK(merged.size() == Bytes{500});
  CHECK(merged.parts[1].first == ChunkId{4});
  CHECK(values(merged.destinations(ChunkId{5})) == std::vector<std::uint32_t>{0});
  CHECK(part_alone(merged, 1).fingerprint() == both[1].fingerprint());
  CHECK(part_alone(merged, 0).fingerprint() == both[0].fingerprint());
}

TEST_CASE("fingerprints tell collectives apart") {
  const Topology topology = samples::ring(4);
  std::vector<std::uint64_t> prints;
  for (const CollectiveKind kind : named_collectives())
    for (const std::uint32_t chunks_per_shard : {1U, 2U})
      prints.push_back(
          make_collective(topology, spec_of(kind, Bytes{4000}, chunks_per_shard)).fingerprint());
  std::ranges::sort(prints);
  CHECK(std::ranges::adjacent_find(prints) == prints.end());
}

TEST_CASE("collectives that make no sense are refused in words") {
  const Topology topology = samples::ring(4);
  const auto refusal = [&](const CollectiveSpec& spec) {
    return message_of([&] { (void)make_collective(topology, spec); });
  };
  CollectiveSpec spec = spec_of(CollectiveKind::all_reduce, Bytes{3});
  CHECK(refusal(spec) == "3B can't be cut into 4 chunks of at least one byte");
  spec.size = Bytes{100};
  spec.group = {NodeId{2}};
  CHECK(refusal(spec) == "a collective over one NPU has nothing to do (all_reduce over npu2)");
  spec.group = {NodeId{2}, NodeId{4}};
  CHECK(refusal(spec) == "group member 4 is not an NPU (the topology has 4)");
  spec.group = {NodeId{2}, NodeId{1}, NodeId{2}};
  CHECK(refusal(spec) == "group member 2 is named twice");
  spec.group = {};
  spec.root = 4;
  CHECK(refusal(spec) == "root 4 is outside the group of 4");
  spec.root = 0;
  spec.chunks_per_shard = 0;
  CHECK(refusal(spec) == "a collective needs at least one chunk per shard");
  spec.chunks_per_shard = 1U << 30;
  CHECK(refusal(spec) ==
        "all_reduce over 4 NPUs in 1073741824 chunks per shard has too many chunks");
  CHECK(refusal(spec_of(CollectiveKind::custom, Bytes{1})) ==
        "a custom collective is given chunk by chunk, in a TOML file");

  const auto unread = [](const char* text) {
    return message_of([&] { (void)parse_collective(text); });
  };
  CHECK(unread("all_reduec") ==
        "unknown collective \"all_reduec\" (known: broadcast, reduce, gather, scatter, all_gather, "
        "reduce_scatter, all_reduce, all_to_all, sendrecv, hypercube, all_to_all_v, all_gather_v, "
        "reduce_scatter_v; did you mean \"all_reduce\"?)");
  CHECK(unread("broadcast,rot=3") ==
        "unknown key of broadcast \"rot\" (known: root, group; did you mean \"root\"?)");
  CHECK(unread("all_reduce,root=3") == "unknown key of all_reduce \"root\" (known: group)");
  CHECK(unread("reduce,root=x") == "root \"x\" is not a whole number");
  CHECK(unread("reduce,root=5,group=0-3") == "root 5 is not in the group");
}

} // namespace collective_test
