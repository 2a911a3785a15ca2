// Which NPU stands where: NPUs are counted along the network's dimensions, and the dimensions of
// parallelism are laid over that count like digits.
#include "sim/error.hpp"
#include "workloads/parallelism/training.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

namespace tutti {

namespace {

std::uint32_t degree(const TrainingSpec& spec, Parallelism parallelism) {
  switch (parallelism) {
  case Parallelism::tensor: return spec.tensor;
  case Parallelism::expert: return spec.expert;
  case Parallelism::data: return spec.data;
  case Parallelism::pipeline: return spec.pipeline;
  }
  return 1;
}

} // namespace

// What has degree 1 may be missing: it stands nowhere.
std::string order_fault(const TrainingSpec& spec) {
  std::array<std::uint32_t, parallelism_count> named = {};
  for (const Parallelism parallelism : spec.order) ++named[static_cast<std::size_t>(parallelism)];
  for (std::size_t i = 0; i < parallelism_count; ++i) {
    const std::string_view name = to_text(static_cast<Parallelism>(i));
    if (named[i] > 1) return fmt::format("names {} twice", name);
    const std::uint32_t members = degree(spec, static_cast<Parallelism>(i));
    if (named[i] == 0 && members > 1)
      return fmt::format("lacks {}, of which there are {} (it takes tensor, expert, data and "
                         "pipeline, fastest first)",
                         name, members);
  }
  return "";
}

namespace {

void check_degrees(const Topology& topology, const TrainingSpec& spec) {
  std::uint64_t product = 1;
  for (std::size_t i = 0; i < parallelism_count; ++i) {
    const std::uint32_t members = degree(spec, static_cast<Parallelism>(i));
    if (members == 0)
      throw InputError(fmt::format("{} 0: a degree of parallelism is at least 1",
                                   to_text(static_cast<Parallelism>(i))));
    product = std::min<std::uint64_t>(product * members, UINT32_MAX); // no network has so many
  }
  if (product == topology.npu_count()) return;
  throw InputError(
      fmt::format("tensor {} x expert {} x data {} x pipeline {} = {}{} NPUs, but the network has "
                  "{}",
                  spec.tensor, spec.expert, spec.data, spec.pipeline,
                  product == UINT32_MAX ? "more than " : "", product, topology.npu_count()));
}

void check_dimensions(const Topology& topology, std::span<const std::uint32_t> dimensions) {
  const std::size_t extent = topology.shape().size();
  if (extent == 0)
    throw InputError("dimensions: the network has no coordinates (leave them out to count NPUs by "
                     "their ids)");
  std::vector<std::uint32_t> named(extent, 0);
  for (const std::uint32_t dimension : dimensions) {
    if (dimension >= extent)
      throw InputError(fmt::format("dimensions: the network has no dimension {} (it has 0 to {})",
                                   dimension, extent - 1));
    if (++named[dimension] > 1)
      throw InputError(fmt::format("dimensions: {} is named twice", dimension));
  }
  for (std::uint32_t dimension = 0; dimension < extent; ++dimension)
    if (named[dimension] == 0)
      throw InputError(
          fmt::format("dimensions: {} is missing (the network has {})", dimension, extent));
}

/// All NPUs in the order in which they are counted.
std::vector<NodeId> counted_npus(const Topology& topology,
                                 std::span<const std::uint32_t> dimensions) {
  std::vector<NodeId> npus;
  for (std::uint32_t n = 0; n < topology.npu_count(); ++n) npus.push_back(NodeId{n});
  if (dimensions.empty()) return npus;
  std::sort(npus.begin(), npus.end(), [&](NodeId a, NodeId b) {
    for (std::size_t i = dimensions.size(); i-- > 0;) { // the slowest decides first
      const int x = topology.coordinate(a)[dimensions[i]];
      const int y = topology.coordinate(b)[dimensions[i]];
      if (x != y) return x < y;
    }
    return a < b;
  });
  return npus;
}

} // namespace

Placement place(const Topology& topology, const TrainingSpec& spec) {
  check_degrees(topology, spec);
  if (const std::string fault = order_fault(spec); !fault.empty())
    throw InputError("\"order\" " + fault);
  if (!spec.dimensions.empty()) check_dimensions(topology, spec.dimensions);
  Placement placement;
  placement.coordinates.resize(topology.npu_count());
  const std::vector<NodeId> npus = counted_npus(topology, spec.dimensions);
  for (std::size_t i = 0; i < npus.size(); ++i) {
    std::size_t rest = i;
    for (const Parallelism parallelism : spec.order) {
      const std::uint32_t members = degree(spec, parallelism);
      placement.coordinates[npus[i].value][static_cast<std::size_t>(parallelism)] =
          static_cast<std::uint32_t>(rest % members);
      rest /= members;
    }
  }
  return placement;
}

std::vector<std::vector<NodeId>> Placement::groups(std::span<const Parallelism> dimensions) const {
  using Coordinate = std::array<std::uint32_t, parallelism_count>;
  // [what the members share] -> [their coordinates in the given dimensions, slowest first]
  std::map<Coordinate, std::map<std::vector<std::uint32_t>, NodeId>> members_of;
  for (std::uint32_t npu = 0; npu < coordinates.size(); ++npu) {
    Coordinate shared = coordinates[npu];
    std::vector<std::uint32_t> own;
    for (std::size_t i = dimensions.size(); i-- > 0;) {
      std::uint32_t& coordinate = shared[static_cast<std::size_t>(dimensions[i])];
      own.push_back(coordinate);
      coordinate = 0;
    }
    members_of[shared].emplace(std::move(own), NodeId{npu});
  }
  std::vector<std::vector<NodeId>> groups;
  for (const auto& [shared, members] : members_of) {
    groups.emplace_back();
    for (const auto& [own, npu] : members) groups.back().push_back(npu);
  }
  return groups;
}

} // namespace tutti
