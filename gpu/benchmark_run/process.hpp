// Another program as a process of its own that has to end in time: what hangs, crashes or breaks
// the GPU's driver takes nothing with it.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace tutti::gpu {

/// How a process ended.
struct ProcessEnd {
  int code = -1; ///< -1: it didn't end by itself
  bool in_time = true;
  std::string words;      ///< "ended with code 1", "was killed by signal 11 (Segmentation fault)"
  std::string last_words; ///< the end of its output, in one line

  [[nodiscard]] bool well() const { return code == 0 && in_time; }
};

/// From now on the first SIGINT, SIGTERM or SIGHUP doesn't end this process but the one that it
/// runs; the next one of its kind does. SIGPIPE ends neither. What is ignored (nohup) stays so.
void note_interrupts();
[[nodiscard]] bool was_interrupted();

/// Runs a program, with SIGTERM and then SIGKILL to it and all that it started at the limit, or
/// when this process is interrupted. What it leaves behind is killed, and itself if this process
/// ends. The command, its output and how it ended are added to a file. Environment:
/// TUTTI_REQUIRE_GPU=1. Errors: InputError where there can be no process, or the file can't be
/// written. A program that can't be started ends with code 127 and says why in its output.
[[nodiscard]] ProcessEnd run_process(const std::vector<std::string>& command,
                                     std::chrono::milliseconds limit,
                                     const std::string& output_file);

} // namespace tutti::gpu
