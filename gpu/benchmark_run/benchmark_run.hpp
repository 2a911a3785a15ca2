// The first day on a GPU, one command: steps that end in time, whatever happens in them.
#pragma once

#include <span>
#include <string>

namespace tutti::gpu {

/// tutti-gpu day PACK --out DIR [--step NAME,...] [--again] [--limit TIME] [--list]
///
/// Every step runs in processes of its own and leaves DIR/NN_step.csv, its rows, and
/// DIR/NN_step.txt, what was said. One that is done for the same pack isn't run again, unless it is
/// asked for. Then DIR/report.md and DIR/measured.csv tell what all steps have found so far.
/// 0: all done or left out; 1: a step failed; 2: bad input; 130: interrupted.
/// Errors: InputError for a pack, folder or option that can't be used.
int day_command(std::span<const std::string> arguments);

} // namespace tutti::gpu
