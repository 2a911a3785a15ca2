// One Chakra trace file: its bytes to plain nodes. Protobuf goes no further.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tutti {

/// A node of the trace of one NPU, as the file has it. Sizes are bytes.
struct ChakraNode {
  enum class Type : std::uint8_t { metadata, compute, collective, send, receive };
  std::uint64_t id = 0;
  std::string name;
  Type type = Type::compute;
  std::vector<std::uint64_t> dependencies; ///< ids, control and data; ascending, none twice
  std::uint64_t duration_micros = 0;
  bool is_cpu_op = false;
  std::string inputs; ///< what a node of metadata says

  std::optional<std::uint64_t> num_ops, tensor_size;
  std::optional<std::uint64_t> comm_type, comm_size, comm_priority, comm_src, comm_dst, comm_tag;
  std::optional<std::string> pg_name;
  std::vector<bool> involved_dim; ///< empty: all

  // What only Tutti writes, as the format has no place for it.
  std::optional<std::uint64_t> duration_ps; ///< exact, where it isn't whole microseconds
  std::optional<std::uint64_t> size; ///< of the total buffer, where comm_size doesn't give it
  std::optional<std::uint64_t> root, tag;
  std::optional<std::uint64_t> group; ///< number of a group of all NPUs, which has no pg_name
  std::optional<std::string> purpose;
};

struct ChakraFile {
  std::vector<ChakraNode> nodes; ///< in the file's order

  // What only Tutti writes into the file's metadata. `node_count` marks its files.
  std::optional<std::uint64_t> node_count; ///< when it was written
  /// By role: numbers of process groups, which are in a file of their own (unless they are all
  /// NPUs); none: a node of metadata holds the groups.
  std::optional<std::vector<std::uint64_t>> groups;
  std::string name, item;
  std::uint64_t iterations = 1;
  double items = 0, flops = 0;
};

/// "node 12 (name)"
[[nodiscard]] std::string text_of(const ChakraNode& node);

/// Errors: InputError, "node 12 (name): ..." where one is at fault, without the
/// file's name: truncated or broken content (of Tutti's files also where they end behind some node;
/// those of which another tool has removed nodes are fine), a type of node that has no meaning
/// here, an attribute that isn't known, or of a kind that doesn't suit it.
[[nodiscard]] ChakraFile parse_chakra(const std::string& content);

} // namespace tutti
