// Traces are imported one NPU at a time, so that only one lies in memory beside the workload. Nodes
// become operations in topological order. Groups are numbered at the end, when those of all NPUs
// are known.

#include "workloads/traces/chakra.hpp"

#include "sim/error.hpp"
#include "sim/files/gzip.hpp"
#include "sim/hash.hpp"
#include "workloads/traces/chakra_groups.hpp"
#include "workloads/traces/chakra_messages.hpp"
#include "workloads/traces/collective_sizes.hpp"
#include "workloads/waiting_cycle.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <map>
#include <numeric>
#include <queue>
#include <set>
#include <tuple>
#include <utility>

namespace tutti {

namespace {

/// The nodes of a trace so that each follows what it depends on, and otherwise by id. Indices.
/// Kahn's algorithm ("Topological sorting of large networks", CACM 1962) with a heap, so that of
/// the nodes that are free the lowest id comes next. What it leaves over waits for each other:
/// following dependencies among those nodes leads into a cycle, which the error names.
class NodeOrder {
public:
  /// `nodes` must outlive it. Errors: InputError for an id that stands twice.
  explicit NodeOrder(const std::vector<ChakraNode>& nodes);

  /// Errors: InputError for an id that isn't there, on behalf of `node`.
  [[nodiscard]] std::size_t find(const ChakraNode& node, std::uint64_t id) const;
  /// Errors: InputError naming the nodes of a cycle.
  [[nodiscard]] std::vector<std::size_t> topological() const;

private:
  [[noreturn]] void refuse_cycle(const std::vector<std::size_t>& waits) const;

  const std::vector<ChakraNode>& nodes_;
  std::vector<std::size_t> by_id_;
};

NodeOrder::NodeOrder(const std::vector<ChakraNode>& nodes) : nodes_(nodes) {
  by_id_.resize(nodes.size());
  std::iota(by_id_.begin(), by_id_.end(), std::size_t{0});
  std::sort(by_id_.begin(), by_id_.end(),
            [&](std::size_t a, std::size_t b) { return nodes[a].id < nodes[b].id; });
  for (std::size_t i = 1; i < by_id_.size(); ++i)
    if (nodes[by_id_[i]].id == nodes[by_id_[i - 1]].id)
      throw InputError(fmt::format("{}: its id is also that of {}", text_of(nodes[by_id_[i]]),
                                   text_of(nodes[by_id_[i - 1]])));
}

std::size_t NodeOrder::find(const ChakraNode& node, std::uint64_t id) const {
  const auto found =
      std::lower_bound(by_id_.begin(), by_id_.end(), id,
                       [&](std::size_t i, std::uint64_t wanted) { return nodes_[i].id < wanted; });
  if (found == by_id_.end() || nodes_[*found].id != id)
    throw InputError(
        fmt::format("{}: it depends on node {}, which isn't there", text_of(node), id));
  return *found;
}

std::vector<std::size_t> NodeOrder::topological() const {
  std::vector<std::vector<std::size_t>> followers(nodes_.size());
  std::vector<std::size_t> waits(nodes_.size());
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    waits[i] = nodes_[i].dependencies.size();
    for (const std::uint64_t id : nodes_[i].dependencies)
      followers[find(nodes_[i], id)].push_back(i);
  }
  using Entry = std::pair<std::uint64_t, std::size_t>; // id, index
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> free;
  for (std::size_t i = 0; i < nodes_.size(); ++i)
    if (waits[i] == 0) free.emplace(nodes_[i].id, i);
  std::vector<std::size_t> order;
  while (!free.empty()) {
    const std::size_t next = free.top().second;
    free.pop();
    order.push_back(next);
    for (const std::size_t follower : followers[next])
      if (--waits[follower] == 0) free.emplace(nodes_[follower].id, follower);
  }
  if (order.size() < nodes_.size()) refuse_cycle(waits);
  return order;
}

void NodeOrder::refuse_cycle(const std::vector<std::size_t>& waits) const {
  // Who waits for ever does so for another that does: following that leads into a cycle.
  const auto waiting = [&](std::size_t i) { return waits[i] > 0; };
  std::size_t at = *std::find_if(by_id_.begin(), by_id_.end(), waiting);
  std::vector<std::size_t> way;
  while (std::find(way.begin(), way.end(), at) == way.end()) {
    way.push_back(at);
    for (const std::uint64_t id : nodes_[way.back()].dependencies)
      if (const std::size_t other = find(nodes_[way.back()], id); waiting(other)) at = other;
  }
  constexpr std::size_t most_named = 8;
  std::string text;
  std::size_t named = 0;
  for (auto i = std::find(way.begin(), way.end(), at); i != way.end(); ++i)
    if (++named <= most_named) text += text_of(nodes_[*i]) + ", ";
  if (named > most_named) text += fmt::format("{} more, ", named - most_named);
  throw InputError(fmt::format("nodes that depend on each other in a cycle: {}and {} again", text,
                               text_of(nodes_[at])));
}

std::uint64_t hash_of(const TrainingProgram& program) {
  Fingerprint hash;
  for (std::size_t i = 0; i < program.size(); ++i) {
    const Operation& operation = program[i];
    hash.add(static_cast<std::uint32_t>(operation.kind));
    hash.add(operation.role);
    hash.add(operation.tag);
    hash.add(operation.name);
    hash.add(operation.amount);
    for (const std::uint32_t before : program.dependencies(i)) hash.add(before);
  }
  return hash.value();
}

/// Programs, equal ones only once: they are found by a hash of their operations and dependencies,
/// then compared in full.
class ProgramPool {
public:
  /// Its index, that of an equal one where there is one.
  std::uint32_t add(TrainingProgram program) {
    const std::uint64_t hash = hash_of(program);
    const auto [first, last] = by_hash_.equal_range(hash);
    for (auto same = first; same != last; ++same)
      if (programs_[same->second] == program) return same->second;
    const auto index = static_cast<std::uint32_t>(programs_.size());
    by_hash_.emplace(hash, index);
    programs_.push_back(std::move(program));
    return index;
  }
  [[nodiscard]] std::vector<TrainingProgram> programs() && { return std::move(programs_); }

private:
  std::vector<TrainingProgram> programs_;
  std::multimap<std::uint64_t, std::uint32_t> by_hash_;
};

std::string file_of(const std::string& prefix, std::uint32_t npu) {
  return fmt::format("{}.{}.et", prefix, npu);
}

/// What distinguishes messages between two NPUs.
struct SendKey {
  std::uint32_t from = 0, to = 0;
  std::uint64_t tag = 0, size = 0, number = 0;
  auto operator<=>(const SendKey&) const = default;
};

/// Sizes that fit into Operation::amount with all members' shares together.
std::int64_t checked_size(std::uint64_t size, std::uint64_t factor = 1) {
  constexpr auto highest = static_cast<std::uint64_t>(longest_ps);
  if (size > highest / factor) throw InputError(fmt::format("{} bytes are too many", size));
  return static_cast<std::int64_t>(size * factor);
}

CollectiveKind collective_of(std::uint64_t type) {
  switch (type) {
  case 0: return CollectiveKind::all_reduce;
  case 1: return CollectiveKind::reduce;
  case 2: return CollectiveKind::all_gather;
  case 3: return CollectiveKind::gather;
  case 4: return CollectiveKind::scatter;
  case 5: return CollectiveKind::broadcast;
  case 6: return CollectiveKind::all_to_all;
  case 7: // as MPI's: shares of the members' choice, which the format doesn't say
  case 8: return CollectiveKind::reduce_scatter;
  default:
    throw InputError(fmt::format("unknown comm_type {} (known: ALL_REDUCE 0, REDUCE 1, ALL_GATHER "
                                 "2, GATHER 3, SCATTER 4, BROADCAST 5, ALL_TO_ALL 6, "
                                 "REDUCE_SCATTER 7, REDUCE_SCATTER_BLOCK 8, BARRIER 9)",
                                 type));
  }
}
constexpr std::uint64_t barrier = 9;

/// Builds a workload from the traces of one NPU after another.
class Importer {
public:
  Importer(const Topology& topology, const std::string& prefix, const ChakraOptions& options)
      : topology_(topology), prefix_(prefix), options_(options),
        groups_(topology, prefix, options.groups) {}

  void add(std::uint32_t npu, const ChakraFile& file) {
    npu_ = npu;
    is_own_ = file.node_count.has_value();
    runs_.clear();
    sends_.clear();
    add_metadata(file);
    groups_.begin(npu, file);
    const NodeOrder order(file.nodes);
    TrainingProgram program;
    std::vector<std::uint64_t> ids; // of operations
    // What stands for each node: itself, or of metadata what it depends on.
    std::vector<std::vector<std::uint32_t>> stands_for(file.nodes.size());
    for (const std::size_t i : order.topological()) {
      const ChakraNode& node = file.nodes[i];
      std::vector<std::uint32_t> after;
      for (const std::uint64_t id : node.dependencies) {
        const std::vector<std::uint32_t>& those = stands_for[order.find(node, id)];
        after.insert(after.end(), those.begin(), those.end());
      }
      if (node.type == ChakraNode::Type::metadata) {
        std::sort(after.begin(), after.end());
        after.erase(std::unique(after.begin(), after.end()), after.end());
        stands_for[i] = std::move(after);
        continue;
      }
      try {
        stands_for[i] = {program.add(operation_of(node), after)};
      } catch (const InputError& e) {
        throw InputError(fmt::format("{}: {}", text_of(node), e.what()));
      }
      ids.push_back(node.id);
    }
    program.set_turns(ranks_of(ids));
    places_.push_back({pool_.add(std::move(program)), {}});
    keys_of_places_.push_back(groups_.keys());
    ids_.push_back(std::move(ids));
  }

  Workload finish() && {
    refuse_disagreement();
    if (workload_.name.empty()) workload_.name = std::filesystem::path(prefix_).filename().string();
    std::map<GroupKey, std::uint32_t> index;
    for (const auto& keys : keys_of_places_)
      for (const GroupKey& key : keys) index.emplace(key, 0);
    for (auto& [key, number] : index) {
      number = static_cast<std::uint32_t>(workload_.groups.size());
      std::vector<NodeId>& group = workload_.groups.emplace_back();
      for (const std::uint32_t member : std::get<2>(key)) group.emplace_back(member);
    }
    for (std::size_t npu = 0; npu < places_.size(); ++npu)
      for (const GroupKey& key : keys_of_places_[npu]) places_[npu].groups.push_back(index.at(key));
    workload_.places = std::move(places_);
    workload_.programs = std::move(pool_).programs();
    workload_.names = std::move(names_);
    try {
      check_workload(workload_, topology_.npu_count());
    } catch (const InputError& e) {
      throw InputError(fmt::format("{}: {}", prefix_, e.what()));
    }
    refuse_cycle();
    return std::move(workload_);
  }

private:
  static std::vector<std::uint32_t> ranks_of(const std::vector<std::uint64_t>& ids) {
    std::vector<std::uint32_t> order(ids.size()), ranks(ids.size());
    std::iota(order.begin(), order.end(), 0U);
    std::ranges::sort(order, {}, [&](std::uint32_t i) { return ids[i]; });
    for (std::uint32_t rank = 0; rank < order.size(); ++rank) ranks[order[rank]] = rank;
    return ranks;
  }

  /// Members of a group that take it for different ones.
  void refuse_disagreement() const {
    std::map<std::string, std::map<std::uint32_t, const GroupKey*>> by_name; // then NPU
    std::map<std::string, std::set<std::vector<std::uint32_t>>> lists;
    for (std::uint32_t npu = 0; npu < keys_of_places_.size(); ++npu)
      for (const GroupKey& key : keys_of_places_[npu]) {
        const auto& [length, name, members] = key;
        if (length == pair_key) continue;
        by_name[name][npu] = &key;
        lists[name].insert(members);
      }
    for (const auto& [name, keys] : by_name) {
      if (lists.at(name).size() == 1) continue;
      for (const auto& [npu, key] : keys)
        for (const std::uint32_t other : std::get<2>(*key))
          if (const auto theirs = keys.find(other); theirs != keys.end() && *theirs->second != *key)
            throw InputError(
                fmt::format("{}: process group \"{}\" has {}, but {} in {}", file_of(prefix_, npu),
                            name, members_text(std::get<2>(*key)),
                            members_text(std::get<2>(*theirs->second)), file_of(prefix_, other)));
    }
  }

  void refuse_cycle() const {
    const std::vector<NpuOperation> cycle = waiting_cycle(workload_);
    if (cycle.empty()) return;
    constexpr std::size_t most_named = 8;
    std::string text;
    const auto named = [&](const NpuOperation& at) {
      const Operation& operation =
          workload_.programs[workload_.places[at.npu].program][at.operation];
      return fmt::format("{}: node {} ({})", file_of(prefix_, at.npu), ids_[at.npu][at.operation],
                         workload_.names[operation.name]);
    };
    for (std::size_t i = 0; i < std::min(cycle.size(), most_named); ++i)
      text += fmt::format("{} waits for ", named(cycle[i]));
    if (cycle.size() > most_named)
      text += fmt::format("{} more, and then for ", cycle.size() - most_named);
    throw InputError(fmt::format("{}: communication that waits in a cycle: {}{} again", prefix_,
                                 text, named(cycle.front())));
  }

  void add_metadata(const ChakraFile& file) {
    if (npu_ > 0 && is_own_ != was_own_)
      throw InputError("some of the files are from Tutti, and some aren't");
    was_own_ = is_own_;
    if (npu_ > 0) return;
    if (file.iterations < 1 || file.iterations > UINT32_MAX)
      throw InputError(fmt::format("{} iterations are out of range", file.iterations));
    workload_.name = file.name;
    workload_.item = file.item;
    workload_.iterations = static_cast<std::uint32_t>(file.iterations);
    workload_.items = file.items;
    workload_.flops = file.flops;
  }

  Operation operation_of(const ChakraNode& node) {
    Operation operation;
    operation.name = names_index(node.name);
    switch (node.type) {
    case ChakraNode::Type::metadata: break;
    case ChakraNode::Type::compute: operation.amount = duration_of(node); break;
    case ChakraNode::Type::collective: fill_collective(node, operation); break;
    case ChakraNode::Type::send:
    case ChakraNode::Type::receive: fill_send(node, operation); break;
    }
    return operation;
  }

  std::int64_t duration_of(const ChakraNode& node) const {
    constexpr std::uint64_t micro = 1'000'000; // ps
    const auto whole = [](std::uint64_t count, std::uint64_t factor) {
      if (count > static_cast<std::uint64_t>(longest_ps) / factor)
        throw InputError("it takes longer than 53 days");
      return static_cast<std::int64_t>(count * factor);
    };
    if (node.duration_ps) return whole(*node.duration_ps, 1);
    const bool has_work = !node.is_cpu_op && node.num_ops.value_or(0) > 0;
    if (has_work && options_.flops_per_second > 0) return roofline(node);
    if (has_work && node.duration_micros == 0)
      throw InputError("it has num_ops but no duration: an NPU's roofline is needed");
    return whole(node.duration_micros, micro);
  }

  std::int64_t roofline(const ChakraNode& node) const {
    constexpr double ps = 1e12;
    double time = static_cast<double>(*node.num_ops) / options_.flops_per_second * ps;
    if (const std::int64_t rate = options_.memory_bandwidth.bytes_per_second; rate > 0)
      time = std::max(time, static_cast<double>(node.tensor_size.value_or(0)) /
                                static_cast<double>(rate) * ps);
    if (!(time < static_cast<double>(longest_ps))) throw InputError("it takes longer than 53 days");
    return std::llround(time);
  }

  void fill_communication(const ChakraNode& node, Operation& operation) const {
    if (node.comm_priority.value_or(0) > UINT8_MAX)
      throw InputError(fmt::format("comm_priority {} is out of range", *node.comm_priority));
    operation.priority = static_cast<std::uint8_t>(node.comm_priority.value_or(0));
    if (node.purpose) operation.purpose = purpose_words.parse(*node.purpose);
  }

  static std::uint64_t needed(const std::optional<std::uint64_t>& value, std::string_view name) {
    if (!value) throw InputError(fmt::format("it lacks the attribute {}", name));
    return *value;
  }
  static std::uint32_t needed_number(const std::optional<std::uint64_t>& value,
                                     std::string_view name) {
    const std::uint64_t number = needed(value, name);
    if (number > UINT32_MAX)
      throw InputError(fmt::format("attribute {} is {}, out of range", name, number));
    return static_cast<std::uint32_t>(number);
  }

  void fill_collective(const ChakraNode& node, Operation& operation) {
    operation.kind = Operation::Kind::collective;
    fill_communication(node, operation);
    const GroupKey group = groups_.group_of(node);
    const std::size_t members = std::get<2>(group).size();
    operation.role = groups_.role_of(group);
    operation.tag = is_own_ ? needed_number(node.tag, "tutti_tag") : runs_[operation.role]++;
    const std::uint64_t type = needed(node.comm_type, "comm_type");
    if (type == barrier) {
      operation.amount = static_cast<std::int64_t>(members);
      return;
    }
    operation.collective = collective_of(type);
    if (has_root(operation.collective)) operation.root = needed_number(node.root, "tutti_root");
    const std::uint64_t size = needed(node.comm_size, "comm_size");
    if (size == 0) throw InputError("a zero-byte collective (at least 1 byte)");
    const bool is_share = is_sized_by_share(operation.collective);
    operation.amount =
        node.size ? checked_size(*node.size) : checked_size(size, is_share ? members : 1);
    if (!is_own_)
      operation.amount =
          std::max(operation.amount, least_size(operation.collective, members).count);
  }

  void fill_send(const ChakraNode& node, Operation& operation) {
    const bool sends = node.type == ChakraNode::Type::send;
    operation.kind = sends ? Operation::Kind::send : Operation::Kind::receive;
    fill_communication(node, operation);
    const std::uint64_t self = npu_;
    const std::uint64_t from =
        sends ? node.comm_src.value_or(self) : needed(node.comm_src, "comm_src");
    const std::uint64_t to =
        sends ? needed(node.comm_dst, "comm_dst") : node.comm_dst.value_or(self);
    for (const std::uint64_t npu : {from, to})
      if (npu >= topology_.npu_count())
        throw InputError(
            fmt::format("npu{} isn't in the network of {} NPUs", npu, topology_.npu_count()));
    if ((sends ? from : to) != self)
      throw InputError(fmt::format("npu{} can't {} for npu{}", npu_, sends ? "send" : "receive",
                                   sends ? from : to));
    if (from == to) throw InputError(fmt::format("npu{} sends to itself", npu_));
    const std::uint64_t size = needed(node.comm_size, "comm_size");
    if (size == 0) throw InputError("a zero-byte transfer (at least 1 byte)");
    operation.amount = checked_size(size);
    if (is_own_) {
      operation.role = groups_.role_of(groups_.group_of(node));
      operation.tag = needed_number(node.comm_tag, "comm_tag");
      return;
    }
    SendKey key{static_cast<std::uint32_t>(from), static_cast<std::uint32_t>(to),
                needed(node.comm_tag, "comm_tag"), size, 0};
    key.number = sends_[key]++;
    const std::pair pair = std::minmax(key.from, key.to);
    operation.role = groups_.role_of({pair_key, "between two", {pair.first, pair.second}});
    std::map<SendKey, std::uint32_t>& known = tags_[{pair.first, pair.second}];
    operation.tag = known.emplace(key, static_cast<std::uint32_t>(known.size())).first->second;
  }

  std::uint32_t names_index(const std::string& name) {
    const auto [known, is_new] =
        names_known_.emplace(name, static_cast<std::uint32_t>(names_.size()));
    if (is_new) names_.push_back(name);
    return known->second;
  }

  const Topology& topology_;
  const std::string& prefix_;
  const ChakraOptions& options_;
  ChakraGroups groups_;
  Workload workload_;
  ProgramPool pool_;
  std::vector<ProgramPlace> places_; // groups come last
  std::vector<std::vector<GroupKey>> keys_of_places_;
  std::vector<std::vector<std::uint64_t>> ids_; // of nodes, per NPU and operation
  std::vector<std::string> names_;
  std::map<std::string, std::uint32_t> names_known_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::map<SendKey, std::uint32_t>> tags_;
  bool was_own_ = false;

  // The NPU whose trace is being added:
  std::uint32_t npu_ = 0;
  bool is_own_ = false;                         // written by Tutti
  std::map<std::uint32_t, std::uint32_t> runs_; // [role]: collectives so far
  std::map<SendKey, std::uint64_t> sends_;      // of equal keys so far
};

} // namespace

std::string chakra_groups_file(const std::string& prefix) { return prefix + ".groups.json"; }

bool is_chakra_prefix(const std::string& prefix) {
  return std::filesystem::is_regular_file(file_of(prefix, 0));
}

Workload read_chakra(const std::string& prefix, const Topology& topology,
                     const ChakraOptions& options) {
  const std::uint32_t npus = topology.npu_count();
  if (const std::string extra = file_of(prefix, npus); std::filesystem::exists(extra))
    throw InputError(fmt::format("{}: a trace of npu{}, which the network of {} NPUs doesn't have",
                                 extra, npus, npus));
  Importer importer(topology, prefix, options);
  for (std::uint32_t npu = 0; npu < npus; ++npu) {
    const std::string file = file_of(prefix, npu);
    if (!std::filesystem::exists(file))
      throw InputError(
          fmt::format("{}: there is no trace of npu{} (the network has {} NPUs)", file, npu, npus));
    const std::string content = read_input_file(file);
    try {
      importer.add(npu, parse_chakra(content));
    } catch (const InputError& e) {
      throw InputError(fmt::format("{}: {}", file, e.what()));
    }
  }
  return std::move(importer).finish();
}

} // namespace tutti
