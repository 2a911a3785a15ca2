// A group is identified by its name and its members, since NPUs may disagree about who is in it,
// which only all traces together show. Names come from the trace itself, from a file beside it or
// from one that the user gives; ASTRA-sim's involved dimensions are groups without a name.

#include "workloads/traces/chakra_groups.hpp"

#include "sim/error.hpp"
#include "sim/files/gzip.hpp"
#include "workloads/parallelism/npu_numbering.hpp"
#include "workloads/traces/chakra.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <utility>

namespace tutti {

namespace {

GroupKey key_of(const std::string& name, const std::vector<std::uint32_t>& members) {
  return {name.size(), name, members};
}

} // namespace

std::string members_text(std::span<const std::uint32_t> members) {
  constexpr std::size_t most_named = 8;
  std::string text;
  for (std::size_t i = 0; i < std::min(members.size(), most_named); ++i)
    text += fmt::format("{}npu{}", i == 0 ? "" : ", ", members[i]);
  if (members.size() > most_named) text += fmt::format(" and {} more", members.size() - most_named);
  return text;
}

ChakraGroups::ChakraGroups(const Topology& topology, const std::string& prefix,
                           const std::string& file)
    : topology_(topology), prefix_(prefix), groups_file_(file), takes_traces_(file.empty()) {
  if (groups_file_.empty() && std::filesystem::exists(chakra_groups_file(prefix)))
    groups_file_ = chakra_groups_file(prefix);
  if (!groups_file_.empty())
    given_ = parse_group_file(read_input_file(groups_file_), groups_file_, topology.npu_count());
}

void ChakraGroups::begin(std::uint32_t npu, const ChakraFile& file) {
  npu_ = npu;
  is_own_ = file.node_count.has_value();
  roles_.clear();
  role_keys_.clear();
  std::vector<ProcessGroup> groups = given_;
  for (const ChakraNode& node : file.nodes) {
    if (node.type != ChakraNode::Type::metadata || node.inputs.empty()) continue;
    try {
      for (ProcessGroup& group : parse_trace_groups(node.inputs, topology_.npu_count()))
        if (takes_traces_) groups.push_back(std::move(group));
    } catch (const InputError& e) {
      throw InputError(fmt::format("{}: {}", text_of(node), e.what()));
    }
  }
  members_.clear();
  for (const ProcessGroup& group : groups) {
    const auto [known, is_new] = members_.emplace(group.name, group.members);
    if (!is_new && known->second != group.members)
      throw InputError(fmt::format("process group \"{}\" has two lists of members: {}; {}",
                                   group.name, members_text(known->second),
                                   members_text(group.members)));
    if (is_new && is_own_ && !file.groups) role_of(key_of(group.name, group.members));
  }
  if (!file.groups) return;
  for (const std::uint64_t number : *file.groups) { // roles as they were
    const std::string name = std::to_string(number);
    const auto known = members_.find(name);
    role_of(key_of(name, known == members_.end() ? everyone() : known->second));
  }
}

std::vector<std::uint32_t> ChakraGroups::everyone() const {
  std::vector<std::uint32_t> all(topology_.npu_count());
  std::iota(all.begin(), all.end(), 0U);
  return all;
}

std::uint32_t ChakraGroups::role_of(const GroupKey& key) {
  const std::vector<std::uint32_t>& members = std::get<2>(key);
  if (std::find(members.begin(), members.end(), npu_) == members.end())
    throw InputError(fmt::format("npu{} isn't in process group \"{}\"", npu_, std::get<1>(key)));
  const auto [known, is_new] = roles_.emplace(key, static_cast<std::uint32_t>(role_keys_.size()));
  if (is_new) role_keys_.push_back(key);
  return known->second;
}

GroupKey ChakraGroups::group_of(const ChakraNode& node) const {
  const std::string name = node.pg_name.value_or("");
  const bool is_partial = std::find(node.involved_dim.begin(), node.involved_dim.end(), false) !=
                          node.involved_dim.end();
  if (is_own_ && node.group) return key_of(std::to_string(*node.group), everyone());
  const auto named = members_.find(name);
  if (!is_own_ && (name.empty() || name == "0"))
    return is_partial ? along_dimensions(node.involved_dim) : key_of("0", everyone());
  if (is_partial) throw InputError("it has a process group as well as involved dimensions");
  if (named == members_.end()) {
    std::vector<std::string> names;
    for (const auto& [known, members] : members_) names.push_back(known);
    throw InputError(
        fmt::format("{}; {}", unknown_name("process group", name, names), groups_hint()));
  }
  return key_of(name, named->second);
}

std::string ChakraGroups::groups_hint() const {
  return groups_file_.empty()
             ? fmt::format("there is no {} beside the traces, and no other file with groups",
                           chakra_groups_file(prefix_))
             : "groups are from " + groups_file_;
}

GroupKey ChakraGroups::along_dimensions(const std::vector<bool>& involved) const {
  const std::span<const int> shape = topology_.shape();
  if (shape.empty())
    throw InputError(fmt::format("involved_dim needs a topology with coordinates, which {} "
                                 "doesn't have",
                                 topology_.name()));
  if (involved.size() < shape.size())
    throw InputError(fmt::format("involved_dim has {} flags, the network {} dimensions",
                                 involved.size(), shape.size()));
  const std::vector<std::size_t> order = dimensions_by_speed(topology_);
  if (order.empty())
    throw InputError(fmt::format("involved_dim: the NPUs of {} aren't numbered by coordinates",
                                 topology_.name()));
  const std::span<const int> own = topology_.coordinate(NodeId{npu_});
  std::vector<std::uint32_t> members;
  for (std::uint32_t other = 0; other < topology_.npu_count(); ++other) {
    const std::span<const int> at = topology_.coordinate(NodeId{other});
    bool is_in = true;
    for (std::size_t k = 0; k < order.size(); ++k)
      is_in = is_in && (involved[k] || at[order[k]] == own[order[k]]);
    if (is_in) members.push_back(other);
  }
  std::string name = "dimensions";
  for (std::size_t k = 0; k < order.size(); ++k)
    if (involved[k]) name += fmt::format(" {}", k);
  return key_of(name, members);
}

} // namespace tutti
