// RCCL's cost model.
#pragma once

#include "algorithms/nccl/tuner.hpp"

#include <cstdint>
#include <optional>

namespace tutti::nccl {

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
