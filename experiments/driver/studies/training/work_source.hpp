// Where the work of a training study comes from: a model that is spread over the NPUs, traces, or a
// text.
#pragma once

#include "sim/topology.hpp"
#include "sim/workload.hpp"
#include "workloads/model.hpp"
#include "workloads/npu_profile.hpp"
#include "workloads/parallelism/training.hpp"
#include "workloads/traces/chakra.hpp"
#include "workloads/traces/text_workload.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

namespace tutti {

struct ModelWork {
  Model model;
  NpuProfile npu;
  TrainingSpec spec;
  std::optional<std::uint32_t> data; ///< instead of spec.data; none: all NPUs that are left
  /// Samples of an iteration, of all replicas: instead of spec.micro_batches.
  std::optional<std::uint64_t> global_batch;
};

struct TextWork {
  std::string file;
  TextWorkloadOptions options;
};

struct TraceWork {
  std::string prefix;
  ChakraOptions options;
};

using WorkSource = std::variant<ModelWork, TextWork, TraceWork>;

/// The spec for a network: with `data` and `micro_batches`. Errors: InputError where the degrees
/// don't divide the NPUs, or the replicas the batch.
[[nodiscard]] TrainingSpec spec_on(const ModelWork& work, const Topology& topology);

/// Checked by check_workload(). Errors: InputError.
[[nodiscard]] Workload make_workload(const WorkSource& source, const Topology& topology);

/// As memory_warning() of training.hpp; empty where the memory isn't known.
[[nodiscard]] std::string memory_warning(const WorkSource& source, const Workload& workload,
                                         const Topology& topology);

/// Peak FLOP/s of one NPU at the precision in which it trains; 0: unknown.
[[nodiscard]] double peak_flops(const WorkSource& source);

/// A model's precision and NPU, "fp16 on v100"; empty for texts and traces.
[[nodiscard]] std::string trained_on(const WorkSource& source);

} // namespace tutti
