// Files of the runtimes and of the tools that write them: what is read, what is read as it must be
// meant, and what is refused with its place.

#include "runtime/checking/verify_program.hpp"
#include "runtime/formats/msccl/xml.hpp"
#include "sim/error.hpp"
#include "sim/files/files.hpp"
#include "sim/random.hpp"
#include "tests/catch.hpp"
#include "tests/message_of.hpp"
#include "tests/runtime/msccl_samples.hpp"
#include "tests/temporary_folder.hpp"
#include "topologies/list.hpp"

#include <array>

namespace msccl_reader_test {

using namespace tutti;
using namespace tutti::runtime;
using msccl_samples::expanded;
using msccl_samples::replaced;

namespace {

constexpr Bytes whole{3'000'000};

MscclFile read(std::string_view text) { return read_msccl(text, "f.xml", whole); }
std::string refusal(std::string_view text) {
  return message_of([&] { static_cast<void>(read(text)); });
}
bool warns(const MscclFile& file, std::string_view of) {
  return std::ranges::any_of(file.warnings, [&](const std::string& warning) {
    return warning.find(of) != std::string::npos;
  });
}

} // namespace

TEST_CASE("a file's head and collective are read") {
  const MscclFile file = read(msccl_samples::ring_all_gather);
  CHECK(file.warnings.empty());
  CHECK(file.protocol == "Simple");
  CHECK(file.min_bytes == 0);
  CHECK(file.max_bytes == 1024);
  CHECK(file.program.name == "ring");
  const Collective same =
      make_collective(make_topology("ring:3"), {CollectiveKind::all_gather, whole, {}, 0, 1});
  CHECK(file.program.collective.fingerprint() == same.fingerprint());
  CHECK(file.program.ranks[2].blocks[0].sends_to == 0U);
  CHECK(file.program.ranks[2].blocks[0].steps[1] ==
        Step{StepKind::receive_copy_send, {}, {Buffer::output, 1}, 1, {}});
  CHECK(verify_program(file.program, 2).correct());
}

TEST_CASE("sums are read in the receiver's own buffers") {
  const Program program = read(msccl_samples::ring_all_reduce).program;
  CHECK(program.ranks[0].blocks[0].steps[1] ==
        Step{StepKind::receive_reduce_send, {Buffer::input, 2}, {}, 1, {}});
  CHECK(program.ranks[0].blocks[0].steps[2] ==
        Step{StepKind::receive_reduce_copy_send, {Buffer::input, 1}, {Buffer::output, 1}, 1, {}});
}

TEST_CASE("buffers in place may be declared as far as they are used") {
  const MscclFile file = read(msccl_samples::pairs_all_reduce);
  CHECK(file.program.in_place);
  CHECK(file.program.ranks[0].output == 3);
  CHECK(file.program.ranks[0].blocks[0].steps[3].after == StepAt{1, 1});
}

TEST_CASE("an all_reduce of chunks that ranks don't divide is cut finer") {
  const Program program = read_msccl(msccl_samples::exchange, "f", Bytes{2000}).program;
  CHECK(program.collective.chunks.size() == 2);
  CHECK(program.ranks[0].input == 2);
  CHECK(program.ranks[0].blocks[0].steps[0].count == 2);
}

TEST_CASE("what a runtime would do silently is said") {
  const MscclFile bare = read(msccl_samples::ring_all_reduce);
  CHECK(bare.warnings == std::vector<std::string>{
                             "f.xml:1:1: no minBytes: MSCCL's executor for NCCL ignores the file",
                             "f.xml:1:1: no maxBytes: MSCCL's executor for NCCL ignores the file",
                             "f.xml:1:1: no outofplace: MSCCL's executor for NCCL ignores the "
                             "file"});
  CHECK(!bare.min_bytes);
  CHECK(warns(read(msccl_samples::pairs_all_reduce),
              "f.xml:3:5: unknown attribute rtype of <tb>: ignored"));
  const auto gather = [](std::string_view what, std::string_view by) {
    return read(replaced(msccl_samples::ring_all_gather, what, by));
  };
  CHECK(warns(gather("name=\"ring\"", "name=\"2D\""), "their own algorithm"));
  CHECK(warns(gather("nchannels=\"1\"", "nchannels=\"40\""),
              "nchannels=\"40\", but the blocks use 1"));
  CHECK(warns(gather("outofplace=\"1\"", "outofplace=\"0\""), "no runtime would use"));
  CHECK(warns(gather("maxBytes=\"1024\"", "minBytes2=\"9\" maxBytes=\"1024\""), "minBytes2"));
  CHECK(warns(gather("minBytes=\"0\"", "minBytes=\"1025\""), "minBytes is more than maxBytes"));
  CHECK(warns(gather("cnt=\"1\" depid=\"-1\" deps=\"-1\"", "cnt=\"1\" depid=\"1\" deps=\"0\""),
              "gpu 0, block 1, step 0 is waited for, but has hasdep=\"0\""));
  CHECK(warns(gather("<tb id", "<copy i_off=\"0\" o_off=\"0\"/><tb id"), "<copy> is ignored"));
}

TEST_CASE("a chain of waits that doesn't end in a dependency is said") {
  const std::string text = replaced(
      msccl_samples::ring_all_gather,
      expanded(R"(<step s="0" type="s" srcbuf="i" srcoff="0" dstbuf="o" dstoff="0" cnt="1" ALONE/>
      <step s="1")"),
      expanded(
          R"(<step s="0" type="nop" srcbuf="i" srcoff="-1" dstbuf="o" dstoff="-1"
        cnt="0" depid="1" deps="0" hasdep="0"/>
      <step s="1" type="s" srcbuf="i" srcoff="0" dstbuf="o" dstoff="0" cnt="1" ALONE/>
      <step s="2")"));
  const std::string counted =
      replaced(text, "<step s=\"2\" type=\"r\"", "<step s=\"3\" type=\"r\"");
  CHECK(warns(read(counted), "gpu 0, block 0, step 1 follows a wait, but has no dependency"));
}

TEST_CASE("rrc with the sender's place as its source") {
  // Rank 0 sends from scratch what rank 1 reduces into its output; msccl-tools names the scratch at
  // both ends.
  const std::string text = expanded(
      R"(<algo name="a" proto="LL" nchannels="1" nchunksperloop="2" ngpus="2" coll="reduce" 
      inplace="0" WINDOW>
<gpu id="0" i_chunks="2" o_chunks="0" s_chunks="2"><tb id="0" send="1" recv="-1" chan="0">
<step s="0" type="cpy" srcbuf="i" srcoff="0" dstbuf="s" dstoff="0" cnt="2" ALONE/>
<step s="1" type="s" srcbuf="s" srcoff="0" dstbuf="o" dstoff="0" cnt="2" ALONE/>
</tb></gpu>
<gpu id="1" i_chunks="2" o_chunks="2" s_chunks="2"><tb id="0" send="-1" recv="0" chan="0">
<step s="0" type="cpy" srcbuf="i" srcoff="0" dstbuf="o" dstoff="0" cnt="2" ALONE/>
<step s="1" type="rrc" srcbuf="s" srcoff="0" dstbuf="o" dstoff="0" cnt="2" ALONE/>
</tb></gpu></algo>)");
  const MscclFile file = read(text);
  CHECK(warns(file, "rrc steps name the sender's place as their source"));
  CHECK(file.program.collective.parts.front().root == 1);
  CHECK(file.program.ranks[1].blocks[0].steps[1].source == Place{Buffer::output, 0});
}

TEST_CASE("custom collectives need their conditions") {
  const std::string text = replaced(msccl_samples::ring_all_gather, "\"allgather\"", "\"custom\"");
  CHECK_THAT(refusal(text), ContainsSubstring("f.xml:3:1: coll=\"custom\" doesn't say who wants"));
  Collective custom =
      make_collective(make_topology("ring:3"), {CollectiveKind::all_gather, whole, {}, 0, 1});
  custom.parts.front().kind = CollectiveKind::custom;
  const MscclFile file = read_msccl(text, "f.xml", whole, &custom);
  CHECK(file.program.collective.fingerprint() == custom.fingerprint());
  CHECK(warns(file, "coll=\"custom\" is unknown to MSCCL's executor for NCCL"));
  const auto with = [&](const Collective& other) {
    return message_of([&] { static_cast<void>(read_msccl(text, "f.xml", whole, &other)); });
  };
  CHECK_THAT(
      with(make_collective(make_topology("ring:4"), {CollectiveKind::all_gather, whole, {}, 0, 1})),
      ContainsSubstring("the collective has NPU 3, the file 3 ranks"));
  CHECK_THAT(
      with(make_collective(make_topology("ring:3"), {CollectiveKind::all_gather, whole, {}, 0, 2})),
      ContainsSubstring("6 units in its largest buffer, the file 3"));
}

TEST_CASE("files are loaded by name") {
  const TemporaryFolder folder;
  const std::string path = folder.file("ring.xml");
  write_file(path, msccl_samples::ring_all_gather);
  CHECK(load_msccl(path, whole).program.name == "ring");
  CHECK_THROWS_AS(load_msccl(folder.file("none.xml"), whole), InputError);
}

TEST_CASE("bad files are refused, with the place") {
  struct Bad {
    std::string_view what, by;
    int n;
    std::string_view message;
  };
  const std::array bad{
      Bad{"</algo>", "", 0, "f.xml:34:1: Start-end tags mismatch"},
      Bad{"ngpus=\"3\"", "ngpus=\"4\"", 0, "f.xml:3:1: ngpus=\"4\", but 3 <gpu>"},
      Bad{"<algo", "<alg", 0, "f.xml:"},
      Bad{"name=\"ring\" ", "", 0, "f.xml:3:1: <algo> without name"},
      Bad{"proto=\"Simple\"", "proto=\"simple\"", 0, "f.xml:3:1: unknown proto \"simple\""},
      Bad{"\"allgather\"", "\"allgatter\"", 0, "f.xml:3:1: unknown collective \"allgatter\""},
      Bad{"inplace=\"0\"", "inplace=\"2\"", 0, "isn't a number from 0 to 1"},
      Bad{"nchunksperloop=\"3\"", "nchunksperloop=\"4\"", 0,
          "f.xml:3:1: allgather of 4 chunks can't be divided among 3 ranks"},
      Bad{"nchunksperloop=\"3\"", "nchunksperloop=\"6\"", 0, "f.xml"},
      Bad{"nchunksperloop=\"3\"", "nchunksperloop=\"0\"", 0, "isn't a number from 1 to"},
      Bad{"<gpu id=\"0\"", "<cpu id=\"0\"", 0, "f.xml:"},
      Bad{"gpu id=\"1\"", "gpu id=\"0\"", 0, "f.xml:14:3: a second gpu 0"},
      Bad{"gpu id=\"1\"", "gpu id=\"7\"", 0, "f.xml:14:3: id=\"7\" isn't a number from 0 to 2"},
      Bad{"i_chunks=\"1\"", "i_chunks=\"2\"", 0, "f.xml:4:3: i_chunks=\"2\" of gpu 0"},
      Bad{"i_chunks=\"1\"", "i_chunks=\"x\"", 0, "f.xml:4:3: i_chunks=\"x\" isn't a number"},
      Bad{"o_chunks=\"3\" ", "", 0, "f.xml:4:3: <gpu> without o_chunks"},
      Bad{"tb id=\"1\"", "tb id=\"0\"", 0, "f.xml:10:5: a second block 0 of gpu 0"},
      Bad{"tb id=\"1\"", "tb id=\"2\"", 0, "f.xml:10:5: id=\"2\" isn't a number from 0 to 1"},
      Bad{"send=\"1\"", "send=\"0\"", 0, "f.xml:5:5: gpu 0 is its own peer"},
      Bad{"send=\"1\"", "send=\"3\"", 0, "f.xml:5:5: send=\"3\" isn't a number from -1 to 2"},
      Bad{"send=\"1\"", "send=\"-1\"", 0, "f.xml:6:7: a send in a block that sends to nobody"},
      Bad{"recv=\"2\"", "recv=\"-1\"", 0,
          "f.xml:7:7: a receive in a block that receives from nobody"},
      Bad{"chan=\"0\"", "chan=\"128\"", 0, "f.xml:5:5: chan=\"128\" isn't a number from 0 to 127"},
      Bad{"tb id=\"1\" send=\"-1\"", "tb id=\"1\" send=\"1\"", 0,
          "f.xml:10:5: blocks 0 and 1 of gpu 0 both send to 1 on channel 0"},
      Bad{"<step s=\"1\"", "<step s=\"2\"", 0, "f.xml:7:7: s=\"2\" of a block's step 1"},
      Bad{"type=\"rcs\"", "type=\"rsc\"", 0, "f.xml:7:7: unknown step type \"rsc\""},
      Bad{"srcbuf=\"i\"", "srcbuf=\"x\"", 0, "f.xml:6:7: unknown srcbuf \"x\""},
      Bad{"srcoff=\"0\"", "srcoff=\"1\"", 0, "f.xml:6:7: the source is outside its buffer"},
      Bad{"srcoff=\"0\"", "srcoff=\"-1\"", 0, "f.xml:6:7: srcoff=\"-1\" of a place that is used"},
      Bad{"dstoff=\"2\"", "dstoff=\"3\"", 0, "f.xml:7:7: the target is outside its buffer"},
      Bad{"cnt=\"1\"", "cnt=\"0\"", 0, "f.xml:6:7: cnt=\"0\" isn't a number from 1 to 71"},
      Bad{"cnt=\"1\"", "cnt=\"72\"", 0, "f.xml:6:7: cnt=\"72\" isn't a number from 1 to 71"},
      Bad{"cnt=\"1\"", "cnt=\"1\" cnt=\"1\"", 0, "f.xml:6:7: cnt is given twice"},
      Bad{"depid=\"-1\" deps=\"-1\"", "depid=\"2\" deps=\"0\"", 0,
          "f.xml:6:7: it waits for step 0 of block 2, which isn't there"},
      Bad{"depid=\"-1\" deps=\"-1\"", "depid=\"1\" deps=\"5\"", 0,
          "f.xml:6:7: it waits for step 5 of block 1, which isn't there"},
      Bad{"depid=\"-1\" deps=\"-1\"", "depid=\"1\" deps=\"-1\"", 0, "f.xml:6:7: deps=\"-1\""},
      Bad{"depid=\"-1\" deps=\"-1\"", "depid=\"0\" deps=\"0\"", 0,
          "f.xml:6:7: it waits for itself, or a later step"},
      Bad{"hasdep=\"0\"", "hasdep=\"2\"", 0, "f.xml:6:7: hasdep=\"2\" isn't a number from 0 to 1"},
      Bad{"hasdep=\"0\"/>", "/>", 0, "f.xml:6:7: <step> without hasdep"},
      Bad{"<step s=\"0\"", "<op step=\"0\"", 0, "f.xml:6:7: <op> is msccl-tools' newer dialect"},
      Bad{"<step s=\"0\"", "wait <step s=\"0\"", 0, "text in <tb>"},
      Bad{"</gpu>", "</gpu><tb/>", 0, "<tb> where <gpu> is expected"},
      Bad{"</algo>", "</algo><algo/>", 0, "f.xml:34:8: a second <algo>"},
      // What verify_program finds: a message too few, a deadlock, a wrong result, a race.
      Bad{"type=\"s\"", "type=\"cpy\"", 0, "f.xml: "},
      Bad{"dstoff=\"2\"", "dstoff=\"1\"", 0, "f.xml: "},
      Bad{"cnt=\"1\"", "cnt=\"2\"", 1, "f.xml"},
  };
  REQUIRE(refusal(msccl_samples::ring_all_gather).empty());
  for (const Bad& row : bad) {
    const std::string text = replaced(msccl_samples::ring_all_gather, row.what, row.by, row.n);
    INFO(row.what << " -> " << row.by);
    REQUIRE(text != msccl_samples::ring_all_gather);
    CHECK_THAT(refusal(text), ContainsSubstring(std::string(row.message)));
  }
  CHECK_THAT(refusal(""), ContainsSubstring("f.xml:1:1"));
  CHECK_THAT(message_of([] {
               static_cast<void>(read_msccl(msccl_samples::ring_all_gather, "f.xml", Bytes{2}));
             }),
             ContainsSubstring("can't be cut into 3 chunks"));
}

TEST_CASE("waits in a cycle are refused") {
  // Rank 0 and its successors receive before they send.
  std::string text(msccl_samples::ring_all_gather);
  for (int n = 0; n < 3; ++n) {
    text = replaced(text, "type=\"s\"", "type=\"X\"");
    text = replaced(text, "type=\"r\"", "type=\"s\"");
    text = replaced(text, "type=\"X\"", "type=\"r\"");
    text = replaced(text, "type=\"s\"", "type=\"Y\"");
    text = replaced(text, "type=\"r\"", "type=\"Z\"");
  }
  for (int n = 0; n < 3; ++n) {
    text = replaced(text, "type=\"Y\"", "type=\"s\"");
    text = replaced(text, "type=\"Z\"", "type=\"r\"");
  }
  CHECK_THAT(refusal(text), ContainsSubstring("f.xml: "));
  CHECK_THAT(refusal(text), ContainsSubstring("wait"));
}

TEST_CASE("steps, blocks and peers beyond the limits are refused") {
  const auto with = [](std::uint32_t MscclLimits::*limit, std::uint32_t value) {
    MscclLimits limits;
    limits.*limit = value;
    return message_of([&] {
      static_cast<void>(
          read_msccl(msccl_samples::ring_all_gather, "f.xml", whole, nullptr, limits));
    });
  };
  CHECK(with(&MscclLimits::steps, 3).empty());
  CHECK(with(&MscclLimits::steps, 2) == "f.xml:5:5: 3 steps, and MSCCL's runtimes have 2 at most");
  CHECK(with(&MscclLimits::blocks, 1) ==
        "f.xml:4:3: 2 blocks, and MSCCL's runtimes have 1 at most");
  CHECK(with(&MscclLimits::peers, 0) == "f.xml:5:5: more than 0 peers of gpu 0 on channel 0");
}

TEST_CASE("broken files are refused or read, whatever breaks") {
  Random random(7);
  std::size_t refused = 0;
  const auto attempt = [&](const std::string& text) {
    try {
      static_cast<void>(read(text));
    } catch (const InputError&) {
      ++refused;
    }
  };
  for (const std::string_view sample :
       {msccl_samples::pairs_all_reduce, msccl_samples::ring_all_gather}) {
    const std::string text(sample);
    for (std::size_t length = 0; length + 9 < text.size(); length += 3)
      attempt(text.substr(0, length));
    CHECK(refused == (text.size() - 10) / 3 + 1);
    for (int i = 0; i < 3000; ++i) {
      std::string broken = text;
      broken[random.below(broken.size())] = static_cast<char>(random.below(256));
      attempt(broken);
    }
    for (int i = 0; i < 3000; ++i) { // digits by digits: well-formed, but of another meaning
      std::string broken = text;
      std::size_t at = random.below(broken.size());
      while (at < broken.size() && (broken[at] < '0' || broken[at] > '9')) ++at;
      if (at < broken.size()) broken[at] = static_cast<char>('0' + random.below(10));
      attempt(broken);
    }
    refused = 0;
  }
}

} // namespace msccl_reader_test
