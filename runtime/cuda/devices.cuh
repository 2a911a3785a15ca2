// Which GPU runs which rank.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tutti::runtime {

struct Devices {
  std::vector<int> of_rank;
  std::vector<int> distinct; ///< ascending
  std::string name;          ///< "NVIDIA H200", "8 x NVIDIA H100"
};

[[nodiscard]] int device_count();

/// GPUs that all reach each other: each of so many, by number, that does so with those before.
[[nodiscard]] std::vector<int> peers(int count);

/// A GPU for each rank where as many reach each other's memory (which is made possible), else the
/// first for all. `one_clock`: all on one GPU, whose blocks read one clock.
/// Errors: InputError where there is no GPU, or none that can run a cooperative kernel.
[[nodiscard]] Devices choose_devices(std::uint32_t ranks, bool one_clock);

} // namespace tutti::runtime
