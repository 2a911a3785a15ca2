// Network events from TOML, a file for `tutti failures --events` or a part of [[failures]]:
//
//   [[events]]
//   at = "1ms"                     # or "50%": of the time that the run takes undisturbed
//   link_down = "npu0>npu1"        # all links from npu0 to npu1; "npu0-npu1": both directions
//   [[events]]
//   at = "2ms"
//   link_up = "npu0>npu1"
//   [[events]]
//   at = "0s"
//   link_rate = "npu2>npu3"        # from now on a share of its bandwidth, above 0, at most 1
//   share = 0.25
//   [[events]]
//   at = "0s"
//   link_latency = "npu2-npu3"     # for what sets out from now on
//   latency = "5us"
//   [[events]]
//   at = "30%"
//   npu_down = "npu5"              # for good
//   [[events]]
//   at = "0s"
//   straggler = "npu4"             # every link out of it has a share of its rate
//   share = 0.5
//
//   failed_links = 10              # so many random cables go down, never the last path to an NPU;
//                                  # a list: one run for each
//   at = "50%"                     # when they do; default 50%
//   seeds = [1, 2, 3]              # of what is drawn: one run for each; default the run's seed
//
//   [generated]                    # random failures, each at a random moment of the run
//   weeks = 1.0                    # as many as in so long a time; default 1
//   npus_per_week = "0.5%"         # of all NPUs; default 0%, as the other rates
//   links_per_week = "0.1%"        # of all cables, both directions
//   stragglers_per_week = "1%"     # of all NPUs
//   straggler_share = 0.5          # default
//   seed = 7                       # instead of `seeds`
//
// What is drawn of failed_links and generated leaves alone what [[events]] name. Events of one
// instant happen in the order given.
#pragma once

#include "experiments/driver/studies/event_plan.hpp"
#include "sim/files/config.hpp"
#include "sim/topology.hpp"

#include <string>
#include <string_view>

namespace tutti {

/// The keys above of a table that may have others. Errors: InputError with file:line:column for
/// unknown links and NPUs, values out of range, events that contradict each other whenever the run
/// ends (where all are at instants, or all at fractions).
[[nodiscard]] EventPlan read_events(ConfigTable& table, const Topology& topology);

/// A share of a rate. Errors: InputError at its place unless it is above 0, in millionths, as the
/// simulator counts (one that rounds to 0 would be a link without bandwidth), and at most 1.
[[nodiscard]] Share share_of(const ConfigValue& value);

/// A whole file. Errors: also for unknown keys, and where nothing would ever happen.
[[nodiscard]] EventPlan read_event_file(const std::string& file, const Topology& topology);
/// A file's content, from memory.
[[nodiscard]] EventPlan parse_event_file(std::string_view toml, const std::string& source_name,
                                         const Topology& topology);

} // namespace tutti
