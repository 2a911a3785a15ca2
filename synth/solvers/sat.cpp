// CaDiCaL, with what its interface leaves to the caller: it polls a limit, it writes a proof to a
// file whose errors are noticed, and the formula is written beside the proof, so that a checker
// needs nothing from here.

#include "synth/solvers/sat.hpp"

#include "sim/error.hpp"
#include "sim/files/files.hpp"
#include "sim/limit_watch.hpp"

#include <fmt/format.h>

#include <cadical.hpp>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <ostream>
#include <system_error>

namespace tutti {

namespace {

class LimitTerminator : public CaDiCaL::Terminator {
public:
  explicit LimitTerminator(const WorkLimit& limit) : watch_(limit) {}
  bool terminate() override { return watch_.reached(); }

private:
  LimitWatch watch_;
};

} // namespace

/// A file that CaDiCaL writes to.
class ProofFile {
public:
  explicit ProofFile(std::string path) : path_(std::move(path)) {
    if (path_.empty()) return;
    std::error_code ignored; // opening says what is wrong
    const std::filesystem::path folder = std::filesystem::path(path_).parent_path();
    if (!folder.empty()) std::filesystem::create_directories(folder, ignored);
    file_ = std::fopen(path_.c_str(), "wb");
    if (file_ == nullptr) fail(errno);
  }
  ~ProofFile() {
    if (file_ != nullptr) std::fclose(file_);
  }
  ProofFile(const ProofFile&) = delete;
  ProofFile& operator=(const ProofFile&) = delete;

  [[nodiscard]] std::FILE* file() const { return file_; } // null where there is none
  [[nodiscard]] const std::string& path() const { return path_; }
  void check_written() {
    errno = 0;
    if (std::fflush(file_) != 0 || std::ferror(file_) != 0) fail(errno != 0 ? errno : EIO);
  }

private:
  [[noreturn]] void fail(int error) const {
    throw InputError(
        fmt::format("{}: cannot write: {}", path_, std::generic_category().message(error)));
  }

  std::string path_;
  std::FILE* file_ = nullptr;
};

struct SatSolver::Implementation {
  explicit Implementation(const std::string& path) : proof(path) {
    solver.set("quiet", 1);
    if (proof.file() == nullptr) return;
    solver.set("binary", 0);
    solver.trace_proof(proof.file(), path.c_str());
  }

  // As they were added: CaDiCaL's own copy is simplified already.
  void write_clauses() const {
    write_file(proof.path() + ".cnf", [&](std::ostream& out) {
      out << fmt::format("p cnf {} {}\n", variables,
                         std::count(literals.begin(), literals.end(), 0));
      for (const Literal literal : literals) out << literal << (literal == 0 ? '\n' : ' ');
    });
  }

  ProofFile proof; // outlives the solver, that writes to it to the end
  CaDiCaL::Solver solver;
  int variables = 0;
  std::vector<Literal> literals; // each clause with a 0 behind it; only for the file
};

SatSolver::SatSolver(const std::string& proof)
    : implementation_(std::make_unique<Implementation>(proof)) {}

SatSolver::~SatSolver() = default;

Literal SatSolver::new_variable() { return ++implementation_->variables; }

int SatSolver::variable_count() const { return implementation_->variables; }

void SatSolver::add(std::span<const Literal> clause) {
  for (const Literal literal : clause) {
    assert(literal != 0 && std::abs(literal) <= implementation_->variables);
    implementation_->solver.add(literal);
  }
  implementation_->solver.add(0);
  if (implementation_->proof.file() == nullptr) return;
  implementation_->literals.insert(implementation_->literals.end(), clause.begin(), clause.end());
  implementation_->literals.push_back(0);
}

SatAnswer SatSolver::solve(const WorkLimit& limit, const SatSettings& settings) {
  Implementation& own = *implementation_;
  if (own.proof.file() != nullptr) own.write_clauses();
  if (limit.reached()) return SatAnswer::unknown;
  own.solver.reserve(own.variables);
  if (settings.most_conflicts >= 0)
    own.solver.limit("conflicts", static_cast<int>(std::min<std::int64_t>(
                                      settings.most_conflicts, std::numeric_limits<int>::max())));
  LimitTerminator terminator(limit);
  own.solver.connect_terminator(&terminator);
  const int answer = own.solver.solve();
  own.solver.disconnect_terminator();
  if (own.proof.file() != nullptr) own.proof.check_written();
  return answer == 10 ? SatAnswer::sat : answer == 20 ? SatAnswer::unsat : SatAnswer::unknown;
}

bool SatSolver::value(Literal literal) const { return implementation_->solver.val(literal) > 0; }

} // namespace tutti
