// Reading and writing schedule files: what is written comes back, what is damaged is refused in
// words. Damage to the inside of binary files goes through schedule_format, since the checksum of
// the compressed frame would catch it first.
#include "sim/files/schedule_file.hpp"

#include "sim/collective_builder.hpp"
#include "sim/compact_schedule.hpp"
#include "sim/files/files.hpp"
#include "sim/files/schedule_binary.hpp"
#include "sim/files/schedule_json.hpp"
#include "sim/verify.hpp"
#include "tests/catch.hpp"
#include "tests/message_of.hpp"
#include "tests/paths.hpp"
#include "tests/samples.hpp"
#include "tests/sim/random_case.hpp"
#include "tests/temporary_folder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace tutti::schedule_file_test {

namespace {

namespace format = schedule_format;

/// All-Gather on the one-way ring of 3: everyone passes on its own shard, then what it got.
ScheduleFile ring_all_gather(const Topology& ring) {
  Schedule schedule(3);
  for (const auto& [chunk, link] :
       {std::pair{0U, 0U}, {1U, 1U}, {2U, 2U}, {2U, 0U}, {0U, 1U}, {1U, 2U}})
    schedule.push(ChunkId{chunk}, LinkId{link}, Op::copy);
  return {ring.name(), "ring", TimeModel{},
          make_collective(ring, {CollectiveKind::all_gather, Bytes{30}, {}, 0, 1}), schedule};
}

/// Everything that a file can hold, in few bytes: a named part with a root, a custom one, several
/// hops, reductions, "together", a reduction rate.
ScheduleFile one_of_each(const Topology& ring) {
  CustomCollectiveBuilder custom(ring);
  custom.add_chunk(
      {Bytes{5}, custom.add_set({NodeId{0}, NodeId{1}}), custom.add_set({NodeId{2}}), true});
  const std::vector<Collective> parts{
      make_collective(ring, {CollectiveKind::broadcast, Bytes{7}, {NodeId{2}, NodeId{1}}, 1, 2}),
      custom.build()};
  Schedule schedule(3);
  schedule.push({ChunkId{0}, schedule.paths().intern(std::vector{LinkId{1}}), Op::copy, false});
  schedule.push(
      {ChunkId{2}, schedule.paths().intern(std::vector{LinkId{0}, LinkId{1}}), Op::reduce, false});
  schedule.push({ChunkId{2}, PathId{1}, Op::reduce, true});
  TimeModel model{LinkBusy::latency_and_serialization, Forwarding::cut_through, Discipline::fluid,
                  Bandwidth{2'500'000'000}};
  return {"a \"quoted\" name", "my algorithm", model, merge(parts), schedule};
}

/// The same but for the numbers of the paths.
bool same_transfers(const Schedule& a, const Schedule& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (a[i].chunk != b[i].chunk || a[i].op != b[i].op || a[i].together != b[i].together ||
        a[i].contiguous != b[i].contiguous ||
        !std::ranges::equal(a.paths().links(a[i].path), b.paths().links(b[i].path)) ||
        !std::ranges::equal(a.dependencies(i), b.dependencies(i)))
      return false;
  return true;
}

void check_same(const ScheduleFile& found, const ScheduleFile& expected) {
  CHECK(found.topology_name == expected.topology_name);
  CHECK(found.algorithm == expected.algorithm);
  CHECK(found.time_model == expected.time_model);
  CHECK(found.collective.fingerprint() == expected.collective.fingerprint());
  CHECK(found.collective.chunks.size() == expected.collective.chunks.size());
  REQUIRE(found.collective.parts.size() == expected.collective.parts.size());
  for (std::size_t p = 0; p < found.collective.parts.size(); ++p) {
    CHECK(found.collective.parts[p].kind == expected.collective.parts[p].kind);
    CHECK(found.collective.parts[p].size == expected.collective.parts[p].size);
    CHECK(found.collective.parts[p].root == expected.collective.parts[p].root);
    CHECK(found.collective.parts[p].chunks_per_shard ==
          expected.collective.parts[p].chunks_per_shard);
    CHECK(found.collective.parts[p].first == expected.collective.parts[p].first);
  }
  CHECK(same_transfers(found.schedule, expected.schedule));
}

std::string binary_of(const Topology& topology, const ScheduleFile& content) {
  return format::wrapped(format::to_payload(topology, content));
}

std::string error(std::string_view content, const Topology& topology,
                  const std::string& name = "x") {
  return message_of([&] { (void)parse_schedule(content, name, topology); });
}

/// The error of the JSON form of ring_all_gather with one text replaced.
std::string error_with(const std::string& from, const std::string& to) {
  const Topology ring = samples::ring(3, true);
  std::string text = format::to_json(ring, ring_all_gather(ring));
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return error(text.replace(at, from.size(), to), ring, "r.json");
}

/// The error of a binary file with this payload.
std::string payload_error(const std::string& payload) {
  return error(format::wrapped(payload), samples::ring(3, true), "r.bin");
}

std::string number(std::uint64_t value) {
  std::string out;
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>((value & 0x7f) | 0x80));
  out.push_back(static_cast<char>(value));
  return out;
}

/// A payload on samples::ring(3, true) up to the number of transfers.
std::string payload_head(std::uint64_t form, std::uint64_t transfers) {
  std::string out = number(1) + "r";
  const std::uint64_t fingerprint = samples::ring(3, true).fingerprint();
  for (int byte = 0; byte < 8; ++byte) out.push_back(static_cast<char>(fingerprint >> (8 * byte)));
  out += number(1) + "a" + number(13) + "serialization" + number(4) + "auto" + number(4) + "fifo";
  return out + number(0) + number(form) + number(transfers);
}

} // namespace

TEST_CASE("a schedule comes back from both forms, through files") {
  const TemporaryFolder folder;
  const Topology ring = samples::ring(3, true);
  for (const ScheduleFile& content : {ring_all_gather(ring), one_of_each(ring)})
    for (const char* name : {"s.json", "s.tutti", "new/folder/s.json"}) {
      write_schedule(folder.file(name), ring, content);
      check_same(read_schedule(folder.file(name), ring), content);
    }
}

TEST_CASE("the JSON form is made for people: one transfer a line") {
  const Topology ring = samples::ring(3, true);
  const std::string text = format::to_json(ring, one_of_each(ring));
  CHECK_THAT(text, ContainsSubstring("    [0,[1],\"copy\"],\n"
                                     "    [2,[0,1],\"reduce\"],\n"
                                     "    [2,[1],\"reduce\",\"together\"]\n"));
  CHECK_THAT(
      text,
      ContainsSubstring(
          R"({"kind": "broadcast", "size": 7, "group": [2,1], "root": 1, "chunks_per_shard": 2})"));
  CHECK_THAT(text, ContainsSubstring(
                       R"({"bytes": 5, "sources": [0,1], "destinations": [2], "reduces": true})"));
  CHECK_THAT(text, ContainsSubstring(R"("discipline": "fluid", "reduce_rate": "2.5GB/s")"));
}

TEST_CASE("the names of version 1 are read") {
  const Topology ring = samples::ring(3, true);
  std::string text = format::to_json(ring, one_of_each(ring));
  for (const auto& [now, before] :
       {std::pair<std::string, std::string>{"\"version\": 2", "\"version\": 1"},
        {"chunks_per_shard", "pieces"},
        {"sources", "held_by"},
        {"destinations", "wanted_by"}}) {
    std::size_t count = 0;
    for (std::size_t at = text.find(now); at != std::string::npos; at = text.find(now, at)) {
      text.replace(at, now.size(), before);
      ++count;
    }
    INFO(now);
    CHECK(count > 0);
  }
  check_same(format::from_json(text, "v1.json", ring), one_of_each(ring));
}

TEST_CASE("random schedules come back from both forms") {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const testing::RandomCase one = testing::random_case(seed, seed % 2 == 0);
    const ScheduleFile content{one.topology.name(), "random", one.model, one.collective,
                               one.schedule};
    CAPTURE(seed);
    const ScheduleFile from_binary =
        parse_schedule(binary_of(one.topology, content), "b", one.topology);
    check_same(from_binary, content);
    CHECK((from_binary.schedule == content.schedule)); // with the path table

    const std::string json = format::to_json(one.topology, content);
    const ScheduleFile from_json = parse_schedule(json, "j", one.topology);
    check_same(from_json, content);
    CHECK((format::to_json(one.topology, from_json) == json));

    // Sets that are equal are one after reading; from then on the bytes stay as they are.
    const std::string binary = binary_of(one.topology, from_binary);
    CHECK((binary_of(one.topology, parse_schedule(binary, "b", one.topology)) == binary));
  }
}

TEST_CASE("every kind of collective comes back from both forms") {
  const Topology full = samples::full(4);
  for (const CollectiveKind kind : named_collectives()) {
    CollectiveSpec spec{kind, Bytes{1000}, {NodeId{3}, NodeId{0}, NodeId{2}}, 0, 3};
    if (has_root(kind)) spec.root = 2;
    const ScheduleFile content{
        full.name(), "none", {}, make_collective(full, spec), Schedule(full.link_count())};
    CAPTURE(to_text(kind));
    check_same(parse_schedule(binary_of(full, content), "b", full), content);
    check_same(parse_schedule(format::to_json(full, content), "j", full), content);
  }
}

TEST_CASE("the binary form is compact exactly where that gives the same list back") {
  const Topology ring = samples::ring(3, true);
  ScheduleFile content = ring_all_gather(ring);
  REQUIRE(expanded(ring, content.collective,
                   *compacted(ring, content.collective, content.schedule)) == content.schedule);
  const std::string compact = format::to_payload(ring, content);

  // The same transfers, links 1 and 0 of the first round swapped: a list of its own.
  Schedule swapped(3);
  for (const std::size_t i : {1U, 0U, 2U, 3U, 4U, 5U}) swapped.push(content.schedule[i]);
  REQUIRE(compacted(ring, content.collective, swapped));
  content.schedule = swapped;
  const std::string list = format::to_payload(ring, content);
  CHECK(parse_schedule(format::wrapped(list), "x", ring).schedule == swapped);

  // Where a list would be too long, what is compact stays so, and is written as it was read.
  const std::string file = format::wrapped(compact);
  const ScheduleFile kept = parse_schedule(file, "x", ring, 5);
  REQUIRE(kept.compact);
  CHECK(kept.schedule.empty());
  CHECK(kept.size() == 6);
  CHECK(kept.compact->copies.chunk_at(1) == ChunkId{2});
  std::ostringstream streamed;
  format::write_wrapped(streamed, ring, kept.content());
  CHECK(streamed.str() == file);
  CHECK(parse_schedule(format::to_json(ring, ring_all_gather(ring)), "x", ring).schedule ==
        parse_schedule(file, "x", ring, 6).schedule);

  // Compact: 3 counts and 6 chunks = 9 bytes; list: a count of paths and 6 times 2 = 13 bytes.
  CHECK(list.size() - compact.size() == 4);
}

TEST_CASE("a file cut off anywhere is refused") {
  const Topology ring = samples::ring(3, true);
  for (const ScheduleFile& content : {ring_all_gather(ring), one_of_each(ring)}) {
    const std::string binary = binary_of(ring, content), json = format::to_json(ring, content);
    for (std::size_t size = 0; size < binary.size(); ++size)
      CHECK(error(binary.substr(0, size), ring).starts_with("x: "));
    for (std::size_t size = 0; size + 1 < json.size(); ++size) // the last byte is a newline
      CHECK(error(json.substr(0, size), ring).starts_with("x:"));
    const std::string payload = format::to_payload(ring, content);
    for (std::size_t size = 0; size < payload.size(); ++size)
      CHECK(error(format::wrapped(payload.substr(0, size)), ring).starts_with("x: "));
  }
}

TEST_CASE("a flipped bit is refused, or harmless", "[heavy]") {
  const Topology ring = samples::ring(3, true);
  const auto flip_all = [&](const std::string& original, const auto& use) {
    for (std::size_t bit = 0; bit < 8 * original.size(); ++bit) {
      std::string damaged = original;
      damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
      use(damaged);
    }
  };
  for (const ScheduleFile& content : {ring_all_gather(ring), one_of_each(ring)}) {
    // The checksum: whatever is accepted is what was written.
    flip_all(binary_of(ring, content), [&](const std::string& damaged) {
      if (error(damaged, ring).empty()) check_same(parse_schedule(damaged, "x", ring), content);
    });
    // Inside: another schedule or an InputError, and verify() can look at what comes out.
    const auto look = [&](const std::string& damaged) {
      CHECK_NOTHROW(message_of([&] {
        const ScheduleFile found = parse_schedule(damaged, "x", ring);
        (void)verify(ring, found.collective, found.schedule);
      }));
    };
    flip_all(format::to_json(ring, content), look);
    flip_all(format::to_payload(ring, content),
             [&](const std::string& damaged) { look(format::wrapped(damaged)); });
  }
}

TEST_CASE("a schedule for another topology says both names and fingerprints") {
  const Topology ring = samples::ring(3, true), mesh = samples::mesh(3, 3);
  const std::string expected =
      fmt::format("ring.json: schedule was made for topology \"ring3 one-way\" (fingerprint "
                  "{:016x}), not for \"mesh3x3\" (fingerprint {:016x})",
                  ring.fingerprint(), mesh.fingerprint());
  CHECK(error(format::to_json(ring, ring_all_gather(ring)), mesh, "ring.json") == expected);
  CHECK(error(binary_of(ring, ring_all_gather(ring)), mesh, "ring.json") == expected);
}

TEST_CASE("what isn't a schedule file is said so") {
  const Topology ring = samples::ring(3, true);
  CHECK(error("", ring, "s.tutti") == "s.tutti: the file is empty");
  CHECK(error("hello", ring, "s.tutti") ==
        "s.tutti: not a schedule file (neither JSON nor Tutti's binary form)");
  CHECK(error("TUTTIbin\1", ring) == "x: truncated: the file ends in its header");
  CHECK(error(std::string("TUTTIbin\7\0\0\0", 12), ring) ==
        "x: format version 7 is newer than this program reads (6)");
  CHECK(error(std::string("TUTTIbin\0\0\0\0", 12), ring) == "x: there is no format version 0");
  CHECK(error(std::string("TUTTIbin\1\0\0\0", 12), ring) ==
        "x: truncated: the compressed data ends too early");
  CHECK_THAT(error(std::string("TUTTIbin\1\0\0\0zstd?", 17), ring),
             ContainsSubstring("x: damaged: "));
  CHECK(error(binary_of(ring, ring_all_gather(ring)) + "abc", ring) ==
        "x: 3 bytes follow the end of the compressed data");
  CHECK_THAT(message_of([&] { (void)read_schedule("no/such.json", ring); }),
             ContainsSubstring("no/such.json: cannot read: No such file"));
}

TEST_CASE("a schedule file that can't be written is an error, and nothing is left") {
  const TemporaryFolder folder;
  const Topology ring = samples::ring(3, true);
  write_file(folder.file("file"), "");
  CHECK_THAT(
      message_of([&] { write_schedule(folder.file("file/s.json"), ring, ring_all_gather(ring)); }),
      ContainsSubstring("file/s.json: cannot write: "));
  CHECK(read_file(folder.file("file")).empty());
}

TEST_CASE("malformed JSON is said with line and column") {
  const Topology ring = samples::ring(3, true);
  CHECK_THAT(error("{\"format\": \"tutti-schedule\",\n \"version\": }", ring, "r.json"),
             ContainsSubstring("r.json:2:13: malformed JSON: syntax error while parsing value"));
  CHECK_THAT(error("{", ring, "r.json"), ContainsSubstring("r.json:1:2: malformed JSON: ") &&
                                             ContainsSubstring("unexpected end of input"));
  CHECK_THAT(error_with("\n  ]\n}\n", "\n  ]\n}\n}"),
             ContainsSubstring("r.json:19:1: malformed JSON: "));
  CHECK(error("{\"version\": 1e999}", ring, "r.json") ==
        "r.json: malformed JSON: a number is out of range");
  CHECK(error("{\"version\": 1, \"version\": 2}", ring, "r.json") ==
        "r.json: key \"version\" is given twice");
  CHECK(error(std::string(100'000, '['), ring) ==
        "x: not a schedule file (neither JSON nor Tutti's binary form)");
  CHECK_THAT(error("{\"a\":" + std::string(100'000, '['), ring),
             ContainsSubstring("malformed JSON"));
}

TEST_CASE("no text of a JSON file has a zero byte, which would cut off what is said of it") {
  const std::string what = ": a text can't have the character \\u0000";
  const Topology ring = samples::ring(3, true);
  CHECK(error("{\"a\": 1,\n \"b\\u0000c\": 1}", ring, "r.json") == "r.json:2:4" + what);
  CHECK(error("{\"a\": [{\"b\": \"\\\\\\u0000\"}]}", ring, "r.json") == "r.json:1:17" + what);
  for (const char* text :
       {"\"ring\"", "\"tutti-schedule\"", "\"copy\"", "\"version\"", "\"name\""}) {
    std::string spoilt = text;
    spoilt.insert(3, "\\u0000");
    CHECK_THAT(error_with(text, spoilt), ContainsSubstring("r.json:") && ContainsSubstring(what));
  }
  // A backslash and the letters are no such character.
  CHECK_THAT(error("{\"a\\\\u0000\": 1}", ring, "r.json"), !ContainsSubstring(what));
}

TEST_CASE("compact reductions come back from a file, and as a list from JSON") {
  const Topology ring = samples::ring(3, true);
  const Collective all_reduce =
      make_collective(ring, {CollectiveKind::all_reduce, Bytes{1024}, {}, 0, 1});
  CompactSchedule compact =
      samples::compact(std::vector<std::vector<std::uint16_t>>{{0, 2}, {1, 0}, {2, 1}});
  compact.reductions =
      samples::chunk_lists(std::vector<std::vector<std::uint16_t>>{{2, 1}, {0, 2}, {1, 0}});
  const ScheduleFile content{"ring", "none", {}, all_reduce, Schedule(3), compact};
  std::ostringstream out;
  format::write_wrapped(out, ring, content.content());
  CHECK(out.str()[format::magic.size()] == 5); // older programs refuse it in words
  const ScheduleFile kept = parse_schedule(out.str(), "x", ring, 11);
  REQUIRE(kept.compact);
  CHECK(kept.compact->reductions.end == compact.reductions.end);
  CHECK(kept.compact->reductions.chunks == compact.reductions.chunks);
  CHECK(kept.compact->copies.chunks == compact.copies.chunks);
  ScheduleFile listed = parse_schedule(out.str(), "x", ring, 12);
  CHECK_FALSE(listed.compact);
  CHECK(listed.schedule == expanded(ring, all_reduce, compact));
  ScheduleFile made = kept;
  make_list("x", ring, made);
  CHECK(made.schedule == listed.schedule);
  CHECK_FALSE(made.compact);
}

TEST_CASE("what is wrong in a JSON file is said with its key") {
  SECTION("the head") {
    CHECK(error_with("tutti-schedule", "tutti") == "r.json: \"format\" must be \"tutti-schedule\"");
    CHECK(error_with("\"version\": 2", "\"version\": 7") ==
          "r.json: format version 7 is newer than this program reads (6)");
    CHECK(error_with("\"version\": 2", "\"version\": \"1\"") ==
          "r.json: \"version\" must be a whole number, not string");
    CHECK(error_with("\"algorithm\": \"ring\"", "\"algorithm\": 7") ==
          "r.json: \"algorithm\" must be a text, not number");
    CHECK(error_with("  \"algorithm\": \"ring\",\n", "") ==
          "r.json: the file needs a key \"algorithm\"");
    CHECK_THAT(
        error_with("\"algorithm\"", "\"author\": 1,\n \"algorithm\""),
        ContainsSubstring("r.json: unknown key of the file \"author\" (known: format, version"));
    CHECK(error_with("\"fingerprint\": \"", "\"fingerprint\": \"0") ==
          "r.json: \"fingerprint\" of \"topology\" must be 16 hexadecimal digits");
    CHECK(error_with("\"name\"", "\"nme\"") == "r.json: \"topology\" needs a key \"name\"");
  }
  SECTION("the time model") {
    CHECK(error_with("\"fifo\"", "\"fifa\"") ==
          "r.json: unknown discipline \"fifa\" (known: fifo, fluid; did you mean \"fifo\"?)");
    CHECK_THAT(error_with("\"fifo\"}", "\"fifo\", \"reduce_rate\": \"7\"}"),
               ContainsSubstring("unit"));
    CHECK_THAT(error_with("\"fifo\"}", "\"fifo\", \"queue\": 1}"),
               ContainsSubstring("unknown key of \"time_model\" \"queue\""));
  }
  SECTION("the collective") {
    CHECK(
        error_with("\"all_gather\"", "\"all_gatter\"") ==
        "r.json: collective.parts[0]: unknown collective \"all_gatter\" (known: broadcast, reduce, "
        "gather, scatter, all_gather, reduce_scatter, all_reduce, all_to_all, sendrecv, hypercube, "
        "all_to_all_v, all_gather_v, reduce_scatter_v; did you mean \"all_gather\"?)");
    CHECK(error_with("\"size\": 30", "\"size\": 0") ==
          "r.json: collective.parts[0]: \"size\" is 0, not in 1 .. 9223372036854775807");
    CHECK(error_with("\"size\": 30", "\"size\": 18446744073709551615") ==
          "r.json: collective.parts[0]: \"size\" is 18446744073709551615, not in 1 .. "
          "9223372036854775807");
    CHECK(error_with("[0,1,2]", "[0,1,3]") ==
          "r.json: collective.parts[0]: \"group\": node 3 isn't there (the topology has 3)");
    CHECK(error_with("[0,1,2]", "[]") == "r.json: collective.parts[0]: \"group\" is empty");
    CHECK(error_with("[0,1,2]", "0") ==
          "r.json: collective.parts[0]: \"group\" must be a list, not number");
    CHECK(error_with("\"chunks_per_shard\": 1", "\"root\": 0, \"chunks_per_shard\": 1") ==
          "r.json: collective.parts[0]: unknown key of a part \"root\" (known: kind, size, group, "
          "chunks_per_shard)");
    CHECK(error_with("{\"kind\": \"all_gather\"", "[], {\"kind\": \"all_gather\"") ==
          "r.json: collective.parts[0]: a part must be an object, not array");
    // 3 shards of 700 million chunks_per_shard: 50 GB of chunks, from a file of 700 bytes.
    CHECK(error_with("\"chunks_per_shard\": 1", "\"chunks_per_shard\": 700000000") ==
          "r.json: collective.parts[0]: 2100000000 chunks are too many (at most 1000012 here)");
    CHECK_THAT(error_with("\"size\": 30", "\"size\": 33"),
               ContainsSubstring("r.json: schedule was made for a collective with fingerprint ") &&
                   ContainsSubstring("(all_gather 33B,group=0-2)"));
  }
  SECTION("custom parts") {
    const auto custom = [](const std::string& chunks) {
      return error_with(
          "{\"kind\": \"all_gather\", \"size\": 30, \"group\": [0,1,2], \"chunks_per_shard\": 1}",
          "{\"kind\": \"custom\", \"chunks\": [" + chunks + "]}");
    };
    CHECK(custom("") ==
          "r.json: collective.parts[0]: a custom collective needs at least one chunk");
    CHECK(custom("3") ==
          "r.json: collective.parts[0]: chunks[0]: a chunk must be an object, not number");
    CHECK(custom(R"({"bytes": 1, "sources": [0, 0], "destinations": [1], "reduces": true})") ==
          "r.json: collective.parts[0]: chunks[0]: node \"npu0\" is named twice");
    CHECK(custom(R"({"bytes": 1, "sources": [0], "destinations": [1], "reduces": 1})") ==
          "r.json: collective.parts[0]: chunks[0]: \"reduces\" must be true or false, not number");
    const std::string huge =
        R"({"bytes": 9223372036854775807, "sources": [0], "destinations": [1], "reduces": true})";
    CHECK(custom(huge + "," + huge) ==
          "r.json: collective.parts[0]: chunks[1]: the sizes add up to more than 2^63 - 1 bytes");
  }
  SECTION("transfers") {
    const auto second = [](const std::string& transfer) {
      return error_with("[1,[1],\"copy\"]", transfer);
    };
    CHECK(second("[3,[1],\"copy\"]") ==
          "r.json: transfers[1]: chunk 3 isn't there (the collective has 3)");
    CHECK(second("[-1,[1],\"copy\"]") ==
          "r.json: transfers[1]: chunk -1 isn't there (the collective has 3)");
    CHECK(second("[1.0,[1],\"copy\"]") ==
          "r.json: transfers[1]: chunk must be a whole number, not number");
    CHECK(second("[1,[3],\"copy\"]") ==
          "r.json: transfers[1]: link 3 isn't there (the topology has 3)");
    CHECK(second("[1,[],\"copy\"]") == "r.json: transfers[1]: the path is empty");
    CHECK(second("[1,1,\"copy\"]") == "r.json: transfers[1]: the path must be a list, not number");
    CHECK(second("[1,[1],\"move\"]") ==
          "r.json: transfers[1]: the third entry must be \"copy\" or \"reduce\"");
    CHECK(second("[1,[1],\"copy\",true]") ==
          "r.json: transfers[1]: the fourth entry must be \"together\" or \"contiguous\", or left "
          "out");
    CHECK(second("[1,[1]]") ==
          "r.json: transfers[1]: a transfer is [chunk, [links], \"copy\" or \"reduce\"], then "
          "\"together\", \"contiguous\" or nothing, then a list of dependencies or nothing");
    CHECK(second("[1,[1],\"copy\",[[6,\"left\"]]]") ==
          "r.json: transfers[1]: a dependency on transfer 6 isn't there (the schedule has 6)");
    CHECK(second("[1,[1],\"copy\",[[0,\"gone\"]]]") ==
          "r.json: transfers[1]: unknown milestone \"gone\" (known: left, arrived)");
    CHECK(second("[1,[1],\"copy\",[0,\"left\"]]") ==
          "r.json: transfers[1]: a dependency is [transfer, \"left\" or \"arrived\"]");
    CHECK(second("{}") == "r.json: transfers[1]: a transfer must be a list, not object");
  }
}

TEST_CASE("dependencies come back from both forms, as version 3") {
  const Topology ring = samples::ring(3, true);
  ScheduleFile content = ring_all_gather(ring);
  const std::string without = format::to_json(ring, content);
  CHECK_THAT(without, ContainsSubstring("\"version\": 2,"));
  content.schedule.add_dependency(3, {1, Milestone::arrived});
  content.schedule.add_dependency(5, {2, Milestone::left});
  content.schedule.add_dependency(5, {0, Milestone::arrived});
  const std::string text = format::to_json(ring, content);
  CHECK_THAT(text, ContainsSubstring("\"version\": 3,"));
  CHECK_THAT(text, ContainsSubstring("    [2,[0],\"copy\",[[1,\"arrived\"]]],\n"));
  CHECK_THAT(text, ContainsSubstring("    [1,[2],\"copy\",[[2,\"left\"],[0,\"arrived\"]]]\n"));
  check_same(parse_schedule(text, "r.json", ring), content);
  std::ostringstream binary;
  write_schedule(binary, ring, content.content());
  CHECK(binary.str()[format::magic.size()] == '\3');
  const ScheduleFile back = parse_schedule(binary.str(), "r.bin", ring);
  check_same(back, content);
  CHECK(back.schedule == content.schedule);

  ScheduleFile block = one_of_each(ring); // the last one happens together with the one before
  block.schedule.add_dependency(2, {0, Milestone::arrived});
  const std::string both = format::to_json(ring, block);
  CHECK_THAT(both, ContainsSubstring("\"together\",[[0,\"arrived\"]]]"));
  check_same(parse_schedule(both, "r.json", ring), block);
}

TEST_CASE("what is wrong inside a binary file is said in words") {
  const std::string ring = payload_head(0, 0);
  CHECK(payload_error("") == "r.bin: the content ends too early");
  CHECK(payload_error(number(9) + "ring") ==
        "r.bin: 9 letters don't fit in the 4 bytes that are left");
  CHECK(payload_error(std::string(10, '\xff') + "\1") == "r.bin: a number is too large");
  // A file of some 60 bytes that announces a trillion transfers.
  CHECK(payload_error(payload_head(0, 1'000'000'000'000)) ==
        "r.bin: 1000000000000 transfers don't fit in the 0 bytes that are left");
  CHECK(payload_error(payload_head(5, 0)) == "r.bin: form is 5, not in 0 .. 4");

  const std::string fingerprint(8, '\0');
  CHECK(payload_error(payload_head(0, 0) + fingerprint + number(0)) ==
        "r.bin: there is no collective");
  const std::string broadcast =
      number(1) + number(9) + "broadcast" + number(8) + number(2) + number(0) + number(1);
  CHECK(payload_error(payload_head(0, 0) + fingerprint + broadcast + number(2) + number(1)) ==
        "r.bin: root 2 is not in the group");
  CHECK(payload_error(payload_head(0, 0) + fingerprint + broadcast + number(0) + number(9)) ==
        "r.bin: 8B can't be cut into 9 chunks of at least one byte");
  CHECK_THAT(payload_error(payload_head(0, 0) + fingerprint + broadcast + number(0) + number(1)),
             ContainsSubstring("r.bin: schedule was made for a collective with fingerprint "
                               "0000000000000000, but what the file describes"));

  // ring_all_gather, compact: ... | 2 chunks on link 0: 0 2 | on link 1: 1 0 | on link 2: 2 1
  const Topology topology = samples::ring(3, true);
  const std::string good = format::to_payload(topology, ring_all_gather(topology));
  REQUIRE(payload_error(good).empty());
  const auto with_byte = [&](std::size_t from_end, char value) {
    std::string damaged = good;
    damaged[damaged.size() - from_end] = value;
    return payload_error(damaged);
  };
  CHECK(with_byte(1, 3) == "r.bin: chunk 3 isn't there (there are 3)");
  CHECK(with_byte(8, 1) ==
        "r.bin: link 0 (npu0 > npu1) brings chunk 1 to a node that has it already");
  CHECK(payload_error(good + "!") == "r.bin: 1 bytes follow the end");
  std::string one_less = good.substr(0, good.size() - 3) + number(1) + number(2);
  CHECK(payload_error(one_less) == "r.bin: 6 transfers were announced, 5 are there");
}

TEST_CASE("what is wrong in the list of a binary file is said in words") {
  // one_of_each: ... | 1 path of 2 links: 0 1 | 0, 1*4 | 2, 3*4+2 | 2, 1*4+2+1
  const Topology topology = samples::ring(3, true);
  ScheduleFile content = one_of_each(topology);
  const std::string good = format::to_payload(topology, content);
  const std::string head = good.substr(0, good.size() - 10);
  const std::string transfers = good.substr(good.size() - 6);
  REQUIRE(good.substr(good.size() - 10) ==
          number(1) + number(2) + number(0) + number(1) + transfers);
  CHECK(payload_error(head + number(1) + number(2) + number(0) + number(3) + transfers) ==
        "r.bin: link 3 isn't there (there are 3)");
  CHECK(payload_error(head + number(1) + number(1) + number(0) + transfers) ==
        "r.bin: path 3 has fewer than two links, or is listed twice");
  CHECK(payload_error(head + number(2) + number(2) + number(0) + number(1) + number(2) + number(0) +
                      number(1) + transfers) ==
        "r.bin: path 4 has fewer than two links, or is listed twice");
  CHECK(payload_error(head + number(0) + transfers) == "r.bin: path 3 isn't there (there are 3)");
}

TEST_CASE("the fuzzer starts from files that the reader accepts") {
  int seeds = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(TUTTI_SOURCE_DIR "/tests/fuzz/corpus/fuzz_schedule")) {
    CAPTURE(entry.path().string());
    std::string content = read_file(entry.path().string());
    if (content.starts_with('P'))
      content = format::wrapped(content.substr(1)); // as the fuzzer does
    CHECK(error(content, samples::ring(3, true)).empty());
    ++seeds;
  }
  CHECK(seeds >= 5);
}

TEST_CASE("no decompression bomb is read or written") {
  const Topology ring = samples::ring(3, true);
  // zstd frame (RFC 8878): magic, a window of 2 MiB, 64 RLE blocks of 128 KiB each in 4 bytes, the
  // last one marked: 8 MiB out of 262 bytes. The reader takes 1 MiB + 4096 * 262 bytes.
  std::string bomb("TUTTIbin\1\0\0\0\x28\xb5\x2f\xfd\0\x58", 18);
  for (int block = 0; block < 64; ++block) {
    const std::uint32_t header = (131072U << 3) | (1U << 1) | (block == 63 ? 1U : 0U);
    for (int byte = 0; byte < 3; ++byte) bomb.push_back(static_cast<char>(header >> (8 * byte)));
    bomb.push_back('\0');
  }
  CHECK(error(bomb, ring) == "x: 262 bytes would become more than 2121728");
  CHECK_THAT(message_of([] { (void)format::wrapped(std::string(16 << 20, '\0')); }),
             ContainsSubstring("decompression bomb; a name that ends in .json gives text"));
}

} // namespace tutti::schedule_file_test
