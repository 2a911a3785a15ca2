// The passes of a pipeline order are written one after another. Communication begins as soon as its
// data is there and is waited for where its result is first needed, so that it overlaps with
// whatever is computed in between.
//
// What an operation depends on is kept as a frontier: the operations that must be over before the
// next. Consecutive computations are joined into a single operation, which is written when
// communication or a wait comes between.

#include "workloads/parallelism/stage_program.hpp"

#include "workloads/parallelism/memory_estimate.hpp"
#include "workloads/parallelism/pipeline_order.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <optional>
#include <span>

namespace tutti {

namespace {

/// Writes one NPU's program: computing in a fixed order, with communication beside it. Computing is
/// merged into one operation until a communication begins or is waited for. Each operation comes
/// after all computing before it and all that was waited for.
class ProgramWriter {
public:
  explicit ProgramWriter(OperationNames& names) : names_(names) {}

  /// `what` of a layer; with other work on layers that it is merged with, `together` of all.
  void compute(Time time, std::string_view what, std::string_view together, std::uint32_t layer) {
    if (time == Time{}) return;
    if (!pending_.is_there) {
      pending_ = {time, what, layer, layer, true};
      return;
    }
    pending_.time += time;
    if (pending_.what != what) pending_.what = together;
    pending_.first = std::min(pending_.first, layer);
    pending_.last = std::max(pending_.last, layer);
  }

  /// An operation of its own; none if it takes none.
  void compute(Time time, std::uint32_t name) {
    finish_computing();
    if (time > Time{}) compute_now(time.ps, name);
  }

  /// Begins after all up to here, and after `also`. Returns its index; nothing waits for it yet.
  std::uint32_t begin(const Operation& operation, std::span<const std::uint32_t> also = {}) {
    finish_computing();
    // Without computing in between what is waited for adds up; a few are fine.
    constexpr std::size_t most = 8;
    if (frontier_.size() > most) compute_now(0, names_.of("wait"));
    std::vector<std::uint32_t> after = frontier_;
    after.insert(after.end(), also.begin(), also.end());
    latest_ = program_.add(operation, after);
    return latest_;
  }

  /// Begins at once, whatever comes before.
  std::uint32_t begin_at_once(const Operation& operation) {
    finish_computing();
    return program_.add(operation, {});
  }

  /// Before all that follows.
  void wait(std::uint32_t operation) {
    finish_computing();
    if (operation == latest_) frontier_.clear();
    frontier_.push_back(operation);
    latest_ = UINT32_MAX;
  }

  /// What follows is an operation of its own.
  void finish_computing() {
    if (!pending_.is_there) return;
    pending_.is_there = false;
    compute_now(pending_.time.ps, names_.of_layers(pending_.what, pending_.first, pending_.last));
  }
  [[nodiscard]] TrainingProgram take() { return std::move(program_); }

private:
  void compute_now(std::int64_t ps, std::uint32_t name) {
    Operation operation;
    operation.name = name;
    operation.amount = ps;
    frontier_ = {program_.add(operation, frontier_)};
    latest_ = UINT32_MAX;
  }

  struct Pending {
    Time time;
    std::string_view what;
    std::uint32_t first = 0, last = 0; ///< layers
    bool is_there = false;
  };
  OperationNames& names_;
  TrainingProgram program_;
  Pending pending_;
  std::vector<std::uint32_t> frontier_; ///< what the next operation comes after
  std::uint32_t latest_ = UINT32_MAX;   ///< comes after all of that already
};

constexpr std::size_t index_of(TrainingGroup group) { return static_cast<std::size_t>(group); }

class StageWriter {
public:
  StageWriter(const TrainingLayout& layout, const NpuProfile& npu, std::uint32_t stage,
              const TrainingRoles& roles, OperationNames& names)
      : layout_(layout), spec_(layout.spec), npu_(npu), stage_(stage), roles_(roles), names_(names),
        writer_(names), order_(pipeline_order(layout.spec, stage)) {}

  TrainingProgram write() {
    for (const PipelineSlot& slot : order_) {
      const std::uint32_t stage = layout_.virtual_stage(stage_, slot.part);
      const IndexRange blocks = layout_.stages[stage];
      for (std::uint32_t i = 0; i < blocks.end - blocks.first; ++i)
        visits_.push_back(slot.is_backward ? blocks.end - 1 - i : blocks.first + i);
    }
    std::vector<std::uint32_t> left(spec_.model_parts, spec_.micro_batches); // backward
    for (const PipelineSlot& slot : order_) {
      if (slot.is_backward)
        write_backward(slot, --left[slot.part] == 0);
      else
        write_forward(slot);
      writer_.finish_computing();
    }
    write_update();
    return writer_.take();
  }

private:
  // ---- Communication ----

  [[nodiscard]] bool has(TrainingGroup group) const { return roles_[index_of(group)] != no_role; }

  [[nodiscard]] Operation operation(Operation::Kind kind, Purpose purpose, TrainingGroup group,
                                    Bytes size, std::uint32_t name) const {
    Operation made;
    made.kind = kind;
    made.purpose = purpose;
    made.priority = spec_.priority[static_cast<std::size_t>(purpose)];
    made.role = roles_[index_of(group)];
    made.amount = size.count;
    made.name = name;
    return made;
  }

  /// The members of a group run the same program, so they count their communications alike.
  Operation collective(Purpose purpose, TrainingGroup group, CollectiveKind kind, Bytes size,
                       std::uint32_t name) {
    Operation made = operation(Operation::Kind::collective, purpose, group, size, name);
    made.collective = kind;
    made.tag = next_tag_[index_of(group)]++;
    return made;
  }

  static constexpr std::uint32_t none = UINT32_MAX;

  std::uint32_t begin_tensor(const TensorCommunication& communication, std::string_view what,
                             std::uint32_t layer) {
    if (communication.size.count == 0) return none;
    return writer_.begin(collective(Purpose::tensor, TrainingGroup::tensor, communication.kind,
                                    communication.size, names_.of_layers(what, layer, layer)));
  }

  /// Between a layer's parts `part` - 1 and `part`.
  std::uint32_t begin_routing(std::uint32_t part, std::string_view what, std::uint32_t layer) {
    const Bytes size = layout_.layers[layer].routed[part - 1];
    if (size.count == 0) return none;
    return writer_.begin(collective(Purpose::expert, TrainingGroup::expert,
                                    CollectiveKind::all_to_all, size,
                                    names_.of_layers(what, layer, layer)));
  }

  void wait(std::uint32_t operation) {
    if (operation != none) writer_.wait(operation);
  }

  /// What crosses the boundary behind a virtual stage, there or (`is_gradient`) back.
  void cross(Operation::Kind kind, std::uint32_t before, std::uint32_t micro_batch,
             bool is_gradient) {
    const bool sends = kind == Operation::Kind::send, is_next = sends != is_gradient;
    const std::uint32_t layer = layout_.layers_of(before).end - 1;
    const std::string_view what = sends ? (is_gradient ? "send gradients of" : "send outputs of")
                                  : is_gradient ? "receive gradients of"
                                                : "receive outputs of";
    Operation made = operation(
        kind, Purpose::pipeline, is_next ? TrainingGroup::next : TrainingGroup::previous,
        std::max(layout_.layers[layer].outputs, Bytes{1}), names_.of_layers(what, layer, layer));
    const std::uint32_t part = before / spec_.pipeline;
    made.tag = (part * spec_.micro_batches + micro_batch) * 2 + (is_gradient ? 1 : 0);
    if (sends)
      writer_.begin(made);
    else
      writer_.wait(writer_.begin_at_once(made));
  }

  // ---- Parameters that replicas hold in parts ----

  struct Gathers {
    std::array<std::uint32_t, 2> operations{none, none}; ///< of dense, of expert parameters
  };

  std::uint32_t gather_parameters(IndexRange layers, std::int64_t parameters, bool is_expert) {
    if (parameters == 0 || !has(replicas(is_expert))) return none;
    const Bytes size = padded({parameters * layout_.element_bytes}, is_expert);
    return begin_in_line(
        collective(Purpose::sharding, replicas(is_expert), CollectiveKind::all_gather, size,
                   names_.of_layers("gather parameters of", layers.first, layers.end - 1)),
        is_expert);
  }

  Gathers gather_block(std::uint32_t block) {
    const IndexRange layers = layout_.blocks[block];
    std::int64_t dense = 0, expert = 0;
    for (std::uint32_t l = layers.first; l < layers.end; ++l) {
      dense += layout_.layers[l].parameters;
      expert += layout_.layers[l].expert_parameters;
    }
    return {{gather_parameters(layers, dense, false), gather_parameters(layers, expert, true)}};
  }

  /// Before each block in the order of computing; the next one's parameters travel meanwhile.
  void enter_block(std::uint32_t block) {
    assert(visits_[visit_] == block);
    ++visit_;
    if (spec_.zero < 3) return;
    const Gathers gathers = ahead_ ? *ahead_ : gather_block(block);
    ahead_.reset();
    for (const std::uint32_t operation : gathers.operations) wait(operation);
    if (spec_.overlap && visit_ < visits_.size()) ahead_ = gather_block(visits_[visit_]);
  }

  // ---- Computing ----

  void write_forward(const PipelineSlot& slot) {
    const std::uint32_t stage = layout_.virtual_stage(stage_, slot.part);
    if (stage > 0) cross(Operation::Kind::receive, stage - 1, slot.micro_batch, false);
    const IndexRange blocks = layout_.stages[stage];
    for (std::uint32_t b = blocks.first; b < blocks.end; ++b) {
      enter_block(b);
      write_forward_of(layout_.blocks[b], "forward");
    }
    if (stage + 1 < layout_.virtual_stages())
      cross(Operation::Kind::send, stage, slot.micro_batch, false);
  }

  void write_forward_of(IndexRange layers, std::string_view what) {
    for (std::uint32_t l = layers.first; l < layers.end; ++l) {
      const LayerWork& layer = layout_.layers[l];
      wait(begin_tensor(layer.before_forward, "gather inputs of", l));
      for (std::uint32_t part = 0; part < layer.part_count; ++part) {
        if (part > 0)
          wait(begin_routing(part, part == 1 ? "tokens to experts of" : "tokens from experts of",
                             l));
        writer_.compute(layer.parts[part].forward, what, what, l);
      }
      wait(begin_tensor(layer.after_forward, "sum outputs of", l));
    }
  }

  void write_backward(const PipelineSlot& slot, bool is_last) {
    const std::uint32_t stage = layout_.virtual_stage(stage_, slot.part);
    if (stage + 1 < layout_.virtual_stages())
      cross(Operation::Kind::receive, stage, slot.micro_batch, true);
    // Replicas that keep gradients in parts have no room for whole ones: they sum each time.
    const bool sums = is_last || spec_.zero >= 2;
    const std::vector<GradientBucket>& buckets = layout_.buckets[stage];
    std::size_t full = 0;
    const IndexRange blocks = layout_.stages[stage];
    for (std::uint32_t b = blocks.end; b-- > blocks.first;) {
      enter_block(b);
      const IndexRange layers = layout_.blocks[b];
      if (spec_.recompute == Recompute::full) write_forward_of(layers, "redo");
      for (std::uint32_t l = layers.end; l-- > layers.first;) {
        const std::uint32_t summing = write_backward_of(l);
        for (; sums && full < buckets.size() && buckets[full].first == l; ++full)
          sum_gradients(buckets[full]);
        wait(summing);
      }
    }
    if (spec_.zero >= 2) sum_held_back();
    if (stage > 0) cross(Operation::Kind::send, stage - 1, slot.micro_batch, true);
  }

  /// Returns what is still under way: the sum of the input's gradients.
  std::uint32_t write_backward_of(std::uint32_t l) {
    const LayerWork& layer = layout_.layers[l];
    wait(begin_tensor(layer.before_backward, "gather output gradients of", l));
    const std::uint32_t again = begin_tensor(layer.inputs_again, "gather inputs again of", l);
    if (spec_.recompute == Recompute::attention)
      writer_.compute(layer.attention, "redo", "backward", l);
    std::uint32_t under_way = none;
    for (std::uint32_t part = layer.part_count; part-- > 0;) {
      writer_.compute(layer.parts[part].input_gradient, "input gradient", "backward", l);
      if (part > 0)
        under_way = begin_routing(
            part, part == 1 ? "gradients from experts of" : "gradients to experts of", l);
      else
        under_way = begin_tensor(layer.after_backward, "sum input gradients of", l);
      if (part + 1 == layer.part_count) wait(again);
      writer_.compute(layer.parts[part].parameter_gradient, "parameter gradient", "backward", l);
      if (part > 0) wait(under_way);
    }
    return under_way;
  }

  // ---- Gradients ----

  [[nodiscard]] static TrainingGroup replicas(bool is_expert) {
    return is_expert ? TrainingGroup::expert_replicas : TrainingGroup::replicas;
  }
  /// At least a byte for each member.
  [[nodiscard]] Bytes padded(Bytes size, bool is_expert) const {
    return std::max(size, Bytes{layout_.replicas(is_expert)});
  }

  void sum_gradients(const GradientBucket& bucket) {
    if (!has(replicas(bucket.is_expert))) return;
    if (!spec_.overlap) {
      held_back_.push_back(bucket);
      return;
    }
    begin_sum(bucket);
  }

  void begin_sum(const GradientBucket& bucket) {
    const Operation sum =
        collective(Purpose::data, replicas(bucket.is_expert),
                   spec_.zero == 0 ? CollectiveKind::all_reduce : CollectiveKind::reduce_scatter,
                   padded({bucket.parameters * layout_.gradient_bytes}, bucket.is_expert),
                   names_.of_layers("sum gradients of", bucket.first, bucket.last));
    sums_.push_back(begin_in_line(sum, bucket.is_expert));
  }

  void sum_held_back() {
    for (const GradientBucket& bucket : held_back_) begin_sum(bucket);
    held_back_.clear();
  }

  /// `in_order`: after the one before of the same group and purpose.
  std::uint32_t begin_in_line(const Operation& operation, bool is_expert) {
    std::uint32_t& before = line_[is_expert ? 1 : 0][operation.purpose == Purpose::data ? 1 : 0];
    if (spec_.in_order && before != none)
      before = writer_.begin(operation, std::span(&before, 1));
    else
      before = writer_.begin(operation);
    return before;
  }

  /// The optimizer, and then new parameters to those that hold only parts of its state.
  void write_update() {
    sum_held_back();
    for (const std::uint32_t sum : sums_) writer_.wait(sum);
    writer_.compute(optimizer_time(), names_.of("optimizer"));
    if (spec_.zero != 1 && spec_.zero != 2) return;
    for (std::uint32_t part = spec_.model_parts; part-- > 0;)
      for (const GradientBucket& bucket : layout_.buckets[layout_.virtual_stage(stage_, part)])
        gather_parameters({bucket.first, bucket.last + 1}, bucket.parameters, bucket.is_expert);
  }

  /// It reads gradients and state, and writes state and parameters.
  [[nodiscard]] Time optimizer_time() const {
    double parameters = 0;
    for (std::uint32_t part = 0; part < spec_.model_parts; ++part)
      for (const GradientBucket& bucket : layout_.buckets[layout_.virtual_stage(stage_, part)])
        parameters += std::ceil(static_cast<double>(bucket.parameters) /
                                (spec_.zero > 0 ? layout_.replicas(bucket.is_expert) : 1));
    const std::int64_t state = optimizer_state_bytes(spec_.precision);
    const std::int64_t kernels =
        layout_.element_bytes * (keeps_own_parameters(spec_.precision) ? 1 : 2);
    const std::int64_t traffic = 2 * state + layout_.gradient_bytes + kernels;
    return kernel_time(npu_, Kernel::Kind::elementwise, spec_.precision, 0,
                       parameters * static_cast<double>(traffic));
  }

  const TrainingLayout& layout_;
  const TrainingSpec& spec_;
  const NpuProfile& npu_;
  std::uint32_t stage_;
  const TrainingRoles& roles_;
  OperationNames& names_;
  ProgramWriter writer_;
  std::vector<PipelineSlot> order_;

  std::array<std::uint32_t, training_group_count> next_tag_ = {};
  std::vector<std::uint32_t> visits_; ///< all blocks in the order of computing
  std::size_t visit_ = 0;
  std::optional<Gathers> ahead_;          ///< of the next visit
  std::vector<GradientBucket> held_back_; ///< without overlap
  std::vector<std::uint32_t> sums_;       ///< of gradients
  std::array<std::array<std::uint32_t, 2>, 2> line_{{{none, none}, {none, none}}};
};

} // namespace

std::uint32_t OperationNames::add(std::string name) {
  names_.push_back(std::move(name));
  return static_cast<std::uint32_t>(names_.size() - 1);
}

std::uint32_t OperationNames::of_layers(std::string_view what, std::uint32_t first,
                                        std::uint32_t last) {
  const std::tuple key(std::string(what), first, last);
  const auto found = known_.find(key);
  if (found != known_.end()) return found->second;
  const std::uint32_t name =
      add(first == last ? fmt::format("{} {}", what, layers_[first])
                        : fmt::format("{} {} .. {}", what, layers_[first], layers_[last]));
  known_.emplace(key, name);
  return name;
}

std::uint32_t OperationNames::of(std::string_view what) {
  const auto none = static_cast<std::uint32_t>(layers_.size());
  const std::tuple key(std::string(what), none, none);
  const auto found = known_.find(key);
  if (found != known_.end()) return found->second;
  const std::uint32_t name = add(std::string(what));
  known_.emplace(key, name);
  return name;
}

TrainingProgram stage_program(const TrainingLayout& layout, const NpuProfile& npu,
                              std::uint32_t stage, const TrainingRoles& roles,
                              OperationNames& names) {
  return StageWriter(layout, npu, stage, roles, names).write();
}

} // namespace tutti
