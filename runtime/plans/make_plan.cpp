// What planning takes of collectives and networks: a file of its own, so that who has neither can
// plan without them.
#include "runtime/executor.hpp"
#include "runtime/plans/links.hpp"
#include "sim/error.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tutti::runtime {

namespace {

/// Units that make up Collective::size(): of an all_to_all each member's buffer counts, not all.
std::uint64_t units_of_size(const Program& program) {
  std::uint64_t units = 0;
  for (const CollectivePart& part : program.collective.parts) {
    std::uint64_t own = 0;
    for (std::uint32_t c = 0; c < part.chunk_count; ++c)
      own += program.chunk_units[part.first.value + c];
    units += part.kind == CollectiveKind::all_to_all ? own / part.group.size() : own;
  }
  return units;
}

} // namespace

std::size_t unit_bytes_for(const Program& program, Bytes size, ElementType type) {
  const std::uint64_t units = units_of_size(program);
  const auto step = static_cast<std::int64_t>(units * element_size(type));
  if (size.count > 0 && size.count % step == 0) return static_cast<std::size_t>(size.count) / units;
  const std::int64_t next = (std::max<std::int64_t>(size.count, 0) / step + 1) * step;
  throw InputError(fmt::format("{} don't divide into {} units of {} elements; the next size that "
                               "does is {} bytes",
                               to_text(size), units, to_text(type), next));
}

Plan make_plan(const Program& program, std::size_t unit_bytes, const PlanOptions& options) {
  Plan plan = plan_program(program, unit_bytes, options);
  if (options.emulated != nullptr) emulate_links(plan, program, *options.emulated);
  return plan;
}

PlannedRun planned_run(const Program& program, const ExecutionRequest& request) {
  return with_data(
      program,
      make_plan(program, unit_bytes_for(program, request.size, request.type), request.plan),
      request.type, request.combine);
}

Execution run_on_cuda(const Program& program, const ExecutionRequest& request) {
  return run_on_cuda(planned_run(program, request), request);
}

} // namespace tutti::runtime
