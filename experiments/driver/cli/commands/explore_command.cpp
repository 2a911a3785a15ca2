// `tutti explore`: schedules, results and stores of sweeps that are in files, on one page.
#include "experiments/driver/cli/catalogue.hpp"
#include "experiments/driver/cli/commands.hpp"
#include "experiments/driver/cli/replay_files.hpp"
#include "experiments/driver/figures/explorer.hpp"
#include "experiments/driver/outside/outside.hpp"
#include "experiments/driver/records/csv_records.hpp"
#include "experiments/driver/records/output.hpp"
#include "experiments/driver/results/results_page.hpp"
#include "experiments/driver/studies/runs/attempt.hpp"
#include "experiments/driver/studies/runs/evaluation.hpp"
#include "experiments/driver/studies/runs/explored_run.hpp"
#include "experiments/driver/sweep/report/points_csv.hpp"
#include "experiments/driver/sweep/report/sweep_report.hpp"
#include "experiments/driver/sweep/store/store.hpp"
#include "experiments/driver/terminal/stage_display.hpp"
#include "sim/error.hpp"
#include "sim/files/files.hpp"
#include "sim/files/schedule_file.hpp"
#include "sim/text.hpp"
#include "topologies/list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tutti {

namespace {

namespace fs = std::filesystem;

/// What is shown, and what it points to.
struct ExploredFiles {
  Exploration page;
  std::deque<Topology> networks;
  std::vector<std::string> problems;
};

/// False where the schedule is wrong, which is said.
bool add_schedule(ExploredFiles& shown, const std::string& file, const Topology& network) {
  ScheduleFile schedule = read_schedule(file, network);
  std::vector<Case> cases{given_case(network, schedule)};
  Case& c = cases.front();
  c.disciplines = {schedule.time_model.discipline};
  c.engine =
      &find_engine(schedule.time_model.discipline == Discipline::fifo ? "native" : "simgrid");
  ReplayFiles files;
  files.explore = "page";
  const std::unique_ptr<ScratchFolder> records = record_for(files, cases);
  StageDisplay display(file);
  c.options.stage = display.watch();
  Attempt given = given_attempt(network, schedule, watch_of(c.options.stage, "verification"));
  if (!given.usable()) {
    display.erase();
    print_message(fmt::format("{}: fault: {}", file, given.verdict.fault->text));
    return false;
  }
  const Evaluation made = evaluate_given(c, std::move(given));
  for (std::string& problem : problems_of({&made, 1})) shown.problems.push_back(std::move(problem));
  if (made.replays.empty()) return true;
  ExploredRun run = explored_run(c, made);
  run.label = fmt::format("{}: {}", file, run.label);
  shown.page.runs.push_back(std::move(run));
  return true;
}

/// Columns of one name that count different things become numbers, or else texts, in both.
void make_alike(Records& a, Records& b) {
  const auto change = [](Records& of, std::size_t c, Quantity to) {
    for (std::vector<Cell>& row : of.rows)
      if (row[c].is_known())
        row[c] = to == Quantity::text ? Cell(exact_text(row[c], of.columns[c].quantity))
                                      : Cell(row[c].number());
    of.columns[c].quantity = to;
  };
  const auto is_number = [](Quantity quantity) {
    return quantity != Quantity::text && quantity != Quantity::texts &&
           quantity != Quantity::numeral && quantity != Quantity::truth;
  };
  for (std::size_t c = 0; c < a.columns.size(); ++c) {
    const auto same = std::ranges::find(b.columns, a.columns[c].name, &RecordColumn::name);
    if (same == b.columns.end() || same->quantity == a.columns[c].quantity) continue;
    const bool are_numbers = is_number(same->quantity) && is_number(a.columns[c].quantity);
    const Quantity both = are_numbers ? Quantity::number : Quantity::text;
    change(a, c, both);
    change(b, static_cast<std::size_t>(same - b.columns.begin()), both);
  }
}

/// Tables of several files that are called alike are one, with a column that says whose a row is.
void add_tables(Exploration& page, std::vector<ExploredTable> tables, const std::string& file,
                bool is_only) {
  for (ExploredTable& table : tables) {
    if (!is_only) {
      const bool is_taken = std::ranges::find(table.records.columns, "file", &RecordColumn::name) !=
                            table.records.columns.end();
      table.records.columns.insert(
          table.records.columns.begin(),
          {is_taken ? "of_file" : "file", Quantity::text, ColumnRole::key});
      for (std::vector<Cell>& row : table.records.rows) row.insert(row.begin(), Cell(file));
      for (ExploredPicture& picture : table.pictures)
        picture.title = fmt::format("{}: {}", file, picture.title);
    }
    const auto same = std::ranges::find(page.tables, table.title, &ExploredTable::title);
    if (same == page.tables.end()) {
      page.tables.push_back(std::move(table));
      continue;
    }
    same->runs.resize(same->records.rows.size());
    make_alike(same->records, table.records);
    append(same->records, table.records);
    table.runs.resize(table.records.rows.size());
    std::ranges::move(table.runs, std::back_inserter(same->runs));
    std::ranges::move(table.notes, std::back_inserter(same->notes));
    std::ranges::move(table.pictures, std::back_inserter(same->pictures));
  }
}

/// With its analyses, where its sweep can be read: it may name files that lie elsewhere.
std::vector<ExploredTable> tables_of_store(ExploredFiles& shown, const std::string& file,
                                           bool allow_programs) {
  using namespace sweep;
  const Store store = Store::open_to_read(file);
  std::optional<Sweep> readable;
  std::string why;
  const std::string toml = store.sweep_toml();
  std::vector<std::string> places{file}; // beside which the sweep looks for files
  for (const CatalogueEntry& known : sweep_catalogue())
    if (read_file(known.file) == toml) places.push_back(known.file);
  for (const std::string& place : places) try {
      if (!readable) readable = parse_sweep(toml, place, program_gate(allow_programs, true));
    } catch (const InputError& error) {
      if (why.empty()) why = error.what();
    }
  if (!readable) {
    print_message(fmt::format("{}: points alone are shown, without analyses", why));
    return {{.title = "points",
             .notes = {},
             .records = records_of_csv(point_rows(store.table(), SIZE_MAX))}};
  }
  const Sweep& sweep = *readable;
  Exploration page =
      exploration_of(sweep, analyses_of(sweep, store.table(shown_columns(sweep))), shown.networks);
  const std::size_t before = shown.page.runs.size();
  std::ranges::move(page.runs, std::back_inserter(shown.page.runs));
  for (ExploredTable& table : page.tables)
    for (std::optional<std::size_t>& run : table.runs)
      if (run) *run += before;
  return std::move(page.tables);
}

} // namespace

int explore_command(const ExploreArguments& arguments) {
  require_page_name(arguments.output);
  std::vector<std::string> inputs = arguments.files;
  inputs.push_back(arguments.topology);
  for (const std::string& file : arguments.files) // which its own page may lie in
    if (fs::is_directory(file)) inputs.push_back(file + "/index.html");
  require_outputs(inputs, {arguments.output});
  std::optional<Topology> network;
  if (!arguments.topology.empty()) network = make_topology_and_report(arguments.topology);
  ExploredFiles shown;
  for (const std::string& file : arguments.files) {
    if (!fs::exists(file)) throw InputError(file + ": there is no such file or folder");
    const bool is_results = fs::is_directory(file) || fs::path(file).filename() == "results.json";
    const std::string folder =
        fs::is_directory(file) ? file : fs::absolute(file).parent_path().string();
    const bool is_only = arguments.files.size() == 1;
    const std::string store = folder + "/sweep.sqlite";
    if (file.ends_with(".sqlite") || (is_results && fs::exists(store))) {
      add_tables(shown.page,
                 tables_of_store(shown, is_results ? store : file, arguments.allow_programs), file,
                 is_only);
    } else if (is_results) {
      add_tables(shown.page, tables_in(folder), file, is_only);
    } else {
      if (!network)
        throw InputError(fmt::format("{}: this is no folder of results and no store of a sweep "
                                     "(.sqlite); a schedule needs its network: -t TOPOLOGY",
                                     file));
      if (!add_schedule(shown, file, *network)) return 1;
    }
  }
  if (shown.page.tables.empty()) // whose rows name runs
    std::ranges::stable_sort(shown.page.runs, {},
                             [](const ExploredRun& run) { return run.report.completion; });
  shown.page.title = joined(arguments.files, " and ");
  shown.page.command = own_command();
  write_explorer(arguments.output, shown.page);
  print_message(fmt::format("written: {}", arguments.output));
  return report_problems(shown.problems);
}

} // namespace tutti
