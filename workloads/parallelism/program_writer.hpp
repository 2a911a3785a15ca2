// Writing one NPU's program: computing in a fixed order, with communication beside it.
#pragma once

#include "sim/workload.hpp"

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace tutti {

/// Names of operations, each kept once: what is done to which layers.
class OperationNames {
public:
  explicit OperationNames(std::vector<std::string> layers) : layers_(std::move(layers)) {}
  /// "forward block0.attention .. block3.mlp".
  std::uint32_t of_layers(std::string_view what, std::uint32_t first, std::uint32_t last);
  std::uint32_t of(std::string_view what); ///< the words alone
  [[nodiscard]] std::vector<std::string> take() { return std::move(names_); }

private:
  std::uint32_t add(std::string name);

  std::vector<std::string> layers_, names_;
  std::map<std::tuple<std::string, std::uint32_t, std::uint32_t>, std::uint32_t> known_;
};

/// Computing is merged into one operation until a communication begins or is waited for. Each
/// operation comes after all computing before it and all that was waited for.
class ProgramWriter {
public:
  explicit ProgramWriter(OperationNames& names) : names_(names) {}

  /// `what` of a layer; with other work on layers that it is merged with, `together` of all.
  void compute(Time time, std::string_view what, std::string_view together, std::uint32_t layer);
  void compute(Time time, std::uint32_t name); ///< an operation of its own; none if it takes none
  /// Begins after all up to here, and after `also`. Returns its index; nothing waits for it yet.
  std::uint32_t begin(const Operation& operation, std::span<const std::uint32_t> also = {});
  /// Begins at once, whatever comes before.
  std::uint32_t begin_at_once(const Operation& operation);
  void wait(std::uint32_t operation); ///< before all that follows
  void finish_computing();            ///< what follows is an operation of its own
  [[nodiscard]] TrainingProgram take() { return std::move(program_); }

private:
  void compute_now(std::int64_t ps, std::uint32_t name);

  struct Pending {
    Time time;
    std::string_view what;
    std::uint32_t first = 0, last = 0; ///< layers
    bool is_there = false;
  };
  OperationNames& names_;
  TrainingProgram program_;
  Pending pending_;
  std::vector<std::uint32_t> frontier_; ///< what the next operation comes after
  std::uint32_t latest_ = UINT32_MAX;   ///< comes after all of that already
};

} // namespace tutti
