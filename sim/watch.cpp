// Stages are reported as they begin: one that is over before it would be asked is seen, too.
#include "sim/watch.hpp"

namespace tutti {

Watch watch_of(const StageWatch& watch, std::string stage) {
  if (!watch) return {};
  if (watch(stage, {})) throw Stopped();
  return [&watch, stage = std::move(stage)](const WorkProgress& progress) {
    return watch(stage, progress);
  };
}

void WatchedSteps::ask(const WorkProgress& progress) {
  since_asked_ = 0;
  if (watch_ && watch_(progress)) throw Stopped();
}

} // namespace tutti
