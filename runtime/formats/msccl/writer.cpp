// A program as MSCCL's XML, after it was brought into the form that the XML can carry (form.hpp).
// What runtimes are known to join wrongly is kept apart by announcing the step; what they would
// never run is refused.

#include "runtime/checking/verify_program.hpp"
#include "runtime/formats/msccl/form.hpp"
#include "runtime/formats/msccl/xml.hpp"
#include "sim/error.hpp"

#include <fmt/format.h>
#include <pugixml.hpp>

#include <set>
#include <sstream>
#include <string>

namespace tutti::runtime {

namespace {

const char* buffer_word(Buffer buffer) {
  switch (buffer) {
  case Buffer::input: return "i";
  case Buffer::output: return "o";
  case Buffer::scratch: break;
  }
  return "s";
}

/// The steps that other blocks wait for.
std::set<std::pair<std::uint32_t, std::uint32_t>> announced_steps(const RankProgram& rank) {
  std::set<std::pair<std::uint32_t, std::uint32_t>> made;
  for (const Block& block : rank.blocks)
    for (const Step& step : block.steps)
      if (step.after) made.insert({step.after->block, step.after->step});
  return made;
}

/// The runtimes join reductions that follow one another into the same place, and forget all their
/// counts but the last one.
bool joined_wrongly(const Block& block, std::size_t s) {
  if (s + 1 == block.steps.size()) return false;
  const Step &step = block.steps[s], &next = block.steps[s + 1];
  return step.kind == StepKind::reduce && next.kind == StepKind::reduce && !next.after &&
         step.target == next.target && step.source.buffer == next.source.buffer &&
         step.count != next.count;
}

void append_place(pugi::xml_node& node, const char* buffer, const char* offset, bool there,
                  Place place, const char* otherwise) {
  node.append_attribute(buffer) = there ? buffer_word(place.buffer) : otherwise;
  node.append_attribute(offset) = there ? static_cast<int>(place.unit) : -1;
}

void append_step(pugi::xml_node& block, std::size_t index, const Step& step, bool announced) {
  pugi::xml_node node = block.append_child("step");
  node.append_attribute("s") = static_cast<unsigned>(index);
  node.append_attribute("type") = std::string(to_text(step.kind)).c_str();
  append_place(node, "srcbuf", "srcoff", reads_source(step.kind), step.source, "i");
  append_place(node, "dstbuf", "dstoff", writes_target(step.kind), step.target, "o");
  node.append_attribute("cnt") = step.count;
  node.append_attribute("depid") = step.after ? static_cast<int>(step.after->block) : -1;
  node.append_attribute("deps") = step.after ? static_cast<int>(step.after->step) : -1;
  node.append_attribute("hasdep") = announced ? 1 : 0;
}

void append_rank(pugi::xml_node& algo, std::uint32_t id, const RankProgram& rank) {
  pugi::xml_node gpu = algo.append_child("gpu");
  gpu.append_attribute("id") = id;
  gpu.append_attribute("i_chunks") = rank.input;
  gpu.append_attribute("o_chunks") = rank.output;
  gpu.append_attribute("s_chunks") = rank.scratch;
  const auto announced = announced_steps(rank);
  for (std::uint32_t b = 0; b < rank.blocks.size(); ++b) {
    const Block& block = rank.blocks[b];
    pugi::xml_node tb = gpu.append_child("tb");
    tb.append_attribute("id") = b;
    tb.append_attribute("send") = block.sends_to ? static_cast<int>(*block.sends_to) : -1;
    tb.append_attribute("recv") = block.receives_from ? static_cast<int>(*block.receives_from) : -1;
    tb.append_attribute("chan") = block.channel;
    for (std::uint32_t s = 0; s < block.steps.size(); ++s)
      append_step(tb, s, block.steps[s], announced.contains({b, s}) || joined_wrongly(block, s));
  }
}

void append_head(pugi::xml_node& algo, const Program& program, std::string_view word,
                 const MscclOptions& options) {
  algo.append_attribute("name") = program.name.c_str();
  algo.append_attribute("proto") = options.protocol.c_str();
  algo.append_attribute("nchannels") = program.channel_count();
  algo.append_attribute("nchunksperloop") = msccl_chunks_per_loop(program);
  algo.append_attribute("ngpus") = static_cast<unsigned>(program.ranks.size());
  algo.append_attribute("coll") = std::string(word).c_str();
  algo.append_attribute("inplace") = program.in_place ? 1 : 0;
  algo.append_attribute("outofplace") = program.in_place ? 0 : 1;
  algo.append_attribute("minBytes") = static_cast<long long>(options.min_bytes);
  algo.append_attribute("maxBytes") = static_cast<long long>(options.max_bytes);
}

void require_options(const Program& program, const MscclOptions& options) {
  const std::string& protocol = options.protocol;
  if (protocol != "Simple" && protocol != "LL" && protocol != "LL128")
    throw InputError(fmt::format("unknown protocol \"{}\" (known: Simple, LL, LL128)", protocol));
  if (options.min_bytes < 0 || options.max_bytes < options.min_bytes)
    throw InputError(fmt::format("a program for {} to {} bytes would never be used",
                                 options.min_bytes, options.max_bytes));
  if (program.name == "2D")
    throw InputError("some of MSCCL's runtimes run their own algorithm for the name \"2D\": name "
                     "it otherwise");
}

/// A message in several parts needs as many slots; with less a sender may wait where it didn't.
void require_same_progress(const Program& program, const Program& form, std::uint32_t most_count) {
  bool cut = false;
  for (const RankProgram& rank : program.ranks)
    for (const Block& block : rank.blocks)
      for (const Step& step : block.steps) cut = cut || step.count > most_count;
  if (!cut || !verify_program(program, msccl_slots).correct()) return;
  const ProgramVerdict verdict = verify_program(form, msccl_slots);
  if (!verdict.correct())
    throw InputError(fmt::format("with steps of the size that MSCCL's runtimes move at most: {} "
                                 "(larger chunks, or fewer instances, would help)",
                                 verdict.fault->text));
}

} // namespace

std::string msccl_xml(const Program& program, const MscclOptions& options) {
  std::string_view word = msccl_collective_word(program);
  if (!options.collective.empty()) word = options.collective;
  require_options(program, options);
  const Program form = msccl_form(program, options.limits.count);
  require_msccl_limits(form, options.limits);
  require_same_progress(program, form, options.limits.count);
  pugi::xml_document document;
  pugi::xml_node algo = document.append_child("algo");
  append_head(algo, form, word, options);
  for (std::uint32_t r = 0; r < form.ranks.size(); ++r) append_rank(algo, r, form.ranks[r]);
  std::ostringstream text;
  document.save(text, "  ", pugi::format_indent | pugi::format_no_declaration, pugi::encoding_utf8);
  return text.str();
}

} // namespace tutti::runtime
