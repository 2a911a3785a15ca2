// What tests of the command ask again and again: a refusal's message, an answer as JSON.
#pragma once

#include "tests/catch.hpp"
#include "tests/experiments/cli/run_tutti.hpp"

#include <nlohmann/json.hpp>

#include <string>

namespace tutti {

// Runs a command that must fail with code 2 and leave nothing on stdout; its message.
inline std::string refusal(const std::string& arguments) {
  const CommandResult result = run_tutti(arguments);
  INFO(arguments);
  CHECK(result.code == 2);
  CHECK(result.out.empty());
  CHECK(result.err.starts_with("tutti: "));
  return result.err;
}

inline nlohmann::json json_of(const std::string& arguments, const TemporaryFolder& folder) {
  const CommandResult result = run_tutti(arguments + " --json", folder);
  INFO(arguments);
  INFO(result.err);
  REQUIRE(result.code == 0);
  return nlohmann::json::parse(result.out);
}

inline nlohmann::json json_of(const std::string& arguments) {
  return json_of(arguments, TemporaryFolder());
}

/// The element of "runs" of a command that is asked for one thing.
inline nlohmann::json run_of(const std::string& arguments, const TemporaryFolder& folder) {
  const nlohmann::json answer = json_of(arguments, folder);
  REQUIRE(answer["runs"].size() == 1);
  return answer["runs"][0];
}

inline nlohmann::json run_of(const std::string& arguments) {
  return run_of(arguments, TemporaryFolder());
}

inline const std::string ring_synth =
    "synth -t ring:4 -c all_gather -a ring1 --size 4kB --chunks 1";

/// 10 us one way, nothing back: over 6,000 of the epochs in which teccl counts.
inline constexpr const char* slow_one_way = R"(npus = 2
[[links]]
from = 0
to = 1
directed = true
bandwidth = "100GB/s"
latency = "10us"
[[links]]
from = 1
to = 0
directed = true
bandwidth = "100GB/s"
latency = "0s"
)";

} // namespace tutti
