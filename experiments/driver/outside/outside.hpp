// Algorithms that are no part of Tutti, as rows like any other: how they are named, and what
// becomes of a name.
//
//   ./swing.py, bin/swing           a program of one's own: whatever can be executed
//   program:NAME ARGS               one that a shell would find, with arguments
//   ./swing.so                      a shared object
//   ./swing.py:swing                a function of Python's that tutti.algorithm registers
//   file:swing_{size}.json          schedules, or MSCCL XML
#pragma once

#include "sim/files/config.hpp"
#include "sim/synthesizer.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tutti {

struct OutsideName {
  enum class Kind : std::uint8_t { program, shared_object, schedules };
  Kind kind = Kind::program;
  std::string file; ///< that is executed, loaded or read
  std::vector<std::string> arguments;
  std::string function; ///< of Python's, in the file
  std::string folder;   ///< where a pattern's files are; empty: the working directory

  /// Whether code of it runs.
  [[nodiscard]] bool runs() const { return kind != Kind::schedules; }
};

/// None for what can only be the name of a row of Tutti's. Errors: InputError for "file:" and
/// "program:" alone, and for unknown blanks of a pattern.
[[nodiscard]] std::optional<OutsideName> outside_name(std::string_view text);

/// Where not `all` are allowed, only those of admit_below(). An `announcing` one says on stderr,
/// once for each, which program a file has run, and has a keeper started with the first.
[[nodiscard]] ProgramGate program_gate(bool all, bool announcing);

/// `name`: as it is shown. Nothing is run yet. Errors: InputError where there is no such file, or
/// where it can't be executed.
[[nodiscard]] AlgorithmRow outside_algorithm(const std::string& name, const OutsideName& what,
                                             std::shared_ptr<ProgramKeeper> keeper = nullptr);

} // namespace tutti
