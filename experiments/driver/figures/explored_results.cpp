// Columns stand one after the other, each with what it counts: the page sorts, filters and draws
// them without knowing any kind of study.
#include "experiments/driver/figures/explored_results.hpp"

#include "experiments/driver/records/json.hpp"
#include "sim/words.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace tutti {

namespace {

using Json = nlohmann::ordered_json;

constexpr Words<Quantity, 15> quantity_words{"quantity",
                                             {"text", "texts", "truth", "count", "bytes", "time",
                                              "rate", "ratio", "part", "numeral", "number",
                                              "amount", "fact", "seconds", "effort"}};
constexpr Words<ColumnRole, 4> role_words{"role", {"key", "metric", "note", "cost"}};
constexpr Words<ExploredChart::Kind, 3> chart_words{"chart", {"points", "curves", "parts"}};

Json column_json(const Records& records, std::size_t c) {
  const RecordColumn& column = records.columns[c];
  Json values = Json::array();
  for (const std::vector<Cell>& row : records.rows) {
    Json value = json_of(row[c], column.quantity);
    values.push_back(value.is_array() ? Json(exact_text(row[c], column.quantity))
                                      : std::move(value));
  }
  return {{"name", column.name},
          {"title", title_of(column)},
          {"quantity", quantity_words.text(column.quantity)},
          {"role", role_words.text(column.role)},
          {"better", column.better == Better::higher ? "higher" : "lower"},
          {"meaning", column.meaning},
          {"values", std::move(values)}};
}

/// How many different values the column has, those that aren't known left out.
std::size_t values_in(const Records& records, const std::string& name) {
  const auto column = std::ranges::find(records.columns, name, &RecordColumn::name);
  if (column == records.columns.end()) return 0;
  const auto c = static_cast<std::size_t>(column - records.columns.begin());
  std::set<std::string> values;
  for (const std::vector<Cell>& row : records.rows)
    if (row[c].is_known()) values.insert(exact_text(row[c], column->quantity));
  return values.size();
}

/// Columns that have no value are left out, and `by` has those in which rows differ. Where all have
/// the same x, bars say more than a column of dots.
Json chart_json(const ExploredTable& table) {
  if (!table.chart) return nullptr;
  ExploredChart chart = *table.chart;
  const auto values = [&](const std::string& name) { return values_in(table.records, name); };
  std::erase_if(chart.y, [&](const std::string& name) { return values(name) == 0; });
  std::erase_if(chart.by, [&](const std::string& name) { return values(name) < 2; });
  if (chart.y.empty()) return nullptr;
  if (chart.kind != ExploredChart::Kind::parts && values(chart.x) < 2) {
    chart.kind = ExploredChart::Kind::parts;
    chart.y.resize(1);
  }
  const bool is_bars = chart.kind == ExploredChart::Kind::parts;
  const bool has_band = !is_bars && values(chart.low) > 0 && values(chart.high) > 0;
  return {{"kind", chart_words.text(chart.kind)},
          {"x", is_bars ? "" : chart.x},
          {"y", chart.y},
          {"by", chart.by},
          {"low", has_band ? chart.low : ""},
          {"high", has_band ? chart.high : ""}};
}

Json table_json(const ExploredTable& table) {
  Json columns = Json::array(), runs = Json::array(), pictures = Json::array();
  for (std::size_t c = 0; c < table.records.columns.size(); ++c)
    columns.push_back(column_json(table.records, c));
  for (const std::optional<std::size_t>& run : table.runs)
    runs.push_back(run ? static_cast<std::int64_t>(*run) : -1);
  for (const ExploredPicture& picture : table.pictures)
    pictures.push_back({{"title", picture.title}, {"svg", picture.svg}});
  return {{"title", table.title},          {"notes", table.notes},
          {"columns", std::move(columns)}, {"chart", chart_json(table)},
          {"runs", std::move(runs)},       {"pictures", std::move(pictures)}};
}

Json timeline_json(const ExploredTimeline& timeline) {
  Json json = {{"title", timeline.title},
               {"length_ps", timeline.length.ps},
               {"npus", timeline.npus},
               {"names", timeline.names},
               {"kinds", timeline.kinds}};
  for (const char* key : {"npu", "name", "kind", "start", "duration"}) json[key] = Json::array();
  for (const ExploredTimeline::Span& span : timeline.spans) {
    json["npu"].push_back(span.npu);
    json["name"].push_back(span.name);
    json["kind"].push_back(span.kind);
    json["start"].push_back(span.begin.ps);
    json["duration"].push_back((span.end - span.begin).ps);
  }
  return json;
}

} // namespace

std::string results_text(const Exploration& exploration) {
  Json tables = Json::array(), timelines = Json::array();
  for (const ExploredTable& table : exploration.tables) tables.push_back(table_json(table));
  for (const ExploredTimeline& timeline : exploration.timelines)
    timelines.push_back(timeline_json(timeline));
  return Json({{"tables", std::move(tables)}, {"timelines", std::move(timelines)}})
      .dump(-1, ' ', false, Json::error_handler_t::replace);
}

} // namespace tutti
