// What a certificate claims (check.hpp), and what each kind of claim asks of it.
#pragma once

#include "sim/collective.hpp"
#include "sim/time_model.hpp"
#include "sim/topology.hpp"
#include "synth/bounds/bounds.hpp"
#include "synth/bounds/check_network.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tutti::bounds::checking {

inline constexpr auto anywhere = [](NodeId) { return true; };

/// Its network, collective, model and bound must outlive it.
struct Claim {
  Claim(const Topology& topology, const Collective& collective, const TimeModel& model,
        Chunking chunking, const Bound& bound, std::span<const Time> starts);

  const Topology& topology;
  const Collective& collective;
  const TimeModel& model;
  const Bound& bound;
  const Certificate& proof;
  bool whole;                  ///< these chunks; else they may be cut
  std::span<const Time> joins; ///< [node], or empty: its start
  std::vector<Shipment> all;

  [[nodiscard]] bool fluid() const { return model.discipline == Discipline::fluid; }
  [[nodiscard]] std::int64_t before() const { return bound.time.ps - 1; } ///< too short, in ps
  [[nodiscard]] std::span<const NodeId> held(const Shipment& s) const {
    return collective.sets[s.sources];
  }
  [[nodiscard]] std::span<const NodeId> wanted(const Shipment& s) const {
    return collective.sets[s.destinations];
  }
  [[nodiscard]] std::string not_enough(const char* what) const;

  /// Those that must get from the others to the nodes `inside`: someone there wants it, nobody
  /// there holds it or, of contributions, some are from elsewhere.
  [[nodiscard]] std::vector<Shipment> entering(const std::vector<bool>& inside) const;
  [[nodiscard]] std::vector<LinkId> links_into(const std::vector<bool>& inside) const;
  /// Who holds or contributes to any of them; who wants any.
  [[nodiscard]] std::vector<NodeId> sources(const std::vector<Shipment>& counted) const;
  [[nodiscard]] std::vector<NodeId> destinations(const std::vector<Shipment>& counted) const;

  /// How long one of these chunks takes, at least, from the nearest of `from` to `to`; 0 where it
  /// is there. Each link takes its latency and, before a node that has to have all of it, its
  /// serialization. Where all is cut through, still the first link and the last take theirs.
  [[nodiscard]] std::int64_t path_time(const Shipment& s, std::span<const NodeId> from,
                                       NodeId to) const;

  /// [node]: when the first byte from a start can go on from there; how long the last byte that is
  /// there has to go to an end. 0 in fluid sharing, which uses all links of a path at once.
  template <typename LeadsOn>
  [[nodiscard]] std::vector<std::int64_t> heads(std::span<const NodeId> starts, Bytes size,
                                                Sense sense, LeadsOn leads_on) const {
    if (fluid()) return std::vector<std::int64_t>(topology.node_count());
    return least_sums(topology, starts, head_costs(topology, model, size), sense, leads_on);
  }
  template <typename LeadsOn>
  [[nodiscard]] std::vector<std::int64_t> tails(std::span<const NodeId> ends, Bytes size,
                                                Sense sense, LeadsOn leads_on) const {
    if (fluid()) return std::vector<std::int64_t>(topology.node_count());
    return least_sums(topology, ends, tail_costs(topology, model, size), sense, leads_on);
  }
};

[[nodiscard]] Load total(const std::vector<Shipment>& counted);

} // namespace tutti::bounds::checking
