#include "experiments/iteration_trace.hpp"

#include "experiments/trace_events.hpp"
#include "sim/error.hpp"
#include "sim/files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>

namespace tutti {

namespace {

constexpr std::size_t most_traced = 16;
constexpr std::uint32_t tracks_per_purpose = 1000; // thread numbers; more lanes than that never are

std::string_view what_of(const Operation& operation) {
  switch (operation.kind) {
  case Operation::Kind::compute: return "compute";
  case Operation::Kind::collective: return to_text(operation.collective);
  case Operation::Kind::send: return "send";
  case Operation::Kind::receive: break;
  }
  return "receive";
}

/// The tracks of one NPU. Events of one track may not overlap.
class Tracks {
public:
  Tracks(std::ostream& out, const Topology& topology, NodeId npu) : out_(out), npu_(npu.value) {
    write_metadata(out, "process_name", npu_, 0, "name", json_string(topology.node(npu).name));
    write_metadata(out, "process_sort_index", npu_, 0, "sort_index", std::to_string(npu_));
  }

  /// The first track of this kind that is free. Pre: spans come by begin.
  std::uint32_t track_of(const Operation& operation, const OperationSpan& span) {
    const std::size_t kind = operation.kind == Operation::Kind::compute
                                 ? 0
                                 : 1 + static_cast<std::size_t>(operation.purpose);
    std::vector<Time>& ends = ends_[kind];
    auto lane = std::ranges::find_if(ends, [&](Time end) { return end <= span.begin; });
    if (lane == ends.end()) {
      const auto tid = thread(kind, ends.size());
      write_metadata(out_, "thread_name", npu_, tid, "name",
                     json_string(kind == 0 ? "compute" : to_text(operation.purpose)));
      write_metadata(out_, "thread_sort_index", npu_, tid, "sort_index", std::to_string(tid));
      lane = ends.insert(ends.end(), Time{});
    }
    *lane = span.end;
    return thread(kind, static_cast<std::size_t>(lane - ends.begin()));
  }

private:
  static std::uint32_t thread(std::size_t kind, std::size_t lane) {
    return static_cast<std::uint32_t>(kind) * tracks_per_purpose + static_cast<std::uint32_t>(lane);
  }

  std::ostream& out_;
  std::uint32_t npu_;
  std::array<std::vector<Time>, 1 + purpose_count> ends_;
};

std::string arguments_of(const Workload& workload, const Operation& operation,
                         const OperationSpan& span) {
  if (operation.kind == Operation::Kind::compute)
    return fmt::format("\"operation\":{}", span.operation);
  const std::uint32_t group = workload.places[span.npu.value].groups[operation.role];
  return fmt::format("\"operation\":{},\"what\":\"{}\",\"bytes\":{},\"npus\":{},\"reached_us\":{}",
                     span.operation, what_of(operation), operation.amount,
                     workload.groups[group].size(), microseconds(span.reached));
}

void write_span(std::ostream& out, Tracks& tracks, const Workload& workload,
                const OperationSpan& span) {
  const Operation& operation =
      workload.programs[workload.places[span.npu.value].program][span.operation];
  if (span.end == span.begin) return;
  const std::uint32_t track = tracks.track_of(operation, span);
  out << fmt::format("{{\"name\":{},\"ph\":\"X\",\"pid\":{},\"tid\":{},\"ts\":{},\"dur\":{},"
                     "\"args\":{{{}}}}},\n",
                     json_string(workload.names[operation.name]), span.npu.value, track,
                     microseconds(span.begin), microseconds(span.end - span.begin),
                     arguments_of(workload, operation, span));
}

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

void write_iteration_trace(std::ostream& out, const Topology& topology, const Workload& workload,
                           const IterationReport& report) {
  if (report.spans.empty()) throw InputError("no timeline: no operation was recorded");
  std::vector<OperationSpan> spans = report.spans;
  std::ranges::stable_sort(spans, [](const OperationSpan& a, const OperationSpan& b) {
    return std::pair(a.npu, a.begin) < std::pair(b.npu, b.begin);
  });
  out << "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n";
  for (std::size_t begin = 0, end = 0; begin < spans.size(); begin = end) {
    Tracks tracks(out, topology, spans[begin].npu);
    for (end = begin; end < spans.size() && spans[end].npu == spans[begin].npu; ++end)
      write_span(out, tracks, workload, spans[end]);
  }
  // A mark over everything; being the last event it takes no comma.
  out << fmt::format("{{\"name\":\"iteration complete\",\"ph\":\"i\",\"s\":\"g\",\"pid\":0,"
                     "\"tid\":0,\"ts\":{}}}\n]}}\n",
                     microseconds(report.duration));
}

void save_iteration_trace(const std::string& file, const Topology& topology,
                          const Workload& workload, const IterationReport& report) {
  write_file(file,
             [&](std::ostream& out) { write_iteration_trace(out, topology, workload, report); });
}

} // namespace tutti
