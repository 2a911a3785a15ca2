// A sweep over MPI whose points do what tests need: mpi_trial STORE POINTS WHAT, with WHAT one of
//   quick      nothing but arithmetic
//   busy       50 ms of CPU time each
//   crash      the point of k = 7 aborts, that of k = 8 kills its server
//   slow       a second each
//   no_points  an InputError of rank 0
#include "experiments/driver/mpi/mpi_sweep.hpp"
#include "experiments/driver/pool/interrupts.hpp"
#include "sim/error.hpp"
#include "tests/sweep/sweep_samples.hpp"

#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <thread>

namespace {

using namespace tutti;
using namespace tutti::sweep;

PointResults simulate(const Point& point, const std::string& what) {
  const double k = point.values.front().number;
  if (what == "crash" && k == 7) ::abort();
  if (what == "crash" && k == 8) ::kill(::getppid(), SIGKILL);
  if (what == "slow") std::this_thread::sleep_for(std::chrono::seconds(1));
  if (what == "busy")
    while (std::clock() < CLOCKS_PER_SEC / 20) continue;
  return samples::results(k);
}

int run(const std::string& store, std::size_t points, const std::string& what) {
  SweepOptions options;
  options.store = store;
  const SweepParts parts{[what](const Point& point) { return simulate(point, what); },
                         [what, points] {
                           if (what == "no_points") throw InputError("no points");
                           return samples::space(points);
                         }};
  const auto outcome = sweep_with_mpi(samples::sweep(), options, parts);
  if (outcome)
    std::printf("evaluated %zu%s\n", outcome->evaluated,
                outcome->interrupted ? ", interrupted" : "");
  return 0;
}

} // namespace

int main(int, char** arguments) {
  try {
    return run(arguments[1], std::stoul(arguments[2]), arguments[3]);
  } catch (const InputError& error) {
    std::fprintf(stderr, "trial: %s\n", error.what());
    return 2;
  } catch (const Interrupted&) {
    return interrupted_exit_code;
  }
}
