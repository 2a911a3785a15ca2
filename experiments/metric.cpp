#include "experiments/metric.hpp"

#include "sim/error.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <vector>

namespace tutti {

namespace {

constexpr std::array all_metrics{Metric::algbw, Metric::busbw, Metric::time, Metric::gap};

}

std::string_view to_text(Metric metric) {
  switch (metric) {
  case Metric::algbw: return "algbw";
  case Metric::busbw: return "busbw";
  case Metric::time: return "time";
  case Metric::gap: break;
  }
  return "gap";
}

Metric parse_metric(std::string_view text) {
  std::vector<std::string> known;
  for (const Metric metric : all_metrics) {
    if (to_text(metric) == text) return metric;
    known.emplace_back(to_text(metric));
  }
  throw InputError(unknown_name("metric", text, known));
}

double value_of(const Replay& replay, Metric metric) {
  switch (metric) {
  case Metric::algbw: return replay.algbw;
  case Metric::busbw: return replay.busbw;
  case Metric::time: return static_cast<double>(replay.report.completion.ps);
  case Metric::gap: break;
  }
  return replay.gap();
}

std::string value_text(double value, Metric metric) {
  switch (metric) {
  case Metric::algbw:
  case Metric::busbw: return short_rate_text(value);
  case Metric::time: return short_text(Time{std::llround(value)});
  case Metric::gap: break;
  }
  return fmt::format("{:.4g}", value);
}

} // namespace tutti
