// Degrees that the user leaves open are filled in per network: data parallelism takes the NPUs that
// the other degrees leave, and a global batch is divided among the replicas. Neither is rounded:
// what doesn't divide is refused, for it would be another training than was asked for.
#include "experiments/driver/studies/training/work_source.hpp"

#include "sim/error.hpp"

#include <fmt/format.h>

#include <limits>

namespace tutti {

namespace {

template <typename... Functions> struct Overloaded : Functions... {
  using Functions::operator()...;
};
template <typename... Functions> Overloaded(Functions...) -> Overloaded<Functions...>;

// Data parallelism takes what tensor, pipeline and expert parallelism leave.
std::uint32_t remaining_data(const TrainingSpec& spec, std::uint32_t npus) {
  const std::uint64_t others =
      std::uint64_t{spec.tensor} * spec.expert * static_cast<std::uint64_t>(spec.pipeline);
  if (others == 0 || others > npus || npus % others != 0)
    throw InputError(fmt::format("tensor {} x pipeline {} x expert {} doesn't divide the {} NPUs",
                                 spec.tensor, spec.pipeline, spec.expert, npus));
  return static_cast<std::uint32_t>(npus / others);
}

std::uint32_t micro_batches_of(std::uint64_t global_batch, const TrainingSpec& spec) {
  const std::uint64_t at_once = std::uint64_t{spec.micro_batch} * spec.data * spec.expert;
  const std::uint64_t count = at_once == 0 ? 0 : global_batch / at_once;
  if (count == 0 || global_batch % at_once != 0 ||
      count > std::numeric_limits<std::uint32_t>::max())
    throw InputError(fmt::format("a global batch of {} isn't a multiple of {} (micro-batches of "
                                 "{} on {} replicas)",
                                 global_batch, at_once, spec.micro_batch,
                                 std::uint64_t{spec.data} * spec.expert));
  return static_cast<std::uint32_t>(count);
}

} // namespace

TrainingSpec spec_on(const ModelWork& work, const Topology& topology) {
  TrainingSpec spec = work.spec;
  spec.data = work.data ? *work.data : remaining_data(spec, topology.npu_count());
  if (work.global_batch) spec.micro_batches = micro_batches_of(*work.global_batch, spec);
  return spec;
}

Workload make_workload(const WorkSource& source, const Topology& topology) {
  Workload workload = std::visit(
      Overloaded{
          [&](const ModelWork& work) {
            return make_training(topology, work.model, work.npu, spec_on(work, topology));
          },
          [&](const TextWork& work) {
            return read_text_workload(work.file, topology, work.options);
          },
          [&](const TraceWork& work) { return read_chakra(work.prefix, topology, work.options); }},
      source);
  check_workload(workload, topology.npu_count());
  return workload;
}

std::string memory_warning(const WorkSource& source, const Workload& workload,
                           const Topology& topology) {
  const auto* work = std::get_if<ModelWork>(&source);
  return work == nullptr ? "" : memory_warning(workload, topology, work->npu);
}

double peak_flops(const WorkSource& source) {
  const auto* work = std::get_if<ModelWork>(&source);
  if (work == nullptr) return 0;
  const auto peak = work->npu.peak_flops.find(work->spec.precision);
  return peak == work->npu.peak_flops.end() ? 0 : peak->second;
}

std::string trained_on(const WorkSource& source) {
  const auto* work = std::get_if<ModelWork>(&source);
  if (work == nullptr) return "";
  return fmt::format("{} on {}", to_text(work->spec.precision), work->npu.name);
}

} // namespace tutti
