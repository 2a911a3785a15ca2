// Why: SimGrid tells which links each route takes, and nothing of where links meet:
//
//   a -> b: up_a, down_b;  b -> a: up_b, down_a;  a -> c: up_a, down_c ...
//
// Links that follow each other in a route meet in a junction, the first one begins at the host, the
// last one ends at the other. All of that fits together where each route is a walk then, with the
// latencies of its links.
//
// What lies around a link falls into families, in each of which it is known what lies at the same
// end of it, and what at the other. The ends of two families are the same ones or the opposite:
// that follows from what else is joined; where nothing tells, routes enter a link at its first end.
#include "topologies/import/simgrid_junctions.hpp"

#include "sim/graphs/disjoint_sets.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace tutti::topologies {

namespace {

class SimGridJunctionSearch {
public:
  explicit SimGridJunctionSearch(const SimGridPlatform& platform)
      : platform_(platform), hosts_(static_cast<std::uint32_t>(platform.hosts.size())),
        neighbours_(platform.links.size()), families_(platform.links.size()),
        takes_(platform.links.size()), joined_(0) {}

  /// `pairs`: whether "x_UP" and "x_DOWN" lead between the same two junctions.
  std::optional<SimGridJunctions> find(bool pairs) {
    collect_passages();
    if (!divide_neighbours()) return std::nullopt;
    joined_ = DisjointSets(hosts_ + 2 * std::size_t{family_count_});
    join_neighbours();
    if (pairs) join_pairs();
    join_families();
    if (!are_ends_apart() || !are_routes_walks()) return std::nullopt;
    std::vector<std::array<std::uint32_t, 2>> junctions(takes_.size());
    for (std::uint32_t link = 0; link < takes_.size(); ++link)
      if (takes_[link][0] || takes_[link][1])
        junctions[link] = {junction(link, 0), junction(link, 1)};
    return SimGridJunctions{std::move(junctions), std::move(takes_)};
  }

private:
  /// A route enters a link from one thing (a host, or hosts + link) and leaves it towards another.
  struct Passage {
    std::uint32_t link, before, after;
    auto operator<=>(const Passage&) const = default;
  };
  /// A neighbour of a link: a thing, and at which end of which family it lies.
  struct Neighbour {
    std::uint32_t thing, family, end;
  };
  struct Families {
    std::uint32_t first = 0, count = 0;
  };

  [[nodiscard]] std::uint32_t end_of(std::uint32_t family, std::uint32_t end) const {
    return hosts_ + 2 * family + end;
  }

  /// The least thing of it.
  [[nodiscard]] std::uint32_t junction(std::uint32_t link, std::uint32_t end) {
    return joined_.find(end_of(families_[link].first, end));
  }

  void collect_passages() {
    constexpr std::size_t some = std::size_t{1} << 20;
    std::size_t most = some;
    const auto tidy = [&] {
      std::ranges::sort(passages_);
      passages_.erase(std::unique(passages_.begin(), passages_.end()), passages_.end());
      most = 2 * passages_.size() + some;
    };
    for (std::uint32_t from = 0; from < hosts_; ++from)
      for (std::uint32_t to = 0; to < hosts_; ++to) {
        const auto route = platform_.route(from, to);
        for (std::size_t i = 0; i < route.size(); ++i)
          passages_.push_back({route[i], i == 0 ? from : hosts_ + route[i - 1],
                               i + 1 == route.size() ? to : hosts_ + route[i + 1]});
        if (passages_.size() > most) tidy();
      }
    tidy();
  }

  /// What a route passes before and after a link lies at different ends of it.
  bool divide_neighbours() {
    for (std::size_t begin = 0; begin < passages_.size();) {
      std::size_t end = begin;
      while (end < passages_.size() && passages_[end].link == passages_[begin].link) ++end;
      if (!divide(std::span(passages_).subspan(begin, end - begin))) return false;
      begin = end;
    }
    return true;
  }

  /// "Neighbour i is at end 0" and "it is at end 1" are numbers 2i and 2i + 1, and what implies
  /// each other is joined.
  bool divide(std::span<const Passage> passages) {
    std::vector<std::uint32_t> things;
    for (const Passage& passage : passages) {
      things.push_back(passage.before);
      things.push_back(passage.after);
    }
    std::ranges::sort(things);
    things.erase(std::unique(things.begin(), things.end()), things.end());
    const auto index = [&](std::uint32_t thing) {
      return static_cast<std::uint32_t>(std::ranges::lower_bound(things, thing) - things.begin());
    };
    DisjointSets same(2 * things.size());
    for (const Passage& passage : passages) {
      const std::uint32_t before = index(passage.before), after = index(passage.after);
      (void)same.join(2 * before, 2 * after + 1);
      (void)same.join(2 * before + 1, 2 * after);
    }
    Families& families = families_[passages.front().link];
    families.first = family_count_;
    std::map<std::uint32_t, std::pair<std::uint32_t, std::uint32_t>> ends; // [set]: family, end
    for (const Passage& passage : passages) {
      const std::uint32_t set = same.find(2 * index(passage.before)),
                          other = same.find(2 * index(passage.before) + 1);
      if (set == other) return false;
      if (!ends.try_emplace(set, family_count_, 0).second) continue;
      ends.try_emplace(other, family_count_++, 1);
      ++families.count;
    }
    std::vector<Neighbour>& neighbours = neighbours_[passages.front().link];
    for (std::uint32_t i = 0; i < things.size(); ++i) {
      const auto [family, end] = ends.at(same.find(2 * i));
      neighbours.push_back({things[i], family, end});
    }
    return true;
  }

  void join_neighbours() {
    for (std::uint32_t link = 0; link < neighbours_.size(); ++link)
      for (const Neighbour& at : neighbours_[link]) {
        std::uint32_t other = at.thing;
        if (other >= hosts_) {
          const Neighbour& back = *std::ranges::lower_bound(neighbours_[at.thing - hosts_],
                                                            hosts_ + link, {}, &Neighbour::thing);
          other = end_of(back.family, back.end);
        }
        (void)joined_.join(end_of(at.family, at.end), other);
      }
  }

  void join_pairs() {
    std::map<std::string_view, std::uint32_t> by_name;
    for (std::uint32_t link = 0; link < neighbours_.size(); ++link)
      if (!neighbours_[link].empty()) by_name.emplace(platform_.links[link].name, link);
    for (const auto& [name, up] : by_name) {
      if (!name.ends_with("_UP")) continue;
      const auto down = by_name.find(std::string(name.substr(0, name.size() - 2)) + "DOWN");
      if (down == by_name.end()) continue;
      for (const std::uint32_t half : {up, down->second}) // is taken in one direction
        for (std::uint32_t i = 1; i < families_[half].count; ++i) join_family(half, i, false);
      for (const std::uint32_t end : {0U, 1U})
        (void)joined_.join(end_of(families_[up].first, end),
                           end_of(families_[down->second].first, 1 - end));
    }
  }

  /// To the link's first one.
  void join_family(std::uint32_t link, std::uint32_t i, bool turned) {
    const std::uint32_t first = families_[link].first;
    for (const std::uint32_t end : {0U, 1U})
      (void)joined_.join(end_of(first, end), end_of(first + i, turned ? 1 - end : end));
  }

  void join_families() {
    constexpr int most_rounds = 64;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> open, left; // link, number of its family
    for (std::uint32_t link = 0; link < families_.size(); ++link)
      for (std::uint32_t i = 1; i < families_[link].count; ++i) open.emplace_back(link, i);
    for (int round = 0; !open.empty(); ++round) {
      left.clear();
      for (const auto& [link, i] : open) {
        const std::uint32_t first = families_[link].first, next = first + i;
        const auto meet = [&](std::uint32_t end, std::uint32_t other) {
          return joined_.find(end_of(first, end)) == joined_.find(end_of(next, other));
        };
        if (meet(0, 0) || meet(1, 1))
          join_family(link, i, false);
        else if (meet(0, 1) || meet(1, 0))
          join_family(link, i, true);
        else
          left.emplace_back(link, i);
      }
      if (left.size() == open.size() || round == most_rounds) {
        const std::uint32_t guessed = left.empty() ? 0 : left.front().first;
        std::erase_if(left, [&](const auto& family) {
          if (family.first != guessed && round < most_rounds) return false;
          join_family(family.first, family.second, false);
          return true;
        });
      }
      std::swap(open, left);
    }
  }

  bool are_ends_apart() {
    for (std::uint32_t host = 0; host < hosts_; ++host)
      if (joined_.find(host) != host) return false;
    for (std::uint32_t link = 0; link < neighbours_.size(); ++link)
      if (!neighbours_[link].empty() && junction(link, 0) == junction(link, 1)) return false;
    return true;
  }

  /// Also notes which links are taken in which direction.
  bool are_routes_walks() {
    for (std::uint32_t from = 0; from < hosts_; ++from)
      for (std::uint32_t to = 0; to < hosts_; ++to) {
        if (from == to || platform_.route_latency[std::size_t{from} * hosts_ + to] < 0) continue;
        std::uint32_t here = from;
        double latency = 0;
        for (const std::uint32_t link : platform_.route(from, to)) {
          const std::uint32_t end = junction(link, 0) == here ? 0 : 1;
          if (junction(link, end) != here) return false;
          takes_[link][end] = true;
          here = junction(link, 1 - end);
          latency += platform_.links[link].latency;
        }
        const double told = platform_.route_latency[std::size_t{from} * hosts_ + to];
        if (here != to || std::abs(told - latency) > 1e-12 + 1e-9 * told) return false;
      }
    return true;
  }

  const SimGridPlatform& platform_;
  std::uint32_t hosts_;
  std::vector<Passage> passages_;
  std::vector<std::vector<Neighbour>> neighbours_; ///< [link]: ascending
  std::vector<Families> families_;                 ///< [link]
  std::uint32_t family_count_ = 0;
  std::vector<std::array<bool, 2>> takes_;
  DisjointSets joined_; ///< hosts, then two ends of each family
};

} // namespace

std::optional<SimGridJunctions> simgrid_junctions(const SimGridPlatform& platform) {
  for (const bool pairs : {true, false})
    if (auto found = SimGridJunctionSearch(platform).find(pairs)) return found;
  return std::nullopt;
}

} // namespace tutti::topologies
