// Routes are not tables: a communication runs over the list of links that was set just before it
// starts (PathZone). Ours is CM02 without cross-traffic and TCP's window, with the finest time
// precision, so that bandwidth alone is shared, and latency is left to timers. SimGrid's own models
// are as SimGrid has them: its configuration is left alone but for its name and the precision, a
// communication goes from host to host, and what comes back takes the opposite links.
#include "sim/engines/simgrid/fluid_network.hpp"

#include "sim/engines/simgrid/path_zone.hpp"
#include "sim/engines/simgrid/process.hpp"
#include "sim/engines/simgrid/versions.hpp"
#include "sim/error.hpp"
#include "sim/text.hpp"
#include "sim/units.hpp"

#include <fmt/format.h>
#include <simgrid/kernel/Timer.hpp>

#include <algorithm>
#include <map>
#include <utility>

namespace tutti {

namespace sg4 = simgrid::s4u;
namespace kernel = simgrid::kernel;

namespace {

/// As SimGrid calls it.
std::string name_of(NetworkModel model) {
  std::string name(to_text(model));
  std::ranges::transform(name, name.begin(), [](unsigned char c) {
    return static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  });
  return name;
}

} // namespace

FluidNetwork::FluidNetwork(const Topology& topology, NetworkModel model)
    : topology_(topology), model_(model),
      engine_(&simgrid_arguments().count, simgrid_arguments().values.data()) {
  if (model == NetworkModel::ideal)
    set_up_simgrid("1e-13");
  else
    set_up_simgrid_model(name_of(model), "1e-13");
  add_resources();
  sg4::Comm::on_completion_cb([this](const sg4::Activity& comm) {
    const auto token = reinterpret_cast<std::size_t>(comm.get_data<void>());
    if (token >= comms_.size() || comms_[token].get() != &comm) return;
    done_.clear();
    done_.push_back(std::move(comms_[token]));
    --under_way_;
    guarded([&] { on_done(token); });
  });
}

void FluidNetwork::add_resources() {
  zone_ = new PathZone; // the engine owns its zones
  sg4::NetZone& network = simgrid_versions::attached(*zone_);
  for (std::uint32_t n = 0; n < topology_.node_count(); ++n)
    hosts_.push_back(simgrid_versions::add_host(network, fmt::format("n{}", n)));
  const auto add = [&](const std::string& name, Bandwidth rate, Time latency) {
    sg4::Link* link = simgrid_versions::add_link(
        network, name, static_cast<double>(rate.bytes_per_second), sg4::Link::SharingPolicy::SHARED,
        model_ == NetworkModel::ideal ? 0 : latency.seconds());
    zone_->links.push_back(link->get_impl());
  };
  for (std::uint32_t l = 0; l < topology_.link_count(); ++l)
    add(fmt::format("l{}", l), topology_.link(LinkId{l}).bandwidth,
        topology_.link(LinkId{l}).latency);
  for (std::size_t g = 0; g < topology_.groups().size(); ++g)
    add(fmt::format("g{}", g), topology_.groups()[g].bandwidth, Time{});
  if (model_ == NetworkModel::ideal) simgrid_versions::ignore_latency(network);
  zone_->seal();

  std::map<std::pair<NodeId, NodeId>, std::vector<LinkId>> between;
  for (std::uint32_t l = 0; l < topology_.link_count(); ++l) {
    const Link& link = topology_.link(LinkId{l});
    between[{link.from, link.to}].emplace_back(l);
    of_link_.push_back({l});
    for (const std::uint32_t group : topology_.groups_of(LinkId{l}))
      of_link_.back().push_back(topology_.link_count() + group);
  }
  opposite_.resize(topology_.link_count());
  for (const auto& [ends, links] : between) // the first of parallel links goes with the first back
    if (const auto back = between.find({ends.second, ends.first}); back != between.end())
      for (std::size_t k = 0; k < links.size(); ++k)
        opposite_[links[k].value] = back->second[std::min(k, back->second.size() - 1)];
}

void FluidNetwork::communicate(std::span<const LinkId> path, Bytes size, std::size_t token) {
  route_.clear();
  back_.clear();
  Time latency;
  for (const LinkId link : path) {
    const std::vector<std::uint32_t>& its = of_link_[link.value];
    route_.insert(route_.end(), its.begin(), its.end());
    latency += topology_.link(link).latency;
    if (!opposite_[link.value].valid()) continue;
    const std::vector<std::uint32_t>& backwards = of_link_[opposite_[link.value].value];
    back_.insert(back_.begin(), backwards.begin(), backwards.end());
  }
  sg4::Host* const from = hosts_[topology_.link(path.front()).from.value];
  sg4::Host* const to = hosts_[topology_.link(path.back()).to.value];
  zone_->route = route_;
  if (model_ != NetworkModel::ideal) {
    zone_->back = back_;
    zone_->receiver = to->get_netpoint();
    zone_->latency = latency.seconds();
  }
  if (comms_.size() <= token) comms_.resize(token + 1);
  sg4::CommPtr comm = sg4::Comm::sendto_init();
  comm->set_payload_size(static_cast<std::uint64_t>(size.count));
  comm->set_data(reinterpret_cast<void*>(token));
  comms_[token] = comm;
  ++under_way_;
  comm->set_source(from)->set_destination(to); // the last call starts it
}

void FluidNetwork::at(std::int64_t picoseconds, std::function<void()> body) {
  // A present picosecond may lie a rounding before the clock, and SimGrid refuses the past.
  const double date = std::max(static_cast<double>(picoseconds) * 1e-12, sg4::Engine::get_clock());
  kernel::timer::Timer::set(date, [this, body = std::move(body)] { guarded(body); });
}

std::string FluidNetwork::parameters() const {
  if (model_ == NetworkModel::ideal) return "";
  return fmt::format(
      "SimGrid {}, network/model:{} {}", simgrid_versions::version(), name_of(model_),
      simgrid_versions::model_parameters(model_ == NetworkModel::smpi || model_ == NetworkModel::ib,
                                         model_ == NetworkModel::ib));
}

void FluidNetwork::run() {
  engine_.run();
  if (failure_) std::rethrow_exception(failure_);
  if (under_way_ > 0)
    throw InputError(
        fmt::format("SimGrid stopped at {} s with {} communications under way: a double "
                    "can't resolve this run; engine native, of fifo only, can",
                    sg4::Engine::get_clock(), under_way_));
}

} // namespace tutti
