// What has come to an NPU is there, though it may wait for sends that are given up. Random
// schedules whose arrivals often wait so (partial sums that go on over slow links while others
// come), through random failures. What an NPU has is derived here from the engine alone: its input,
// what was delivered to it, and what the engine says has come to it and was held back. Each of
// these is a value of its own, and no choice of such values that are disjoint holds more than what
// a plan goes on with.

#include "sim/random.hpp"
#include "sim/repair/recovery.hpp"
#include "sim/verify.hpp"
#include "synth/list.hpp"
#include "tests/catch.hpp"
#include "tests/samples.hpp"
#include "tests/sim/repair_samples.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace repair_arrivals_test {

using namespace tutti;
using namespace tutti::repair_samples;

namespace {

using Numbers = std::set<std::uint32_t>; // NPUs, or contributions by theirs

bool includes(const Numbers& all, const Numbers& some) { return std::ranges::includes(all, some); }
bool overlap(const Numbers& a, const Numbers& b) {
  return std::ranges::any_of(a, [&](std::uint32_t one) { return b.contains(one); });
}

struct Arrivals {
  Topology topology;
  Segment plan;
  TimeModel model;
  std::vector<NetworkEvent> events;
  Time delay;
};

/// Two to six NPUs in a ring both ways with chords, links fast and slow; or around a switch.
Topology uneven_network(Random& random) {
  const auto n = static_cast<std::uint32_t>(2 + random.below(5));
  if (random.below(8) == 0) return samples::star(n);
  TopologyParts parts = samples::npus("uneven", n);
  constexpr std::array<std::int64_t, 4> rates{2'000'000'000, 10'000'000'000, 50'000'000'000,
                                              200'000'000'000};
  const auto add = [&](std::uint32_t from, std::uint32_t to) {
    parts.add_link({NodeId{from}, NodeId{to},
                    Time{static_cast<std::int64_t>(random.below(3)) * 1'000'000},
                    Bandwidth{rates[random.below(rates.size())]}});
  };
  for (std::uint32_t i = 0; i < n; ++i) {
    add(i, (i + 1) % n);
    if (n > 2) add((i + 1) % n, i);
  }
  for (std::uint64_t extra = random.below(n); extra > 0; --extra) {
    const auto from = static_cast<std::uint32_t>(random.below(n));
    const auto to = static_cast<std::uint32_t>(random.below(n));
    if (from != to) add(from, to);
  }
  return Topology(std::move(parts));
}

/// Fewest links, of equal paths a random one.
std::vector<std::uint32_t> path(Random& random, const Topology& topology, std::uint32_t from,
                                std::uint32_t to) {
  std::map<std::uint32_t, std::uint32_t> came_by; // node: link
  std::vector<std::uint32_t> open{from};
  for (std::size_t next = 0; next < open.size(); ++next) {
    std::vector<LinkId> links(topology.out_links(NodeId{open[next]}).begin(),
                              topology.out_links(NodeId{open[next]}).end());
    random.shuffle(links);
    for (const LinkId link : links) {
      const std::uint32_t node = topology.link(link).to.value;
      if (node != from && came_by.emplace(node, link.value).second) open.push_back(node);
    }
  }
  std::vector<std::uint32_t> links;
  for (std::uint32_t at = to; at != from; at = topology.link(LinkId{links.back()}).from.value)
    links.push_back(came_by.at(at));
  std::ranges::reverse(links);
  return links;
}

std::uint32_t any_of(Random& random, const Numbers& numbers) {
  return *std::next(numbers.begin(), static_cast<std::ptrdiff_t>(random.below(numbers.size())));
}

/// Sends partial sums to and fro, and then what is missing to whom it is missing.
class WanderingSums {
public:
  WanderingSums(Random& random, const Topology& topology, std::uint32_t chunk, const ChunkOf& of)
      : random_(random), topology_(topology), chunk_(chunk), of_(of), has_(topology.npu_count()) {
    for (const std::uint32_t npu : of.held) {
      has_[npu] = {of.reduces ? npu : of.held.front()};
      parts_.insert(npu);
    }
  }

  std::vector<std::vector<Step>> run() { // blocks
    const auto n = static_cast<std::uint32_t>(has_.size());
    for (std::uint64_t tries = random_.below(4 * n); tries > 0; --tries) {
      const auto from = static_cast<std::uint32_t>(random_.below(n));
      const auto to = static_cast<std::uint32_t>(random_.below(n));
      if (from != to) try_to_send(from, to);
    }
    while (of_.reduces && parts_.size() > 1) {
      const std::uint32_t from = any_of(random_, parts_), to = any_of(random_, parts_);
      if (from != to) try_to_send(from, to);
    }
    const std::uint32_t whole = *parts_.begin();
    const Numbers all = has_[whole];
    for (const std::uint32_t npu : of_.wanted)
      if (has_[npu] != all) try_to_send(whole, npu);
    return std::move(blocks_);
  }

private:
  void try_to_send(std::uint32_t from, std::uint32_t to) {
    if (has_[from].empty() || includes(has_[to], has_[from])) return;
    if (parts_.contains(to) && !parts_.contains(from)) return; // they would overlap
    const bool sums = !overlap(has_[from], has_[to]) && !has_[to].empty();
    if (!sums && !includes(has_[from], has_[to])) return;
    const Op op = of_.reduces && sums ? Op::reduce : Op::copy;
    blocks_.push_back({{chunk_, path(random_, topology_, from, to), op}});
    const bool both = sums && parts_.contains(from) && parts_.contains(to);
    Numbers united = has_[from];
    united.insert(has_[to].begin(), has_[to].end());
    if (both && random_.below(3) == 0) { // an exchange
      blocks_.back().push_back({chunk_, path(random_, topology_, to, from), Op::reduce, true});
      has_[from] = united;
    }
    has_[to] = std::move(united);
    if (both)
      parts_.erase(from);
    else if (!sums && parts_.erase(from) > 0)
      parts_.insert(to); // the sum goes on from there
  }

  Random& random_;
  const Topology& topology_;
  std::uint32_t chunk_;
  const ChunkOf& of_;
  std::vector<Numbers> has_;
  Numbers parts_; // NPUs that have disjoint sums of all
  std::vector<std::vector<Step>> blocks_;
};

std::vector<std::uint32_t> some_npus(Random& random, std::uint32_t n) {
  Numbers npus{static_cast<std::uint32_t>(random.below(n))};
  for (std::uint32_t i = 0; i < n; ++i)
    if (random.below(3) > 0) npus.insert(i);
  return {npus.begin(), npus.end()};
}

std::vector<NetworkEvent> failures(Random& random, const Topology& topology, Time span) {
  using Kind = NetworkEvent::Kind;
  NetworkState state(topology);
  std::vector<NetworkEvent> events;
  std::set<std::int64_t> times;
  for (std::uint64_t count = 2 + random.below(4); count > 0; --count)
    times.insert(static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(span.ps))));
  for (const std::int64_t at : times) {
    NetworkEvent event{Time{at}};
    event.kind = std::array{Kind::link_down, Kind::link_down, Kind::npu_down,
                            Kind::link_rate}[random.below(4)];
    if (event.kind == Kind::npu_down) {
      event.npu = NodeId{static_cast<std::uint32_t>(random.below(topology.npu_count()))};
      if (!state.is_up(event.npu)) continue;
    } else {
      event.link = LinkId{static_cast<std::uint32_t>(random.below(topology.link_count()))};
      const Link& link = topology.link(event.link);
      if (!state.is_up(link.from) || !state.is_up(link.to)) continue;
      if (!state.is_up(event.link)) event.kind = Kind::link_up;
      if (event.kind == Kind::link_rate) event.share = Share{100'000};
    }
    state.apply(event);
    events.push_back(event);
  }
  return events;
}

std::optional<Arrivals> arrivals_case(Random& random) {
  Topology topology = uneven_network(random);
  std::vector<ChunkOf> chunks;
  for (std::uint64_t count = 1 + random.below(3); count > 0; --count) {
    const bool reduces = random.below(4) > 0;
    std::vector<std::uint32_t> held = some_npus(random, topology.npu_count());
    if (!reduces) held.resize(1);
    chunks.push_back({std::move(held), some_npus(random, topology.npu_count()), reduces});
  }
  std::vector<std::vector<Step>> all;
  std::vector<std::size_t> turn;
  std::vector<std::vector<std::vector<Step>>> of_chunk;
  for (std::uint32_t c = 0; c < chunks.size(); ++c) {
    of_chunk.push_back(WanderingSums(random, topology, c, chunks[c]).run());
    turn.insert(turn.end(), of_chunk.back().size(), c);
  }
  random.shuffle(turn);
  std::vector<std::size_t> next(chunks.size());
  std::vector<Step> steps;
  for (const std::size_t c : turn)
    for (const Step& step : of_chunk[c][next[c]++]) steps.push_back(step);
  Segment plan = segment(topology, collective(chunks), steps);
  if (steps.empty() || !verify(topology, plan.collective, plan.schedule).correct())
    return std::nullopt;
  TimeModel model;
  if (random.below(4) == 0) model.reduce_rate = Bandwidth{5'000'000'000};
  const Time span = run_native(topology, plan.collective, plan.schedule, model).completion;
  std::vector<NetworkEvent> events = failures(random, topology, span);
  if (events.empty()) return std::nullopt;
  const Time delay{random.below(2) == 0 ? 0 : span.ps / 10};
  return Arrivals{std::move(topology), std::move(plan), model, std::move(events), delay};
}

Recovery recovered(const Arrivals& one, Policy policy) {
  const Reaction reaction{policy, one.delay, Time{},
                          [&one](const Topology& network, const Collective& rest) {
                            SynthesisOptions options;
                            options.model = one.model;
                            return synthesize(synthesizers().front(), network, rest, options);
                          }};
  return recover(find_engine("native"), one.topology, one.plan.collective, one.plan.schedule,
                 one.model, one.events, reaction);
}

/// Who has what, segment by segment.
class Memory {
public:
  Memory(const Arrivals& one, const Recovery& recovery)
      : one_(one), recovery_(recovery), whole_(one.plan.collective) {}

  /// What is wrong; empty where nothing is.
  std::string run() {
    for (std::uint32_t c = 0; c < whole_.chunks.size() && fault_.empty(); ++c) follow(c);
    return fault_;
  }
  std::size_t waited = 0; ///< came and was held back when a plan was given up, or in the end

private:
  /// When the plan of the segment was given up.
  [[nodiscard]] Time given_up_at(std::size_t segment) const {
    std::size_t s = 0;
    for (const Decision& decision : recovery_.decisions)
      if (decision.in_force && s++ == segment) return decision.at;
    return {};
  }

  /// Transfers of the segment that had come to their receivers and weren't delivered.
  [[nodiscard]] std::vector<std::uint32_t> held_back(std::size_t s) const {
    const Segment& segment = recovery_.segments[s];
    std::vector<StuckTransfer> stuck = recovery_.stuck;
    if (s + 1 < recovery_.segments.size()) {
      const Time at = given_up_at(s);
      std::vector<NetworkEvent> events; // nobody waits for links that come up later
      Numbers came_up;
      for (const NetworkEvent& event : one_.events) {
        if (event.kind == NetworkEvent::Kind::link_up && event.at > at)
          came_up.insert(event.link.value);
        if (!event.link.valid() || !came_up.contains(event.link.value)) events.push_back(event);
      }
      RunOptions options;
      options.may_halt = true;
      options.begin = segment.begin;
      options.events = events;
      options.freeze = at;
      stuck = run_native(one_.topology, segment.collective, segment.schedule, one_.model, options)
                  .stuck;
    }
    std::vector<std::uint32_t> held;
    for (const StuckTransfer& transfer : stuck)
      if (transfer.why == StuckTransfer::Why::held_back) held.push_back(transfer.transfer);
    return held;
  }

  [[nodiscard]] bool lives(std::uint32_t npu, Time at) const {
    return std::ranges::none_of(one_.events, [&](const NetworkEvent& event) {
      return event.kind == NetworkEvent::Kind::npu_down && event.npu.value == npu && event.at <= at;
    });
  }
  [[nodiscard]] Numbers input(std::uint32_t chunk, std::uint32_t npu) const {
    const auto held = whole_.sources(ChunkId{chunk});
    if (std::ranges::find(held, NodeId{npu}) == held.end()) return {};
    return {whole_.chunks[chunk].reduces ? npu : held.front().value};
  }

  void follow(std::uint32_t chunk) {
    const std::uint32_t n = one_.topology.npu_count();
    std::vector<Numbers> has(one_.topology.node_count());
    for (std::uint32_t npu = 0; npu < n; ++npu) has[npu] = input(chunk, npu);
    Numbers left_out;
    std::vector<Waiting> waiting; // since the chunk was planned last
    for (std::size_t s = 0; s < recovery_.segments.size() && fault_.empty(); ++s) {
      const Segment& segment = recovery_.segments[s];
      const auto named = std::ranges::find(segment.chunk, ChunkId{chunk});
      if (named != segment.chunk.end()) {
        const auto local = static_cast<std::uint32_t>(named - segment.chunk.begin());
        waiting = perform(s, local, has);
      }
      const bool is_last = s + 1 == recovery_.segments.size();
      // Values that someone has who lives when the segment ends.
      const auto counts = [&](std::uint32_t npu) {
        return is_last ? is_alive_in_the_end(npu) : lives(npu, segment.end);
      };
      std::vector<Numbers> values;
      for (std::uint32_t npu = 0; npu < n; ++npu)
        if (counts(npu))
          for (Numbers value : {has[npu], input(chunk, npu)}) values.push_back(std::move(value));
      for (const Waiting& one : waiting)
        if (counts(one.at)) values.push_back(one.value);
      if (is_last)
        check_end(chunk, values, left_out);
      else
        check_next(chunk, s + 1, has, waiting, values, left_out);
    }
  }

  struct Waiting {
    std::uint32_t at;
    Arrival arrival;
    Numbers value;
  };

  /// Deliveries of one segment; returns what waited.
  std::vector<Waiting> perform(std::size_t s, std::uint32_t local, std::vector<Numbers>& has) {
    const Segment& segment = recovery_.segments[s];
    const std::vector<std::uint32_t> held = held_back(s);
    const auto holders = segment.collective.sources(ChunkId{local});
    Numbers fresh; // whose value is part of this plan
    for (const NodeId holder : holders) fresh.insert(holder.value);
    std::vector<Waiting> waiting;
    std::vector<Numbers> before = has;
    for (std::uint32_t i = 0; i < segment.schedule.size(); ++i) {
      const Transfer transfer = segment.schedule[i];
      if (!transfer.together) before = has;
      if (transfer.chunk.value != local) continue;
      const auto links = segment.schedule.paths().links(transfer.path);
      const std::uint32_t from = one_.topology.link(links.front()).from.value;
      const std::uint32_t to = one_.topology.link(links.back()).to.value;
      const bool waits = std::ranges::find(held, i) != held.end();
      if (waits) ++waited;
      if (waits && segment.delivered[i])
        fault_ = "transfer " + std::to_string(i) + " waits, and is delivered";
      if (waits) waiting.push_back({to, {static_cast<std::uint32_t>(s), i}, before[from]});
      if (!segment.delivered[i]) continue;
      const bool adds = transfer.op == Op::reduce && fresh.contains(to);
      if (!adds) has[to].clear();
      has[to].insert(before[from].begin(), before[from].end());
      fresh.insert(to);
    }
    return waiting;
  }

  /// A plan begins: what of these values does it go without?
  void check_next(std::uint32_t chunk, std::size_t s, std::vector<Numbers>& has,
                  std::vector<Waiting>& waiting, const std::vector<Numbers>& values,
                  Numbers& left_out) {
    const Segment& segment = recovery_.segments[s];
    const auto named = std::ranges::find(segment.chunk, ChunkId{chunk});
    std::vector<Numbers> used;
    if (named != segment.chunk.end()) {
      const ChunkId local{static_cast<std::uint32_t>(named - segment.chunk.begin())};
      const auto holders = segment.collective.sources(local);
      for (std::size_t h = 0; h < holders.size(); ++h) {
        const std::uint32_t npu = holders[h].value;
        const Start start = segment.starts.of(local, h);
        const bool reduces = whole_.chunks[chunk].reduces;
        if (start == Start::input || start == Start::nothing) has[npu].clear();
        if (start != Start::nothing && (start != Start::present || !reduces))
          add(input(chunk, npu), has[npu], reduces);
        for (const Waiting& one : waiting)
          if (one.at == npu &&
              std::ranges::find(segment.takes_in, one.arrival) != segment.takes_in.end())
            add(one.value, has[npu], reduces);
        used.push_back(has[npu]);
      }
      waiting.clear();
    } else {
      used = values;
    }
    Numbers kept;
    for (const Numbers& value : used)
      for (const std::uint32_t one : value)
        if (!left_out.contains(one)) kept.insert(one);
    if (named != segment.chunk.end() && kept.size() < most(values, left_out))
      fault_ = "chunk " + std::to_string(chunk) + ": segment " + std::to_string(s) +
               " goes without what those alive have and could add up";
    Numbers all;
    for (const Numbers& value : values) all.insert(value.begin(), value.end());
    for (const std::uint32_t one : all)
      if (!kept.contains(one)) left_out.insert(one);
  }

  void add(const Numbers& some, Numbers& to, bool reduces) {
    if (reduces && overlap(some, to)) fault_ = "a plan begins with something twice";
    to.insert(some.begin(), some.end());
  }

  /// How many contributions values hold at most that are disjoint and have none of `without`.
  [[nodiscard]] std::size_t most(const std::vector<Numbers>& values, const Numbers& without) const {
    std::set<Numbers> sums{{}};
    for (const Numbers& value : values) {
      if (overlap(value, without)) continue;
      for (Numbers sum : std::vector(sums.begin(), sums.end()))
        if (!overlap(sum, value)) {
          sum.insert(value.begin(), value.end());
          sums.insert(std::move(sum));
        }
    }
    return std::ranges::max(sums, {}, &Numbers::size).size();
  }

  void check_end(std::uint32_t chunk, const std::vector<Numbers>& values, const Numbers& left_out) {
    for (const ChunkAt& lost : recovery_.lost)
      if (lost.chunk.value == chunk && !left_out.contains(lost.npu.value))
        for (const Numbers& value : values)
          if (value.contains(lost.npu.value))
            fault_ = "chunk " + std::to_string(chunk) + ": in the end the contribution of " +
                     std::to_string(lost.npu.value) + " is lost, which someone alive has";
  }
  [[nodiscard]] bool is_alive_in_the_end(std::uint32_t npu) const {
    for (std::size_t e = 0; e < recovery_.events_counted; ++e)
      if (one_.events[e].kind == NetworkEvent::Kind::npu_down && one_.events[e].npu.value == npu)
        return false;
    return true;
  }

  const Arrivals& one_;
  const Recovery& recovery_;
  const Collective& whole_;
  std::string fault_;
};

void check_seeds(std::uint64_t first, std::uint64_t cases) {
  std::size_t waited = 0;
  for (std::uint64_t seed = first, made = 0; made < cases; ++seed) {
    Random random(seed);
    const std::optional<Arrivals> one = arrivals_case(random);
    if (!one) continue;
    ++made;
    for (const Policy policy : {Policy::report, Policy::reroute, Policy::resynthesize}) {
      INFO("seed " << seed << ", " << to_text(policy));
      const Recovery recovery = recovered(*one, policy);
      CHECK(recovery.problem == "");
      Memory memory(*one, recovery);
      CHECK(memory.run() == "");
      NetworkState end(one->topology);
      for (const NetworkEvent& event : one->events) end.apply(event);
      if (policy == Policy::resynthesize && strongly_connected(one->topology, end))
        CHECK(recovery.ending != Ending::incomplete);
      waited += memory.waited > 0 ? 1 : 0;
    }
  }
  CHECK(waited > cases / 4);
}

} // namespace

TEST_CASE("what has come to an NPU that lives is not lost, whatever it waits for") {
  check_seeds(1, 300);
}

TEST_CASE("twenty thousand times: what has come to an NPU that lives is not lost", "[slow]") {
  check_seeds(1'000'000, 20'000);
}

} // namespace repair_arrivals_test
