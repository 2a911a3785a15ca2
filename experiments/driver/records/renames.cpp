// Keys and columns that had other names in earlier versions: a reader that meets an old one can say
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

// Columns of results, as expectations, figures, --columns and sweeps name them. Of several new
// names the one counts that is known where the old one stands.
constexpr std::array renamed_columns{Renamed{"time", "collective_time"},
                                     Renamed{"time", "iteration_time"},
                                     Renamed{"planned", "planned_time"},
                                     Renamed{"speed", "iterations_per_s"},
                                     Renamed{"throughput", "items_per_s"},
                                     Renamed{"utilisation", "flops_utilisation"},
                                     Renamed{"time_s", "collective_time_s"},
                                     Renamed{"time_s", "iteration_time_s"},
                                     Renamed{"bound_s", "lower_bound_s"},
                                     Renamed{"undisturbed_s", "undisturbed_time_s"},
                                     Renamed{"max_utilisation", "max_link_utilisation"},
                                     Renamed{"mean_utilisation", "mean_link_utilisation"},
                                     Renamed{"hung_on", "critical_cause"},
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

std::string unknown_column(std::string_view what, std::string_view name,
                           std::span<const std::string> known) {
  for (const Renamed& renamed : renamed_columns)
    if (renamed.from == name && std::ranges::find(known, renamed.to) != known.end())
      return fmt::format("{} \"{}\" is called \"{}\" now", what, name, renamed.to);
  return unknown_name(what, name, known);
}

} // namespace tutti
