#include "experiments/metric.hpp"

#include "sim/error.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <vector>

namespace tutti {

namespace {

constexpr std::array all_metrics{Metric::algbw, Metric::busbw, Metric::time, Metric::gap,
                                 Metric::synthesis_seconds};
constexpr std::array all_problem_sizes{ProblemSize::npus, ProblemSize::transfers};

template <typename Values>
auto parse_one(const char* what, std::string_view text, const Values& values) {
  std::vector<std::string> known;
  for (const auto value : values) {
    if (to_text(value) == text) return value;
    known.emplace_back(to_text(value));
  }
  throw InputError(unknown_name(what, text, known));
}

} // namespace

std::string_view to_text(Metric metric) {
  switch (metric) {
  case Metric::algbw: return "algbw";
  case Metric::busbw: return "busbw";
  case Metric::time: return "time";
  case Metric::gap: return "gap";
  case Metric::synthesis_seconds: break;
  }
  return "synthesis_seconds";
}

Metric parse_metric(std::string_view text) { return parse_one("metric", text, all_metrics); }

std::optional<double> value_of(const Evaluation& evaluation, std::size_t replay, Metric metric) {
  if (replay >= evaluation.replays.size()) return {};
  const Replay& chosen = evaluation.replays[replay];
  switch (metric) {
  case Metric::algbw: return chosen.algbw;
  case Metric::busbw: return chosen.busbw;
  case Metric::time: return static_cast<double>(chosen.report.completion.ps);
  case Metric::gap: return chosen.gap();
  case Metric::synthesis_seconds: break;
  }
  return evaluation.synthesis_seconds;
}

std::string value_text(double value, Metric metric) {
  switch (metric) {
  case Metric::algbw:
  case Metric::busbw: return short_rate_text(value);
  case Metric::time: return short_text(Time{std::llround(value)});
  case Metric::gap: return fmt::format("{:.4g}", value);
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
