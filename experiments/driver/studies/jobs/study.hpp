// Several jobs on one network, in one simulation: what each costs the others, by schedules that
// were made in ignorance of each other, or together.
// Format: docs/formats/jobs.md.
#pragma once

#include "experiments/driver/studies/refusals.hpp"
#include "experiments/driver/studies/study.hpp"
#include "sim/engines/engine.hpp"
#include "sim/files/config.hpp"
#include "sim/synthesizer.hpp"
#include "sim/topology.hpp"
#include "sim/transport/transport.hpp"
#include "sim/units.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tutti {

struct Job {
  std::string name;                        ///< unique among those that run at once
  std::string collective;                  ///< a name with its options, or a file
  Bytes size;                              ///< where the collective is a file: its own
  std::optional<std::uint32_t> chunks = 1; ///< per shard; none: auto
  JobTiming timing;
  std::optional<AlgorithmRow> algorithm; ///< whatever the others use; none: the plan's
};

/// How the jobs get their schedules.
struct JobPlan {
  AlgorithmRow algorithm; ///< of jobs that don't name one
  bool together = false;  ///< one synthesis for all jobs at once; then it makes all of them
};
[[nodiscard]] std::string to_text(const JobPlan& plan); ///< "ring", "tacos, together"

class ConfigTable;
struct Experiment;

struct JobStudy {
  static constexpr std::string_view kind = "jobs";

  std::string label;        ///< unique in its experiment; empty on the command line
  std::size_t topology = 0; ///< into the networks
  std::vector<Job> jobs;
  std::vector<JobPlan> plans;
  SynthesisOptions options;
  std::vector<const EngineRow*> engines; ///< at least one; all must say the same
  /// What a runtime makes of the links, for the jobs that are in one run; null: they are ideal.
  std::shared_ptr<const Transport> transport;
  bool explores = false; ///< runs are kept for a page

  /// How many there are, each with a row or more. A point of a sweep is one.
  [[nodiscard]] std::size_t case_count() const;
  /// What it writes, without rows.
  [[nodiscard]] static std::vector<RecordFile> files();
  /// How --columns may call what its tables have, or could have.
  [[nodiscard]] std::vector<std::string> table_columns() const;

  /// From its table, after `others` of its kind. Pre: the experiment has its topologies.
  /// Errors: InputError with the place of what is wrong.
  [[nodiscard]] static JobStudy read(ConfigTable table, const Experiment& experiment,
                                     const std::string& source_name,
                                     std::span<const JobStudy> others);
};

/// Errors: InputError.
void require_sound(const JobStudy& study, Networks networks);
[[nodiscard]] StudyResult run_study(const JobStudy& study, const StudyRun& how);

/// A file for `tutti jobs`. Errors: InputError with the place of what is wrong.
[[nodiscard]] JobStudy read_job_file(const std::string& file, const Topology& topology,
                                     std::uint64_t seed, ProgramGate gate = {});

struct JobResult {
  Time alone;               ///< from its start on, by the same algorithm, on a network of its own
  Time in_company;          ///< the same, among the others
  Time bound;               ///< that it can't beat even alone
  double algbw = 0;         ///< in company, bytes/s
  std::uint32_t chunks = 1; ///< per shard, in company, times what the algorithm needs
  [[nodiscard]] double slowdown() const;
};

struct PlanEvaluation {
  std::string plan;
  Status status = Status::feasible;
  std::string note;             ///< why there is no schedule; else empty
  std::vector<JobResult> jobs;  ///< as JobStudy::jobs; empty without a schedule
  Time makespan;                ///< from the first start to the last delivery
  Time bound;                   ///< what all jobs together can't beat
  double mean_slowdown = 0;     ///< geometric
  double synthesis_seconds = 0; ///< CPU, of the schedules that run at once
  double replay_seconds = 0;    ///< CPU
  std::vector<LinkUse> links;
  std::optional<ExploredRun> explored; ///< all jobs, where the study explores; on ideal links
  /// A defect of Tutti in words: a fault, a time below its bound, engines that disagree.
  std::string problem;
  std::string remark; ///< on how engines agree (agreement.hpp); mostly empty
};

struct JobStudyEvaluation {
  std::string label, topology;
  std::uint32_t npus = 0;
  std::vector<std::string> engines;
  TimeModel model;
  std::vector<Job> jobs;
  std::vector<PlanEvaluation> plans;
};

/// Makes the schedules, verifies them alone and at once, replays each job alone and all at once on
/// every engine. Jobs that name no chunks per shard get what the rule takes for each alone, or for
/// all of them where they are planned together (attempt_in_chunks()). Where `cancelled` of the
/// options holds, plans that are left are not begun.
/// A plan that refuses what others don't, or has no memory left, has a note.
/// Errors: InputError where all plans refuse: a collective that can't be made on the topology.
[[nodiscard]] JobStudyEvaluation
evaluate_jobs(const JobStudy& study, const std::string& topology_label, const Topology& topology);
/// The same as one study of several: what its plans refuse is counted, and no error.
[[nodiscard]] JobStudyEvaluation evaluate_jobs(const JobStudy& study,
                                               const std::string& topology_label,
                                               const Topology& topology, Refusals& refusals);

/// Checks what can be checked in no time. Errors: InputError naming the job.
void require_sound(const JobStudy& study, const Topology& topology);

/// Points to the topology.
[[nodiscard]] StudyResult result_of(JobStudyEvaluation evaluation, const Topology& topology);

/// The time of each job among the others, a bar for each plan. Errors: InputError where no plan has
/// a schedule.
[[nodiscard]] Figure job_figure(const JobStudyEvaluation& study);

/// Network use of the plan with the least makespan; empty where none has a schedule. It points to
/// the topology.
[[nodiscard]] std::vector<NetworkUse> network_uses(const JobStudyEvaluation& study,
                                                   const Topology& topology);

/// What is wrong with each plan, in words; empty where all is well.
[[nodiscard]] std::vector<std::string> problems_of(const JobStudyEvaluation& study);

} // namespace tutti
