// Who communicates with whom in a trace: the process groups that its nodes name, and the roles that
// an NPU's program has for them.
#pragma once

#include "sim/topology.hpp"
#include "workloads/traces/chakra_messages.hpp"
#include "workloads/traces/process_groups.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <vector>

namespace tutti {

/// Groups that have equal numbers in order of value, before those with other names.
using GroupKey = std::tuple<std::size_t, std::string, std::vector<std::uint32_t>>;
/// For what two NPUs send each other, behind all groups.
inline constexpr std::size_t pair_key = SIZE_MAX;

/// "npu0, npu1 and 6 more"
[[nodiscard]] std::string members_text(std::span<const std::uint32_t> members);

/// The groups of one NPU's trace after another.
class ChakraGroups {
public:
  /// `file`: ChakraOptions::groups. The topology and the prefix must outlive it. Errors: InputError
  /// of the file with groups.
  ChakraGroups(const Topology& topology, const std::string& prefix, const std::string& file);

  /// From now on those of this NPU. Errors: InputError for a group with two lists of members.
  void begin(std::uint32_t npu, const ChakraFile& file);

  /// A collective's, or of a send in a trace of Tutti's. Errors: InputError where it isn't known.
  [[nodiscard]] GroupKey group_of(const ChakraNode& node) const;
  /// Errors: InputError for a group that the NPU isn't in.
  std::uint32_t role_of(const GroupKey& key);
  /// [role]: its group.
  [[nodiscard]] const std::vector<GroupKey>& keys() const { return role_keys_; }

private:
  [[nodiscard]] std::vector<std::uint32_t> everyone() const;
  [[nodiscard]] std::string groups_hint() const; ///< where groups could be
  [[nodiscard]] GroupKey along_dimensions(const std::vector<bool>& involved) const;

  const Topology& topology_;
  const std::string& prefix_;
  std::string groups_file_;   ///< empty: there is none
  bool takes_traces_ = false; ///< groups that stand in traces
  std::vector<ProcessGroup> given_;

  // The NPU whose trace is being read:
  std::uint32_t npu_ = 0;
  bool is_own_ = false; ///< written by Tutti
  std::map<std::string, std::vector<std::uint32_t>> members_;
  std::map<GroupKey, std::uint32_t> roles_;
  std::vector<GroupKey> role_keys_; ///< [role]
};

} // namespace tutti
