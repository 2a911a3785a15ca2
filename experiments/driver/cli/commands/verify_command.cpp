// `tutti verify`: is the schedule in a file correct?
#include "experiments/driver/cli/commands.hpp"
#include "experiments/driver/records/json.hpp"
#include "experiments/driver/records/output.hpp"
#include "experiments/driver/requests/collective_request.hpp"
#include "experiments/driver/studies/runs/attempt.hpp"
#include "experiments/driver/terminal/stage_display.hpp"
#include "sim/files/schedule_file.hpp"
#include "sim/watch.hpp"
#include "topologies/list.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <optional>

namespace tutti {

namespace {

using Json = nlohmann::ordered_json;

Json output_of(const VerifyArguments& arguments, const Topology& topology, const ScheduleFile& file,
               const Attempt& made) {
  const std::optional<Fault>& fault = made.verdict.fault;
  return {{"kind", "verification"},
          {"file", arguments.file},
          {"algorithm", file.algorithm},
          {"topology", topology.name()},
          {"collective", collective_text(topology, made.collective)},
          {"size_bytes", made.collective.size().count},
          {"npus", topology.npu_count()},
          {"chunks", made.collective.chunks.size()},
          {"transfers", made.transfers()},
          {"verified", made.usable()},
          {"redundant", made.verdict.redundant},
          {"verify_seconds", made.verify_seconds},
          {"peak_rss_bytes", peak_rss_bytes()},
          {"details",
           {{"fault",
             fault ? Json{{"transfer", fault->transfer}, {"text", fault->text}} : Json(nullptr)}}}};
}

} // namespace

int verify_command(const VerifyArguments& arguments) {
  const Topology topology = make_topology_and_report(arguments.topology);
  ScheduleFile file = read_schedule(arguments.file, topology);
  StageDisplay display(arguments.file);
  const Attempt made = given_attempt(topology, file, watch_of(display.watch(), "verification"));
  display.erase();
  if (arguments.json)
    print_text(answer_json("verify", Json::array({output_of(arguments, topology, file, made)})));
  else if (made.usable())
    print_text(fmt::format("correct: {} {} by {} on {}, {} transfers, {} redundant\n",
                           collective_text(topology, made.collective),
                           to_text(made.collective.size()), file.algorithm, topology.name(),
                           made.transfers(), made.verdict.redundant));
  else
    print_text(fmt::format("fault: {}\n", made.verdict.fault->text));
  return made.usable() ? 0 : 1;
}

} // namespace tutti
