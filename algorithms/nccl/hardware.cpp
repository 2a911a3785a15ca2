// The speeds that NCCL and RCCL believe in and try, which decide how many channels they make.
// Source: NCCL 2.30 (graph/topo.h: *_NVLINK_BW; graph/search.cc: speedArray*, sm90SpeedArray*,
// sm100SpeedArray*), RCCL 2.21 (graph/topo.h: XGMI widths).

#include "algorithms/nccl/hardware.hpp"

#include "sim/error.hpp"

#include <algorithm>
#include <array>

namespace tutti::nccl {

namespace {

constexpr std::array<Gpu, 27> known_gpus{{
    {"p100", Generation::volta, Processor::intel, 18, 20, 12},
    {"v100", Generation::volta, Processor::intel, 20, 25, 12},
    {"t4", Generation::volta, Processor::intel, 20, 25, 12},
    {"a100", Generation::ampere, Processor::amd, 20, 25, 24},
    {"a10g", Generation::ampere, Processor::amd, 12, 14.0625, 24},
    {"a6000", Generation::ampere, Processor::amd, 12, 14.0625, 24},
    {"rtx3090", Generation::ampere, Processor::amd, 12, 14.0625, 24},
    {"l4", Generation::ampere, Processor::intel, 20, 25, 24},
    {"l40s", Generation::ampere, Processor::intel, 20, 25, 24},
    {"rtx4090", Generation::ampere, Processor::amd, 20, 25, 24},
    {"h100", Generation::hopper, Processor::intel, 20.6, 25, 48},
    {"h200", Generation::hopper, Processor::intel, 20.6, 25, 48},
    {"b200", Generation::blackwell, Processor::intel, 40.1, 50, 48},
    {"b300", Generation::blackwell, Processor::intel, 40.1, 50, 96},
    {"gb200", Generation::blackwell, Processor::arm, 40.1, 50, 48},
    {"gb300", Generation::blackwell, Processor::arm, 40.1, 50, 96},
    {"gb10", Generation::blackwell, Processor::arm, 40.1, 50, 24},
    {"rtx5090", Generation::blackwell, Processor::amd, 40.1, 50, 48},
    {"rtx_pro_6000", Generation::blackwell, Processor::amd, 40.1, 50, 48},
    {"mi50", Generation::cdna, Processor::amd, 24, 46, 24, true},
    {"mi100", Generation::cdna, Processor::amd, 24, 46, 24, true},
    {"mi210", Generation::cdna, Processor::amd, 36, 50, 24, true},
    {"mi250x", Generation::cdna, Processor::amd, 36, 50, 24, true},
    {"mi300x", Generation::cdna, Processor::amd, 48, 64, 48, true},
    {"mi325x", Generation::cdna, Processor::amd, 48, 64, 48, true},
    {"mi355x", Generation::cdna, Processor::amd, 57.6, 76.8, 48, true},
    {"radeon", Generation::cdna, Processor::amd, 24, 46, 24, true},
}};

constexpr std::array<double, 13> inside_to_ampere{40, 30, 20, 18, 15, 12, 10, 9, 7, 6, 5, 4, 3};
constexpr std::array<double, 20> between_to_ampere{48, 30, 28, 24, 20, 18,  15,  12,  10,  9,
                                                   7,  6,  5,  4,  3,  2.4, 1.2, .24, .12, .06};
constexpr std::array<double, 11> inside_hopper{60, 50, 40, 30, 24, 20, 15, 12, 11, 6, 3};
constexpr std::array<double, 17> between_hopper{48, 45, 42, 40, 30,  24,  22,  20, 17.5,
                                                15, 12, 6,  3,  2.4, 1.2, .24, .12};
constexpr std::array<double, 12> inside_blackwell{90, 80, 70, 60, 50, 45, 40, 30, 24, 20, 19, 18};
constexpr std::array<double, 20> between_blackwell{96, 86,   80, 48, 45.1, 42, 40,  30,  24,  22,
                                                   20, 17.5, 15, 12, 6,    3,  2.4, 1.2, .24, .12};

constexpr std::array<std::string_view, 5> generation_names{"volta", "ampere", "hopper", "blackwell",
                                                           "cdna"};
constexpr std::array<std::string_view, 3> processor_names{"intel", "amd", "arm"};

std::vector<std::string> names_of(std::span<const std::string_view> names) {
  return {names.begin(), names.end()};
}

} // namespace

std::span<const Gpu> gpus() { return known_gpus; }

const Gpu* find_gpu(std::string_view model) {
  const auto found = std::ranges::find(known_gpus, model, &Gpu::model);
  return found == known_gpus.end() ? nullptr : &*found;
}

std::span<const double> speeds_inside(Generation generation) {
  if (generation == Generation::hopper) return inside_hopper;
  if (generation == Generation::blackwell) return inside_blackwell;
  return inside_to_ampere;
}

std::span<const double> speeds_between(Generation generation) {
  if (generation == Generation::hopper) return between_hopper;
  if (generation == Generation::blackwell) return between_blackwell;
  return between_to_ampere;
}

std::string_view to_text(Generation generation) {
  return generation_names[static_cast<std::size_t>(generation)];
}

std::string_view to_text(Processor processor) {
  return processor_names[static_cast<std::size_t>(processor)];
}

Processor parse_processor(std::string_view text) {
  const auto found = std::ranges::find(processor_names, text);
  if (found == processor_names.end())
    throw InputError(unknown_name("processor", text, names_of(processor_names)));
  return static_cast<Processor>(found - processor_names.begin());
}

} // namespace tutti::nccl
