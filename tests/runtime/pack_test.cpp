// What travels to a machine with a GPU and back: runs, packs and rows.
#include "runtime/pack/csv_lines.hpp"
#include "runtime/pack/pack.hpp"
#include "runtime/pack/rows.hpp"
#include "sim/files/files.hpp"
#include "sim/random.hpp"
#include "tests/catch.hpp"
#include "tests/message_of.hpp"
#include "tests/runtime/hand_programs.hpp"
#include "tests/runtime/random_program.hpp"
#include "tests/temporary_folder.hpp"

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace pack_test {

using namespace tutti;
using namespace tutti::runtime;

namespace fs = std::filesystem;

namespace {

std::string random_bytes(Random& random, std::size_t most) {
  std::string bytes(random.below(most + 1), '\0');
  for (char& c : bytes) c = static_cast<char>(random.below(256));
  return bytes;
}

/// One to three bytes set, inserted or removed somewhere.
std::string mutated(std::string text, Random& random) {
  for (std::uint64_t n = 1 + random.below(3); n > 0; --n) {
    const std::size_t at = random.below(text.size());
    switch (random.below(3)) {
    case 0: text[at] = static_cast<char>(random.below(256)); break;
    case 1: text.insert(at, 1, static_cast<char>(random.below(256))); break;
    default: text.erase(at, 1); break;
    }
  }
  return text;
}

PackedRun random_run(std::uint64_t seed) {
  Random random(seed);
  const auto npus = static_cast<std::uint32_t>(2 + random.below(4));
  const Topology network = line_network(npus, Time{1'000'000}, Bandwidth{25'000'000'000});
  const CollectiveKind kind =
      seed % 2 == 0 ? CollectiveKind::all_gather : CollectiveKind::all_reduce;
  const Collective collective = make_collective(network, {kind, Bytes{1 << 20}, {}, 0, 1});
  const Program program = random_program(collective, npus, 2, seed);
  ExecutionRequest request;
  request.type = seed % 3 == 0 ? ElementType::uint8 : ElementType::float64;
  request.combine = seed % 5 == 0 ? Combine::max : Combine::sum;
  request.size = Bytes{std::int64_t{program.unit_count()} * 64};
  if (seed % 2 == 1) request.plan.emulated = &network;
  request.copy_per_step = seed % 2 == 0;
  return {planned_run(program, request), request};
}

Pack pack_of(const PackBuilder& builder) {
  const TemporaryFolder folder;
  builder.write(folder.file("day"));
  return load_pack(folder.file("day"));
}

/// By path within the folder.
std::map<std::string, std::string> files_of(const std::string& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file())
      files[entry.path().lexically_relative(folder)] = read_file(entry.path());
  return files;
}

PackBuilder two_runs() {
  PackBuilder builder("day, \"one\"");
  builder.add("All-Gather", "ring", Bytes{1024}, random_run(2));
  builder.predict(Time{12'345});
  builder.add("All-Reduce, SCCL", "sccl", Bytes{4096}, random_run(3));
  builder.add("Again", "ring", Bytes{1024}, random_run(2));
  return builder;
}

RunRow some_run_row() {
  RunRow row;
  row.file = "all_gather/ring_1024.run";
  row.checksum = 0x0123456789abcdefU;
  row.execution.device = "NVIDIA H100, \"80GB\"";
  row.execution.seconds = {1.25e-5, 1.0 / 3, 0};
  row.execution.check = {1000, 3, WrongElement{7, ChunkId{5}, 123'456'789'012, 0.1, 2.5}};
  row.execution.bytes_moved = UINT64_MAX;
  row.execution.memory_bytes = 12;
  return row;
}

std::string rows_text() {
  RunRow hung;
  hung.file = "b.run";
  hung.outcome = RunOutcome::hung;
  hung.words = "rank 1, block 0 waits\nfor ever";
  return rows_head({"day", 77}) + line_of(some_run_row()) + line_of(hung) +
         line_of(FigureRow{"tick", 3.2e-8, "s", "GPU"}) +
         line_of(TestRow{"hang", TestOutcome::left_out, "no \"GPU\", none"}) +
         line_of(NoteRow{"", "a word"});
}

} // namespace

TEST_CASE("a run is read as it was written") {
  for (std::uint64_t seed = 1; seed < 40; ++seed) {
    const PackedRun packed = random_run(seed);
    const std::string bytes = to_bytes(packed);
    const PackedRun read = read_run(bytes, "r.run");
    CHECK(to_bytes(read) == bytes);
    CHECK(read.run.plan.steps.size() == packed.run.plan.steps.size());
    CHECK(read.run.plan.links.size() == packed.run.plan.links.size());
    CHECK(read.settings.copy_per_step == packed.settings.copy_per_step);
    CHECK(read.run.type == packed.run.type);
    CHECK(read.run.combine == packed.run.combine);
  }
}

TEST_CASE("runs that were cut off or changed are refused") {
  const std::string bytes = to_bytes(random_run(7));
  for (std::size_t size = 0; size < bytes.size(); ++size)
    CHECK_THAT(
        message_of([&] { (void)read_run(std::string_view(bytes).substr(0, size), "r.run"); }),
        ContainsSubstring("r.run: "));
  Random random(3);
  for (int trial = 0; trial < 2000; ++trial) {
    const std::string other = mutated(bytes, random);
    if (other != bytes) CHECK(message_of([&] { (void)read_run(other, "r.run"); }) != "");
  }
}

TEST_CASE("runs that reach outside of their memory are refused, whatever their checksum") {
  const auto refused = [](auto change) {
    PackedRun packed = random_run(7); // emulated
    change(packed);
    return message_of([&] { (void)read_run(to_bytes(packed), "r.run"); });
  };
  CHECK(refused([](PackedRun&) {}) == "");
  const auto far = std::uint64_t{1} << 40;
  CHECK_THAT(refused([&](PackedRun& p) {
               for (PlannedStep& step : p.run.plan.steps) step.source = step.target = far;
             }),
             ContainsSubstring("reaches outside"));
  CHECK_THAT(refused([&](PackedRun& p) {
               for (PlannedStep& step : p.run.plan.steps) step.bytes = UINT64_MAX - 7;
             }),
             ContainsSubstring("r.run: step "));
  CHECK_THAT(refused([&](PackedRun& p) {
               for (PlannedStep& step : p.run.plan.steps) step.landing = far;
             }),
             ContainsSubstring("lands outside"));
  CHECK_THAT(refused([](PackedRun& p) { p.run.plan.steps.back().after_block = 1000; }),
             ContainsSubstring("waits for a step"));
  CHECK_THAT(refused([](PackedRun& p) { p.run.plan.steps.push_back({}); }),
             ContainsSubstring("is of no block"));
  CHECK_THAT(refused([](PackedRun& p) { p.run.plan.blocks.front().sends = 1000; }),
             ContainsSubstring("connection"));
  CHECK_THAT(refused([](PackedRun& p) { p.run.plan.connections.front().messages = 0; }),
             ContainsSubstring("sends more"));
  CHECK_THAT(refused([](PackedRun& p) { p.run.plan.connections.front().links = 0; }),
             ContainsSubstring("path"));
  CHECK_THAT(refused([](PackedRun& p) { p.run.plan.path_links.front() = 1000; }),
             ContainsSubstring("path's link 0"));
  CHECK_THAT(refused([](PackedRun& p) { p.run.plan.links.front().latency_seconds = NAN; }),
             ContainsSubstring("link 0"));
  CHECK_THAT(
      refused([&](PackedRun& p) { p.run.data.front().output.chunks.front().elements = far; }),
      ContainsSubstring("outside of its output"));
  CHECK_THAT(refused([&](PackedRun& p) { p.run.data.front().input_bytes = far; }),
             ContainsSubstring("outside of its arena"));
  CHECK_THAT(refused([&](PackedRun& p) { p.run.data.pop_back(); }), ContainsSubstring("one arena"));
  CHECK_THAT(refused([&](PackedRun& p) { p.settings.repetitions = 0; }),
             ContainsSubstring("repetitions"));
  CHECK_THAT(refused([&](PackedRun& p) { p.settings.watchdog_seconds = INFINITY; }),
             ContainsSubstring("watchdog"));
}

TEST_CASE("a pack holds each program once, and what it is for") {
  const PackBuilder builder = two_runs();
  const Pack pack = pack_of(builder);
  CHECK(pack.name().experiment == "day, \"one\"");
  CHECK(pack.name().digest == builder.name().digest);
  REQUIRE(pack.lines().size() == 3);
  REQUIRE(pack.files().size() == 2);
  CHECK(pack.lines()[0].file == "all_gather/ring_1024.run");
  CHECK(pack.lines()[2].file == pack.lines()[0].file);
  CHECK(pack.lines()[0].predicted == Time{12'345});
  CHECK_FALSE(pack.lines()[1].predicted);
  CHECK(pack.lines()[1].case_label == "All-Reduce, SCCL");
  CHECK(to_bytes(pack.load(pack.files()[1])) == to_bytes(random_run(3)));
  CHECK(pack.checksum(pack.files()[0]) == checksum_of(to_bytes(random_run(2))));
  CHECK(message_of([&] { (void)pack.load("x.run"); }).ends_with("/day: no run \"x.run\" is in it"));
  PackBuilder later = two_runs();
  later.predict(Time{1}); // is no other pack
  CHECK(later.name().digest == builder.name().digest);
  later.add("More", "ring", Bytes{1}, random_run(4));
  CHECK(later.name().digest != builder.name().digest);
}

TEST_CASE("a pack's digest tells apart all that is run or read back differently") {
  struct Line {
    std::string label, algorithm;
    Bytes size;
    std::uint64_t run = 0; ///< a seed
  };
  const auto digest_of = [](const std::string& experiment, const std::vector<Line>& lines,
                            bool predicts) {
    PackBuilder builder(experiment);
    for (const Line& line : lines) {
      builder.add(line.label, line.algorithm, line.size, random_run(line.run));
      if (predicts) builder.predict(line.size.count % 2 == 0 ? Time{7} : Time{});
    }
    CHECK(pack_of(builder).name().digest == builder.name().digest);
    return builder.name().digest;
  };
  Random random(11);
  for (int trial = 0; trial < 30; ++trial) {
    std::vector<Line> lines(2 + random.below(4));
    const auto word = [&] { return random_bytes(random, 20) + "w"; };
    for (Line& line : lines)
      line = {word(), word(), Bytes{static_cast<std::int64_t>(random.below(1000))},
              random.below(3)};
    const std::uint64_t digest = digest_of("day", lines, false);
    CHECK(digest_of("day", lines, true) == digest);
    CHECK(digest_of("days", lines, false) != digest);
    const auto check_other = [&](const auto& change) {
      std::vector<Line> others = lines;
      change(others);
      CHECK(digest_of("day", others, false) != digest);
    };
    const std::size_t at = random.below(lines.size() - 1);
    check_other([&](auto& others) { others[at].label += "x"; });
    check_other([&](auto& others) { others[at].algorithm.insert(0, "y"); });
    check_other([&](auto& others) { others[at].size.count += 1; });
    check_other([&](auto& others) { others[at].run += 3; });
    check_other([&](auto& others) { others.pop_back(); });
    check_other([&](auto& others) { others.push_back(others[at]); });
    check_other([&](auto& others) { std::swap(others[at], others[at + 1]); });
  }
}

TEST_CASE("packs with files that were cut off, changed, lost or added are refused by name") {
  const TemporaryFolder folder;
  const std::string pack = folder.file("day");
  two_runs().write(pack);
  const std::map<std::string, std::string> files = files_of(pack);
  REQUIRE(files.size() == 3);
  const auto refusal = [&] { return message_of([&] { (void)load_pack(pack); }); };
  Random random(4);
  for (int trial = 0; trial < 500; ++trial) {
    const auto& [name, bytes] = *std::next(files.begin(), trial % 3);
    const std::string other =
        trial % 2 == 0 ? mutated(bytes, random) : bytes.substr(0, random.below(bytes.size()));
    write_file(pack + "/" + name, other);
    if (other != bytes) CHECK_THAT(refusal(), ContainsSubstring(pack + ": " + name));
    write_file(pack + "/" + name, bytes);
  }
  CHECK(refusal() == "");
  for (const auto& [name, bytes] : files) {
    fs::remove(pack + "/" + name);
    CHECK_THAT(refusal(), ContainsSubstring(name));
    write_file(pack + "/" + name, bytes);
  }
  for (const std::string added : {"rows.csv", "all_gather/other.run", "x/y"}) {
    write_file(pack + "/" + added, "");
    CHECK(refusal() ==
          pack + ": " + added + " doesn't belong to this pack: its pack.csv doesn't " + "name it");
    fs::remove(pack + "/" + added);
  }
  fs::create_symlink("/dev/null", pack + "/link");
  CHECK(refusal() == pack + ": link is no file");
  fs::remove(pack + "/link");
  write_file(pack + "/pack.csv",
             std::string(files.at("pack.csv")).replace(0, 16, "tutti-gpu pack,3"));
  CHECK(refusal() == pack + ": pack.csv:1:16: version 3, but this program reads 2");
  CHECK(message_of([&] { (void)load_pack(folder.file("")); }) ==
        folder.file("") + ": no pack: there is no pack.csv in it");
  CHECK(message_of([&] { (void)load_pack(pack + "/pack.csv"); }) ==
        pack + "/pack.csv: a pack is a folder: extract a tar of one first");
}

TEST_CASE("a pack is written as a whole, over a pack or nothing") {
  const TemporaryFolder folder;
  const std::string pack = folder.file("a/day");
  two_runs().write(pack + "/"); // makes missing folders
  const auto files = files_of(pack);
  PackBuilder other("other");
  other.add("\u00fc", "..", Bytes{1}, random_run(2)); // nothing for a file's name
  other.write(pack);
  CHECK(load_pack(pack).name().experiment == "other");
  fs::create_directory_symlink(pack, folder.file("link"));
  two_runs().write(folder.file("link")); // where it leads
  CHECK(files_of(pack) == files);        // the same bytes each time
  CHECK(fs::is_symlink(folder.file("link")));
  fs::create_directory(folder.file("empty"));
  other.write(folder.file("empty"));

  const auto refusal = [&](const std::string& place) {
    return message_of([&] { other.write(place); });
  };
  write_file(pack + "/mine", "x");
  CHECK_THAT(refusal(pack), ContainsSubstring(pack + ": cannot write: what is there is no pack") &&
                                ContainsSubstring("mine doesn't belong"));
  CHECK(files_of(pack).size() == files.size() + 1);
  CHECK_THAT(refusal(pack + "/mine"), ContainsSubstring("what is there is no pack"));
  CHECK_THAT(refusal(pack + "/mine/day"), ContainsSubstring("cannot write: Not a directory"));
  CHECK_THAT(refusal(folder.file("")), ContainsSubstring("what is there is no pack"));
  CHECK_THAT(refusal(""), ContainsSubstring("needs the name of a folder"));
  CHECK(refusal(folder.file("day.tar")) ==
        folder.file("day.tar") + ": a pack is a folder: name it \"day\"; `tar cf day.tar day` then "
                                 "makes one file of it");
  for (const auto& entry : fs::recursive_directory_iterator(folder.file("")))
    CHECK_THAT(entry.path().string(), !ContainsSubstring(".part")); // nothing half-written
}

TEST_CASE("a pack is no larger than it may be") {
  const TemporaryFolder folder;
  PackBuilder builder("large");
  PackedRun packed = random_run(2);
  packed.run.data.front().output.contributors.assign(9'000'000, 1);
  builder.add("a", "ring", Bytes{1}, packed);
  CHECK(builder.bytes() < most_pack_bytes);
  packed.run.data.front().output.contributors.assign(12'000'000, 1);
  builder.add("b", "ring", Bytes{1}, packed);
  CHECK_THAT(message_of([&] { builder.write(folder.file("large")); }),
             ContainsSubstring("more than 20000000"));
  CHECK_FALSE(fs::exists(folder.file("large")));
}

TEST_CASE("rows are read as they were written, the last of each counts") {
  const Rows rows = read_rows(rows_text() + line_of(FigureRow{"tick", 4, "s", "GPU"}), "r.csv");
  CHECK(rows.pack.digest == 77);
  CHECK(rows.pack.experiment == "day");
  REQUIRE(rows.runs.size() == 2);
  const RunRow wanted = some_run_row();
  const RunRow* row = rows.run(wanted.checksum);
  REQUIRE(row != nullptr);
  CHECK(row->file == wanted.file);
  CHECK(row->outcome == RunOutcome::done);
  CHECK(row->execution.device == wanted.execution.device);
  CHECK(row->execution.seconds == wanted.execution.seconds);
  CHECK(row->execution.bytes_moved == wanted.execution.bytes_moved);
  REQUIRE(row->execution.check.first);
  CHECK(row->execution.check.first->element == 123'456'789'012);
  CHECK(row->execution.check.first->expected == 0.1);
  CHECK(rows.runs[1].words == "rank 1, block 0 waits for ever");
  CHECK(rows.figure("tick")->value == 4);
  CHECK(rows.figure("tock") == nullptr);
  CHECK(rows.test("hang")->words == "no \"GPU\", none");
  CHECK(rows.notes.front().words == "a word");
}

TEST_CASE("rows that were changed are refused with their place") {
  const std::string text = rows_text();
  Random random(8);
  for (int trial = 0; trial < 3000; ++trial) {
    const std::string other = mutated(text, random);
    if (other != text)
      CHECK_THAT(message_of([&] { (void)read_rows(other, "r.csv"); }), ContainsSubstring("r.csv:"));
  }
  CHECK(message_of([&] { (void)read_rows(text.substr(0, text.size() - 1), "r.csv"); }) ==
        "r.csv:6:22: the last line has no end: the file was cut off");
  CHECK(message_of([] { (void)read_rows("", "r.csv"); }) ==
        "r.csv:1:1: no rows: the file is empty");
  CHECK_THAT(message_of([] { (void)read_rows("a,b\n", "r.csv"); }), ContainsSubstring("r.csv:1:1"));
}

TEST_CASE("fields hold any text but line ends") {
  Random random(6);
  for (int trial = 0; trial < 500; ++trial) {
    std::vector<std::string> fields;
    for (std::size_t i = 0; i < 1 + random.below(5); ++i) {
      std::string& field = fields.emplace_back();
      for (std::size_t n = random.below(6); n > 0; --n) field += "ab,\" \t\n"[random.below(7)];
    }
    CsvLine line(csv_line(fields), "f:1");
    for (std::string field : fields) {
      for (char& c : field)
        if (c == '\t' || c == '\n') c = ' ';
      CHECK(line.text("a field") == field);
    }
    line.finish();
    CHECK_THAT(message_of([&] { (void)line.text("a field"); }), ContainsSubstring("f:1:"));
  }
}

TEST_CASE("rows are added to what is there of the same pack") {
  const TemporaryFolder folder;
  const std::string path = folder.file("out/rows.csv");
  { RowsFile(path, {"day", 5}).add(TestRow{"a", TestOutcome::passed, ""}); }
  write_file(path, read_file(path) + "test,half a li"); // the machine went off
  { RowsFile(path, {"day", 5}).add(TestRow{"b", TestOutcome::failed, "why"}); }
  const Rows rows = load_rows(path);
  REQUIRE(rows.tests.size() == 2);
  CHECK(rows.tests[1].name == "b");
  CHECK(message_of([&] {
          RowsFile(path, {"other", 6});
        }) == path +
                  ":1:1: rows of the pack day (0000000000000005), not of other (0000000000000006): "
                  "name another file");
  CHECK(load_rows(path).tests.size() == 2);
  CHECK_THAT(message_of([&] {
               RowsFile(folder.file("out"), {"day", 6});
             }),
             ContainsSubstring("cannot"));
}

} // namespace pack_test
