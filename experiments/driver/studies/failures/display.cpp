// Each line is written as its policy ends, so that Ctrl-C after an hour leaves more than nothing.
#include "experiments/driver/studies/failures/display.hpp"

#include <fmt/format.h>

#include <iostream>
#include <utility>

#include <unistd.h>

namespace tutti {

PolicyFinished policy_announcer(std::string what, std::ostream& out) {
  return [what = std::move(what), &out](const ScenarioEvaluation& scenario,
                                        const PolicyEvaluation& policy) {
    out << fmt::format("tutti: {}: {}: {} {}\n", what, to_text(scenario.scenario),
                       to_text(policy.recovery.policy), ending_text(policy.recovery))
        << std::flush;
  };
}

PolicyFinished policy_announcer(std::string what, bool lines_wanted) {
  if (!lines_wanted && isatty(STDERR_FILENO) == 0) return {};
  return policy_announcer(std::move(what), std::cerr);
}

} // namespace tutti
