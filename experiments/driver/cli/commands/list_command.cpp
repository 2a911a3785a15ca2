// `tutti list`: what there is to choose from.
#include "experiments/driver/cli/catalogue.hpp"
#include "experiments/driver/cli/commands.hpp"
#include "experiments/driver/records/json.hpp"
#include "experiments/driver/records/output.hpp"
#include "experiments/driver/records/records.hpp"
#include "experiments/driver/studies/registry.hpp"
#include "runtime/formats/msccl/runtimes.hpp"
#include "sim/collective.hpp"
#include "sim/engines/engine.hpp"
#include "sim/error.hpp"
#include "sim/text.hpp"
#include "topologies/import/list.hpp"
#include "topologies/list.hpp"
#include "topologies/what_ifs.hpp"
#include "workloads/model.hpp"
#include "workloads/npu_profile.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>

namespace tutti {

namespace {

namespace lists {

using namespace column_words;
using Texts = std::vector<std::string>;

/// The first column of every list; people see it under its kind, "algorithm".
RecordColumn name_of(const char* kind) { return {"name", text, key, 0, kind}; }

Records algorithms() {
  using R = AlgorithmRow;
  const auto collectives = [](const R& r) {
    Texts texts;
    for (const CollectiveKind kind : r.collectives) texts.emplace_back(to_text(kind));
    return texts;
  };
  const auto settings = [](const R& r) {
    Texts texts;
    for (const Setting& setting : r.settings) texts.emplace_back(setting.name);
    return texts;
  };
  return records_of<R>({{name_of("algorithm"), &R::name},
                        {{"needs", text, note, 2}, &R::needs},
                        {{"collectives", texts, note}, collectives},
                        {{"settings", texts, note, 1}, settings},
                        {{"source", text, note, 3}, &R::source}},
                       all_algorithms());
}

/// What it is, without its source and details; `tutti show` has it all.
std::string first_clause(const std::string& note) {
  return note.substr(0, std::min({note.find(": "), note.find(" ("), note.find(", as in")}));
}

Records topologies() {
  struct R {
    std::string_view name, shape;
    Texts options;
    std::string note;
  };
  std::vector<R> rows;
  for (const TopologyRow& row : topology_families()) {
    rows.push_back({row.name, row.shape, {}, std::string(row.note)});
    for (const TopologyOption& option : row.options)
      rows.back().options.push_back(fmt::format("{}: {}", option.key, option.help));
  }
  for (const TopologyAlias& alias : topology_aliases())
    rows.push_back({alias.name,
                    "as the other",
                    {},
                    fmt::format("another name of {}{}{}", alias.head,
                                alias.options.empty() ? "" : " with ", alias.options)});
  const std::vector<Machine> all = machines();
  for (const Machine& machine : all)
    rows.push_back({machine.name, "machine", {}, first_clause(machine.note)});
  return records_of<R>({{name_of("topology"), &R::name},
                        {{"shape", text, note}, &R::shape},
                        {{"options", texts, note, 1}, &R::options},
                        {{"note", text, note, 2}, &R::note}},
                       rows);
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
  case CollectiveKind::sendrecv: return "everyone's buffer to the next member";
  case CollectiveKind::hypercube: return "an all_gather, by exchanges with members 2^k away";
  case CollectiveKind::all_to_all_v:
    return "all_to_all whose shares differ, as said, else as in rccl-tests; also dispatch, combine";
  case CollectiveKind::all_gather_v: return "all_gather of shares that differ";
  case CollectiveKind::reduce_scatter_v: return "reduce_scatter into shares that differ";
  case CollectiveKind::custom: break;
  }
  return "from a TOML file: any pre- and postcondition";
}

Records collectives() {
  using R = CollectiveKind;
  const auto options = [](R kind) -> Texts {
    if (kind == R::custom) return {"FILE.toml"};
    const std::string group = "group=0-7+16";
    return has_root(kind) ? Texts{"root=NPU", group} : Texts{group};
  };
  std::vector<R> kinds(all_collectives().begin(), all_collectives().end() - 1); // custom has none
  kinds.push_back(R::custom);
  return records_of<R>({{name_of("collective"), [](R kind) { return to_text(kind); }},
                        {{"options", texts}, options},
                        {{"meaning", text, note}, meaning_of}},
                       kinds);
}

Records formats() {
  using R = tutti::topologies::ForeignFormat;
  const auto several = [](const R& r) { return r.has_nodes ? "FILE:NODES" : "no"; };
  return records_of<R>({{name_of("format"), &R::name},
                        {{"what", text, note}, &R::title},
                        {{"several", text, metric, 2}, several},
                        {{"source", text, note, 1}, &R::source}},
                       tutti::topologies::foreign_formats());
}

Records what_ifs() {
  using R = tutti::topologies::WhatIf;
  return records_of<R>({{name_of("what-if"), &R::key}, {{"values", text, note}, &R::help}},
                       tutti::topologies::what_ifs());
}

Records of_catalogue(const char* kind, const std::vector<CatalogueEntry>& entries) {
  using R = CatalogueEntry;
  return records_of<R>({{name_of(kind), &R::name},
                        {{"title", text, note}, &R::title},
                        {{"file", text, metric, 1}, &R::file}},
                       entries);
}
Records experiments() { return of_catalogue("experiment", catalogue()); }
Records sweeps() { return of_catalogue("sweep", sweep_catalogue()); }

Records models() {
  struct R {
    std::string name, note;
    Model model;
  };
  std::vector<R> rows;
  for (const NamedModel& named : named_models())
    rows.push_back({named.name, named.note, load_model(named.name)});
  return records_of<R>(
      {{name_of("model"), &R::name},
       {{"parameters", amount}, [](const R& r) { return r.model.parameters(); }},
       {{"flops", amount}, [](const R& r) { return r.model.training_flops(); }},
       {{"sample", text, metric, 0, "of a"}, [](const R& r) { return r.model.sample; }},
       {{"layers", count}, [](const R& r) { return r.model.layers.size(); }},
       {{"blocks", count}, [](const R& r) { return r.model.block_count(); }},
       {{"note", text, note, 1}, &R::note}},
      rows);
}

std::vector<NpuProfile> npu_profiles() {
  std::vector<NpuProfile> profiles;
  for (const std::string& name : npu_profile_names()) profiles.push_back(load_npu_profile(name));
  return profiles;
}

Records npus() {
  using R = NpuProfile;
  const auto peaks = [](const R& r) {
    Texts texts;
    for (const auto& [precision, flops] : r.peak_flops)
      texts.push_back(fmt::format("{} {}", to_text(precision), amount_text(flops)));
    return joined(texts, ", ");
  };
  return records_of<R>(
      {{name_of("npu"), &R::name},
       {{"peak_flops_per_s", text, note, 0, "peak flops/s"}, peaks},
       {{"memory_bytes", bytes}, &R::memory},
       {{"memory_bytes_per_s", rate, metric, 0, "bandwidth"}, &R::memory_bandwidth},
       {{"source", text, note, 1}, [](const R& r) { return first_clause(r.source); }}},
      npu_profiles());
}

/// JSON has numbers where the table has words.
void replace_peaks(nlohmann::ordered_json& rows) {
  for (std::size_t i = 0; const NpuProfile& npu : npu_profiles()) {
    auto peaks = nlohmann::ordered_json::object();
    for (const auto& [precision, flops] : npu.peak_flops) peaks[to_text(precision)] = flops;
    rows[i++]["peak_flops_per_s"] = std::move(peaks);
  }
}

Records engines() {
  using R = EngineRow;
  const auto disciplines = [](const R& r) {
    return r.knows_fluid ? Texts{"fifo", "fluid"} : Texts{"fifo"};
  };
  return records_of<R>({{name_of("engine"), &R::name},
                        {{"disciplines", texts}, disciplines},
                        {{"note", text, note}, &R::note}},
                       tutti::engines());
}

/// Steps that do several things at once, or copy: what a runtime lacks kernels for.
Texts lacking_kinds(const runtime::MscclRuntime& row) {
  Texts lacking;
  for (std::size_t k = 0; k < runtime::step_kind_count; ++k)
    if (const auto kind = static_cast<runtime::StepKind>(k);
        (runtime::kinds_bit(kind) & row.limits.kinds) == 0)
      lacking.emplace_back(runtime::to_text(kind));
  return lacking;
}

Records runtimes() {
  using R = runtime::MscclRuntime;
  const auto words = [](const R& r) {
    Texts words;
    for (const CollectiveKind kind : basic_and_custom())
      if (const auto word = runtime::msccl_word(r, kind)) words.emplace_back(*word);
    return words;
  };
  return records_of<R>(
      {{name_of("runtime"), [](const R& r) { return fmt::format("{}@{}", r.name, r.version); }},
       {{"steps", count}, [](const R& r) { return r.limits.steps; }},
       {{"blocks_parsed", count}, &R::parsed_blocks},
       {{"blocks_launched", count, metric, 4, "launched"}, &R::launched_blocks},
       {{"peers", count, metric, 4}, [](const R& r) { return r.limits.peers; }},
       {{"channels", count}, [](const R& r) { return r.limits.channels; }},
       {{"units", count, metric, 4}, [](const R& r) { return r.limits.count; }},
       {{"elements", count, metric, 4}, [](const R& r) { return r.limits.elements; }},
       {{"no_kernel_for", texts, note, 1}, lacking_kinds},
       {{"collectives", texts, note, 2}, words},
       {{"releases", text, note}, &R::releases},
       {{"source", text, note, 3}, &R::source}},
      runtime::msccl_runtimes());
}

} // namespace lists

struct Listing {
  std::string_view name;
  Records (*records)();
  std::string_view note = {}; ///< below the table
};
// What `tutti list KIND` knows: a kind is a row here.
constexpr std::array listings{
    Listing{"algorithms", lists::algorithms},
    Listing{
        "topologies", lists::topologies,
        "families take bandwidth= and latency=, one value or one per dimension\n"
        "all take without=npu3+npu9, without-link=npu0>npu1 (or npu0-npu1: both ways), "
        "fail-links=5% (or a number of "
        "random cables), fail-npus=5%, fail-seed=1, unwind=2 or unwind=both (switches as links)\n"},
    Listing{"what-ifs", lists::what_ifs, "keys of any topology, as in -t dgx_h100:2,lost-nic=3\n"},
    Listing{"collectives", lists::collectives},
    Listing{"models", lists::models, "flops: forward and backward, of a multiply-add two\n"},
    Listing{"npus", lists::npus},
    Listing{"experiments", lists::experiments},
    Listing{"formats", lists::formats},
    Listing{"sweeps", lists::sweeps},
    Listing{"engines", lists::engines},
    Listing{"runtimes", lists::runtimes,
            "steps: of a block; blocks: of a GPU; peers: of a channel, to send to, and to receive "
            "from; units: of a step; elements: of XML that a GPU keeps\n"}};

} // namespace

std::vector<std::string> listed_kinds() {
  std::vector<std::string> names;
  for (const Listing& listing : listings) names.emplace_back(listing.name);
  return names;
}

int list_command(const ListArguments& arguments) {
  for (const Listing& listing : listings) {
    if (listing.name != arguments.kind) continue;
    const Records records = listing.records();
    if (arguments.json) {
      nlohmann::ordered_json rows = runs_json(records.columns.front().title, records);
      if (listing.records == lists::npus) lists::replace_peaks(rows);
      print_text(answer_json("list", std::move(rows)));
      return 0;
    }
    const TableForm form = table_form(arguments.tables);
    print_tables(to_text(whole_table(records), form) + wrapped(listing.note, form));
    return 0;
  }
  throw InputError(unknown_name("list", arguments.kind, listed_kinds()));
}

} // namespace tutti
