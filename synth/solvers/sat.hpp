// Satisfiability by CaDiCaL.
#pragma once

#include "sim/work_limit.hpp"

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace tutti {

/// A variable (positive, from 1) or its negation.
using Literal = int;

enum class SatAnswer : std::uint8_t {
  sat,
  unsat,
  unknown, ///< a limit was reached
};

struct SatSettings {
  /// Conflicts after which to give up, the same on every machine; negative: no such limit.
  std::int64_t most_conflicts = -1;
};

/// Not copyable. Deterministic as long as the WorkLimit isn't reached.
class SatSolver {
public:
  /// Writes a DRAT proof to `proof` (nothing where empty), to be complete once the solver is gone,
  /// and at solve() the clauses in DIMACS to `proof` + ".cnf".
  /// Errors: InputError where either can't be written.
  explicit SatSolver(const std::string& proof = {});
  ~SatSolver();
  SatSolver(const SatSolver&) = delete;
  SatSolver& operator=(const SatSolver&) = delete;
  SatSolver(SatSolver&&) = delete;
  SatSolver& operator=(SatSolver&&) = delete;

  [[nodiscard]] Literal new_variable();
  [[nodiscard]] int variable_count() const;
  void add(std::span<const Literal> clause);
  void add(std::initializer_list<Literal> clause) {
    add(std::span<const Literal>(clause.begin(), clause.size()));
  }
  [[nodiscard]] SatAnswer solve(const WorkLimit& limit, const SatSettings& settings = {});
  /// Pre: the last answer was sat.
  [[nodiscard]] bool value(Literal literal) const;

private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

} // namespace tutti
