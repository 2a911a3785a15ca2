// Executions that tutti-gpu measures on other machines: programs go out in a pack, rows come back.
// In both cases everything is made anew: synthesis, checks and predictions; what is executed is
// known by its bytes.
#pragma once

#include "experiments/driver/studies/executions/evaluation.hpp"
#include "runtime/pack/pack.hpp"
#include "runtime/pack/rows.hpp"

#include <optional>
#include <string>

namespace tutti {

/// Stands for the backend cuda of cases. Lives as long as they.
class PackBackend {
public:
  /// Packs: executions have no times.
  explicit PackBackend(const std::string& experiment);
  /// Measured: `rows` of the file.
  PackBackend(const std::string& experiment, runtime::Rows rows, std::string file);
  PackBackend(const PackBackend&) = delete;
  PackBackend& operator=(const PackBackend&) = delete;

  /// The case with this backend; what follows is of it, in its order.
  /// Errors: InputError for a case of another backend than cuda, of several passes, or whose links
  /// are real but profiled: what to execute next would depend on what was measured. And for a label
  /// that begins as those of peers do, but doesn't say the case's collective and GPUs: a GPU day
  /// reads there what to run and what to time NCCL with.
  [[nodiscard]] ExecutionCase begin(ExecutionCase c);

  /// Adds to the pack the predicted time of a run of the case that was begun.
  void note(const ExecutionRun& run);

  /// Why the case that was begun was left out there, by a note of the rows that begins with "left
  /// out" about the beginning of its label, the last such; empty where it wasn't.
  [[nodiscard]] std::string left_out() const;

  [[nodiscard]] const runtime::PackBuilder& pack() const { return pack_; }
  /// After all cases. Errors: InputError where the rows are of another pack.
  void require_same_pack() const;

private:
  runtime::Execution run(const runtime::Program& program, const runtime::ExecutionRequest& request);
  runtime::Execution time_links(const runtime::Program& program,
                                const runtime::ExecutionRequest& request);
  double copy_rate() const;
  /// Adds it; the row of it, nullptr where there is none.
  const runtime::RunRow* add(const std::string& algorithm, Bytes size,
                             const runtime::PackedRun& packed);

  std::optional<runtime::Rows> rows_; ///< none: packs
  std::string file_;
  runtime::PackBuilder pack_;
  BackendRow row_;
  std::string case_label_;
  std::string no_profile_; ///< why the case's links have no profile; else empty
  bool is_new_ = false;    ///< a run was added and isn't noted yet
};

/// What rows say beside runs: a line for each figure, "copy rate: 1.234 TB/s (NVIDIA H100)".
[[nodiscard]] std::string figures_text(const runtime::Rows& rows);

/// Tests that failed or hung, in words.
[[nodiscard]] std::vector<std::string> problems_of(const runtime::Rows& rows);

} // namespace tutti
