// RCCL's cost model.
#pragma once

#include "algorithms/nccl/tuner.hpp"

#include <cstdint>
#include <optional>

namespace tutti::nccl {

/// Of RCCL, on Instinct GPUs.
class RcclTuner : public Tuner {
public:
  RcclTuner(const System& system, const Graphs& graphs, Processor processor,
            const Allowed& allowed);
  [[nodiscard]] std::optional<double> time(CollectiveKind kind, Algorithm algorithm,
                                           Protocol protocol, Bytes size) const override;
  [[nodiscard]] std::uint32_t channels_for(Algorithm algorithm, Protocol protocol,
                                           Bytes size) const override;

private:
  const System& system_;
  const Graphs& graphs_;
  Processor processor_;
  Allowed allowed_;
  double ranks_;
};

} // namespace tutti::nccl
