// SimGrid completes communications and fires timers one after another, those of one instant in no
// order that means anything, and rounding may put 1e-16 s between them. So callbacks only note what
// has happened; a timer at the next instant that a double can name, put off as long as another
// timer is due within a quarter of a picosecond, then tells the user all of it at once. SimGrid's
// own precision, the same quarter, completes communications together.
//
// CM02 without cross-traffic and TCP's window makes a crossing take n/B.
#include "sim/engines/simgrid/library/network.hpp"

#include "sim/engines/simgrid/library/path_zone.hpp"
#include "sim/engines/simgrid/library/process.hpp"
#include "sim/engines/simgrid/library/versions.hpp"
#include "sim/error.hpp"

#include <simgrid/kernel/Timer.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <utility>

namespace tutti {

namespace sg4 = simgrid::s4u;
using simgrid::kernel::timer::Timer;

namespace {

constexpr double one_instant = 0.25e-12; // s

double bytes_per_second(Bandwidth rate) { return static_cast<double>(rate.bytes_per_second); }

} // namespace

SimGridNetwork::SimGridNetwork(const Topology& topology, NetworkUser& user,
                               std::span<const double> speeds)
    : engine_(&simgrid_arguments().count, simgrid_arguments().values.data()), user_(user),
      link_count_(topology.link_count()) {
  set_up_simgrid("2.5e-13");
  add_carriers(topology, speeds);
  simgrid_versions::on_completions([this](const sg4::Activity& activity) { completed(activity); });
}

void SimGridNetwork::add_carriers(const Topology& topology, std::span<const double> speeds) {
  zone_ = new PathZone; // the engine owns its zones
  sg4::NetZone& network = simgrid_versions::attached(*zone_);
  from_ = simgrid_versions::add_host(network, "from");
  to_ = simgrid_versions::add_host(network, "to");
  const auto add_link = [&](const std::string& name, double rate, sg4::Link::SharingPolicy policy) {
    sg4::Link* link = simgrid_versions::add_link(network, name, rate, policy);
    zone_->links.push_back(link->get_impl());
    return link;
  };
  const auto add = [&](const std::string& name, Bandwidth own, Bandwidth narrowest) {
    Carrier& carrier = carriers_.emplace_back();
    carrier.rate = bytes_per_second(own);
    carrier.route[0] = static_cast<std::uint32_t>(zone_->links.size());
    carrier.link = add_link(name, carrier.rate, sg4::Link::SharingPolicy::SHARED);
    if (narrowest >= own) return;
    carrier.pipe_rate = bytes_per_second(narrowest);
    carrier.route[1] = static_cast<std::uint32_t>(zone_->links.size());
    carrier.pipe =
        add_link(name + "'s group", carrier.pipe_rate, sg4::Link::SharingPolicy::FATPIPE);
  };
  for (std::uint32_t l = 0; l < link_count_; ++l)
    add(fmt::format("link {}", l), topology.link(LinkId{l}).bandwidth,
        topology.effective_bandwidth(LinkId{l}));
  for (std::size_t g = 0; g < topology.groups().size(); ++g)
    add(fmt::format("group {}", g), topology.groups()[g].bandwidth, topology.groups()[g].bandwidth);
  first_npu_ = carriers_.size();
  for (std::size_t npu = 0; npu < speeds.size(); ++npu)
    carriers_.emplace_back().host =
        simgrid_versions::add_host(network, fmt::format("npu {}", npu), speeds[npu]);
  simgrid_versions::ignore_latency(network);
  zone_->seal();
}

void SimGridNetwork::cross(LinkId link, Bytes size, Happening then) {
  carry(link.value, size, then);
}
void SimGridNetwork::share(std::uint32_t group, Bytes size, Happening then) {
  carry(link_count_ + std::size_t{group}, size, then);
}

void SimGridNetwork::carry(std::size_t number, Bytes size, Happening then) {
  Carrier& carrier = carriers_[number];
  carrier.then = then;
  carrier.comm = sg4::Comm::sendto_init();
  carrier.comm->set_payload_size(static_cast<std::uint64_t>(size.count));
  carrier.comm->set_data(reinterpret_cast<void*>(number));
  zone_->route = std::span(carrier.route).first(carrier.pipe == nullptr ? 1 : 2);
  carrier.comm->set_source(from_)->set_destination(to_); // the last call starts it
}

void SimGridNetwork::compute(std::uint32_t npu, double operations, Happening then) {
  const std::size_t number = first_npu_ + npu;
  Carrier& carrier = carriers_[number];
  carrier.then = then;
  carrier.exec = sg4::Exec::init();
  carrier.exec->set_flops_amount(operations);
  carrier.exec->set_data(reinterpret_cast<void*>(number));
  carrier.exec->set_host(carrier.host);
  carrier.exec->start();
}

void SimGridNetwork::completed(const sg4::Activity& activity) {
  Carrier& carrier = carriers_[reinterpret_cast<std::size_t>(activity.get_data<void>())];
  if (carrier.comm.get() == &activity) {
    done_.clear();
    done_.push_back(std::move(carrier.comm));
    set_scale(carrier, 1);
  } else if (carrier.exec.get() == &activity) {
    done_.clear();
    done_.push_back(std::move(carrier.exec));
  } else {
    return; // cancelled, or stopped
  }
  note(carrier.then);
}

void SimGridNetwork::turn_off(LinkId link) {
  Carrier& carrier = carriers_[link.value];
  if (carrier.comm) {
    carrier.rest = carrier.comm->get_remaining() / carrier.scale;
    done_.push_back(std::move(carrier.comm));
    set_scale(carrier, 1);
  }
  carrier.link->turn_off();
}

void SimGridNetwork::turn_on(LinkId link) {
  Carrier& carrier = carriers_[link.value];
  carrier.link->turn_on();
  if (carrier.rest == 0) return;
  // SimGrid carries whole bytes: the rest is rounded up, and the rates with it.
  const double rest = std::exchange(carrier.rest, 0.0), whole = std::ceil(rest);
  set_scale(carrier, whole / rest);
  carry(link.value, Bytes{static_cast<std::int64_t>(whole)}, carrier.then);
}

void SimGridNetwork::set_rate(LinkId link, Bandwidth rate) {
  carriers_[link.value].rate = bytes_per_second(rate);
  set_rates(carriers_[link.value]);
}

void SimGridNetwork::set_scale(Carrier& carrier, double scale) {
  if (carrier.scale == scale) return;
  carrier.scale = scale;
  set_rates(carrier);
}

void SimGridNetwork::set_rates(Carrier& carrier) {
  carrier.link->set_bandwidth(carrier.rate * carrier.scale);
  if (carrier.pipe != nullptr) carrier.pipe->set_bandwidth(carrier.pipe_rate * carrier.scale);
}

double SimGridNetwork::cancel(LinkId link) {
  Carrier& carrier = carriers_[link.value];
  const sg4::CommPtr comm = std::move(carrier.comm);
  if (!comm) return std::exchange(carrier.rest, 0.0); // it stands still, or has just got over
  const double rest = comm->get_remaining() / carrier.scale;
  // SimGrid reports the end of what is cancelled, twice even, and may use it until the next step.
  done_.push_back(comm);
  comm->cancel();
  set_scale(carrier, 1);
  return rest;
}

void SimGridNetwork::check_clock() const {
  if (clock() > longest_run) throw InputError(std::string(too_long));
}

Time SimGridNetwork::now() const { return Time{std::llround(clock() * 1e12)}; }

void SimGridNetwork::after(Time wait, Happening then) {
  if (wait.ps == 0) return note(then);
  const double at = clock() + wait.seconds();
  if (last_alarm_ != none && alarms_[last_alarm_].at == at) {
    alarms_[last_alarm_].happenings.push_back(then);
    return;
  }
  if (free_alarms_.empty()) {
    free_alarms_.push_back(static_cast<std::uint32_t>(alarms_.size()));
    alarms_.emplace_back();
  }
  const std::uint32_t alarm = last_alarm_ = free_alarms_.back();
  free_alarms_.pop_back();
  alarms_[alarm].at = at;
  alarms_[alarm].happenings.push_back(then);
  Timer::set(at, [this, alarm] { ring(alarm); });
}

void SimGridNetwork::ring(std::uint32_t alarm) {
  if (last_alarm_ == alarm) last_alarm_ = none;
  for (const Happening& happening : alarms_[alarm].happenings) note(happening);
  alarms_[alarm].happenings.clear();
  free_alarms_.push_back(alarm);
}

void SimGridNetwork::at(Time when, Happening then) {
  Timer::set(std::max(when.seconds(), clock()), [this, then] { note(then); });
}

void SimGridNetwork::note(Happening happening) {
  happened_.push_back(happening);
  if (!is_awaited_ && !is_handling_) await_rest_of_instant(clock());
}

void SimGridNetwork::await_rest_of_instant(double after) {
  is_awaited_ = true;
  Timer::set(std::nextafter(after, HUGE_VAL), [this] { handle(); });
}

void SimGridNetwork::handle() {
  if (failure_) return;
  if (const double next = Timer::next(); next >= 0 && next - clock() < one_instant) {
    await_rest_of_instant(next);
    return;
  }
  is_awaited_ = false;
  is_handling_ = true;
  try { // SimGrid's frames are no place for exceptions
    user_.begin_instant();
    while (!happened_.empty()) {
      do { // what follows at once belongs to the same round
        told_.swap(happened_);
        std::ranges::sort(told_);
        for (const Happening& happening : told_) user_.happened(happening);
        told_.clear();
      } while (!happened_.empty());
      user_.serve();
    }
  } catch (...) {
    failure_ = std::current_exception();
  }
  is_handling_ = false;
}

void SimGridNetwork::run() {
  engine_.run();
  if (failure_) std::rethrow_exception(failure_);
}

} // namespace tutti
