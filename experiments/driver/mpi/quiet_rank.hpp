// Ranks behind rank 0 that keep quiet: an error that all ranks meet is said once.
#pragma once

namespace tutti::sweep {

/// Rank of this process as its launcher tells it (Open MPI, PMIx, PMI or Slurm), before MPI is
/// initialised; 0 where nobody does.
[[nodiscard]] int launched_rank();

/// From its making on, stdout goes nowhere and stderr to a file.
class QuietRank {
public:
  QuietRank();
  /// For the end of this process, which MPI has not been told of yet. An error is printed after two
  /// seconds: where rank 0 has met it as well, the launcher has ended all ranks by then. Returns
  /// the code.
  int ended(int code) const;

private:
  int stderr_ = -1, file_ = -1;
};

} // namespace tutti::sweep
