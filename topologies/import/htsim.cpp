// htsim's fat trees (`.topo`): two or three tiers of switches, from the ToR (tier 0) up.
//
//   Nodes 1024          # hosts: NPUs here
//   Tiers 3
//   Podsize 64          # hosts of a pod
//   Tier 0              # then its settings; of each tier
//   Downlink_speed_Gbps 100   Downlink_Latency_ns 1000   Switch_Latency_ns 0
//   Radix_Down 8   Radix_Up 8   Bundle 1   Oversubscribed 1
//
// How many switches a tier has follows from the speeds, radices down and oversubscription, as in
// htsim: what is above a tier carries what comes from below, divided by the oversubscription. Each
// ToR is linked with every switch of tier 1 in its pod, by `Bundle` (of tier 1) links; switch p of
// every pod's tier 1 with cores p, p + the number of those switches, and so on. A switch's own
// latency is on its links out. Queues decide nothing here.
#include "sim/text.hpp"
#include "topologies/import/list.hpp"
#include "topologies/import/text_lines.hpp"
#include "topologies/parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tutti::topologies {

namespace {

struct Tier {
  Word place;
  std::map<std::string, std::pair<std::int64_t, Word>> settings; ///< by key in lower case
};

class HtsimReader {
public:
  explicit HtsimReader(const ForeignFile& file) : text_(file.content, file.source) {}

  TopologyParts read(Assumptions& assumed) {
    read_settings();
    count_switches();
    add_nodes();
    const std::int64_t per_tor = down(0);
    for (std::int64_t host = 0; host < nodes_; ++host) join(0, host, tor(host / per_tor), 1);
    for (std::int64_t t = 0; t < tors_ * pods_; ++t)
      for (std::int64_t a = 0; a < aggs_; ++a) join(1, tor(t), agg(t / tors_, a), bundle(1));
    for (std::int64_t pod = 0; tiers_ == 3 && pod < pods_; ++pod)
      for (std::int64_t a = 0; a < aggs_; ++a)
        for (std::int64_t c = 0; c < cores_ / aggs_; ++c)
          join(2, agg(pod, a), first_core_ + a + aggs_ * c, bundle(2));
    assumed.add("hosts", "each is an NPU with one link");
    assumed.add("switches", "they forward, and neither copy nor reduce; queues have no limit");
    return std::move(parts_);
  }

private:
  static constexpr std::array known{
      "downlink_speed_gbps", "radix_down", "radix_up",       "bundle",
      "queue_down",          "queue_up",   "oversubscribed", "switch_latency_ns",
      "downlink_latency_ns"};

  void read_settings() {
    Tier* tier = nullptr;
    for (const TextLines::Line& line : text_.lines()) {
      const std::string key = lower_case(line[0].text);
      if (line.size() != 2) throw text_.error(line[0], "expected a name and a number");
      // Products of three of them fit into 64 bits.
      const std::int64_t most = key.ends_with("_ns") ? 1'000'000'000 : 1'000'000;
      const std::int64_t value = text_.integer(line[1], 0, most);
      if (key == "tier") {
        if (value >= tiers_)
          throw text_.error(line[1], fmt::format("tier {} of {} tiers", value, tiers_));
        std::optional<Tier>& at = all_[static_cast<std::size_t>(value)];
        if (at) throw text_.error(line[1], fmt::format("tier {} stands twice", value));
        tier = &at.emplace(Tier{line[0], {}});
      } else if (tier == nullptr) {
        read_head(line, key, value);
      } else if (std::ranges::find(known, key) == known.end()) {
        throw text_.error(line[0], fmt::format("unknown setting \"{}\"", line[0].text));
      } else if (!tier->settings.emplace(key, std::pair(value, line[1])).second) {
        throw text_.error(line[0], fmt::format("\"{}\" stands twice in its tier", line[0].text));
      }
    }
    if (nodes_ == 0 || tiers_ == 0 || pod_size_ == 0)
      throw text_.error("it needs Nodes, Tiers and Podsize before the first tier");
    for (std::int64_t t = 0; t < tiers_; ++t)
      if (!all_[static_cast<std::size_t>(t)]) throw text_.error(fmt::format("no tier {}", t));
  }
  void read_head(const TextLines::Line& line, const std::string& key, std::int64_t value) {
    if (key == "nodes")
      nodes_ = text_.integer(line[1], 2, most_npus);
    else if (key == "tiers")
      tiers_ = text_.integer(line[1], 2, 3);
    else if (key == "podsize" && value > 0)
      pod_size_ = value, pod_word_ = line[1];
    else
      throw text_.error(line[0], fmt::format("expected Nodes, Tiers, Podsize or Tier, found \"{}\"",
                                             line[0].text));
  }

  /// Errors: InputError where a required one is missing, or it is less than `low`.
  [[nodiscard]] std::int64_t setting(std::int64_t tier, const std::string& key,
                                     std::optional<std::int64_t> missing,
                                     std::int64_t low = 1) const {
    const Tier& at = *all_[static_cast<std::size_t>(tier)];
    const auto found = at.settings.find(key);
    if (found != at.settings.end()) {
      if (found->second.first < low)
        throw text_.error(found->second.second, fmt::format("at least {} is needed", low));
      return found->second.first;
    }
    if (!missing) throw text_.error(at.place, fmt::format("tier {} has no {}", tier, key));
    return *missing;
  }
  [[nodiscard]] std::int64_t speed(std::int64_t tier) const {
    return setting(tier, "downlink_speed_gbps", {});
  }
  [[nodiscard]] std::int64_t down(std::int64_t tier) const {
    return setting(tier, "radix_down", {});
  }
  [[nodiscard]] std::int64_t bundle(std::int64_t tier) const { return setting(tier, "bundle", 1); }

  /// `what` divided by `by`, which has to be whole.
  [[nodiscard]] std::int64_t divided(std::int64_t what, std::int64_t by, std::int64_t tier,
                                     const std::string& words) const {
    if (what % by != 0)
      throw text_.error(all_[static_cast<std::size_t>(tier)]->place,
                        fmt::format("{}: {} isn't a multiple of {}", words, what, by));
    return what / by;
  }

  void count_switches() {
    if (nodes_ % pod_size_ != 0)
      throw text_.error(pod_word_, fmt::format("{} nodes aren't pods of {}", nodes_, pod_size_));
    pods_ = nodes_ / pod_size_;
    tors_ = divided(pod_size_, down(0), 0, "hosts of a pod over Radix_Down");
    if (bundle(0) != 1) throw text_.error(all_[0]->place, "a host has one link (Bundle 1)");
    const std::int64_t tor_links = divided(nodes_ * speed(0), speed(1) * oversubscribed(0), 1,
                                           "bandwidth from below over that of an uplink");
    aggs_ = divided(tor_links, pods_ * down(1), 1, "uplinks of tier 0 over pods and Radix_Down");
    const std::int64_t up = divided(tor_links, pods_ * tors_, 0, "uplinks over switches");
    if (up != aggs_ * bundle(1) || up != setting(0, "radix_up", up))
      throw text_.error(all_[0]->place,
                        fmt::format("a ToR's {} uplinks (of Radix_Up {}) don't meet {} switches of "
                                    "tier 1 with {} links each",
                                    up, setting(0, "radix_up", up), aggs_, bundle(1)));
    if (tiers_ == 2) {
      if (pods_ != 1) throw text_.error(pod_word_, "two tiers are one pod");
      return;
    }
    const std::int64_t agg_links = divided(tor_links * speed(1), speed(2) * oversubscribed(1), 2,
                                           "bandwidth from below over that of an uplink");
    cores_ = divided(agg_links, down(2), 2, "uplinks of tier 1 over Radix_Down");
    (void)divided(cores_, aggs_, 2, "cores over switches of a pod's tier 1");
    const std::int64_t agg_up = divided(agg_links, pods_ * aggs_, 1, "uplinks over switches");
    if (agg_up != cores_ / aggs_ * bundle(2) || agg_up != setting(1, "radix_up", agg_up))
      throw text_.error(all_[1]->place,
                        fmt::format("the {} uplinks of a switch (of Radix_Up {}) don't meet {} "
                                    "cores with {} links each",
                                    agg_up, setting(1, "radix_up", agg_up), cores_ / aggs_,
                                    bundle(2)));
  }
  [[nodiscard]] std::int64_t oversubscribed(std::int64_t tier) const {
    return setting(tier, "oversubscribed", 1);
  }

  void add_nodes() {
    const std::int64_t links =
        nodes_ + pods_ * tors_ * aggs_ * bundle(1) + (tiers_ == 3 ? pods_ * cores_ * bundle(2) : 0);
    require_links(2 * links);
    for (std::int64_t n = 0; n < nodes_; ++n)
      parts_.add_node({fmt::format("npu{}", n), NodeKind::npu, {}, {}});
    const auto add = [&](const char* kind, std::int64_t count) {
      const auto first = static_cast<std::int64_t>(parts_.nodes.size());
      for (std::int64_t i = 0; i < count; ++i)
        parts_.add_node({fmt::format("{}{}", kind, i),
                         NodeKind::switching,
                         Abilities{false, false, false},
                         {}});
      return first;
    };
    first_tor_ = add("tor", pods_ * tors_);
    first_agg_ = add("agg", pods_ * aggs_);
    first_core_ = add("core", cores_);
  }
  [[nodiscard]] std::int64_t tor(std::int64_t t) const { return first_tor_ + t; }
  [[nodiscard]] std::int64_t agg(std::int64_t pod, std::int64_t a) const {
    return first_agg_ + pod * aggs_ + a;
  }

  /// Links from below up to a switch of the tier, and down.
  void join(std::int64_t tier, std::int64_t below, std::int64_t above, std::int64_t count) {
    const std::int64_t flight = setting(tier, "downlink_latency_ns", {}, 0) * 1000;
    const auto own = [&](std::int64_t t) { return setting(t, "switch_latency_ns", 0, 0) * 1000; };
    Link up{NodeId{static_cast<std::uint32_t>(below)}, NodeId{static_cast<std::uint32_t>(above)},
            Time{flight + (tier > 0 ? own(tier - 1) : 0)}, Bandwidth{speed(tier) * 125'000'000}};
    Link down = up;
    std::swap(down.from, down.to);
    down.latency = Time{flight + own(tier)};
    for (std::int64_t i = 0; i < count; ++i) {
      parts_.add_link(up);
      parts_.add_link(down);
    }
  }

  TextLines text_;
  TopologyParts parts_;
  std::int64_t nodes_ = 0, tiers_ = 0, pod_size_ = 0;
  Word pod_word_;
  std::array<std::optional<Tier>, 3> all_;
  std::int64_t pods_ = 0, tors_ = 0, aggs_ = 0, cores_ = 0; ///< ToRs, aggs: of a pod
  std::int64_t first_tor_ = 0, first_agg_ = 0, first_core_ = 0;
};

} // namespace

bool is_htsim(std::string_view content) {
  bool has_nodes = false, has_tiers = false;
  for (const std::string_view line : first_lines(content, 3)) {
    const std::string_view text = trimmed(line);
    const std::string key = lower_case(text.substr(0, text.find_first_of(" \t")));
    has_nodes |= key == "nodes" && text.size() > key.size();
    has_tiers |= key == "tiers" && text.size() > key.size();
  }
  // Tutti's own file may have keys of these names.
  return has_nodes && has_tiers && content.substr(0, 4096).find('=') == std::string_view::npos;
}

TopologyParts read_htsim(const ForeignFile& file, Assumptions& assumed) {
  return HtsimReader(file).read(assumed);
}

} // namespace tutti::topologies
