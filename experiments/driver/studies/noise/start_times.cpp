// A node that only relays has no start of its own: whoever names one has mistaken it for a member.
#include "experiments/driver/studies/noise/start_times.hpp"

#include "sim/error.hpp"
#include "sim/files/config.hpp"
#include "sim/noise.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace tutti {

std::vector<Time> parse_starts(const Topology& topology, std::span<const NodeId> members,
                               std::span<const std::string> texts, std::string_view others) {
  std::vector<Time> starts;
  std::vector<bool> is_named(topology.node_count());
  for (const std::string& text : texts) {
    const std::size_t equals = text.rfind('=');
    if (equals == std::string::npos)
      throw InputError(fmt::format("\"{}\" isn't NPU=TIME, as npu3=20us", text));
    const NodeId node = topology.find_node(text.substr(0, equals));
    const std::string& name = topology.node(node).name;
    if (!std::ranges::binary_search(members, node))
      throw InputError(fmt::format("{} {}, so it can't start late", name, others));
    if (is_named[node.value]) throw InputError(fmt::format("the start of {} is given twice", name));
    is_named[node.value] = true;
    starts.resize(topology.node_count());
    starts[node.value] = parse_time(text.substr(equals + 1));
    if (starts[node.value] > latest_start)
      throw InputError(fmt::format("{} starts after {}; up to six days is possible", name,
                                   text.substr(equals + 1)));
  }
  return starts;
}

std::vector<Time> parse_starts(const Topology& topology, const Collective& collective,
                               std::span<const std::string> texts) {
  if (texts.empty()) return {};
  return parse_starts(topology, members_of(collective), texts);
}

void check_starts(const Topology& topology, const CollectiveRequest& request,
                  std::span<const std::string> texts) {
  std::optional<Collective> collective;
  try {
    collective = make_collective(topology, request, 1);
  } catch (const InputError&) {
    return;
  }
  (void)parse_starts(topology, *collective, texts);
}

std::string late_text(const Topology& topology, std::span<const Time> starts) {
  const auto late = std::ranges::count_if(starts, [](Time start) { return start > Time{}; });
  if (late == 0) return "";
  const auto last = static_cast<std::uint32_t>(std::ranges::max_element(starts) - starts.begin());
  return fmt::format("{} NPU{} late, {} last, at {}", late, late == 1 ? " starts" : "s start",
                     topology.node(NodeId{last}).name, short_text(starts[last]));
}

std::vector<std::string> read_start_file(const std::string& file,
                                         const std::function<void(const std::string&)>& check) {
  ConfigTable table = read_config(file);
  std::vector<std::string> texts;
  for (const std::string& name : table.keys()) {
    const ConfigValue value = table.at(name);
    texts.push_back(fmt::format("{}={}", name, value.string()));
    value.located([&] { check(texts.back()); });
  }
  if (texts.empty()) throw InputError(file + ": names no NPU, as in npu3 = \"20us\"");
  return texts;
}

} // namespace tutti
