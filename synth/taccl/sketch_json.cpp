// Why: sketches that exist are written in TACCL's JSON (its public code's examples; listing 1 of
// the paper has three more keys). Keys and their meaning are those of TACCL; what it reads only in
// its code is said here: the shares of a NIC that it derives, switches listed twice (parallel
// ones), and symmetry, which it takes per group of ranks.
#include "synth/taccl/sketch.hpp"

#include "sim/error.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <set>
#include <utility>

namespace tutti::sketch_format {

namespace {

using nlohmann::json;

/// A value with its path, "internode_sketch.internode_conn.3".
class JsonPlace {
public:
  JsonPlace(const json& value, std::string source, std::string path)
      : value_(&value), source_(std::move(source)), path_(std::move(path)) {}

  [[nodiscard]] std::string place() const {
    return path_.empty() ? source_ + ": " : fmt::format("{}: {}: ", source_, path_);
  }
  [[nodiscard]] InputError error(const std::string& message) const {
    return InputError(place() + message);
  }
  [[nodiscard]] InputError expected(std::string_view what) const {
    return error(fmt::format("expected {}, found {}", what, value_->type_name()));
  }
  [[nodiscard]] bool is_string() const { return value_->is_string(); }
  [[nodiscard]] bool is_null() const { return value_->is_null(); }

  [[nodiscard]] JsonPlace member(const std::string& key) const {
    return {(*value_)[key], source_, path_.empty() ? key : path_ + "." + key};
  }
  [[nodiscard]] bool has(const std::string& key) const { return value_->contains(key); }
  [[nodiscard]] std::optional<JsonPlace> find(const std::string& key) const {
    return has(key) ? std::optional(member(key)) : std::nullopt;
  }
  [[nodiscard]] JsonPlace at(const std::string& key) const {
    if (!has(key)) throw error(fmt::format("a key \"{}\" is missing", key));
    return member(key);
  }
  void require_table(const std::vector<std::string>& known) const {
    if (!value_->is_object()) throw expected("an object");
    for (const auto& [key, value] : value_->items())
      if (std::ranges::find(known, key) == known.end())
        throw error(unknown_name("key", key, known));
  }
  [[nodiscard]] std::vector<std::pair<std::string, JsonPlace>> members() const {
    if (!value_->is_object()) throw expected("an object");
    std::vector<std::pair<std::string, JsonPlace>> all;
    for (const auto& [key, value] : value_->items()) all.emplace_back(key, member(key));
    return all;
  }
  [[nodiscard]] std::vector<JsonPlace> list() const {
    if (!value_->is_array()) throw expected("a list");
    std::vector<JsonPlace> all;
    for (std::size_t i = 0; i < value_->size(); ++i)
      all.emplace_back((*value_)[i], source_, fmt::format("{}[{}]", path_, i));
    return all;
  }
  [[nodiscard]] std::string string() const {
    if (!value_->is_string()) throw expected("a text");
    return value_->get<std::string>();
  }
  [[nodiscard]] bool boolean() const {
    if (!value_->is_boolean()) throw expected("true or false");
    return value_->get<bool>();
  }
  [[nodiscard]] double number() const {
    if (!value_->is_number() || !std::isfinite(value_->get<double>())) throw expected("a number");
    return value_->get<double>();
  }
  [[nodiscard]] std::uint32_t count(std::uint32_t low = 0, std::uint32_t high = 65536) const {
    if (!value_->is_number_integer()) throw expected("a whole number");
    const double value = value_->get<double>();
    if (value < low || value > high)
      throw error(fmt::format("{} is out of range ({} .. {})", value, low, high));
    return value_->get<std::uint32_t>();
  }
  [[nodiscard]] std::vector<LocalRank> ranks() const {
    std::vector<LocalRank> ranks;
    for (const JsonPlace& each : list()) ranks.push_back(each.count());
    return ranks;
  }

private:
  const json* value_;
  std::string source_, path_;
};

/// JSON without the comments that listing 1 has; repeated keys are refused.
json parsed(std::string_view text, const std::string& source) {
  std::vector<std::set<std::string>> keys;
  const auto watch = [&](int, json::parse_event_t event, json& value) {
    if (event == json::parse_event_t::object_start) keys.emplace_back();
    if (event == json::parse_event_t::object_end) keys.pop_back();
    if (event == json::parse_event_t::key && !keys.back().insert(value.get<std::string>()).second)
      throw InputError(
          fmt::format("{}: the key \"{}\" stands twice", source, value.get<std::string>()));
    return true;
  };
  try {
    return json::parse(text, watch, true, true);
  } catch (const json::parse_error& e) {
    const std::size_t at = std::min(e.byte == 0 ? 0 : e.byte - 1, text.size());
    const std::string_view before = text.substr(0, at);
    const std::size_t line_start = before.rfind('\n') + 1; // npos + 1 is 0
    const std::string_view what = e.what();
    const std::size_t colon = what.find(": ");
    throw InputError(fmt::format("{}:{}:{}: malformed JSON: {}", source,
                                 1 + std::ranges::count(before, '\n'), 1 + at - line_start,
                                 colon == std::string_view::npos ? what : what.substr(colon + 2)));
  } catch (const json::exception&) {
    throw InputError(fmt::format("{}: malformed JSON: a number is out of range", source));
  }
}

LocalRank rank_of(const std::string& key, const JsonPlace& at) {
  LocalRank rank = 0;
  const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), rank);
  if (error != std::errc() || end != key.data() + key.size() || rank > 65536)
    throw at.error(fmt::format("\"{}\" is no NPU's rank", key));
  return rank;
}

void read_inside(const JsonPlace& table, Sketch& sketch) {
  table.require_table({"strategy", "switches", "switch_hyperedge_strategy"});
  const JsonPlace strategy = table.at("strategy");
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
        throw table.member(key).error(fmt::format("strategy \"{}\" has no switches", text));
    return;
  }
  const std::vector<JsonPlace> switches = table.at("switches").list();
  const std::vector<JsonPlace> policies = table.at("switch_hyperedge_strategy").list();
  if (switches.empty() || switches.size() != policies.size())
    throw table.error(fmt::format("{} switches need as many strategies, not {}", switches.size(),
                                  policies.size()));
  for (std::size_t i = 0; i < switches.size(); ++i) {
    Sketch::Hyperedge edge;
    edge.npus = switches[i].ranks();
    edge.place = switches[i].place();
    try {
      edge.policy = parse_policy(policies[i].string());
    } catch (const InputError& e) {
      throw policies[i].error(e.what());
    }
    sketch.hyperedges.push_back(std::move(edge));
  }
}

std::map<LocalRank, std::vector<LocalRank>> ranks_by_rank(const JsonPlace& table) {
  std::map<LocalRank, std::vector<LocalRank>> ranks;
  for (const auto& [key, value] : table.members()) ranks[rank_of(key, value)] = value.ranks();
  return ranks;
}

/// One number for all senders: they have equal shares of their NICs.
double split_of(const JsonPlace& table) {
  std::optional<double> split;
  for (const auto& [key, value] : table.members()) {
    const double share = value.number();
    if (share < 1 || share > 1e6) throw value.error("a split is at least 1, at most 1e6");
    if (split && *split != share)
      throw value.error(fmt::format("all senders need one split, not {} and {}", *split, share));
    split = share;
  }
  if (!split) throw table.error("no sender has a split");
  return *split;
}

/// Listing 1: chunks of NPU p leave through (p div r1) * r1 + r2.
void read_relay_map(const JsonPlace& pair, Sketch& sketch) {
  const std::vector<LocalRank> values = pair.ranks();
  if (values.size() != 2 || values[0] == 0 || values[1] >= values[0])
    throw pair.error("expected [r1, r2] with r2 < r1");
  for (const auto& [sender, receivers] : sketch.connections) {
    if (sender % values[0] != values[1])
      throw pair.error(fmt::format("NPU {} sends, but no chunk leaves through it", sender));
    for (LocalRank npu = sender - values[1]; npu < sender - values[1] + values[0]; ++npu)
      sketch.leaves_through[sender].push_back(npu);
  }
}

void read_between(const JsonPlace& table, Sketch& sketch) {
  table.require_table({"strategy", "internode_conn", "gpus_to_sender_rev_map", "enforce_ordering",
                       "beta_split", "chunk_to_relay_map"});
  const JsonPlace strategy = table.at("strategy");
  if (strategy.string() != "relay")
    throw strategy.error(fmt::format("unknown strategy \"{}\" (known: relay)", strategy.string()));
  const JsonPlace connections = table.at("internode_conn");
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
  if (const auto split = table.find("beta_split")) sketch.beta_split = split_of(*split);
  if (const auto first = table.find("enforce_ordering")) sketch.own_chunks_first = first->boolean();
}

/// "1M", "32K", "1KB" or a number of bytes, powers of 1024.
Bytes input_size(const JsonPlace& size) {
  if (!size.is_string()) return {size.count(1, UINT32_MAX - 1)};
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

Sketch parse_json(std::string_view text, const std::string& source) {
  const json document = parsed(text, source);
  const JsonPlace table(document, source, "");
  table.require_table(
      {"nnodes", "intranode_sketch", "internode_sketch", "symmetry_offsets", "hyperparameters"});
  Sketch sketch;
  sketch.name = std::filesystem::path(source).stem().string();
  const JsonPlace machines = table.at("nnodes");
  sketch.machines = machines.count();
  sketch.machines_place = machines.place();
  read_inside(table.at("intranode_sketch"), sketch);
  if (const auto between = table.find("internode_sketch")) read_between(*between, sketch);
  if (const auto symmetry = table.find("symmetry_offsets"))
    for (const JsonPlace& pair : symmetry->list()) {
      const std::vector<LocalRank> values = pair.ranks();
      if (values.size() != 2) throw pair.error("a rotation is [offset, size]");
      sketch.symmetry.push_back({values[0], values[1], pair.place()});
    }
  if (const auto parameters = table.find("hyperparameters")) {
    parameters->require_table({"input_chunkup", "input_size"});
    if (const auto chunks = parameters->find("input_chunkup")) sketch.partitions = chunks->count(1);
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
