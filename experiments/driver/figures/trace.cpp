// A replay as events of a viewer. What a schedule's transfers wait for is worked out here from its
// meaning, and not asked of an engine: arrows show dependencies by data, whoever replayed it.
#include "experiments/driver/figures/trace.hpp"

#include "sim/error.hpp"
#include "sim/sends.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <map>
#include <numeric>
#include <unordered_map>

namespace tutti {

namespace {

constexpr std::uint32_t no_entry = UINT32_MAX;

/// "npu0>npu1", and which of several where links are parallel.
std::vector<std::string> link_names(const Topology& topology) {
  std::map<std::pair<NodeId, NodeId>, std::uint32_t> parallel;
  for (std::uint32_t l = 0; l < topology.link_count(); ++l)
    ++parallel[{topology.link(LinkId{l}).from, topology.link(LinkId{l}).to}];
  std::vector<std::string> names;
  for (std::uint32_t l = 0; l < topology.link_count(); ++l) {
    const Link& link = topology.link(LinkId{l});
    const std::string which =
        parallel[{link.from, link.to}] > 1 ? fmt::format(" (link {})", l) : "";
    names.push_back(
        fmt::format("{}>{}{}", topology.node(link.from).name, topology.node(link.to).name, which));
  }
  return names;
}

/// [transfer][place on its path]: the index of that crossing among the hops; no_entry: it isn't
/// there. Transfers that share a send share its crossings.
class HopTable {
public:
  HopTable(const Schedule& schedule, std::span<const HopRecord> hops)
      : schedule_(schedule), begin_{0} {
    for (std::size_t i = 0; i < schedule.size(); ++i)
      begin_.push_back(begin_.back() + schedule.paths().links(schedule.path_of(i)).size());
    hops_.assign(begin_.back(), no_entry);
    for (std::uint32_t h = 0; h < hops.size(); ++h) {
      const auto path = schedule.paths().links(schedule.path_of(hops[h].transfer));
      std::size_t place = 0; // a path may cross a link twice: then in order
      while (place < path.size() &&
             (path[place] != hops[h].link || hops_[begin_[hops[h].transfer] + place] != no_entry))
        ++place;
      assert(place < path.size());
      hops_[begin_[hops[h].transfer] + place] = h;
    }
  }

  [[nodiscard]] std::span<const std::uint32_t> of(std::uint32_t transfer) const {
    const std::size_t first = schedule_.send_begin(transfer);
    return std::span(hops_).subspan(begin_[first], begin_[first + 1] - begin_[first]);
  }

private:
  const Schedule& schedule_;
  std::vector<std::size_t> begin_;
  std::vector<std::uint32_t> hops_;
};

/// Events of one run.
class RunTrace {
public:
  RunTrace(TraceEvents& events, std::uint32_t pid, const TracedRun& run)
      : topology_(*run.topology), collective_(*run.collective), schedule_(*run.schedule),
        report_(*run.report),
        hops_(std::span(report_.hops).first(std::min(report_.hops.size(), run.most_crossings))),
        process_(events, pid, run.name), links_(link_names(topology_)),
        position_(topology_.link_count()), ends_(topology_.link_count()) {
    for (std::uint32_t n = 0; n < topology_.node_count(); ++n)
      nodes_.push_back(json_string(topology_.node(NodeId{n}).name));
  }

  void write() {
    name_tracks();
    for (const HopRecord& hop : hops_) write_slice(hop);
    write_arrows();
    write_loads();
    process_.mark("collective complete", report_.completion);
  }

  [[nodiscard]] bool is_whole() const { return hops_.size() == report_.hops.size(); }
  /// The first that isn't shown begins then. Pre: not whole.
  [[nodiscard]] Time shown_until() const { return report_.hops[hops_.size()].start; }

private:
  void name_tracks() {
    std::vector<std::uint32_t> order(topology_.link_count());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::sort(order, {}, [&](std::uint32_t l) {
      return std::tuple(topology_.link(LinkId{l}).from, topology_.link(LinkId{l}).to, l);
    });
    for (std::uint32_t place = 0; place < order.size(); ++place) position_[order[place]] = place;
    for (const std::uint32_t l : order) add_track(LinkId{l});
  }

  std::uint32_t track(LinkId link, std::size_t which) const {
    return 1 + link.value + static_cast<std::uint32_t>(which) * topology_.link_count();
  }

  void add_track(LinkId link) {
    std::vector<Time>& ends = ends_[link.value];
    process_.name_track(track(link, ends.size()), links_[link.value], position_[link.value]);
    ends.push_back(Time{0});
  }

  /// The link's first track that is free: transfers that share it (fluid) need several.
  std::uint32_t take_track(const HopRecord& hop) {
    std::vector<Time>& ends = ends_[hop.link.value];
    auto found = std::ranges::find_if(ends, [&](Time end) { return end <= hop.start; });
    if (found == ends.end()) {
      add_track(hop.link);
      found = ends.end() - 1;
    }
    *found = hop.end;
    return track(hop.link, static_cast<std::size_t>(found - ends.begin()));
  }

  [[nodiscard]] Bytes size_of(const HopRecord& hop) const {
    return send_size(collective_, schedule_, hop.transfer);
  }

  [[nodiscard]] std::vector<std::uint32_t> chunks_of(const HopRecord& hop) const {
    std::vector<std::uint32_t> chunks;
    for (std::size_t i = hop.transfer; i < schedule_.send_end(hop.transfer); ++i)
      chunks.push_back(schedule_[i].chunk.value);
    return chunks;
  }

  /// Bytes per second, rounded down.
  [[nodiscard]] std::int64_t rate_of(const HopRecord& hop) const {
    __extension__ typedef __int128 Product;
    const std::int64_t time = (hop.end - hop.start).ps;
    if (time == 0) return 0;
    return static_cast<std::int64_t>(Product{size_of(hop).count} * ps_per_s / time);
  }

  static std::string gigabytes(std::int64_t bytes) {
    return fmt::format("{}.{:09}", bytes / 1'000'000'000, bytes % 1'000'000'000);
  }

  void write_slice(const HopRecord& hop) {
    const Transfer transfer = schedule_[hop.transfer];
    const bool reduces = transfer.op == Op::reduce;
    const NodeId source = topology_.link(schedule_.paths().first(transfer.path)).from,
                 destination = topology_.link(schedule_.paths().last(transfer.path)).to;
    const std::vector<std::uint32_t> chunks = chunks_of(hop);
    const std::string name = fmt::format(R"("{}chunk{} {}")", reduces ? "reduce " : "",
                                         chunks.size() > 1 ? "s" : "", fmt::join(chunks, ", "));
    const std::string what = chunks.size() > 1
                                 ? fmt::format(R"("chunks":[{}])", fmt::join(chunks, ","))
                                 : fmt::format(R"("chunk":{})", transfer.chunk.value);
    const std::string arguments =
        fmt::format(R"("transfer":{},{},"bytes":{},"source":{},"destination":{},"GB/s":{})",
                    hop.transfer, what, size_of(hop).count, nodes_[source.value],
                    nodes_[destination.value], gigabytes(rate_of(hop)));
    tracks_.push_back(take_track(hop));
    process_.slice(
        {name, reduces ? "reduce" : "transfer", tracks_.back(), hop.start, hop.end, arguments});
  }

  void write_arrow(std::string_view name, std::uint32_t from, std::uint32_t to) {
    if (from == no_entry || to == no_entry) return;
    const HopRecord& hop = hops_[from];
    process_.arrow(name, {tracks_[from], hop.start, hop.end}, tracks_[to], hops_[to].start);
  }

  void write_arrows() {
    const HopTable table(schedule_, hops_);
    std::vector<Time> arrivals;
    for (std::uint32_t i = 0; i < schedule_.size(); ++i)
      arrivals.push_back(arrival_over(table.of(i).back()));
    const AwaitedArrivals awaited = arrivals_awaited(topology_, schedule_, arrivals);
    std::vector<std::uint32_t> drawn; // crossings whose data the present send passes on
    for (std::uint32_t i = 0; i < schedule_.size(); ++i) {
      const auto hops = table.of(i);
      if (!schedule_[i].contiguous) drawn.clear();
      for (const std::uint32_t before : awaited.of(i)) {
        const std::uint32_t from = table.of(before).back();
        if (schedule_.has_contiguous() && std::ranges::find(drawn, from) != drawn.end()) continue;
        drawn.push_back(from);
        write_arrow("data", from, hops.front());
      }
      for (const Dependency& named : schedule_.dependencies(i)) {
        const auto before = table.of(named.transfer);
        const bool left = named.milestone == Milestone::left;
        write_arrow(to_text(named.milestone), left ? before.front() : before.back(), hops.front());
      }
      if (schedule_[i].contiguous) continue; // its crossings are the first's
      for (std::size_t place = 1; place < hops.size(); ++place)
        if (hops[place] == no_entry || hops_[hops[place - 1]].start < hops_[hops[place]].start)
          write_arrow("hop", hops[place - 1], hops[place]);
    }
  }

  /// One that isn't shown counts as later than all that are.
  [[nodiscard]] Time arrival_over(std::uint32_t hop) const {
    if (hop == no_entry) return Time{INT64_MAX};
    return hops_[hop].end + topology_.link(hops_[hop].link).latency;
  }

  void write_loads() {
    const bool of_each = topology_.link_count() <= most_links_with_load;
    std::vector<LoadStep> crossings, rates;
    std::vector<std::vector<LoadStep>> links(of_each ? topology_.link_count() : 0);
    const Time until = is_whole() ? Time{INT64_MAX} : shown_until();
    const auto add = [&](std::vector<LoadStep>& steps, const HopRecord& hop, std::int64_t load) {
      if (hop.start < until) steps.push_back({hop.start, load});
      if (hop.end < until) steps.push_back({hop.end, -load});
    };
    for (const HopRecord& hop : hops_) {
      if (hop.start == hop.end) continue;
      const std::int64_t rate = rate_of(hop);
      add(crossings, hop, 1);
      add(rates, hop, rate);
      if (of_each) add(links[hop.link.value], hop, rate);
    }
    process_.counter("\"network load\"", "crossings", std::move(crossings),
                     [](std::int64_t count) { return std::to_string(count); });
    process_.counter("\"network rate\"", "GB/s", std::move(rates), gigabytes);
    for (std::uint32_t l = 0; l < links.size(); ++l)
      process_.counter(json_string("load " + links_[l]), "%", std::move(links[l]),
                       [&](std::int64_t rate) { return percentage(rate, LinkId{l}); });
  }

  [[nodiscard]] std::string percentage(std::int64_t rate, LinkId link) const {
    const auto all = static_cast<double>(topology_.link(link).bandwidth.bytes_per_second);
    return fmt::format("{:.2f}", 100 * static_cast<double>(rate) / all);
  }

  const Topology& topology_;
  const Collective& collective_;
  const Schedule& schedule_;
  const Report& report_;
  std::span<const HopRecord> hops_; // that are shown
  TraceProcess process_;
  std::vector<std::string> nodes_; // as JSON
  std::vector<std::string> links_;
  std::vector<std::uint32_t> position_; // of links among tracks
  std::vector<std::vector<Time>> ends_; // [link][which of its tracks]: of the latest slice
  std::vector<std::uint32_t> tracks_;   // [hop]
};

/// What a node has got of a chunk so far.
struct ChunkArrivals {
  std::uint32_t last = no_entry;   // by time
  std::uint32_t unsent = no_entry; // by list, since the chunk was last sent on
};

} // namespace

std::string trace_name(std::string_view algorithm, Bytes size, Discipline discipline) {
  return fmt::format("{}, {}, {}", algorithm, to_text(size), to_text(discipline));
}

std::vector<std::string> left_out_of_trace(const Topology& topology) {
  if (topology.link_count() <= most_links_with_load) return {};
  return {fmt::format("the load of each link: {} has {} links, more than {}; that of all together "
                      "is there",
                      topology.name(), topology.link_count(), most_links_with_load)};
}

std::string write_run(TraceEvents& events, std::uint32_t pid, const TracedRun& run) {
  const std::size_t crossings = run.report->hops.size();
  if (crossings == 0 && !run.schedule->empty())
    throw InputError("no timeline: the run recorded no link crossings");
  RunTrace trace(events, pid, run);
  trace.write();
  if (trace.is_whole()) return {};
  return fmt::format("{}: {} of {} crossings, those from {} on", run.name,
                     crossings - run.most_crossings, crossings, short_text(trace.shown_until()));
}

AwaitedArrivals arrivals_awaited(const Topology& topology, const Schedule& schedule,
                                 std::span<const Time> arrivals) {
  AwaitedArrivals awaited{{0}, {}};
  std::unordered_map<std::uint64_t, ChunkArrivals> arrived; // by chunk and node; never iterated
  const auto at = [&](ChunkId chunk, NodeId node) -> ChunkArrivals& {
    return arrived[std::uint64_t{chunk.value} << 32 | node.value];
  };
  std::vector<std::uint32_t> next_unsent(schedule.size(), no_entry);
  const auto send = [&](const Transfer& transfer) {
    ChunkArrivals& held =
        at(transfer.chunk, topology.link(schedule.paths().first(transfer.path)).from);
    bool has_last = held.last == no_entry;
    for (std::uint32_t i = held.unsent; i != no_entry; i = next_unsent[i]) {
      awaited.transfers.push_back(i);
      has_last |= i == held.last;
    }
    if (!has_last) awaited.transfers.push_back(held.last);
    held.unsent = no_entry;
    awaited.begin.push_back(awaited.transfers.size());
  };
  const auto arrive = [&](std::uint32_t i) {
    const Transfer transfer = schedule[i];
    ChunkArrivals& held =
        at(transfer.chunk, topology.link(schedule.paths().last(transfer.path)).to);
    if (held.last == no_entry || arrivals[i] > arrivals[held.last]) held.last = i;
    next_unsent[i] = held.unsent;
    held.unsent = i;
  };
  // In a block performed together, all sends come before all arrivals.
  for (std::uint32_t first = 0, end = 0; first < schedule.size(); first = end) {
    for (end = first + 1; end < schedule.size() && schedule[end].together;) ++end;
    for (std::uint32_t i = first; i < end; ++i) send(schedule[i]);
    for (std::uint32_t i = first; i < end; ++i) arrive(i);
  }
  return awaited;
}

} // namespace tutti
