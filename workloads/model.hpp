// What is trained: layers with their parameters, activations and work, derived from published
// dimensions. All counts are for one sample (a sequence, an image, ...) and elements, not bytes.
#pragma once

#include "sim/units.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tutti {

/// A part of a layer's forward pass. Its kind decides what its backward pass costs, and how
/// efficiently an NPU does it.
struct Kernel {
  enum class Kind : std::uint8_t {
    matmul,      ///< with parameters: backward once for inputs, once for parameters
    convolution, ///< as matmul
    attention,   ///< of two activations: backward twice for inputs
    elementwise, ///< norms, activation functions, residuals, softmax: limited by memory
    lookup,      ///< embedding tables: limited by memory
  };
  Kind kind = Kind::matmul;
  double flops = 0;       ///< forward, for one sample; a multiply-add counts two
  double traffic = 0;     ///< activation elements read and written, forward, for one sample
  double parameters = 0;  ///< that it reads, whatever the batch; of all experts together
  bool is_expert = false; ///< done by the experts, for the tokens that reach them
};
inline constexpr std::size_t kernel_kind_count = 5;
[[nodiscard]] std::string_view to_text(Kernel::Kind kind);

/// What tensor parallelism makes of a layer (Megatron-LM, arXiv:1909.08053 section 3; sequence
/// parallelism: arXiv:2205.05198 section 4.2.2).
enum class TensorSplit : std::uint8_t {
  none,  ///< it is replicated: every member does all of it
  block, ///< column- then row-parallel: members do a share each; forward ends with an All-Reduce of
         ///< the outputs, backward with one of the input's gradients
};

/// Measured times of a layer for one sample, which then hold instead of what its kernels would
/// take on an NPU: they grow with the samples, and tensor parallelism divides them as it does work.
struct GivenTimes {
  Time forward, input_gradient, parameter_gradient;
};

struct Layer {
  std::string name;        ///< "block3.mlp"
  std::uint32_t block = 0; ///< never falls from layer to layer; pipeline stages end between blocks
  std::vector<Kernel> kernels;
  double parameters = 0;        ///< all but the experts'
  double expert_parameters = 0; ///< of all experts together; spread by expert parallelism
  double outputs = 0;           ///< elements handed to the next layer, for one sample
  double stored = 0; ///< elements of two bytes kept from forward to backward, for one sample
  double scores = 0; ///< attention matrices among `stored`, which Recompute::attention makes again
  TensorSplit split = TensorSplit::none;
  double routed = 0; ///< elements sent to the experts, and as many back, for one sample
  std::optional<GivenTimes> times;
};

/// What others say of a model, to check against; 0: nothing.
struct PublishedTotals {
  double parameters = 0;
  double forward_flops = 0, training_flops = 0; ///< for so many items
  double items = 1;
  double flops_tolerance = 0.01; ///< relative; its reason stands in the model's file
};

struct Model {
  std::string name, note, source;
  std::string sample = "sample"; ///< "sequence", "image"
  std::string item = "sample";   ///< what throughput counts: "token", "image"
  double items_per_sample = 1;   ///< tokens in a sequence
  std::uint32_t experts = 0;     ///< per layer that has some; 0: dense
  std::vector<Layer> layers;     ///< in the order of the forward pass
  PublishedTotals published;

  [[nodiscard]] double parameters() const;     ///< all, experts included
  [[nodiscard]] double forward_flops() const;  ///< for one sample
  [[nodiscard]] double training_flops() const; ///< forward and backward, for one sample
  [[nodiscard]] std::uint32_t block_count() const;
};

/// Flops of the backward pass, for one sample: what the input's gradients need, and the
/// parameters'.
[[nodiscard]] double input_gradient_flops(const Kernel& kernel);
[[nodiscard]] double parameter_gradient_flops(const Kernel& kernel);

/// The models that come with Tutti (workloads/models/*.toml), by name.
struct NamedModel {
  std::string name, note;
};
[[nodiscard]] std::vector<NamedModel> named_models();

/// Where the named models lie, a TOML file each.
[[nodiscard]] std::string model_folder();
/// A model by its name, from a TOML file (its format: docs/formats/model.md), or by its dimensions
/// (`gpt:layers=96,...`). Errors: InputError with file:line:column; an unknown name lists those
/// that are known.
[[nodiscard]] Model load_model(const std::string& name_or_file);

} // namespace tutti
