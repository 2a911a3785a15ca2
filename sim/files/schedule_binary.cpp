// Schedule files in binary; the form is described in the header. Nothing is allocated on the word
// of a count alone: each is first compared with the bytes that are left.

#include "sim/files/schedule_binary.hpp"

#include "sim/compact_schedule.hpp"
#include "sim/files/schedule_format.hpp"

#include <fmt/format.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <new>
#include <ostream>
#include <sstream>
#include <utility>
#include <vector>

namespace tutti::schedule_format {

namespace {

constexpr std::size_t header_size = magic.size() + 4;
constexpr int compression_level = 3;
/// Writers at that level look back at most 2 MiB; a frame that asks for more memory isn't ours.
constexpr int most_window_log = 23;

std::size_t most_payload(std::size_t frame) {
  constexpr std::size_t cap = std::size_t{1} << 34;
  return std::min(cap, (std::size_t{1} << 20) + 4096 * std::min(frame, cap / 4096));
}

enum class Form : std::uint8_t {
  list,
  compact,
  list_with_dependencies,
  list_with_shared_sends,
  compact_with_reductions
};

/// The bits below the path: whether it reduces and is together; of shared sends also whether it is
/// contiguous.
std::uint64_t flags_of(Form form) { return form == Form::list_with_shared_sends ? 8 : 4; }
bool has_names(Form form) {
  return form == Form::list_with_dependencies || form == Form::list_with_shared_sends;
}

/// Takes the content piece by piece.
using Sink = std::function<void(std::string_view)>;

class Encoder {
public:
  explicit Encoder(Sink sink) : sink_(std::move(sink)) {}
  void number(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) out_.push_back(static_cast<char>((value & 0x7f) | 0x80));
    out_.push_back(static_cast<char>(value));
    if (out_.size() >= piece) flush();
  }
  void number(std::int64_t value) { number(static_cast<std::uint64_t>(value)); }
  void fingerprint(std::uint64_t value) {
    for (int byte = 0; byte < 8; ++byte) out_.push_back(static_cast<char>(value >> (8 * byte)));
  }
  void text(std::string_view value) {
    number(std::uint64_t{value.size()});
    out_ += value;
  }
  template <typename Tag> void ids(std::span<const Id<Tag>> values) {
    number(std::uint64_t{values.size()});
    for (const Id<Tag> id : values) number(std::uint64_t{id.value});
  }
  void flush() {
    sink_(out_);
    out_.clear();
  }

private:
  static constexpr std::size_t piece = std::size_t{1} << 18;
  Sink sink_;
  std::string out_;
};

class Decoder {
public:
  explicit Decoder(std::string_view in) : in_(in) {}

  std::uint64_t number() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const std::uint64_t byte = next();
      if (shift == 63 && byte > 1) break;
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    throw InputError("a number is too large");
  }
  std::int64_t number(std::string_view what, std::int64_t low, std::int64_t high) {
    const std::uint64_t value = number();
    if (value < static_cast<std::uint64_t>(low) || value > static_cast<std::uint64_t>(high))
      throw InputError(fmt::format("{} is {}, not in {} .. {}", what, value, low, high));
    return static_cast<std::int64_t>(value);
  }
  /// A number of things of at least one byte each; `what` in the plural.
  std::size_t count(std::string_view what) {
    const std::uint64_t value = number();
    if (value > in_.size())
      throw InputError(
          fmt::format("{} {} don't fit in the {} bytes that are left", value, what, in_.size()));
    return static_cast<std::size_t>(value);
  }
  std::uint32_t index(std::string_view what, std::uint64_t known) {
    const std::uint64_t value = number();
    if (value >= known)
      throw InputError(fmt::format("{} {} isn't there (there are {})", what, value, known));
    return static_cast<std::uint32_t>(value);
  }
  template <typename IdType>
  std::vector<IdType> ids(std::string_view what, std::string_view plural, std::uint64_t known) {
    std::vector<IdType> values(count(plural));
    for (IdType& id : values) id = IdType{index(what, known)};
    return values;
  }
  std::uint64_t fingerprint() {
    std::uint64_t value = 0;
    for (int byte = 0; byte < 8; ++byte) value |= std::uint64_t{next()} << (8 * byte);
    return value;
  }
  std::string text() {
    const std::size_t size = count("letters");
    std::string value(in_.substr(0, size));
    if (value.find('\0') != std::string::npos) throw InputError("a text has a zero byte");
    in_.remove_prefix(size);
    return value;
  }
  void finish() const {
    if (!in_.empty()) throw InputError(fmt::format("{} bytes follow the end", in_.size()));
  }

private:
  std::uint8_t next() {
    if (in_.empty()) throw InputError("the content ends too early");
    const auto byte = static_cast<std::uint8_t>(in_.front());
    in_.remove_prefix(1);
    return byte;
  }
  std::string_view in_;
};

// ---- writing ----

void encode_custom(Encoder& out, const Collective& collective, const CollectivePart& part) {
  const std::span<const Chunk> chunks =
      std::span(collective.chunks).subspan(part.first.value, part.chunk_count);
  // Only the sets of this part, numbered by first use.
  std::vector<SetId> used, number_of(collective.sets.size(), UINT32_MAX);
  for (const Chunk& chunk : chunks)
    for (const SetId set : {chunk.sources, chunk.destinations})
      if (number_of[set] == UINT32_MAX) {
        number_of[set] = static_cast<SetId>(used.size());
        used.push_back(set);
      }
  out.number(std::uint64_t{used.size()});
  for (const SetId set : used) out.ids(std::span<const NodeId>(collective.sets[set]));
  out.number(std::uint64_t{chunks.size()});
  for (const Chunk& chunk : chunks) {
    out.number(chunk.size.count);
    out.number(std::uint64_t{number_of[chunk.sources]});
    out.number(std::uint64_t{number_of[chunk.destinations]});
    out.number(std::uint64_t{chunk.reduces});
  }
}

void encode_collective(Encoder& out, const Collective& collective) {
  out.fingerprint(collective.fingerprint());
  out.number(std::uint64_t{collective.parts.size()});
  for (const CollectivePart& part : collective.parts) {
    out.text(to_text(part.kind));
    if (part.kind == CollectiveKind::custom) {
      encode_custom(out, collective, part);
      continue;
    }
    out.number(part.size.count);
    out.ids(std::span<const NodeId>(part.group));
    out.number(std::uint64_t{part.group[part.root].value});
    out.number(std::uint64_t{part.chunks_per_shard});
    if (!has_shares(part.kind)) continue;
    out.text(part.shares.words);
    out.number(std::uint64_t{part.shares.bytes.size()});
    for (const std::int64_t share : part.shares.bytes) out.number(share);
  }
}

void encode_list(Encoder& out, const Schedule& schedule, Form form) {
  const PathTable& paths = schedule.paths();
  out.number(std::uint64_t{paths.size() - paths.link_count()});
  for (std::uint32_t p = paths.link_count(); p < paths.size(); ++p) out.ids(paths.links(PathId{p}));
  for (std::size_t i = 0; i < schedule.size(); ++i) {
    const Transfer t = schedule[i];
    out.number(std::uint64_t{t.chunk.value});
    out.number(t.path.value * flags_of(form) + (t.contiguous ? 4 : 0) +
               (t.op == Op::reduce ? 2 : 0) + (t.together ? 1 : 0));
  }
}

/// Writes for each dependency the transfer that waits, less the one before, and the transfer that
/// it waits for.
void encode_dependencies(Encoder& out, const Schedule& schedule) {
  const std::span<const std::uint32_t> waiting = schedule.waiting();
  out.number(std::uint64_t{waiting.size()});
  std::uint32_t before = 0;
  for (std::size_t k = 0; k < waiting.size(); ++k) {
    const Dependency dependency = schedule.all_dependencies()[k];
    out.number(std::uint64_t{waiting[k] - before});
    out.number(std::uint64_t{dependency.transfer} * 2 +
               (dependency.milestone == Milestone::arrived ? 1 : 0));
    before = waiting[k];
  }
}

void encode_lists(Encoder& out, const ChunkLists& lists) {
  std::visit(
      [&](const auto& chunks) {
        for (std::uint32_t l = 0; l < lists.link_count(); ++l) {
          out.number(std::uint64_t{lists.on(LinkId{l})});
          for (std::size_t i = lists.begin[l]; i < lists.end[l]; ++i)
            out.number(std::uint64_t{chunks[i]});
        }
      },
      lists.chunks);
}

// ---- reading ----

Collective decode_custom(Decoder& in, const Topology& topology) {
  CustomCollectiveBuilder custom(topology);
  std::vector<SetId> sets(in.count("sets"));
  for (SetId& set : sets)
    set = custom.add_set(in.ids<NodeId>("node", "nodes", topology.node_count()));
  for (std::size_t left = in.count("chunks"); left > 0; --left) {
    Chunk chunk;
    chunk.size.count = in.number("chunk size", 1, INT64_MAX);
    chunk.sources = sets[in.index("set", sets.size())];
    chunk.destinations = sets[in.index("set", sets.size())];
    chunk.reduces = in.number("\"reduces\"", 0, 1) == 1;
    custom.add_chunk(chunk);
  }
  return custom.build();
}

CollectiveSpec decode_named(Decoder& in, const std::string& name, const Topology& topology) {
  const CollectiveKind kind = parse_collective_kind(name);
  const Bytes size{in.number("size", 1, INT64_MAX)};
  std::vector<NodeId> group = in.ids<NodeId>("node", "members", topology.node_count());
  if (group.empty()) throw InputError("the group is empty");
  const NodeId root{in.index("node", topology.node_count())};
  const std::int64_t chunks_per_shard = in.number("chunks per shard", 1, INT32_MAX);
  CollectiveSpec spec =
      named_part(kind, size, std::move(group), root, static_cast<std::uint32_t>(chunks_per_shard));
  if (!has_shares(kind) || name != to_text(kind)) return spec; // "alltoallv" before version 6
  spec.shares.words = in.text();
  spec.shares.bytes.resize(in.count("shares"));
  for (std::int64_t& share : spec.shares.bytes) share = in.number("share", 0, INT64_MAX);
  return spec;
}

Collective decode_collective(Decoder& in, const Topology& topology, std::size_t transfers) {
  const std::uint64_t fingerprint = in.fingerprint();
  CollectiveBuilder builder(topology, most_chunks(transfers));
  for (std::size_t left = in.count("parts"); left > 0; --left) {
    const std::string kind = in.text();
    if (kind == to_text(CollectiveKind::custom))
      builder.add(decode_custom(in, topology));
    else
      builder.add(decode_named(in, kind, topology));
  }
  Collective collective = builder.build();
  check_collective(fingerprint, collective);
  return collective;
}

Schedule decode_list(Decoder& in, std::uint32_t link_count, std::size_t chunks,
                     std::size_t transfers, Form form) {
  Schedule schedule(link_count);
  PathTable& paths = schedule.paths();
  for (std::size_t left = in.count("paths"); left > 0; --left) {
    const std::vector<LinkId> links = in.ids<LinkId>("link", "links", link_count);
    const std::uint32_t next = paths.size();
    if (links.size() < 2 || paths.intern(links) != PathId{next})
      throw InputError(fmt::format("path {} has fewer than two links, or is listed twice", next));
  }
  schedule.reserve(transfers);
  for (std::size_t i = 0; i < transfers; ++i) {
    const ChunkId chunk{in.index("chunk", chunks)};
    const std::uint64_t number = in.number(), path = number / flags_of(form),
                        flags = number % flags_of(form);
    if (path >= paths.size())
      throw InputError(fmt::format("path {} isn't there (there are {})", path, paths.size()));
    schedule.push({chunk, PathId{static_cast<std::uint32_t>(path)},
                   (flags & 2) != 0 ? Op::reduce : Op::copy, (flags & 1) != 0, (flags & 4) != 0});
  }
  return schedule;
}

void decode_dependencies(Decoder& in, Schedule& schedule) {
  std::uint64_t waiting = 0;
  for (std::size_t left = in.count("dependencies"); left > 0; --left) {
    waiting += in.index("transfer", schedule.size());
    if (waiting >= schedule.size())
      throw InputError(
          fmt::format("transfer {} isn't there (there are {})", waiting, schedule.size()));
    const std::uint64_t bits = in.number();
    if (bits / 2 >= schedule.size())
      throw InputError(fmt::format("transfer {} waits for transfer {}, which isn't there (there "
                                   "are {})",
                                   waiting, bits / 2, schedule.size()));
    schedule.add_dependency(static_cast<std::size_t>(waiting),
                            {static_cast<std::uint32_t>(bits / 2),
                             (bits & 1) != 0 ? Milestone::arrived : Milestone::left});
  }
}

void decode_lists(Decoder& in, std::size_t chunk_count, ChunkLists& lists) {
  std::visit(
      [&]<typename ChunkNumber>(std::vector<ChunkNumber>& chunks) {
        for (std::uint32_t l = 0; l < lists.link_count(); ++l) {
          lists.begin[l] = chunks.size();
          for (std::size_t left = in.count("transfers"); left > 0; --left)
            chunks.push_back(static_cast<ChunkNumber>(in.index("chunk", chunk_count)));
          lists.end[l] = chunks.size();
        }
      },
      lists.chunks);
}

CompactSchedule decode_compact(Decoder& in, const Topology& topology, const Collective& collective,
                               std::size_t transfers, Form form) {
  const std::size_t chunk_count = collective.chunks.size();
  CompactSchedule compact(topology.link_count(), chunk_count);
  if (form == Form::compact_with_reductions) decode_lists(in, chunk_count, compact.reductions);
  decode_lists(in, chunk_count, compact.copies);
  if (compact.size() != transfers)
    throw InputError(
        fmt::format("{} transfers were announced, {} are there", transfers, compact.size()));
  return compact;
}

struct DeleteContext {
  void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

template <typename Context> std::unique_ptr<Context, DeleteContext> owned(Context* context) {
  if (!context) throw std::bad_alloc();
  return std::unique_ptr<Context, DeleteContext>(context);
}

/// One zstd frame, made piece by piece.
class Compressor {
public:
  explicit Compressor(std::ostream& out) : out_(out), context_(owned(ZSTD_createCCtx())) {
    ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_compressionLevel, compression_level);
    ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_checksumFlag, 1);
  }
  void add(std::string_view piece) {
    compress(piece, ZSTD_e_continue);
    payload_ += piece.size();
  }
  /// Errors: InputError where the reader would refuse the frame.
  void finish() {
    compress({}, ZSTD_e_end);
    if (payload_ > most_payload(frame_))
      throw InputError("cannot write: the schedule repeats itself so much that the reader would "
                       "take the file for a decompression bomb; a name that ends in .json gives "
                       "text");
  }

private:
  void compress(std::string_view piece, ZSTD_EndDirective directive) {
    ZSTD_inBuffer in{piece.data(), piece.size(), 0};
    for (bool more = true; more;) {
      ZSTD_outBuffer block{block_.data(), block_.size(), 0};
      const std::size_t left = ZSTD_compressStream2(context_.get(), &block, &in, directive);
      if (ZSTD_isError(left) != 0) throw std::bad_alloc(); // the only way to fail
      out_.write(block_.data(), static_cast<std::streamsize>(block.pos));
      frame_ += block.pos;
      more = directive == ZSTD_e_end ? left != 0 : in.pos < in.size;
    }
  }

  std::ostream& out_;
  std::unique_ptr<ZSTD_CCtx, DeleteContext> context_;
  std::array<char, 1 << 16> block_;
  std::size_t payload_ = 0, frame_ = 0;
};

void write_header(std::ostream& out, std::int64_t version) {
  out << magic;
  for (int byte = 0; byte < 4; ++byte) out.put(static_cast<char>(version >> (8 * byte)));
}

/// The schedule in compact form where that gives back the very same list: the order across links
/// decides ties, and a replay from a file should equal the original to the bit.
std::optional<CompactSchedule> compact_form(const Topology& topology,
                                            const ScheduleContent& content) {
  std::optional<CompactSchedule> compact =
      compacted(topology, *content.collective, *content.schedule);
  if (compact && (compact->reductions.size() > 0 || // only as long as they must
                  expanded(topology, *content.collective, *compact) != *content.schedule))
    compact.reset();
  return compact;
}

void encode(Encoder& out, const Topology& topology, const ScheduleContent& content) {
  out.text(content.topology_name);
  out.fingerprint(topology.fingerprint());
  out.text(content.algorithm);
  out.text(to_text(content.time_model.link_busy));
  out.text(to_text(content.time_model.forwarding));
  out.text(to_text(content.time_model.discipline));
  out.number(content.time_model.reduce_rate.bytes_per_second);

  const std::optional<CompactSchedule> made =
      content.compact ? std::nullopt : compact_form(topology, content);
  const CompactSchedule* compact = made ? &*made : content.compact;
  const bool reduces = compact && compact->reductions.size() > 0;
  const Form form = reduces                                ? Form::compact_with_reductions
                    : compact                              ? Form::compact
                    : content.schedule->has_contiguous()   ? Form::list_with_shared_sends
                    : content.schedule->has_dependencies() ? Form::list_with_dependencies
                                                           : Form::list;
  out.number(static_cast<std::uint64_t>(form));
  out.number(std::uint64_t{compact ? compact->size() : content.schedule->size()});
  encode_collective(out, *content.collective);
  if (reduces) encode_lists(out, compact->reductions);
  if (compact)
    encode_lists(out, compact->copies);
  else
    encode_list(out, *content.schedule, form);
  if (has_names(form)) encode_dependencies(out, *content.schedule);
  out.flush();
}

} // namespace

std::string to_payload(const Topology& topology, const ScheduleFile& content) {
  std::string payload;
  Encoder out([&payload](std::string_view piece) { payload += piece; });
  encode(out, topology, content.content());
  return payload;
}

ScheduleFile from_payload(std::string_view payload, const Topology& topology,
                          std::size_t listed_up_to) {
  Decoder in(payload);
  const std::string name = in.text();
  check_topology(name, in.fingerprint(), topology);
  std::string algorithm = in.text();
  TimeModel model;
  model.link_busy = link_busy_words.parse(in.text());
  model.forwarding = forwarding_words.parse(in.text());
  model.discipline = discipline_words.parse(in.text());
  model.reduce_rate.bytes_per_second = in.number("reduction rate", 0, INT64_MAX);
  const auto form = static_cast<Form>(in.number("form", 0, 4));
  const std::size_t transfers = in.count("transfers");
  Collective collective = decode_collective(in, topology, transfers);
  ScheduleFile file{name,
                    std::move(algorithm),
                    model,
                    std::move(collective),
                    Schedule(topology.link_count()),
                    std::nullopt};
  if (form == Form::compact || form == Form::compact_with_reductions)
    file.compact = decode_compact(in, topology, file.collective, transfers, form);
  else
    file.schedule =
        decode_list(in, topology.link_count(), file.collective.chunks.size(), transfers, form);
  if (has_names(form)) decode_dependencies(in, file.schedule);
  in.finish();
  if (file.compact && transfers <= listed_up_to)
    file.schedule = expanded(topology, file.collective, *std::exchange(file.compact, std::nullopt));
  return file;
}

std::string wrapped(std::string_view payload, std::int64_t version) {
  std::ostringstream out;
  write_header(out, version);
  Compressor compressor(out);
  compressor.add(payload);
  compressor.finish();
  return std::move(out).str();
}

void write_wrapped(std::ostream& out, const Topology& topology, const ScheduleContent& content) {
  write_header(out, content.compact ? version_of(*content.compact, *content.collective)
                                    : version_of(*content.schedule, *content.collective));
  Compressor compressor(out);
  Encoder encoder([&compressor](std::string_view piece) { compressor.add(piece); });
  encode(encoder, topology, content);
  compressor.finish();
}

std::string unwrapped(std::string_view content) {
  if (content.size() < header_size) throw InputError("truncated: the file ends in its header");
  std::int64_t found = 0;
  for (std::size_t byte = 0; byte < 4; ++byte)
    found |= std::int64_t{static_cast<std::uint8_t>(content[magic.size() + byte])} << (8 * byte);
  check_version(found);
  content.remove_prefix(header_size);

  const auto context = owned(ZSTD_createDCtx());
  ZSTD_DCtx_setParameter(context.get(), ZSTD_d_windowLogMax, most_window_log);
  ZSTD_inBuffer in{content.data(), content.size(), 0};
  std::string payload;
  std::array<char, 1 << 16> block;
  for (std::size_t pending = 1; pending != 0;) {
    ZSTD_outBuffer out{block.data(), block.size(), 0};
    pending = ZSTD_decompressStream(context.get(), &out, &in);
    if (ZSTD_isError(pending) != 0)
      throw InputError(fmt::format("damaged: {}", ZSTD_getErrorName(pending)));
    if (payload.size() + out.pos > most_payload(content.size()))
      throw InputError(fmt::format("{} bytes would become more than {}", content.size(),
                                   most_payload(content.size())));
    payload.append(block.data(), out.pos);
    if (pending != 0 && in.pos == in.size && out.pos < out.size)
      throw InputError("truncated: the compressed data ends too early");
  }
  if (in.pos != in.size)
    throw InputError(
        fmt::format("{} bytes follow the end of the compressed data", in.size - in.pos));
  return payload;
}

} // namespace tutti::schedule_format
