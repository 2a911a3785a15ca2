// Sketches as text: Tutti's TOML, TACCL's JSON, and what is wrong with either.
#include "synth/taccl/sketch.hpp"
#include "tests/catch.hpp"
#include "tests/message_of.hpp"
#include "tests/paths.hpp"
#include "topologies/list.hpp"

#include <filesystem>
#include <fmt/format.h>
#include <string>

namespace sketch_test {

using namespace tutti;

namespace {

constexpr const char* relay_json = R"({
  "nnodes": 2,
  "intranode_sketch": {"strategy": "switch", "switches": [[0, 1, 2, 3]],
                       "switch_hyperedge_strategy": ["uc-min"]},
  "internode_sketch": {"strategy": "relay", "internode_conn": {"1": [0], "3": [2]},
                       "gpus_to_sender_rev_map": {"1": [0, 1], "3": [2, 3]},
                       "enforce_ordering": true},
  "symmetry_offsets": [[2, 4], [4, 8]],
  "hyperparameters": {"input_chunkup": 2}
})";

constexpr const char* relay_toml = R"(name = "relay"
machines = 2
partitions = 2
symmetry = [[2, 4], [4, 8]]

[[inside.switches]]
npus = [0, 1, 2, 3]
policy = "uc-min"

[between]
connections = { 1 = [0], 3 = [2] }
leaves_through = { 1 = [0, 1], 3 = [2, 3] }
own_chunks_first = true
)";

/// All that a sketch says, but for its name and places.
std::string said(Sketch sketch) {
  sketch.name = "";
  return sketch_toml(sketch, "");
}

std::string refusal(const std::string& text) {
  return message_of([&] { (void)parse_sketch(text, "s"); });
}

/// relay_toml, changed.
std::string with(const std::string& before, const std::string& after) {
  std::string text = relay_toml;
  const std::size_t at = text.find(before);
  REQUIRE(at != std::string::npos);
  return text.replace(at, before.size(), after);
}

std::string changed_json(const std::string& before, const std::string& after) {
  std::string text = relay_json;
  const std::size_t at = text.find(before);
  REQUIRE(at != std::string::npos);
  return text.replace(at, before.size(), after);
}

} // namespace

TEST_CASE("sketch: TACCL's JSON and our TOML say the same") {
  const Sketch json = parse_sketch(relay_json, "folder/relay.json");
  const Sketch toml = parse_sketch(relay_toml, "other.toml");
  CHECK(json.name == "relay");
  CHECK(toml.name == "relay");
  CHECK(said(json) == said(toml));
  CHECK(json.machines == 2);
  CHECK(json.partitions == 2);
  REQUIRE(json.hyperedges.size() == 1);
  CHECK(json.hyperedges[0].policy == ConnectionPolicy::uc_min);
  CHECK(json.connections.at(3) == std::vector<LocalRank>{2});
  CHECK(json.leaves_through.at(1) == std::vector<LocalRank>{0, 1});
  CHECK(json.own_chunks_first);
  REQUIRE(json.symmetry.size() == 2);
  CHECK(json.symmetry[1].offset == 4);
  CHECK(json.symmetry[1].size == 8);
}

TEST_CASE("sketch: what is written is read back as the same") {
  for (const std::string& text : {
           std::string(relay_json),
           with("symmetry = [[2, 4], [4, 8]]", "symmetry = \"auto\"\nchunk = \"2MiB\""),
           with("connections = { 1 = [0], 3 = [2] }",
                "connections = { 1 = [0, 2], 3 = [2, 0] }\nbeta_split = 1.5"),
           std::string("machines = 2\n[inside]\nlinks = [[0, 1], [1, 0]]\nbalance = \"minmax\"\n"
                       "[between]\nconnections = \"direct\"\n"),
           std::string("machines = 3\n[between]\nconnections = \"full\"\n"),
           std::string("name = \"\\\"quoted\\\"\"\n"),
       }) {
    const Sketch sketch = parse_sketch(text, "s");
    CHECK(said(parse_sketch(sketch_toml(sketch, "a note\nof two lines"), "s")) == said(sketch));
  }
}

TEST_CASE("sketch: listing 1 of the paper, with its comments") {
  const Sketch sketch = parse_sketch(R"({
    // two DGX-2
    "nnodes": 2,
    "intranode_sketch": {"strategy": "switch", "switches": [[0, 1, 2, 3]],
                         "switch_hyperedge_strategy": ["uc-min"]},
    "internode_sketch": {"strategy": "relay", "internode_conn": {"1": [0], "3": [2]},
                         "beta_split": {"1": 1, "3": 1}, "chunk_to_relay_map": [2, 1]},
    "symmetry_offsets": [[2, 4], [4, 8]],
    "hyperparameters": {"input_chunkup": 2, "input_size": "1M"}
  })",
                                     "listing");
  CHECK(sketch.beta_split == 1.0);
  // (p div 2) * 2 + 1: the chunks of 0 and 1 leave through 1.
  CHECK(sketch.leaves_through.at(1) == std::vector<LocalRank>{0, 1});
  CHECK(sketch.leaves_through.at(3) == std::vector<LocalRank>{2, 3});
  CHECK(sketch.chunk == Bytes{std::int64_t{1} << 19}); // 1 MiB in two chunks
}

TEST_CASE("sketch: all of TACCL's published sketches") {
  const std::filesystem::path folder =
      std::filesystem::path(TUTTI_SOURCE_DIR).parent_path() / "shared/data/taccl";
  if (!std::filesystem::exists(folder)) {
    WARN("no published sketches beside the repository");
    return;
  }
  struct Published {
    const char* file;
    std::uint32_t machines, partitions, npus;
    Sketch::Between between;
  };
  for (const Published& p : {
           Published{"sk-dgx2-n1", 1, 2, 16, Sketch::Between::nothing},
           Published{"sk1-dgx2-n1", 1, 1, 16, Sketch::Between::nothing},
           Published{"sk1-dgx2-n2", 2, 2, 32, Sketch::Between::mapped},
           Published{"sk2-dgx2-n2", 2, 1, 32, Sketch::Between::direct},
           Published{"sk1-ndv2-n1", 1, 1, 8, Sketch::Between::nothing},
           Published{"sk1-ndv2-n2", 2, 1, 16, Sketch::Between::mapped},
           Published{"sk1-ndv2-n4", 4, 1, 32, Sketch::Between::mapped},
           Published{"sk2-ndv2-n2", 2, 1, 16, Sketch::Between::full},
           Published{"sk3-ndv2-n2", 2, 1, 16, Sketch::Between::direct},
       }) {
    INFO(p.file);
    const Sketch sketch = read_sketch((folder / p.file).string() + ".json");
    CHECK(sketch.name == p.file);
    CHECK(sketch.machines == p.machines);
    CHECK(sketch.partitions == p.partitions);
    CHECK(sketch.between == p.between);
    const std::string machine = p.npus % 16 == 0 && sketch.hyperedges.size() == 1
                                    ? fmt::format("switch:{}", p.npus)
                                    : fmt::format("fully_connected:{}", p.npus);
    CHECK(message_of([&] { require_fitting(sketch, make_topology(machine)); }).empty());
  }
}

TEST_CASE("sketch: two shapes of published files that stand here") {
  // As sk-ndv2-n1-cUp6 and sk2-ndv2-n4 of the public repository.
  const Sketch one = parse_sketch(R"({"nnodes": 1, "intranode_sketch": {"strategy": "none"},
    "symmetry_offsets": [], "hyperparameters": {"input_chunkup": 6}})",
                                  "one");
  CHECK(one.partitions == 6);
  CHECK(one.between == Sketch::Between::nothing);
  const Sketch four = parse_sketch(R"({"nnodes": 4, "intranode_sketch": {"strategy": "none"},
    "internode_sketch": {"strategy": "relay", "internode_conn": "fully-connected"},
    "symmetry_offsets": [[8, 32]], "hyperparameters": {"input_chunkup": 1}})",
                                   "four");
  CHECK(four.between == Sketch::Between::full);
  CHECK(four.symmetry.at(0).size == 32);
}

TEST_CASE("sketch: what is wrong is named with its place") {
  CHECK(refusal(with("machines", "machine")) ==
        "s:2:1: unknown key \"machine\" (known: name, machines, partitions, chunk, symmetry, "
        "inside, between; did you mean \"machines\"?)");
  CHECK(refusal(with("\"uc-min\"", "\"uc-mni\"")) ==
        "s:8:10: unknown policy \"uc-mni\" (known: freeconn, uc-max, uc-min; did you mean "
        "\"uc-max\"?)");
  CHECK(refusal(with("[between]", "[[inside.switches]]\nnpus = [3, 4]\n[between]")) ==
        "s:11:8: switches overlap in NPU 3: [0, 1, 2, 3] and [3, 4]; switches are the same NPUs "
        "(parallel ones) or disjoint");
  CHECK(refusal(with("3 = [2] }\nleaves", "3 = [2, 0] }\nleaves")) ==
        "s:11:15: all senders need equally many receivers: NPU 1 has 1, NPU 3 has 2");
  CHECK(refusal(with("leaves_through = { 1", "leaves_through = { 2")) ==
        "s:12:18: NPU 2 is no sender (senders: 1, 3)");
  CHECK(refusal(with("[2, 4]", "[4, 4]")) ==
        "s:4:13: a rotation by 4 of 4 ranks isn't one: it needs an offset from 1 to 3");
  CHECK(refusal("machines = 2") == "s:1:12: 2 machines need connections between them");
  CHECK(refusal("[between]\nconnections = \"full\"") ==
        "s:1:1: one machine has no others to connect with");
  CHECK(refusal(with("3 = [2] }\nleaves", "3 = [] }\nleaves")) == "s:11:15: NPU 3 sends to nobody");
  CHECK(refusal("machines = 2\n[between]\nconnections = \"full\"\nleaves_through = {}") ==
        "s:4:18: it names no sender: without it, chunks leave through anyone");
  CHECK(refusal("machines = 0") == "s:1:12: 0 is out of range (1 .. 4096)");

  CHECK(refusal(changed_json("\"nnodes\"", "\"nodes\"")) ==
        "s:2:3: unknown key \"nodes\" (known: nnodes, intranode_sketch, internode_sketch, "
        "symmetry_offsets, hyperparameters; did you mean \"nnodes\"?)");
  CHECK(refusal(changed_json("\"3\": [2]}", "\"3\": [2], \"x\": [1]}")) ==
        "s:5:89: internode_sketch.internode_conn.x: \"x\" is no NPU's rank");
  CHECK(refusal(changed_json("\"relay\"", "\"ring\"")) ==
        "s:5:36: internode_sketch.strategy: unknown strategy \"ring\" (known: relay)");
  CHECK(refusal(changed_json("\"nnodes\": 2", "\"nnodes\": 2, \"nnodes\": 3")) ==
        "s:2:16: the key \"nnodes\" stands twice");
  CHECK(refusal(changed_json("\"nnodes\": 2,", "\"nnodes\": 2.5,")) ==
        "s:2:13: nnodes: expected a whole number, found number");
  CHECK(refusal(
            changed_json("\"internode_conn\"", "\"beta_split\": {\"0\": 2}, \"internode_conn\"")) ==
        "s:5:65: internode_sketch.beta_split.0: NPU 0 is no sender");
  // A mark of UTF-8 and comments don't hide what it is.
  CHECK(parse_sketch("\xEF\xBB\xBF" + changed_json("relay", "relay"), "s").machines == 2);
  CHECK(parse_sketch("// TACCL\n" + changed_json("relay", "relay"), "s").machines == 2);
  CHECK(refusal("{\"nnodes\": 2,\n  oops}").starts_with("s:2:3: malformed JSON: "));
  CHECK(refusal(changed_json("[[0, 1, 2, 3]]", "[[0, 1, 1, 3]]")) ==
        "s:3:59: intranode_sketch.switches[0]: a switch names NPU 1 twice");
}

TEST_CASE("sketch: another machine is refused") {
  const Sketch sketch = parse_sketch(relay_toml, "s");
  CHECK(message_of([&] { require_fitting(sketch, make_topology("switch:9")); }) ==
        "s:2:12: 9 NPUs of switch:9 aren't 2 equal machines");
  CHECK(message_of([&] { require_fitting(sketch, make_topology("switch:6")); }) ==
        "s:7:8: a switch names NPU 3, but a machine has NPUs 0 to 2");
  CHECK(message_of([&] { require_fitting(sketch, make_topology("switch:12")); }) ==
        "s:4:21: 12 NPUs of switch:12 don't divide into groups of 8");
}

} // namespace sketch_test
