// `tutti import`: a foreign program in MSCCL XML as a schedule: checked, bounded, replayed.
#include "experiments/collective_request.hpp"
#include "experiments/commands.hpp"
#include "experiments/evaluation_json.hpp"
#include "experiments/evaluation_table.hpp"
#include "experiments/output.hpp"
#include "runtime/msccl_xml.hpp"
#include "sim/error.hpp"
#include "sim/schedule_file.hpp"
#include "sim/verify.hpp"
#include "sim/work_limit.hpp"
#include "topologies/list.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cstdio>
#include <optional>

namespace tutti {

namespace {

// What a program with coll="custom" is for. A named collective has one chunk a shard.
std::optional<Collective> custom_of(const ImportArguments& arguments, const Topology& topology,
                                    Bytes size) {
  if (arguments.collective.empty()) return std::nullopt;
  return make_collective(topology, {{arguments.collective}, size}, 1);
}

Evaluation evaluation_of(const Topology& topology, const std::string& algorithm,
                         const runtime::ForeignSchedule& foreign, const Verdict& verdict) {
  Evaluation e;
  e.topology = topology.name();
  e.collective = collective_text(topology, foreign.collective);
  e.algorithm = algorithm;
  e.size = foreign.collective.size();
  e.npus = topology.npu_count();
  e.chunks_per_shard = foreign.collective.parts.front().pieces;
  e.chunks = foreign.collective.chunks.size();
  e.transfers = foreign.schedule.size();
  e.redundant = verdict.redundant;
  e.status = Status::feasible;
  e.verified = true;
  return e;
}

} // namespace

int import_command(const ImportArguments& arguments) {
  const Topology topology = make_topology(arguments.topology);
  const Bytes size = of_option("--size", [&] { return parse_bytes(arguments.size); });
  if (!arguments.output.empty()) require_writable(arguments.output);
  const std::optional<Collective> custom = custom_of(arguments, topology, size);
  const runtime::MscclFile file =
      runtime::load_msccl(arguments.file, size, custom ? &*custom : nullptr);
  for (const std::string& warning : file.warnings)
    print_message(fmt::format("{}: {}", arguments.file, warning));
  runtime::ForeignSchedule foreign = runtime::schedule_of(topology, file.program);
  const Verdict verdict = verify(topology, foreign.collective, foreign.schedule);
  if (!verdict.correct()) {
    print_message(fmt::format("{}: fault: {}", arguments.file, verdict.fault->text));
    return 1;
  }
  const TimeModel model = time_model(arguments.model);
  Evaluation e = evaluation_of(topology, file.program.name, foreign, verdict);
  e.replays.push_back(
      replay(topology, foreign.collective, foreign.schedule, model, find_engine("native")));
  e.problem = bound_problem(e.replays.front());
  e.hottest_link = hottest_link(topology, e.replays.front().report);
  e.peak_rss_bytes = peak_rss_bytes();
  if (!arguments.output.empty())
    write_schedule(arguments.output, topology,
                   {topology.name(), file.program.name, model, foreign.collective,
                    std::move(foreign.schedule)});
  print_text(arguments.json ? json_text(evaluation_json(e, LinkDetail::all))
                            : report_text({&e, 1}));
  return report_problems({&e, 1});
}

} // namespace tutti
