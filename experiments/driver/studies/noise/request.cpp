// What is asked of clocks and links. Distributions are texts with a unit, as times are everywhere:
// a scale without one is refused, and so is whatever would make a link stand still. A node that
// only relays has no start of its own: whoever names one has mistaken it for a member.
#include "experiments/driver/studies/noise/request.hpp"

#include "experiments/driver/records/percentage.hpp"
#include "experiments/driver/studies/experiment_values.hpp"
#include "sim/error.hpp"
#include "sim/files/config.hpp"
#include "sim/files/files.hpp"
#include "sim/noise.hpp"
#include "sim/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

namespace tutti {

namespace {

constexpr std::array<std::pair<std::string_view, Skew::Kind>, 4> skew_kinds{
    {{"none", Skew::Kind::none},
     {"uniform", Skew::Kind::uniform},
     {"normal", Skew::Kind::normal},
     {"exponential", Skew::Kind::exponential}}};

/// 0.5 of "0.5x"; nothing where it isn't of this form.
std::optional<double> multiple_of(std::string_view text) {
  if (!text.ends_with('x')) return std::nullopt;
  text.remove_suffix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// Errors: InputError where starts at this scale could be too late for a run.
void require_early(const SkewRequest& request, double scale_ps) {
  if (largest_spread(request.kind) * scale_ps > static_cast<double>(latest_start.ps))
    throw InputError(fmt::format("skew {} draws starts more than six days apart", request.text));
}

double parse_deviation(std::string_view key, std::string_view text) {
  const double deviation = parse_percentage(text);
  if (3 * deviation >= 1)
    throw InputError(fmt::format("{}={}: three deviations of it would make a {} 0; less than "
                                 "a third is possible",
                                 key, text, key));
  return deviation;
}

} // namespace

Skew SkewRequest::skew(Time lower_bound) const {
  if (of_bound == 0) return {kind, scale};
  const double ps = of_bound * static_cast<double>(lower_bound.ps);
  require_early(*this, ps);
  return {kind, Time{std::llround(ps)}};
}

SkewRequest parse_skew(const std::string& text) {
  const std::size_t colon = text.find(':');
  const std::string name = text.substr(0, colon);
  const auto found = std::ranges::find(skew_kinds, std::string_view(name),
                                       &std::pair<std::string_view, Skew::Kind>::first);
  if (found == skew_kinds.end()) {
    std::vector<std::string> known;
    for (const auto& [known_name, kind] : skew_kinds) known.emplace_back(known_name);
    throw InputError(unknown_name("skew", name, known));
  }
  SkewRequest request{text, found->second, {}, 0};
  if (request.kind == Skew::Kind::none) {
    if (colon != std::string::npos) throw InputError("skew none has no scale");
    return request;
  }
  if (colon == std::string::npos || colon + 1 == text.size())
    throw InputError(fmt::format(
        "skew {0} needs a scale, as {0}:20us or, times the lower bound, {0}:0.5x", name));
  const std::string scale = text.substr(colon + 1);
  if (const auto multiple = multiple_of(scale)) {
    if (!(*multiple >= 0 && *multiple <= 1e6))
      throw InputError(fmt::format("skew {}: from 0x to 1000000x is possible", text));
    request.of_bound = *multiple;
  } else {
    request.scale = parse_time(scale);
    require_early(request, static_cast<double>(request.scale.ps));
  }
  return request;
}

void add_skew(std::vector<SkewRequest>& skews, const std::string& text) {
  SkewRequest skew = parse_skew(text);
  const auto same = std::ranges::find_if(skews, [&](const SkewRequest& other) {
    return other.kind == skew.kind && other.scale == skew.scale && other.of_bound == skew.of_bound;
  });
  if (same != skews.end())
    throw InputError(same->text == skew.text
                         ? fmt::format("skew {} is named twice", skew.text)
                         : fmt::format("skews {} and {} are the same", same->text, skew.text));
  skews.push_back(std::move(skew));
}

Jitter parse_jitter(const std::string& text) {
  std::optional<double> bandwidth, latency;
  for (const std::string_view item : split(text, ',')) {
    const std::size_t equals = item.find('=');
    const std::string key(trimmed(item.substr(0, equals)));
    const std::vector<std::string> known{"bandwidth", "latency"};
    if (std::ranges::find(known, key) == known.end())
      throw InputError(unknown_name("jitter", key, known));
    if (equals == std::string_view::npos)
      throw InputError(fmt::format("jitter of {0} needs a deviation, as {0}=5%", key));
    std::optional<double>& deviation = key == "bandwidth" ? bandwidth : latency;
    if (deviation) throw InputError(fmt::format("jitter of {} is given twice", key));
    deviation = parse_deviation(key, trimmed(item.substr(equals + 1)));
  }
  return {bandwidth.value_or(0), latency.value_or(0)};
}

bool NoiseRequest::is_drawn() const {
  return names_noise || jitter.bandwidth > 0 || jitter.latency > 0 ||
         std::ranges::any_of(skews,
                             [](const SkewRequest& skew) { return skew.kind != Skew::Kind::none; });
}

NoiseRequest noise_at(ConfigTable& table, const std::string& source_name,
                      const CheckStarts& check) {
  NoiseRequest noise;
  const auto check_one = [&](const std::string& text) { check({&text, 1}); };
  noise.starts =
      list_at(table, "starts", std::vector<std::string>{}, [&](const ConfigValue& value) {
        const std::string text = value.string();
        value.located([&] { check_one(text); });
        return text;
      });
  if (const auto file = table.find("start_file")) {
    for (std::string& text : read_start_file(beside(file->string(), source_name), check_one))
      noise.starts.push_back(std::move(text));
    file->located([&] { check(noise.starts); }); // an NPU in both
  } else if (const auto starts = table.find("starts")) {
    starts->located([&] { check(noise.starts); });
  }
  if (const auto skews = table.find("skews")) {
    noise.names_noise = true;
    noise.skews.clear();
    for (const ConfigValue& value : list_of(*skews)) {
      const std::string text = value.string();
      value.located([&] { add_skew(noise.skews, text); });
    }
    if (noise.skews.empty()) throw skews->error("\"skews\" is empty");
  }
  if (const auto jitter = table.find("jitter")) {
    noise.names_noise = true;
    noise.jitter = parsed(*jitter, parse_jitter);
    noise.jitter_text = jitter->string();
  }
  const auto draws = table.find("draws"), seed = table.find("noise_seed");
  read_keys(table, noise_keys, noise);
  if (const auto& given = draws ? draws : seed; given && !noise.is_drawn())
    throw given->error("nothing is drawn: that needs a skew or a jitter");
  return noise;
}

std::vector<Time> parse_starts(const Topology& topology, std::span<const NodeId> members,
                               std::span<const std::string> texts, std::string_view others) {
  std::vector<Time> starts;
  std::vector<bool> is_named(topology.node_count());
  for (const std::string& text : texts) {
    const std::size_t equals = text.rfind('=');
    if (equals == std::string::npos)
      throw InputError(fmt::format("\"{}\" isn't NPU=TIME, as npu3=20us", text));
    const NodeId node = topology.find_node(text.substr(0, equals));
    const std::string& name = topology.node(node).name;
    if (!std::ranges::binary_search(members, node))
      throw InputError(fmt::format("{} {}, so it can't start late", name, others));
    if (is_named[node.value]) throw InputError(fmt::format("the start of {} is given twice", name));
    is_named[node.value] = true;
    starts.resize(topology.node_count());
    starts[node.value] = parse_time(text.substr(equals + 1));
    if (starts[node.value] > latest_start)
      throw InputError(fmt::format("{} starts after {}; up to six days is possible", name,
                                   text.substr(equals + 1)));
  }
  return starts;
}

std::vector<Time> parse_starts(const Topology& topology, const Collective& collective,
                               std::span<const std::string> texts) {
  if (texts.empty()) return {};
  return parse_starts(topology, members_of(collective), texts);
}

void check_starts(const Topology& topology, const CollectiveRequest& request,
                  std::span<const std::string> texts) {
  std::optional<Collective> collective;
  try {
    collective = make_collective(topology, request, 1);
  } catch (const InputError&) {
    return;
  }
  (void)parse_starts(topology, *collective, texts);
}

std::string late_text(const Topology& topology, std::span<const Time> starts) {
  const auto late = std::ranges::count_if(starts, [](Time start) { return start > Time{}; });
  if (late == 0) return "";
  const auto last = static_cast<std::uint32_t>(std::ranges::max_element(starts) - starts.begin());
  return fmt::format("{} NPU{} late, {} last, at {}", late, late == 1 ? " starts" : "s start",
                     topology.node(NodeId{last}).name, short_text(starts[last]));
}

std::vector<std::string> read_start_file(const std::string& file,
                                         const std::function<void(const std::string&)>& check) {
  ConfigTable table = read_config(file);
  std::vector<std::string> texts;
  for (const std::string& name : table.keys()) {
    const ConfigValue value = table.at(name);
    texts.push_back(fmt::format("{}={}", name, value.string()));
    value.located([&] { check(texts.back()); });
  }
  if (texts.empty()) throw InputError(file + ": names no NPU, as in npu3 = \"20us\"");
  return texts;
}

} // namespace tutti
