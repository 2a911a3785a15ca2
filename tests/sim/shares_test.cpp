// Shares that differ: matrices by hand, laws, and the traffic of experts counted token by token.

#include "sim/shares/shares.hpp"

#include "sim/collective.hpp"
#include "sim/error.hpp"
#include "sim/files/files.hpp"
#include "sim/files/schedule_file.hpp"
#include "sim/files/schedule_json.hpp"
#include "sim/report.hpp"
#include "sim/schedule.hpp"
#include "sim/shares/expert_traffic.hpp"
#include "tests/catch.hpp"
#include "tests/message_of.hpp"
#include "tests/samples.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

namespace shares_test {

using namespace tutti;

namespace {

using Bytewise = std::vector<std::int64_t>;

Collective made(const std::string& text, std::int64_t size, std::uint32_t chunks_per_shard = 1,
                std::uint32_t npus = 3) {
  CollectiveSpec spec = parse_collective(text);
  spec.size = Bytes{size};
  spec.chunks_per_shard = chunks_per_shard;
  return make_collective(samples::ring(npus), spec);
}

/// What goes from whom to whom, from the chunks alone.
Bytewise matrix_of(const Collective& collective, std::uint32_t npus) {
  Bytewise matrix(std::size_t{npus} * npus);
  for (std::uint32_t c = 0; c < collective.chunks.size(); ++c) {
    const std::uint32_t from = collective.sources(ChunkId{c}).front().value,
                        to = collective.destinations(ChunkId{c}).front().value;
    matrix[std::size_t{from} * npus + to] += collective.chunks[c].size.count;
  }
  return matrix;
}

} // namespace

TEST_CASE("a matrix is read as CSV and JSON, as it is or scaled to its largest row") {
  const ScratchFolder folder;
  const std::string csv = folder.path() + "/m.csv", json = folder.path() + "/m.json";
  write_file(csv, "# i sends to j\n5, 1KiB, 0\n0, 7, 30\n\n10, 0, 0\n");
  write_file(json, "[[5, 1024, 0], [0, 7, 30], [10, 0, 0]]");
  const Bytewise matrix{5, 1024, 0, 0, 7, 30, 10, 0, 0};
  for (const std::string& file : {csv, json}) {
    const Collective collective = made("all_to_all_v,file=" + file, 0);
    CHECK(matrix_of(collective, 3) == matrix);
    CHECK(collective.size() == Bytes{1029});
    CHECK(collective.name() == "all_to_all_v 1029B,file=" + file + ",group=0-2");
  }
  // Twice as large; a row's entries are edges rounded down, so that its sum is exact.
  CHECK(matrix_of(made("all_to_all_v,file=" + csv, 2058), 3) ==
        Bytewise{10, 2048, 0, 0, 14, 60, 20, 0, 0});
  const Collective third = made("all_to_all_v,file=" + csv, 343);
  CHECK(matrix_of(third, 3) == Bytewise{1, 342, 0, 0, 2, 10, 3, 0, 0});
  CHECK(make_collective(samples::ring(3), spec_of(third.parts[0], 1)).fingerprint() ==
        third.fingerprint());
  // A group in its own order: the first row is its first member's.
  CHECK(matrix_of(made("all_to_all_v,group=2+0+1,file=" + csv, 0), 3) ==
        Bytewise{7, 30, 0, 0, 0, 10, 1024, 0, 5});
}

TEST_CASE("shares are cut into chunks of about the size that equal ones would have") {
  const ScratchFolder folder;
  const std::string file = folder.path() + "/m.csv";
  write_file(file, "0,240,240\n240,0,240\n240,240,0\n");
  const Collective equal = made("all_to_all_v,file=" + file, 0, 4);
  CHECK(equal.chunks.size() == 24); // K of each pair, as in an All-to-All
  CHECK(std::ranges::all_of(equal.chunks, [](const Chunk& c) { return c.size == Bytes{60}; }));
  write_file(file, "0,400,80\n1,0,0\n28,0,36\n");
  const Collective unequal = made("all_to_all_v,file=" + file, 0, 4);
  const std::vector<std::uint32_t> first = block_offsets(unequal, unequal.parts[0]);
  CHECK(first == std::vector<std::uint32_t>{0, 0, 7, 9, 10, 10, 10, 11, 11, 12}); // of 60 B at most
  CHECK(unequal.largest_chunk() == Bytes{60});
  write_file(file, "1000000000000000,1,0\n0,0,0\n0,0,0\n"); // what stays is one chunk
  CHECK(made("all_to_all_v,file=" + file, 0, 4).chunks.size() == 2);
  CHECK(busbw(unequal, Time{1'000'000'000'000}) == Approx(480));
}

TEST_CASE("All-Gather and Reduce-Scatter have a share for each member") {
  const ScratchFolder folder;
  const std::string file = folder.path() + "/v.csv";
  write_file(file, "30, 0, 6");
  const Collective gather = made("all_gather_v,file=" + file, 0),
                   scatter = made("reduce_scatter_v,file=" + file, 0, 2);
  REQUIRE(gather.chunks.size() == 4); // of 12 B at most: 3 of the first, 1 of the last
  CHECK(gather.sources(ChunkId{2}).front() == NodeId{0});
  CHECK(gather.sources(ChunkId{3}).front() == NodeId{2});
  CHECK(gather.destinations(ChunkId{0}).size() == 3);
  CHECK(gather.chunks[3].size == Bytes{6});
  CHECK(scatter.chunks.size() == 6); // of 6 B
  CHECK(scatter.chunks[0].reduces);
  CHECK(scatter.destinations(ChunkId{5}).front() == NodeId{2});
  CHECK(scatter.sources(ChunkId{5}).size() == 3);
  CHECK(busbw(gather, Time{1'000'000'000'000}) == Approx(36)); // member 1 gets all of it
}

TEST_CASE("Zipf's law: the k-th largest pair has k^-s of the largest, in any order") {
  for (const double s : {0.0, 0.6, 2.0}) {
    Bytewise shares =
        drawn_shares(CollectiveKind::all_to_all_v, {fmt::format("all_to_all_v,zipf={}", s), {}}, 5);
    for (std::size_t i = 0; i < 5; ++i) CHECK(shares[i * 5 + i] == 0);
    std::ranges::sort(shares, std::greater{});
    for (std::size_t k = 0; k < 20; ++k)
      CHECK(static_cast<double>(shares[k]) ==
            Approx(static_cast<double>(shares[0]) * std::pow(k + 1, -s)).epsilon(1e-6));
  }
  CHECK(made("all_to_all_v,zipf=1.2,seed=3", 1 << 20).fingerprint() ==
        made("all_to_all_v,seed=3,zipf=1.2", 1 << 20).fingerprint());
  CHECK(made("all_to_all_v,zipf=1.2,seed=3", 1 << 20).fingerprint() !=
        made("all_to_all_v,zipf=1.2,seed=4", 1 << 20).fingerprint());
}

TEST_CASE("tokens of a trace go once to each rank that has one of their experts") {
  const ScratchFolder folder;
  const std::string trace = folder.path() + "/t.json";
  // Ranks 0 and 1; experts 0 and 1 are on rank 0, 2 and 3 on rank 1.
  write_file(trace, R"({"experts": 4, "tokens": [[[0, 1], [2, 3], [1, 2]], [[3, 2], [0, 3]]]})");
  const std::string text = ",hidden=10,bytes=2,file=" + trace;
  const std::vector<std::int64_t> there{40, 40, 20, 40};
  CHECK(drawn_shares(CollectiveKind::all_to_all_v, {"dispatch" + text, {}}, 2) == there);
  CHECK(drawn_shares(CollectiveKind::all_to_all_v, {"combine" + text, {}}, 2) ==
        Bytewise{40, 20, 40, 40});
  // Ten choices, 1.6 times 2.5 for each expert: 4, nobody is dropped; 0.8 times: 2.
  CHECK(drawn_shares(CollectiveKind::all_to_all_v, {"dispatch,capacity=1.6" + text, {}}, 2) ==
        there);
  // Choice by choice, ranks in turn: 0 3 1 2 | 2 0 3 3x | 1 2x: rank 0's last token goes to rank 0
  // alone.
  CHECK(drawn_shares(CollectiveKind::all_to_all_v, {"dispatch,capacity=0.8" + text, {}}, 2) ==
        Bytewise{40, 20, 20, 20});
  const std::string placement = folder.path() + "/p.csv";
  write_file(placement, "0, 1, 2, 3\n3\n"); // expert 3 on both ranks: each takes its own
  CHECK(drawn_shares(CollectiveKind::all_to_all_v, {"dispatch,placement=" + placement + text, {}},
                     2) == Bytewise{60, 0, 40, 40});
}

TEST_CASE("drawn tokens: all are sent, the hot experts' copies even out what ranks get") {
  ExpertTraffic traffic;
  traffic.tokens = 512, traffic.top = 1, traffic.experts = 64, traffic.hidden = 1;
  traffic.element_bytes = 1;
  traffic.zipf = 1.2;
  const Bytewise first = expert_bytes(traffic, 8);
  traffic.iteration = 1;
  CHECK(expert_bytes(traffic, 8) != first);
  const auto most_received = [&](std::uint32_t replicas, const char* placement) {
    traffic.replicas = replicas, traffic.placement = placement;
    const Bytewise bytes = expert_bytes(traffic, 8);
    CHECK(std::accumulate(bytes.begin(), bytes.end(), std::int64_t{0}) == 8 * 512); // one each
    std::int64_t most = 0;
    for (std::size_t to = 0; to < 8; ++to) {
      std::int64_t received = 0;
      for (std::size_t from = 0; from < 8; ++from) received += bytes[from * 8 + to];
      most = std::max(most, received);
    }
    return most;
  };
  const std::int64_t linear = most_received(0, "linear"), balanced = most_received(0, "balanced"),
                     copied = most_received(32, "balanced");
  CHECK(balanced <= linear);
  CHECK(copied < balanced);
  CHECK(copied < 512 * 5 / 4); // 512 is even
}

TEST_CASE("a collective file names a matrix in its own folder, and needs no size for it") {
  const ScratchFolder folder;
  const std::string toml = folder.path() + "/c.toml";
  write_file(folder.path() + "/m.csv", "0,5\n7,2\n");
  const auto read = [&](const char* entry) {
    write_file(toml, std::string("[[collective]]\nname = \"all_to_all_v,") + entry);
    return read_collective(toml, samples::ring(3));
  };
  const Collective own = read("file=m.csv\"\ngroup = [2, 0]\n");
  CHECK(matrix_of(own, 3) == Bytewise{2, 0, 7, 0, 0, 0, 5, 0, 0});
  CHECK(own.size() == Bytes{9});
  CHECK(matrix_of(read("file=m.csv,group=0-1\"\nsize = \"18B\"\n"), 3) ==
        Bytewise{0, 10, 0, 14, 4, 0, 0, 0, 0});
  CHECK(message_of([&] { (void)read("zipf=1\"\n"); }) ==
        toml + ":1:1: this table needs a key \"size\" (it has: name)");
}

TEST_CASE("chunks that were planned for other shares keep their number and get new sizes") {
  const ScratchFolder folder;
  const auto of = [&](const char* name, const char* matrix) {
    write_file(folder.path() + "/" + name, matrix);
    return made(std::string("all_to_all_v,file=") + folder.path() + "/" + name, 0, 2);
  };
  const Collective planned = of("a.csv", "0,60,0\n60,0,60\n120,60,0\n"),
                   now = of("b.csv", "7,90,0\n3,0,1\n0,60,0\n");
  const Collective both = with_sizes_of(planned, now);
  CHECK(both.size() == Bytes{97});
  REQUIRE(both.chunks.size() == planned.chunks.size());
  CHECK(both.parts[0].shares.bytes == Bytewise{7, 90, 0, 3, 0, 1, 0, 60, 0});
  // Two chunks a pair, which are a byte at least; three from 2 to 0, where nothing is left.
  CHECK(matrix_of(both, 3) == Bytewise{0, 90, 0, 3, 0, 2, 3, 60, 0});
  CHECK(message_of([&] { (void)with_sizes_of(now, planned); }) ==
        "nothing was planned for share 6, which is 120B now (from rank 2 to rank 0)");
  CHECK_THROWS_AS(with_sizes_of(planned, made("all_to_all_v,zipf=1", 0, 1, 4)), InputError);
}

TEST_CASE("schedule files keep shares") {
  const Topology topology = samples::ring(3);
  for (const char* text : {"all_to_all_v,zipf=1,seed=2", "all_gather_v,zipf=0.5", "alltoallv"}) {
    const Collective collective = made(text, 600, 2);
    const Schedule none(topology.link_count());
    for (const bool as_json : {false, true}) {
      CAPTURE(text, as_json);
      const ScheduleFile file{topology.name(), "", {}, collective, none, std::nullopt};
      std::ostringstream out;
      write_schedule(out, topology, file.content());
      const Collective read =
          parse_schedule(as_json ? schedule_format::to_json(topology, file) : out.str(), "test",
                         topology)
              .collective;
      CHECK(read.fingerprint() == collective.fingerprint());
      CHECK(read.name() == collective.name());
    }
  }
}

TEST_CASE("what is wrong with shares is said with its place") {
  const ScratchFolder folder;
  const std::string file = folder.path() + "/m.csv";
  const auto why = [](const std::string& text) {
    return message_of([&] { (void)made(text, 1 << 20); });
  };
  const auto of_file = [&](const char* content) {
    write_file(file, content);
    return why("all_to_all_v,file=" + file);
  };
  CHECK(of_file("1,2,3\n4,5\n") == file + ":2:1: row 2 has 2 entries, but the group has 3 members");
  CHECK(of_file("1,2,3\n4,5,x\n7,8,9\n").starts_with(file + ":2:5: "));
  CHECK(of_file("1,2,3\n4,5,6\n") == file + ": 6 shares, but all_to_all_v among 3 members has 9");
  CHECK(of_file("1,0,0\n0,5,0\n0,0,1\n") == "no share of all_to_all_v has to move");
  CHECK(of_file("0,0,0\n0,0,0\n0,0,0\n") == "no share of all_to_all_v has a byte");
  CHECK(why("all_gather_v") == "all_gather_v needs shares: file=FILE or zipf=S");
  CHECK(why("all_to_all_v,zipf=1,file=x") ==
        "shares of all_to_all_v come from a file or from zipf, not from both");
  CHECK(why("all_to_all_v,zifp=1") == "unknown key of all_to_all_v \"zifp\" (known: group, file, "
                                      "zipf, seed; did you mean \"zipf\"?)");
  CHECK(why("dispatch,tokens=8,top=2,experts=4") == "dispatch needs the key \"hidden\"");
  CHECK(why("dispatch,tokens=8,top=5,experts=4,hidden=8") == "a token can't choose 5 of 4 experts");
  CHECK(why("dispatch,tokens=8,top=1,experts=2,hidden=8") ==
        "2 experts and 0 replicas don't fill 3 ranks");
  CHECK(why("all_to_all_v,seed=2") ==
        "the seed of all_to_all_v is of a draw by zipf, which is missing");
  CHECK(why("dispatch,hidden=8,top=2,file=x") ==
        "the tokens of dispatch come from a file, so that \"top\" says nothing");
  CHECK(of_file("0,2000TiB,0\n0,0,1\n0,0,0\n") ==
        file + ":1:3: share 2000TiB is more than 1024TiB");
  // Hours of work, or memory that there isn't: refused at once.
  CHECK(why("dispatch,tokens=1,top=1048576,experts=1048576,hidden=1").ends_with("too much work"));
  CHECK(why("dispatch,tokens=1048576,top=1048576,experts=1048576,hidden=1")
            .ends_with("too much work"));
  CHECK(why("all_to_all_v,zipf=1,zipf=2") == "key \"zipf\" of all_to_all_v is given twice");
}

} // namespace shares_test
