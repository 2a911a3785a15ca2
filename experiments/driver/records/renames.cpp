// Keys and metrics that had other names in earlier versions: a reader that meets an old one can say
// the new one.
#include "experiments/driver/records/renames.hpp"

#include "sim/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace tutti {

namespace {

struct Renamed {
  std::string_view from, to;
};

// Keys of expectations.
constexpr std::array renamed_keys{
    Renamed{"paper", "\"value\", or \"at_most\" and \"at_least\" with the number"},
    Renamed{"mean", "\"summary\": \"geometric_mean\", \"arithmetic_mean\""},
    Renamed{"discipline", "a key of \"of\" and \"over\""},
    Renamed{"policy", "a key of \"of\" and \"over\""},
    Renamed{"algorithm", "a key of \"of\" and \"over\""},
    Renamed{"algorithms", "\"algorithm\" of \"of\""},
    Renamed{"failed_links", "a key of \"of\" and \"over\""},
    Renamed{"from", "\"size\" of \"of\": \"1MB..\""},
    Renamed{"to", "\"size\" of \"of\": \"..4MB\""},
    Renamed{"error_at_most", "summary = \"error\" with \"at_most\""},
    Renamed{"copy_rate_at_least", "metric = \"copy_rate_fraction\" with \"at_least\""}};

// Metrics of expectations and figures.
constexpr std::array renamed_metrics{
    Renamed{"time", "collective_time"},   Renamed{"time", "iteration_time"},
    Renamed{"planned", "planned_time"},   Renamed{"speed", "iterations_per_s"},
    Renamed{"throughput", "items_per_s"}, Renamed{"utilisation", "flops_utilisation"}};

// Columns of results, which expectations, figures and --columns name.
constexpr std::array renamed_columns{Renamed{"hung_on", "critical_cause"},
                                     Renamed{"hung_on_fraction", "critical_cause_fraction"}};

} // namespace

void refuse_renamed(ConfigTable& table) {
  for (const Renamed& renamed : renamed_keys)
    if (table.has(std::string(renamed.from)))
      throw table.at(std::string(renamed.from))
          .error(fmt::format("\"{}\" is now {}", renamed.from, renamed.to));
  if (table.has("at_most"))
    if (const ConfigValue at_most = table.at("at_most"); at_most.is_boolean())
      throw at_most.error("\"at_most\" is now the limit itself");
}

std::string_view metric_now(std::string_view metric, std::span<const std::string> known) {
  for (const Renamed& renamed : renamed_metrics)
    if (renamed.from == metric && std::ranges::find(known, renamed.to) != known.end())
      return renamed.to;
  return column_now(metric);
}

std::string_view column_now(std::string_view column) {
  const auto found = std::ranges::find(renamed_columns, column, &Renamed::from);
  return found == renamed_columns.end() ? std::string_view() : found->to;
}

} // namespace tutti
