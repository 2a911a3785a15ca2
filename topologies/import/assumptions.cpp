// Why: an answer that rests on a guess has to say so. Files of other programs leave out what their
// readers know or don't care for. All such values stand here, so that two readers assume the same,
// and each use of one is reported.
#include "topologies/import/assumptions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <utility>

namespace tutti::topologies {

namespace {

struct Assumed {
  std::string_view key, value, source;
};

constexpr std::array table{
    Assumed{"bandwidth of a link", "50GB/s", "Tutti's default"},
    Assumed{"latency of a link", "0.5us", "Tutti's default"},
    // Links that GPUs have to each other, each way.
    Assumed{"one NVLink 1", "20GB/s", "NVIDIA P100 white paper"},
    Assumed{"one NVLink 2", "25GB/s", "NVIDIA V100 white paper"},
    Assumed{"one NVLink 3", "25GB/s", "NVIDIA A100 white paper"},
    Assumed{"one NVLink of an RTX A6000", "14.0625GB/s", "data sheet: 4 make 112.5 GB/s both ways"},
    Assumed{"one NVLink 4", "25GB/s", "NVIDIA H100 white paper"},
    Assumed{"one NVLink 5", "50GB/s", "NVIDIA Blackwell architecture brief"},
    Assumed{"one xGMI link of MI50", "46GB/s", "AMD Instinct MI50 data sheet: 92 GB/s both ways"},
    Assumed{"one xGMI link of MI100", "46GB/s", "AMD CDNA white paper: 92 GB/s both ways"},
    Assumed{"one xGMI link of MI250X", "50GB/s", "AMD CDNA 2 white paper: 100 GB/s both ways"},
    Assumed{"one xGMI link of MI300X", "64GB/s", "AMD CDNA 3 white paper: 128 GB/s both ways"},
    Assumed{"one xGMI link of MI355X", "76.8GB/s", "AMD MI355X data sheet: 153.6 GB/s both ways"},
    Assumed{"latency from GPU to GPU by a link of their own", "0.7us", "TE-CCL has it for NDv2"},
    Assumed{"latency of an NVLink to an NVSwitch", "0.35us", "half of a hop from GPU to GPU"},
    Assumed{"between two partitions of a GPU", "2618GB/s",
            "NCCL 2.30, graph/topo.h: MLOPART_LOC_BW"},
    Assumed{"between two ranks on a GPU", "5000GB/s", "NCCL 2.30, graph/topo.h: LOC_BW"},
    // Inside a server.
    Assumed{"latency of a link of PCIe", "0.5us", "NCCL's tuner has 1 us from GPU to GPU by PCIe"},
    Assumed{"latency of a link between CPUs", "0.5us", "as PCIe"},
    Assumed{"between AMD's CPUs", "16GB/s", "NCCL 2.23, graph/topo.h"},
    Assumed{"between Arm's CPUs", "6GB/s", "NCCL 2.23, graph/topo.h"},
    Assumed{"between IBM's CPUs", "32GB/s", "NCCL 2.23, graph/topo.h"},
    Assumed{"between Intel's CPUs before Skylake", "6GB/s", "NCCL 2.23, graph/topo.h"},
    Assumed{"between Intel's CPUs from Skylake on", "10GB/s", "NCCL 2.23, graph/topo.h"},
    Assumed{"between Intel's CPUs from Sapphire Rapids on", "22GB/s", "NCCL 2.23, graph/topo.h"},
    Assumed{"between Intel's CPUs from Emerald Rapids on", "40GB/s", "NCCL 2.23, graph/topo.h"},
    // Network cards.
    Assumed{"network card beside V100", "12.5GB/s", "DGX-2 user guide: 100 Gb/s"},
    Assumed{"network card beside A100", "25GB/s", "DGX A100 user guide: 200 Gb/s"},
    Assumed{"network card beside H100", "50GB/s", "DGX H100 user guide: 400 Gb/s"},
    Assumed{"network card beside B300", "100GB/s", "DGX B300 user guide: 800 Gb/s"},
    Assumed{"EFA", "12.5GB/s", "AWS, EC2 P4d: four of 100 Gb/s"},
    Assumed{"network card without a speed", "1.25GB/s", "NCCL 2.23 takes 10 Gb/s for it"},
    Assumed{"latency from a network card to a switch", "0.3us",
            "with two links of PCIe 1.3 us, as TE-CCL has for DGX-2"},
};

const Assumed& row_of(std::string_view key) {
  const auto row = std::ranges::find(table, key, &Assumed::key);
  assert(row != table.end());
  return *row;
}

std::string line_of(const Assumed& row) {
  return fmt::format("{}: {} ({})", row.key, row.value, row.source);
}

} // namespace

Bandwidth Assumptions::rate(std::string_view key) {
  note(line_of(row_of(key)));
  return parse_bandwidth(row_of(key).value);
}

Time Assumptions::time(std::string_view key) {
  note(line_of(row_of(key)));
  return parse_time(row_of(key).value);
}

void Assumptions::add(std::string_view what, std::string_view words) {
  note(fmt::format("{}: {}", what, words));
}

void Assumptions::sort_from(std::size_t line) {
  std::sort(lines_.begin() + static_cast<std::ptrdiff_t>(line), lines_.end());
}

void Assumptions::note(std::string line) {
  if (std::ranges::find(lines_, line) == lines_.end()) lines_.push_back(std::move(line));
}

} // namespace tutti::topologies
