// Executions as records, tables and JSON. What was measured stands beside what was predicted; a run
// that didn't happen has neither. There are two tables of the same runs: ours, and one in the
// columns of nccl-tests, for scripts and eyes that know those, with its counts, units and "out of
// bounds" line. JSON has every timed repetition, not only the median: whoever doubts a ratio wants
// the spread.
#include "experiments/driver/studies/executions/columns.hpp"

#include "experiments/driver/records/json.hpp"
#include "experiments/driver/records/records.hpp"
#include "experiments/driver/records/table.hpp"
#include "experiments/driver/requests/collective_request.hpp"
#include "experiments/driver/studies/runs/table.hpp"
#include "experiments/driver/studies/shared_columns.hpp"
#include "sim/text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace tutti {

namespace {

/// Nothing where the run has no time, or the copy rate wasn't measured.
std::optional<RateShare> rate_share(const ExecutionEvaluation& evaluation,
                                    const ExecutionRun& run) {
  if (evaluation.copy_rate <= 0 || run.measured() <= 0) return std::nullopt;
  const double copied = run.measured() * evaluation.copy_rate; // bytes
  return RateShare{static_cast<double>(run.execution->bytes_moved) / copied,
                   static_cast<double>(run.execution->memory_bytes) / (2 * copied)};
}

struct ExecutionRow {
  const ExecutionEvaluation* e;
  const ExecutionRun* run;
};

std::vector<ExecutionRow> rows_of(const ExecutionEvaluation& e) {
  std::vector<ExecutionRow> rows;
  for (const ExecutionRun& run : e.runs) rows.push_back({&e, &run});
  return rows;
}

Fields<ExecutionRow> case_fields() {
  using namespace column_words;
  using R = ExecutionRow;
  const auto lowered = [](auto member) { // 0: there is no program
    return [member](const R& r) { return r.run->*member > 0 ? Cell(r.run->*member) : Cell(); };
  };
  return {
      {shared("label"), [](const R& r) { return r.e->label; }},
      {shared("topology"), [](const R& r) { return r.e->topology; }},
      {{"backend", text, key, always,
        "`cpu`: ranks are threads over shared memory. `cuda`: ranks are GPUs, or virtual ones on "
        "one GPU"},
       [](const R& r) { return r.e->backend; }},
      {{"links", text, key, always,
        "`emulated`: copies are throttled to the links of the topology. `real`: they go as fast as "
        "they can"},
       [](const R& r) { return r.e->emulated ? "emulated" : "real"; }},
      {shared("collective"), [](const R& r) { return r.e->collective; }},
      {shared("size_bytes"), [](const R& r) { return r.run->size; }},
      {shared("algorithm"), [](const R& r) { return r.run->algorithm; }},
      {shared("chunks_per_shard",
              "K: number of chunks that a shard is cut into; null without a program"),
       lowered(&ExecutionRun::chunks_per_shard)},
      {{"type", text, key, always, "Type of elements: `float32`, `float64`, `int32` or `uint8`"},
       [](const R& r) { return to_text(r.e->type); }},
      {{"op", text, key, always, "How a reduction combines elements: `sum` or `max`"},
       [](const R& r) { return to_text(r.e->combine); }},
      {{"in_place", truth, key, always, "Whether input and output are one buffer"},
       [](const R& r) { return r.e->in_place; }},
      {{"instances", count, key, always,
        "Number of parts that each chunk is cut into, each on channels of its own"},
       [](const R& r) { return r.e->instances; }},
      {{"blocks", count, metric, sometimes,
        "Number of thread blocks of the program, over all ranks; null without a program"},
       lowered(&ExecutionRun::blocks)},
      {{"steps", count, metric, sometimes,
        "Number of steps of the program, over all thread blocks; null without a program"},
       lowered(&ExecutionRun::steps)},
      {{"channels", count, metric, sometimes,
        "Number of channels of the program; null without one"},
       lowered(&ExecutionRun::channels)}};
}

/// Fields of a run that was executed.
Fields<ExecutionRun> measured_fields() {
  using namespace column_words;
  using R = ExecutionRun;
  return {
      {{"measured_seconds", seconds, metric, sometimes,
        "Median time of the timed repetitions of all passes, by the clock; null where it didn't "
        "run"},
       [](const R& r) { return r.measured(); }},
      {{"least_seconds", seconds, metric, sometimes, "Time of the fastest repetition"},
       [](const R& r) { return std::ranges::min(r.execution->seconds); }},
      {{"most_seconds", seconds, metric, sometimes, "Time of the slowest repetition"},
       [](const R& r) { return std::ranges::max(r.execution->seconds); }},
      {{"predicted_time_ps", time, metric, sometimes,
        "Collective time that the native engine predicts in the first pass; null where nothing is "
        "predicted",
        0, "predicted"},
       [](const R& r) { return r.predicted.empty() ? Cell() : Cell(r.predicted.front()); }},
      {{"measured_over_predicted", ratio, metric, sometimes,
        "Median of a pass over the time predicted in that pass; the median of these over passes", 0,
        "ratio"},
       [](const R& r) { return r.predicted.empty() ? Cell() : Cell(r.ratio()); }},
      {{"ratio_spread", ratio, metric, sometimes,
        "Largest ratio of a pass (its median over its prediction) over the least, less 1: 0.1 for "
        "10 %; null of a single pass"},
       [](const R& r) { return Cell(r.ratio_spread()); }},
      {shared("algbw_bytes_per_s", "Algorithm bandwidth: `size_bytes / measured_seconds`"),
       [](const R& r) { return r.algbw; }},
      {shared("busbw_bytes_per_s"), [](const R& r) { return r.busbw; }},
      {{"checked", count, metric, sometimes,
        "Number of elements that were compared with a reference after the last run of the first "
        "pass, over all ranks"},
       [](const R& r) { return r.execution->check.checked; }},
      {{"wrong", count, metric, sometimes,
        "Number of `checked` elements that differ; more than 0 is a defect"},
       [](const R& r) { return r.execution->check.wrong; }}};
}

/// `fitted`: some run is fitted to.
Fields<ExecutionRow> execution_fields(bool fitted) {
  using namespace column_words;
  Fields<ExecutionRow> fields = case_fields();
  if (fitted)
    fields.push_back({{"fitted", truth, key, optional,
                       "Whether the profiled network was fitted to it, so that its prediction says "
                       "nothing; there only where `fit` is half"},
                      [](const ExecutionRow& r) { return r.run->fitted; }});
  extend(fields, fields_through<ExecutionRow>(measured_fields(), [](const ExecutionRow& r) {
           return r.run->execution ? r.run : nullptr;
         }));
  const auto share = [](auto member) {
    return [member](const ExecutionRow& r) {
      const auto found = rate_share(*r.e, *r.run);
      return found ? Cell((*found).*member) : Cell();
    };
  };
  fields.push_back(
      {{"copy_rate_fraction", part, metric, sometimes,
        "Bytes per second over all connections, over what the device copies from memory to memory: "
        "`bytes_moved / (measured * copy rate)`; null where the copy rate wasn't measured",
        0, "of copies", higher},
       share(&RateShare::sent)});
  fields.push_back({{"memory_rate_fraction", part, metric, sometimes,
                     "Bytes per second read and written, each place once, over what such a copy "
                     "reads and writes: `memory_bytes / (2 * measured * copy rate)`; null where "
                     "the copy rate wasn't measured",
                     0, "of memory", higher},
                    share(&RateShare::memory)});
  fields.push_back({shared("note", "Why it didn't run, in words; null where it did. A defect "
                                   "stands in `problem` of the JSON"),
                    [](const ExecutionRow& r) { return r.run->note; }});
  return fields;
}

constexpr double bytes_per_gb = 1e9, us_per_s = 1e6;

std::string prediction_text(const ExecutionEvaluation& e) {
  if (e.engines.empty()) return "nothing is predicted";
  return fmt::format("predictions of {} for {}", joined(e.engines, " and "),
                     e.profile ? "the profiled network" : "the topology");
}

/// "sum of float32"; the type alone where nothing is reduced.
std::string data_text(const ExecutionEvaluation& e) {
  const bool is_copied = e.collective.find("reduce") == std::string::npos &&
                         e.collective.find("custom") == std::string::npos &&
                         !is_collective_file(e.collective);
  const std::string type{to_text(e.type)};
  return is_copied ? type : fmt::format("{} of {}", to_text(e.combine), type);
}

/// Where throttled links are to be faster than the machine copies, its own rate is measured.
std::string pace_text(const ExecutionEvaluation& e) {
  constexpr double enough = 0.5; // of the links' rate
  if (!e.emulated || !e.profile || e.links_bytes_per_second <= 0 ||
      e.profile->joint_bytes_per_second >= enough * e.links_bytes_per_second)
    return "";
  return fmt::format("the machine copies slower than the links, which carry {} together: times are "
                     "its own\n",
                     short_rate_text(e.links_bytes_per_second));
}

/// What was fitted.
std::string factors_text(const ExecutionEvaluation& e) {
  if (e.factors.empty()) return "";
  std::vector<std::string> words;
  for (const auto& [size, factor] : e.factors)
    words.push_back(fmt::format("{:.2f} at {}", factor, short_text(size)));
  return fmt::format("times of the profiled network, by size: {}; between these on a line by "
                     "logarithms\n",
                     joined(words, ", "));
}

std::string execution_heading(const ExecutionEvaluation& e) {
  return fmt::format(
      "{}{}, {} ({} NPUs), {}, {}\nbackend {}{}; links {}; median of {} timed runs after {}; "
      "{}\n",
      e.label.empty() ? "" : e.label + ": ", e.topology, e.collective, e.npus, data_text(e),
      e.in_place ? "in place" : "out of place", e.backend, e.device.empty() ? "" : ", " + e.device,
      e.emulated ? "throttled to the topology's" : "as fast as they go", e.repetitions, e.warmups,
      prediction_text(e));
}

/// What a table says otherwise than a record, then all of the record.
Fields<ExecutionRow> table_fields(bool fitted) {
  using namespace column_words;
  using R = ExecutionRow;
  Fields<R> fields{{{"chunks/shard", numeral},
                    [](const R& r) {
                      const std::uint32_t chunks = r.run->chunks_per_shard;
                      return chunks > 0 ? Cell(chunks_text(chunks, r.run->chose_chunks)) : Cell();
                    }},
                   {{"wrong", numeral}, [](const R& r) {
                      if (!r.run->execution) return Cell();
                      const runtime::DataCheck& check = r.run->execution->check;
                      return Cell(fmt::format("{} of {}", check.wrong, check.checked));
                    }}};
  extend(fields, execution_fields(fitted));
  return fields;
}

/// `copies`: the device's rate of copies is known.
std::vector<ShownColumn> shown_columns(bool copies, bool fitted) {
  std::vector<ShownColumn> shown{
      {"size"},     {"algorithm"}, {"chunks/shard", 6}, {"blocks", 8},
      {"steps", 7}, {"measured"},  {"predicted_time"},  {"measured_over_predicted"},
      {"algbw", 3}, {"busbw", 4},  {"wrong", 1}};
  if (fitted) shown.insert(shown.begin() + 2, {"fitted"});
  if (copies) {
    shown.push_back({"copy_rate_fraction", 4});
    shown.push_back({"memory_rate_fraction", 5});
  }
  shown.push_back({"note", 2});
  return shown;
}

std::string error_text(const ExecutionEvaluation& e) {
  const auto all = prediction_error(e), large = prediction_error(e, Bytes{1'000'000});
  if (!all) return "";
  return fmt::format("predictions{} are off by {:.1f} % (geometric mean){}\n",
                     e.fits_half ? " of sizes that nothing was fitted to" : "", 100 * *all,
                     large ? fmt::format(", by {:.1f} % from 1 MB on", 100 * *large) : "");
}

/// Elements as nccl-tests counts them: of a rank where shards make up the size.
std::int64_t counted_elements(const ExecutionEvaluation& e, const ExecutionRun& run) {
  const std::int64_t elements =
      run.size.count / static_cast<std::int64_t>(runtime::element_size(e.type));
  const bool whole = e.collective.starts_with("all_reduce") ||
                     e.collective.starts_with("broadcast") || e.collective.starts_with("reduce,") ||
                     e.collective == "reduce";
  return whole ? elements : elements / e.npus;
}

std::string nccl_row(const ExecutionEvaluation& e, const ExecutionRun& run) {
  const std::string measured =
      fmt::format("{:>8.2f} {:>7.2f} {:>7.2f} {:>7}", us_per_s * run.measured(),
                  run.algbw / bytes_per_gb, run.busbw / bytes_per_gb, run.execution->check.wrong);
  const std::string absent = fmt::format("{:>8} {:>7} {:>7} {:>7}", "N/A", "N/A", "N/A", "N/A");
  return fmt::format("{:>12} {:>13} {:>9} {:>7} {:>7} {} {}\n", run.size.count,
                     counted_elements(e, run), to_text(e.type), to_text(e.combine), -1,
                     e.in_place ? absent : measured, e.in_place ? measured : absent);
}

std::string nccl_block(const ExecutionEvaluation& e, const std::string& algorithm) {
  std::string text =
      fmt::format("# {} by {} on {}, {}\n", e.collective, algorithm, e.topology, e.device);
  text += fmt::format("#{:>61}{:>33}\n", "out-of-place", "in-place");
  text += fmt::format("#{:>11} {:>13} {:>9} {:>7} {:>7} {:>8} {:>7} {:>7} {:>7} {:>8} {:>7} {:>7} "
                      "{:>7}\n",
                      "size", "count", "type", "redop", "root", "time", "algbw", "busbw", "#wrong",
                      "time", "algbw", "busbw", "#wrong");
  text += fmt::format("#{:>11} {:>13} {:>9} {:>7} {:>7} {:>8} {:>7} {:>7} {:>7} {:>8} {:>7} "
                      "{:>7}\n",
                      "(B)", "(elements)", "", "", "", "(us)", "(GB/s)", "(GB/s)", "", "(us)",
                      "(GB/s)", "(GB/s)");
  double busbw = 0;
  std::uint64_t rows = 0, wrong = 0;
  for (const ExecutionRun& run : e.runs) {
    if (run.algorithm != algorithm) continue;
    if (!run.execution) {
      text += fmt::format("# {} B: {}\n", run.size.count, run.note);
      continue;
    }
    text += nccl_row(e, run);
    busbw += run.busbw / bytes_per_gb;
    wrong += run.execution->check.wrong;
    ++rows;
  }
  return text + fmt::format("# Out of bounds values : {} {}\n# Avg bus bandwidth    : {:g}\n",
                            wrong,
                            rows == 0    ? "NOT RUN"
                            : wrong == 0 ? "OK"
                                         : "FAILED",
                            rows > 0 ? busbw / static_cast<double>(rows) : 0);
}

using Json = nlohmann::ordered_json;

Json run_details(const ExecutionRun& run) {
  Json json = {{"chunks_chosen", run.chose_chunks},
               {"transfers", run.transfers},
               {"scratch_units", run.scratch_units},
               {"lowering_seconds", run.lowering_seconds},
               {"problem", text_or_null(run.problem)}};
  if (!run.execution) return json;
  json["seconds"] = run.execution->seconds;
  json["predicted_ps"] = Json::array();
  for (const Time time : run.predicted) json["predicted_ps"].push_back(time.ps);
  json["bytes_moved"] = run.execution->bytes_moved;
  json["memory_bytes"] = run.execution->memory_bytes;
  return json;
}

} // namespace

std::optional<double> prediction_error(const ExecutionEvaluation& evaluation, Bytes from) {
  double sum = 0;
  std::size_t count = 0;
  for (const ExecutionRun& run : evaluation.runs) {
    if (run.measured() <= 0 || run.ratio() <= 0 || run.fitted || run.size < from) continue;
    sum += std::abs(std::log(run.ratio()));
    ++count;
  }
  if (count == 0) return std::nullopt;
  return std::exp(sum / static_cast<double>(count)) - 1;
}

std::optional<RateShare> best_rate_share(const ExecutionEvaluation& evaluation) {
  std::optional<RateShare> best;
  for (const ExecutionRun& run : evaluation.runs) {
    const auto share = rate_share(evaluation, run);
    if (share && (!best || share->sent > best->sent)) best = share;
  }
  return best;
}

Records execution_records(const ExecutionEvaluation& e) {
  return records_of<ExecutionRow>(execution_fields(e.fits_half), rows_of(e));
}

std::vector<RecordFile> ExecutionStudy::files() {
  return {{"executions", records_of<ExecutionRow>(execution_fields(true), {}), true}};
}

std::vector<std::string> ExecutionStudy::table_columns() const {
  return column_names(records_of<ExecutionRow>(table_fields(true), {}).columns,
                      shown_columns(execution.measures_copy_rate, true));
}

std::string execution_text(const ExecutionEvaluation& e, const TableForm& form) {
  std::string text = execution_heading(e);
  if (e.profile)
    text += fmt::format("profile: {} links, fitted within {:.1f} %, all at once {}\n",
                        e.profile->links.size(), 100 * e.profile->fit_error(),
                        short_rate_text(e.profile->joint_bytes_per_second));
  text += factors_text(e) + pace_text(e);
  text += to_text(records_table(records_of<ExecutionRow>(table_fields(e.fits_half), rows_of(e)),
                                shown_columns(e.copy_rate > 0, e.fits_half), form),
                  form) +
          error_text(e);
  for (const ExecutionRun& run : e.runs)
    if (!run.remark.empty())
      text += fmt::format("{}, {}: {}\n", run.algorithm, to_text(run.size), run.remark);
  if (const auto share = best_rate_share(e))
    text += fmt::format("the device copies {}; all connections together reach {:.1f} % of it, the "
                        "memory at least {:.1f} % of what that copy reads and writes\n",
                        short_rate_text(e.copy_rate), 100 * share->sent, 100 * share->memory);
  return text;
}

std::string nccl_tests_text(const ExecutionEvaluation& e) {
  std::vector<std::string> algorithms;
  for (const ExecutionRun& run : e.runs)
    if (std::ranges::find(algorithms, run.algorithm) == algorithms.end())
      algorithms.push_back(run.algorithm);
  std::string text;
  for (const std::string& algorithm : algorithms) text += nccl_block(e, algorithm);
  return text;
}

std::string profile_text(const Topology& network, const runtime::Profile& profile,
                         const TableForm& form) {
  using namespace column_words;
  using L = runtime::LinkProfile;
  const Fields<L> fields{{{"link", text},
                          [&](const L& l) {
                            const Link& of = network.link(l.link);
                            return network.node(of.from).name + ">" + network.node(of.to).name;
                          }},
                         {{"latency", seconds}, [](const L& l) { return l.latency_seconds; }},
                         {{"bandwidth", rate}, [](const L& l) { return 1 / l.seconds_per_byte; }},
                         {{"fit_error", part}, [](const L& l) { return l.fit_error; }}};
  return to_text(records_table(records_of<L>(fields, profile.links)), form) +
         fmt::format("all links at once: {}; fitted within {:.1f} %\n",
                     short_rate_text(profile.joint_bytes_per_second), 100 * profile.fit_error());
}

Json execution_details(const ExecutionEvaluation& e) {
  Json details = Json::array();
  for (const ExecutionRun& run : e.runs) details.push_back(run_details(run));
  return details;
}

Json about_executions(const ExecutionEvaluation& e) {
  const auto error = prediction_error(e);
  return Json::array(
      {{{"label", text_or_null(e.label)},
        {"topology", e.topology},
        {"npus", e.npus},
        {"backend", e.backend},
        {"device", text_or_null(e.device)},
        {"predicted_by", to_text(e.predicted_by)},
        {"engine", joined(e.engines, "+")},
        {"warmups", e.warmups},
        {"repetitions", e.repetitions},
        {"profile", e.profile ? profile_json(*e.network, *e.profile) : Json(nullptr)},
        {"device_copy_bytes_per_s", e.copy_rate > 0 ? Json(e.copy_rate) : Json(nullptr)},
        {"prediction_error", error ? Json(*error) : Json(nullptr)}}});
}

Json profile_json(const Topology& network, const runtime::Profile& profile) {
  Json links = Json::array();
  for (const runtime::LinkProfile& link : profile.links) {
    const Link& of = network.link(link.link);
    Json timings = Json::array();
    for (const runtime::LinkTiming& timing : link.timings)
      timings.push_back({{"size_bytes", timing.size.count},
                         {"one_by_one_seconds", timing.one_by_one_seconds},
                         {"at_once_seconds", timing.at_once_seconds}});
    links.push_back({{"from", network.node(of.from).name},
                     {"to", network.node(of.to).name},
                     {"latency_seconds", link.latency_seconds},
                     {"seconds_per_byte", link.seconds_per_byte},
                     {"fit_error", link.fit_error},
                     {"timings", std::move(timings)}});
  }
  return {{"joint_bytes_per_s", profile.joint_bytes_per_second},
          {"fit_error", profile.fit_error()},
          {"links", std::move(links)}};
}

} // namespace tutti
