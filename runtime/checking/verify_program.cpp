// The parts in the order in which each may rely on those before: form and messages, order, races,
// contents.

#include "runtime/checking/verify_program.hpp"

#include "runtime/checking/check_contents.hpp"
#include "runtime/checking/check_form.hpp"
#include "runtime/checking/check_order.hpp"
#include "runtime/checking/check_races.hpp"

#include <utility>

namespace tutti::runtime {

ProgramVerdict verify_program(const Program& program, std::uint32_t slots) {
  ProgramVerdict verdict{check_form(program), program.step_count()};
  if (verdict.fault) return verdict;
  const std::vector<ProgramBlock> blocks = program_blocks(program);
  if ((verdict.fault = check_messages(blocks))) return verdict;
  ProgramOrder order = program_order(blocks, slots);
  if ((verdict.fault = std::move(order.deadlock))) return verdict;
  if ((verdict.fault = check_races(program, blocks, order.steps))) return verdict;
  verdict.fault = check_contents(program, blocks, order.steps);
  return verdict;
}

} // namespace tutti::runtime
