// The subcommands of `tutti`: what each was given on the command line, as text, and the function
// that does it. Parsing of the text is done by the commands, so that its errors are InputErrors.
#pragma once

#include "experiments/driver/cli/catalogue.hpp"
#include "experiments/driver/cli/study_line.hpp"
#include "experiments/driver/records/table_form.hpp"
#include "experiments/driver/studies/failures/evaluation.hpp"
#include "experiments/driver/studies/frontiers/study.hpp"
#include "experiments/driver/studies/jobs/study.hpp"
#include "experiments/driver/studies/runs/evaluation.hpp"
#include "experiments/driver/studies/study.hpp"
#include "experiments/driver/studies/training/evaluation.hpp"
#include "experiments/driver/sweep/engine.hpp"
#include "sim/error.hpp"
#include "sim/time_model.hpp"
#include "sim/units.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tutti {

/// Options that more than one command takes. An absent one has the command's default.
struct ModelArguments {
  std::optional<std::string> link_busy, forwarding;
};

struct CollectiveArguments {
  std::vector<std::string> collectives; ///< several run at once
  std::optional<std::string> size;      ///< default 1GiB
};

/// How a command prints what came of it: tables or JSON.
struct AnswerArguments {
  TableArguments tables;
  bool json = false;
};

struct RunArguments : AnswerArguments {
  std::string experiment;                    ///< file, or a name of `tutti list experiments`
  std::optional<std::string> out;            ///< default_folder()
  std::optional<std::string> jobs;           ///< default: all processors
  std::optional<std::string> pack, measured; ///< files for tutti-gpu, and from it
  std::vector<std::string> pictures;         ///< formats beside svg
  /// What all [[runs]] have in place of what the file says.
  std::optional<std::string> size;
  std::vector<std::string> algorithms, settings;
  bool progress = false; ///< lines where stderr is no terminal
  bool allow_programs = false;

  [[nodiscard]] bool changes_runs() const {
    return size || !algorithms.empty() || !settings.empty();
  }
};

struct PaperArguments {
  std::string paper;                 ///< a folder of experiments: "tacos"
  std::string results = "out";       ///< folder of their results
  std::optional<std::string> output; ///< default: out/NAME/paper.html
};

/// A picture of what a run did to its network.
struct DrawArguments {
  std::string file;               ///< empty: none
  std::string by = "utilisation"; ///< what colours and widens links
};

/// Files that are written of replays: their timeline, pictures, and a page that plays them. Empty:
/// none.
struct ReplayFiles {
  std::string trace, draw_steps, histogram, explore;
  DrawArguments draw;
};

struct SynthArguments : ReplayFiles, AnswerArguments {
  std::string topology;
  StudyLine line; ///< of RunStudy::options_of_command()
  std::string seed = "1", jobs = "1";
  std::string output;    ///< schedule file to write; empty: none
  bool progress = false; ///< lines where stderr is no terminal
};

/// Arguments of a command that runs one study on one topology.
struct StudyArguments : AnswerArguments {
  std::string topology;
  StudyLine line; ///< the study's options
  std::string seed = "1";
  std::optional<std::string> out; ///< folder for CSV, JSON and figures; default: none
  DrawArguments draw;
  std::string explore;   ///< page to write; empty: none
  bool progress = false; ///< lines where stderr is no terminal
};

struct JobsArguments : StudyArguments { ///< without line
  std::string file;
  std::optional<std::string> transport; ///< default: what the file says
  bool allow_programs = false;
};
struct FailuresArguments : StudyArguments {};
struct FrontierArguments : StudyArguments {}; ///< without seed
struct FitArguments : StudyArguments {        ///< without seed
  std::string output;                         ///< transport file to write; empty: none
};

struct TrainArguments : StudyArguments {
  std::string trace, heatmap, export_chakra; ///< files to write; empty: none
  std::optional<std::string> traced;         ///< NPUs, 0-3+8
};

struct ConvertArguments {
  std::string topology;
  std::string output; ///< its ending says what is written
};

struct VerifyArguments {
  std::string topology, file;
  bool json = false;
};

struct ExploreArguments {
  std::string topology, output = "explore.html"; ///< topology: of schedules
  std::vector<std::string> files;
  bool allow_programs = false;
};

struct ReplayArguments : ReplayFiles, AnswerArguments {
  std::string topology, file;
  std::string engine = "simgrid", disciplines = "fifo", transport = "ideal";
  std::optional<std::string> bound; ///< quick (default) or full
  ModelArguments model;             ///< default: what the file says
  std::string network_model = "ideal";
  std::string heatmap, export_case; ///< files to write; empty: none
  StudyLine noise;                  ///< of noise_keys
};

struct ExecArguments : StudyArguments {
  bool nccl_tests = false; ///< its columns instead of the table
};

struct ProfileArguments : AnswerArguments {
  std::string topology;
  StudyLine line;                   ///< of profile_options()
  std::optional<std::string> sizes; ///< with commas; default 1KiB to 4MiB
  std::string chunks = "8";
  std::string within = "25%"; ///< worse fits are refused
  std::string output;         ///< topology file to write; empty: none
};

struct LowerArguments {
  std::string topology;
  std::vector<std::string> files; ///< schedules, of which the fastest is lowered
  std::string instances = "1", channels = "32", protocol = "Simple";
  std::string min_bytes = "0", max_bytes;
  bool in_place = false, share_blocks = false;
  std::string runtime; ///< NAME or NAME@VERSION; empty: the newest of each
  std::string output;  ///< XML to write; empty: none
  bool json = false;
};

struct ImportArguments : AnswerArguments {
  std::string topology;
  std::vector<std::string> files; ///< MSCCL XML
  std::string sizes, transport = "ideal";
  std::string collective; ///< what `coll="custom"` is; empty: nothing
  std::string disciplines = "fifo,fluid";
  std::optional<std::string> routing; ///< none: a direct link, or the shortest path
  std::string paths;                  ///< of connections; empty: FILE.paths.json if there is one
  std::optional<std::string> program; ///< which of a file's, from 1; none: all
  std::string output;                 ///< schedule file to write; empty: none
  std::string explore;                ///< page to write; empty: none
  ModelArguments model;
};

struct BoundArguments : AnswerArguments {
  std::string topology;
  CollectiveArguments collective;
  std::optional<std::string> chunks; ///< none: bounds of any schedule only
  std::optional<std::string> bound;  ///< quick (default) or full
  bool check = false;                ///< have every certificate checked
  ModelArguments model;
  std::string draw; ///< picture to write; empty: none
};

struct CompareArguments : AnswerArguments {
  std::string topology;
  std::vector<std::string> logs;
  std::string collective; ///< of logs that don't say theirs, and its group; empty: none
  std::vector<std::string> only;
  std::vector<std::string> algorithms; ///< empty: nccl, or rccl on AMD's GPUs
  std::vector<std::string> settings;
  ModelArguments model;
  std::string transport; ///< empty: usual_transport()
  bool explain = false;
  std::string limit;   ///< of each prediction, as set_limits() takes it; empty: none
  std::string expect;  ///< "10%"; empty: nothing
  std::string draw;    ///< picture to write; empty: none
  std::string explore; ///< page to write; empty: none
  std::optional<std::string> cache;
};

/// "What should this machine reach?"
struct PredictArguments : AnswerArguments {
  std::string topology;
  std::vector<std::string> collectives; ///< empty: those that nccl-tests measures
  std::string sizes = "8B..8GiB";
  std::string algorithm; ///< empty: nccl, or rccl on AMD's GPUs
  std::vector<std::string> settings;
  std::string transport; ///< empty: usual_transport()
  std::string csv;       ///< file to write; empty: none
  std::string draw;      ///< picture to write; empty: none
  std::optional<std::string> cache;
};

struct SweepArguments : AnswerArguments {
  std::string file;                        ///< or a name of `tutti list sweeps`
  std::optional<std::string> out;          ///< folder; default_folder()
  std::optional<std::string> store;        ///< SQLite file; default sweep.sqlite in that folder
  std::optional<std::string> jobs;         ///< default: all processors; with MPI 1 on each rank
  std::string engine = "local";            ///< or mpi
  std::optional<std::string> shard;        ///< "3/16"
  std::vector<std::string> merged;         ///< stores of shards
  std::vector<std::string> only;           ///< labels of analyses; empty: all
  std::optional<std::string> where;        ///< which points are shown
  std::vector<std::string> pictures;       ///< formats beside svg
  std::optional<std::string> cache;        ///< default: the user's; "none"
  std::optional<std::string> emit_slurm;   ///< file to write
  std::optional<std::string> slurm_shards; ///< jobs of the array; default: MPI
  std::string slurm_tasks = "4";           ///< MPI ranks
  bool retry = false, report = false, allow_programs = false;
  bool progress = false; ///< lines where stderr is no terminal
};

struct ListArguments : AnswerArguments {
  std::string kind; ///< of listed_kinds()
};

struct ShowArguments : AnswerArguments {
  std::string topology;
  std::string sketch; ///< file, whose logical topology is shown; empty: none
  std::string draw;   ///< picture to write; empty: none
};

struct CheckAlgorithmArguments : AnswerArguments {
  std::string algorithm;
  std::vector<std::string> topologies; ///< empty: small ones of all sorts
  std::string size = "1MiB", seed = "1", limit = "10s";
  std::vector<std::string> settings;
};

struct LintArguments : AnswerArguments {
  std::string topology;
  std::string program; ///< whose ways are audited instead of NCCL's: MSCCL XML, or a schedule
};

struct SketchArguments : AnswerArguments {
  std::string topology;
  std::string name;               ///< of the only one wanted; empty: all
  std::optional<std::string> out; ///< folder for their files; none: none is written
};

struct CompletionArguments {
  std::string shell; ///< bash or zsh
};

struct ManArguments {
  std::string command;    ///< empty: tutti itself
  bool reference = false; ///< of all commands, in Markdown
  bool schema = false;    ///< of rows of results instead
};

/// Each prints its result on stdout and returns the exit code: 0, or 1 where a check failed.
/// Errors: InputError for bad input.
int run_command(const RunArguments& arguments);
int paper_command(const PaperArguments& arguments);
/// The same of several experiments, by `run` of each. Errors: InputError.
int run_many(std::span<const CatalogueEntry> entries, const RunArguments& arguments,
             const std::function<int(const RunArguments&)>& run);
int synth_command(const SynthArguments& arguments);
int frontier_command(const FrontierArguments& arguments);
int jobs_command(const JobsArguments& arguments);
int failures_command(const FailuresArguments& arguments);
int train_command(const TrainArguments& arguments);
int convert_command(const ConvertArguments& arguments);
int verify_command(const VerifyArguments& arguments);
int explore_command(const ExploreArguments& arguments);
int replay_command(const ReplayArguments& arguments);
int bound_command(const BoundArguments& arguments);
int compare_command(const CompareArguments& arguments);
int predict_command(const PredictArguments& arguments);
int fit_command(const FitArguments& arguments);
int exec_command(const ExecArguments& arguments);
int profile_command(const ProfileArguments& arguments);
int lower_command(const LowerArguments& arguments);
int import_command(const ImportArguments& arguments);
/// `mpi`: of the program that has MPI; else empty.
int sweep_command(const SweepArguments& arguments, const sweep::SweepEngine& mpi);
int list_command(const ListArguments& arguments);
/// What `tutti list` knows: "algorithms", "topologies", ...
[[nodiscard]] std::vector<std::string> listed_kinds();
int show_command(const ShowArguments& arguments);
/// 1 where an answer is wrong, or there is none.
int check_algorithm_command(const CheckAlgorithmArguments& arguments);
/// 1 where anything is odd.
int lint_command(const LintArguments& arguments);
int sketch_command(const SketchArguments& arguments);
int completion_command(const CompletionArguments& arguments);

/// The transport of `--transport`, or where nothing is given usual_transport(); ideal links that
/// nobody asked for are reported. Errors: InputError.
[[nodiscard]] std::shared_ptr<const Transport> transport_or_usual(const Topology& topology,
                                                                  const std::string& asked);

/// `model` with what the arguments say. Errors: InputError.
[[nodiscard]] TimeModel time_model(const ModelArguments& arguments, TimeModel model = {});

/// `fifo`, `fluid` or `fifo,fluid`. Errors: InputError for an unknown or repeated one.
[[nodiscard]] std::vector<Discipline> parse_disciplines(const std::string& text);

/// The sizes asked for, or 1GiB. Errors: InputError for a bad one, or where files say the size.
[[nodiscard]] std::vector<Bytes> sizes_of(const CollectiveArguments& arguments);

/// Opens the file for writing as write_file() would and leaves nothing behind, so that an
/// unwritable one costs no work. Errors: InputError "FILE: cannot write: ...".
void require_writable(const std::string& file);
/// The same for every output that isn't empty, none of which is an input or another output.
/// Errors: also InputError "FILE: one file is named twice, ...".
void require_outputs(const std::vector<std::string>& inputs,
                     const std::vector<std::string>& outputs);

/// Says on stderr what is wrong, each in words. The exit code: 1 where something is.
int report_problems(std::span<const std::string> problems);

/// Says on stderr what a trace leaves out.
void report_left_out(const std::string& trace, std::span<const std::string> left_out);

/// Opens the study's first file in the folder, if one is wanted, as require_writable() does.
void require_writable(const std::optional<std::string>& folder, const std::string& file);

/// Draws what the best run did to the first network, where a file is named. False where it should,
/// and nothing ran, which it says on stderr.
bool draw_network(const StudyResult& result, const DrawArguments& draw);

/// Prints the result, writes its CSV, JSON, texts and figures into the folder, and its page, unless
/// interrupted, and says on stderr what is wrong. The exit code.
int conclude(const StudyResult& result, std::string_view command, const StudyArguments& arguments,
             bool interrupted);

/// Before any work. Errors: InputError for a chosen column that isn't one of these.
void require_columns(const TableArguments& tables, std::span<const std::string> known);
/// Errors: InputError for a chosen column that no table of these studies has.
void require_columns(const TableArguments& tables, std::span<const AnyStudy> studies);

/// Reads the command line as the study that it stands for (study_line.hpp), runs and concludes it.
/// `adapt`: the result before it is shown; may be empty. Errors: InputError.
int run_study_line(std::string_view command, const StudyArguments& arguments,
                   const std::function<void(StudyResult&)>& adapt = {});

/// Keys and values of texts `key=value`. Errors: InputError for another form or a repeated key.
[[nodiscard]] std::map<std::string, std::string>
parse_settings(const std::vector<std::string>& texts);

/// Runs `body` and puts the option in front of an InputError.
template <typename Body> auto of_option(const std::string& option, const Body& body) {
  try {
    return body();
  } catch (const InputError& error) {
    throw InputError(option + ": " + error.what());
  }
}

/// Before hours of work. Errors: InputError unless it ends in .svg, .pdf or .png and can be drawn,
/// or is empty; NotBuilt where `./tutti` can install what draws it.
void require_picture_name(const std::string& file);
/// The same of formats: "pdf".
void require_formats(const std::vector<std::string>& formats);
/// The same of a histogram; also where nothing is drawn.
void require_histogram(const std::string& file, const NoiseRequest& noise);
/// The quantity, if the picture's name and it are right; `with_queue`: whether a run's queues are
/// known. Errors: InputError.
LinkQuantity require_drawable(const DrawArguments& draw, bool with_queue = false);

/// A whole number in this range. Errors: InputError naming the option.
[[nodiscard]] std::uint32_t parse_count(const std::string& option, const std::string& text,
                                        std::int64_t least, std::int64_t most);

/// Errors: InputError unless it is a whole number from 1 on.
[[nodiscard]] std::uint64_t parse_seed(const std::string& text); ///< from 0 on
[[nodiscard]] std::size_t parse_jobs(const std::string& text);

} // namespace tutti
