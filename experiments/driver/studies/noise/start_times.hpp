// When the members of a collective join it, as texts and files say.
#pragma once

#include "experiments/driver/requests/collective_request.hpp"
#include "sim/members.hpp"
#include "sim/topology.hpp"
#include "sim/units.hpp"

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tutti {

/// Per node, from texts like "npu3=20us"; empty without any, and 0 for who isn't named.
/// `members`: ascending; `others`: what is said of a node that isn't one.
/// Errors: InputError for a text of another form, a node that isn't there (with known ones), one
/// that is no member, one that is named twice, or a time that isn't one or is after latest_start.
[[nodiscard]] std::vector<Time> parse_starts(const Topology& topology,
                                             std::span<const NodeId> members,
                                             std::span<const std::string> texts,
                                             std::string_view others = "neither holds nor wants a "
                                                                       "chunk of the collective");

/// The same of the members of a collective. Without texts it costs nothing.
[[nodiscard]] std::vector<Time> parse_starts(const Topology& topology, const Collective& collective,
                                             std::span<const std::string> texts);

/// Whether starts can be those of a collective; one that can't be made is left to those who know
/// the place of what is wrong with it. Errors: as parse_starts().
void check_starts(const Topology& topology, const CollectiveRequest& collective,
                  std::span<const std::string> texts);

/// "2 NPUs start late, npu3 last, at 20.0 us"; empty where nobody does.
[[nodiscard]] std::string late_text(const Topology& topology, std::span<const Time> starts);

/// What a file of start times says, as texts for parse_starts(). The file is TOML: NPUs and when
/// they join, npu3 = "20us". Each text is given to `check`, whose InputError is passed on with the
/// place of what it refuses. Errors: InputError also for a file that can't be read or names nobody.
[[nodiscard]] std::vector<std::string>
read_start_file(const std::string& file, const std::function<void(const std::string&)>& check);

} // namespace tutti
