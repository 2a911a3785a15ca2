// Jobs that share a network, from TOML: [[jobs]] of an experiment, or a file for `tutti jobs`.
//
//   label = "Two jobs"                     # only in an experiment: names its figure; unique
//   topology = "DragonFly"                 # only in an experiment: a label
//   algorithms = ["ring", "tacos"]         # each: every job by it, made as if it were alone
//   together = ["tacos"]                   # each: one synthesis for all; one of both is needed
//   engine = "both"                        # default; or native, simgrid
//   settings = {key = "value"}             # and link_busy, forwarding, limit as in [[runs]]
//   [[jobs.job]]                           # in a file: [[job]]
//   name = "A"                             # unique
//   collective = "all_reduce,group=0-27"
//   size = "1GiB"                          # default
//   chunks = 1                             # per shard; default "auto"
//   start = "0s"                           # default
//   priority = 0                           # 0 .. 7, default 0: a higher one is served first
//   algorithm = "ring"                     # default: the plan's
#pragma once

#include "experiments/driver/studies/experiment.hpp"
#include "experiments/driver/studies/jobs/study.hpp"
#include "sim/files/config.hpp"

#include <string>

namespace tutti {

/// One [[jobs]] of an experiment. Errors: InputError with the place of what is wrong.
[[nodiscard]] JobStudy read_jobs(ConfigTable table, const Experiment& experiment);

/// A file for `tutti jobs`. Errors: as above.
[[nodiscard]] JobStudy read_job_file(const std::string& file, const Topology& topology,
                                     std::uint64_t seed);

} // namespace tutti
