// The degrees of parallelism are found first: how many neighbours, experts, replicas and stages.
// Every process group is then a number of NPUs that are a fixed stride apart.
#include "workloads/traces/text_workload.hpp"

#include "sim/error.hpp"
#include "sim/files/gzip.hpp"
#include "workloads/parallelism/npu_numbering.hpp"
#include "workloads/traces/collective_sizes.hpp"
#include "workloads/traces/text_layers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tutti {

namespace {

/// Groups of NPUs by their numbers: id = inner + inner size * (expert + experts * (data + ...)).
enum class TextRole : std::uint8_t {
  everyone,
  inner, ///< neighbours
  outer, ///< one of each inner group, in the same stage
  expert,
  data_expert, ///< one of each expert group
  previous,    ///< with the same NPU of the stage before
  next,
};

/// How many NPUs a group of each kind has.
struct TextDegrees {
  std::uint32_t npus = 1, inner = 1, expert = 1, data_expert = 1, stages = 1;
};

/// Layers that micro-batches repeat: `count` runs of `length`, from `first`.
struct TextRuns {
  std::size_t first = 0, length = 0, count = 1;
};

/// Names of operations, each once.
class NameTable {
public:
  std::uint32_t index_of(const std::string& name) {
    const auto [known, is_new] = known_.emplace(name, static_cast<std::uint32_t>(names_.size()));
    if (is_new) names_.push_back(name);
    return known->second;
  }
  [[nodiscard]] std::vector<std::string> names() && { return std::move(names_); }

private:
  std::vector<std::string> names_;
  std::map<std::string, std::uint32_t> known_;
};

/// What the NPUs of one pipeline stage run.
struct StageProgram {
  TrainingProgram program;
  std::vector<TextRole> roles; ///< [role of an operation]
};

std::uint32_t members_of(const TextDegrees& degrees, TextRole role) {
  switch (role) {
  case TextRole::everyone: return degrees.npus;
  case TextRole::inner: return degrees.inner;
  case TextRole::outer: return degrees.expert * degrees.data_expert;
  case TextRole::expert: return degrees.expert;
  case TextRole::data_expert: return degrees.data_expert;
  case TextRole::previous:
  case TextRole::next: break;
  }
  return 2;
}

/// Those that repeat the most layers; length 0 where there are none.
TextRuns find_runs(const std::vector<TextLayer>& layers, std::uint32_t count) {
  if (count == 1) return {0, layers.size(), 1};
  for (std::size_t length = layers.size() / count; length > 0; --length) {
    std::size_t equal = 0; // layers up to here that are like those a run later
    for (std::size_t i = 0; i + length < layers.size(); ++i) {
      equal = layers[i].is_like(layers[i + length]) ? equal + 1 : 0;
      if (equal == (count - 1) * length) return {i + 1 - equal, length, count};
    }
  }
  return {};
}

std::string_view to_text(TextPhase phase) {
  constexpr std::array<std::string_view, text_phase_count> names{"forward", "input_gradient",
                                                                 "weight_gradient"};
  return names[static_cast<std::size_t>(phase)];
}

bool is_dlrm(TextParallelism parallelism) {
  return parallelism == TextParallelism::dlrm || parallelism == TextParallelism::dlrm_enhanced;
}
bool is_transformer(TextParallelism parallelism) {
  return parallelism == TextParallelism::transformer ||
         parallelism == TextParallelism::transformer_checkpoints;
}

/// Each parallelism of the format says which phases of a layer communicate with whom. A stage's
/// program is a chain of passes over its layers, beside which gradients are summed.
class StageBuilder {
public:
  /// Errors of what follows: InputError with the place in `file` for communication without a group.
  StageBuilder(const TextFile& text, const std::string& file, const TextDegrees& degrees,
               NameTable& names)
      : text_(text), file_(file), degrees_(degrees), names_(names), gradients_(text.layers.size()) {
  }

  /// All that one stage, counted from 0, does in one pass; `runs` matter where there are several.
  void pass(const TextRuns& runs, std::uint32_t stage) {
    const std::size_t layers = text_.layers.size();
    switch (text_.parallelism) {
    case TextParallelism::micro:
      for (std::size_t i = 0; i < layers; ++i)
        go_on_after(communicate(i, TextPhase::weight_gradient));
      return;
    case TextParallelism::inference: forward(0, layers); return;
    default: break;
    }
    if (degrees_.stages == 1) {
      forward(0, layers);
      backward(0, layers);
    } else {
      pipeline(runs, stage);
    }
  }

  [[nodiscard]] StageProgram finished() && { return {std::move(program_), std::move(roles_)}; }

private:
  // What comes next waits for all of chain_, and for the operation too, ...
  void wait_for(std::optional<std::uint32_t> operation) {
    if (operation) chain_.push_back(*operation);
  }

  // ... or only for it, as it began after the chain.
  void go_on_after(std::optional<std::uint32_t> operation) {
    if (operation) chain_ = {*operation};
  }

  void compute(std::size_t i, TextPhase phase) {
    const TextLayer& layer = text_.layers[i];
    const Time time = layer.compute[static_cast<std::size_t>(phase)];
    if (time.ps == 0) return;
    Operation operation;
    operation.name = names_.index_of(fmt::format("{} {}", layer.name, to_text(phase)));
    operation.amount = time.ps;
    chain_ = {program_.add(operation, chain_)};
  }

  /// Begins when the chain is over; the chain doesn't wait for it.
  std::optional<std::uint32_t> communicate(std::size_t i, TextPhase phase) {
    const TextLayer& layer = text_.layers[i];
    const TextCommunication& asked = layer.communication[static_cast<std::size_t>(phase)];
    if (asked.size == 0) return std::nullopt;
    const TextRole group = group_of(i, phase);
    const std::uint32_t members = members_of(degrees_, group);
    if (members == 1) return std::nullopt;
    Operation operation;
    operation.kind = Operation::Kind::collective;
    operation.purpose = purpose_of(group, phase);
    operation.collective = asked.kind;
    operation.role = role_of(group);
    operation.tag = tags_[group]++;
    operation.name =
        names_.index_of(fmt::format("{} {} {}", layer.name, to_text(phase), to_text(asked.kind)));
    const bool is_share = !text_.is_simai && is_sized_by_share(asked.kind);
    operation.amount =
        std::max(asked.size * (is_share ? members : 1), least_size(asked.kind, members).count);
    return program_.add(operation, chain_);
  }

  TextRole group_of(std::size_t i, TextPhase phase) const {
    const TextLayer& layer = text_.layers[i];
    const TextCommunication& asked = layer.communication[static_cast<std::size_t>(phase)];
    const bool is_weights = phase == TextPhase::weight_gradient;
    if (asked.group != TextGroup::usual) {
      if (!is_transformer(layer.parallelism))
        fail_at(file_, asked.place,
                fmt::format("{} has no expert-parallel groups", to_text(layer.parallelism)));
      return asked.group == TextGroup::expert ? TextRole::expert : TextRole::data_expert;
    }
    switch (layer.parallelism) {
    case TextParallelism::data_model:
    case TextParallelism::transformer:
    case TextParallelism::transformer_checkpoints:
      return is_weights ? TextRole::outer : TextRole::inner;
    case TextParallelism::model_data: return is_weights ? TextRole::inner : TextRole::outer;
    case TextParallelism::model:
    case TextParallelism::inference:
      if (!is_weights) return TextRole::everyone;
      break;
    case TextParallelism::dlrm:
    case TextParallelism::dlrm_enhanced:
      if (is_weights || i == 0) return TextRole::everyone;
      break;
    default:
      if (is_weights) return TextRole::everyone;
      break;
    }
    fail_at(file_, asked.place,
            fmt::format("with {} nothing is communicated for the {} of this layer",
                        to_text(layer.parallelism),
                        is_weights                    ? "weight gradients"
                        : phase == TextPhase::forward ? "forward pass"
                                                      : "input gradients"));
  }

  Purpose purpose_of(TextRole group, TextPhase phase) const {
    if (text_.parallelism == TextParallelism::micro) return Purpose::other;
    if (group == TextRole::expert) return Purpose::expert;
    return phase == TextPhase::weight_gradient || group == TextRole::data_expert ? Purpose::data
                                                                                 : Purpose::tensor;
  }

  std::uint32_t role_of(TextRole group) {
    const auto known = std::find(roles_.begin(), roles_.end(), group);
    const auto index = static_cast<std::uint32_t>(known - roles_.begin());
    if (known == roles_.end()) roles_.push_back(group);
    return index;
  }

  void forward(std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
      wait_for(gradients_[i]); // of the pass before
      compute(i, TextPhase::forward);
      const auto outputs = communicate(i, TextPhase::forward);
      if (!is_dlrm(text_.parallelism)) {
        go_on_after(outputs);
        continue;
      }
      // The first layer, of embeddings, is needed only when all bottom layers are computed.
      if (i == 0) embeddings_ = outputs;
      if (i == *text_.last_bottom_layer) wait_for(embeddings_);
    }
  }

  void backward(std::size_t first, std::size_t last) {
    const bool weights_first =
        text_.parallelism == TextParallelism::data || is_dlrm(text_.parallelism);
    for (std::size_t i = last; i-- > first;)
      weights_first ? backward_weights_first(i) : backward_inputs_first(i);
  }

  void backward_weights_first(std::size_t i) {
    compute(i, TextPhase::weight_gradient);
    gradients_[i] = communicate(i, TextPhase::weight_gradient);
    if (i == 0) { // whose inputs need no gradients
      if (text_.parallelism == TextParallelism::dlrm) wait_for(embedding_gradients_);
      return;
    }
    compute(i, TextPhase::input_gradient);
    if (is_dlrm(text_.parallelism) && i == *text_.last_bottom_layer + 1)
      embedding_gradients_ = communicate(0, TextPhase::input_gradient);
  }

  void backward_inputs_first(std::size_t i) {
    if (text_.layers[i].needs_recompute) recompute(i);
    compute(i, TextPhase::input_gradient);
    std::optional<std::uint32_t> inputs;
    if (is_transformer(text_.parallelism))
      go_on_after(communicate(i, TextPhase::input_gradient));
    else if (i > 0) // hidden behind the layer's own weights
      inputs = communicate(i, TextPhase::input_gradient);
    compute(i, TextPhase::weight_gradient);
    gradients_[i] = communicate(i, TextPhase::weight_gradient);
    wait_for(inputs);
  }

  /// From the last checkpoint up to the layer, whose own outputs aren't needed.
  void recompute(std::size_t i) {
    std::size_t from = i + 1;
    while (from > 0 && !text_.layers[from - 1].is_checkpoint) --from;
    if (from == 0)
      fail_at(
          file_, text_.parallelism_place,
          fmt::format("layer {} is to be computed again, but none up to it is a checkpoint", i));
    forward(from - 1, i);
  }

  /// 1F1B (arXiv:2006.09503, PipeDream-Flush).
  void pipeline(const TextRuns& runs, std::uint32_t stage) {
    const std::size_t after = runs.first + runs.count * runs.length;
    const std::size_t ahead = std::min<std::size_t>(degrees_.stages - 1 - stage, runs.count);
    forward(0, runs.first);
    for (std::size_t k = 0; k < runs.count; ++k) {
      forward_micro_batch(runs, stage, k);
      if (k + 1 == runs.count) {
        forward(after, text_.layers.size());
        backward(after, text_.layers.size());
      }
      if (k >= ahead) backward_micro_batch(runs, stage, k - ahead);
    }
    for (std::size_t k = runs.count - ahead; k < runs.count; ++k)
      backward_micro_batch(runs, stage, k);
    backward(0, runs.first);
    micro_batches_ += static_cast<std::uint32_t>(runs.count);
  }

  void forward_micro_batch(const TextRuns& runs, std::uint32_t stage, std::size_t k) {
    const std::uint32_t tag = 2 * (micro_batches_ + static_cast<std::uint32_t>(k));
    const std::size_t first = runs.first + k * runs.length;
    if (stage > 0) go_on_after(pass_on(Operation::Kind::receive, TextRole::previous, tag));
    forward(first, first + runs.length);
    if (stage + 1 < degrees_.stages) pass_on(Operation::Kind::send, TextRole::next, tag);
  }

  void backward_micro_batch(const TextRuns& runs, std::uint32_t stage, std::size_t k) {
    const std::uint32_t tag = 2 * (micro_batches_ + static_cast<std::uint32_t>(k)) + 1;
    const std::size_t first = runs.first + k * runs.length;
    if (stage + 1 < degrees_.stages)
      go_on_after(pass_on(Operation::Kind::receive, TextRole::next, tag));
    backward(first, first + runs.length);
    if (stage > 0) pass_on(Operation::Kind::send, TextRole::previous, tag);
  }

  std::uint32_t pass_on(Operation::Kind kind, TextRole neighbour, std::uint32_t tag) {
    Operation operation;
    operation.kind = kind;
    operation.purpose = Purpose::pipeline;
    operation.role = role_of(neighbour);
    operation.tag = tag;
    operation.name = names_.index_of(tag % 2 == 0 ? "activations" : "activation gradients");
    operation.amount = text_.pipeline_size;
    return program_.add(operation, chain_);
  }

  const TextFile& text_;
  const std::string& file_;
  const TextDegrees& degrees_;
  NameTable& names_;
  TrainingProgram program_;
  std::vector<TextRole> roles_;
  std::map<TextRole, std::uint32_t> tags_;
  std::vector<std::uint32_t> chain_;
  std::vector<std::optional<std::uint32_t>> gradients_; // [layer]: their communication
  std::optional<std::uint32_t> embeddings_, embedding_gradients_;
  std::uint32_t micro_batches_ = 0; // of passes before
};

/// Which NPUs communicate with each other.
class Degrees {
public:
  Degrees(const TextFile& text, const std::string& file, const Topology& topology,
          const TextWorkloadOptions& options)
      : text_(text), file_(file), topology_(topology), options_(options) {}

  TextDegrees find() const {
    TextDegrees degrees;
    degrees.npus = topology_.npu_count();
    if (text_.npus && *text_.npus != degrees.npus)
      fail(fmt::format("it is for {} NPUs (all_gpus), the network has {}", *text_.npus,
                       degrees.npus));
    degrees.inner = inner();
    degrees.expert = text_.expert.value_or(1);
    degrees.stages = text_.pipeline.value_or(1);
    const std::uint64_t fixed =
        std::uint64_t{degrees.inner} * degrees.expert * std::uint64_t{degrees.stages};
    if (fixed > degrees.npus || degrees.npus % fixed != 0)
      fail(fmt::format("groups of {} x ep {} x pp {} don't divide {} NPUs", degrees.inner,
                       degrees.expert, degrees.stages, degrees.npus));
    degrees.data_expert = degrees.npus / static_cast<std::uint32_t>(fixed);
    return degrees;
  }

private:
  [[noreturn]] void fail(const std::string& message) const {
    fail_at(file_, text_.parallelism_place, message);
  }

  [[nodiscard]] bool has(TextParallelism parallelism) const {
    return std::any_of(text_.layers.begin(), text_.layers.end(),
                       [&](const TextLayer& layer) { return layer.parallelism == parallelism; });
  }

  /// Neighbours in a group.
  [[nodiscard]] std::uint32_t inner() const {
    const bool data_inside = has(TextParallelism::model_data);
    const bool model_inside = has(TextParallelism::data_model) ||
                              has(TextParallelism::transformer) ||
                              has(TextParallelism::transformer_checkpoints);
    if (!data_inside && !model_inside) return 1;
    const std::uint32_t npus = topology_.npu_count();
    const std::optional<std::uint32_t> model =
        text_.model_group ? text_.model_group : options_.model_group;
    if (model) {
      if (*model == 0 || npus % *model != 0)
        fail(fmt::format("model-parallel groups of {} don't divide {} NPUs", *model, npus));
      if (data_inside && model_inside && *model != npus / *model)
        fail("layers differ in whether neighbours are model- or data-parallel: with groups of a "
             "given size they can't both be");
      return data_inside ? npus / *model : *model;
    }
    const std::vector<std::size_t> dimensions = dimensions_by_speed(topology_);
    if (dimensions.empty())
      fail(fmt::format("the size of its model-parallel groups is needed: the file doesn't say it, "
                       "and {} has no coordinates to take it from",
                       topology_.name()));
    return static_cast<std::uint32_t>(topology_.shape()[dimensions.front()]);
  }

  const TextFile& text_;
  const std::string& file_;
  const Topology& topology_;
  const TextWorkloadOptions& options_;
};

/// Groups as they are asked for, each once.
class Groups {
public:
  explicit Groups(const TextDegrees& degrees) : degrees_(degrees) {}

  /// What goes to the next stage comes from the previous one: that group is the same. All others
  /// count their communications on their own, even where they have the same members.
  std::uint32_t index_of(TextRole role, std::uint32_t npu) {
    std::vector<NodeId> members = group_of(role, npu);
    const TextRole kind = role == TextRole::next ? TextRole::previous : role;
    const auto [known, is_new] = known_.emplace(std::pair{kind, members.front().value},
                                                static_cast<std::uint32_t>(groups_.size()));
    if (is_new) groups_.push_back(std::move(members));
    return known->second;
  }

  [[nodiscard]] std::vector<std::vector<NodeId>> groups() && { return std::move(groups_); }

private:
  /// Members are a fixed number apart.
  [[nodiscard]] std::vector<NodeId> group_of(TextRole role, std::uint32_t npu) const {
    const std::uint32_t stage = degrees_.npus / degrees_.stages;
    std::uint32_t step = 1;
    switch (role) {
    case TextRole::everyone:
    case TextRole::inner: break;
    case TextRole::outer:
    case TextRole::expert: step = degrees_.inner; break;
    case TextRole::data_expert: step = degrees_.inner * degrees_.expert; break;
    case TextRole::previous: return {NodeId{npu - stage}, NodeId{npu}};
    case TextRole::next: return {NodeId{npu}, NodeId{npu + stage}};
    }
    const std::uint32_t members = members_of(degrees_, role);
    const std::uint32_t block = npu / (step * members) * (step * members);
    std::vector<NodeId> group;
    for (std::uint32_t m = 0; m < members; ++m) group.emplace_back(block + npu % step + m * step);
    return group;
  }

  TextDegrees degrees_;
  std::vector<std::vector<NodeId>> groups_;
  std::map<std::pair<TextRole, std::uint32_t>, std::uint32_t> known_; // by the first member
};

void check_layers(const TextFile& text, const std::string& file) {
  if (!text.last_bottom_layer || *text.last_bottom_layer + 1 < text.layers.size()) return;
  fail_at(file, text.parallelism_place,
          fmt::format("its last bottom layer is {}, but one has to follow among {} layers",
                      *text.last_bottom_layer, text.layers.size()));
}

TextRuns runs_of(const TextFile& text, const std::string& file) {
  const std::uint32_t count = text.accumulation.value_or(1);
  if (text.pipeline.value_or(1) == 1) return {};
  const TextRuns runs = find_runs(text.layers, count);
  if (runs.length == 0)
    fail_at(file, text.parallelism_place,
            fmt::format("its layers don't repeat {} times (ga), so that where micro-batches begin "
                        "isn't known, and pipelining (pp) can't be derived",
                        count));
  return runs;
}

} // namespace

Workload read_text_workload(const std::string& file, const Topology& topology,
                            const TextWorkloadOptions& options) {
  if (!options.unit || options.unit->ps <= 0)
    throw InputError(fmt::format("{}: the unit of its computing times is needed: the file doesn't "
                                 "say it (1ns in ASTRA-sim 1.0 and SimAI, 1us in Chakra's "
                                 "converter)",
                                 file));
  if (options.passes == 0) throw InputError(fmt::format("{}: at least one pass is needed", file));
  const TextFile text = parse_text_layers(read_input_file(file), file, *options.unit);
  check_layers(text, file);
  const TextDegrees degrees = Degrees(text, file, topology, options).find();
  const TextRuns runs = runs_of(text, file);

  Workload workload;
  workload.name = plain_stem(file);
  workload.iterations = options.passes;
  NameTable names;
  Groups groups(degrees);
  const std::uint32_t stage_size = degrees.npus / degrees.stages;
  for (std::uint32_t stage = 0; stage < degrees.stages; ++stage) {
    StageBuilder builder(text, file, degrees, names);
    for (std::uint32_t pass = 0; pass < options.passes; ++pass) builder.pass(runs, stage);
    StageProgram made = std::move(builder).finished();
    workload.programs.push_back(std::move(made.program));
    for (std::uint32_t npu = stage * stage_size; npu < (stage + 1) * stage_size; ++npu) {
      ProgramPlace& place = workload.places.emplace_back(ProgramPlace{stage, {}});
      for (const TextRole role : made.roles) place.groups.push_back(groups.index_of(role, npu));
    }
  }
  workload.groups = std::move(groups).groups();
  workload.names = std::move(names).names();
  return workload;
}

} // namespace tutti
