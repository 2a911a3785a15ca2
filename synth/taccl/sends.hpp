// What is to be sent once the paths are known: sends that wait for others, and what each occupies.
// Stages 2 and 3 of TACCL decide only when.
#pragma once

#include "sim/collective.hpp"
#include "sim/schedule.hpp"
#include "sim/time_model.hpp"
#include "synth/taccl/logical_topology.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tutti {

/// A chunk over a connection.
struct Send {
  ChunkId chunk;
  LinkId link;
  Op op = Op::copy;
};

using SendId = std::uint32_t;

/// All sends, and which have to arrive before others set out. Times in ps.
class Sends {
public:
  /// `logical` is the one whose links sends name, and must outlive this.
  Sends(const LogicalTopology& logical, const Collective& collective, const TimeModel& model,
        std::optional<Bytes> chunk);

  /// A tree that copies: each link after the one into its start. What leaves a source waits for
  /// `first`. Returns the ids, in the order of the links.
  std::vector<SendId> add_tree(ChunkId chunk, std::span<const LinkId> links,
                               std::span<const SendId> first = {});
  /// The same links backwards, of a tree on reversed(logical): contributions join on their way to
  /// the root. Returns the sends into the root.
  std::vector<SendId> add_inverted_tree(ChunkId chunk, std::span<const LinkId> links, Op op);
  /// On connections between machines what starts at the sender goes before what it relays.
  void put_own_chunks_first();

  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(sends_.size()); }
  [[nodiscard]] const Send& operator[](SendId id) const { return sends_[id]; }
  [[nodiscard]] const LogicalTopology& logical() const { return *logical_; }
  /// What has to arrive before, and what waits for it.
  [[nodiscard]] std::span<const SendId> before(SendId id) const { return before_[id]; }
  [[nodiscard]] std::span<const SendId> after(SendId id) const { return after_[id]; }
  /// What has to set out before, on the same connection, and what does after.
  [[nodiscard]] std::span<const SendId> earlier(SendId id) const { return earlier_[id]; }
  [[nodiscard]] std::span<const SendId> later(SendId id) const { return later_[id]; }

  [[nodiscard]] Bytes bytes(SendId id) const;
  /// From setting out to arrival of so many bytes over the connection.
  [[nodiscard]] std::int64_t flight(LinkId link, Bytes size) const;
  /// The parts of the network that the connection crosses.
  [[nodiscard]] std::span<const std::uint32_t> parts(LinkId link) const {
    return parts_[link.value];
  }
  /// For how long so many bytes occupy a part.
  [[nodiscard]] std::int64_t busy(std::uint32_t part, Bytes size) const;

private:
  SendId add(const Send& send);
  void wait(SendId later, SendId earlier);

  const LogicalTopology* logical_;
  const Collective* collective_;
  bool latency_is_busy_;
  std::optional<Bytes> chunk_;
  std::vector<std::vector<std::uint32_t>> parts_; ///< [link]
  std::vector<Bandwidth> narrowest_;              ///< [link]
  std::vector<Send> sends_;
  std::vector<std::vector<SendId>> before_, after_, earlier_, later_;
};

} // namespace tutti
