// `tutti list`: what there is to choose from.
#include "experiments/driver/cli/catalogue.hpp"
#include "experiments/driver/cli/commands.hpp"
#include "experiments/driver/records/json.hpp"
#include "experiments/driver/records/output.hpp"
#include "experiments/driver/records/table.hpp"
#include "experiments/driver/studies/registry.hpp"
#include "runtime/formats/msccl/runtimes.hpp"
#include "sim/collective.hpp"
#include "sim/engines/engine.hpp"
#include "sim/error.hpp"
#include "sim/text.hpp"
#include "topologies/import/list.hpp"
#include "topologies/list.hpp"
#include "workloads/model.hpp"
#include "workloads/npu_profile.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>

namespace tutti {

namespace {

using Json = nlohmann::ordered_json;

/// "-" for nothing, commas between what is several.
std::string plain_text(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_array()) return value.dump();
  return value.empty() ? "-" : joined(value.get<std::vector<std::string>>(), ", ");
}

struct ListColumn {
  Column column;
  std::string key = {}; ///< in JSON; default the title
  std::string (*text)(const Json&) = plain_text;
};

/// What there is of a kind: values as JSON has them, and as tables show them.
struct List {
  std::vector<ListColumn> columns; ///< the first is titled by the kind, and has names
  std::vector<std::vector<Json>> rows;
};

List algorithm_list() {
  List list{{{{"algorithm"}},
             {{"needs", Align::left, 2, true}},
             {{"collectives", Align::left, 0, true}},
             {{"settings", Align::left, 1, true}},
             {{"source", Align::left, 3, true}}},
            {}};
  for (const AlgorithmRow& row : all_algorithms()) {
    Json kinds = Json::array(), settings = Json::array();
    for (const CollectiveKind kind : row.collectives) kinds.push_back(to_text(kind));
    for (const Setting& setting : row.settings) settings.push_back(setting.name);
    list.rows.push_back({row.name, row.needs, kinds, settings, row.source});
  }
  return list;
}

/// What it is, without its source and details; `tutti show` has it all.
std::string first_clause(const std::string& note) {
  return note.substr(0, std::min({note.find(": "), note.find(" ("), note.find(", as in")}));
}

std::string text_of_options(const Json& options) {
  return options.empty() ? "-" : joined(options.get<std::vector<std::string>>(), "; ");
}

List topology_list() {
  List list{{{{"topology"}},
             {{"shape", Align::left, 0, true}},
             {{"options", Align::left, 1, true}, "", text_of_options},
             {{"note", Align::left, 2, true}}},
            {}};
  for (const TopologyRow& row : topology_families()) {
    Json options = Json::array();
    for (const TopologyOption& option : row.options)
      options.push_back(fmt::format("{}: {}", option.key, option.help));
    list.rows.push_back({row.name, row.shape, options, row.note});
  }
  for (const Machine& machine : machines())
    list.rows.push_back({machine.name, "machine", Json::array(), first_clause(machine.note)});
  return list;
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

List collective_list() {
  List list{{{{"collective"}}, {{"options"}}, {{"meaning", Align::left, 0, true}}}, {}};
  const auto add = [&list](CollectiveKind kind, const std::vector<std::string>& options) {
    list.rows.push_back({to_text(kind), options, meaning_of(kind)});
  };
  const std::string group = "group=0-7+16";
  for (const CollectiveKind kind : named_collectives())
    add(kind, has_root(kind) ? std::vector<std::string>{"root=NPU", group} : std::vector{group});
  add(CollectiveKind::custom, {"FILE.toml"});
  return list;
}

List format_list() {
  List list{{{{"format"}},
             {{"what", Align::left, 0, true}},
             {{"several", Align::left, 2}},
             {{"source", Align::left, 1, true}}},
            {}};
  for (const topologies::ForeignFormat& format : topologies::foreign_formats())
    list.rows.push_back(
        {format.name, format.title, format.has_nodes ? "FILE:NODES" : "no", format.source});
  return list;
}

List catalogue_list(const std::string& what, const std::vector<CatalogueEntry>& entries) {
  List list{{{{what}}, {{"title", Align::left, 0, true}}, {{"file", Align::left, 1}}}, {}};
  for (const CatalogueEntry& entry : entries)
    list.rows.push_back({entry.name, entry.title, entry.file});
  return list;
}
List experiment_list() { return catalogue_list("experiment", catalogue()); }
List study_list() { return catalogue_list("study", study_catalogue()); }

std::string count_text(const Json& value) {
  const auto count = value.get<double>();
  if (count >= 1e12) return fmt::format("{:.4g} T", count / 1e12);
  if (count >= 1e9) return fmt::format("{:.4g} G", count / 1e9);
  return fmt::format("{:.4g} M", count / 1e6);
}

List model_list() {
  List list{{{{"model"}},
             {{"parameters", Align::right}, "", count_text},
             {{"flops", Align::right}, "", count_text},
             {{"of a"}, "sample"},
             {{"layers", Align::right}},
             {{"blocks", Align::right}},
             {{"note", Align::left, 1, true}}},
            {}};
  for (const NamedModel& named : named_models()) {
    const Model model = load_model(named.name);
    list.rows.push_back({named.name, model.parameters(), model.training_flops(), model.sample,
                         model.layers.size(), model.block_count(), named.note});
  }
  return list;
}

std::string text_of_peaks(const Json& value) {
  std::vector<std::string> peaks;
  for (const auto& [precision, flops] : value.items())
    peaks.push_back(fmt::format("{} {}", precision, count_text(flops)));
  return joined(peaks, ", ");
}

std::string text_of_bytes(const Json& value) {
  return short_text(Bytes{value.get<std::int64_t>()});
}
std::string text_of_rate(const Json& value) { return short_rate_text(value.get<double>()); }

List npu_list() {
  List list{{{{"npu"}},
             {{"peak flops/s", Align::left, 0, true}, "peak_flops_per_s", text_of_peaks},
             {{"memory", Align::right}, "memory_bytes", text_of_bytes},
             {{"bandwidth", Align::right}, "memory_bytes_per_s", text_of_rate},
             {{"source", Align::left, 1, true}}},
            {}};
  for (const std::string& name : npu_profile_names()) {
    const NpuProfile npu = load_npu_profile(name);
    Json peaks = Json::object();
    for (const auto& [precision, flops] : npu.peak_flops)
      peaks[std::string(to_text(precision))] = flops;
    list.rows.push_back({name, peaks, npu.memory.count, npu.memory_bandwidth.bytes_per_second,
                         first_clause(npu.source)});
  }
  return list;
}

List engine_list() {
  List list{{{{"engine"}}, {{"disciplines"}}, {{"note", Align::left, 0, true}}}, {}};
  for (const EngineRow& row : engines()) {
    const Json disciplines = row.knows_fluid ? Json{"fifo", "fluid"} : Json{"fifo"};
    list.rows.push_back({row.name, disciplines, row.note});
  }
  return list;
}

/// Steps that do several things at once, or copy: what a runtime lacks kernels for.
Json lacking_kinds(const runtime::MscclRuntime& row) {
  Json lacking = Json::array();
  for (std::size_t k = 0; k < runtime::step_kind_count; ++k)
    if (const auto kind = static_cast<runtime::StepKind>(k);
        (runtime::kinds_bit(kind) & row.limits.kinds) == 0)
      lacking.push_back(runtime::to_text(kind));
  return lacking;
}

Json words_of(const runtime::MscclRuntime& row) {
  Json words = Json::array();
  for (const CollectiveKind kind : all_collectives())
    if (const auto word = runtime::msccl_word(row, kind)) words.push_back(*word);
  return words;
}

List runtime_list() {
  List list{{{{"runtime"}},
             {{"steps", Align::right}},
             {{"blocks parsed", Align::right}},
             {{"launched", Align::right, 4}, "blocks_launched"},
             {{"peers", Align::right, 4}},
             {{"channels", Align::right}},
             {{"units", Align::right, 4}},
             {{"elements", Align::right, 4}},
             {{"no kernel for", Align::left, 1, true}},
             {{"collectives", Align::left, 2, true}},
             {{"releases", Align::left, 0, true}},
             {{"source", Align::left, 3, true}}},
            {}};
  for (const runtime::MscclRuntime& row : runtime::msccl_runtimes())
    list.rows.push_back({fmt::format("{}@{}", row.name, row.version), row.limits.steps,
                         row.parsed_blocks, row.launched_blocks, row.limits.peers,
                         row.limits.channels, row.limits.count, row.limits.elements,
                         lacking_kinds(row), words_of(row), row.releases, row.source});
  return list;
}

struct Listing {
  std::string_view name;
  List (*list)();
  std::string_view note = {}; ///< below the table
};
// What `tutti list KIND` knows: a kind is a row here.
constexpr std::array listings{
    Listing{"algorithms", algorithm_list},
    Listing{"topologies", topology_list,
            "families take bandwidth= and latency=, one value or one per dimension\n"
            "all take without=npu3+npu9, without-link=npu0>npu1 (or npu0-npu1: both ways), "
            "fail-links=5% (or a number of "
            "random cables), fail-seed=1\n"},
    Listing{"collectives", collective_list},
    Listing{"models", model_list, "flops: forward and backward, of a multiply-add two\n"},
    Listing{"npus", npu_list},
    Listing{"experiments", experiment_list},
    Listing{"formats", format_list},
    Listing{"studies", study_list},
    Listing{"engines", engine_list},
    Listing{"runtimes", runtime_list,
            "steps: of a block; blocks: of a GPU; peers: of a channel, to send to, and to receive "
            "from; units: of a step; elements: of XML that a GPU keeps\n"}};

Table table_of(const List& list) {
  Table table;
  for (const ListColumn& column : list.columns) table.columns.push_back(column.column);
  for (const std::vector<Json>& row : list.rows) {
    std::vector<std::string>& cells = table.rows.emplace_back();
    for (std::size_t c = 0; c < row.size(); ++c) cells.push_back(list.columns[c].text(row[c]));
  }
  return table;
}

/// An object per row; its "kind" says what is listed.
Json json_of(const List& list) {
  Json rows = Json::array();
  for (const std::vector<Json>& values : list.rows) {
    Json row = {{"kind", list.columns.front().column.title}, {"name", values.front()}};
    for (std::size_t c = 1; c < values.size(); ++c) {
      const ListColumn& column = list.columns[c];
      row[column.key.empty() ? column_name(column.column.title) : column.key] = values[c];
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

} // namespace

std::vector<std::string> listed_kinds() {
  std::vector<std::string> names;
  for (const Listing& listing : listings) names.emplace_back(listing.name);
  return names;
}

int list_command(const ListArguments& arguments) {
  for (const Listing& listing : listings) {
    if (listing.name != arguments.kind) continue;
    const List list = listing.list();
    const TableForm form = table_form(arguments.tables);
    if (arguments.json)
      print_text(answer_json("list", json_of(list)));
    else
      print_tables(to_text(table_of(list), form) + wrapped(listing.note, form));
    return 0;
  }
  throw InputError(unknown_name("list", arguments.kind, listed_kinds()));
}

} // namespace tutti
