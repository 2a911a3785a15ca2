// The degrees of parallelism are found first: how many neighbours, experts, replicas and stages.
// Every process group is then a number of NPUs that are a fixed stride apart.
#include "workloads/traces/text_workload.hpp"

#include "sim/error.hpp"
#include "sim/files/gzip.hpp"
#include "workloads/parallelism/npu_numbering.hpp"
#include "workloads/traces/text_layers.hpp"
#include "workloads/traces/text_program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace tutti {

namespace {

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
    StageProgram made = make_stage(text, file, degrees, runs, stage, options.passes, names);
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
