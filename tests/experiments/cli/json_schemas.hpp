// What commands print as JSON, held against docs/schemas/.
#pragma once

#include <string>

namespace tutti {

/// What the schema of the command that printed `json` finds wrong, a line each; empty where nothing
/// is. Errors: InputError where it isn't JSON, or of no command.
[[nodiscard]] std::string schema_errors(const std::string& json);

/// Fails the test that runs where a command that was asked for JSON printed something else than its
/// schema says. Nothing printed is no answer.
void check_answer(const std::string& arguments, const std::string& out);

} // namespace tutti
