// Why: the form in which people write sketches for Tutti, with places in errors and comments. It
// says what TACCL's JSON says (sketch_json.cpp), in the words of this program, and what the paper
// has and that format hasn't: the chunk's size, the split of a NIC's bandwidth (appendix A).
#include "synth/taccl/sketch.hpp"

#include "sim/error.hpp"
#include "sim/files/config.hpp"
#include "sim/files/gzip.hpp"
#include "sim/files/toml_string.hpp"
#include "sim/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <utility>

namespace tutti::sketch_format {

namespace {

std::string place_of(const ConfigValue& value) { return value.error("").what(); }
std::string place_of(const ConfigTable& table) { return table.error("").what(); }

std::uint32_t rank_of(const ConfigValue& value) {
  return static_cast<std::uint32_t>(value.integer(0, UINT32_MAX - 1));
}

std::vector<LocalRank> ranks_of(const ConfigValue& value) {
  std::vector<LocalRank> ranks;
  for (const ConfigValue& each : value.array()) ranks.push_back(rank_of(each));
  return ranks;
}

/// "1" = [0]: ranks by rank.
std::map<LocalRank, std::vector<LocalRank>> ranks_by_rank(ConfigTable table) {
  std::map<LocalRank, std::vector<LocalRank>> ranks;
  for (const std::string& key : table.keys()) {
    const ConfigValue value = table.at(key);
    std::uint32_t rank = 0;
    const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), rank);
    if (error != std::errc() || end != key.data() + key.size() ||
        (key.size() > 1 && key[0] == '0') || rank == UINT32_MAX)
      throw value.error(fmt::format("\"{}\" is no NPU's rank", key));
    ranks[rank] = ranks_of(value);
  }
  return ranks;
}

void read_inside(ConfigTable table, Sketch& sketch) {
  table.allow_only({"links", "balance", "switches"});
  if (const auto links = table.find("links")) {
    sketch.links_place = place_of(*links);
    sketch.links.emplace();
    for (const ConfigValue& pair : links->array()) {
      const std::vector<LocalRank> ends = ranks_of(pair);
      if (ends.size() != 2 || ends[0] == ends[1])
        throw pair.error("a link is [from, to], two different NPUs");
      sketch.links->emplace_back(ends[0], ends[1]);
    }
  }
  if (const auto balance = table.find("balance")) {
    const std::string text = balance->string();
    if (text == "minmax")
      sketch.balance = LinkBalance::minmax;
    else if (text == "maxmin")
      sketch.balance = LinkBalance::maxmin;
    else
      throw balance->error(fmt::format("unknown balance \"{}\" (known: maxmin, minmax)", text));
  }
  for (ConfigTable edge : table.tables("switches")) {
    edge.allow_only({"npus", "policy"});
    Sketch::Hyperedge& made = sketch.hyperedges.emplace_back();
    const ConfigValue npus = edge.at("npus");
    made.place = place_of(npus);
    made.npus = ranks_of(npus);
    if (const auto policy = edge.find("policy"))
      made.policy =
          policy->located([&] { return connection_policy_words.parse(policy->string()); });
  }
}

void read_between(ConfigTable table, Sketch& sketch) {
  table.allow_only({"connections", "beta_split", "leaves_through", "own_chunks_first"});
  const ConfigValue connections = table.at("connections");
  sketch.between_place = place_of(connections);
  if (connections.is_table()) {
    sketch.between = Sketch::Between::mapped;
    sketch.connections = ranks_by_rank(connections.table());
  } else if (const std::string text = connections.string(); text == "direct") {
    sketch.between = Sketch::Between::direct;
  } else if (text == "full") {
    sketch.between = Sketch::Between::full;
  } else {
    throw connections.error(fmt::format(
        "unknown connections \"{}\" (known: direct, full, or a table of receivers by sender)",
        text));
  }
  if (const auto split = table.find("beta_split")) {
    sketch.beta_split = split->number();
    if (*sketch.beta_split < 1 || *sketch.beta_split > 1e6)
      throw split->error("a split is at least 1, at most 1e6");
  }
  sketch.leaves_place = sketch.between_place;
  if (const auto leaves = table.find("leaves_through")) {
    sketch.leaves_place = place_of(*leaves);
    sketch.leaves_through = ranks_by_rank(leaves->table());
    if (sketch.leaves_through.empty())
      throw leaves->error("it names no sender: without it, chunks leave through anyone");
  }
  if (const auto first = table.find("own_chunks_first")) sketch.own_chunks_first = first->boolean();
}

std::string table_text(const std::map<LocalRank, std::vector<LocalRank>>& ranks) {
  std::vector<std::string> rows;
  for (const auto& [rank, others] : ranks)
    rows.push_back(fmt::format("{} = [{}]", rank, fmt::join(others, ", ")));
  return fmt::format("{{ {} }}", fmt::join(rows, ", "));
}

} // namespace

Sketch parse_toml_sketch(std::string_view text, const std::string& source) {
  ConfigTable table = parse_config(text, source);
  table.allow_only({"name", "machines", "partitions", "chunk", "symmetry", "inside", "between"});
  Sketch sketch;
  sketch.name = plain_stem(source);
  if (const auto name = table.find("name")) sketch.name = name->string();
  sketch.machines_place = place_of(table);
  if (const auto machines = table.find("machines")) {
    sketch.machines_place = place_of(*machines);
    sketch.machines = static_cast<std::uint32_t>(machines->integer(1, most_machines));
  }
  if (const auto partitions = table.find("partitions"))
    sketch.partitions = static_cast<std::uint32_t>(partitions->integer(1, 65536));
  if (const auto chunk = table.find("chunk")) {
    sketch.chunk = chunk->bytes();
    if (sketch.chunk->count < 1) throw chunk->error("a chunk has at least 1 byte");
  }
  if (const auto symmetry = table.find("symmetry")) {
    if (symmetry->is_string()) {
      if (symmetry->string() != "auto")
        throw symmetry->error("symmetry is \"auto\" or [[offset, size], ...]");
      sketch.finds_symmetry = true;
    } else {
      for (const ConfigValue& pair : symmetry->array()) {
        const std::vector<LocalRank> values = ranks_of(pair);
        if (values.size() != 2) throw pair.error("a rotation is [offset, size]");
        sketch.symmetry.push_back({values[0], values[1], place_of(pair)});
      }
    }
  }
  if (const auto inside = table.find("inside")) read_inside(inside->table(), sketch);
  if (const auto between = table.find("between")) {
    if (sketch.machines == 1) throw between->error("one machine has no others to connect with");
    read_between(between->table(), sketch);
  }
  finish(sketch);
  return sketch;
}

} // namespace tutti::sketch_format

namespace tutti {

std::string sketch_toml(const Sketch& sketch, const std::string& note) {
  std::string text;
  for (const std::string_view line : split(note, '\n')) text += fmt::format("# {}\n", line);
  text += fmt::format("name = {}\nmachines = {}\npartitions = {}\n", toml_string(sketch.name),
                      sketch.machines, sketch.partitions);
  if (sketch.chunk) text += fmt::format("chunk = \"{}\"\n", to_text(*sketch.chunk));
  if (sketch.finds_symmetry) {
    text += "symmetry = \"auto\"\n";
  } else if (!sketch.symmetry.empty()) {
    std::vector<std::string> rotations;
    for (const Sketch::Rotation& rotation : sketch.symmetry)
      rotations.push_back(fmt::format("[{}, {}]", rotation.offset, rotation.size));
    text += fmt::format("symmetry = [{}]\n", fmt::join(rotations, ", "));
  }
  if (sketch.links || sketch.balance != LinkBalance::none) {
    text += "\n[inside]\n";
    if (sketch.links) {
      std::vector<std::string> pairs;
      for (const auto& [from, to] : *sketch.links)
        pairs.push_back(fmt::format("[{}, {}]", from, to));
      text += fmt::format("links = [{}]\n", fmt::join(pairs, ", "));
    }
    if (sketch.balance != LinkBalance::none)
      text += fmt::format("balance = \"{}\"\n",
                          sketch.balance == LinkBalance::minmax ? "minmax" : "maxmin");
  }
  for (const Sketch::Hyperedge& edge : sketch.hyperedges)
    text += fmt::format("\n[[inside.switches]]\nnpus = [{}]\npolicy = \"{}\"\n",
                        fmt::join(edge.npus, ", "), to_text(edge.policy));
  if (sketch.between != Sketch::Between::nothing) {
    text += "\n[between]\nconnections = ";
    switch (sketch.between) {
    case Sketch::Between::direct: text += "\"direct\"\n"; break;
    case Sketch::Between::full: text += "\"full\"\n"; break;
    default: text += sketch_format::table_text(sketch.connections) + "\n";
    }
    if (sketch.beta_split) text += fmt::format("beta_split = {}\n", *sketch.beta_split);
    if (!sketch.leaves_through.empty())
      text +=
          fmt::format("leaves_through = {}\n", sketch_format::table_text(sketch.leaves_through));
    if (sketch.own_chunks_first) text += "own_chunks_first = true\n";
  }
  return text;
}

} // namespace tutti
