// The master problem of Dantzig-Wolfe decomposition: which shares of each demand take which of the
// trees found so far (Shapley 2025, ch. 5).
#pragma once

#include "synth/flows/fluid/fluid.hpp"
#include "synth/flows/fluid/orbits.hpp"
#include "synth/solvers/column_program.hpp"

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

namespace tutti {

/// Prices and what each representative pays now, from the duals of the master.
struct MasterPrices {
  std::vector<double> orbits; ///< [orbit of resources] >= 0
  std::vector<double> shares; ///< [representative]: a tree that pays less improves the master
};

/// Times are in units of `unit_seconds`, so that numbers are about 1. Rows: what an orbit of
/// resources carries, on average over it (symmetric: each member); traffic; shares.
class FluidMaster {
public:
  /// `weights` [link]: of traffic; empty: there is none. All must outlive this.
  FluidMaster(const FlowProblem& problem, const FlowOrbits& orbits, std::span<const double> weights,
              double unit_seconds);

  /// What a share of 1 of the tree adds to every orbit that it uses: time of `unit_seconds`.
  [[nodiscard]] std::vector<RowTerm> load(std::uint32_t representative, const FlowTree& tree) const;
  /// False where the tree is known.
  bool add(std::uint32_t representative, FlowTree tree);

  enum class Aim : std::uint8_t {
    time,    ///< least time
    traffic, ///< least traffic in the time that was reached
    hops,    ///< fewest hops in a row, on average, with the traffic (if any) and time reached
  };
  /// From now on; the time and traffic that were aimed at before are kept. Pre: the last aim was
  /// solved; time is the first.
  void aim_at(Aim aim);
  /// False where the limit was reached or work() would exceed `most_work` (or numbers failed):
  /// values stay those of the last time.
  bool solve(const WorkLimit& limit, std::uint64_t most_work = UINT64_MAX);
  /// As those of ColumnProgram.
  [[nodiscard]] std::uint64_t work() const { return program_->work(); }
  [[nodiscard]] std::uint64_t pivot_work() const { return program_->pivot_work(); }

  [[nodiscard]] double value() const { return value_; } ///< of the aim; in units
  [[nodiscard]] double unit_seconds() const { return unit_seconds_; }
  [[nodiscard]] const MasterPrices& prices() const { return prices_; }
  /// [orbit]: those of the last solution for the least time.
  [[nodiscard]] const std::vector<double>& time_prices() const { return time_prices_; }
  /// [link]: what it costs to send over it, by the aim, at these prices for orbits; to be
  /// multiplied by what a representative sends (sent()).
  [[nodiscard]] std::vector<double> link_prices(std::span<const double> orbit_prices) const;
  [[nodiscard]] double sent(std::uint32_t representative) const; ///< bytes of all its images
  /// What a tree pays at the current prices.
  [[nodiscard]] double paid(std::uint32_t representative, const FlowTree& tree) const;

  /// Trees with their shares, those of no share left out; seconds and traffic as they follow.
  void read_off(FluidSolution& solution) const;
  [[nodiscard]] std::uint64_t column_count() const { return columns_.size(); }

private:
  struct Column {
    FlowTree tree;
    std::uint32_t representative, number; ///< number: in the program
    std::vector<RowTerm> load;
    double traffic;
  };
  [[nodiscard]] double traffic_of(std::uint32_t representative, const FlowTree& tree) const;

  const FlowProblem& problem_;
  const FlowOrbits& orbits_;
  std::span<const double> weights_;
  double unit_seconds_, unit_traffic_ = 0;
  std::uint32_t rows_of_orbits_, traffic_row_;
  std::optional<ColumnProgram> program_;
  std::uint32_t time_ = 0, traffic_ = 0; ///< columns of the program
  std::vector<Column> columns_;
  std::set<std::pair<std::uint32_t, std::vector<std::uint32_t>>> known_; ///< links of trees
  Aim aim_ = Aim::time;
  double value_ = 0;
  MasterPrices prices_;
  std::vector<double> time_prices_;
  std::vector<double> solution_; ///< of the program
};

} // namespace tutti
