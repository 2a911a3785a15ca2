// What is trained, from the keys of [[training]] to a workload for a network.
//
// A variant is a few keys in front of the study's own, for a sweep over parallelism would else
// repeat everything. Keys are looked for in both tables even where the variant has its own: what
// was looked for counts as known, and what nobody looked for is a misspelt key.
//
// Degrees that the user leaves open are filled in per network: data parallelism takes the NPUs that
// the other degrees leave, and a global batch is divided among the replicas. Neither is rounded:
// what doesn't divide is refused, for it would be another training than was asked for.
#include "experiments/driver/studies/training/work.hpp"

#include "experiments/driver/studies/experiment_values.hpp"
#include "experiments/driver/studies/keys.hpp"
#include "sim/engines/engine.hpp"
#include "sim/error.hpp"
#include "sim/files/files.hpp"
#include "sim/files/gzip.hpp"

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <limits>

namespace tutti {

namespace {

template <typename... Functions> struct Overloaded : Functions... {
  using Functions::operator()...;
};
template <typename... Functions> Overloaded(Functions...) -> Overloaded<Functions...>;

// Data parallelism takes what tensor, pipeline and expert parallelism leave.
std::uint32_t remaining_data(const TrainingSpec& spec, std::uint32_t npus) {
  const std::uint64_t others =
      std::uint64_t{spec.tensor} * spec.expert * static_cast<std::uint64_t>(spec.pipeline);
  if (others == 0 || others > npus || npus % others != 0)
    throw InputError(fmt::format("tensor {} x pipeline {} x expert {} doesn't divide the {} NPUs",
                                 spec.tensor, spec.pipeline, spec.expert, npus));
  return static_cast<std::uint32_t>(npus / others);
}

std::uint32_t micro_batches_of(std::uint64_t global_batch, const TrainingSpec& spec) {
  const std::uint64_t at_once = std::uint64_t{spec.micro_batch} * spec.data * spec.expert;
  const std::uint64_t count = at_once == 0 ? 0 : global_batch / at_once;
  if (count == 0 || global_batch % at_once != 0 ||
      count > std::numeric_limits<std::uint32_t>::max())
    throw InputError(fmt::format("a global batch of {} isn't a multiple of {} (micro-batches of "
                                 "{} on {} replicas)",
                                 global_batch, at_once, spec.micro_batch,
                                 std::uint64_t{spec.data} * spec.expert));
  return static_cast<std::uint32_t>(count);
}

/// Two tables as one.
class WorkKeys {
public:
  /// Both must outlive this.
  WorkKeys(ConfigTable& common, ConfigTable* own) : common_(&common), own_(own) {}

  std::optional<ConfigValue> find(const std::string& key) {
    const auto common = common_->find(key); // asked for, whether or not the variant has its own
    const auto own = own_ == nullptr ? std::nullopt : own_->find(key);
    return own ? own : common;
  }
  /// The value of the one of these keys that there is, with its key: of the variant, else of all.
  /// Errors: InputError where one table has two.
  struct Choice {
    std::string key;
    ConfigValue value;
  };
  template <typename Rows> std::optional<Choice> find_one_of(const Rows& rows) {
    std::optional<Choice> chosen;
    for (ConfigTable* table : {own_, common_}) {
      if (table == nullptr) continue;
      std::optional<Choice> here;
      for (const StudyOption& row : rows) {
        const std::string key = row.key;
        const auto value = table->find(key);
        if (!value) continue;
        if (here)
          throw value->error(
              fmt::format("{} and {} exclude each other", name_of(here->key), name_of(key)));
        here = Choice{key, *value};
      }
      if (!chosen) chosen = here;
    }
    return chosen;
  }
  [[nodiscard]] bool has_variant() const { return own_ != nullptr; }
  /// As messages call a key.
  [[nodiscard]] std::string name_of(const std::string& key) const { return common_->name_of(key); }
  [[nodiscard]] std::string wanted(const std::string& key) const { return common_->wanted(key); }
  /// At the variant, where there is one.
  [[nodiscard]] InputError error(const std::string& message) const {
    return (own_ == nullptr ? common_ : own_)->error(message);
  }

private:
  ConfigTable* common_;
  ConfigTable* own_;
};

void read_batch(WorkKeys& keys, ModelWork& work) {
  const auto batch = keys.find_one_of(batch_keys());
  for (const Key<ModelWork>& row : batch_keys())
    if (batch && batch->key == row.key) row.read(batch->value, work);
}

ModelWork read_model(WorkKeys& keys, const ConfigValue& model, const std::string& source_name) {
  const auto load = [&](const ConfigValue& value, auto&& loaded) {
    return parsed(value, [&](const std::string& text) {
      return loaded(unpacked_name(text).ends_with(".toml") ? beside(text, source_name) : text);
    });
  };
  const auto npu = keys.find("npu");
  if (!npu)
    throw keys.error(fmt::format("a model needs {}: on what it is trained", keys.wanted("npu")));
  ModelWork work;
  work.model = load(model, load_model);
  work.npu = load(*npu, load_npu_profile);
  if (const auto parallel = keys.find("parallel")) {
    ConfigTable degrees = parallel->table();
    read_keys(degrees, degree_keys(), work, std::string_view("parallel.").size());
    degrees.finish();
  }
  work.spec.precision = usual_precision(work.npu);
  read_keys(keys, model_keys(), work);
  read_batch(keys, work);
  return work;
}

TextWork read_text(WorkKeys& keys, const ConfigValue& file, const std::string& source_name) {
  TextWork work{beside(file.string(), source_name), {}};
  const auto unit = keys.find("unit");
  if (!unit)
    throw keys.error(fmt::format("a text has no unit of time: give {} (ns for ASTRA-sim 1.0 and "
                                 "SimAI, us for Chakra's converter)",
                                 keys.wanted("unit")));
  work.options.unit = parsed(*unit, parse_time_unit);
  read_keys(keys, text_keys(), work);
  return work;
}

TraceWork read_trace(WorkKeys& keys, const ConfigValue& prefix, const std::string& source_name) {
  const std::string name = prefix.string();
  const auto here = std::filesystem::path(source_name).parent_path() / name;
  TraceWork work{is_chakra_prefix(here.string()) ? here.string() : name, {}};
  if (const auto groups = keys.find("groups"))
    work.options.groups = beside(groups->string(), source_name);
  return work;
}

/// Errors: InputError for keys of another source than the one that there is. In a study of several
/// variants they may be another variant's.
void refuse_others(WorkKeys& keys, const std::string& source) {
  if (keys.has_variant()) return;
  const auto refuse = [&](std::string_view of, std::string_view owner, const auto& rows) {
    for (const StudyOption& row : rows) {
      const std::string_view name = row.key;
      const std::string key(name.substr(0, name.find('.')));
      if (const auto value = keys.find(key); value && of != source)
        throw value->error(fmt::format("only {} has {}", owner, keys.name_of(key)));
    }
  };
  refuse("workload", "a text", text_keys());
  refuse("trace", "a trace", trace_keys());
  refuse("model", "a model", degree_keys());
  refuse("model", "a model", batch_keys());
  refuse("model", "a model", model_keys());
}

WorkSource work_of(WorkKeys& keys, const std::string& source_name) {
  const auto source = keys.find_one_of(source_keys());
  if (!source)
    throw keys.error(fmt::format("what is trained? give {}, {} or {}", keys.name_of("model"),
                                 keys.name_of("workload"), keys.name_of("trace")));
  refuse_others(keys, source->key);
  if (source->key == "model") return read_model(keys, source->value, source_name);
  if (source->key == "workload") return read_text(keys, source->value, source_name);
  return read_trace(keys, source->value, source_name);
}

} // namespace

TrainingSpec spec_on(const ModelWork& work, const Topology& topology) {
  TrainingSpec spec = work.spec;
  spec.data = work.data ? *work.data : remaining_data(spec, topology.npu_count());
  if (work.global_batch) spec.micro_batches = micro_batches_of(*work.global_batch, spec);
  return spec;
}

Workload make_workload(const WorkSource& source, const Topology& topology) {
  Workload workload = std::visit(
      Overloaded{
          [&](const ModelWork& work) {
            return make_training(topology, work.model, work.npu, spec_on(work, topology));
          },
          [&](const TextWork& work) {
            return read_text_workload(work.file, topology, work.options);
          },
          [&](const TraceWork& work) { return read_chakra(work.prefix, topology, work.options); }},
      source);
  check_workload(workload, topology.npu_count());
  return workload;
}

WorkloadSummary summary_of(const WorkSource& source, const Workload& workload,
                           const Topology& topology) {
  WorkloadSummary summary;
  summary.name = workload.name;
  summary.iterations = workload.iterations;
  summary.items = workload.items;
  summary.flops = workload.flops;
  summary.item = workload.item;
  if (const auto* work = std::get_if<ModelWork>(&source)) {
    const Precision precision = work->spec.precision;
    summary.trained_on = fmt::format("{} on {}", to_text(precision), work->npu.name);
    if (const auto peak = work->npu.peak_flops.find(precision); peak != work->npu.peak_flops.end())
      summary.peak_flops = peak->second;
    summary.memory_warning = memory_warning(workload, topology, work->npu);
  }
  const auto most = std::ranges::max_element(workload.memory, {}, &MemoryEstimate::total);
  if (most != workload.memory.end()) {
    summary.memory = *most;
    summary.memory_npu.value = static_cast<std::uint32_t>(most - workload.memory.begin());
  }
  return summary;
}

WorkSource read_work(ConfigTable& common, ConfigTable* own, const std::string& source_name,
                     std::span<const Topology* const> networks) {
  WorkKeys keys(common, own);
  WorkSource work = work_of(keys, source_name);
  if (const auto* model = std::get_if<ModelWork>(&work)) try {
      for (const Topology* network : networks) {
        const TrainingSpec spec = spec_on(*model, *network);
        if (const std::string fault = order_fault(spec); !fault.empty())
          throw InputError(keys.name_of("order") + " " + fault);
        (void)place(*network, spec);
      }
    } catch (const InputError& error) {
      throw keys.error(error.what());
    }
  return work;
}

Time parse_time_unit(const std::string& text) {
  const bool has_number = !text.empty() && text.front() >= '0' && text.front() <= '9';
  const Time unit = parse_time(has_number ? text : "1" + text);
  if (unit <= Time{}) throw InputError(fmt::format("a unit of time is above 0, not {}", text));
  return unit;
}

} // namespace tutti
