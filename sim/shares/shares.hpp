// What the words of unequal shares mean: `zipf=1.2,seed=3`, `file=matrix.csv`, and the traffic of
// experts (`dispatch,tokens=4096,top=8,experts=256,hidden=7168`).
#pragma once

#include "sim/collective.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tutti {

/// The collective that a name means: of find_collective_kind(), or "dispatch" and "combine", which
/// are all_to_all_v.
[[nodiscard]] std::optional<CollectiveKind> find_collective_name(std::string_view text);

/// Reads what `shares.words` say, without drawing anything. Errors: InputError for an unknown key,
/// one that is given twice or missing, or a malformed value.
void require_share_words(CollectiveKind kind, const Shares& shares);

/// Whether they say how many bytes they are, so that no size is needed: files and experts do.
[[nodiscard]] bool say_their_size(std::string_view words);

/// Words whose files are looked for by `place`, which is given each file's name.
[[nodiscard]] std::string with_files(std::string_view words,
                                     const std::function<std::string(const std::string&)>& place);

/// By block, for so many members: in bytes, or where words don't say how many in a unit of their
/// own. Errors: InputError for files that can't be read or are of another number of members.
[[nodiscard]] std::vector<std::int64_t> drawn_shares(CollectiveKind kind, const Shares& shares,
                                                     std::uint32_t members);

/// The same in proportion, so that what size means (CollectivePart::size) is `size`; nothing is
/// rounded for shares that are so large already. Pre: none is negative, and some size is.
[[nodiscard]] std::vector<std::int64_t> scaled_shares(CollectiveKind kind,
                                                      std::vector<std::int64_t> shares,
                                                      std::uint32_t members, Bytes size);

/// Those of rccl-tests' alltoallv, by pair: (i + j) mod n steps of one size, and for those of none
/// what is left of the buffer. Errors: InputError for less than a byte a step.
[[nodiscard]] std::vector<std::int64_t> shares_of_rccl_tests(std::uint32_t members, Bytes size);

/// What size means for these shares: the largest sum of a row, or their sum.
[[nodiscard]] Bytes size_of_shares(CollectiveKind kind, const std::vector<std::int64_t>& shares,
                                   std::uint32_t members);

} // namespace tutti
