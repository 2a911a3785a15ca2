// Which transfers a run on a network that changes has left undelivered, and why: read off its links
// and hops when nothing happens any more.
#pragma once

#include "sim/engines/hops.hpp"
#include "sim/engines/link_queue.hpp"
#include "sim/ids.hpp"
#include "sim/report.hpp"
#include "sim/units.hpp"

#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace tutti {

/// Where a transfer waits or stands.
struct WaitingPlace {
  std::uint32_t index = 0; ///< along its path
  LinkId link;
  Time since;
};

/// By transfer: the first link along its path. `links`: states of links, as FifoQueues has them.
template <typename Links>
[[nodiscard]] std::map<std::uint32_t, WaitingPlace> waiting_places(const Links& links,
                                                                   const Hops& hops) {
  std::map<std::uint32_t, WaitingPlace> places;
  const auto note = [&](std::uint32_t transfer, const WaitingPlace& place) {
    const auto [first, is_new] = places.try_emplace(transfer, place);
    if (!is_new && place.index < first->second.index) first->second = place;
  };
  for (std::uint32_t l = 0; l < links.size(); ++l) {
    links[l].queue.for_each([&](const LinkQueue::Entry& entry) {
      const std::uint32_t index = entry.flight == Hop::none ? 0 : hops[entry.flight].index;
      note(entry.transfer, {index, LinkId{l}, Time{entry.since}});
    });
    const auto& crossing = links[l].crossing;
    if (!links[l].transmitting || hops[crossing.hop].is_taken_back) continue;
    const Hop& hop = hops[crossing.hop];
    note(hop.transfer, {hop.index, LinkId{l}, Time{crossing.since}});
  }
  return places;
}

/// All that aren't delivered, ascending. `frozen`: transfers that would have entered.
template <typename Transfers, typename Links>
[[nodiscard]] std::vector<StuckTransfer> stuck_transfers(const Transfers& transfers,
                                                         const Links& links, const Hops& hops,
                                                         std::span<const std::uint32_t> frozen) {
  const auto places = waiting_places(links, hops);
  std::vector<bool> is_frozen(transfers.size());
  for (const std::uint32_t i : frozen) is_frozen[i] = true;

  std::vector<StuckTransfer> stuck;
  for (std::uint32_t i = 0; i < transfers.size(); ++i) {
    if (transfers.is_delivered(i)) continue;
    StuckTransfer transfer{i};
    const std::uint32_t under_way = transfers.first_of_send(i);
    const auto place = places.find(under_way);
    if (transfers.has_reached_its_end(i)) {
      transfer.why =
          transfers.was_lost(i) ? StuckTransfer::Why::lost : StuckTransfer::Why::held_back;
    } else if (is_frozen[under_way]) {
      transfer.why = StuckTransfer::Why::frozen;
    } else if (place != places.end()) {
      transfer = {i, StuckTransfer::Why::link_down, place->second.link, place->second.since};
    }
    if (transfer.why == StuckTransfer::Why::waiting)
      if (const auto awaited = transfers.awaited(i)) {
        transfer.why = StuckTransfer::Why::named;
        transfer.awaited = awaited->transfer;
      }
    stuck.push_back(transfer);
  }
  return stuck;
}

} // namespace tutti
