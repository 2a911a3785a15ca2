// From the layers of a workload's text to the programs that NPUs run.
#pragma once

#include "sim/workload.hpp"
#include "workloads/traces/text_layers.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace tutti {

/// Groups of NPUs by their numbers: id = inner + inner size * (expert + experts * (data + ...)).
enum class TextRole : std::uint8_t {
  everyone,
  inner, ///< neighbours
  outer, ///< one of each inner group, in the same stage
  expert,
  data_expert, ///< one of each expert group
  previous,    ///< with the same NPU of the stage before
  next,
};

/// How many NPUs a group of each kind has.
struct TextDegrees {
  std::uint32_t npus = 1, inner = 1, expert = 1, data_expert = 1, stages = 1;
};
[[nodiscard]] std::uint32_t members_of(const TextDegrees& degrees, TextRole role);

/// Layers that micro-batches repeat: `count` runs of `length`, from `first`.
struct TextRuns {
  std::size_t first = 0, length = 0, count = 1;
};
/// Those that repeat the most layers; length 0 where there are none.
[[nodiscard]] TextRuns find_runs(const std::vector<TextLayer>& layers, std::uint32_t count);

/// Names of operations, each once.
class NameTable {
public:
  std::uint32_t index_of(const std::string& name);
  [[nodiscard]] std::vector<std::string> names() && { return std::move(names_); }

private:
  std::vector<std::string> names_;
  std::map<std::string, std::uint32_t> known_;
};

/// What the NPUs of one pipeline stage run.
struct StageProgram {
  TrainingProgram program;
  std::vector<TextRole> roles; ///< [role of an operation]
};

/// `stage` counts from 0; `runs` matter where there are several stages.
/// Errors: InputError with the place in `file` for communication without a group.
[[nodiscard]] StageProgram make_stage(const TextFile& text, const std::string& file,
                                      const TextDegrees& degrees, const TextRuns& runs,
                                      std::uint32_t stage, std::uint32_t passes, NameTable& names);

} // namespace tutti
