// How long each link and shared group is busy with what is routed over it, and what one more chunk
// costs there.
#pragma once

#include "sim/time_model.hpp"
#include "sim/topology.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace tutti {

/// What a link costs: busy time at a price that grows as load^power, so that paths of least cost
/// keep the highest load low (a smooth form of the maximum; Aspnes et al. 1997, "On-line routing of
/// virtual circuits"), plus `path` of the time that the chunk itself needs.
struct Pricing {
  unsigned doublings = 4; ///< power = 2^doublings
  double path = 0.02;
};

/// Times in ps; plain arithmetic, so that results are the same on every machine.
class LinkLoads {
public:
  /// `orbit_of` [link]: links of one orbit have one load together, that of each of them where what
  /// is routed stands for all its images; empty: each link has its own. Pre: with orbits, no shared
  /// groups.
  LinkLoads(const Topology& topology, const TimeModel& model,
            std::span<const std::uint32_t> orbit_of = {});

  void add(LinkId link, Bytes size) { change(link, size, 1); }
  void remove(LinkId link, Bytes size) { change(link, size, -1); }

  /// Prices from now on: relative to the present peak.
  void set_pricing(const Pricing& pricing);
  /// The cost of one more chunk; always positive.
  [[nodiscard]] double cost(LinkId link, Bytes size) const {
    const Resource& own = of(link);
    const double bytes = static_cast<double>(size.count);
    double cost = priced(own, bytes) + path_cost(link, size) + 1;
    if (own.shared)
      for (const std::uint32_t g : topology_.groups_of(link)) cost += priced(groups_[g], bytes);
    return cost;
  }
  /// The part of it that is for the chunk's own time.
  [[nodiscard]] double path_cost(LinkId link, Bytes size) const {
    const Resource& own = of(link);
    return pricing_.path * (own.path + static_cast<double>(size.count) * own.path_per_byte);
  }
  /// The highest load of any link or group.
  [[nodiscard]] double peak() const;
  /// Whether the link or one of its groups is loaded beyond `load`.
  [[nodiscard]] bool beyond(LinkId link, double load) const;

private:
  struct Resource {
    double load = 0;
    double each = 0, per_byte = 0;      // busy time of a chunk
    double path = 0, path_per_byte = 0; // its own time
    bool shared = false;
  };

  [[nodiscard]] double priced(const Resource& resource, double bytes) const {
    const double time = resource.each + bytes * resource.per_byte;
    double price = (resource.load + time) * per_peak_;
    for (unsigned i = 0; i < pricing_.doublings; ++i) price *= price;
    return time * price;
  }
  [[nodiscard]] const Resource& of(LinkId link) const { return links_[orbit_of_[link.value]]; }
  void change(LinkId link, Bytes size, double sign);

  const Topology& topology_;
  std::vector<std::uint32_t> orbit_of_; // [link]
  std::vector<Resource> links_, groups_;
  Pricing pricing_;
  double per_peak_ = 0;
};

} // namespace tutti
