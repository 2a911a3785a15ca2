// An iteration as events of a viewer. What is drawn between operations follows from the workload:
// the operations that each depends on, and which operations are of one communicator instance.
#include "experiments/driver/figures/iteration_trace.hpp"

#include "sim/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <tuple>

namespace tutti {

namespace {

constexpr std::size_t most_traced = 16;
constexpr std::size_t track_kinds = 1 + purpose_count; // computing, and each purpose

std::string_view what_of(const Operation& operation) {
  switch (operation.kind) {
  case Operation::Kind::compute: return "compute";
  case Operation::Kind::collective: return to_text(operation.collective);
  case Operation::Kind::send: return "send";
  case Operation::Kind::receive: break;
  }
  return "receive";
}

/// Events of one run. Spans are by NPU, then operation.
class IterationTrace {
public:
  IterationTrace(TraceEvents& events, std::uint32_t pid, std::string_view name,
                 const Topology& topology, const Workload& workload, const IterationReport& report)
      : topology_(topology), workload_(workload), report_(report), spans_(report.spans),
        process_(events, pid, name), tracks_(spans_.size(), not_shown) {}

  void write() {
    for (std::uint32_t begin = 0, end = 0; begin < spans_.size(); begin = end) {
      while (end < spans_.size() && spans_[end].npu == spans_[begin].npu) ++end;
      write_slices(begin, end);
    }
    for (std::uint32_t begin = 0, end = 0; begin < spans_.size(); begin = end) {
      while (end < spans_.size() && spans_[end].npu == spans_[begin].npu) ++end;
      write_dependencies(begin);
    }
    write_instances();
    write_loads();
    process_.mark("iteration complete", report_.duration);
  }

private:
  static constexpr std::uint32_t not_shown = 0; // tracks are numbered from 1 on

  [[nodiscard]] const Operation& operation_of(std::uint32_t span) const {
    return program_of(span)[spans_[span].operation];
  }
  [[nodiscard]] const TrainingProgram& program_of(std::uint32_t span) const {
    return workload_.programs[workload_.places[spans_[span].npu.value].program];
  }
  [[nodiscard]] bool computes(std::uint32_t span) const {
    return operation_of(span).kind == Operation::Kind::compute;
  }
  [[nodiscard]] std::uint32_t group_of(std::uint32_t span) const {
    return workload_.places[spans_[span].npu.value].groups[operation_of(span).role];
  }

  // Slices, of one NPU at a time.

  void write_slices(std::uint32_t begin, std::uint32_t end) {
    std::vector<std::uint32_t> by_begin;
    for (std::uint32_t s = begin; s < end; ++s)
      if (spans_[s].begin < spans_[s].end) by_begin.push_back(s);
    std::ranges::stable_sort(by_begin, {}, [&](std::uint32_t s) { return spans_[s].begin; });
    std::array<std::vector<OpenTrack>, track_kinds> open;
    for (const std::uint32_t s : by_begin) {
      tracks_[s] = take_track(open, s);
      process_.slice({json_string(workload_.names[operation_of(s).name]),
                      computes(s) ? "compute" : "communication", tracks_[s], spans_[s].begin,
                      spans_[s].end, arguments_of(s)});
    }
  }

  struct OpenTrack {
    std::uint32_t track = not_shown;
    Time end;
  };

  /// The first track of this kind that is free. Pre: spans come by begin.
  std::uint32_t take_track(std::array<std::vector<OpenTrack>, track_kinds>& open,
                           std::uint32_t span) {
    const Operation& operation = operation_of(span);
    const std::size_t kind = computes(span) ? 0 : 1 + static_cast<std::size_t>(operation.purpose);
    auto found = std::ranges::find_if(
        open[kind], [&](const OpenTrack& each) { return each.end <= spans_[span].begin; });
    if (found == open[kind].end()) {
      found = open[kind].insert(found, {++track_count_, {}});
      const NodeId npu = spans_[span].npu;
      process_.name_track(track_count_,
                          fmt::format("{} {}", topology_.node(npu).name,
                                      kind == 0 ? "compute" : to_text(operation.purpose)),
                          npu.value * static_cast<std::uint32_t>(track_kinds) +
                              static_cast<std::uint32_t>(kind));
    }
    found->end = spans_[span].end;
    return found->track;
  }

  [[nodiscard]] std::string arguments_of(std::uint32_t span) const {
    const Operation& operation = operation_of(span);
    if (computes(span)) return fmt::format(R"("operation":{})", spans_[span].operation);
    return fmt::format(R"("operation":{},"what":"{}","bytes":{},"npus":{},"reached_us":{})",
                       spans_[span].operation, what_of(operation), operation.amount,
                       workload_.groups[group_of(span)].size(), microseconds(spans_[span].reached));
  }

  // Arrows.

  [[nodiscard]] bool is_shown(std::uint32_t span) const { return tracks_[span] != not_shown; }

  void write_arrow(std::string_view name, std::uint32_t from, std::uint32_t to, Time at) {
    process_.arrow(name, {tracks_[from], spans_[from].begin, spans_[from].end}, tracks_[to], at);
  }

  /// When an operation goes on to what it has waited for: its begin, but for a receive whose
  /// message set out before the receiver had reached it.
  [[nodiscard]] Time awaits(std::uint32_t span) const {
    const OperationSpan& own = spans_[span];
    return std::max(own.begin, std::min(own.reached, own.end - viewer_resolution));
  }

  /// Draws arrows for the dependencies of the NPU whose spans begin at `first`. An operation that
  /// isn't shown, as it takes no time, is replaced by the last of its dependencies to end.
  void write_dependencies(std::uint32_t first) {
    const TrainingProgram& program = program_of(first);
    constexpr std::uint32_t nothing = UINT32_MAX;
    std::vector<std::uint32_t> shown(program.size(), nothing); // [operation]: a span
    std::vector<std::uint32_t> sources;
    for (std::uint32_t i = 0; i < program.size(); ++i) {
      sources.clear();
      for (const std::uint32_t d : program.dependencies(i))
        if (shown[d] != nothing) sources.push_back(shown[d]);
      std::ranges::sort(sources);
      sources.erase(std::unique(sources.begin(), sources.end()), sources.end());
      if (is_shown(first + i)) {
        for (const std::uint32_t source : sources)
          write_arrow("dependency", source, first + i, awaits(first + i));
        shown[i] = first + i;
      } else if (!sources.empty()) {
        shown[i] = *std::ranges::max_element(
            sources, {}, [&](std::uint32_t source) { return spans_[source].end; });
      }
    }
  }

  /// Between the recorded members of a communicator instance, which a group and a tag name.
  void write_instances() {
    std::vector<std::uint32_t> communications;
    for (std::uint32_t s = 0; s < spans_.size(); ++s)
      if (is_shown(s) && !computes(s)) communications.push_back(s);
    const auto instance = [&](std::uint32_t s) {
      return std::pair(group_of(s), operation_of(s).tag);
    };
    std::ranges::stable_sort(communications, {}, instance);
    for (auto begin = communications.begin(); begin != communications.end();) {
      const auto end = std::find_if(begin, communications.end(), [&](std::uint32_t s) {
        return instance(s) != instance(*begin);
      });
      const auto from =
          std::find_if(begin, end, [&](std::uint32_t s) { return was_waited_for(s); });
      if (from != end)
        for (auto to = begin; to != end; ++to)
          if (to != from)
            write_arrow(operation_of(*from).kind == Operation::Kind::send ? "message" : "launch",
                        *from, *to, spans_[*to].begin);
      begin = end;
    }
  }

  [[nodiscard]] bool was_waited_for(std::uint32_t span) const {
    const Operation::Kind kind = operation_of(span).kind;
    return kind == Operation::Kind::send ||
           (kind == Operation::Kind::collective && spans_[span].reached == spans_[span].begin);
  }

  // Counters.

  void write_loads() {
    std::vector<LoadStep> computing, communicating;
    for (std::uint32_t s = 0; s < spans_.size(); ++s) {
      if (!is_shown(s)) continue;
      std::vector<LoadStep>& steps = computes(s) ? computing : communicating;
      steps.push_back({spans_[s].begin, 1});
      steps.push_back({spans_[s].end, -1});
    }
    const auto count = [](std::int64_t sum) { return std::to_string(sum); };
    process_.counter("\"computing\"", "NPUs", std::move(computing), count);
    process_.counter("\"communicating\"", "operations", std::move(communicating), count);
  }

  const Topology& topology_;
  const Workload& workload_;
  const IterationReport& report_;
  std::span<const OperationSpan> spans_;
  TraceProcess process_;
  std::vector<std::uint32_t> tracks_; // [span]
  std::uint32_t track_count_ = 0;
};

} // namespace

std::vector<NodeId> npus_to_trace(const Workload& workload) {
  std::vector<NodeId> npus;
  std::vector<bool> seen(workload.programs.size());
  for (std::uint32_t npu = 0; npu < workload.places.size() && npus.size() < most_traced; ++npu) {
    const std::uint32_t program = workload.places[npu].program;
    if (seen[program]) continue;
    seen[program] = true;
    npus.push_back(NodeId{npu});
  }
  return npus;
}

std::vector<std::string> left_out_of_iteration(const Workload& workload,
                                               const std::vector<NodeId>& npus) {
  if (npus.size() >= workload.places.size()) return {};
  return {fmt::format("{} of {} NPUs (--trace-npus says which are shown)",
                      workload.places.size() - npus.size(), workload.places.size())};
}

void write_iteration(TraceEvents& events, std::uint32_t pid, std::string_view name,
                     const Topology& topology, const Workload& workload,
                     const IterationReport& report) {
  if (report.spans.empty()) throw InputError("no timeline: no operation was recorded");
  IterationTrace(events, pid, name, topology, workload, report).write();
}

ExploredTimeline iteration_timeline(std::string title, const Topology& topology,
                                    const Workload& workload, const IterationReport& report) {
  constexpr std::size_t most_spans = 40'000;
  ExploredTimeline timeline{std::move(title), report.duration, {}, workload.names, {"compute"}, {}};
  for (std::size_t p = 0; p < purpose_count; ++p)
    timeline.kinds.emplace_back(to_text(static_cast<Purpose>(p)));
  const std::span<const OperationSpan> spans = report.spans;
  for (std::size_t begin = 0, end = 0; begin < spans.size(); begin = end) {
    const NodeId npu = spans[begin].npu;
    while (end < spans.size() && spans[end].npu == npu) ++end;
    if (begin > 0 && end > most_spans) break;
    const auto number = static_cast<std::uint32_t>(timeline.npus.size());
    timeline.npus.push_back(topology.node(npu).name);
    const TrainingProgram& program = workload.programs[workload.places[npu.value].program];
    for (const OperationSpan& span : spans.subspan(begin, end - begin)) {
      if (span.begin >= span.end) continue;
      const Operation& operation = program[span.operation];
      const bool computes = operation.kind == Operation::Kind::compute;
      timeline.spans.push_back({number, operation.name,
                                computes ? 0 : 1 + static_cast<std::uint32_t>(operation.purpose),
                                span.begin, span.end});
    }
  }
  return timeline;
}

} // namespace tutti
