// SQLite could take a document apart, too, but not so that each number is the one that was written:
// its last bit may differ.
#include "experiments/driver/sweep/store/point_documents.hpp"

#include "experiments/driver/sweep/space/value_json.hpp"

#include <nlohmann/json.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>

namespace tutti::sweep {

namespace {

using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;

// Messages of exceptions may be in any encoding.
std::string text_of(const OrderedJson& json) {
  return json.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

} // namespace

std::string entered_document(const PointSpace& space, const Point& point) {
  OrderedJson json = OrderedJson::object();
  for (std::size_t i = 0; i < space.names.size(); ++i) {
    const Value& value = point.values[i];
    json[space.names[i]] =
        value.kind == Value::Kind::boolean ? value_json(value.number) : value_json(value);
  }
  json["experiment_seed"] = point.seed;
  return text_of(json);
}

std::string results_document(const PointResults& results, const std::string& tutti,
                             const std::string& commit) {
  OrderedJson json{{"message", results.message}};
  for (const auto& [name, number] : results.numbers)
    if (std::isfinite(number)) json[name] = value_json(number);
  json["cpu_seconds"] = results.cpu_seconds;
  json["synthesis_seconds"] = results.synthesis_seconds;
  json["peak_bytes"] = results.peak_bytes;
  json["tutti"] = tutti;
  json["commit_id"] = commit;
  return text_of(json);
}

void read_document(std::string_view document,
                   const std::function<void(const std::string&, Value)>& each) {
  const Json json = Json::parse(document);
  for (const auto& [name, value] : json.items())
    each(name, value.is_string() ? Value{Value::Kind::text, Unit::none, 0, value.get<std::string>()}
                                 : number_value(value.get<double>()));
}

} // namespace tutti::sweep
