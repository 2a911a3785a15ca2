// A kernel takes as long as its computing at the peak or its traffic at the memory's bandwidth,
// each times an efficiency, whichever is longer, and no less than a launch.
#include "workloads/npu_profile.hpp"

#include "sim/error.hpp"
#include "sim/files/config.hpp"
#include "sim/files/data_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace tutti {

namespace {

double positive(const ConfigValue& value) {
  const double number = value.number();
  if (number <= 0) throw value.error("must be above 0");
  return number;
}

std::array<double, kernel_kind_count> read_efficiencies(ConfigTable table) {
  std::array<double, kernel_kind_count> efficiencies{};
  std::vector<std::string> keys;
  for (std::size_t kind = 0; kind < kernel_kind_count; ++kind)
    keys.emplace_back(to_text(static_cast<Kernel::Kind>(kind)));
  table.allow_only(keys);
  for (std::size_t kind = 0; kind < kernel_kind_count; ++kind) {
    const ConfigValue value = table.at(keys[kind]);
    efficiencies[kind] = positive(value);
    if (efficiencies[kind] > 1) throw value.error("an efficiency is at most 1");
  }
  return efficiencies;
}

std::map<Precision, double> read_peaks(ConfigTable table) {
  std::map<Precision, double> peaks;
  for (const std::string& key : table.keys()) {
    const ConfigValue value = table.at(key);
    peaks[value.located([&] { return precision_words.parse(key); })] = positive(value);
  }
  if (peaks.empty()) throw table.error("peak_flops names no precision");
  return peaks;
}

NpuProfile read_profile(ConfigTable file) {
  file.allow_only({"name", "note", "source", "peak_flops", "vector_flops", "memory_bandwidth",
                   "memory", "launch", "compute_efficiency", "memory_efficiency"});
  NpuProfile npu;
  npu.name = file.at("name").string();
  if (const auto note = file.find("note")) npu.note = note->string();
  if (const auto source = file.find("source")) npu.source = source->string();
  npu.peak_flops = read_peaks(file.at("peak_flops").table());
  npu.vector_flops = positive(file.at("vector_flops"));
  npu.memory_bandwidth = file.at("memory_bandwidth").bandwidth();
  npu.memory = file.at("memory").bytes();
  npu.launch = file.at("launch").time();
  npu.compute_efficiency = read_efficiencies(file.at("compute_efficiency").table());
  npu.memory_efficiency = read_efficiencies(file.at("memory_efficiency").table());
  return npu;
}

bool uses_matrix_units(Kernel::Kind kind) {
  return kind != Kernel::Kind::elementwise && kind != Kernel::Kind::lookup;
}

double peak_of(const NpuProfile& npu, Kernel::Kind kind, Precision precision) {
  if (!uses_matrix_units(kind)) return npu.vector_flops;
  const auto peak = npu.peak_flops.find(precision);
  if (peak != npu.peak_flops.end()) return peak->second;
  std::vector<std::string_view> known;
  for (const auto& [each, flops] : npu.peak_flops) known.push_back(to_text(each));
  throw InputError(fmt::format("NPU \"{}\" doesn't compute in {} (known: {})", npu.name,
                               to_text(precision), fmt::join(known, ", ")));
}

} // namespace

std::string npu_folder() {
  return data_folder("npus", std::string(TUTTI_WORKLOADS_SOURCE_DIR) + "/npus");
}

std::int64_t element_bytes(Precision precision) {
  constexpr std::array<std::int64_t, precision_words.all.size()> bytes{4, 4, 2, 2, 1};
  return bytes[static_cast<std::size_t>(precision)];
}

Precision usual_precision(const NpuProfile& npu) {
  for (const Precision precision : {Precision::bf16, Precision::fp16})
    if (npu.peak_flops.contains(precision)) return precision;
  return npu.peak_flops.empty() ? Precision::bf16 : npu.peak_flops.begin()->first;
}

Time kernel_time(const NpuProfile& npu, Kernel::Kind kind, Precision precision, double flops,
                 double bytes) {
  const auto index = static_cast<std::size_t>(kind);
  double seconds = 0;
  if (flops > 0) seconds = flops / (peak_of(npu, kind, precision) * npu.compute_efficiency[index]);
  if (bytes > 0)
    seconds =
        std::max(seconds, bytes / (static_cast<double>(npu.memory_bandwidth.bytes_per_second) *
                                   npu.memory_efficiency[index]));
  if (seconds == 0) return {};
  constexpr double longest = 4'600'000; // 53 days, as serialization()
  if (seconds > longest)
    throw InputError(
        fmt::format("a kernel takes {:.3g} s on NPU \"{}\", more than 53 days", seconds, npu.name));
  return std::max(npu.launch, Time{static_cast<std::int64_t>(std::ceil(seconds * 1e12))});
}

std::vector<std::string> npu_profile_names() { return data_names(npu_folder()); }

NpuProfile load_npu_profile(const std::string& name_or_file) {
  return read_profile(read_config(find_data_file("NPU", name_or_file, npu_folder())));
}

} // namespace tutti
