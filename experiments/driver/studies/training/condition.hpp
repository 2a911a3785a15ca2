// What befalls an iteration: nothing, stragglers and events, or failed cables.
#pragma once

#include "sim/workload.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tutti {

/// What befalls an iteration.
struct Condition {
  enum class Kind : std::uint8_t {
    undisturbed,
    disturbed,    ///< stragglers and events
    reroute,      ///< failed cables: what would go over them takes the shortest path that is left
    resynthesize, ///< failed cables: planned anew for what is left of the network
  };
  Kind kind = Kind::undisturbed;
  std::size_t failed_links = 0; ///< cables
  std::uint64_t seed = 1;       ///< of their choice
  bool operator==(const Condition&) const = default;
};
[[nodiscard]] std::string_view to_text(Condition::Kind kind);
/// "undisturbed", "reroute, 2 failed links, seed 1"
[[nodiscard]] std::string to_text(const Condition& condition);

[[nodiscard]] Purpose parse_purpose(std::string_view text); ///< Errors: InputError

} // namespace tutti
