// What `--set` says to TE-CCL.
#pragma once

#include "sim/synthesizer.hpp"
#include "synth/teccl/one_shot/decision.hpp"
#include "synth/teccl/one_shot/program.hpp"
#include "synth/teccl/rounds/rounds.hpp"

#include <cstdint>
#include <optional>

namespace tutti {

enum class TecclMethod : std::uint8_t {
  automatic, ///< by what is asked and how large it is
  program,   ///< one shot
  rounds,
  flows, ///< for collectives without copies
};

struct TecclSettings {
  TecclMethod method = TecclMethod::automatic;
  EpochSettings epochs;
  std::optional<std::uint32_t> epoch_count; ///< K; else the smallest that is found
  bool epochs_by_bound = false;             ///< K as Algorithm 1 bounds it
  EpochObjective objective = EpochObjective::paper;
  std::optional<std::uint32_t> buffer_limit;
  EpochEffort effort{.conflicts = 2'000};
  double gap = 0;           ///< of the objective, at which the program is optimal enough
  std::int64_t nodes = 500; ///< of the program's search tree, at most
  /// Variables (chunks x lanes x epochs) that one shot is made of, at most.
  std::uint64_t largest = 20'000;
  RoundSettings rounds;
};

/// Errors: InputError naming the setting, what was found and what is known.
[[nodiscard]] TecclSettings teccl_settings(const SynthesisOptions& options);

} // namespace tutti
