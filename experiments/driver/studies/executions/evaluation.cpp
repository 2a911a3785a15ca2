// Everything that is timed is also checked: the schedule by verify(), the program by
// verify_program(), the data element by element. Times of a busy machine drift, so all is done in
// passes, profile and runs together, and ratios are taken within a pass. Predictions come from both
// engines, which must agree, on the network that was profiled.
#include "experiments/driver/studies/executions/evaluation.hpp"

#include "experiments/driver/requests/collective_request.hpp"
#include "experiments/driver/studies/refusals.hpp"
#include "experiments/driver/studies/registry.hpp"
#include "experiments/driver/studies/runs/attempt.hpp"
#include "runtime/checking/verify_program.hpp"
#include "sim/engines/agreement.hpp"
#include "sim/error.hpp"
#include "sim/transforms.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <utility>

namespace tutti {

namespace {

std::string no_obstacle() { return {}; }
std::string cuda_obstacle() { return runtime::why_no_cuda().value_or(""); }

runtime::Execution run_on_cuda(const runtime::Program& program,
                               const runtime::ExecutionRequest& request) {
  return runtime::run_on_cuda(program, request);
}

const std::array<BackendRow, 2> backend_rows{{
    {"cpu", runtime::run_on_cpu, runtime::run_on_cpu, no_obstacle, runtime::cpu_copy_rate},
    {"cuda", run_on_cuda, run_on_cuda, cuda_obstacle, runtime::device_copy_rate},
}};

/// Whether chunks are alike, and whole elements in all instances.
bool has_whole_elements(const ExecutionCase& c, const Collective& collective) {
  const auto step = static_cast<std::int64_t>(runtime::element_size(c.request.type)) *
                    std::int64_t{c.lowering.instances};
  return collective.smallest_chunk() == collective.largest_chunk() &&
         collective.smallest_chunk().count % step == 0;
}

/// Errors: InputError where chunks aren't.
void require_whole_elements(const ExecutionCase& c, const Collective& collective) {
  if (has_whole_elements(c, collective)) return;
  throw InputError(fmt::format("{} don't divide into {} chunks of whole {} elements",
                               to_text(collective.size()), collective.chunks.size(),
                               runtime::to_text(c.request.type)));
}

class ExecutionStudyRun {
public:
  ExecutionStudyRun(const ExecutionCase& c,
                    const std::function<void(const ExecutionRun&)>& announce)
      : case_(c), announce_(announce), engines_(all_engines()) {}

  ExecutionEvaluation run(Refusals& refusals) {
    describe();
    if (case_.measures_copy_rate) measure_copy_rate();
    for (std::uint32_t pass = 0; pass < case_.passes; ++pass)
      if (!run_pass(refusals)) break;
    return std::move(made_);
  }

private:
  /// A device that has too little memory for it may have enough for the runs.
  void measure_copy_rate() {
    try {
      made_.copy_rate = case_.backend->copy_rate();
    } catch (const InputError& error) {
      made_.copy_rate_note = error.what();
    }
  }

  /// False where it was interrupted.
  bool run_pass(Refusals& refusals) {
    std::optional<InputError> no_profile; // every row says so
    try {
      if (case_.predicted_by == PredictedBy::profile && !profile_network()) return false;
    } catch (const InputError& error) {
      if (case_.given) throw;
      no_profile = error;
    }
    std::vector<ExecutionRun> runs;
    const bool is_over = run_each(no_profile, refusals, runs);
    if (case_.fits_half) fit(runs);
    for (std::size_t position = 0; position < runs.size(); ++position)
      add(std::move(runs[position]), position);
    return is_over;
  }

  /// False where it was interrupted.
  bool run_each(const std::optional<InputError>& no_profile, Refusals& refusals,
                std::vector<ExecutionRun>& runs) {
    if (case_.given) runs.push_back(announced(run_of(*case_.given)));
    for (std::size_t s = 0; s < case_.sizes.size(); ++s)
      for (const AlgorithmRow& algorithm : case_.algorithms) {
        if (case_.options.cancelled && case_.options.cancelled()) return false;
        const Bytes size = case_.sizes[s];
        const auto made = [&] {
          if (no_profile) throw InputError(*no_profile);
          return run_of(algorithm, size);
        };
        const auto refused = [&](Status, const std::string& note) {
          return without_run(algorithm, size, note);
        };
        runs.push_back(announced(refusals.row(made, refused)));
        runs.back().fitted = is_fitted(case_, s);
      }
    return true;
  }

  ExecutionRun announced(ExecutionRun run) {
    if (announce_) announce_(run);
    return run;
  }

  /// Predictions of one pass, by what it measured of every other size. Where nothing was, as in
  /// programs that are yet to be measured, they stay what the profile says.
  void fit(std::vector<ExecutionRun>& runs) {
    const SizeFactors factors(runs);
    if (factors.empty()) return;
    if (made_.factors.empty()) made_.factors = factors.fitted();
    for (ExecutionRun& run : runs) {
      const double factor = factors.at(run.size);
      for (Time& time : run.predicted)
        time.ps = std::llround(factor * static_cast<double>(time.ps));
    }
  }

  /// A run of this pass, to those of earlier ones.
  // Times and ratios of all passes are pooled; what describes the run is of the first one.
  void add(ExecutionRun run, std::size_t position) {
    if (run.ratio() > 0) run.ratios.push_back(run.ratio());
    if (position == made_.runs.size()) {
      made_.runs.push_back(std::move(run));
      return;
    }
    ExecutionRun& all = made_.runs[position];
    if (all.problem.empty()) all.problem = run.problem;
    if (!run.execution || !all.execution) return;
    const double before = all.measured();
    all.execution->seconds.insert(all.execution->seconds.end(), run.execution->seconds.begin(),
                                  run.execution->seconds.end());
    all.ratios.insert(all.ratios.end(), run.ratios.begin(), run.ratios.end());
    const double faster = before / all.measured(); // by the median of all passes
    all.algbw *= faster;
    all.busbw *= faster;
  }

  void describe() {
    made_.label = case_.label;
    made_.topology = case_.topology_label;
    made_.backend = case_.backend->name;
    made_.collective = case_.collective;
    made_.emulated = case_.emulated;
    made_.type = case_.request.type;
    made_.combine = case_.request.combine;
    made_.predicted_by = case_.predicted_by;
    made_.fits_half = case_.fits_half;
    made_.in_place = case_.lowering.in_place;
    made_.npus = case_.topology->npu_count();
    made_.instances = case_.lowering.instances;
    made_.repetitions = case_.request.repetitions;
    made_.warmups = case_.request.warmups;
    if (case_.topology->groups().empty())
      for (const Link& link : case_.topology->links())
        made_.links_bytes_per_second += static_cast<double>(link.bandwidth.bytes_per_second);
    if (case_.predicted_by == PredictedBy::nothing) return;
    for (const EngineRow* engine : engines_) made_.engines.emplace_back(engine->name);
  }

  /// False where it was interrupted.
  bool profile_network() {
    try {
      runtime::ProfileOptions options = case_.profile;
      options.watch = watch_of(case_.options.stage, "profile of the links");
      made_.profile =
          runtime::profile(*case_.topology, case_.backend->time_links, options, plan_options());
    } catch (const Stopped&) {
      return false;
    }
    made_.network = runtime::profiled_topology(*case_.topology, *made_.profile,
                                               std::string(case_.backend->name));
    return true;
  }

  [[nodiscard]] runtime::PlanOptions plan_options() const {
    runtime::PlanOptions options = case_.request.plan;
    options.emulated = case_.emulated ? case_.topology : nullptr;
    return options;
  }

  [[nodiscard]] const Topology& predicted_network() const {
    return made_.network ? *made_.network : *case_.topology;
  }

  static ExecutionRun without_run(const AlgorithmRow& algorithm, Bytes size,
                                  const std::string& note) {
    ExecutionRun run;
    run.algorithm = algorithm.name;
    run.size = size;
    run.note = note;
    return run;
  }

  ExecutionRun run_of(const AlgorithmRow& algorithm, Bytes size) {
    ExecutionRun run;
    run.algorithm = algorithm.name;
    run.size = size;
    const Attempt made = schedule_of(algorithm, size);
    run.chose_chunks = made.chose_chunks;
    run.problem = verdict_problem(made);
    if (!run.problem.empty()) return run;
    if (!made.outcome.schedule) {
      run.status = made.outcome.status;
      run.note =
          made.outcome.note.empty() ? std::string(to_text(made.outcome.status)) : made.outcome.note;
      return run;
    }
    execute(run, made.collective, *made.outcome.schedule, nullptr);
    return run;
  }

  ExecutionRun run_of(const GivenExecution& given) {
    ExecutionRun run;
    run.algorithm = given.name;
    run.size = given.collective.size();
    execute(run, given.collective, given.schedule, given.program ? &*given.program : nullptr);
    return run;
  }

  // Chunks must be whole elements of data: what auto chooses is limited to such cuts, and falls
  // back to one chunk per shard.
  [[nodiscard]] Attempt schedule_of(const AlgorithmRow& algorithm, Bytes size) const {
    const CollectiveMaker make = [&](std::uint32_t chunks_per_shard) {
      Collective collective =
          make_collective(*case_.topology, {{case_.collective}, size}, chunks_per_shard);
      if (chunks_per_shard > algorithm.chunk_multiple) require_whole_elements(case_, collective);
      return collective;
    };
    const SynthesisOptions options = options_for(algorithm, case_.options);
    ScheduleCache none("");
    const auto made_in = [&](std::optional<std::uint32_t> chunks) {
      return attempt_in_chunks(algorithm, *case_.topology, make, chunks, options, none,
                               Wanted::everything);
    };
    Attempt made = made_in(case_.chunks);
    // an algorithm that chooses itself knows nothing of elements
    if (case_.chunks || !made.has_schedule() || has_whole_elements(case_, made.collective))
      return made;
    made = made_in(1);
    made.chose_chunks = true;
    return made;
  }

  // What a user can't help is a note, as the next size or algorithm may do.
  void execute(ExecutionRun& run, const Collective& collective, const Schedule& schedule,
               const runtime::Program* given) {
    run.chunks_per_shard = collective.parts.front().chunks_per_shard;
    run.transfers = schedule.size();
    try {
      perform(run, collective, schedule, given);
    } catch (const Stopped&) {
      run.note = "interrupted";
      run.execution.reset();
      run.predicted.clear();
    }
  }

  void perform(ExecutionRun& run, const Collective& collective, const Schedule& schedule,
               const runtime::Program* given) {
    try {
      const double start = cpu_seconds();
      const runtime::Program program =
          given != nullptr ? *given : lowered(run.algorithm, collective, schedule);
      // Foreign programs may count on what connections hold.
      describe_program(run, program, given != nullptr ? case_.request.plan.slots : 1);
      run.lowering_seconds = cpu_seconds() - start;
      if (!run.problem.empty()) return;
      runtime::ExecutionRequest request = case_.request;
      request.size = run.size;
      request.plan = plan_options();
      request.watch = watch_of(case_.options.stage, fmt::format("execution of {}, {}",
                                                                run.algorithm, to_text(run.size)));
      run.execution = case_.backend->run(program, request);
      made_.device = run.execution->device;
    } catch (const InputError& error) {
      if (case_.given) throw; // there is nothing else to run
      run.note = error.what();
      return;
    } catch (const runtime::FailedRun& error) { // the other runs go on
      run.problem = error.what();
      return;
    }
    if (case_.predicted_by != PredictedBy::nothing) predict(run, collective, schedule);
    check_measured(run, collective);
  }

  [[nodiscard]] runtime::Program lowered(const std::string& name, const Collective& collective,
                                         const Schedule& schedule) const {
    runtime::LoweringOptions options = case_.lowering;
    options.name = name;
    return runtime::lower(*case_.topology, collective, schedule, options);
  }

  static void describe_program(ExecutionRun& run, const runtime::Program& program,
                               std::uint32_t slots) {
    const runtime::ProgramVerdict verdict = runtime::verify_program(program, slots);
    if (!verdict.correct()) run.problem = "fault of the program: " + verdict.fault->text;
    run.steps = program.step_count();
    run.channels = program.channel_count();
    for (const runtime::RankProgram& rank : program.ranks) {
      run.blocks += rank.blocks.size();
      run.scratch_units = std::max(run.scratch_units, rank.scratch);
    }
  }

  /// Predicts the run with its chunks cut as instances cut them.
  void predict(ExecutionRun& run, const Collective& collective, const Schedule& schedule) const {
    if (const std::uint32_t parts = case_.lowering.instances; parts > 1) {
      const Collective cut = make_collective(*case_.topology, {{case_.collective}, run.size},
                                             collective.parts.front().chunks_per_shard * parts);
      predict_whole(run, cut, split_chunks(schedule, parts));
    } else {
      predict_whole(run, collective, schedule);
    }
  }

  void predict_whole(ExecutionRun& run, const Collective& collective,
                     const Schedule& schedule) const {
    TimeModel model = case_.options.model;
    model.discipline = Discipline::fifo;
    RunOptions options;
    std::vector<Report> reports;
    for (const EngineRow* engine : engines_) {
      options.watch = watch_of(case_.options.stage, fmt::format("prediction by {}", engine->name));
      const Replay replayed =
          replay(predicted_network(), collective, schedule, model, *engine, options);
      run.predicted.push_back(replayed.report.completion);
      if (run.problem.empty()) run.problem = replay_problem(replayed);
      reports.push_back(replayed.report);
    }
    if (case_.emulated)
      run.floor = replay(*case_.topology, collective, schedule, model, *engines_.front(), options)
                      .bound.time;
    const EngineAgreement agreement = judged_agreement(
        predicted_network(), collective, schedule, model, options, reports.front(), reports.back());
    if (run.problem.empty()) run.problem = disagreement(agreement);
    run.remark = remark(agreement);
  }

  // A time below 99 % of what the emulated links allow is no fast run but a fault of the emulation.
  void check_measured(ExecutionRun& run, const Collective& collective) const {
    if (run.execution->seconds.empty()) return; // yet to be measured
    const runtime::DataCheck& check = run.execution->check;
    const double median = run.measured();
    if (median > 0) {
      const Time time = time_of_seconds(median);
      run.algbw = algbw(collective, time);
      run.busbw = busbw(collective, time);
    }
    if (!run.problem.empty()) return;
    if (check.wrong > 0)
      run.problem = fmt::format(
          "wrong data: {} of {} elements, the first at NPU {}, chunk {}, element {}: {} instead of "
          "{}",
          check.wrong, check.checked, check.first->npu, check.first->chunk.value,
          check.first->element, check.first->found, check.first->expected);
    else if (check.checked == 0)
      run.problem = "no element was checked";
    else if (const double least = std::ranges::min(run.execution->seconds);
             least < 0.99 * run.floor.seconds())
      run.problem = fmt::format("{} is less than its links allow ({})",
                                short_text(time_of_seconds(least)), short_text(run.floor));
  }

  const ExecutionCase& case_;
  const std::function<void(const ExecutionRun&)>& announce_;
  std::vector<const EngineRow*> engines_;
  ExecutionEvaluation made_;
};

} // namespace

const BackendRow& find_backend(std::string_view name) {
  std::vector<std::string> known;
  for (const BackendRow& row : backend_rows) {
    if (row.name == name) return row;
    known.emplace_back(row.name);
  }
  throw InputError(unknown_name("backend", std::string(name), known));
}

// A factor belongs to a size, never to an algorithm: what is judged is whether one network explains
// all schedules at sizes that it has not seen.
SizeFactors::SizeFactors(std::span<const ExecutionRun> runs) {
  std::map<Bytes, std::pair<double, int>> logarithms; // sum and count
  for (const ExecutionRun& run : runs) {
    if (!run.fitted || run.ratio() <= 0) continue;
    auto& [sum, count] = logarithms[run.size];
    sum += std::log(run.ratio());
    ++count;
  }
  for (const auto& [size, sums] : logarithms)
    factors_[size] = std::exp(sums.first / static_cast<double>(sums.second));
}

double SizeFactors::at(Bytes size) const {
  const auto above = factors_.lower_bound(size);
  if (above == factors_.end()) return factors_.rbegin()->second;
  if (above == factors_.begin() || above->first == size) return above->second;
  const auto below = std::prev(above);
  const auto place = [](Bytes bytes) { return std::log(static_cast<double>(bytes.count)); };
  const double part =
      (place(size) - place(below->first)) / (place(above->first) - place(below->first));
  return below->second * std::pow(above->second / below->second, part);
}

bool is_fitted(const ExecutionCase& c, std::size_t size) {
  return c.fits_half && (size % 2 == 0 || size + 1 == c.sizes.size());
}

double ExecutionRun::ratio() const {
  if (!execution || predicted.empty() || predicted.front().ps <= 0) return 0;
  if (ratios.empty()) return measured() / predicted.front().seconds();
  std::vector<double> sorted = ratios;
  std::ranges::sort(sorted);
  return (sorted[(sorted.size() - 1) / 2] + sorted[sorted.size() / 2]) / 2;
}

std::optional<double> ExecutionRun::ratio_spread() const {
  if (ratios.size() < 2) return std::nullopt;
  const auto [least, most] = std::ranges::minmax(ratios);
  return most / least - 1;
}

namespace {

/// That the chunks asked for are whole elements. A buffer too small for the algorithm's chunk
/// multiple is for its row to say.
void require_dividing(const ExecutionCase& c, const AlgorithmRow& algorithm, Bytes size) {
  const auto divides = [&](std::uint32_t chunks) {
    return has_whole_elements(
        c, make_collective(*c.topology, {{c.collective}, size}, chunks * algorithm.chunk_multiple));
  };
  if (divides(*c.chunks)) return;
  std::uint32_t fewer = *c.chunks - 1;
  while (fewer > 1 && !divides(fewer)) --fewer;
  throw InputError(fmt::format("{} chunks per shard of {} don't divide {} into whole {} elements; "
                               "{} would: auto takes only such",
                               *c.chunks * algorithm.chunk_multiple, algorithm.name, to_text(size),
                               runtime::to_text(c.request.type), fewer * algorithm.chunk_multiple));
}

/// That what runs is what is predicted.
void require_emulation(const ExecutionCase& c) {
  if (!(c.request.watchdog_seconds > 0)) throw InputError("the watchdog needs more than 0 s");
  if (c.emulated && c.request.copy_per_step)
    throw InputError("a copy for each step knows no emulated links: real ones");
  if (c.predicted_by == PredictedBy::nothing) return;
  if (!c.emulated) return;
  const TimeModel& model = c.options.model;
  const bool reduces = std::ranges::any_of(
      c.topology->nodes(), [](const Node& node) { return node.reduce_rate.bytes_per_second > 0; });
  if (model.link_busy != LinkBusy::serialization || model.forwarding != Forwarding::automatic ||
      model.reduce_rate.bytes_per_second > 0 || reduces)
    throw InputError("emulated links are busy for serialization, forward as nodes store, and "
                     "reduce in no time: predictions must, too");
}

} // namespace

void require_sound(const ExecutionCase& c) {
  if (const std::string obstacle = c.backend->obstacle(); !obstacle.empty())
    throw InputError(fmt::format("backend {}: {}", c.backend->name, obstacle));
  if (!c.emulated && c.predicted_by == PredictedBy::topology)
    throw InputError("real links aren't the topology's: predictions need the profile");
  require_emulation(c);
  if (c.given) return;
  for (const Bytes size : c.sizes) {
    const Collective collective = make_collective(*c.topology, {{c.collective}, size}, 1);
    if (c.lowering.in_place && !runtime::can_be_in_place(collective))
      throw InputError(fmt::format("{} can't be in place", c.collective));
    for (const AlgorithmRow& algorithm : c.algorithms)
      if (c.chunks && *c.chunks > 1) require_dividing(c, algorithm, size);
  }
  require_known_settings(c.algorithms, c.options);
}

ExecutionEvaluation evaluate_execution(const ExecutionCase& c,
                                       const std::function<void(const ExecutionRun&)>& announce,
                                       Refusals& refusals) {
  return ExecutionStudyRun(c, announce).run(refusals);
}

} // namespace tutti
