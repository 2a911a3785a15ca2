// A collective by name is made for the topology at hand with the size and cut that are asked for;
// one from a file has all of these already. Several become one collective of several parts, which
// run at once.
#include "experiments/driver/requests/collective_request.hpp"

#include "sim/error.hpp"
#include "sim/files/gzip.hpp"
#include "sim/shares/shares.hpp"
#include "sim/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tutti {

std::string CollectiveRequest::text() const { return joined(texts, " + "); }

std::vector<std::string> collective_names() {
  std::vector<std::string> names;
  for (const CollectiveKind kind : all_collectives())
    if (kind != CollectiveKind::custom) names.emplace_back(to_text(kind));
  names.insert(names.end(), {"dispatch", "combine"});
  return names;
}

std::string with_own_name(std::string_view text) {
  const std::size_t end = std::min(text.find(','), text.size());
  const auto kind = find_collective_kind(trimmed(text.substr(0, end)));
  return std::string(kind ? to_text(*kind) : text.substr(0, end)) + std::string(text.substr(end));
}

bool is_collective_file(std::string_view text) {
  if (find_collective_name(trimmed(text.substr(0, text.find(','))))) return false;
  return text.find('/') != std::string_view::npos || unpacked_name(text).ends_with(".toml");
}

Bytes usual_size(const std::vector<std::string>& texts) {
  return std::ranges::any_of(texts, say_their_size) ? Bytes{0} : CollectiveRequest{}.size;
}

CollectiveSpec named_spec(const std::string& text, const CollectiveRequest& request,
                          std::uint32_t chunks_per_shard) {
  CollectiveSpec spec = parse_collective(text);
  spec.chunks_per_shard = chunks_per_shard;
  if (has_shares(spec.kind)) spec.shares.bytes = request.shares;
  spec.size =
      request.size.count > 0 || !spec.shares.bytes.empty() ? request.size : usual_size({text});
  return spec;
}

Collective make_collective(const Topology& topology, const CollectiveRequest& request,
                           std::uint32_t chunks_per_shard) {
  if (request.texts.empty()) throw InputError("no collective is named");
  std::vector<Collective> all;
  for (const std::string& text : request.texts) {
    if (is_collective_file(text)) {
      all.push_back(read_collective(text, topology));
      continue;
    }
    all.push_back(make_collective(topology, named_spec(text, request, chunks_per_shard)));
  }
  return all.size() == 1 ? std::move(all.front()) : merge(all);
}

Bytes size_of(const Topology& topology, const CollectiveRequest& request) {
  return request.size.count == 0 || std::ranges::any_of(request.texts, is_collective_file)
             ? make_collective(topology, request, 1).size()
             : request.size;
}

namespace {

std::string part_text(const Topology& topology, const CollectivePart& part) {
  std::string text =
      part.shares.words.empty() ? std::string(to_text(part.kind)) : part.shares.words;
  if (has_root(part.kind)) text += fmt::format(",root={}", part.group[part.root].value);
  if (part.group.empty() || is_everyone(part.group, topology.npu_count())) return text;
  std::vector<std::uint32_t> members;
  for (const NodeId member : part.group) members.push_back(member.value);
  return text + ",group=" + ranges_text(members);
}

} // namespace

std::string collective_text(const Topology& topology, const Collective& collective) {
  std::vector<std::string> texts;
  for (const CollectivePart& part : collective.parts) texts.push_back(part_text(topology, part));
  return joined(texts, " + ");
}

namespace {

Bytes parse_size(std::string_view text) {
  const Bytes size = parse_bytes(text);
  if (size.count < 1) throw InputError(fmt::format("size \"{}\" must be at least 1B", text));
  return size;
}

std::vector<Bytes> parse_range(std::string_view text) {
  const std::size_t dots = text.find("..");
  if (dots == std::string_view::npos) return {parse_size(text)};
  const Bytes first = parse_size(trimmed(text.substr(0, dots)));
  const Bytes last = parse_size(trimmed(text.substr(dots + 2)));
  if (last < first) throw InputError(fmt::format("sizes \"{}\" fall: put the smaller first", text));
  std::vector<Bytes> sizes{first};
  while (sizes.back().count <= last.count / 2) sizes.push_back({sizes.back().count * 2});
  if (sizes.back() != last) sizes.push_back(last);
  return sizes;
}

} // namespace

std::vector<Bytes> parse_sizes(std::string_view text) {
  std::vector<Bytes> sizes;
  for (const std::string_view part : split(text, ','))
    for (const Bytes size : parse_range(trimmed(part))) {
      if (!sizes.empty() && size <= sizes.back())
        throw InputError(fmt::format("sizes \"{}\" {}", text,
                                     size == sizes.back()
                                         ? fmt::format("have {} twice", to_text(size))
                                         : "fall: put the smaller first"));
      sizes.push_back(size);
    }
  return sizes;
}

std::optional<std::uint32_t> parse_chunks(std::string_view text) {
  if (text == "auto") return std::nullopt;
  return static_cast<std::uint32_t>(
      parse_integer(text, "chunks per shard (or auto)", 1, most_chunks));
}

} // namespace tutti
