// What Tutti needs of SimGrid: links without routing tables, communications over an explicit list
// of links, timers, and an exact alpha + n/B configuration. Only sim/engines/simgrid*.cpp include
// this.
#pragma once

#include <simgrid/kernel/Timer.hpp>
#include <simgrid/s4u.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace tutti {

class PathZone;

/// One SimGrid engine with one zone. Only one may be made per process.
class SimGridPlatform {
public:
  /// `rates`: bandwidth of each link in the caller's unit per second.
  explicit SimGridPlatform(const std::vector<double>& rates);

  /// Starts to move `amount` units over `links` (indices into `rates`), without latency. When it is
  /// done, on_done is called with `token`.
  void communicate(std::span<const std::uint32_t> links, std::uint64_t amount, std::size_t token);
  std::function<void(std::size_t token)> on_done;
  /// Ends a communication that is under way; on_done isn't called for it.
  void cancel(std::size_t token);

  /// Calls `body` when the clock shows `picoseconds`.
  void at(std::int64_t picoseconds, std::function<void()> body);

  /// The clock in picoseconds.
  [[nodiscard]] double now() const { return simgrid::s4u::Engine::get_clock() * 1e12; }

  /// Errors: InputError where the clock is off the picosecond that it should show.
  void check_clock(std::int64_t expected) const;

  /// Runs until nothing is left to happen. What a callback throws ends the run and is thrown here.
  /// Errors: InputError where SimGrid's clock is too coarse to go on.
  void run();

private:
  /// SimGrid's frames are no place for exceptions: keeps the first and lets the rest fall silent.
  template <typename Body> void guarded(const Body& body) {
    if (failure_) return;
    try {
      body();
    } catch (...) {
      failure_ = std::current_exception();
    }
  }

  simgrid::s4u::Engine engine_;
  PathZone* zone_ = nullptr; // owned by the engine
  simgrid::s4u::Host* from_ = nullptr;
  simgrid::s4u::Host* to_ = nullptr;
  std::vector<simgrid::s4u::CommPtr> comms_; // by token
  std::size_t under_way_ = 0;
  std::vector<simgrid::s4u::CommPtr> done_; // may still be in use by SimGrid's present step
  std::exception_ptr failure_;
};

} // namespace tutti
