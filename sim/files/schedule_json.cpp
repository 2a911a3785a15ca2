// Schedule files as JSON; the form is described in the header. What a file says is checked
// strictly: unknown, repeated and missing keys and wrong types are errors that name the key.

#include "sim/files/schedule_json.hpp"

#include "sim/files/schedule_format.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <functional>
#include <iterator>
#include <set>
#include <span>
#include <utility>
#include <vector>

namespace tutti::schedule_format {

namespace {

using nlohmann::json;

// ---- writing ----

std::string text_literal(std::string_view text) {
  return json(text).dump(-1, ' ', false, json::error_handler_t::replace);
}

template <typename Tag> std::string list_text(std::span<const Id<Tag>> ids) {
  std::vector<std::uint32_t> values;
  for (const Id<Tag> id : ids) values.push_back(id.value);
  return fmt::format("[{}]", fmt::join(values, ","));
}

std::string part_text(const Collective& collective, const CollectivePart& part) {
  if (part.kind != CollectiveKind::custom) {
    const std::string root =
        has_root(part.kind) ? fmt::format("\"root\": {}, ", part.group[part.root].value) : "";
    const std::string shares =
        part.shares.are_said()
            ? fmt::format(R"(, "shares": {}, "bytes": [{}])", text_literal(part.shares.words),
                          fmt::join(part.shares.bytes, ","))
            : "";
    return fmt::format(R"({{"kind": "{}", "size": {}, "group": {}, {}"chunks_per_shard": {}{}}})",
                       to_text(part.kind), part.size.count,
                       list_text(std::span<const NodeId>(part.group)), root, part.chunks_per_shard,
                       shares);
  }
  std::vector<std::string> chunks;
  for (std::uint32_t k = 0; k < part.chunk_count; ++k) {
    const ChunkId id{part.first.value + k};
    const Chunk& chunk = collective.chunks[id.value];
    chunks.push_back(
        fmt::format(R"(      {{"bytes": {}, "sources": {}, "destinations": {}, "reduces": {}}})",
                    chunk.size.count, list_text(collective.sources(id)),
                    list_text(collective.destinations(id)), chunk.reduces));
  }
  return fmt::format("{{\"kind\": \"custom\", \"chunks\": [\n{}\n    ]}}",
                     fmt::join(chunks, ",\n"));
}

void append_transfer(std::string& out, const Schedule& schedule, std::size_t i) {
  const Transfer t = schedule[i];
  auto end = std::back_inserter(out);
  fmt::format_to(end, "    [{},[", t.chunk.value);
  std::string_view comma;
  for (const LinkId link : schedule.paths().links(t.path)) {
    fmt::format_to(end, "{}{}", comma, link.value);
    comma = ",";
  }
  fmt::format_to(end, "],\"{}\"{}", t.op == Op::reduce ? "reduce" : "copy",
                 t.together     ? R"(,"together")"
                 : t.contiguous ? R"(,"contiguous")"
                                : "");
  std::string_view before = ",[";
  for (const Dependency& dependency : schedule.dependencies(i)) {
    fmt::format_to(end, "{}[{},\"{}\"]", before, dependency.transfer,
                   to_text(dependency.milestone));
    before = ",";
  }
  out += before == "," ? "]]" : "]";
}

// ---- reading ----

[[noreturn]] void wrong_type(std::string_view name, std::string_view expected, const json& found) {
  throw InputError(fmt::format("{} must be {}, not {}", name, expected, found.type_name()));
}

std::int64_t integer(const json& value, std::string_view name, std::int64_t low,
                     std::int64_t high) {
  if (!value.is_number_integer()) wrong_type(name, "a whole number", value);
  // Above 2^63 it is unsigned, and then too large for anything here.
  const bool huge = value.is_number_unsigned() && value.get<std::uint64_t>() > INT64_MAX;
  const std::int64_t number = huge ? INT64_MAX : value.get<std::int64_t>();
  if (huge || number < low || number > high)
    throw InputError(fmt::format("{} is {}, not in {} .. {}", name, value.dump(), low, high));
  return number;
}

/// Ids below `count`.
template <typename IdType>
IdType id(const json& value, std::string_view name, std::uint64_t count, std::string_view whole) {
  if (!value.is_number_integer()) wrong_type(name, "a whole number", value);
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() >= count)
    throw InputError(
        fmt::format("{} {} isn't there (the {} has {})", name, value.dump(), whole, count));
  return IdType{value.get<std::uint32_t>()};
}

const json& array(const json& value, std::string_view name) {
  if (!value.is_array()) wrong_type(name, "a list", value);
  return value;
}

std::vector<NodeId> nodes(const json& value, std::string_view name, const Topology& topology) {
  std::vector<NodeId> list;
  for (const json& node : array(value, name))
    list.push_back(
        id<NodeId>(node, fmt::format("{}: node", name), topology.node_count(), "topology"));
  return list;
}

/// The members of an object; finish() refuses those that nobody asked for.
class Fields {
public:
  Fields(const json& value, std::string name) : value_(value), name_(std::move(name)) {
    if (!value.is_object()) wrong_type(name_, "an object", value);
  }
  const json& at(const std::string& key) {
    if (!has(key)) throw InputError(fmt::format("{} needs a key \"{}\"", name_, key));
    return *value_.find(key);
  }
  /// By the name that version 1 had for it, where that is there.
  const json& at(const std::string& key, const char* in_version_1) {
    return !value_.contains(key) && value_.contains(in_version_1) ? at(in_version_1) : at(key);
  }
  bool has(const std::string& key) {
    asked_.push_back(key);
    return value_.contains(key);
  }
  std::string text(const std::string& key) {
    const json& value = at(key);
    if (!value.is_string()) wrong_type(fmt::format("\"{}\"", key), "a text", value);
    return value.get<std::string>();
  }
  std::uint64_t fingerprint() {
    const std::string digits = text("fingerprint");
    std::uint64_t value = 0;
    const auto [end, status] =
        std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
    if (digits.size() != 16 || status != std::errc{} || end != digits.data() + digits.size())
      throw InputError(fmt::format("\"fingerprint\" of {} must be 16 hexadecimal digits", name_));
    return value;
  }
  void finish() const {
    for (const auto& [key, value] : value_.items())
      if (std::find(asked_.begin(), asked_.end(), key) == asked_.end())
        throw InputError(unknown_name(fmt::format("key of {}", name_), key, asked_));
  }

private:
  const json& value_;
  std::string name_;
  std::vector<std::string> asked_;
};

TimeModel time_model(const json& value) {
  Fields fields(value, "\"time_model\"");
  TimeModel model;
  model.link_busy = link_busy_words.parse(fields.text("link_busy"));
  model.forwarding = forwarding_words.parse(fields.text("forwarding"));
  model.discipline = discipline_words.parse(fields.text("discipline"));
  if (fields.has("reduce_rate")) model.reduce_rate = parse_bandwidth(fields.text("reduce_rate"));
  fields.finish();
  return model;
}

Collective custom_part(const json& chunks, const Topology& topology) {
  CustomCollectiveBuilder custom(topology);
  std::size_t c = 0;
  located([&] { return fmt::format("chunks[{}]", c); },
          [&] {
            for (; c < array(chunks, "\"chunks\"").size(); ++c) {
              Fields fields(chunks[c], "a chunk");
              Chunk chunk;
              chunk.size.count = integer(fields.at("bytes"), "\"bytes\"", 1, INT64_MAX);
              chunk.sources =
                  custom.add_set(nodes(fields.at("sources", "held_by"), "\"sources\"", topology));
              chunk.destinations = custom.add_set(
                  nodes(fields.at("destinations", "wanted_by"), "\"destinations\"", topology));
              const json& reduces = fields.at("reduces");
              if (!reduces.is_boolean()) wrong_type("\"reduces\"", "true or false", reduces);
              chunk.reduces = reduces.get<bool>();
              fields.finish();
              custom.add_chunk(chunk);
            }
          });
  return custom.build();
}

void add_part(CollectiveBuilder& builder, const json& value, const Topology& topology) {
  Fields fields(value, "a part");
  const std::string kind_text = fields.text("kind");
  if (kind_text == to_text(CollectiveKind::custom)) {
    const json& chunks = fields.at("chunks");
    fields.finish();
    builder.add(custom_part(chunks, topology));
    return;
  }
  const CollectiveKind kind = parse_collective_kind(kind_text);
  const Bytes size{integer(fields.at("size"), "\"size\"", 1, INT64_MAX)};
  std::vector<NodeId> group = nodes(fields.at("group"), "\"group\"", topology);
  if (group.empty()) throw InputError("\"group\" is empty");
  NodeId root;
  if (has_root(kind))
    root = id<NodeId>(fields.at("root"), "\"root\": node", topology.node_count(), "topology");
  const std::int64_t chunks_per_shard =
      integer(fields.at("chunks_per_shard", "pieces"), "\"chunks_per_shard\"", 1, INT32_MAX);
  CollectiveSpec spec =
      named_part(kind, size, std::move(group), root, static_cast<std::uint32_t>(chunks_per_shard));
  if (has_shares(kind) && fields.has("shares")) {
    spec.shares.words = fields.text("shares");
    for (const json& share : array(fields.at("bytes"), "\"bytes\""))
      spec.shares.bytes.push_back(integer(share, "a share", 0, INT64_MAX));
  }
  fields.finish();
  builder.add(spec);
}

Collective collective(const json& value, const Topology& topology, std::size_t transfers) {
  Fields fields(value, "\"collective\"");
  CollectiveBuilder builder(topology, most_chunks(transfers));
  const json& parts = array(fields.at("parts"), "\"parts\"");
  std::size_t p = 0;
  located([&] { return fmt::format("collective.parts[{}]", p); },
          [&] {
            for (; p < parts.size(); ++p) add_part(builder, parts[p], topology);
          });
  Collective made = builder.build();
  const std::uint64_t fingerprint = fields.fingerprint();
  fields.finish();
  check_collective(fingerprint, made);
  return made;
}

Dependency dependency(const json& value, std::size_t transfers) {
  if (!value.is_array() || value.size() != 2 || !value[1].is_string())
    throw InputError("a dependency is [transfer, \"left\" or \"arrived\"]");
  return {id<ChunkId>(value[0], "a dependency on transfer", transfers, "schedule").value,
          parse_milestone(value[1].get<std::string>())};
}

/// Appends the transfer, one of `transfers`.
void read_transfer(const json& value, Schedule& schedule, std::size_t chunks,
                   std::size_t transfers) {
  if (!value.is_array()) wrong_type("a transfer", "a list", value);
  const bool waits = value.size() > 3 && value.back().is_array();
  const std::size_t texts = value.size() - (waits ? 1 : 0);
  if (texts != 3 && texts != 4)
    throw InputError("a transfer is [chunk, [links], \"copy\" or \"reduce\"], then \"together\", "
                     "\"contiguous\" or nothing, then a list of dependencies or nothing");
  PathTable& paths = schedule.paths();
  Transfer t;
  t.chunk = id<ChunkId>(value[0], "chunk", chunks, "collective");
  std::vector<LinkId> links;
  for (const json& link : array(value[1], "the path"))
    links.push_back(id<LinkId>(link, "link", paths.link_count(), "topology"));
  if (links.empty()) throw InputError("the path is empty");
  t.path = paths.intern(links);
  if (value[2] != "copy" && value[2] != "reduce")
    throw InputError("the third entry must be \"copy\" or \"reduce\"");
  t.op = value[2] == "reduce" ? Op::reduce : Op::copy;
  t.together = texts == 4 && value[3] == "together";
  t.contiguous = texts == 4 && value[3] == "contiguous";
  if (texts == 4 && !t.together && !t.contiguous)
    throw InputError("the fourth entry must be \"together\" or \"contiguous\", or left out");
  schedule.push(t);
  if (!waits) return;
  for (const json& named : value.back())
    schedule.add_dependency(schedule.size() - 1, dependency(named, transfers));
}

ScheduleFile content_of(const json& document, const Topology& topology) {
  Fields fields(document, "the file");
  if (fields.text("format") != "tutti-schedule")
    throw InputError("\"format\" must be \"tutti-schedule\"");
  check_version(integer(fields.at("version"), "\"version\"", INT64_MIN, INT64_MAX));

  Fields topology_fields(fields.at("topology"), "\"topology\"");
  const std::string topology_name = topology_fields.text("name");
  check_topology(topology_name, topology_fields.fingerprint(), topology);
  topology_fields.finish();

  const json& transfers = array(fields.at("transfers"), "\"transfers\"");
  ScheduleFile content{topology_name, fields.text("algorithm"), time_model(fields.at("time_model")),
                       collective(fields.at("collective"), topology, transfers.size()),
                       Schedule(topology.link_count())};
  fields.finish();

  Schedule& schedule = content.schedule;
  schedule.reserve(transfers.size());
  std::size_t i = 0;
  located([&] { return fmt::format("transfers[{}]", i); },
          [&] {
            for (; i < transfers.size(); ++i)
              read_transfer(transfers[i], schedule, content.collective.chunks.size(),
                            transfers.size());
          });
  return content;
}

/// `LINE:COLUMN` of a byte, both from 1.
std::string line_and_column(std::string_view content, std::size_t byte) {
  const std::string_view before = content.substr(0, byte);
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const std::size_t line_start = before.rfind('\n') + 1; // npos + 1 = 0: the first line
  return fmt::format("{}:{}", line, before.size() - line_start + 1);
}

/// Errors: InputError at \u0000, with which a text would end for whatever is written in C.
void refuse_nul_escapes(std::string_view content, const std::string& source_name) {
  for (std::size_t i = content.find('\\'); i < content.size(); i = content.find('\\', i + 2))
    if (content.substr(i + 1).starts_with("u0000"))
      throw InputError(fmt::format("{}:{}: a text can't have the character \\u0000", source_name,
                                   line_and_column(content, i)));
}

/// nlohmann::json keeps the last of equal keys; here they are an error.
class RepeatedKeys {
public:
  bool operator()(int, json::parse_event_t event, const json& value) {
    if (event == json::parse_event_t::object_start) open_.emplace_back();
    if (event == json::parse_event_t::object_end) open_.pop_back();
    if (event == json::parse_event_t::key && !open_.back().insert(value.get<std::string>()).second)
      throw InputError(fmt::format("key \"{}\" is given twice", value.get<std::string>()));
    return true;
  }

private:
  std::vector<std::set<std::string>> open_;
};

json parsed(std::string_view content, const std::string& source_name) {
  refuse_nul_escapes(content, source_name);
  try {
    RepeatedKeys repeated;
    return json::parse(content, std::ref(repeated));
  } catch (const json::parse_error& e) {
    // "[json.exception.parse_error.101] parse error at line 1, column 2: WHAT"
    const std::string_view what = e.what();
    const std::size_t colon = what.find(": ");
    const std::size_t byte = e.byte == 0 ? 0 : e.byte - 1;
    throw InputError(fmt::format("{}:{}: malformed JSON: {}", source_name,
                                 line_and_column(content, byte),
                                 colon == std::string_view::npos ? what : what.substr(colon + 2)));
  } catch (const json::exception&) {
    throw InputError(fmt::format("{}: malformed JSON: a number is out of range", source_name));
  } catch (const InputError& e) {
    throw InputError(fmt::format("{}: {}", source_name, e.what()));
  }
}

} // namespace

std::string to_json(const Topology& topology, const ScheduleFile& content) {
  const TimeModel& model = content.time_model;
  const std::string rate =
      model.reduce_rate.bytes_per_second == 0
          ? ""
          : fmt::format(R"(, "reduce_rate": "{}")", to_text(model.reduce_rate));
  std::vector<std::string> parts;
  for (const CollectivePart& part : content.collective.parts)
    parts.push_back("    " + part_text(content.collective, part));

  std::string out = fmt::format(
      R"({{
  "format": "tutti-schedule",
  "version": {},
  "topology": {{"name": {}, "fingerprint": "{:016x}"}},
  "algorithm": {},
  "time_model": {{"link_busy": "{}", "forwarding": "{}", "discipline": "{}"{}}},
  "collective": {{"fingerprint": "{:016x}", "parts": [
{}
  ]}},
  "transfers": [)",
      version_of(content.schedule, content.collective), text_literal(content.topology_name),
      topology.fingerprint(), text_literal(content.algorithm), to_text(model.link_busy),
      to_text(model.forwarding), to_text(model.discipline), rate, content.collective.fingerprint(),
      fmt::join(parts, ",\n"));
  for (std::size_t i = 0; i < content.schedule.size(); ++i) {
    out += i == 0 ? "\n" : ",\n";
    append_transfer(out, content.schedule, i);
  }
  out += "\n  ]\n}\n";
  return out;
}

ScheduleFile from_json(std::string_view content, const std::string& source_name,
                       const Topology& topology) {
  const json document = parsed(content, source_name);
  return located([&] { return source_name; }, [&] { return content_of(document, topology); });
}

} // namespace tutti::schedule_format
