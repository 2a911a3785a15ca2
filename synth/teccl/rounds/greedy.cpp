// The gain in closeness of a chunk at a node is kept until the plan brings that chunk anywhere.
// Gains only fall, so that a heap finds the most urgent candidate if it puts back those that have
// fallen.
#include "synth/teccl/rounds/greedy.hpp"

#include "synth/teccl/rounds/ledger.hpp"

#include <algorithm>
#include <map>
#include <queue>
#include <tuple>
#include <utility>

namespace tutti {

namespace {

// Chunks by number, as bits.
class ChunkSet {
public:
  explicit ChunkSet(std::size_t chunks) : words_((chunks + 63) / 64) {}
  void insert(std::uint32_t chunk) { words_[chunk / 64] |= std::uint64_t{1} << (chunk % 64); }
  void clear() { std::ranges::fill(words_, 0); }
  void unite(const ChunkSet& other) {
    for (std::size_t w = 0; w < words_.size(); ++w) words_[w] |= other.words_[w];
  }
  void subtract(const ChunkSet& other) {
    for (std::size_t w = 0; w < words_.size(); ++w) words_[w] &= ~other.words_[w];
  }
  // Calls `visit` for each, ascending.
  template <class Visit> void for_each(const Visit& visit) const {
    for (std::size_t w = 0; w < words_.size(); ++w)
      for (std::uint64_t rest = words_[w]; rest != 0; rest &= rest - 1)
        visit(static_cast<std::uint32_t>(w * 64) +
              static_cast<std::uint32_t>(__builtin_ctzll(rest)));
  }

private:
  std::vector<std::uint64_t> words_;
};

// A chunk that could start for a node now.
struct Candidate {
  double gain;
  std::uint32_t chunk, to; // indices

  // The order of a heap with the most urgent on top.
  bool operator<(const Candidate& other) const {
    return std::tuple(-gain, chunk, to) > std::tuple(-other.gain, other.chunk, other.to);
  }
};

class GreedyPlanner {
public:
  GreedyPlanner(const EpochProblem& problem, const EpochDistances& distances,
                std::span<const std::vector<SwitchPath>> paths, std::span<const EpochSend> past)
      : problem_(&problem), distances_(&distances), paths_(paths), ledger_(problem, {}),
        here_(problem.network.node_count(), ChunkSet(problem.chunks.size())), planned_(here_),
        done_(problem.chunks.size()), done_at_(problem.chunks.size()),
        reach_(problem.network.reach()) {
    const std::uint32_t nodes = problem.network.node_count();
    nearest_.assign(problem.chunks.size() * nodes, unreachable);
    gains_.assign(nearest_.size(), -1);
    relayed_.resize(nodes);
    for (std::uint32_t chunk = 0; chunk < problem.chunks.size(); ++chunk) {
      problem.require_time();
      unserved_.push_back(problem.chunks[chunk].destinations);
      for (const std::uint32_t source : problem.chunks[chunk].sources)
        arrive(chunk, source, Epoch{0});
    }
    for (const EpochSend& send : past) enter(send);
    for (std::uint32_t chunk = 0; chunk < problem.chunks.size(); ++chunk)
      if (unserved_[chunk].empty()) done_.insert(chunk);
  }

  [[nodiscard]] EpochPlan plan(Epoch begin, Epoch end) {
    for (const auto& [epoch, what] : arrivals_)
      for (const Arrival& arrival : what)
        if (epoch < begin && problem_->network.stores[arrival.node])
          here_[arrival.node].insert(arrival.chunk);
    // First what is on its way into switches: others would take the room behind them.
    std::vector<Epoch> passing;
    for (const auto& [epoch, what] : arrivals_)
      if (epoch >= begin && epoch < end) passing.push_back(epoch);
    for (const Epoch epoch : passing) decide(epoch, end, true);
    for (Epoch epoch = begin; epoch < end && is_incomplete() && epoch <= busy_until_; ++epoch)
      decide(epoch, end, false);
    std::ranges::sort(plan_);
    return std::move(plan_);
  }

private:
  struct Arrival {
    std::uint32_t node, chunk;
  };

  [[nodiscard]] bool is_incomplete() const {
    return std::ranges::any_of(unserved_, [](const auto& nodes) { return !nodes.empty(); });
  }

  std::size_t at(std::uint32_t chunk, std::uint32_t node) const {
    return std::size_t{chunk} * problem_->network.node_count() + node;
  }

  // By plan the chunk comes to the node.
  void arrive(std::uint32_t chunk, std::uint32_t node, Epoch epoch) {
    arrivals_[epoch].push_back({node, chunk});
    busy_until_ = std::max(busy_until_, epoch);
    if (!problem_->network.stores[node]) return;
    planned_[node].insert(chunk);
    if (epoch <= epoch_) here_[node].insert(chunk);
    std::vector<std::uint32_t>& unserved = unserved_[chunk];
    if (problem_->buffer_limit && epoch > Epoch{0} &&
        !std::ranges::binary_search(problem_->chunks[chunk].destinations, node))
      relayed_[node].push_back(chunk);
    if (std::erase(unserved, node) > 0 && unserved.empty()) done_at_[chunk] = epoch_;
    for (const std::uint32_t destination : unserved) {
      std::uint32_t& nearest = nearest_[at(chunk, destination)];
      nearest = std::min(nearest, (*distances_)(node, destination));
    }
    const auto begin = gains_.begin() + static_cast<std::ptrdiff_t>(at(chunk, 0));
    std::fill(begin, begin + problem_->network.node_count(), -1.0);
  }

  void enter(const EpochSend& send) {
    const Lane& lane = problem_->network.lane(send.lane);
    ledger_.add(send);
    if (problem_->network.stores[lane.from]) {
      Epoch& last = last_sent_[{lane.from, send.chunk.value}];
      last = std::max(last, send.epoch);
    }
    arrive(send.chunk.value, lane.to, send.epoch + lane.delay);
    busy_until_ = std::max(busy_until_, send.epoch + 2 * reach_);
  }

  // What it brings in closeness to the chunk's unserved destinations that it comes to the node.
  double gain(std::uint32_t chunk, std::uint32_t to) {
    double& known = gains_[at(chunk, to)];
    if (known >= 0) return known;
    known = 0;
    for (const std::uint32_t destination : unserved_[chunk]) {
      const std::uint32_t before = nearest_[at(chunk, destination)],
                          after = (*distances_)(to, destination);
      if (after < before) known += closeness(after) - closeness(before);
    }
    return known;
  }

  // All chunks that could start now for nodes that store.
  [[nodiscard]] std::vector<Candidate> candidates(Epoch end) {
    std::vector<Candidate> found;
    ChunkSet startable(problem_->chunks.size());
    for (std::uint32_t to = 0; to < paths_.size(); ++to) {
      problem_->require_time();
      startable.clear();
      for (const SwitchPath& path : paths_[to])
        if (is_open(path, end)) startable.unite(here_[path.from]);
      startable.subtract(planned_[to]);
      startable.subtract(done_);
      startable.for_each([&](std::uint32_t chunk) {
        if (const double gained = gain(chunk, to); gained > 0) found.push_back({gained, chunk, to});
      });
    }
    return found;
  }

  [[nodiscard]] bool is_open(const SwitchPath& path, Epoch end) const {
    if (only_passing_ && problem_->network.stores[path.from]) return false;
    return epoch_ + path.delay - problem_->network.lane(path.lanes.back()).delay < end;
  }

  void decide(Epoch epoch, Epoch end, bool only_passing) {
    epoch_ = epoch;
    only_passing_ = only_passing;
    const std::vector<Arrival> arriving = arrivals_[epoch_];
    for (const Arrival& arrival : arriving) here_[arrival.node].insert(arrival.chunk);
    std::priority_queue<Candidate> queue({}, candidates(end));
    while (!queue.empty()) {
      problem_->require_time();
      Candidate candidate = queue.top();
      queue.pop();
      if (const double now = gain(candidate.chunk, candidate.to); now < candidate.gain) {
        candidate.gain = now;
        if (now > 0) queue.push(candidate);
      } else if (accepts(candidate.to, candidate.chunk)) {
        start(candidate, end);
      }
    }
    for (const Arrival& arrival : arriving) // it passes, or is lost
      if (!problem_->network.stores[arrival.node]) here_[arrival.node].clear();
    for (std::uint32_t chunk = 0; chunk < unserved_.size(); ++chunk)
      if (unserved_[chunk].empty()) done_.insert(chunk);
  }

  // Whether the node has room for a chunk that it relays. One with unserved destinations stays
  // there.
  bool accepts(std::uint32_t node, std::uint32_t chunk) {
    if (!problem_->buffer_limit ||
        std::ranges::binary_search(problem_->chunks[chunk].destinations, node))
      return true;
    // Those done in this epoch may leave in it.
    return std::ranges::count_if(relayed_[node], [&](std::uint32_t other) {
             return !unserved_[other].empty() || done_at_[other] >= epoch_;
           }) < static_cast<std::ptrdiff_t>(*problem_->buffer_limit);
  }

  // Whether the node could have kept a chunk that it got for others until now.
  bool kept(std::uint32_t node, std::uint32_t chunk) const {
    const std::vector<std::uint32_t>& relayed = relayed_[node];
    if (!problem_->buffer_limit || !std::ranges::count(relayed, chunk)) return true;
    for (Epoch epoch = ledger_.arrival(ChunkId{chunk}, NodeId{node}); epoch <= epoch_; ++epoch) {
      std::uint32_t sum = 1;
      for (const std::uint32_t other : relayed) {
        const auto last = last_sent_.find({node, other});
        if (other != chunk && last != last_sent_.end() && last->second >= epoch &&
            ledger_.arrival(ChunkId{other}, NodeId{node}) <= epoch)
          ++sum;
      }
      if (sum > *problem_->buffer_limit) return false;
    }
    return true;
  }

  void start(const Candidate& candidate, Epoch end) {
    std::vector<EpochSend> best;
    std::uint32_t earliest = unreachable; // delay of `best`
    for (const SwitchPath& path : paths_[candidate.to]) {
      if (path.delay > earliest || best.size() == 1) break;
      if (!is_open(path, end)) continue;
      std::vector<EpochSend> sends = new_sends(path, ChunkId{candidate.chunk});
      if (sends.empty() || (!best.empty() && sends.size() >= best.size())) continue;
      best = std::move(sends);
      earliest = path.delay;
    }
    for (const EpochSend& send : best) {
      enter(send);
      plan_.push_back(send);
    }
  }

  // What has to be sent that isn't sent already, so that the chunk goes this path from now on, as
  // it hasn't by now; nothing where it can't.
  std::vector<EpochSend> new_sends(const SwitchPath& path, ChunkId chunk) {
    const EpochNetwork& network = problem_->network;
    if (network.stores[path.from]
            ? ledger_.arrival(chunk, NodeId{path.from}) > epoch_ || !kept(path.from, chunk.value)
            : !ledger_.can_pass(chunk, NodeId{path.from}, epoch_))
      return {};
    std::vector<EpochSend> sends;
    bool possible = true;
    Epoch epoch = epoch_;
    for (const LaneId id : path.lanes) {
      const Lane& lane = network.lane(id);
      const EpochSend send{epoch, id, chunk};
      epoch += lane.delay;
      if (ledger_.is_sent(send)) {
        possible = ledger_.can_pass(chunk, NodeId{lane.to}, epoch);
      } else {
        possible = ledger_.has_room(id, send.epoch);
        if (possible) {
          ledger_.add(send);
          sends.push_back(send);
        }
      }
      if (!possible) break;
    }
    for (const EpochSend& send : sends) ledger_.remove(send);
    if (!possible) sends.clear();
    return sends;
  }

  const EpochProblem* problem_;
  const EpochDistances* distances_;
  std::span<const std::vector<SwitchPath>> paths_;
  EpochLedger ledger_;
  std::map<Epoch, std::vector<Arrival>> arrivals_; // planned ones too
  std::vector<ChunkSet> here_;    // [node]: what can start there now; of switches: arrives now
  std::vector<ChunkSet> planned_; // [node]: what is or comes there
  ChunkSet done_;                 // without unserved destinations
  std::vector<Epoch> done_at_;    // [chunk]: in this epoch it was decided, if it was
  std::vector<std::vector<std::uint32_t>>
      unserved_;                       // [chunk]: destinations that no send serves yet
  std::vector<std::uint32_t> nearest_; // [at(chunk, destination)]: epochs from where it is or comes
  std::vector<double> gains_;          // [at(chunk, node)]; -1: not known
  std::vector<std::vector<std::uint32_t>> relayed_; // [node]: chunks that it got for others
  std::map<std::pair<std::uint32_t, std::uint32_t>, Epoch> last_sent_; // by node, chunk
  std::uint32_t reach_;
  Epoch epoch_;               // that is decided now
  bool only_passing_ = false; // nothing starts from nodes that store
  Epoch busy_until_;          // later, what isn't possible now won't be
  EpochPlan plan_;
};

} // namespace

EpochPlan greedy_plan(const EpochProblem& problem, const EpochDistances& distances,
                      std::span<const std::vector<SwitchPath>> paths,
                      std::span<const EpochSend> past, Epoch begin, Epoch end) {
  return GreedyPlanner(problem, distances, paths, past).plan(begin, end);
}

} // namespace tutti
