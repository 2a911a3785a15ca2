// JSON rather than bytes: the ranks of an MPI job, on other machines, exchange the same texts.
#include "experiments/driver/sweep/point_messages.hpp"

#include <nlohmann/json.hpp>

#include <cmath>
#include <utility>

namespace tutti::sweep {

namespace {

using Json = nlohmann::json;

// Messages of exceptions may be in any encoding.
std::string text_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json json_of(const Value& value) {
  switch (value.kind) {
  case Value::Kind::text: return value.text;
  case Value::Kind::boolean: return value.number != 0;
  case Value::Kind::number: break;
  }
  return {value.number, to_text(value.unit)};
}

Value value_of(const Json& json) {
  if (json.is_string()) return {Value::Kind::text, Unit::none, 0, json.get<std::string>()};
  if (json.is_boolean()) return boolean_value(json.get<bool>());
  return number_value(json.at(0).get<double>(), parse_unit(json.at(1).get<std::string>()));
}

Json json_of(const PointResults& results) {
  Json numbers = Json::object();
  for (const auto& [name, number] : results.numbers)
    if (std::isfinite(number)) numbers[name] = number;
  return {{"status", to_text(results.status)},      {"message", results.message},
          {"numbers", std::move(numbers)},          {"cpu", results.cpu_seconds},
          {"synthesis", results.synthesis_seconds}, {"peak", results.peak_bytes}};
}

PointResults results_of(const Json& json) {
  PointResults results;
  results.status = status_words.parse(json.at("status").get<std::string>());
  results.message = json.at("message").get<std::string>();
  results.numbers = json.at("numbers").get<std::map<std::string, double>>();
  results.cpu_seconds = json.at("cpu").get<double>();
  results.synthesis_seconds = json.at("synthesis").get<double>();
  results.peak_bytes = json.at("peak").get<std::int64_t>();
  return results;
}

} // namespace

std::string message_of(const PointResults& results) { return text_of(json_of(results)); }

PointResults parse_results(const std::string& message) { return results_of(Json::parse(message)); }

std::string message_of(const PointRequest& request) {
  Json values = Json::object();
  for (const auto& [name, value] : request.values) values[name] = json_of(value);
  return text_of({{"position", request.position}, {"seed", request.seed}, {"values", values}});
}

PointRequest parse_request(const std::string& message) {
  const Json json = Json::parse(message);
  PointRequest request{
      json.at("position").get<std::size_t>(), json.at("seed").get<std::uint64_t>(), {}};
  for (const auto& [name, value] : json.at("values").items())
    request.values[name] = value_of(value);
  return request;
}

std::string message_of(const PointAnswers& answers) {
  Json finished = Json::array();
  for (const FinishedPoint& each : answers.finished)
    finished.push_back({{"position", each.position}, {"results", json_of(each.results)}});
  return text_of({{"finished", finished}, {"dropped", answers.dropped}});
}

PointAnswers parse_answers(const std::string& message) {
  const Json json = Json::parse(message);
  PointAnswers answers;
  for (const Json& each : json.at("finished"))
    answers.finished.push_back(
        {each.at("position").get<std::size_t>(), results_of(each.at("results"))});
  answers.dropped = json.at("dropped").get<std::vector<std::size_t>>();
  return answers;
}

} // namespace tutti::sweep
