// `tutti convert A B`: a network as a file. The ending of B says of what kind.
#include "experiments/driver/cli/commands.hpp"
#include "experiments/driver/records/output.hpp"
#include "sim/files/files.hpp"
#include "topologies/export/list.hpp"

#include <fmt/format.h>

namespace tutti {

int convert_command(const ConvertArguments& arguments) {
  const NetworkWriter& writer = network_writer(arguments.output);
  const Topology topology = make_network_and_report(arguments.topology);
  require_outputs({arguments.topology}, {arguments.output});
  write_file(arguments.output, writer.text(topology));
  print_text(fmt::format("{}: {} nodes ({} NPUs), {} links\n", arguments.output,
                         topology.node_count(), topology.npu_count(), topology.link_count()));
  return 0;
}

} // namespace tutti
