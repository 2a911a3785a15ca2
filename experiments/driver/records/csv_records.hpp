// Rows of a CSV file as records again.
#pragma once

#include "experiments/driver/records/records.hpp"

#include <span>
#include <string>
#include <vector>

namespace tutti {

/// Columns that are `known` by their name are what they are there, where their texts fit; others
/// count what the unit in their name and their texts say. Rows that are shorter than the first, the
/// header, lack cells; what is beyond it is left out.
[[nodiscard]] Records records_of_csv(std::span<const std::vector<std::string>> rows,
                                     std::span<const RecordColumn> known = {});

/// Texts as they stand, each a label.
[[nodiscard]] Records records_of_table(const Table& table);

} // namespace tutti
