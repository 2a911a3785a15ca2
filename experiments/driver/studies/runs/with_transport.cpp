// Under a transport a schedule of no library is tried by every protocol. The launch of a call comes
// before anything is sent: whoever takes part starts later.
#include "experiments/driver/studies/runs/with_transport.hpp"

#include "sim/error.hpp"

#include <fmt/format.h>

namespace tutti {

void require_transport(const Case& c) {
  if (!c.transport) return;
  if (c.options.model.link_busy != LinkBusy::serialization)
    throw InputError(fmt::format("transport {}: links are busy for serialization only, not for {}",
                                 c.transport->name, to_text(c.options.model.link_busy)));
  if (c.noise.is_drawn())
    throw InputError(fmt::format("transport {}: skews and jitter are drawn on ideal links only",
                                 c.transport->name));
}

namespace {

std::vector<LibraryChoice> choices_for(const Topology& topology, const Schedule& schedule,
                                       const std::optional<LibraryChoice>& library,
                                       const Transport& transport) {
  if (library) return {*library};
  std::vector<LibraryChoice> choices;
  for (const std::string& protocol : usable_protocols(topology, schedule, transport))
    choices.push_back({"", protocol, 0, false});
  if (choices.empty()) choices.push_back({"", "simple", 0, false}); // it then says what is unknown
  return choices;
}

} // namespace

SlowedNetwork slowed_network(const Topology& topology, const Collective& collective,
                             const Schedule& schedule, const std::optional<LibraryChoice>& library,
                             const Transport& transport, const TimeModel& model) {
  std::optional<SlowedNetwork> best;
  Time least;
  for (const LibraryChoice& choice : choices_for(topology, schedule, library, transport)) {
    Topology network = slowed(topology, collective, schedule, choice, transport);
    const Time time = run_native(network, collective, schedule, model, {}).completion;
    if (best && time >= least) continue;
    least = time;
    best = SlowedNetwork{std::move(network), transport.launch_of(topology.parts().npu_model),
                         fmt::format("{}, {}", transport.name, choice.protocol)};
  }
  return std::move(*best);
}

std::vector<ReplayInput> with_transport(const Case& c, const Attempt& made,
                                        std::span<const Time> starts) {
  const Schedule* schedule = made.outcome.schedule ? &*made.outcome.schedule : nullptr;
  if (!c.transport) return {{c.topology, schedule, {starts.begin(), starts.end()}}};
  const Time launch = c.transport->launch_of(c.topology->parts().npu_model);
  std::vector<ReplayInput> all;
  for (const LibraryChoice& choice :
       choices_for(*c.topology, *schedule, made.outcome.library, *c.transport)) {
    ReplayInput& one = all.emplace_back();
    one.by = std::make_shared<const Transported>(
        transported(*c.topology, made.collective, *schedule, choice, *c.transport));
    one.topology = &one.by->topology;
    one.schedule = &one.by->schedule;
    one.starts.assign(c.topology->node_count(), Time{});
    for (std::uint32_t npu = 0; npu < c.topology->npu_count(); ++npu)
      one.starts[npu] = launch + (starts.empty() ? Time{} : starts[npu]);
    one.transport = fmt::format("{}, {}", c.transport->name, choice.protocol);
  }
  return all;
}

std::vector<LinkUse> without_lanes(const Transported& by, std::span<const LinkUse> lanes,
                                   std::size_t links) {
  std::vector<LinkUse> uses(links);
  for (std::uint32_t lane = 0; lane < lanes.size(); ++lane) {
    LinkUse& use = uses[by.original[lane].value];
    use.bytes.count += lanes[lane].bytes.count;
    use.transfers += lanes[lane].transfers;
  }
  for (std::size_t l = 0; l < links; ++l) uses[l].busy = serialization(uses[l].bytes, by.wires[l]);
  return uses;
}

} // namespace tutti
