// Latency and bandwidth of every link, from timings (Shah et al. 2023 (TACCL, NSDI), section 4.1):
// n chunks one after another take n (alpha + beta s), n at once alpha + n beta s; alpha and beta by
// least squares over several sizes.
#pragma once

#include "runtime/executor.hpp"
#include "sim/topology.hpp"
#include "sim/watch.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace tutti::runtime {

struct ProfileOptions {
  std::vector<Bytes> sizes{
      {1 << 10}, {16 << 10}, {256 << 10}, {1 << 20}, {4 << 20}}; ///< of a chunk
  std::uint32_t chunks = 8;                                      ///< n
  /// A link that takes so long for a timing is measured with no larger sizes, but with two.
  double enough_seconds = 0.02;
  std::uint32_t repetitions = 3; ///< the median of these
  double watchdog_seconds = 30;
  /// What is executed doesn't depend on what was measured before: all sizes, however long they
  /// take, and loads on all links at once by the network's own rates.
  bool fixed = false;
  Watch watch = {}; ///< counts links that are measured
};

struct LinkTiming {
  Bytes size;
  double one_by_one_seconds = 0, at_once_seconds = 0;
};

struct LinkProfile {
  LinkId link;
  double latency_seconds = 0, seconds_per_byte = 0;
  double fit_error = 0; ///< geometric mean of max(fitted / measured, measured / fitted), less 1
  std::vector<LinkTiming> timings;
};

using Executor = std::function<Execution(const Program&, const ExecutionRequest&)>;

/// Least squares with relative weights (every timing counts alike), alpha and beta >= 0.
/// Pre: two timings or more.
[[nodiscard]] LinkProfile fit(LinkId link, std::vector<LinkTiming> timings, std::uint32_t chunks);

struct Profile {
  std::vector<LinkProfile> links; ///< [LinkId]
  /// What all links carry together at most, bytes/s: the sum of their rates, less by how much
  /// longer loads on all at once take than alone (and by the network's own groups). Where it is
  /// less, the profiled network has a shared group of all links with it (cores or a memory that
  /// they share).
  double joint_bytes_per_second = 0;
  [[nodiscard]] double fit_error() const; ///< geometric mean over the links
};

/// Measures every link of the network by programs of two ranks, then all at once. `plan` says
/// whether copies are throttled to the network's links. "One after another" is where each chunk
/// waits until the receiver has the one before (PlanOptions::one_by_one).
/// Errors: InputError for a link that doesn't join two NPUs (programs move nothing over it alone),
/// fewer than two sizes or chunks, a size that isn't a multiple of 4 bytes; Stopped.
[[nodiscard]] Profile profile(const Topology& network, const Executor& executor,
                              const ProfileOptions& options, const PlanOptions& plan);

/// The network with the measured latencies and bandwidths. Its note tells the fit error. A shared
/// group of all links is added where together they carry a fifth less than they do one by one.
[[nodiscard]] Topology profiled_topology(const Topology& network, const Profile& profile,
                                         const std::string& device);

} // namespace tutti::runtime
