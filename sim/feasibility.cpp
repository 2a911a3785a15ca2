// When does a schedule exist? A path may cross any node, so a node can send to whatever it reaches,
// and all nodes of a strong component are alike but for their abilities. From the definition that
// verify() checks then follows, chunk by chunk:
//  - Who can copy and holds a chunk brings it to all that it reaches. Who can't holds a token,
//    which is at one place at a time: it ends with one destination, or with a node that can copy.
//  - A sum of several contributions comes about at a node that can reduce and that all contributors
//    reach, and goes on from there as what is copied. Where all contributors can copy, this
//    suffices: they send together to such a node, and whatever sum one of them receives later, it
//    can bring wherever its contribution could go.
//  - Where one can't copy and several want the sum, its contribution is at one place until a node
//    that can copy has it, which reaches all of them.
// Written from the definition alone: planners decide, this checks what they say of infeasibility.

#include "sim/feasibility.hpp"

#include "sim/error.hpp"
#include "sim/graphs/components.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

namespace tutti {

namespace {

using Marks = std::vector<bool>; // [component]

class Feasibility {
public:
  Feasibility(const Topology& topology, const Collective& collective)
      : topology_(topology), collective_(collective),
        components_(strong_components(
            topology.node_count(),
            [&](std::uint32_t n) { return topology.out_links(NodeId{n}).size(); },
            [&](std::uint32_t n, std::size_t i) {
              return std::optional(topology.link(topology.out_links(NodeId{n})[i]).to.value);
            })),
        copies_(components_.count), reduces_(components_.count), reach_(components_.count) {
    for (std::uint32_t n = 0; n < topology.node_count(); ++n) {
      if (topology.node(NodeId{n}).can.copy) copies_[component(NodeId{n})] = true;
      if (topology.node(NodeId{n}).can.reduce) reduces_[component(NodeId{n})] = true;
    }
    for (const std::vector<NodeId>& set : collective.sets) {
      std::vector<std::uint32_t>& of = components_of_.emplace_back();
      for (const NodeId node : set) of.push_back(component(node));
      std::ranges::sort(of);
      of.erase(std::unique(of.begin(), of.end()), of.end());
    }
  }

  [[nodiscard]] std::string why() {
    std::set<std::tuple<SetId, SetId, bool>> done;
    for (std::uint32_t c = 0; c < collective_.chunks.size(); ++c) {
      const Chunk& chunk = collective_.chunks[c];
      const bool sums = chunk.reduces && collective_.sets[chunk.sources].size() > 1;
      if (within_one_component(chunk, sums)) continue;
      if (!done.emplace(chunk.sources, chunk.destinations, sums).second) continue;
      std::string why = sums ? why_no_sum(chunk) : why_no_copy(chunk);
      if (!why.empty()) return fmt::format("chunk {} {}", c, why);
    }
    return {};
  }

private:
  [[nodiscard]] std::uint32_t component(NodeId node) const { return components_.of[node.value]; }
  [[nodiscard]] const std::string& name(NodeId node) const { return topology_.node(node).name; }
  [[nodiscard]] bool can_copy(NodeId node) const { return topology_.node(node).can.copy; }

  /// Where all reach each other, one node that copies (and one that reduces) serves all.
  [[nodiscard]] bool within_one_component(const Chunk& chunk, bool sums) const {
    const std::vector<std::uint32_t>& from = components_of_[chunk.sources];
    if (from.empty() || components_of_[chunk.destinations].empty()) return true;
    return from.size() == 1 && components_of_[chunk.destinations] == from && copies_[from[0]] &&
           (!sums || reduces_[from[0]]);
  }

  /// The components that this one reaches, itself included.
  const Marks& reach(std::uint32_t from) {
    Marks& known = reach_[from];
    if (!known.empty()) return known;
    if (nodes_of_.empty()) {
      nodes_of_.resize(components_.count);
      for (std::uint32_t n = 0; n < topology_.node_count(); ++n)
        nodes_of_[component(NodeId{n})].push_back(NodeId{n});
    }
    known.resize(components_.count);
    known[from] = true;
    std::vector<std::uint32_t> open{from};
    while (!open.empty()) {
      const std::uint32_t at = open.back();
      open.pop_back();
      for (const NodeId node : nodes_of_[at])
        for (const LinkId link : topology_.out_links(node)) {
          const std::uint32_t to = component(topology_.link(link).to);
          if (known[to]) continue;
          known[to] = true;
          open.push_back(to);
        }
    }
    return known;
  }

  [[nodiscard]] bool reaches_all(std::uint32_t from, std::span<const std::uint32_t> all) {
    const Marks& reached = reach(from);
    return std::ranges::all_of(all, [&](std::uint32_t to) { return reached[to]; });
  }

  static void unite(Marks& all, const Marks& more) {
    for (std::size_t k = 0; k < all.size(); ++k)
      if (more[k]) all[k] = true;
  }

  [[nodiscard]] NodeId first_outside(SetId set, const Marks& marks) const {
    for (const NodeId node : collective_.sets[set])
      if (!marks[component(node)]) return node;
    return {};
  }

  [[nodiscard]] std::string why_no_copy(const Chunk& chunk) {
    const std::vector<NodeId>& sources = collective_.sets[chunk.sources];
    Marks supplied(components_.count), reached(components_.count);
    std::set<std::uint32_t> seen; // (component, who can copy), once each
    for (const NodeId source : sources) {
      const std::uint32_t key = 2 * component(source) + (can_copy(source) ? 1 : 0);
      if (!seen.insert(key).second) continue;
      unite(reached, reach(component(source)));
      if (can_copy(source)) unite(supplied, reach(component(source)));
    }
    if (const NodeId missing = first_outside(chunk.destinations, reached); missing.valid())
      return sources.size() == 1
                 ? fmt::format("can't get from {} to {}", name(sources.front()), name(missing))
                 : fmt::format("can't get from any of its {} sources to {}", sources.size(),
                               name(missing));
    std::vector<NodeId> tokens, wanting;
    for (const NodeId source : sources)
      if (!supplied[component(source)]) tokens.push_back(source);
    for (const NodeId destination : collective_.sets[chunk.destinations])
      if (!supplied[component(destination)]) wanting.push_back(destination);
    if (wanting.empty() || tokens_suffice(tokens, wanting)) return {};
    return fmt::format("is held by {} that can't copy ({}{}), too few for {} destinations ({}{})",
                       tokens.size() == 1 ? "one node" : fmt::format("{} nodes", tokens.size()),
                       name(tokens.front()), tokens.size() > 1 ? ", ..." : "", wanting.size(),
                       name(wanting.front()), wanting.size() > 1 ? ", ..." : "");
  }

  /// Whether every token can be given one place, a destination or a component that copies, so that
  /// all destinations are served; also where that would take too long to find out.
  [[nodiscard]] bool tokens_suffice(std::span<const NodeId> tokens,
                                    std::span<const NodeId> wanting) {
    constexpr std::size_t most_places = 12, most_pairs = 1U << 20;
    // The components that copy and that no other one before them serves as well.
    std::vector<std::uint32_t> places;
    std::vector<std::pair<std::size_t, std::uint32_t>> able; // (token, its first such components)
    for (std::size_t t = 0; t < tokens.size(); ++t) {
      const Marks& reached = reach(component(tokens[t]));
      std::vector<std::uint32_t> first;
      // Edges lead to lower numbers: what comes before a component has a higher one.
      for (std::uint32_t k = components_.count; k-- > 0;)
        if (reached[k] && copies_[k] &&
            std::ranges::none_of(first, [&](std::uint32_t before) { return reach(before)[k]; }))
          first.push_back(k);
      for (const std::uint32_t k : first) {
        able.emplace_back(t, k);
        places.push_back(k);
      }
    }
    std::ranges::sort(places);
    places.erase(std::unique(places.begin(), places.end()), places.end());
    if (places.size() > most_places) return true;
    for (std::uint32_t chosen = 0; chosen < 1U << places.size(); ++chosen) {
      std::vector<std::vector<std::size_t>> tokens_for; // [place or destination]
      Marks served(components_.count);
      for (std::size_t p = 0; p < places.size(); ++p) {
        if ((chosen >> p & 1U) == 0) continue;
        unite(served, reach(places[p]));
        std::vector<std::size_t>& those = tokens_for.emplace_back();
        for (const auto& [token, place] : able)
          if (place == places[p]) those.push_back(token);
      }
      std::vector<NodeId> rest;
      for (const NodeId node : wanting)
        if (!served[component(node)]) rest.push_back(node);
      if (tokens_for.size() + rest.size() > tokens.size()) continue;
      if (rest.size() * tokens.size() > most_pairs) return true;
      for (const NodeId node : rest) {
        std::vector<std::size_t>& those = tokens_for.emplace_back();
        for (std::size_t t = 0; t < tokens.size(); ++t)
          if (reach(component(tokens[t]))[component(node)]) those.push_back(t);
      }
      if (all_matched(tokens_for, tokens.size())) return true;
    }
    return false;
  }

  /// Whether each need can have a token of its own, by augmenting paths (Kuhn).
  [[nodiscard]] static bool all_matched(const std::vector<std::vector<std::size_t>>& tokens_for,
                                        std::size_t tokens) {
    std::vector<std::size_t> need_of(tokens, SIZE_MAX);
    std::vector<bool> tried;
    const auto match = [&](const auto& self, std::size_t need) -> bool {
      for (const std::size_t token : tokens_for[need]) {
        if (tried[token]) continue;
        tried[token] = true;
        if (need_of[token] != SIZE_MAX && !self(self, need_of[token])) continue;
        need_of[token] = need;
        return true;
      }
      return false;
    };
    for (std::size_t need = 0; need < tokens_for.size(); ++need) {
      tried.assign(tokens, false);
      if (!match(match, need)) return false;
    }
    return true;
  }

  [[nodiscard]] std::string why_no_sum(const Chunk& chunk) {
    const std::vector<NodeId>& sources = collective_.sets[chunk.sources];
    Marks meeting(components_.count, true);
    for (const std::uint32_t from : components_of_[chunk.sources]) {
      const Marks& reached = reach(from);
      for (std::size_t k = 0; k < meeting.size(); ++k)
        if (!reached[k]) meeting[k] = false;
    }
    Marks summed(components_.count);
    for (std::uint32_t k = components_.count; k-- > 0;)
      if (meeting[k] && reduces_[k] && !summed[k]) unite(summed, reach(k));
    if (const NodeId missing = first_outside(chunk.destinations, summed); missing.valid()) {
      for (const NodeId source : sources)
        if (!reach(component(source))[component(missing)])
          return fmt::format("can't get from {} to {}", name(source), name(missing));
      return fmt::format(
          "is wanted by {}, and no node that can reduce and that all {} contributors "
          "reach ({}, {}{}) reaches it",
          name(missing), sources.size(), name(sources[0]), name(sources[1]),
          sources.size() > 2 ? ", ..." : "");
    }
    const std::vector<NodeId>& destinations = collective_.sets[chunk.destinations];
    if (destinations.size() < 2) return {};
    for (const NodeId source : sources) {
      if (can_copy(source)) continue;
      const Marks reached = reach(component(source));
      bool multiplied = false;
      for (std::uint32_t k = 0; k < components_.count && !multiplied; ++k)
        multiplied = reached[k] && copies_[k] && reaches_all(k, components_of_[chunk.destinations]);
      if (!multiplied)
        return fmt::format(
            "is wanted by {} nodes ({}, ...), and no node that can copy and that the "
            "contributor {} reaches, which can't, reaches all of them",
            destinations.size(), name(destinations.front()), name(source));
    }
    return {};
  }

  const Topology& topology_;
  const Collective& collective_;
  Components components_;
  Marks copies_, reduces_;                                // whether one of its nodes can
  std::vector<std::vector<std::uint32_t>> components_of_; // [set]: ascending
  std::vector<std::vector<NodeId>> nodes_of_;             // [component], once needed
  std::vector<Marks> reach_;                              // [component], once needed
};

} // namespace

std::string infeasibility(const Topology& topology, const Collective& collective) {
  return Feasibility(topology, collective).why();
}

void require_feasible(const Topology& topology, const Collective& collective) {
  if (const std::string proof = infeasibility(topology, collective); !proof.empty())
    throw InputError(fmt::format("{}: {}", topology.name(), proof));
}

} // namespace tutti
