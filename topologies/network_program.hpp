// Networks that programs print.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace tutti::topologies {

/// The format in which a program prints a network, as its first or second line says: "#tutti: csv".
/// Nothing where it doesn't. `content`: of its file.
[[nodiscard]] std::optional<std::string> printed_format(std::string_view content);

struct ProgramLimits {
  double seconds = 60;
  std::size_t bytes = std::size_t{1} << 30;
};

/// What it prints, run with these arguments and the memory that this process has. Errors:
/// InputError where it can't be run, fails or prints nothing, with its last words, and where it
/// goes beyond a limit, at which it ends with all that it has started.
[[nodiscard]] std::string printed_by(const std::string& program,
                                     std::span<const std::string> arguments,
                                     const ProgramLimits& limits = {});

} // namespace tutti::topologies
