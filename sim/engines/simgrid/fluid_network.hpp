// SimGrid's network as fluid sharing uses it: communications over several links at once, by our own
// max-min or by one of SimGrid's models.
#pragma once

#include "sim/time_model.hpp"
#include "sim/topology.hpp"

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
class FluidNetwork {
public:
  /// Errors: InputError where SimGrid doesn't know the model.
  FluidNetwork(const Topology& topology, NetworkModel model);

  /// Starts to move so many bytes along the path. When it is done, on_done is called with `token`.
  /// On SimGrid's models the path's latency is part of that, otherwise not.
  void communicate(std::span<const LinkId> path, Bytes size, std::size_t token);
  std::function<void(std::size_t token)> on_done;

  /// Calls `body` when the clock shows `picoseconds`.
  void at(std::int64_t picoseconds, std::function<void()> body);

  /// The clock in picoseconds.
  [[nodiscard]] double now() const { return simgrid::s4u::Engine::get_clock() * 1e12; }

  /// SimGrid's version, model and parameters, as its command line takes them; of ideal "".
  [[nodiscard]] std::string parameters() const;

  /// Runs until nothing is left to happen. What a callback throws ends the run and is thrown here.
  /// Errors: InputError where SimGrid's clock is too coarse to go on.
  void run();

private:
  void add_resources();

  /// SimGrid's frames are no place for exceptions: keeps the first and lets the rest fall silent.
  template <typename Body> void guarded(const Body& body) {
    if (failure_) return;
    try {
      body();
    } catch (...) {
      failure_ = std::current_exception();
    }
  }

  const Topology& topology_;
  NetworkModel model_;
  simgrid::s4u::Engine engine_;
  PathZone* zone_ = nullptr;                        // owned by the engine
  std::vector<simgrid::s4u::Host*> hosts_;          // per node
  std::vector<std::vector<std::uint32_t>> of_link_; // per link: it and its groups, in the zone
  std::vector<LinkId> opposite_;                    // per link; invalid where there is none
  std::vector<std::uint32_t> route_, back_;         // of the communication that begins
  std::vector<simgrid::s4u::CommPtr> comms_;        // by token
  std::size_t under_way_ = 0;
  std::vector<simgrid::s4u::CommPtr> done_; // may still be in use by SimGrid's present step
  std::exception_ptr failure_;
};

} // namespace tutti
