// Whoever reads Tutti's JSON wants one loop for all of it: over "runs", whatever the command and
// however many there are.
#include "experiments/driver/records/json.hpp"

#include "experiments/driver/records/records.hpp"

#include <cassert>
#include <cmath>
#include <utility>

namespace tutti {

using Json = nlohmann::ordered_json;

constexpr int json_format = 3; // 1: a shape for each command; 2: other names

Json json_of(const Cell& cell, Quantity quantity) {
  if (!cell.is_known()) return nullptr;
  switch (quantity) {
  case Quantity::text:
  case Quantity::numeral: return text_or_null(cell.text());
  case Quantity::texts: return cell.texts();
  case Quantity::truth: return cell.holds();
  case Quantity::count:
  case Quantity::bytes:
  case Quantity::time: return cell.whole();
  case Quantity::rate:
    if (cell.is_whole()) return cell.whole();
    break;
  case Quantity::ratio:
  case Quantity::part:
  case Quantity::number:
  case Quantity::amount:
  case Quantity::fact:
  case Quantity::seconds:
  case Quantity::effort: break;
  }
  return cell.number();
}

Json runs_json(std::string_view kind, const Records& records, Json details) {
  assert(details.is_null() || details.size() == records.rows.size());
  Json runs = Json::array();
  for (std::size_t r = 0; r < records.rows.size(); ++r) {
    Json run = {{"kind", kind}};
    for (std::size_t c = 0; c < records.columns.size(); ++c)
      run[records.columns[c].name] = json_of(records.rows[r][c], records.columns[c].quantity);
    if (!details.is_null()) run["details"] = std::move(details[r]);
    runs.push_back(std::move(run));
  }
  return runs;
}

std::string answer_json(std::string_view command, Json runs, const Json& more) {
  Json answer = {{"format", json_format}, {"command", command}, {"runs", std::move(runs)}};
  if (!more.is_null()) answer.update(more);
  return json_text(answer);
}

Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json number_or_null(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

std::string json_text(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"; // names may be any bytes
}

} // namespace tutti
