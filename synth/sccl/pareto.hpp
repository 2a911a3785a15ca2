// Pareto synthesis for one problem that copies (Cai et al. 2021, sec. 3.7, Algorithm 1): for each
// number of steps the fewest rounds per chunk, between what a linear program proves and what a
// schedule shows.
#pragma once

#include "sim/ratio.hpp"
#include "sim/work_limit.hpp"
#include "synth/sccl/frontier.hpp"
#include "synth/sccl/problem.hpp"
#include "synth/sccl/scope.hpp"
#include "synth/sccl/symmetry.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tutti {

/// An instance that has a schedule, and what is known about it.
struct StepPoint {
  StepInstance instance;
  PointProof proof = PointProof::best_found;
  bool latency_optimal = false, bandwidth_optimal = false;
  Ratio least; ///< what the LP proves for these steps
  std::string method;
  double seconds = 0; ///< CPU
  StepSchedule schedule;

  [[nodiscard]] Ratio cost() const { return {instance.rounds, instance.chunks_per_shard}; }
};

struct StepTrial {
  StepInstance instance;
  SatAnswer answer = SatAnswer::unknown;
  std::string method;
  double seconds = 0; ///< CPU
};

struct StepFrontier {
  std::vector<StepPoint> points; ///< ascending in steps, falling in cost
  std::vector<StepTrial> trials;
  Ratio bandwidth_bound; ///< of rounds per chunk; 0 where none is known
  bool complete = false; ///< nothing is missing from the frontier of this k, or was left undecided
  bool timed_out = false;
  std::string stop; ///< why no more steps were tried
};

/// The problem with what every instance of it needs.
class ParetoSynthesis {
public:
  /// `chunk`: the size of the problem's chunks, which tells when more steps don't pay.
  /// Errors: OutOfReach.
  ParetoSynthesis(StepProblem problem, const FrontierRequest& request, Bytes chunk,
                  const WorkLimit& limit);
  ParetoSynthesis(const ParetoSynthesis&) = delete;
  ParetoSynthesis& operator=(const ParetoSynthesis&) = delete;

  /// All steps, or those that the request asks for.
  /// `found` is called for each point; may be empty.
  [[nodiscard]] StepFrontier frontier(const std::function<void(const StepPoint&)>& found = {});
  /// One instance; its point is in `frontier.points` if there is a schedule. Pre: of no more steps
  /// than the request asks for.
  void solve(const StepInstance& instance, StepFrontier& frontier);

  [[nodiscard]] std::uint32_t fewest() const { return fewest_; }
  [[nodiscard]] Ratio bandwidth_bound() const { return bandwidth_bound_; }

private:
  struct Solved {
    StepAnswer answer;
    std::string method;
  };
  [[nodiscard]] Solved answer(const StepInstance& instance, bool in_class) const;
  [[nodiscard]] Solved search(const StepInstance& instance, const StepSymmetry& symmetry,
                              const StepSearch& how) const;
  [[nodiscard]] std::int64_t size(const StepInstance& instance, const StepSymmetry& symmetry) const;
  [[nodiscard]] std::int64_t effort(const StepInstance& instance,
                                    const StepSymmetry& symmetry) const;
  StepTrial attempt(const StepInstance& instance, bool in_class, StepFrontier& frontier);
  [[nodiscard]] std::int64_t last_rounds(std::uint32_t steps, Ratio lowest) const;
  void add_tight(std::uint32_t steps, Ratio lowest, std::int64_t last,
                 const std::function<void(std::int64_t, std::int64_t)>& add) const;
  [[nodiscard]] std::vector<StepInstance> candidates(std::uint32_t steps, Ratio least,
                                                     std::optional<Ratio> below) const;
  void improve(std::uint32_t steps, StepFrontier& frontier);
  [[nodiscard]] bool ends(std::uint32_t steps, StepFrontier& frontier) const;
  [[nodiscard]] std::uint32_t last_steps() const; ///< that are tried
  [[nodiscard]] bool is_whole() const;            ///< the scope
  [[nodiscard]] bool in_scope(std::uint32_t steps) const;
  [[nodiscard]] Ratio least(std::uint32_t steps);

  FrontierRequest request_;
  Ratio step_worth_; ///< a step's latency in rounds of the problem's chunks
  WorkLimit limit_;
  StepProblem whole_;
  std::uint32_t fewest_;
  StepScope scope_;
  const StepProblem& problem_; // the scope's
  StepProblem outline_;        // the whole, with what is outside of the scope as one node
  std::int64_t flows_ = 0;     ///< of a unicast problem
  std::vector<StepAutomorphism> automorphisms_, outline_automorphisms_;
  std::vector<StepSymmetry> symmetries_;
  Ratio bandwidth_bound_;
  std::map<std::uint32_t, Ratio> least_; // by steps
};

} // namespace tutti
