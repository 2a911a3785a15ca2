// The two ways to perform a loaded plan once.
#pragma once

#include "runtime/cuda/kernels.cuh"
#include "runtime/cuda/loaded_plan.cuh"
#include "runtime/cuda/resources.cuh"
#include "runtime/plans/issue_order.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace tutti::runtime {

class LastResort;
struct Patience;

/// One kernel for each GPU that stays until all its blocks have performed their steps.
class PersistentRun {
public:
  /// Blocks get as many threads as still let all of them be resident at once.
  /// Errors: InputError where not even small ones can be. Pre: `loaded` outlives this.
  PersistentRun(LoadedPlan& loaded, const Kernels& kernels);

  /// From when the blocks of all GPUs have met until the last has ended, by each GPU's own clock;
  /// the longest of the GPUs, seconds. No kernel runs any more when this returns or throws: one
  /// that doesn't heed the stop flag for another watchdog_seconds, 1 s at least, ends the process
  /// with a message on stderr, as nothing that it uses can be freed. So does a call to CUDA that
  /// doesn't return.
  /// Errors: HungRun where no step ends, and no emulated message is under way, for so long.
  double perform(double watchdog_seconds);

private:
  using Clock = std::chrono::steady_clock;
  struct Launch {
    int device = 0;
    std::uint32_t first_block = 0, blocks = 0;
    Stream stream;
  };
  class StopOnThrow;
  [[nodiscard]] bool fits(unsigned threads) const;
  void choose_threads();
  void start(std::size_t launch);
  void watch(const Patience& patience, LastResort& resort);
  [[nodiscard]] bool is_over() const;
  void end_kernels(const Patience& patience);
  void require_end() const;
  [[nodiscard]] std::string told_waits() const;
  [[nodiscard]] std::string missing_blocks() const;
  [[nodiscard]] double longest() const;

  LoadedPlan& loaded_;
  Kernels kernels_;
  std::vector<Launch> launches_; ///< as LoadedPlan::shares()
  unsigned threads_ = 0;         ///< of a block
  SharedFlag stop_;
};

/// A copy call (or, to combine, a kernel) for each step, on a stream for each block; events between
/// the streams in place of flags.
class CopyRun {
public:
  /// Errors: InputError where copies are throttled to emulated links; HungRun where the program's
  /// steps can't be ordered.
  CopyRun(LoadedPlan& loaded, const Kernels& kernels);

  /// From when the first stream can start until the last has ended, with the host's time to issue
  /// the calls; seconds. No copy runs any more when this returns or throws: where none ends for
  /// watchdog_seconds, or a call to CUDA doesn't return, the process ends with a message on stderr,
  /// as copies can't be told to stop.
  double perform(double watchdog_seconds);

private:
  using Clock = std::chrono::steady_clock;

  void issue_all(const Patience& patience, LastResort& resort);
  void issue(const IssuedStep& ordered);
  void move(const Operands& data, int from, int to, cudaStream_t stream);
  void watch(const Patience& patience, LastResort& resort) const;
  [[nodiscard]] std::size_t events_over() const;
  [[nodiscard]] std::string unended_blocks() const;

  LoadedPlan& loaded_;
  Kernels kernels_;
  std::vector<IssuedStep> order_;
  std::vector<Stream> streams_; ///< [block]
  std::vector<Event> over_;     ///< [step]; null where no other block waits for it
  std::vector<Event> ends_;     ///< [block]
  Stream main_;
  Event begin_, end_;
};

} // namespace tutti::runtime
