#include "experiments/experiment.hpp"

#include "experiments/registry.hpp"
#include "experiments/work_limits.hpp"
#include "sim/config.hpp"
#include "sim/error.hpp"
#include "sim/files.hpp"
#include "topologies/list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

namespace tutti {

namespace {

constexpr std::size_t most_cases = 100'000; // a product of lists grows fast; more is a slip

// A list, or one value that stands for a list of one.
std::vector<ConfigValue> list_of(const ConfigValue& value) {
  return value.is_array() ? value.array() : std::vector{value};
}

// The value's text through a parser that knows nothing of places.
template <typename Parse> auto parsed(const ConfigValue& value, Parse&& parse) {
  const std::string text = value.string();
  return value.located([&] { return parse(text); });
}

template <typename Parse>
auto parsed_at(ConfigTable& table, const std::string& key, const char* otherwise, Parse&& parse) {
  const auto value = table.find(key);
  return value ? parsed(*value, parse) : parse(std::string(otherwise));
}

// What `read` makes of each item of a list (or of one value), or the default.
template <typename T, typename Read>
std::vector<T> list_at(ConfigTable& table, const std::string& key, std::vector<T> otherwise,
                       Read&& read) {
  const auto value = table.find(key);
  if (!value) return otherwise;
  std::vector<T> values;
  for (const ConfigValue& item : list_of(*value)) values.push_back(read(item));
  if (values.empty()) throw value->error(fmt::format("\"{}\" is empty", key));
  return values;
}

std::string string_at(ConfigTable& table, const std::string& key) {
  const auto value = table.find(key);
  return value ? value->string() : "";
}

// A name that becomes part of a file's path.
std::string file_stem(const ConfigValue& value) {
  std::string name = value.string();
  const bool plain = !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_';
  });
  if (!plain)
    throw value.error(fmt::format("\"{}\" must consist of letters, digits, - and _", name));
  return name;
}

// A topology file's name counts from the experiment's folder.
std::string beside(const std::string& text, const std::string& source_name) {
  if (!text.ends_with(".toml")) return text;
  const auto path = std::filesystem::path(source_name).parent_path() / text;
  return std::filesystem::exists(path) ? path.string() : text;
}

std::vector<LabelledTopology> read_topologies(ConfigTable& root, const std::string& source_name) {
  std::vector<LabelledTopology> topologies;
  ConfigTable table = root.at("topologies").table();
  for (const std::string& label : table.keys()) {
    const ConfigValue value = table.at(label);
    const std::string text = value.string();
    const std::string found = beside(text, source_name);
    topologies.push_back({label, text, value.located([&] { return make_topology(found); })});
  }
  if (topologies.empty()) throw table.error("no topology is named");
  return topologies;
}

std::size_t topology_index(const ConfigValue& value,
                           const std::vector<LabelledTopology>& topologies) {
  const std::string label = value.string();
  std::vector<std::string> known;
  for (std::size_t i = 0; i < topologies.size(); ++i) {
    if (topologies[i].label == label) return i;
    known.push_back(topologies[i].label);
  }
  throw value.error(unknown_name("topology label", label, known));
}

std::vector<std::string> texts_of(const ConfigValue& value) {
  std::vector<std::string> texts;
  for (const ConfigValue& item : list_of(value)) {
    const std::string text = item.string();
    if (!is_collective_file(text)) parsed(item, parse_collective);
    texts.push_back(text);
  }
  if (texts.empty()) throw value.error("no collective is named");
  return texts;
}

std::optional<std::uint32_t> chunks_of(const ConfigValue& value) {
  if (value.is_integer()) return static_cast<std::uint32_t>(value.integer(1, most_chunks));
  return parsed(value, parse_chunks);
}

std::vector<Bytes> sizes_at(ConfigTable& table) {
  std::vector<Bytes> sizes;
  for (const auto& some :
       list_at(table, "sizes", std::vector<std::vector<Bytes>>{{CollectiveRequest{}.size}},
               [](const ConfigValue& item) { return parsed(item, parse_sizes); }))
    sizes.insert(sizes.end(), some.begin(), some.end());
  return sizes;
}

std::vector<AlgorithmRow> algorithms_at(ConfigTable& table) {
  const ConfigValue value = table.at("algorithms");
  std::vector<std::string> names;
  for (const ConfigValue& item : list_of(value)) names.push_back(item.string());
  if (names.empty()) throw value.error("\"algorithms\" is empty");
  return value.located([&] { return find_algorithms(names); });
}

SynthesisOptions options_of(ConfigTable& table, std::uint64_t seed) {
  SynthesisOptions options;
  options.seed = seed;
  options.model.link_busy = parsed_at(table, "link_busy", "serialization", parse_link_busy);
  options.model.forwarding = parsed_at(table, "forwarding", "auto", parse_forwarding);
  options.routing = parsed_at(table, "routing", "auto", parse_routing);
  if (const auto limit = table.find("limit"))
    parsed(*limit, [&options](const std::string& text) { return set_limits(options, text); });
  if (const auto threads = table.find("threads"))
    options.threads = static_cast<unsigned>(threads->integer(1, 1024));
  if (const auto settings = table.find("settings")) {
    ConfigTable pairs = settings->table();
    for (const std::string& key : pairs.keys()) options.settings[key] = pairs.at(key).string();
  }
  return options;
}

RunMatrix read_run(ConfigTable table, const Experiment& experiment) {
  RunMatrix run;
  run.label = string_at(table, "label");
  std::vector<std::size_t> all(experiment.topologies.size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
  run.topologies = list_at(table, "topologies", all, [&](const ConfigValue& value) {
    return topology_index(value, experiment.topologies);
  });
  for (const ConfigValue& item : list_of(table.at("collectives")))
    run.collectives.push_back(texts_of(item));
  run.sizes = sizes_at(table);
  run.algorithms = algorithms_at(table);
  run.chunks = list_at(table, "chunks", std::vector<std::optional<std::uint32_t>>{1}, chunks_of);
  run.options = options_of(table, experiment.seed);
  if (const auto settings = table.find("settings"))
    settings->located([&] { require_known_settings(run.algorithms, run.options); });
  run.engine = parsed_at(table, "engine", "simgrid",
                         [](const std::string& name) { return &find_engine(name); });
  run.disciplines = list_at(table, "disciplines", std::vector{Discipline::fifo},
                            [&run](const ConfigValue& value) {
                              const Discipline discipline = parsed(value, parse_discipline);
                              value.located([&] { require_discipline(*run.engine, discipline); });
                              return discipline;
                            });
  if (run.collectives.empty()) throw table.error("no collective is named");
  table.finish();
  return run;
}

double case_count(const RunMatrix& run) { // of sizes of lists in memory: a double can't overflow
  double cases = 1;
  for (const std::size_t count : {run.topologies.size(), run.collectives.size(), run.sizes.size(),
                                  run.chunks.size(), run.algorithms.size()})
    cases *= static_cast<double>(count);
  return cases;
}

FigureKind parse_figure_kind(const std::string& text) {
  const std::vector<std::string> known{"heatmap", "utilisation", "bars", "sizes"};
  const auto found = std::find(known.begin(), known.end(), text);
  if (found == known.end()) throw InputError(unknown_name("kind of figure", text, known));
  return static_cast<FigureKind>(found - known.begin());
}

LinkQuantity parse_link_quantity(const std::string& text) {
  const std::vector<std::string> known{"utilisation", "bytes"};
  if (text == known[0]) return LinkQuantity::utilisation;
  if (text == known[1]) return LinkQuantity::bytes;
  throw InputError(unknown_name("quantity", text, known));
}

FigureRequest read_figure(ConfigTable table, const Experiment& experiment) {
  FigureRequest figure;
  const ConfigValue kind = table.at("kind");
  figure.kind = parsed(kind, parse_figure_kind);
  figure.file = file_stem(table.at("file"));
  figure.title = string_at(table, "title");
  if (figure.title.empty()) figure.title = experiment.title;
  figure.topologies =
      list_at(table, "topologies", std::vector<std::string>{}, [&](const ConfigValue& value) {
        return experiment.topologies[topology_index(value, experiment.topologies)].label;
      });
  figure.algorithms =
      list_at(table, "algorithms", std::vector<std::string>{}, [](const ConfigValue& value) {
        return std::string(parsed(value, find_algorithm).name);
      });
  const bool of_links =
      figure.kind == FigureKind::heatmap || figure.kind == FigureKind::utilisation;
  if (of_links) figure.quantity = parsed_at(table, "quantity", "utilisation", parse_link_quantity);
  if (!of_links) figure.metric = parsed_at(table, "metric", "algbw", parse_metric);
  if (figure.kind == FigureKind::bars)
    if (const auto normalized = table.find("normalized")) figure.normalized = normalized->boolean();
  table.finish();
  return figure;
}

// The one case that a selector like {topology = "Mesh", algorithm = "ring"} speaks of.
std::size_t selected_case(const ConfigValue& value, const Experiment& experiment,
                          const std::vector<Case>& cases) {
  ConfigTable table = value.table();
  const ConfigValue topology_value = table.at("topology");
  const std::size_t topology_at = topology_index(topology_value, experiment.topologies);
  const std::string& topology = experiment.topologies[topology_at].label;
  const ConfigValue algorithm_value = table.at("algorithm");
  const std::string algorithm{parsed(algorithm_value, find_algorithm).name};
  const auto run = table.find("run"), collective = table.find("collective");
  const auto size = table.find("size"), chunks = table.find("chunks");
  table.finish();
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const Case& c = cases[i];
    if (c.topology_label == topology && c.algorithm.name == algorithm &&
        (!run || c.run == run->string()) &&
        (!collective || c.collective.texts == texts_of(*collective)) &&
        (!size || c.collective.size == size->bytes()) &&
        (!chunks || c.chunks == chunks_of(*chunks)))
      found.push_back(i);
  }
  if (found.empty())
    throw value.error(fmt::format("no run has topology \"{}\" and algorithm \"{}\" as asked for",
                                  topology, algorithm));
  if (found.size() > 1)
    throw value.error(fmt::format("{} cases have topology \"{}\" and algorithm \"{}\": add run, "
                                  "collective, size or chunks",
                                  found.size(), topology, algorithm));
  return found.front();
}

// `2%` to 0.02.
double parse_tolerance(std::string_view text) {
  double percent = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), percent);
  const bool whole =
      error == std::errc() && std::string_view(end, text.data() + text.size()) == "%";
  if (!whole || !(percent >= 0 && percent <= 100))
    throw InputError(fmt::format("\"{}\" is no percentage from 0% to 100%", text));
  return percent / 100;
}

double paper_value(const ConfigValue& value, const Expectation& expectation) {
  if (expectation.over || expectation.metric == Metric::gap) {
    const double number = value.number();
    if (number <= 0) throw value.error("the paper's value must be above 0");
    return number;
  }
  if (expectation.metric == Metric::time) {
    const Time time = value.time();
    if (time.ps <= 0) throw value.error("the paper's value must be above 0");
    return static_cast<double>(time.ps);
  }
  return static_cast<double>(value.bandwidth().bytes_per_second);
}

std::size_t replay_index(const ConfigValue& value, const Case& c) {
  const Discipline discipline = parsed(value, parse_discipline);
  const auto found = std::find(c.disciplines.begin(), c.disciplines.end(), discipline);
  if (found == c.disciplines.end())
    throw value.error(fmt::format("the run has no discipline {}", to_text(discipline)));
  return static_cast<std::size_t>(found - c.disciplines.begin());
}

Expectation read_expectation(ConfigTable table, const Experiment& experiment,
                             const std::vector<Case>& cases) {
  Expectation expectation;
  expectation.label = table.at("label").string();
  expectation.metric = parsed_at(table, "metric", "algbw", parse_metric);
  expectation.of = selected_case(table.at("of"), experiment, cases);
  const auto over = table.find("over");
  if (over) expectation.over = selected_case(*over, experiment, cases);
  if (const auto discipline = table.find("discipline")) {
    expectation.replay = replay_index(*discipline, cases[expectation.of]);
    if (over && replay_index(*discipline, cases[*expectation.over]) != expectation.replay)
      throw discipline->error("both runs must list their disciplines in the same order");
  }
  expectation.paper = paper_value(table.at("paper"), expectation);
  const ConfigValue tolerance = table.at("tolerance");
  expectation.tolerance = parsed(tolerance, parse_tolerance);
  expectation.explanation = string_at(table, "explanation");
  table.finish();
  return expectation;
}

Experiment read(ConfigTable root, const std::string& source_name) {
  Experiment experiment;
  root.allow_only({"name", "title", "seed", "topologies", "runs", "figures", "expect"});
  experiment.name = file_stem(root.at("name"));
  experiment.title = string_at(root, "title");
  if (experiment.title.empty()) experiment.title = experiment.name;
  if (const auto seed = root.find("seed"))
    experiment.seed = static_cast<std::uint64_t>(seed->integer(0));
  experiment.topologies = read_topologies(root, source_name);
  double cases_so_far = 0;
  for (ConfigTable& table : root.tables("runs")) {
    experiment.runs.push_back(read_run(table, experiment));
    cases_so_far += case_count(experiment.runs.back());
    if (cases_so_far > most_cases)
      throw table.error(fmt::format("{:.0f} cases, more than {}", cases_so_far, most_cases));
  }
  if (experiment.runs.empty()) throw root.error("needs at least one [[runs]]");
  for (ConfigTable& table : root.tables("figures"))
    experiment.figures.push_back(read_figure(table, experiment));
  const std::vector<Case> cases = experiment.cases();
  for (ConfigTable& table : root.tables("expect"))
    experiment.expectations.push_back(read_expectation(table, experiment, cases));
  root.finish();
  return experiment;
}

} // namespace

std::vector<Case> Experiment::cases() const {
  std::vector<Case> all;
  for (const RunMatrix& run : runs)
    for (const std::size_t t : run.topologies)
      for (const auto& collective : run.collectives)
        for (const Bytes size : run.sizes)
          for (const auto& chunks : run.chunks)
            for (const AlgorithmRow& algorithm : run.algorithms)
              all.push_back({.run = run.label,
                             .topology_label = topologies[t].label,
                             .topology = &topologies[t].topology,
                             .collective = {collective, size},
                             .algorithm = algorithm,
                             .chunks = chunks,
                             .options = options_for(algorithm, run.options),
                             .engine = run.engine,
                             .disciplines = run.disciplines,
                             .schedule_file = {}});
  return all;
}

Experiment parse_experiment(std::string_view toml, const std::string& source_name) {
  return read(parse_config(toml, source_name), source_name);
}

Experiment read_experiment(const std::string& file) {
  return parse_experiment(read_file(file), file);
}

} // namespace tutti
