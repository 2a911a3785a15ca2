// A path may cross any node, so a transfer over it asks nothing of what lies between: only of who
// sends, who receives and where sums come about. That makes a schedule wherever there is one, but
// for sums that several want of contributors that can't copy. It is no good one for many chunks:
// planners that spread loads go first.

#include "synth/direct_paths.hpp"

#include "sim/renumbering.hpp"
#include "sim/routing.hpp"
#include "sim/work_limit.hpp"
#include "synth/scheduling/list_scheduling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace tutti {

namespace {

class DirectPaths {
public:
  DirectPaths(const Topology& topology, const Collective& collective, const WorkLimit& limit)
      : topology_(topology), collective_(collective), limit_(limit),
        router_(topology, Routing::shortest, std::max(collective.largest_chunk(), Bytes{1})),
        schedule_(topology.link_count()), reached_(topology.node_count()) {}

  /// Nothing where `why_not` says why.
  [[nodiscard]] std::optional<Schedule> run(std::string& why_not) {
    for (std::uint32_t c = 0; c < collective_.chunks.size(); ++c) {
      if (c % 1024 == 0) limit_.require();
      chunk_ = ChunkId{c};
      const bool sums = collective_.chunks[c].reduces && collective_.sources(chunk_).size() > 1;
      if (sums ? add_sum() : add_copies()) continue;
      why_not = fmt::format("chunk {} needs more than direct paths", c);
      return std::nullopt;
    }
    return std::move(schedule_);
  }

  /// Whether what is sent on has arrived at nodes that store.
  [[nodiscard]] bool is_stored() const { return is_stored_; }

private:
  using Nodes = std::vector<NodeId>;

  [[nodiscard]] const Abilities& can(NodeId node) const { return topology_.node(node).can; }

  /// [node], itself included.
  const std::vector<bool>& reached(NodeId from) {
    std::vector<bool>& known = reached_[from.value];
    if (!known.empty()) return known;
    known.resize(topology_.node_count());
    known[from.value] = true;
    Nodes open{from};
    while (!open.empty()) {
      const NodeId at = open.back();
      open.pop_back();
      for (const LinkId link : topology_.out_links(at)) {
        const NodeId to = topology_.link(link).to;
        if (!known[to.value]) open.push_back(to);
        known[to.value] = true;
      }
    }
    return known;
  }
  [[nodiscard]] bool reaches(NodeId from, NodeId to) { return reached(from)[to.value]; }
  [[nodiscard]] bool reaches_all(NodeId from, std::span<const NodeId> all) {
    return std::ranges::all_of(all, [&](NodeId to) { return reaches(from, to); });
  }

  void send(NodeId from, NodeId to, Op op) {
    schedule_.push({chunk_, schedule_.paths().intern(router_.route({from, to, chunk_.value})), op});
  }
  void send_on(NodeId from, NodeId to) {
    is_stored_ = is_stored_ && can(from).store;
    send(from, to, Op::copy);
  }

  /// In an order that differs from chunk to chunk, so that chunks go to unlike nodes.
  [[nodiscard]] Nodes in_turn(Nodes nodes) const {
    if (!nodes.empty())
      std::rotate(nodes.begin(),
                  nodes.begin() + static_cast<std::ptrdiff_t>(chunk_.value % nodes.size()),
                  nodes.end());
    return nodes;
  }
  template <typename Fits> [[nodiscard]] std::optional<NodeId> first_that(Fits&& fits) const {
    const auto sources = collective_.sources(chunk_), wanted = collective_.destinations(chunk_);
    Nodes others;
    for (std::uint32_t n = 0; n < topology_.node_count(); ++n) others.emplace_back(n);
    for (const Nodes& nodes : {in_turn({sources.begin(), sources.end()}),
                               in_turn({wanted.begin(), wanted.end()}), others})
      for (const NodeId node : nodes)
        if (fits(node)) return node;
    return std::nullopt;
  }

  [[nodiscard]] bool add_copies() {
    const auto sources = collective_.sources(chunk_), wanted = collective_.destinations(chunk_);
    Nodes missing, tokens;
    for (const NodeId to : wanted) {
      if (std::ranges::binary_search(sources, to)) continue;
      const auto giver = std::ranges::find_if(
          sources, [&](NodeId from) { return can(from).copy && reaches(from, to); });
      if (giver == sources.end())
        missing.push_back(to);
      else
        send(*giver, to, Op::copy);
    }
    for (const NodeId source : sources)
      if (!can(source).copy) tokens.push_back(source);
    while (!missing.empty())
      if (!one_token_each(missing, tokens) && !multiply_one(missing, tokens)) return false;
    return true;
  }

  /// Each destination gets the chunk of a source of its own, that doesn't want it.
  [[nodiscard]] bool one_token_each(Nodes& missing, const Nodes& tokens) {
    const auto wanted = collective_.destinations(chunk_);
    std::vector<std::size_t> serves(tokens.size(), SIZE_MAX);
    std::vector<bool> tried;
    const auto match = [&](const auto& self, std::size_t place) -> bool {
      for (std::size_t t = 0; t < tokens.size(); ++t) {
        if (tried[t] || std::ranges::binary_search(wanted, tokens[t]) ||
            !reaches(tokens[t], missing[place]))
          continue;
        tried[t] = true;
        if (serves[t] != SIZE_MAX && !self(self, serves[t])) continue;
        serves[t] = place;
        return true;
      }
      return false;
    };
    for (std::size_t place = 0; place < missing.size(); ++place) {
      tried.assign(tokens.size(), false);
      if (!match(match, place)) return false;
    }
    for (std::size_t t = 0; t < tokens.size(); ++t)
      if (serves[t] != SIZE_MAX) send(tokens[t], missing[serves[t]], Op::copy);
    missing.clear();
    return true;
  }

  /// One token goes to the node that can copy from which it serves most.
  [[nodiscard]] bool multiply_one(Nodes& missing, Nodes& tokens) {
    const auto sources = collective_.sources(chunk_), wanted = collective_.destinations(chunk_);
    std::size_t best = 0;
    NodeId token, place;
    for (const NodeId from : tokens)
      for (std::uint32_t n = 0; n < topology_.node_count(); ++n) {
        const NodeId at{n};
        if (!can(at).copy || !reaches(from, at) || std::ranges::binary_search(sources, at))
          continue;
        if (std::ranges::binary_search(wanted, from) && !reaches(at, from)) continue;
        const auto served = static_cast<std::size_t>(
            std::ranges::count_if(missing, [&](NodeId to) { return reaches(at, to); }));
        if (served <= best) continue;
        best = served;
        token = from;
        place = at;
      }
    if (best == 0) return false;
    send(token, place, Op::copy);
    for (const NodeId to : missing)
      if (to != place && reaches(place, to)) send_on(place, to);
    if (std::ranges::binary_search(wanted, token)) send_on(place, token);
    std::erase_if(missing, [&](NodeId to) { return reaches(place, to); });
    std::erase(tokens, token);
    return true;
  }

  [[nodiscard]] bool forms_sum(NodeId node) {
    return can(node).reduce && std::ranges::all_of(collective_.sources(chunk_), [&](NodeId from) {
             return reaches(from, node);
           });
  }

  [[nodiscard]] bool add_sum() {
    const auto sources = collective_.sources(chunk_), wanted = collective_.destinations(chunk_);
    if (wanted.empty()) return true;
    // One node serves all: itself, or over one that copies for it.
    NodeId copier;
    const std::optional<NodeId> root = first_that([&](NodeId node) {
      if (!forms_sum(node) || !reaches_all(node, wanted)) return false;
      copier = node;
      if (can(node).copy || (wanted.size() == 1)) return true;
      const auto found = first_that(
          [&](NodeId at) { return can(at).copy && reaches(node, at) && reaches_all(at, wanted); });
      if (found) copier = *found;
      return found.has_value();
    });
    if (root) {
      collect(*root);
      if (copier != *root) send_on(*root, copier);
      for (const NodeId to : wanted)
        if (to != copier) send_on(copier, to);
      return true;
    }
    return std::ranges::all_of(sources, [&](NodeId from) { return can(from).copy; }) &&
           add_sums_one_by_one();
  }

  void collect(NodeId root) {
    for (const NodeId from : collective_.sources(chunk_))
      if (from != root) send(from, root, Op::reduce);
  }

  /// Several nodes form the sum, each for some. None of them contributes, as from one that does
  /// all could be served.
  [[nodiscard]] bool add_sums_one_by_one() {
    std::vector<std::pair<NodeId, NodeId>> served_by; // who wants it, root
    Nodes roots;
    for (const NodeId to : collective_.destinations(chunk_)) {
      const std::optional<NodeId> root = first_that([&](NodeId node) {
        return forms_sum(node) && reaches(node, to) &&
               (node == to || can(node).copy || std::ranges::find(roots, node) == roots.end());
      });
      if (!root || std::ranges::binary_search(collective_.sources(chunk_), *root)) return false;
      served_by.emplace_back(to, *root);
      if (std::ranges::find(roots, *root) == roots.end()) roots.push_back(*root);
    }
    for (const NodeId root : roots) collect(root);
    for (const auto& [to, root] : served_by)
      if (std::ranges::find(roots, to) == roots.end()) send_on(root, to);
    return true;
  }

  const Topology& topology_;
  const Collective& collective_;
  const WorkLimit& limit_;
  Router router_;
  Schedule schedule_;
  ChunkId chunk_;
  std::vector<std::vector<bool>> reached_; // [node], once asked for
  bool is_stored_ = true;
};

} // namespace

bool needs_direct_paths(const Topology& topology, const Collective& collective) {
  std::vector<bool> in_use(collective.sets.size()), in_sums(collective.sets.size());
  for (const Chunk& chunk : collective.chunks)
    for (const SetId set : {chunk.sources, chunk.destinations}) {
      in_use[set] = true;
      if (chunk.reduces && collective.sets[chunk.sources].size() > 1) in_sums[set] = true;
    }
  for (SetId set = 0; set < in_use.size(); ++set)
    for (const NodeId node : collective.sets[set]) {
      const Abilities& can = topology.node(node).can;
      if (in_use[set] && (!can.store || !can.copy || (in_sums[set] && !can.reduce))) return true;
    }
  return false;
}

namespace {

Outcome as_numbered(const Topology& topology, const Collective& collective,
                    const SynthesisOptions& options) {
  const WorkLimit limit(options);
  DirectPaths paths(topology, collective, limit);
  std::string why_not;
  std::optional<Schedule> schedule = paths.run(why_not);
  if (!schedule) return unsupported(std::move(why_not));
  Outcome outcome;
  outcome.status = Status::feasible;
  outcome.planned_on = "direct paths";
  outcome.note = "along direct paths, as its own plan lets every NPU store, copy and reduce";
  outcome.schedule = std::move(schedule);
  if (options.model.discipline != Discipline::fifo || !paths.is_stored()) return outcome;
  try {
    Timed timed = list_scheduled(topology, collective, *outcome.schedule, options.model, {}, limit);
    outcome.schedule = std::move(timed.schedule);
    outcome.planned = timed.planned;
  } catch (const LimitReached&) {
    outcome.status = Status::timed_out;
  }
  return outcome;
}

} // namespace

Outcome direct_paths(const Topology& topology, const Collective& collective,
                     const SynthesisOptions& options) {
  return planned_by_structure(as_numbered, topology, collective, options);
}

Outcome or_direct_paths(Outcome found, const Topology& topology, const Collective& collective,
                        const SynthesisOptions& options) {
  if (found.schedule || found.compact || is_cut_short(found.status)) return found;
  Outcome direct = direct_paths(topology, collective, options);
  return direct.schedule ? std::move(direct) : std::move(found);
}

} // namespace tutti
