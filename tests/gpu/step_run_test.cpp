// What processes owe a step: rows of what they were at when they ended.
#include "gpu/benchmark_run/step_run.hpp"
#include "gpu/benchmark_run/steps.hpp"
#include "runtime/pack/pack.hpp"
#include "runtime/pack/rows.hpp"
#include "sim/files/files.hpp"
#include "tests/catch.hpp"
#include "tests/message_of.hpp"
#include "tests/temporary_folder.hpp"

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

namespace step_run_test {

using namespace tutti;
using namespace tutti::gpu;
using namespace tutti::runtime;

namespace {

/// Three runs that nobody will execute.
Pack pack_of_three() {
  PackBuilder builder("gpu_day");
  for (std::uint32_t repetitions = 1; repetitions <= 3; ++repetitions) {
    PackedRun run;
    run.settings.repetitions = repetitions;
    builder.add("gpu_rate: " + std::to_string(repetitions), "ring", Bytes{4096}, run);
  }
  const TemporaryFolder folder;
  builder.write(folder.file("pack"));
  return load_pack(folder.file("pack"));
}

RunRow row_of(const Pack& pack, std::size_t file, std::uint64_t wrong = 0) {
  RunRow row;
  row.file = pack.files()[file];
  row.checksum = pack.checksum(row.file);
  row.execution.seconds = {1e-6};
  row.execution.device = "a GPU";
  row.execution.check.checked = 10;
  row.execution.check.wrong = wrong;
  if (wrong > 0) row.execution.check.first = WrongElement{};
  return row;
}

} // namespace

TEST_CASE("steps: whatever a process leaves, its step has a row of what it was at") {
  const Pack pack = pack_of_three();
  REQUIRE(pack.files().size() == 3);
  const TemporaryFolder folder;
  const DayStep& step = day_steps().back();
  EndingSignals signals;
  const auto perform = [&](const std::string& rows, const std::string& script) {
    StepRun run(step, pack, folder.file(""), std::chrono::seconds(20), signals);
    write_file(folder.file("rows"), rows);
    return run.perform({{{{"/bin/sh", "-c",
                           "cat " + folder.file("rows") + " >> " + run.rows_file() + "; " + script},
                          "",
                          pack.files()}},
                        ""});
  };
  const std::string first = line_of(row_of(pack, 0)), wrong = line_of(row_of(pack, 0, 2)),
                    second = line_of(row_of(pack, 1)), third = line_of(row_of(pack, 2));
  RunRow hung = row_of(pack, 1);
  hung.outcome = RunOutcome::hung;
  hung.execution = {};
  hung.words = "rank 0 waits";

  SECTION("all of them") {
    const StepRecord record = perform(first + second + third, "exit 0");
    CHECK(record.outcome == Outcome::done);
    CHECK(record.rows.runs.size() == 3);
    std::string why;
    CHECK(read_record(folder.file(""), step, pack.name(), why).has_value());
    CHECK_THAT(message_of([&] {
                 (void)read_record(folder.file(""), step, {"other", 1}, why);
               }),
               ContainsSubstring("belongs to the pack " + to_text(pack.name()) + ", not to other"));
  }
  SECTION("two, and says that all is well") {
    const StepRecord record = perform(first + second, "exit 0");
    CHECK(record.outcome == Outcome::failed);
    CHECK(record.words.ends_with("1 runs left no rows"));
  }
  SECTION("one, and crashes, whether its data is right or wrong") {
    for (const std::string& row : {first, wrong}) {
      const StepRecord record = perform(row, "echo at two; kill -SEGV $$");
      CHECK(record.outcome == Outcome::failed);
      REQUIRE(record.rows.runs.size() == 2);
      CHECK(record.rows.runs[1].file == pack.files()[1]);
      CHECK(record.rows.runs[1].outcome == RunOutcome::failed);
      CHECK(record.rows.runs[1].words.ends_with("its last words: at two"));
    }
  }
  SECTION("one, and ends itself, as a kernel can't be stopped") {
    const StepRecord record = perform(first, "echo waits; exit 1");
    REQUIRE(record.rows.runs.size() == 2);
    CHECK(record.rows.runs[1].outcome == RunOutcome::hung);
  }
  SECTION("one that hangs, said by itself") {
    const StepRecord record = perform(first + line_of(hung), "exit 1");
    REQUIRE(record.rows.runs.size() == 2);
    CHECK(record.words.ends_with(pack.files()[1] + " hung: rank 0 waits"));
  }
  SECTION("half a line") {
    const StepRecord record = perform(first + second.substr(0, second.size() / 2), "kill -9 $$");
    REQUIRE(record.rows.runs.size() == 2);
    CHECK(record.rows.runs[1].outcome == RunOutcome::failed);
  }
  SECTION("a line that was changed: the rows are put aside") {
    std::string other = first;
    other[8] = static_cast<char>(other[8] ^ 1);
    const StepRecord record = perform(other + second, "exit 0");
    CHECK(record.outcome == Outcome::failed);
    CHECK(std::filesystem::exists(step_path(folder.file(""), step) + ".csv.part.damaged"));
  }
}

} // namespace step_run_test
