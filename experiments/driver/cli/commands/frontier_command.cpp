// `tutti frontier`: SCCL's Pareto frontier between latency and bandwidth, at every size.
#include "experiments/driver/cli/commands.hpp"
#include "experiments/driver/studies/frontiers/study.hpp"

namespace tutti {

int frontier_command(const FrontierArguments& arguments) {
  return run_study_line("frontier", FrontierStudy::kind, FrontierStudy::options_of_command(),
                        arguments);
}

} // namespace tutti
