// Rows of a paper's table of synthesized algorithms (SCCL, Cai et al. 2021, Table 4 and 5): each
// instance is synthesized on its own and held against what the paper claims of it.
#pragma once

#include "experiments/driver/studies/expectation.hpp"
#include "experiments/driver/studies/frontiers/evaluation.hpp"
#include "sim/ratio.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tutti {

struct Optimality {
  bool latency = false;   ///< no algorithm has fewer steps
  bool bandwidth = false; ///< no algorithm has fewer rounds per chunk
  bool operator==(const Optimality&) const = default;
};
/// "latency", "bandwidth", "both" or "-".
[[nodiscard]] std::string_view to_text(Optimality optimality);
/// Errors: InputError with the known words: latency, bandwidth, both.
[[nodiscard]] Optimality parse_optimality(std::string_view text);

/// What a paper says of one algorithm.
struct PaperInstance {
  std::uint32_t chunks = 1, steps = 1, rounds = 1; ///< C as the paper counts
  std::uint32_t chunks_per_shard = 1;              ///< K, from `chunks`
  Optimality claimed;
  std::optional<double> seconds; ///< encoding and solving
  std::string ours = {};         ///< how ours falls short: a shortfall; empty: it may not
  std::string explanation = {};  ///< a text below the table

  [[nodiscard]] Ratio cost() const { return {rounds, chunks}; }
};

struct InstanceEvaluation {
  PaperInstance paper;
  std::string answer; ///< "sat", "unsat" or "timed_out"
  std::string method;
  double seconds = 0; ///< CPU: encode, solve, check
  bool verified = false;
  Optimality proven;                 ///< of what is claimed or else known
  Optimality refuted;                ///< something better was found
  std::string shortfall;             ///< "unsat", "fewer steps exist"; empty where all holds
  std::optional<std::size_t> better; ///< index into the frontier's points: fewer steps at no more
                                     ///< rounds per chunk, or fewer of these at no more steps
  Agreement agreement = Agreement::unexpected;
  std::string problem; ///< a defect of Tutti in words; empty where all is well
};

/// The point that beats steps and rounds per chunk of the instance, if one does: of several, the
/// one with the least rounds per chunk.
[[nodiscard]] std::optional<std::size_t> better_point(const PaperInstance& instance,
                                                      const Frontier& frontier);

/// Indices of the points that no row of the paper comes up to: each row has more steps, or more
/// rounds per chunk.
[[nodiscard]] std::vector<std::size_t> beyond_paper(const Frontier& frontier,
                                                    std::span<const PaperInstance> paper);

/// Synthesizes the instance at the case's largest size and replays it there. A match has a correct
/// schedule, and each optimality that the paper claims is proven.
/// `frontier`: of the same case. Errors: InputError as evaluate_frontier().
[[nodiscard]] InstanceEvaluation
evaluate_instance(const FrontierCase& c, const PaperInstance& paper, const Frontier& frontier,
                  const FrontierFunction& function = synthesize_frontier);

/// For tables of verdicts: "Allgather (6,3,7)", what the paper claims and what we get.
[[nodiscard]] Comparison comparison_of(const std::string& label, const InstanceEvaluation& instance,
                                       const Frontier& frontier);

} // namespace tutti
