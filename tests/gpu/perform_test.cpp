// What processes owe a step: rows of what they were at when they ended.
#include "gpu/benchmark_run/process.hpp"
#include "gpu/benchmark_run/results.hpp"
#include "runtime/pack/pack.hpp"
#include "runtime/pack/rows.hpp"
#include "sim/files/files.hpp"
#include "tests/catch.hpp"
#include "tests/message_of.hpp"
#include "tests/temporary_folder.hpp"

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>

namespace perform_test {

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
  const TemporaryFolder temporary;
  const std::string folder = temporary.file(""), none;
  BenchmarkStep step = benchmark_steps().back();
  step.tasks = [](const Scene& scene) {
    return Tasks{
        {{{"/bin/sh", scene.folder + "/script", scene.rows_file()}, "", scene.pack.files()}}};
  };
  const Rows before;
  const Scene scene{step, none, none, folder, pack, before, std::chrono::seconds(20)};
  note_interrupts();
  const auto left_by = [&](const std::string& rows, const std::string& script) {
    write_file(folder + "/rows", rows);
    write_file(folder + "/script", "cat " + folder + "/rows >> $1; " + script);
    return perform(scene);
  };
  const std::string first = line_of(row_of(pack, 0)), wrong = line_of(row_of(pack, 0, 2)),
                    second = line_of(row_of(pack, 1)), third = line_of(row_of(pack, 2));
  RunRow hung = row_of(pack, 1);
  hung.outcome = RunOutcome::hung;
  hung.execution = {};
  hung.words = "rank 0 waits";
  struct Case {
    std::string rows, script, ending;      ///< how the ending ends
    std::optional<RunOutcome> second = {}; ///< of the second run
  };
  const std::string last_words = "its last words: at two", damaged = second.substr(0, 9);
  for (const Case& c : {
           Case{first + second, "exit 0", "1 runs left no rows", RunOutcome::done},
           Case{first, "echo at two; kill -SEGV $$", last_words, RunOutcome::failed},
           Case{wrong, "echo at two; kill -SEGV $$", "and 1 more", RunOutcome::failed},
           Case{first, "echo at two; exit 1", last_words, RunOutcome::hung}, // by its own watchdog
           Case{first + line_of(hung), "exit 1", " hung: rank 0 waits", RunOutcome::hung},
           Case{first + damaged, "echo at two; kill -9 $$", last_words, RunOutcome::failed}, // half
       }) {
    const std::optional<StepResult> result = left_by(c.rows, c.script);
    INFO(c.script << ": " << result.value_or(StepResult{}).ending);
    REQUIRE(result.has_value());
    CHECK(result->has_failed());
    CHECK(result->ending.ends_with(c.ending));
    REQUIRE(result->rows.runs.size() == 2);
    CHECK(result->rows.runs[1].file == pack.files()[1]);
    CHECK(result->rows.runs[1].outcome == c.second);
  }
  const std::optional<StepResult> all = left_by(first + second + third, "exit 0");
  REQUIRE(all.has_value());
  CHECK(all->is_done());
  CHECK(all->rows.runs.size() == 3);
  std::string other = first; // a line that was changed: the earlier result stays
  other[8] = static_cast<char>(other[8] ^ 1);
  CHECK_THAT(message_of([&] { (void)left_by(other + second, "exit 0"); }),
             ContainsSubstring("the line was changed"));
  const std::string file = scene.path() + ".csv";
  CHECK(read_result(file, pack.name()).value_or(StepResult{}).lines == all->lines);
  CHECK_THAT(message_of([&] {
               (void)read_result(file, {"other", 1});
             }),
             ContainsSubstring("belongs to the pack " + to_text(pack.name()) + ", not to other"));
}

} // namespace perform_test
