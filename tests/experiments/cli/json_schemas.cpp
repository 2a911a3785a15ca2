// A schema that nobody holds against what is printed describes what was meant once. So every answer
// of every test is held against docs/schemas/, by the keywords of JSON Schema that stand there and
// no others: one that isn't known here is an error, as what it says would go unchecked. (Debian's
// only validator for C++ brings all of Qt; python3-jsonschema comes to the same verdicts.) Ours is
// "heading", which is ignored as a description is: what tables on a terminal call a column.
#include "tests/experiments/cli/json_schemas.hpp"

#include "sim/error.hpp"
#include "sim/files/files.hpp"
#include "tests/catch.hpp"
#include "tests/paths.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <regex>
#include <utility>

namespace tutti {

namespace {

using Json = nlohmann::json;

/// A file of docs/schemas/, by its name.
const Json& document(const std::string& name) {
  static std::map<std::string, Json> documents; // for the life of the tests
  const auto [at, is_new] = documents.try_emplace(name);
  if (is_new) at->second = Json::parse(read_file(TUTTI_SOURCE_DIR "/docs/schemas/" + name));
  return at->second;
}

bool is_of_type(const Json& value, const std::string& type) {
  if (type == "integer") return value.is_number_integer();
  if (type == "number") return value.is_number();
  if (type == "string") return value.is_string();
  if (type == "boolean") return value.is_boolean();
  if (type == "null") return value.is_null();
  if (type == "array") return value.is_array();
  if (type == "object") return value.is_object();
  throw InputError("unknown type in a schema: " + type);
}

/// A part of a schema, and the file that it stands in.
struct Part {
  const Json& schema;
  std::string file;

  [[nodiscard]] Part at(const std::string& key) const { return {schema.at(key), file}; }
};

Part referred(const Part& from, const std::string& reference) {
  const std::size_t hash = reference.find('#');
  const std::string file = hash == 0 ? from.file : reference.substr(0, hash);
  const Json& whole = document(file);
  if (hash == std::string::npos) return {whole, file};
  return {whole.at(Json::json_pointer(reference.substr(hash + 1))), file};
}

/// What is wrong with a value, a line each.
class Errors {
public:
  void check(const Json& value, const Part& part, const std::string& path) {
    for (const auto& [keyword, said] : part.schema.items()) check(value, part, keyword, said, path);
  }
  [[nodiscard]] const std::string& text() const { return text_; }

private:
  void add(const std::string& path, const std::string& message) {
    text_ += fmt::format("{}: {}\n", path, message);
  }

  void check(const Json& value, const Part& part, const std::string& keyword, const Json& said,
             const std::string& path) {
    if (keyword == "$ref") {
      check(value, referred(part, said), path);
    } else if (keyword == "type") {
      const Json types = said.is_array() ? said : Json::array({said});
      if (std::none_of(types.begin(), types.end(),
                       [&](const Json& type) { return is_of_type(value, type); }))
        add(path, fmt::format("{} isn't of type {}", value.dump().substr(0, 80), said.dump()));
    } else if (keyword == "enum") {
      if (std::find(said.begin(), said.end(), value) == said.end())
        add(path, fmt::format("{} isn't in {}", value.dump(), said.dump()));
    } else if (keyword == "minimum") {
      if (value.is_number() && value.get<double>() < said.get<double>())
        add(path, fmt::format("{} is below {}", value.dump(), said.dump()));
    } else if (keyword == "pattern") {
      if (value.is_string() &&
          !std::regex_search(value.get<std::string>(), std::regex(said.get<std::string>())))
        add(path, fmt::format("{} isn't as {}", value.dump(), said.dump()));
    } else if (keyword == "required") {
      for (const Json& key : said)
        if (value.is_object() && !value.contains(key.get<std::string>()))
          add(path, fmt::format("{} is missing", key.dump()));
    } else if (keyword == "properties") {
      for (const auto& [key, property] : said.items())
        if (value.is_object() && value.contains(key))
          check(value[key], {property, part.file}, path + "/" + key);
    } else if (keyword == "additionalProperties") {
      check_others(value, part, path);
    } else if (keyword == "items") {
      for (std::size_t i = 0; value.is_array() && i < value.size(); ++i)
        check(value[i], {said, part.file}, fmt::format("{}/{}", path, i));
    } else if (keyword == "oneOf") {
      check_one_of(value, part, path);
    } else if (keyword == "not") {
      Errors inside;
      inside.check(value, {said, part.file}, path);
      if (inside.text().empty()) add(path, "there must be none");
    } else if (keyword != "description" && keyword != "heading" && keyword != "title" &&
               keyword != "$schema" && keyword != "definitions" && keyword != "patternProperties") {
      throw InputError(fmt::format("{}: unknown keyword {}", part.file, keyword));
    }
  }

  /// Of an object what "properties" doesn't name: by "patternProperties", else as this keyword
  /// says.
  void check_others(const Json& value, const Part& part, const std::string& path) {
    if (!value.is_object()) return;
    const Json none = Json::object();
    const Json& named = part.schema.contains("properties") ? part.schema.at("properties") : none;
    const Json& patterns =
        part.schema.contains("patternProperties") ? part.schema.at("patternProperties") : none;
    const Json& others = part.schema.at("additionalProperties");
    for (const auto& [key, each] : value.items()) {
      if (named.contains(key)) continue;
      const std::string inside = path + "/" + key;
      bool is_known = false;
      for (const auto& [pattern, schema] : patterns.items())
        if (std::regex_search(key, std::regex(pattern))) {
          is_known = true;
          check(each, {schema, part.file}, inside);
        }
      if (is_known) continue;
      if (others.is_object())
        check(each, {others, part.file}, inside);
      else if (!others.get<bool>())
        add(path, fmt::format("\"{}\" isn't known", key));
    }
  }

  /// What is wrong is told by the alternative in which least is.
  void check_one_of(const Json& value, const Part& part, const std::string& path) {
    std::size_t matches = 0;
    std::string least;
    for (const Json& each : part.schema.at("oneOf")) {
      Errors inside;
      inside.check(value, {each, part.file}, path);
      if (inside.text().empty()) ++matches;
      if (least.empty() || inside.text().size() < least.size()) least = inside.text();
    }
    if (matches == 0) text_ += least;
    if (matches > 1) add(path, fmt::format("{} alternatives fit", matches));
  }

  std::string text_;
};

} // namespace

std::string schema_errors(const std::string& json) {
  Json answer;
  try {
    answer = Json::parse(json);
  } catch (const Json::exception& error) {
    throw InputError(std::string("not JSON: ") + error.what());
  }
  if (!answer.is_object() || !answer.contains("command") || !answer["command"].is_string())
    throw InputError("no answer of a command");
  const std::string file = answer["command"].get<std::string>() + ".json";
  Errors errors;
  errors.check(answer, {document(file), file}, "");
  return errors.text();
}

void check_answer(const std::string& arguments, const std::string& out) {
  const bool wants_json = (arguments + " ").find(" --json ") != std::string::npos;
  if (out.empty() || !wants_json || arguments.starts_with("--complete")) return;
  INFO(arguments);
  INFO(out.substr(0, 4000));
  try {
    CHECK(schema_errors(out) == "");
  } catch (const InputError& error) {
    FAIL_CHECK(error.what());
  }
}

} // namespace tutti
