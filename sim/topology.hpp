// The network: nodes with abilities, directed links, shared bandwidth groups, optional coordinates.
// Any directed multigraph; parallel links are allowed.
#pragma once

#include "sim/ids.hpp"
#include "sim/units.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tutti {

enum class NodeKind : std::uint8_t {
  npu,       ///< an endpoint: takes part in collectives
  switching, ///< forwards; in text "switch"
  memory,    ///< host memory: stores, may copy, usually can't reduce
};

/// What a node can do with a chunk that reaches it.
struct Abilities {
  bool store = true;  ///< keep it, to send it later (otherwise it is cut through)
  bool copy = true;   ///< send it on more than once, or keep it while sending
  bool reduce = true; ///< combine it with another contribution
  bool operator==(const Abilities&) const = default;
};

struct Node {
  std::string name; ///< unique within the topology
  NodeKind kind = NodeKind::npu;
  Abilities can;
  Bandwidth reduce_rate; ///< bytes/s of its reduction unit; 0 = reduction takes no time
};

struct Link {
  NodeId from, to;
  Time latency;        ///< alpha
  Bandwidth bandwidth; ///< 1 / beta, > 0
  /// Which dimension of the coordinates the link belongs to; -1 where there is none.
  std::int8_t dimension = -1;
  /// What it is made of: TopologyParts::link_parts counts from 1; 0: unknown.
  std::uint8_t part = 0;
};

/// Links with one joint bandwidth: a bus, a NIC, a memory, a port limit.
struct SharedGroup {
  std::string name;
  std::vector<LinkId> links;
  Bandwidth bandwidth;
};

/// What is odd in a network's file: most likely a fault of the machine, or of who wrote the file.
struct Finding {
  std::string rule;  ///< by which it was found: "unequal-links"
  std::string words; ///< what and where: "dump.xml:12: GPU 5 has no NVLink; the 7 others have 18"
  bool operator==(const Finding&) const = default;
};

/// The content of a Topology, to be filled by builders and readers.
struct TopologyParts {
  std::string name;
  std::string note; ///< where it is from; free text
  /// What a file of another program didn't say: "latency of a link: 0.5us (...)".
  std::vector<std::string> assumed;
  std::vector<Finding> odd; ///< in the file that it was read from
  std::string npu_model;    ///< what its NPUs are, "h100"; empty: unknown
  std::vector<Node> nodes;  ///< NPUs first
  std::vector<Link> links;
  std::vector<std::string> link_parts; ///< "nvlink4", "rdma": what transports know (Link::part)
  std::vector<SharedGroup> groups;
  std::vector<int> shape; ///< extent of each dimension; empty without coordinates
  /// coordinates[node][dimension]; given for every NPU, or for none. A node without: empty vector.
  std::vector<std::vector<int>> coordinates;

  /// Appends and returns the id. NPUs must come before all other nodes.
  NodeId add_node(Node node);
  LinkId add_link(Link link);
  /// The number of a part (Link::part). Errors: InputError beyond 255 of them.
  std::uint8_t link_part(const std::string& name);
  /// Both directions; `link.from -> link.to` gets the lower id.
  void add_duplex(Link link);
};

/// A checked, immutable topology with adjacency. Value type; copying costs its size.
class Topology {
public:
  /// Without NPUs it can be looked at, and no collective runs on it.
  /// Errors: InputError naming the offending node, link or group: no node, NPUs not first, a name
  /// twice, a link end or group member that isn't there, a self-loop, bandwidth <= 0, latency < 0,
  /// an empty group or one with a link twice, a negative reduction rate, coordinates that are
  /// missing, too many, outside the shape or those of another NPU.
  explicit Topology(TopologyParts parts);

  [[nodiscard]] const std::string& name() const { return parts_.name; }
  [[nodiscard]] std::uint32_t node_count() const {
    return static_cast<std::uint32_t>(parts_.nodes.size());
  }
  [[nodiscard]] std::uint32_t npu_count() const { return npu_count_; }
  [[nodiscard]] std::uint32_t link_count() const {
    return static_cast<std::uint32_t>(parts_.links.size());
  }
  [[nodiscard]] const Node& node(NodeId id) const { return parts_.nodes[id.value]; }
  [[nodiscard]] const Link& link(LinkId id) const { return parts_.links[id.value]; }
  [[nodiscard]] std::span<const Node> nodes() const { return parts_.nodes; }
  [[nodiscard]] std::span<const Link> links() const { return parts_.links; }
  [[nodiscard]] std::span<const SharedGroup> groups() const { return parts_.groups; }

  /// Ascending by LinkId.
  [[nodiscard]] std::span<const LinkId> out_links(NodeId node) const;
  [[nodiscard]] std::span<const LinkId> in_links(NodeId node) const;
  /// Indices into groups(), ascending; empty for most links.
  [[nodiscard]] std::span<const std::uint32_t> groups_of(LinkId link) const;
  /// What it is made of, "nvlink4"; empty where nobody says.
  [[nodiscard]] std::string part_of(LinkId link) const {
    const std::uint8_t part = parts_.links[link.value].part;
    return part == 0 ? "" : parts_.link_parts[part - std::size_t{1}];
  }
  /// The least of the link's bandwidth and its groups'.
  [[nodiscard]] Bandwidth effective_bandwidth(LinkId link) const { return effective_[link.value]; }

  /// One entry per dimension; empty where the topology has no coordinates.
  [[nodiscard]] std::span<const int> shape() const { return parts_.shape; }
  [[nodiscard]] std::span<const int> coordinate(NodeId node) const;

  /// Node by its name; errors: InputError (known names listed).
  [[nodiscard]] NodeId find_node(const std::string& name) const;

  /// 64-bit hash of everything that decides a simulation (not of names and coordinates). The same
  /// on every machine.
  [[nodiscard]] std::uint64_t fingerprint() const;

  [[nodiscard]] const TopologyParts& parts() const { return parts_; }

private:
  TopologyParts parts_;
  std::uint32_t npu_count_ = 0;
  std::vector<std::uint32_t> out_begin_, in_begin_, group_begin_;
  std::vector<LinkId> out_, in_;
  std::vector<std::uint32_t> groups_of_;
  std::vector<Bandwidth> effective_;
};

/// Whether an algorithm sees the same in both: abilities, links and what they are made of, shared
/// groups, shapes and coordinates; names only on request.
[[nodiscard]] bool look_alike(const Topology& a, const Topology& b, bool with_names);

/// Equal for networks that look alike; the same on every machine.
[[nodiscard]] std::uint64_t content_fingerprint(const Topology& topology, bool with_names);

/// Every link reversed; ids, groups and nodes stay. What an inverted schedule runs on.
[[nodiscard]] Topology reversed(const Topology& topology);

/// Without the given nodes (and their links) and links. Nodes are renumbered in order and keep
/// their names and coordinates; empty groups vanish. Errors: InputError where no node is left.
[[nodiscard]] Topology without(const Topology& topology, std::span<const NodeId> nodes,
                               std::span<const LinkId> links);

} // namespace tutti
