// Pieces of the Trace Event Format, for trace.hpp and iteration_trace.hpp.
#pragma once

#include "sim/units.hpp"

#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>

namespace tutti {

/// A JSON string. Names are the users' own, so anything may stand in them.
[[nodiscard]] std::string json_string(std::string_view text);

/// Picoseconds as microseconds, exactly: 1234567 ps is "1.234567".
[[nodiscard]] std::string microseconds(Time time);

/// What a process or thread of the viewer is called, or where it stands; `value` is JSON.
void write_metadata(std::ostream& out, std::string_view what, std::uint32_t pid, std::uint32_t tid,
                    std::string_view key, const std::string& value);

} // namespace tutti
