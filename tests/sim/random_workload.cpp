// Programs grow together, operation by operation in one order, so that no waiting cycle can arise.
// The check puts all communication into a single replay; a member that comes late to a collective,
// or starts after something is sent to it, is delayed there by links of its own.

#include "tests/sim/random_workload.hpp"

#include "sim/error.hpp"
#include "sim/random.hpp"
#include "tests/pick.hpp"
#include "tests/sim/random_case.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <span>
#include <tuple>
#include <utility>

namespace tutti::testing {

namespace {

std::vector<NodeId> random_group(Random& random, std::uint32_t npus, std::size_t size) {
  std::vector<NodeId> all;
  for (std::uint32_t n = 0; n < npus; ++n) all.emplace_back(n);
  random.shuffle(all);
  all.resize(size);
  return all;
}

/// Appends operations to all programs in one order, so that nobody waits in a cycle.
class GrowingWorkload {
public:
  GrowingWorkload(Random& random, std::uint32_t npus) : random_(random) {
    made_.programs.resize(npus);
    made_.places.resize(npus);
    made_.names = {"operation"};
    for (std::uint32_t n = 0; n < npus; ++n) made_.places[n].program = n;
    for (std::uint64_t g = 1 + random.below(4); g > 0; --g)
      made_.groups.push_back(random_group(random, npus, 1 + random.below(npus)));
    made_.groups.push_back(random_group(random, npus, 2));
    for (std::uint32_t g = 0; g < made_.groups.size(); ++g)
      for (const NodeId member : made_.groups[g]) made_.places[member.value].groups.push_back(g);
  }

  void compute() {
    constexpr std::array<std::int64_t, 5> times{0, 1000, 1'000'000, 3'000'000, 0};
    Operation operation;
    operation.amount = pick(random_, times);
    if (random_.below(3) == 0) operation.amount = static_cast<std::int64_t>(random_.below(4000000));
    add(static_cast<std::uint32_t>(random_.below(made_.programs.size())), operation);
  }

  void communicate(std::uint32_t tag) {
    const auto group = static_cast<std::uint32_t>(random_.below(made_.groups.size()));
    Operation operation;
    operation.kind = Operation::Kind::collective;
    operation.purpose = static_cast<Purpose>(random_.below(purpose_count));
    operation.collective =
        pick(random_, std::array{CollectiveKind::all_reduce, CollectiveKind::broadcast});
    operation.priority = static_cast<std::uint8_t>(random_.below(3));
    operation.tag = tag;
    operation.amount = 1 + static_cast<std::int64_t>(random_.below(2));
    const std::vector<NodeId>& members = made_.groups[group];
    const bool sends = members.size() == 2 && random_.below(2) == 0;
    const std::uint64_t sender = random_.below(2);
    for (std::size_t rank = 0; rank < members.size(); ++rank) {
      const std::vector<std::uint32_t>& groups = made_.places[members[rank].value].groups;
      operation.role = static_cast<std::uint32_t>(std::find(groups.begin(), groups.end(), group) -
                                                  groups.begin());
      if (sends) operation.kind = rank == sender ? Operation::Kind::send : Operation::Kind::receive;
      add(members[rank].value, operation);
    }
  }

  [[nodiscard]] Workload take() { return std::move(made_); }

private:
  void add(std::uint32_t npu, const Operation& operation) {
    TrainingProgram& program = made_.programs[npu];
    std::vector<std::uint32_t> after;
    for (std::uint64_t n = program.size() == 0 ? 0 : random_.below(4); n > 0; --n) {
      const std::uint64_t back = random_.below(std::min<std::size_t>(program.size(), 4));
      after.push_back(static_cast<std::uint32_t>(program.size() - 1 - back));
    }
    program.add(operation, after);
  }

  Random& random_;
  Workload made_;
};

std::vector<std::uint32_t> random_order(Random& random, std::size_t size) {
  std::vector<std::uint32_t> order(size);
  std::iota(order.begin(), order.end(), 0U);
  random.shuffle(order);
  return order;
}

PlacedPlan random_plan(Random& random, const Topology& topology, const Workload& workload,
                       const CommunicationRequest& request) {
  RandomTraffic traffic = random_traffic(random, topology, request.group % 2 == 1);
  CollectivePart& part = traffic.collective.parts.front();
  part.kind = request.kind;
  part.size = request.size;
  part.group = workload.groups[request.group];
  part.root = request.root;
  PlacedPlan placed;
  placed.plan = std::make_shared<CommunicationPlan>(
      CommunicationPlan{std::move(traffic.collective), std::move(traffic.schedule), "random"});
  for (std::uint32_t l = 0; l < topology.link_count(); ++l) placed.links.emplace_back(l);
  for (std::uint32_t n = 0; n < topology.node_count(); ++n) placed.nodes.emplace_back(n);
  return placed;
}

std::vector<NetworkEvent> random_events(Random& random, const Topology& topology) {
  using Kind = NetworkEvent::Kind;
  std::vector<NetworkEvent> events;
  const auto instant = [&] {
    return Time{static_cast<std::int64_t>(1000 * random.below(20) * 500)};
  };
  for (std::uint64_t n = random.below(5); n > 0; --n) {
    const LinkId link{static_cast<std::uint32_t>(random.below(topology.link_count()))};
    const NodeId npu{static_cast<std::uint32_t>(random.below(topology.npu_count()))};
    std::vector<NetworkEvent> more;
    switch (random.below(4)) {
    case 0: {
      const Time at = instant();
      more = {{at, Kind::link_down, link}, {at + Time{1 + instant().ps}, Kind::link_up, link}};
      break;
    }
    case 1: more = {{instant(), Kind::link_rate, link, {}, Share{333'333}}}; break;
    case 2: more = {{instant(), Kind::link_latency, link, {}, {}, Time{500}}}; break;
    default: more = {{instant(), Kind::npu_rate, {}, npu, Share{500'000}}}; break;
    }
    std::vector<NetworkEvent> all = events;
    all.insert(all.end(), more.begin(), more.end());
    try {
      events = sorted_events(topology, all);
    } catch (const InputError&) { // it contradicts what is there
    }
  }
  return events;
}

// The check.

struct Key {
  std::uint32_t group, tag;
  auto operator<=>(const Key&) const = default;
};
struct Part {
  std::uint32_t npu = 0, operation = 0;
};
struct Communication {
  Key key;
  std::vector<Part> parts; ///< by rank
  Time begin;              ///< for the first of them
};

/// All communication in one replay. Who comes late to what has begun is made to wait there: every
/// chunk that it sends it first gets once more, from a node of its own over a link whose latency is
/// the delay.
class Replay {
public:
  explicit Replay(const Topology& topology) : parts_(topology.parts()) {}

  void add(const CommunicationPlan& plan, const JobTiming& timing) {
    collectives_.push_back(plan.collective);
    jobs_.push_back(timing);
    for (std::size_t i = 0; i < plan.schedule.size(); ++i) {
      const Transfer transfer = plan.schedule[i];
      const auto links = plan.schedule.paths().links(transfer.path);
      transfers_.push_back({transfer, {links.begin(), links.end()}});
      transfers_.back().transfer.chunk.value += chunks_;
    }
    chunks_ += static_cast<std::uint32_t>(plan.collective.chunks.size());
  }
  /// Of what is added next. Pre: the delay is above 0.
  void delay(const CommunicationPlan& plan, NodeId member, Time delay) {
    constexpr Bandwidth at_once{INT64_MAX / 8}; // 1 ps, of some megabytes
    std::set<ChunkId> sent;
    for (std::size_t i = 0; i < plan.schedule.size(); ++i) {
      const LinkId first = plan.schedule.paths().first(plan.schedule.path_of(i));
      if (parts_.links[first.value].from == member) sent.insert(plan.schedule[i].chunk);
    }
    for (const ChunkId chunk : sent) {
      Node source{fmt::format("late{}", delays_++), NodeKind::memory, {}, {}};
      const NodeId from = parts_.add_node(std::move(source));
      if (!parts_.coordinates.empty()) parts_.coordinates.resize(parts_.nodes.size());
      const LinkId link = parts_.add_link({from, member, delay - Time{1}, at_once});
      transfers_.push_back({{ChunkId{chunk.value + chunks_}, {}, Op::copy, false}, {link}});
    }
  }
  [[nodiscard]] std::size_t size() const { return transfers_.size(); }
  [[nodiscard]] std::uint32_t delays() const { return delays_; }
  [[nodiscard]] NodeId from(std::size_t i) const {
    return parts_.links[transfers_[i].links.front().value].from;
  }
  [[nodiscard]] NodeId to(std::size_t i) const {
    return parts_.links[transfers_[i].links.back().value].to;
  }

  [[nodiscard]] Report run(const TimeModel& model, std::span<const NetworkEvent> events) const {
    if (collectives_.empty()) return {};
    const Topology topology{parts_};
    Schedule schedule(topology.link_count());
    for (const Planned& planned : transfers_) {
      Transfer transfer = planned.transfer;
      transfer.path = schedule.paths().intern(planned.links);
      schedule.push(transfer);
    }
    return run_native(topology, merge(collectives_), schedule, model,
                      {.record_deliveries = true, .jobs = jobs_, .events = events});
  }

private:
  struct Planned {
    Transfer transfer; ///< but for its path
    std::vector<LinkId> links;
  };
  TopologyParts parts_;
  std::vector<Collective> collectives_;
  std::vector<JobTiming> jobs_;
  std::vector<Planned> transfers_;
  std::uint32_t chunks_ = 0, delays_ = 0;
};

class Check {
public:
  Check(const RandomWorkload& random, const IterationReport& report)
      : random_(random), workload_(random.workload), report_(report) {
    spans_.resize(workload_.places.size());
    for (const OperationSpan& span : report.spans) spans_[span.npu.value].push_back(span);
  }

  std::string run() {
    for (std::uint32_t npu = 0; npu < spans_.size(); ++npu) {
      if (spans_[npu].size() != program(npu).size()) return "spans are missing";
      for (std::uint32_t i = 0; i < spans_[npu].size(); ++i) check_reached(npu, i);
      check_computing(npu);
      check_turns(npu);
    }
    check_communication();
    check_sums();
    return fault_;
  }

private:
  [[nodiscard]] const TrainingProgram& program(std::uint32_t npu) const {
    return workload_.programs[workload_.places[npu].program];
  }
  void expect(bool holds, std::uint32_t npu, std::uint32_t i, const char* what) {
    if (!holds && fault_.empty()) fault_ = fmt::format("npu{} operation {}: {}", npu, i, what);
  }

  void check_reached(std::uint32_t npu, std::uint32_t i) {
    Time reached = random_.start_of(npu);
    for (const std::uint32_t before : program(npu).dependencies(i))
      reached = std::max(reached, spans_[npu][before].end);
    const OperationSpan& span = spans_[npu][i];
    if (takes_turns(program(npu)[i]))
      expect(span.reached >= reached, npu, i, "reached too early");
    else
      expect(span.reached == reached, npu, i, "reached");
    expect(span.end >= reached, npu, i, "over before it is reached");
  }

  [[nodiscard]] bool takes_turns(const Operation& operation) const {
    return random_.one_at_a_time && (operation.kind == Operation::Kind::collective ||
                                     operation.kind == Operation::Kind::send);
  }

  /// When all that it depends on is over.
  [[nodiscard]] Time ready(std::uint32_t npu, std::uint32_t i) const {
    Time ready = random_.start_of(npu);
    for (const std::uint32_t before : program(npu).dependencies(i))
      ready = std::max(ready, spans_[npu][before].end);
    return ready;
  }

  /// One after another, none later than it could, and of those that are ready the lowest turn.
  void check_turns(std::uint32_t npu) {
    std::vector<std::uint32_t> left;
    for (std::uint32_t i = 0; i < program(npu).size(); ++i)
      if (takes_turns(program(npu)[i])) left.push_back(i);
    std::ranges::stable_sort(left, {}, [&](std::uint32_t i) {
      return std::tuple(spans_[npu][i].reached, spans_[npu][i].end, program(npu).turn(i));
    });
    Time free;
    for (std::size_t k = 0; k < left.size(); ++k) {
      Time first = ready(npu, left[k]);
      for (std::size_t later = k + 1; later < left.size(); ++later)
        first = std::min(first, ready(npu, left[later]));
      const OperationSpan& span = spans_[npu][left[k]];
      expect(span.reached == std::max(free, first), npu, left[k], "its turn");
      free = span.end;
      for (std::size_t later = k + 1; later < left.size(); ++later)
        expect(!is_due_before(npu, left[later], left[k]), npu, left[k], "it isn't its turn");
    }
  }

  /// Whether `early`, which had its turn later than `late`, could have had it instead.
  [[nodiscard]] bool is_due_before(std::uint32_t npu, std::uint32_t early,
                                   std::uint32_t late) const {
    const Time at = spans_[npu][late].reached;
    return program(npu).turn(early) < program(npu).turn(late) &&
           (ready(npu, early) < at ||
            (ready(npu, early) == at && !hangs_on_instant(npu, early, at)));
  }

  /// Whether it depends on something that took no time at that very instant.
  [[nodiscard]] bool hangs_on_instant(std::uint32_t npu, std::uint32_t i, Time at) const {
    return std::ranges::any_of(program(npu).dependencies(i), [&](std::uint32_t before) {
      const OperationSpan& span = spans_[npu][before];
      return span.end == at && (span.begin == at || span.reached == at);
    });
  }

  [[nodiscard]] std::int64_t share(std::uint32_t npu, Time at) const {
    std::int64_t share = 1'000'000;
    for (const NetworkEvent& event : random_.events)
      if (event.kind == NetworkEvent::Kind::npu_rate && event.npu.value == npu && event.at <= at)
        share = event.share.millionths;
    return share;
  }

  void check_computing(std::uint32_t npu) {
    std::vector<std::uint32_t> computed;
    for (std::uint32_t i = 0; i < program(npu).size(); ++i)
      if (program(npu)[i].kind == Operation::Kind::compute) computed.push_back(i);
    std::stable_sort(computed.begin(), computed.end(), [&](std::uint32_t a, std::uint32_t b) {
      const OperationSpan &left = spans_[npu][a], &right = spans_[npu][b];
      return std::tuple(left.begin, left.end, program(npu).turn(a)) <
             std::tuple(right.begin, right.end, program(npu).turn(b));
    });
    Time free;
    for (std::size_t k = 0; k < computed.size(); ++k) {
      const std::uint32_t i = computed[k];
      const OperationSpan& span = spans_[npu][i];
      expect(span.begin == std::max(free, span.reached), npu, i, "it computes too late or early");
      const double shares = static_cast<double>(share(npu, span.begin)) * 1e-6 *
                            random_.compute_shares[npu].millionths * 1e-6;
      const double takes = static_cast<double>(program(npu)[i].amount) / shares;
      const auto took = static_cast<double>((span.end - span.begin).ps);
      expect(took >= takes - 1e-3 && took <= takes + 1 + 1e-3, npu, i, "the time it computes");
      free = span.end;
      for (std::size_t later = k + 1; later < computed.size(); ++later)
        expect(!should_come_before(npu, computed[later], i), npu, i, "an earlier one was ready");
    }
  }

  /// Whether `early`, which was computed later than `late`, could have been computed instead.
  [[nodiscard]] bool should_come_before(std::uint32_t npu, std::uint32_t early,
                                        std::uint32_t late) const {
    if (program(npu).turn(early) > program(npu).turn(late)) return false;
    const Time begin = spans_[npu][late].begin;
    if (spans_[npu][early].reached != begin) return spans_[npu][early].reached < begin;
    return !hangs_on_instant(npu, early, begin); // or it may have come after the other
  }

  [[nodiscard]] std::vector<Communication> communications() const {
    std::map<Key, Communication> found;
    for (std::uint32_t npu = 0; npu < spans_.size(); ++npu)
      for (std::uint32_t i = 0; i < program(npu).size(); ++i) {
        const Operation& operation = program(npu)[i];
        if (operation.kind == Operation::Kind::compute) continue;
        const std::uint32_t group = workload_.places[npu].groups[operation.role];
        Communication& one = found[{group, operation.tag}];
        one.key = {group, operation.tag};
        one.parts.resize(workload_.groups[group].size());
        const std::vector<NodeId>& members = workload_.groups[group];
        const auto rank = std::find(members.begin(), members.end(), NodeId{npu});
        one.parts[static_cast<std::size_t>(rank - members.begin())] = {npu, i};
      }
    std::vector<Communication> all;
    for (auto& [key, one] : found) {
      std::vector<Time> reached;
      for (const Part& part : one.parts)
        if (program(part.npu)[part.operation].kind != Operation::Kind::receive)
          reached.push_back(span(part).reached);
      one.begin = random_.one_at_a_time ? std::ranges::min(reached) : std::ranges::max(reached);
      all.push_back(one);
    }
    std::stable_sort(all.begin(), all.end(), [](const Communication& a, const Communication& b) {
      return std::tie(a.begin, a.key) < std::tie(b.begin, b.key);
    });
    return all;
  }
  [[nodiscard]] const OperationSpan& span(const Part& part) const {
    return spans_[part.npu][part.operation];
  }

  [[nodiscard]] const PlacedPlan& plan_of(const Communication& one) const {
    Part speaker = one.parts.front();
    for (const Part& part : one.parts)
      if (program(part.npu)[part.operation].kind == Operation::Kind::send) speaker = part;
    const CommunicationRequest request =
        request_of(workload_, speaker.npu, program(speaker.npu)[speaker.operation]);
    const auto& requests = random_.plans.requests;
    const auto found = std::find(requests.begin(), requests.end(), request);
    return random_.plans.plans[static_cast<std::size_t>(found - requests.begin())];
  }

  [[nodiscard]] bool is_collective(const Part& part) const {
    return program(part.npu)[part.operation].kind == Operation::Kind::collective;
  }

  /// From when on the member sends its part, and takes delivery.
  [[nodiscard]] Time there(const Part& part) const {
    return is_collective(part) ? span(part).reached : random_.start_of(part.npu);
  }

  /// All communication at once, as jobs of one replay that begin when they do here.
  void check_communication() {
    const std::vector<Communication> all = communications();
    Replay replay(random_.topology);
    std::vector<std::size_t> first;
    bool has_delays = false;
    for (const Communication& one : all) {
      first.push_back(replay.size());
      const CommunicationPlan* plan = one.parts.size() > 1 ? plan_of(one).plan.get() : nullptr;
      for (const Part& part : one.parts) {
        const Time begin =
            random_.one_at_a_time && is_collective(part) ? span(part).reached : one.begin;
        expect(span(part).begin == begin, part.npu, part.operation, "it begins");
        if (plan == nullptr || there(part) <= one.begin) continue;
        replay.delay(*plan, NodeId{part.npu}, there(part) - one.begin);
        has_delays = true;
      }
      if (plan == nullptr) continue;
      const Part part = one.parts.front();
      replay.add(*plan, {one.begin, program(part.npu)[part.operation].priority});
    }
    first.push_back(replay.size());
    // What arrives at who is late is reduced when that one is there; in the replay, sooner.
    const bool reductions_take_time =
        random_.model.reduce_rate.bytes_per_second > 0 ||
        std::ranges::any_of(random_.topology.nodes(),
                            [](const Node& node) { return node.reduce_rate.bytes_per_second > 0; });
    if (has_delays && reductions_take_time) return;
    const Report report = replay.run(random_.model, random_.events);
    if (replay.size() > 0) check_use(report, replay.delays());
    for (std::size_t c = 0; c < all.size(); ++c) {
      std::vector<Taken> taken;
      for (std::size_t i = first[c]; i < first[c + 1]; ++i)
        if (replay.from(i).value < random_.topology.node_count()) // else it is a delay
          taken.push_back({replay.from(i), replay.to(i), report.deliveries[i]});
      for (const Part& part : all[c].parts)
        for (Taken& one : taken)
          if (one.to.value == part.npu) one.at = std::max(one.at, there(part));
      for (const Part& part : all[c].parts) {
        Time end = std::max(awaited(NodeId{part.npu}, taken), all[c].begin);
        if (program(part.npu)[part.operation].kind != Operation::Kind::send)
          end = std::max(end, span(part).reached);
        expect(span(part).end == end, part.npu, part.operation, "it is over");
      }
    }
  }

  struct Taken {
    NodeId from, to;
    Time at; ///< delivered, with its receiver there
  };
  /// When the last of these transfers is taken that the NPU waits for.
  [[nodiscard]] Time awaited(NodeId npu, std::span<const Taken> taken) const {
    Time sent, received;
    bool receives = false;
    for (const Taken& one : taken) {
      if (one.from == npu) sent = std::max(sent, one.at);
      if (one.to == npu) received = std::max(received, one.at);
      receives = receives || one.to == npu;
    }
    return random_.one_at_a_time && receives ? received : std::max(sent, received);
  }

  void check_use(const Report& report, std::uint32_t delays) {
    for (std::size_t l = 0; l < report_.links.size(); ++l)
      if (report.links[l].bytes != report_.links[l].bytes ||
          report.links[l].busy != report_.links[l].busy ||
          report.links[l].transfers != report_.links[l].transfers)
        fault_ = fmt::format("the use of link {}", l);
    if (report.link_transfers - delays != report_.link_transfers)
      fault_ = "the number of crossings";
  }

  void check_sums() {
    Time end;
    for (const Time start : random_.starts) end = std::max(end, start);
    for (const std::vector<OperationSpan>& spans : spans_)
      for (const OperationSpan& one : spans) end = std::max(end, one.end);
    if (report_.duration != end) fault_ = "the duration";
    for (std::uint32_t npu = 0; npu < spans_.size(); ++npu) {
      const TimeAccount& account = report_.accounts[npu];
      if (account.total() != end) fault_ = fmt::format("npu{}: accounts don't add up", npu);
      if (account.waiting < random_.start_of(npu)) fault_ = fmt::format("npu{}: its start", npu);
      Time compute;
      for (std::uint32_t i = 0; i < spans_[npu].size(); ++i)
        if (program(npu)[i].kind == Operation::Kind::compute)
          compute += spans_[npu][i].end - spans_[npu][i].begin;
      if (account.compute != compute) fault_ = fmt::format("npu{}: time of computing", npu);
    }
  }

  const RandomWorkload& random_;
  const Workload& workload_;
  const IterationReport& report_;
  std::vector<std::vector<OperationSpan>> spans_; // per NPU and operation
  std::string fault_;
};

} // namespace

IterationOptions RandomWorkload::options(bool fold) const {
  IterationOptions options;
  options.model = model;
  options.events = events;
  options.compute_shares = compute_shares;
  options.starts = starts;
  options.fold = fold;
  options.one_at_a_time = one_at_a_time;
  options.record = npus;
  return options;
}

RandomWorkload random_workload(std::uint64_t seed, bool disturbed) {
  Random random(seed);
  RandomCase network = random_case(random.next(), false);
  const std::uint32_t npus = network.topology.npu_count();
  GrowingWorkload growing(random, npus);
  const std::uint64_t length = 1 + random.below(30);
  for (std::uint32_t i = 0; i < length; ++i)
    if (random.below(2) == 0)
      growing.compute();
    else
      growing.communicate(i);
  RandomWorkload made{
      std::move(network.topology), growing.take(), {}, network.model, {}, {}, {}, false, {}};
  if (random.below(3) == 0) made.model.reduce_rate = Bandwidth{1'000'000'000};
  made.plans.requests = requests_of(made.workload);
  for (const CommunicationRequest& request : made.plans.requests)
    made.plans.plans.push_back(random_plan(random, made.topology, made.workload, request));
  if (disturbed) made.events = random_events(random, made.topology);
  Random turns(seed + 1'000'000'000);
  for (TrainingProgram& program : made.workload.programs)
    if (turns.below(2) == 0) program.set_turns(random_order(turns, program.size()));
  for (std::uint32_t n = 0; n < npus; ++n) {
    made.npus.emplace_back(n);
    made.compute_shares.push_back(disturbed && random.below(4) == 0 ? Share{700'000} : Share{});
  }
  return made;
}

void delay_starts(RandomWorkload& random, std::uint64_t seed) {
  constexpr std::array<std::int64_t, 4> times{0, 1, 1'000'000, 2'500'000};
  Random starts(seed + 2'000'000'000);
  random.starts.resize(random.topology.node_count());
  for (const NodeId npu : random.npus)
    random.starts[npu.value] =
        Time{starts.below(2) == 0 ? pick(starts, times)
                                  : static_cast<std::int64_t>(starts.below(8'000'000))};
}

std::string fault_of(const RandomWorkload& random, const IterationReport& report) {
  return Check(random, report).run();
}

} // namespace tutti::testing
