// Which GPU and which CPU it is that NCCL or RCCL saw.
#pragma once

#include "topologies/import/servers.hpp"

#include <string>
#include <string_view>

namespace tutti::topologies {

/// What a dump says of a GPU's model.
struct GpuWords {
  std::string gcn;    ///< "gfx942", of AMD's; empty: of NVIDIA's
  int sm = 0;         ///< compute capability, of NVIDIA's
  std::string device; ///< PCIe device id, "0x74a5"
  bool is_arm = false, has_own_links = false;
};

/// An unknown one with links of its own has those of a similar one, which is assumed.
[[nodiscard]] GpuKind kind_of_dumped(const GpuWords& gpu, Assumptions& assumed);

/// Between two CPUs of this kind; words in lower case. `model`: Intel's.
[[nodiscard]] Bandwidth rate_between_cpus(std::string_view arch, std::string_view vendor,
                                          double model, Assumptions& assumed);

} // namespace tutti::topologies
