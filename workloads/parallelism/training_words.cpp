// The words for the choices of a TrainingSpec.
#include "sim/error.hpp"
#include "workloads/parallelism/training.hpp"

#include <algorithm>

namespace tutti {

namespace {

template <typename Value> struct NamedValue {
  std::string_view text;
  Value value;
};

constexpr std::array<NamedValue<Parallelism>, parallelism_count> parallelisms{
    {{"tensor", Parallelism::tensor},
     {"expert", Parallelism::expert},
     {"data", Parallelism::data},
     {"pipeline", Parallelism::pipeline}}};
constexpr std::array<NamedValue<PipelineSchedule>, 3> schedules{
    {{"gpipe", PipelineSchedule::gpipe},
     {"1f1b", PipelineSchedule::one_f_one_b},
     {"interleaved", PipelineSchedule::interleaved}}};
constexpr std::array<NamedValue<Recompute>, 3> recomputes{
    {{"none", Recompute::none}, {"attention", Recompute::attention}, {"full", Recompute::full}}};

template <typename Words>
auto parse(const Words& words, std::string_view what, std::string_view text) {
  std::vector<std::string> known;
  for (const auto& word : words) {
    if (word.text == text) return word.value;
    known.emplace_back(word.text);
  }
  throw InputError(unknown_name(what, text, known));
}

} // namespace

std::string_view to_text(Parallelism parallelism) {
  return parallelisms[static_cast<std::size_t>(parallelism)].text;
}

Parallelism parse_parallelism(std::string_view text) {
  return parse(parallelisms, "dimension of parallelism", text);
}

PipelineSchedule parse_pipeline_schedule(std::string_view text) {
  return parse(schedules, "pipeline schedule", text);
}

Recompute parse_recompute(std::string_view text) {
  return parse(recomputes, "recomputation", text);
}

} // namespace tutti
