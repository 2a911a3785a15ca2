// How fast an NPU computes: a roofline with an efficiency for each kind of kernel.
#pragma once

#include "sim/units.hpp"
#include "sim/words.hpp"
#include "workloads/model.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tutti {

/// How numbers are held while training.
enum class Precision : std::uint8_t { fp32, tf32, fp16, bf16, fp8 };
inline constexpr Words<Precision, 5> precision_words{"precision",
                                                     {"fp32", "tf32", "fp16", "bf16", "fp8"}};
[[nodiscard]] constexpr std::string_view to_text(Precision precision) {
  return precision_words.text(precision);
}
/// Bytes of an activation, or a parameter as kernels read it.
[[nodiscard]] std::int64_t element_bytes(Precision precision);

struct NpuProfile {
  std::string name, note, source;
  std::map<Precision, double> peak_flops; ///< per second, dense, of matrix units
  double vector_flops = 0;                ///< per second, of everything else
  Bandwidth memory_bandwidth;
  Bytes memory;
  /// [Kernel::Kind] of what is attained: of peak flops, and of memory bandwidth; 0 .. 1.
  std::array<double, kernel_kind_count> compute_efficiency = {}, memory_efficiency = {};
  Time launch; ///< of a kernel, at least
};

/// In which it trains unless set otherwise: bf16 where it computes in that, else fp16, else the
/// first that it knows.
[[nodiscard]] Precision usual_precision(const NpuProfile& npu);

/// max(flops / attained peak, bytes / attained bandwidth), at least a launch, rounded up to a
/// picosecond; 0 for no work at all. Errors: InputError where the profile has no peak for the
/// precision.
[[nodiscard]] Time kernel_time(const NpuProfile& npu, Kernel::Kind kind, Precision precision,
                               double flops, double bytes);

[[nodiscard]] std::string npu_folder(); ///< where the named profiles lie, a TOML file each
[[nodiscard]] std::vector<std::string> npu_profile_names(); ///< workloads/npus/*.toml
/// By name, or from a TOML file. Errors: as load_model().
[[nodiscard]] NpuProfile load_npu_profile(const std::string& name_or_file);

} // namespace tutti
