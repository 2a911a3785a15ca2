// Transfers that end at a switch or a host memory are joined with those that continue from there: a
// message goes from NPU to NPU, over a path of the schedule or several of them.

#include "runtime/lowering/schedule_messages.hpp"

#include "sim/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <map>
#include <numeric>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace tutti::runtime {

namespace {

/// Where the value that a node holds can be had: at this rank, since then, by this route.
struct ValueOrigin {
  std::uint32_t rank = 0, left = 0, route = 0;
  std::uint32_t first = 0; // transfer, from there
};

class MessageCollector {
public:
  MessageCollector(const Topology& topology, const Schedule& schedule)
      : topology_(topology), schedule_(schedule) {
    result_.routes = schedule.paths().size();
    result_.messages.reserve(schedule.size());
    result_.events.reserve(2 * schedule.size());
  }

  ScheduleMessages collect() {
    const auto count = static_cast<std::uint32_t>(schedule_.size());
    for (std::uint32_t begin = 0; begin < count;) {
      std::uint32_t end = begin + 1;
      while (end < count && schedule_[end].together) ++end;
      if (end == begin + 1) end = static_cast<std::uint32_t>(schedule_.send_end(begin));
      if (schedule_[end - 1].contiguous)
        perform_send(begin, end);
      else
        perform(begin, end);
      begin = end;
    }
    result_.rank_begin.resize(topology_.npu_count() + std::size_t{1});
    result_.reorder(std::move(result_.events));
    if (schedule_.has_dependencies()) add_waits();
    return std::move(result_);
  }

private:
  [[nodiscard]] NodeId start(std::uint32_t transfer) const {
    return topology_.link(schedule_.paths().first(schedule_.path_of(transfer))).from;
  }
  [[nodiscard]] NodeId end(std::uint32_t transfer) const {
    return topology_.link(schedule_.paths().last(schedule_.path_of(transfer))).to;
  }
  [[nodiscard]] bool is_rank(NodeId node) const { return node.value < topology_.npu_count(); }
  static std::uint64_t key(ChunkId chunk, NodeId node) {
    return std::uint64_t{chunk.value} << 32 | node.value;
  }

  /// Transfers that are together: all read what was before.
  void perform(std::uint32_t begin, std::uint32_t end) {
    const auto now = static_cast<std::uint32_t>(result_.events.size());
    origins_.clear();
    for (std::uint32_t t = begin; t < end; ++t) origins_.push_back(origin_of(t, now));
    for (std::uint32_t t = begin; t < end; ++t)
      if (const NodeId from = start(t); !is_rank(from) && !topology_.node(from).can.copy)
        passed_on_.erase(key(schedule_[t].chunk, from));
    const std::size_t first = result_.messages.size();
    for (std::uint32_t t = begin; t < end; ++t) deliver(t, origins_[t - begin]);
    order(first);
  }

  /// Transfers that share a send: one after another, in the order of chunks in buffers.
  void perform_send(std::uint32_t begin, std::uint32_t end) {
    std::vector<std::uint32_t> transfers(end - begin);
    std::iota(transfers.begin(), transfers.end(), begin);
    std::ranges::sort(transfers, {}, [&](std::uint32_t t) { return schedule_[t].chunk; });
    for (const std::uint32_t t : transfers) perform(t, t + 1);
  }

  ValueOrigin origin_of(std::uint32_t transfer, std::uint32_t now) {
    const NodeId from = start(transfer);
    const std::uint32_t path = schedule_.path_of(transfer).value;
    if (is_rank(from)) return {from.value, now, path, transfer};
    ValueOrigin origin = passed_on_.at(key(schedule_[transfer].chunk, from));
    const auto [at, fresh] = joined_routes_.try_emplace({origin.route, path}, result_.routes);
    if (fresh) {
      ++result_.routes;
      result_.joined_routes.emplace_back(origin.route, PathId{path});
    }
    origin.route = at->second;
    return origin;
  }

  void deliver(std::uint32_t transfer, const ValueOrigin& origin) {
    const Transfer listed = schedule_[transfer];
    const NodeId to = end(transfer);
    const bool reduce = listed.op == Op::reduce;
    if (is_rank(to)) {
      if (origin.rank == to.value) return; // its own value comes back
      result_.messages.push_back({listed.chunk.value, origin.rank, to.value, origin.route, transfer,
                                  origin.first, origin.left, 0, 0, reduce});
    } else if (!passed_on_.insert_or_assign(key(listed.chunk, to), origin).second && reduce) {
      throw InputError(fmt::format("transfer {}: {} combines chunk {}, but a program combines at "
                                   "NPUs only",
                                   transfer, topology_.node(to).name, listed.chunk.value));
    }
  }

  void add_waits() {
    std::vector<std::vector<std::uint32_t>> begun(schedule_.size()), ended(schedule_.size());
    for (std::uint32_t m = 0; m < result_.messages.size(); ++m) {
      begun[result_.messages[m].first].push_back(m);
      ended[result_.messages[m].transfer].push_back(m);
    }
    for (std::size_t k = 0; k < schedule_.waiting().size(); ++k) {
      const std::uint32_t waits = schedule_.waiting()[k];
      const Dependency named = schedule_.all_dependencies()[k];
      const NodeId rank = start(waits);
      if (!is_rank(rank))
        throw InputError(fmt::format("transfer {} waits at {}, but only NPUs have programs", waits,
                                     topology_.node(rank).name));
      const bool by_receipt = end(named.transfer) == rank;
      if (!by_receipt && (start(named.transfer) != rank || named.milestone == Milestone::arrived))
        throw InputError(fmt::format(
            "transfer {} of {} waits for transfer {} to have {}, of which {} knows nothing: a "
            "program waits for what its own rank has sent or received",
            waits, topology_.node(rank).name, named.transfer, to_text(named.milestone),
            topology_.node(rank).name));
      for (const std::uint32_t m : begun[waits])
        for (const std::uint32_t awaited : (by_receipt ? ended : begun)[named.transfer])
          if (const MessageEvent event{awaited, by_receipt};
              result_.position(event) < result_.messages[m].sent)
            result_.waits.push_back({m, event});
    }
    std::ranges::stable_sort(result_.waits, {}, &MessageWait::message);
  }

  /// Appends the events of the messages from `first` on.
  void order(std::size_t first) {
    const std::size_t count = result_.messages.size() - first;
    if (count > 1) group_by_chunk(first);
    for (std::size_t m = first; m < result_.messages.size();) {
      const std::uint32_t chunk = result_.messages[m].chunk;
      std::size_t end = m;
      for (; end < result_.messages.size() && result_.messages[end].chunk == chunk; ++end)
        result_.events.push_back({static_cast<std::uint32_t>(end), false});
      for (; m < end; ++m) result_.events.push_back({static_cast<std::uint32_t>(m), true});
    }
  }

  /// In the order of each chunk's first. What goes to the same rank twice at once says nothing new
  /// (else it would count twice), and is left out.
  void group_by_chunk(std::size_t first) {
    const auto begin = result_.messages.begin() + static_cast<std::ptrdiff_t>(first);
    const auto ends = [](const ScheduleMessage& m) { return std::tuple(m.chunk, m.from, m.to); };
    std::ranges::stable_sort(begin, result_.messages.end(), {}, ends);
    const auto same = [&](const ScheduleMessage& a, const ScheduleMessage& b) {
      return ends(a) == ends(b);
    };
    result_.messages.erase(std::unique(begin, result_.messages.end(), same),
                           result_.messages.end());
    std::unordered_map<std::uint32_t, std::uint32_t> first_of; // only looked up
    for (auto m = begin; m != result_.messages.end(); ++m) {
      const auto at = first_of.try_emplace(m->chunk, m->transfer).first;
      at->second = std::min(at->second, m->transfer);
    }
    std::ranges::sort(begin, result_.messages.end(), {}, [&](const ScheduleMessage& m) {
      return std::pair(first_of.at(m.chunk), m.transfer);
    });
  }

  const Topology& topology_;
  const Schedule& schedule_;
  ScheduleMessages result_;
  std::vector<ValueOrigin> origins_;                         // of this block's transfers
  std::unordered_map<std::uint64_t, ValueOrigin> passed_on_; // never iterated
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> joined_routes_;
};

} // namespace

void ScheduleMessages::reorder(std::vector<MessageEvent> order) {
  events = std::move(order);
  const auto rank_of = [&](const MessageEvent& event) {
    return event.receipt ? messages[event.message].to : messages[event.message].from;
  };
  std::ranges::fill(rank_begin, 0U);
  for (std::uint32_t position = 0; position < events.size(); ++position) {
    const MessageEvent& event = events[position];
    ScheduleMessage& message = messages[event.message];
    (event.receipt ? message.received : message.sent) = position;
    ++rank_begin[rank_of(event) + std::size_t{1}];
  }
  for (std::size_t r = 1; r < rank_begin.size(); ++r) rank_begin[r] += rank_begin[r - 1];
  std::vector<std::uint32_t> next = rank_begin;
  rank_events.resize(events.size());
  for (const MessageEvent& event : events) rank_events[next[rank_of(event)]++] = event;
}

std::vector<LinkId> ScheduleMessages::links_of(std::uint32_t route, const PathTable& paths) const {
  if (route < paths.size()) {
    const std::span<const LinkId> links = paths.links(PathId{route});
    return {links.begin(), links.end()};
  }
  const auto& [before, path] = joined_routes[route - paths.size()];
  std::vector<LinkId> links = links_of(before, paths);
  const std::span<const LinkId> last = paths.links(path);
  links.insert(links.end(), last.begin(), last.end());
  return links;
}

ScheduleMessages messages_of(const Topology& topology, const Schedule& schedule) {
  return MessageCollector(topology, schedule).collect();
}

std::string lowering_refusal(const Topology& topology, const Schedule& schedule) {
  for (std::size_t t = 0; t < schedule.size(); ++t) {
    const PathId path = schedule.path_of(t);
    for (const NodeId end : {topology.link(schedule.paths().first(path)).from,
                             topology.link(schedule.paths().last(path)).to})
      if (end.value >= topology.npu_count())
        return fmt::format("{} takes part, but only NPUs have programs", topology.node(end).name);
  }
  try {
    if (!schedule.waiting().empty()) (void)messages_of(topology, schedule);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

} // namespace tutti::runtime
