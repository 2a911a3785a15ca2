// Files come from several tools, so that attributes are read by name, in any of the format's
// integer types. A field that the schema doesn't know is refused: it may mean something that isn't
// simulated.
#include "workloads/traces/chakra_messages.hpp"

#include "sim/error.hpp"

#include <chakra.pb.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <climits>
#include <string_view>

namespace tutti {

namespace {

using ChakraProtoMsg::AttributeProto;

/// Texts end at a zero byte for whatever is written in C. Errors: InputError where there is one.
const std::string& without_nul(const std::string& text, std::string_view what) {
  if (text.find('\0') != std::string::npos)
    throw InputError(fmt::format("{} has a zero byte", what));
  return text;
}

/// Any of the format's kinds of integer, or a truth value.
std::uint64_t integer_of(const AttributeProto& attribute) {
  const auto natural = [&](std::int64_t value) {
    if (value < 0)
      throw InputError(fmt::format("attribute {} is {}, below 0", attribute.name(), value));
    return static_cast<std::uint64_t>(value);
  };
  switch (attribute.value_case()) {
  case AttributeProto::kInt32Val: return natural(attribute.int32_val());
  case AttributeProto::kInt64Val: return natural(attribute.int64_val());
  case AttributeProto::kUint32Val: return attribute.uint32_val();
  case AttributeProto::kUint64Val: return attribute.uint64_val();
  case AttributeProto::kSint32Val: return natural(attribute.sint32_val());
  case AttributeProto::kSint64Val: return natural(attribute.sint64_val());
  case AttributeProto::kFixed32Val: return attribute.fixed32_val();
  case AttributeProto::kFixed64Val: return attribute.fixed64_val();
  case AttributeProto::kSfixed32Val: return natural(attribute.sfixed32_val());
  case AttributeProto::kSfixed64Val: return natural(attribute.sfixed64_val());
  case AttributeProto::kBoolVal: return attribute.bool_val() ? 1 : 0;
  default: throw InputError(fmt::format("attribute {} is not an integer", attribute.name()));
  }
}

std::string string_of(const AttributeProto& attribute) {
  if (!attribute.has_string_val())
    throw InputError(fmt::format("attribute {} is not a string", attribute.name()));
  return without_nul(attribute.string_val(), fmt::format("attribute {}", attribute.name()));
}

/// A number in an attribute that Tutti writes.
double number_of(const AttributeProto& attribute) {
  if (!attribute.has_double_val() || !(attribute.double_val() >= 0))
    throw InputError(fmt::format("attribute {} is not a number of at least 0", attribute.name()));
  return attribute.double_val();
}

std::vector<std::uint64_t> numbers_of(const AttributeProto& attribute) {
  if (!attribute.has_uint64_list())
    throw InputError(fmt::format("attribute {} is not a list of numbers", attribute.name()));
  const auto& values = attribute.uint64_list().values();
  return {values.begin(), values.end()};
}

std::vector<bool> flags_of(const AttributeProto& attribute) {
  if (!attribute.has_bool_list() || attribute.bool_list().values_size() == 0)
    throw InputError(fmt::format("attribute {} is not a list of truth values", attribute.name()));
  const auto& values = attribute.bool_list().values();
  return {values.begin(), values.end()};
}

struct KnownAttribute {
  std::string_view name;
  void (*read)(ChakraNode&, const AttributeProto&);
};

/// By name: what PyTorch's converter adds for people, then what means something. tensor_loc says
/// in which memory a tensor lies; there is only one here.
void ignore(ChakraNode&, const AttributeProto&) {}
constexpr std::array known_attributes{
    KnownAttribute{"rf_id", ignore},
    KnownAttribute{"fw_parent", ignore},
    KnownAttribute{"seq_id", ignore},
    KnownAttribute{"scope", ignore},
    KnownAttribute{"tid", ignore},
    KnownAttribute{"fw_tid", ignore},
    KnownAttribute{"op_schema", ignore},
    KnownAttribute{"stream", ignore},
    KnownAttribute{"tensor_loc", ignore},
    KnownAttribute{"is_cpu_op", [](auto& node, const auto& a) { node.is_cpu_op = integer_of(a); }},
    KnownAttribute{"num_ops", [](auto& node, const auto& a) { node.num_ops = integer_of(a); }},
    KnownAttribute{"tensor_size",
                   [](auto& node, const auto& a) { node.tensor_size = integer_of(a); }},
    KnownAttribute{"comm_type", [](auto& node, const auto& a) { node.comm_type = integer_of(a); }},
    KnownAttribute{"comm_size", [](auto& node, const auto& a) { node.comm_size = integer_of(a); }},
    KnownAttribute{"comm_priority",
                   [](auto& node, const auto& a) { node.comm_priority = integer_of(a); }},
    KnownAttribute{"comm_src", [](auto& node, const auto& a) { node.comm_src = integer_of(a); }},
    KnownAttribute{"comm_dst", [](auto& node, const auto& a) { node.comm_dst = integer_of(a); }},
    KnownAttribute{"comm_tag", [](auto& node, const auto& a) { node.comm_tag = integer_of(a); }},
    KnownAttribute{"pg_name", [](auto& node, const auto& a) { node.pg_name = string_of(a); }},
    KnownAttribute{"involved_dim",
                   [](auto& node, const auto& a) { node.involved_dim = flags_of(a); }},
    KnownAttribute{"tutti_duration_ps",
                   [](auto& node, const auto& a) { node.duration_ps = integer_of(a); }},
    KnownAttribute{"tutti_size", [](auto& node, const auto& a) { node.size = integer_of(a); }},
    KnownAttribute{"tutti_root", [](auto& node, const auto& a) { node.root = integer_of(a); }},
    KnownAttribute{"tutti_tag", [](auto& node, const auto& a) { node.tag = integer_of(a); }},
    KnownAttribute{"tutti_group", [](auto& node, const auto& a) { node.group = integer_of(a); }},
    KnownAttribute{"tutti_purpose", [](auto& node, const auto& a) { node.purpose = string_of(a); }},
};

void read_attribute(ChakraNode& node, const AttributeProto& attribute) {
  (void)without_nul(attribute.name(), "the name of an attribute");
  const auto known =
      std::find_if(known_attributes.begin(), known_attributes.end(),
                   [&](const KnownAttribute& row) { return row.name == attribute.name(); });
  if (known == known_attributes.end()) {
    std::vector<std::string> names;
    for (const KnownAttribute& row : known_attributes) names.emplace_back(row.name);
    throw InputError(unknown_name("attribute", attribute.name(), names));
  }
  known->read(node, attribute);
}

ChakraNode::Type type_of(const ChakraProtoMsg::Node& node) {
  switch (node.type()) {
  case ChakraProtoMsg::METADATA_NODE: return ChakraNode::Type::metadata;
  case ChakraProtoMsg::COMP_NODE: return ChakraNode::Type::compute;
  case ChakraProtoMsg::COMM_COLL_NODE: return ChakraNode::Type::collective;
  case ChakraProtoMsg::COMM_SEND_NODE: return ChakraNode::Type::send;
  case ChakraProtoMsg::COMM_RECV_NODE: return ChakraNode::Type::receive;
  case ChakraProtoMsg::MEM_LOAD_NODE:
  case ChakraProtoMsg::MEM_STORE_NODE:
    throw InputError("it loads from or stores to remote memory, which isn't modelled");
  default: break;
  }
  throw InputError(fmt::format("unknown type of node {} (known: METADATA 1, COMP 4, COMM_SEND 5, "
                               "COMM_RECV 6, COMM_COLL 7)",
                               static_cast<int>(node.type())));
}

/// Fields that the schema doesn't know are a newer schema's, or a broken file's.
void refuse_unknown_fields(const google::protobuf::Message& message) {
  const google::protobuf::UnknownFieldSet& unknown =
      message.GetReflection()->GetUnknownFields(message);
  if (!unknown.empty())
    throw InputError(
        fmt::format("it has a field number {} that isn't known", unknown.field(0).number()));
}

ChakraNode node_of(const ChakraProtoMsg::Node& message) {
  ChakraNode node;
  node.id = message.id();
  node.name = without_nul(message.name(), fmt::format("node {}: its name", message.id()));
  try {
    refuse_unknown_fields(message);
    node.type = type_of(message);
    node.duration_micros = message.duration_micros();
    node.dependencies.assign(message.ctrl_deps().begin(), message.ctrl_deps().end());
    node.dependencies.insert(node.dependencies.end(), message.data_deps().begin(),
                             message.data_deps().end());
    std::sort(node.dependencies.begin(), node.dependencies.end());
    node.dependencies.erase(std::unique(node.dependencies.begin(), node.dependencies.end()),
                            node.dependencies.end());
    if (node.type == ChakraNode::Type::metadata) {
      node.inputs = without_nul(message.inputs().values(), "what it says");
      return node; // its attributes mean nothing
    }
    for (const AttributeProto& attribute : message.attr()) {
      refuse_unknown_fields(attribute);
      read_attribute(node, attribute);
    }
  } catch (const InputError& e) {
    throw InputError(fmt::format("{}: {}", text_of(node), e.what()));
  }
  return node;
}

void read_metadata(ChakraFile& file, const ChakraProtoMsg::GlobalMetadata& metadata) {
  refuse_unknown_fields(metadata);
  for (const AttributeProto& attribute : metadata.attr()) {
    refuse_unknown_fields(attribute);
    if (attribute.name() == "tutti_nodes") file.node_count = integer_of(attribute);
    if (attribute.name() == "tutti_name") file.name = string_of(attribute);
    if (attribute.name() == "tutti_iterations") file.iterations = integer_of(attribute);
    if (attribute.name() == "tutti_items") file.items = number_of(attribute);
    if (attribute.name() == "tutti_item") file.item = string_of(attribute);
    if (attribute.name() == "tutti_flops") file.flops = number_of(attribute);
    if (attribute.name() == "tutti_groups") file.groups = numbers_of(attribute);
  }
}

/// The messages of a file, one after another, each behind its length (a varint of 32 bits).
class Messages {
public:
  explicit Messages(std::string_view content) : rest_(content), size_(content.size()) {}

  [[nodiscard]] bool empty() const { return rest_.empty(); }

  template <typename Message> Message next(std::string_view what) {
    const std::size_t at = size_ - rest_.size();
    const std::size_t length = next_length(what);
    if (length > rest_.size())
      throw InputError(fmt::format("truncated: {} at byte {} has {} of {} bytes", what, at,
                                   rest_.size(), length));
    Message message;
    if (!message.ParseFromArray(rest_.data(), static_cast<int>(length)))
      throw InputError(fmt::format("broken: {} at byte {} isn't one", what, at));
    rest_.remove_prefix(length);
    return message;
  }

private:
  std::size_t next_length(std::string_view what) {
    const std::size_t at = size_ - rest_.size();
    std::uint64_t length = 0;
    for (unsigned shift = 0; shift < 35; shift += 7) {
      if (rest_.empty())
        throw InputError(fmt::format("truncated: {} at byte {} has no length", what, at));
      const auto byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      length |= std::uint64_t{byte & 0x7fU} << shift;
      if (byte >= 0x80) continue;
      if (length > INT_MAX) break;
      return static_cast<std::size_t>(length);
    }
    throw InputError(fmt::format("broken: {} at byte {} has no sensible length", what, at));
  }

  std::string_view rest_;
  std::size_t size_;
};

/// A file that ends early has the first of its nodes, all of them; ids count up there. From files
/// out of which another tool has taken nodes, others are missing.
bool ends_early(const ChakraFile& file) {
  if (!file.node_count || file.nodes.size() >= *file.node_count) return false;
  const std::uint64_t first = file.groups ? 1 : 0; // where a node held the groups, it was node 0
  for (std::size_t i = 0; i < file.nodes.size(); ++i)
    if (file.nodes[i].id != first + i) return false;
  return true;
}

} // namespace

std::string text_of(const ChakraNode& node) {
  return node.name.empty() ? fmt::format("node {}", node.id)
                           : fmt::format("node {} ({})", node.id, node.name);
}

ChakraFile parse_chakra(const std::string& content) {
  ChakraFile file;
  Messages messages(content);
  read_metadata(file, messages.next<ChakraProtoMsg::GlobalMetadata>("its metadata"));
  while (!messages.empty())
    file.nodes.push_back(node_of(messages.next<ChakraProtoMsg::Node>("a node")));
  if (ends_early(file))
    throw InputError(
        fmt::format("truncated: {} of {} nodes are there", file.nodes.size(), *file.node_count));
  return file;
}

} // namespace tutti
