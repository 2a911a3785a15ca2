// Why: a system file has much that is no matter of who sends what. Here all of it is read, so that
// a misspelt key is an error, and some is kept:
//
//   {"preferred-dataset-splits": 4, "active-chunks-per-dimension": 1,
//    "collective-optimization": "localBWAware",
//    "all-reduce-implementation": ["ring", "direct"], ...}
//
// oneRing and the like, as the first, are one dimension of all NPUs. scheduling-policy decides
// between several collectives only.
// Source: astra-sim 518bd51, system/Sys.cc.
#include "algorithms/astra_system_file.hpp"

#include "sim/error.hpp"
#include "sim/files/gzip.hpp"
#include "sim/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>
#include <utility>

namespace tutti {

namespace {

AstraImplementation astra_implementation(const TreeValue& value) {
  struct Name {
    std::string_view name;
    AstraMethod method;
    bool of_all_npus;
  };
  static constexpr std::array<Name, 7> names{
      {{"ring", AstraMethod::ring, false},
       {"oneRing", AstraMethod::ring, true},
       {"direct", AstraMethod::direct, false},
       {"oneDirect", AstraMethod::direct, true},
       {"halvingDoubling", AstraMethod::halving_doubling, false},
       {"oneHalvingDoubling", AstraMethod::halving_doubling, true},
       {"doubleBinaryTree", AstraMethod::double_binary_tree, false}}};
  const std::string text = value.string();
  std::vector<std::string> known;
  for (const Name& row : names) {
    known.emplace_back(row.name);
    if (!text.starts_with(row.name)) continue;
    const std::string_view rest = std::string_view(text).substr(row.name.size());
    AstraImplementation found{row.method, row.of_all_npus, 0, value};
    if (rest.empty()) return found;
    if (row.method != AstraMethod::direct) continue;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), found.window);
    if (error == std::errc() && end == rest.data() + rest.size() && found.window > 0) return found;
  }
  throw value.error(unknown_name("implementation", text, known));
}

std::string_view astra_key(CollectiveKind kind) {
  switch (kind) {
  case CollectiveKind::all_gather: return "all-gather-implementation";
  case CollectiveKind::reduce_scatter: return "reduce-scatter-implementation";
  case CollectiveKind::all_reduce: return "all-reduce-implementation";
  default: return "all-to-all-implementation";
  }
}

void require_astra_word(const TreeValue& root, const std::string& key,
                        const std::vector<std::string>& known) {
  if (const auto value = root.find(key))
    if (const std::string word = value->string(); std::ranges::find(known, word) == known.end())
      throw value->error(unknown_name(key, word, known));
}

} // namespace

AstraSystem read_astra_system(const std::string& file, CollectiveKind kind) {
  constexpr std::size_t most_bytes = std::size_t{1} << 20;
  constexpr std::int64_t most_chunks = 1024;
  const std::string text = read_input_file(file);
  if (text.size() > most_bytes)
    throw InputError(fmt::format("{}: {} bytes are no system file of ASTRA-sim (at most 1 MiB)",
                                 file, text.size()));
  const TreeValue root = parse_json(text, file);
  std::vector<std::string> keys{"scheduling-policy", "collective-optimization",
                                "active-chunks-per-dimension", "preferred-dataset-splits",
                                // of what is no matter here
                                "endpoint-delay", "local-reduction-delay", "local-mem-bw", "L", "o",
                                "g", "G", "model-shared-bus", "peak-perf", "roofline-enabled",
                                "trace-enabled", "replay-only", "track-local-mem",
                                "local-mem-trace-filename", "boost-mode"};
  for (const CollectiveKind each : {CollectiveKind::all_gather, CollectiveKind::reduce_scatter,
                                    CollectiveKind::all_reduce, CollectiveKind::all_to_all}) {
    keys.emplace_back(astra_key(each));
    const std::string custom = fmt::format("{}-custom", astra_key(each));
    if (const auto value = root.find(custom))
      throw value->error("collectives of its users (Chakra traces) aren't read");
    if (const auto list = root.find(keys.back()))
      for (const TreeValue& name : list->list()) (void)astra_implementation(name);
  }
  if (const auto value = root.find("per-node-custom-implementation"))
    throw value->error("collectives of its users (Chakra traces) aren't read");
  root.allow_only(keys);
  require_astra_word(root, "scheduling-policy", {"LIFO", "FIFO", "EXPLICIT"});
  require_astra_word(root, "collective-optimization", {"baseline", "localBWAware"});

  AstraSystem system;
  system.splits =
      static_cast<std::uint32_t>(root.at("preferred-dataset-splits").integer(1, most_chunks));
  if (const auto active = root.find("active-chunks-per-dimension"))
    system.active = static_cast<std::size_t>(active->integer(1, most_chunks));
  if (kind == CollectiveKind::all_reduce)
    system.local_bw_aware = root.at("collective-optimization").string() == "localBWAware";
  for (const TreeValue& name : root.at(std::string(astra_key(kind))).list())
    system.implementations.push_back(astra_implementation(name));
  if (system.implementations.empty())
    throw root.at(std::string(astra_key(kind))).error("an implementation for each dimension");
  if (const auto delay = root.find("endpoint-delay"))
    system.left_out["left_out_endpoint_delay_seconds"] = delay->number(0, 1e18) * 1e-9;
  if (const auto bandwidth = root.find("local-mem-bw"))
    system.left_out["left_out_local_memory_bytes_per_second"] = bandwidth->number(0, 1e9) * 1e9;
  for (const AstraImplementation& each : system.implementations)
    if (each.window > 0) system.left_out["left_out_window"] = static_cast<double>(each.window);
  return system;
}

} // namespace tutti
