// What a runtime makes of links is known from few rows of few machines, and rows of one machine are
// much alike. So constants have a weak prior, those that rows don't determine stay where they were,
// and what a fit is worth is judged by rows that it hasn't seen: of another size, of another
// machine. Source: Levenberg-Marquardt as in MINPACK (Moré 1978), by Eigen; Huber's loss (1964), as
// tables of one run have outliers; the prior is ridge regression (Hoerl and Kennard 1970) on
// logarithms.
#include "experiments/driver/studies/fits/least_squares.hpp"

#include "sim/error.hpp"
#include "sim/side_by_side.hpp"
#include "sim/text.hpp"

#include <eigen3/Eigen/Dense>
#include <eigen3/unsupported/Eigen/NonLinearOptimization>
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <utility>

namespace tutti {

namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double prior = 0.693;            // ln 2
constexpr double determined = 0.5 * prior; // standard error at most
constexpr double outlier = 1.5;            // from here on residuals count linearly
constexpr double bandwidth_error = 0.03, latency_error = 0.15;
constexpr double step = 0.05; // of differences, across kinks where another link is slowest
constexpr double ninety_percent = 1.645; // standard errors either way

/// Where least squares are free: any number, 0 at the start.
double coordinate(ConstantKind kind, double value) {
  if (kind != ConstantKind::share) return std::log(value);
  const double share = std::min(value, 0.999);
  return std::log(share / (1 - share));
}
double value_at(ConstantKind kind, double coordinate) {
  return kind == ConstantKind::share ? 1 / (1 + std::exp(-coordinate)) : std::exp(coordinate);
}

double rounded(double value) {
  if (value == 0) return 0;
  const double unit = std::pow(10, std::floor(std::log10(std::abs(value))) - 2);
  return std::round(value / unit) * unit;
}

/// "nvlink4.*" has any text for the star.
bool is_like(std::string_view name, std::string_view pattern) {
  const std::size_t star = pattern.find('*');
  if (star == std::string_view::npos) return name == pattern;
  const std::string_view head = pattern.substr(0, star), tail = pattern.substr(star + 1);
  if (name.size() < head.size() + tail.size() || !name.starts_with(head)) return false;
  for (std::size_t at = head.size(); at <= name.size(); ++at)
    if (is_like(name.substr(at), tail)) return true;
  return false;
}

/// A constant that may move.
struct Free {
  std::string name;
  ConstantKind kind;
  double start; // value
};

class Fitter {
public:
  explicit Fitter(const FitRequest& request) : request_(request) {
    Transport transport = request.start;
    for (const TransportConstant& constant : constants_of(transport))
      if (is_free(constant.name))
        free_.push_back({constant.name, constant.kind(), constant.value()});
    require_constants(request.start, request.free);
    hang_on_.resize(free_.size());
    for (std::size_t r = 0; r < request.rows.size(); ++r)
      for (std::size_t k = 0; k < free_.size(); ++k)
        if (std::ranges::find(request.rows[r].constants, free_[k].name) !=
            request.rows[r].constants.end())
          hang_on_[k].insert(r);
  }

  FitResult run() {
    begin("weights");
    weigh();
    std::vector<std::size_t> rows = rows_where([](const FitRow&) { return true; });
    if (rows.empty()) throw InputError("no row is there to fit");
    FitResult result;
    result.constants.resize(free_.size());
    for (std::size_t k = 0; k < free_.size(); ++k) {
      FittedConstant& constant = result.constants[k];
      constant = {free_[k].name, free_[k].kind, free_[k].start, free_[k].start, 0, 0, 0, {}};
      constant.rows = static_cast<std::size_t>(
          std::ranges::count_if(rows, [&](std::size_t r) { return hang_on_[k].contains(r); }));
      constant.verdict = constant.rows > 0 ? FitVerdict::fitted : FitVerdict::unused;
    }
    begin("fit");
    VectorXd at = determine(rows, result.constants);
    for (std::size_t a = 0; a < active_.size(); ++a)
      result.constants[active_[a]].value = value_of(a, at[static_cast<Eigen::Index>(a)]);
    result.transport = transport_at(at, true);
    if (request_.leaves_out) predict_left_out(at, result);
    return result;
  }

private:
  [[nodiscard]] bool is_free(const std::string& name) const {
    return request_.free.empty() ||
           std::ranges::any_of(request_.free,
                               [&](const std::string& pattern) { return is_like(name, pattern); });
  }
  void begin(const std::string& stage) const {
    if (request_.stage) request_.stage(stage);
  }

  template <typename Keep> std::vector<std::size_t> rows_where(const Keep& keep) const {
    std::vector<std::size_t> rows;
    for (std::size_t r = 0; r < request_.rows.size(); ++r)
      if (request_.rows[r].is_fitted && keep(request_.rows[r])) rows.push_back(r);
    return rows;
  }

  /// x = 0 is the start.
  [[nodiscard]] double value_of(std::size_t a, double x) const {
    const Free& constant = free_[active_[a]];
    return rounded(value_at(constant.kind, coordinate(constant.kind, constant.start) + x));
  }
  [[nodiscard]] Transport transport_at(const VectorXd& x, bool is_rounded = false) const {
    Transport transport = request_.start;
    std::map<std::string, TransportConstant> by_name;
    for (const TransportConstant& constant : constants_of(transport))
      by_name.emplace(constant.name, constant);
    for (std::size_t a = 0; a < active_.size(); ++a) {
      const Free& constant = free_[active_[a]];
      const double there = x[static_cast<Eigen::Index>(a)];
      by_name.at(constant.name)
          .set(is_rounded
                   ? value_of(a, there)
                   : value_at(constant.kind, coordinate(constant.kind, constant.start) + there));
    }
    return transport;
  }

  /// A prediction.
  struct Task {
    std::size_t row;
    const Transport* transport;
    double seconds = 0;
  };
  void predict(std::vector<Task>& tasks) const {
    std::atomic<std::size_t> next = 0;
    run_side_by_side(std::max(1U, request_.threads), [&](unsigned) {
      for (std::size_t t = next++; t < tasks.size(); t = next++) {
        begin(""); // may throw
        tasks[t].seconds = request_.rows[tasks[t].row].predict(*tasks[t].transport);
      }
    });
  }
  [[nodiscard]] double error(const Task& task) const {
    return std::log(task.seconds / request_.rows[task.row].seconds);
  }
  [[nodiscard]] std::vector<double> errors(const std::vector<std::size_t>& rows,
                                           const Transport& transport) const {
    std::vector<Task> tasks;
    for (const std::size_t r : rows) tasks.push_back({r, &transport});
    predict(tasks);
    std::vector<double> all;
    for (const Task& task : tasks) all.push_back(error(task));
    return all;
  }

  /// Times that are a factor longer make a prediction longer by its share of times.
  void weigh() {
    const Transport longer = scaled(request_.start, 1, 1 + step);
    std::vector<Task> tasks;
    for (const std::size_t r : rows_where([](const FitRow&) { return true; })) {
      tasks.push_back({r, &request_.start});
      tasks.push_back({r, &longer});
    }
    predict(tasks);
    times_.assign(request_.rows.size(), std::nan(""));
    deviation_.assign(request_.rows.size(), 1);
    for (std::size_t t = 0; t < tasks.size(); t += 2) {
      const double share = std::log(tasks[t + 1].seconds / tasks[t].seconds) / std::log1p(step);
      const double times = std::clamp(share, 0.0, 1.0);
      times_[tasks[t].row] = times;
      deviation_[tasks[t].row] = times * latency_error + (1 - times) * bandwidth_error;
    }
  }

  /// Residuals of rows, then of constants against their prior.
  struct Residuals {
    using Scalar = double;
    enum { InputsAtCompileTime = Eigen::Dynamic, ValuesAtCompileTime = Eigen::Dynamic };
    using InputType = VectorXd;
    using ValueType = VectorXd;
    using JacobianType = MatrixXd;

    const Fitter& fitter;
    const std::vector<std::size_t>& rows;
    const MatrixXd* slopes = nullptr; ///< null: those where they are asked for

    [[nodiscard]] int inputs() const { return static_cast<int>(fitter.active_.size()); }
    [[nodiscard]] int values() const { return static_cast<int>(rows.size()) + inputs(); }

    /// Whose square is twice Huber's loss.
    [[nodiscard]] double residual(const Task& task) const {
      const double of = fitter.error(task) / fitter.deviation_[task.row];
      const double far = std::abs(of);
      if (far <= outlier) return of;
      return std::copysign(std::sqrt(outlier * (2 * far - outlier)), of);
    }

    int operator()(const VectorXd& x, VectorXd& f) const {
      const Transport transport = fitter.transport_at(x);
      std::vector<Task> tasks;
      for (const std::size_t r : rows) tasks.push_back({r, &transport});
      fitter.predict(tasks);
      for (std::size_t i = 0; i < rows.size(); ++i)
        f[static_cast<Eigen::Index>(i)] = residual(tasks[i]);
      f.tail(inputs()) = x / prior;
      return 0;
    }

    int df(const VectorXd& x, MatrixXd& jacobian) const {
      if (slopes != nullptr) {
        jacobian = *slopes;
        return 0;
      }
      jacobian.setZero();
      const Transport here = fitter.transport_at(x);
      std::vector<Transport> moved;
      for (Eigen::Index a = 0; a < x.size(); ++a) {
        VectorXd there = x;
        there[a] += step;
        moved.push_back(fitter.transport_at(there));
      }
      struct Entry {
        Eigen::Index row, column;
      };
      std::vector<Entry> entries;
      std::vector<Task> tasks;
      for (std::size_t i = 0; i < rows.size(); ++i) tasks.push_back({rows[i], &here});
      for (std::size_t a = 0; a < moved.size(); ++a)
        for (std::size_t i = 0; i < rows.size(); ++i)
          if (fitter.hang_on_[fitter.active_[a]].contains(rows[i])) {
            entries.push_back({static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(a)});
            tasks.push_back({rows[i], &moved[a]});
          }
      fitter.predict(tasks);
      for (std::size_t e = 0; e < entries.size(); ++e) {
        const auto i = static_cast<std::size_t>(entries[e].row);
        jacobian(entries[e].row, entries[e].column) =
            (residual(tasks[rows.size() + e]) - residual(tasks[i])) / step;
      }
      jacobian.bottomRows(x.size()).diagonal().setConstant(1 / prior);
      return 0;
    }
  };

  /// `slopes`: that are taken to hold everywhere; null: those where they are asked for.
  [[nodiscard]] VectorXd least_squares(VectorXd x, const std::vector<std::size_t>& rows,
                                       const MatrixXd* slopes = nullptr) const {
    Residuals residuals{*this, rows, slopes};
    Eigen::LevenbergMarquardt<Residuals> solver(residuals);
    solver.parameters.factor = 1; // coordinates are logarithms
    solver.parameters.ftol = 1e-4;
    solver.parameters.xtol = 1e-3;
    solver.parameters.maxfev = 40;
    if (x.size() > 0) solver.minimize(x);
    return x;
  }

  [[nodiscard]] MatrixXd slopes_at(const VectorXd& x, const std::vector<std::size_t>& rows) const {
    const Residuals residuals{*this, rows};
    MatrixXd slopes(residuals.values(), residuals.inputs());
    (void)residuals.df(x, slopes);
    return slopes;
  }

  /// Those of some of the rows that the whole fit is of.
  [[nodiscard]] MatrixXd slopes_of(const std::vector<std::size_t>& rows) const {
    const auto count = static_cast<Eigen::Index>(rows.size());
    MatrixXd slopes(count + slopes_.cols(), slopes_.cols());
    for (std::size_t i = 0; i < rows.size(); ++i)
      slopes.row(static_cast<Eigen::Index>(i)) =
          slopes_.row(std::ranges::find(fitted_, rows[i]) - fitted_.begin());
    slopes.bottomRows(slopes_.cols()) = slopes_.bottomRows(slopes_.cols());
    return slopes;
  }

  [[nodiscard]] VectorXd where_to_begin() const {
    Transport begin = request_.begin ? *request_.begin : request_.start;
    VectorXd x = VectorXd::Zero(static_cast<Eigen::Index>(free_.size()));
    for (const TransportConstant& constant : constants_of(begin)) {
      const auto at = std::ranges::find(free_, constant.name, &Free::name);
      if (at != free_.end())
        x[at - free_.begin()] =
            coordinate(at->kind, constant.value()) - coordinate(at->kind, at->start);
    }
    return x;
  }

  /// Fits all that rows depend on. What they then neither determine nor move stays at its start,
  /// and the others are fitted again, until all that is left is determined or has moved.
  VectorXd determine(const std::vector<std::size_t>& rows, std::vector<FittedConstant>& constants) {
    for (std::size_t k = 0; k < constants.size(); ++k)
      if (constants[k].verdict == FitVerdict::fitted) active_.push_back(k);
    const VectorXd all = where_to_begin();
    VectorXd x(static_cast<Eigen::Index>(active_.size()));
    for (std::size_t a = 0; a < active_.size(); ++a)
      x[static_cast<Eigen::Index>(a)] = all[static_cast<Eigen::Index>(active_[a])];
    for (;;) {
      x = least_squares(x, rows);
      slopes_ = slopes_at(x, rows);
      const std::vector<std::size_t> kept = kept_of(x, slopes_);
      if (kept.size() == active_.size()) break;
      std::vector<std::size_t> active;
      VectorXd there(static_cast<Eigen::Index>(kept.size()));
      for (std::size_t i = 0; i < kept.size(); ++i) {
        active.push_back(active_[kept[i]]);
        there[static_cast<Eigen::Index>(i)] = x[static_cast<Eigen::Index>(kept[i])];
      }
      for (const std::size_t k : active_)
        if (std::ranges::find(active, k) == active.end())
          constants[k].verdict = FitVerdict::undetermined;
      active_ = std::move(active);
      x = there;
    }
    fitted_ = rows;
    set_intervals(x, rows, constants);
    return x;
  }

  /// Without those that are at their start within their interval, and whose interval is wide: the
  /// nearest goes first, and intervals of the others are smaller then.
  static std::vector<std::size_t> kept_of(const VectorXd& x, const MatrixXd& slopes) {
    std::vector<std::size_t> kept(static_cast<std::size_t>(x.size()));
    std::iota(kept.begin(), kept.end(), 0);
    while (!kept.empty()) {
      const VectorXd deviation = deviations(columns_of(slopes, kept));
      std::size_t nearest = kept.size();
      double least = ninety_percent;
      for (std::size_t i = 0; i < kept.size(); ++i) {
        const double of = deviation[static_cast<Eigen::Index>(i)];
        const double moved = std::abs(x[static_cast<Eigen::Index>(kept[i])]) / of;
        if (of <= determined || moved >= least) continue;
        least = moved;
        nearest = i;
      }
      if (nearest == kept.size()) break;
      kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(nearest));
    }
    return kept;
  }
  /// With the priors of these only.
  static MatrixXd columns_of(const MatrixXd& slopes, const std::vector<std::size_t>& columns) {
    const Eigen::Index rows = slopes.rows() - slopes.cols();
    const auto count = static_cast<Eigen::Index>(columns.size());
    MatrixXd of = MatrixXd::Zero(rows + count, count);
    for (Eigen::Index i = 0; i < count; ++i) {
      const auto column = static_cast<Eigen::Index>(columns[static_cast<std::size_t>(i)]);
      of.col(i).head(rows) = slopes.col(column).head(rows);
      of(rows + i, i) = 1 / prior;
    }
    return of;
  }
  static VectorXd deviations(const MatrixXd& jacobian) {
    const MatrixXd normal = jacobian.transpose() * jacobian;
    return normal.inverse().diagonal().cwiseSqrt();
  }

  void set_intervals(const VectorXd& x, const std::vector<std::size_t>& rows,
                     std::vector<FittedConstant>& constants) const {
    if (x.size() == 0) return;
    const Residuals residuals{*this, rows};
    VectorXd f(residuals.values());
    (void)residuals(x, f);
    // Rows that fit worse than they are taken to widen the intervals.
    const double freedom =
        std::max<double>(1, static_cast<double>(rows.size()) - static_cast<double>(x.size()));
    const double wider = std::sqrt(
        std::max(1.0, f.head(static_cast<Eigen::Index>(rows.size())).squaredNorm() / freedom));
    const VectorXd deviation = deviations(slopes_);
    for (std::size_t a = 0; a < active_.size(); ++a) {
      const auto at = static_cast<Eigen::Index>(a);
      const double half = ninety_percent * wider * deviation[at];
      constants[active_[a]].low = value_of(a, x[at] - half);
      constants[active_[a]].high = value_of(a, x[at] + half);
    }
  }

  void predict_left_out(const VectorXd& at, FitResult& result) const {
    std::vector<std::size_t> all(request_.rows.size());
    std::iota(all.begin(), all.end(), 0);
    const std::vector<double> fitted = errors(all, result.transport);
    for (std::size_t r = 0; r < all.size(); ++r)
      result.rows.push_back({fitted[r], fitted[r], 0, times_[r]});
    std::set<Bytes> sizes;
    std::set<std::size_t> systems;
    for (const FitRow& row : request_.rows) {
      if (row.is_fitted) sizes.insert(row.size);
      systems.insert(row.system);
    }
    const auto without = [&](bool is_near, const auto& is_left_out, const auto& store) {
      const std::vector<std::size_t> others =
          rows_where([&](const FitRow& row) { return !is_left_out(row); });
      const MatrixXd near = slopes_of(others);
      const Transport transport =
          transport_at(least_squares(at, others, is_near ? &near : nullptr));
      std::vector<std::size_t> rows;
      for (const std::size_t r : all)
        if (is_left_out(request_.rows[r])) rows.push_back(r);
      const std::vector<double> off = errors(rows, transport);
      for (std::size_t i = 0; i < rows.size(); ++i) store(result.rows[rows[i]], off[i]);
    };
    for (const Bytes size : sizes) { // few rows of many: constants move little
      begin("without " + to_text(size));
      without(
          true, [&](const FitRow& row) { return row.is_fitted && row.size == size; },
          [](FitErrors& row, double off) { row.without_size = off; });
    }
    for (const std::size_t system : systems) {
      begin(fmt::format("without system {} of {}", system + 1, systems.size()));
      without(
          false, [&](const FitRow& row) { return row.system == system; },
          [](FitErrors& row, double off) { row.without_system = off; });
    }
  }

  const FitRequest& request_;
  std::vector<Free> free_;
  std::vector<std::set<std::size_t>> hang_on_; // [free]: rows
  std::vector<std::size_t> active_;            // of free_
  std::vector<double> times_, deviation_;      // [row]
  MatrixXd slopes_;                            // of the whole fit: by row of `fitted_`, then priors
  std::vector<std::size_t> fitted_;            // rows
};

} // namespace

void require_constants(const Transport& given, std::span<const std::string> patterns) {
  Transport transport = given;
  std::vector<std::string> names;
  for (const TransportConstant& each : constants_of(transport)) names.push_back(each.name);
  for (const std::string& pattern : patterns)
    if (std::ranges::none_of(names,
                             [&](const std::string& name) { return is_like(name, pattern); }))
      throw InputError(unknown_name("constant", pattern, names));
}

FitResult fit_transport(const FitRequest& request) { return Fitter(request).run(); }

} // namespace tutti
