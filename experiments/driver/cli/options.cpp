// Every option of every command, in the order in which --help shows them, each with one line of
// help. Options that several commands share are added by one function, so that they mean and say
// the same everywhere. Texts stay texts here: commands parse them, with errors that name the
// option.
#include "experiments/driver/cli/options.hpp"

#include "experiments/driver/studies/executions/study.hpp"
#include "experiments/driver/studies/failures/study.hpp"
#include "experiments/driver/studies/frontiers/study.hpp"
#include "experiments/driver/studies/keys.hpp"
#include "experiments/driver/studies/noise/request.hpp"
#include "experiments/driver/studies/runs/study.hpp"
#include "experiments/driver/studies/training/study.hpp"
#include "sim/text.hpp"
#include "topologies/export/list.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cassert>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tutti {

namespace {

/// Options that are added from now on stand under this heading in --help.
void begin_group(CLI::App& app, const char* heading) { app.option_defaults()->group(heading); }

/// Below the options, before what every command says.
void add_examples(CLI::App& app, const std::string& lines) {
  app.footer("Examples:\n" + lines + "\n" + app.get_footer());
}

void add_json(CLI::App& app, bool& json) {
  app.add_flag("--json", json, "machine-readable result on stdout");
}

/// Adds the options of commands that print tables.
void add_output(CLI::App& app, AnswerArguments& answer) {
  auto* wide = app.add_flag("--wide", answer.tables.wide,
                            "tables with all columns, however wide the terminal is");
  auto* columns = app.add_option(
      "--columns", answer.tables.columns,
      "show only these columns of tables, in this order, with commas: algorithm,gap,max_link");
  app.add_flag("--json", answer.json, "machine-readable result on stdout")
      ->excludes(wide)
      ->excludes(columns);
}

void add_pictures(CLI::App& app, std::vector<std::string>& pictures) {
  app.add_option("--pictures", pictures,
                 "formats in which pictures are written, too, beside svg: pdf, png or pdf,png")
      ->delimiter(',')
      ->allow_extra_args(false);
}

void add_progress(CLI::App& app, bool& progress) {
  app.add_flag("--progress", progress,
               "progress on stderr, a line a second, even if that is no terminal (a terminal "
               "always shows a bar)");
}

void add_allow_programs(CLI::App& app, bool& allow) {
  app.add_flag("--allow-programs", allow,
               "run the programs that the file names, wherever they lie; else only those below its "
               "folder");
}

void add_topology(CLI::App& app, std::string& topology, const std::string& place = "") {
  app.add_option(
         "-t,--topology" + place, topology,
         "name:shape,key=value,... (mesh2d:8x8,bandwidth=50GB/s,latency=0.5us), a machine, "
         "a file (TOML, or another program's: `tutti list formats`), or a program that prints "
         "one")
      ->required();
}

void add_seed(CLI::App& app, std::string& seed) {
  app.add_option("--seed", seed, "seed of everything random; default 1");
}

void add_size(CLI::App& app, std::optional<std::string>& size, const std::string& sizes) {
  app.add_option("--size", size,
                 "size as nccl-tests counts it; units B kB KiB MB MiB GB GiB; default " + sizes);
}

void add_collective(CLI::App& app, CollectiveArguments& collective, const std::string& sizes) {
  app.add_option("-c,--collective", collective.collectives,
                 "name[,root=3][,group=0-7+16-23], or a TOML file; repeatable: they run at once")
      ->required()
      ->allow_extra_args(false);
  add_size(app, collective.size, "1GiB" + sizes);
}

void add_model(CLI::App& app, ModelArguments& model, const std::string& otherwise) {
  app.add_option("--link-busy", model.link_busy,
                 "how long a transfer holds a link: serialization or latency+serialization; "
                 "default " +
                     (otherwise.empty() ? "serialization" : otherwise));
  app.add_option(
      "--forwarding", model.forwarding,
      "how transfers cross several hops: auto, cut-through or store-and-forward; default " +
          (otherwise.empty() ? "auto" : otherwise));
}

void add_trace(CLI::App& app, std::string& trace, const std::string& runs) {
  app.add_option("--trace", trace,
                 "timeline of " + runs + " to write, for ui.perfetto.dev or chrome://tracing");
}

void add_draw(CLI::App& app, DrawArguments& draw, const std::string& run, bool with_queue = false) {
  app.add_option("--draw", draw.file,
                 "picture of the network and how busy " + run +
                     " keeps its links: .svg, .pdf or .png");
  app.add_option("--draw-by", draw.by,
                 std::string("what colours and widths of its links show: utilisation") +
                     (with_queue ? ", bytes, or queue (the most data that waited)" : " or bytes") +
                     "; default utilisation");
}

void add_draw_steps(CLI::App& app, std::string& draw) {
  app.add_option("--draw-steps", draw,
                 "the same in six small pictures, each of a sixth of the time: .svg, .pdf or .png");
}

void add_explore(CLI::App& app, std::string& explore, const std::string& what) {
  app.add_option("--explore", explore, "page for a browser that " + what + ": .html");
}

constexpr const char* plays = "plays all schedules on the network";
constexpr const char* shows = "has tables that filter, charts, and the network";

void add_histogram(CLI::App& app, std::string& histogram) {
  app.add_option("--histogram", histogram,
                 "histogram to write of how long the draws took: .svg, .pdf or .png");
}

void add_bound(CLI::App& app, std::optional<std::string>& bound) {
  app.add_option(bound_option.flag, bound, help_of(bound_option));
}

} // namespace

void add_options(CLI::App& app, RunArguments& run) {
  app.add_option(
         "experiment", run.experiment,
         "a TOML file, or a name that `tutti list experiments` shows; of several a folder, a "
         "pattern or `all` (tacos, 'taccl/fig*'): a summary of what each came to")
      ->required();
  app.add_option("--out", run.out,
                 "folder for tables, figures and verdicts; default out/NAME (for tacos/fig02: "
                 "out/tacos/fig02)");
  app.add_option("--jobs", run.jobs, "how many runs at once; default: all processors");
  add_pictures(app, run.pictures);
  app.add_option(
      "--size", run.size,
      "of all [[runs]], in place of the file's: 1GB, 1KiB..1GiB; nothing is judged then");
  app.add_option("--algorithm", run.algorithms, "the same of algorithms; repeatable")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option("--set", run.settings, "the same of a setting, key=value; repeatable")
      ->allow_extra_args(false);
  auto* pack =
      app.add_option("--pack", run.pack,
                     "folder to write its programs to, for tutti-gpu, instead of executing them");
  app.add_option("--measured", run.measured,
                 "judge the rows that tutti-gpu wrote, instead of executing")
      ->excludes(pack);
  add_allow_programs(app, run.allow_programs);
  add_progress(app, run.progress);
  add_output(app, run);
}

void add_options(CLI::App& app, PaperArguments& paper) {
  app.add_option("paper", paper.paper,
                 "a folder of experiments that are of one paper (tacos), or a TOML file "
                 "(docs/formats/experiment.md)")
      ->required();
  app.add_option("--results", paper.results,
                 "folder of their results, as `tutti run tacos` leaves them; default out");
  app.add_option("-o,--output", paper.output, "page to write; default out/NAME/paper.html");
}

void add_options(CLI::App& app, SynthArguments& synth) {
  add_topology(app, synth.topology);
  add_study_options(app, RunStudy::options_of_command(), synth.line);
  add_seed(app, synth.seed);
  begin_group(app, "Output");
  app.add_option("--jobs", synth.jobs, "how many algorithms and sizes at once; default 1");
  app.add_option("-o,--output", synth.output,
                 "schedule file to write: JSON if it ends in .json, else binary");
  add_trace(app, synth.trace, "all replays");
  add_draw(app, synth.draw, "the fastest schedule", true);
  add_draw_steps(app, synth.draw_steps);
  add_explore(app, synth.explore, plays);
  add_histogram(app, synth.histogram);
  add_progress(app, synth.progress);
  add_output(app, synth);
  add_examples(
      app,
      "  tutti synth -t torus2d:8x8 -c all_reduce -a all --size 64KiB,4MiB,1GiB\n"
      "  tutti synth -t dgx1 -c all_gather -a sccl --set k=6 --limit 60s -o schedule.json\n"
      "  tutti synth -t mesh2d:4x4 -c broadcast,root=5 -a tacos,flows --discipline fifo,fluid\n");
}

void add_options(CLI::App& app, FrontierArguments& frontier) {
  add_topology(app, frontier.topology);
  add_study_options(app, FrontierStudy::options_of_command(), frontier.line);
  app.add_option("--out", frontier.out, "folder for frontier.csv and frontier.svg; default none");
  add_explore(app, frontier.explore, shows);
  app.add_flag("--progress", frontier.progress,
               "progress on stderr, a line for each point, even if that is no terminal");
  add_output(app, frontier);
}

void add_options(CLI::App& app, JobsArguments& jobs) {
  add_topology(app, jobs.topology);
  app.add_option("file", jobs.file, "a TOML file with jobs and the algorithms that plan them")
      ->required();
  add_seed(app, jobs.seed);
  app.add_option("--transport", jobs.transport,
                 "how a runtime uses the links: ideal, nccl, rccl or a TOML file; default what the "
                 "file says, else ideal");
  add_allow_programs(app, jobs.allow_programs);
  add_draw(app, jobs.draw, "the fastest plan");
  add_explore(app, jobs.explore, shows);
  app.add_option("--out", jobs.out, "folder for CSV, JSON and figures; default none");
  add_output(app, jobs);
}

void add_options(CLI::App& app, FailuresArguments& failures) {
  add_topology(app, failures.topology);
  add_study_options(app, FailureStudy::options_of_command(), failures.line);
  add_seed(app, failures.seed);
  begin_group(app, "Output");
  add_draw(app, failures.draw, "the best policy");
  add_explore(app, failures.explore, "plays each policy on the network");
  app.add_option("--out", failures.out, "folder for CSV, JSON and figures; default none");
  app.add_flag("--progress", failures.progress,
               "progress on stderr, a line for each policy, even if that is no terminal");
  add_output(app, failures);
}

void add_options(CLI::App& app, TrainArguments& train) {
  add_topology(app, train.topology);
  add_study_options(app, TrainingStudy::options_of_command(), train.line);
  add_seed(app, train.seed);
  begin_group(app, "Output");
  add_trace(app, train.trace, "all runs");
  app.add_option("--trace-npus", train.traced,
                 "NPUs in the timeline and the page, 0-3+8; default: one of each pipeline stage");
  app.add_option("--heatmap", train.heatmap,
                 "picture of link utilisation to write: .svg, .pdf or .png");
  add_draw(app, train.draw, "the fastest run");
  add_explore(app, train.explore, "shows where an iteration goes, NPU by NPU");
  app.add_option(
      "--export-chakra", train.export_chakra,
      "prefix of traces to write: the workload, one file per NPU, and PREFIX.groups.json, "
      "which ASTRA-sim takes as --comm-group-configuration");
  app.add_option("--out", train.out, "folder for CSV, JSON and figures; default none");
  app.add_flag("--progress", train.progress,
               "progress on stderr, a line for each run, even if that is no terminal");
  add_output(app, train);
  add_examples(
      app,
      "  tutti train -t rfs:2x4x8 --model resnet50 --npu v100 -a ring,tacos\n"
      "  tutti train -t dgx_a100_rail:8 --model gpt3_175b --npu a100 --tensor 8 --pipeline 8 "
      "-a auto\n"
      "  tutti train -t ring:8 --workload resnet.txt --unit ns -a ring --trace trace.json\n"
      "  tutti train -t torus2d:8x8 --model resnet50 --npu v100 -a tacos --failed-links 1,2,4\n");
}

void add_options(CLI::App& app, ConvertArguments& convert) {
  app.add_option("network", convert.topology,
                 "whatever `-t` takes: a family, a machine, a file of Tutti's or another program's "
                 "(`tutti list formats`)")
      ->required();
  std::vector<std::string> endings;
  for (const NetworkWriter& writer : network_writers()) endings.emplace_back(writer.ending);
  app.add_option("file", convert.output,
                 "the file to write; its ending says of what kind: " + joined(endings, ", "))
      ->required();
  add_examples(app, "  tutti convert network.yml network.toml\n"
                    "  tutti convert dgx_h100:2 two_nodes.toml\n");
}

void add_options(CLI::App& app, VerifyArguments& verify) {
  add_topology(app, verify.topology);
  app.add_option("file", verify.file, "a schedule file")->required();
  add_json(app, verify.json);
}

void add_options(CLI::App& app, ExploreArguments& explore) {
  app.add_option("-t,--topology", explore.topology, "of schedule files: as everywhere");
  app.add_option("files", explore.files,
                 "schedule files, folders of results, or stores of sweeps: of several, one beside "
                 "the other")
      ->required();
  app.add_option("-o,--output", explore.output, "page to write: .html; default explore.html");
  add_allow_programs(app, explore.allow_programs);
}

void add_options(CLI::App& app, ReplayArguments& replay) {
  add_topology(app, replay.topology);
  app.add_option("file", replay.file, "a schedule file")->required();
  app.add_option("--engine", replay.engine,
                 "simgrid, native, or both, which must agree; default simgrid");
  app.add_option("--discipline", replay.disciplines, "fifo, fluid or fifo,fluid; default fifo");
  app.add_option("--network-model", replay.network_model, std::string(network_model_option.help));
  app.add_option("--transport", replay.transport, transport_option.help);
  add_model(app, replay.model, "what the file says");
  add_bound(app, replay.bound);
  add_trace(app, replay.trace, "all disciplines");
  app.add_option("--heatmap", replay.heatmap,
                 "picture of link utilisation to write: .svg, .pdf or .png");
  add_draw(app, replay.draw, "the schedule", true);
  add_draw_steps(app, replay.draw_steps);
  add_explore(app, replay.explore, plays);
  app.add_option("--export-case", replay.export_case,
                 "JSON to write: the whole case in plain numbers, for an independent check");
  add_study_options(app, command_options(noise_keys), replay.noise);
  add_histogram(app, replay.histogram);
  add_output(app, replay);
}

void add_options(CLI::App& app, ExecArguments& exec) {
  add_topology(app, exec.topology);
  add_study_options(app, ExecutionStudy::options_of_command(), exec.line);
  add_seed(app, exec.seed);
  begin_group(app, "Output");
  add_explore(app, exec.explore, shows);
  app.add_option("--out", exec.out, "folder for CSV, JSON and figures; default none");
  app.add_flag("--nccl-tests", exec.nccl_tests, "print what nccl-tests prints");
  add_progress(app, exec.progress);
  add_output(app, exec);
}

void add_options(CLI::App& app, ProfileArguments& profile) {
  add_topology(app, profile.topology);
  add_study_options(app, profile_options(), profile.line);
  app.add_option("--sizes", profile.sizes, "chunk sizes, with commas; default 1KiB to 4MiB");
  app.add_option("--chunks", profile.chunks,
                 "chunks to send, one by one and then all at once; default 8");
  app.add_option("--within", profile.within,
                 "how far from what was measured the fit (a latency and a rate for each link) may "
                 "be, on average over the links; beyond that, nothing is printed or written, and "
                 "the exit code is 1; default 25%");
  app.add_option("-o,--output", profile.output, "topology file to write, with what was measured");
  add_output(app, profile);
}

void add_options(CLI::App& app, LowerArguments& lower) {
  add_topology(app, lower.topology);
  app.add_option("file", lower.files,
                 "a schedule file; of several, the fastest is lowered, on the paths that runtimes "
                 "take: direct links, else the fewest links, each NPU by its own NIC")
      ->required();
  app.add_option("--instances", lower.instances,
                 "parts of each chunk, on channels of their own; default 1");
  app.add_option("--channels", lower.channels, "most channels between two ranks; default 32");
  app.add_option("--protocol", lower.protocol, "Simple, LL or LL128; default Simple");
  app.add_option("--min-bytes", lower.min_bytes,
                 "smallest size that the program is for; default 0");
  app.add_option("--max-bytes", lower.max_bytes,
                 "largest size that the program is for; default 1 TiB");
  app.add_flag("--in-place", lower.in_place, "output and input are one buffer");
  app.add_flag("--share-blocks", lower.share_blocks,
               "let a block both send and receive where it can, and pass data on in the step that "
               "receives it: fewer blocks, which wait for each other more");
  app.add_option(
      "--runtime", lower.runtime,
      "runtime that must take the program: msccl, rccl or executor, or one version of it, such as "
      "rccl@2.18 (`tutti list runtimes`); default: the newest of each. Where a runtime has too "
      "little room or no kernel for the program, it is lowered in another way, which is printed: a "
      "step that receives and combines becomes two, adjacent chunks that move alike share a step, "
      "long blocks are cut into several on more channels, blocks are shared. A program that still "
      "isn't taken is refused, with the reason, and the exit code is 1");
  app.add_option("-o,--output", lower.output,
                 "MSCCL XML to write; the paths of its connections are written beside it, to "
                 "OUTPUT.paths.json, for `import`");
  add_json(app, lower.json);
}

void add_options(CLI::App& app, ImportArguments& import) {
  add_topology(app, import.topology);
  app.add_option("file", import.files, "programs as MSCCL XML")->required();
  app.add_option(
         "--size", import.sizes,
         "size of the collective, as nccl-tests counts it; several: 1KiB,4KiB or 1KiB..1GiB")
      ->required();
  app.add_option("--transport", import.transport,
                 std::string(transport_option.help) +
                     "; with one, a row for NCCL (or RCCL) stands beside the programs");
  app.add_option("-c,--collective", import.collective,
                 "collective of a program with coll=\"custom\": name[,root=3], or a TOML file");
  app.add_option("--discipline", import.disciplines,
                 "fifo, fluid or fifo,fluid; default fifo,fluid");
  app.add_option(
      "--routing", import.routing,
      "routing of connections whose paths no file gives: auto, shortest, single, "
      "ecmp-hash[,seed=3] or dimension-order; default: the direct link, else the fewest links");
  app.add_option("--paths", import.paths,
                 "JSON file with the paths of connections, as `lower` writes it, or none; default "
                 "FILE.paths.json where there is one");
  app.add_option("--program", import.program,
                 "number of the program, from 1, in a file with several <algo>; default all");
  app.add_option("-o,--output", import.output,
                 "schedule file to write: JSON if it ends in .json, else binary");
  add_explore(app, import.explore, plays);
  add_model(app, import.model, "");
  add_output(app, import);
}

namespace {

constexpr const char* usual_transport_help =
    "how a runtime uses the links: ideal, nccl, rccl or a TOML file; default: the GPUs' vendor's "
    "where the machine says what its GPUs and links are, else ideal";

} // namespace

void add_options(CLI::App& app, CompareArguments& compare) {
  add_topology(app, compare.topology);
  app.add_option("log", compare.logs,
                 "one or more files, or - for standard input: what nccl-tests or rccl-tests "
                 "printed, their JSON, JSON of NCCL's Inspector, or a table in CSV")
      ->required();
  app.add_option("-c,--collective", compare.collective,
                 "collective of logs that don't name theirs; of tables and the Inspector's JSON, "
                 "only this one is read; with group=0-7, or that alone: the NPUs that took part");
  app.add_option("--only", compare.only,
                 "only those rows of tables that have this text in this column: hardware=H100; "
                 "repeatable: all must match")
      ->allow_extra_args(false);
  app.add_option("-a,--algorithm", compare.algorithms,
                 "algorithms that predict, with commas; default nccl, on AMD's GPUs rccl")
      ->delimiter(',');
  app.add_option("--set", compare.settings, "key=value: one of the algorithm's own options")
      ->allow_extra_args(false);
  add_model(app, compare.model, "");
  app.add_option("--transport", compare.transport, usual_transport_help);
  app.add_flag("--explain", compare.explain,
               "also say what the log says of itself, and which single cause would explain it");
  app.add_option("--limit", compare.limit,
                 "time and memory for each prediction: 60s, 8GiB or 60s,8GiB");
  app.add_option("--expect", compare.expect,
                 "exit code 1 where the mean of |ln ratio| is more than this: 10%");
  add_explore(app, compare.explore, "holds what is predicted against what is measured");
  app.add_option("--draw", compare.draw,
                 "picture to write of bus bandwidth over size: .svg, .pdf or .png");
  app.add_option("--cache", compare.cache,
                 "folder of remembered schedules, or none; default ~/.cache/tutti/schedules");
  add_output(app, compare);
}

void add_options(CLI::App& app, PredictArguments& predict) {
  add_topology(app, predict.topology);
  app.add_option("-c,--collective", predict.collectives,
                 "collectives, repeatable; default: those that nccl-tests measures")
      ->allow_extra_args(false);
  app.add_option("--size", predict.sizes,
                 "sizes, doubling from the first to the last; default 8B..8GiB");
  app.add_option("-a,--algorithm", predict.algorithm,
                 "algorithm that predicts; default nccl, on AMD's GPUs rccl");
  app.add_option("--set", predict.settings, "key=value: one of the algorithm's own options")
      ->allow_extra_args(false);
  app.add_option("--transport", predict.transport, usual_transport_help);
  app.add_option("--csv", predict.csv,
                 "file to write in the columns that other simulators read: collective, bytes, "
                 "ranks, time and its interval");
  app.add_option("--draw", predict.draw,
                 "picture to write of bus bandwidth over size: .svg, .pdf or .png");
  app.add_option("--cache", predict.cache,
                 "folder of remembered schedules, or none; default ~/.cache/tutti/schedules");
  add_output(app, predict);
  add_examples(app, "  tutti predict -t dgx_h100:2\n"
                    "  tutti predict -t node.xml -c all_reduce --draw reach.svg --csv reach.csv\n");
}

void add_options(CLI::App& app, FitArguments& fit) {
  add_topology(app, fit.topology);
  add_study_options(app, FitStudy::options_of_command(), fit.line);
  app.add_option("-o,--output", fit.output, "transport to write: a TOML file, for --transport");
  app.add_option("--out", fit.out, "folder for CSV, JSON and figures; default none");
  app.add_flag("--progress", fit.progress,
               "progress on stderr, a line for each stage, even if that is no terminal");
  add_output(app, fit);
  add_examples(app, "  tutti fit -t dgx_h100 all_reduce.log all_gather.log -o ours.toml\n"
                    "  tutti compare -t dgx_h100 all_reduce.log --transport ours.toml\n");
}

void add_options(CLI::App& app, BoundArguments& bound) {
  add_topology(app, bound.topology);
  add_collective(app, bound.collective, "");
  app.add_option("--chunks", bound.chunks,
                 "also bound schedules with this many chunks per shard, each of which moves whole");
  add_model(app, bound.model, "");
  add_bound(app, bound.bound);
  app.add_flag("--check", bound.check,
               "check every certificate by code that shares nothing with what made it; exit code 1 "
               "where one doesn't hold");
  app.add_option(
      "--draw", bound.draw,
      "picture to write of what proves the best bound: .svg, .pdf or .png; for networks of up "
      "to 1024 nodes");
  add_output(app, bound);
}

void add_options(CLI::App& app, SweepArguments& sweep) {
  app.add_option("sweep", sweep.file,
                 "a TOML file (docs/formats/sweep.md), or a name that `tutti list sweeps` shows")
      ->required();
  app.add_option("--out", sweep.out,
                 "folder for the store, tables and figures; default out/NAME (for tacos/fig02: "
                 "out/tacos/fig02)");
  app.add_option("--store", sweep.store, "SQLite file; default sweep.sqlite in that folder");
  app.add_option("--jobs", sweep.jobs,
                 "how many points at once; default: all processors; with MPI: 1 on each rank");
  app.add_option("--engine", sweep.engine, "local, or mpi: under mpirun or srun; default local");
  app.add_option("--shard", sweep.shard,
                 "simulate only one part of the points, into a store of its own: 3/16, for one of "
                 "0/16 to 15/16");
  app.add_option("--merge", sweep.merged,
                 "take over the results of shards; the files of their stores, separated by blanks")
      ->expected(1, -1);
  app.add_flag("--report", sweep.report,
               "simulate nothing; make tables and figures of what the store has");
  app.add_option("--only", sweep.only,
                 "with --report: only the analysis with this label, without points.csv and "
                 "index.html; repeatable")
      ->allow_extra_args(false);
  app.add_option("--where", sweep.where,
                 "simulate nothing; show the points of the store for which this holds, over "
                 "parameters, results and objectives: 'gap > 1.2 AND npus >= 64'");
  add_pictures(app, sweep.pictures);
  app.add_flag(
      "--retry", sweep.retry,
      "simulate again what ran into a limit, crashed, or failed one of Tutti's own checks");
  app.add_option("--cache", sweep.cache,
                 "folder of remembered schedules, or none; default ~/.cache/tutti/schedules");
  app.add_option("--emit-slurm", sweep.emit_slurm, "batch script to write; nothing is simulated");
  app.add_option(
      "--slurm-shards", sweep.slurm_shards,
      "make the script an array of this many jobs, one for each shard; default: one job with MPI");
  app.add_option("--slurm-tasks", sweep.slurm_tasks, "MPI ranks of the script's job; default 4");
  add_allow_programs(app, sweep.allow_programs);
  add_progress(app, sweep.progress);
  add_output(app, sweep);
}

void add_options(CLI::App& app, ListArguments& list) {
  app.add_option("kind", list.kind, joined(listed_kinds(), ", "))->required();
  add_output(app, list);
}

void add_options(CLI::App& app, ShowArguments& show) {
  add_topology(app, show.topology, ",network"); // also without -t
  app.add_option("--sketch", show.sketch,
                 "a communication sketch, TOML or TACCL's JSON: the logical topology that it makes "
                 "of the network is shown instead");
  app.add_option(
      "--draw", show.draw,
      "picture to write of the network: .svg, .pdf or .png; links by bandwidth and latency");
  add_output(app, show);
}

void add_options(CLI::App& app, CheckAlgorithmArguments& check) {
  app.add_option("algorithm,-a,--algorithm", check.algorithm,
                 "a program, shared object or file of schedules (./swing.py), or a name")
      ->required();
  app.add_option(
         "-t,--topology", check.topologies,
         "a network to check it on, as of synth; repeatable; default: small ones of all sorts")
      ->allow_extra_args(false);
  app.add_option("--size", check.size, "of every collective; default 1MiB");
  app.add_option("--limit", check.limit, "time and memory for each synthesis; default 10s");
  app.add_option("--set", check.settings, "an option of the algorithm, key=value; repeatable")
      ->allow_extra_args(false);
  add_seed(app, check.seed);
  add_output(app, check);
}

void add_options(CLI::App& app, LintArguments& lint) {
  add_topology(app, lint.topology, ",network"); // also without -t
  app.add_option(
      "--program", lint.program,
      "MSCCL XML or a schedule file, whose ways are looked at instead of those of NCCL's "
      "rings");
  add_output(app, lint);
  add_examples(app, "  tutti lint dump.xml && tutti synth -t dump.xml -c all_reduce -a all\n"
                    "  tutti lint dump.xml:4 --json\n");
}

void add_options(CLI::App& app, SketchArguments& sketch) {
  add_topology(app, sketch.topology);
  app.add_option("name", sketch.name,
                 "name of a sketch, which is printed as TOML; default: a table of all");
  app.add_option("-o,--out", sketch.out, "folder to write sketches to, each as NAME.toml");
  add_output(app, sketch);
  add_examples(app, "  tutti sketch -t dgx2x2\n"
                    "  tutti sketch -t dgx2x2 relay > mine.toml\n"
                    "  tutti synth -t dgx2x2 -c all_gather -a taccl --set sketch=mine.toml\n");
}

void add_options(CLI::App& app, ManArguments& man) {
  app.add_option("command", man.command,
                 "command whose page is printed, as in: tutti man synth | man -l -; default: that "
                 "of tutti itself");
  app.add_flag("--reference", man.reference,
               "print all commands on one page of Markdown, as in docs/commands.md")
      ->excludes("command");
  app.add_flag("--schema", man.schema,
               "print the JSON schema of rows of results, as in docs/schemas/rows.json")
      ->excludes("command");
}

void add_options(CLI::App& app, CompletionArguments& completion) {
  app.add_option("shell", completion.shell,
                 "bash or zsh; in its start-up file: source <(tutti completion bash)")
      ->required();
}

std::vector<StudyCommand> study_commands() {
  return {{"synth", RunStudy::kind, RunStudy::options_of_command()},
          {"frontier", FrontierStudy::kind, FrontierStudy::options_of_command()},
          {"fit", FitStudy::kind, FitStudy::options_of_command()},
          {"failures", FailureStudy::kind, FailureStudy::options_of_command()},
          {"train", TrainingStudy::kind, TrainingStudy::options_of_command()},
          {"exec", ExecutionStudy::kind, ExecutionStudy::options_of_command()}};
}

std::vector<StudyOption> profile_options() {
  std::vector<StudyOption> options = ExecutionStudy::options_of_command();
  std::erase_if(options, [](const StudyOption& option) {
    const std::string_view key = option.key;
    return key != "backend" && key != "links" && key != "repetitions" && key != "watchdog";
  });
  for (StudyOption& option : options) option.group = nullptr;
  return options;
}

} // namespace tutti
