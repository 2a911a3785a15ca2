// A schema that nobody holds against what is printed describes what was meant once. So every answer
// of every test goes through a validator that knows nothing of Tutti. Its headers are costly: this
// is the only file that includes them.
#include "tests/experiments/cli/json_schemas.hpp"

#include "sim/error.hpp"
#include "sim/files/files.hpp"
#include "tests/catch.hpp"

#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

#include <map>
#include <memory>

namespace tutti {

namespace {

using Json = nlohmann::json;
using Adapter = valijson::adapters::NlohmannJsonAdapter;

const Json& document(const std::string& name) {
  static std::map<std::string, Json> documents; // by file name, for the life of the tests
  const auto [at, is_new] = documents.try_emplace(name);
  if (is_new) at->second = Json::parse(read_file(TUTTI_SOURCE_DIR "/docs/schemas/" + name));
  return at->second;
}

const valijson::Schema& schema_of(const std::string& command) {
  static std::map<std::string, std::unique_ptr<valijson::Schema>> schemas;
  std::unique_ptr<valijson::Schema>& schema = schemas[command];
  if (!schema) {
    schema = std::make_unique<valijson::Schema>();
    valijson::SchemaParser parser(valijson::SchemaParser::kDraft7);
    parser.populateSchema(
        Adapter(document(command + ".json")), *schema,
        [](const std::string& uri) { return &document(uri); }, [](const Json*) {});
  }
  return *schema;
}

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
  valijson::Validator validator;
  valijson::ValidationResults results;
  if (validator.validate(schema_of(answer["command"]), Adapter(answer), &results)) return "";
  std::string errors;
  for (valijson::ValidationResults::Error error; results.popError(error);) {
    for (const std::string& part : error.context) errors += part;
    errors += ": " + error.description + "\n";
  }
  return errors;
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
