// Models by compute capability (NVIDIA: CUDA's table of GPUs) and by GCN architecture (AMD: LLVM's
// AMDGPU usage), and by the device's number on PCIe where two of them have the same.
#include "topologies/import/gpu_models.hpp"

#include <fmt/format.h>

#include <string_view>

namespace tutti::topologies {

GpuKind kind_of_dumped(const GpuWords& gpu, Assumptions& assumed) {
  const std::string gcn = gpu.gcn.substr(0, gpu.gcn.find(':')); // "gfx90a:sramecc+:xnack-"
  std::string_view model, like;
  if (!gcn.empty()) {
    like = "mi355x";
    const std::string_view digits = std::string_view(gcn).substr(gcn.starts_with("gfx") ? 3 : 0);
    if (digits == "906") model = "mi50";
    if (digits == "908") model = "mi100";
    if (digits == "910" || digits == "90a") model = "mi250x";
    if (digits.starts_with("94")) model = gpu.device == "0x74a5" ? "mi325x" : "mi300x";
    if (digits == "950") model = "mi355x";
  } else {
    const int sm = gpu.sm;
    like = sm < 70 ? "p100" : sm < 80 ? "v100" : sm < 90 ? "a100" : sm < 100 ? "h100" : "gb300";
    switch (sm) {
    case 60: model = "p100"; break;
    case 70: model = "v100"; break;
    case 80: model = "a100"; break;
    case 86: model = "a6000"; break;
    case 90: model = gpu.device == "0x2335" || gpu.device == "0x2348" ? "h200" : "h100"; break;
    case 100: model = gpu.is_arm ? "gb200" : "b200"; break;
    case 103: model = gpu.is_arm ? "gb300" : "b300"; break;
    case 121: model = "gb10"; break;
    default: break;
    }
  }
  const GpuKind* kind = find_gpu_kind(model);
  if (kind != nullptr && (!gpu.has_own_links || kind->own_links > 0)) return *kind;
  if (!gpu.has_own_links) return unknown_gpu_kind();
  assumed.add("links of GPUs", fmt::format("as those of {}, as {} isn't known", like,
                                           gcn.empty() ? fmt::format("sm {}", gpu.sm) : gcn));
  GpuKind similar = *find_gpu_kind(like);
  similar.model = "";
  return similar;
}

Bandwidth rate_between_cpus(std::string_view arch, std::string_view vendor, double model,
                            Assumptions& assumed) {
  if (arch.starts_with("ppc")) return assumed.rate("between IBM's CPUs");
  if (arch.starts_with("a") && arch != "amd64") return assumed.rate("between Arm's CPUs");
  if (vendor.find("intel") == std::string_view::npos) return assumed.rate("between AMD's CPUs");
  return assumed.rate(model >= 207   ? "between Intel's CPUs from Emerald Rapids on"
                      : model >= 143 ? "between Intel's CPUs from Sapphire Rapids on"
                      : model >= 85  ? "between Intel's CPUs from Skylake on"
                                     : "between Intel's CPUs before Skylake");
}

} // namespace tutti::topologies
