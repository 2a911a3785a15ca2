// What commands print: results on stdout, where losing them is an error, and what there is to say
// about them on stderr. Control characters in either are written out (printable.hpp).
#pragma once

#include "sim/topology.hpp"

#include <string>
#include <string_view>

namespace tutti {

/// On stdout; lines and tabs stay. Errors: InputError "cannot write to the standard output: ...".
void print_text(std::string_view text);

/// The same of a text with tables, whose marks become colours.
void print_tables(std::string_view text);

/// "tutti: ..." and the end of the line on stderr. What can't be written there is lost.
void print_message(std::string_view text);

/// A message for each thing that the network's file didn't say and that is assumed, and for each
/// that is odd in it.
void report_assumptions(const Topology& topology);

/// make_topology() and make_network(), with report_assumptions().
[[nodiscard]] Topology make_topology_and_report(const std::string& text);
[[nodiscard]] Topology make_network_and_report(const std::string& text);

} // namespace tutti
