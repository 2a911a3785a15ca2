// The name of a pack, for files and for a person.
#pragma once

#include <cstdint>
#include <string>

namespace tutti::runtime {

struct PackName {
  std::string experiment;
  std::uint64_t digest = 0; ///< of all that is in it but predictions
};

/// "gpu_day (0123456789abcdef)"
[[nodiscard]] std::string to_text(const PackName& name);

} // namespace tutti::runtime
