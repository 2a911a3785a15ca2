// Collectives from TOML: `[[collective]]` entries, one for each of several collectives at once.
//   name = "broadcast"   a named collective, as on the command line ("broadcast,root=3,group=0-7")
//   size = "1GiB"        what nccl-tests prints; of shares that say their sizes only to scale them
//   chunks_per_shard = 2   1 where left out
//   root = 3             an NPU by number or name, where `name` doesn't say it
//   group = "0-7"        or a list of numbers and names; all NPUs where left out
// or, with name = "custom", `[[collective.chunks]]` entries:
//   size = "1MiB"
//   sources = [0, "npu1"]
//   destinations = [2]
//   reduces = true       the sources contribute to a sum; false where left out
#include "sim/collective.hpp"

#include "sim/collective_builder.hpp"
#include "sim/files/config.hpp"
#include "sim/files/files.hpp"
#include "sim/shares/shares.hpp"
#include "sim/text.hpp"
#include "sim/topology.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tutti {

namespace {

/// More than any simulation will hold, and little enough to say no instead of running out of
/// memory.
constexpr std::uint64_t most_chunks_of_file = std::uint64_t{1} << 28;

NodeId npu(const ConfigValue& value, const Topology& topology) {
  if (value.is_integer())
    return NodeId{static_cast<std::uint32_t>(value.integer(0, topology.npu_count() - 1))};
  const std::string name = value.string();
  const NodeId node = value.located([&] { return topology.find_node(name); });
  if (node.value >= topology.npu_count())
    throw value.error(fmt::format("node \"{}\" is not an NPU", name));
  return node;
}

/// `[0, "npu1"]` or `"0-7+16-23"`; not empty.
std::vector<NodeId> npus(const ConfigValue& value, const Topology& topology) {
  std::vector<NodeId> list;
  if (value.is_array()) {
    for (const ConfigValue& element : value.array()) list.push_back(npu(element, topology));
    if (list.empty()) throw value.error("the list is empty");
    return list;
  }
  const std::string ranges = value.string();
  for (const std::uint32_t n : value.located([&] { return parse_ranges(ranges, "NPU"); })) {
    if (n >= topology.npu_count())
      throw value.error(
          fmt::format("there is no NPU {} (the topology has {})", n, topology.npu_count()));
    list.emplace_back(n);
  }
  return list;
}

/// The position of an NPU in the group, or in all NPUs where the group is empty.
std::uint32_t rank_of(const ConfigValue& value, const std::vector<NodeId>& group,
                      const Topology& topology) {
  const NodeId root = npu(value, topology);
  if (group.empty()) return root.value;
  const auto member = std::find(group.begin(), group.end(), root);
  if (member == group.end()) throw value.error("the root is not in the group");
  return static_cast<std::uint32_t>(member - group.begin());
}

/// Errors: InputError at a key of earlier versions, with its name now.
void refuse_renamed(ConfigTable& table, const std::string& key, const char* now) {
  if (table.has(key))
    throw table.at(key).error(fmt::format("\"{}\" is called \"{}\" now", key, now));
}

void add_named(CollectiveBuilder& builder, ConfigTable& entry, const ConfigValue& name,
               const Topology& topology) {
  const std::string text =
      with_files(name.string(), [&](const auto& file) { return beside(file, name.source()); });
  CollectiveSpec spec = name.located([&] { return parse_collective(text); });
  spec.size = say_their_size(text) && !entry.has("size") ? Bytes{0} : entry.at("size").bytes();
  if (entry.has("size") && spec.size.count == 0)
    throw entry.at("size").error("a collective has at least 1B");
  const bool said_in_name =
      has_shares(spec.kind) ? !spec.group.empty() : text.find(',') != std::string::npos;
  const auto refuse_both = [&](const ConfigValue& value) {
    if (said_in_name)
      throw value.error("root and group stand either in the name or in keys of their own");
  };
  if (const auto group = entry.find("group")) {
    refuse_both(*group);
    spec.group = npus(*group, topology);
  }
  if (has_root(spec.kind)) {
    if (const auto root = entry.find("root")) {
      refuse_both(*root);
      spec.root = rank_of(*root, spec.group, topology);
    }
  }
  refuse_renamed(entry, "pieces", "chunks_per_shard");
  if (const auto chunks_per_shard = entry.find("chunks_per_shard"))
    spec.chunks_per_shard = static_cast<std::uint32_t>(chunks_per_shard->integer(1, INT32_MAX));
  entry.finish();
  name.located([&] { builder.add(spec); });
}

void add_custom(CollectiveBuilder& builder, ConfigTable& entry, const ConfigValue& name,
                const Topology& topology) {
  CustomCollectiveBuilder custom(topology);
  const auto set = [&](const ConfigValue& value) {
    std::vector<NodeId> list = npus(value, topology);
    return value.located([&] { return custom.add_set(std::move(list)); });
  };
  for (ConfigTable& chunk : entry.tables("chunks")) {
    refuse_renamed(chunk, "held_by", "sources");
    refuse_renamed(chunk, "wanted_by", "destinations");
    const ConfigValue size = chunk.at("size");
    Chunk made{size.bytes(), set(chunk.at("sources")), set(chunk.at("destinations")), false};
    if (const auto reduces = chunk.find("reduces")) made.reduces = reduces->boolean();
    chunk.finish();
    size.located([&] { custom.add_chunk(made); });
  }
  entry.finish();
  Collective made = name.located([&] { return custom.build(); });
  const std::vector<NodeId>& group = made.parts.front().group;
  if (group.size() < 2)
    throw name.error(fmt::format("a collective over one NPU has nothing to do (custom over {})",
                                 topology.node(group.front()).name));
  name.located([&] { builder.add(std::move(made)); });
}

} // namespace

Collective read_collective(const std::string& file, const Topology& topology) {
  ConfigTable root = read_config(file);
  std::vector<ConfigTable> entries = root.tables("collective");
  root.finish();
  if (entries.empty()) throw root.error("no [[collective]] entry");
  CollectiveBuilder builder(topology, most_chunks_of_file);
  for (ConfigTable& entry : entries) {
    const ConfigValue name = entry.at("name");
    if (name.string() == to_text(CollectiveKind::custom))
      add_custom(builder, entry, name, topology);
    else
      add_named(builder, entry, name, topology);
  }
  return builder.build();
}

} // namespace tutti
