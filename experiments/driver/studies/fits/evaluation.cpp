// What is replayed again and again is the network that a transport makes of a machine, under one
// schedule: a library picks by its own model, which knows no transport. Only the order of its
// transfers is planned on latencies. So there is a first fit, whose latencies are near enough, and
// a second one by schedules that are planned on these.
#include "experiments/driver/studies/fits/study.hpp"

#include "experiments/driver/studies/in_file.hpp"
#include "experiments/driver/studies/runs/evaluation.hpp"
#include "experiments/driver/studies/runs/with_transport.hpp"
#include "sim/error.hpp"
#include "sim/transport/constants.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <memory>
#include <mutex>
#include <set>
#include <tuple>
#include <utility>

namespace tutti {

namespace {

/// What 90 % of these are at most, and of others like them.
double order_statistic(std::vector<double> values) {
  constexpr double coverage = 0.9;
  const auto count = static_cast<double>(values.size());
  const auto rank = static_cast<std::size_t>(std::min(count, std::ceil(coverage * (count + 1))));
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(rank) - 1);
  return values[rank - 1];
}

} // namespace

// Residuals of rows that are fitted to are too small, and a distribution of them is anybody's
// guess. So widths are order statistics of residuals of rows that were left out (Vovk et al. 2005,
// conformal prediction; Barber et al. 2021, jackknife+), scaled by what a row's time is made of:
// large messages depend on rates, which are known well, small ones on latencies, which aren't.
Spread spread_of(std::span<const LeftOut> rows) {
  assert(!rows.empty());
  constexpr double mostly = 0.25;
  std::vector<double> of_rates, of_times;
  for (const LeftOut& row : rows)
    if (row.times < mostly) of_rates.push_back(row.off);
  Spread spread;
  const bool knows_rates = !of_rates.empty();
  if (knows_rates) spread.rates = order_statistic(std::move(of_rates));
  for (const LeftOut& row : rows)
    if (row.times >= mostly)
      of_times.push_back((row.off - spread.rates * (1 - row.times)) / row.times);
  if (!of_times.empty()) spread.times = order_statistic(std::move(of_times));
  if (!knows_rates) spread.rates = spread.times;
  spread.times = std::max(spread.times, spread.rates); // known no better
  return spread;
}

std::vector<bool> covered_by_others(std::span<const LeftOut> rows) {
  std::vector<bool> covered(rows.size(), false);
  if (rows.size() < 2) return covered;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::vector<LeftOut> others(rows.begin(), rows.end());
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    covered[i] = rows[i].off <= spread_of(others).half_width(rows[i].times);
  }
  return covered;
}

namespace {

/// A collective of a size on a machine, ready to be replayed.
class Prediction {
public:
  Prediction(Case c, const std::string& place) : c_(std::move(c)), made_(attempt(c_)) {
    if (!made_.outcome.schedule || !made_.verdict.correct())
      throw InputError(fmt::format("{}: no schedule that a transport can be applied to: {}", place,
                                   made_.outcome.note.empty()
                                       ? to_text(made_.outcome.status)
                                       : std::string_view(made_.outcome.note)));
  }

  [[nodiscard]] Time time(const Transport& transport) const {
    std::optional<Time> fastest;
    for (const ReplayInput& on : inputs_with(transport)) {
      RunOptions options;
      options.starts = on.starts;
      const Time one =
          c_.engine->run(*on.topology, made_.collective, *on.schedule, c_.options.model, options)
              .completion;
      if (!fastest || one < *fastest) fastest = one;
    }
    return *fastest;
  }

  /// The rules that it may depend on.
  [[nodiscard]] std::set<std::size_t> rules(const Transport& transport) const {
    std::set<std::size_t> all;
    for (const ReplayInput& on : inputs_with(transport))
      all.insert(on.by->rules.begin(), on.by->rules.end());
    return all;
  }

private:
  [[nodiscard]] std::vector<ReplayInput> inputs_with(const Transport& transport) const {
    Case c = c_;
    c.transport = std::make_shared<const Transport>(transport);
    return with_transport(c, made_, {});
  }

  Case c_;
  Attempt made_;
};

std::string launch_key(const Topology& topology, const Transport& transport) {
  const std::string& model = topology.parts().npu_model;
  return transport.launch.contains(model) ? model : "";
}

std::string launch_name(const std::string& model) {
  return "launch." + (model.empty() ? "other" : model);
}

std::vector<std::string> constants_of_row(const Transport& start,
                                          const std::set<std::size_t>& rules,
                                          const std::string& launch) {
  std::vector<std::string> names{launch_name(launch)};
  for (const std::size_t r : rules)
    for (const char* field : {"share", "latency", "channel", "handover"})
      names.push_back(fmt::format("{}.{}.{}", start.rules[r].part, start.rules[r].protocol, field));
  return names;
}

/// The part whose steps take longest, among those of the rules that a row crosses.
std::string slowest_part(const Transport& start, const std::set<std::size_t>& rules) {
  const auto slowest =
      std::ranges::max_element(rules, {}, [&](std::size_t r) { return start.rules[r].latency; });
  return start.rules[*slowest].part;
}

/// Which of a rule's constants are the rows'.
void note_sources(FitResult& fit) {
  for (TransportRule& rule : fit.transport.rules) {
    std::string fitted;
    for (const FittedConstant& constant : fit.constants) {
      const std::string prefix = fmt::format("{}.{}.", rule.part, rule.protocol);
      if (constant.verdict != FitVerdict::fitted || !constant.name.starts_with(prefix)) continue;
      fitted += (fitted.empty() ? "" : ", ") + constant.name.substr(prefix.size());
    }
    if (fitted.empty()) continue;
    constexpr std::string_view otherwise = "; else: ";
    if (const std::size_t at = rule.source.rfind(otherwise); at != std::string::npos)
      rule.source.erase(0, at + otherwise.size()); // of a fit before this one
    rule.source = fmt::format("{} fitted to measured rows{}{}", fitted,
                              rule.source.empty() ? "" : otherwise, rule.source);
  }
}

constexpr std::size_t enough_rows = 10;

const std::string& npu_model(Networks networks, const FittedRow& row) {
  return networks[row.system->topology].topology.parts().npu_model;
}

/// Rows of each machine by what the others give, where those have all of its parts.
void cross_validate(const FitRequest& request, FitEvaluation& made) {
  const auto rules_of = [](const FitRow& row) {
    std::set<std::string> rules;
    for (const std::string& constant : row.constants)
      if (constant.ends_with(".share")) rules.insert(constant);
    return rules;
  };
  std::set<std::size_t> systems;
  for (const FitRow& row : request.rows) systems.insert(row.system);
  for (const std::size_t system : systems) {
    std::vector<LeftOut> others;
    std::set<std::string> known;
    for (std::size_t r = 0; r < made.rows.size(); ++r) {
      if (request.rows[r].system == system || !request.rows[r].is_fitted) continue;
      const FitErrors& errors = made.rows[r].errors;
      others.push_back({std::abs(errors.without_system), errors.times});
      known.merge(rules_of(request.rows[r]));
    }
    if (others.empty()) continue;
    const Spread spread = spread_of(others);
    for (std::size_t r = 0; r < made.rows.size(); ++r) {
      if (request.rows[r].system != system || !request.rows[r].is_fitted) continue;
      if (!std::ranges::includes(known, rules_of(request.rows[r]))) continue;
      const FitErrors& errors = made.rows[r].errors;
      made.rows[r].is_covered_elsewhere =
          std::abs(errors.without_system) <= spread.half_width(errors.times);
    }
  }
}

/// Intervals, from rows that were left out.
void spread(const FitRequest& request, Networks networks, FitEvaluation& made) {
  cross_validate(request, made);
  std::map<std::string, std::vector<std::size_t>> by_part;
  std::vector<std::size_t> all;
  std::set<std::string> seen; // constants that fitted rows depend on
  for (std::size_t r = 0; r < made.rows.size(); ++r) {
    if (!request.rows[r].is_fitted) continue;
    by_part[made.rows[r].part].push_back(r);
    all.push_back(r);
    seen.insert(request.rows[r].constants.begin(), request.rows[r].constants.end());
  }
  const auto errors_left_out = [&](const std::vector<std::size_t>& rows, double FitErrors::*error) {
    std::vector<LeftOut> left_out;
    for (const std::size_t r : rows) {
      const FitErrors& errors = made.rows[r].errors;
      left_out.push_back({std::abs(errors.*error), errors.times});
    }
    return left_out;
  };
  // A single machine says nothing about others: then sizes are left out instead of machines.
  const bool is_alone = std::ranges::all_of(
      request.rows, [&](const FitRow& row) { return row.system == request.rows.front().system; });
  const std::vector<LeftOut> all_left_out =
      errors_left_out(all, is_alone ? &FitErrors::without_size : &FitErrors::without_system);
  made.spreads[""] = spread_of(all_left_out);
  const std::vector<bool> is_covered = covered_by_others(all_left_out);
  if (all.size() > 1)
    for (std::size_t i = 0; i < all.size(); ++i) made.rows[all[i]].is_covered = is_covered[i];
  for (const auto& [part, rows] : by_part) {
    if (rows.size() < enough_rows) continue;
    const std::vector<LeftOut> sizes = errors_left_out(rows, &FitErrors::without_size);
    made.spreads[part] = spread_of(sizes);
    const std::vector<bool> covered = covered_by_others(sizes);
    for (std::size_t i = 0; i < rows.size(); ++i) made.rows[rows[i]].is_covered = covered[i];
  }
  const auto width = [](double logarithm) {
    constexpr double most = 10; // that files may have
    return std::min(most, std::round(1e3 * std::expm1(logarithm)) / 1e3);
  };
  const auto of = [&](const std::string& part) -> const Spread& {
    return made.spreads.contains(part) ? made.spreads.at(part) : made.spreads.at("");
  };
  const auto models_of = [&](const std::string& constant) {
    std::set<std::string> models;
    for (std::size_t r = 0; r < made.rows.size(); ++r)
      if (const FitRow& row = request.rows[r];
          row.is_fitted && std::ranges::find(row.constants, constant) != row.constants.end())
        models.insert(npu_model(networks, made.rows[r]));
    return std::vector<std::string>(models.begin(), models.end());
  };
  Transport& transport = made.fit.transport;
  for (TransportRule& rule : transport.rules) {
    const bool is_seen = seen.contains(fmt::format("{}.{}.share", rule.part, rule.protocol));
    if (!is_seen && is_alone) continue;
    const Spread& within = of(is_seen ? rule.part : "");
    rule.rates_within = width(within.rates);
    rule.times_within = width(within.times);
    rule.measured_on.clear();
    rule.rates_elsewhere = rule.times_elsewhere = std::nullopt;
    if (!is_seen || is_alone) continue;
    rule.measured_on = models_of(fmt::format("{}.{}.share", rule.part, rule.protocol));
    rule.rates_elsewhere = std::max(rule.rates_within, width(made.spreads.at("").rates));
    rule.times_elsewhere = std::max(rule.times_within, width(made.spreads.at("").times));
  }
  for (const auto& [model, time] : transport.launch) {
    // A launch is known as well as the best known part in the rows with this launch.
    if (is_alone && !seen.contains(launch_name(model))) continue;
    double least = width(made.spreads.at("").times);
    for (std::size_t r = 0; r < made.rows.size(); ++r)
      if (request.rows[r].is_fitted && request.rows[r].constants.front() == launch_name(model))
        least = std::min(least, width(of(made.rows[r].part).times));
    transport.launch_within[model] = least;
  }
}

/// Its predictions by schedules that are planned on the latencies of `plan`.
FitRequest request_of(const FitStudy& study, Networks networks, const SynthesisOptions& options,
                      const Transport& plan, FitEvaluation& made,
                      std::vector<std::shared_ptr<const Prediction>>& predictions) {
  FitRequest request;
  request.start = study.start;
  request.free = study.free;
  const auto planned = std::make_shared<const Transport>(plan);
  made.rows.clear();
  predictions.clear();
  for (std::size_t s = 0; s < study.systems.size(); ++s) {
    const FitSystem& system = study.systems[s];
    const LabelledTopology& network = networks[system.topology];
    std::map<std::tuple<CollectiveKind, std::int64_t, std::uint32_t>,
             std::shared_ptr<const Prediction>>
        known;
    for (const FitStudyRow& row : system.rows) {
      const MeasuredRow& measured = row.measured;
      auto& prediction = known[{measured.kind, measured.size.count, measured.root}];
      if (!prediction) {
        if (options.cancelled && options.cancelled()) throw Stopped();
        Case c;
        c.topology_label = network.label;
        c.topology = &network.topology;
        c.algorithm = system.algorithm;
        c.chunks = std::nullopt;
        c.options = system.options;
        c.options.cancelled = options.cancelled;
        c.options.stage = options.stage;
        c.transport = planned;
        c.engine = &find_engine("native");
        c.collective = {{collective_text(measured)}, measured.size};
        prediction = in_file(measured.place(), [&] {
          return std::make_shared<const Prediction>(std::move(c), measured.place());
        });
      }
      const std::set<std::size_t> rules =
          in_file(measured.place(), [&] { return prediction->rules(study.start); });
      made.rows.push_back({&system, &row, slowest_part(study.start, rules), {}, {}, {}, {}});
      predictions.push_back(prediction);
      request.rows.push_back(
          {measured.seconds, measured.size, s, row.left_aside.empty(),
           constants_of_row(study.start, rules, launch_key(network.topology, study.start)),
           [prediction](const Transport& transport) {
             return prediction->time(transport).seconds();
           }});
    }
  }
  return request;
}

} // namespace

FitEvaluation evaluate_fit(const FitStudy& study, Networks networks,
                           const SynthesisOptions& options, unsigned threads) {
  FitEvaluation made;
  std::vector<std::shared_ptr<const Prediction>> predictions;
  std::string stage = "schedules";
  std::mutex mutex;
  const auto begin = [&](const std::string& next) {
    const std::lock_guard lock(mutex);
    if (!next.empty()) stage = next;
    if (options.stage) (void)options.stage(stage, {});
    if (options.cancelled && options.cancelled()) throw Stopped();
  };
  const auto request_by = [&](const Transport& plan) {
    FitRequest request = request_of(study, networks, options, plan, made, predictions);
    request.threads = threads;
    request.stage = begin;
    return request;
  };
  FitRequest first = request_by(study.start);
  first.leaves_out = false;
  const Transport near = fit_transport(first).transport;
  FitRequest request = request_by(near);
  request.begin = near;
  made.fit = fit_transport(request);
  made.fit.transport.name = study.name;
  note_sources(made.fit);
  for (std::size_t r = 0; r < made.rows.size(); ++r) made.rows[r].errors = made.fit.rows[r];
  spread(request, networks, made);
  const std::vector<FittedRow> judged = made.rows;
  const FitRequest last = request_by(made.fit.transport);
  for (std::size_t r = 0; r < made.rows.size(); ++r) {
    FittedRow& row = made.rows[r];
    begin("intervals");
    row = judged[r];
    row.predicted = predictions[r]->time(made.fit.transport);
    row.errors.fitted = std::log(row.predicted.seconds() / row.row->measured.seconds);
    const Transport slow = at_its_slowest(made.fit.transport, npu_model(networks, row));
    row.interval = interval_of(row.predicted, predictions[r]->time(slow));
  }
  return made;
}

} // namespace tutti
