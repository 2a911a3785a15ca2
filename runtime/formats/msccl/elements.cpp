// A walk over pugixml's tree that knows which attributes each element may have and in which ranges;
// every error names line and column.

#include "runtime/formats/msccl/elements.hpp"

#include "sim/error.hpp"

#include <fmt/format.h>
#include <pugixml.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <set>
#include <span>

namespace tutti::runtime {

namespace {

constexpr std::int64_t most_declared = 1 << 20; ///< units of a buffer, ranks, chunks per loop

constexpr std::array<std::string_view, 13> algo_attributes{
    "name",     "proto",      "nchannels", "nchunksperloop", "ngpus", "coll",        "inplace",
    "minBytes", "outofplace", "maxBytes",  "nthreads",       "redop", "ngpuspernode"};
constexpr std::array<std::string_view, 4> gpu_attributes{"id", "i_chunks", "o_chunks", "s_chunks"};
constexpr std::array<std::string_view, 4> tb_attributes{"id", "send", "recv", "chan"};
constexpr std::array<std::string_view, 10> step_attributes{
    "s", "type", "srcbuf", "srcoff", "dstbuf", "dstoff", "cnt", "depid", "deps", "hasdep"};

/// Walks the tree of an <algo>; keeps what is found in `file`.
class ElementReader {
public:
  ElementReader(const MscclSource& source, const MscclLimits& limits) : limits_(limits) {
    file_.source = source;
  }

  /// `another`: whether it stands after one where only one may be.
  MscclElements read(pugi::xml_node algo, bool another) {
    if (another) refuse(algo, "a second <algo>");
    if (std::string_view(algo.name()) != "algo")
      refuse(algo, fmt::format("<{}> where <algo> is expected", algo.name()));
    read_algo(algo);
    return std::move(file_);
  }

private:
  /// The node's offset; an element's is that of its "<" (pugixml gives that of its name).
  [[nodiscard]] static std::ptrdiff_t offset(pugi::xml_node node) {
    return node.offset_debug() - (node.type() == pugi::node_element ? 1 : 0);
  }

  [[noreturn]] void refuse(pugi::xml_node node, std::string_view what) const {
    file_.source.refuse(offset(node), what);
  }

  void warn(pugi::xml_node node, std::string_view what) {
    file_.warnings.push_back(fmt::format("{}: {}", file_.source.place(offset(node)), what));
  }

  [[nodiscard]] std::string_view word(pugi::xml_node node, const char* name) const {
    const pugi::xml_attribute found = node.attribute(name);
    if (!found) refuse(node, fmt::format("<{}> without {}", node.name(), name));
    return found.value();
  }

  [[nodiscard]] std::int64_t number(pugi::xml_node node, const char* name, std::int64_t low,
                                    std::int64_t high) const {
    const std::string_view found = word(node, name);
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(found.data(), found.data() + found.size(), value);
    if (error != std::errc{} || end != found.data() + found.size() || value < low || value > high)
      refuse(node, fmt::format("{}=\"{}\" isn't a number from {} to {}", name, found, low, high));
    return value;
  }

  [[nodiscard]] std::uint32_t index(pugi::xml_node node, const char* name,
                                    std::int64_t high) const {
    return static_cast<std::uint32_t>(number(node, name, 0, high));
  }

  /// -1 is none.
  [[nodiscard]] std::optional<std::uint32_t> maybe(pugi::xml_node node, const char* name,
                                                   std::int64_t high) const {
    const std::int64_t found = number(node, name, -1, high);
    if (found < 0) return std::nullopt;
    return static_cast<std::uint32_t>(found);
  }

  /// Forks of the runtime add attributes: each unknown one is named once in the warnings.
  void check_attributes(pugi::xml_node node, std::span<const std::string_view> known) {
    std::set<std::string_view> names;
    for (pugi::xml_attribute at = node.first_attribute(); at; at = at.next_attribute()) {
      if (!names.insert(at.name()).second)
        refuse(node, fmt::format("{} is given twice", at.name()));
      if (std::ranges::find(known, std::string_view(at.name())) != known.end()) continue;
      if (warned_.insert(fmt::format("{}.{}", node.name(), at.name())).second)
        warn(node, fmt::format("unknown attribute {} of <{}>: ignored", at.name(), node.name()));
    }
  }

  /// The children, all of which are elements of this name; but for the copies that TACCL and
  /// TE-CCL note beside a GPU's blocks, for what is in place anyway.
  [[nodiscard]] std::vector<pugi::xml_node> children(pugi::xml_node node, std::string_view name) {
    std::vector<pugi::xml_node> made;
    for (const pugi::xml_node child : node.children()) {
      const bool is_element = child.type() == pugi::node_element;
      if (is_element && name == child.name()) {
        made.push_back(child);
        continue;
      }
      if (is_element && name == "tb" && std::string_view(child.name()) == "copy") {
        if (warned_.insert("copy").second) warn(child, "<copy> is ignored, as runtimes do");
        continue;
      }
      if (is_element && name == "step" && std::string_view(child.name()) == "op")
        refuse(child, "<op> is msccl-tools' newer dialect, which no runtime reads and where a step "
                      "names one place only: write the file with old_format=True");
      if (is_element) refuse(child, fmt::format("<{}> where <{}> is expected", child.name(), name));
      if (child.type() == pugi::node_pcdata || child.type() == pugi::node_cdata) {
        const std::string_view text = child.value();
        if (text.find_first_not_of(" \t\r\n") != std::string_view::npos)
          refuse(child, fmt::format("text in <{}>", node.name()));
      }
    }
    return made;
  }

  [[nodiscard]] std::optional<std::int64_t> optional_bytes(pugi::xml_node algo, const char* name) {
    if (algo.attribute(name)) return number(algo, name, 0, INT64_MAX);
    warn(algo, fmt::format("no {}: MSCCL's executor for NCCL ignores the file", name));
    return std::nullopt;
  }

  void read_head(pugi::xml_node algo) {
    check_attributes(algo, algo_attributes);
    file_.algo_at = offset(algo);
    file_.name = word(algo, "name");
    file_.protocol = word(algo, "proto");
    const std::string& protocol = file_.protocol;
    if (protocol != "Simple" && protocol != "LL" && protocol != "LL128")
      refuse(algo, fmt::format("unknown proto \"{}\" (known: Simple, LL, LL128)", protocol));
    file_.layout.coll = word(algo, "coll");
    file_.layout.in_place = number(algo, "inplace", 0, 1) == 1;
    file_.layout.chunks_per_loop =
        static_cast<std::uint32_t>(number(algo, "nchunksperloop", 1, most_declared));
    file_.min_bytes = optional_bytes(algo, "minBytes");
    file_.max_bytes = optional_bytes(algo, "maxBytes");
    warn_of_head(algo);
  }

  void warn_of_head(pugi::xml_node algo) {
    if (file_.min_bytes && file_.max_bytes && *file_.min_bytes > *file_.max_bytes)
      warn(algo, "minBytes is more than maxBytes: no runtime would use the program");
    if (!algo.attribute("outofplace"))
      warn(algo, "no outofplace: MSCCL's executor for NCCL ignores the file");
    else if (number(algo, "outofplace", 0, 1) == 0 && !file_.layout.in_place)
      warn(algo, "neither inplace nor outofplace: no runtime would use the program");
    if (file_.name == "2D") warn(algo, "some runtimes run their own algorithm for the name \"2D\"");
    if (file_.layout.coll == "custom" || file_.layout.coll == "reduce_scatter")
      warn(algo,
           fmt::format("coll=\"{}\" is unknown to MSCCL's executor for NCCL", file_.layout.coll));
  }

  void read_algo(pugi::xml_node algo) {
    read_head(algo);
    const std::vector<pugi::xml_node> gpus = children(algo, "gpu");
    const auto count = static_cast<std::uint32_t>(number(algo, "ngpus", 1, most_declared));
    if (gpus.size() != count)
      refuse(algo, fmt::format("ngpus=\"{}\", but {} <gpu>", count, gpus.size()));
    file_.layout.declared.resize(count);
    file_.ranks.resize(count);
    file_.announced.resize(count);
    file_.step_at.resize(count);
    file_.block_at.resize(count);
    file_.gpu_at.assign(count, -1);
    std::uint32_t channels = 0;
    for (const pugi::xml_node gpu : gpus) {
      const std::uint32_t rank = read_gpu(gpu);
      check_msccl_neighbours(file_, rank, limits_);
      for (const Block& block : file_.ranks[rank].blocks)
        channels = std::max(channels, block.channel + 1);
    }
    const std::int64_t said = number(algo, "nchannels", 0, INT32_MAX);
    if (said != channels)
      warn(algo, fmt::format("nchannels=\"{}\", but the blocks use {}", said, channels));
  }

  std::uint32_t read_gpu(pugi::xml_node gpu) {
    check_attributes(gpu, gpu_attributes);
    const auto count = static_cast<std::uint32_t>(file_.ranks.size());
    const std::uint32_t rank = index(gpu, "id", count - 1);
    if (file_.gpu_at[rank] >= 0) refuse(gpu, fmt::format("a second gpu {}", rank));
    file_.gpu_at[rank] = offset(gpu);
    file_.layout.declared[rank] = {index(gpu, "i_chunks", most_declared),
                                   index(gpu, "o_chunks", most_declared),
                                   index(gpu, "s_chunks", most_declared),
                                   {}};
    const std::vector<pugi::xml_node> blocks = children(gpu, "tb");
    if (blocks.size() > limits_.blocks)
      refuse(gpu, fmt::format("{} blocks, and MSCCL's runtimes have {} at most", blocks.size(),
                              limits_.blocks));
    file_.ranks[rank].blocks.resize(blocks.size());
    file_.step_at[rank].resize(blocks.size());
    file_.block_at[rank].assign(blocks.size(), -1);
    for (const pugi::xml_node block : blocks) read_block(block, rank);
    return rank;
  }

  void read_block(pugi::xml_node tb, std::uint32_t rank) {
    check_attributes(tb, tb_attributes);
    const auto blocks = static_cast<std::int64_t>(file_.block_at[rank].size());
    const std::uint32_t id = index(tb, "id", blocks - 1);
    if (file_.block_at[rank][id] >= 0)
      refuse(tb, fmt::format("a second block {} of gpu {}", id, rank));
    file_.block_at[rank][id] = offset(tb);
    const auto last_rank = static_cast<std::int64_t>(file_.ranks.size()) - 1;
    Block& block = file_.ranks[rank].blocks[id];
    block.sends_to = maybe(tb, "send", last_rank);
    block.receives_from = maybe(tb, "recv", last_rank);
    if (block.sends_to == rank || block.receives_from == rank)
      refuse(tb, fmt::format("gpu {} is its own peer", rank));
    const bool local = !block.sends_to && !block.receives_from;
    const std::int64_t channel = number(tb, "chan", local ? -1 : 0, limits_.channels - 1);
    block.channel = static_cast<std::uint32_t>(std::max<std::int64_t>(channel, 0));
    const std::vector<pugi::xml_node> steps = children(tb, "step");
    if (steps.size() > limits_.steps)
      refuse(tb, fmt::format("{} steps, and MSCCL's runtimes have {} at most", steps.size(),
                             limits_.steps));
    for (const pugi::xml_node step : steps) {
      file_.step_at[rank][id].push_back(offset(step));
      read_step(step, rank, id);
    }
  }

  [[nodiscard]] StepKind kind_of(pugi::xml_node node) const {
    const std::string_view found = word(node, "type");
    std::vector<std::string> known;
    for (std::size_t k = 0; k < step_kind_count; ++k) {
      const auto kind = static_cast<StepKind>(k);
      if (to_text(kind) == found) return kind;
      known.emplace_back(to_text(kind));
    }
    refuse(node, unknown_name("step type", found, known));
  }

  /// Where the side isn't touched: anything, unless it has no meaning at all.
  [[nodiscard]] Place place_of(pugi::xml_node node, const char* buffer, const char* offset,
                               bool touched) const {
    const std::string_view name = word(node, buffer);
    if (name != "i" && name != "o" && name != "s")
      refuse(node, fmt::format("unknown {} \"{}\" (known: i, o, s)", buffer, name));
    const auto unit = maybe(node, offset, most_declared);
    if (!touched) return {};
    if (!unit) refuse(node, fmt::format("{}=\"-1\" of a place that is used", offset));
    return {name == "i" ? Buffer::input : name == "o" ? Buffer::output : Buffer::scratch, *unit};
  }

  void read_step(pugi::xml_node node, std::uint32_t rank, std::uint32_t id) {
    check_attributes(node, step_attributes);
    Block& block = file_.ranks[rank].blocks[id];
    const auto at = static_cast<std::uint32_t>(block.steps.size());
    if (number(node, "s", INT32_MIN, INT32_MAX) != at)
      refuse(node, fmt::format("s=\"{}\" of a block's step {}: runtimes count them",
                               word(node, "s"), at));
    Step step;
    step.kind = kind_of(node);
    if (sends(step.kind) && !block.sends_to) refuse(node, "a send in a block that sends to nobody");
    if (receives(step.kind) && !block.receives_from)
      refuse(node, "a receive in a block that receives from nobody");
    step.source = place_of(node, "srcbuf", "srcoff", reads_source(step.kind));
    step.target = place_of(node, "dstbuf", "dstoff", writes_target(step.kind));
    const bool wait = step.kind == StepKind::wait;
    step.count = static_cast<std::uint32_t>(number(node, "cnt", wait ? 0 : 1, limits_.count));
    if (wait) step.count = 0;
    if (const auto other = maybe(node, "depid", INT32_MAX))
      step.after = {*other, index(node, "deps", INT32_MAX)};
    else
      static_cast<void>(number(node, "deps", INT32_MIN, INT32_MAX));
    if (number(node, "hasdep", 0, 1) == 1) file_.announced[rank].insert({id, at});
    block.steps.push_back(step);
  }

  const MscclLimits& limits_;
  MscclElements file_;
  std::set<std::string> warned_;
};

} // namespace

std::vector<MscclElements> read_msccl_elements(std::string_view text, const std::string& file_name,
                                               const MscclLimits& limits, bool several) {
  const MscclSource source(text, file_name);
  pugi::xml_document document;
  const pugi::xml_parse_result parsed =
      document.load_buffer(text.data(), text.size(), pugi::parse_default, pugi::encoding_utf8);
  if (!parsed) source.refuse(parsed.offset, parsed.description());
  std::vector<MscclElements> made;
  for (const pugi::xml_node algo : document.children())
    if (algo.type() == pugi::node_element)
      made.push_back(ElementReader(source, limits).read(algo, !several && !made.empty()));
  return made;
}

} // namespace tutti::runtime
