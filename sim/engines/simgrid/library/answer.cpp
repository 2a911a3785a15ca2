// The one function of the library tutti_simgrid.so, which is all of Tutti that is linked with
// SimGrid (worker.cpp).
#include "sim/engines/simgrid/library/replay.hpp"
#include "sim/engines/simgrid/platform.hpp"
#include "sim/engines/simgrid/requests.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace tutti {

namespace {

Report replay_on_simgrid(const Topology& topology, const Collective& collective,
                         const Schedule& schedule, const TimeModel& model,
                         const RunOptions& options) {
  const auto simulate =
      model.discipline == Discipline::fluid ? replay_fluid_on_simgrid : replay_fifo_on_simgrid;
  return simulate(topology, collective, schedule, model, options);
}

} // namespace

extern "C" [[gnu::visibility("default")]] void
tutti_simgrid_answer(const std::string& version, const std::string& request, std::string& answer) {
  if (version != simgrid_worker_version())
    throw std::runtime_error(
        fmt::format("tutti_simgrid.so is of {}, not of {}", simgrid_worker_version(), version));
  answer = simgrid_answer(
      request, {replay_on_simgrid, simulate_iteration_on_simgrid, simgrid_platform_bytes});
}

} // namespace tutti
