// Environment variables say what NCCL does, and for a simulation settings of the same
// meaning, so that a run can be asked for as it was measured.
// Source: NCCL 2.30, graph/tuning.cc (NCCL_ALGO, NCCL_PROTO), plugins/tuner/example (CSV).

#include "algorithms/nccl/settings.hpp"

#include "sim/error.hpp"
#include "sim/files/csv.hpp"
#include "sim/files/gzip.hpp"
#include "sim/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace tutti::nccl {

namespace {

constexpr std::int64_t most_asked = 64; // channels: MAXCHANNELS

std::vector<std::string> names_of_algorithms() {
  std::vector<std::string> names;
  for (std::size_t a = 0; a < tuned_algorithms; ++a)
    names.emplace_back(to_text(static_cast<Algorithm>(a)));
  return names;
}
std::vector<std::string> names_of_protocols() { return {"ll", "ll128", "simple"}; }

std::string lower(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(), [](unsigned char c) {
    return static_cast<char>(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
  });
  return result;
}

/// "nvlstree" as NCCL writes it, and "nvls_tree".
std::string canonical(std::string_view name) {
  const std::string text = lower(trimmed(name));
  if (text == "nvlstree") return "nvls_tree";
  if (text == "collnetdirect") return "collnet_direct";
  if (text == "collnetchain") return "collnet_chain";
  return text;
}

template <std::size_t N>
std::array<bool, N> parse_list(std::string_view what, std::string_view text,
                               const std::vector<std::string>& names) {
  const bool all_but = text.starts_with('^');
  std::array<bool, N> allowed{};
  allowed.fill(all_but);
  for (const std::string_view word : split(all_but ? text.substr(1) : text, '+')) {
    const auto found = std::ranges::find(names, canonical(word));
    if (found == names.end()) throw InputError(unknown_name(what, trimmed(word), names));
    allowed[static_cast<std::size_t>(found - names.begin())] = !all_but;
  }
  return allowed;
}

bool parse_yes(std::string_view what, const std::string& text) {
  if (text != "yes" && text != "no")
    throw InputError(unknown_name(what, text, std::vector<std::string>{"yes", "no"}));
  return text == "yes";
}

CollectiveKind parse_tuner_collective(std::string_view name) {
  const std::string text = lower(trimmed(name));
  if (text == "broadcast") return CollectiveKind::broadcast;
  if (text == "reduce") return CollectiveKind::reduce;
  if (text == "allgather") return CollectiveKind::all_gather;
  if (text == "reducescatter") return CollectiveKind::reduce_scatter;
  if (text == "allreduce") return CollectiveKind::all_reduce;
  throw InputError(unknown_name(
      "collective", text,
      std::vector<std::string>{"broadcast", "reduce", "allgather", "reducescatter", "allreduce"}));
}

using Version = std::pair<std::int64_t, std::int64_t>;

/// As NCCL's release notes have them.
constexpr std::array<std::pair<Algorithm, Version>, 3> first_versions{
    {{Algorithm::nvls, {2, 17}}, {Algorithm::nvls_tree, {2, 18}}, {Algorithm::pat, {2, 23}}}};

/// "2.16", also with what follows a second dot.
Version parse_version(std::string_view text) {
  const std::vector<std::string_view> parts = split(text, '.');
  if (parts.size() < 2) throw InputError(fmt::format("version \"{}\" isn't as 2.16", text));
  return {parse_integer(parts[0], "version", 1, 9), parse_integer(parts[1], "version 2", 0, 999)};
}

} // namespace

TunerTable::TunerTable(const std::string& file) {
  for (const auto& [line, words] : csv_rows(read_input_file(file), file)) {
    std::size_t last = 0; // that was looked at
    const auto word = [&, &fields = words](std::size_t i) -> const std::string& {
      return fields[last = i].text;
    };
    try {
      if (words.size() < 8 || words.size() > 10)
        throw InputError(fmt::format("{} values (8 to 10 are known: collective, least and most "
                                     "bytes, algorithm, protocol, channels, nodes, ranks, pipeline "
                                     "operations, registered)",
                                     words.size()));
      const auto integer = [&](std::size_t i, std::string_view what, std::int64_t least,
                               std::int64_t most = INT64_MAX) {
        return parse_integer(word(i), what, least, most);
      };
      const std::optional<Algorithm> algorithm = find_algorithm(canonical(word(3)));
      if (!algorithm || *algorithm == Algorithm::point_to_point)
        throw InputError(unknown_name("algorithm", word(3), names_of_algorithms()));
      const std::optional<Protocol> protocol = find_protocol(canonical(word(4)));
      if (!protocol) throw InputError(unknown_name("protocol", word(4), names_of_protocols()));
      rows_.push_back({parse_tuner_collective(word(0)), integer(1, "min_bytes", 0),
                       integer(2, "max_bytes", 0), *algorithm, *protocol,
                       integer(5, "channels", -1, most_asked), integer(6, "nodes", -1),
                       integer(7, "ranks", -1)});
      if (rows_.back().least > rows_.back().most)
        throw InputError(fmt::format("min_bytes {} is more than max_bytes {}", rows_.back().least,
                                     rows_.back().most));
      for (std::size_t i = 8; i < words.size(); ++i) // of no matter here
        (void)integer(i, i == 8 ? "pipeline operations" : "registered", -1);
    } catch (const InputError& error) {
      throw InputError(fmt::format("{}:{}:{}: {}", file, line, words[last].column, error.what()));
    }
  }
  if (rows_.empty()) throw InputError(fmt::format("{}: has no row", file));
}

std::optional<Choice> TunerTable::overruled(const Tuner& tuner, CollectiveKind kind, Bytes size,
                                            const System& system,
                                            const std::optional<Choice>& otherwise) const {
  const auto fits = [](std::int64_t wanted, std::int64_t is) { return wanted < 0 || wanted == is; };
  for (const Row& row : rows_) {
    if (row.kind != kind || size.count < row.least || size.count > row.most ||
        !fits(row.nodes, system.nodes) ||
        !fits(row.ranks, static_cast<std::int64_t>(system.ranks.size())))
      continue;
    const std::optional<double> us = tuner.time(kind, row.algorithm, row.protocol, size);
    if (!us) return otherwise; // a cost that the table can't change
    Choice choice{row.algorithm, row.protocol,
                  tuner.channels_for(row.algorithm, row.protocol, size), *us};
    if (row.channels > 0) choice.channels = static_cast<std::uint32_t>(row.channels);
    return choice;
  }
  return otherwise;
}

std::string Settings::asked_for() const {
  if (algorithms.empty() && protocols.empty()) return "algorithm";
  if (protocols.empty()) return algorithms;
  return algorithms.empty() ? protocols : algorithms + " with " + protocols;
}

Settings read_settings(const std::map<std::string, std::string>& settings) {
  Settings read;
  std::optional<Version> version;
  for (const auto& each : settings) {
    const std::string &key = each.first, &value = each.second;
    const auto integer = [&](std::int64_t least, std::int64_t most) {
      return static_cast<std::uint32_t>(parse_integer(value, key, least, most));
    };
    if (key == "algo") {
      read.algorithms = value;
      read.allowed.algorithms = parse_list<tuned_algorithms>(key, value, names_of_algorithms());
    } else if (key == "proto") {
      read.protocols = value;
      read.allowed.protocols = parse_list<protocol_count>(key, value, names_of_protocols());
      read.allowed.ll128_everywhere = read.allowed.protocols[1];
    } else if (key == "channels") {
      read.allowed.channels = integer(1, most_asked);
    } else if (key == "cross_nic") {
      read.limits.cross_nic = integer(0, 2);
    } else if (key == "collnet") {
      read.allowed.collnet = parse_yes(key, value);
    } else if (key == "tuner") {
      read.tuner.emplace(value);
    } else if (key == "gpu") {
      read.gpu = value;
    } else if (key == "cpu") {
      read.processor = parse_processor(value);
    } else if (key == "node_size") {
      read.node_size = integer(1, UINT32_MAX);
    } else if (key == "version") {
      version = parse_version(value);
    } else if (key == "tuned_for") {
      read.tuned_for = parse_bytes(value);
    } else if (key == "search_channels") {
      read.limits.most = integer(1, most_asked / 2);
    }
  }
  if (version)
    for (const auto& [algorithm, since] : first_versions)
      if (*version < since) read.allowed.algorithms[static_cast<std::size_t>(algorithm)] = false;
  return read;
}

} // namespace tutti::nccl
