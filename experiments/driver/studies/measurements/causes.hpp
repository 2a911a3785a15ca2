// What may be wrong with a machine, one thing at a time, and what it would measure then.
#pragma once

#include "experiments/driver/studies/measurements/comparison.hpp"
#include "experiments/driver/studies/measurements/diagnosis.hpp"
#include "experiments/driver/studies/measurements/log_facts.hpp"

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tutti {

/// How a machine with something wrong differs from the one that is assumed.
struct Change {
  std::shared_ptr<const Topology> topology = nullptr; ///< null: the same
  std::map<std::string, std::string> settings = {};   ///< of the library
  double more_seconds = 0;                            ///< that every row takes
};

struct Cause {
  std::string_view name;    ///< "lost_nic"
  std::string_view words;   ///< "a network card is lost": after "if"
  std::string_view look_at; ///< where to look, or what to try
  /// What it may be on this machine; none where it can't be.
  std::vector<Change> (*changes)(const Case& healthy);
  /// Whether the log says that it is so, or that it isn't; nothing where it says neither.
  std::optional<bool> (*is_said)(const LogFacts& facts) = nullptr;
  bool changes_ranks = false; ///< it can't be where rows say how many ranks there were
};

/// All that are known, the most usual first.
[[nodiscard]] std::span<const Cause> causes();

/// A class of causes that explain the rows alike.
struct CauseClass {
  std::vector<const Cause*> causes;  ///< the best first; null: nothing is wrong
  std::vector<std::size_t> variants; ///< of each, the one that fits best: CauseModel::variants()
  double off = 0;                    ///< exp(mean of |ln(predicted / measured)|) - 1, of the best
  std::size_t within = 0;            ///< rows in the 90 % interval of the best
  bool fits = false;                 ///< the rows may well be of such a machine
  std::string next;                  ///< a measurement that tells them apart; empty: none does
};

struct CauseReport {
  std::size_t rows = 0;             ///< with a prediction
  double healthy_off = 0;           ///< as CauseClass::off where nothing is wrong
  std::size_t healthy_within = 0;   ///< as CauseClass::within likewise
  std::vector<CauseClass> findings; ///< the best first
};

/// What a machine would measure with each single cause, for the problems of some rows. Each cause's
/// curve is predicted as the machine's own.
class CauseModel {
public:
  /// `of` has all but the collective and its size; `in` is what else is said of it, as in
  /// case_of(). Errors: those of the evaluator.
  CauseModel(Case of, std::string in, std::span<const MeasuredRow> rows, Evaluator evaluate);

  /// Which single cause explains rows of these problems, by diagnose(): the noise of a row is 5 %,
  /// or what runs of the same row differ by, and what the transport's constants may be off is taken
  /// into account, each alike in all rows. What the log says of itself counts as well.
  [[nodiscard]] CauseReport explain(std::span<const MeasuredRow> rows,
                                    const LogFacts& facts = {}) const;

  /// A measurement that tells the causes of a class apart, and what they would measure; empty where
  /// none does. Errors: those of the evaluator.
  [[nodiscard]] std::string next_measurement(const CauseClass& alike) const;

  /// A change of a cause, with what each problem takes then. Without a cause nothing has changed.
  struct Variant {
    const Cause* cause = nullptr;
    Change change;
    std::vector<Forecast> points;

    [[nodiscard]] double seconds(std::size_t point) const {
      return points[point].time->seconds() + change.more_seconds;
    }
    [[nodiscard]] Expected expected(std::size_t point) const;
  };
  /// Healthy first. What moves no row is left out: these rows can't say anything of it.
  [[nodiscard]] std::span<const Variant> variants() const { return variants_; }
  /// One row for each problem.
  [[nodiscard]] std::span<const MeasuredRow> problems() const { return problems_; }

private:
  struct Points;

  Case of_;
  std::string in_;
  Evaluator evaluate_;
  std::vector<MeasuredRow> problems_;
  std::vector<Variant> variants_;
};

/// What a log says of itself, a line each, with its line: "NCCL 2.27.7 (log:3)".
[[nodiscard]] std::vector<std::string> lines_of(const LogFacts& facts, const std::string& file);

/// A line each: "6 of 6 rows fit if NVLS isn't used (off by 1.3 %, else 19.7 %)".
[[nodiscard]] std::vector<std::string> lines_of(const CauseReport& report);

} // namespace tutti
