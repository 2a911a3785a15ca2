// Workloads as Chakra traces. A node's id is its operation's place in the program plus one; node 0
// holds the process groups.
#include "sim/error.hpp"
#include "sim/files.hpp"
#include "workloads/chakra.hpp"
#include "workloads/collective_sizes.hpp"
#include "workloads/process_groups.hpp"

#include <chakra.pb.h>
#include <fmt/format.h>

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
  case CollectiveKind::custom: break;
  }
  throw InputError("a workload has no custom collectives");
}

/// The trace of one NPU.
class TraceWriter {
public:
  TraceWriter(const Workload& workload, std::uint32_t npu)
      : workload_(workload), npu_(npu), place_(workload.places[npu]) {}

  [[nodiscard]] std::string text() const {
    const Program& program = workload_.programs[place_.program];
    std::string file;
    append(file, metadata(program.size() + 1));
    append(file, groups());
    for (std::size_t i = 0; i < program.size(); ++i) {
      NodeMessage node = node_of(program[i]);
      node.set_id(i + 1);
      for (const std::uint32_t before : program.dependencies(i)) node.add_data_deps(before + 1);
      append(file, node);
    }
    return file;
  }

private:
  [[nodiscard]] GlobalMetadata metadata(std::uint64_t nodes) const {
    GlobalMetadata metadata;
    metadata.set_version("0.0.4"); // as ASTRA-sim's own examples
    add(metadata, "tutti_nodes").set_uint64_val(nodes);
    add(metadata, "tutti_name").set_string_val(workload_.name);
    add(metadata, "tutti_iterations").set_uint64_val(workload_.iterations);
    add(metadata, "tutti_items").set_double_val(workload_.items);
    add(metadata, "tutti_item").set_string_val(workload_.item);
    add(metadata, "tutti_flops").set_double_val(workload_.flops);
    return metadata;
  }

  /// "0" is everyone in this format, so that names count from 1.
  [[nodiscard]] std::string name_of(std::uint32_t role) const {
    return std::to_string(std::uint64_t{place_.groups[role]} + 1);
  }

  [[nodiscard]] NodeMessage groups() const {
    std::vector<ProcessGroup> groups;
    for (std::uint32_t role = 0; role < place_.groups.size(); ++role) {
      ProcessGroup& group = groups.emplace_back(ProcessGroup{name_of(role), {}});
      for (const NodeId member : workload_.groups[place_.groups[role]])
        group.members.push_back(member.value);
    }
    NodeMessage node;
    node.set_name("process groups");
    node.set_type(ChakraProtoMsg::METADATA_NODE);
    add(node, "is_cpu_op").set_bool_val(true);
    if (!groups.empty()) node.mutable_inputs()->set_values(trace_groups_text(groups));
    return node;
  }

  [[nodiscard]] NodeMessage node_of(const Operation& operation) const {
    NodeMessage node;
    node.set_name(workload_.names[operation.name]);
    add(node, "is_cpu_op").set_bool_val(false);
    if (operation.kind == Operation::Kind::compute) {
      fill_compute(node, operation);
      return node;
    }
    add(node, "pg_name").set_string_val(name_of(operation.role));
    if (operation.priority > 0) add(node, "comm_priority").set_int64_val(operation.priority);
    if (operation.purpose != Purpose::other)
      add(node, "tutti_purpose").set_string_val(std::string(to_text(operation.purpose)));
    if (operation.kind == Operation::Kind::collective)
      fill_collective(node, operation);
    else
      fill_send(node, operation);
    return node;
  }

  static void fill_compute(NodeMessage& node, const Operation& operation) {
    constexpr std::int64_t micro = 1'000'000; // ps
    node.set_type(ChakraProtoMsg::COMP_NODE);
    const std::int64_t rest = operation.amount % micro;
    const std::int64_t micros = operation.amount / micro + (rest >= micro / 2 ? 1 : 0);
    node.set_duration_micros(static_cast<std::uint64_t>(micros));
    if (rest != 0) add(node, "tutti_duration_ps").set_int64_val(operation.amount);
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
    add(node, "comm_src").set_uint32_val(sends ? npu_ : other);
    add(node, "comm_dst").set_uint32_val(sends ? other : npu_);
    add(node, "comm_tag").set_uint32_val(operation.tag);
  }

  const Workload& workload_;
  std::uint32_t npu_;
  const ProgramPlace& place_;
};

} // namespace

std::vector<std::string> write_chakra(const Workload& workload, const std::string& prefix) {
  check_workload(workload, static_cast<std::uint32_t>(workload.places.size()));
  std::vector<std::string> files;
  for (std::uint32_t npu = 0; npu < workload.places.size(); ++npu) {
    files.push_back(fmt::format("{}.{}.et", prefix, npu));
    write_file(files.back(), TraceWriter(workload, npu).text());
  }
  return files;
}

} // namespace tutti
