// Columns exist only within the windows of one_shot/windows. Beside the paper's constraints there
// are rows that cut no whole plan off but fractions: what is only reached through another node is
// there so much later (dominators), and interchangeable chunks arrive in order.
#include "synth/teccl/one_shot/program.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

namespace tutti {

EpochReward reward_of(EpochObjective objective) {
  if (objective == EpochObjective::public_code) return [](ChunkId, NodeId, Epoch) { return 1.0; };
  // The beginning of an epoch is the end of the one before.
  return [](ChunkId, NodeId, Epoch epoch) { return 1.0 / epoch.value; };
}

EpochProgram::EpochProgram(const EpochProblem& problem, const EpochHorizon& horizon,
                           const EpochReward& reward)
    : problem_(problem), horizon_(horizon), hops_(epoch_hops(problem.network)) {
  find_windows();
  const auto chunks = static_cast<std::uint32_t>(problem.chunks.size());
  for (std::uint32_t c = 0; c < chunks; ++c) {
    problem.require_time();
    add_sent(c);
    add_held(c, reward);
  }
  for (std::uint32_t c = 0; c < chunks; ++c)
    for (std::uint32_t place = 0; place < hops_.places.size(); ++place) {
      if (place == 0) problem.require_time();
      if (!problem.network.stores[hops_.places[place].node]) {
        add_pass_on(c, PlaceId{place});
        continue;
      }
      add_receipts(c, place);
      add_dominator(c, place);
      add_store_and_send(c, place);
    }
  for (const EpochLimit& limit : problem.network.limits) {
    problem.require_time();
    add_limit(limit);
  }
  if (problem.buffer_limit)
    for (std::uint32_t v = 0; v < problem.network.node_count(); ++v) add_buffer(v);
  add_orders(reward);
  own_columns_ = program_.column_count();
  own_rows_ = program_.row_count();
}

std::optional<std::uint32_t> EpochProgram::Columns::at(Epoch epoch) const {
  if (epoch < epochs.first || epoch > epochs.last) return std::nullopt;
  return first + (epoch.value - epochs.first.value);
}

bool EpochProgram::is_destination(std::uint32_t chunk, std::uint32_t node) const {
  return std::ranges::binary_search(problem_.chunks[chunk].destinations, node);
}

void EpochProgram::find_windows() {
  std::vector<std::vector<EpochSend>> past(problem_.chunks.size());
  for (const EpochSend& send : horizon_.past) past[send.chunk.value].push_back(send);
  chunks_.resize(problem_.chunks.size());
  for (std::uint32_t c = 0; c < chunks_.size(); ++c) {
    problem_.require_time();
    chunks_[c].windows = epoch_windows(problem_, hops_, horizon_, ChunkId{c}, past[c]);
  }
}

void EpochProgram::add_sent(std::uint32_t chunk) {
  ChunkColumns& own = chunks_[chunk];
  for (const EpochWindow& window : own.windows.sends) {
    own.sent.push_back({window, program_.column_count()});
    for (std::uint32_t i = 0; i < window.size(); ++i) program_.add_column(0, 0, 1, true);
  }
  // In several stages at once a plan can't say.
  for (const std::vector<std::uint32_t>& hops : hops_.of_lane)
    for (Epoch k = horizon_.begin; k <= horizon_.end && hops.size() > 1; ++k) {
      std::vector<Term> terms;
      for (const std::uint32_t h : hops)
        if (const auto column = own.sent[h].at(k)) terms.push_back({*column, 1});
      if (terms.size() > 1) program_.add_row(-unlimited, 1, terms);
    }
}

// From the first arrival to the last send from there, of a destination (and where what comes later
// is worth something, too) to the end. The last of a destination is 1 where it has to be.
void EpochProgram::add_held(std::uint32_t chunk, const EpochReward& reward) {
  ChunkColumns& own = chunks_[chunk];
  own.held.resize(problem_.network.node_count());
  own.needed.resize(problem_.network.node_count());
  for (std::uint32_t v = 0; v < problem_.network.node_count(); ++v) {
    if (!problem_.network.stores[v]) continue;
    const bool wanted = is_destination(chunk, v);
    if (const auto settled = own.windows.settled[v]) {
      if (wanted && horizon_.must_finish && *settled > horizon_.last()) program_.add_row(1, 1, {});
      continue;
    }
    EpochWindow window{own.windows.earliest[v], horizon_.last()};
    if (horizon_.must_finish && !wanted) {
      window.last = Epoch{0};
      for (const std::uint32_t h : hops_.out[v])
        if (!own.windows.sends[h].empty())
          window.last = std::max(window.last, own.windows.sends[h].last);
    }
    if (window.empty()) { // an infeasible row where that is wanted
      if (wanted && horizon_.must_finish) program_.add_row(1, 1, {});
      continue;
    }
    own.held[v] = {window, program_.column_count()};
    for (Epoch k = window.first; k <= window.last; ++k)
      program_.add_column(wanted ? -reward(ChunkId{chunk}, NodeId{v}, k) : 0,
                          wanted && horizon_.must_finish && k == horizon_.last() ? 1 : 0, 1);
  }
}

std::uint32_t EpochProgram::add_arrivals(std::vector<Term>& terms, std::uint32_t chunk,
                                         PlaceId place, Epoch epoch, double factor) const {
  const ChunkColumns& own = chunks_[chunk];
  for (const std::uint32_t h : hops_.in[place.value])
    if (hops_.hops[h].delay <= epoch.value)
      if (const auto column = own.sent[h].at(epoch - hops_.hops[h].delay))
        terms.push_back({*column, factor});
  const auto [node, stage] = hops_.place(place);
  if (stage > 0) return 0;
  return static_cast<std::uint32_t>(std::ranges::count(own.windows.past_arrivals[node], epoch));
}

// It is held where it was before or has arrived; as nobody holds more than 1, it arrives once.
void EpochProgram::add_receipts(std::uint32_t chunk, std::uint32_t node) {
  const Columns& held = chunks_[chunk].held[node];
  for (Epoch k = held.epochs.first; k <= held.epochs.last; ++k) {
    std::vector<Term> terms{{*held.at(k), 1}};
    if (const auto before = held.at(k - 1)) terms.push_back({*before, -1});
    add_arrivals(terms, chunk, PlaceId{node}, k, -1);
    program_.add_row(0, 0, terms);
  }
}

// Whoever has it only through another has it so much later at least. This follows for whole chunks
// but not for fractions, of which copies from several neighbours would add up.
void EpochProgram::add_dominator(std::uint32_t chunk, std::uint32_t node) {
  const ChunkColumns& own = chunks_[chunk];
  const Columns& held = own.held[node];
  PlaceId through = own.windows.dominator[node];
  while (through.valid() && !problem_.network.stores[hops_.place(through).node])
    through = own.windows.dominator[through.value];
  if (held.epochs.empty() || !through.valid() || own.windows.settled[through.value]) return;
  const std::uint32_t apart =
      own.windows.earliest[node].value - own.windows.earliest[through.value].value;
  for (Epoch k = held.epochs.first; k <= held.epochs.last; ++k)
    if (const auto before = holds(ChunkId{chunk}, NodeId{through.value}, k - apart))
      program_.add_row(-unlimited, 0, std::vector<Term>{{*held.at(k), 1}, {*before, -1}});
}

// What is sent is held. To those who store it is sent once at most: all that was sent to one of
// them up to an epoch is no more than what is held then.
void EpochProgram::add_store_and_send(std::uint32_t chunk, std::uint32_t node) {
  const ChunkColumns& own = chunks_[chunk];
  if (own.windows.settled[node]) return;
  std::map<PlaceId, std::vector<std::uint32_t>> hops_to;
  for (const std::uint32_t h : hops_.out[node])
    if (!own.windows.sends[h].empty()) hops_to[hops_.hops[h].to].push_back(h);
  for (const auto& [to, hops] : hops_to) {
    const bool once = problem_.network.stores[hops_.place(to).node];
    std::vector<Term> sent;
    for (Epoch k = own.held[node].epochs.first; k <= own.held[node].epochs.last; ++k) {
      if (!once) sent.clear();
      const std::size_t before = sent.size();
      for (const std::uint32_t h : hops)
        if (const auto column = own.sent[h].at(k)) sent.push_back({*column, 1});
      if (sent.size() == before) continue;
      std::vector<Term> terms = sent;
      terms.push_back({*own.held[node].at(k), -1});
      if (once) {
        program_.add_row(-unlimited, 0, terms);
        continue;
      }
      for (const Term& each : sent)
        program_.add_row(-unlimited, 0, std::vector<Term>{each, terms.back()});
    }
  }
}

// A copying node sends an arrival over each lane, another one over one in all.
void EpochProgram::add_pass_on(std::uint32_t chunk, PlaceId place) {
  const ChunkColumns& own = chunks_[chunk];
  EpochWindow window{no_epoch, Epoch{0}};
  for (const std::uint32_t h : hops_.out[place.value]) {
    const EpochWindow& sends = own.windows.sends[h];
    if (sends.empty()) continue;
    window = {std::min(window.first, sends.first), std::max(window.last, sends.last)};
  }
  for (Epoch k = window.first; k <= window.last && !window.empty(); ++k) {
    std::vector<Term> sent, arrivals;
    for (const std::uint32_t h : hops_.out[place.value])
      if (const auto column = own.sent[h].at(k)) sent.push_back({*column, 1});
    const std::uint32_t certain = add_arrivals(arrivals, chunk, place, k, -1);
    if (!problem_.network.copies[hops_.place(place).node]) {
      sent.insert(sent.end(), arrivals.begin(), arrivals.end());
      program_.add_row(-unlimited, certain, sent);
      continue;
    }
    for (const Term& each : sent) {
      std::vector<Term> terms{each};
      terms.insert(terms.end(), arrivals.begin(), arrivals.end());
      if (certain == 0) program_.add_row(-unlimited, 0, terms);
    }
  }
}

// One row for each longest run of used epochs within a window.
void EpochProgram::add_limit(const EpochLimit& limit) {
  struct Slot {
    std::vector<Term> terms;
    double past = 0;
  };
  std::map<Epoch, Slot> slots;
  std::vector<std::vector<std::uint32_t>> offsets(problem_.network.lanes.size());
  for (const LaneUse& use : limit.uses) {
    offsets[use.lane.value].push_back(use.offset);
    for (const std::uint32_t h : hops_.of_lane[use.lane.value])
      for (const ChunkColumns& own : chunks_)
        for (Epoch k = own.sent[h].epochs.first; k <= own.sent[h].epochs.last; ++k)
          slots[k + use.offset].terms.push_back({*own.sent[h].at(k), 1});
  }
  for (const EpochSend& send : horizon_.past)
    for (const std::uint32_t offset : offsets[send.lane.value])
      slots[send.epoch + offset].past += 1;

  Epoch covered; // slots up to this one stand in a row that begins earlier
  for (auto begin = slots.begin(); begin != slots.end(); ++begin) {
    std::vector<Term> terms;
    double past = 0;
    Epoch end = begin->first;
    for (auto slot = begin; slot != slots.end() && slot->first < begin->first + limit.window;
         ++slot) {
      end = slot->first;
      terms.insert(terms.end(), slot->second.terms.begin(), slot->second.terms.end());
      past += slot->second.past;
    }
    const bool is_new = begin == slots.begin() || end > covered;
    covered = end;
    if (is_new && !terms.empty() && static_cast<double>(terms.size()) + past > limit.most)
      program_.add_row(-unlimited, limit.most - past, terms);
  }
}

// A chunk takes room from its arrival until it is sent for the last time.
void EpochProgram::add_needed(std::uint32_t chunk, std::uint32_t node) {
  ChunkColumns& own = chunks_[chunk];
  EpochWindow window{no_epoch, Epoch{0}};
  for (const std::uint32_t h : hops_.out[node]) {
    const EpochWindow& sends = own.windows.sends[h];
    if (sends.empty()) continue;
    window = {std::min(window.first, sends.first), std::max(window.last, sends.last)};
  }
  if (window.empty()) return;
  own.needed[node] = {window, program_.column_count()};
  for (std::uint32_t i = 0; i < window.size(); ++i) program_.add_column(0, 0, 1);
  for (Epoch k = window.first; k <= window.last; ++k) {
    const Term needed{*own.needed[node].at(k), 1};
    if (const auto later = own.needed[node].at(k + 1))
      program_.add_row(0, unlimited, std::vector<Term>{needed, {*later, -1}});
    for (const std::uint32_t h : hops_.out[node])
      if (const auto sent = own.sent[h].at(k))
        program_.add_row(0, unlimited, std::vector<Term>{needed, {*sent, -1}});
  }
}

// A chunk that isn't there for sure takes room if held and needed. What arrived before the horizon
// and is sent on in it has taken room all along.
void EpochProgram::add_buffer(std::uint32_t node) {
  if (!problem_.network.stores[node]) return;
  std::vector<std::uint32_t> relayed;
  for (std::uint32_t c = 0; c < chunks_.size(); ++c) {
    if (is_destination(c, node) || std::ranges::binary_search(problem_.chunks[c].sources, node))
      continue;
    relayed.push_back(c);
    add_needed(c, node);
  }
  std::map<ChunkId, Epoch> sent_last; // before the horizon
  for (const EpochSend& send : horizon_.past)
    if (problem_.network.lane(send.lane).from == node)
      sent_last[send.chunk] = std::max(sent_last[send.chunk], send.epoch);

  for (Epoch k; k < horizon_.end; ++k) {
    std::vector<Term> terms;
    double certain = 0;
    for (const std::uint32_t c : relayed) {
      const ChunkColumns& own = chunks_[c];
      const std::optional<Epoch> settled = own.windows.settled[node];
      if (settled && *settled > k) continue;
      if (const auto past = sent_last.find(ChunkId{c});
          past != sent_last.end() && past->second >= k) {
        certain += 1;
        continue;
      }
      const Columns& needed = own.needed[node];
      if (needed.epochs.empty() || k > needed.epochs.last) continue;
      const std::uint32_t need = *needed.at(std::max(k, needed.epochs.first));
      if (settled) {
        terms.push_back({need, 1});
      } else if (const auto held = own.held[node].at(k)) {
        const std::uint32_t kept = program_.add_column(0, 0, 1);
        program_.add_row(-unlimited, 1, std::vector<Term>{{*held, 1}, {need, 1}, {kept, -1}});
        kept_.push_back({*held, need, kept});
        terms.push_back({kept, 1});
      }
    }
    if (!terms.empty() && certain + static_cast<double>(terms.size()) > *problem_.buffer_limit)
      program_.add_row(-unlimited, *problem_.buffer_limit - certain, terms);
  }
}

// Whoever exchanges them in an optimum has another: so they may reach one destination in their
// order.
void EpochProgram::add_orders(const EpochReward& reward) {
  using Kind =
      std::tuple<TimedChunk, std::vector<std::optional<Epoch>>, std::vector<std::vector<Epoch>>,
                 std::vector<EpochSend>, std::vector<double>>;
  std::map<Kind, std::vector<std::uint32_t>> kinds;
  std::vector<std::vector<EpochSend>> past(chunks_.size());
  for (const EpochSend& send : horizon_.past) {
    past[send.chunk.value].push_back(send);
    past[send.chunk.value].back().chunk = {};
  }
  for (std::uint32_t c = 0; c < chunks_.size(); ++c) {
    std::vector<double> rewards;
    for (const std::uint32_t v : problem_.chunks[c].destinations)
      for (Epoch k = chunks_[c].held[v].epochs.first; k <= chunks_[c].held[v].epochs.last; ++k)
        rewards.push_back(reward(ChunkId{c}, NodeId{v}, k));
    kinds[{problem_.chunks[c], chunks_[c].windows.settled, chunks_[c].windows.past_arrivals,
           past[c], std::move(rewards)}]
        .push_back(c);
  }
  for (auto& [kind, chunks] : kinds) {
    const std::vector<Epoch>& earliest = chunks_[chunks.front()].windows.earliest;
    std::uint32_t destination = no_index;
    for (const std::uint32_t v : std::get<0>(kind).destinations)
      if (!chunks_[chunks.front()].held[v].epochs.empty() &&
          (destination == no_index || earliest[v] < earliest[destination]))
        destination = v;
    if (chunks.size() == 1 || destination == no_index) continue;
    orders_.push_back({std::move(chunks), destination});
    add_order(orders_.back());
  }
}

void EpochProgram::add_order(const Order& order) {
  for (std::size_t i = 1; i < order.chunks.size(); ++i) {
    const Columns& before = chunks_[order.chunks[i - 1]].held[order.destination];
    const Columns& after = chunks_[order.chunks[i]].held[order.destination];
    for (Epoch k = before.epochs.first; k <= before.epochs.last; ++k)
      program_.add_row(0, unlimited, std::vector<Term>{{*before.at(k), 1}, {*after.at(k), -1}});
  }
}

std::optional<std::uint32_t> EpochProgram::holds(ChunkId chunk, NodeId node, Epoch epoch) const {
  const Columns& held = chunks_[chunk.value].held[node.value];
  if (held.epochs.empty()) return std::nullopt;
  return held.at(std::min(epoch, held.epochs.last)); // nothing arrives later
}

bool EpochProgram::always_holds(ChunkId chunk, NodeId node, Epoch epoch) const {
  const std::optional<Epoch> settled = chunks_[chunk.value].windows.settled[node.value];
  return settled && *settled <= epoch;
}

EpochPlan EpochProgram::plan(std::span<const double> columns) const {
  EpochPlan plan;
  for (std::uint32_t c = 0; c < chunks_.size(); ++c)
    for (std::uint32_t h = 0; h < hops_.hops.size(); ++h) {
      const Columns& sent = chunks_[c].sent[h];
      for (Epoch k = sent.epochs.first; k <= sent.epochs.last; ++k)
        if (columns[*sent.at(k)] > 0.5) plan.push_back({k, hops_.hops[h].lane, ChunkId{c}});
    }
  std::ranges::sort(plan);
  return plan;
}

std::optional<std::vector<double>> EpochProgram::columns(const EpochPlan& plan) const {
  if (!std::ranges::all_of(plan, [&](const EpochSend& send) {
        return send.lane.value < problem_.network.lanes.size() && send.chunk.value < chunks_.size();
      }))
    return std::nullopt;
  std::vector<double> values(own_columns_);
  const EpochPlan same = ordered(plan);
  if (!set_sent(same, values)) return std::nullopt;
  set_held(same, values);
  for (const Kept& kept : kept_)
    values[kept.column] = std::max(0.0, values[kept.held] + values[kept.needed] - 1);
  if (!satisfies(program_, values, own_rows_)) return std::nullopt;
  return values;
}

// With interchangeable chunks exchanged, so that they reach the destination in their order.
EpochPlan EpochProgram::ordered(const EpochPlan& plan) const {
  std::vector<std::uint32_t> image(chunks_.size());
  std::iota(image.begin(), image.end(), 0U);
  for (const Order& order : orders_) {
    std::map<ChunkId, Epoch> arrival;
    for (const std::uint32_t c : order.chunks) arrival[ChunkId{c}] = no_epoch;
    for (const EpochSend& send : plan) {
      const Lane& lane = problem_.network.lane(send.lane);
      if (const auto known = arrival.find(send.chunk);
          known != arrival.end() && lane.to == order.destination)
        known->second = std::min(known->second, send.epoch + lane.delay);
    }
    std::vector<std::uint32_t> chunks = order.chunks;
    std::ranges::stable_sort(chunks, {}, [&](std::uint32_t c) { return arrival.at(ChunkId{c}); });
    for (std::size_t i = 0; i < chunks.size(); ++i) image[chunks[i]] = order.chunks[i];
  }
  EpochPlan made = plan;
  for (EpochSend& send : made) send.chunk = ChunkId{image[send.chunk.value]};
  std::ranges::sort(made);
  return made;
}

// A send takes the first stage in which something has arrived to be passed on.
bool EpochProgram::set_sent(const EpochPlan& plan, std::vector<double>& values) const {
  const EpochNetwork& network = problem_.network;
  using Arrival = std::tuple<ChunkId, PlaceId, Epoch>;
  std::map<Arrival, std::uint32_t> arrived;
  for (std::uint32_t c = 0; c < chunks_.size(); ++c)
    for (std::uint32_t v = 0; v < network.node_count(); ++v)
      for (const Epoch epoch : chunks_[c].windows.past_arrivals[v])
        ++arrived[{ChunkId{c}, PlaceId{v}, epoch}];

  const auto place = [&](const EpochSend& send) {
    const std::uint32_t node = network.lane(send.lane).from;
    for (const std::uint32_t h : hops_.of_lane[send.lane.value]) {
      const EpochHop& hop = hops_.hops[h];
      const auto column = chunks_[send.chunk.value].sent[h].at(send.epoch);
      if (!column) continue;
      if (!network.stores[node]) {
        const auto known = arrived.find({send.chunk, hop.from, send.epoch});
        if (known == arrived.end() || known->second == 0) continue;
        if (!network.copies[node]) --known->second;
      }
      values[*column] = 1;
      ++arrived[{send.chunk, hop.to, send.epoch + hop.delay}];
      return true;
    }
    return false;
  };
  // By epochs, as long as some can be placed: what is passed on without delay comes after what it
  // passes on.
  for (auto begin = plan.begin(); begin != plan.end();) {
    const auto end = std::find_if(begin, plan.end(),
                                  [&](const EpochSend& send) { return send.epoch > begin->epoch; });
    EpochPlan left(begin, end);
    for (std::size_t before = left.size() + 1; before > left.size() && !left.empty();) {
      before = left.size();
      std::erase_if(left, place);
    }
    if (!left.empty()) return false;
    begin = end;
  }
  return true;
}

void EpochProgram::set_held(const EpochPlan& plan, std::vector<double>& values) const {
  const auto set = [&](const Columns& columns, Epoch first, Epoch last) {
    for (Epoch k = std::max(first, columns.epochs.first); k <= std::min(last, columns.epochs.last);
         ++k)
      values[*columns.at(k)] = 1;
  };
  for (const EpochSend& send : plan) {
    const Lane& lane = problem_.network.lane(send.lane);
    const ChunkColumns& own = chunks_[send.chunk.value];
    set(own.held[lane.to], send.epoch + lane.delay, no_epoch - 1);
    set(own.needed[lane.from], Epoch{0}, send.epoch);
  }
}

} // namespace tutti
