// Builds the linear program, solves it for the least time, then with that time as a limit for the
// least traffic, and gives each member of an orbit its dual price.
//
// Columns and rows that symmetries exchange are one: the average of a solution's images is a
// solution too (Shapley 2025, Theorem 7), so that
//   - of demands, of roots of a demand, and of sinks of a demand (and root) that symmetries
//     exchange one stands for all,
//   - of its flows, those over links are one that a symmetry exchanges which keeps all of these,
//   - and the load of a resource is the load of all that are exchanged with it, divided by their
//     number.
// Orbits are numbered by their least member, and only that one gets a column or a row; a load is
// the load of an orbit divided by its size. Each demand has a usage column per link orbit and, per
// destination orbit, a flow column under the stabilizer of that destination, which may be as large
// as the usage at most. Paths from the same sources need no usage, and are one flow for all
// destinations, whatever each of them takes.

#include "synth/flows/fluid/program.hpp"

#include "sim/limit_watch.hpp"
#include "synth/flows/fluid/symmetry.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace tutti {

namespace {

struct FlowModel {
  enum class State : std::uint8_t { complete, too_large, stopped };
  static constexpr std::uint32_t none = UINT32_MAX;
  State state = State::complete;
  LinearProgram program; ///< minimizes its column `time`, R of the dissertation
  static constexpr std::uint32_t time = 0;
  double unit_bandwidth = 1;   ///< bytes/s: the largest
  double unit_seconds = 1;     ///< of column `time`; usage is in unit_bandwidth * unit_seconds
  std::vector<double> traffic; ///< [column]: weighted traffic in bytes
  std::vector<std::uint32_t>
      row_of; ///< [resource]: that limits what crosses it; none: nothing does
  std::vector<std::uint32_t> row_members; ///< [row]: resources with this row; 0 for other rows
};

using Nodes = std::span<const std::uint32_t>;

constexpr std::uint32_t none = FlowModel::none;

std::vector<bool> mask(Nodes some, std::uint32_t nodes) {
  std::vector<bool> in(nodes);
  for (const std::uint32_t n : some) in[n] = true;
  return in;
}

/// The most bytes that demands start or end with at one node: what a second is measured by.
double unit_bytes(const FlowProblem& problem) {
  std::vector<double> given(problem.network.node_count()), taken = given;
  for (const FlowDemand& demand : problem.demands) {
    const bool own = demand.kind == FlowKind::paths; // data of its own for each sink
    const auto bytes = static_cast<double>(demand.bytes);
    const auto sinks = static_cast<double>(problem.sinks(demand).size());
    for (const std::uint32_t n : problem.sources(demand)) given[n] += own ? bytes * sinks : bytes;
    for (const std::uint32_t n : problem.sinks(demand)) taken[n] += bytes;
  }
  return std::max({1.0, std::ranges::max(given), std::ranges::max(taken)});
}

/// [least of a class]: how many are in it; 0 for all others.
std::vector<std::uint32_t> sizes(const std::vector<std::uint32_t>& orbit_of) {
  std::vector<std::uint32_t> size(orbit_of.size());
  for (const std::uint32_t least : orbit_of) ++size[least];
  return size;
}

/// Data that spreads from any of the sources that can give it to all sinks. What comes together is
/// this in the reversed network.
struct Spreading {
  const FlowNetwork& network;
  Nodes sources, sinks;
  FlowGroup group;                     ///< keeps all of this
  double bytes = 0;                    ///< with those of its images
  std::optional<std::uint32_t> amount; ///< column: how much of the bytes; without: all
};

/// Who has what to do with the data of a Spreading.
struct Roles {
  std::vector<bool> source, sink;
  std::vector<bool> giver;           ///< sources but those that have to keep their only copy
  std::vector<std::uint32_t> takers; ///< sinks that aren't sources

  explicit Roles(const Spreading& spreading)
      : source(mask(spreading.sources, spreading.network.node_count())),
        sink(mask(spreading.sinks, spreading.network.node_count())), giver(source) {
    for (const std::uint32_t n : spreading.sources)
      if (sink[n] && !spreading.network.copies[n]) giver[n] = false;
    for (const std::uint32_t n : spreading.sinks)
      if (!source[n]) takers.push_back(n);
  }
};

/// [link]: whether it can be of use. Who can give any number of copies needs none.
std::vector<bool> useful_links(const FlowNetwork& network, const Roles& roles) {
  std::vector<bool> useful;
  for (const FlowNetwork::Link& link : network.links)
    useful.push_back(!(roles.giver[link.to] && network.copies[link.to]));
  return useful;
}

/// What moves over each link: one column for each orbit.
struct Flow {
  FlowClasses classes;
  std::vector<std::uint32_t> column; ///< [link]; none: nothing
};

/// What enters the node less what leaves it.
std::vector<Term> balance(const FlowNetwork& network, const Flow& flow, std::uint32_t node) {
  std::vector<Term> terms;
  for (const std::uint32_t l : network.in_links[node])
    if (flow.column[l] != none) terms.push_back({flow.column[l], 1});
  for (const std::uint32_t l : network.out_links[node])
    if (flow.column[l] != none) terms.push_back({flow.column[l], -1});
  return terms;
}

class FlowModelBuilder {
public:
  FlowModelBuilder(const FlowProblem& problem, const FlowProgramOptions& options, LimitWatch& watch)
      : problem_(problem), options_(options), watch_(watch), network_(problem.network),
        reversed_(reversed(problem.network)), loads_(problem.network.resource_count()) {}

  /// Incomplete where there would be too many columns, which is mostly seen before they are made.
  FlowModel model() {
    scale();
    new_column(1); // time
    const FlowGroup all = !options_.merge             ? FlowGroup(problem_)
                          : options_.symmetry.empty() ? FlowGroup(problem_, options_.weights)
                                                      : FlowGroup(problem_, options_.symmetry);
    const FlowClasses classes = all.classes();
    resource_of_ = classes.resources;
    members_ = sizes(classes.resources);
    const std::vector<std::uint32_t> images = sizes(classes.demands);
    // Paths from the same sources are one commodity where no symmetry exchanges any of them.
    std::vector<std::vector<std::uint32_t>> commodities;
    std::map<FlowSet, std::size_t> of_sources;
    for (std::uint32_t d = 0; d < images.size(); ++d) {
      if (images[d] == 0) continue;
      const FlowDemand& demand = problem_.demands[d];
      if (images[d] == 1 && demand.kind == FlowKind::paths) {
        const auto [at, added] = of_sources.emplace(demand.sources, commodities.size());
        if (!added) {
          commodities[at->second].push_back(d);
          continue;
        }
      }
      commodities.push_back({d});
    }
    for (const std::vector<std::uint32_t>& some : commodities)
      if (!(some.size() > 1 ? add_paths(all, some, 1)
                            : add_demand(all, some.front(), images[some.front()])))
        return std::move(model_);
    add_load_rows();
    return std::move(model_);
  }

private:
  void scale() {
    std::int64_t most = 1;
    for (const FlowNetwork::Resource& each : network_.resources)
      most = std::max(most, each.bandwidth);
    unit_bytes_ = unit_bytes(problem_);
    model_.unit_bandwidth = static_cast<double>(most);
    model_.unit_seconds = unit_bytes_ / model_.unit_bandwidth;
  }

  // Whether work goes on is what functions of type bool return.

  bool fits(double more_columns) {
    if (model_.program.column_count() + more_columns > static_cast<double>(options_.most_columns))
      model_.state = FlowModel::State::too_large;
    else if (watch_.reached())
      model_.state = FlowModel::State::stopped;
    return model_.state == FlowModel::State::complete;
  }

  std::uint32_t new_column(double cost) {
    model_.traffic.push_back(0);
    return model_.program.add_column(cost, 0, unlimited);
  }

  bool add_flow(const FlowGroup& group, const std::vector<bool>& useful, Flow& flow) {
    flow.classes = group.classes();
    flow.column.assign(useful.size(), none);
    const auto least = [&](std::uint32_t l) { return flow.classes.links[l] == l && useful[l]; };
    double more = 0;
    for (std::uint32_t l = 0; l < useful.size(); ++l) more += least(l) ? 1 : 0;
    if (!fits(more)) return false;
    for (std::uint32_t l = 0; l < useful.size(); ++l)
      if (useful[l]) flow.column[l] = least(l) ? new_column(0) : flow.column[flow.classes.links[l]];
    return true;
  }

  /// The flow takes bandwidth: so many bytes where a column is 1.
  void charge(const Flow& flow, double bytes) {
    for (std::uint32_t l = 0; l < flow.column.size(); ++l) {
      if (flow.column[l] == none) continue;
      for (const std::uint32_t r : network_.resources_of[l]) {
        const std::uint32_t row = resource_of_[r];
        loads_[row].push_back({flow.column[l], bytes / unit_bytes_ / members_[row]});
      }
      if (!options_.weights.empty()) model_.traffic[flow.column[l]] += bytes * options_.weights[l];
    }
  }

  bool add_demand(const FlowGroup& all, std::uint32_t d, std::uint32_t images) {
    const FlowDemand& demand = problem_.demands[d];
    const Nodes sources = problem_.sources(demand), sinks = problem_.sinks(demand);
    const double bytes = static_cast<double>(demand.bytes) * images;
    const FlowGroup group = all.keeping_demand(d);
    switch (demand.kind) {
    case FlowKind::paths: return add_paths(group, Nodes(&d, 1), images);
    case FlowKind::spread: return add_spreading({network_, sources, sinks, group, bytes, {}});
    case FlowKind::combine: return add_spreading({reversed_, sinks, sources, group, bytes, {}});
    case FlowKind::both: return add_both(sources, sinks, group, bytes);
    }
    return false;
  }

  /// Every taker gets data of its own: LP (3.16). All demands are from the same sources; `group`
  /// keeps each of them.
  bool add_paths(const FlowGroup& group, std::span<const std::uint32_t> demands,
                 std::uint32_t images) {
    std::vector<double> bytes(network_.node_count()); // that a node takes
    for (const std::uint32_t d : demands)
      for (const std::uint32_t n : problem_.sinks(problem_.demands[d]))
        bytes[n] += static_cast<double>(problem_.demands[d].bytes);
    const double unit = std::ranges::max(bytes);
    const std::vector<bool> source =
        mask(problem_.sources(problem_.demands[demands.front()]), network_.node_count());
    std::vector<bool> useful;
    for (const FlowNetwork::Link& link : network_.links) useful.push_back(!source[link.to]);
    Flow flow;
    if (!add_flow(group, useful, flow)) return false;
    for (std::uint32_t n = 0; n < network_.node_count(); ++n)
      if (flow.classes.nodes[n] == n && !source[n])
        model_.program.add_row(bytes[n] / unit, bytes[n] / unit, balance(network_, flow, n));
    charge(flow, unit * images);
    return true;
  }

  /// Usage, and a flow to each taker: LP (4.2) with (3.12).
  bool add_spreading(const Spreading& spreading) {
    const FlowNetwork& network = spreading.network;
    const Roles roles(spreading);
    if (roles.takers.empty()) return fits(0);
    const std::vector<bool> useful = useful_links(network, roles);
    if (!fits(least_columns(spreading, roles, useful))) return false;
    Flow usage;
    if (!add_flow(spreading.group, useful, usage)) return false;
    charge(usage, spreading.bytes);
    add_usage_rows(spreading, roles, usage);
    std::vector<std::vector<Term>> served(network.link_count());
    const std::vector<std::uint32_t> images = sizes(usage.classes.nodes);
    for (const std::uint32_t taker : roles.takers)
      if (usage.classes.nodes[taker] == taker &&
          !add_taker(spreading, roles, usage, taker, images[taker], served))
        return false;
    add_served_rows(network, usage, served);
    return true;
  }

  /// Orbits have at most as many members as the group, where that is known.
  [[nodiscard]] double least_columns(const Spreading& spreading, const Roles& roles,
                                     const std::vector<bool>& useful) const {
    if (spreading.group.order() == 0) return 0;
    const auto links = static_cast<double>(std::ranges::count(useful, true));
    double all = links;
    for (const std::uint32_t taker : roles.takers)
      all += links - static_cast<double>(spreading.network.out_links[taker].size());
    return all / static_cast<double>(spreading.group.order());
  }

  /// Nodes that don't copy send on what they get, (3.12), but for what they have or keep.
  void add_usage_rows(const Spreading& spreading, const Roles& roles, const Flow& usage) {
    const FlowNetwork& network = spreading.network;
    for (std::uint32_t n = 0; n < network.node_count(); ++n) {
      if (usage.classes.nodes[n] != n || network.copies[n]) continue;
      std::vector<Term> terms = balance(network, usage, n);
      if (roles.giver[n]) { // gives away as much as there is, at most
        model_.program.add_row(-unlimited, 0, terms);
        add_amount_row(std::move(terms), 1, spreading.amount, unlimited);
      } else if (roles.sink[n] && !roles.source[n]) {
        add_amount_row(std::move(terms), -1, spreading.amount, 0);
      } else {
        model_.program.add_row(0, 0, terms);
      }
    }
  }

  /// 0 <= terms + sign * amount <= high.
  void add_amount_row(std::vector<Term> terms, double sign, std::optional<std::uint32_t> amount,
                      double high) {
    const double constant = amount ? 0 : sign;
    if (amount) terms.push_back({*amount, sign});
    model_.program.add_row(-constant, high - constant, terms);
  }

  /// What one taker gets, which stands for `images` of them; counts what it and they get over links
  /// into nodes that don't copy: served[first of its orbit].
  bool add_taker(const Spreading& spreading, const Roles& roles, const Flow& usage,
                 std::uint32_t taker, std::uint32_t images,
                 std::vector<std::vector<Term>>& served) {
    const FlowNetwork& network = spreading.network;
    std::vector<bool> useful;
    for (std::uint32_t l = 0; l < network.link_count(); ++l)
      useful.push_back(usage.column[l] != none && network.links[l].from != taker);
    Flow flow;
    if (!add_flow(spreading.group.keeping_node(taker), useful, flow)) return false;
    for (std::uint32_t n = 0; n < network.node_count(); ++n) {
      if (flow.classes.nodes[n] != n || roles.giver[n]) continue;
      if (n == taker)
        add_amount_row(balance(network, flow, n), -1, spreading.amount, 0);
      else
        model_.program.add_row(0, 0, balance(network, flow, n));
    }
    const std::vector<std::uint32_t> links = sizes(usage.classes.links);
    for (std::uint32_t l = 0; l < network.link_count(); ++l) {
      if (flow.column[l] == none) continue;
      if (flow.classes.links[l] == l)
        model_.program.add_row(0, unlimited,
                               std::vector<Term>{{usage.column[l], 1}, {flow.column[l], -1}});
      const std::uint32_t orbit = usage.classes.links[l];
      if (!network.copies[network.links[l].to])
        served[orbit].push_back({flow.column[l], static_cast<double>(images) / links[orbit]});
    }
    return true;
  }

  /// Nothing goes over a link but what serves a taker: else a node that copies could make up for
  /// what is missing in (3.12) with data that it doesn't have. Follows from LP (3.14). It is needed
  /// only before nodes that don't copy, since elsewhere more usage is of no use.
  void add_served_rows(const FlowNetwork& network, const Flow& usage,
                       std::vector<std::vector<Term>>& served) {
    for (std::uint32_t l = 0; l < network.link_count(); ++l) {
      if (usage.classes.links[l] != l || usage.column[l] == none) continue;
      if (network.copies[network.links[l].to]) continue;
      served[l].push_back({usage.column[l], -1});
      model_.program.add_row(0, unlimited, served[l]);
    }
  }

  /// Comes together at a root, any that can reduce, and spreads from there (sec. 4.2).
  bool add_both(Nodes sources, Nodes sinks, const FlowGroup& group, double bytes) {
    const std::vector<std::uint32_t> orbit_of = group.classes().nodes;
    const std::vector<std::uint32_t> images = sizes(orbit_of);
    std::vector<Term> amounts;
    for (std::uint32_t root = 0; root < orbit_of.size(); ++root) {
      if (orbit_of[root] != root || !network_.reduces[root]) continue;
      if (!fits(1)) return false;
      const std::uint32_t amount = new_column(0);
      amounts.push_back({amount, static_cast<double>(images[root])});
      const FlowGroup rooted = group.keeping_node(root);
      const Nodes here(&root, 1);
      const double all = bytes * images[root];
      if (!add_spreading({reversed_, here, sources, rooted, all, amount}) ||
          !add_spreading({network_, here, sinks, rooted, all, amount}))
        return false;
    }
    model_.program.add_row(1, 1, amounts);
    return true;
  }

  /// No resource carries more than it can in the time.
  void add_load_rows() {
    model_.row_of.assign(resource_of_.size(), none);
    for (std::uint32_t r = 0; r < resource_of_.size(); ++r) {
      if (resource_of_[r] == r && !loads_[r].empty()) {
        const auto bandwidth = static_cast<double>(network_.resources[r].bandwidth);
        loads_[r].push_back({FlowModel::time, -bandwidth / model_.unit_bandwidth});
        model_.row_of[r] = model_.program.add_row(-unlimited, 0, loads_[r]);
        model_.row_members.resize(model_.program.row_count());
        model_.row_members.back() = members_[r];
      }
      model_.row_of[r] = model_.row_of[resource_of_[r]];
    }
  }

  const FlowProblem& problem_;
  const FlowProgramOptions& options_;
  LimitWatch& watch_;
  const FlowNetwork& network_;
  FlowNetwork reversed_;
  double unit_bytes_ = 1;
  std::vector<std::uint32_t> resource_of_, members_; ///< [resource]: its class; [class]: its size
  std::vector<std::vector<Term>> loads_;             ///< [class of resources]
  FlowModel model_;
};

// What the second solve may take longer than the first: little, or, where rounding errors made the
// first too short for it, more than these are.
constexpr double slacks[] = {1e-9, 1e-7};

/// The duals of the rows that limit resources, divided among those that share one.
std::vector<double> prices(const FlowProblem& problem, const FlowModel& model,
                           const std::vector<double>& duals) {
  const std::vector<FlowNetwork::Resource>& resources = problem.network.resources;
  std::vector<double> price(resources.size());
  double earned = 0;
  for (std::size_t r = 0; r < price.size(); ++r) {
    const std::uint32_t row = model.row_of[r];
    if (row == FlowModel::none) continue;
    price[r] = std::max(0.0, -duals[row]) / model.row_members[row];
    earned += price[r] * static_cast<double>(resources[r].bandwidth);
  }
  if (earned > 0)
    for (double& each : price) each /= earned;
  return price;
}

/// Minimizes the traffic, in so much time.
LinearProgram traffic_program(const FlowModel& model, double most_time) {
  const double most = std::max(1.0, std::ranges::max(model.traffic));
  LinearProgram program;
  for (std::uint32_t c = 0; c < model.program.column_count(); ++c) {
    double high = unlimited;
    if (c == FlowModel::time) high = most_time;
    program.add_column(model.traffic[c] / most, 0, high);
  }
  for (std::uint32_t r = 0; r < model.program.row_count(); ++r) {
    const LinearProgram::Range range = model.program.row(r);
    program.add_row(range.low, range.high, model.program.terms(r));
  }
  return program;
}

} // namespace

FlowProgramAnswer solve_flow_program(const FlowProblem& problem, const FlowProgramOptions& options,
                                     const WorkLimit& limit) {
  LimitWatch watch(limit);
  const FlowModel model = FlowModelBuilder(problem, options, watch).model();
  FlowProgramAnswer answer;
  answer.too_large = model.state == FlowModel::State::too_large;
  if (model.state != FlowModel::State::complete) return answer;
  answer.rows = model.program.row_count();
  answer.columns = model.program.column_count();
  const LinearSolution fastest = solve_relaxed(model.program, limit);
  answer.status = fastest.status;
  if (fastest.status != SolverStatus::optimal) return answer;
  answer.seconds = fastest.objective * model.unit_seconds;
  answer.prices = prices(problem, model, fastest.duals);
  if (options.weights.empty()) return answer;
  for (const double slack : slacks) {
    const double most_time = fastest.objective * (1 + slack);
    const LinearSolution least = solve_relaxed(traffic_program(model, most_time), limit);
    answer.status = least.status;
    for (std::size_t c = 0; c < least.columns.size(); ++c)
      answer.traffic += least.columns[c] * model.traffic[c];
    if (least.status != SolverStatus::infeasible) break;
  }
  return answer;
}

} // namespace tutti
