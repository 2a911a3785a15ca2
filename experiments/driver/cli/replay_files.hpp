// The timeline, the pictures and the page that `tutti synth`, `tutti replay` and `tutti explore`
// write of what they replayed.
#pragma once

#include "experiments/driver/cli/commands.hpp"
#include "experiments/driver/studies/runs/evaluation.hpp"
#include "experiments/driver/studies/study.hpp"
#include "sim/files/files.hpp"

#include <memory>
#include <span>
#include <string>

namespace tutti {

/// Whether a picture needs the instants of all hops, and so the schedule in a file (record_run()).
[[nodiscard]] bool needs_record(const ReplayFiles& files);

/// Errors: InputError for the name of a picture, or one that such a case has nothing for.
void require_drawable(const ReplayFiles& files, const Case& c);

/// Has the cases leave in a folder what the files are made of: their timelines, each in its
/// process, and their schedules. The folder, which lives until the files are written; null: none is
/// needed.
[[nodiscard]] std::unique_ptr<ScratchFolder> record_for(const ReplayFiles& files,
                                                        std::span<Case> cases);

/// One timeline of all, pictures of the fastest schedule, of the largest size, a histogram and a
/// page of all; only the timeline if that was interrupted. False where a picture is wanted and
/// there is nothing to draw, which it says on stderr. Pre: `evaluations` are those of `cases`, all
/// of them on this network.
bool write_replay_files(const ReplayFiles& files, const LabelledTopology& network,
                        std::span<const Case> cases, std::span<const Evaluation> evaluations,
                        bool interrupted = false);

} // namespace tutti
