// Columns stand one after the other, each with what it counts: the page sorts, filters and draws them
// without knowing any kind of study.
#include "experiments/driver/figures/explored_results.hpp"

#include "experiments/driver/records/json.hpp"
#include "sim/words.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>

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

/// Null where the table lacks one of its columns: an optional one is there only with a value.
Json chart_json(const ExploredTable& table) {
  if (!table.chart || table.records.rows.empty()) return nullptr;
  const auto has = [&](const std::string& name) {
    return std::ranges::find(table.records.columns, name, &RecordColumn::name) !=
           table.records.columns.end();
  };
  const auto kept = [&](std::vector<std::string> names) {
    std::erase_if(names, [&](const std::string& name) { return !has(name); });
    return names;
  };
  const ExploredChart& chart = *table.chart;
  const std::vector<std::string> y = kept(chart.y);
  if (y.empty() || (!chart.x.empty() && !has(chart.x))) return nullptr;
  const bool has_band = has(chart.low) && has(chart.high);
  return {{"kind", chart_words.text(chart.kind)},
          {"x", chart.x},
          {"y", y},
          {"by", kept(chart.by)},
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
