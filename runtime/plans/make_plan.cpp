// What planning takes of collectives and networks: a file of its own, so that who has neither can
// plan without them.
//
// An executor emulates links by throttling connections, so that a plan says which links of a
// network each of them crosses. A path that the program brings along is used where it is one in
// this network, else a direct link (parallel ones by channel, as imported schedules do), else the
// shortest path.

#include "runtime/executor.hpp"
#include "sim/error.hpp"
#include "sim/graphs/shortest_paths.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

namespace tutti::runtime {

namespace {

/// Links, then latency in picoseconds.
using PathLength = std::pair<std::uint32_t, std::int64_t>;
constexpr PathLength no_path{std::numeric_limits<std::uint32_t>::max(), 0};

/// Lengths of the shortest paths to `to` from each node.
std::vector<PathLength> path_lengths_to(const Topology& network, NodeId to) {
  std::vector<PathLength> lengths(network.node_count(), no_path);
  search_shortest_paths(lengths, {&to.value, 1}, [&](auto node, auto length, const auto& relax) {
    for (const LinkId id : network.in_links(NodeId{node})) {
      const Link& link = network.link(id);
      relax(link.from.value, {length.first + 1, length.second + link.latency.ps});
    }
  });
  return lengths;
}

/// Fewest links, then least latency, then the least link ids from the start on.
std::vector<std::uint32_t> shortest_path(const Topology& network, NodeId from, NodeId to,
                                         const std::vector<PathLength>& lengths) {
  if (lengths[from.value] == no_path)
    throw InputError(fmt::format("{} has no way from {} to {}", network.name(),
                                 network.node(from).name, network.node(to).name));
  std::vector<std::uint32_t> path;
  for (NodeId at = from; at != to;) {
    for (const LinkId id : network.out_links(at)) {
      const Link& link = network.link(id);
      const auto [links, latency] = lengths[link.to.value];
      if (lengths[at.value] != PathLength{links + 1, latency + link.latency.ps}) continue;
      path.push_back(id.value);
      at = link.to;
      break;
    }
  }
  return path;
}

std::vector<std::uint32_t> links_between(const Topology& network, NodeId from, NodeId to) {
  std::vector<std::uint32_t> found;
  for (const LinkId id : network.out_links(from))
    if (network.link(id).to == to) found.push_back(id.value);
  return found;
}

/// What the program says that the connection crosses, if that is a path in this network; else
/// empty.
std::vector<std::uint32_t> planned_path(const Program& program, const Connection& connection,
                                        const Topology& network) {
  const auto key = [](const auto& of) { return std::tuple(of.from, of.to, of.channel); };
  const auto found = std::ranges::lower_bound(
      program.paths, key(connection), {}, [&](const ConnectionPath& path) { return key(path); });
  if (found == program.paths.end() || key(*found) != key(connection)) return {};
  std::vector<std::uint32_t> links;
  NodeId at{connection.from};
  for (const LinkId id : found->links) {
    if (id.value >= network.link_count() || network.link(id).from != at) return {};
    at = network.link(id).to;
    links.push_back(id.value);
  }
  return at == NodeId{connection.to} ? links : std::vector<std::uint32_t>{};
}

void add_links(Plan& plan, const Topology& network) {
  const auto per_byte = [](Bandwidth rate) {
    return 1.0 / static_cast<double>(rate.bytes_per_second);
  };
  for (std::uint32_t l = 0; l < network.link_count(); ++l) {
    const Link& link = network.link(LinkId{l});
    const std::span<const std::uint32_t> groups = network.groups_of(LinkId{l});
    plan.links.push_back({link.latency.seconds(), per_byte(network.effective_bandwidth(LinkId{l})),
                          network.node(link.to).can.store,
                          static_cast<std::uint32_t>(plan.link_groups.size()),
                          static_cast<std::uint32_t>(groups.size())});
    plan.link_groups.insert(plan.link_groups.end(), groups.begin(), groups.end());
  }
  for (const SharedGroup& group : network.groups())
    plan.groups.push_back({per_byte(group.bandwidth)});
}

/// Fills in links, groups, and the path of each connection.
/// Errors: InputError where the network has too few NPUs, or no path.
void emulate_links(Plan& plan, const Program& program, const Topology& network) {
  if (network.npu_count() < plan.arenas.size())
    throw InputError(fmt::format("{} has {} NPUs, the program {} ranks", network.name(),
                                 network.npu_count(), plan.arenas.size()));
  add_links(plan, network);
  std::map<std::uint32_t, std::vector<PathLength>> lengths; // by destination
  // Connections of one pair of ranks stand together. Its parallel links take turns with channels,
  // as in schedule_of().
  for (std::size_t first = 0, end = 0; first < plan.connections.size(); first = end) {
    const Connection pair = plan.connections[first];
    for (end = first; end < plan.connections.size() && plan.connections[end].from == pair.from &&
                      plan.connections[end].to == pair.to;)
      ++end;
    const NodeId from{pair.from}, to{pair.to};
    const std::vector<std::uint32_t> parallel = links_between(network, from, to);
    std::vector<std::uint32_t> shortest;
    if (parallel.empty()) {
      auto& known = lengths[to.value];
      if (known.empty()) known = path_lengths_to(network, to);
      shortest = shortest_path(network, from, to, known);
    }
    for (std::size_t c = first; c < end; ++c) {
      Connection& connection = plan.connections[c];
      std::vector<std::uint32_t> path = planned_path(program, connection, network);
      if (path.empty() && !parallel.empty())
        path = {parallel[connection.channel % parallel.size()]};
      if (path.empty()) path = shortest;
      connection.first_link = static_cast<std::uint32_t>(plan.path_links.size());
      connection.links = static_cast<std::uint32_t>(path.size());
      plan.path_links.insert(plan.path_links.end(), path.begin(), path.end());
    }
  }
}

/// Units that make up Collective::size(): where each member has a buffer of that size, of one.
std::uint64_t units_of_size(const Program& program) {
  std::uint64_t units = 0;
  for (const CollectivePart& part : program.collective.parts) {
    std::uint64_t own = 0;
    for (std::uint32_t c = 0; c < part.chunk_count; ++c)
      own += program.chunk_units[part.first.value + c];
    const bool has_each = is_by_pairs(part.kind) || part.kind == CollectiveKind::sendrecv;
    units += has_each ? own / part.group.size() : own;
  }
  return units;
}

} // namespace

std::size_t unit_bytes_for(const Program& program, Bytes size, ElementType type) {
  const std::uint64_t units = units_of_size(program);
  const auto step = static_cast<std::int64_t>(units * element_size(type));
  if (size.count > 0 && size.count % step == 0) return static_cast<std::size_t>(size.count) / units;
  const std::int64_t next = (std::max<std::int64_t>(size.count, 0) / step + 1) * step;
  throw InputError(fmt::format("{} don't divide into {} units of {} elements; the next size that "
                               "does is {} bytes",
                               to_text(size), units, to_text(type), next));
}

Plan make_plan(const Program& program, std::size_t unit_bytes, const PlanOptions& options) {
  Plan plan = plan_program(program, unit_bytes, options);
  if (options.emulated != nullptr) emulate_links(plan, program, *options.emulated);
  return plan;
}

PlannedRun planned_run(const Program& program, const ExecutionRequest& request) {
  return with_data(
      program,
      make_plan(program, unit_bytes_for(program, request.size, request.type), request.plan),
      request.type, request.combine);
}

Execution run_on_cuda(const Program& program, const ExecutionRequest& request) {
  return run_on_cuda(planned_run(program, request), request);
}

} // namespace tutti::runtime
