// The two ways to perform a loaded plan once.
#pragma once

#include "runtime/cuda/kernels.cuh"
#include "runtime/cuda/loaded_plan.cuh"
#include "runtime/cuda/resources.cuh"
#include "runtime/issue_order.hpp"

#include <cstdint>
#include <vector>

namespace tutti::runtime {

/// One kernel for each GPU that stays until all its blocks have performed their steps.
class PersistentRun {
public:
  /// Blocks get as many threads as still let all of them be resident at once.
  /// Errors: InputError where not even small ones can be. Pre: `loaded` outlives this.
  PersistentRun(LoadedPlan& loaded, const Kernels& kernels);

  /// By the GPU's own clock, the longest of the GPUs; seconds. Errors: HungRun.
  double perform(double watchdog_seconds);

private:
  struct Launch {
    int device = 0;
    std::uint32_t first_block = 0, blocks = 0;
    Stream stream;
    Event begin, end;
  };
  [[nodiscard]] bool fits(unsigned threads) const;
  void choose_threads();
  void start(std::size_t launch);
  void watch(double watchdog_seconds);

  LoadedPlan& loaded_;
  Kernels kernels_;
  std::vector<Launch> launches_; ///< as Devices::distinct
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

  /// As PersistentRun::perform(), with the host's time to issue the calls.
  double perform();

private:
  void issue(const IssuedStep& ordered);
  void move(const Operands& data, int from, int to, cudaStream_t stream);

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
