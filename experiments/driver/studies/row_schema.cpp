// What programs and docs/columns.md know of rows is written from the columns themselves, so that a
// new one is said once, where its value is. Only what is no single value of a row is described by
// hand (docs/schemas/details.json).
#include "experiments/driver/studies/row_schema.hpp"

#include "experiments/driver/records/records.hpp"
#include "experiments/driver/studies/experiment.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

namespace tutti {

namespace {

using Json = nlohmann::ordered_json;

std::string_view unit_of(Quantity quantity) {
  switch (quantity) {
  case Quantity::time: return " [ps]";
  case Quantity::bytes: return " [bytes]";
  case Quantity::rate: return " [bytes/s]";
  case Quantity::seconds: return " [s]";
  case Quantity::effort: return " [CPU s]";
  default: return "";
  }
}

std::string_view type_of(Quantity quantity) {
  switch (quantity) {
  case Quantity::text:
  case Quantity::numeral: return "string";
  case Quantity::truth: return "boolean";
  case Quantity::count:
  case Quantity::bytes:
  case Quantity::time: return "integer";
  default: return "number";
  }
}

Json value_schema(const RecordColumn& column) {
  Json schema{{"description", fmt::format("{}{}", column.meaning, unit_of(column.quantity))}};
  if (!column.title.empty()) schema["heading"] = column.title;
  const std::string type(type_of(column.quantity));
  schema["type"] = column.presence == Presence::always ? Json(type) : Json{type, "null"};
  return schema;
}

/// What stands for a name in a family's: "NAME" of "fact:NAME", "K" of "lower_bound_at_K_ps".
std::pair<std::string, std::string> around_name(const std::string& family) {
  constexpr const char* capitals = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
  return {family.substr(0, family.find_first_of(capitals)),
          family.substr(family.find_last_of(capitals) + 1)};
}

bool is_of_family(const RecordColumn& column, std::span<const RecordColumn> all) {
  return std::ranges::any_of(all, [&](const RecordColumn& other) {
    return other.presence == Presence::family &&
           column.name.starts_with(around_name(other.name).first);
  });
}

Json file_schema(const RecordFile& file, std::string_view kind) {
  Json properties, families = Json::object(), required = Json::array();
  if (!kind.empty()) {
    properties["kind"] = {{"description", "Kind of row, as its tables are called in experiments"},
                          {"enum", {kind}}};
    required.push_back("kind");
  }
  for (const RecordColumn& column : file.records.columns) {
    if (column.presence == Presence::family) {
      const auto [before, after] = around_name(column.name);
      families[fmt::format("^{}.+{}$", before, after)] = value_schema(column);
      continue;
    }
    if (is_of_family(column, file.records.columns)) continue;
    properties[column.name] = value_schema(column);
    if (column.presence != Presence::optional) required.push_back(column.name);
  }
  if (file.has_details) {
    properties["details"] = {{"$ref", fmt::format("details.json#/definitions/{}", kind)}};
    required.push_back("details");
  }
  return {{"description", fmt::format("A row of {}.csv", file.stem)},
          {"type", "object"},
          {"properties", properties},
          {"patternProperties", families},
          {"required", required},
          {"additionalProperties", false}};
}

} // namespace

std::string row_schema() {
  Json definitions;
  for_each_kind([&definitions]<typename Kind>(std::type_identity<Kind>) {
    std::string_view kind = Kind::kind; // the first file has the rows of JSON
    for (const RecordFile& file : Kind::files()) {
      definitions[kind.empty() ? file.stem : std::string(kind)] = file_schema(file, kind);
      kind = {};
    }
  });
  const Json schema{{"$schema", "http://json-schema.org/draft-07/schema#"},
                    {"title", "Rows"},
                    {"description",
                     "Elements of \"runs\" that several commands print, and rows of the CSV files "
                     "that JSON has elsewhere. Written by `tutti man --schema`"},
                    {"definitions", definitions}};
  return schema.dump(1) + "\n";
}

} // namespace tutti
