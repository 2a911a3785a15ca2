// The rules of docs/model.md read literally: everything is asked of all transfers at every event.

#include "tests/sim/exact_fluid.hpp"

#include <boost/multiprecision/cpp_int.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>

namespace tutti::testing {

namespace {

using Exact = boost::multiprecision::cpp_rational;
using Maybe = std::optional<Exact>;

struct TransferNow {
  bool entered = false;
  Maybe started, sent, arrives, delivered; // ps; `arrives` is known once nothing is missing
  Exact left_to_send;                      // bytes
};

class ExactFluid {
public:
  ExactFluid(const Topology& topology, const Collective& collective, const Schedule& schedule,
             const RunOptions& options)
      : topology_(topology), schedule_(schedule), options_(options), now_(schedule.size()) {
    for (std::uint32_t i = 0, block = 0; i < schedule.size(); ++i) {
      block_.push_back(i > 0 && schedule[i].together ? block : block = i);
      now_[i].left_to_send = collective.chunks[schedule[i].chunk.value].size.count;
    }
  }

  std::vector<double> run() {
    while (true) {
      while (settle()) {
      }
      const std::map<std::uint32_t, Exact> rates = filled();
      const Maybe next = next_event(rates);
      if (!next) break;
      for (const auto& [i, rate] : rates) now_[i].left_to_send -= rate * (*next - t_);
      t_ = *next;
    }
    std::vector<double> deliveries;
    for (const TransferNow& now : now_) {
      if (!now.delivered) throw std::logic_error("a transfer was never delivered");
      deliveries.push_back(now.delivered->convert_to<double>());
    }
    return deliveries;
  }

private:
  [[nodiscard]] std::span<const LinkId> path(std::uint32_t i) const {
    return schedule_.paths().links(schedule_.path_of(i));
  }
  [[nodiscard]] NodeId from(std::uint32_t i) const { return topology_.link(path(i).front()).from; }
  [[nodiscard]] NodeId to(std::uint32_t i) const { return topology_.link(path(i).back()).to; }
  [[nodiscard]] bool stores(NodeId node) const { return topology_.node(node).can.store; }
  [[nodiscard]] Exact joins(NodeId node) const {
    return options_.starts.empty() ? Exact(0) : Exact(options_.starts[node.value].ps);
  }
  [[nodiscard]] Exact latency(std::uint32_t i) const {
    Exact sum = 0;
    for (const LinkId link : path(i)) sum += topology_.link(link).latency.ps;
    return sum;
  }
  /// Earlier arrivals of its chunk at its sender.
  [[nodiscard]] bool feeds(std::uint32_t j, std::uint32_t i) const {
    return schedule_[j].chunk == schedule_[i].chunk && to(j) == from(i) && block_[j] < block_[i];
  }
  [[nodiscard]] bool head_is_in(std::uint32_t i) const {
    return now_[i].started && *now_[i].started + latency(i) <= t_;
  }
  [[nodiscard]] bool has_arrived(std::uint32_t i) const {
    return now_[i].arrives && *now_[i].arrives <= t_;
  }

  [[nodiscard]] bool may_enter(std::uint32_t i) const {
    if (joins(from(i)) > t_) return false;
    for (std::uint32_t j = 0; j < now_.size(); ++j) {
      if (j < i && schedule_.path_of(j) == schedule_.path_of(i) && !now_[j].entered) return false;
      if (feeds(j, i) && !(stores(to(j)) ? now_[j].delivered.has_value() : head_is_in(j)))
        return false;
    }
    for (const Dependency& named : schedule_.dependencies(i))
      if (!(named.milestone == Milestone::left ? now_[named.transfer].sent
                                               : now_[named.transfer].delivered))
        return false;
    return true;
  }
  [[nodiscard]] bool connection_is_free(std::uint32_t i) const {
    for (std::uint32_t j = 0; j < now_.size(); ++j)
      if (schedule_.path_of(j) == schedule_.path_of(i) && j != i &&
          ((now_[j].started && !now_[j].sent) || (j < i && !now_[j].started)))
        return false;
    return true;
  }
  /// Whether all that it follows through a node that can't store is in.
  [[nodiscard]] bool tails_are_in(std::uint32_t i) const {
    for (std::uint32_t j = 0; j < now_.size(); ++j)
      if (!stores(from(i)) && feeds(j, i) && !has_arrived(j)) return false;
    return true;
  }
  [[nodiscard]] bool may_count(std::uint32_t i) const {
    if (joins(to(i)) > t_) return false;
    for (std::uint32_t k = 0; k < now_.size(); ++k)
      if (schedule_[k].chunk == schedule_[i].chunk && from(k) == to(i) && block_[k] <= block_[i] &&
          k != i && !now_[k].sent)
        return false;
    return true;
  }

  bool settle() {
    bool more = false;
    for (std::uint32_t i = 0; i < now_.size(); ++i) {
      TransferNow& now = now_[i];
      if (!now.entered && may_enter(i)) more = now.entered = true;
      if (now.entered && !now.started && connection_is_free(i)) {
        now.started = t_;
        more = true;
      }
      if (now.started && !now.sent && now.left_to_send <= 0) {
        now.sent = t_;
        more = true;
      }
      if (now.sent && !now.arrives && tails_are_in(i)) {
        now.arrives = t_ + latency(i);
        more = true;
      }
      if (has_arrived(i) && !now.delivered && may_count(i)) {
        now.delivered = t_;
        more = true;
      }
    }
    return more;
  }

  /// Rates of what is being sent, in bytes a picosecond.
  [[nodiscard]] std::map<std::uint32_t, Exact> filled() const {
    struct Resource {
      Exact free;                              // bytes a picosecond
      std::map<std::uint32_t, int> crossed_by; // how often
    };
    std::vector<Resource> resources;
    for (const Link& link : topology_.links())
      resources.push_back({Exact(link.bandwidth.bytes_per_second) / ps_per_s, {}});
    for (const SharedGroup& group : topology_.groups())
      resources.push_back({Exact(group.bandwidth.bytes_per_second) / ps_per_s, {}});
    std::map<std::uint32_t, Exact> rates;
    std::vector<std::uint32_t> growing;
    for (std::uint32_t i = 0; i < now_.size(); ++i) {
      if (!now_[i].started || now_[i].sent) continue;
      growing.push_back(i);
      for (const LinkId link : path(i)) {
        ++resources[link.value].crossed_by[i];
        for (const std::uint32_t g : topology_.groups_of(link))
          ++resources[topology_.link_count() + g].crossed_by[i];
      }
    }
    Exact level = 0;
    while (!growing.empty()) {
      const auto weight = [&](const Resource& resource) {
        int sum = 0;
        for (const std::uint32_t i : growing)
          if (const auto at = resource.crossed_by.find(i); at != resource.crossed_by.end())
            sum += at->second;
        return sum;
      };
      Maybe step;
      for (const Resource& resource : resources)
        if (const int sum = weight(resource); sum > 0)
          step = step ? std::min<Exact>(*step, resource.free / sum) : resource.free / sum;
      level += *step;
      for (Resource& resource : resources) resource.free -= *step * weight(resource);
      std::erase_if(growing, [&](std::uint32_t i) {
        const bool is_full = std::ranges::any_of(resources, [&](const Resource& resource) {
          return resource.free <= 0 && resource.crossed_by.contains(i);
        });
        if (is_full) rates[i] = level;
        return is_full;
      });
    }
    return rates;
  }

  [[nodiscard]] Maybe next_event(const std::map<std::uint32_t, Exact>& rates) const {
    Maybe next;
    const auto maybe = [&](const Exact& at) {
      if (at > t_ && (!next || at < *next)) next = at;
    };
    for (const auto& [i, rate] : rates) maybe(t_ + now_[i].left_to_send / rate);
    for (std::uint32_t i = 0; i < now_.size(); ++i) {
      if (now_[i].started) maybe(*now_[i].started + latency(i));
      if (now_[i].arrives) maybe(*now_[i].arrives);
      if (!now_[i].delivered)
        for (const NodeId node : {from(i), to(i)}) maybe(joins(node));
    }
    return next;
  }

  const Topology& topology_;
  const Schedule& schedule_;
  const RunOptions& options_;
  std::vector<std::uint32_t> block_; // per transfer: the first of its block
  std::vector<TransferNow> now_;
  Exact t_ = 0;
};

} // namespace

std::vector<double> exact_fluid(const Topology& topology, const Collective& collective,
                                const Schedule& schedule, const RunOptions& options) {
  return ExactFluid(topology, collective, schedule, options).run();
}

} // namespace tutti::testing
