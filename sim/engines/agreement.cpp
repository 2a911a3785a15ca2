// Everything that both engines say is compared one by one, and what is worst is kept with its name:
// first whatever exceeds what rounding explains, by how much; else the largest difference.
#include "sim/engines/agreement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <set>
#include <string>
#include <utility>

namespace tutti {

namespace {

constexpr double ps_per_second = 1e12;

class Comparison {
public:
  explicit Comparison(const Rounding& rounding) : rounding_(rounding) {}

  /// `name()` says in words what is compared; it is called for what is worst so far.
  template <typename Name> void times(Time one, Time other, const Name& name) {
    take(one, other, rounding_.over(std::max(one, other)), name);
  }
  /// Of a run of this length.
  template <typename Name> void parts(Time one, Time other, Time run, const Name& name) {
    take(one, other, rounding_.over(std::max(one, other)) + Rounding::of_clock(run), name);
  }
  /// A sum of `count` times, or of intervals between as many.
  template <typename Name> void sums(Time one, Time other, std::uint64_t count, const Name& name) {
    const Time each = rounding_.over(std::max(one, other));
    take(one, other, Time{each.ps * static_cast<std::int64_t>(std::max<std::uint64_t>(1, count))},
         name);
  }
  /// Whatever isn't a time has to be the same.
  template <typename Name> void same(bool is_same, const Name& name) {
    if (is_same || is_apart_) return;
    is_apart_ = true;
    worst_ = {Time{}, Time{}, name(), false};
  }

  [[nodiscard]] EngineAgreement result() const {
    EngineAgreement result = worst_;
    if (!result.holds && !rounding_.is_none())
      result.what += "; as not all takes whole picoseconds, some order may hang on rounding";
    return result;
  }

private:
  template <typename Name> void take(Time one, Time other, Time allowed, const Name& name) {
    if (is_apart_) return;
    const Time difference{std::abs(one.ps - other.ps)};
    const auto excess = [](Time off, Time within) {
      return std::max<std::int64_t>(0, off.ps - within.ps);
    };
    const bool is_worse = std::pair(excess(difference, allowed), difference.ps) >
                          std::pair(excess(worst_.largest, worst_.allowed), worst_.largest.ps);
    if (!is_worse && !worst_.what.empty()) return;
    worst_ = {difference, allowed, name(), difference <= allowed};
  }

  const Rounding& rounding_;
  EngineAgreement worst_;
  bool is_apart_ = false; // in more than a time
};

std::string link_text(const Topology& topology, std::size_t link) {
  const Link& of = topology.link(LinkId{static_cast<std::uint32_t>(link)});
  return topology.node(of.from).name + ">" + topology.node(of.to).name;
}

/// `cut_off`: how many crossings may have ended before their time, each of which may be a byte
/// apart.
/// How long a link is busy is read off a clock, which rounds as it stands at `completion`.
void compare_links(const Topology& topology, const std::vector<LinkUse>& one,
                   const std::vector<LinkUse>& other, Time completion, std::size_t cut_off,
                   Comparison& comparison) {
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
      is_whole_ = is_whole_ && Wide{size} * Wide{ps_per_s} % Wide{rate} == 0;
  shortest_ = std::min(shortest_, static_cast<double>(*sizes.begin()) /
                                      static_cast<double>(*rates.rbegin()) * ps_per_second);
}

Time Rounding::of_clock(Time length) {
  return Time{std::llround(1e-9 * static_cast<double>(length.ps))};
}

Time Rounding::over(Time length) const {
  if (is_whole_) return of_clock(length);
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
  Rounding rounding(topology, collective);
  if (options.events.empty())
    rounding.limit_chains(one.link_transfers);
  else // a picosecond late at a full rate is many at a lower one
    rounding.make_changing();
  Comparison comparison(rounding);
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
  Rounding rounding(topology, workload, plans);
  if (!options.events.empty() || !options.compute_shares.empty()) rounding.make_changing();
  if (options.events.empty()) rounding.limit_chains(one.link_transfers + one.operations);
  Comparison comparison(rounding);
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

std::string to_text(const EngineAgreement& agreement) {
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

Report run_both(const Topology& topology, const Collective& collective, const Schedule& schedule,
                const TimeModel& model, const RunOptions& options) {
  RunOptions recorded = options;
  recorded.record_deliveries = true;
  Report report = run_native(topology, collective, schedule, model, recorded);
  report.agreement = agreement_of(topology, collective, options, report,
                                  run_simgrid(topology, collective, schedule, model, recorded));
  if (!options.record_deliveries) report.deliveries.clear();
  report.engine = "native+simgrid";
  return report;
}

} // namespace tutti
