// The program tutti_simgrid_worker: one simulation on SimGrid for a process that has several
// threads (sim/engines/simgrid/worker.hpp). Nobody starts it by hand.
#include "sim/engines/simgrid/worker.hpp"

#include <cstdio>

int main(int count, char** arguments) {
  if (count == 2) return tutti::serve_simgrid(arguments[1]);
  std::fputs("tutti_simgrid_worker is started by Tutti's library\n", stderr);
  return 2;
}
