// A platform file of SimGrid as SimGrid itself reads it: hosts, links and the routes between them,
// as plain data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tutti {

using SimGridProperties = std::vector<std::pair<std::string, std::string>>; ///< sorted by name

struct SimGridHost {
  std::string name;
  SimGridProperties properties;
};

struct SimGridLink {
  /// `other`: also what stands for both halves of a split duplex link, and is in no route.
  enum class Sharing : std::uint8_t { shared, fat_pipe, other };
  std::string name;     ///< a split duplex one is two, "..._UP" and "..._DOWN"
  double bandwidth = 0; ///< bytes/s
  double latency = 0;   ///< s
  Sharing sharing = Sharing::shared;
  SimGridProperties properties;
};

struct SimGridPlatform {
  std::vector<SimGridHost> hosts; ///< in the file's order
  std::vector<SimGridLink> links; ///< in the file's order; with those that SimGrid adds itself
  SimGridProperties properties;   ///< of all zones
  /// [from * hosts + to]: where its links begin in `route_links`, which the next one's beginning
  /// ends. Empty without routes.
  std::vector<std::uint64_t> route_begin;
  std::vector<std::uint32_t> route_links;
  std::vector<double> route_latency; ///< s; negative where there is no route

  [[nodiscard]] std::span<const std::uint32_t> route(std::size_t from, std::size_t to) const {
    const std::size_t pair = from * hosts.size() + to;
    return std::span(route_links)
        .subspan(route_begin[pair], route_begin[pair + 1] - route_begin[pair]);
  }
};

inline constexpr std::size_t most_simgrid_hosts = 2048; ///< with routes between all of them
inline constexpr std::size_t most_simgrid_route_links = 16'000'000; ///< in all routes

/// Loads a platform in a process of its own, with limits on time and memory. Routes lead from each
/// host to each other one; without `routes` none are asked for. Pre: the content names no other
/// files. Errors: InputError that begins with `source`: what SimGrid says, with its line; how its
/// process ended; too many hosts or links in routes.
[[nodiscard]] SimGridPlatform load_simgrid_platform(const std::string& content,
                                                    const std::string& source, bool routes,
                                                    double most_seconds = 60);

/// What load_simgrid_platform() does in a process that is linked with SimGrid: the platform's
/// bytes.
[[nodiscard]] std::string simgrid_platform_bytes(const std::string& content,
                                                 const std::string& source, bool routes,
                                                 double most_seconds);

} // namespace tutti
