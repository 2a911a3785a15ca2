// Selectors pick cases of the experiment's product and must be unambiguous: one case, or explicitly
// a mean over several. All is resolved to indices of cases here, so that what is judged later
// doesn't depend on names.
#include "experiments/driver/studies/expectation_reader.hpp"

#include "experiments/driver/records/percentage.hpp"
#include "experiments/driver/studies/experiment_values.hpp"
#include "experiments/driver/studies/registry.hpp"
#include "sim/error.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tutti {

namespace {

using Cases = std::span<const Case>;

bool allowed(const std::vector<std::string>& names, std::string_view name) {
  return names.empty() || std::find(names.begin(), names.end(), name) != names.end();
}

// The cases that a selector like {topology = "Mesh", algorithm = ["ring", "direct"]} picks.
struct Selection {
  std::vector<std::size_t> cases;
  bool names_chunks = false;
};

Selection selected(const ConfigValue& value, Networks networks, Cases cases) {
  ConfigTable table = value.table();
  const std::vector<std::string> none;
  const auto topologies = list_at(table, "topology", none, [&](const ConfigValue& label) {
    return networks[topology_index(label, networks)].label;
  });
  const auto algorithms = list_at(table, "algorithm", none, [](const ConfigValue& name) {
    return std::string(parsed(name, find_algorithm).name);
  });
  const auto run = table.find("run"), collective = table.find("collective");
  const auto size = table.find("size"), chunks = table.find("chunks");
  table.finish();
  Selection selection{{}, chunks.has_value()};
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const Case& c = cases[i];
    if (allowed(topologies, c.topology_label) && allowed(algorithms, c.algorithm.name) &&
        (!run || c.run == run->string()) &&
        (!collective || c.collective.texts == texts_of(*collective)) &&
        (!size || c.collective.size == size->bytes()) &&
        (!chunks || c.chunks == chunks_of(*chunks)))
      selection.cases.push_back(i);
  }
  if (selection.cases.empty()) throw value.error("no case of the runs is as asked for");
  return selection;
}

std::size_t only_case(const ConfigValue& value, const Selection& selection, Cases cases) {
  if (selection.cases.size() == 1) return selection.cases.front();
  const auto name = [&cases](std::size_t index) {
    const Case& c = cases[index];
    return fmt::format("{} on {}", c.algorithm.name, c.topology_label);
  };
  throw value.error(fmt::format("{} cases are as asked for ({}, {}{}): say which by topology, "
                                "algorithm, run, collective, size or chunks, or set \"mean\"",
                                selection.cases.size(), name(selection.cases[0]),
                                name(selection.cases[1]),
                                selection.cases.size() > 2 ? ", ..." : ""));
}

// Ratios of several cases are taken problem by problem (same network, collective, size and chunks),
// as papers do: a ratio of means would be decided by the slowest problem.
std::vector<Quotient> pairs(const ConfigValue& of_value, const Selection& of, const Selection& over,
                            Cases cases) {
  const bool any_chunks = of.names_chunks || over.names_chunks;
  const auto chooses_itself = [](const Case& c) { return !c.chunks && c.algorithm.chooses_chunks; };
  const auto same_chunks = [&](const Case& x, const Case& y) {
    return any_chunks || x.chunks == y.chunks || chooses_itself(x) || chooses_itself(y);
  };
  std::vector<Quotient> found;
  for (const std::size_t a : of.cases) {
    const std::size_t before = found.size();
    const Case& x = cases[a];
    for (const std::size_t b : over.cases) {
      const Case& y = cases[b];
      if (x.topology == y.topology && x.collective.texts == y.collective.texts &&
          x.collective.size == y.collective.size && same_chunks(x, y))
        found.push_back({a, b});
    }
    if (found.size() == before)
      throw of_value.error(fmt::format(
          "\"over\" has no case of the same topology, collective, size and chunks as {} on {}",
          x.algorithm.name, x.topology_label));
  }
  return found;
}

std::vector<Quotient> read_values(ConfigTable& table, Summary summary, Networks networks,
                                  Cases cases) {
  const ConfigValue of_value = table.at("of");
  const Selection of = selected(of_value, networks, cases);
  const auto over_value = table.find("over");
  if (!over_value) {
    if (summary == Summary::single) return {{only_case(of_value, of, cases), {}}};
    std::vector<Quotient> values;
    for (const std::size_t index : of.cases) values.push_back({index, {}});
    return values;
  }
  if (summary == Summary::exponent)
    throw over_value->error("an exponent is of values, not of ratios: remove \"over\"");
  const Selection over = selected(*over_value, networks, cases);
  if (summary != Summary::single) return pairs(of_value, of, over, cases);
  return {{only_case(of_value, of, cases), only_case(*over_value, over, cases)}};
}

// A ratio or exponent has no unit; a value has its metric's, and TOML must say it.
double number_in_unit(const ConfigValue& value, const Expectation& expectation) {
  if (expectation.summary == Summary::exponent || expectation.values.front().over)
    return value.number();
  switch (expectation.metric.kind) {
  case Metric::algbw:
  case Metric::busbw: return static_cast<double>(value.bandwidth().bytes_per_second);
  case Metric::time:
  case Metric::planned: return static_cast<double>(value.time().ps);
  case Metric::synthesis_seconds: return value.time().seconds();
  case Metric::gap:
  case Metric::planned_ratio:
  case Metric::fact: break;
  }
  return value.number();
}

double paper_value(const ConfigValue& value, const Expectation& expectation) {
  const double number = number_in_unit(value, expectation);
  if (number <= 0) throw value.error("the paper's value must be above 0");
  return number;
}

std::size_t replay_index(const ConfigValue& value, const Case& c) {
  const Discipline discipline = parsed(value, parse_discipline);
  const auto found = std::find(c.disciplines.begin(), c.disciplines.end(), discipline);
  if (found == c.disciplines.end())
    throw value.error(fmt::format("the run has no discipline {}", to_text(discipline)));
  return static_cast<std::size_t>(found - c.disciplines.begin());
}

// Where the discipline stands among the replays, which must be the same place in all cases.
std::size_t replay_index(const ConfigValue& value, const std::vector<Quotient>& values,
                         Cases cases) {
  const std::size_t index = replay_index(value, cases[values.front().of]);
  for (const Quotient& quotient : values)
    for (const std::size_t c : {quotient.of, quotient.over.value_or(quotient.of)})
      if (replay_index(value, cases[c]) != index)
        throw value.error("all runs must list their disciplines in the same order");
  return index;
}

} // namespace

Expectation read_expectation(ConfigTable table, Networks networks, Cases cases) {
  Expectation expectation;
  expectation.label = plain_label(table.at("label"));
  expectation.metric = parsed_at(table, "metric", "algbw", parse_metric);
  const auto mean = table.find("mean"), exponent = table.find("exponent_over");
  if (mean && exponent) throw exponent->error("\"mean\" and \"exponent_over\" exclude each other");
  if (mean) expectation.summary = parsed(*mean, parse_mean);
  if (exponent) {
    expectation.summary = Summary::exponent;
    expectation.size = parsed(*exponent, parse_problem_size);
  }
  expectation.values = read_values(table, expectation.summary, networks, cases);
  if (exponent && expectation.values.size() < 2)
    throw exponent->error("an exponent needs at least two cases");
  if (const auto discipline = table.find("discipline"))
    expectation.replay = replay_index(*discipline, expectation.values, cases);
  expectation.paper = paper_value(table.at("paper"), expectation);
  const ConfigValue tolerance = table.at("tolerance");
  expectation.tolerance = parsed(tolerance, parse_percentage);
  if (const auto at_most = table.find("at_most")) expectation.at_most = at_most->boolean();
  expectation.explanation = string_at(table, "explanation");
  table.finish();
  return expectation;
}

} // namespace tutti
