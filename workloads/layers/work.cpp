// A layer's kernels are counted for one sample and whole; here they become the times of one NPU's
// share, kernel by kernel on the NPU's roofline, before, at and after the experts.
#include "workloads/layers/work.hpp"

#include <algorithm>
#include <cmath>

namespace tutti {

namespace {

/// A share of a whole number; a share is never less than the others'.
std::int64_t share(double elements, double parts) {
  return static_cast<std::int64_t>(std::ceil(elements / parts));
}

class LayerWorker {
public:
  LayerWorker(const Model& model, const NpuProfile& npu, const TrainingSpec& spec)
      : model_(model), npu_(npu), spec_(spec), element_(element_bytes(spec.precision)) {}

  [[nodiscard]] LayerWork work(std::size_t index) const {
    const Layer& layer = model_.layers[index];
    LayerWork work;
    add_parts(layer, work);
    add_tensor_communication(index, work);
    const double split = splits(layer) ? spec_.tensor : 1;
    const double whole = layer.outputs * spec_.micro_batch;
    work.parameters = share(layer.parameters, split);
    work.expert_parameters = share(layer.expert_parameters, split * spec_.expert);
    work.outputs = bytes(share(whole, in_shares() ? spec_.tensor : 1));
    work.inputs = bytes(share(inputs_of(index), in_shares() ? spec_.tensor : 1));
    work.expert_gradients = work.expert_parameters;
    if (only_looks_up(layer))
      work.expert_gradients = std::min(work.expert_parameters, looked_up(layer));
    work.stored = stored(layer, layer.stored * spec_.micro_batch, 2 * inputs_of(index));
    work.scores = stored(layer, layer.scores * spec_.micro_batch, 0);
    return work;
  }

private:
  [[nodiscard]] bool splits(const Layer& layer) const {
    return spec_.tensor > 1 && layer.split == TensorSplit::block;
  }
  /// Whether activations between layers are spread over the tensor group.
  [[nodiscard]] bool in_shares() const { return spec_.tensor > 1 && spec_.sequence; }
  [[nodiscard]] Bytes bytes(std::int64_t elements) const { return {elements * element_}; }
  [[nodiscard]] double inputs_of(std::size_t index) const {
    return index == 0 ? 0 : model_.layers[index - 1].outputs * spec_.micro_batch;
  }

  /// Layers count elements of two bytes; finer precisions keep what they keep at that.
  [[nodiscard]] Bytes stored(const Layer& layer, double elements, double unsplit) const {
    const std::int64_t bytes_each = std::max<std::int64_t>(element_, 2);
    if (!splits(layer)) return {share(elements, 1) * bytes_each};
    const double whole = spec_.sequence ? 0 : std::min(elements, unsplit);
    return {(share(whole, 1) + share(elements - whole, spec_.tensor)) * bytes_each};
  }

  /// Elements of this NPU's tables that an iteration reads.
  [[nodiscard]] std::int64_t looked_up(const Layer& layer) const {
    double elements = 0;
    for (const Kernel& kernel : layer.kernels)
      if (kernel.is_expert) elements += kernel.traffic;
    return share(elements * spec_.micro_batch * spec_.micro_batches,
                 splits(layer) ? spec_.tensor : 1);
  }

  void add_parts(const Layer& layer, LayerWork& work) const {
    std::size_t first = layer.kernels.size(), last = 0; // of the experts' kernels
    for (std::size_t k = 0; k < layer.kernels.size(); ++k)
      if (layer.kernels[k].is_expert) {
        first = std::min(first, k);
        last = k;
      }
    const bool travels = spec_.expert > 1 && layer.routed > 0 && first < layer.kernels.size();
    if (travels) {
      work.part_count = 3;
      const Bytes routed = bytes(share(layer.routed * spec_.micro_batch, 1));
      work.routed[1] = std::max(routed, Bytes{spec_.expert}); // a byte for each member
      if (!only_looks_up(layer)) work.routed[0] = work.routed[1];
    }
    if (layer.times) {
      add_times(*layer.times, splits(layer) ? spec_.tensor : 1, work.parts[travels ? 1 : 0]);
      return;
    }
    for (std::size_t k = 0; k < layer.kernels.size(); ++k) {
      const std::size_t part = !travels || k < first ? 0 : k <= last ? 1 : 2;
      const Time before = work.parts[part].forward;
      add_kernel(layer.kernels[k], splits(layer) ? spec_.tensor : 1, work.parts[part]);
      const bool is_redone =
          layer.kernels[k].kind == Kernel::Kind::attention || is_softmax(layer, k);
      if (is_redone) work.attention += work.parts[part].forward - before;
    }
  }

  /// Whether it is the softmax of stored scores: the kernel behind the one that makes them.
  static bool is_softmax(const Layer& layer, std::size_t k) {
    return layer.scores > 0 && k > 0 && layer.kernels[k].kind == Kernel::Kind::elementwise &&
           layer.kernels[k - 1].kind == Kernel::Kind::attention;
  }

  /// Whether its experts are tables.
  static bool only_looks_up(const Layer& layer) {
    return std::all_of(layer.kernels.begin(), layer.kernels.end(), [](const Kernel& kernel) {
      return !kernel.is_expert || kernel.kind == Kernel::Kind::lookup;
    });
  }

  void add_times(const GivenTimes& times, std::int64_t split, LayerPart& part) const {
    const auto scaled = [&](Time time) {
      return Time{(time.ps * spec_.micro_batch + split - 1) / split};
    };
    part = {scaled(times.forward), scaled(times.input_gradient), scaled(times.parameter_gradient)};
  }

  void add_kernel(const Kernel& kernel, double split, LayerPart& part) const {
    const double parameters = kernel.parameters / (kernel.is_expert ? spec_.expert : 1);
    const double moved =
        (kernel.traffic * spec_.micro_batch + parameters) / split * static_cast<double>(element_);
    const auto time = [&](double flops) {
      return kernel_time(npu_, kernel.kind, spec_.precision, flops * spec_.micro_batch / split,
                         moved);
    };
    part.forward += time(kernel.flops);
    if (kernel.kind == Kernel::Kind::lookup) {
      part.parameter_gradient += time(input_gradient_flops(kernel));
      return;
    }
    part.input_gradient += time(input_gradient_flops(kernel));
    const double flops = parameter_gradient_flops(kernel);
    if (flops > 0) part.parameter_gradient += time(flops);
  }

  /// Between layers activations are whole at every member; in shares with sequence parallelism.
  /// Nothing comes before the first layer that needs a gradient, and after the last there is only
  /// the loss, which every member has.
  void add_tensor_communication(std::size_t index, LayerWork& work) const {
    const Layer& layer = model_.layers[index];
    if (spec_.tensor == 1) return;
    const bool is_first = index == 0, is_last = index + 1 == model_.layers.size();
    const Bytes inputs = padded(inputs_of(index));
    const Bytes outputs = padded(layer.outputs * spec_.micro_batch);
    if (!splits(layer)) {
      if (!spec_.sequence) return;
      if (!is_first && is_split(index - 1)) work.before_forward = {gather, inputs};
      if (!is_last && is_split(index + 1)) work.before_backward = {gather, outputs};
      return;
    }
    const bool scatters = spec_.sequence && !is_last;
    work.after_forward = {scatters ? CollectiveKind::reduce_scatter : CollectiveKind::all_reduce,
                          outputs};
    if (scatters) work.before_backward = {gather, outputs};
    if (is_first) return;
    work.after_backward = {
        spec_.sequence ? CollectiveKind::reduce_scatter : CollectiveKind::all_reduce, inputs};
    if (!spec_.sequence) return;
    work.before_forward = {gather, inputs};
    const auto has_gradient = [](const LayerPart& part) {
      return part.parameter_gradient > Time{};
    };
    if (std::any_of(work.parts.begin(), work.parts.end(), has_gradient))
      work.inputs_again = {gather, inputs};
  }

  [[nodiscard]] bool is_split(std::size_t index) const { return splits(model_.layers[index]); }
  /// At least a byte for each member, unless it is nothing at all.
  [[nodiscard]] Bytes padded(double elements) const {
    const Bytes size = bytes(share(elements, 1));
    return size.count == 0 ? size : std::max(size, Bytes{spec_.tensor});
  }

  static constexpr CollectiveKind gather = CollectiveKind::all_gather;
  const Model& model_;
  const NpuProfile& npu_;
  const TrainingSpec& spec_;
  std::int64_t element_;
};

} // namespace

Time LayerWork::forward() const {
  Time sum;
  for (const LayerPart& part : parts) sum += part.forward;
  return sum;
}

Time LayerWork::backward() const {
  Time sum;
  for (const LayerPart& part : parts) sum += part.input_gradient + part.parameter_gradient;
  return sum;
}

std::vector<LayerWork> layer_work(const Model& model, const NpuProfile& npu,
                                  const TrainingSpec& spec) {
  const LayerWorker worker(model, npu, spec);
  std::vector<LayerWork> work;
  for (std::size_t i = 0; i < model.layers.size(); ++i) work.push_back(worker.work(i));
  return work;
}

} // namespace tutti
