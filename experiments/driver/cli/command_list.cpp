// `tutti list`: what there is to choose from.
#include "experiments/driver/cli/catalogue.hpp"
#include "experiments/driver/cli/commands.hpp"
#include "experiments/driver/cli/output.hpp"
#include "experiments/driver/records/json.hpp"
#include "experiments/driver/records/table.hpp"
#include "experiments/driver/studies/registry.hpp"
#include "runtime/formats/msccl/runtimes.hpp"
#include "sim/collective.hpp"
#include "sim/engines/engine.hpp"
#include "sim/error.hpp"
#include "sim/text.hpp"
#include "topologies/list.hpp"
#include "workloads/model.hpp"
#include "workloads/npu_profile.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>

namespace tutti {

namespace {

Table algorithm_table() {
  Table table{{{"algorithm"},
               {"needs", Align::left, 2, true},
               {"collectives", Align::left, 0, true},
               {"settings", Align::left, 1, true},
               {"source", Align::left, 3, true}},
              {}};
  for (const AlgorithmRow& row : all_algorithms()) {
    std::vector<std::string> kinds;
    for (const CollectiveKind kind : row.collectives) kinds.emplace_back(to_text(kind));
    std::vector<std::string> settings;
    for (const Setting& setting : row.settings) settings.emplace_back(setting.name);
    table.rows.push_back({std::string(row.name), std::string(row.needs), joined(kinds, ", "),
                          settings.empty() ? "-" : joined(settings, ", "),
                          std::string(row.source)});
  }
  return table;
}

/// What it is, without its source and details; `tutti show` has it all.
std::string first_clause(const std::string& note) {
  return note.substr(0, std::min({note.find(": "), note.find(" ("), note.find(", as in")}));
}

Table topology_table() {
  Table table{{{"topology"},
               {"shape", Align::left, 0, true},
               {"options", Align::left, 1, true},
               {"note", Align::left, 2, true}},
              {}};
  for (const TopologyRow& row : topology_families()) {
    std::vector<std::string> options;
    for (const TopologyOption& option : row.options)
      options.push_back(fmt::format("{}: {}", option.key, option.help));
    table.rows.push_back({std::string(row.name), std::string(row.shape),
                          options.empty() ? "-" : joined(options, "; "), std::string(row.note)});
  }
  for (const Machine& machine : machines())
    table.rows.push_back({machine.name, "machine", "-", first_clause(machine.note)});
  return table;
}

std::string_view meaning_of(CollectiveKind kind) {
  switch (kind) {
  case CollectiveKind::broadcast: return "the root's buffer to everyone";
  case CollectiveKind::reduce: return "everyone's buffers, combined, to the root";
  case CollectiveKind::gather: return "everyone's shard to the root";
  case CollectiveKind::scatter: return "the root's shards, one to each";
  case CollectiveKind::all_gather: return "everyone's shard to everyone";
  case CollectiveKind::reduce_scatter: return "combined; shard i ends at member i";
  case CollectiveKind::all_reduce: return "combined; everything ends everywhere";
  case CollectiveKind::all_to_all: return "shard j of member i to member j";
  case CollectiveKind::custom: break;
  }
  return "from a TOML file: any pre- and postcondition";
}

Table collective_table() {
  Table table{{{"collective"}, {"options"}, {"meaning", Align::left, 0, true}}, {}};
  const auto add = [&table](CollectiveKind kind, std::string options) {
    table.rows.push_back(
        {std::string(to_text(kind)), std::move(options), std::string(meaning_of(kind))});
  };
  for (const CollectiveKind kind : named_collectives())
    add(kind, has_root(kind) ? "root=NPU, group=0-7+16" : "group=0-7+16");
  add(CollectiveKind::custom, "FILE.toml");
  return table;
}

Table catalogue_table(const std::string& what, const std::vector<CatalogueEntry>& entries) {
  Table table{{{what}, {"title", Align::left, 0, true}, {"file", Align::left, 1}}, {}};
  for (const CatalogueEntry& entry : entries)
    table.rows.push_back({entry.name, entry.title, entry.file});
  return table;
}
Table experiment_table() { return catalogue_table("experiment", catalogue()); }
Table study_table() { return catalogue_table("study", study_catalogue()); }

std::string count_text(double count) {
  if (count >= 1e12) return fmt::format("{:.4g} T", count / 1e12);
  if (count >= 1e9) return fmt::format("{:.4g} G", count / 1e9);
  return fmt::format("{:.4g} M", count / 1e6);
}

Table model_table() {
  Table table{{{"model"},
               {"parameters", Align::right},
               {"flops", Align::right},
               {"of a"},
               {"layers", Align::right},
               {"blocks", Align::right},
               {"note", Align::left, 1, true}},
              {}};
  for (const NamedModel& named : named_models()) {
    const Model model = load_model(named.name);
    table.rows.push_back({named.name, count_text(model.parameters()),
                          count_text(model.training_flops()), model.sample,
                          fmt::to_string(model.layers.size()), fmt::to_string(model.block_count()),
                          named.note});
  }
  return table;
}

std::string peaks_text(const NpuProfile& npu) {
  std::vector<std::string> peaks;
  for (const auto& [precision, flops] : npu.peak_flops)
    peaks.push_back(fmt::format("{} {}", to_text(precision), count_text(flops)));
  return joined(peaks, ", ");
}

Table npu_table() {
  Table table{{{"npu"},
               {"peak flops/s", Align::left, 0, true},
               {"memory", Align::right},
               {"bandwidth", Align::right},
               {"source", Align::left, 1, true}},
              {}};
  for (const std::string& name : npu_profile_names()) {
    const NpuProfile npu = load_npu_profile(name);
    table.rows.push_back(
        {name, peaks_text(npu), short_text(npu.memory),
         short_rate_text(static_cast<double>(npu.memory_bandwidth.bytes_per_second)),
         first_clause(npu.source)});
  }
  return table;
}

Table engine_table() {
  Table table{{{"engine"}, {"disciplines"}, {"note", Align::left, 0, true}}, {}};
  for (const EngineRow& row : engines())
    table.rows.push_back(
        {std::string(row.name), row.knows_fluid ? "fifo, fluid" : "fifo", std::string(row.note)});
  return table;
}

/// Steps that do several things at once, or copy: what a runtime lacks kernels for.
std::string lacking_text(const runtime::MscclRuntime& row) {
  std::vector<std::string> lacking;
  for (std::size_t k = 0; k < runtime::step_kind_count; ++k)
    if (const auto kind = static_cast<runtime::StepKind>(k);
        (runtime::kinds_bit(kind) & row.limits.kinds) == 0)
      lacking.emplace_back(runtime::to_text(kind));
  return lacking.empty() ? "-" : joined(lacking, ", ");
}

std::string words_text(const runtime::MscclRuntime& row) {
  std::vector<std::string> words;
  for (const CollectiveKind kind : all_collectives())
    if (const auto word = runtime::msccl_word(row, kind)) words.emplace_back(*word);
  return joined(words, ", ");
}

Table runtime_table() {
  Table table{{{"runtime"},
               {"steps", Align::right},
               {"blocks parsed", Align::right},
               {"launched", Align::right, 4},
               {"peers", Align::right, 4},
               {"channels", Align::right},
               {"units", Align::right, 4},
               {"elements", Align::right, 4},
               {"no kernel for", Align::left, 1, true},
               {"collectives", Align::left, 2, true},
               {"releases", Align::left, 0, true},
               {"source", Align::left, 3, true}},
              {}};
  for (const runtime::MscclRuntime& row : runtime::msccl_runtimes())
    table.rows.push_back({fmt::format("{}@{}", row.name, row.version),
                          fmt::to_string(row.limits.steps), fmt::to_string(row.parsed_blocks),
                          fmt::to_string(row.launched_blocks), fmt::to_string(row.limits.peers),
                          fmt::to_string(row.limits.channels), fmt::to_string(row.limits.count),
                          fmt::to_string(row.limits.elements), lacking_text(row), words_text(row),
                          std::string(row.releases), std::string(row.source)});
  return table;
}

struct Listing {
  std::string_view name;
  Table (*table)();
  std::string_view note = {}; ///< below the table
};
// What `tutti list KIND` knows: a kind is a row here.
constexpr std::array listings{
    Listing{"algorithms", algorithm_table},
    Listing{"topologies", topology_table,
            "families take bandwidth= and latency=, one value or one per dimension\n"
            "all take without=npu3+npu9, without-link=npu0>npu1 (or npu0-npu1: both ways), "
            "fail-links=5% (or a number of "
            "random cables), fail-seed=1\n"},
    Listing{"collectives", collective_table},
    Listing{"models", model_table, "flops: forward and backward, of a multiply-add two\n"},
    Listing{"npus", npu_table},
    Listing{"experiments", experiment_table},
    Listing{"studies", study_table},
    Listing{"engines", engine_table},
    Listing{"runtimes", runtime_table,
            "steps: of a block; blocks: of a GPU; peers: of a channel, to send to, and to receive "
            "from; units: of a step; elements: of XML that a GPU keeps\n"}};

// "peak_flops_per_s" for "peak flops/s"
std::string key_of(std::string title) {
  if (const std::size_t slash = title.find('/'); slash != std::string::npos)
    title.replace(slash, 1, "_per_");
  std::ranges::replace(title, ' ', '_');
  return title;
}

// An object per row, with the column titles as keys; the first says what is listed.
nlohmann::ordered_json json_of(const Table& table) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const auto& cells : table.rows) {
    nlohmann::ordered_json row = {{"kind", table.columns.front().title}};
    for (std::size_t i = 0; i < cells.size(); ++i)
      row[i == 0 ? "name" : key_of(table.columns[i].title)] = cells[i];
    rows.push_back(std::move(row));
  }
  return rows;
}

} // namespace

int list_command(const ListArguments& arguments) {
  std::vector<std::string> known;
  for (const Listing& listing : listings) {
    known.emplace_back(listing.name);
    if (listing.name != arguments.kind) continue;
    const Table table = listing.table();
    const TableForm form = table_form(arguments.tables);
    if (arguments.json)
      print_text(answer_json("list", json_of(table)));
    else
      print_tables(to_text(table, form) + wrapped(listing.note, form));
    return 0;
  }
  throw InputError(unknown_name("list", arguments.kind, known));
}

} // namespace tutti
