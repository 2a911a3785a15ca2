// What reading an experiment says of a mistake in it.
#pragma once

#include "experiments/driver/studies/experiment.hpp"
#include "tests/message_of.hpp"

#include <string>

namespace tutti {

/// The message, with places in "e.toml"; empty where there is none.
inline std::string experiment_error(const std::string& toml) {
  return message_of([&] { (void)parse_experiment(toml, "e.toml"); });
}

} // namespace tutti
