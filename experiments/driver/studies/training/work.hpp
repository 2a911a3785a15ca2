// What is trained: a model that is spread over the NPUs, traces, or a text; from the keys of
// [[training]] (docs/formats/training.md).
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
#include <span>
#include <string>
#include <variant>

namespace tutti {

class ConfigTable;

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

struct TrainingStudy;
template <typename Target> struct Key;
/// Keys of what is trained: its source, and what each source has besides.
[[nodiscard]] std::span<const Key<TrainingStudy>> source_keys();
[[nodiscard]] std::span<const Key<TraceWork>> trace_keys();
[[nodiscard]] std::span<const Key<TextWork>> text_keys();
[[nodiscard]] std::span<const Key<ModelWork>> degree_keys(); ///< of the table `parallel`
[[nodiscard]] std::span<const Key<ModelWork>> batch_keys();  ///< one of both
[[nodiscard]] std::span<const Key<ModelWork>> model_keys();

using WorkSource = std::variant<ModelWork, TextWork, TraceWork>;

/// The spec for a network: with `data` and `micro_batches`. Errors: InputError where the degrees
/// don't divide the NPUs, or the replicas the batch.
[[nodiscard]] TrainingSpec spec_on(const ModelWork& work, const Topology& topology);

/// Checked by check_workload(). Errors: InputError.
[[nodiscard]] Workload make_workload(const WorkSource& source, const Topology& topology);

/// A workload, for reports of its runs.
struct WorkloadSummary {
  std::string name;
  /// A model's precision and NPU, "fp16 on v100"; empty where times are given.
  std::string trained_on;
  std::uint32_t iterations = 1;
  double items = 0, flops = 0; ///< as Workload
  std::string item;
  /// Peak of one NPU, per second, at the precision in which it trains; 0: unknown.
  double peak_flops = 0;
  /// Memory of the NPU that needs most, where known.
  std::optional<MemoryEstimate> memory;
  NodeId memory_npu;
  std::string memory_warning; ///< as that of training.hpp
};
[[nodiscard]] WorkloadSummary summary_of(const WorkSource& source, const Workload& workload,
                                         const Topology& topology);

/// A variant's own keys, or null, come before those that all have in common. Files are looked for
/// beside `source_name`. Errors: InputError with the place of what is wrong, also where the degrees
/// of parallelism or the batch don't fit one of the networks.
[[nodiscard]] WorkSource read_work(ConfigTable& common, ConfigTable* own,
                                   const std::string& source_name,
                                   std::span<const Topology* const> networks);

/// "ns" is 1 ns; or a time with a number. Errors: InputError.
[[nodiscard]] Time parse_time_unit(const std::string& text);

} // namespace tutti
