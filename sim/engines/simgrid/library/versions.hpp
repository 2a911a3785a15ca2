// What SimGrid calls differently from 3.32 (Debian 12) to 4 (Debian 13); 3.35 is Ubuntu 24.04's.
// Only sim/engines/simgrid/ includes this.
#pragma once

#if __has_include(<simgrid/kernel/resource/NetworkModelIntf.hpp>)
#include <simgrid/kernel/resource/NetworkModelIntf.hpp>
#endif
#include <simgrid/engine.h>
#include <simgrid/kernel/routing/NetZoneImpl.hpp>
#include <simgrid/s4u.hpp>
#include <simgrid/version.h>
#include <xbt/config.hpp>

#include <sstream>
#include <string>
#include <unordered_set>
#include <vector>

namespace tutti::simgrid_versions {

namespace sg4 = simgrid::s4u;

/// To be called before anything is added to the zone. SimGrid 4 comes with a root zone.
inline sg4::NetZone& attached(simgrid::kernel::routing::NetZoneImpl& zone) {
#if SIMGRID_VERSION >= 40000
  zone.set_parent(sg4::Engine::get_instance()->get_netzone_root()->get_impl());
#endif
  return *zone.get_iface();
}

/// `speed`: operations a second.
inline sg4::Host* add_host(sg4::NetZone& zone, const std::string& name, double speed = 1) {
#if SIMGRID_VERSION >= 40000
  return zone.add_host(name, speed)->seal();
#else
  return zone.create_host(name, speed)->seal();
#endif
}

/// `latency` in seconds.
inline sg4::Link* add_link(sg4::NetZone& zone, const std::string& name, double rate,
                           sg4::Link::SharingPolicy policy, double latency = 0) {
#if SIMGRID_VERSION >= 40000
  sg4::Link* const link = zone.add_link(name, rate);
#else
  sg4::Link* const link = zone.create_link(name, rate);
#endif
  return link->set_latency(latency)->set_sharing_policy(policy)->seal();
}

/// Registers a callback for the ends of communications and computations.
template <typename Callback> void on_completions(const Callback& callback) {
  sg4::Comm::on_completion_cb(callback);
#if SIMGRID_VERSION >= 33400
  sg4::Exec::on_completion_cb(callback);
#endif
}

inline void ignore_latency(sg4::NetZone& zone) {
  const auto factor = [](double, const sg4::Host*, const sg4::Host*, const std::vector<sg4::Link*>&,
                         const std::unordered_set<sg4::NetZone*>&) { return 0.0; };
#if SIMGRID_VERSION >= 33500
  zone.set_latency_factor_cb(factor);
#else
  zone.get_network_model()->set_lat_factor_cb(factor);
#endif
}

inline std::string version() {
  int major = 0, minor = 0, patch = 0;
  sg_version_get(&major, &minor, &patch);
  return std::to_string(major) + "." + std::to_string(minor) +
         (patch == 0 ? "" : "." + std::to_string(patch));
}

/// What a network model goes by, as SimGrid's command line takes it. `by_size`: its factors depend
/// on the size of a message; `contention`: it has penalties for what meets at a node.
inline std::string model_parameters(bool by_size, bool contention) {
  std::ostringstream text;
  text.precision(10);
  const auto add = [&](const char* name, const auto& value) {
    text << name << ':' << value << ' ';
  };
  const auto add_text = [&](const char* name) {
    add(name, simgrid::config::get_value<std::string>(name));
  };
  const auto add_number = [&](const char* name) {
    add(name, simgrid::config::get_value<double>(name));
  };
#if SIMGRID_VERSION >= 33500
  (void)by_size; // all models have lists of factors
  add_text("network/latency-factor");
  add_text("network/bandwidth-factor");
#else
  if (by_size) {
    add_text("smpi/lat-factor");
    add_text("smpi/bw-factor");
  } else {
    add_number("network/latency-factor");
    add_number("network/bandwidth-factor");
  }
#endif
  add_number("network/weight-S");
  add_number("network/TCP-gamma");
  if (contention) add_text("smpi/IB-penalty-factors");
  add("network/crosstraffic",
      simgrid::config::get_value<bool>("network/crosstraffic") ? "yes" : "no");
  std::string parameters = text.str();
  parameters.pop_back();
  return parameters;
}

/// In seconds.
inline void set_time_precision(const std::string& precision) {
#if SIMGRID_VERSION >= 33400
  sg4::Engine::set_config("precision/timing:" + precision);
#else
  sg4::Engine::set_config("surf/precision:" + precision);
#endif
}

} // namespace tutti::simgrid_versions
