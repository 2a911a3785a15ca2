// What a runtime makes of links. A schedule under a transport is the same schedule on a slower
// network: rewritten before the replay, so that engines, verify() and the oracle know nothing of
// it. Lower bounds stay those of the hardware.
#pragma once

#include "sim/collective.hpp"
#include "sim/schedule.hpp"
#include "sim/synthesizer.hpp"
#include "sim/topology.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tutti {

/// What a protocol makes of a part (Topology::part_of()).
struct TransportRule {
  std::string part;     ///< "nvlink4"
  std::string protocol; ///< "ll", "ll128", "simple", "nvls"
  double share = 1;     ///< of the bandwidth that carries data, 0 < share <= 1
  Time latency;         ///< of a step over it, where the links' own are less
  Bandwidth channel;    ///< what one channel (thread block) carries; 0: as much as the link
  Time handover;        ///< of a chunk: the channel carries nothing meanwhile
  /// For each connection beyond the first that crosses a link on its way through a switch, so much
  /// longer a byte takes there: queues at the switch (Shah et al. 2023, Fig. 4). Isn't fitted.
  double connection_loss = 0;
  std::string source = {}; ///< where the figures are from
  /// By how much 90 % of what is measured may be off: rates (share, channel) and times (latency,
  /// handover) by a factor of up to 1 + this. 0: nobody knows.
  double rates_within = 0, times_within = 0;
  /// Models of the NPUs whose measured times say so; empty: of all. On others what leaving whole
  /// machines out has shown; none: the same.
  std::vector<std::string> measured_on = {};
  std::optional<double> rates_elsewhere = {}, times_elsewhere = {};
};

struct Transport {
  std::string name; ///< "nccl"
  /// From the call to the first byte, and from the last one to the end; by Topology's npu_model,
  /// "" for others.
  std::map<std::string, Time> launch;
  std::map<std::string, double> launch_within; ///< as TransportRule::times_within
  std::vector<TransportRule> rules;

  [[nodiscard]] Time launch_of(const std::string& npu_model) const;
  /// The part whose rules are those of `part`: itself, or else the nearest generation of its kind
  /// ("pcie4" for "pcie3", the older one of two), which stands in for it. Empty: there is none.
  [[nodiscard]] std::string part_for(const std::string& part) const;
  /// Errors: InputError where the transport doesn't know the part, or the part the protocol.
  [[nodiscard]] const TransportRule& rule(const std::string& part,
                                          const std::string& protocol) const;
};

/// "nccl", or a file (transport_file.cpp has its format). Errors: InputError with the place.
[[nodiscard]] Transport read_transport(const std::string& name_or_file);
/// A file that read_transport() reads back as the same, to six digits; `note` says what it is.
[[nodiscard]] std::string transport_toml(const Transport& transport, const std::string& note);
/// The same; null for "ideal".
[[nodiscard]] std::shared_ptr<const Transport> parse_transport(const std::string& text);

/// A network and a schedule as a runtime has them.
struct Transported {
  Topology topology;
  Schedule schedule;
  std::vector<LinkId> original;   ///< [link]: the one that it is a lane of
  std::vector<Bandwidth> wires;   ///< [original link]: what its lanes carry together
  std::vector<double> shares;     ///< [original link]: the part of its bandwidth that carries data
  std::vector<std::size_t> rules; ///< those of the transport that it depends on, ascending
};

/// With s the mean size of what is sent over it at once, a chunk or those that share a send, but no
/// more than the library's own chunk (LibraryChoice::own_chunk), a link that the schedule uses
/// carries
/// s / (s / (share * B) + handover / channels), at most what its channels carry,
/// s / (s / channel + handover) each; share * B less by connections through switches. For rings it
/// becomes a shared group of lanes, one for each channel, since channels don't wait for each other;
/// trees and heads stream in the order of the list. A step from NPU to NPU takes the rule's
/// latency, no less than the links' own. Groups of links keep their lanes, and shrink by the least
/// share of those in use. A schedule of no library has as many channels as fill the link, at most
/// 128. Nodes are the same, and so is what is delivered; what shares a send takes the channel of
/// its first chunk. What a switch reduces or copies goes by the rule nvls, where the part has one.
/// Errors: InputError as rule(), naming the link. Cost: O(crossings).
[[nodiscard]] Transported transported(const Topology& topology, const Collective& collective,
                                      const Schedule& schedule, const LibraryChoice& choice,
                                      const Transport& transport);

/// The same with one lane a link, so that links keep their numbers, for runs whose schedule changes
/// on the way or meets others. Links that it doesn't use go by their part's share and latency, too.
[[nodiscard]] Topology slowed(const Topology& topology, const Collective& collective,
                              const Schedule& schedule, LibraryChoice choice,
                              const Transport& transport);

/// What algorithms plan on: the same links with the latencies of Simple, where the part is known.
[[nodiscard]] Topology with_latencies(const Topology& topology, const Transport& transport);

/// The protocols that a schedule of no library may be run under: those of all parts it uses.
[[nodiscard]] std::vector<std::string>
usable_protocols(const Topology& topology, const Schedule& schedule, const Transport& transport);

} // namespace tutti
