// The cost models of NCCL and RCCL: which algorithm, protocol and number of channels they take for
// a size.
#pragma once

#include "algorithms/nccl/channels.hpp"
#include "sim/collective.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace tutti::nccl {

enum class Algorithm : std::uint8_t {
  tree,
  ring,
  collnet_direct,
  collnet_chain,
  nvls,
  nvls_tree,
  pat,
  point_to_point, ///< what is made of sends: no tuner
  all_pairs,      ///< RCCL's program for MSCCL: everyone with everyone, twice
};
constexpr std::size_t tuned_algorithms = 7;
enum class Protocol : std::uint8_t { ll, ll128, simple };
constexpr std::size_t protocol_count = 3;

[[nodiscard]] std::string_view to_text(Algorithm algorithm); ///< "nvls_tree"
[[nodiscard]] std::string_view to_text(Protocol protocol);   ///< "ll128"
/// Nothing for an unknown name.
[[nodiscard]] std::optional<Algorithm> find_algorithm(std::string_view name);
[[nodiscard]] std::optional<Protocol> find_protocol(std::string_view name);

[[nodiscard]] bool is_shard_collective(CollectiveKind kind); ///< All-Gather, Reduce-Scatter
[[nodiscard]] bool is_rooted(CollectiveKind kind);           ///< Broadcast, Reduce

/// All that the searches have found for a communicator.
struct Graphs {
  Channels ring, tree, nvls, collnet_direct, collnet_chain;
  /// What nodes of odd number have of each ring, so that NICs of one rail meet.
  std::vector<Channel> odd_rings;
  std::uint32_t channels = 0;      ///< of rings and trees, when they are doubled
  std::uint32_t nvls_channels = 0; ///< thread blocks of NVLS
  std::vector<Graphs> others;      ///< in nodes that differ: by System::others
};

/// What may be chosen, as environment variables say.
struct Allowed {
  std::array<bool, tuned_algorithms> algorithms{true, true, true, true, true, true, true};
  std::array<bool, protocol_count> protocols{true, true, true};
  bool ll128_everywhere = false; ///< named, so that no condition holds it back
  bool collnet = false;          ///< switches between nodes reduce (SHARP)
  std::optional<std::uint32_t> channels;
};

struct Choice {
  Algorithm algorithm = Algorithm::ring;
  Protocol protocol = Protocol::simple;
  std::uint32_t channels = 1;
  double microseconds = 0; ///< that the model expects
};

/// A library's cost model. What it is made of must outlive it.
class Tuner {
public:
  Tuner(const System& system, const Graphs& graphs, Processor processor, const Allowed& allowed)
      : system_(system), graphs_(graphs), processor_(processor), allowed_(allowed),
        ranks_(static_cast<std::uint32_t>(system.ranks.size())) {}
  virtual ~Tuner() = default;
  /// What the model expects, in microseconds; nothing for what can't be.
  [[nodiscard]] virtual std::optional<double> time(CollectiveKind kind, Algorithm algorithm,
                                                   Protocol protocol, Bytes size) const = 0;
  /// How many channels are in use for a size.
  [[nodiscard]] virtual std::uint32_t channels_for(Algorithm algorithm, Protocol protocol,
                                                   Bytes size) const = 0;
  /// The least of the table; nothing where all is forbidden.
  [[nodiscard]] std::optional<Choice> choose(CollectiveKind kind, Bytes size) const;

protected:
  [[nodiscard]] bool is_allowed(Algorithm algorithm, Protocol protocol) const;
  /// As many as leave each of them `least` bytes.
  [[nodiscard]] std::uint32_t channels_of_size(Bytes size, std::int64_t least) const;

  const System& system_;
  const Graphs& graphs_;
  Processor processor_;
  Allowed allowed_;
  std::uint32_t ranks_;
};

class NcclTuner final : public Tuner {
public:
  using Tuner::Tuner;
  [[nodiscard]] std::optional<double> time(CollectiveKind kind, Algorithm algorithm,
                                           Protocol protocol, Bytes size) const override;
  [[nodiscard]] std::uint32_t channels_for(Algorithm algorithm, Protocol protocol,
                                           Bytes size) const override;

private:
  struct Cost {
    double latency = 0, bandwidth = 0; ///< us; GB/s, 0: can't be
  };
  [[nodiscard]] Cost cost(CollectiveKind kind, Algorithm algorithm, Protocol protocol) const;
  [[nodiscard]] double bus_bandwidth(CollectiveKind kind, Algorithm algorithm,
                                     Protocol protocol) const;
  [[nodiscard]] double latency(CollectiveKind kind, Algorithm algorithm, Protocol protocol) const;
  [[nodiscard]] bool can_be(CollectiveKind kind, Algorithm algorithm, Protocol protocol) const;
  [[nodiscard]] const Channels& channels_of(Algorithm algorithm) const;
};

/// RCCL's cost model on Instinct GPUs.
class RcclTuner final : public Tuner {
public:
  using Tuner::Tuner;
  [[nodiscard]] std::optional<double> time(CollectiveKind kind, Algorithm algorithm,
                                           Protocol protocol, Bytes size) const override;
  [[nodiscard]] std::uint32_t channels_for(Algorithm algorithm, Protocol protocol,
                                           Bytes size) const override;
};

} // namespace tutti::nccl
