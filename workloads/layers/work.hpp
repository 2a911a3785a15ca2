// What one NPU does for one layer and one micro-batch: computing, and communication between its
// parts.
#pragma once

#include "sim/collective.hpp"
#include "workloads/parallelism/training.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace tutti {

/// Computing between two communications of a layer.
struct LayerPart {
  Time forward, input_gradient, parameter_gradient;
};

/// Communication among the tensor group; none where `size` is 0.
struct TensorCommunication {
  CollectiveKind kind = CollectiveKind::all_gather;
  Bytes size;
};

struct LayerWork {
  /// Before the experts, at the experts, after them. A layer without experts has the first only,
  /// one that keeps its tokens at home (expert = 1) too.
  std::array<LayerPart, 3> parts;
  std::uint32_t part_count = 1;
  Time attention; ///< forward, of attention's kernels alone: what Recompute::attention redoes
  /// Bytes of the All-to-All to the experts, and of the one back; their gradients travel back. What
  /// is looked up is named by a number, which counts as nothing.
  std::array<Bytes, 2> routed;

  TensorCommunication before_forward, after_forward;   ///< of inputs, of outputs
  TensorCommunication before_backward, after_backward; ///< of the outputs' gradients, the inputs'
  /// The inputs once more, for the parameters' gradients (sequence parallelism keeps only a share:
  /// arXiv:2205.05198 section 4.2.2).
  TensorCommunication inputs_again;

  std::int64_t parameters = 0;        ///< on this NPU (were nothing sharded), experts' excluded
  std::int64_t expert_parameters = 0; ///< of this NPU's experts
  /// Expert parameters that have a gradient: of tables, those that are looked up in an iteration.
  std::int64_t expert_gradients = 0;
  Bytes outputs; ///< handed to the next layer by this NPU
  Bytes stored;  ///< from forward to backward
  Bytes scores;  ///< the part of `stored` that Recompute::attention makes again
  Bytes inputs;  ///< all that is stored of a layer that is recomputed

  [[nodiscard]] Time forward() const;
  [[nodiscard]] Time backward() const; ///< without recomputing
};

/// [layer]. A layer that splits computes, stores and holds 1 / tensor of everything; its experts
/// also 1 / expert. Each of the two backward passes over a kernel moves the bytes that its forward
/// pass moves; a lookup's only backward pass is for its parameters. In a layer with given times
/// nothing counts as attention.
/// What is stored whole without sequence parallelism: twice the inputs (those of the norm and of
/// the matrix product: the 10 of 34 in arXiv:2205.05198 section 4.2.1, without its dropout masks).
/// Errors: InputError as kernel_time().
[[nodiscard]] std::vector<LayerWork> layer_work(const Model& model, const NpuProfile& npu,
                                                const TrainingSpec& spec);

} // namespace tutti
