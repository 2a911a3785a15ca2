// The order in which the nodes of a trace become operations.
#pragma once

#include "workloads/traces/chakra_messages.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tutti {

/// The nodes of a trace so that each follows what it depends on, and otherwise by id. Indices.
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

} // namespace tutti
