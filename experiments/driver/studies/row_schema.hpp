// The schema of rows of results.
#pragma once

#include <string>

namespace tutti {

/// docs/schemas/rows.json: a definition for the rows of every file that a kind of study writes.
[[nodiscard]] std::string row_schema();

} // namespace tutti
