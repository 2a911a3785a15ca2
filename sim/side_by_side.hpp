// Threads for work that is cut into equal jobs.
#pragma once

#include <exception>
#include <thread>
#include <vector>

namespace tutti {

/// Calls job(0) .. job(count - 1), each on a thread of its own, the first on the caller's; returns
/// when all are done. An exception is passed on, of several that of the lowest job.
/// Pre: count >= 1.
template <typename Job> void run_side_by_side(unsigned count, const Job& job) {
  std::vector<std::exception_ptr> failures(count);
  const auto guarded = [&](unsigned i) {
    try {
      job(i);
    } catch (...) {
      failures[i] = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> others;
    for (unsigned i = 1; i < count; ++i) others.emplace_back(guarded, i);
    guarded(0);
  }
  for (const std::exception_ptr& failure : failures)
    if (failure) std::rethrow_exception(failure);
}

} // namespace tutti
