// The parts in the order in which each may rely on those before: form and messages, order, races,
// contents. The last part is here: what does every unit hold in the end? The steps are performed on
// sets of contributions, a bit for each contributor of each unit: sums unite disjoint sets, so that
// double counting shows, and outputs must have all contributions.

#include "runtime/checking/verify_program.hpp"

#include "runtime/checking/check_form.hpp"
#include "runtime/checking/check_order.hpp"
#include "runtime/checking/check_races.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <deque>
#include <utility>

namespace tutti::runtime {

namespace {

using ContentWord = std::uint64_t;
constexpr std::uint32_t holds_nothing = UINT32_MAX;   ///< instead of a chunk unit
constexpr std::uint32_t mixed_units = UINT32_MAX - 1; ///< a sum of different chunk units

/// What units hold: each a chunk unit (counted over all chunks) and a bit for each contributor.
struct UnitContents {
  std::size_t words = 1;
  std::vector<std::uint32_t> chunk_unit;
  std::vector<ContentWord> bits;

  UnitContents(std::size_t units, std::size_t words_each)
      : words(words_each), chunk_unit(units, holds_nothing), bits(units * words_each) {}
  void assign(std::size_t unit, const UnitContents& other, std::size_t from) {
    chunk_unit[unit] = other.chunk_unit[from];
    std::copy_n(other.bits.data() + from * words, words, bits.data() + unit * words);
  }
};

/// Chunks as chunk units: whose they are, who contributes.
struct ChunkUnitTable {
  std::vector<std::uint32_t> first, chunk; // [chunk], [chunk unit]
  std::size_t words = 1;

  explicit ChunkUnitTable(const Program& program) {
    for (std::uint32_t c = 0; c < program.chunk_units.size(); ++c) {
      first.push_back(static_cast<std::uint32_t>(chunk.size()));
      chunk.insert(chunk.end(), program.chunk_units[c], c);
      if (program.collective.chunks[c].reduces)
        words = std::max(words, (program.collective.sources(ChunkId{c}).size() + 63) / 64);
    }
  }
};

/// Performs the steps in one order on sets of contributions.
class SymbolicRun {
public:
  SymbolicRun(const Program& program, const std::vector<ProgramBlock>& blocks)
      : program_(program), blocks_(blocks), units_(program), in_flight_(blocks.size()) {
    for (std::uint32_t r = 0; r < program.ranks.size(); ++r) {
      const RankProgram& rank = program.ranks[r];
      memory_.emplace_back(std::size_t{rank.input} + rank.output + rank.scratch, units_.words);
      for (const ChunkPlace& held : program.inputs[r]) set_input(r, held);
    }
  }

  /// The first found of overwritten_input, unset, twice and wrong_result. Pre: no race.
  /// Cost: O(units moved * contributors / 64), and as much memory for what is on its way.
  std::optional<ProgramFault> run(const std::vector<ProgramStep>& order) {
    for (const ProgramStep& at : order) perform(at);
    for (std::optional<ProgramFault>& fault : found_)
      if (fault) return std::move(fault);
    for (std::uint32_t r = 0; r < program_.ranks.size(); ++r)
      for (const ChunkPlace& wanted : program_.outputs[r])
        if (std::optional<ProgramFault> fault = check_output(r, wanted)) return fault;
    return std::nullopt;
  }

private:
  enum Found : std::uint8_t { overwritten, unset, twice };

  [[nodiscard]] std::size_t unit(std::uint32_t rank, Place place, std::uint32_t offset) const {
    const Place at = alias(program_, rank, {place.buffer, place.unit + offset});
    const RankProgram& sizes = program_.ranks[rank];
    if (at.buffer == Buffer::input) return at.unit;
    return (at.buffer == Buffer::output ? sizes.input : sizes.input + sizes.output) + at.unit;
  }

  [[nodiscard]] std::size_t contributors(std::uint32_t chunk) const {
    const ChunkId id{chunk};
    return program_.collective.chunks[chunk].reduces ? program_.collective.sources(id).size() : 1;
  }

  void set_input(std::uint32_t rank, const ChunkPlace& held) {
    const std::uint32_t c = held.chunk.value;
    const auto sources = program_.collective.sources(held.chunk);
    const auto self = std::ranges::lower_bound(sources, NodeId{rank}) - sources.begin();
    const std::size_t bit =
        program_.collective.chunks[c].reduces ? static_cast<std::size_t>(self) : 0;
    for (std::uint32_t k = 0; k < program_.chunk_units[c]; ++k) {
      const std::size_t at = unit(rank, {Buffer::input, held.unit}, k);
      memory_[rank].chunk_unit[at] = units_.first[c] + k;
      memory_[rank].bits[at * units_.words + bit / 64] |= ContentWord{1} << bit % 64;
    }
  }

  void note(Found what, ProgramFault::Kind kind, ProgramStep at, const std::string& text) {
    if (!found_[what])
      found_[what] = {kind,
                      fmt::format("{}: {}", program_step_text(blocks_[at.block], at.step), text)};
  }

  void perform(ProgramStep at) {
    const ProgramBlock& block = blocks_[at.block];
    const Step& step = block.block->steps[at.step];
    if (step.kind == StepKind::wait) return;
    UnitContents value(step.count, units_.words);
    if (receives(step.kind)) {
      value = std::move(in_flight_[block.sender].front());
      in_flight_[block.sender].pop_front();
      if (reads_source(step.kind)) combine(value, at, step.source);
    } else {
      copy_from(step.kind == StepKind::reduce ? step.target : step.source, value, at);
      if (step.kind == StepKind::reduce) combine(value, at, step.source);
    }
    if (writes_target(step.kind)) write(value, at, step.target);
    if (sends(step.kind)) in_flight_[at.block].push_back(std::move(value));
  }

  void copy_from(Place source, UnitContents& value, ProgramStep at) {
    const std::uint32_t rank = blocks_[at.block].rank;
    for (std::uint32_t k = 0; k < value.chunk_unit.size(); ++k) {
      const std::size_t from = unit(rank, source, k);
      check_set(rank, from, at, source, k);
      value.assign(k, memory_[rank], from);
    }
  }

  void check_set(std::uint32_t rank, std::size_t from, ProgramStep at, Place place,
                 std::uint32_t offset) {
    if (memory_[rank].chunk_unit[from] != holds_nothing) return;
    constexpr std::array names{"input", "output", "scratch"};
    note(unset, ProgramFault::Kind::unset, at,
         fmt::format("reads {} {}, which holds nothing",
                     names[static_cast<std::size_t>(place.buffer)], place.unit + offset));
  }

  void combine(UnitContents& value, ProgramStep at, Place source) {
    const std::uint32_t rank = blocks_[at.block].rank;
    for (std::uint32_t k = 0; k < value.chunk_unit.size(); ++k) {
      const std::size_t from = unit(rank, source, k);
      check_set(rank, from, at, source, k);
      if (value.chunk_unit[k] != memory_[rank].chunk_unit[from]) {
        value.chunk_unit[k] = mixed_units;
        continue;
      }
      if (value.chunk_unit[k] < mixed_units) unite(value, k, memory_[rank], from, at);
    }
  }

  void unite(UnitContents& value, std::size_t k, const UnitContents& other, std::size_t from,
             ProgramStep at) {
    for (std::size_t w = 0; w < units_.words; ++w) {
      ContentWord& mine = value.bits[k * units_.words + w];
      const ContentWord more = other.bits[from * units_.words + w];
      if (const ContentWord both = mine & more; both != 0) {
        const std::uint32_t chunk = units_.chunk[value.chunk_unit[k]];
        note(twice, ProgramFault::Kind::twice, at,
             fmt::format("adds {} to chunk {} twice", contributor(chunk, w, both), chunk));
      }
      mine |= more;
    }
  }

  [[nodiscard]] std::string contributor(std::uint32_t chunk, std::size_t word,
                                        ContentWord bits) const {
    if (!program_.collective.chunks[chunk].reduces) return "the data";
    const std::size_t n = word * 64 + static_cast<std::size_t>(std::countr_zero(bits));
    return fmt::format("the contribution of rank {}",
                       program_.collective.sources(ChunkId{chunk})[n].value);
  }

  void write(const UnitContents& value, ProgramStep at, Place target) {
    const std::uint32_t rank = blocks_[at.block].rank;
    if (target.buffer == Buffer::input && !program_.in_place)
      note(overwritten, ProgramFault::Kind::overwritten_input, at,
           fmt::format("writes input {}, which is the caller's", target.unit));
    for (std::uint32_t k = 0; k < value.chunk_unit.size(); ++k)
      memory_[rank].assign(unit(rank, target, k), value, k);
  }

  [[nodiscard]] std::optional<ProgramFault> check_output(std::uint32_t rank,
                                                         const ChunkPlace& wanted) const {
    const std::uint32_t c = wanted.chunk.value;
    for (std::uint32_t k = 0; k < program_.chunk_units[c]; ++k) {
      const std::size_t at = unit(rank, {Buffer::output, wanted.unit}, k);
      const std::string text = what_is_wrong(rank, at, c, units_.first[c] + k);
      if (!text.empty())
        return ProgramFault{
            ProgramFault::Kind::wrong_result,
            fmt::format("rank {}: output {} (chunk {}) {}", rank, wanted.unit + k, c, text)};
    }
    return std::nullopt;
  }

  [[nodiscard]] std::string what_is_wrong(std::uint32_t rank, std::size_t at, std::uint32_t chunk,
                                          std::uint32_t expected) const {
    const std::uint32_t found = memory_[rank].chunk_unit[at];
    if (found == holds_nothing) return "holds nothing";
    if (found == mixed_units) return "holds a sum of different chunks";
    if (found != expected)
      return fmt::format("holds unit {} of chunk {}", found - units_.first[units_.chunk[found]],
                         units_.chunk[found]);
    const std::size_t count = contributors(chunk);
    for (std::size_t bit = 0; bit < count; ++bit)
      if ((memory_[rank].bits[at * units_.words + bit / 64] >> bit % 64 & 1) == 0)
        return fmt::format("lacks {}", contributor(chunk, bit / 64, ContentWord{1} << bit % 64));
    return "";
  }

  const Program& program_;
  const std::vector<ProgramBlock>& blocks_;
  ChunkUnitTable units_;
  std::vector<UnitContents> memory_;                 // [rank]: input, output, scratch
  std::vector<std::deque<UnitContents>> in_flight_;  // [block]: what it has sent
  std::array<std::optional<ProgramFault>, 3> found_; // by Found
};

} // namespace

ProgramVerdict verify_program(const Program& program, std::uint32_t slots) {
  ProgramVerdict verdict{check_form(program), program.step_count()};
  if (verdict.fault) return verdict;
  const std::vector<ProgramBlock> blocks = program_blocks(program);
  if ((verdict.fault = check_messages(blocks))) return verdict;
  ProgramOrder order = program_order(blocks, slots);
  if ((verdict.fault = std::move(order.deadlock))) return verdict;
  if ((verdict.fault = check_races(program, blocks, order.steps))) return verdict;
  verdict.fault = SymbolicRun(program, blocks).run(order.steps);
  return verdict;
}

} // namespace tutti::runtime
