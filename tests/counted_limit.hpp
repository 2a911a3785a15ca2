// A limit of time that is the same on every machine: time is how often somebody asked for it.
#pragma once

#include "sim/synthesizer.hpp"

#include <atomic>
#include <cstdint>

namespace tutti {

/// Options whose limit ends after so many questions, of which the first only begins it.
class CountedLimit {
public:
  explicit CountedLimit(std::uint64_t questions) : questions_(questions) {
    options.limit_seconds = static_cast<double>(questions);
    options.clock = [this] { return static_cast<double>(++asked_); };
  }
  CountedLimit(const CountedLimit&) = delete;
  CountedLimit& operator=(const CountedLimit&) = delete;

  [[nodiscard]] std::uint64_t asked() const { return asked_; }
  /// Questions that were answered with "it is over", and still others came.
  [[nodiscard]] std::uint64_t asked_in_vain() const {
    return asked_ > questions_ + 1 ? asked_ - questions_ - 1 : 0;
  }

  SynthesisOptions options;

private:
  std::uint64_t questions_;
  std::atomic<std::uint64_t> asked_ = 0;
};

} // namespace tutti
