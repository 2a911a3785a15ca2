// What all callers of Clp need. Not to be included but by them.
#pragma once

#include "sim/limit_watch.hpp"

#include <coin/ClpEventHandler.hpp>
#include <coin/CoinFinite.hpp>

#include <algorithm>

namespace tutti {

/// Ends Clp when a limit is reached. Clp copies it, once for each of its inner models: all share
/// the watch, which must outlive them.
class ClpLimitHandler : public ClpEventHandler {
public:
  explicit ClpLimitHandler(LimitWatch& watch) : watch_(&watch) {}
  int event(Event) override { return watch_->reached() ? 0 : -1; } // -1: go on
  [[nodiscard]] ClpEventHandler* clone() const override { return new ClpLimitHandler(*this); }

private:
  LimitWatch* watch_;
};

/// Infinite ones as Clp writes them.
inline double clp_bound(double bound) { return std::clamp(bound, -COIN_DBL_MAX, COIN_DBL_MAX); }

} // namespace tutti
