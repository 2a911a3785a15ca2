// `tutti sketch`: communication sketches for a network, as far as it shows them, for synthesis by
// `taccl` and as a beginning for one's own.
#include "experiments/driver/cli/commands.hpp"
#include "experiments/driver/cli/sketch_summary.hpp"
#include "experiments/driver/records/json.hpp"
#include "experiments/driver/records/output.hpp"
#include "experiments/driver/records/printable.hpp"
#include "experiments/driver/records/records.hpp"
#include "experiments/driver/records/shell_word.hpp"
#include "sim/error.hpp"
#include "sim/feasibility.hpp"
#include "sim/files/files.hpp"
#include "sim/text.hpp"
#include "synth/taccl/proposals.hpp"
#include "topologies/list.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <span>
#include <utility>

namespace tutti {

namespace {

using Json = nlohmann::ordered_json;

struct SketchRow {
  SketchProposal proposal;
  SketchSummary summary;
  std::string toml;
  std::string file; ///< that is written; empty: none
};

Fields<SketchRow> sketch_fields() {
  using namespace column_words;
  using R = SketchRow;
  return {{{"sketch", text, key}, [](const R& r) { return r.proposal.sketch.name; }},
          {{"machines", count, key}, [](const R& r) { return r.summary.machines; }},
          {{"partitions", count, key}, [](const R& r) { return r.proposal.sketch.partitions; }},
          {{"connections", text}, [](const R& r) { return Cell::of_text(r.summary.connections); }},
          {{"policy", text}, [](const R& r) { return Cell::of_text(r.summary.policy); }},
          {{"symmetry", count}, [](const R& r) { return Cell(r.summary.symmetry); }},
          {{"links_within", count, metric, 1}, [](const R& r) { return r.summary.links_within; }},
          {{"links_between", count, metric, 1}, [](const R& r) { return r.summary.links_between; }},
          {{"why", text, note}, [](const R& r) { return r.proposal.why; }}};
}

/// What stands at the head of a file: what for, where from, how to use it.
std::string note_of(const SketchArguments& arguments, const SketchProposal& proposal) {
  const std::string network = shell_word(arguments.topology);
  const std::string& name = proposal.sketch.name;
  return printable(fmt::format("{}\n"
                               "tutti sketch -t {} {} > {}.toml\n"
                               "tutti synth -t {} -c all_gather -a taccl --set sketch={}.toml",
                               proposal.why, network, name, name, network, name),
                   "\n");
}

/// Errors: InputError where some NPU gets nothing to some other one.
void require_joined(const Topology& network, const LogicalTopology& logical) {
  for (const CollectiveKind kind : {CollectiveKind::broadcast, CollectiveKind::reduce})
    require_feasible(logical.topology, make_collective(network, {kind, Bytes{1}, {}, 0, 1}));
}

/// Those of so many machines. A proposal that doesn't fit the network after all is left out, which
/// is said on stderr.
std::vector<SketchRow> rows_of(const Topology& topology, std::uint32_t machines,
                               const SketchArguments& arguments, std::vector<std::string>& names) {
  std::vector<SketchRow> rows;
  for (SketchProposal& proposal : sketch_proposals(topology, machines)) {
    names.push_back(proposal.sketch.name);
    if (!arguments.name.empty() && proposal.sketch.name != arguments.name) continue;
    SketchRow row{std::move(proposal), {}, {}, {}};
    const Sketch& sketch = row.proposal.sketch;
    try {
      const LogicalTopology logical = logical_topology(topology, sketch);
      require_joined(topology, logical);
      row.summary = summarize(sketch, logical);
    } catch (const InputError& error) {
      print_message(fmt::format("sketch {} is left out: {}", sketch.name, error.what()));
      continue;
    }
    row.toml = sketch_toml(sketch, note_of(arguments, row.proposal));
    if (arguments.out) row.file = fmt::format("{}/{}.toml", *arguments.out, sketch.name);
    rows.push_back(std::move(row));
  }
  return rows;
}

/// Sketches of one machine where none of several fits.
std::vector<SketchRow> rows_of(const Topology& topology, const SketchArguments& arguments) {
  std::vector<std::string> names;
  const std::uint32_t machines = machines_of(topology);
  std::vector<SketchRow> rows = rows_of(topology, machines, arguments, names);
  if (rows.empty() && machines > 1) rows = rows_of(topology, 1, arguments, names);
  if (rows.empty() && arguments.name.empty())
    throw InputError(fmt::format("no sketch fits {}", topology.name()));
  if (rows.empty())
    throw InputError(unknown_name("sketch of " + topology.name(), arguments.name, names));
  return rows;
}

} // namespace

int sketch_command(const SketchArguments& arguments) {
  const bool shows_toml = !arguments.name.empty() && !arguments.out && !arguments.json;
  if (shows_toml && arguments.tables.columns)
    throw InputError(
        fmt::format("--columns is for tables, but sketch {} is shown as TOML", arguments.name));
  const Topology topology = make_topology_and_report(arguments.topology);
  const std::vector<SketchRow> rows = rows_of(topology, arguments);
  for (const SketchRow& row : rows)
    if (!row.file.empty()) require_writable(row.file);
  std::vector<std::string> files;
  for (const SketchRow& row : rows)
    if (!row.file.empty()) write_file(files.emplace_back(row.file), row.toml);
  const Records records = records_of(sketch_fields(), std::span<const SketchRow>(rows));
  if (arguments.json) {
    Json details = Json::array();
    for (const SketchRow& row : rows)
      details.push_back({{"toml", row.toml}, {"file", text_or_null(row.file)}});
    print_text(answer_json("sketch", runs_json("sketch", records, std::move(details))));
  } else if (shows_toml) {
    print_text(rows.front().toml);
  } else {
    print_tables(to_text(whole_table(records), table_form(arguments.tables)));
    if (!files.empty()) print_text(fmt::format("\nwritten: {}\n", joined(files, " ")));
  }
  return 0;
}

} // namespace tutti
