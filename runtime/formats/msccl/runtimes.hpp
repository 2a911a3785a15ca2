// The programs that run MSCCL's XML, and what each of them takes.
#pragma once

#include "runtime/formats/msccl/xml.hpp"
#include "runtime/program.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::runtime {

/// One version of a runtime. Its limits are what remains of a program on the whole way: read, set
/// up and launched.
struct MscclRuntime {
  std::string_view name, version;
  std::string_view releases; ///< that have these limits
  std::string_view source;   ///< repository, commit and files that they were read from
  MscclLimits limits;
  std::uint32_t parsed_blocks, launched_blocks; ///< limits.blocks is the less of them
  /// How it spells reduce_scatter, and whether it knows gather and scatter; or custom.
  std::string_view reduce_scatter;
  bool has_gather = false, has_custom = false;
  /// A call of exactly `maxBytes` still takes the program.
  bool takes_last_byte = true;
};

/// By name, then from old to new.
[[nodiscard]] std::span<const MscclRuntime> msccl_runtimes();

/// "rccl" is its newest version, "rccl@2.18" that one, "" the newest of each.
/// Errors: InputError naming the known ones.
[[nodiscard]] std::vector<const MscclRuntime*> find_msccl_runtimes(const std::string& text);

/// What all of these take. Pre: not empty.
[[nodiscard]] MscclLimits common_limits(std::span<const MscclRuntime* const> runtimes);

/// The word that a runtime has for the collective; none: it doesn't know it.
[[nodiscard]] std::optional<std::string_view> msccl_word(const MscclRuntime& runtime,
                                                         CollectiveKind kind);

/// The one word that all of these have for the collective.
/// Errors: InputError naming who doesn't know it, or who spells it how. Pre: not empty.
[[nodiscard]] std::string_view common_msccl_word(CollectiveKind kind,
                                                 std::span<const MscclRuntime* const> runtimes);

/// Why the runtime doesn't run the program, which is in the form that msccl_xml() writes; nothing:
/// it does. Cost: O(steps).
[[nodiscard]] std::optional<std::string> msccl_refusal(const Program& form,
                                                       const MscclRuntime& runtime);

/// Calls that these runtimes never give to the program, or that they give to it by mistake: sizes
/// that the chunks don't divide, sizes beyond minBytes and maxBytes, another root.
/// `size`: of the calls that it is meant for.
[[nodiscard]] std::vector<std::string>
msccl_selection_warnings(const Program& program, Bytes size, const MscclOptions& options,
                         std::span<const MscclRuntime* const> runtimes);

/// The program's paths that aren't those that a runtime takes between these ranks on this channel
/// (schedule_of()): MSCCL's XML can't say them. Errors: as schedule_of().
[[nodiscard]] std::vector<ConnectionPath> paths_not_taken(const Topology& topology,
                                                          const Program& program);
/// What a runtime takes instead.
[[nodiscard]] std::vector<LinkId> runtime_path(const Topology& topology,
                                               const ConnectionPath& path);

} // namespace tutti::runtime
