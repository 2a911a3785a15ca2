// The elements and attributes of an MSCCL file, each checked by itself and against its neighbours;
// not yet what they mean.
#pragma once

#include "runtime/formats/msccl/layout.hpp"
#include "runtime/formats/msccl/xml.hpp"
#include "runtime/program.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tutti::runtime {

/// The text of a file, to say where in it something is wrong.
class MscclSource {
public:
  MscclSource() = default;
  MscclSource(std::string_view text, std::string file_name)
      : text_(text), file_name_(std::move(file_name)) {}
  /// Throws InputError "FILE:LINE:COLUMN: what".
  [[noreturn]] void refuse(std::ptrdiff_t offset, std::string_view what) const;
  /// "FILE:LINE:COLUMN"
  [[nodiscard]] std::string place(std::ptrdiff_t offset) const;

private:
  std::string_view text_;
  std::string file_name_;
};

struct MscclElements {
  MscclSource source;
  std::string name, protocol;
  std::optional<std::int64_t> min_bytes, max_bytes;
  MscclLayout layout;
  std::vector<RankProgram> ranks; ///< [npu]: blocks, in the file's units
  /// [npu]: blocks and steps that announce that they are over
  std::vector<std::set<std::pair<std::uint32_t, std::uint32_t>>> announced;
  std::vector<std::string> warnings;
  // Offsets into the text.
  std::ptrdiff_t algo_at = 0;
  std::vector<std::ptrdiff_t> gpu_at;                            ///< [npu]
  std::vector<std::vector<std::ptrdiff_t>> block_at;             ///< [npu][block]
  std::vector<std::vector<std::vector<std::ptrdiff_t>>> step_at; ///< [npu][block][step]
};

/// At least one, and if not `several`, one. Errors: as read_msccl, but for what needs the
/// collective. `text` must live as long as the result.
[[nodiscard]] std::vector<MscclElements> read_msccl_elements(std::string_view text,
                                                             const std::string& file_name,
                                                             const MscclLimits& limits,
                                                             bool several);

/// A connection belongs to one block, a channel has no more peers than there are, and what blocks
/// wait for is there; a wait for an earlier step of the own block is dropped. `source` names the
/// place otherwise.
void check_msccl_neighbours(MscclElements& file, std::uint32_t rank, const MscclLimits& limits);

} // namespace tutti::runtime
