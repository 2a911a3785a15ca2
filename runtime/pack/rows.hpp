// What was measured of a pack: rows as text, each with its own check, written one by one.
//
//   tutti-gpu rows,2,EXPERIMENT,DIGEST OF THE PACK
//   run,FILE,CHECKSUM,OUTCOME,DEVICE,CHECKED,WRONG,FIRST WRONG,SECONDS,SENT,MEMORY,WORDS
//   figure,NAME,VALUE,UNIT,DEVICE
//   test,NAME,OUTCOME,WORDS
//   note,ABOUT,WORDS
// and at the end of each line 8 digits that follow from it. Where several rows are of one file,
// figure or test, the last counts: a step was begun again.
#pragma once

#include "runtime/executor.hpp"
#include "runtime/pack/pack_name.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::runtime {

enum class RunOutcome : std::uint8_t {
  done,    ///< with times; data may be wrong
  refused, ///< can't run there: memory, blocks
  hung,    ///< its watchdog ended it
  failed,  ///< by CUDA
  cut_off, ///< at the limit of a step, whatever it was at
};
enum class TestOutcome : std::uint8_t { passed, failed, hung, left_out, cut_off };
[[nodiscard]] std::string_view to_text(RunOutcome outcome);
[[nodiscard]] std::string_view to_text(TestOutcome outcome); ///< "left out"

struct RunRow {
  std::string file;
  std::uint64_t checksum = 0; ///< of the file
  RunOutcome outcome = RunOutcome::done;
  Execution execution; ///< where it is done
  std::string words;   ///< why it isn't
};
struct FigureRow {
  std::string name;
  double value = 0;
  std::string unit, device;
};
struct TestRow {
  std::string name;
  TestOutcome outcome = TestOutcome::passed;
  std::string words; ///< what went wrong, or why it was left out
};
/// Passed, or left out.
[[nodiscard]] bool is_well(const TestRow& row);
struct NoteRow {
  std::string about, words;
};

/// Lines with their ends. Fields' line ends become spaces.
[[nodiscard]] std::string rows_head(const PackName& pack);
[[nodiscard]] std::string line_of(const RunRow& row);
[[nodiscard]] std::string line_of(const FigureRow& row);
[[nodiscard]] std::string line_of(const TestRow& row);
[[nodiscard]] std::string line_of(const NoteRow& row);

struct Rows {
  PackName pack;
  std::vector<RunRow> runs;
  std::vector<FigureRow> figures;
  std::vector<TestRow> tests;
  std::vector<NoteRow> notes;

  /// The last such row; nullptr where there is none.
  [[nodiscard]] const RunRow* run(std::uint64_t checksum) const;
  [[nodiscard]] const FigureRow* figure(std::string_view name) const;
  [[nodiscard]] const TestRow* test(std::string_view name) const;
};

/// Errors: InputError with file:line:column for other files, versions and kinds of rows, and for
/// lines that were changed or cut off.
[[nodiscard]] Rows read_rows(std::string_view text, const std::string& file_name);
[[nodiscard]] Rows load_rows(const std::string& path);

/// Which pack they are of, by the first line alone. Errors: as read_rows(), for that line.
[[nodiscard]] PackName pack_of_rows(std::string_view text, const std::string& file_name);

/// A file that rows are added to.
class RowsFile {
public:
  /// Begins the file, or goes on with one of the same pack; what stands behind its last whole line
  /// is dropped. A device or pipe is only written to. Creates missing folders. Errors: InputError
  /// where it is of another pack, damaged, no rows at all, or can't be written.
  RowsFile(std::string path, const PackName& pack);

  /// On the disk when this returns.
  template <typename Row> void add(const Row& row) { append(line_of(row)); }

private:
  void append(const std::string& line);
  [[noreturn]] void fail(int error) const;

  struct File {
    int number = -1;
    File() = default;
    ~File();
    File(const File&) = delete;
    File& operator=(const File&) = delete;
  };
  std::string path_;
  File file_;
};

} // namespace tutti::runtime
