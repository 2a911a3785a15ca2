// How Tutti says no: bad input is an InputError with a place and what is known; infeasible is a
// status value (see synthesizer.hpp); a bug is an assert. Libraries never print or exit.
#pragma once

#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace tutti {

/// Bad input, in words that a user can act on. `what()` is the whole message, with the place
/// ("ring.toml:12:5: ...") in front where there is one.
class InputError : public std::runtime_error {
public:
  explicit InputError(const std::string& message) : std::runtime_error(message) {}
};

/// `unknown topology "rign" (known: ring, mesh2d, ...; did you mean "ring"?)`
/// The hint appears when one known name is at most two edits away.
[[nodiscard]] std::string unknown_name(std::string_view what, std::string_view found,
                                       std::span<const std::string> known);

} // namespace tutti
