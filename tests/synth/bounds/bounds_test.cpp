// Hand-derived bounds: a is the latency of a link, D the serialization of a chunk of 1 MB on it.
// property_test.cpp holds bounds against schedules.
#include "sim/error.hpp"
#include "synth/bounds/bounds.hpp"
#include "synth/bounds/check.hpp"
#include "topologies/list.hpp"

#include "tests/catch.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tutti::bounds_test {
namespace {

using K = CollectiveKind;

constexpr std::int64_t a = 500'000;       // ps
constexpr std::int64_t D = 20'000'000;    // ps: 1 MB at 50 GB/s
constexpr std::int64_t mb = 1'000'000;    // bytes
constexpr Bandwidth rate{50'000'000'000}; // bytes/s

struct Network {
  TopologyParts parts;

  explicit Network(std::uint32_t npus, std::uint32_t switches = 0) {
    for (std::uint32_t n = 0; n < npus; ++n)
      parts.add_node({"npu" + std::to_string(n), NodeKind::npu, {}, {}});
    for (std::uint32_t s = 0; s < switches; ++s)
      parts.add_node(
          {"switch" + std::to_string(s), NodeKind::switching, {false, false, false}, {}});
  }
  LinkId link(std::uint32_t from, std::uint32_t to, Bandwidth bandwidth = rate) {
    return parts.add_link({NodeId{from}, NodeId{to}, Time{a}, bandwidth, -1});
  }
  Network& duplex(std::uint32_t u, std::uint32_t v, Bandwidth bandwidth = rate) {
    link(u, v, bandwidth);
    link(v, u, bandwidth);
    return *this;
  }
  [[nodiscard]] Topology topology() const { return Topology(parts); }
};

Topology line(std::uint32_t n) {
  Network network(n);
  for (std::uint32_t i = 0; i + 1 < n; ++i) network.duplex(i, i + 1);
  return network.topology();
}

Topology ring(std::uint32_t n) {
  Network network(n);
  for (std::uint32_t i = 0; i < n; ++i) network.duplex(i, (i + 1) % n);
  return network.topology();
}

Network complete(std::uint32_t n) {
  Network network(n);
  for (std::uint32_t u = 0; u < n; ++u)
    for (std::uint32_t v = u + 1; v < n; ++v) network.duplex(u, v);
  return network;
}

Topology star(std::uint32_t n) {
  Network network(n, 1);
  for (std::uint32_t i = 0; i < n; ++i) network.duplex(i, n);
  return network.topology();
}

Topology mesh(std::uint32_t rows, std::uint32_t columns) {
  Network network(rows * columns);
  for (std::uint32_t r = 0; r < rows; ++r)
    for (std::uint32_t c = 0; c < columns; ++c) {
      if (c + 1 < columns) network.duplex(r * columns + c, r * columns + c + 1);
      if (r + 1 < rows) network.duplex(r * columns + c, (r + 1) * columns + c);
      network.parts.coordinates.push_back({static_cast<int>(r), static_cast<int>(c)});
    }
  network.parts.shape = {static_cast<int>(rows), static_cast<int>(columns)};
  return network.topology();
}

/// Chunks of 1 MB each (an All-to-All's size is that of one member's buffer).
Collective of_megabytes(const Topology& topology, K kind, std::uint32_t chunks_per_shard = 1,
                        std::uint32_t root = 0) {
  const std::int64_t n = topology.npu_count();
  const std::int64_t shards = kind == K::broadcast || kind == K::reduce ? 1 : n;
  return make_collective(topology,
                         {kind, Bytes{shards * chunks_per_shard * mb}, {}, root, chunks_per_shard});
}

Collective custom(std::vector<std::vector<NodeId>> sets, std::vector<Chunk> chunks) {
  Collective collective;
  collective.sets = std::move(sets);
  collective.chunks = std::move(chunks);
  CollectivePart part;
  part.chunk_count = static_cast<std::uint32_t>(collective.chunks.size());
  collective.parts.push_back(part);
  return collective;
}

const Bound* find(const std::vector<Bound>& bounds, BoundKind kind) {
  const auto found =
      std::find_if(bounds.begin(), bounds.end(), [&](const Bound& b) { return b.kind == kind; });
  return found == bounds.end() ? nullptr : &*found;
}

/// The best bound of one kind in ps; -1 where the kind doesn't apply.
std::int64_t ps(BoundKind kind, const Topology& topology, const Collective& collective,
                const TimeModel& model = {}) {
  const std::vector<Bound> bounds = lower_bounds(topology, collective, model, Chunking::given);
  const Bound* bound = find(bounds, kind);
  return bound == nullptr ? -1 : bound->time.ps;
}

std::int64_t best_ps(const Topology& topology, const Collective& collective,
                     const TimeModel& model = {}) {
  return lower_bound(topology, collective, model, Chunking::given).time.ps;
}

constexpr TimeModel busy_latency{LinkBusy::latency_and_serialization, {}, {}, {}};
constexpr TimeModel through{{}, Forwarding::cut_through, {}, {}};
constexpr TimeModel fluid{{}, {}, Discipline::fluid, {}};

} // namespace

TEST_CASE("latency path: every hop between NPUs costs a + D", "[bounds]") {
  const Topology topology = line(3);
  const Collective broadcast = of_megabytes(topology, K::broadcast);
  // store and forward: 2a + 2D; cut-through or fluid: 2a + D
  CHECK(ps(BoundKind::latency_path, topology, broadcast) == 2 * a + 2 * D);
  CHECK(best_ps(topology, broadcast) == 2 * a + 2 * D);
  CHECK(ps(BoundKind::latency_path, topology, broadcast, busy_latency) == 2 * a + 2 * D);
  CHECK(ps(BoundKind::latency_path, topology, broadcast, through) == 2 * a + D);
  CHECK(ps(BoundKind::latency_path, topology, broadcast, fluid) == 2 * a + D);
  // A Reduce is an inverted Broadcast.
  CHECK(best_ps(topology, of_megabytes(topology, K::reduce)) == 2 * a + 2 * D);
  CHECK(best_ps(topology, of_megabytes(topology, K::reduce), through) == 2 * a + D);
}

TEST_CASE("latency path: a switch is cut through", "[bounds]") {
  // 2a + D: the serialization is paid once, even where runs ask for store-and-forward, since a
  // transfer that ends at a switch is sent on from its head
  const Topology topology = star(2);
  for (const K kind : {K::broadcast, K::reduce}) {
    const Collective collective = of_megabytes(topology, kind);
    CHECK(ps(BoundKind::latency_path, topology, collective) == 2 * a + D);
    CHECK(ps(BoundKind::latency_path, topology, collective,
             {{}, Forwarding::store_and_forward, {}, {}}) == 2 * a + D);
  }
}

TEST_CASE("latency path: the nearest holder, the farthest contributor", "[bounds]") {
  const Topology topology = line(4);
  const std::vector<std::vector<NodeId>> sets{{NodeId{0}, NodeId{2}}, {NodeId{3}}};
  // data at 0 and 2, wanted at 3: one hop; contributions of 0 and 2: three hops from 0
  CHECK(ps(BoundKind::latency_path, topology, custom(sets, {{Bytes{mb}, 0, 1, false}})) == a + D);
  CHECK(ps(BoundKind::latency_path, topology, custom(sets, {{Bytes{mb}, 0, 1, true}})) ==
        3 * a + 3 * D);
}

TEST_CASE("in-cut: a pipelined Broadcast on a line", "[bounds]") {
  // The first of k chunks is at npu1 after a + D, then k of them cross to npu2: (a + D) + a + kD
  const Topology topology = line(3);
  const Collective broadcast = of_megabytes(topology, K::broadcast, 10);
  CHECK(ps(BoundKind::in_cut, topology, broadcast) == 2 * a + 11 * D);
  CHECK(best_ps(topology, broadcast) == 2 * a + 11 * D);
  // and the Reduce by out-cut of npu2
  CHECK(ps(BoundKind::out_cut, topology, of_megabytes(topology, K::reduce, 10)) == 2 * a + 11 * D);
}

TEST_CASE("in-cut: All-Gather on rings, complete graphs and meshes", "[bounds]") {
  // ring: (n-1)k chunks over 2 links, whole chunks: ceil((n-1)k / 2) D + a
  CHECK(ps(BoundKind::in_cut, ring(6), of_megabytes(ring(6), K::all_gather)) == 3 * D + a);
  CHECK(ps(BoundKind::in_cut, ring(5), of_megabytes(ring(5), K::all_gather)) == 2 * D + a);
  CHECK(ps(BoundKind::in_cut, ring(6), of_megabytes(ring(6), K::all_gather, 3)) == 8 * D + a);
  // complete: 3 chunks over 3 links
  const Topology full = complete(4).topology();
  CHECK(best_ps(full, of_megabytes(full, K::all_gather)) == D + a);
  // mesh 3x3: 8 * 4 chunks over a corner's 2 links
  const Bound corner = lower_bound(mesh(3, 3), of_megabytes(mesh(3, 3), K::all_gather, 4),
                                   TimeModel{}, Chunking::given);
  CHECK(corner.time.ps == 16 * D + a);
  CHECK(corner.kind == BoundKind::in_cut);
  CHECK(corner.inside == std::vector<NodeId>{NodeId{0}});
}

TEST_CASE("in-cut: behind a switch the first chunk comes late", "[bounds]") {
  // n NPUs on a switch: the head is there after a, then n-1 chunks cross to each: 2a + (n-1)D,
  // which Direct reaches (2a + 2D for three)
  CHECK(best_ps(star(3), of_megabytes(star(3), K::all_gather)) == 2 * a + 2 * D);
  CHECK(best_ps(star(5), of_megabytes(star(5), K::all_gather)) == 2 * a + 4 * D);
  CHECK(best_ps(star(5), of_megabytes(star(5), K::reduce_scatter)) == 2 * a + 4 * D);
  CHECK(best_ps(star(5), of_megabytes(star(5), K::all_to_all)) == 2 * a + 4 * D);
}

TEST_CASE("rooted collectives: what enters or leaves the root", "[bounds]") {
  const Topology topology = star(4);
  // Gather: 3 chunks into the root; Scatter: 3 chunks out of it; the switch adds its a
  CHECK(ps(BoundKind::in_cut, topology, of_megabytes(topology, K::gather)) == 2 * a + 3 * D);
  CHECK(ps(BoundKind::out_cut, topology, of_megabytes(topology, K::gather)) == 2 * a + D);
  CHECK(ps(BoundKind::out_cut, topology, of_megabytes(topology, K::scatter)) == 2 * a + 3 * D);
  CHECK(ps(BoundKind::in_cut, topology, of_megabytes(topology, K::scatter)) == 2 * a + D);
  // Broadcast and Reduce of 5 chunks: 5 out of the root and 5 into each; or the reverse
  CHECK(ps(BoundKind::out_cut, topology, of_megabytes(topology, K::broadcast, 5)) == 2 * a + 5 * D);
  CHECK(ps(BoundKind::in_cut, topology, of_megabytes(topology, K::broadcast, 5)) == 2 * a + 5 * D);
  CHECK(ps(BoundKind::in_cut, topology, of_megabytes(topology, K::reduce, 5)) == 2 * a + 5 * D);
  CHECK(ps(BoundKind::out_cut, topology, of_megabytes(topology, K::reduce, 5)) == 2 * a + 5 * D);
}

TEST_CASE("total work: All-Reduce needs 2(n-1) deliveries of each chunk", "[bounds]") {
  // ring of n = 4, 4 * 8 chunks: 2 * 3 * 32 deliveries over 2n = 8 links = 24 each: a + 24D,
  // in bytes 2(n-1)/n * S/(2B). What enters one node: 32 chunks over 2 links, only 16D + a.
  const Topology topology = ring(4);
  const Collective all_reduce = of_megabytes(topology, K::all_reduce, 8);
  CHECK(ps(BoundKind::in_cut, topology, all_reduce) == a + 16 * D);
  CHECK(ps(BoundKind::total_work, topology, all_reduce) == a + 24 * D);
  CHECK(best_ps(topology, all_reduce) == a + 24 * D);
}

TEST_CASE("total work: contributors, destinations and relays", "[bounds]") {
  const Topology topology = line(3);
  const std::vector<std::vector<NodeId>> sets{{NodeId{0}, NodeId{1}},
                                              {NodeId{2}},
                                              {NodeId{1}, NodeId{2}},
                                              {NodeId{0}},
                                              {NodeId{0}, NodeId{1}, NodeId{2}}};
  // 40 chunks. One that everyone has: no margins but a.
  const auto work = [&](SetId held, SetId wanted, bool reduces) {
    std::vector<Chunk> chunks(40, {Bytes{mb}, held, wanted, reduces});
    chunks.push_back({Bytes{mb}, 4, 4, false});
    const Collective collective = custom(sets, chunks);
    return std::pair(bounds::deliveries(collective, bounds::chunk_classes(collective)).chunks / 40,
                     ps(BoundKind::total_work, topology, collective));
  };
  // Deliveries over all 4 links, or what npu1 (2 links) and npu2 (1 link) demand over their own.
  CHECK(work(0, 1, true) == std::pair(2L, a + 40 * D));  // |C| + |W| - 1: nobody is in both
  CHECK(work(0, 2, true) == std::pair(2L, a + 27 * D));  // |C| + |W| - 2: npu1 is in both
  CHECK(work(4, 4, true) == std::pair(4L, a + 40 * D));  // 3 + 3 - 2
  CHECK(work(0, 2, false) == std::pair(1L, a + 40 * D)); // |W \ H|
  CHECK(work(3, 4, false) == std::pair(2L, a + 27 * D));
  CHECK(work(3, 3, true) == std::pair(0L, -1L)); // a single contributor is complete
  CHECK(work(3, 3, false) == std::pair(0L, -1L));
}

TEST_CASE("total work: links into NPUs without demand don't help", "[bounds]") {
  // A Broadcast of 4 chunks to npu2 and npu3, whose ports on a switch share the bandwidth of one:
  // 8 chunks from a on, 2a + 8D. npu1 isn't of the group, npu0 has all of it: over their links,
  // too, it would be 2a + 3D. One port alone, or both together, are entered by 4 chunks.
  Network network(4, 1);
  SharedGroup ports{"ports", {}, rate};
  for (std::uint32_t npu = 0; npu < 4; ++npu) {
    network.link(npu, 4);
    const LinkId in = network.link(4, npu);
    if (npu >= 2) ports.links.push_back(in);
  }
  network.parts.groups.push_back(ports);
  const Topology topology = network.topology();
  const Collective broadcast = make_collective(
      topology, {K::broadcast, Bytes{4 * mb}, {NodeId{0}, NodeId{2}, NodeId{3}}, 0, 4});
  const std::vector<Bound> bounds = lower_bounds(topology, broadcast, TimeModel{}, Chunking::given);
  const Bound* work = find(bounds, BoundKind::total_work);
  REQUIRE(work != nullptr);
  CHECK(work->time.ps == 2 * a + 8 * D);
  CHECK(work->certificate == "all deliveries to NPUs, into those that lack any: 8 chunks, 8MB over "
                             "2 links, 50GB/s together, latency 500ns");
  CHECK(ps(BoundKind::in_cut, topology, broadcast) == 2 * a + 4 * D);
  CHECK(ps(BoundKind::max_flow_cut, topology, broadcast) == 2 * a + 4 * D);
  Bound claim = *work;
  CHECK(refuted(topology, broadcast, TimeModel{}, Chunking::given, claim) == "");
  claim.time.ps += 1;
  CHECK(refuted(topology, broadcast, TimeModel{}, Chunking::given, claim) != "");
}

TEST_CASE("total work: a switch that reduces or copies does part of it", "[bounds]") {
  Network network(4, 1);
  network.parts.nodes[4].can = {false, true, true};
  for (std::uint32_t i = 0; i < 4; ++i) network.duplex(i, 4);
  const Topology topology = network.topology();
  const Collective all_reduce = of_megabytes(topology, K::all_reduce, 2);
  // without: 6 * 8 deliveries over 4 links = 12 each; with: 8 * 8 into NPUs and switch, whose links
  // count too: 48 over 8; into NPUs alone only the results, 4 * 8 over 4: 2a + 8D
  CHECK(ps(BoundKind::total_work, star(4), of_megabytes(star(4), K::all_reduce, 2)) ==
        2 * a + 12 * D);
  CHECK(ps(BoundKind::total_work, topology, all_reduce) == 2 * a + 8 * D);
  CHECK(best_ps(topology, all_reduce) == 2 * a + 8 * D);
}

TEST_CASE("shared groups limit their links together", "[bounds]") {
  Network network = complete(4);
  SharedGroup port{"port", {}, rate};
  for (std::uint32_t l = 0; l < network.parts.links.size(); ++l)
    if (network.parts.links[l].to == NodeId{0}) port.links.emplace_back(l);
  network.parts.groups.push_back(port);
  const Topology topology = network.topology();
  // three links into npu0 at the bandwidth of one: a + 3D; at twice that: a + 3D/2
  CHECK(ps(BoundKind::in_cut, topology, of_megabytes(topology, K::all_gather)) == a + 3 * D);
  CHECK(best_ps(topology, of_megabytes(topology, K::all_gather), fluid) == a + 3 * D);
  CHECK(best_ps(topology, of_megabytes(topology, K::all_gather), busy_latency) == a + 3 * D);
  network.parts.groups[0].bandwidth = Bandwidth{100'000'000'000};
  CHECK(ps(BoundKind::in_cut, network.topology(), of_megabytes(topology, K::all_gather)) ==
        a + 3 * D / 2);
}

TEST_CASE("latency+serialization: a link takes a + D for each chunk", "[bounds]") {
  const Topology topology = line(2);
  const Collective broadcast = of_megabytes(topology, K::broadcast, 7);
  CHECK(best_ps(topology, broadcast) == a + 7 * D);
  CHECK(best_ps(topology, broadcast, busy_latency) == 7 * (a + D));
  // unequal: 1 MB and 3 MB over one link. Bytes: n takes at least n * (a / 3MB + 1/B), so all of
  // 4 MB a * 4/3 + 4D; rounded up to a picosecond
  const Collective unequal =
      custom({{NodeId{0}}, {NodeId{1}}}, {{Bytes{mb}, 0, 1, false}, {Bytes{3 * mb}, 0, 1, false}});
  CHECK(best_ps(topology, unequal, busy_latency) == (4 * a + 2) / 3 + 4 * D);
}

TEST_CASE("unequal links and chunks", "[bounds]") {
  Network network(2);
  network.duplex(0, 1);
  network.link(0, 1, Bandwidth{25'000'000'000});
  const Topology topology = network.topology();
  // three chunks over 50 and 25 GB/s: two on the fast one, one on the slow one, both 2D
  CHECK(best_ps(topology, of_megabytes(topology, K::broadcast, 3)) == a + 2 * D);
  // two chunks: bytes alone say a + 4/3 D, but 4/3 D is one whole chunk: a + 2D
  CHECK(best_ps(topology, of_megabytes(topology, K::broadcast, 2)) == a + 2 * D);
  // fluid has no whole chunks: a + 4/3 D, rounded down
  CHECK(best_ps(topology, of_megabytes(topology, K::broadcast, 2), fluid) == a + D * 4 / 3);

  const Topology twin = Network(2).duplex(0, 1).duplex(0, 1).topology();
  const Collective unequal =
      custom({{NodeId{0}}, {NodeId{1}}}, {{Bytes{mb}, 0, 1, false}, {Bytes{3 * mb}, 0, 1, false}});
  // 4 MB over two links: a + 2D by bytes; the large chunk alone takes a + 3D
  CHECK(ps(BoundKind::in_cut, twin, unequal) == a + 2 * D);
  CHECK(best_ps(twin, unequal) == a + 3 * D);
}

TEST_CASE("rounding favours the schedule in fluid, follows the engines on FIFO", "[bounds]") {
  Network network(2);
  network.parts.add_link({NodeId{0}, NodeId{1}, Time{0}, Bandwidth{3'000'000'000'000}, -1});
  const Topology topology = network.topology();
  const auto chunks = [](std::size_t count) {
    return custom({{NodeId{0}}, {NodeId{1}}}, std::vector<Chunk>(count, {Bytes{10}, 0, 1, false}));
  };
  // 10 bytes at 3 bytes/ps = 3.33 ps: on FIFO 4 ps each, in fluid 3.33 and 6.67 together
  CHECK(best_ps(topology, chunks(1)) == 4);
  CHECK(best_ps(topology, chunks(2)) == 8);
  CHECK(best_ps(topology, chunks(1), fluid) == 3);
  CHECK(best_ps(topology, chunks(2), fluid) == 6);
  CHECK(best_ps(topology, chunks(3), fluid) == 10); // exact
}

TEST_CASE("balanced cut: All-to-All", "[bounds]") {
  // ring of 8: 4 * 4 chunks from half to half over 2 links: a + 8D; line of 4: 2 * 2 over 1 link
  CHECK(ps(BoundKind::balanced_cut, ring(8), of_megabytes(ring(8), K::all_to_all)) == a + 8 * D);
  CHECK(best_ps(ring(8), of_megabytes(ring(8), K::all_to_all)) == a + 8 * D);
  CHECK(best_ps(line(4), of_megabytes(line(4), K::all_to_all)) == a + 4 * D);
  // mesh of 2 rows and 4 columns, cut between columns: 4 * 4 over 2 links. By ids the cut is
  // between the rows, 16 over 4.
  CHECK(ps(BoundKind::balanced_cut, mesh(2, 4), of_megabytes(mesh(2, 4), K::all_to_all)) ==
        a + 8 * D);
  // through a switch: 2 * 2 chunks over the 2 ports of either half: 2a + 2D
  CHECK(ps(BoundKind::balanced_cut, star(4), of_megabytes(star(4), K::all_to_all)) ==
        2 * a + 2 * D);
}

TEST_CASE("balanced cut: halves of those who take part", "[bounds]") {
  // All-to-All of npu0..npu3 on a line of 8: the cut is between npu1 and npu2
  const Topology topology = line(8);
  const Collective group = make_collective(
      topology, {K::all_to_all, Bytes{4 * mb}, {NodeId{0}, NodeId{1}, NodeId{2}, NodeId{3}}, 0, 1});
  CHECK(ps(BoundKind::balanced_cut, topology, group) == a + 4 * D);
}

/// Four servers of two NPUs at 100 GB/s; the even NPUs meet at a switch at 10 GB/s (5D a chunk).
Topology slow_servers() {
  Network network(8, 1);
  for (std::uint32_t server = 0; server < 4; ++server) {
    network.duplex(2 * server, 2 * server + 1, Bandwidth{100'000'000'000});
    network.duplex(2 * server, 8, Bandwidth{10'000'000'000});
  }
  return network.topology();
}

TEST_CASE("cluster cut: servers behind slow links", "[bounds]") {
  const Topology topology = slow_servers();
  const Collective all_gather = of_megabytes(topology, K::all_gather);
  // into a server: 6 chunks over its one link, whose switch has the first head after a: 2a + 30D;
  // half of them: 4 chunks over 2 links
  const std::vector<Bound> bounds =
      lower_bounds(topology, all_gather, TimeModel{}, Chunking::given);
  const Bound* bound = find(bounds, BoundKind::cluster_cut);
  REQUIRE(bound != nullptr);
  CHECK(bound->time.ps == 2 * a + 30 * D);
  CHECK(bound->inside == std::vector<NodeId>{NodeId{0}, NodeId{1}});
  CHECK(bound->certificate ==
        "into npu0, npu1: 6 chunks, 6MB over 1 link, 10GB/s together, latency 500ns");
  CHECK(ps(BoundKind::balanced_cut, topology, all_gather) == 2 * a + 10 * D);
  // and from there to the other NPU: a + D / 2
  const Bound& best = best_of(bounds);
  CHECK(best.kind == BoundKind::spreading_cut);
  CHECK(best.time.ps == 3 * a + 30 * D + D / 2);
  CHECK(best.inside == bound->inside);
  CHECK(best.certificate == "into npu0, npu1, spread to 2 nodes: 6 chunks, 6MB over 1 link, 10GB/s "
                            "together, latency 500ns");
}

TEST_CASE("work between: an All-Reduce over servers behind slow links", "[bounds]") {
  // as above. Each of 8 chunks needs 2 * 4 - 2 = 6 deliveries between the servers: 48 over their 4
  // links, 12 each: 2a + 60D. Into a server alone: 8 chunks: 2a + 40D.
  const Topology topology = slow_servers();
  const Collective all_reduce = of_megabytes(topology, K::all_reduce);
  CHECK(ps(BoundKind::cluster_cut, topology, all_reduce) == 2 * a + 40 * D);
  const Bound bound = lower_bound(topology, all_reduce, TimeModel{}, Chunking::given);
  CHECK(bound.kind == BoundKind::work_between);
  CHECK(bound.time.ps == 2 * a + 60 * D);
  CHECK(bound.certificate == "all deliveries between 4 groups, one of them npu0, npu1: 48 chunks, "
                             "48MB over 4 links, 40GB/s together, latency 500ns");
}

TEST_CASE("dimension cut: nodes joined by switches", "[bounds]") {
  // 4 rows of 3 NPUs, all joined in pairs; a switch for each column. All-to-All: 3 * 9 chunks out
  // of a row over its 3 ports: 2a + 9D. Between halves: 36 over 6. Out of a column: 32 over 8.
  Network network(12, 3);
  for (std::uint32_t r = 0; r < 4; ++r)
    for (std::uint32_t c = 0; c < 3; ++c) {
      network.duplex(3 * r + c, 3 * r + (c + 1) % 3);
      network.duplex(3 * r + c, 12 + c);
      network.parts.coordinates.push_back({static_cast<int>(r), static_cast<int>(c)});
    }
  network.parts.shape = {4, 3};
  network.parts.coordinates.resize(15);
  const Topology topology = network.topology();
  const Collective all_to_all = of_megabytes(topology, K::all_to_all);
  CHECK(ps(BoundKind::balanced_cut, topology, all_to_all) == 2 * a + 6 * D);
  CHECK(ps(BoundKind::cluster_cut, topology, all_to_all) == a + 4 * D);
  CHECK(ps(BoundKind::in_cut, topology, all_to_all) == a + 4 * D);
  const Bound bound = lower_bound(topology, all_to_all, TimeModel{}, Chunking::given);
  CHECK(bound.kind == BoundKind::dimension_cut);
  CHECK(bound.time.ps == 2 * a + 9 * D);
  CHECK(bound.inside == std::vector<NodeId>{NodeId{0}, NodeId{1}, NodeId{2}});
}

TEST_CASE("dimension cut: between columns where few links are", "[bounds]") {
  // 2 rows and 5 columns; between the third and the fourth only the upper row goes on. All-Gather:
  // 6 chunks into the last two columns over that link: a + 6D. Into a corner 9 over 2: a + 5D.
  Network network(10);
  for (std::uint32_t c = 0; c < 5; ++c) {
    network.duplex(c, 5 + c);
    if (c < 4) network.duplex(c, c + 1);
    if (c < 4 && c != 2) network.duplex(5 + c, 5 + c + 1);
  }
  for (int v = 0; v < 10; ++v) network.parts.coordinates.push_back({v / 5, v % 5});
  network.parts.shape = {2, 5};
  const Topology topology = network.topology();
  const Collective all_gather = of_megabytes(topology, K::all_gather);
  CHECK(ps(BoundKind::dimension_cut, topology, all_gather) == a + 6 * D);
  CHECK(ps(BoundKind::max_flow_cut, topology, all_gather) == a + 6 * D);
  CHECK(ps(BoundKind::in_cut, topology, all_gather) == a + 5 * D);
  CHECK(ps(BoundKind::balanced_cut, topology, all_gather) == a + 3 * D);
}

TEST_CASE("max-flow cut: a dumbbell of unequal weights", "[bounds]") {
  // 3 NPUs and 5 NPUs, either joined in pairs, and one link between npu2 and npu3. Into the three:
  // 5 chunks over that link: a + 5D. Into npu0 7 over 2 links: a + 4D. Halves by id or grown from
  // npu0 take npu3 along: 4 chunks over 4 links.
  Network network(8);
  const auto join = [&](std::uint32_t first, std::uint32_t last) {
    for (std::uint32_t u = first; u <= last; ++u)
      for (std::uint32_t v = u + 1; v <= last; ++v) network.duplex(u, v);
  };
  join(0, 2);
  join(3, 7);
  network.duplex(2, 3);
  const Topology topology = network.topology();
  const std::vector<NodeId> three{NodeId{0}, NodeId{1}, NodeId{2}};
  for (const K kind : {K::all_gather, K::reduce_scatter}) {
    const Collective collective = of_megabytes(topology, kind);
    CHECK(ps(BoundKind::in_cut, topology, collective) <= a + 4 * D);
    CHECK(ps(BoundKind::balanced_cut, topology, collective) == a + D);
    const std::vector<Bound> bounds =
        lower_bounds(topology, collective, TimeModel{}, Chunking::given);
    const Bound* bound = find(bounds, BoundKind::max_flow_cut);
    REQUIRE(bound != nullptr);
    CHECK(bound->time.ps == a + 5 * D);
    CHECK(bound->inside == three);
    // behind the link, all links to others are free at last: a + D
    CHECK(best_of(bounds).kind == BoundKind::spreading_cut);
    CHECK(best_of(bounds).time.ps == 2 * a + 6 * D);
  }
  // An All-Reduce sends all 8 chunks each way: a + 8D.
  CHECK(ps(BoundKind::max_flow_cut, topology, of_megabytes(topology, K::all_reduce)) == a + 8 * D);
}

/// Two boxes of two NPUs, npu0-npu1 and npu2-npu3; npu0-npu2 and npu1-npu3 are joined at `rate`.
Topology two_boxes(Bandwidth in_first, Bandwidth in_second) {
  Network network(4);
  network.duplex(0, 1, in_first).duplex(2, 3, in_second).duplex(0, 2).duplex(1, 3);
  return network.topology();
}

TEST_CASE("spreading cut: what enters a box last still goes to its others", "[bounds]") {
  const Bandwidth twice{2 * rate.bytes_per_second};
  const Topology topology = two_boxes(twice, twice);
  for (const K kind : {K::all_gather, K::reduce_scatter}) {
    // 2 chunks over 2 links, a + D, then over to the other NPU in a + D / 2; to cross twice, they
    // would need a + 2D
    CHECK(ps(BoundKind::spreading_cut, topology, of_megabytes(topology, kind)) ==
          2 * a + 3 * D / 2);
    CHECK(best_ps(topology, of_megabytes(topology, kind)) == 2 * a + 3 * D / 2);
    // 4 chunks, of which 2 enter last
    const Collective chunks_per_shard = of_megabytes(topology, kind, 2);
    CHECK(ps(BoundKind::spreading_cut, topology, chunks_per_shard) == 2 * a + 5 * D / 2);
    CHECK(ps(BoundKind::spreading_cut, topology, chunks_per_shard, busy_latency) ==
          3 * a + 5 * D / 2);
    // cut through, the tail is one latency behind
    CHECK(ps(BoundKind::spreading_cut, topology, chunks_per_shard, through) == 2 * a + 2 * D);
    // shared, a transfer may use both links all the time
    CHECK(ps(BoundKind::spreading_cut, topology, chunks_per_shard, fluid) == -1);
  }
  // everyone wants a chunk of their own: nothing has to spread
  CHECK(ps(BoundKind::spreading_cut, topology, of_megabytes(topology, K::all_to_all)) == -1);
}

TEST_CASE("spreading cut: chunks may cross twice instead", "[bounds]") {
  // npu2 and npu3 have chunks for both others. Over from npu0 to npu1 in a + 8D.
  const Topology topology =
      two_boxes(Bandwidth{rate.bytes_per_second / 8}, Bandwidth{8 * rate.bytes_per_second});
  const auto each_sends = [&](std::size_t chunks_per_shard) {
    std::vector<Chunk> chunks(chunks_per_shard, {Bytes{mb}, 0, 2, false});
    chunks.insert(chunks.end(), chunks_per_shard, {Bytes{mb}, 1, 2, false});
    return custom({{NodeId{2}}, {NodeId{3}}, {NodeId{0}, NodeId{1}}}, chunks);
  };
  // both cross twice: 4 crossings of 2 links
  CHECK(ps(BoundKind::spreading_cut, topology, each_sends(1)) == a + 2 * D);
  // Of 12 chunks, 24 crossings, less those by T - (a + 8D), which may be alone: after 10 slots and
  // the latency of the path, 20 and 4. But from the first arrivals on at a + D, each NPU gets 12:
  // after 10D, 11 have crossed right to it and 1 came from inside.
  CHECK(ps(BoundKind::spreading_cut, topology, each_sends(6)) == a + 11 * D);
  // cut through, only the former counts, with a path of a: after 6 slots
  CHECK(ps(BoundKind::spreading_cut, topology, each_sends(6), through) == 2 * a + 6 * D);
}

TEST_CASE("spreading cut: the last ones go through the same ports", "[bounds]") {
  // Two boxes of 4 NPUs on a switch at 4 times the rate, pairs of equal index joined. Each NPU gets
  // one of the last 4 chunks, all at a + D, and 3 over its port, whose switch has the first head
  // after a: 2a + 3 * D / 4.
  Network network(8, 2);
  for (std::uint32_t npu = 0; npu < 8; ++npu)
    network.duplex(npu, npu < 4 ? 8 : 9, Bandwidth{4 * rate.bytes_per_second});
  for (std::uint32_t npu = 0; npu < 4; ++npu) network.duplex(npu, npu + 4);
  const Topology topology = network.topology();
  for (const K kind : {K::all_gather, K::reduce_scatter}) {
    const Collective collective = of_megabytes(topology, kind);
    CHECK(ps(BoundKind::spreading_cut, topology, collective) == 3 * a + 7 * D / 4);
    CHECK(best_ps(topology, collective) == 3 * a + 7 * D / 4);
    // cut through, chunks could gather at a port: only the path counts, 2a
    CHECK(ps(BoundKind::spreading_cut, topology, collective, through) == 3 * a + D);
  }
  const Bound bound =
      lower_bound(topology, of_megabytes(topology, K::all_gather), TimeModel{}, Chunking::given);
  CHECK(bound.certificate == "into npu4, npu5, npu6 and 2 more, the last 4 of them to npu4: "
                             "4 chunks, 4MB over 4 links, 200GB/s together, latency 500ns");
}

TEST_CASE("spreading cut: no crossing serves everyone in time", "[bounds]") {
  // A Broadcast of 3 chunks on a ring of 5, out of its root: but for latencies, 2(T / D - i)
  // crossings come early enough to reach i + 1 of the 4 others; they must reach 12. At 3D:
  // 6 + 4 + 2.
  const Collective broadcast = of_megabytes(ring(5), K::broadcast, 3);
  CHECK(ps(BoundKind::out_cut, ring(5), broadcast) == a + 2 * D);
  CHECK(ps(BoundKind::spreading_cut, ring(5), broadcast) == 3 * a + 3 * D);
  CHECK(ps(BoundKind::spreading_cut, ring(5), of_megabytes(ring(5), K::reduce, 3)) ==
        3 * a + 3 * D);
}

TEST_CASE("spreading cut: a shared group spaces what starts, not what arrives", "[bounds]") {
  // Both links of the root share D a chunk: one has a latency of 10 D, the other leads to a link of
  // 10 D and D / 10. To the far ends the second chunk waits for the first; from there both are on
  // their path before either needs the group.
  const auto long_path = [](bool to_root) {
    Network network(4);
    const auto join = [&](std::uint32_t far, std::uint32_t near, std::int64_t latency,
                          Bandwidth bandwidth) {
      return network.parts.add_link({NodeId{to_root ? far : near}, NodeId{to_root ? near : far},
                                     Time{latency}, bandwidth, -1});
    };
    const LinkId direct = join(1, 0, 10 * D, rate), last = join(2, 0, 0, rate);
    join(3, 2, 10 * D, {10 * rate.bytes_per_second});
    network.parts.groups.push_back({"root", {direct, last}, rate});
    return network.topology();
  };
  const auto bound = [&](K kind) {
    const Topology topology = long_path(kind == K::reduce);
    return ps(BoundKind::spreading_cut, topology,
              make_collective(topology, {kind, Bytes{mb}, {NodeId{0}, NodeId{1}, NodeId{3}}, 0}));
  };
  CHECK(bound(K::broadcast) == 12 * D);
  CHECK(bound(K::reduce) == 11 * D + D / 10);
}

TEST_CASE("spreading cut: the networks of TACOS, figure 16", "[bounds]") {
  // TACOS (synth/) reaches the last two exactly
  const auto best = [](const char* topology_text, std::int64_t mebibytes) {
    const Topology topology = make_topology(topology_text);
    return best_of(lower_bounds(
        topology, make_collective(topology, {K::all_gather, Bytes{mebibytes << 20}, {}, 0, 1}),
        busy_latency, Chunking::given));
  };
  // Into a 2x4 of 8: 7 slots of 20.03 us, 140.7 us with the switch. Then, of 7 more chunks, 3 come
  // over the ring (5.38 us), 3 over links to others (10.27 us), and 1 more could cross.
  const Bound rfs = best("rfs:2x4x8,bandwidth=200GiB/s+100GiB/s+50GiB/s", 64);
  CHECK(rfs.kind == BoundKind::spreading_cut);
  CHECK(short_text(rfs.time) == "160.8 us");
  // Into a group of 7: 7 slots of 5.38 us, then 2.94 us to the others.
  CHECK(short_text(best("dragonfly:7x8,bandwidth=400GiB/s+200GiB/s", 56).time) == "40.62 us");
  // Into a box of 8: 3 slots of 39.56 us and a, then 7 of 3.76 us through its port, and a.
  CHECK(short_text(best("two_level_switch:8x4,bandwidth=300GiB/s+25GiB/s", 32).time) == "146.0 us");
}

TEST_CASE("certificates name nodes and numbers", "[bounds]") {
  const Topology topology = line(3);
  const Collective gather = of_megabytes(topology, K::all_gather, 2);
  const std::vector<Bound> bounds = lower_bounds(topology, gather, TimeModel{}, Chunking::given);
  REQUIRE(find(bounds, BoundKind::latency_path) != nullptr);
  CHECK(find(bounds, BoundKind::latency_path)->certificate ==
        "latency path of chunk 0 (1MB) from npu0 to npu2: at least 41.00 us");
  REQUIRE(find(bounds, BoundKind::in_cut) != nullptr);
  CHECK(find(bounds, BoundKind::in_cut)->certificate ==
        "in-cut of npu0: 4 chunks, 4MB over 1 link, 50GB/s together, latency 500ns");
  REQUIRE(find(bounds, BoundKind::out_cut) != nullptr);
  CHECK(find(bounds, BoundKind::out_cut)->certificate ==
        "out-cut of npu0: 2 chunks, 2MB over 1 link, 50GB/s together, latency 500ns");
  REQUIRE(find(bounds, BoundKind::total_work) != nullptr);
  CHECK(find(bounds, BoundKind::total_work)->certificate ==
        "all deliveries to NPUs: 12 chunks, 12MB over 4 links, 200GB/s together, latency 500ns");
  for (std::size_t i = 1; i < bounds.size(); ++i) CHECK(bounds[i - 1].kind < bounds[i].kind);
}

TEST_CASE("certificates count a shared group's bandwidth once", "[bounds]") {
  Network network(3);
  network.duplex(0, 2).duplex(1, 2);
  network.parts.groups.push_back({"bus", {LinkId{0}, LinkId{2}}, Bandwidth{60'000'000'000}});
  const Topology topology = network.topology();
  const std::vector<Bound> bounds =
      lower_bounds(topology, of_megabytes(topology, K::gather, 1, 2), TimeModel{}, Chunking::given);
  REQUIRE(find(bounds, BoundKind::in_cut) != nullptr);
  CHECK(find(bounds, BoundKind::in_cut)->certificate ==
        "in-cut of npu2: 2 chunks, 2MB over 2 links, 60GB/s together, latency 500ns");
}

TEST_CASE("nothing to do is a bound of 0", "[bounds]") {
  const Topology topology = line(2);
  const Collective idle = custom({{NodeId{0}, NodeId{1}}, {NodeId{1}}}, {{Bytes{mb}, 0, 1, false}});
  const std::vector<Bound> bounds = lower_bounds(topology, idle, TimeModel{}, Chunking::given);
  REQUIRE(bounds.size() == 1);
  CHECK(bounds[0].time.ps == 0);
  CHECK(bounds[0].certificate == "nothing has to move");
}

TEST_CASE("links without latency are no reason for saying that nothing has to move", "[bounds]") {
  Network network(2);
  network.parts.links.push_back({NodeId{0}, NodeId{1}, Time{}, Bandwidth{60'000'000'000}});
  network.parts.links.push_back({NodeId{1}, NodeId{0}, Time{}, Bandwidth{60'000'000'000}});
  const Topology topology = network.topology();
  const std::vector<Bound> bounds =
      lower_bounds(topology, of_megabytes(topology, K::all_gather), TimeModel{}, Chunking::any);
  REQUIRE(find(bounds, BoundKind::latency_path) != nullptr);
  CHECK(find(bounds, BoundKind::latency_path)->certificate ==
        "what has to move crosses links without latency");
}

TEST_CASE("bounds refuse what can't be", "[bounds]") {
  Network one_way(2);
  one_way.link(0, 1);
  CHECK_THROWS_WITH(lower_bound(one_way.topology(), of_megabytes(one_way.topology(), K::all_gather),
                                TimeModel{}, Chunking::given),
                    ContainsSubstring("can't get from npu1 to npu0"));
  // two chunks of 40 days each: each fits, both don't
  Network slow(2);
  slow.duplex(0, 1, Bandwidth{1});
  const Collective long_lasting =
      custom({{NodeId{0}}, {NodeId{1}}}, std::vector<Chunk>(2, {Bytes{40 * 86'400}, 0, 1, false}));
  CHECK_THROWS_WITH(lower_bound(slow.topology(), long_lasting, TimeModel{}, Chunking::given),
                    ContainsSubstring("the collective takes longer than 26 days"));
}

TEST_CASE("bound kinds have names", "[bounds]") {
  CHECK(to_text(BoundKind::latency_path) == "latency path");
  CHECK(to_text(BoundKind::in_cut) == "in-cut");
  CHECK(to_text(BoundKind::out_cut) == "out-cut");
  CHECK(to_text(BoundKind::total_work) == "total work");
  CHECK(to_text(BoundKind::balanced_cut) == "balanced cut");
  CHECK(to_text(BoundKind::cluster_cut) == "cluster cut");
  CHECK(to_text(BoundKind::dimension_cut) == "dimension cut");
  CHECK(to_text(BoundKind::max_flow_cut) == "max-flow cut");
  CHECK(to_text(BoundKind::work_between) == "work between");
  CHECK(to_text(BoundKind::spreading_cut) == "spreading cut");
}

} // namespace tutti::bounds_test
