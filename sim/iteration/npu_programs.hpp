// What each NPU has done of its training program and may do next.
#pragma once

#include "sim/iteration.hpp"
#include "sim/units.hpp"
#include "sim/workload.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tutti {

/// Who depends on an operation: TrainingProgram::dependencies() reversed.
class Successors {
public:
  explicit Successors(const TrainingProgram& program);
  [[nodiscard]] std::span<const std::uint32_t> of(std::uint32_t operation) const {
    return std::span(successors_)
        .subspan(begin_[operation], begin_[operation + 1] - begin_[operation]);
  }

private:
  std::vector<std::size_t> begin_;
  std::vector<std::uint32_t> successors_;
};

/// All NPUs. 20 bytes for each operation of each, and 4 where they communicate one at a time.
class NpuPrograms {
public:
  static constexpr std::uint32_t none = UINT32_MAX;
  static constexpr std::int64_t not_yet = -1;
  struct Times {
    std::int64_t begin = not_yet, end = not_yet; ///< ps
  };

  /// `starts`: per node, or empty.
  NpuPrograms(const Workload& workload, std::span<const Time> starts, bool one_at_a_time);

  [[nodiscard]] std::uint32_t npu_count() const { return static_cast<std::uint32_t>(npus_.size()); }
  [[nodiscard]] const TrainingProgram& program(std::uint32_t npu) const {
    return *npus_[npu].program;
  }
  [[nodiscard]] const Operation& operation(std::uint32_t npu, std::uint32_t i) const {
    return program(npu)[i];
  }
  [[nodiscard]] Times& times(std::uint32_t npu, std::uint32_t i) { return npus_[npu].times[i]; }
  [[nodiscard]] const Times& times(std::uint32_t npu, std::uint32_t i) const {
    return npus_[npu].times[i];
  }

  /// The last to end of the operations that one depends on (the first of several), or the
  /// communication that kept it waiting for longer; `none` where it waited for nothing. Pre: all of
  /// them are over.
  [[nodiscard]] std::uint32_t gate(std::uint32_t npu, std::uint32_t operation) const;
  /// When all that it waited for was over. Pre: as gate().
  [[nodiscard]] std::int64_t reached(std::uint32_t npu, std::uint32_t operation) const;

  /// When its program begins, ps.
  [[nodiscard]] std::int64_t start_of(std::uint32_t npu) const { return npus_[npu].start; }
  /// When the last of all programs begins, ps.
  [[nodiscard]] std::int64_t last_start() const { return last_start_; }

  /// The NPU's program begins: calls reach(operation) for every operation that depends on nothing.
  template <typename Reach> void start(std::uint32_t npu, const Reach& reach) const {
    for (std::uint32_t i = 0; i < npus_[npu].times.size(); ++i)
      if (npus_[npu].missing[i] == 0) reach(i);
  }
  /// The operation is over; calls reach(npu, operation) for each that waited for it alone.
  template <typename Reach>
  void end(std::uint32_t npu, std::uint32_t operation, std::int64_t now, const Reach& reach) {
    Npu& here = npus_[npu];
    here.times[operation].end = now;
    --left_;
    for (const std::uint32_t successor : here.successors->of(operation))
      if (--here.missing[successor] == 0) reach(npu, successor);
  }
  /// Operations that aren't over.
  [[nodiscard]] std::uint64_t left() const { return left_; }

  /// The compute unit: what is ready, the lowest turn first.
  void make_ready(std::uint32_t npu, std::uint32_t operation);
  [[nodiscard]] bool can_compute(std::uint32_t npu) const {
    return npus_[npu].computing == none && !npus_[npu].ready.empty();
  }
  /// Pre: can_compute(). Returns the operation.
  std::uint32_t start_computing(std::uint32_t npu);
  /// Returns the operation that was computed.
  std::uint32_t end_computing(std::uint32_t npu);

  /// One communication at a time: what is ready to be, the lowest turn first.
  void make_communication_ready(std::uint32_t npu, std::uint32_t operation);
  /// `none` where nothing is ready, or one is under way.
  std::uint32_t start_communication(std::uint32_t npu);
  /// The one under way, or `none`.
  [[nodiscard]] std::uint32_t communicating(std::uint32_t npu) const {
    return npus_[npu].communicating;
  }
  /// Pre: it is the one under way.
  void end_communication(std::uint32_t npu, std::uint32_t operation);

private:
  struct Npu {
    const TrainingProgram* program = nullptr;
    const Successors* successors = nullptr;
    std::vector<std::uint32_t> missing; ///< per operation: of those that it depends on
    std::vector<Times> times;           ///< per operation
    std::vector<std::uint32_t> ready;   ///< a heap, the lowest turn on top
    std::int64_t start = 0;             ///< ps
    std::uint32_t computing = none;
    // One communication at a time; else empty.
    std::vector<std::uint32_t> kept_waiting_by; ///< per operation: a communication, or `none`
    std::vector<std::uint32_t> to_communicate;  ///< a heap, as `ready`
    std::uint32_t communicating = none, communicated = none; ///< now; last
  };

  static void push(const Npu& npu, std::vector<std::uint32_t>& heap, std::uint32_t operation);
  static std::uint32_t pop(const Npu& npu, std::vector<std::uint32_t>& heap);

  std::vector<Successors> successors_; // per program
  std::vector<Npu> npus_;
  std::uint64_t left_ = 0;
  std::int64_t last_start_ = 0; // ps
};

} // namespace tutti
