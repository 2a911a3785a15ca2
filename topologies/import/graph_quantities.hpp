// Bandwidths and latencies as graphs' attributes have them.
#pragma once

#include "sim/units.hpp"
#include "topologies/import/graph_meaning.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tutti::topologies {

enum class LinkQuantity : std::uint8_t { bandwidth, latency };

struct LinkKey {
  LinkQuantity quantity;
  std::string unit; ///< as it stands in the name; empty: none
};

/// "bandwidth", "LinkSpeedRaw", "latency_us", "Delay (ms)".
[[nodiscard]] std::optional<LinkKey> link_key(std::string_view key);

/// The unit stands in the value, or else in the name. Errors: InputError with the place.
[[nodiscard]] Bandwidth graph_bandwidth(const GraphAttribute& attribute,
                                        std::string_view unit_of_name, const TextPlaces& places);
[[nodiscard]] Time graph_time(const GraphAttribute& attribute, std::string_view unit_of_name,
                              const TextPlaces& places);

/// "400G", "100 Gbps": what people write beside the lines they draw. None where it says something
/// else.
[[nodiscard]] std::optional<Bandwidth> labelled_bandwidth(const GraphAttribute& label,
                                                          const TextPlaces& places);

} // namespace tutti::topologies
