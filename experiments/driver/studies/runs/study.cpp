// From [[runs]], [[figures]] and [[expect]] to evaluations. All is read before anything runs, and
// expectations are resolved to indices of cases, so that what is judged later depends on no name.
#include "experiments/driver/studies/runs/study.hpp"

#include "experiments/driver/records/output.hpp"
#include "experiments/driver/studies/expectation_reader.hpp"
#include "experiments/driver/studies/experiment.hpp"
#include "experiments/driver/studies/experiment_values.hpp"
#include "experiments/driver/studies/keys.hpp"
#include "experiments/driver/studies/noise/draws.hpp"
#include "experiments/driver/studies/noise/request.hpp"
#include "experiments/driver/studies/registry.hpp"
#include "experiments/driver/studies/runs/display.hpp"
#include "experiments/driver/studies/runs/explored_run.hpp"
#include "experiments/driver/studies/runs/json.hpp"
#include "experiments/driver/studies/runs/over_nccl.hpp"
#include "experiments/driver/studies/runs/records.hpp"
#include "experiments/driver/studies/runs/runner.hpp"
#include "experiments/driver/studies/runs/shown_runs.hpp"
#include "experiments/driver/studies/runs/table.hpp"
#include "sim/error.hpp"
#include "sim/files/config.hpp"
#include "sim/files/files.hpp"
#include "sim/text.hpp"
#include "sim/words.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>

namespace tutti {

namespace {

constexpr std::size_t most_cases = 100'000; // a product of lists grows fast; more is a slip

// Fills in sizes and chunks, which may depend on each other.
void read_sizes(ConfigTable& table, RunMatrix& run) {
  run.chunks = list_at(table, "chunks", std::vector<std::optional<std::uint32_t>>{}, chunks_of);
  const auto per_chunk = table.find("sizes_per_chunk");
  run.sizes_are_per_chunk = per_chunk.has_value();
  run.sizes_are_usual = !per_chunk && !table.has("sizes");
  run.sizes = sizes_at(table, per_chunk ? "sizes_per_chunk" : "sizes", "1GiB");
  const auto is_file = [](const std::vector<std::string>& collectives) {
    return std::ranges::all_of(collectives, is_collective_file);
  };
  if (!per_chunk) {
    if (const auto sizes = table.find("sizes");
        sizes && std::ranges::all_of(run.collectives, is_file))
      throw sizes->error("the size of a collective from a file is in the file");
    if (const auto chunks = table.find("chunks");
        chunks && std::ranges::all_of(run.collectives, is_file))
      throw chunks->error("the chunks of a collective from a file are in the file");
    return;
  }
  if (run.chunks.empty()) run.chunks = {1};
  if (std::find(run.chunks.begin(), run.chunks.end(), std::nullopt) != run.chunks.end())
    throw per_chunk->error("\"sizes_per_chunk\" needs numbers of chunks, not \"auto\"");
  for (const Bytes size : run.sizes)
    for (const auto& chunks : run.chunks)
      if (size.count > std::numeric_limits<std::int64_t>::max() / *chunks)
        throw per_chunk->error("the size of so many chunks overflows");
}

/// "auto" is the fast engine where that knows the disciplines.
void read_engine(ConfigTable& table, RunMatrix& run) {
  const auto is_fluid = [](const ConfigValue& value) { return value.string() == "fluid"; };
  const auto engine = table.find("engine"), disciplines = table.find("disciplines");
  if (engine && engine->string() == "auto")
    run.engine = &find_engine(
        disciplines && std::ranges::any_of(list_of(*disciplines), is_fluid) ? "simgrid" : "native");
  else
    run.engine = parsed_at(table, "engine", "simgrid", [](const std::string& name) {
      const std::vector<std::string> names = engines_or_auto();
      if (std::ranges::find(names, name) == names.end())
        throw InputError(unknown_name("engine", name, names));
      return &find_engine(name);
    });
  const auto read = [&run](const ConfigValue& value) {
    const Discipline discipline = parsed(value, discipline_words);
    if (std::ranges::find(run.disciplines, discipline) != run.disciplines.end())
      throw value.error(fmt::format("discipline {} is named twice", to_text(discipline)));
    value.located([&] { require_discipline(*run.engine, discipline); });
    run.disciplines.push_back(discipline);
    return discipline;
  };
  if (list_at(table, "disciplines", std::vector<Discipline>{}, read).empty())
    run.disciplines = {Discipline::fifo};
  if (const auto network = table.find("network_model")) {
    run.options.model.network = parsed(*network, network_model_words);
    network->located([&] { require_network_model(run.options.model.network, run.disciplines); });
  }
}

RunMatrix read_run(ConfigTable table, const Experiment& experiment,
                   const std::string& source_name) {
  RunMatrix run;
  if (const auto label = table.find("label")) run.label = plain_label(*label);
  std::vector<std::size_t> all(experiment.topologies.size());
  std::iota(all.begin(), all.end(), 0);
  run.topologies = list_at(table, "topologies", all, [&](const ConfigValue& value) {
    return topology_index(value, experiment.topologies);
  });
  for (const ConfigValue& item : list_of(table.at("collectives")))
    run.collectives.push_back(texts_of(item, source_name));
  read_sizes(table, run);
  run.algorithms = algorithms_at(table);
  run.options = options_of(table, experiment.seed, source_name);
  read_keys(table, RunStudy::keys(), run);
  if (const auto settings = table.find("settings"))
    settings->located([&] { require_known_settings(run.algorithms, run.options); });
  read_engine(table, run);
  run.bound = parsed_at(table, "bound", BoundEffort::quick, bound_effort_words);
  if (run.collectives.empty()) throw table.error("no collective is named");
  run.noise = noise_at(table, source_name, [&](std::span<const std::string> texts) {
    for (const std::size_t t : run.topologies)
      for (const std::vector<std::string>& collective : run.collectives) {
        const CollectiveRequest request{collective,
                                        run.case_size(collective, run.sizes.front(), 1)};
        check_starts(experiment.topologies[t].topology, request, texts);
      }
  });
  table.finish();
  return run;
}

// Before the cases are made: a product of a few ranges may be more than memory holds.
double size_of(const RunMatrix& run) { // sizes of lists in memory can't overflow a double
  double cases = 1;
  for (const std::size_t count :
       {run.topologies.size(), run.collectives.size(), run.sizes.size(),
        std::max(run.chunks.size(), std::size_t{1}), run.algorithms.size()})
    cases *= static_cast<double>(count);
  return cases;
}

constexpr Words<FigureKind, 10> figure_kinds{"kind of figure",
                                             {"heatmap", "utilisation", "bars", "sizes", "chunks",
                                              "scaling", "schedule", "skews", "histogram",
                                              "robustness"}};

LinkQuantity parse_reported_quantity(const std::string& text) {
  const LinkQuantity quantity = link_quantity_words.parse(text);
  if (quantity == LinkQuantity::queue)
    throw InputError("\"queue\" is drawn by synth and replay alone");
  return quantity;
}

std::array<double, 2> axis_ends(const ConfigValue& value, bool logarithmic) {
  const std::vector<ConfigValue> items = list_of(value);
  if (items.size() != 2) throw value.error("an axis has two ends");
  const std::array<double, 2> ends{items[0].number(), items[1].number()};
  if (logarithmic && !(ends[0] > 0)) throw value.error("a logarithmic axis is above 0");
  if (!(ends[0] < ends[1])) throw value.error("an axis goes up");
  return ends;
}

/// A number on an axis that begins at 0, or above it where it is logarithmic.
double on_axis(const ConfigValue& value, double number, bool logarithmic) {
  if (logarithmic ? !(number > 0) : !(number >= 0))
    throw value.error(logarithmic ? "a logarithmic axis is above 0" : "the axis begins at 0");
  return number;
}

/// Points of others, and the ends of the axis on which all lie.
void read_given(ConfigTable& table, FigureRequest& figure) {
  const bool is_sizes = figure.kind == FigureKind::sizes,
             is_scaling = figure.kind == FigureKind::scaling,
             logarithmic = is_scaling || figure.logarithmic;
  for (ConfigTable& given : table.tables("points")) {
    GivenPoints& points = figure.given.emplace_back();
    points.name = plain_label(given.at("name"));
    const std::vector<ConfigValue> x = list_of(given.at("x")), y = list_of(given.at("y"));
    if (x.size() != y.size() || x.empty())
      throw given.error("points have as many x as y, and one at least");
    for (std::size_t i = 0; i < x.size(); ++i)
      points.points.push_back(
          {on_axis(x[i], is_sizes ? static_cast<double>(x[i].bytes().count) : x[i].number(),
                   is_sizes || is_scaling),
           on_axis(y[i], y[i].number(), logarithmic)});
    given.finish();
  }
  if (const auto label = table.find("x_label")) figure.x_label = plain_label(*label);
  if (const auto ends = table.find("y_ends")) figure.y_ends = axis_ends(*ends, logarithmic);
}

// What the figure shows of its evaluations; a key that its kind doesn't know stays unread.
void read_axes(ConfigTable& table, FigureRequest& figure) {
  const FigureKind kind = figure.kind;
  if (kind == FigureKind::schedule || kind == FigureKind::histogram ||
      kind == FigureKind::robustness)
    return;
  if (kind == FigureKind::heatmap || kind == FigureKind::utilisation) {
    figure.quantity = parsed_at(table, "quantity", "utilisation", parse_reported_quantity);
    return;
  }
  const std::vector<RecordColumn> columns = columns_of<RunStudy>();
  figure.metric = parsed_at(table, "metric", "algbw",
                            [&](const std::string& text) { return metric_column(text, columns); });
  const bool can_have_bound =
      figure.metric.quantity == Quantity::time || figure.metric.quantity == Quantity::rate;
  if (const auto bound = table.find("bound")) {
    figure.shows_bound = bound->boolean();
    if (figure.shows_bound && !can_have_bound)
      throw bound->error("a bound is one of times and rates");
  }
  if (const auto label = table.find("y_label")) figure.y_label = plain_label(*label);
  if (kind != FigureKind::scaling)
    if (const auto logarithmic = table.find("logarithmic"))
      figure.logarithmic = logarithmic->boolean();
  if (kind != FigureKind::bars) read_given(table, figure);
  if (kind == FigureKind::scaling) {
    figure.over = parsed_at(table, "over", "npus",
                            [&](const std::string& text) { return size_column(text, columns); });
    return;
  }
  if (const auto normalized = table.find("normalized")) {
    if (normalized->is_string())
      figure.reference = algorithm_of(*normalized).name;
    else if (kind == FigureKind::bars)
      figure.normalized = normalized->boolean();
    else
      throw normalized->error("\"normalized\" of curves is the name of an algorithm");
  }
}

/// What some matrix has, as texts.
template <typename Values>
std::vector<std::string> texts_of_all(std::span<const RunMatrix> matrices,
                                      const Values& values_of) {
  std::vector<std::string> texts;
  for (const RunMatrix& matrix : matrices)
    for (std::string& text : values_of(matrix))
      if (std::ranges::find(texts, text) == texts.end()) texts.push_back(std::move(text));
  return texts;
}

/// The texts that the key lists, if any. Errors: InputError for one that isn't among `known`.
std::vector<std::string> listed_at(ConfigTable& table, const std::string& key, const char* what,
                                   const std::vector<std::string>& known) {
  return list_at(table, key, std::vector<std::string>{}, [&](const ConfigValue& value) {
    std::string text = value.string();
    if (std::ranges::find(known, text) == known.end())
      throw value.error(unknown_name(what, text, known));
    return text;
  });
}

/// Which cases a figure shows, beside those of its topologies and algorithms.
void read_choice(ConfigTable& table, std::span<const RunMatrix> matrices, FigureRequest& figure) {
  figure.skews = listed_at(table, "skews", "skew", texts_of_all(matrices, [](const RunMatrix& run) {
                             std::vector<std::string> texts;
                             for (const SkewRequest& skew : run.noise.skews)
                               texts.push_back(skew.text);
                             return texts;
                           }));
  figure.collectives = listed_at(
      table, "collectives", "collective", texts_of_all(matrices, [](const RunMatrix& run) {
        std::vector<std::string> texts;
        for (const std::vector<std::string>& collective : run.collectives)
          texts.push_back(CollectiveRequest{collective, {}}.text());
        return texts;
      }));
  figure.chunks =
      list_at(table, "chunks", std::vector<std::uint32_t>{}, [](const ConfigValue& value) {
        return static_cast<std::uint32_t>(value.integer(1, most_chunks));
      });
  if (const auto value = table.find("sizes")) {
    figure.sizes = sizes_at(table, "sizes", "1GiB"); // it is there
    for (const Bytes size : figure.sizes)
      if (std::ranges::none_of(matrices, [size](const RunMatrix& run) {
            return run.sizes_are_per_chunk || std::ranges::find(run.sizes, size) != run.sizes.end();
          }))
        throw value->error(fmt::format("no case has the size {}", to_text(size)));
  }
}

/// The skews of draws that the figure can show; none where nothing is drawn.
std::vector<std::string> drawn_skews(const Experiment& experiment,
                                     std::span<const RunMatrix> matrices,
                                     const FigureRequest& figure) {
  std::vector<std::string> skews;
  for (const RunMatrix& run : matrices) {
    const bool is_shown = std::ranges::any_of(run.topologies, [&](std::size_t t) {
      return std::ranges::any_of(run.algorithms, [&](const AlgorithmRow& algorithm) {
        return figure.shows(experiment.topologies[t].label, algorithm.name);
      });
    });
    if (!is_shown || !run.noise.is_drawn()) continue;
    for (const SkewRequest& skew : run.noise.skews)
      if (figure.skews.empty() || std::ranges::find(figure.skews, skew.text) != figure.skews.end())
        skews.push_back(skew.text);
  }
  return skews;
}

/// Before anything runs. Errors: InputError where a figure of draws would have none to show.
void require_draws(const ConfigValue& kind, const std::optional<ConfigValue>& metric,
                   const FigureRequest& figure, std::span<const std::string> skews) {
  if (is_of_draws(figure.kind)) {
    if (skews.empty()) throw kind.error(no_draws);
    if (figure.kind == FigureKind::skews) kind.located([&] { (void)largest_scale(skews); });
  } else if (metric && skews.empty() &&
             std::ranges::any_of(noise_fields(), [&](const Field<NoiseOutcome>& field) {
               return field.column.name == figure.metric.name;
             })) {
    throw metric->error(fmt::format("{} is of draws, and nothing is drawn: that needs skews or a "
                                    "jitter",
                                    metric->string()));
  }
}

FigureRequest read_figure(ConfigTable table, const Experiment& experiment,
                          std::span<const RunMatrix> matrices) {
  FigureRequest figure;
  const ConfigValue kind = table.at("kind");
  figure.kind = parsed(kind, figure_kinds);
  figure.file = plain_name(table.at("file"));
  figure.title = string_at(table, "title");
  if (figure.title.empty()) figure.title = experiment.title;
  figure.topologies =
      list_at(table, "topologies", std::vector<std::string>{}, [&](const ConfigValue& value) {
        return experiment.topologies[topology_index(value, experiment.topologies)].label;
      });
  figure.algorithms =
      list_at(table, "algorithms", std::vector<std::string>{},
              [](const ConfigValue& value) { return std::string(algorithm_of(value).name); });
  read_choice(table, matrices, figure);
  read_axes(table, figure);
  read_keys(table, look_keys(), figure);
  table.finish();
  require_draws(kind, table.find("metric"), figure, drawn_skews(experiment, matrices, figure));
  return figure;
}

/// What [[runs]] came to.
struct RunResults {
  std::optional<ScratchFolder> kept; ///< schedules that figures draw
  std::vector<FigureRequest> figures;
  Networks networks;
  std::vector<Case> cases;
  std::vector<Evaluation> evaluations; ///< of `cases`
};

std::vector<NamedFigure> figures_of(const RunResults& results) {
  std::vector<NamedFigure> figures;
  for (const FigureRequest& request : results.figures)
    figures.push_back(
        {request.file, make_figure(request, results.networks, results.cases, results.evaluations)});
  return figures;
}

/// The printed numbers of expectations that are of one case, or of one over another.
std::vector<PrintedValue> printed_values(std::span<const Expectation> expectations,
                                         std::span<const Case> cases) {
  std::vector<std::size_t> case_of; // [row of planned_runs()]
  for (std::size_t i = 0; i < cases.size(); ++i)
    case_of.insert(case_of.end(), cases[i].disciplines.size() * cases[i].noise.skews.size(), i);
  std::vector<PrintedValue> printed;
  for (const Expectation& e : expectations) {
    const Quotient& quotient = e.values.front();
    const bool is_limit = e.limit != Limit::equal && e.metric.quantity != Quantity::effort;
    if (e.summary != Summary::single || is_limit || quotient.of.size() != 1 ||
        quotient.over.size() > 1 || !quotient.alternatives.empty())
      continue;
    PrintedValue& value = printed.emplace_back();
    value.of = case_of[quotient.of.front()];
    if (!quotient.over.empty()) value.over = case_of[quotient.over.front()];
    value.metric = e.metric.name;
    value.value = e.value;
  }
  return printed;
}

/// Has the cases that a figure draws write their schedules.
void keep_schedules(RunResults& results) {
  for (const FigureRequest& request : results.figures) {
    if (request.kind != FigureKind::schedule) continue;
    if (!results.kept) results.kept.emplace();
    for (std::size_t i = 0; i < results.cases.size(); ++i)
      if (Case& c = results.cases[i]; request.shows(c.topology_label, c.algorithm.name))
        c.schedule_file = fmt::format("{}/{}.schedule", results.kept->path(), i);
  }
}

/// [row of planned_runs()]: its row in run_records(). A case without a schedule has one row,
/// whatever its disciplines and skews, and so has a replay without draws.
std::vector<std::size_t> record_of_planned(std::span<const Case> cases,
                                           std::span<const Evaluation> evaluations) {
  std::vector<std::size_t> places;
  std::size_t row = 0;
  for (std::size_t i = 0; i < evaluations.size(); ++i) {
    const std::vector<Replay>& replays = evaluations[i].replays;
    for (std::size_t d = 0; d < cases[i].disciplines.size(); ++d) {
      const std::size_t noises = d < replays.size() ? noises_of(replays[d]).size() : 0;
      for (std::size_t s = 0; s < cases[i].noise.skews.size(); ++s)
        places.push_back(row + (s < noises ? s : 0));
      row += noises;
    }
    if (replays.empty()) ++row;
  }
  return places;
}

/// [case]: its first row in run_records().
std::vector<std::size_t> rows_of(std::span<const Case> cases,
                                 std::span<const Evaluation> evaluations) {
  const std::vector<std::size_t> places = record_of_planned(cases, evaluations);
  std::vector<std::size_t> rows;
  std::size_t planned = 0;
  for (const Case& c : cases) {
    rows.push_back(places[planned]);
    planned += c.disciplines.size() * c.noise.skews.size();
  }
  return rows;
}

/// Why its size can't be cut into the collective's shards; empty where it can. Large sizes needn't
/// be cut to know: no collective has more than some shards a pair of NPUs.
std::string too_small(const Case& c) {
  const double npus = c.topology->npu_count();
  constexpr double most_shards = 16;
  if (static_cast<double>(c.collective.size.count) >=
      most_shards * npus * npus * c.chunks.value_or(1))
    return "";
  try {
    (void)make_collective(*c.topology, c.collective, c.chunks.value_or(1));
    return "";
  } catch (const InputError& error) {
    return error.what();
  }
}

void leave_out_small(std::vector<Case>& cases, std::string* told) {
  std::vector<std::string> sizes;
  std::string why;
  std::vector<Case> kept;
  for (const Case& c : cases) {
    const std::string problem = too_small(c);
    if (problem.empty()) {
      kept.push_back(c);
      continue;
    }
    if (why.empty()) why = problem;
    const std::string size = to_text(c.collective.size);
    if (std::ranges::find(sizes, size) == sizes.end()) sizes.push_back(size);
  }
  if (sizes.empty() || kept.empty()) return; // then the cases themselves say why
  cases = std::move(kept);
  if (told != nullptr)
    *told += fmt::format("{}without {}: {}", told->empty() ? "" : "\n", joined(sizes, ", "), why);
}

} // namespace

Bytes RunMatrix::case_size(const std::vector<std::string>& collective, Bytes size,
                           const std::optional<std::uint32_t>& case_chunks) const {
  if (sizes_are_usual) return usual_size(collective);
  return sizes_are_per_chunk ? Bytes{size.count * *case_chunks} : size;
}

std::vector<Case> RunMatrix::cases(Networks networks, std::string* left_out) const {
  std::vector<Case> all;
  const std::vector<std::optional<std::uint32_t>> unsaid(1);
  for (const std::size_t t : topologies)
    for (const auto& collective : collectives)
      for (const Bytes size : sizes)
        for (const auto& case_chunks : chunks.empty() ? unsaid : chunks)
          for (const AlgorithmRow& algorithm : algorithms)
            all.push_back({.run = label,
                           .topology_label = networks[t].label,
                           .topology = &networks[t].topology,
                           .collective = {collective, case_size(collective, size, case_chunks)},
                           .algorithm = algorithm,
                           .chunks = case_chunks,
                           .transport = transport,
                           .options = options_for(algorithm, options),
                           .engine = engine,
                           .disciplines = disciplines,
                           .bound = bound,
                           .change = change,
                           .over_nccl = over_nccl,
                           .noise = noise,
                           .schedule_file = {}});
  if (sizes.size() > 1) leave_out_small(all, left_out);
  return all;
}

std::vector<Evaluation> evaluate_cases(std::vector<Case> cases, const StudyRun& how) {
  for (Case& c : cases)
    if (how.cache) c.cache = *how.cache;
  return evaluated_over_nccl(cases, [&how](std::span<const Case> all) {
    if (how.jobs > 0) {
      RunDisplay display(how.name, all.size(), how.progress);
      return run_cases(all, how.jobs, how.refusals, display.watcher(how.interrupts));
    }
    std::vector<Evaluation> evaluations;
    for (const Case& c : all) evaluations.push_back(evaluate(c));
    return evaluations;
  });
}

// The order is that of tables, and expectations hold indices into it: it must not change between
// reading and running.
std::vector<Case> RunStudy::cases(Networks networks, std::string* left_out) const {
  std::vector<Case> all;
  for (const RunMatrix& matrix : matrices)
    for (Case& c : matrix.cases(networks, left_out)) all.push_back(std::move(c));
  return all;
}

PlannedRows planned_runs(std::span<const Case> cases) {
  struct Planned {
    const Case& c;
    Discipline discipline;
    const SkewRequest& skew;
  };
  using namespace column_words;
  using P = Planned;
  const Fields<P> fields{
      {{"label", text}, [](const P& p) { return p.c.run; }},
      {{"topology", text}, [](const P& p) { return p.c.topology_label; }},
      {{"collective", text}, [](const P& p) { return p.c.collective.text(); }},
      {{"size_bytes", bytes}, [](const P& p) { return size_of(*p.c.topology, p.c.collective); }},
      {{"algorithm", text}, [](const P& p) { return p.c.algorithm.name; }},
      {{"chunks", text},
       [](const P& p) { return p.c.chunks ? std::to_string(*p.c.chunks) : "auto"; }},
      {{"discipline", text}, [](const P& p) { return to_text(p.discipline); }},
      {{"skew", text}, [](const P& p) { return p.skew.text; }},
      {{"jitter", text}, [](const P& p) { return p.c.noise.jitter_text; }}};
  PlannedRows planned{{}, {}, {{"discipline", {}}, {"skew", {}}}, columns_of<RunStudy>(), "algbw"};
  std::vector<Planned> rows;
  for (const Case& c : cases)
    for (const Discipline discipline : c.disciplines)
      for (const SkewRequest& skew : c.noise.skews) {
        planned.opt_in[0].rows.push_back(discipline != c.disciplines.front());
        planned.opt_in[1].rows.push_back(&skew != &c.noise.skews.front());
        planned.chooses_chunks.push_back(c.algorithm.chooses_chunks);
        rows.push_back({c, discipline, skew});
      }
  planned.keys = records_of<Planned>(fields, rows);
  return planned;
}

std::vector<RunStudy> RunStudy::read_all(ConfigTable& root, const Experiment& experiment,
                                         const std::string& source_name) {
  RunStudy study;
  double cases_so_far = 0;
  for (ConfigTable& table : root.tables("runs")) {
    study.matrices.push_back(read_run(table, experiment, source_name));
    cases_so_far += size_of(study.matrices.back());
    if (cases_so_far > most_cases)
      throw table.error(fmt::format("{:.0f} cases, more than {}", cases_so_far, most_cases));
  }
  for (const char* key : {"figures", "expect"})
    if (study.matrices.empty() && root.has(key))
      throw root.at(key).error(fmt::format("[[{}]] is of [[runs]], and there are none", key));
  if (study.matrices.empty()) return {};
  for (ConfigTable& table : root.tables("figures")) {
    const ConfigValue file = table.at("file");
    FigureRequest figure = read_figure(table, experiment, study.matrices);
    if (std::ranges::find(study.figures, figure.file, &FigureRequest::file) != study.figures.end())
      throw file.error(fmt::format("a figure before has the file \"{}\"", figure.file));
    study.figures.push_back(std::move(figure));
  }
  study.expectations =
      read_expectations(root.tables("expect"), planned_runs(study.cases(experiment.topologies)));
  return {std::move(study)};
}

void require_sound(const RunStudy& study, Networks networks) {
  require_sound(study.cases(networks));
}

std::size_t RunStudy::case_count() const {
  std::size_t count = 0;
  for (const RunMatrix& matrix : matrices)
    count += static_cast<std::size_t>(size_of(matrix)) * matrix.disciplines.size() *
             matrix.noise.skews.size();
  return count;
}

std::vector<std::string> RunStudy::table_columns() const {
  std::vector<Discipline> disciplines;
  for (const Discipline discipline : {Discipline::fifo, Discipline::fluid})
    if (std::ranges::any_of(matrices, [discipline](const RunMatrix& matrix) {
          return std::ranges::find(matrix.disciplines, discipline) != matrix.disciplines.end();
        }))
      disciplines.push_back(discipline);
  OptionalRunColumns optional;
  for (const RunMatrix& matrix : matrices) {
    optional.transport |= matrix.transport != nullptr;
    optional.over_nccl |= matrix.over_nccl;
    for (const AlgorithmRow& row : matrix.algorithms) // beside which others stand
      optional.over_nccl |= row.name == "nccl" || row.name == "rccl";
    optional.noise |= matrix.noise.is_drawn();
  }
  return run_table_columns(disciplines, optional);
}

StudyResult run_study(const RunStudy& study, const StudyRun& how) {
  const auto results = std::make_shared<RunResults>();
  results->figures = study.figures;
  results->networks = how.networks;
  std::string left_out;
  results->cases = study.cases(how.networks, &left_out);
  if (!left_out.empty()) print_message("sizes: " + left_out);
  for (FigureRequest& figure : results->figures)
    figure.printed = printed_values(study.expectations, results->cases);
  keep_schedules(*results);
  results->evaluations = evaluate_cases(results->cases, how);
  const std::vector<Evaluation>& evaluations = results->evaluations;
  StudyResult result;
  result.files = {{.stem = "results",
                   .records = run_records(evaluations),
                   .chart = RunStudy::files().front().chart}};
  result.kind = RunStudy::kind;
  result.details = [results] { return run_details(results->evaluations, LinkDetail::none); };
  result.story = [results](const TableForm& form) {
    return report_text(results->evaluations, form);
  };
  if (!study.figures.empty()) result.figures = [results] { return figures_of(*results); };
  result.network_uses = [results] { return network_uses(results->networks, results->evaluations); };
  if (how.explores)
    result.plays = [results] {
      return explored_runs(results->cases, results->evaluations,
                           rows_of(results->cases, results->evaluations));
    };
  for (const Evaluation& e : evaluations)
    if (e.replays.empty() && !result.unanswered) result.unanswered = {e.status, e.note};
  result.comparisons = compare(study.expectations, result.files.front().records,
                               record_of_planned(results->cases, evaluations));
  result.defects = problems_of(evaluations);
  result.nothing_made = nothing_made(evaluations);
  return result;
}

} // namespace tutti
