// Constants of a transport by least squares on logarithms of times, with what of them the rows
// determine, and what the rows are predicted as that were left out.
#pragma once

#include "sim/transport/constants.hpp"
#include "sim/transport/transport.hpp"
#include "sim/units.hpp"

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tutti {

/// A measured time, and what predicts it.
struct FitRow {
  double seconds = 0;
  Bytes size;                                      ///< rows of one size are left out together
  std::size_t system = 0;                          ///< and so are those of one system
  bool is_fitted = true;                           ///< false: predicted and no more
  std::vector<std::string> constants;              ///< that it may depend on
  std::function<double(const Transport&)> predict; ///< seconds; called by several threads
};

struct FitRequest {
  Transport start; ///< what stays where the rows determine nothing
  std::vector<FitRow> rows;
  std::vector<std::string> free;       ///< names of constants, "*" for any text; empty: all
  std::optional<Transport> begin = {}; ///< where the search begins; none: at the start
  bool leaves_out = true;              ///< false: FitResult::rows stays empty
  unsigned threads = 1;
  std::function<void(const std::string& stage)> stage = {}; ///< called as each begins; may throw
};

enum class FitVerdict : std::uint8_t {
  fitted,
  undetermined, ///< rows depend on it, but would do with its start as well
  unused,       ///< no row depends on it
};

struct FittedConstant {
  std::string name;
  ConstantKind kind = ConstantKind::time;
  double start = 0, value = 0; ///< as TransportConstant::value()
  double low = 0, high = 0;    ///< 90 % confidence, of what is fitted
  std::size_t rows = 0;        ///< fitted ones that depend on it
  FitVerdict verdict = FitVerdict::unused;
};

/// ln(predicted / measured) of a row by constants of three fits. Which constants are fitted is
/// decided by all rows, also where some are then left out.
struct FitErrors {
  double fitted = 0;         ///< of all rows
  double without_size = 0;   ///< without those of its size; a row that isn't fitted: of all
  double without_system = 0; ///< without those of its system; where there is one: of none
  double times = 0; ///< how much of its time is latencies and launches, 0 .. 1; NaN: not fitted
};

struct FitResult {
  Transport transport;
  std::vector<FittedConstant> constants; ///< those that are free, in the order of constants_of()
  std::vector<FitErrors> rows;           ///< [row]
};

/// Errors: InputError for a pattern that is like no constant's name.
void require_constants(const Transport& transport, std::span<const std::string> patterns);

/// Minimizes a sum over r = ln(predicted / measured) / s, s from 3 % for a row that is all
/// bandwidth to 15 % for one that is all latency: of squares, beyond 1.5 linearly. Every constant
/// is drawn to its start as if that were known to a factor of 2, which only decides where rows
/// don't. Constants that rows neither know to half of that nor move beyond their 90 % interval stay
/// at their start. Shares stay below 1. Fitted values are rounded to three digits.
/// Errors: InputError as require_constants(), or without rows to fit.
/// Cost: some 10 * rows * constants of a row + 5 * rows * (sizes + systems) predictions.
[[nodiscard]] FitResult fit_transport(const FitRequest& request);

} // namespace tutti
