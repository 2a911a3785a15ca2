// Whole chunks on paths, as early as their limits have room.
#pragma once

#include "synth/teccl/capacity_calendar.hpp"
#include "synth/teccl/flows/paths.hpp"
#include "synth/teccl/problem.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tutti {

/// What a chunk may take.
struct PathChoice {
  std::vector<LaneId> lanes;
  double amount = 0; ///< that the flows send there, at most 1
  TimedPath fastest; ///< the first to arrive of those that take these lanes
  Epoch there;       ///< when that arrives
};

struct ChunkChoices {
  std::uint32_t chunk = 0;
  std::vector<PathChoice> choices; ///< by lanes; not empty
};

inline constexpr std::uint32_t no_path_yet = UINT32_MAX;

/// Where and when chunks go.
struct PathPlan {
  std::vector<std::uint32_t> choice;      ///< [chunk of the paths]
  std::vector<std::vector<Epoch>> epochs; ///< [chunk of the paths][stretch]
  std::uint32_t length = 0;               ///< epochs until all is there
};

/// The lanes of a path between two nodes that store, with none between.
struct PathStretch {
  std::span<const LaneId> lanes;
  std::uint32_t delay = 0;
  /// The longest window of those that let one chunk through: sends at its multiples alone leave no
  /// gaps that are too short.
  std::uint32_t stride = 1;
};

/// Whether a chunk can go this path where nothing else is under way: through switches it may need a
/// limit more often at once than that allows (a shared group of links into and out of a switch).
/// Flows don't tell, as half a chunk can always go. `calendar`: empty; stays so.
[[nodiscard]] bool is_passable(const EpochNetwork& network, CapacityCalendar& calendar,
                               std::span<const LaneId> lanes);

/// Makes plans of paths, all of them passable. All references must outlive it.
class PathPlanner {
public:
  PathPlanner(const EpochProblem& problem, std::span<const ChunkChoices> paths);

  /// From now on stretches begin only at multiples of their stride, or in any epoch.
  void set_aligned(bool aligned) { is_aligned_ = aligned; }

  /// Paths so that the most loaded limit is loaded little.
  [[nodiscard]] std::vector<std::uint32_t> even_choice() const;

  /// Stretches of these paths in this order, each in the first epoch with room. `keys`: [chunk]
  /// [stretch], ascending along a path; the least first.
  [[nodiscard]] PathPlan as_early(const std::vector<std::uint32_t>& choice,
                                  const std::vector<std::vector<double>>& keys);
  /// The plan's stretches as late as possible, the last first, and then as early again (forward-
  /// backward improvement; Li and Willis 1992), until that doesn't shorten the plan any more.
  void improve(PathPlan& plan);
  /// Plans chunks in this order, each on the path on which it arrives first; nothing where a chunk
  /// has room on none of its paths.
  [[nodiscard]] std::optional<PathPlan> inserted(std::span<const std::uint32_t> order);

  [[nodiscard]] EpochPlan sends(const PathPlan& plan) const;
  [[nodiscard]] std::span<const PathStretch> stretches(std::uint32_t chunk,
                                                       std::uint32_t choice) const {
    return stretches_[chunk][choice];
  }
  /// Questions for room so far.
  [[nodiscard]] std::uint64_t effort() const { return calendar_.questions(); }

private:
  struct Job {
    double key = 0;
    std::uint32_t chunk = 0, stretch = 0;
  };

  [[nodiscard]] std::vector<Job> jobs(const std::vector<std::uint32_t>& choice,
                                      const std::vector<std::vector<double>>& keys) const;
  /// Starts so late as possible, before `end`; nothing where they don't fit.
  [[nodiscard]] std::optional<std::vector<std::vector<double>>> as_late(const PathPlan& plan,
                                                                        std::uint32_t end);
  [[nodiscard]] std::optional<std::vector<Epoch>> first_epochs(std::span<const PathStretch> path);
  [[nodiscard]] bool has_buffers(std::span<const PathStretch> path,
                                 std::span<const Epoch> epochs) const;
  void use_buffers(std::span<const PathStretch> path, std::span<const Epoch> epochs);

  [[nodiscard]] std::uint32_t stride_of(const PathStretch& stretch) const {
    return is_aligned_ ? stretch.stride : 1;
  }

  const EpochProblem& problem_;
  std::span<const ChunkChoices> paths_;
  bool is_aligned_ = false;
  std::vector<std::vector<std::vector<PathStretch>>> stretches_; ///< [chunk][choice][stretch]
  CapacityCalendar calendar_;
  std::vector<std::vector<std::uint32_t>> kept_; ///< [node][epoch]: chunks for others
};

} // namespace tutti
