// What ASTRA-sim's system files say to do: correct in all collectives on networks of all its
// dimensions, with times and bytes worked out by hand, and what is wrong with one by its place.
#include "sim/engines/engine.hpp"
#include "sim/error.hpp"
#include "sim/files/files.hpp"
#include "sim/verify.hpp"
#include "tests/baselines.hpp"
#include "tests/catch.hpp"
#include "tests/message_of.hpp"
#include "topologies/list.hpp"

#include <fmt/format.h>

#include <string>
#include <vector>

namespace astra_system_test {

using namespace tutti;
using namespace tutti::samples;
using Catch::Matchers::EndsWith;
using Catch::Matchers::StartsWith;

namespace {

constexpr CollectiveKind astra_kinds[] = {CollectiveKind::all_gather,
                                          CollectiveKind::reduce_scatter,
                                          CollectiveKind::all_reduce, CollectiveKind::all_to_all};

struct SystemText {
  std::string implementations = "\"ring\"";
  std::string optimization = "localBWAware";
  int splits = 4, active = 1;
  std::string more = {};

  [[nodiscard]] std::string text() const {
    std::string lists;
    for (const char* name : {"all-reduce", "all-gather", "reduce-scatter", "all-to-all"})
      lists += fmt::format("\"{}-implementation\": [{}], ", name, implementations);
    return fmt::format("{{\"scheduling-policy\": \"LIFO\", {}\"collective-optimization\": \"{}\", "
                       "\"preferred-dataset-splits\": {}, \"active-chunks-per-dimension\": {}{}}}",
                       lists, optimization, splits, active, more);
  }
};

Outcome run_astra(const std::string& system, const Topology& topology, const Collective& collective,
                  const std::string& queues = "1") {
  const ScratchFolder folder;
  const std::string file = folder.path() + "/system.json";
  write_file(file, system);
  SynthesisOptions options;
  options.settings = {{"system", file}, {"queues", queues}};
  return synthesize(baseline("astra"), topology, collective, options);
}

/// Without the folder of the file.
std::string system_refusal(const std::string& system, const std::string& network = "ring:8",
                           CollectiveKind kind = CollectiveKind::all_reduce) {
  const Topology topology = make_topology(network);
  const std::string message = message_of([&] {
    (void)run_astra(system, topology, make_collective(topology, {kind, Bytes{8192}, {}, 0, 4}));
  });
  const std::size_t file = message.find("system.json");
  return file == std::string::npos ? message : message.substr(file);
}

Report astra_report(const SystemText& system, const Topology& topology,
                    const Collective& collective, const std::string& queues = "1") {
  const Outcome outcome = run_astra(system.text(), topology, collective, queues);
  INFO(outcome.note);
  REQUIRE(outcome.schedule);
  const Verdict verdict = verify(topology, collective, *outcome.schedule);
  INFO((verdict.fault ? verdict.fault->text : ""));
  CHECK(verdict.correct());
  CHECK(verdict.redundant == 0);
  return run_native(topology, collective, *outcome.schedule, {});
}

} // namespace

TEST_CASE("ASTRA-sim's collectives are correct on rings, full and switched dimensions") {
  struct Case {
    std::string network, implementations;
    bool has_all_to_all = true, has_halves = true;
  };
  for (const Case& c :
       {Case{"rfs:4x2x3", R"("ring", "direct", "ring")"},
        Case{"rfs:2x4x4", R"("direct", "ring", "direct2")"},
        Case{"rfs:4x2x8", R"("halvingDoubling", "halvingDoubling", "halvingDoubling")", false},
        Case{"rfs:4x4x2", R"("doubleBinaryTree", "ring", "doubleBinaryTree")", false, false},
        Case{"rfs:3x2x2", R"("oneRing")"}, Case{"rfs:2x2x2", R"("oneHalvingDoubling")", false},
        Case{"rfs:2x3x2", R"("oneDirect", "oneDirect")"}, Case{"torus2d:3x4", R"("ring", "ring")"},
        Case{"dgx_h100:1", R"("ring")"}, Case{"switch:8", R"("doubleBinaryTree")", false, false}}) {
    const Topology topology = make_topology(c.network);
    for (const std::string optimization : {"baseline", "localBWAware"})
      for (const CollectiveKind kind : astra_kinds) {
        if (kind == CollectiveKind::all_to_all && !c.has_all_to_all) continue;
        const bool is_one = topology.shape().size() == 1;
        if (!c.has_halves &&
            (kind != CollectiveKind::all_reduce || (optimization != "baseline" && !is_one)))
          continue;
        for (const std::uint32_t chunks : {1U, 3U}) {
          INFO(c.network << " " << c.implementations << " " << optimization << " "
                         << to_text(kind));
          (void)astra_report({c.implementations, optimization, 4, 2}, topology,
                             make_collective(topology, {kind, Bytes{10007}, {}, 0, chunks}),
                             chunks == 1 ? "1" : "3");
        }
      }
  }
  // Members that are a grid of their own.
  const Topology torus = make_topology("torus2d:4x4");
  (void)astra_report({R"("ring", "direct")"}, torus,
                     make_collective(torus, {CollectiveKind::all_reduce,
                                             Bytes{10007},
                                             {NodeId{0}, NodeId{2}, NodeId{12}, NodeId{14}}}));
}

TEST_CASE("a ring of ASTRA-sim takes the time of a ring") {
  const Topology ring = make_topology("ring:8,bandwidth=50GB/s,latency=0.5us");
  for (const CollectiveKind kind : astra_kinds) {
    INFO(to_text(kind));
    const Collective collective = make_collective(ring, {kind, Bytes{8 << 20}, {}, 0, 4});
    const auto time_of = [&](std::string_view name) {
      return run_native(ring, collective, schedule_of(name, ring, collective), {}).completion;
    };
    // As many chunks at once as there are: one queue has one direction, two have both.
    const SystemText all_at_once{"\"ring\"", "baseline", 4, 4};
    CHECK(astra_report(all_at_once, ring, collective).completion == time_of("ring1"));
    if (kind != CollectiveKind::all_to_all) // `ring` takes the shorter way
      CHECK(astra_report(all_at_once, ring, collective, "2").completion == time_of("ring"));
  }
  // One chunk at a time: the next one follows when the last has left. ASTRA-sim itself says 323,560
  // ns, with 3 latencies more and 10 ns for each end.
  const Topology sixteen = make_topology("ring:16,bandwidth=50GiB/s,latency=0.5us");
  const Collective gather =
      make_collective(sixteen, {CollectiveKind::all_gather, Bytes{16 << 20}, {}, 0, 4});
  const std::int64_t step = 4'882'813; // 256 KiB at 50 GiB/s, in ps
  CHECK(astra_report({}, sixteen, gather).completion.ps == 4 * 15 * (step + 500'000) - 3 * 500'000);
}

TEST_CASE("All-Reduce by dimensions sends what ASTRA-sim's two ways say") {
  const Topology torus = make_topology("torus2d:4x4,bandwidth=50GB/s,latency=0us");
  const Collective collective =
      make_collective(torus, {CollectiveKind::all_reduce, Bytes{1600 << 10}, {}, 0, 1});
  const auto bytes_of = [&](const std::string& optimization, int dimension) {
    const Report report = astra_report({R"("ring", "ring")", optimization, 1}, torus, collective);
    std::int64_t bytes = 0;
    for (std::uint32_t l = 0; l < torus.link_count(); ++l)
      if (torus.link(LinkId{l}).dimension == dimension) bytes += report.links[l].bytes.count;
    return bytes / 16 / 1024; // of an NPU, KiB
  };
  CHECK(bytes_of("baseline", 0) == 2 * 1200);
  CHECK(bytes_of("baseline", 1) == 2 * 1200);
  CHECK(bytes_of("localBWAware", 0) == 2 * 1200);
  CHECK(bytes_of("localBWAware", 1) == 2 * 300);
}

TEST_CASE("chunks are those of the system file where nobody says how many") {
  const Topology topology = make_topology("ring:8");
  const ScratchFolder folder;
  SystemText system;
  system.more = R"(, "endpoint-delay": 10, "local-mem-bw": 1600, "boost-mode": 0)";
  write_file(folder.path() + "/s.json", system.text());
  SynthesisOptions options;
  options.settings = {{"system", folder.path() + "/s.json"}};
  options.choose_chunks = true;
  const Collective whole =
      make_collective(topology, {CollectiveKind::all_reduce, Bytes{8192}, {}, 0, 1});
  const Outcome outcome = synthesize(baseline("astra"), topology, whole, options);
  CHECK(outcome.parts_per_chunk == 4);
  CHECK(outcome.facts.at("left_out_endpoint_delay_seconds") == Approx(1e-8));
  CHECK(outcome.facts.at("left_out_local_memory_bytes_per_second") == Approx(1.6e12));
  CHECK(verify(topology,
               make_collective(topology, {CollectiveKind::all_reduce, Bytes{8192}, {}, 0, 4}),
               *outcome.schedule)
            .correct());
}

TEST_CASE("what is wrong with a system file is named by where it is") {
  CHECK_THAT(system_refusal(SystemText{"\"rings\""}.text()),
             StartsWith("system.json:1:101: all-gather-implementation[0]: unknown implementation "
                        "\"rings\" (known: "));
  CHECK_THAT(system_refusal(SystemText{"\"direct-1\""}.text()),
             StartsWith("system.json:1:104: all-gather-implementation[0]: "));
  CHECK(system_refusal(SystemText{R"("ring", "ring")"}.text()) ==
        "system.json:1:61: all-reduce-implementation[0]: 2 implementations for the 1 dimensions of "
        "ring:8");
  CHECK(system_refusal(SystemText{R"("ring", "oneRing")"}.text(), "torus2d:4x4") ==
        "system.json:1:69: all-reduce-implementation[1]: only the first can be one of all NPUs");
  CHECK(
      system_refusal(SystemText{R"("doubleBinaryTree", "ring")"}.text(), "torus2d:4x4") ==
      "system.json:1:61: all-reduce-implementation[0]: a double binary tree has no reduce_scatter");
  CHECK(system_refusal(SystemText{"\"halvingDoubling\""}.text(), "ring:8",
                       CollectiveKind::all_to_all) ==
        "system.json:1:215: all-to-all-implementation[0]: halving and doubling has no all_to_all");
  CHECK_THAT(system_refusal(SystemText{"\"ring\"", "best"}.text()),
             StartsWith("system.json:1:218: collective-optimization: "));
  for (const char* more : {R"(, "all-gather-implementation-custom": ["a"])",
                           R"(, "per-node-custom-implementation": "a.yml")"}) {
    SystemText system;
    system.more = more;
    CHECK_THAT(system_refusal(system.text()),
               EndsWith("collectives of its users (Chakra traces) aren't read"));
  }
  SystemText system;
  system.more = R"(, "inter-dimension-scheduling": "themis")";
  CHECK_THAT(system_refusal(system.text()), StartsWith("system.json:1:299: unknown key "));
  for (const char* text : {"[]", "1", "{}", "", "{\"preferred-dataset-splits\": 0}",
                           "{\"preferred-dataset-splits\": 4, \"all-reduce-implementation\": []}"})
    CHECK_THAT(system_refusal(text), StartsWith("system.json:"));

  const Topology three = make_topology("ring:6"), none = make_topology("dragonfly:3x4");
  const auto note_on = [&](const Topology& topology, const std::string& implementation) {
    const Outcome outcome =
        run_astra(SystemText{implementation}.text(), topology,
                  make_collective(topology, {CollectiveKind::all_reduce, Bytes{8192}, {}}));
    CHECK(outcome.status == Status::unsupported);
    return outcome.note;
  };
  CHECK_THAT(note_on(three, "\"halvingDoubling\""),
             EndsWith("all-reduce-implementation[0]: halving and doubling needs a power of two of "
                      "NPUs, not 6"));
  CHECK(note_on(none, "\"ring\"") == "dragonfly:3x4 has no coordinates");
  CHECK(run_baseline("astra", three,
                     make_collective(three, {CollectiveKind::all_reduce, Bytes{8192}, {}}))
            .note == "it does what a system file of ASTRA-sim says: --set system=FILE");
}

} // namespace astra_system_test
