// Which files a folder of results has depends only on what the experiment asks, and each is written
// whole or not at all. Numbers go out before figures, so that what can't be drawn costs no results.
#include "experiments/driver/results/result_files.hpp"

#include "experiments/driver/figures/verdict_points.hpp"
#include "experiments/driver/records/file_stem.hpp"
#include "experiments/driver/records/json.hpp"
#include "experiments/driver/records/provenance.hpp"
#include "sim/error.hpp"
#include "sim/files/csv.hpp"
#include "sim/files/files.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>

namespace tutti {

namespace {

using Json = nlohmann::ordered_json;

Json beside_json(const ComparedBeside& beside) {
  return {{"algorithm", beside.algorithm},
          {"in_place_of", beside.in_place_of},
          {"text", beside.text},
          {"value", number_or_null(beside.value)}};
}

Json comparison_json(const Comparison& c) {
  return {{"label", c.label},
          {"paper", c.paper},
          {"ours", c.ours},
          {"value", number_or_null(c.value)},
          {"deviation", number_or_null(c.deviation)},
          {"verdict", to_text(c.agreement)},
          {"apart", text_or_null(c.apart)},
          {"explanation", text_or_null(c.explanation)},
          {"beside", c.beside ? beside_json(*c.beside) : Json(nullptr)}};
}

Json provenance_json() {
  const Provenance provenance = find_provenance();
  return {
      {"tutti", provenance.tutti}, {"commit", provenance.commit}, {"simgrid", provenance.simgrid}};
}

/// The files of all studies, those of one name as one, in the order of their first.
std::vector<RecordFile> joined_files(std::span<const StudyResult> results) {
  std::vector<RecordFile> files;
  for (const StudyResult& result : results)
    for (const RecordFile& file : result.files) {
      const auto found = std::ranges::find(files, file.stem, &RecordFile::stem);
      if (found == files.end())
        files.push_back(file);
      else
        append(found->records, file.records);
    }
  return files;
}

/// Whether all values are said without a unit, so that they have one axis.
bool are_plain(std::span<const Comparison> comparisons) {
  return std::ranges::all_of(comparisons, [](const Comparison& c) {
    return !c.apart.empty() || (!c.paper.empty() && c.paper.back() >= '0' && c.paper.back() <= '9');
  });
}

/// The papers' values, ours, and what expectations have beside them; nothing where no row has both.
std::optional<Figure> verdicts_figure(std::span<const Comparison> comparisons) {
  constexpr std::size_t most_rows = 60;
  VerdictPoints points{
      .series = {"paper", "ours"}, .rows = {}, .over_paper = !are_plain(comparisons)};
  const auto series_of = [&points](const std::string& algorithm) {
    const auto found = std::ranges::find(points.series, algorithm);
    const auto index = static_cast<std::size_t>(found - points.series.begin());
    if (found == points.series.end()) points.series.push_back(algorithm);
    return index;
  };
  const auto is_shown = [](const Comparison& c) {
    return c.apart.empty() && std::isfinite(c.deviation);
  };
  // A mean is drawn without the range of the values that it is of.
  const auto short_of = [](const std::string& text) { return text.substr(0, text.find(" (")); };
  for (const Comparison& c : comparisons)
    if (c.beside && is_shown(c)) (void)series_of(c.beside->algorithm);
  for (const Comparison& c : comparisons) {
    if (!is_shown(c)) continue;
    VerdictRow row{c.label, {points.series.size(), {"", std::nan("")}}};
    const double paper = points.over_paper ? c.value / (1 + c.deviation) : 1;
    row.points[0] = {c.paper, c.value / (1 + c.deviation) / paper};
    row.points[1] = {short_of(c.ours), c.value / paper};
    if (c.beside)
      row.points[series_of(c.beside->algorithm)] = {short_of(c.beside->text),
                                                    c.beside->value / paper};
    points.rows.push_back(std::move(row));
  }
  if (points.rows.size() > most_rows || points.rows.empty()) return std::nullopt;
  return verdict_points_figure(points);
}

/// Whose results lie in a folder, in words; empty where they are this experiment's, or none.
std::string other_owner(const std::string& folder, const Experiment& experiment) {
  if (std::filesystem::exists(folder + "/sweep.sqlite")) return "a sweep";
  const std::string file = folder + "/results.json";
  if (!std::filesystem::exists(file)) return "";
  const Json results = Json::parse(read_file(file), nullptr, false);
  const auto text = [&results](const char* key) {
    const auto found = results.is_object() ? results.find(key) : results.end();
    return found != results.end() && found->is_string() ? found->get<std::string>() : "";
  };
  const std::string name = text("experiment"), title = text("title");
  if (name.empty()) return "something else";
  if (name == experiment.name && title == experiment.title) return "";
  return fmt::format("the experiment {} (\"{}\")", name, title);
}

std::vector<TextFile> joined_texts(std::span<const StudyResult> results) {
  std::vector<TextFile> files;
  for (const StudyResult& result : results)
    for (const TextFile& file : result.texts) {
      const auto found = std::ranges::find(files, file.name, &TextFile::name);
      if (found == files.end())
        files.push_back(file);
      else
        found->text += file.text;
    }
  return files;
}

} // namespace

std::vector<Comparison> read_comparisons(const std::string& folder) {
  const std::string file = folder + "/results.json";
  if (!std::filesystem::exists(file)) return {};
  const Json results = Json::parse(read_file(file), nullptr, false);
  if (!results.is_object() || !results.contains("verdicts"))
    throw InputError(file + ": it has no verdicts of an experiment");
  std::vector<Comparison> comparisons;
  for (const Json& row : results["verdicts"]) try {
      const auto text = [&row](const char* key) {
        return row.at(key).is_null() ? "" : row.at(key).get<std::string>();
      };
      const auto number = [](const Json& value) {
        return value.is_null() ? std::nan("") : value.get<double>();
      };
      Comparison c{text("label"),
                   text("paper"),
                   text("ours"),
                   number(row.at("value")),
                   number(row.at("deviation")),
                   agreement_words.parse(text("verdict")),
                   text("apart"),
                   text("explanation")};
      if (const Json& beside = row.at("beside"); !beside.is_null())
        c.beside = {beside.at("algorithm"), beside.at("in_place_of"), beside.at("text"),
                    number(beside.at("value"))};
      comparisons.push_back(std::move(c));
    } catch (const std::exception&) { // of JSON, or an unknown verdict
      throw InputError(file + ": a verdict isn't as this version writes it: run it again");
    }
  return comparisons;
}

std::vector<Comparison> comparisons_of(std::span<const StudyResult> results) {
  std::vector<Comparison> comparisons;
  for (const StudyResult& result : results)
    comparisons.insert(comparisons.end(), result.comparisons.begin(), result.comparisons.end());
  return comparisons;
}

std::string finished_file(const std::string& folder) { return folder + "/finished.txt"; }

void start_results(const std::string& folder, const Experiment& experiment,
                   const std::string& toml) {
  if (const std::string owner = other_owner(folder, experiment); !owner.empty())
    throw InputError(fmt::format("{}: it has the results of {}: choose another folder by --out, "
                                 "or remove it",
                                 folder, owner));
  write_file(folder + "/" + experiment.name + ".toml", toml);
  std::filesystem::remove(finished_file(folder)); // what it says is of what will be replaced
}

std::string results_json(std::string_view command, std::span<const StudyResult> results,
                         const Experiment* experiment) {
  Json runs = Json::array(), studies = Json::array();
  const auto extend = [](Json& list, Json more) {
    for (Json& each : more) list.push_back(std::move(each));
  };
  for (const StudyResult& result : results) {
    extend(runs, runs_json(result.kind, result.files.front().records,
                           result.details ? result.details() : Json(nullptr)));
    for (Json& each : result.about ? result.about() : Json::array()) {
      Json study = {{"kind", result.kind}};
      study.update(each);
      studies.push_back(std::move(study));
    }
  }
  Json more = {{"studies", std::move(studies)}};
  if (experiment != nullptr) {
    more.update({{"experiment", experiment->name},
                 {"title", experiment->title},
                 {"seed", experiment->seed},
                 {"versions", provenance_json()},
                 {"verdicts", Json::array()}});
    for (const Comparison& c : comparisons_of(results))
      more["verdicts"].push_back(comparison_json(c));
  }
  return answer_json(command, std::move(runs), more);
}

std::vector<std::string> write_records(const std::string& folder,
                                       std::span<const StudyResult> results) {
  std::vector<std::string> files;
  const auto write = [&](const std::string& name, const std::string& content) {
    files.push_back(folder + "/" + name);
    write_file(files.back(), content);
  };
  for (const RecordFile& file : joined_files(results))
    write(file.stem + ".csv", csv_text(csv_rows(file.records)));
  for (const TextFile& file : joined_texts(results)) write(file.name, file.text);
  return files;
}

std::vector<std::string> write_results(const std::string& folder, const Experiment& experiment,
                                       std::span<const StudyResult> results) {
  std::vector<std::string> files = write_records(folder, results);
  const auto write = [&](const std::string& name, const std::string& content) {
    files.push_back(folder + "/" + name);
    write_file(files.back(), content);
  };
  write("results.json", results_json("run", results, &experiment));
  if (const std::vector<Comparison> comparisons = comparisons_of(results); !comparisons.empty())
    write("verdicts.md", comparison_markdown(experiment.title, comparisons));
  else // the file of an earlier run with expectations says nothing of these results
    std::filesystem::remove(folder + "/verdicts.md");
  return files;
}

std::vector<std::string> write_figures(const std::string& folder,
                                       std::span<const StudyResult> results,
                                       std::span<const std::string> formats) {
  FileNames names;
  for (const RecordFile& file : joined_files(results)) names.take(file.stem + ".csv");
  for (const TextFile& file : joined_texts(results)) names.take(file.name);
  const std::string verdicts = names.stem("verdicts", {".svg", ".csv"});
  std::vector<std::string> files;
  const auto write = [&](const Figure& figure, const std::string& stem, const char* data) {
    draw(figure, files.emplace_back(fmt::format("{}/{}.svg", folder, stem)));
    for (const std::string& format : formats)
      if (format != "svg")
        draw(figure, files.emplace_back(fmt::format("{}/{}.{}", folder, stem, format)));
    if (!figure.data.empty())
      write_file(files.emplace_back(fmt::format("{}/{}{}", folder, stem, data)),
                 csv_text(figure.data));
  };
  const auto write_named = [&](const Figure& figure, const std::string& stem) {
    const char* const data = names.is_taken(stem + ".csv") ? "_data.csv" : ".csv";
    write(figure, names.stem(stem, {".svg", data}), data);
  };
  for (const StudyResult& result : results) {
    if (result.figures)
      for (const NamedFigure& named : result.figures()) write_named(named.figure, named.stem);
    if (result.network_uses)
      for (const NetworkUse& use : result.network_uses()) write_named(use.figure(), use.stem);
  }
  if (const std::optional<Figure> figure = verdicts_figure(comparisons_of(results)))
    write(*figure, verdicts, ".csv");
  else // those of an earlier run say nothing of these results
    for (const char* ending : {".svg", ".csv"})
      std::filesystem::remove(fmt::format("{}/{}{}", folder, verdicts, ending));
  return files;
}

} // namespace tutti
