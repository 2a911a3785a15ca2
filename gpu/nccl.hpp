// NCCL beside exec: the same collectives and sizes.
#pragma once

#include "sim/units.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace tutti::gpu {

/// What a case of the pack with a rank for each GPU moves: "peers: all_gather, 4 GPUs".
struct PeerCase {
  std::string collective;
  int gpus = 0;
};
/// Nothing where the label isn't such a case's.
[[nodiscard]] std::optional<PeerCase> peer_case(std::string_view label);

/// The name of NCCL's figure for it: "nccl all_gather, 4 GPUs, 1048576 B".
[[nodiscard]] std::string nccl_figure(const PeerCase& shape, Bytes size);

/// tutti-gpu nccl PACK --out ROWS: times what the pack's cases of peers move, as far as there are
/// GPUs; by libnccl, else by nccl-tests' programs on PATH, else a note says that there are neither.
/// 0; errors as exceptions.
int nccl_command(std::span<const std::string> words);

} // namespace tutti::gpu
