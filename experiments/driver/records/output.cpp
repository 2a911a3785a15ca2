// fmt::print() throws where it can't write, which is no defect of ours, and on stderr would hide
// what it was to say.
#include "experiments/driver/records/output.hpp"

#include "experiments/driver/records/printable.hpp"
#include "experiments/driver/records/table.hpp"
#include "sim/files/standard_files.hpp"
#include "topologies/list.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <string>

namespace tutti {

namespace {

void write_out(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) flush_standard_output();
}

} // namespace

void print_text(std::string_view text) { write_out(printable(text, "\n\t")); }

void print_tables(std::string_view text) {
  write_out(with_colours(text, [](std::string_view rest) { return printable(rest, "\n\t"); }));
}

void print_message(std::string_view text) {
  const std::string line = "tutti: " + printable(text) + "\n";
  [[maybe_unused]] const std::size_t written = std::fwrite(line.data(), 1, line.size(), stderr);
}

void report_assumptions(const Topology& topology) {
  for (const std::string& line : topology.parts().assumed)
    print_message(fmt::format("{}: assumed: {}", topology.name(), line));
  for (const Finding& finding : topology.parts().odd) print_message(finding.words);
}

Topology make_topology_and_report(const std::string& text) {
  Topology topology = make_topology(text);
  report_assumptions(topology);
  return topology;
}

Topology make_network_and_report(const std::string& text) {
  Topology network = make_network(text);
  report_assumptions(network);
  return network;
}

} // namespace tutti
