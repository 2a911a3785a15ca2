// A name carries only what tells its evaluation from the others of the figure.
#include "experiments/driver/studies/runs/shown_runs.hpp"

#include "experiments/driver/studies/registry.hpp"
#include "sim/error.hpp"

#include <fmt/format.h>

#include <utility>

namespace tutti {

namespace {

template <typename T> bool is_chosen(const std::vector<T>& values, const T& value) {
  return values.empty() || std::ranges::find(values, value) != values.end();
}

} // namespace

bool is_of_draws(FigureKind kind) {
  return kind == FigureKind::skews || kind == FigureKind::histogram ||
         kind == FigureKind::robustness;
}

std::vector<std::size_t> shown_indices(const FigureRequest& request,
                                       std::span<const Evaluation> all) {
  std::vector<std::size_t> indices;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (!all[i].replays.empty() && request.shows(all[i].topology, all[i].algorithm) &&
        is_chosen(request.sizes, all[i].size) &&
        is_chosen(request.collectives, all[i].collective) &&
        (request.chunks.empty() || is_chosen(request.chunks, chunks_asked(all[i]))))
      indices.push_back(i);
  return indices;
}

std::vector<Evaluation> by_skew(const FigureRequest& request, const Evaluation& e) {
  if (!is_of_draws(request.kind) && request.skews.empty()) return {e};
  std::vector<Evaluation> each;
  for (const NoiseOutcome& noise : e.replays.front().noises) {
    if (!is_chosen(request.skews, noise.skew)) continue;
    Evaluation& one = each.emplace_back(e);
    one.replays.resize(1);
    one.replays.front().noises = {noise};
  }
  return each;
}

std::vector<Evaluation> shown(const FigureRequest& request, std::span<const Evaluation> all) {
  std::vector<Evaluation> some;
  for (const std::size_t i : shown_indices(request, all))
    for (Evaluation& e : by_skew(request, all[i])) some.push_back(std::move(e));
  if (some.empty())
    throw InputError(is_of_draws(request.kind) ? no_draws : "there is nothing to draw");
  return some;
}

std::string skew_of(const Evaluation& e) {
  const std::vector<NoiseOutcome>& noises = e.replays.front().noises;
  return noises.empty() ? "" : noises.front().skew;
}

SkewScale scale_of(const std::string& skew) {
  const SkewRequest request = parse_skew(skew);
  if (request.kind == Skew::Kind::none) return {};
  const bool is_multiple = skew.ends_with('x');
  return {is_multiple ? request.of_bound : static_cast<double>(request.scale.ps), is_multiple,
          skew.substr(0, skew.find(':'))};
}

SkewScale largest_scale(std::span<const std::string> skews) {
  SkewScale largest;
  for (const std::string& skew : skews) {
    const SkewScale scale = scale_of(skew);
    if (scale.distribution.empty()) continue;
    if (!largest.distribution.empty() &&
        (scale.distribution != largest.distribution || scale.is_multiple != largest.is_multiple))
      throw InputError("curves over skews are of one distribution, by times or by multiples");
    if (largest.distribution.empty() || scale.value > largest.value) largest = scale;
  }
  if (largest.distribution.empty()) throw InputError("curves over skews need one that isn't none");
  return largest;
}

std::uint32_t chunks_asked(const Evaluation& e) {
  std::uint32_t multiple = 1; // of one from outside
  for (const AlgorithmRow& row : all_algorithms())
    if (row.name == e.algorithm) multiple = row.chunk_multiple;
  return e.chunks_per_shard / multiple;
}

VariantNames::VariantNames(std::span<const Evaluation> evaluations) {
  for (const Evaluation& x : evaluations) {
    const Evaluation& first = evaluations.front();
    sizes_ |= x.size != first.size;
    collectives_ |= x.collective != first.collective;
    topologies_ |= x.topology != first.topology;
    for (const Evaluation& y : evaluations) {
      if (x.algorithm != y.algorithm || x.topology != y.topology || x.collective != y.collective ||
          x.size != y.size)
        continue;
      if (x.chunks_per_shard != y.chunks_per_shard)
        with_chunks_.insert(x.algorithm);
      else if (x.run != y.run)
        with_run_.insert(x.algorithm);
      else if (skew_of(x) != skew_of(y))
        with_skew_.insert(x.algorithm);
    }
  }
}

std::string VariantNames::of(const Evaluation& e) const {
  return of_any_skew(e) + (with_skew_.contains(e.algorithm) ? ", skew " + skew_of(e) : "");
}

std::string VariantNames::of_any_chunks(const Evaluation& e) const {
  return e.algorithm + (with_run_.contains(e.algorithm) && !e.run.empty() ? ", " + e.run : "");
}

std::string VariantNames::of_any_skew(const Evaluation& e) const {
  const bool chunks = with_chunks_.contains(e.algorithm);
  return e.algorithm + (chunks ? fmt::format(", {} chunks", chunks_asked(e)) : "") +
         of_any_chunks(e).substr(e.algorithm.size());
}

std::string VariantNames::problem_of(const Evaluation& e) const {
  return (sizes_ ? ", " + short_text(e.size) : "") + (collectives_ ? ", " + e.collective : "") +
         (topologies_ ? " on " + e.topology : "");
}

} // namespace tutti
