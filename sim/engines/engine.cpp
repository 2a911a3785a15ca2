// The written list of engines, by which the command line and the tests find them.

#include "sim/engines/engine.hpp"

#include "sim/engines/agreement.hpp"
#include "sim/error.hpp"

#include <array>
#include <string>
#include <vector>

namespace tutti {

namespace {

constexpr std::array rows{
    EngineRow{"simgrid", run_simgrid, true, "SimGrid says how long what takes; fifo and fluid"},
    EngineRow{"native", run_native, false, "own event queue, for scale; fifo", run_native_compact},
    EngineRow{"both", run_both, false, "native, checked against simgrid; fifo"}};

} // namespace

std::span<const EngineRow> engines() { return rows; }

const EngineRow& find_engine(std::string_view name) {
  std::vector<std::string> known;
  for (const EngineRow& row : rows) {
    if (row.name == name) return row;
    known.emplace_back(row.name);
  }
  throw InputError(unknown_name("engine", name, known));
}

bool takes_compact(const EngineRow& engine, Discipline discipline) {
  return engine.run_compact != nullptr && discipline == Discipline::fifo;
}

} // namespace tutti
