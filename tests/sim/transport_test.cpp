// Transports: what a rule makes of a link, by hand; rings on lanes; what a file may say.
#include "sim/transport/transport.hpp"

#include "sim/engines/engine.hpp"
#include "sim/error.hpp"
#include "sim/files/files.hpp"
#include "sim/transforms.hpp"
#include "sim/transport/constants.hpp"
#include "sim/verify.hpp"
#include "tests/catch.hpp"
#include "tests/message_of.hpp"
#include "tests/temporary_folder.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace transport_test {

using namespace tutti;

namespace {

/// NPUs with links of 100 GB/s from each to the next, around.
Topology ring_of(std::uint32_t npus, const std::string& part) {
  TopologyParts parts;
  parts.name = "ring";
  for (std::uint32_t n = 0; n < npus; ++n)
    parts.add_node({"npu" + std::to_string(n), NodeKind::npu, {}, {}});
  for (std::uint32_t n = 0; n < npus; ++n) {
    Link link;
    link.from = NodeId{n};
    link.to = NodeId{(n + 1) % npus};
    link.bandwidth = Bandwidth{100'000'000'000};
    link.latency = Time{500'000};
    if (!part.empty()) link.part = parts.link_part(part);
    parts.add_link(link);
  }
  return Topology(std::move(parts));
}

/// Two NPUs, each with links of 100 GB/s to and from a switch.
TopologyParts around_a_switch(Abilities can) {
  TopologyParts parts;
  parts.name = "switch";
  for (const char* name : {"npu0", "npu1"}) parts.add_node({name, NodeKind::npu, {}, {}});
  const NodeId hub = parts.add_node({"hub", NodeKind::switching, can, {}});
  for (std::uint32_t n = 0; n < 2; ++n) {
    Link link;
    link.from = NodeId{n};
    link.to = hub;
    link.bandwidth = Bandwidth{100'000'000'000};
    link.part = parts.link_part("wire");
    parts.add_duplex(link);
  }
  return parts;
}

Transport transport_with(const TransportRule& rule) {
  Transport transport;
  transport.name = "t";
  transport.launch = {{"", Time{10'000'000}}, {"h100", Time{7'000'000}}};
  transport.rules = {rule};
  return transport;
}

const TransportRule simple{
    "wire", "simple", 0.8, Time{3'000'000}, Bandwidth{20'000'000'000}, Time{1'000'000}};

/// Each sends its chunk on around the ring, all at once, step by step.
Schedule all_gather_on(const Topology& ring, std::uint32_t chunks_per_shard) {
  Schedule schedule(ring.link_count());
  const std::uint32_t n = ring.npu_count();
  for (std::uint32_t s = 0; s + 1 < n; ++s)
    for (std::uint32_t i = 0; i < n; ++i)
      for (std::uint32_t k = 0; k < chunks_per_shard; ++k)
        schedule.push(ChunkId{(i + n - s) % n * chunks_per_shard + k}, LinkId{i}, Op::copy);
  return schedule;
}

Collective all_gather(const Topology& ring, Bytes size, std::uint32_t chunks_per_shard) {
  return make_collective(ring, {CollectiveKind::all_gather, size, {}, 0, chunks_per_shard});
}

std::string refused(const std::string& text) {
  ScratchFolder folder;
  const std::string file = folder.path() + "/t.toml";
  write_file(file, text);
  const std::string message = message_of([&] { (void)read_transport(file); });
  return message.starts_with(file) ? message.substr(file.size()) : message;
}

} // namespace

TEST_CASE("what a rule makes of a link, by hand") {
  const Topology ring = ring_of(2, "wire");
  const Collective collective = all_gather(ring, Bytes{2'000'000}, 1);
  const Schedule schedule = all_gather_on(ring, 1);
  SECTION("of no library: as many channels as fill it") {
    // 80 GB/s of data are four channels; 1 MB takes 12.5 us and a quarter of a handover of 1 us.
    const Transported by =
        transported(ring, collective, schedule, {"", "simple", 0, false}, transport_with(simple));
    CHECK(by.topology.link_count() == 2);
    CHECK(by.schedule == schedule);
    const Time time = run_native(by.topology, collective, by.schedule, {}, {}).completion;
    CHECK(time.seconds() == Approx(12.5e-6 + 0.25e-6 + 3e-6));
  }
  SECTION("by one channel") {
    // 20 GB/s: 50 us, and a handover.
    const Transported by = transported(ring, collective, schedule, {"ring", "simple", 1, true},
                                       transport_with(simple));
    const Time time = run_native(by.topology, collective, by.schedule, {}, {}).completion;
    CHECK(time.seconds() == Approx(50e-6 + 1e-6 + 3e-6));
  }
  CHECK(transport_with(simple).launch_of("h100") == Time{7'000'000});
  CHECK(transport_with(simple).launch_of("a100") == Time{10'000'000});
}

TEST_CASE("channels of a ring run side by side on lanes that share the wire") {
  const Topology ring = ring_of(4, "wire");
  TransportRule rule = simple;
  rule.handover = Time{};
  constexpr std::uint32_t chunks = 8;
  const Collective collective = all_gather(ring, Bytes{32'000'000}, chunks);
  const Schedule schedule = all_gather_on(ring, chunks);
  std::map<std::uint32_t, double> seconds;
  for (const std::uint32_t channels : {1U, 2U, 4U, 8U}) {
    CAPTURE(channels);
    const Transported by = transported(ring, collective, schedule,
                                       {"ring", "simple", channels, true}, transport_with(rule));
    CHECK(by.topology.link_count() == 4 * channels);
    CHECK(verify(by.topology, collective, by.schedule).correct());
    const Report report = run_native(by.topology, collective, by.schedule, {}, {});
    seconds[channels] = report.completion.seconds();
    std::map<std::uint32_t, std::int64_t> bytes;
    for (std::uint32_t lane = 0; lane < report.links.size(); ++lane)
      bytes[by.original[lane].value] += report.links[lane].bytes.count;
    for (const auto& [link, crossed] : bytes) CHECK(crossed == 24'000'000);
  }
  // 24 MB cross each link: at 20 GB/s a channel, at most 80 GB/s together. A chunk has the wire for
  // 12.5 us, for which those of other lanes wait in turn.
  for (const auto& [channels, time] : seconds) {
    const double least = 24e6 / std::min(channels * 20e9, 80e9);
    CHECK(time >= least);
    CHECK(time <= least + 3 * 12.5e-6 + 3.001e-6);
  }
}

TEST_CASE("a program's own channels are lanes, whatever its chunks' numbers are") {
  const Topology ring = ring_of(4, "wire");
  const Collective collective = all_gather(ring, Bytes{32'000'000}, 2);
  const Schedule schedule = all_gather_on(ring, 2);
  LibraryChoice choice{"msccl", "simple", 1, true};
  const auto lanes = [&] {
    return transported(ring, collective, schedule, choice, transport_with(simple))
        .topology.link_count();
  };
  CHECK(lanes() == 4);
  choice.channel_of.assign(schedule.size(), 0);
  choice.channel_of.back() = 7; // crosses the last NPU's link alone
  choice.channels = 8;
  CHECK(lanes() == 5);
}

TEST_CASE("slowed links keep their numbers, also those that nobody uses") {
  const Topology ring = ring_of(4, "wire");
  const Collective collective = all_gather(ring, Bytes{32'000'000}, 1);
  Schedule schedule(ring.link_count());
  for (std::uint32_t i = 0; i < 3; ++i) schedule.push(ChunkId{0}, LinkId{i}, Op::copy);
  const Topology slow =
      slowed(ring, collective, schedule, {"ring", "simple", 4, true}, transport_with(simple));
  REQUIRE(slow.link_count() == 4);
  // 8 MB: 4 channels of 20 GB/s, each of which stops for 1 us; the unused link only has its share.
  CHECK(slow.link(LinkId{0}).bandwidth < Bandwidth{80'000'000'000});
  CHECK(slow.link(LinkId{3}).bandwidth == Bandwidth{80'000'000'000});
  for (std::uint32_t l = 0; l < 4; ++l) CHECK(slow.link(LinkId{l}).latency == Time{3'000'000});
}

TEST_CASE("chunks that share a send share its channel and its handover") {
  const Topology ring = ring_of(2, "wire");
  const Collective collective = all_gather(ring, Bytes{4'000'000}, 2);
  const Schedule apart = all_gather_on(ring, 2);
  Schedule shared(ring.link_count());
  for (std::size_t i = 0; i < apart.size(); ++i) {
    Transfer transfer = apart[i];
    transfer.contiguous = i % 2 == 1;
    shared.push(transfer);
  }
  REQUIRE(verify(ring, collective, shared).correct());
  SECTION("of no library") {
    // A quarter of a handover for the 25 us of 2 MB at 80 GB/s.
    const Transported by =
        transported(ring, collective, shared, {"", "simple", 0, false}, transport_with(simple));
    CHECK(by.schedule == shared);
    const Time time = run_native(by.topology, collective, by.schedule, {}, {}).completion;
    CHECK(time.seconds() == Approx(25e-6 + 0.25e-6 + 3e-6));
  }
  SECTION("in chunks that stand for four of a library's each") {
    // As many handovers as the library's own chunks of 250 kB have.
    const LibraryChoice choice{"tree", "simple", 2, false, Bytes{250'000}};
    const Transported by = transported(ring, collective, apart, choice, transport_with(simple));
    const LibraryChoice as_listed{"tree", "simple", 2, false};
    const Collective finer = all_gather(ring, Bytes{4'000'000}, 8);
    const Transported own =
        transported(ring, finer, split_chunks(apart, 4), as_listed, transport_with(simple));
    for (std::uint32_t l = 0; l < by.topology.link_count(); ++l)
      CHECK(by.topology.link(LinkId{l}).bandwidth == own.topology.link(LinkId{l}).bandwidth);
  }
  SECTION("on lanes") {
    const LibraryChoice two{"ring", "simple", 2, true};
    CHECK(transported(ring, collective, apart, two, transport_with(simple)).topology.link_count() ==
          4);
    const Transported by = transported(ring, collective, shared, two, transport_with(simple));
    CHECK(by.topology.link_count() == 2); // one channel each
    CHECK(verify(by.topology, collective, by.schedule).correct());
    CHECK(by.schedule.has_contiguous());
  }
}

TEST_CASE("behind a switch the step's latency counts once, and groups shrink") {
  TopologyParts parts = around_a_switch({false, false, false});
  parts.groups = {{"bus", {LinkId{0}, LinkId{2}}, Bandwidth{50'000'000'000}}};
  const Topology topology(std::move(parts));
  const Collective collective = all_gather(topology, Bytes{2'000'000}, 1);
  Schedule schedule(topology.link_count());
  schedule.push({ChunkId{0}, schedule.paths().intern(std::vector{LinkId{0}, LinkId{3}})});
  schedule.push({ChunkId{1}, schedule.paths().intern(std::vector{LinkId{2}, LinkId{1}})});
  TransportRule rule = simple;
  rule.handover = Time{};
  const Transported by =
      transported(topology, collective, schedule, {"", "simple", 0, false}, transport_with(rule));
  // 2 MB over a bus of 0.8 * 50 GB/s, one after the other, and one step.
  const Time time = run_native(by.topology, collective, by.schedule, {}, {}).completion;
  CHECK(time.seconds() == Approx(50e-6 + 3e-6));
  CHECK(with_latencies(topology, transport_with(rule)).link(LinkId{0}).latency == rule.latency);
  CHECK(with_latencies(topology, transport_with(rule)).link(LinkId{1}).latency == Time{});
}

TEST_CASE("a step by several switches takes the rule's latency in all") {
  TopologyParts parts;
  for (const char* name : {"a", "b"}) parts.add_node({name, NodeKind::npu, {}, {}});
  for (const char* name : {"pcie", "nic", "rail"})
    parts.add_node({name, NodeKind::switching, {false, false, false}, {}});
  const std::uint8_t wire = parts.link_part("wire");
  for (const auto& [from, to, ps] :
       {std::tuple(0U, 2U, 500'000), {2U, 3U, 500'000}, {3U, 4U, 300'000}, {4U, 1U, 700'000}}) {
    Link link{NodeId{from}, NodeId{to}, Time{ps}, Bandwidth{100'000'000'000}};
    link.part = wire;
    parts.add_link(link);
  }
  const Topology topology(std::move(parts));
  const Collective collective =
      make_collective(topology, {CollectiveKind::broadcast, Bytes{1'000'000}, {}, 0, 1});
  Schedule schedule(topology.link_count());
  schedule.push({ChunkId{0},
                 schedule.paths().intern(std::vector{LinkId{0}, LinkId{1}, LinkId{2}, LinkId{3}})});
  for (const auto& [step, first] : {std::pair(3'000'000, 1'500'000), {1'000'000, 500'000}}) {
    TransportRule rule = simple;
    rule.latency = Time{step};
    const Transported by =
        transported(topology, collective, schedule, {"", "simple", 0, false}, transport_with(rule));
    CHECK(by.topology.link(LinkId{0}).latency == Time{first}); // what the others leave of it
    CHECK(by.topology.link(LinkId{3}).latency == Time{700'000});
  }
}

TEST_CASE("what a switch reduces or copies goes by its own rule, what passes through doesn't") {
  const Topology topology(around_a_switch({false, true, true}));
  const Collective collective = all_gather(topology, Bytes{2'000'000}, 1);
  Transport transport = transport_with(simple);
  transport.rules.front().handover = Time{};
  transport.rules.push_back({"wire", "nvls", 0.5, Time{5'000'000}, {}, {}});
  Schedule schedule(topology.link_count());
  schedule.push(ChunkId{0}, LinkId{0}, Op::copy); // up to the switch, and down from it
  schedule.push(ChunkId{0}, LinkId{3}, Op::copy);
  schedule.push({ChunkId{1}, schedule.paths().intern(std::vector{LinkId{2}, LinkId{1}})});
  const Transported by =
      transported(topology, collective, schedule, {"", "simple", 0, false}, transport);
  for (const std::uint32_t link : {0U, 3U})
    CHECK(by.topology.link(LinkId{link}).bandwidth == Bandwidth{50'000'000'000});
  for (const std::uint32_t link : {1U, 2U})
    CHECK(by.topology.link(LinkId{link}).bandwidth == Bandwidth{80'000'000'000});
  CHECK(by.topology.link(LinkId{0}).latency == Time{5'000'000});
  CHECK(by.topology.link(LinkId{2}).latency == Time{3'000'000});
}

TEST_CASE("no step is faster than its links, and groups shrink by those in use") {
  const auto carried_on = [](TopologyParts parts, Time step) {
    const Topology topology(std::move(parts));
    const Collective collective =
        make_collective(topology, {CollectiveKind::broadcast, Bytes{1'000'000}, {}, 0, 1});
    Schedule schedule(topology.link_count());
    schedule.push({ChunkId{0}, schedule.paths().intern(std::vector{LinkId{0}, LinkId{3}})});
    TransportRule rule = simple;
    rule.latency = step;
    return transported(topology, collective, schedule, {"", "simple", 0, false},
                       transport_with(rule));
  };
  TopologyParts parts = around_a_switch({false, false, false});
  for (Link& link : parts.links) link.latency = Time{2'000'000};
  for (const std::int64_t step : {1'000'000, 4'000'000, 7'000'000}) {
    const Transported by = carried_on(parts, Time{step});
    const Time whole = by.topology.link(LinkId{0}).latency + by.topology.link(LinkId{3}).latency;
    CHECK(whole == Time{std::max<std::int64_t>(step, 4'000'000)});
  }
  // The first link of the group isn't used.
  parts.groups = {{"bus", {LinkId{2}, LinkId{0}}, Bandwidth{50'000'000'000}}};
  CHECK(carried_on(parts, Time{7'000'000}).topology.groups().back().bandwidth ==
        Bandwidth{40'000'000'000});
}

TEST_CASE("the nearest generation of its kind stands in for a part, and may be off by the most") {
  Transport transport;
  transport.name = "t";
  for (const char* part : {"pcie4", "pcie6", "nvlink3", "rdma"}) {
    TransportRule rule;
    rule.part = part;
    rule.protocol = "simple";
    rule.share = rule.part == "pcie6" ? 0.9 : 0.8;
    rule.rates_within = rule.part == "rdma" ? 0.5 : 0.1;
    rule.measured_on = {"h100"};
    transport.rules.push_back(rule);
  }
  for (const auto& [part, known] :
       {std::pair("pcie3", "pcie4"), std::pair("pcie4", "pcie4"), std::pair("pcie5", "pcie4"),
        std::pair("pcie7", "pcie6"), std::pair("nvlink1", "nvlink3"), std::pair("rdma2", "rdma"),
        std::pair("xgmi2", ""), std::pair("", "")})
    CHECK(transport.part_for(part) == known);
  const Topology ring = ring_of(3, "pcie7");
  CHECK(transport.rule("pcie7", "simple").share == Approx(0.9));
  CHECK(stand_ins(transport, ring) == "pcie7 as pcie6");
  CHECK(stand_ins(transport, ring_of(3, "pcie6")).empty());
  CHECK(usable_protocols(ring, all_gather_on(ring, 1), transport) ==
        std::vector<std::string>{"simple"});
  TopologyParts parts = ring.parts();
  parts.npu_model = "h100"; // on which pcie6 was measured, and pcie7 wasn't
  const Transport slow = at_its_slowest(transport, Topology(std::move(parts)));
  CHECK(slow.rule("pcie6", "simple").share == Approx(0.9 / 1.1));
  CHECK(slow.rule("pcie7", "simple").share == Approx(0.9 / 1.5));
}

TEST_CASE("links of no part, and protocols that a part doesn't have, are refused by name") {
  const Transport transport = transport_with(simple);
  const auto message = [&](const std::string& part, const std::string& protocol) {
    const Topology ring = ring_of(2, part);
    return message_of([&] {
      (void)transported(ring, all_gather(ring, Bytes{1'000}, 1), all_gather_on(ring, 1),
                        {"", protocol, 0, false}, transport);
    });
  };
  CHECK(message("", "simple") == "link npu0>npu1: transport t has to know what links are made of "
                                 "(part = \"nvlink4\" of [[links]]; known: wire)");
  CHECK_THAT(message("wires", "simple"),
             ContainsSubstring("link npu0>npu1: unknown part of transport t \"wires\""));
  CHECK_THAT(message("wire", "ll"),
             ContainsSubstring("unknown protocol of wire in transport t \"ll\""));
  const Topology ring = ring_of(2, "wire");
  CHECK(usable_protocols(ring, all_gather_on(ring, 1), transport) ==
        std::vector<std::string>{"simple"});
}

TEST_CASE("connections through a switch cost each of its links, direct ones don't") {
  TransportRule rule{"wire", "simple", 0.8, Time{}, {}, {}};
  rule.connection_loss = 0.25;
  const Transport transport = transport_with(rule);
  TopologyParts parts = around_a_switch({});
  const NodeId third{3};
  Link link = parts.links[0];
  parts.nodes.insert(parts.nodes.begin() + 2, {"npu2", NodeKind::npu, {}, {}});
  for (Link& each : parts.links)
    for (NodeId* end : {&each.from, &each.to})
      if (*end == NodeId{2}) *end = third; // the switch comes after NPUs
  link.from = NodeId{2};
  link.to = third;
  parts.add_duplex(link); // links 4 and 5
  link.from = NodeId{0};
  link.to = NodeId{1};
  const LinkId direct = parts.add_link(link);
  const Topology topology(std::move(parts));

  Schedule schedule(topology.link_count());
  const auto send = [&](std::uint32_t chunk, std::vector<LinkId> path) {
    schedule.push({ChunkId{chunk}, schedule.paths().intern(path), Op::copy});
  };
  // npu0 to npu1 and to npu2 by the switch, twice to npu2; npu0 to npu1 also directly.
  send(0, {LinkId{0}, LinkId{3}});
  send(1, {LinkId{0}, LinkId{5}});
  send(2, {LinkId{0}, LinkId{5}});
  send(3, {direct});
  Collective collective;
  collective.sets = {{NodeId{0}}, {NodeId{1}}, {NodeId{2}}};
  for (const std::uint32_t to : {1U, 2U, 2U, 1U})
    collective.chunks.push_back({Bytes{1'000'000}, 0, to, false});
  CollectivePart part;
  part.group = {NodeId{0}, NodeId{1}, NodeId{2}};
  part.chunk_count = 4;
  collective.parts = {part};

  const Transported by =
      transported(topology, collective, schedule, {"", "simple", 0, false}, transport);
  CHECK(by.shares[0] == Approx(0.8 / 1.25)); // two connections
  CHECK(by.shares[3] == Approx(0.8));
  CHECK(by.shares[5] == Approx(0.8));
  CHECK(by.shares[direct.value] == Approx(0.8));
  CHECK(by.topology.link(LinkId{0}).bandwidth.bytes_per_second == 64'000'000'000);
}

TEST_CASE("a rule is off by more on machines that nobody has measured") {
  Transport transport = transport_with({"wire", "simple", 0.8, Time{2'000'000}, {}, {}});
  TransportRule& rule = transport.rules[0];
  rule.rates_within = 0.25;
  rule.times_within = 0.5;
  rule.measured_on = {"a100", "h100"};
  rule.rates_elsewhere = 1;
  rule.times_elsewhere = 2;
  CHECK(at_its_slowest(transport, "h100").rules[0].share == Approx(0.64));
  CHECK(at_its_slowest(transport, "h100").rules[0].latency == Time{3'000'000});
  CHECK(at_its_slowest(transport, "h200").rules[0].share == Approx(0.4));
  CHECK(at_its_slowest(transport, "h200").rules[0].latency == Time{6'000'000});
  CHECK(at_its_slowest(transport, "").rules[0].share == Approx(0.4));

  const TemporaryFolder folder;
  write_file(folder.file("t.toml"), transport_toml(transport, ""));
  const TransportRule read = read_transport(folder.file("t.toml")).rules[0];
  CHECK(read.measured_on == rule.measured_on);
  CHECK(read.rates_elsewhere == 1);
  CHECK(read.times_elsewhere == 2);

  rule.rates_elsewhere = rule.times_elsewhere = std::nullopt; // nobody has left a machine out
  CHECK(at_its_slowest(transport, "h200").rules[0].share == Approx(0.64));
  rule.measured_on.clear();
  rule.rates_elsewhere = 1;
  CHECK(at_its_slowest(transport, "h200").rules[0].share == Approx(0.64));
}

TEST_CASE("what is wrong in a transport's file is told by its place") {
  const std::string head = "name = \"t\"\n[[rules]]\npart = \"wire\"\n";
  CHECK_THAT(refused(head + "protocol = \"simpel\"\nshare = 1\nlatency = \"1us\"\n"),
             ContainsSubstring(":4:12: unknown protocol \"simpel\""));
  CHECK_THAT(refused(head + "protocol = \"simple\"\nshare = 1.5\nlatency = \"1us\"\n"),
             ContainsSubstring(":5:9: a share is from 0.001 to 1"));
  CHECK_THAT(refused(head + "protocol = \"simple\"\nshare = 1\nlatency = \"-1us\"\n"),
             ContainsSubstring("6:"));
  CHECK_THAT(refused(head + "protocol = \"simple\"\nshare = 1\nlatency = \"1us\"\nchanel = 1\n"),
             ContainsSubstring("chanel"));
  const std::string rule = "protocol = \"simple\"\nshare = 1\nlatency = \"1us\"\n";
  CHECK_THAT(refused(head + rule + "[[rules]]\npart = \"wire\"\n" + rule),
             ContainsSubstring("a second rule of wire under simple"));
  CHECK_THAT(refused("name = \"ideal\"\n"), ContainsSubstring(":1:8: a transport has a name"));
  CHECK_THAT(refused("name = \"t\"\n[launch]\nh100 = \"2s\"\n"),
             ContainsSubstring(":3:8: a time from 0 to 1 s"));
  CHECK_THAT(
      refused(head + "protocol = \"simple\"\nshare = 1\nlatency = \"1us\"\nchannel = \"1B/s\"\n"),
      ContainsSubstring(":7:11: a channel carries 1 MB/s or more"));
  CHECK_THAT(refused("name = \"t\"\n"), ContainsSubstring("needs [[rules]]"));
  CHECK_THAT(refused("name = \"t\"\n[launch]\nh100 = 3\n"), ContainsSubstring(":3:"));
  CHECK_THAT(message_of([] { (void)read_transport("ncl"); }),
             ContainsSubstring("unknown transport \"ncl\""));
}

} // namespace transport_test
