// Names, units and values of metrics, side by side: an expectation, a figure and a table that say
// "gap" must mean the same number.
#include "experiments/driver/studies/runs/metric.hpp"

#include "sim/error.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <vector>

namespace tutti {

namespace {

constexpr std::string_view fact_prefix = "fact:";
constexpr std::array all_problem_sizes{ProblemSize::npus, ProblemSize::transfers};

template <typename Values>
auto parse_one(const char* what, std::string_view text, const Values& values) {
  std::vector<std::string> known;
  for (const auto& value : values) {
    if (to_text(value) == text) return value;
    known.emplace_back(to_text(value));
  }
  throw InputError(unknown_name(what, text, known));
}

} // namespace

std::string to_text(const Metric& metric) {
  switch (metric.kind) {
  case Metric::algbw: return "algbw";
  case Metric::busbw: return "busbw";
  case Metric::time: return "time";
  case Metric::gap: return "gap";
  case Metric::synthesis_seconds: return "synthesis_seconds";
  case Metric::planned: return "planned";
  case Metric::planned_ratio: return "planned_ratio";
  case Metric::fact: break;
  }
  return std::string(fact_prefix) + metric.name;
}

Metric parse_metric(std::string_view text) {
  if (text.starts_with(fact_prefix) && text.size() > fact_prefix.size())
    return {Metric::fact, std::string(text.substr(fact_prefix.size()))};
  const std::array<Metric, 8> known{Metric::algbw,
                                    Metric::busbw,
                                    Metric::time,
                                    Metric::gap,
                                    Metric::synthesis_seconds,
                                    Metric::planned,
                                    Metric::planned_ratio,
                                    {Metric::fact, "NAME"}}; // the last for the message only
  return parse_one("metric", text, known);
}

std::optional<double> value_of(const Evaluation& evaluation, std::size_t replay,
                               const Metric& metric) {
  if (metric.kind == Metric::fact) {
    const auto found = evaluation.facts.find(metric.name);
    return found == evaluation.facts.end() ? std::nullopt : std::optional(found->second);
  }
  if (replay >= evaluation.replays.size()) return {};
  const Replay& chosen = evaluation.replays[replay];
  const auto completion = static_cast<double>(chosen.report.completion.ps);
  switch (metric.kind) {
  case Metric::algbw: return chosen.algbw;
  case Metric::busbw: return chosen.busbw;
  case Metric::time: return completion;
  case Metric::gap: return chosen.gap();
  case Metric::planned:
    if (!evaluation.planned) return {};
    return static_cast<double>(evaluation.planned->ps);
  case Metric::planned_ratio:
    if (!evaluation.planned || completion == 0) return {};
    return static_cast<double>(evaluation.planned->ps) / completion;
  case Metric::synthesis_seconds:
  case Metric::fact: break;
  }
  return evaluation.synthesis_seconds;
}

std::string value_text(double value, const Metric& metric) {
  switch (metric.kind) {
  case Metric::algbw:
  case Metric::busbw: return short_rate_text(value);
  case Metric::time:
  case Metric::planned: return short_text(Time{std::llround(value)});
  case Metric::gap:
  case Metric::planned_ratio: return fmt::format("{:.4g}", value);
  case Metric::fact: return fmt::format("{:.6g}", value);
  case Metric::synthesis_seconds: break;
  }
  return fmt::format("{:.4g} s", value);
}

std::string_view to_text(ProblemSize size) {
  return size == ProblemSize::npus ? "npus" : "transfers";
}

ProblemSize parse_problem_size(std::string_view text) {
  return parse_one("problem size", text, all_problem_sizes);
}

double value_of(const Evaluation& evaluation, ProblemSize size) {
  return size == ProblemSize::npus ? evaluation.npus : static_cast<double>(evaluation.transfers);
}

} // namespace tutti
