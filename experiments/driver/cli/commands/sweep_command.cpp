// `tutti sweep`: what points are missing is simulated, then tables, figures and a
// page say what all of them say.
#include "experiments/driver/cli/cache_option.hpp"
#include "experiments/driver/cli/catalogue.hpp"
#include "experiments/driver/cli/commands.hpp"
#include "experiments/driver/outside/outside.hpp"
#include "experiments/driver/pool/interrupts.hpp"
#include "experiments/driver/records/json.hpp"
#include "experiments/driver/records/output.hpp"
#include "experiments/driver/records/provenance.hpp"
#include "experiments/driver/records/shell_word.hpp"
#include "experiments/driver/studies/experiment.hpp"
#include "experiments/driver/studies/not_built.hpp"
#include "experiments/driver/studies/registry.hpp"
#include "experiments/driver/studies/runs/runner.hpp"
#include "experiments/driver/sweep/coordinator.hpp"
#include "experiments/driver/sweep/report/points_report.hpp"
#include "experiments/driver/sweep/report/sweep_report.hpp"
#include "experiments/driver/sweep/slurm.hpp"
#include "experiments/driver/sweep/space/points.hpp"
#include "experiments/driver/sweep/space/sweep.hpp"
#include "experiments/driver/sweep/store/store.hpp"
#include "experiments/driver/terminal/progress.hpp"
#include "sim/error.hpp"
#include "sim/files/files.hpp"
#include "sim/files/standard_files.hpp"
#include "sim/processes/program_keeper.hpp"
#include "sim/text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tutti {

namespace {

namespace fs = std::filesystem;
using namespace sweep;

constexpr std::size_t most_lines = 40; // of each analysis on a terminal

// A folder that can be written. Errors: InputError "FILE: cannot write: ...".
void make_folder(const std::string& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw InputError(fmt::format("{}: cannot write: {}", folder, error.message()));
}

std::string store_name(const std::optional<Shard>& shard) {
  return shard ? fmt::format("shard-{}-of-{}.sqlite", shard->index, shard->count) : "sweep.sqlite";
}

// An MPI job usually has a rank for each processor: a rank takes one point at a time unless it is
// told otherwise.
SweepOptions options_of(const SweepArguments& arguments, const std::string& folder) {
  SweepOptions options;
  if (arguments.shard)
    options.shard = of_option("--shard", [&] { return parse_shard(*arguments.shard); });
  options.store = arguments.store.value_or(folder + "/" + store_name(options.shard));
  const std::size_t otherwise = arguments.engine == "mpi" ? 1 : default_jobs();
  options.jobs = arguments.jobs ? parse_jobs(*arguments.jobs) : otherwise;
  options.retry = arguments.retry;
  options.progress = arguments.progress;
  if (!arguments.report && !arguments.where) options.cache = cache_folder(arguments.cache);
  return options;
}

// What excludes each other. Errors: InputError.
void require_sense(const SweepArguments& arguments) {
  const std::vector<std::string> engines{"local", "mpi"};
  if (std::find(engines.begin(), engines.end(), arguments.engine) == engines.end())
    throw InputError("--engine: " + unknown_name("engine", arguments.engine, engines));
  const int reading = int{arguments.report} + int{arguments.where.has_value()} +
                      int{!arguments.merged.empty()} + int{arguments.emit_slurm.has_value()};
  if (arguments.engine == "mpi" && reading > 0)
    throw InputError(
        "--engine mpi is for simulating, not for --report, --where, --merge or --emit-slurm");
  require_formats(arguments.pictures);
  if (reading + int{arguments.shard.has_value()} > 1)
    throw InputError("--report, --where, --merge, --shard and --emit-slurm exclude each other");
  if (!arguments.only.empty() && !arguments.report) throw InputError("--only goes with --report");
  if (arguments.emit_slurm && arguments.json)
    throw InputError("--json: a script for Slurm has no results");
  if (arguments.slurm_shards && !arguments.emit_slurm)
    throw InputError("--slurm-shards: there is no --emit-slurm");
}

// The command in the script is ./tutti, to be edited: where the program lies on a cluster isn't
// known here.
int emit_slurm(const SweepArguments& arguments, const Sweep& sweep, const std::string& folder) {
  SlurmRequest request;
  request.sweep = arguments.file;
  request.program = "./tutti";
  request.out = folder;
  request.allow_programs = arguments.allow_programs;
  if (arguments.slurm_shards)
    request.shards = static_cast<std::size_t>(
        parse_integer(*arguments.slurm_shards, "slurm-shards", 1, 100'000));
  request.tasks =
      static_cast<std::size_t>(parse_integer(arguments.slurm_tasks, "slurm-tasks", 1, 100'000));
  request.point_seconds = sweep.limits.seconds;
  write_file(*arguments.emit_slurm, slurm_script(request));
  print_text(fmt::format("written: {}\nsubmit it with: sbatch {}\n", *arguments.emit_slurm,
                         shell_word(*arguments.emit_slurm)));
  return 0;
}

std::string counts_text(const std::map<PointStatus, std::size_t>& counts) {
  std::vector<std::string> words;
  for (const auto& [status, count] : counts)
    if (count > 0) words.push_back(fmt::format("{} {}", count, to_text(status)));
  return words.empty() ? "none" : joined(words, ", ");
}

std::size_t sum_of(const std::map<PointStatus, std::size_t>& counts) {
  std::size_t points = 0;
  for (const auto& [status, count] : counts) points += count;
  return points;
}

std::size_t count_of(const std::map<PointStatus, std::size_t>& counts, PointStatus status) {
  const auto found = counts.find(status);
  return found == counts.end() ? 0 : found->second;
}

// Why combinations of the axes are no points; empty where all are.
std::string left_out_text(const SweepOutcome& outcome) {
  std::vector<std::string> words;
  if (const std::size_t others = outcome.left_out - outcome.without_value; others > 0)
    words.push_back(fmt::format("{} left out by constraints, or drawn twice", others));
  if (outcome.without_value > 0)
    words.push_back(
        fmt::format("{} left out as no value fulfils `largest`", outcome.without_value));
  return words.empty() ? "" : fmt::format(" ({})", joined(words, "; "));
}

void print_head(const Sweep& sweep, const std::map<PointStatus, std::size_t>& counts,
                const SweepOutcome* outcome) {
  print_text(fmt::format("{}\n{} points", sweep.title, sum_of(counts)));
  if (outcome != nullptr) print_text(left_out_text(*outcome));
  print_text(fmt::format(": {}\n", counts_text(counts)));
  if (outcome != nullptr && outcome->evaluated > 0)
    print_text(fmt::format("{} simulated now, in {} ({:.4g} CPU seconds)\n", outcome->evaluated,
                           duration_text(outcome->seconds), outcome->point_seconds));
  if (outcome != nullptr && outcome->evaluated == 0) print_text("all were there already\n");
}

std::string answer_of(const Sweep& sweep, const std::map<PointStatus, std::size_t>& counts,
                      const SweepOutcome* outcome, const std::string& folder,
                      const std::vector<std::string>& files) {
  nlohmann::ordered_json by_status = nlohmann::ordered_json::object();
  for (const auto& [status, count] : counts) by_status[std::string(to_text(status))] = count;
  nlohmann::ordered_json json = {{"kind", "sweep"}, {"name", sweep.name}, {"points", by_status}};
  for (const char* key : {"left_out", "simulated", "interrupted", "seconds", "cpu_seconds"})
    json[key] = nullptr; // a report simulates nothing
  if (outcome != nullptr)
    json.update({{"left_out", outcome->left_out},
                 {"simulated", outcome->evaluated},
                 {"interrupted", outcome->interrupted},
                 {"seconds", outcome->seconds},
                 {"cpu_seconds", outcome->point_seconds}});
  json["folder"] = folder;
  json["files"] = files;
  return answer_json("sweep", nlohmann::ordered_json::array({json}));
}

// Message of the first point that was refused. Pre: there is one.
std::string first_refusal(const Store& store) {
  const std::vector<std::string> names{"status", "message"};
  const PointTable table = store.table(names);
  const TableColumn &statuses = table.column("status"), &messages = table.column("message");
  for (std::size_t row = 0; row < table.rows; ++row)
    if (statuses.value(row).text == to_text(PointStatus::refused))
      return messages.has(row) ? messages.value(row).text : "";
  return "";
}

// Bad input is most often the sweep's own: a sweep without any other point is refused as a command
// line would be. Defects and crashes must not be overlooked.
int verdict_of(const std::map<PointStatus, std::size_t>& counts, const Store& store) {
  if (const std::size_t refused = count_of(counts, PointStatus::refused); refused > 0) {
    const bool all = refused == sum_of(counts);
    print_message(fmt::format("{}{} refused, first: {}", all && refused > 1 ? "all " : "", refused,
                              first_refusal(store)));
    if (all) return 2;
  }
  const std::size_t wrong =
      count_of(counts, PointStatus::defect) + count_of(counts, PointStatus::crashed);
  if (wrong == 0) return 0;
  print_message(fmt::format(
      "{} points crashed or met a defect of Tutti: their messages are in the store", wrong));
  return 1;
}

// The store of this sweep, which may have changed since.
Store opened_store(const std::string& file, const Sweep& sweep) {
  Store store = Store::open_to_read(file, sweep.name);
  if (store.sweep_toml() != sweep.toml)
    print_message(fmt::format("{} is of another form of the sweep: without --report or --where, "
                              "what is new is simulated",
                              file));
  return store;
}

// From what the store has to files and words.
int report(const SweepArguments& arguments, const Sweep& sweep, const std::string& folder,
           const std::string& store_file, const SweepOutcome* outcome) {
  const Store store = opened_store(store_file, sweep);
  const std::map<PointStatus, std::size_t> counts = store.counts();
  const bool everything = arguments.only.empty();
  const Sweep chosen = everything ? sweep : with_only(sweep, arguments.only);
  const SweepAnalyses analyses = analyses_of(
      chosen, store.table(everything ? shown_columns(chosen) : analysed_columns(chosen)));
  const std::vector<std::string> files =
      everything ? write_sweep(chosen, analyses, folder, arguments.pictures)
                 : write_analyses(analyses, folder, arguments.pictures);
  if (arguments.json) {
    print_text(answer_of(sweep, counts, outcome, folder, files));
  } else {
    print_head(sweep, counts, outcome);
    print_tables("\n" + analyses_text(analyses, most_lines, table_form(arguments.tables)));
    print_text(fmt::format("\nwritten: {}\n", joined(files, " ")));
  }
  flush_standard_output();
  return verdict_of(counts, store);
}

// Points that somebody looks for, of what the store has.
int show_points(const SweepArguments& arguments, const Sweep& sweep,
                const std::string& store_file) {
  const Store store = opened_store(store_file, sweep);
  const PointTable table =
      with_objectives(sweep, in_sweep_order(sweep, store.table(shown_columns(sweep))));
  const ChosenPoints chosen =
      of_option("--where", [&] { return points_where(table, *arguments.where); });
  if (chosen.unclear > 0)
    print_message(fmt::format("--where can't be computed for {} of {} points, first: {}",
                              chosen.unclear, table.rows, chosen.why));
  if (arguments.json) {
    print_text(answer_json("sweep", points_json(table, chosen)));
    return 0;
  }
  const TableForm form = table_form(arguments.tables);
  print_text(fmt::format("{}\n{} of {} points: {}\n", sweep.title, chosen.rows.size(), table.rows,
                         *arguments.where));
  const bool all = arguments.tables.wide || !form.columns.empty();
  print_tables("\n" + to_text(points_table(sweep, table, chosen, all), form));
  return 0;
}

// The sweep and the versions that make its results, beside them.
void write_origin(const Sweep& sweep, const std::string& folder) {
  const Provenance provenance = find_provenance();
  write_file(folder + "/" + sweep.name + ".toml", sweep.toml);
  write_file(folder + "/versions.json", json_text({{"name", sweep.name},
                                                   {"seed", sweep.seed},
                                                   {"tutti", provenance.tutti},
                                                   {"commit", provenance.commit},
                                                   {"simgrid", provenance.simgrid}}));
}

// prepare() comes first: only points that the sweep has now are taken over.
int merge(const SweepArguments& arguments, const Sweep& sweep, const std::string& folder,
          const SweepOptions& options) {
  std::size_t taken = 0;
  {
    Store store = Store::open(options.store, sweep);
    store.prepare(points_of(sweep), std::nullopt, options.retry);
    for (const std::string& file : arguments.merged) taken += store.merge(file);
    print_damage(store);
  }
  if (!arguments.json)
    print_text(
        fmt::format("{} points taken over from {} stores\n", taken, arguments.merged.size()));
  write_origin(sweep, folder);
  return report(arguments, sweep, folder, options.store, nullptr);
}

// A shard has only a part of the points and makes no report: the command that merges all of them
// does.
int simulate(const SweepArguments& arguments, const Sweep& sweep, const std::string& folder,
             const SweepOptions& options, const SweepEngine& engine) {
  const std::optional<SweepOutcome> ended = engine(sweep, options);
  if (!ended) return 0; // another process has the results
  const SweepOutcome& outcome = *ended;
  for (const std::string& line : outcome.assumed) print_message(line);
  const auto print = [&] {
    if (arguments.json)
      print_text(answer_of(sweep, outcome.counts, &outcome, folder, {}));
    else
      print_head(sweep, outcome.counts, &outcome);
  };
  if (outcome.interrupted) {
    print();
    print_message(
        fmt::format("interrupted: what is finished is in {}; the same command goes on with the "
                    "{} points that are left",
                    options.store, count_of(outcome.counts, PointStatus::pending)));
    return interrupted_exit_code;
  }
  if (!options.shard) {
    write_origin(sweep, folder);
    return report(arguments, sweep, folder, options.store, &outcome);
  }
  print();
  if (!arguments.json)
    print_text(fmt::format("{}: merge all shards with: tutti sweep {} --merge {}\n", options.store,
                           shell_word(arguments.file), shell_word(folder) + "/shard-*.sqlite"));
  return verdict_of(outcome.counts, Store::open_to_read(options.store));
}

// Points run in processes of their own, too late to find that something isn't built: what the text
// may name counts.
void require_built_parts(const Sweep& sweep) {
  static_cast<void>(columns_of_kind(sweep.experiment->kind()));
  const bool names_all = sweep.toml.find("\"all\"") != std::string::npos;
  for (const AlgorithmRow& row : all_algorithms())
    if (names_all || sweep.toml.find(row.name) != std::string::npos) require_built(row.run);
}

} // namespace

int sweep_command(const SweepArguments& arguments, const SweepEngine& mpi) {
  require_sense(arguments);
  const std::string file = find_sweep(arguments.file);
  const ProgramGate gate = program_gate(arguments.allow_programs, false); // each point asks
  const Sweep sweep = read_sweep(file, gate);
  require_built_parts(sweep);
  const std::string folder = arguments.out.value_or(default_folder(file, sweep.name));
  if (arguments.emit_slurm) return emit_slurm(arguments, sweep, folder);
  const SweepOptions options = options_of(arguments, folder);
  if (arguments.report) return report(arguments, sweep, folder, options.store, nullptr);
  if (arguments.where) return show_points(arguments, sweep, options.store);
  for (const std::string& program : sweep.experiment->programs()) {
    print_message(fmt::format("{} runs the program {}", file, program));
    gate.keeper->start();
  }
  make_folder(folder);
  if (!arguments.merged.empty()) return merge(arguments, sweep, folder, options);
  const SweepEngine local = [](const auto&... given) { return sweep_locally(given...); };
  return simulate(arguments, sweep, folder, options, arguments.engine == "mpi" ? mpi : local);
}

} // namespace tutti
