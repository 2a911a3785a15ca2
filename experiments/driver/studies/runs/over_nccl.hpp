// How much faster a run is than NCCL, or RCCL, on the same machine.
#pragma once

#include "experiments/driver/studies/runs/evaluation.hpp"

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace tutti {

/// "nccl", or "rccl" where the NPUs are AMD's.
[[nodiscard]] std::string nccl_of(const Topology& topology);

/// What a machine's links are mostly used by: the transport of its GPUs' vendor.
struct UsualTransport {
  std::shared_ptr<const Transport> transport; ///< null: ideal links
  std::string why_ideal;                      ///< in words; else empty
};
/// That of nccl_of(), where the network says what its NPUs and its links are.
[[nodiscard]] UsualTransport usual_transport(const Topology& topology);

/// What `evaluate` says of the cases, with Replay::over_nccl wherever there is a run of NCCL's or
/// RCCL's for the same problem; where several differ in cuts, the fastest counts. A case that
/// requests it (Case::over_nccl) and has none among the cases gets one, which is evaluated with
/// them and not returned. Where none has a correct schedule, or its nodes are a mere guess, the
/// notes of those that request it say why.
[[nodiscard]] std::vector<Evaluation>
evaluated_over_nccl(std::vector<Case> cases,
                    const std::function<std::vector<Evaluation>(std::span<const Case>)>& evaluate);

} // namespace tutti
