// FIFO where links and nodes go off, routes are replaced, a run is frozen, and transfers may never
// be delivered (network_event.hpp, RunOptions).
#pragma once

#include "sim/engines/engine.hpp"
#include "sim/engines/simgrid/library/fifo.hpp"
#include "sim/engines/stuck.hpp"

#include <cmath>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>

namespace tutti {

template <typename Transfers> class ChangingFifo : public Fifo<Transfers> {
  using Base = Fifo<Transfers>;
  using Base::crossings_, Base::links_, Base::network_, Base::report_, Base::routes_, Base::state_,
      Base::topology_, Base::transfers_, Base::units_, Base::frozen_, Base::following_;
  using typename Base::Crossing, typename Base::LinkState, typename Base::Place;

public:
  using Base::Base;

  /// Events of one instant: the network is as they leave it from now on.
  void apply(std::span<const NetworkEvent> events) {
    for (const NetworkEvent& event : events) state_.apply(event);
    for (const NetworkEvent& event : events) refresh(event);
  }

  /// From now on nothing sets out from nodes that store.
  void freeze() {
    Base::is_frozen_ = true;
    for (std::uint32_t l = 0; l < links_.size(); ++l) {
      if (!Base::stores(topology_.link(LinkId{l}).from)) continue;
      links_[l].queue.take_out([&](const Turn& turn) {
        if (turn.hop > 0) return false;
        frozen_.push_back(turn.transfer);
        Base::vacate(turn.crossing);
        return true;
      });
    }
  }

  /// What enters takes the other path from now on, and what has entered over the first one and has
  /// a link before it that is down enters anew.
  void replace(std::span<const RouteChange> changes) {
    if (changes.empty()) return;
    for (std::uint32_t p = static_cast<std::uint32_t>(routes_.size());
         p < transfers_.paths().size(); ++p)
      routes_.push_back(PathId{p});
    for (const RouteChange& change : changes)
      for (const auto& [path, other] : change.paths) routes_[path.value] = other;
    const std::map<std::uint32_t, std::uint32_t> stand = blocked();
    if (stand.empty()) return;
    for (std::uint32_t c = 0; c < crossings_.size(); ++c) {
      const auto found = stand.find(crossings_[c].transfer);
      if (found != stand.end() && crossings_[c].place != Place::vacant &&
          !crossings_[c].is_taken_back)
        take_back(c, found->second);
    }
    for (const auto& [transfer, hop] : stand) {
      following_.erase(transfer);
      Base::enter(transfer);
    }
  }

  /// Where a transfer that isn't over stands: its rearmost crossing that waits or is under way.
  struct Standing {
    std::uint32_t hop = 0;
    LinkId link;
    Time since;
  };
  [[nodiscard]] std::map<std::uint32_t, Standing> standing() const {
    std::map<std::uint32_t, Standing> standing;
    for (std::uint32_t c = 0; c < crossings_.size(); ++c) {
      const Crossing& crossing = crossings_[c];
      if (crossing.is_taken_back ||
          !(crossing.place == Place::queue || crossing.place == Place::link))
        continue;
      const Standing here{crossing.hop, Base::link_of(c), crossing.since};
      const auto [place, is_new] = standing.try_emplace(crossing.transfer, here);
      if (!is_new && here.hop < place->second.hop) place->second = here;
    }
    return standing;
  }
  [[nodiscard]] std::span<const std::uint32_t> frozen() const { return frozen_; }
  [[nodiscard]] Time down_since(LinkId link) const { return links_[link.value].down_since; }
  /// What waits for links that are down, in words; empty where nothing does.
  [[nodiscard]] std::string blocked_text() const {
    std::string text;
    for (std::uint32_t l = 0; l < links_.size(); ++l) {
      const LinkState& link = links_[l];
      if (!link.is_down || (link.queue.empty() && !link.is_crossed)) continue;
      if (!text.empty()) text += "; ";
      text += down_text(topology_, LinkId{l}, link.down_since);
    }
    return text;
  }

  /// A crossing that will never end counts as far as it came. To be called once, at the end.
  [[nodiscard]] Report& finish() {
    for (std::uint32_t l = 0; l < links_.size(); ++l) {
      LinkState& link = links_[l];
      if (link.is_crossed) {
        const double end = std::max(link.stopped, crossings_[link.crossing].start);
        Base::record(link.crossing, end);
        take_off(LinkId{l}, end);
      }
      report_.links[l].busy = Base::rounded(link.busy);
    }
    return report_;
  }
  [[nodiscard]] Time quiet() const { return Base::quiet_; }

private:
  void refresh(const NetworkEvent& event) {
    switch (event.kind) {
    case NetworkEvent::Kind::npu_down:
      for (const auto links : {topology_.in_links(event.npu), topology_.out_links(event.npu)})
        for (const LinkId link : links) refresh(link, event.at);
      units_[event.npu.value].queue.take_out([&](const Turn& turn) {
        transfers_.lose(turn.transfer);
        return true;
      });
      break;
    case NetworkEvent::Kind::npu_rate:
      for (const LinkId link : topology_.out_links(event.npu)) refresh(link, event.at);
      break;
    default: refresh(event.link, event.at);
    }
  }
  void refresh(LinkId id, Time at) {
    LinkState& link = links_[id.value];
    link.latency = state_.latency(id);
    const bool is_down = !state_.is_up(id);
    if (is_down && !link.is_down) {
      link.down_since = at;
      link.stopped = SimGridNetwork::clock();
      network_.turn_off(id);
    } else if (!is_down && link.is_down) {
      network_.turn_on(id);
      Base::touch(id.value);
    }
    link.is_down = is_down;
    if (!is_down) network_.set_rate(id, state_.bandwidth(id));
  }

  /// By transfer that has entered over another path than it would now: the first link on its way,
  /// counted along its path, that is down.
  [[nodiscard]] std::map<std::uint32_t, std::uint32_t> blocked() const {
    std::map<std::uint32_t, std::uint32_t> rearmost; // of each transfer's crossings
    for (std::uint32_t c = 0; c < crossings_.size(); ++c) {
      const Crossing& crossing = crossings_[c];
      if (crossing.place == Place::vacant || crossing.place == Place::ended ||
          crossing.is_taken_back ||
          crossing.path == routes_[transfers_.path_of(crossing.transfer).value])
        continue;
      const auto [place, is_new] = rearmost.try_emplace(crossing.transfer, c);
      if (!is_new && crossing.hop < crossings_[place->second].hop) place->second = c;
    }
    std::map<std::uint32_t, std::uint32_t> blocked;
    for (const auto& [transfer, c] : rearmost) {
      const auto links = transfers_.paths().links(crossings_[c].path);
      for (std::uint32_t hop = crossings_[c].hop; hop < links.size(); ++hop)
        if (links_[links[hop].value].is_down) {
          blocked.emplace(transfer, hop);
          break;
        }
    }
    return blocked;
  }
  /// What is beyond the link that is down runs to its end for nothing; the rest stops.
  void take_back(std::uint32_t c, std::uint32_t blocked_at) {
    Crossing& crossing = crossings_[c];
    crossing.is_taken_back = crossing.is_tail_in = true;
    const LinkId link = Base::link_of(c);
    if (crossing.place == Place::queue)
      links_[link.value].queue.take_out([&](const Turn& turn) { return turn.crossing == c; });
    if (crossing.place != Place::link || crossing.hop > blocked_at) return;
    Base::record(c, SimGridNetwork::clock());
    take_off(link, SimGridNetwork::clock());
    Base::free(link.value);
  }
  /// What is on the link never gets over it; it was carried until `end`, in seconds.
  void take_off(LinkId id, double end) {
    LinkState& link = links_[id.value];
    const double rest = network_.cancel(id);
    report_.links[id.value].bytes =
        report_.links[id.value].bytes - Bytes{static_cast<std::int64_t>(std::ceil(rest - 1e-6))};
    link.busy += end - crossings_[link.crossing].start;
    link.is_crossed = false;
  }
};

} // namespace tutti
