// Foreign programs that overwrite their input, have one buffer, or share a file; and what their
// messages cross.

#include "runtime/formats/msccl/fit.hpp"
#include "runtime/formats/msccl/xml.hpp"
#include "sim/verify.hpp"
#include "tests/baselines.hpp"
#include "tests/catch.hpp"
#include "tests/message_of.hpp"
#include "tests/runtime/msccl_samples.hpp"
#include "topologies/list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

namespace msccl_import_test {

using namespace tutti;
using namespace tutti::runtime;

namespace {

constexpr Bytes whole{1 << 20};

bool warns(const MscclFile& file, const std::string& part) {
  return std::ranges::any_of(file.warnings, [&](const std::string& warning) {
    return warning.find(part) != std::string::npos;
  });
}

std::string step(std::uint32_t s, const std::string& type, std::uint32_t unit, int waits_for) {
  return fmt::format("<step s=\"{}\" type=\"{}\" srcbuf=\"i\" srcoff=\"{}\" dstbuf=\"i\" "
                     "dstoff=\"{}\" cnt=\"1\" depid=\"{}\" deps=\"{}\" hasdep=\"{}\"/>\n",
                     s, type, unit, unit, waits_for < 0 ? -1 : 0, waits_for, type == "rrc" ? 1 : 0);
}

/// A ring of n ranks that combine into their input and copy their own shard to the output, as
/// ncclize makes programs.
std::string ring_reduce_scatter(std::uint32_t n, bool copies = true) {
  std::string text = fmt::format("<algo name=\"ring\" proto=\"Simple\" nchannels=\"1\" "
                                 "nchunksperloop=\"{}\" ngpus=\"{}\" coll=\"reduce_scatter\" "
                                 "inplace=\"0\">\n",
                                 n, n);
  for (std::uint32_t r = 0; r < n; ++r) {
    text += fmt::format("<gpu id=\"{}\" i_chunks=\"{}\" o_chunks=\"1\" s_chunks=\"0\">\n", r, n);
    text += fmt::format("<tb id=\"0\" send=\"-1\" recv=\"{}\" chan=\"0\">\n", (r + n - 1) % n);
    for (std::uint32_t s = 0; s + 1 < n; ++s) text += step(s, "rrc", (r + 2 * n - 2 - s) % n, -1);
    text += fmt::format("</tb><tb id=\"1\" send=\"{}\" recv=\"-1\" chan=\"0\">\n", (r + 1) % n);
    for (std::uint32_t s = 0; s + 1 < n; ++s)
      text += step(s, "s", (r + 2 * n - 1 - s) % n, static_cast<int>(s) - 1);
    text += "</tb>";
    if (copies)
      text += fmt::format("<tb id=\"2\" send=\"-1\" recv=\"-1\" chan=\"0\">\n<step s=\"0\" "
                          "type=\"cpy\" srcbuf=\"i\" srcoff=\"{}\" dstbuf=\"o\" dstoff=\"0\" "
                          "cnt=\"1\" depid=\"0\" deps=\"{}\" hasdep=\"0\"/>\n</tb>",
                          r, n - 2);
    text += "</gpu>\n";
  }
  return text + "</algo>\n";
}

} // namespace

TEST_CASE("programs that combine into the caller's input are taken with a warning") {
  for (std::uint32_t n = 2; n < 7; ++n) {
    INFO(n);
    const MscclFile file = read_msccl(ring_reduce_scatter(n), "f", whole);
    CHECK(warns(file, "which is the caller's: the result is right, but"));
    CHECK(verify_program(file.program).correct());
    const Topology ring = make_topology(fmt::format("ring:{}", n));
    const ForeignSchedule made = schedule_of(ring, file.program);
    CHECK(verify(ring, made.collective, made.schedule).correct());
    CHECK(made.schedule.size() == std::size_t{n} * (n - 1));
    // What isn't right is still refused.
    CHECK_THAT(message_of([&] {
                 static_cast<void>(read_msccl(ring_reduce_scatter(n, false), "f", whole));
               }),
               ContainsSubstring("holds nothing"));
  }
}

namespace {

/// A rank of an All-Gather of three that exchanges shards with rank 0 and with the other one.
std::string exchanging(int rank, int other) {
  std::string text =
      fmt::format("<gpu id=\"{}\" i_chunks=\"1\" o_chunks=\"3\" s_chunks=\"0\">", rank);
  for (const int peer : {0, other})
    text += fmt::format("<tb id=\"{0}\" send=\"{0}\" recv=\"{0}\" chan=\"0\">"
                        "<step s=\"0\" type=\"s\" srcbuf=\"i\" srcoff=\"0\" dstbuf=\"o\" "
                        "dstoff=\"{1}\" UNIT ALONE/>"
                        "<step s=\"1\" type=\"r\" srcbuf=\"i\" srcoff=\"0\" dstbuf=\"o\" "
                        "dstoff=\"{0}\" UNIT ALONE/></tb>",
                        peer, rank);
  return text + fmt::format("<tb id=\"{0}\" send=\"-1\" recv=\"-1\" chan=\"0\"><step s=\"0\" "
                            "type=\"cpy\" srcbuf=\"i\" srcoff=\"0\" dstbuf=\"o\" dstoff=\"{0}\" "
                            "UNIT ALONE/></tb></gpu>",
                            rank);
}

} // namespace

TEST_CASE("a send waits for what the receipt before it in its block has waited for") {
  // Rank 0 sends to 1 in one block; in another it receives from 2, which waits for that send, and
  // then sends to 2. As good as waiting itself.
  const auto waits_of = [](const char* receipt, const char* send) {
    const std::string text = msccl_samples::expanded(
        std::string(R"(<algo name="a" proto="Simple" THREE coll="allgather" inplace="0" WINDOW>
<gpu id="0" i_chunks="1" o_chunks="3" s_chunks="0"><tb id="0" send="1" recv="-1" chan="0">
<step s="0" type="s" srcbuf="i" srcoff="0" dstbuf="o" dstoff="0" UNIT depid="-1" deps="-1" TOLD/>
</tb><tb id="1" send="2" recv="2" chan="0">
<step s="0" type="r" srcbuf="i" srcoff="0" dstbuf="o" dstoff="2" UNIT )") +
        receipt + R"( UNTOLD/>
<step s="1" type="s" srcbuf="i" srcoff="0" dstbuf="o" dstoff="0" UNIT )" +
        send + R"( UNTOLD/>
</tb><tb id="2" send="-1" recv="1" chan="0">
<step s="0" type="r" srcbuf="i" srcoff="0" dstbuf="o" dstoff="1" UNIT ALONE/>
</tb><tb id="3" send="-1" recv="-1" chan="0">
<step s="0" type="cpy" srcbuf="i" srcoff="0" dstbuf="o" dstoff="0" UNIT ALONE/></tb></gpu>)" +
        exchanging(1, 2) + exchanging(2, 1) + "</algo>");
    const Topology topology = make_topology("fully_connected:3");
    const Schedule schedule = schedule_of(topology, read_msccl(text, "f", whole).program).schedule;
    std::vector<std::string> waits; // of the send to 2, by the ends of what it names
    const auto ends = [&](std::size_t i) {
      const Link& link = topology.link(schedule.paths().first(schedule.path_of(i)));
      return fmt::format("{}>{}", link.from.value, link.to.value);
    };
    for (std::size_t i = 0; i < schedule.size(); ++i)
      for (const Dependency& named : schedule.dependencies(i))
        if (ends(i) == "0>2")
          waits.push_back(fmt::format("{} {}", ends(named.transfer),
                                      named.milestone == Milestone::left ? "left" : "arrived"));
    return waits;
  };
  const std::vector<std::string> both{"0>1 left", "2>0 arrived"};
  const char* const there = R"(depid="0" deps="0")";
  const char* const alone = R"(depid="-1" deps="-1")";
  CHECK_THAT(waits_of(alone, there), Catch::Matchers::UnorderedEquals(both));
  CHECK_THAT(waits_of(there, alone), Catch::Matchers::UnorderedEquals(both));
}

TEST_CASE("custom in place is one buffer") {
  // Two ranks exchange the first half and combine the second, in one memory of two units.
  const std::string text = msccl_samples::expanded(
      R"(<algo name="a" proto="LL" TWO coll="custom" inplace="1" WINDOW>
<gpu id="0" i_chunks="2" o_chunks="2" s_chunks="0"><tb id="0" send="1" recv="1" chan="0">
<step s="0" type="s" srcbuf="i" srcoff="0" dstbuf="o" dstoff="0" cnt="1" ALONE/>
<step s="1" type="rrc" srcbuf="o" srcoff="1" dstbuf="i" dstoff="1" cnt="1" ALONE/>
<step s="2" type="s" srcbuf="o" srcoff="1" dstbuf="o" dstoff="1" cnt="1" ALONE/>
<step s="3" type="r" srcbuf="i" srcoff="0" dstbuf="o" dstoff="0" cnt="1" ALONE/>
</tb></gpu>
<gpu id="1" i_chunks="2" o_chunks="2" s_chunks="0"><tb id="0" send="0" recv="0" chan="0">
<step s="0" type="s" srcbuf="i" srcoff="1" dstbuf="o" dstoff="1" cnt="1" ALONE/>
<step s="1" type="rrc" srcbuf="i" srcoff="0" dstbuf="o" dstoff="0" cnt="1" ALONE/>
<step s="2" type="s" srcbuf="i" srcoff="0" dstbuf="o" dstoff="0" cnt="1" ALONE/>
<step s="3" type="r" srcbuf="i" srcoff="1" dstbuf="o" dstoff="1" cnt="1" ALONE/>
</tb></gpu></algo>)");
  const Collective sum =
      make_collective(make_topology("ring:2"), {CollectiveKind::all_reduce, whole, {}, 0, 1});
  const MscclFile file = read_msccl(text, "f", whole, &sum);
  CHECK(verify_program(file.program, 2).correct());
  const Collective gather =
      make_collective(make_topology("ring:2"), {CollectiveKind::all_gather, whole, {}, 0, 1});
  CHECK_FALSE(
      message_of([&] { static_cast<void>(read_msccl(text, "f", whole, &gather)); }).empty());
}

TEST_CASE("a file may have several programs") {
  const std::string text =
      ring_reduce_scatter(3) +
      msccl_samples::replaced(msccl_samples::ring_all_gather, "<?xml version=\"1.0\"?>", "");
  const std::vector<MscclFile> files = read_msccl_files(text, "f.xml", whole);
  REQUIRE(files.size() == 2);
  CHECK(files[0].program.collective.parts.front().kind == CollectiveKind::reduce_scatter);
  CHECK(files[1].program.collective.parts.front().kind == CollectiveKind::all_gather);
  CHECK_THAT(message_of([&] { static_cast<void>(read_msccl(text, "f.xml", whole)); }),
             ContainsSubstring("a second <algo>"));
  CHECK_THAT(
      message_of([&] { static_cast<void>(read_msccl_files(text + "<gpu/>", "f.xml", whole)); }),
      ContainsSubstring("<gpu> where <algo> is expected"));
}

TEST_CASE("paths are kept where they are known, else those of each NPU's own NIC") {
  const Topology machines = make_topology("dgx_a100x2");
  const Collective collective =
      make_collective(machines, {CollectiveKind::all_gather, whole, {}, 0, 1});
  const Program program =
      lower(machines, collective, samples::schedule_of("direct", machines, collective), {});
  const ForeignSchedule kept = schedule_of(machines, program);
  for (const ConnectionPath& path : program.paths) {
    bool found = false;
    for (std::size_t i = 0; i < kept.schedule.size() && !found; ++i)
      found = std::ranges::equal(kept.schedule.paths().links(kept.schedule.path_of(i)), path.links);
    CHECK(found);
  }
  Program bare = program;
  bare.paths = {{0, 8, 0, {}}, {1, 9, 0, {}}, {15, 7, 1, {}}};
  CHECK(paths_not_taken(machines, bare).size() == 3);
  const auto rail_of = [&](const ConnectionPath& path) {
    const std::vector<LinkId> links = runtime_path(machines, path);
    REQUIRE(links.size() == 4);
    return machines.node(machines.link(links[1]).to).name;
  };
  CHECK(rail_of(bare.paths[0]) == "rail0");
  CHECK(rail_of(bare.paths[1]) == "rail1");
  CHECK(rail_of(bare.paths[2]) == "rail7");
}

} // namespace msccl_import_test
