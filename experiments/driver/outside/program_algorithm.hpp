// Algorithms that are programs: questions and answers are lines of JSON (docs/formats/program.md).
#pragma once

#include "sim/synthesizer.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tutti {

class OutsideProgram;
class ProgramKeeper;

/// One program, started when it is first asked and again where it is asked after a failure. Errors
/// of both: LimitReached of synthesize(), with which the program ends.
class ProgramAlgorithm {
public:
  /// `name`: as it is asked for. `file`: what is executed. `keeper`: lends it; may be null.
  ProgramAlgorithm(std::string name, std::string file, std::vector<std::string> arguments,
                   std::shared_ptr<ProgramKeeper> keeper);
  ~ProgramAlgorithm();

  /// What it says of one collective: whatever goes wrong is a failed outcome.
  [[nodiscard]] Outcome run(const Topology& topology, const Collective& collective,
                            const SynthesisOptions& options);
  /// The numbers of chunks per shard that it names; none where it names none. What goes wrong here
  /// is the outcome of the next run().
  [[nodiscard]] std::vector<std::uint32_t> chunk_candidates(const Topology& topology,
                                                            const Collective& collective,
                                                            const SynthesisOptions& options);

private:
  class Asked;

  /// One that runs. Errors: ProgramFailure.
  OutsideProgram& program(const SynthesisOptions& options);
  /// The number of a question, which no other of any process has.
  std::uint64_t next_id();

  std::string name_, file_;
  std::vector<std::string> arguments_;
  std::shared_ptr<ProgramKeeper> keeper_;
  std::uint64_t questions_ = 0;
  std::string failure_;      ///< of the question for chunks
  double chunk_seconds_ = 0; ///< that it took
  std::unique_ptr<OutsideProgram> program_;
};

} // namespace tutti
