// `tutti verify`: is the schedule in a file correct?
#include "experiments/driver/cli/commands.hpp"
#include "experiments/driver/records/json.hpp"
#include "experiments/driver/records/output.hpp"
#include "experiments/driver/requests/collective_request.hpp"
#include "experiments/driver/studies/runs/evaluation.hpp"
#include "experiments/driver/terminal/stage_display.hpp"
#include "sim/files/schedule_file.hpp"
#include "sim/verify.hpp"
#include "sim/verify_compact.hpp"
#include "sim/work_limit.hpp"
#include "topologies/list.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace tutti {

namespace {

using Json = nlohmann::ordered_json;

Json output_of(const VerifyArguments& arguments, const Topology& topology, const ScheduleFile& file,
               const Verdict& verdict, double seconds) {
  Json json = {{"kind", "verification"},
               {"file", arguments.file},
               {"algorithm", file.algorithm},
               {"topology", topology.name()},
               {"collective", collective_text(topology, file.collective)},
               {"size_bytes", file.collective.size().count},
               {"npus", topology.npu_count()},
               {"chunks", file.collective.chunks.size()},
               {"transfers", file.size()},
               {"verified", verdict.correct()},
               {"redundant", verdict.redundant},
               {"verify_seconds", seconds},
               {"peak_rss_bytes", peak_rss_bytes()},
               {"details", {{"fault", nullptr}}}};
  if (verdict.fault)
    json["details"]["fault"] = {{"transfer", verdict.fault->transfer},
                                {"text", verdict.fault->text}};
  return json;
}

} // namespace

int verify_command(const VerifyArguments& arguments) {
  const Topology topology = make_topology_and_report(arguments.topology);
  const ScheduleFile file = read_schedule(arguments.file, topology);
  const double start = cpu_seconds();
  StageDisplay display(arguments.file);
  const StageWatch stage = display.watch();
  const Watch watch = watch_of(stage, "verification");
  const Verdict verdict = file.compact ? verify(topology, file.collective, *file.compact, watch)
                                       : verify(topology, file.collective, file.schedule, watch);
  display.erase();
  const double seconds = cpu_seconds() - start;
  if (arguments.json) {
    print_text(answer_json("verify",
                           Json::array({output_of(arguments, topology, file, verdict, seconds)})));
  } else if (verdict.correct()) {
    print_text(fmt::format("correct: {} {} by {} on {}, {} transfers, {} redundant\n",
                           collective_text(topology, file.collective),
                           to_text(file.collective.size()), file.algorithm, topology.name(),
                           file.size(), verdict.redundant));
  } else {
    print_text(fmt::format("fault: {}\n", verdict.fault->text));
  }
  return verdict.correct() ? 0 : 1;
}

} // namespace tutti
