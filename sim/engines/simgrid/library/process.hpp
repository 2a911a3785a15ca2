// SimGrid's engine as this process sets it up: its command line, its log, its signals, and CM02 as
// a solver of bandwidth alone.
#pragma once

#include "sim/engines/simgrid/library/versions.hpp"

#include <simgrid/s4u.hpp>
#include <xbt/log.h>

#include <array>
#include <csignal>
#include <string>

namespace tutti {

/// SimGrid reads its command line; it keeps pointers into these.
struct SimGridArguments {
  std::array<char, 6> name{"tutti"};
  std::array<char*, 2> values{name.data(), nullptr};
  int count = 1;
};

inline SimGridArguments& simgrid_arguments() {
  static SimGridArguments given;
  xbt_log_control_set("root.thresh:warning");
  return given;
}

/// After the engine has been made, before its first zone. `model` as SimGrid calls it, with its own
/// parameters; `precision`: of time, in seconds.
inline void set_up_simgrid_model(const std::string& model, const std::string& precision) {
  // SimGrid's own handlers report a crash where there is only an interrupted run.
  for (const int signal : {SIGINT, SIGTERM, SIGSEGV}) std::signal(signal, SIG_DFL);
  simgrid::s4u::Engine::set_config("network/model:" + model);
  simgrid_versions::set_time_precision(precision);
}

/// Bandwidth alone: without cross-traffic and TCP's window a communication takes n/B.
inline void set_up_simgrid(const std::string& precision) {
  set_up_simgrid_model("CM02", precision);
  simgrid::s4u::Engine::set_config("network/crosstraffic:0");
  simgrid::s4u::Engine::set_config("network/TCP-gamma:0");
}

} // namespace tutti
