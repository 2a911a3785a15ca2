#include "tests/synth/solvers/drat_check.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <optional>
#include <sstream>
#include <vector>

namespace tutti::testing {

namespace {

using Clause = std::vector<int>; // literals as in DIMACS

/// Up to the closing 0; nothing where something else comes first.
std::optional<Clause> read_clause(std::istream& in) {
  Clause clause;
  for (int literal = 0; in >> literal;) {
    if (literal == 0) return clause;
    clause.push_back(literal);
  }
  return std::nullopt;
}

Clause sorted(Clause clause) {
  std::ranges::sort(clause);
  clause.erase(std::unique(clause.begin(), clause.end()), clause.end());
  return clause;
}

/// The clauses that are there, and what follows from them.
class ClauseSet {
public:
  void add(const Clause& clause) {
    const std::size_t id = clauses_.size();
    clauses_.push_back(sorted(clause));
    if (clauses_[id].empty()) has_empty_ = true;
    for (const int literal : clauses_[id]) with_[literal].push_back(id);
    if (clauses_[id].size() == 1) with_[0].push_back(id); // units
    ids_.emplace(clauses_[id], id);
  }

  /// False where there is no such clause.
  bool erase(const Clause& clause) {
    const auto found = ids_.find(sorted(clause));
    if (found == ids_.end()) return false;
    const std::size_t id = found->second;
    for (const int literal : clauses_[id]) std::erase(with_[literal], id);
    if (clauses_[id].size() == 1) std::erase(with_[0], id);
    ids_.erase(found);
    return true;
  }

  [[nodiscard]] bool has_empty() const { return has_empty_; }

  /// Whether propagation from the clause's negation ends in a conflict.
  [[nodiscard]] bool follows(const Clause& clause) const {
    Propagation propagation(*this);
    return !std::ranges::all_of(clause, [&](int literal) {
      return propagation.assume(-literal);
    }) || !propagation.propagate();
  }

  /// Whether all resolvents on the first literal follow.
  [[nodiscard]] bool is_resolved_away(const Clause& clause) const {
    if (clause.empty()) return false;
    const int pivot = clause.front();
    const auto with_negation = with_.find(-pivot);
    if (with_negation == with_.end()) return true;
    return std::ranges::all_of(with_negation->second, [&](std::size_t id) {
      Clause resolvent = clause;
      for (const int literal : clauses_[id])
        if (literal != -pivot) resolvent.push_back(literal);
      return follows(resolvent);
    });
  }

private:
  class Propagation {
  public:
    explicit Propagation(const ClauseSet& set) : set_(set) {}

    /// False where the negation is assumed already.
    bool assume(int literal) {
      if (is_true(-literal)) return false;
      if (!is_true(literal)) {
        true_[literal] = true;
        queue_.push_back(literal);
      }
      return true;
    }

    /// False where a clause has become empty.
    bool propagate() {
      if (set_.has_empty_) return false;
      if (!visit(0)) return false;
      for (std::size_t i = 0; i < queue_.size(); ++i)
        if (!visit(-queue_[i])) return false;
      return true;
    }

  private:
    [[nodiscard]] bool is_true(int literal) const { return true_.contains(literal); }

    /// Looks at the clauses with a literal that is false now (0: at the units).
    bool visit(int literal) {
      const auto found = set_.with_.find(literal);
      if (found == set_.with_.end()) return true;
      return std::ranges::all_of(found->second, [&](std::size_t id) {
        int open = 0; // the only literal without a value
        for (const int other : set_.clauses_[id]) {
          if (is_true(other)) return true;
          if (is_true(-other)) continue;
          if (open != 0) return true;
          open = other;
        }
        return open != 0 && assume(open);
      });
    }

    const ClauseSet& set_;
    std::map<int, bool> true_;
    std::vector<int> queue_;
  };

  std::vector<Clause> clauses_;                  // gone ones too; literals ascending
  std::map<int, std::vector<std::size_t>> with_; // by literal; 0: units
  std::multimap<Clause, std::size_t> ids_;
  bool has_empty_ = false;
};

/// Says what is wrong with the text.
std::string read_dimacs(const std::string& text, ClauseSet& set) {
  std::istringstream lines(text);
  std::size_t announced = 0, found = 0;
  int variables = -1;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream in(line);
    std::string word;
    if (line.empty() || line.front() == 'c') continue;
    if (line.front() == 'p') {
      if (!(in >> word >> word >> variables >> announced) || word != "cnf")
        return "the header isn't `p cnf VARIABLES CLAUSES`";
      continue;
    }
    const std::optional<Clause> clause = read_clause(in);
    if (!clause || variables < 0) return "no clause: " + line;
    for (const int literal : *clause)
      if (std::abs(literal) > variables) return "no such variable: " + line;
    set.add(*clause);
    ++found;
  }
  if (variables < 0) return "there is no header";
  return found == announced ? "" : "the header announces another number of clauses";
}

} // namespace

std::string drat_fault(const std::string& dimacs, const std::string& proof) {
  ClauseSet set;
  if (std::string fault = read_dimacs(dimacs, set); !fault.empty()) return fault;
  std::istringstream lines(proof);
  std::size_t number = 0;
  for (std::string line; !set.has_empty() && std::getline(lines, line);) {
    const std::string where = "line " + std::to_string(++number) + ": ";
    if (line.empty() || line.front() == 'c') continue;
    const bool erases = line.front() == 'd';
    std::istringstream in(erases ? line.substr(1) : line);
    const std::optional<Clause> clause = read_clause(in);
    if (!clause) return where + "no clause: " + line;
    if (erases) {
      if (!set.erase(*clause)) return where + "there is no clause " + line.substr(2);
    } else {
      if (!set.follows(*clause) && !set.is_resolved_away(*clause))
        return where + "doesn't follow: " + line;
      set.add(*clause);
    }
  }
  return set.has_empty() ? "" : "the empty clause isn't derived";
}

} // namespace tutti::testing
