// The one shape of every command's JSON, described by docs/schemas/:
//   {"format": 3, "command": "synth", "runs": [...], ...}
// An element of "runs" is a row of results, by the names of its columns in CSV; what belongs to it
// and is no value of a column (lists, certificates) stands in its "details". Times are picoseconds,
// sizes bytes, rates bytes per second; null is what isn't known.
#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace tutti {

class Cell;
enum class Quantity : std::uint8_t;
struct Records;

/// A value as JSON has it; null where it isn't known.
[[nodiscard]] nlohmann::ordered_json json_of(const Cell& cell, Quantity quantity);

/// An object for each row: {"kind": kind, columns}. `details`: a list with one object for each row,
/// which becomes its "details"; null: there are none.
[[nodiscard]] nlohmann::ordered_json runs_json(std::string_view kind, const Records& records,
                                               nlohmann::ordered_json details = nullptr);

/// What a command prints: `runs` is a list, the members of `more` follow it.
[[nodiscard]] std::string answer_json(std::string_view command, nlohmann::ordered_json runs,
                                      const nlohmann::ordered_json& more = nullptr);

/// Null for an empty text.
[[nodiscard]] nlohmann::ordered_json text_or_null(const std::string& text);
/// Null for what JSON doesn't have: NaN and infinity.
[[nodiscard]] nlohmann::ordered_json number_or_null(double value);

/// Two-space indented, with a newline at the end.
[[nodiscard]] std::string json_text(const nlohmann::ordered_json& json);

} // namespace tutti
