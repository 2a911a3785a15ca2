// Performs a program with real numbers, the next block chosen by chance: what a runtime with blocks
// of any speed might do. Slow, and not a line in common with verify_program.
#pragma once

#include "runtime/program.hpp"
#include "sim/random.hpp"

#include <cmath>
#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <tuple>
#include <vector>

namespace tutti::runtime {

enum class RunEnd { right, wrong, hung };

class RandomRun {
public:
  /// Pre: the program is well-formed. slots >= 1.
  RandomRun(const Program& program, std::uint64_t seed, std::uint32_t slots)
      : program_(program), random_(seed), slots_(slots), memory_(program.ranks.size()),
        progress_(program.ranks.size()) {
    for (std::uint32_t r = 0; r < program.ranks.size(); ++r) {
      progress_[r].resize(program.ranks[r].blocks.size());
      for (const ChunkPlace& held : program.inputs[r])
        for (std::uint32_t k = 0; k < program.chunk_units[held.chunk.value]; ++k)
          at(r, {Buffer::input, held.unit}, k) = value(held.chunk.value, k, r);
    }
  }

  RunEnd run() {
    while (true) {
      std::vector<std::pair<std::uint32_t, std::uint32_t>> ready;
      bool over = true;
      for (std::uint32_t r = 0; r < program_.ranks.size(); ++r)
        for (std::uint32_t b = 0; b < progress_[r].size(); ++b) {
          if (progress_[r][b] == program_.ranks[r].blocks[b].steps.size()) continue;
          over = false;
          if (is_ready(r, b)) ready.emplace_back(r, b);
        }
      if (over) return is_right() ? RunEnd::right : RunEnd::wrong;
      if (ready.empty()) return RunEnd::hung;
      const auto [r, b] = ready[random_.below(ready.size())];
      perform(r, b);
    }
  }

private:
  using Way = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>; // from, to, channel

  /// All holders of a chunk that doesn't reduce have the same.
  [[nodiscard]] double value(std::uint32_t chunk, std::uint32_t k, std::uint32_t rank) const {
    const bool reduces = program_.collective.chunks[chunk].reduces;
    return (reduces ? std::ldexp(1.0, static_cast<int>(rank)) : 0.0) + 4096.0 * (1 + chunk) +
           0.125 * k;
  }

  double& at(std::uint32_t rank, Place place, std::uint32_t offset) {
    const Place one = alias(program_, rank, {place.buffer, place.unit + offset});
    return memory_[rank]
        .try_emplace({one.buffer, one.unit}, std::numeric_limits<double>::quiet_NaN())
        .first->second;
  }

  [[nodiscard]] static Way out(std::uint32_t r, const Block& block) {
    return {r, *block.sends_to, block.channel};
  }
  [[nodiscard]] static Way in(std::uint32_t r, const Block& block) {
    return {*block.receives_from, r, block.channel};
  }

  bool is_ready(std::uint32_t r, std::uint32_t b) {
    const Block& block = program_.ranks[r].blocks[b];
    const Step& step = block.steps[progress_[r][b]];
    if (step.after && progress_[r][step.after->block] <= step.after->step) return false;
    if (receives(step.kind) && ways_[in(r, block)].empty()) return false;
    return !sends(step.kind) || ways_[out(r, block)].size() < slots_;
  }

  void perform(std::uint32_t r, std::uint32_t b) {
    const Block& block = program_.ranks[r].blocks[b];
    const Step& step = block.steps[progress_[r][b]++];
    std::vector<double> got(step.count);
    if (receives(step.kind)) {
      got = ways_[in(r, block)].front();
      ways_[in(r, block)].pop_front();
    }
    for (std::uint32_t k = 0; k < step.count; ++k) {
      double& one = got[k];
      if (reads_source(step.kind)) one += at(r, step.source, k);
      if (step.kind == StepKind::reduce) one += at(r, step.target, k);
    }
    if (writes_target(step.kind))
      for (std::uint32_t k = 0; k < step.count; ++k) at(r, step.target, k) = got[k];
    if (sends(step.kind)) ways_[out(r, block)].push_back(got);
  }

  bool is_right() {
    for (std::uint32_t r = 0; r < program_.ranks.size(); ++r)
      for (const ChunkPlace& wanted : program_.outputs[r])
        for (std::uint32_t k = 0; k < program_.chunk_units[wanted.chunk.value]; ++k)
          if (at(r, {Buffer::output, wanted.unit}, k) != expected(wanted.chunk, k)) return false;
    return true;
  }

  [[nodiscard]] double expected(ChunkId chunk, std::uint32_t k) const {
    double sum = 0;
    for (const NodeId npu : program_.collective.sources(chunk)) {
      sum += value(chunk.value, k, npu.value);
      if (!program_.collective.chunks[chunk.value].reduces) break;
    }
    return sum;
  }

  const Program& program_;
  Random random_;
  std::uint32_t slots_;
  std::vector<std::map<std::pair<Buffer, std::uint32_t>, double>> memory_; // [rank]
  std::vector<std::vector<std::size_t>> progress_;                         // [rank][block]
  std::map<Way, std::deque<std::vector<double>>> ways_;
};

} // namespace tutti::runtime
