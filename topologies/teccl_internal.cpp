// `teccl_internal:AxB`: B chassis of A GPUs like the "Internal 1" (4xB) and "Internal 2" (2xB) of
// TE-CCL (Liu et al. 2024, sec. 6 and Table 2), a cloud provider's own, which are not public. NPU
// id = index + A * chassis; coordinates (index, chassis).
//
//   npu0 --50-- npu1     a ring, dimension 0: 8 directed edges for 4 GPUs, 2 for 2, as in Table 2
//     |  \    /  |
//    50  25  25  50      a port of every GPU to one switch, dimension 1; from two chassis on
//     |   \  /   |
//   npu3 --50-- npu2
//
// From the paper: GPUs and edges of a chassis, and alpha: 0.6 us, and 0.75 us, taken here for the
// links to the switch. Assumed: that the edges make a ring, that all chassis meet in one switch
// with a port for every GPU, and the bandwidths (two NVLinks of a V100; 200 Gb/s InfiniBand). Given
// values are for ring, switch.
//
// `switch=copy` lets the switch send what arrives out of several ports at once, `forward` out of
// one (TE-CCL, sec. 5.3, models both). Links: all forward ones of the rings by NPU, all backward
// ones, then for every NPU to the switch and from it.
#include "sim/error.hpp"
#include "topologies/families.hpp"
#include "topologies/parts.hpp"

#include <cstdint>
#include <vector>

namespace tutti::topologies {

namespace {

Link values_of(std::int64_t gigabytes_per_second, std::int64_t latency_ns, std::int8_t dimension) {
  Link link;
  link.bandwidth = Bandwidth{gigabytes_per_second * 1'000'000'000};
  link.latency = Time{latency_ns * 1'000};
  link.dimension = dimension;
  return link;
}

} // namespace

Topology teccl_internal(const TopologySpec& spec) {
  require_numbers(spec, 2);
  refuse_unidirectional(spec);
  const std::int64_t npus = npu_product(spec), gpus = spec.shape[0], chassis = spec.shape[1];
  if (gpus < 2) throw InputError("a chassis needs at least 2 GPUs");
  const bool copies = chosen_option(spec, "switch", {"forward", "copy"}) == "copy";
  const std::vector<Link> values =
      link_values(spec, {values_of(50, 600, 0), values_of(25, 750, 1)});

  TopologyParts parts = npus_only(spec, npus);
  number_coordinates(parts, spec.shape);
  const auto id = [](std::int64_t number) { return NodeId{static_cast<std::uint32_t>(number)}; };
  const std::vector<std::int64_t> steps = // forward and backward, the same where there are two
      gpus == 2 ? std::vector<std::int64_t>{1} : std::vector<std::int64_t>{1, gpus - 1};
  for (const std::int64_t step : steps) {
    for (std::int64_t npu = 0; npu < npus; ++npu) {
      const std::int64_t index = npu % gpus;
      parts.add_link(between(id(npu), id(npu - index + (index + step) % gpus), values[0]));
    }
  }
  if (chassis > 1) {
    parts.add_node({"switch0", NodeKind::switching, Abilities{false, copies, false}, Bandwidth{}});
    for (std::int64_t npu = 0; npu < npus; ++npu)
      parts.add_duplex(between(id(npu), id(npus), values[1]));
  }
  return Topology(std::move(parts));
}

} // namespace tutti::topologies
