// What `tutti train` was asked to train, from the texts of its options.
#include "experiments/driver/cli/commands.hpp"
#include "experiments/driver/studies/training/condition.hpp"
#include "experiments/driver/studies/training/work_reader.hpp"
#include "sim/engines/engine.hpp"
#include "sim/text.hpp"

#include <fmt/format.h>

#include <utility>

namespace tutti {

namespace {

using Text = std::optional<std::string>;

std::int64_t number_of(const std::string& option, const std::string& text, std::int64_t low,
                       std::int64_t high) {
  return of_option(option, [&] { return parse_integer(text, "number", low, high); });
}

void count_into(const char* option, const Text& text, std::uint32_t& target, std::int64_t most) {
  if (text) target = static_cast<std::uint32_t>(number_of(option, *text, 1, most));
}

template <typename T, typename Parse>
void parse_into(const char* option, const Text& text, T& target, const Parse& parse) {
  if (text) target = of_option(option, [&] { return parse(*text); });
}

void read_priorities(const std::vector<std::string>& texts, TrainingSpec& spec) {
  const auto priorities = of_option("--priority", [&] { return parse_settings(texts); });
  for (const auto& [name, text] : priorities) {
    const Purpose purpose = of_option("--priority", [&key = name] { return parse_purpose(key); });
    spec.priority[static_cast<std::size_t>(purpose)] =
        static_cast<std::uint8_t>(number_of("--priority", text, 0, JobTiming::highest_priority));
  }
}

void read_placement(const WorkArguments& arguments, TrainingSpec& spec) {
  if (arguments.order) {
    spec.order.clear();
    for (const std::string_view name : split(*arguments.order, ','))
      spec.order.push_back(of_option("--order", [&] { return parse_parallelism(trimmed(name)); }));
  }
  if (!arguments.dimensions) return;
  for (const std::string_view text : split(*arguments.dimensions, ','))
    spec.dimensions.push_back(
        static_cast<std::uint32_t>(number_of("--dimensions", std::string(trimmed(text)), 0, 127)));
}

void read_batch(const WorkArguments& arguments, ModelWork& work) {
  count_into("--micro-batch", arguments.micro_batch, work.spec.micro_batch, most_samples);
  count_into("--micro-batches", arguments.micro_batches, work.spec.micro_batches, most_samples);
  if (!arguments.global_batch) return;
  if (arguments.micro_batches)
    throw InputError("--global-batch and --micro-batches exclude each other");
  work.global_batch = static_cast<std::uint64_t>(
      number_of("--global-batch", *arguments.global_batch, 1, most_samples));
}

// Defaults are those of TrainingSpec, and of the NPU for the precision; options change what they
// name.
ModelWork model_of(const WorkArguments& arguments) {
  ModelWork work;
  if (arguments.npu.empty())
    throw InputError("--npu: on what is it trained? `tutti list npus` shows profiles");
  work.model = of_option("--model", [&] { return load_model(arguments.model); });
  work.npu = of_option("--npu", [&] { return load_npu_profile(arguments.npu); });
  TrainingSpec& spec = work.spec;
  count_into("--tensor", arguments.tensor, spec.tensor, most_degree);
  count_into("--expert", arguments.expert, spec.expert, most_degree);
  count_into("--pipeline", arguments.pipeline, spec.pipeline, most_degree);
  if (arguments.data)
    work.data = static_cast<std::uint32_t>(number_of("--data", *arguments.data, 1, most_degree));
  read_placement(arguments, spec);
  read_batch(arguments, work);
  spec.precision = usual_precision(work.npu);
  parse_into("--precision", arguments.precision, spec.precision, parse_precision);
  parse_into("--schedule", arguments.schedule, spec.schedule, parse_pipeline_schedule);
  count_into("--model-parts", arguments.model_parts, spec.model_parts, most_degree);
  parse_into("--recompute", arguments.recompute, spec.recompute, parse_recompute);
  parse_into("--bucket", arguments.bucket, spec.bucket, parse_bytes);
  if (arguments.gradient_bytes)
    spec.gradient_bytes = number_of("--gradient-bytes", *arguments.gradient_bytes, 1, 8);
  if (arguments.zero)
    spec.zero = static_cast<std::uint32_t>(number_of("--zero", *arguments.zero, 0, 3));
  spec.sequence = arguments.sequence;
  spec.overlap = !arguments.no_overlap;
  spec.in_order = arguments.in_order;
  read_priorities(arguments.priorities, spec);
  return work;
}

TextWork text_of(const WorkArguments& arguments) {
  if (arguments.unit.empty())
    throw InputError("--unit: a text has no unit of time (ns for ASTRA-sim 1.0 and SimAI, us for "
                     "Chakra's converter)");
  TextWork work{arguments.workload, {}};
  work.options.unit = of_option("--unit", [&] { return parse_time_unit(arguments.unit); });
  count_into("--passes", arguments.passes, work.options.passes, most_passes);
  if (arguments.model_group)
    work.options.model_group = static_cast<std::uint32_t>(
        number_of("--model-group", *arguments.model_group, 1, most_degree));
  return work;
}

// Options that only a model has.
void refuse_model_options(const WorkArguments& arguments) {
  const std::pair<const char*, bool> given[] = {
      {"--npu", !arguments.npu.empty()},
      {"--tensor", arguments.tensor.has_value()},
      {"--pipeline", arguments.pipeline.has_value()},
      {"--expert", arguments.expert.has_value()},
      {"--data", arguments.data.has_value()},
      {"--micro-batch", arguments.micro_batch.has_value()},
      {"--micro-batches", arguments.micro_batches.has_value()},
      {"--global-batch", arguments.global_batch.has_value()},
      {"--precision", arguments.precision.has_value()},
      {"--gradient-bytes", arguments.gradient_bytes.has_value()},
      {"--order", arguments.order.has_value()},
      {"--dimensions", arguments.dimensions.has_value()},
      {"--zero", arguments.zero.has_value()},
      {"--schedule", arguments.schedule.has_value()},
      {"--model-parts", arguments.model_parts.has_value()},
      {"--recompute", arguments.recompute.has_value()},
      {"--bucket", arguments.bucket.has_value()},
      {"--priority", !arguments.priorities.empty()},
      {"--sequence", arguments.sequence},
      {"--no-overlap", arguments.no_overlap},
      {"--in-order", arguments.in_order}};
  for (const auto& [option, is_given] : given)
    if (is_given) throw InputError(fmt::format("{}: only a model (--model) has it", option));
}

void refuse_text_options(const WorkArguments& arguments) {
  const std::pair<const char*, bool> given[] = {
      {"--unit", !arguments.unit.empty()},
      {"--passes", arguments.passes.has_value()},
      {"--model-group", arguments.model_group.has_value()}};
  for (const auto& [option, is_given] : given)
    if (is_given) throw InputError(fmt::format("{}: only a text (--workload) has it", option));
}

} // namespace

WorkSource work_of(const WorkArguments& arguments) {
  const bool has_model = !arguments.model.empty(), has_text = !arguments.workload.empty(),
             has_trace = !arguments.trace.empty();
  if (int{has_model} + int{has_text} + int{has_trace} != 1)
    throw InputError("what is trained? give one of --model, --workload and --chakra");
  if (!has_model) refuse_model_options(arguments);
  if (!has_text) refuse_text_options(arguments);
  if (!has_trace && !arguments.groups.empty())
    throw InputError("--groups: only traces (--chakra) have them");
  if (has_model) return model_of(arguments);
  if (has_text) return text_of(arguments);
  TraceWork trace{arguments.trace, {}};
  trace.options.groups = arguments.groups;
  return trace;
}

} // namespace tutti
