// The rule for chunks per shard, with every algorithm of both lists.
#include "synth/chunk_choice.hpp"

#include "algorithms/list.hpp"
#include "sim/engines/engine.hpp"
#include "sim/error.hpp"
#include "sim/verify.hpp"
#include "synth/list.hpp"
#include "tests/catch.hpp"
#include "topologies/list.hpp"

#include <atomic>
#include <map>

using namespace tutti;

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

} // namespace

TEST_CASE("candidates of a message over hops are those around the known optimum") {
  // d hops, alpha = 1 us, n/B = 64 us; links busy for latency too: K = sqrt((d - 1) * 64).
  const auto message = [](std::int64_t hops) {
    return PipelineFigures{.whole = Time{65'000'000 * hops},
                           .latency = Time{1'000'000 * hops},
                           .busy = Time{65'000'000},
                           .busy_latency = Time{1'000'000},
                           .crossings = 1};
  };
  CHECK(chunk_candidates(message(5)) == std::vector<std::uint32_t>{2, 4, 8, 16});
  CHECK(chunk_candidates({}).empty());
  // latencies alone, or a link without pause and many transfers on it: nothing to win
  CHECK(chunk_candidates({Time{1000}, Time{999}, Time{5}, Time{}, 3}).empty());
  CHECK(chunk_candidates({Time{1000}, Time{}, Time{999}, Time{}, 500}).empty());
  // few transfers: a link's share may be less than whole chunks
  CHECK_FALSE(chunk_candidates({Time{1000}, Time{}, Time{999}, Time{}, 3}).empty());
}

TEST_CASE("the choice is never slower than one chunk, within the counted transfers, and repeats",
          "[heavy]") {
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
            if (row.imitates) continue; // it cuts as others do, faster or not
            CHECK(time_of(topology, chosen.collective, chosen.outcome, options.model) <=
                  time_of(topology, *one, alone, options.model));
          }
  }
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
    CHECK((tried.size() == 1 || before + transfers < most_tried_transfers));
    return tried;
  };
  const auto all = tried_after(0);
  CHECK(all.size() > 1);
  CHECK(tried_after(most_tried_transfers - 36) == std::vector<std::uint32_t>{1});
  CHECK(tried_after(most_tried_transfers - 37) == std::vector<std::uint32_t>{1, 2});
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
