// Why: sketches that exist are written in TACCL's JSON (its public code's examples; listing 1 of
// the paper has three more keys). Keys and their meaning are those of TACCL; what it reads only in
// its code is said here: the shares of a NIC that it derives, switches listed twice (parallel
// ones), and symmetry, which it takes per group of ranks.
#include "synth/taccl/sketch.hpp"

#include "sim/error.hpp"
#include "sim/files/gzip.hpp"
#include "sim/files/tree_value.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>
#include <utility>

namespace tutti::sketch_format {

namespace {

std::uint32_t count_of(const TreeValue& value, std::int64_t low = 0) {
  constexpr std::int64_t most = 65536;
  return static_cast<std::uint32_t>(value.integer(low, most));
}

std::vector<LocalRank> ranks_of(const TreeValue& value) {
  std::vector<LocalRank> ranks;
  for (const TreeValue& each : value.list()) ranks.push_back(count_of(each));
  return ranks;
}

LocalRank rank_of(const std::string& key, const TreeValue& at) {
  LocalRank rank = 0;
  const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), rank);
  if (error != std::errc() || end != key.data() + key.size() || (key.size() > 1 && key[0] == '0') ||
      rank > 65536)
    throw at.error(fmt::format("\"{}\" is no NPU's rank", key));
  return rank;
}

void read_inside(const TreeValue& table, Sketch& sketch) {
  table.allow_only({"strategy", "switches", "switch_hyperedge_strategy"});
  const TreeValue strategy = table.at("strategy");
  const std::string text = strategy.string();
  if (text == "minmax" || text == "maxmin") {
    sketch.balance = text == "minmax" ? LinkBalance::minmax : LinkBalance::maxmin;
  } else if (text != "none" && text != "switch") {
    throw strategy.error(
        fmt::format("unknown strategy \"{}\" (known: maxmin, minmax, none, switch)", text));
  }
  if (text != "switch") {
    for (const char* key : {"switches", "switch_hyperedge_strategy"})
      if (table.has(key))
        throw table.at(key).error(fmt::format("strategy \"{}\" has no switches", text));
    return;
  }
  const std::vector<TreeValue> switches = table.at("switches").list();
  const std::vector<TreeValue> policies = table.at("switch_hyperedge_strategy").list();
  if (switches.empty() || switches.size() != policies.size())
    throw table.error(fmt::format("{} switches need as many strategies, not {}", switches.size(),
                                  policies.size()));
  for (std::size_t i = 0; i < switches.size(); ++i) {
    Sketch::Hyperedge edge;
    edge.npus = ranks_of(switches[i]);
    edge.place = switches[i].place();
    try {
      edge.policy = connection_policy_words.parse(policies[i].string());
    } catch (const InputError& e) {
      throw policies[i].error(e.what());
    }
    sketch.hyperedges.push_back(std::move(edge));
  }
}

std::map<LocalRank, std::vector<LocalRank>> ranks_by_rank(const TreeValue& table) {
  std::map<LocalRank, std::vector<LocalRank>> ranks;
  for (const auto& [key, value] : table.members()) ranks[rank_of(key, value)] = ranks_of(value);
  return ranks;
}

/// One number for all senders: they have equal shares of their NICs.
double split_of(const TreeValue& table, const Sketch& sketch) {
  std::optional<double> split;
  for (const auto& [key, value] : table.members()) {
    if (sketch.between == Sketch::Between::mapped &&
        !sketch.connections.contains(rank_of(key, value)))
      throw value.error(fmt::format("NPU {} is no sender", key));
    const double share = value.number(1, 1e6);
    if (split && *split != share)
      throw value.error(fmt::format("all senders need one split, not {} and {}", *split, share));
    split = share;
  }
  if (!split) throw table.error("no sender has a split");
  return *split;
}

/// Listing 1: chunks of NPU p leave through (p div r1) * r1 + r2.
void read_relay_map(const TreeValue& pair, Sketch& sketch) {
  const std::vector<LocalRank> values = ranks_of(pair);
  if (values.size() != 2 || values[0] == 0 || values[1] >= values[0])
    throw pair.error("expected [r1, r2] with r2 < r1");
  for (const auto& [sender, receivers] : sketch.connections) {
    if (sender % values[0] != values[1])
      throw pair.error(fmt::format("NPU {} sends, but no chunk leaves through it", sender));
    for (LocalRank npu = sender - values[1]; npu < sender - values[1] + values[0]; ++npu)
      sketch.leaves_through[sender].push_back(npu);
  }
}

void read_between(const TreeValue& table, Sketch& sketch) {
  table.allow_only({"strategy", "internode_conn", "gpus_to_sender_rev_map", "enforce_ordering",
                    "beta_split", "chunk_to_relay_map"});
  const TreeValue strategy = table.at("strategy");
  if (strategy.string() != "relay")
    throw strategy.error(fmt::format("unknown strategy \"{}\" (known: relay)", strategy.string()));
  const TreeValue connections = table.at("internode_conn");
  sketch.between_place = sketch.leaves_place = connections.place();
  if (!connections.is_string()) {
    sketch.between = Sketch::Between::mapped;
    sketch.connections = ranks_by_rank(connections);
  } else if (const std::string text = connections.string(); text == "direct-map") {
    sketch.between = Sketch::Between::direct;
  } else if (text == "fully-connected") {
    sketch.between = Sketch::Between::full;
  } else {
    throw connections.error(fmt::format(
        "unknown connections \"{}\" (known: direct-map, fully-connected, or a map)", text));
  }
  if (const auto leaves = table.find("gpus_to_sender_rev_map"); leaves && !leaves->is_null()) {
    sketch.leaves_place = leaves->place();
    sketch.leaves_through = ranks_by_rank(*leaves);
  }
  if (const auto relays = table.find("chunk_to_relay_map")) {
    if (!sketch.leaves_through.empty() || sketch.between != Sketch::Between::mapped)
      throw relays->error("it needs a map of connections, and no gpus_to_sender_rev_map beside it");
    sketch.leaves_place = relays->place();
    read_relay_map(*relays, sketch);
  }
  if (const auto split = table.find("beta_split")) sketch.beta_split = split_of(*split, sketch);
  if (const auto first = table.find("enforce_ordering")) sketch.own_chunks_first = first->boolean();
}

/// "1M", "32K", "1KB" or a number of bytes, powers of 1024.
Bytes input_size(const TreeValue& size) {
  if (!size.is_string()) return {size.integer(1, std::int64_t{1} << 40)};
  std::string text = size.string();
  if (!text.empty() && std::string_view("KMG").find(text.back()) != std::string_view::npos)
    text += "iB";
  else if (text.size() > 1 && text.back() == 'B' &&
           std::string_view("KMG").find(text[text.size() - 2]) != std::string_view::npos)
    text.insert(text.size() - 1, "i");
  try {
    return parse_bytes(text);
  } catch (const InputError& e) {
    throw size.error(e.what());
  }
}

} // namespace

Sketch parse_json_sketch(std::string_view text, const std::string& source) {
  const TreeValue table = parse_json(text, source);
  table.allow_only(
      {"nnodes", "intranode_sketch", "internode_sketch", "symmetry_offsets", "hyperparameters"});
  Sketch sketch;
  sketch.name = plain_stem(source);
  const TreeValue machines = table.at("nnodes");
  sketch.machines = static_cast<std::uint32_t>(machines.integer(1, most_machines));
  sketch.machines_place = machines.place();
  read_inside(table.at("intranode_sketch"), sketch);
  if (const auto between = table.find("internode_sketch")) read_between(*between, sketch);
  if (const auto symmetry = table.find("symmetry_offsets"))
    for (const TreeValue& pair : symmetry->list()) {
      const std::vector<LocalRank> values = ranks_of(pair);
      if (values.size() != 2) throw pair.error("a rotation is [offset, size]");
      sketch.symmetry.push_back({values[0], values[1], pair.place()});
    }
  if (const auto parameters = table.find("hyperparameters")) {
    parameters->allow_only({"input_chunkup", "input_size"});
    if (const auto chunks = parameters->find("input_chunkup"))
      sketch.partitions = count_of(*chunks, 1);
    if (const auto size = parameters->find("input_size")) {
      const Bytes whole = input_size(*size); // of the data at each NPU
      sketch.chunk = Bytes{(whole.count + sketch.partitions - 1) / sketch.partitions};
      if (sketch.chunk->count < 1) throw size->error("a chunk has at least 1 byte");
    }
  }
  finish(sketch);
  return sketch;
}

} // namespace tutti::sketch_format
