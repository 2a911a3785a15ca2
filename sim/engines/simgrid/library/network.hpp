// A topology in SimGrid's terms, for an engine that decides what sets out when and leaves to
// SimGrid how long it takes.
//
// Every link and every shared group is a SimGrid link of its true bandwidth, a crossing a
// communication of its true bytes, a latency a timer. A communication goes over the link and, where
// a group of the link is narrower, a FATPIPE link of the group's bandwidth. A group that is used
// gets a communication of its own, since it is free again when it has carried the bytes, however
// long the link goes on.
#pragma once

#include "sim/ids.hpp"
#include "sim/topology.hpp"
#include "sim/units.hpp"

#include <simgrid/s4u.hpp>

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <string_view>
#include <vector>

namespace tutti {

class PathZone;

/// What the engine gave a name to. Events of one round are reported in this order.
struct Happening {
  std::uint32_t kind = 0, subject = 0;
  auto operator<=>(const Happening&) const = default;
};

/// Decides, when the network says that something has happened.
class NetworkUser {
public:
  virtual ~NetworkUser() = default;
  /// What is reported from now on happens at another instant than what was reported before.
  virtual void begin_instant() = 0;
  virtual void happened(const Happening& happening) = 0;
  /// All that happens at this instant has been reported, but for what follows at once from what
  /// this lets set out; that makes the next round.
  virtual void serve() = 0;
};

/// One SimGrid engine. Only one may be made per process.
class SimGridNetwork {
public:
  /// SimGrid's clock is a double: up to here its steps are 0.007 ps at most. What chains of
  /// crossings add up of that remains below what decides an order; at 100 s it was seen not to.
  static constexpr double longest_run = 50; // s
  static constexpr std::string_view too_long =
      "SimGrid's clock, a double in seconds, can't be trusted with the order of picoseconds beyond "
      "50 s; --engine native, of fifo only, can";

  /// `speeds`: per NPU that computes, in operations a second.
  SimGridNetwork(const Topology& topology, NetworkUser& user, std::span<const double> speeds = {});

  /// `then` happens when the link, or the group, has carried so many bytes.
  /// Pre: it carries nothing.
  void cross(LinkId link, Bytes size, Happening then);
  void share(std::uint32_t group, Bytes size, Happening then);
  /// The link goes off: what crosses it stands still. The link is on again: its rest follows.
  void turn_off(LinkId link);
  void turn_on(LinkId link);
  /// Sets the rate of the link itself; what crosses it goes on at this rate, or at that of a
  /// narrower group.
  void set_rate(LinkId link, Bandwidth rate);
  /// What crosses the link, or stands still on it, never gets over it. Returns how many bytes are
  /// left.
  double cancel(LinkId link);

  /// `then` happens when the NPU has done so many operations. Pre: it does nothing else.
  void compute(std::uint32_t npu, double operations, Happening then);

  /// `then` happens after this time (0: still at this instant), or at this one, if not before now.
  void after(Time wait, Happening then);
  void at(Time when, Happening then);

  [[nodiscard]] Time now() const; ///< rounded
  /// In seconds.
  [[nodiscard]] static double clock() { return simgrid::s4u::Engine::get_clock(); }

  /// Errors: InputError where the clock is beyond `longest_run`.
  void check_clock() const;

  /// Runs until nothing is left to happen. What the user throws ends the run and is thrown here.
  void run();

private:
  /// A link, a group, or an NPU that computes, which has a host and nothing else.
  struct Carrier {
    std::array<std::uint32_t, 2> route{}; // of the zone's links: its own and the pipe
    simgrid::s4u::Link* link = nullptr;
    simgrid::s4u::Link* pipe = nullptr; // of the narrowest group, where that is narrower
    double rate = 0, pipe_rate = 0;     // bytes/s
    double scale = 1;                   // of both, see turn_on()
    double rest = 0;                    // bytes of what stands still
    simgrid::s4u::Host* host = nullptr;
    simgrid::s4u::CommPtr comm; // under way
    simgrid::s4u::ExecPtr exec;
    Happening then;
  };
  /// What happens by one timer.
  struct Alarm {
    double at = 0;
    std::vector<Happening> happenings;
  };
  static constexpr std::uint32_t none = UINT32_MAX;

  void add_carriers(const Topology& topology, std::span<const double> speeds);
  static void set_rates(Carrier& carrier);
  static void set_scale(Carrier& carrier, double scale);
  void carry(std::size_t carrier, Bytes size, Happening then);
  void completed(const simgrid::s4u::Activity& activity);
  void ring(std::uint32_t alarm);
  void note(Happening happening);
  void await_rest_of_instant(double after);
  void handle();

  simgrid::s4u::Engine engine_;
  NetworkUser& user_;
  PathZone* zone_ = nullptr; // owned by the engine
  simgrid::s4u::Host* from_ = nullptr;
  simgrid::s4u::Host* to_ = nullptr;
  std::vector<Carrier> carriers_; // links, groups, NPUs
  std::size_t first_npu_ = 0;     // among them
  std::uint32_t link_count_;
  std::vector<Alarm> alarms_;
  std::vector<std::uint32_t> free_alarms_;
  std::uint32_t last_alarm_ = none; // still to ring
  std::vector<Happening> happened_, told_;
  bool is_awaited_ = false, is_handling_ = false;
  std::vector<simgrid::s4u::ActivityPtr> done_; // may still be in use by SimGrid's present step
  std::exception_ptr failure_;
};

} // namespace tutti
