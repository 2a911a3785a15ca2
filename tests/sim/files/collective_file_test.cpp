// Collectives from TOML are those that make_collective() builds; errors name their place.

#include "sim/collective.hpp"
#include "sim/files/files.hpp"
#include "sim/topology.hpp"
#include "tests/catch.hpp"
#include "tests/message_of.hpp"
#include "tests/temporary_folder.hpp"

#include <string>
#include <utility>
#include <vector>

namespace tutti::collective_file_test {

namespace {

/// npu0 .. npu3 around the switch sw0.
Topology star() {
  TopologyParts parts;
  parts.name = "star";
  for (int n = 0; n < 4; ++n) parts.add_node({"npu" + std::to_string(n), NodeKind::npu, {}, {}});
  const NodeId center = parts.add_node({"sw0", NodeKind::switching, {false, true, false}, {}});
  for (std::uint32_t n = 0; n < 4; ++n)
    parts.add_duplex({NodeId{n}, center, Time{0}, Bandwidth{1}});
  return Topology(std::move(parts));
}

Collective read(const std::string& toml) {
  const TemporaryFolder folder;
  write_file(folder.file("c.toml"), toml);
  return read_collective(folder.file("c.toml"), star());
}

/// The message without the name of the folder.
std::string error(const std::string& toml) {
  const std::string message = message_of([&] { (void)read(toml); });
  return message.substr(message.rfind('/', message.find("c.toml")) + 1);
}

std::vector<std::uint32_t> values(std::span<const NodeId> nodes) {
  std::vector<std::uint32_t> list;
  for (const NodeId node : nodes) list.push_back(node.value);
  return list;
}

using List = std::vector<std::uint32_t>;

const std::string custom_head = "[[collective]]\nname = \"custom\"\n";

} // namespace

TEST_CASE("a named collective from TOML is the one that make_collective makes") {
  const Collective made =
      make_collective(star(), {CollectiveKind::all_reduce, Bytes{1 << 20}, {}, 0, 2});
  const Collective found =
      read("[[collective]]\nname = \"all_reduce\"\nsize = \"1MiB\"\nchunks_per_shard = 2\n");
  CHECK(found.fingerprint() == made.fingerprint());
  CHECK(found.name() == made.name());
}

TEST_CASE("root and group stand in the name or in keys, by number or by node name") {
  const std::uint64_t expected =
      make_collective(
          star(), {CollectiveKind::scatter, Bytes{300}, {NodeId{3}, NodeId{1}, NodeId{2}}, 1, 1})
          .fingerprint();
  const std::string size = "size = \"300B\"\n";
  const std::string head = "[[collective]]\n" + size;
  CHECK(read(head + "name = \"scatter,root=1,group=3+1-2\"\n").fingerprint() == expected);
  CHECK(read(head + "name = \"scatter\"\nroot = 1\ngroup = \"3+1-2\"\n").fingerprint() == expected);
  CHECK(read(head + "name = \"scatter\"\nroot = \"npu1\"\ngroup = [3, \"npu1\", 2]\n")
            .fingerprint() == expected);
}

TEST_CASE("a root without a group counts among all NPUs") {
  const Collective found =
      read("[[collective]]\nname = \"broadcast\"\nsize = \"8B\"\nroot = \"npu2\"\n");
  CHECK(values(found.sources(ChunkId{0})) == List{2});
  CHECK(values(found.destinations(ChunkId{0})) == List{0, 1, 2, 3});
}

TEST_CASE("a custom collective says chunk by chunk who holds and who wants") {
  const Collective found = read(custom_head + R"(
[[collective.chunks]]
size = "1MiB"
sources = [0, "npu1"]
destinations = [2]
reduces = true
[[collective.chunks]]
size = "7B"
sources = [2]
destinations = "0-2"
)");
  REQUIRE(found.chunks.size() == 2);
  CHECK(found.chunks[0].size == Bytes{1 << 20});
  CHECK(values(found.sources(ChunkId{0})) == List{0, 1});
  CHECK(values(found.destinations(ChunkId{0})) == List{2});
  CHECK(found.chunks[0].reduces);
  CHECK(found.chunks[1].size == Bytes{7});
  CHECK(values(found.sources(ChunkId{1})) == List{2});
  CHECK(values(found.destinations(ChunkId{1})) == List{0, 1, 2});
  CHECK_FALSE(found.chunks[1].reduces);
  CHECK(found.chunks[0].destinations == found.chunks[1].sources); // equal sets are stored once

  REQUIRE(found.parts.size() == 1);
  CHECK(found.parts[0].kind == CollectiveKind::custom);
  CHECK(found.parts[0].size == Bytes{(1 << 20) + 7});
  CHECK(values(found.parts[0].group) == List{0, 1, 2});
  CHECK(found.parts[0].chunk_count == 2);
}

TEST_CASE("several entries are several collectives at once") {
  const Collective found = read(R"(
[[collective]]
name = "all_gather,group=0-1"
size = "2B"
[[collective]]
name = "custom"
[[collective.chunks]]
size = "5B"
sources = [3]
destinations = [2]
)");
  REQUIRE(found.parts.size() == 2);
  CHECK(found.parts[1].first == ChunkId{2}); // after the two shards of the All-Gather
  REQUIRE(found.chunks.size() == 3);
  CHECK(values(found.destinations(ChunkId{1})) == List{0, 1});
  CHECK(values(found.sources(ChunkId{2})) == List{3});
  CHECK(found.size() == Bytes{7});
}

TEST_CASE("what is wrong with a collective file is said with its place") {
  const std::string named = "[[collective]]\nname = \"broadcast\"\nsize = \"8B\"\n";
  const std::string chunk = custom_head + "[[collective.chunks]]\nsize = \"8B\"\n";

  SECTION("the file") {
    CHECK_THAT(message_of([] { (void)read_collective("no/such.toml", star()); }),
               ContainsSubstring("no/such.toml: cannot read: No such file"));
    CHECK_THAT(error("[[collective]\n"), ContainsSubstring("c.toml:1:"));
    CHECK(error("") == "c.toml:1:1: no [[collective]] entry");
    CHECK(error("[[colective]]\n") ==
          "c.toml:1:3: unknown key \"colective\" (known: collective; did "
          "you mean \"collective\"?)");
    CHECK_THAT(error("collective = 3\n"), ContainsSubstring("c.toml:1:14: expected a table"));
  }
  SECTION("the name") {
    CHECK_THAT(error("[[collective]]\nsize = \"8B\"\n"), ContainsSubstring("needs a key \"name\""));
    CHECK(error("[[collective]]\nname = 3\n") ==
          "c.toml:2:8: expected a string, found the integer 3");
    CHECK_THAT(error("[[collective]]\nname = \"broadcats\"\n"),
               ContainsSubstring("c.toml:2:8: unknown collective \"broadcats\"") &&
                   ContainsSubstring("did you mean \"broadcast\"?"));
  }
  SECTION("names of earlier versions") {
    CHECK_THAT(error("[[collective]]\nname = \"all_gather\"\nsize = \"1kB\"\npieces = 2\n"),
               ContainsSubstring("c.toml:4:10: \"pieces\" is called \"chunks_per_shard\" now"));
    CHECK_THAT(error(custom_head + "[[collective.chunks]]\nsize = \"1B\"\nheld_by = [0]\n"),
               ContainsSubstring("\"held_by\" is called \"sources\" now"));
  }
  SECTION("size and chunks_per_shard") {
    CHECK_THAT(error("[[collective]]\nname = \"reduce\"\n"),
               ContainsSubstring("needs a key \"size\""));
    CHECK_THAT(error("[[collective]]\nname = \"reduce\"\nsize = \"8\"\n"),
               ContainsSubstring("c.toml:3:8: ") && ContainsSubstring("unit"));
    CHECK(error(named + "chunks_per_shard = 0\n") ==
          "c.toml:4:20: 0 is out of range (1 .. 2147483647)");
    CHECK(error(named + "chunks_per_shard = 9\n") ==
          "c.toml:2:8: 8B can't be cut into 9 chunks of at least one byte");
    // 2^31 - 1 chunks of 24 bytes would be 48 GiB: refused before anything is allocated.
    CHECK(error("[[collective]]\nname = \"broadcast\"\nsize = \"9TB\"\nchunks_per_shard = "
                "2147483647\n") ==
          "c.toml:2:8: 2147483647 chunks are too many (at most 268435456 here)");
    // Three times 4 * 10^18 bytes.
    const std::string huge = "[[collective]]\nname = \"broadcast\"\nsize = \"4000000TB\"\n";
    CHECK(error(huge + huge + huge) == "c.toml:8:8: the sizes add up to more than 2^63 - 1 bytes");
  }
  SECTION("root and group") {
    CHECK(error(named + "root = 4\n") == "c.toml:4:8: 4 is out of range (0 .. 3)");
    CHECK(error(named + "root = \"npu9\"\n") ==
          "c.toml:4:8: unknown node \"npu9\" (known: npu0, npu1, npu2, npu3, sw0; did you mean "
          "\"npu0\"?)");
    CHECK(error(named + "root = \"sw0\"\n") == "c.toml:4:8: node \"sw0\" is not an NPU");
    CHECK(error(named + "group = [1, 2]\nroot = 0\n") ==
          "c.toml:5:8: the root is not in the group");
    CHECK(error(named + "group = []\n") == "c.toml:4:9: the list is empty");
    CHECK(error(named + "group = \"2-1\"\n") == "c.toml:4:9: NPU range \"2-1\" runs backwards");
    CHECK_THAT(error(named + "group = [1]\n"),
               ContainsSubstring("c.toml:2:8: a collective over one NPU has nothing to do"));
    CHECK(error(named + "group = [1, 2.5]\n") ==
          "c.toml:4:13: expected a string, found the number 2.5");
    CHECK(error("[[collective]]\nname = \"broadcast,root=1\"\nsize = \"8B\"\ngroup = [0, 1]\n") ==
          "c.toml:4:9: root and group stand either in the name or in keys of their own");
    CHECK_THAT(error("[[collective]]\nname = \"all_reduce\"\nsize = \"8B\"\nroot = 0\n"),
               ContainsSubstring("c.toml:4:1: unknown key \"root\""));
  }
  SECTION("custom chunks") {
    CHECK(error(custom_head) == "c.toml:2:8: a custom collective needs at least one chunk");
    CHECK_THAT(error(custom_head + "size = \"8B\"\n[[collective.chunks]]\nsize = \"8B\"\n"
                                   "sources = [0]\ndestinations = [1]\n"),
               ContainsSubstring("c.toml:3:1: unknown key \"size\""));
    CHECK_THAT(error(custom_head + "[[collective.chunks]]\nsources = [0]\n"),
               ContainsSubstring("needs a key \"size\""));
    CHECK_THAT(error(chunk + "destinations = [0]\n"), ContainsSubstring("needs a key \"sources\""));
    CHECK_THAT(error(chunk + "sources = [0]\n"), ContainsSubstring("needs a key \"destinations\""));
    CHECK(error(chunk + "sources = []\ndestinations = [1]\n") == "c.toml:5:11: the list is empty");
    CHECK(error(chunk + "sources = [0]\ndestinations = [1, \"npu1\"]\n") ==
          "c.toml:6:16: node \"npu1\" is named twice");
    CHECK(error(chunk + "sources = [\"sw0\"]\ndestinations = [1]\n") ==
          "c.toml:5:12: node \"sw0\" is not an NPU");
    CHECK(error(chunk + "sources = \"4\"\ndestinations = [1]\n") ==
          "c.toml:5:11: there is no NPU 4 (the topology has 4)");
    CHECK(error(chunk + "sources = [0]\ndestinations = [1]\nreduces = 1\n") ==
          "c.toml:7:11: expected true or false, found the integer 1");
    CHECK_THAT(error(chunk + "sources = [0]\ndestinations = [1]\nreduce = true\n"),
               ContainsSubstring("c.toml:7:1: unknown key \"reduce\"") &&
                   ContainsSubstring("did you mean \"reduces\"?"));
    CHECK(error(chunk + "sources = [0]\ndestinations = [0]\n") ==
          "c.toml:2:8: a collective over one NPU has nothing to do (custom over npu0)");
    CHECK(error(custom_head +
                "[[collective.chunks]]\nsize = \"0B\"\nsources = [0]\ndestinations = [1]\n") ==
          "c.toml:4:8: a chunk has at least one byte");
  }
}

} // namespace tutti::collective_file_test
