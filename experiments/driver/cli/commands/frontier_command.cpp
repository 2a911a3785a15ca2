// `tutti frontier`: SCCL's Pareto frontier between latency and bandwidth, at every size.
#include "experiments/driver/cli/commands.hpp"

namespace tutti {

int frontier_command(const FrontierArguments& arguments) {
  return run_study_line("frontier", arguments);
}

} // namespace tutti
