// `tutti profile`: latency and bandwidth of every link, measured (TACCL sec. 4.1), and the network
// with these as a topology file.
#include "experiments/driver/cli/commands.hpp"
#include "experiments/driver/cli/options.hpp"
#include "experiments/driver/records/json.hpp"
#include "experiments/driver/records/output.hpp"
#include "experiments/driver/records/percentage.hpp"
#include "experiments/driver/studies/executions/columns.hpp"
#include "experiments/driver/studies/executions/study.hpp"
#include "sim/files/files.hpp"
#include "sim/text.hpp"
#include "topologies/export/list.hpp"
#include "topologies/list.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace tutti {

using Json = nlohmann::ordered_json;

namespace {

std::vector<Bytes> parse_profile_sizes(const std::string& text) {
  std::vector<Bytes> sizes;
  for (const std::string_view each : split(text, ',')) sizes.push_back(parse_bytes(trimmed(each)));
  if (sizes.size() < 2)
    throw InputError("two sizes or more: one can't tell latency from bandwidth");
  return sizes;
}

/// Whether latency and rate describe the links; says on stderr where they don't.
bool describes(const Topology& topology, const runtime::Profile& profile, double within) {
  if (profile.fit_error() <= within) return true;
  const runtime::LinkProfile& worst =
      *std::ranges::max_element(profile.links, {}, &runtime::LinkProfile::fit_error);
  const Link& link = topology.link(worst.link);
  print_message(fmt::format(
      "no latency and rate describe these links: off by {:.0f} % in the mean, {}>{} by {:.0f} %, "
      "where {:.0f} % is allowed (--within). Messages that a cache holds, and other work on this "
      "machine, make that: try sizes of one kind (--sizes 4MiB,16MiB), more --repeat, a quiet "
      "machine",
      100 * profile.fit_error(), topology.node(link.from).name, topology.node(link.to).name,
      100 * worst.fit_error, 100 * within));
  return false;
}

} // namespace

int profile_command(const ProfileArguments& arguments) {
  const Topology topology = make_topology_and_report(arguments.topology);
  ExecutionCase c;
  c.backend = &find_backend("cpu");
  read_options(profile_options(), arguments.line,
               [&c](ConfigTable& table) { read_keys(table, ExecutionStudy::keys(), c); });
  c.topology = &topology;
  c.profile.repetitions = c.request.repetitions;
  c.profile.chunks = parse_count("--chunks", arguments.chunks, 2, 1024);
  if (arguments.sizes)
    c.profile.sizes = of_option("--sizes", [&] { return parse_profile_sizes(*arguments.sizes); });
  const double within =
      of_option("--within", [&] { return parse_large_percentage(arguments.within); });
  require_sound(c);
  if (!arguments.output.empty()) require_writable(arguments.output);
  if (!arguments.output.empty()) (void)topology_toml(topology); // before hours of work
  runtime::PlanOptions plan;
  plan.emulated = c.emulated ? &topology : nullptr;
  const runtime::Profile profile =
      runtime::profile(topology, c.backend->time_links, c.profile, plan);
  if (!describes(topology, profile, within)) return 1;
  if (!arguments.output.empty())
    write_file(arguments.output, topology_toml(runtime::profiled_topology(
                                     topology, profile, std::string(c.backend->name))));
  if (arguments.json)
    print_text(
        answer_json("profile", Json::array({{{"kind", "profile"},
                                             {"topology", topology.name()},
                                             {"backend", c.backend->name},
                                             {"details", profile_json(topology, profile)}}})));
  else
    print_tables(profile_text(topology, profile, table_form(arguments.tables)));
  return 0;
}

} // namespace tutti
