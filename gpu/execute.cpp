// Failures of a run are results: exceptions become rows, and the next run goes on.

#include "gpu/execute.hpp"

#include "runtime/microbenchmarks.hpp"
#include "sim/error.hpp"

#include <exception>
#include <utility>

namespace tutti::gpu {

using namespace tutti::runtime;

RunRow run_row(const Pack& pack, const std::string& file) {
  RunRow row;
  row.file = file;
  row.checksum = pack.checksum(file);
  const PackedRun packed = pack.load(file);
  const auto ended = [&](RunOutcome outcome, const std::exception& error) {
    row.outcome = outcome;
    row.words = error.what();
  };
  try {
    row.execution = run_on_cuda(packed.run, packed.settings);
  } catch (const InputError& error) {
    ended(RunOutcome::refused, error);
  } catch (const HungRun& error) {
    ended(RunOutcome::hung, error);
  } catch (const std::exception& error) {
    ended(RunOutcome::failed, error);
  }
  return row;
}

bool is_well(const RunRow& row) {
  if (row.outcome == RunOutcome::refused) return true;
  return row.outcome == RunOutcome::done && row.execution.check.wrong == 0;
}

std::string words_of(const RunRow& row) {
  const DataCheck& check = row.execution.check;
  const std::string how = check.wrong == 0
                              ? std::string(to_text(row.outcome))
                              : std::to_string(check.wrong) + " of " +
                                    std::to_string(check.checked) + " elements are wrong";
  return row.words.empty() ? how : how + ": " + row.words;
}

TestRow test_row(const GpuTest& test) {
  if (const auto why = why_no_cuda()) throw InputError(*why);
  TestRow row{std::string(test.name), TestOutcome::passed, ""};
  try {
    test.run();
  } catch (const InputError& error) { // too little memory, say: words that a person reads
    row = {row.name, TestOutcome::left_out, error.what()};
  } catch (const TestLeftOut& error) {
    row = {row.name, TestOutcome::left_out, error.what()};
  } catch (const HungRun& error) {
    row = {row.name, TestOutcome::hung, error.what()};
  } catch (const std::exception& error) {
    row = {row.name, TestOutcome::failed, error.what()};
  }
  return row;
}

std::optional<FigureRow> figure_row(const FigureKind& kind) {
  const auto value = kind.measure();
  if (!value) return std::nullopt;
  return FigureRow{std::string(kind.name), *value, std::string(kind.unit),
                   gpu_machine().gpus.front().name};
}

} // namespace tutti::gpu
