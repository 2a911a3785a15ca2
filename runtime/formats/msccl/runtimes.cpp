// The table of runtimes, as their sources have it, and what follows from it for a program. The
// numbers come from the headers that declare the arrays, from the parsers, and from the code that
// launches a program, which in some versions takes less than its parser does.
#include "runtime/formats/msccl/runtimes.hpp"

#include "runtime/formats/msccl/form.hpp"
#include "sim/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace tutti::runtime {

namespace {

constexpr StepKinds without(std::initializer_list<StepKind> kinds) {
  StepKinds left = all_step_kinds;
  for (const StepKind kind : kinds) left &= static_cast<StepKinds>(~kinds_bit(kind));
  return left;
}
/// The steps that receive and do something else in one: RCCL's builds from ROCm 6.0 on have no
/// kernels for them, and a call with such a program fails when it is launched.
constexpr StepKinds no_fused =
    without({StepKind::receive_copy_send, StepKind::receive_reduce_copy,
             StepKind::receive_reduce_send, StepKind::receive_reduce_copy_send});
constexpr StepKinds no_copy = no_fused & without({StepKind::copy});

constexpr std::array<MscclRuntime, 5> runtime_rows{{
    {.name = "msccl",
     .version = "2.12",
     .releases = "MSCCL 0.1 on NCCL 2.12.12",
     .source = "microsoft/msccl b23e9cd: src/include/msccl.h, src/include/devcomm.h, "
               "src/graph/topo.cc, src/graph/xml.h, src/graph/tuning.cc",
     .limits = {.steps = 256, .channels = 32, .blocks = 216, .who_has = "msccl 2.12 has"},
     .parsed_blocks = 216,
     .launched_blocks = 1024,
     .reduce_scatter = "reduce_scatter",
     .has_custom = true,
     .takes_last_byte = false},
    {.name = "rccl",
     .version = "2.17",
     .releases = "RCCL 2.16.5 and 2.17.1, ROCm 5.6 and 5.7",
     .source = "ROCm/rccl rocm-5.7.1: src/include/msccl/msccl_struct.h, src/include/devcomm.h, "
               "src/misc/msccl/msccl_parser.cc, src/misc/msccl/msccl_setup.cc",
     .limits = {.steps = 64, .channels = 32, .blocks = 1024, .who_has = "rccl 2.17 has"},
     .parsed_blocks = 1024,
     .launched_blocks = 1024,
     .reduce_scatter = "reducescatter",
     .has_gather = true},
    {.name = "rccl",
     .version = "2.18",
     .releases = "RCCL 2.18.3, ROCm 6.0, and its builds before 4c117e53",
     .source = "ROCm/rccl rocm-6.0.2: src/include/msccl/msccl_struct.h, src/include/devcomm.h, "
               "src/misc/msccl/msccl_parser.cc, src/misc/msccl/msccl_setup.cc (kinds of steps: "
               "fullOpMask); 4c117e53^: src/misc/msccl/msccl_setup.cc (an array of MAXCHANNELS "
               "that the launch indexes by block)",
     .limits =
         {.steps = 64, .channels = 32, .blocks = 32, .kinds = no_copy, .who_has = "rccl 2.18 has"},
     .parsed_blocks = 64,
     .launched_blocks = 32,
     .reduce_scatter = "reducescatter",
     .has_gather = true},
    {.name = "rccl",
     .version = "2.21",
     .releases = "RCCL 2.18.6 to 2.21.5, ROCm 6.1 to 6.3",
     .source = "ROCm/rccl 0cbce2a7: src/include/msccl/msccl_struct.h, src/include/device.h, "
               "src/misc/msccl/msccl_parser.cc, src/misc/msccl/msccl_setup.cc (kinds of steps: "
               "fullOpMask), src/misc/msccl/msccl_lifecycle.cc; channels: rocm-6.1.0",
     .limits =
         {.steps = 64, .channels = 64, .blocks = 64, .kinds = no_fused, .who_has = "rccl 2.21 has"},
     .parsed_blocks = 64,
     .launched_blocks = 64,
     .reduce_scatter = "reducescatter",
     .has_gather = true},
    {.name = "executor",
     .version = "2.23",
     .releases = "MSCCL's executor for NCCL, on NCCL 2.23.4",
     .source = "Azure/msccl-executor-nccl c6f6b36: makefiles/common.mk (steps: what a build says, "
               "or 64), src/include/msccl/msccl_struct.h, src/include/device.h, "
               "src/misc/msccl/msccl_parser.cc, src/misc/msccl/msccl_lifecycle.cc",
     .limits = {.steps = 64, .channels = 32, .blocks = 1024, .who_has = "executor 2.23 has"},
     .parsed_blocks = 1024,
     .launched_blocks = 1024,
     .reduce_scatter = "reducescatter",
     .has_gather = true},
}};

std::string title_of(const MscclRuntime& runtime) {
  return fmt::format("{} {}", runtime.name, runtime.version);
}

/// msccl compares a rank's buffers with nchunksperloop.
void require_whole_buffers(const Program& form, const MscclRuntime& runtime) {
  if (!runtime.has_custom) return;
  const auto ranks = static_cast<std::uint32_t>(form.ranks.size());
  const CollectiveKind kind = form.collective.parts.front().kind;
  const std::uint32_t chunks = msccl_chunks_per_loop(form);
  for (std::uint32_t r = 0; r < ranks; ++r) {
    const bool gathers = kind == CollectiveKind::all_gather || kind == CollectiveKind::hypercube;
    const std::uint32_t in = form.ranks[r].input * (gathers ? ranks : 1);
    const std::uint32_t out =
        form.ranks[r].output * (kind == CollectiveKind::reduce_scatter ? ranks : 1);
    if ((in > 0 && in != chunks) || (out > 0 && out != chunks))
      throw InputError(fmt::format("gpu {}: {} and {} units of input and output, but {} takes "
                                   "nothing but {}",
                                   r, form.ranks[r].input, form.ranks[r].output, title_of(runtime),
                                   chunks));
  }
}

/// Elements of the largest type of which calls of this size have a number that `chunks` divides.
std::optional<std::int64_t> largest_element(Bytes size, std::int64_t chunks) {
  for (const std::int64_t bytes : {8, 4, 2, 1})
    if (size.count % (bytes * chunks) == 0) return bytes;
  return std::nullopt;
}

} // namespace

std::span<const MscclRuntime> msccl_runtimes() { return runtime_rows; }

std::vector<const MscclRuntime*> find_msccl_runtimes(const std::string& text) {
  std::vector<const MscclRuntime*> found;
  for (const MscclRuntime& row : runtime_rows) {
    const bool asked =
        text.empty() || text == row.name || text == fmt::format("{}@{}", row.name, row.version);
    if (!asked) continue;
    if (!found.empty() && found.back()->name == row.name) found.pop_back(); // an older one
    found.push_back(&row);
  }
  if (!found.empty()) return found;
  std::vector<std::string> known;
  for (const MscclRuntime& row : runtime_rows) {
    if (std::ranges::find(known, row.name) == known.end()) known.emplace_back(row.name);
    known.push_back(fmt::format("{}@{}", row.name, row.version));
  }
  throw InputError(unknown_name("runtime", text, known));
}

MscclLimits common_limits(std::span<const MscclRuntime* const> runtimes) {
  MscclLimits common = runtimes.front()->limits;
  for (const MscclRuntime* runtime : runtimes.subspan(1)) {
    const MscclLimits& other = runtime->limits;
    for (const auto limit :
         {&MscclLimits::steps, &MscclLimits::channels, &MscclLimits::blocks, &MscclLimits::count,
          &MscclLimits::peers, &MscclLimits::place, &MscclLimits::waited_block,
          &MscclLimits::elements, &MscclLimits::ranks, &MscclLimits::name})
      common.*limit = std::min(common.*limit, other.*limit);
    common.kinds &= other.kinds;
    common.who_has = MscclLimits{}.who_has;
  }
  return common;
}

std::optional<std::string_view> msccl_word(const MscclRuntime& runtime, CollectiveKind kind) {
  if (kind == CollectiveKind::reduce_scatter) return runtime.reduce_scatter;
  const auto word = std::ranges::find(msccl_collectives(), kind, &MscclCollectiveRow::kind)->word;
  const bool is_gather = kind == CollectiveKind::gather || kind == CollectiveKind::scatter;
  if ((is_gather && !runtime.has_gather) || (word == "custom" && !runtime.has_custom))
    return std::nullopt;
  return word;
}

std::string_view common_msccl_word(CollectiveKind kind,
                                   std::span<const MscclRuntime* const> runtimes) {
  std::string_view common;
  for (const MscclRuntime* runtime : runtimes) {
    const auto word = msccl_word(*runtime, kind);
    if (!word)
      throw InputError(fmt::format("{} doesn't know {}{}", title_of(*runtime), to_text(kind),
                                   runtimes.size() > 1 ? ": name another one with --runtime" : ""));
    if (!common.empty() && *word != common) {
      std::string each;
      for (const MscclRuntime* one : runtimes)
        each += fmt::format("{}{}: {}", each.empty() ? "" : ", ", title_of(*one),
                            msccl_word(*one, kind).value_or("none"));
      throw InputError(fmt::format("no word for {} is known to all runtimes ({}): name one with "
                                   "--runtime",
                                   to_text(kind), each));
    }
    common = *word;
  }
  return common;
}

std::optional<std::string> msccl_refusal(const Program& form, const MscclRuntime& runtime) {
  try {
    static_cast<void>(msccl_collective_word(form));
    static_cast<void>(common_msccl_word(form.collective.parts.front().kind, std::array{&runtime}));
    require_whole_buffers(form, runtime);
    require_msccl_limits(form, runtime.limits);
  } catch (const InputError& error) {
    return error.what();
  }
  return std::nullopt;
}

std::vector<std::string> msccl_selection_warnings(const Program& program, Bytes size,
                                                  const MscclOptions& options,
                                                  std::span<const MscclRuntime* const> runtimes) {
  std::vector<std::string> warnings;
  const CollectivePart& part = program.collective.parts.front();
  const std::int64_t chunks = msccl_chunks_per_loop(program);
  const bool by_shard = part.kind == CollectiveKind::gather || part.kind == CollectiveKind::scatter;
  const Bytes counted{by_shard ? size.count / static_cast<std::int64_t>(program.ranks.size())
                               : size.count};
  const auto element = largest_element(counted, chunks);
  if (!element)
    warnings.push_back(
        fmt::format("calls of {} bytes are never given to the program: they don't divide into {} "
                    "chunks (only calls whose number of elements is a multiple of {} are)",
                    counted.count, chunks, chunks));
  else if (*element < 8)
    warnings.push_back(fmt::format("calls of {} bytes are given to the program only where an "
                                   "element has at most {} bytes: {} chunks must divide their "
                                   "number",
                                   counted.count, *element, chunks));
  const bool last = std::ranges::all_of(runtimes, &MscclRuntime::takes_last_byte);
  if (counted.count < options.min_bytes || counted.count > options.max_bytes ||
      (!last && counted.count == options.max_bytes))
    warnings.push_back(fmt::format("calls of {} bytes are never given to the program, which is for "
                                   "{} to {} bytes{}",
                                   counted.count, options.min_bytes, options.max_bytes,
                                   last ? "" : " (without the last)"));
  if (has_root(part.kind) && part.kind != CollectiveKind::custom)
    warnings.push_back(fmt::format("no runtime looks at a call's root: calls of {} with another "
                                   "root than {} would get this program, and wrong results",
                                   to_text(part.kind), part.root));
  return warnings;
}

} // namespace tutti::runtime
