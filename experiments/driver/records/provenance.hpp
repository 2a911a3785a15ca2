// What made a result: the versions of Tutti and of what it stands on.
#pragma once

#include <string>

namespace tutti {

struct Provenance {
  std::string tutti;   ///< version
  std::string commit;  ///< of the source tree, "-dirty" appended where it has changes; or "unknown"
  std::string simgrid; ///< version
};

[[nodiscard]] std::string tutti_version();

/// Asks `git`: some ten milliseconds.
[[nodiscard]] Provenance find_provenance();

} // namespace tutti
