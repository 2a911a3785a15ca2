#include "tests/synth/teccl/exhaustive_epochs.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace tutti::testing {

namespace {

constexpr std::uint32_t never = UINT32_MAX;

struct Passing {
  std::uint32_t node, chunk;
  auto operator<=>(const Passing&) const = default;
};

class EpochTrial {
public:
  EpochTrial(const EpochProblem& problem, std::uint32_t epochs, std::uint64_t most_choices)
      : problem_(problem), network_(problem.network), epochs_(epochs), most_choices_(most_choices) {
    for (const TimedChunk& chunk : problem.chunks) {
      since_.emplace_back(network_.node_count(), never);
      for (const std::uint32_t source : chunk.sources) since_.back()[source] = 0;
    }
    for (const Lane& lane : network_.lanes) reach_ = std::max(reach_, lane.delay);
    for (const EpochLimit& limit : network_.limits)
      for (const LaneUse& use : limit.uses) reach_ = std::max(reach_, limit.window + use.offset);
  }

  /// All plans, for the best.
  EpochContestResult best(const EpochContest& contest) {
    contest_ = &contest;
    for (const EpochSend& send : contest.past) {
      const Lane& lane = network_.lane(send.lane);
      plan_.push_back(send);
      if (network_.stores[lane.to])
        since_[send.chunk.value][lane.to] = (send.epoch + lane.delay).value;
    }
    begin_epoch(contest.begin);
    return {choices_ <= most_choices_, best_};
  }

  std::optional<bool> answer() {
    if (begin_epoch(0)) return true;
    return choices_ > most_choices_ ? std::nullopt : std::optional(false);
  }

private:
  bool begin_epoch(std::uint32_t epoch) {
    if (choices_ > most_choices_) return false;
    if (contest_ != nullptr) return compare(epoch);
    if (finished()) return keeps_buffers();
    if (epoch > epochs_) return false;
    if (!problem_.buffer_limit && !failed_.insert(state(epoch)).second) return false;
    return pass_arrivals(epoch);
  }

  /// Of the same state only what has earned most goes on.
  bool compare(std::uint32_t epoch) {
    const double earned = reward();
    if (epoch > epochs_) {
      if ((!contest_->must_finish || finished()) && keeps_buffers() && (!best_ || earned > *best_))
        best_ = earned;
      return false;
    }
    if (!problem_.buffer_limit) {
      const auto [known, is_new] = earned_.emplace(state(epoch), earned);
      if (!is_new && known->second >= earned) return false;
      known->second = earned;
    }
    return pass_arrivals(epoch);
  }

  [[nodiscard]] double reward() const {
    double sum = 0;
    for (std::uint32_t c = 0; c < since_.size(); ++c)
      for (const std::uint32_t destination : problem_.chunks[c].destinations)
        for (std::uint32_t k = std::max(since_[c][destination], contest_->begin); k <= epochs_; ++k)
          sum += contest_->reward(ChunkId{c}, NodeId{destination}, Epoch{k});
    return sum;
  }

  bool pass_arrivals(std::uint32_t epoch) {
    std::vector<Passing> passing;
    for (const EpochSend& send : plan_) {
      const Lane& lane = network_.lane(send.lane);
      if (!network_.stores[lane.to] && send.epoch + lane.delay == Epoch{epoch})
        passing.push_back({lane.to, send.chunk.value});
    }
    return pass(epoch, passing, 0);
  }

  /// What doesn't depend on how it came about: where everything is, is under way to, and what still
  /// counts for limits.
  [[nodiscard]] std::vector<std::uint32_t> state(std::uint32_t epoch) const {
    std::vector<std::uint32_t> all{epoch};
    for (const auto& nodes : since_)
      for (const std::uint32_t since : nodes) all.push_back(std::max(since, epoch));
    std::vector<EpochSend> recent;
    for (const EpochSend& send : plan_)
      if (send.epoch + reach_ >= Epoch{epoch}) recent.push_back(send);
    std::ranges::sort(recent);
    for (const EpochSend& send : recent)
      all.insert(all.end(), {send.epoch.value, send.lane.value, send.chunk.value});
    return all;
  }

  /// Each arrival at a node that doesn't store is dropped, passed on, or copied to several lanes.
  bool pass(std::uint32_t epoch, const std::vector<Passing>& passing, std::size_t next) {
    if (next == passing.size()) return send(epoch, candidates(epoch), 0);
    const auto here = passing.begin() + static_cast<std::ptrdiff_t>(next);
    if (!network_.copies[here->node]) {
      if (pass(epoch, passing, next + 1)) return true;
      for (const auto [lane] : network_.out_lanes[here->node])
        if (pass_over(epoch, passing, next, lane, next + 1)) return true;
      return false;
    }
    if (std::find(passing.begin(), here, *here) != here) return pass(epoch, passing, next + 1);
    return copy(epoch, passing, next, 0);
  }

  bool pass_over(std::uint32_t epoch, const std::vector<Passing>& passing, std::size_t from,
                 std::uint32_t lane, std::size_t next) {
    const std::uint32_t chunk = passing[from].chunk;
    if (!push({Epoch{epoch}, LaneId{lane}, ChunkId{chunk}})) return false;
    const bool found = pass(epoch, with_next(passing, lane, chunk), next);
    pop();
    return found;
  }

  [[nodiscard]] std::vector<Passing> with_next(std::vector<Passing> passing, std::uint32_t lane,
                                               std::uint32_t chunk) const {
    if (network_.lanes[lane].delay == 0 && !network_.stores[network_.lanes[lane].to])
      passing.push_back({network_.lanes[lane].to, chunk});
    return passing;
  }

  bool copy(std::uint32_t epoch, const std::vector<Passing>& passing, std::size_t from,
            std::size_t out) {
    const std::vector<LaneId>& lanes = network_.out_lanes[passing[from].node];
    if (out == lanes.size()) return pass(epoch, passing, from + 1);
    if (copy(epoch, passing, from, out + 1)) return true;
    if (!push({Epoch{epoch}, lanes[out], ChunkId{passing[from].chunk}})) return false;
    const bool found =
        copy(epoch, with_next(passing, lanes[out].value, passing[from].chunk), from, out + 1);
    pop();
    return found;
  }

  [[nodiscard]] std::vector<EpochSend> candidates(std::uint32_t epoch) const {
    std::vector<EpochSend> found;
    for (std::uint32_t l = 0; l < network_.lanes.size(); ++l)
      for (std::uint32_t c = 0; c < since_.size(); ++c)
        if (network_.stores[network_.lanes[l].from] && since_[c][network_.lanes[l].from] <= epoch)
          found.push_back({Epoch{epoch}, LaneId{l}, ChunkId{c}});
    return found;
  }

  bool send(std::uint32_t epoch, const std::vector<EpochSend>& from, std::size_t next) {
    if (next == from.size()) return begin_epoch(epoch + 1);
    if (push(from[next])) {
      const bool found = send(epoch, from, next + 1);
      pop();
      if (found) return true;
    }
    return send(epoch, from, next + 1);
  }

  bool push(const EpochSend& send) {
    const Lane& lane = network_.lane(send.lane);
    if (++choices_ > most_choices_ || send.epoch + lane.delay > Epoch{epochs_}) return false;
    if (std::ranges::find(plan_, send) != plan_.end()) return false;
    std::uint32_t& since = since_[send.chunk.value][lane.to];
    if (network_.stores[lane.to] && since != never) return false;
    plan_.push_back(send);
    if (!keeps_limits(send.lane)) {
      plan_.pop_back();
      return false;
    }
    if (network_.stores[lane.to]) since = (send.epoch + lane.delay).value;
    return true;
  }

  void pop() {
    const Lane& lane = network_.lane(plan_.back().lane);
    if (network_.stores[lane.to]) since_[plan_.back().chunk.value][lane.to] = never;
    plan_.pop_back();
  }

  [[nodiscard]] bool keeps_limits(LaneId lane) const {
    return std::ranges::all_of(network_.limits, [&](const EpochLimit& limit) {
      if (std::ranges::find(limit.uses, lane, &LaneUse::lane) == limit.uses.end()) return true;
      std::vector<std::uint32_t> times;
      for (const EpochSend& send : plan_)
        for (const LaneUse& use : limit.uses)
          if (use.lane == send.lane) times.push_back((send.epoch + use.offset).value);
      return std::ranges::all_of(times, [&](std::uint32_t first) {
        return std::ranges::count_if(times, [&](std::uint32_t time) {
                 return time >= first && time < first + limit.window;
               }) <= limit.most;
      });
    });
  }

  [[nodiscard]] bool finished() const {
    for (std::size_t c = 0; c < since_.size(); ++c)
      for (const std::uint32_t destination : problem_.chunks[c].destinations)
        if (since_[c][destination] == never) return false;
    return true;
  }

  [[nodiscard]] bool keeps_buffers() const {
    if (!problem_.buffer_limit) return true;
    for (std::uint32_t n = 0; n < network_.node_count(); ++n)
      for (std::uint32_t k = 0; network_.stores[n] && k <= epochs_; ++k) {
        std::uint32_t kept = 0;
        for (std::uint32_t c = 0; c < since_.size(); ++c) kept += keeps(n, c, k) ? 1 : 0;
        if (kept > *problem_.buffer_limit) return false;
      }
    return true;
  }

  /// For others, in this epoch.
  [[nodiscard]] bool keeps(std::uint32_t node, std::uint32_t chunk, std::uint32_t epoch) const {
    const TimedChunk& ends = problem_.chunks[chunk];
    return since_[chunk][node] <= epoch &&
           std::ranges::find(ends.sources, node) == ends.sources.end() &&
           std::ranges::find(ends.destinations, node) == ends.destinations.end() &&
           std::ranges::any_of(plan_, [&](const EpochSend& send) {
             return send.chunk == ChunkId{chunk} && network_.lane(send.lane).from == node &&
                    send.epoch >= Epoch{epoch};
           });
  }

  const EpochProblem& problem_;
  const EpochNetwork& network_;
  std::uint32_t epochs_;
  std::uint64_t most_choices_, choices_ = 0;
  std::uint32_t reach_ = 0;
  std::vector<std::vector<std::uint32_t>> since_; // [chunk][node that stores]
  EpochPlan plan_;                                // in the order of choice
  std::set<std::vector<std::uint32_t>> failed_;
  const EpochContest* contest_ = nullptr;
  std::map<std::vector<std::uint32_t>, double> earned_;
  std::optional<double> best_;
};

} // namespace

std::optional<bool> plan_exists(const EpochProblem& problem, std::uint32_t epochs,
                                std::uint64_t most_choices) {
  return EpochTrial(problem, epochs, most_choices).answer();
}

EpochContestResult best_reward(const EpochProblem& problem, const EpochContest& contest,
                               std::uint64_t most_choices) {
  return EpochTrial(problem, contest.epochs, most_choices).best(contest);
}

} // namespace tutti::testing
