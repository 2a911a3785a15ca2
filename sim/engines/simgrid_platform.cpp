#include "sim/engines/simgrid_platform.hpp"

#include <simgrid/kernel/resource/NetworkModelIntf.hpp>
#include <simgrid/kernel/routing/NetPoint.hpp>
#include <simgrid/kernel/routing/NetZoneImpl.hpp>
#include <simgrid/version.h>
#include <xbt/log.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <map>
#include <stdexcept>
#include <utility>

namespace tutti {

namespace sg4 = simgrid::s4u;
namespace kernel = simgrid::kernel;

/// A zone whose route between any two hosts is the list that was set just before. SimGrid looks a
/// route up synchronously when a communication starts.
class SimGridPlatform::PathZone : public kernel::routing::NetZoneImpl {
public:
  PathZone() : NetZoneImpl("network") {}
  std::vector<kernel::resource::StandardLinkImpl*> links; // by index
  std::span<const std::uint32_t> route;                   // of the next communication

private:
  void get_local_route(const kernel::routing::NetPoint*, const kernel::routing::NetPoint*,
                       kernel::routing::Route* into, double* latency) override {
    for (const std::uint32_t link : route) into->link_list_.push_back(links[link]);
    // CM02 weighs flows by route latency, and ignores rate changes of routes without any; the
    // latency factor (below) takes the delay itself away.
    *latency += 1;
  }
  void get_graph(const s_xbt_graph_t*, std::map<std::string, xbt_node_t, std::less<>>*,
                 std::map<std::string, xbt_edge_t, std::less<>>*) override {}
};

namespace {

/// SimGrid reads its command line; it keeps pointers into these.
struct Arguments {
  std::array<char, 6> name{"tutti"};
  std::array<char*, 2> values{name.data(), nullptr};
  int count = 1;
};

Arguments& arguments() {
  static Arguments given;
  xbt_log_control_set("root.thresh:warning");
  return given;
}

} // namespace

SimGridPlatform::SimGridPlatform(const std::vector<double>& rates)
    : engine_(&arguments().count, arguments().values.data()) {
  // SimGrid's own handlers report a crash where there is only an interrupted run.
  for (const int signal : {SIGINT, SIGTERM, SIGSEGV}) std::signal(signal, SIG_DFL);
  sg4::Engine::set_config("network/model:CM02");
  sg4::Engine::set_config("network/crosstraffic:0");
  sg4::Engine::set_config("network/TCP-gamma:0");
#if SIMGRID_VERSION >= 33400
  sg4::Engine::set_config("precision/timing:1e-13");
#else
  sg4::Engine::set_config("surf/precision:1e-13");
#endif
  zone_ = new PathZone; // the engine owns its zones
  from_ = zone_->create_host("from", {1.0})->seal();
  to_ = zone_->create_host("to", {1.0})->seal();
  std::vector<sg4::Link*> links;
  for (std::size_t l = 0; l < rates.size(); ++l) {
    links.push_back(zone_->create_link(fmt::format("l{}", l), {rates[l]})->seal());
    zone_->links.push_back(links.back()->get_impl());
  }
  zone_->get_iface()->get_network_model()->set_lat_factor_cb(
      [](double, const sg4::Host*, const sg4::Host*, const std::vector<sg4::Link*>&,
         const std::unordered_set<sg4::NetZone*>&) { return 0.0; });
  zone_->seal();
  sg4::Comm::on_completion_cb([this](const sg4::Activity& comm) {
    done_.clear();
    const auto token = reinterpret_cast<std::size_t>(comm.get_data<void>());
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

void SimGridPlatform::at(std::int64_t picoseconds, std::function<void()> body) {
  // A present picosecond may lie a rounding before the clock, and SimGrid refuses the past.
  const double date = std::max(static_cast<double>(picoseconds) * 1e-12, sg4::Engine::get_clock());
  kernel::timer::Timer::set(date, [this, body = std::move(body)] { guarded(body); });
}

void SimGridPlatform::run() {
  engine_.run();
  if (failure_) std::rethrow_exception(failure_);
  if (under_way_ > 0)
    throw std::runtime_error(fmt::format(
        "SimGrid stopped at {} s with {} communications under way: a double can't resolve this run",
        sg4::Engine::get_clock(), under_way_));
}

} // namespace tutti
