// Workloads as Chakra traces, as ASTRA-sim takes them. A node's id is its operation's turn in the
// program plus one: what is ready is issued by increasing id there.
#include "sim/collective.hpp"
#include "sim/error.hpp"
#include "sim/files/files.hpp"
#include "workloads/traces/chakra.hpp"
#include "workloads/traces/collective_sizes.hpp"
#include "workloads/traces/process_groups.hpp"

#include <chakra.pb.h>
#include <fmt/format.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tutti {

namespace {

using ChakraProtoMsg::AttributeProto;
using ChakraProtoMsg::GlobalMetadata;
using NodeMessage = ChakraProtoMsg::Node;

template <typename Message> AttributeProto& add(Message& message, const char* name) {
  AttributeProto& attribute = *message.add_attr();
  attribute.set_name(name);
  return attribute;
}

void append(std::string& file, const google::protobuf::MessageLite& message) {
  for (std::size_t length = message.ByteSizeLong();; length >>= 7) {
    file.push_back(static_cast<char>((length & 0x7f) | (length > 0x7f ? 0x80 : 0)));
    if (length <= 0x7f) break;
  }
  message.AppendToString(&file);
}

int type_of(CollectiveKind kind) {
  switch (kind) {
  case CollectiveKind::all_reduce: return 0;
  case CollectiveKind::reduce: return 1;
  case CollectiveKind::all_gather: return 2;
  case CollectiveKind::gather: return 3;
  case CollectiveKind::scatter: return 4;
  case CollectiveKind::broadcast: return 5;
  case CollectiveKind::all_to_all: return 6;
  case CollectiveKind::reduce_scatter: return 7;
  default: throw InputError(fmt::format("Chakra has no {}", to_text(kind)));
  }
}

/// Chakra's own reader takes these from the signed field of 32 bits alone, ASTRA-sim from any.
void add_number(NodeMessage& node, const char* name, std::uint32_t value) {
  if (value <= INT32_MAX)
    add(node, name).set_int32_val(static_cast<std::int32_t>(value));
  else
    add(node, name).set_uint32_val(value);
}

/// ASTRA-sim knows all NPUs without a name for them, and numbers from 1 for all else.
std::uint64_t number_of(std::uint32_t group) { return std::uint64_t{group} + 1; }

std::vector<ProcessGroup> named_groups(const Workload& workload) {
  std::vector<ProcessGroup> groups;
  for (std::uint32_t g = 0; g < workload.groups.size(); ++g) {
    if (is_everyone(workload.groups[g], workload.places.size())) continue;
    ProcessGroup& group = groups.emplace_back(ProcessGroup{std::to_string(number_of(g)), {}});
    for (const NodeId member : workload.groups[g]) group.members.push_back(member.value);
  }
  return groups;
}

/// Whole microseconds whose sum is never off by more than half of one.
class WholeMicros {
public:
  std::int64_t next(std::int64_t duration) {
    constexpr std::int64_t micro = 1'000'000; // ps
    rest_ += duration % micro;
    const std::int64_t more = rest_ >= micro / 2 ? 1 : 0;
    rest_ -= more * micro;
    return duration / micro + more;
  }

private:
  std::int64_t rest_ = 0; // ps that aren't written yet; below 0: that are too many
};

/// The trace of one NPU.
class TraceWriter {
public:
  TraceWriter(const Workload& workload, std::uint32_t npu)
      : workload_(workload), npu_(npu), place_(workload.places[npu]) {}

  [[nodiscard]] std::string text() {
    const TrainingProgram& program = workload_.programs[place_.program];
    std::vector<std::uint32_t> by_turn(program.size());
    for (std::uint32_t i = 0; i < program.size(); ++i) by_turn[program.turn(i)] = i;
    std::string file;
    append(file, metadata(program.size()));
    for (const std::uint32_t i : by_turn) {
      NodeMessage node = node_of(program[i]);
      node.set_id(std::uint64_t{program.turn(i)} + 1);
      for (const std::uint32_t before : program.dependencies(i))
        node.add_data_deps(std::uint64_t{program.turn(before)} + 1);
      append(file, node);
    }
    return file;
  }

private:
  [[nodiscard]] GlobalMetadata metadata(std::uint64_t nodes) const {
    GlobalMetadata metadata;
    metadata.set_version("1.0.0");
    add(metadata, "tutti_nodes").set_uint64_val(nodes);
    add(metadata, "tutti_name").set_string_val(workload_.name);
    add(metadata, "tutti_iterations").set_uint64_val(workload_.iterations);
    add(metadata, "tutti_items").set_double_val(workload_.items);
    add(metadata, "tutti_item").set_string_val(workload_.item);
    add(metadata, "tutti_flops").set_double_val(workload_.flops);
    auto& groups = *add(metadata, "tutti_groups").mutable_uint64_list();
    for (const std::uint32_t group : place_.groups) groups.add_values(number_of(group));
    return metadata;
  }

  [[nodiscard]] NodeMessage node_of(const Operation& operation) {
    NodeMessage node;
    node.set_name(workload_.names[operation.name]);
    add(node, "is_cpu_op").set_bool_val(false);
    if (operation.kind == Operation::Kind::compute) {
      fill_compute(node, operation);
      return node;
    }
    fill_group(node, place_.groups[operation.role]);
    if (operation.priority > 0) add_number(node, "comm_priority", operation.priority);
    if (operation.purpose != Purpose::other)
      add(node, "tutti_purpose").set_string_val(std::string(to_text(operation.purpose)));
    if (operation.kind == Operation::Kind::collective)
      fill_collective(node, operation);
    else
      fill_send(node, operation);
    return node;
  }

  void fill_group(NodeMessage& node, std::uint32_t group) const {
    if (is_everyone(workload_.groups[group], workload_.places.size()))
      add(node, "tutti_group").set_uint64_val(number_of(group)); // there may be equal ones
    else
      add(node, "pg_name").set_string_val(std::to_string(number_of(group)));
  }

  void fill_compute(NodeMessage& node, const Operation& operation) {
    node.set_type(ChakraProtoMsg::COMP_NODE);
    const std::int64_t micros = micros_.next(operation.amount);
    node.set_duration_micros(static_cast<std::uint64_t>(micros));
    if (operation.amount != micros * 1'000'000) // ps
      add(node, "tutti_duration_ps").set_int64_val(operation.amount);
  }

  void fill_collective(NodeMessage& node, const Operation& operation) const {
    node.set_type(ChakraProtoMsg::COMM_COLL_NODE);
    const auto members =
        static_cast<std::int64_t>(workload_.groups[place_.groups[operation.role]].size());
    const std::int64_t parts = is_sized_by_share(operation.collective) ? members : 1;
    add(node, "comm_type").set_int64_val(type_of(operation.collective));
    add(node, "comm_size").set_int64_val((operation.amount + parts - 1) / parts);
    if (operation.amount % parts != 0) add(node, "tutti_size").set_int64_val(operation.amount);
    if (has_root(operation.collective)) add(node, "tutti_root").set_uint32_val(operation.root);
    add(node, "tutti_tag").set_uint32_val(operation.tag);
  }

  void fill_send(NodeMessage& node, const Operation& operation) const {
    const bool sends = operation.kind == Operation::Kind::send;
    const std::vector<NodeId>& pair = workload_.groups[place_.groups[operation.role]];
    const std::uint32_t other = pair[pair[0].value == npu_ ? 1 : 0].value;
    node.set_type(sends ? ChakraProtoMsg::COMM_SEND_NODE : ChakraProtoMsg::COMM_RECV_NODE);
    add(node, "comm_size").set_int64_val(operation.amount);
    add_number(node, "comm_src", sends ? npu_ : other);
    add_number(node, "comm_dst", sends ? other : npu_);
    add_number(node, "comm_tag", operation.tag);
  }

  const Workload& workload_;
  std::uint32_t npu_;
  const ProgramPlace& place_;
  WholeMicros micros_;
};

} // namespace

std::vector<std::string> write_chakra(const Workload& workload, const std::string& prefix) {
  check_workload(workload, static_cast<std::uint32_t>(workload.places.size()));
  std::vector<std::string> files;
  for (std::uint32_t npu = 0; npu < workload.places.size(); ++npu) {
    files.push_back(fmt::format("{}.{}.et", prefix, npu));
    write_file(files.back(), TraceWriter(workload, npu).text());
  }
  write_file(chakra_groups_file(prefix), group_file_text(named_groups(workload)));
  return files;
}

} // namespace tutti
