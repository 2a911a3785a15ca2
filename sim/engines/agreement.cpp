// Where two crossings enter a queue less than a picosecond apart, rounding may decide which goes
// first, and what follows may differ by any time. Whether that is all can be told by asking the
// same in finer time: everything that takes time takes so many times as long that nothing has to
// be rounded, or a thousand times as long, so that rounding counts for a thousandth of what it did.
// Rates don't change. (Two sums of thirds of a picosecond may be equal, and differ when each is
// rounded: then only the former tells.) A run of half a minute is too long for that, and where
// rates change no time is whole: there, longer latencies break the tie, a thousand times longer
// than what rounding explains.
#include "sim/engines/agreement.hpp"

#include "sim/error.hpp"
#include "sim/random.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace tutti {

namespace {

constexpr double ps_per_second = 1e12;

std::int64_t longer(std::int64_t amount, std::int64_t times) {
  std::int64_t result = 0;
  if (__builtin_mul_overflow(amount, times, &result)) throw InputError("too long for finer time");
  return result;
}

/// Whether two runs agree under other times.
bool agree_in(const TimeVariation& other, const Topology& topology, const Collective& collective,
              const Schedule& schedule, const TimeModel& model, const RunOptions& options) {
  const Topology network = other.of(topology);
  const Collective work = other.of(collective);
  RunOptions run = options;
  run.record_deliveries = run.record_hops = true;
  std::vector<JobTiming> jobs(options.jobs.begin(), options.jobs.end());
  for (JobTiming& job : jobs) job.start = other.of(job.start);
  const std::vector<Time> starts = other.of(options.starts);
  const std::vector<NetworkEvent> events = other.of(options.events);
  std::vector<RouteChange> changes(options.route_changes.begin(), options.route_changes.end());
  for (RouteChange& change : changes) change.at = other.of(change.at);
  run.jobs = jobs;
  run.starts = starts;
  run.events = events;
  run.route_changes = changes;
  run.begin = other.of(options.begin);
  if (options.freeze) run.freeze = other.of(*options.freeze);
  return agreement_of(network, work, run, run_native(network, work, schedule, model, run),
                      run_simgrid(network, work, schedule, model, run))
      .holds;
}

WorkloadPlans varied(WorkloadPlans plans, const TimeVariation& other) {
  for (CommunicationRequest& request : plans.requests) request.size = other.of(request.size);
  std::map<const CommunicationPlan*, std::shared_ptr<const CommunicationPlan>> made;
  for (PlacedPlan& placed : plans.plans) {
    std::shared_ptr<const CommunicationPlan>& plan = made[placed.plan.get()];
    if (!plan)
      plan = std::make_shared<const CommunicationPlan>(CommunicationPlan{
          other.of(placed.plan->collective), placed.plan->schedule, placed.plan->algorithm,
          placed.plan->library, other.of(placed.plan->launch)});
    placed.plan = plan;
  }
  return plans;
}

TrainingProgram varied(const TrainingProgram& program, const TimeVariation& other) {
  TrainingProgram result;
  std::vector<std::uint32_t> turns;
  for (std::uint32_t i = 0; i < program.size(); ++i) {
    Operation operation = program[i];
    operation.amount = longer(operation.amount, other.times);
    result.add(operation, program.dependencies(i));
    turns.push_back(program.turn(i));
  }
  result.set_turns(std::move(turns));
  return result;
}

bool agree_in(const TimeVariation& other, const Topology& topology, const Workload& workload,
              const WorkloadPlans& plans, const IterationOptions& options) {
  const Topology network = other.of(topology);
  Workload work = workload;
  for (TrainingProgram& program : work.programs) program = varied(program, other);
  const WorkloadPlans placed = varied(plans, other);
  IterationOptions run = options;
  const std::vector<Time> starts = other.of(options.starts);
  const std::vector<NetworkEvent> events = other.of(options.events);
  run.starts = starts;
  run.events = events;
  return agreement_of(network, work, placed, run, run_iteration_native(network, work, placed, run),
                      run_iteration_simgrid(network, work, placed, run))
      .holds;
}

/// The rounding of a run with these options that reported this.
Rounding rounding_within(const Topology& topology, const Collective& collective,
                         const RunOptions& options, const Report& report) {
  Rounding rounding(topology, collective);
  if (options.events.empty())
    rounding.limit_chains(report.link_transfers);
  else // a picosecond late at a full rate is many at a lower one
    rounding.make_changing();
  return rounding;
}

Rounding rounding_within(const Topology& topology, const Workload& workload,
                         const WorkloadPlans& plans, const IterationOptions& options,
                         const IterationReport& report) {
  Rounding rounding(topology, workload, plans);
  if (!options.events.empty() || !options.compute_shares.empty()) rounding.make_changing();
  if (options.events.empty()) rounding.limit_chains(report.link_transfers + report.operations);
  return rounding;
}

std::string link_text(const Topology& topology, std::size_t link) {
  const Link& of = topology.link(LinkId{static_cast<std::uint32_t>(link)});
  return topology.node(of.from).name + ">" + topology.node(of.to).name;
}

/// `cut_off`: how many crossings may have ended before their time, each of which may be a byte
/// apart.
/// How long a link is busy is read off a clock, which rounds as it stands at `completion`.
void compare_links(const Topology& topology, const std::vector<LinkUse>& one,
                   const std::vector<LinkUse>& other, Time completion, std::size_t cut_off,
                   HistoryComparison& comparison) {
  for (std::size_t l = 0; l < one.size(); ++l) {
    comparison.same(one[l].transfers == other[l].transfers, [&] {
      return fmt::format("how many transfers cross {}: {} or {}", link_text(topology, l),
                         one[l].transfers, other[l].transfers);
    });
    comparison.same(std::abs(one[l].bytes.count - other[l].bytes.count) <=
                        static_cast<std::int64_t>(cut_off),
                    [&] {
                      return fmt::format("how much crosses {}: {} or {}", link_text(topology, l),
                                         to_text(one[l].bytes), to_text(other[l].bytes));
                    });
    comparison.parts(one[l].busy, other[l].busy, completion, [&] {
      return fmt::format("for how long {} is busy", link_text(topology, l));
    });
  }
}

} // namespace

Rounding::Rounding(const Topology& topology, const Collective& collective) {
  take_crossings(topology, collective);
}

Rounding::Rounding(const Topology& topology, const Workload& workload, const WorkloadPlans& plans) {
  std::set<const CommunicationPlan*> seen;
  for (const PlacedPlan& placed : plans.plans)
    if (seen.insert(placed.plan.get()).second) take_crossings(topology, placed.plan->collective);
  for (const TrainingProgram& program : workload.programs)
    for (const Operation& operation : program.operations())
      if (operation.kind == Operation::Kind::compute && operation.amount > 0)
        shortest_ = std::min(shortest_, static_cast<double>(operation.amount));
}

void Rounding::take_crossings(const Topology& topology, const Collective& collective) {
  std::set<std::int64_t> sizes, rates; // bytes, bytes/s
  for (const Chunk& chunk : collective.chunks) sizes.insert(chunk.size.count);
  for (std::uint32_t l = 0; l < topology.link_count(); ++l)
    rates.insert(topology.link(LinkId{l}).bandwidth.bytes_per_second);
  for (const SharedGroup& group : topology.groups()) rates.insert(group.bandwidth.bytes_per_second);
  if (sizes.empty() || rates.empty()) return;
  __extension__ typedef __int128 Wide;
  for (const std::int64_t size : sizes)
    for (const std::int64_t rate : rates)
      take_whole_times(
          rate /
          std::gcd(static_cast<std::int64_t>(Wide{size} * Wide{ps_per_s} % Wide{rate}), rate));
  shortest_ = std::min(shortest_, static_cast<double>(*sizes.begin()) /
                                      static_cast<double>(*rates.rbegin()) * ps_per_second);
}

void Rounding::take_whole_times(std::int64_t denominator) {
  constexpr std::int64_t most = 1'000'000;
  if (whole_times_ == 0) return;
  const std::int64_t common = whole_times_ / std::gcd(whole_times_, denominator);
  whole_times_ = common > most || denominator > most / common ? 0 : common * denominator;
}

Time Rounding::of_clock(Time length) {
  return Time{std::llround(1e-9 * static_cast<double>(length.ps))};
}

Time Rounding::over(Time length) const {
  if (is_none()) return of_clock(length);
  const double ps = static_cast<double>(length.ps), clock = 1e-9 * ps;
  const double links = std::min(std::ceil(ps / std::max(shortest_, 1.0)), longest_chain_);
  return Time{std::llround(links + 1 + clock)};
}

Time rounding_of(const EngineRow& engine, const Topology& topology, const Collective& collective,
                 Time bound) {
  return engine.name == "simgrid" ? Rounding(topology, collective).over(bound) : Time{};
}

Time rounding_of(const EngineRow& engine, const Topology& topology, const Workload& workload,
                 const WorkloadPlans& plans, Time bound) {
  return engine.name == "simgrid" ? Rounding(topology, workload, plans).over(bound) : Time{};
}

EngineAgreement agreement_of(const Topology& topology, const Collective& collective,
                             const RunOptions& options, const Report& one, const Report& other) {
  const Rounding rounding = rounding_within(topology, collective, options, one);
  HistoryComparison comparison(rounding);
  comparison.times(one.completion, other.completion, [] { return "the collective time"; });
  if (one.deliveries.size() == other.deliveries.size())
    for (std::size_t i = 0; i < one.deliveries.size(); ++i)
      comparison.times(one.deliveries[i], other.deliveries[i],
                       [i] { return fmt::format("the delivery of transfer {}", i); });
  compare_links(topology, one.links, other.links, one.completion, options.events.size(),
                comparison);
  comparison.times(one.quiet, other.quiet, [] { return "when nothing is under way any more"; });
  const auto same_fate = [](const StuckTransfer& a, const StuckTransfer& b) {
    return a.transfer == b.transfer && a.why == b.why && a.link == b.link && a.awaited == b.awaited;
  };
  comparison.same(std::ranges::equal(one.stuck, other.stuck, same_fate),
                  [] { return "which transfers are stuck, and why"; });
  if (one.hops.empty() || other.hops.empty()) return comparison.result(); // not recorded
  comparison.same(one.hops.size() == other.hops.size(), [] { return "what crosses which link"; });
  if (one.hops.size() != other.hops.size()) return comparison.result();
  const auto by_transfer = [](const std::vector<HopRecord>& hops) {
    std::vector<HopRecord> sorted = hops;
    std::ranges::stable_sort(
        sorted, {}, [](const HopRecord& hop) { return std::pair(hop.transfer, hop.link); });
    return sorted;
  };
  const std::vector<HopRecord> hops = by_transfer(one.hops), others = by_transfer(other.hops);
  for (std::size_t h = 0; h < hops.size(); ++h) {
    const auto name = [&] {
      return fmt::format("when transfer {} crosses {}", hops[h].transfer,
                         link_text(topology, hops[h].link.value));
    };
    comparison.same(hops[h].transfer == others[h].transfer && hops[h].link == others[h].link, name);
    comparison.times(hops[h].start, others[h].start, name);
    comparison.times(hops[h].end, others[h].end, name);
  }
  return comparison.result();
}

EngineAgreement agreement_of(const Topology& topology, const Workload& workload,
                             const WorkloadPlans& plans, const IterationOptions& options,
                             const IterationReport& one, const IterationReport& other) {
  const Rounding rounding = rounding_within(topology, workload, plans, options, one);
  HistoryComparison comparison(rounding);
  comparison.times(one.duration, other.duration, [] { return "the duration"; });
  for (std::size_t npu = 0; npu < one.accounts.size(); ++npu) {
    const TimeAccount &a = one.accounts[npu], &b = other.accounts[npu];
    const std::uint64_t operations = workload.programs[workload.places[npu].program].size();
    const auto compare = [&](Time mine, Time theirs, std::string_view what) {
      comparison.sums(mine, theirs, operations,
                      [&] { return fmt::format("how long npu{} {}", npu, what); });
    };
    compare(a.compute, b.compute, "computes");
    compare(a.bubble, b.bubble, "waits in bubbles");
    compare(a.waiting, b.waiting, "waits");
    for (std::size_t p = 0; p < purpose_count; ++p) {
      compare(a.exposed[p], b.exposed[p], "waits for communication");
      compare(one.communication[npu][p], other.communication[npu][p], "communicates");
    }
  }
  compare_links(topology, one.links, other.links, one.duration, 0, comparison);
  comparison.same(one.spans.size() == other.spans.size() && one.operations == other.operations &&
                      one.communications == other.communications,
                  [] { return "what happens"; });
  for (std::size_t s = 0; s < std::min(one.spans.size(), other.spans.size()); ++s) {
    const OperationSpan &a = one.spans[s], &b = other.spans[s];
    const auto name = [&] {
      return fmt::format("when npu{} does operation {}", a.npu.value, a.operation);
    };
    comparison.same(a.npu == b.npu && a.operation == b.operation, name);
    comparison.times(a.reached, b.reached, name);
    comparison.times(a.begin, b.begin, name);
    comparison.times(a.end, b.end, name);
  }
  return comparison.result();
}

Time TimeVariation::of(Time time) const { return Time{longer(time.ps, times)}; }
Bytes TimeVariation::of(Bytes size) const { return Bytes{longer(size.count, times)}; }

Topology TimeVariation::of(const Topology& topology) const {
  Random random(seed);
  TopologyParts parts = topology.parts();
  for (Link& link : parts.links) {
    link.latency = of(link.latency);
    if (most_longer > Time{})
      link.latency.ps +=
          static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(most_longer.ps)));
  }
  return Topology(std::move(parts));
}

Collective TimeVariation::of(Collective collective) const {
  Random random(seed + 1);
  for (Chunk& chunk : collective.chunks) {
    chunk.size = of(chunk.size);
    if (most_longer > Time{}) // waits that no latency is part of
      chunk.size.count += static_cast<std::int64_t>(
          random.below(2 + static_cast<std::uint64_t>(chunk.size.count) / 1000));
  }
  for (CollectivePart& part : collective.parts) part.size = of(part.size);
  return collective;
}

std::vector<Time> TimeVariation::of(std::span<const Time> all) const {
  std::vector<Time> result;
  for (const Time time : all) result.push_back(of(time));
  return result;
}

std::vector<NetworkEvent> TimeVariation::of(std::span<const NetworkEvent> events) const {
  std::vector<NetworkEvent> result(events.begin(), events.end());
  for (NetworkEvent& event : result) {
    event.at = of(event.at);
    event.latency = of(event.latency);
  }
  return result;
}

EngineAgreement judged_agreement(EngineAgreement agreement, const Rounding& rounding, Time length,
                                 const std::function<bool(const TimeVariation&)>& agree) {
  if (agreement.holds || rounding.is_none()) return agreement;
  const auto ask = [&](const TimeVariation& other) {
    try {
      agreement.holds = agreement.depends_on_rounding = agree(other);
      return true;
    } catch (const InputError&) { // too long for SimGrid's clock, or for 64 bits
      return false;
    }
  };
  bool is_final = false;
  for (const std::int64_t times :
       {rounding.whole_times(), INT64_C(1'000), INT64_C(100), INT64_C(10)})
    if (times > 1 && !agreement.holds) {
      const bool asked = ask({.times = times});
      is_final |= asked && times == rounding.whole_times() && rounding.is_whole();
    }
  constexpr std::int64_t beyond_rounding = 1000;
  const Time most{longer(rounding.over(length).ps, beyond_rounding)};
  for (std::uint64_t seed = 1; seed <= 3 && !agreement.holds && !is_final; ++seed)
    (void)ask({.most_longer = most, .seed = seed});
  return agreement;
}

EngineAgreement judged_agreement(const Topology& topology, const Collective& collective,
                                 const Schedule& schedule, const TimeModel& model,
                                 const RunOptions& options, const Report& one,
                                 const Report& other) {
  return judged_agreement(agreement_of(topology, collective, options, one, other),
                          rounding_within(topology, collective, options, one),
                          std::max(one.completion, one.quiet), [&](const TimeVariation& variation) {
                            return agree_in(variation, topology, collective, schedule, model,
                                            options);
                          });
}

EngineAgreement judged_agreement(const Topology& topology, const Workload& workload,
                                 const WorkloadPlans& plans, const IterationOptions& options,
                                 const IterationReport& one, const IterationReport& other) {
  return judged_agreement(agreement_of(topology, workload, plans, options, one, other),
                          rounding_within(topology, workload, plans, options, one), one.duration,
                          [&](const TimeVariation& variation) {
                            return agree_in(variation, topology, workload, plans, options);
                          });
}

std::string to_text(const EngineAgreement& agreement) {
  if (agreement.depends_on_rounding)
    return fmt::format(
        "native and simgrid say the same, but that an order depends on less than a picosecond: "
        "where "
        "none does (in finer time, or on a network close by) they agree, here they differ in {}{}",
        agreement.what,
        agreement.largest > agreement.allowed ? fmt::format(" by {}", to_text(agreement.largest))
                                              : "");
  if (!agreement.holds && agreement.largest <= agreement.allowed)
    return fmt::format("native and simgrid differ in {}", agreement.what);
  if (agreement.largest == Time{}) return "native and simgrid agree to the picosecond";
  return fmt::format("native and simgrid {}: {} apart at most, in {} ({} allowed for rounding)",
                     agreement.holds ? "agree" : "differ", to_text(agreement.largest),
                     agreement.what, to_text(agreement.allowed));
}

std::string disagreement(const EngineAgreement& agreement) {
  return agreement.holds ? "" : to_text(agreement);
}

std::string remark(const EngineAgreement& agreement) {
  return agreement.depends_on_rounding ? to_text(agreement) : "";
}

Report run_both(const Topology& topology, const Collective& collective, const Schedule& schedule,
                const TimeModel& model, const RunOptions& options) {
  RunOptions recorded = options;
  recorded.record_deliveries = true;
  Report report = run_native(topology, collective, schedule, model, recorded);
  report.agreement = judged_agreement(topology, collective, schedule, model, options, report,
                                      run_simgrid(topology, collective, schedule, model, recorded));
  if (!options.record_deliveries) report.deliveries.clear();
  report.engine = "native+simgrid";
  return report;
}

} // namespace tutti
