// What a platform file of SimGrid may have in it.
#pragma once

#include "topologies/import/list.hpp"

namespace tutti::topologies {

/// Looks through a file before SimGrid gets it; whether Tutti has written it. Errors: InputError
/// with the place.
[[nodiscard]] bool scan_simgrid(const ForeignFile& file);

} // namespace tutti::topologies
