// A node that only relays has no start of its own: whoever names one has mistaken it for a member.
#include "experiments/driver/studies/start_times.hpp"

#include "sim/error.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tutti {

namespace {

bool is_member(const Collective& collective, NodeId node) {
  return std::ranges::any_of(collective.chunks, [&](const Chunk& chunk) {
    return std::ranges::binary_search(collective.sets[chunk.sources], node) ||
           std::ranges::binary_search(collective.sets[chunk.destinations], node);
  });
}

} // namespace

std::vector<Time> parse_starts(const Topology& topology, const Collective& collective,
                               std::span<const std::string> texts) {
  std::vector<Time> starts;
  std::vector<bool> is_named(topology.node_count());
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos)
      throw InputError(fmt::format("\"{}\" isn't NPU=TIME, as npu3=20us", text));
    const NodeId node = topology.find_node(text.substr(0, equals));
    const std::string& name = topology.node(node).name;
    if (!is_member(collective, node))
      throw InputError(fmt::format("{} neither holds nor wants a chunk of the collective, so it "
                                   "can't start late",
                                   name));
    if (is_named[node.value]) throw InputError(fmt::format("the start of {} is given twice", name));
    is_named[node.value] = true;
    starts.resize(topology.node_count());
    starts[node.value] = parse_time(text.substr(equals + 1));
  }
  return starts;
}

} // namespace tutti
