// From a model and its distribution over NPUs to the workload of one training iteration.
#pragma once

#include "sim/topology.hpp"
#include "sim/words.hpp"
#include "sim/workload.hpp"
#include "workloads/model.hpp"
#include "workloads/npu_profile.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tutti {

/// The dimensions of parallelism: an NPU has a coordinate in each.
enum class Parallelism : std::uint8_t { tensor, expert, data, pipeline };
inline constexpr std::size_t parallelism_count = 4;
inline constexpr Words<Parallelism, parallelism_count> parallelism_words{
    "dimension of parallelism", {"tensor", "expert", "data", "pipeline"}};
[[nodiscard]] constexpr std::string_view to_text(Parallelism parallelism) {
  return parallelism_words.text(parallelism);
}

enum class PipelineSchedule : std::uint8_t {
  gpipe,       ///< all forward, then all backward (arXiv:1811.06965)
  one_f_one_b, ///< PipeDream-Flush: as early backward as possible (arXiv:2006.09503)
  interleaved, ///< 1F1B over several model parts per stage (arXiv:2104.04473 section 2.2)
};
inline constexpr Words<PipelineSchedule, 3> schedule_words{"pipeline schedule",
                                                           {"gpipe", "1f1b", "interleaved"}};

/// What of the forward pass is done again for the backward pass.
enum class Recompute : std::uint8_t { none, attention, full };
inline constexpr Words<Recompute, 3> recompute_words{"recomputation",
                                                     {"none", "attention", "full"}};

struct TrainingSpec {
  // Degrees. Their product is the number of NPUs. Expert parallelism takes its members from the
  // replicas: `data` counts what is left, so that a dense layer has data * expert replicas.
  std::uint32_t tensor = 1, expert = 1, data = 1, pipeline = 1;
  /// Which dimension varies fastest over neighbouring NPUs, and so on.
  std::vector<Parallelism> order{Parallelism::tensor, Parallelism::expert, Parallelism::data,
                                 Parallelism::pipeline};
  /// The topology's dimensions in the order in which NPUs are numbered, fastest first; empty: by
  /// NPU id.
  std::vector<std::uint32_t> dimensions;

  std::uint32_t micro_batch = 1;   ///< samples that one replica computes at once
  std::uint32_t micro_batches = 1; ///< per iteration and replica: accumulation, and pipelining
  Precision precision = Precision::bf16;
  std::int64_t gradient_bytes = 0; ///< per parameter, as communicated; 0: those of `precision`

  bool sequence = false; ///< with tensor: All-Gather and Reduce-Scatter instead of All-Reduce
  /// ZeRO stage (arXiv:1910.02054): what replicas hold in parts. 1: optimizer state; gradients are
  /// reduce-scattered, new parameters gathered. 2: gradients, too; they are reduce-scattered after
  /// each micro-batch, as there is no room to add them up. 3 (FSDP): parameters, too; a block's are
  /// gathered before its forward and again before its backward pass.
  std::uint32_t zero = 0;
  PipelineSchedule schedule = PipelineSchedule::one_f_one_b;
  std::uint32_t model_parts = 1; ///< per stage, of `interleaved`
  Recompute recompute = Recompute::none;

  /// Gradients are reduced in buckets of at least so many bytes, in the order of the backward pass;
  /// 0: layer by layer.
  Bytes bucket;
  /// Gradients as soon as a bucket is full, else when all are there; and the next block's
  /// parameters (ZeRO-3) while one computes, else when they are needed.
  bool overlap = true;
  bool in_order = false; ///< a group's gradient buckets follow each other, as in one NCCL stream
  std::array<std::uint8_t, purpose_count> priority = {};
};

/// Where every NPU stands: [NPU] its coordinate in each dimension of parallelism.
struct Placement {
  std::vector<std::array<std::uint32_t, parallelism_count>> coordinates;
  /// NPUs that differ in the given dimensions only, each group in rank order: ranks count through
  /// the dimensions as given, the first fastest.
  [[nodiscard]] std::vector<std::vector<NodeId>>
  groups(std::span<const Parallelism> dimensions) const;
};
/// What is wrong with the order, "names data twice"; empty where nothing is.
[[nodiscard]] std::string order_fault(const TrainingSpec& spec);
/// Errors: InputError where degrees don't multiply to the number of NPUs, a dimension is missing or
/// named twice.
[[nodiscard]] Placement place(const Topology& topology, const TrainingSpec& spec);

/// The workload of one iteration, from the first micro-batch's forward pass to the optimizer (and
/// the parameters that ZeRO-1 and -2 gather behind it), with its memory estimate. NPUs of a
/// pipeline stage share a program. Gradients are summed once, with the last micro-batch (but see
/// `zero`).
/// Errors: InputError as place() and kernel_time(); for more pipeline stages (times model parts)
/// than blocks, several model parts unless `interleaved` in a pipeline, micro-batches that it can't
/// use, tensor > 1 where no layer splits, experts that don't divide, a ZeRO stage above 3, a
/// priority, bucket or gradient size out of range, 0 samples.
[[nodiscard]] Workload make_training(const Topology& topology, const Model& model,
                                     const NpuProfile& npu, const TrainingSpec& spec);

/// In words, where some NPU's estimate exceeds its memory: who, what, by how much; else empty.
[[nodiscard]] std::string memory_warning(const Workload& workload, const Topology& topology,
                                         const NpuProfile& npu);

} // namespace tutti
