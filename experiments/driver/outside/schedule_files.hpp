// Schedules that are there already, as an algorithm: `file:swing_{size}.json`.
#pragma once

#include "sim/synthesizer.hpp"

#include <string>
#include <vector>

namespace tutti {

/// What is in the file that the pattern names, in the folder, for this collective: a schedule of
/// Tutti's, or MSCCL XML. In the pattern, {size} ("64MiB"), {bytes}, {collective}, {npus} and
/// {chunks} (per shard; 1 where the file decides) are filled in. A file that isn't there, or is for
/// something else, is unsupported; one that can't be read a failed outcome. Errors: InputError for
/// other braces.
[[nodiscard]] Outcome schedule_from_file(const std::string& folder, const std::string& pattern,
                                         const Topology& topology, const Collective& collective,
                                         const SynthesisOptions& options);
/// The files that are there for a pattern, whatever its blanks are. `folder`: as above.
[[nodiscard]] std::vector<std::string> files_for(const std::string& folder,
                                                 const std::string& pattern);
/// Errors: InputError for braces that nothing is filled into.
void require_pattern(const std::string& pattern);

} // namespace tutti
