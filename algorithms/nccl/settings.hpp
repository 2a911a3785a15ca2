// What can be said to NCCL and RCCL: `--set key=value`, in the words of their environment
// variables, and a tuner's table.
#pragma once

#include "algorithms/nccl/tuner.hpp"
#include "sim/synthesizer.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tutti::nccl {

/// A file as NCCL's example of a tuner plugin reads it: lines
/// collective,min_bytes,max_bytes,algorithm,protocol,channels,nodes,ranks[,pipe_ops[,registered]],
/// -1 for any; the first that fits counts.
class TunerTable {
public:
  /// Errors: InputError with the line.
  explicit TunerTable(const std::string& file);

  /// What the table says for this; `otherwise` where it says nothing, or what can't be.
  [[nodiscard]] std::optional<Choice> overruled(const Tuner& tuner, CollectiveKind kind, Bytes size,
                                                const System& system,
                                                const std::optional<Choice>& otherwise) const;

private:
  struct Row {
    CollectiveKind kind;
    std::int64_t least, most;
    Algorithm algorithm;
    Protocol protocol;
    std::int64_t channels, nodes, ranks;
  };
  std::vector<Row> rows_;
};

struct Settings {
  Allowed allowed;
  ChannelLimits limits;
  std::string gpu; ///< empty: as the topology says
  std::uint32_t node_size = 0;
  std::optional<Processor> processor;
  std::optional<TunerTable> tuner;
  std::optional<Bytes> tuned_for;    ///< size whose choice and chunks are taken; none: its own
  std::string algorithms, protocols; ///< as asked for

  /// Nobody has said which algorithm, protocol or number of channels.
  [[nodiscard]] bool says_nothing() const {
    return algorithms.empty() && protocols.empty() && !allowed.channels && !tuner;
  }
  /// "ring, simple" for messages.
  [[nodiscard]] std::string asked_for() const;
};

inline constexpr std::array<Setting, 12> setting_list{
    {{"algo",
      "ring, tree, nvls, nvls_tree, collnet_direct, collnet_chain, pat: one, several joined "
      "by +, or all but (^tree); as NCCL_ALGO"},
     {"proto", "ll, ll128, simple: likewise; as NCCL_PROTO"},
     {"channels", "number of channels, as NCCL_MIN_ and NCCL_MAX_NCHANNELS; default: by size"},
     {"cross_nic",
      "rings that leave by another NIC, as NCCL_CROSS_NIC: 0, 1, 2 (where faster); default 2"},
     {"collnet",
      "switches between nodes may reduce (SHARP), as NCCL_COLLNET_ENABLE: yes, no; default no"},
     {"tuner", "a CSV file as NCCL's example of a tuner plugin reads it", true},
     {"gpu",
      "h100, ...: the GPU whose constants count; default: what the topology says, else h100"},
     {"cpu", "intel, amd, arm: the servers' processors; default: those that the GPU is sold with"},
     {"node_size", "NPUs of a node, taken by number where the network shows other nodes; default: "
                   "its own nodes"},
     {"search_channels",
      "most channels that the search makes, before they are doubled; default 32"},
     {"version", "NCCL's, as 2.16: without the algorithms that later ones brought"},
     {"tuned_for", "size whose algorithm, channels and chunks are taken; default: its own"}}};

/// Errors: InputError naming the setting.
[[nodiscard]] Settings read_settings(const std::map<std::string, std::string>& settings);

} // namespace tutti::nccl
