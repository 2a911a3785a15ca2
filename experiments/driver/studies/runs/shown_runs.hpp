// Which evaluations a figure of [[runs]] shows, and what it calls them.
#pragma once

#include "experiments/driver/studies/runs/evaluation.hpp"
#include "experiments/driver/studies/runs/figure.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace tutti {

inline constexpr const char* no_draws =
    "there are no draws to show: that needs skews or a jitter"; ///< InputError

/// Whether what is drawn is the point of such figures.
[[nodiscard]] bool is_of_draws(FigureKind kind);

/// Places of those with a replay, of the topologies, sizes, ... that are asked for.
[[nodiscard]] std::vector<std::size_t> shown_indices(const FigureRequest& request,
                                                     std::span<const Evaluation> all);

/// An evaluation for each skew that the figure shows of it, with the first replay alone.
[[nodiscard]] std::vector<Evaluation> by_skew(const FigureRequest& request, const Evaluation& e);

/// All of both. Errors: InputError where that is nothing.
[[nodiscard]] std::vector<Evaluation> shown(const FigureRequest& request,
                                            std::span<const Evaluation> all);

/// The first skew of the first replay; empty where there is none. Pre: there is a replay.
[[nodiscard]] std::string skew_of(const Evaluation& e);

/// The scale of a skew over which curves are drawn: picoseconds, or multiples of the lower bound.
struct SkewScale {
  double value = 0;
  bool is_multiple = false;
  std::string distribution; ///< "uniform"; empty of none
};

/// The largest of these skews. Errors: InputError where they are none, or of several distributions,
/// or some by times and some by multiples.
[[nodiscard]] SkewScale largest_scale(std::span<const std::string> skews);
[[nodiscard]] SkewScale scale_of(const std::string& skew);

/// Per shard, as asked for: without the algorithm's chunk multiple.
[[nodiscard]] std::uint32_t chunks_asked(const Evaluation& e);

/// The distinct values of a field, in order of appearance.
template <typename Field>
[[nodiscard]] std::vector<std::string> distinct(std::span<const Evaluation> evaluations,
                                                Field&& field) {
  std::vector<std::string> values;
  for (const Evaluation& e : evaluations)
    if (std::find(values.begin(), values.end(), field(e)) == values.end())
      values.push_back(field(e));
  return values;
}

/// The names of a figure's algorithms: with chunks, run and skew where one comes several times for
/// one problem.
class VariantNames {
public:
  explicit VariantNames(std::span<const Evaluation> evaluations);

  [[nodiscard]] std::string of(const Evaluation& e) const;
  /// For figures over chunks.
  [[nodiscard]] std::string of_any_chunks(const Evaluation& e) const;
  /// For figures over skews.
  [[nodiscard]] std::string of_any_skew(const Evaluation& e) const;
  /// What tells the problem from others of the figure: ", 1MiB on Torus"; empty where there is one.
  [[nodiscard]] std::string problem_of(const Evaluation& e) const;

private:
  std::set<std::string> with_chunks_, with_run_, with_skew_;      // algorithms
  bool sizes_ = false, collectives_ = false, topologies_ = false; // there are several
};

} // namespace tutti
