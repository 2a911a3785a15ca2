// What a workload's text says, before it means anything on a network.
#pragma once

#include "sim/collective.hpp"
#include "sim/units.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tutti {

enum class TextParallelism : std::uint8_t {
  micro,
  data,
  model,
  data_model, ///< model-parallel among neighbours
  model_data, ///< data-parallel among neighbours
  dlrm,
  dlrm_enhanced,
  transformer,
  transformer_checkpoints, ///< HYBRID_TRANSFORMER_FWD_IN_BCKWD
  customized,              ///< each layer its own
  inference,               ///< forward only
};
[[nodiscard]] std::string_view to_text(TextParallelism parallelism);

/// Line and column, both from 1.
struct TextPlace {
  std::uint32_t line = 0, column = 0;
};

enum class TextPhase : std::uint8_t { forward, input_gradient, weight_gradient };
inline constexpr std::size_t text_phase_count = 3;

/// Which groups a suffix asks for; `usual`: those of phase and parallelism.
enum class TextGroup : std::uint8_t { usual, expert, data_expert };

struct TextCommunication {
  CollectiveKind kind = CollectiveKind::all_reduce;
  TextGroup group = TextGroup::usual;
  std::int64_t size = 0; ///< as the file has it; 0: none
  TextPlace place;
  /// But for where it stands.
  [[nodiscard]] bool is_like(const TextCommunication& other) const {
    return kind == other.kind && group == other.group && size == other.size;
  }
};

struct TextLayer {
  std::string name;
  std::array<Time, text_phase_count> compute;
  std::array<TextCommunication, text_phase_count> communication;
  TextParallelism parallelism = TextParallelism::data;
  bool is_checkpoint = false;   ///< where computing forward again can begin
  bool needs_recompute = false; ///< computed forward again, from a checkpoint, before its backward
  /// But for its times: a first micro-batch may be measured slower.
  [[nodiscard]] bool is_like(const TextLayer& other) const;
};

struct TextFile {
  TextParallelism parallelism = TextParallelism::data;
  TextPlace parallelism_place;
  std::optional<std::uint32_t> model_group, expert, pipeline, accumulation, npus;
  std::optional<std::uint32_t> last_bottom_layer; ///< DLRM's
  std::int64_t pipeline_size = 0;                 ///< bytes between stages
  bool is_simai = false;                          ///< has words that only SimAI has
  std::vector<TextLayer> layers;
};

/// Errors: InputError "FILE:LINE:COLUMN: ...".
[[nodiscard]] TextFile parse_text_layers(std::string_view text, const std::string& file, Time unit);

/// InputError "FILE:LINE:COLUMN: message".
[[noreturn]] void fail_at(const std::string& file, TextPlace place, const std::string& message);

} // namespace tutti
