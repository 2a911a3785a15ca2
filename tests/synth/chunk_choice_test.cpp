// The rule for chunks per shard, with every algorithm of both lists.
#include "synth/chunk_choice.hpp"

#include "algorithms/list.hpp"
#include "sim/engines/engine.hpp"
#include "sim/error.hpp"
#include "sim/random.hpp"
#include "sim/verify.hpp"
#include "synth/list.hpp"
#include "tests/catch.hpp"
#include "tests/one_in.hpp"
#include "tests/pick.hpp"
#include "topologies/list.hpp"

#include <atomic>
#include <map>

namespace chunk_choice_test {

using namespace tutti;
using testing::OneIn;
using testing::pick;

namespace {

CollectiveSpec spec_of(CollectiveKind kind, std::int64_t size) {
  CollectiveSpec spec;
  spec.kind = kind;
  spec.size = Bytes{size};
  return spec;
}

CollectiveMaker maker(const Topology& topology, CollectiveSpec spec) {
  return [&topology, spec](std::uint32_t chunks_per_shard) mutable {
    spec.chunks_per_shard = chunks_per_shard;
    return make_collective(topology, spec);
  };
}

std::vector<AlgorithmRow> all_rows() {
  std::vector<AlgorithmRow> rows(baseline_algorithms().begin(), baseline_algorithms().end());
  rows.insert(rows.end(), synthesizers().begin(), synthesizers().end());
  return rows;
}

const AlgorithmRow& row_named(const std::vector<AlgorithmRow>& rows, std::string_view name) {
  for (const AlgorithmRow& row : rows)
    if (row.name == name) return row;
  throw InputError("no such row");
}

Time time_of(const Topology& topology, const Collective& collective, const Outcome& outcome,
             const TimeModel& model) {
  return outcome.schedule
             ? run_native(topology, collective, *outcome.schedule, model).completion
             : run_native_compact(topology, collective, *outcome.compact, model).completion;
}

/// One in `step` of all combinations.
void check_repeats(std::uint32_t step) {
  OneIn is_due(step);
  const std::vector<AlgorithmRow> rows = all_rows();
  for (const char* network : {"mesh2d:2x3,bandwidth=10GB/s,latency=2us", "dgx1",
                              "ring:5,bandwidth=1GB/s,latency=100ns"}) {
    const Topology topology = make_topology(network);
    for (const CollectiveKind kind : {CollectiveKind::all_reduce, CollectiveKind::broadcast,
                                      CollectiveKind::all_gather, CollectiveKind::all_to_all})
      for (const std::int64_t size : {std::int64_t{300}, std::int64_t{3'000'000}})
        for (const LinkBusy busy : {LinkBusy::serialization, LinkBusy::latency_and_serialization})
          for (const AlgorithmRow& row : rows) {
            if (row.name == "sccl" || row.name == "teccl") continue; // solvers: seconds
            if (!is_due()) continue;
            CAPTURE(network, to_text(kind), size, row.name);
            const CollectiveMaker make = maker(topology, spec_of(kind, size));
            SynthesisOptions options;
            options.model.link_busy = busy;
            std::optional<Collective> one;
            try {
              one = make(row.chunk_multiple);
            } catch (const InputError&) {
              continue; // too fine for the algorithm's own chunks
            }
            const Outcome alone = synthesize(row, topology, *one, options);
            if (!alone.schedule && !alone.compact) continue;
            const ChunkedOutcome chosen = synthesize_in_chunks(row, topology, make, options);
            const ChunkedOutcome again = synthesize_in_chunks(row, topology, make, options);
            REQUIRE((chosen.outcome.schedule || chosen.outcome.compact));
            CHECK(chosen.chunks <= most_chosen_chunks);
            CHECK(chosen.chunks == again.chunks);
            if (chosen.outcome.schedule)
              CHECK(verify(topology, chosen.collective, *chosen.outcome.schedule).correct());
            // These cut as others do, or as a sketch says, faster or not.
            if (row.imitates || row.name == "taccl_paper") continue;
            CHECK(time_of(topology, chosen.collective, chosen.outcome, options.model) <=
                  time_of(topology, *one, alone, options.model));
          }
  }
}

} // namespace

TEST_CASE("candidates are powers of two, three times these, and multiples of the dimensions") {
  const std::vector<std::uint32_t> plain{2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64};
  for (const std::size_t dimensions : {0U, 1U, 2U, 3U, 4U, 6U})
    CHECK(chunk_candidates(dimensions) == plain);
  CHECK(chunk_candidates(5) ==
        std::vector<std::uint32_t>{2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 40, 48, 64});
}

TEST_CASE("the choice is never slower than one chunk, within the counted transfers, and repeats",
          "[heavy]") {
  check_repeats(7);
}

TEST_CASE("the choice is never slower than one chunk for any algorithm", "[slow]") {
  check_repeats(1);
}

TEST_CASE("tries are counted before they are made") {
  // Direct All-Gather on 4 NPUs: 12 transfers for each chunk of a shard.
  const Topology topology = make_topology("mesh2d:1x4,bandwidth=1GB/s,latency=0s");
  const std::vector<AlgorithmRow> rows = all_rows();
  const AlgorithmRow& direct = row_named(rows, "direct");
  const CollectiveMaker cut = maker(topology, spec_of(CollectiveKind::all_gather, 4'000'000));
  const auto tried_after = [&](std::uint64_t before) {
    std::vector<std::uint32_t> tried;
    std::map<std::uint32_t, std::pair<Collective, Schedule>> made;
    std::uint64_t transfers = 0;
    const ChunkChoice choice = choose_chunks(
        topology, {}, cut,
        [&](std::uint32_t chunks) -> std::optional<ChunkedSchedule> {
          tried.push_back(chunks);
          Collective whole = cut(chunks);
          Outcome outcome = synthesize(direct, topology, whole, {});
          transfers += outcome.schedule->size();
          const auto& kept =
              made.emplace(chunks, std::pair{std::move(whole), std::move(*outcome.schedule)})
                  .first->second;
          return ChunkedSchedule{&kept.first, &kept.second, nullptr};
        },
        before);
    CHECK(choice.tried_transfers == transfers);
    CHECK((tried.size() == 1 || before + transfers <= most_tried_transfers));
    CHECK((choice.left_out == 0) == (before == 0));
    if (before > 0) CHECK(choice.left_out == tried.size() + 1);
    return tried;
  };
  const auto all = tried_after(0);
  CHECK(all.size() > 1);
  CHECK(tried_after(most_tried_transfers - 35) == std::vector<std::uint32_t>{1});
  CHECK(tried_after(most_tried_transfers - 36) == std::vector<std::uint32_t>{1, 2});
}

TEST_CASE("a choice of chunks that a limit ends says so, whenever that is") {
  const std::vector<AlgorithmRow> rows = all_rows();
  const Topology topology = make_topology("mesh2d:1x4,bandwidth=1GB/s,latency=1us");
  for (const char* name : {"direct", "tacos", "ring", "flows"})
    for (const CollectiveKind kind : {CollectiveKind::broadcast, CollectiveKind::all_gather}) {
      const AlgorithmRow& row = row_named(rows, name);
      const CollectiveMaker make = maker(topology, spec_of(kind, 4'000'000));
      const ChunkedOutcome free = synthesize_in_chunks(row, topology, make, {});
      if (!free.outcome.schedule && !free.outcome.compact) continue;
      CAPTURE(name, to_text(kind), free.chunks);
      std::size_t marked = 0;
      bool is_over = false;
      for (int allowed = 0; !is_over; allowed += 1 + allowed / 8) {
        SynthesisOptions options;
        std::atomic<int> asked = 0;
        options.cancelled = [&asked, allowed] { return asked++ >= allowed; };
        const ChunkedOutcome made = synthesize_in_chunks(row, topology, make, options);
        is_over = asked <= allowed; // nothing was cut
        const Outcome& outcome = made.outcome;
        if (!outcome.schedule && !outcome.compact) continue;
        const bool says =
            outcome.note.find("the choice of chunks was cut short") != std::string::npos;
        CAPTURE(allowed, made.chunks);
        if (says) CHECK(outcome.status == Status::timed_out);
        if (outcome.status != Status::timed_out) CHECK(made.chunks == free.chunks);
        if (is_over) CHECK_FALSE(says);
        marked += says ? 1 : 0;
      }
      if (free.chunks > 1) CHECK(marked > 0);
    }
}

TEST_CASE("where pipelining can win it does, and where it can't nothing is tried") {
  const std::vector<AlgorithmRow> rows = all_rows();
  const auto chosen = [&](const char* network, const char* collective, const char* size,
                          const char* name) {
    const Topology topology = make_topology(network);
    CollectiveSpec spec = parse_collective(collective);
    spec.size = parse_bytes(size);
    const ChunkedOutcome made =
        synthesize_in_chunks(row_named(rows, name), topology, maker(topology, spec), {});
    return std::pair{made.chunks,
                     time_of(topology, made.collective, made.outcome, TimeModel{}).seconds()};
  };
  // one chunk a shard: 9.24 and 7.06 ms
  CHECK(chosen("mi250x_x2", "all_gather", "1GiB", "tree_packing").second < 3.6e-3);
  CHECK(chosen("mi250x_x2", "all_gather", "1GiB", "flows").second < 3.4e-3);
  // 257 us with one chunk, 166.8 with two, 166.2 with 64
  CHECK(chosen("torus2d:8x8", "all_reduce", "8MiB", "ring").first == 2);
  // the busiest link never pauses
  CHECK(chosen("mesh2d:16x16", "all_gather", "1GiB", "tacos").first == 1);
  // latencies alone
  CHECK(chosen("torus2d:4x4", "all_gather", "1KiB", "direct").first == 1);
}

namespace {

struct RandomCase {
  std::string network, algorithm;
  CollectiveSpec spec;
  LinkBusy busy = LinkBusy::serialization;
};

/// Of 8 to 256 NPUs; `small`: to 16, since TACCL in 64 chunks takes minutes on more.
std::string random_network(Random& random, bool small) {
  static const std::vector<std::string> small_ones{
      "ring:8",        "ring:13",     "mesh2d:3x3", "mesh2d:2x6",        "torus2d:4x4",
      "torus3d:2x2x3", "hypercube:4", "switch:8",   "fully_connected:8", "fully_connected:12",
      "mesh3d:2x3x2"};
  static const std::vector<std::string> large_ones{
      "ring:32",      "ring:128",     "mesh2d:5x7",    "mesh2d:8x8",    "mesh2d:16x16",
      "torus2d:6x10", "torus2d:8x16", "torus3d:3x4x5", "torus3d:4x8x8", "mesh3d:4x4x4",
      "hypercube:5",  "hypercube:7",  "switch:24",     "switch:64",     "fully_connected:48"};
  static const std::vector<std::string> small_machines{"dgx1", "dgx2", "dgx_h100:1",
                                                       "taccl_ndv2:2"};
  static const std::vector<std::string> large_machines{"dgx_h100:4", "dgx_a100_rail:4", "mi300x:4",
                                                       "dgx_h100:8,nvls=off", "dgx2x2"};
  static const std::vector<std::string> bandwidths{"10GB/s", "25GB/s", "100GB/s", "400GB/s"};
  static const std::vector<std::string> latencies{"100ns", "500ns", "3us", "20us"};
  if (random.below(4) == 0) return pick(random, small ? small_machines : large_machines);
  return pick(random, small ? small_ones : large_ones) + ",bandwidth=" + pick(random, bandwidths) +
         ",latency=" + pick(random, latencies);
}

RandomCase random_case(const std::vector<AlgorithmRow>& rows, std::uint64_t seed, bool small) {
  static const std::vector<std::string> algorithms{"tacos", "taccl", "themis", "multitree"};
  Random random(seed);
  RandomCase drawn;
  drawn.algorithm = algorithms[seed % algorithms.size()];
  drawn.network = random_network(random, small || drawn.algorithm == "taccl" || seed % 8 < 4);
  const AlgorithmRow& row = row_named(rows, drawn.algorithm);
  do {
    drawn.spec.kind = pick(random, row.collectives);
  } while (drawn.spec.kind == CollectiveKind::custom); // which files cut
  constexpr std::uint64_t least = 10, sizes = 21;      // 1 KiB to 2 GiB
  const std::int64_t size = std::int64_t{1} << (least + random.below(sizes));
  drawn.spec.size = Bytes{size + static_cast<std::int64_t>(random.below(3)) * size / 3};
  if (random.below(4) == 0) drawn.busy = LinkBusy::latency_and_serialization;
  return drawn;
}

/// How many times as long as the best of all candidates the choice takes; nothing where there is no
/// schedule. Looks at its work, too.
std::optional<double> times_the_best(const std::vector<AlgorithmRow>& rows,
                                     const RandomCase& drawn) {
  const AlgorithmRow& row = row_named(rows, drawn.algorithm);
  const Topology topology = make_topology(drawn.network);
  const CollectiveMaker make = maker(topology, drawn.spec);
  SynthesisOptions options;
  options.model.link_busy = drawn.busy;
  const ChunkedOutcome chosen = synthesize_in_chunks(row, topology, make, options);
  if (!chosen.outcome.schedule && !chosen.outcome.compact) return std::nullopt;
  CHECK(chosen.chunks == synthesize_in_chunks(row, topology, make, options).chunks);
  if (chosen.outcome.schedule)
    CHECK(verify(topology, chosen.collective, *chosen.outcome.schedule).correct());
  const Time time = time_of(topology, chosen.collective, chosen.outcome, options.model);
  std::optional<Time> best;
  std::uint64_t finest = 0; // transfers of the finest candidate
  for (const std::uint32_t chunks : {1U, 2U, 3U, 4U, 6U, 8U, 12U, 16U, 24U, 32U, 48U, 64U}) {
    std::optional<Collective> collective;
    try {
      collective = make(chunks * row.chunk_multiple);
    } catch (const InputError&) {
      break; // too fine
    }
    const Outcome outcome = synthesize(row, topology, *collective, options);
    REQUIRE((outcome.schedule || outcome.compact));
    finest = outcome.schedule ? outcome.schedule->size() : outcome.compact->size();
    const Time its = time_of(topology, *collective, outcome, options.model);
    best = best ? std::min(*best, its) : its;
  }
  CHECK(chosen.tried_transfers <= 4 * finest);
  return static_cast<double>(time.ps) / static_cast<double>(best->ps);
}

/// `first` .. `first` + `count` - 1 are the seeds.
void check_choices(std::uint64_t first, int count, bool small) {
  const std::vector<AlgorithmRow> rows = all_rows();
  int cases = 0, off = 0;
  for (std::uint64_t seed = first; cases < count; ++seed) {
    const RandomCase drawn = random_case(rows, seed, small);
    CAPTURE(seed, drawn.network, drawn.algorithm, to_text(drawn.spec.kind), drawn.spec.size.count);
    const std::optional<double> times = times_the_best(rows, drawn);
    if (!times) continue;
    ++cases;
    CHECK(*times <= 1.15);
    off += *times > 1.05 ? 1 : 0;
  }
  CHECK(off * 20 <= count); // 5 %
}

} // namespace

TEST_CASE("the choice is as fast as the best candidate, at four times the work of the finest",
          "[heavy]") {
  check_choices(1, 5, true);
}

TEST_CASE("the choice is as fast as the best candidate on 200 networks of up to 256 NPUs",
          "[slow]") {
  check_choices(1000, 200, false);
}

TEST_CASE("what the count of transfers leaves out stands in the note") {
  Outcome outcome;
  note_what_was_left_out({.chunks = 2, .tried_transfers = 10, .left_out = 0}, outcome);
  CHECK(outcome.note.empty());
  outcome.note = "tree, simple";
  note_what_was_left_out({.chunks = 2, .tried_transfers = 10, .left_out = 3}, outcome);
  CHECK(outcome.note == "tree, simple; the choice of chunks ended after 10 transfers, before 3 "
                        "chunks per shard");
}

TEST_CASE("a torus of 1,024 NPUs has two chunks per direction, and says that more weren't tried",
          "[slow]") {
  const std::vector<AlgorithmRow> rows = all_rows();
  // 4,190,208 transfers for each chunk of a shard
  const Topology topology = make_topology("torus3d:16x8x8");
  const ChunkedOutcome made =
      synthesize_in_chunks(row_named(rows, "themis"), topology,
                           maker(topology, spec_of(CollectiveKind::all_reduce, 1 << 30)), {});
  CHECK(made.chunks == 2); // 21.28, 11.37 ms
  CHECK(made.outcome.note.find("ended after 12570624 transfers, before 3 chunks per shard") !=
        std::string::npos);
  CHECK(made.outcome.status == Status::feasible);
}

} // namespace chunk_choice_test
