// TACCL's routing as the integer program that it is (Shah et al. 2023, appendix B.1, eq. 1 to 14),
// where that is small.
//
// Why: the paper's routing is an integer program, and where HiGHS or Cbc can solve it, its optimum
// is known and the search's answer is held against it. Variables are those of Table 3: whether a
// chunk of an orbit is sent over a link, when it starts from an NPU, which switched connections are
// in use, and the time. Times are in units of that of the routes to start from; all switched
// connections together weigh as much as a hundredth of it.
//
// Eq. 15 (a chunk for another machine leaves its own) follows from the others here: an NPU sends
// only what it holds or gets.
#include "synth/taccl/routing.hpp"

#include "synth/solvers/integer_program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <map>
#include <utility>

namespace tutti {

namespace {

/// Programs with more of them (chunk of an orbit, usable link) are left alone.
constexpr std::size_t most_routing_sends = 64;

constexpr double connections_weigh = 0.01; ///< all of them
constexpr std::int64_t most_nodes = 500;

class RoutingProgram {
public:
  RoutingProgram(const RoutingProblem& problem, const RoutingSymmetry& symmetry,
                 UsableLinks& usable, const Routes& routes)
      : problem_(problem), logical_(*problem.logical), topology_(logical_.topology),
        collective_(*problem.collective), symmetry_(symmetry), costs_(problem), routes_(routes),
        unit_(static_cast<double>(routes.time.ps)) {
    for (const ChunkId chunk : symmetry.chosen) usable_.push_back(usable.of(chunk));
  }

  [[nodiscard]] std::size_t sends() const {
    std::size_t count = 0;
    for (const auto& links : usable_)
      count += static_cast<std::size_t>(std::ranges::count(links, true));
    return count;
  }

  void improve(Routes& routes, const WorkLimit& limit) {
    time_ = add(1, 0, 1);
    for (std::uint32_t k = 0; k < symmetry_.chosen.size(); ++k) add_tree(k);
    add_parts();
    add_connections();
    IntegerSettings settings;
    settings.most_nodes = most_nodes;
    settings.start = start_;
    const IntegerSolution solution = solve_integer(program_, limit, settings);
    if (!solution.columns.empty()) {
      Routes better = evaluated(problem_, trees(solution.columns));
      if (all_served(better) && objective(better) < objective(routes)) {
        better.at_least = routes.at_least;
        better.method = routes.method;
        routes = std::move(better);
      }
    }
    const bool is_proven = solution.status == SolverStatus::optimal;
    if (is_proven && connection_weight_ == 0) {
      routes.at_least = routes.time; // to the solver's tolerance, a millionth
    } else if (std::isfinite(solution.at_least)) {
      const double weighed = connection_weight_ > 0 ? connections_weigh : 0;
      const double proven = (solution.at_least - weighed - 1e-6) * unit_;
      routes.at_least =
          std::clamp(Time{static_cast<std::int64_t>(proven)}, routes.at_least, routes.time);
    }
    routes.method += fmt::format(", {}{}", integer_solver_name(), is_proven ? "" : " (cut short)");
  }

private:
  std::uint32_t add(double cost, double low, double high, bool integer = false, double start = -1) {
    const std::uint32_t column = program_.add_column(cost, low, high, integer);
    start_.push_back(start < 0 ? high : start);
    return column;
  }
  void require(double low, double high, const std::vector<Term>& terms) {
    program_.add_row(low, high, terms);
  }

  [[nodiscard]] double objective(const Routes& routes) const {
    return static_cast<double>(routes.time.ps) / unit_ -
           connection_weight_ * static_cast<double>(preference(routes));
  }
  /// Where a link takes less of the time than the solver's tolerance, it may let two NPUs have a
  /// chunk from each other, and from nobody else.
  [[nodiscard]] bool all_served(const Routes& routes) const {
    for (const ChunkId chunk : symmetry_.chosen) {
      std::vector<bool> has(topology_.npu_count());
      for (const NodeId source : collective_.sources(chunk)) has[source.value] = true;
      for (const LinkId link : routes.trees[chunk.value]) has[topology_.link(link).to.value] = true;
      for (const NodeId npu : collective_.destinations(chunk))
        if (!has[npu.value]) return false;
    }
    return true;
  }
  [[nodiscard]] std::int64_t preference(const Routes& routes) const {
    std::vector<bool> is_used(topology_.link_count());
    for (const auto& tree : routes.trees)
      for (const LinkId link : tree) is_used[link.value] = true;
    std::int64_t preference = 0;
    for (std::uint32_t l = 0; l < is_used.size(); ++l)
      if (is_used[l]) preference += logical_.connections[l].preference();
    return preference;
  }
  /// Eq. 2 to 5 of a chunk, and that it comes to an NPU once.
  void add_tree(std::uint32_t k) {
    const ChunkId chunk = symmetry_.chosen[k];
    const auto sources = collective_.sources(chunk);
    const Bytes size = costs_.size(chunk);
    std::map<LinkId, std::uint32_t>& sent = sent_.emplace_back();
    std::vector<double> at(topology_.npu_count());
    std::vector<bool> has(topology_.link_count());
    for (const LinkId link : routes_.trees[chunk.value]) {
      has[link.value] = true;
      at[topology_.link(link).to.value] = at[topology_.link(link).from.value] +
                                          static_cast<double>(costs_.transfer(link, size)) / unit_;
    }
    std::vector<std::uint32_t> starts;
    for (std::uint32_t npu = 0; npu < topology_.npu_count(); ++npu)
      starts.push_back(add(0, 0, is_in(sources, NodeId{npu}) ? 0 : 1, false, at[npu]));
    for (std::uint32_t l = 0; l < topology_.link_count(); ++l)
      if (usable_[k][l] && !is_in(sources, topology_.link(LinkId{l}).to))
        sent[LinkId{l}] = add(0, 0, 1, true, has[l] ? 1 : 0);
    for (std::uint32_t npu = 0; npu < topology_.npu_count(); ++npu) {
      if (is_in(sources, NodeId{npu})) continue;
      std::vector<Term> arriving;
      for (const LinkId link : topology_.in_links(NodeId{npu}))
        if (const auto found = sent.find(link); found != sent.end())
          arriving.push_back({found->second, 1});
      const bool is_wanted = is_in(collective_.destinations(chunk), NodeId{npu});
      if (!arriving.empty()) require(is_wanted ? 1 : 0, 1, arriving);
      if (is_wanted) require(0, unlimited, std::array{Term{time_, 1}, Term{starts[npu], -1}});
      for (const LinkId link : topology_.out_links(NodeId{npu})) {
        const auto found = sent.find(link);
        if (found == sent.end()) continue;
        std::vector<Term> holds = arriving;
        holds.push_back({found->second, -1});
        require(0, unlimited, holds);
      }
    }
    for (const auto& [link, column] : sent) {
      const double takes = static_cast<double>(costs_.transfer(link, size)) / unit_;
      const Link& on = topology_.link(link);
      // start[to] >= start[from] + takes where it is sent; times are at most 1.
      require(-1, unlimited,
              std::array{Term{starts[on.to.value], 1}, Term{starts[on.from.value], -1},
                         Term{column, -takes - 1}});
    }
  }
  void require(double low, double high, std::span<const Term> terms) {
    program_.add_row(low, high, terms);
  }

  /// Eq. 6 to 8.
  void add_parts() {
    std::vector<std::map<std::uint32_t, double>> loads(logical_.parts.size());
    for (std::uint32_t k = 0; k < sent_.size(); ++k)
      for (const auto& [link, column] : sent_[k])
        for (const auto& images : symmetry_.links)
          for (const std::uint32_t part : logical_.parts_of[images[link.value].value])
            loads[part][column] +=
                static_cast<double>(costs_.busy(part, costs_.size(symmetry_.chosen[k]))) / unit_;
    for (const auto& load : loads) {
      if (load.empty()) continue;
      std::vector<Term> terms{{time_, 1}};
      for (const auto& [column, busy] : load) terms.push_back({column, -busy});
      require(0, unlimited, terms);
    }
  }

  /// Eq. 9 to 11.
  void add_connections() {
    std::map<std::uint32_t, std::vector<std::uint32_t>> users; // least link of an orbit -> columns
    std::map<std::uint32_t, std::size_t> sizes;
    for (const auto& sent : sent_)
      for (const auto& [link, column] : sent) {
        if (logical_.connections[link.value].preference() == 0) continue;
        std::vector<LinkId> orbit;
        for (const auto& images : symmetry_.links) orbit.push_back(images[link.value]);
        std::ranges::sort(orbit);
        orbit.erase(std::unique(orbit.begin(), orbit.end()), orbit.end());
        users[orbit.front().value].push_back(column);
        sizes[orbit.front().value] = orbit.size();
      }
    std::size_t links = 0;
    for (const auto& [link, size] : sizes) links += size;
    if (links == 0) return;
    connection_weight_ = connections_weigh / static_cast<double>(links);
    for (const auto& [link, columns] : users) {
      const double cost = -logical_.connections[link].preference() * connection_weight_ *
                          static_cast<double>(sizes.at(link));
      const bool is_used =
          std::ranges::any_of(columns, [&](auto column) { return start_[column] > 0; });
      const std::uint32_t used = add(cost, 0, 1, true, is_used ? 1 : 0);
      std::vector<Term> none{{used, -1}};
      for (const std::uint32_t column : columns) {
        require(0, unlimited, std::array{Term{used, 1}, Term{column, -1}});
        none.push_back({column, 1});
      }
      require(0, unlimited, none);
    }
  }

  [[nodiscard]] std::vector<std::vector<LinkId>> trees(const std::vector<double>& columns) const {
    std::vector<std::vector<LinkId>> all(collective_.chunks.size());
    for (std::uint32_t k = 0; k < sent_.size(); ++k) {
      std::vector<std::vector<LinkId>> out(topology_.npu_count());
      for (const auto& [link, column] : sent_[k])
        if (columns[column] > 0.5) out[topology_.link(link).from.value].push_back(link);
      const auto sources = collective_.sources(symmetry_.chosen[k]);
      std::vector<NodeId> nodes(sources.begin(), sources.end());
      for (std::size_t i = 0; i < nodes.size(); ++i)
        for (const LinkId link : out[nodes[i].value]) nodes.push_back(topology_.link(link).to);
      // What serves no destination costs the program nothing, and isn't sent.
      std::vector<bool> serves(topology_.npu_count());
      for (const NodeId npu : collective_.destinations(symmetry_.chosen[k]))
        serves[npu.value] = true;
      for (std::size_t i = nodes.size(); i-- > 0;)
        for (const LinkId link : out[nodes[i].value])
          if (serves[topology_.link(link).to.value]) serves[nodes[i].value] = true;
      for (const NodeId npu : nodes)
        for (const LinkId link : out[npu.value])
          for (std::size_t e = 0;
               serves[topology_.link(link).to.value] && e < symmetry_.links.size(); ++e)
            all[symmetry_.images[k][e].value].push_back(symmetry_.links[e][link.value]);
    }
    return all;
  }

  [[nodiscard]] static bool is_in(std::span<const NodeId> nodes, NodeId node) {
    return std::ranges::binary_search(nodes, node);
  }

  const RoutingProblem& problem_;
  const LogicalTopology& logical_;
  const Topology& topology_;
  const Collective& collective_;
  const RoutingSymmetry& symmetry_;
  RoutingCosts costs_;
  const Routes& routes_;
  double unit_;
  std::vector<std::vector<bool>> usable_;
  LinearProgram program_;
  std::vector<double> start_;
  std::uint32_t time_ = 0;
  std::vector<std::map<LinkId, std::uint32_t>> sent_; ///< [index into chosen]: columns
  double connection_weight_ = 0; ///< of each switched one, in units of the time
};

} // namespace

void improve_by_program(const RoutingProblem& problem, const RoutingSymmetry& symmetry,
                        UsableLinks& usable, Routes& routes, const WorkLimit& limit) {
  if (routes.time == routes.at_least || routes.time == Time{}) return;
  RoutingProgram program(problem, symmetry, usable, routes);
  if (program.sends() <= most_routing_sends) {
    program.improve(routes, limit);
  }
}

} // namespace tutti
