// What an algorithm from outside says, as an outcome: every number is checked before it becomes a
// transfer, what the transfers mean is left to verify().
#pragma once

#include "algorithms/routed_schedule.hpp"
#include "sim/synthesizer.hpp"

#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>

namespace tutti {

/// An answer that makes no sense: "transfer 17: there is no rank 9 (there are 8)".
class BadAnswer : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The transfers of an answer, in the order in which they are said. Errors of all: BadAnswer, and
/// those of RoutedSchedule.
class AnsweredSchedule {
public:
  /// The arguments outlive it, and the collective has one part.
  AnsweredSchedule(const Topology& topology, const Collective& collective,
                   const SynthesisOptions& options);

  /// Rank to rank, on the path that the routing says. Block b of rank r is r K + b.
  void send(std::int64_t source, std::int64_t destination, std::int64_t block, Op op);
  /// Over these links.
  void cross(std::span<const std::int64_t> links, std::int64_t block, Op op);
  /// The last one, for the arrival of an earlier one.
  void wait_for(std::int64_t transfer);
  [[nodiscard]] Outcome outcome() && { return std::move(schedule_).outcome(); }

private:
  /// Errors: BadAnswer where there are no more than `count`.
  [[nodiscard]] std::uint32_t checked(std::int64_t number, std::size_t count,
                                      const char* what) const;
  [[nodiscard]] ChunkId chunk(std::int64_t block) const;

  RoutedSchedule schedule_;
  std::uint32_t link_count_;
};

/// No schedule, and whose fault it is, in words that can be shown.
[[nodiscard]] Outcome failed_outcome(const std::string& words);

} // namespace tutti
