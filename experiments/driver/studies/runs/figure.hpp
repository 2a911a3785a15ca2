// The pictures that an experiment asks for ([[figures]]), from its evaluations.
#pragma once

#include "experiments/driver/figures/heatmap.hpp"
#include "experiments/driver/figures/picture.hpp"
#include "experiments/driver/records/power_law.hpp"
#include "experiments/driver/records/records.hpp"
#include "experiments/driver/studies/keys.hpp"
#include "experiments/driver/studies/runs/evaluation.hpp"
#include "experiments/driver/studies/study.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tutti {

enum class FigureKind : std::uint8_t {
  heatmap,     ///< source x destination, one panel per evaluation
  utilisation, ///< links from the hottest to the coolest, one curve per evaluation
  bars,        ///< one group per topology, one bar per algorithm
  sizes,       ///< over the size, one curve per algorithm
  chunks,      ///< over the chunks per shard, one curve per algorithm
  scaling,     ///< over the problem's size, one curve per topology family and algorithm
  schedule,    ///< who sends what where, step by step, in one small evaluation
  skews,       ///< over the scale of the skew, one curve per algorithm
  histogram,   ///< how often which time came out, one curve per algorithm and skew
  robustness,  ///< times without noise and of draws, one group per algorithm and skew
};

/// Values of others in a figure of curves.
struct GivenPoints {
  std::string name;
  std::vector<PlotPoint> points; ///< on the figure's axes
};

/// A number that a paper prints of a case, or of its ratio to another's.
struct PrintedValue {
  std::size_t of = 0; ///< indices into the cases
  std::optional<std::size_t> over = {};
  std::string metric;
  double value = 0; ///< in the metric's unit
};

struct FigureRequest {
  FigureKind kind = FigureKind::heatmap;
  std::string title, file;
  std::vector<std::string> topologies, algorithms; ///< labels and names; empty: all
  std::vector<Bytes> sizes = {};                   ///< empty: all
  std::vector<std::string> collectives = {};       ///< likewise
  std::vector<std::uint32_t> chunks = {};          ///< per shard, as asked for; likewise
  /// Texts; empty: of skews, histogram and robustness all, of others the first of each case.
  std::vector<std::string> skews = {};
  LinkQuantity quantity = LinkQuantity::utilisation;
  RecordColumn metric;        ///< of run_records()
  bool normalized = false;    ///< over the least of each topology
  std::string reference = {}; ///< an algorithm: over its value for the same problem
  bool logarithmic = false;
  RecordColumn over;        ///< likewise: what a problem's size is counted by
  bool shows_bound = false; ///< of times and rates: what no schedule passes
  std::vector<GivenPoints> given = {};
  std::vector<PrintedValue> printed = {}; ///< shown where they are of what is drawn
  double inches = 0;                      ///< of width in print; 0: a page's, and as many points
  std::string font = {};                  ///< family; empty: sans-serif
  bool has_titles = true;
  std::string x_label = {}, y_label = {}; ///< empty: its own
  std::optional<std::array<double, 2>> y_ends = {};

  /// Whether it is about these.
  [[nodiscard]] bool shows(std::string_view topology, std::string_view algorithm) const;
};

/// How figures look in print, whatever their kind.
[[nodiscard]] std::span<const Key<FigureRequest>> look_keys();

/// Figures speak of the first replay of each evaluation, and of each skew as asked for; those
/// without a correct schedule are left out. Pre: `evaluations` are those of `cases`, on these
/// networks; a case whose schedule is drawn has written it.
/// Errors: InputError naming the figure's file where nothing is left to draw.
[[nodiscard]] Figure make_figure(const FigureRequest& request, Networks networks,
                                 std::span<const Case> cases,
                                 std::span<const Evaluation> evaluations);

/// The fastest on this network of the last collective and size that has a schedule; null where none
/// has.
[[nodiscard]] const Evaluation* fastest_run(std::span<const Evaluation> evaluations,
                                            const std::string& topology);

/// Network use of fastest_run() on each network that has one; none for more than six networks. They
/// point into the networks.
[[nodiscard]] std::vector<NetworkUse> network_uses(Networks networks,
                                                   std::span<const Evaluation> evaluations);

} // namespace tutti
