// Runs as the page plays them.
#pragma once

#include "experiments/driver/figures/explorer.hpp"
#include "experiments/driver/studies/runs/evaluation.hpp"

#include <span>
#include <vector>

namespace tutti {

/// Its schedule is replayed again, as record_run() does, and its bound computed anew. Pre and
/// errors: as there.
[[nodiscard]] ExploredRun explored_run(const Case& c, const Evaluation& e);

/// Those of an experiment that are played on its page, on ideal links, without draws and by
/// algorithms of our own: the fastest on each network, then others, while they have up to 60,000
/// crossings in all and planning them again takes 3 s of CPU at most. Each says its row in
/// run_records(), which `rows` has by case.
[[nodiscard]] std::vector<ExploredRun> explored_runs(std::span<const Case> cases,
                                                     std::span<const Evaluation> evaluations,
                                                     std::span<const std::size_t> rows);

} // namespace tutti
