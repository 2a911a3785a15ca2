// What `tutti exec` and `tutti profile` have in common: where programs run, and over which links.
#pragma once

#include "experiments/driver/cli/commands.hpp"
#include "experiments/driver/studies/executions/evaluation.hpp"

#include <cstdint>
#include <string>

namespace tutti {

/// Fills in backend, links, repetitions and watchdog. Errors: InputError naming the option.
void read_backend(const BackendArguments& arguments, ExecutionCase& c);

/// A whole number in this range. Errors: InputError naming the option.
[[nodiscard]] std::uint32_t parse_count(const std::string& option, const std::string& text,
                                        std::int64_t least, std::int64_t most);

/// One of two words; whether it is the first. Errors: InputError naming the option and both.
[[nodiscard]] bool is_first(const std::string& option, const std::string& text,
                            const std::string& first, const std::string& second);

} // namespace tutti
