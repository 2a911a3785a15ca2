// Logs as people paste them: what launchers, terminals, collectors of logs and web pages add to
// each line, rows that NCCL's messages tear apart, forms of all versions. The logs are made up.
#include "experiments/driver/studies/measurements/log_text.hpp"
#include "experiments/driver/studies/measurements/measured_row.hpp"
#include "sim/error.hpp"
#include "sim/files/files.hpp"
#include "sim/text.hpp"
#include "tests/catch.hpp"
#include "tests/paths.hpp"

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace pasted_log_test {

using namespace tutti;

namespace {

Measurements read(const std::string& text, const MeasurementRequest& request = {}) {
  const ScratchFolder folder;
  const std::string file = folder.path() + "/log";
  write_file(file, text);
  return read_measurements(file, request);
}

std::string devices(int count) {
  std::string text = "# Using devices\n";
  for (int r = 0; r < count; ++r)
    text += "#  Rank  " + std::to_string(r) +
            " Group  0 Pid 1 on    nodea device  0 [0000:18:00] NVIDIA H100 80GB HBM3\n";
  return text;
}

const std::string names =
    "#       size         count      type   redop    root     time   algbw   busbw #wrong     time "
    "  algbw   busbw #wrong\n"
    "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us) "
    " (GB/s)  (GB/s)       \n";
const std::string row_1 = "     1048576        262144     float     sum      -1    50.00   20.97   "
                          "20.97      0    52.00  "
                          " 20.16   20.16      0\n";
const std::string row_2 = "     2097152        524288     float     sum      -1    80.00   26.21   "
                          "26.21      0    82.00  "
                          " 25.58   25.58      0\n";
const std::string end = "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 20.97\n";
const std::string whole =
    "# Collective test starting: all_reduce_perf\n" + devices(2) + names + row_1 + row_2 + end;

std::string each_line(const std::string& text, const std::function<std::string(int)>& prefix) {
  std::string made;
  int number = 0;
  for (const std::string_view line : split(trimmed(text), '\n'))
    made += prefix(number++) + std::string(line) + "\n";
  return made;
}

std::string in_utf16(const std::string& text, bool is_little) {
  std::string bytes = is_little ? "\xff\xfe" : "\xfe\xff";
  for (const char c : text) {
    const std::string zero(1, '\0');
    bytes += is_little ? c + zero : zero + c;
  }
  return bytes;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos;
       at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

void check_whole(const Measurements& made) {
  REQUIRE(made.rows.size() == 4);
  CHECK(made.notes.empty());
  CHECK(made.rows[0].kind == CollectiveKind::all_reduce);
  CHECK(made.rows[0].npus == 2);
  CHECK(made.rows[0].seconds == Approx(50e-6));
  CHECK(made.rows[3].is_in_place);
  CHECK(made.rows[3].seconds == Approx(82e-6));
  CHECK(made.facts.devices.size() == 2);
}

} // namespace

TEST_CASE("what launchers, collectors and pages put before a line is taken off") {
  const std::string prefix = GENERATE(
      "[1,0]<stdout>:", "[1,0]<stderr>: ", "[prterun-node-a-4711@1,0]<stdout>:",
      "[prterun-a-1@1,0][node-a:4711]<stdout>: ", "Mon Nov 30 09:54:05 2026[1,0]<stdout>:",
      "2026-11-30 09:54:05[prterun-a-1@1,0]<stdout>: ", "0: ", " 12: ", "[0] ",
      "node-a: ", "[pod/launcher-x7/worker] ", "2026-11-30T09:54:05.123456789Z ",
      "[pod/a/b] 2026-11-30T09:54:05+01:00 ", "2026-11-30T09:54:05.1Z stdout F ",
      "2026-11-30 09:54:05,123 ", "09:54:05.123 ", "[2026-11-30 09:54:05] ",
      "Nov  3 09:54:05 node-a nccl[4711]: ", "Nov 30 09:54:05 ", "> ", ">> ", "&gt; ", "    ", "\t",
      "worker-0  | ", "[rank0]: ", "\x1b[32m", "^[[1;32m", "\x1b[0m\x1b[36m12: ");
  CAPTURE(prefix);
  check_whole(read(each_line(whole, [&](int) { return prefix; })));
  // Also where a row goes on in another line that has it.
  const std::string torn =
      prefix + "     1048576        262144     float     sum      -1nodea:1:2 [0] NCCL INFO x\n" +
      prefix + "    50.00   20.97   20.97      0    52.00   20.16   20.16      0\n";
  check_whole(read(replaced(each_line(whole, [&](int) { return prefix; }), prefix + row_1, torn)));
}

TEST_CASE("forms of a file: ends of lines, encodings, Markdown, no marks") {
  check_whole(read(replaced(whole, "\n", "\r\n")));
  check_whole(read("\xef\xbb\xbf" + whole));
  check_whole(read(in_utf16(whole, true)));
  check_whole(read(in_utf16(whole, false)));
  check_whole(read(in_utf16(whole, true).substr(2))); // no byte order mark
  check_whole(read(replaced(whole, "  ", "\xc2\xa0 ")));
  check_whole(read(replaced(whole, "#", ""))); // Markdown's headings
  check_whole(read("Hello,\n\nmy numbers:\n```\n" + whole + "```\nIs this normal, with 8 GPUs?\n"));
  check_whole(read(replaced(whole, "\n", "\x1b[0m\n")));
  check_whole(read(
      "<pre>" + replaced(replaced(whole, "\n", "</span>\n"), "   ", "   <span class=\"line\">")));
  check_whole(read("$ srun ./all_reduce_perf_mpi -b 1M\n" + whole.substr(whole.find('\n') + 1)));
  std::string table =
      "# Collective test starting: all\\_reduce\\_perf\n" + devices(2) +
      "| size | count | type | redop | root | time | algbw | busbw | #wrong | time | "
      "algbw | busbw | #wrong |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|\n";
  for (const std::string& row : {row_1, row_2}) {
    table += "|";
    for (const std::string_view word : words_of(trimmed(row)))
      table += " " + std::string(word) + " |";
    table += "\n";
  }
  check_whole(read(table + end));
}

TEST_CASE("a line that no kind of prefix explains is found by its form") {
  check_whole(read(
      each_line(whole, [](int n) { return "<7>job=12 [a] step " + std::to_string(n) + " "; })));
}

TEST_CASE("figures in milliseconds, and columns of NCCL 2.4") {
  const Measurements made =
      read("nThread 1 nGpus 1 minBytes 1 maxBytes 2 step: 2(factor) warmup iters: 5 iters: 20\n"
           "#   Rank  0 on a device  0 [0x00] V100\n"
           "#      bytes             N    type      op     time  algbw  busbw      res     time  "
           "algbw  busbw      res\n"
           "#   Rank  1 on b device  0 [0x00] V100\n"
           "    67108864      16777216   float     sum    7.145   9.39   9.39      N/A    8.716   "
           "7.70   7.70      N/A\n",
           {CollectiveKind::all_reduce, {}});
  REQUIRE(made.rows.size() == 2);
  CHECK(made.rows[0].seconds == Approx(7.145e-3));
  CHECK(made.rows[0].npus == 2);
  const Measurements said =
      read(replaced(replaced(whole, "(us)", "(ms)"), "20.97   20.97", "0.02    0.02"));
  REQUIRE(said.rows.size() >= 1);
  CHECK(said.rows[0].seconds == Approx(50e-3));
}

TEST_CASE("a blank redop, with and without a root") {
  const Measurements gather = read(
      "# Collective test starting: gather_perf\n" + devices(2) + names +
      "     1048576        131072     float               1    50.00   20.97   10.49      0    "
      "52.00   20.16   10.08      0\n" +
      end);
  REQUIRE(gather.rows.size() == 2);
  CHECK(gather.rows[0].kind == CollectiveKind::gather);
  CHECK(gather.rows[0].root == 1);
  // An error of what is only moved is wrong data; alltoall has no place of its own.
  const Measurements all = read("./alltoall_perf\n" + devices(2) +
                                "#       size         count      type   redop     time   algbw   "
                                "busbw  error     time   algbw   busbw  error\n"
                                "     1048576        131072     float            50.00   20.97   "
                                "10.49  0e+00    52.00   20.16   10.08  1e+00\n" +
                                end);
  REQUIRE(all.rows.size() == 1);
  CHECK_FALSE(all.rows[0].is_in_place);
  REQUIRE(all.left_out.size() == 1);
  CHECK_THAT(all.left_out[0],
             ContainsSubstring(":6: in place: an error of 1e+00: wrong data (nccl-tests has no "
                               "all_to_all in place, this column is void)"));
}

TEST_CASE("sendrecv and hypercube, whose algbw is another one") {
  const Measurements ring = read(
      "# Collective test starting: sendrecv_perf\n" + devices(2) + names +
      "     1048576        262144     float    none      -1    50.00   20.97   20.97      0    "
      "52.00   20.16   20.16    N/A\n" +
      end);
  CHECK(ring.rows.size() == 2);
  const Measurements cube = read(
      "# Collective test starting: hypercube_perf\n" + devices(4) + names +
      "     1048576         65536     float              -1    50.00   15.73   15.73      0    "
      "52.00   15.12   15.12      0\n" +
      end);
  REQUIRE(cube.rows.size() == 2);
  CHECK(cube.notes.empty());
  CHECK(cube.rows[0].kind == CollectiveKind::hypercube);
}

TEST_CASE("messages of NCCL's between, in and behind rows") {
  const std::string head = "# Collective test starting: all_reduce_perf\n" + devices(2) + names;
  const std::string message = "nodea:1:2 [0] NCCL INFO AllReduce: opCount 5 count 16\n";
  // In three parts, and a figure in the middle.
  check_whole(read(head + "     1048576        262144     float     sum      -1    50" + message +
                   message + ".00   20.97   20.97      0" + message +
                   "    52.00   20.16   20.16      0\n" + row_2 + end));
  // A host that nobody has named, whose own name may begin with digits.
  check_whole(read(head +
                   "     1048576        262144     float     sum      -14be1:1:2 [0] NCCL "
                   "WARN x\n    50.00   20.97   20.97      0    52.00   20.16   20.16      "
                   "0\n" +
                   row_2 + end));
  // The rest stands behind the message.
  check_whole(read(head +
                   "     1048576        262144     float     sum      -1nodea:1:2 [0] NCCL INFO "
                   "rank 3    50.00   20.97   20.97      0    52.00   20.16   20.16      0\n" +
                   row_2 + end));
  // Ends of lines that are lost.
  check_whole(read(head + replaced(row_1, "\n", " ") + row_2 + end));
  // Figures of nobody are named.
  const Measurements orphan =
      read(head + row_1 + "    52.00   20.16   20.16      0\n" + row_2 + end);
  CHECK(orphan.rows.size() == 4);
  REQUIRE(orphan.left_out.size() == 1);
  CHECK_THAT(orphan.left_out[0], ContainsSubstring(":8: 4 values in 13 columns"));
}

TEST_CASE("half a row of a job that died counts as far as it is complete") {
  const std::string head =
      "# Collective test starting: all_reduce_perf\n" + devices(2) + names + row_1;
  const auto rows_of = [&](const std::string& cut) {
    const Measurements made = read(head + cut);
    CHECK_FALSE(made.notes.empty());
    return made.rows.size() - 2;
  };
  const std::string row = row_2.substr(0, row_2.size() - 1);
  CHECK(rows_of(row.substr(0, row.find("80.00") + 3)) == 0);
  CHECK(rows_of(row.substr(0, row.find("80.00") + 5)) == 0); // may be 80.001
  CHECK(rows_of(row.substr(0, row.find("26.21"))) == 1);
  CHECK(rows_of(row.substr(0, row.find("82.00") + 2)) == 1);
  CHECK(rows_of(row.substr(0, row.find("25.58") + 2)) == 2);
}

TEST_CASE("several runs are all kept, and how far they differ is told") {
  const Measurements made =
      read(whole + replaced(whole, "50.00   20.97   20.97", "55.00   19.07   19.07"));
  CHECK(made.rows.size() == 8);
  REQUIRE(made.notes.size() == 1);
  CHECK_THAT(made.notes[0], ContainsSubstring("4 problems were measured more than once") &&
                                ContainsSubstring("by 10.0 %, in all_reduce 1MiB 2 times"));
}

TEST_CASE("rows alone are read where their figures say what they are") {
  const MeasurementRequest request{CollectiveKind::all_reduce, {}};
  const Measurements made = read(row_1 + row_2, request);
  CHECK(made.rows.size() == 4);
  CHECK_THAT(made.notes.at(0), ContainsSubstring("no line names the columns"));
  CHECK_THROWS_WITH(read(replaced(row_1, "20.97   20.97", "77.00   77.00"), request),
                    ContainsSubstring("a row before the line that names its columns"));
}

TEST_CASE("processes that don't know of each other measure nothing") {
  CHECK_THROWS_WITH(read("# Collective test starting: all_reduce_perf\n" + devices(1) + devices(1) +
                         names + row_1 + end),
                    ContainsSubstring("rank 0 a second time"));
}

TEST_CASE("cases: every log that was once pasted is read", "[slow]") {
  const std::filesystem::path cases =
      std::filesystem::path(TUTTI_SOURCE_DIR).parent_path() / "shared/cases";
  if (!std::filesystem::exists(cases)) {
    WARN("no shared/cases beside the repository: skipped");
    return;
  }
  struct Case {
    const char* file;
    std::size_t rows;
    CollectiveKind asked = CollectiveKind::custom; ///< custom: the log says it
  };
  using enum CollectiveKind;
  for (const Case& c :
       {Case{"log_zoo/a_nccl24_milliseconds.log", 10, all_reduce},
        Case{"log_zoo/b_mpirun_tag_output.log", 10, all_reduce},
        Case{"log_zoo/e_alltoall_blank_redop_error1.log", 2, all_to_all},
        Case{"log_zoo/i_no_hash_marks.log", 2, all_reduce},
        Case{"log_zoo/j_vega_all_gather.log", 2, all_gather},
        Case{"log_zoo/k_rccl_mi300x_develop.log", 2, all_reduce},
        Case{"log_zoo/o_rccl_tests_lines.json", 4}, Case{"log_zoo/p_nccl_tests_J.json", 6},
        Case{"log_zoo/q_per_iteration_I.log", 6}, Case{"users/05_glued_row.log", 23},
        Case{"users/06_split_rows.log", 8}, Case{"users/07_half_row.log", 14},
        Case{"users/08_ansi.log", 12}, Case{"users/12_sendrecv.log", 12},
        Case{"users/24_nvls_off.log", 6, all_reduce}}) {
    CAPTURE(c.file);
    MeasurementRequest request;
    if (c.asked != custom) request.kind = c.asked;
    CHECK(read_measurements((cases / c.file).string(), request).rows.size() == c.rows);
  }
}

} // namespace pasted_log_test
