// The program `tutti_mpi`: the command `tutti` with sweeps over the ranks of an MPI job. `tutti`
// becomes it where that is asked for, so that the command itself needs no MPI.
#include "experiments/cli.hpp"
#include "experiments/mpi/mpi_sweep.hpp"
#include "experiments/mpi/quiet_rank.hpp"

#include <cstdlib>

namespace {

// Only rank 0 has something to report; the work of the others is done with this.
tutti::sweep::SweepOutcome sweep(const tutti::sweep::Study& study,
                                 const tutti::sweep::SweepOptions& options) {
  if (auto outcome = tutti::sweep::sweep_with_mpi(study, options)) return *outcome;
  std::exit(EXIT_SUCCESS);
}

} // namespace

int main(int argc, char** argv) {
  if (tutti::sweep::launched_rank() == 0) return tutti::command_line(argc, argv, sweep);
  tutti::sweep::QuietRank quiet;
  return quiet.ended(tutti::command_line(argc, argv, sweep));
}
