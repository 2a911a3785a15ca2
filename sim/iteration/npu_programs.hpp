// What each NPU has done of its program and may do next.
#pragma once

#include "sim/iteration.hpp"
#include "sim/units.hpp"
#include "sim/workload.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tutti {

/// Who depends on an operation: Program::dependencies() the other way round.
class Successors {
public:
  explicit Successors(const Program& program);
  [[nodiscard]] std::span<const std::uint32_t> of(std::uint32_t operation) const {
    return std::span(successors_)
        .subspan(begin_[operation], begin_[operation + 1] - begin_[operation]);
  }

private:
  std::vector<std::size_t> begin_;
  std::vector<std::uint32_t> successors_;
};

/// All NPUs. 20 bytes for each operation of each.
class NpuPrograms {
public:
  static constexpr std::uint32_t none = UINT32_MAX;
  static constexpr std::int64_t not_yet = -1;
  struct Times {
    std::int64_t begin = not_yet, end = not_yet; ///< ps
  };

  explicit NpuPrograms(const Workload& workload);

  [[nodiscard]] std::uint32_t npu_count() const { return static_cast<std::uint32_t>(npus_.size()); }
  [[nodiscard]] const Program& program(std::uint32_t npu) const { return *npus_[npu].program; }
  [[nodiscard]] const Operation& operation(std::uint32_t npu, std::uint32_t i) const {
    return program(npu)[i];
  }
  [[nodiscard]] Times& times(std::uint32_t npu, std::uint32_t i) { return npus_[npu].times[i]; }
  [[nodiscard]] const Times& times(std::uint32_t npu, std::uint32_t i) const {
    return npus_[npu].times[i];
  }

  /// Of the operations that one depends on, the one that was over last, the first of several;
  /// `none` where it depends on nothing. Pre: all of them are over.
  [[nodiscard]] std::uint32_t gate(std::uint32_t npu, std::uint32_t operation) const;
  /// When all that it depends on was over. Pre: as gate().
  [[nodiscard]] std::int64_t reached(std::uint32_t npu, std::uint32_t operation) const;

  /// Calls reach(npu, operation) for every operation that depends on nothing.
  template <typename Reach> void start(const Reach& reach) const {
    for (std::uint32_t npu = 0; npu < npus_.size(); ++npu)
      for (std::uint32_t i = 0; i < npus_[npu].times.size(); ++i)
        if (npus_[npu].missing[i] == 0) reach(npu, i);
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

  /// The compute unit: what is ready, the first in the program first.
  void make_ready(std::uint32_t npu, std::uint32_t operation);
  [[nodiscard]] bool can_compute(std::uint32_t npu) const {
    return npus_[npu].computing == none && !npus_[npu].ready.empty();
  }
  /// Pre: can_compute(). Returns the operation.
  std::uint32_t start_computing(std::uint32_t npu);
  /// Returns the operation that was computed.
  std::uint32_t end_computing(std::uint32_t npu);

private:
  struct Npu {
    const Program* program = nullptr;
    const Successors* successors = nullptr;
    std::vector<std::uint32_t> missing; ///< per operation: of those that it depends on
    std::vector<Times> times;           ///< per operation
    std::vector<std::uint32_t> ready;   ///< a heap, the least on top
    std::uint32_t computing = none;
  };

  std::vector<Successors> successors_; // per program
  std::vector<Npu> npus_;
  std::uint64_t left_ = 0;
};

} // namespace tutti
