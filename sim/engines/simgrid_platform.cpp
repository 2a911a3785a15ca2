// SimGrid as a clock and a bandwidth solver only. Routes are not tables: a communication runs over
// the list of links that was set just before it starts (PathZone). CM02 without cross traffic and
// TCP's window, with the finest time precision, makes a crossing take n/B; latency is left to
// timers. Each pitfall that this avoids is commented at its line.

#include "sim/engines/simgrid_platform.hpp"

#include "sim/engines/simgrid/path_zone.hpp"
#include "sim/engines/simgrid/process.hpp"
#include "sim/engines/simgrid_versions.hpp"
#include "sim/error.hpp"
#include "sim/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace tutti {

namespace sg4 = simgrid::s4u;
namespace kernel = simgrid::kernel;

SimGridPlatform::SimGridPlatform(const std::vector<double>& rates)
    : engine_(&simgrid_arguments().count, simgrid_arguments().values.data()) {
  set_up_simgrid("1e-13");
  zone_ = new PathZone; // the engine owns its zones
  sg4::NetZone& network = simgrid_versions::attached(*zone_);
  from_ = simgrid_versions::add_host(network, "from");
  to_ = simgrid_versions::add_host(network, "to");
  for (std::size_t l = 0; l < rates.size(); ++l) {
    sg4::Link* link = simgrid_versions::add_link(network, fmt::format("l{}", l), rates[l]);
    zone_->links.push_back(link->get_impl());
  }
  simgrid_versions::ignore_latency(network);
  zone_->seal();
  sg4::Comm::on_completion_cb([this](const sg4::Activity& comm) {
    const auto token = reinterpret_cast<std::size_t>(comm.get_data<void>());
    if (comms_[token].get() != &comm) return; // cancelled
    done_.clear();
    done_.push_back(std::move(comms_[token]));
    --under_way_;
    guarded([&] { on_done(token); });
  });
}

void SimGridPlatform::communicate(std::span<const std::uint32_t> links, std::uint64_t amount,
                                  std::size_t token) {
  if (comms_.size() <= token) comms_.resize(token + 1);
  sg4::CommPtr comm = sg4::Comm::sendto_init();
  comm->set_payload_size(amount);
  comm->set_data(reinterpret_cast<void*>(token));
  comms_[token] = comm;
  ++under_way_;
  zone_->route = links;
  comm->set_source(from_)->set_destination(to_); // the last call starts it
}

void SimGridPlatform::cancel(std::size_t token) {
  // SimGrid reports the end of what is cancelled, twice even, and may use it until the next step.
  const sg4::CommPtr comm = std::move(comms_[token]);
  done_.push_back(comm);
  --under_way_;
  comm->cancel();
}

void SimGridPlatform::at(std::int64_t picoseconds, std::function<void()> body) {
  // A present picosecond may lie a rounding before the clock, and SimGrid refuses the past.
  const double date = std::max(static_cast<double>(picoseconds) * 1e-12, sg4::Engine::get_clock());
  kernel::timer::Timer::set(date, [this, body = std::move(body)] { guarded(body); });
}

void SimGridPlatform::check_clock(std::int64_t expected) const {
  const double off = now() - static_cast<double>(expected);
  if (std::abs(off) > 0.4)
    throw InputError(fmt::format("SimGrid's clock is {} ps off at {}: a double can't resolve this "
                                 "run; engine native, of fifo only, can",
                                 off, to_text(Time{expected})));
}

void SimGridPlatform::run() {
  engine_.run();
  if (failure_) std::rethrow_exception(failure_);
  if (under_way_ > 0)
    throw InputError(
        fmt::format("SimGrid stopped at {} s with {} communications under way: a double "
                    "can't resolve this run; engine native, of fifo only, can",
                    sg4::Engine::get_clock(), under_way_));
}

} // namespace tutti
