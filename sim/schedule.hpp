// A collective algorithm's result: an ordered list of transfers. What it means is checked by
// verify, when things happen is decided by an engine. 8 bytes a transfer, plus each distinct path
// once; 12 bytes a dependency, where a schedule has some.
#pragma once

#include "sim/ids.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tutti {

enum class Op : std::uint8_t { copy, reduce };

/// Chunk `chunk` crosses the links of `path` and is delivered at the path's end only.
struct Transfer {
  ChunkId chunk;
  PathId path;
  Op op = Op::copy;
  /// Reads the state from before the block that it shares with the previous transfer (so that two
  /// NPUs can exchange partial sums).
  bool together = false;
  /// Shares one send with the previous transfer: the same path and op, another chunk of the same
  /// part, neither of them together with any. A maximal run of such transfers, with the one before
  /// them, is a send: it sets out when all of its transfers may, occupies each link as one transfer
  /// of the summed size, and all of its chunks arrive (and are reduced) when it does. So the chunks
  /// pay the latency once (Shah et al., TACCL, NSDI 2023, sec. 5.1 step 3 and app. B.3, eq. 16-19).
  bool contiguous = false;
  bool operator==(const Transfer&) const = default;
};

/// What a transfer can wait for by name (as MSCCL's depid and deps): that another one, listed
/// before its block, has left its sender, or has been delivered.
enum class Milestone : std::uint8_t { left, arrived };

struct Dependency {
  std::uint32_t transfer = 0; ///< that is waited for: its position in the list
  Milestone milestone = Milestone::arrived;
  bool operator==(const Dependency&) const = default;
};

[[nodiscard]] std::string_view to_text(Milestone value); ///< "left", "arrived"
/// Errors: InputError with the known names.
[[nodiscard]] Milestone parse_milestone(std::string_view text);

/// Link sequences, each stored once. The first `link_count` paths are the single links, in order,
/// so that PathId{l} is the one-hop path over LinkId{l}.
class PathTable {
public:
  explicit PathTable(std::uint32_t link_count);

  static constexpr std::uint32_t most_paths = 1U << 29; ///< that a transfer can tell apart

  /// The id of this link sequence, added if new. Pre: not empty, links known. Errors: InputError
  /// for more than most_paths.
  PathId intern(std::span<const LinkId> links);
  [[nodiscard]] std::span<const LinkId> links(PathId path) const {
    return {links_.data() + begin_[path.value], begin_[path.value + 1] - begin_[path.value]};
  }
  [[nodiscard]] LinkId first(PathId path) const { return links_[begin_[path.value]]; }
  [[nodiscard]] LinkId last(PathId path) const { return links_[begin_[path.value + 1] - 1]; }
  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(begin_.size() - 1); }
  [[nodiscard]] std::uint32_t link_count() const { return link_count_; }
  /// All paths at once: that of id p is all_links()[offsets()[p]] up to offsets()[p + 1].
  [[nodiscard]] std::span<const std::size_t> offsets() const { return begin_; }
  [[nodiscard]] std::span<const LinkId> all_links() const { return links_; }

private:
  std::uint32_t link_count_;
  std::vector<std::size_t> begin_;
  std::vector<LinkId> links_;
  std::unordered_multimap<std::uint64_t, PathId> by_hash_; // multi-hop paths only; never iterated
};

class Schedule {
public:
  explicit Schedule(std::uint32_t link_count) : paths_(link_count) {}

  [[nodiscard]] PathTable& paths() { return paths_; }
  [[nodiscard]] const PathTable& paths() const { return paths_; }

  void reserve(std::size_t transfers) { transfers_.reserve(transfers); }
  void push(const Transfer& transfer);
  void push(ChunkId chunk, LinkId link, Op op) { push({chunk, PathId{link.value}, op}); }

  [[nodiscard]] std::size_t size() const { return transfers_.size(); }
  [[nodiscard]] bool empty() const { return transfers_.empty(); }
  // Engines look at one field at a time, and would pay for all of them in a call.
  [[nodiscard, gnu::always_inline]] Transfer operator[](std::size_t i) const {
    const Packed p = transfers_[i];
    return {ChunkId{p.chunk}, PathId{p.path & path_mask},
            (p.path & reduce_bit) ? Op::reduce : Op::copy, (p.path & together_bit) != 0,
            (p.path & contiguous_bit) != 0};
  }
  [[nodiscard]] PathId path_of(std::size_t i) const {
    return PathId{transfers_[i].path & path_mask};
  }
  /// Whether some transfers share a send.
  [[nodiscard]] bool has_contiguous() const { return has_contiguous_; }
  /// The send of transfer i: its first transfer (i itself, where it shares no send), and one past
  /// its last. Cost: O(transfers of the send).
  [[nodiscard]] std::size_t send_begin(std::size_t i) const {
    while (i > 0 && is_contiguous(i)) --i;
    return i;
  }
  [[nodiscard]] std::size_t send_end(std::size_t i) const {
    do ++i;
    while (i < size() && is_contiguous(i));
    return i;
  }
  /// Transfer `i` waits for this, too.
  /// Pre: i is in the list, and no later one has dependencies yet.
  void add_dependency(std::size_t i, Dependency dependency);
  /// The dependencies of transfer i, as they were added. Cost: O(log dependencies).
  [[nodiscard]] std::span<const Dependency> dependencies(std::size_t i) const;
  /// All of them, by the transfer that waits: waiting()[k] waits for all_dependencies()[k].
  [[nodiscard]] std::span<const std::uint32_t> waiting() const { return waiting_; }
  [[nodiscard]] std::span<const Dependency> all_dependencies() const { return dependencies_; }
  [[nodiscard]] bool has_dependencies() const { return !waiting_.empty(); }
  /// Sends each transfer along now[its path]. now: [path id].
  void replace_paths(std::span<const PathId> now);
  void clear_dependencies() { waiting_.clear(), dependencies_.clear(); }

  /// The path table, all transfers and their dependencies.
  [[nodiscard]] bool operator==(const Schedule& other) const;

  static constexpr std::uint32_t reduce_bit = 1U << 31, together_bit = 1U << 30,
                                 contiguous_bit = PathTable::most_paths,
                                 path_mask = contiguous_bit - 1;
  /// A transfer as it is kept.
  struct Packed {
    std::uint32_t chunk, path; // path: id, op, together and contiguous bit
    bool operator==(const Packed&) const = default;
  };
  static_assert(sizeof(Packed) == 8);
  /// All transfers, for those who look at them as arrays of numbers.
  [[nodiscard]] std::span<const Packed> packed() const { return transfers_; }

private:
  [[nodiscard]] bool is_contiguous(std::size_t i) const {
    return (transfers_[i].path & contiguous_bit) != 0;
  }

  PathTable paths_;
  std::vector<Packed> transfers_;
  bool has_contiguous_ = false;
  std::vector<std::uint32_t> waiting_; // ascending
  std::vector<Dependency> dependencies_;
};

} // namespace tutti
