// "Is it faster than NCCL?" is asked of every schedule: their time over its, for the same
// collective and size, on the same network, by the same engine. It counts where a runtime could run
// the schedule: what switches do in a simulation nobody has the kernels for.
#include "experiments/driver/studies/runs/over_nccl.hpp"

#include "algorithms/nccl/hardware.hpp"
#include "experiments/driver/studies/registry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

namespace tutti {

std::string nccl_of(const Topology& topology) {
  const nccl::Gpu* gpu = nccl::find_gpu(topology.parts().npu_model);
  return gpu != nullptr && gpu->is_amd ? "rccl" : "nccl";
}

UsualTransport usual_transport(const Topology& topology) {
  if (topology.parts().npu_model.empty())
    return {nullptr,
            fmt::format("{} doesn't say what its NPUs are (npu = \"h100\")", topology.name())};
  for (std::uint32_t l = 0; l < topology.link_count(); ++l)
    if (topology.part_of(LinkId{l}).empty()) {
      const Link& link = topology.link(LinkId{l});
      return {nullptr, fmt::format("{} doesn't say what the link {}>{} is made of (part = "
                                   "\"nvlink4\")",
                                   topology.name(), topology.node(link.from).name,
                                   topology.node(link.to).name)};
    }
  return {parse_transport(nccl_of(topology)), {}};
}

namespace {

bool is_nccl(const Case& c) { return c.algorithm.name == nccl_of(*c.topology); }

/// What of two cases has to be the same: all but the algorithm, its cut, and what is drawn.
using Problem =
    std::tuple<std::string, const Topology*, std::string, std::int64_t, const EngineRow*,
               std::vector<Discipline>, const Transport*, NetworkModel, LinkBusy, Forwarding, bool,
               bool, std::string, std::vector<std::string>>;
Problem problem_of(const Case& c) {
  return {c.run,
          c.topology,
          c.collective.text(),
          c.collective.size.count,
          c.engine,
          c.disciplines,
          c.transport.get(),
          c.options.model.network,
          c.options.model.link_busy,
          c.options.model.forwarding,
          c.change.relays_send,
          c.change.drops_dependencies,
          c.change.planned_for,
          c.noise.starts};
}

std::vector<Case> missing_nccl_cases(std::span<const Case> cases) {
  std::set<Problem> answered;
  for (const Case& c : cases)
    if (is_nccl(c)) answered.insert(problem_of(c));
  std::vector<Case> missing;
  for (const Case& c : cases) {
    if (!c.over_nccl || !answered.insert(problem_of(c)).second) continue;
    Case& theirs = missing.emplace_back(c);
    theirs.algorithm = find_algorithm(nccl_of(*c.topology));
    theirs.options = options_for(theirs.algorithm, c.options);
    theirs.options.settings.clear();
    theirs.chunks = std::nullopt;
    theirs.noise = {};
    theirs.noise.starts = c.noise.starts;
    theirs.known_bounds.clear();
    theirs.schedule_file.clear();
    theirs.trace = {};
  }
  return missing;
}

/// NCCL's runs of one problem.
struct Answer {
  std::vector<Time> times; ///< the least of each replay
  std::string why_not;     ///< where there is no correct schedule

  void add(const Evaluation& e) {
    if (!e.problem.empty() || e.replays.empty()) {
      why_not = !e.problem.empty() ? e.problem : e.note;
      if (why_not.empty()) why_not = to_text(e.status);
      return;
    }
    if (!e.facts.contains("nodes")) { // its own note says more
      why_not = "how its NPUs form nodes isn't known";
      return;
    }
    for (std::size_t r = 0; r < e.replays.size(); ++r) {
      const Time time = e.replays[r].report.completion;
      if (r == times.size()) times.push_back(time);
      times[r] = std::min(times[r], time);
    }
  }
};

/// Sets Replay::over_nccl wherever NCCL or RCCL has a run of the same problem. Where that has no
/// time, the notes of cases that request it say why. Pre: one evaluation for each case.
void set_over_nccl(std::span<const Case> cases, std::span<Evaluation> evaluations) {
  std::map<Problem, Answer> answers;
  for (std::size_t i = 0; i < cases.size(); ++i)
    if (is_nccl(cases[i])) answers[problem_of(cases[i])].add(evaluations[i]);
  if (answers.empty()) return;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    Evaluation& e = evaluations[i];
    const auto found = answers.find(problem_of(cases[i]));
    if (found == answers.end()) continue;
    const Answer& theirs = found->second;
    if (theirs.times.empty() && cases[i].over_nccl)
      e.note += fmt::format("{}not over {}: {}", e.note.empty() ? "" : "; ",
                            nccl_of(*cases[i].topology), theirs.why_not);
    if (!theirs.times.empty() && !e.no_runtime.empty()) {
      e.note += fmt::format("{}not over {}: no runtime takes it: {}", e.note.empty() ? "" : "; ",
                            nccl_of(*cases[i].topology), e.no_runtime);
      continue;
    }
    for (std::size_t r = 0; r < std::min(e.replays.size(), theirs.times.size()); ++r)
      if (const Time own = e.replays[r].report.completion; own.ps > 0)
        e.replays[r].over_nccl =
            static_cast<double>(theirs.times[r].ps) / static_cast<double>(own.ps);
  }
}

} // namespace

std::vector<Evaluation>
evaluated_over_nccl(std::vector<Case> cases,
                    const std::function<std::vector<Evaluation>(std::span<const Case>)>& evaluate) {
  const std::size_t asked = cases.size();
  for (Case& c : missing_nccl_cases(cases)) cases.push_back(std::move(c));
  std::vector<Evaluation> evaluations = evaluate(cases);
  set_over_nccl(cases, evaluations);
  evaluations.resize(asked);
  return evaluations;
}

} // namespace tutti
