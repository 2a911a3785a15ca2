// The keys of [[training]], and which of them `tutti train` takes.
#include "experiments/driver/studies/keys.hpp"
#include "experiments/driver/studies/noise/request.hpp"
#include "experiments/driver/studies/training/study.hpp"
#include "sim/engines/engine.hpp"
#include "sim/error.hpp"
#include "sim/text.hpp"

#include <fmt/format.h>

namespace tutti {

namespace {

constexpr std::int64_t most_samples = 1 << 30; // in a batch; more is a slip
constexpr std::int64_t most_degree = 1 << 20;  // of parallelism
constexpr std::int64_t most_passes = 1 << 16;  // iterations

using ModelValue = KeyValue<ModelWork>;
constexpr auto in_spec = &ModelWork::spec;
using Spec = TrainingSpec;

Names names_of_models() {
  Names names;
  for (const NamedModel& model : named_models()) names.push_back(model.name);
  return names;
}

Names algorithms_or_auto() {
  Names names = algorithm_names();
  names.emplace_back("auto");
  return names;
}

Names policies_of_training() { return {"reroute", "resynthesize"}; }

void read_order(const ConfigValue& value, ModelWork& work) {
  work.spec.order.clear();
  for (const ConfigValue& item : list_of(value))
    work.spec.order.push_back(parsed(item, parallelism_words));
}

void read_dimensions(const ConfigValue& value, ModelWork& work) {
  for (const ConfigValue& item : list_of(value))
    work.spec.dimensions.push_back(static_cast<std::uint32_t>(item.integer(0, 127)));
}

void read_priorities(const ConfigValue& priorities, ModelWork& work) {
  ConfigTable table = priorities.table();
  for (const std::string& name : table.keys()) {
    const ConfigValue value = table.at(name);
    const Purpose purpose = value.located([&] { return purpose_words.parse(name); });
    work.spec.priority[static_cast<std::size_t>(purpose)] =
        static_cast<std::uint8_t>(value.integer(0, JobTiming::highest_priority));
  }
}

void read_by_collective(const ConfigValue& value, TrainingStudy& study) {
  ConfigTable pairs = value.table();
  for (const std::string& name : pairs.keys()) {
    const ConfigValue algorithm = pairs.at(name);
    (void)algorithm.located([&] { return parse_collective_kind(name); });
    study.planning.by_collective.emplace(name, algorithm_of(algorithm));
  }
}

void read_shares(const ConfigValue& value, TrainingStudy& study) {
  const std::string text = "all_to_all_v," + value.string();
  (void)value.located([&] { return parse_collective(text); });
  study.planning.shares = collective_beside(text, value.source());
}

// None: auto.
void read_numbers_of_chunks(const ConfigValue& value, TrainingStudy& study) {
  const std::vector<ConfigValue> items = list_of(value);
  for (const ConfigValue& item : items) {
    const auto chunks = chunks_of(item);
    if (chunks) study.planning.chunks.push_back(*chunks);
    if (!chunks && items.size() > 1)
      throw item.error("\"auto\" stands alone, without numbers beside it");
  }
}

/// At which an NPU reduces whose memory has this rate.
Bandwidth parse_reduction_rate(const std::string& text) {
  constexpr std::int64_t accesses = 3; // two operands and the sum
  const Bandwidth memory = parse_bandwidth(text);
  if (memory.bytes_per_second < accesses)
    throw InputError(fmt::format("{} is too slow for reductions", to_text(memory)));
  return {memory.bytes_per_second / accesses};
}

constexpr Key<TrainingStudy> source_rows[]{
    {"model", "--model", KeyValue<TrainingStudy>(OptionForm::text, nullptr, names_of_models),
     "a name from `tutti list models`, a TOML file, or gpt:layers=96,hidden=12288,...",
     "What is trained"},
    {"workload", "--workload", OptionForm::text,
     "instead of a model: a workload text of ASTRA-sim or SimAI"},
    {"trace", "--chakra", OptionForm::text,
     "instead of a model: PREFIX of Chakra traces PREFIX.0.et, PREFIX.1.et, ..."}};
constexpr Key<TraceWork> trace_rows[]{
    {"groups", "--groups", OptionForm::text,
     "JSON file with the traces' process groups; default PREFIX.groups.json, if there"}};
constexpr Key<TextWork> text_rows[]{
    {"unit", "--unit", OptionForm::text,
     "unit of times in a workload text: ns for ASTRA-sim 1.0 and SimAI, us ..."},
    {"passes", "--passes",
     keys::whole<1, most_passes, &TextWork::options, &TextWorkloadOptions::passes>,
     "iterations of a workload text; default 1"},
    {"model_group", "--model-group",
     keys::whole<1, most_degree, &TextWork::options, &TextWorkloadOptions::model_group>,
     "NPUs of a model-parallel group, where a workload text doesn't say"}};

constexpr Key<ModelWork> degree_rows[]{
    {"parallel.tensor", "--tensor", keys::whole<1, most_degree, in_spec, &Spec::tensor>,
     "degree of tensor parallelism; default 1", "How it is spread over the NPUs"},
    {"parallel.pipeline", "--pipeline", keys::whole<1, most_degree, in_spec, &Spec::pipeline>,
     "pipeline stages; default 1"},
    {"parallel.expert", "--expert", keys::whole<1, most_degree, in_spec, &Spec::expert>,
     "degree of expert parallelism; default 1"},
    {"parallel.data", "--data", keys::whole<1, most_degree, &ModelWork::data>,
     "replicas; default: as many as the other degrees leave NPUs for"}};

/// One of both.
constexpr Key<ModelWork> batch_rows[]{
    {"micro_batches", "--micro-batches",
     keys::whole<1, most_samples, in_spec, &Spec::micro_batches>,
     "micro-batches of each replica in an iteration; default 1"},
    {"global_batch", "--global-batch", keys::whole<1, most_samples, &ModelWork::global_batch>,
     "samples of all replicas in an iteration, instead of --micro-batches"}};

constexpr Key<ModelWork> model_rows[]{
    {"npu", "--npu", ModelValue(OptionForm::text, nullptr, npu_profile_names),
     "a name from `tutti list npus`, or a TOML file"},
    {"micro_batch", "--micro-batch", keys::whole<1, most_samples, in_spec, &Spec::micro_batch>,
     "samples that a replica computes at once; default 1"},
    {"precision", "--precision", keys::word<precision_words, in_spec, &Spec::precision>,
     "{}; default bf16, or fp16 where the NPU has no bf16"},
    {"gradient_bytes", "--gradient-bytes", keys::whole<1, 8, in_spec, &Spec::gradient_bytes>,
     "bytes communicated for the gradient of a parameter; default: those of the precision"},
    {"order", "--order",
     ModelValue(OptionForm::texts, read_order, keys::names_of<parallelism_words>),
     "kinds of parallelism, the one that varies fastest over neighbouring NPUs first; default "
     "tensor,expert,data,pipeline"},
    {"dimensions", "--dimensions", ModelValue(OptionForm::numbers, read_dimensions),
     "dimensions of the topology in the order in which NPUs are numbered, the fastest first: 1,0"},
    {"sequence", "--sequence", keys::flag<in_spec, &Spec::sequence>,
     "sequence parallelism among tensor-parallel NPUs"},
    {"zero", "--zero", keys::whole<0, 3, in_spec, &Spec::zero>,
     "ZeRO stage, 0 to 3 (FSDP); default 0"},
    {"schedule", "--schedule", keys::word<schedule_words, in_spec, &Spec::schedule>,
     "pipeline schedule: {}; default 1f1b"},
    {"model_parts", "--model-parts", keys::whole<1, most_degree, in_spec, &Spec::model_parts>,
     "model parts of each pipeline stage, for interleaved; default 1"},
    {"recompute", "--recompute", keys::word<recompute_words, in_spec, &Spec::recompute>,
     "{}; default none"},
    {"bucket", "--bucket", keys::bytes<in_spec, &Spec::bucket>,
     "communicate gradients in buckets of at least this size; default: layer by layer"},
    {"overlap", "--no-overlap", keys::no_flag<in_spec, &Spec::overlap>,
     "communicate gradients only when all of them are there"},
    {"in_order", "--in-order", keys::flag<in_spec, &Spec::in_order>,
     "communicate the gradient buckets of a group one after another"},
    {"priorities", "--priority", ModelValue(OptionForm::shares, read_priorities),
     "priority of communication by its purpose: tensor=7; repeatable"}};

} // namespace

std::span<const Key<TrainingStudy>> source_keys() { return source_rows; }
std::span<const Key<TraceWork>> trace_keys() { return trace_rows; }
std::span<const Key<TextWork>> text_keys() { return text_rows; }
std::span<const Key<ModelWork>> batch_keys() { return batch_rows; }
std::span<const Key<ModelWork>> degree_keys() { return degree_rows; }
std::span<const Key<ModelWork>> model_keys() { return model_rows; }

std::span<const Key<TrainingStudy>> TrainingStudy::keys() {
  using S = TrainingStudy;
  using V = KeyValue<S>;
  static constexpr Key<S> rows[]{
      {"algorithms", "-a,--algorithm", V(OptionForm::texts, nullptr, algorithms_or_auto),
       "algorithm of all collectives; several with commas, each a run; auto: for each collective "
       "the best of --candidates",
       "Collectives", true},
      {"candidates", "--candidates", V(OptionForm::texts, nullptr, algorithm_names),
       "algorithms that auto chooses from; default direct,ring,rhd,dbt,tacos"},
      {"by_collective", "--by-collective", V(OptionForm::pairs, read_by_collective),
       "all_to_all=direct: this collective by this algorithm, whatever makes the others; "
       "repeatable"},
      {"shares", "--shares", V(OptionForm::text, read_shares),
       "zipf=1.2,seed=3: what All-to-Alls send differs from rank to rank: words of all_to_all_v"},
      {"chunks", "--chunks", V(OptionForm::number, read_numbers_of_chunks),
       "chunks per shard; default auto, as in synth"},
      limit_option,
      {"cache", "--cache", OptionForm::text,
       "folder of remembered schedules, or none; default ~/.cache/tutti/schedules"},
      settings_option,
      {"stragglers", "--straggler", OptionForm::shares,
       "npu3=0.5: it computes at half its speed; repeatable", "Disturbances"},
      {"events", "--event", OptionForm::events,
       "at=1ms,link_rate=npu0>npu1,share=0.5; repeatable; as in tutti failures"},
      {"events", "--events", OptionForm::text, "a TOML file of events"},
      {"failed_links", "--failed-links", OptionForm::numbers,
       "number of random cables that are out of order from the start; several with commas, each a "
       "run"},
      {"policies", "--policy", V(OptionForm::texts, nullptr, policies_of_training),
       "for failed links: reroute, resynthesize; default both"},
      {"engine", "--engine", keys::text<parse_engines, engine_names, &S::engines>,
       "native, simgrid, or both, which must agree; default native", "How it is simulated"},
      {"transport", "--transport", OptionForm::texts,
       "how a runtime uses the links: ideal, nccl, rccl or a TOML file; several with commas, each "
       "a run; default ideal"},
      {"one_at_a_time", "--one-at-a-time",
       keys::flag<&S::planning, &PlanningOptions::one_at_a_time>,
       "as in ASTRA-sim: an NPU has one collective or send at a time, of those that are ready the "
       "one with the lowest id; it begins its part of a collective without waiting for others, and "
       "a send is one message"},
      {"local_mem_bw", "--local-mem-bw",
       keys::text<parse_reduction_rate, nullptr, &S::planning, &PlanningOptions::options,
                  &SynthesisOptions::model, &TimeModel::reduce_rate>,
       "rate of local reductions, 1600GB/s: each reads two operands and writes one, as in "
       "ASTRA-sim; default: they take no time"},
      {"fold", "--unfolded", keys::no_flag<&S::fold>,
       "simulate every link crossing, even those that are alike"},
      link_busy_option,
      forwarding_option};
  return rows;
}

std::vector<StudyOption> TrainingStudy::options_of_command() {
  const std::span sources(source_rows);
  const std::span model(model_rows); // in the order in which --help shows them
  return command_options(sources.first(1), model.first(1), sources.subspan(1, 1),
                         text_keys().first(1), sources.subspan(2), trace_rows,
                         text_keys().subspan(1), degree_rows, model.subspan(1, 1), batch_rows,
                         model.subspan(2), keys(), noise_keys);
}

} // namespace tutti
