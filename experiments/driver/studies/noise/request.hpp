// What is asked of clocks and links: who starts late, how start times and links are drawn, and how
// often. Keys of every study that replays, and options of its command:
//
//   starts = ["npu3=20us"]                  # who joins late; default nobody
//   start_file = "starts.toml"              # the same from a file: npu3 = "20us"
//   skews = ["uniform:20us"]                # or normal:5us, exponential:10us, none; a list: each.
//                                           # With x, as in uniform:0.5x, times the lower bound
//   jitter = "bandwidth=5%,latency=10%"     # either or both
//   noise_seed = 1, draws = 200
#pragma once

#include "experiments/driver/requests/collective_request.hpp"
#include "experiments/driver/studies/keys.hpp"
#include "sim/files/config.hpp"
#include "sim/members.hpp"
#include "sim/noise.hpp"
#include "sim/topology.hpp"
#include "sim/units.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tutti {

/// How start times are distributed, as asked for.
struct SkewRequest {
  std::string text = "none";
  Skew::Kind kind = Skew::Kind::none;
  Time scale;
  double of_bound = 0; ///< above 0: the scale is this times a lower bound

  [[nodiscard]] Skew skew(Time lower_bound) const;
};

/// "uniform:20us", "normal:0.5x", "none". Errors: InputError with what is known.
[[nodiscard]] SkewRequest parse_skew(const std::string& text);

/// Appends one more. Errors: likewise, and where it is there already.
void add_skew(std::vector<SkewRequest>& skews, const std::string& text);

/// "bandwidth=5%,latency=10%". Errors: InputError for other keys, none, one twice, and where three
/// deviations would stop a link.
[[nodiscard]] Jitter parse_jitter(const std::string& text);

struct NoiseRequest {
  static constexpr std::uint32_t default_draws = 200, most_draws = 1'000'000;

  std::vector<std::string> starts;    ///< texts of parse_starts()
  std::vector<SkewRequest> skews{{}}; ///< one at least
  std::string jitter_text = "none";
  Jitter jitter;
  std::uint64_t seed = 1;
  std::uint32_t draws = default_draws; ///< of each skew
  bool names_noise = false;            ///< skews or a jitter are given, if only as none

  /// Whether there are draws; without chance one of each skew.
  [[nodiscard]] bool is_drawn() const;
};

/// Called with start times that are asked for. Errors: InputError where a network has no such NPU.
using CheckStarts = std::function<void(std::span<const std::string> texts)>;

/// The keys above, of a study's table; files are looked for beside `source_name`.
/// Errors: InputError with the place of what is wrong, also where draws or a seed are given and
/// nothing is drawn.
[[nodiscard]] NoiseRequest noise_at(ConfigTable& table, const std::string& source_name,
                                    const CheckStarts& check);

/// These keys, with the options of commands.
inline constexpr std::array noise_keys{
    Key<NoiseRequest>{"starts", "--start", OptionForm::repeated,
                      "npu3=20us: it joins only then; repeatable; default: all join at once",
                      "Late starts and noise"},
    Key<NoiseRequest>{"start_file", "--start-file", OptionForm::text,
                      "the same from a TOML file, a line for each NPU: npu3 = \"20us\""},
    Key<NoiseRequest>{
        "skews", "--skew", OptionForm::texts,
        "random start times of NPUs: uniform:20us (from 0 to 20 us), normal:5us (standard "
        "deviation), exponential:10us (mean), shifted so that the earliest is 0; uniform:0.5x: up "
        "to half the lower bound; several with commas"},
    Key<NoiseRequest>{"jitter", "--jitter", OptionForm::text,
                      "random bandwidth and latency of links, with these standard deviations: "
                      "bandwidth=5%,latency=10%"},
    Key<NoiseRequest>{"noise_seed", "--noise-seed", keys::whole<0, INT64_MAX, &NoiseRequest::seed>,
                      "seed of skew and jitter; default 1"},
    Key<NoiseRequest>{"draws", "--draws",
                      keys::whole<1, NoiseRequest::most_draws, &NoiseRequest::draws>,
                      "how many times they are drawn; default 200"}};

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
