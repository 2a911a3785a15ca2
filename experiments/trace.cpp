#include "experiments/trace.hpp"

#include "experiments/trace_events.hpp"
#include "sim/error.hpp"
#include "sim/files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <ostream>
#include <vector>

namespace tutti {

namespace {

std::string link_name(const Topology& topology, LinkId id) {
  const Link& link = topology.link(id);
  return fmt::format("{}>{}", topology.node(link.from).name, topology.node(link.to).name);
}

/// The viewer's processes are nodes, its threads links; a link whose transfers share it (fluid) has
/// several, since events of one thread may not overlap.
class Tracks {
public:
  Tracks(std::ostream& out, const Topology& topology)
      : out_(out), topology_(topology), ends_(topology.link_count()) {
    for (std::uint32_t n = 0; n < topology.node_count(); ++n) {
      write_metadata(out, "process_name", n, 0, "name", json_string(topology.node(NodeId{n}).name));
      write_metadata(out, "process_sort_index", n, 0, "sort_index", std::to_string(n));
    }
    for (std::uint32_t l = 0; l < topology.link_count(); ++l) add(LinkId{l});
  }

  /// The thread for this hop: the link's first one that is free. Pre: hops come by start.
  std::uint32_t thread_of(const HopRecord& hop) {
    std::vector<Time>& ends = ends_[hop.link.value];
    const auto is_free = [&](Time end) { return end <= hop.start; };
    auto lane = std::find_if(ends.begin(), ends.end(), is_free);
    if (lane == ends.end()) {
      add(hop.link);
      lane = ends.end() - 1;
    }
    *lane = hop.end;
    return thread(hop.link, static_cast<std::size_t>(lane - ends.begin()));
  }

private:
  [[nodiscard]] std::uint32_t thread(LinkId link, std::size_t lane) const {
    return link.value + static_cast<std::uint32_t>(lane) * topology_.link_count();
  }

  void add(LinkId link) {
    std::vector<Time>& ends = ends_[link.value];
    const std::uint32_t pid = topology_.link(link).from.value, tid = thread(link, ends.size());
    ends.push_back(Time{0});
    write_metadata(out_, "thread_name", pid, tid, "name", json_string(link_name(topology_, link)));
    write_metadata(out_, "thread_sort_index", pid, tid, "sort_index", std::to_string(link.value));
  }

  std::ostream& out_;
  const Topology& topology_;
  std::vector<std::vector<Time>> ends_; ///< ends_[link][lane]: of the latest hop
};

} // namespace

void write_trace(std::ostream& out, const Topology& topology, const Collective& collective,
                 const Schedule& schedule, const Report& report) {
  if (report.hops.empty() && !schedule.empty())
    throw InputError("no timeline: the run recorded no link crossings");
  out << "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n";
  Tracks tracks(out, topology);
  for (const HopRecord& hop : report.hops) {
    assert(hop.transfer < schedule.size());
    const Transfer transfer = schedule[hop.transfer];
    const std::string name =
        fmt::format("chunk {} {} {}", transfer.chunk.value,
                    transfer.op == Op::copy ? "copy" : "reduce", link_name(topology, hop.link));
    out << fmt::format("{{\"name\":{},\"ph\":\"X\",\"pid\":{},\"tid\":{},\"ts\":{},\"dur\":{},"
                       "\"args\":{{\"transfer\":{},\"bytes\":{}}}}},\n",
                       json_string(name), topology.link(hop.link).from.value, tracks.thread_of(hop),
                       microseconds(hop.start), microseconds(hop.end - hop.start), hop.transfer,
                       collective.chunks[transfer.chunk.value].size.count);
  }
  // The end of the run, as a mark over everything; being the last event it takes no comma.
  out << fmt::format(
      "{{\"name\":\"collective complete\",\"ph\":\"i\",\"s\":\"g\",\"pid\":0,\"tid\":0,"
      "\"ts\":{}}}\n]}}\n",
      microseconds(report.completion));
}

void save_trace(const std::string& file, const Topology& topology, const Collective& collective,
                const Schedule& schedule, const Report& report) {
  write_file(file,
             [&](std::ostream& out) { write_trace(out, topology, collective, schedule, report); });
}

} // namespace tutti
