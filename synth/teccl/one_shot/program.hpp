// The general model of TE-CCL (sec. 3.1) as an integer program over some epochs: all of them, or
// one round of several (sec. 4.2).
#pragma once

#include "synth/solvers/linear_program.hpp"
#include "synth/teccl/one_shot/windows.hpp"
#include "synth/teccl/problem.hpp"
#include "synth/timed/ids.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace tutti {

/// What it is worth that `node`, a destination of `chunk`, has it at the beginning of `epoch`, the
/// first after it came and every later one up to the horizon's end.
using EpochReward = std::function<double(ChunkId chunk, NodeId node, Epoch epoch)>;

enum class EpochObjective : std::uint8_t {
  paper,       ///< sec. 3.1: 1 / (k + 1) for what is there at the end of epoch k, counted from 0
  public_code, ///< 1 for each epoch: the weight is commented out there
};
[[nodiscard]] EpochReward reward_of(EpochObjective objective);

/// Minimizes minus the rewards. Columns are whether a chunk enters a lane in an epoch (0 or 1), and
/// whether a node holds it (which follows); only where they can be of use: a chunk isn't at a node
/// before its distance, and doesn't leave for where it comes too late for anyone (with
/// `must_finish`); nobody receives what it held. Chunks with the same sources, destinations,
/// rewards and past are interchangeable: the program orders their arrivals at one of the
/// destinations, which cuts no optimum off. What is added to the program must not tell them apart.
class EpochProgram {
public:
  /// `problem` must outlive this.
  EpochProgram(const EpochProblem& problem, const EpochHorizon& horizon, const EpochReward& reward);

  /// To be solved, or added to before.
  [[nodiscard]] LinearProgram& program() { return program_; }
  [[nodiscard]] const LinearProgram& program() const { return program_; }

  /// The column that is 1 where `node` holds the chunk at the beginning of `epoch`, one from the
  /// horizon's begin to its end and beyond; nothing where that is decided: then always_holds() says
  /// how.
  [[nodiscard]] std::optional<std::uint32_t> holds(ChunkId chunk, NodeId node, Epoch epoch) const;
  [[nodiscard]] bool always_holds(ChunkId chunk, NodeId node, Epoch epoch) const;

  /// The sends of the horizon that a solution says; without `past`. Ascending. Some may be of no
  /// use.
  [[nodiscard]] EpochPlan plan(std::span<const double> columns) const;
  /// Values of all columns of this program (but those that were added to it) for a plan's sends of
  /// the horizon, to start from: of this plan, or of one with interchangeable chunks exchanged.
  /// Nothing where the plan isn't one of its solutions, or has sends of no use.
  [[nodiscard]] std::optional<std::vector<double>> columns(const EpochPlan& plan) const;

private:
  /// Columns of epochs one after another.
  struct Columns {
    EpochWindow epochs;
    std::uint32_t first = 0; ///< the column of epochs.first
    [[nodiscard]] std::optional<std::uint32_t> at(Epoch epoch) const;
  };
  struct ChunkColumns {
    EpochWindows windows;
    std::vector<Columns> sent; ///< [hop]; the paper's F
    /// [node]; held: the paper's B, at destinations R; needed: will still be sent from there, in
    /// the place of X
    std::vector<Columns> held, needed;
  };
  /// A column for a chunk that takes room: held and needed.
  struct Kept {
    std::uint32_t held = 0, needed = 0, column = 0;
  };
  /// Interchangeable chunks, ascending, and the destination whom they reach in this order.
  struct Order {
    std::vector<std::uint32_t> chunks;
    std::uint32_t destination = 0;
  };

  void find_windows();
  void add_sent(std::uint32_t chunk);
  void add_held(std::uint32_t chunk, const EpochReward& reward);
  void add_receipts(std::uint32_t chunk, std::uint32_t node);
  void add_dominator(std::uint32_t chunk, std::uint32_t node);
  void add_store_and_send(std::uint32_t chunk, std::uint32_t node);
  void add_pass_on(std::uint32_t chunk, PlaceId place);
  void add_limit(const EpochLimit& limit);
  void add_buffer(std::uint32_t node);
  void add_needed(std::uint32_t chunk, std::uint32_t node);
  void add_orders(const EpochReward& reward);
  void add_order(const Order& order);

  /// Adds what arrives at a place at the beginning of an epoch; returns how much certainly does.
  std::uint32_t add_arrivals(std::vector<Term>& terms, std::uint32_t chunk, PlaceId place,
                             Epoch epoch, double factor) const;
  [[nodiscard]] EpochPlan ordered(const EpochPlan& plan) const;
  [[nodiscard]] bool set_sent(const EpochPlan& plan, std::vector<double>& values) const;
  void set_held(const EpochPlan& plan, std::vector<double>& values) const;
  [[nodiscard]] bool is_destination(std::uint32_t chunk, std::uint32_t node) const;

  const EpochProblem& problem_;
  EpochHorizon horizon_; ///< its `past` is only valid while this is made
  EpochHops hops_;
  std::vector<ChunkColumns> chunks_;
  std::vector<Kept> kept_;
  std::vector<Order> orders_;
  LinearProgram program_;
  std::uint32_t own_columns_ = 0, own_rows_ = 0; ///< without what was added
};

} // namespace tutti
