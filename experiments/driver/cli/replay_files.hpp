// The timeline and the pictures that `tutti synth` and `tutti replay` write of what they replayed.
#pragma once

#include "experiments/driver/cli/commands.hpp"
#include "experiments/driver/studies/runs/evaluation.hpp"
#include "experiments/driver/studies/study.hpp"
#include "sim/files/files.hpp"

#include <span>
#include <string>

namespace tutti {

/// Whether a picture needs the instants of all hops, and so the schedule in a file (record_run()).
[[nodiscard]] bool needs_record(const ReplayFiles& files);

/// Errors: InputError for the name of a picture, or one that such a case has nothing for.
void require_drawable(const ReplayFiles& files, const Case& c);

/// Has the cases write their timelines into the folder, each in its process, until they are one
/// file.
void trace_into(const ScratchFolder& folder, std::span<Case> cases);
void join_timelines(const std::string& file, std::span<const Case> cases,
                    std::span<const Evaluation> evaluations);

/// Pictures of the fastest schedule, of the largest size, and a histogram of all. False where some
/// are wanted and there is nothing to draw, which it says on stderr. Pre: `evaluations` are those
/// of `cases`, all of them on this network.
bool draw_replays(const ReplayFiles& files, const LabelledTopology& network,
                  std::span<const Case> cases, std::span<const Evaluation> evaluations);

} // namespace tutti
