// Evaluations for people: the tables on the terminal and the rows of results.csv.
#pragma once

#include "experiments/driver/records/table.hpp"
#include "experiments/driver/studies/runs/evaluation.hpp"
#include "experiments/driver/studies/runs/records.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tutti {

/// `1.334x`.
[[nodiscard]] std::string ratio_text(double ratio);
/// The same of a gap, or `-` where there is none.
[[nodiscard]] std::string gap_text(double gap);

/// `8`, or `auto: 8` where nobody said how many.
[[nodiscard]] std::string chunks_text(std::uint32_t chunks_per_shard, bool chosen);

/// "engine native and simgrid, links busy for serialization, forwarding auto".
[[nodiscard]] std::string simulation_text(const std::string& engines, const TimeModel& model);

/// One table for each (run, topology, collective), with a line about time model and routing above
/// and the best algorithm, its gap and the bound's certificate below. Rows by size, then by time;
/// those without a schedule last, with their reason.
[[nodiscard]] std::string report_text(std::span<const Evaluation> evaluations,
                                      const TableForm& form = {});

/// How --columns may call what these tables have, or could have, where runs have these columns.
[[nodiscard]] std::vector<std::string> run_table_columns(const std::vector<Discipline>& disciplines,
                                                         const OptionalRunColumns& optional);

} // namespace tutti
