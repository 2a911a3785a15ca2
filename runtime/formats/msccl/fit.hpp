// A schedule as a program that runtimes take.
#pragma once

#include "runtime/checking/verify_program.hpp"
#include "runtime/formats/msccl/runtimes.hpp"
#include "runtime/lowering/lowering.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tutti::runtime {

struct FittedProgram {
  Program program; ///< in MSCCL's form where something was changed
  /// A fault of the program as it was lowered, before it was made to fit: a defect of Tutti.
  std::optional<ProgramFault> fault;
  std::vector<std::string> changes;  ///< in words: what was done so that it fits
  std::vector<std::string> refusals; ///< "rccl 2.21: gpu 0, block 1: ..."; empty: all take it
};

/// Lowers the schedule, and where one of the runtimes wouldn't run the program, lowers it
/// otherwise, by what helps first:
///   steps that they have no kernel for, in steps that they have; peers on more channels;
///   adjacent chunks that move alike in one step, as few as suffice
///   long blocks cut into several, each on a channel of its own
///   blocks shared by a connection in and one out.
/// What comes out passes verify_program() if it is one that all take; else it is the program as
/// lowered first, with what each of them refuses. Errors: as lower(). Pre: runtimes isn't empty.
/// Cost: up to a dozen times lower() and verify_program().
[[nodiscard]] FittedProgram lower_for(std::span<const MscclRuntime* const> runtimes,
                                      const Topology& topology, const Collective& collective,
                                      const Schedule& schedule, const LoweringOptions& options);

} // namespace tutti::runtime
