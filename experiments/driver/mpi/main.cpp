// The program `tutti_mpi`: the command `tutti` with sweeps over the ranks of an MPI job. `tutti`
// becomes it where that is asked for, so that the command itself needs no MPI.
#include "experiments/driver/cli/cli.hpp"
#include "experiments/driver/mpi/mpi_sweep.hpp"
#include "experiments/driver/mpi/quiet_rank.hpp"

int main(int argc, char** argv) {
  using namespace tutti::sweep;
  const SweepEngine engine = [](const Study& study, const SweepOptions& options) {
    return sweep_with_mpi(study, options);
  };
  if (launched_rank() == 0) return tutti::command_line(argc, argv, engine);
  QuietRank quiet;
  return quiet.ended(tutti::command_line(argc, argv, engine));
}
