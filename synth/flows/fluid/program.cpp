// Solves the model for the least time, then with that time as a limit for the least traffic, and
// gives each member of an orbit its dual price.

#include "synth/flows/fluid/program.hpp"

#include "synth/flows/fluid/model.hpp"

#include <algorithm>

namespace tutti {

namespace {

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
  const FlowModel model = flow_model(problem, options, watch);
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
