// A log often says why it is as it is: which network and how many channels NCCL took, what was set
// by hand. The lines are those that NCCL and RCCL print under NCCL_DEBUG=INFO (init.cc, net_ib.cc,
// nvls.cc, enqueue.cc, param.cc of 2.4 to 2.28) and nccl-tests' list of devices.
#include "experiments/driver/studies/measurements/log_facts.hpp"

#include "experiments/driver/studies/measurements/log_text.hpp"
#include "sim/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <span>
#include <utility>

namespace tutti {

namespace {

std::optional<std::uint32_t> whole_in(std::string_view word) {
  std::uint32_t value = 0;
  const char* const last = word.data() + word.size();
  const auto [end, error] = std::from_chars(word.data(), last, value);
  if (error != std::errc() || end == word.data()) return std::nullopt;
  return value; // behind it may stand a comma
}

template <typename Value>
void keep(std::optional<LogFact<Value>>& fact, Value value, std::size_t line) {
  if (!fact) fact = LogFact<Value>{std::move(value), line};
}

void keep(std::vector<LogFact<std::string>>& facts, std::string_view value, std::size_t line) {
  const auto known = std::ranges::find(facts, value, &LogFact<std::string>::value);
  if (known == facts.end()) facts.push_back({std::string(value), line});
}

/// The word behind this one.
std::string_view after(const LogWords& words, std::string_view word) {
  const auto found = std::ranges::find(words, word);
  return found == words.end() || found + 1 == words.end() ? "" : *(found + 1);
}

/// "... 24 coll channels, 24 collnet channels, 16 nvls channels, 32 p2p channels, ..."
void take_channels(LogFacts& facts, const LogWords& words, std::size_t line) {
  const std::array of{std::pair("coll", &LogFacts::collective_channels),
                      std::pair("collnet", &LogFacts::collnet_channels),
                      std::pair("nvls", &LogFacts::nvls_channels),
                      std::pair("p2p", &LogFacts::p2p_channels)};
  for (std::size_t i = 1; i + 1 < words.size(); ++i) {
    const auto count = whole_in(words[i - 1]);
    if (!count || !words[i + 1].starts_with("channels")) continue;
    const bool per_peer = i + 2 < words.size() && words[i + 2] == "per";
    for (const auto& [name, fact] : of)
      if (words[i] == name)
        keep(per_peer ? facts.p2p_channels_per_peer : facts.*fact, *count, line);
  }
  if (facts.nvls_channels && facts.nvls_channels->line == line)
    keep(facts.nvls_used, facts.nvls_channels->value > 0, line);
}

/// "Channel 00/0 : 0[0] -> 8[0] [send] via NET/IB/0/GDRDMA"
void take_connection(LogFacts& facts, std::string_view via, std::size_t line) {
  if (!via.starts_with("NET/")) return;
  const std::string_view rest = via.substr(4);
  keep(facts.networks, rest.substr(0, rest.find('/')), line);
  const bool direct = via.find("/GDRDMA") != std::string_view::npos;
  if (!direct && facts.gdrdma && facts.gdrdma->value) facts.gdrdma.reset();
  keep(facts.gdrdma, direct, line);
}

/// "NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/RoCE [RO]; OOB eth0:10.0.0.1<0>"
void take_nics(LogFacts& facts, const LogWords& words, std::size_t line) {
  for (const std::string_view word : words) {
    const std::size_t end = word.find(']');
    if (!word.starts_with('[') || end == std::string_view::npos || end + 1 >= word.size()) continue;
    const std::string_view name = word.substr(end + 1, word.find_first_of("<;", end) - end - 1);
    if (whole_in(word.substr(1)) && !name.empty()) keep(facts.nics, name, line);
  }
}

/// "AllReduce: 8388608 Bytes -> Algo 1 proto 2 time 93.6", and with names in later versions.
void take_choice(LogFacts& facts, const LogWords& words, std::size_t line) {
  constexpr std::array<std::string_view, 7> algorithms{
      "Tree", "Ring", "CollNetDirect", "CollNetChain", "NVLS", "NVLSTree", "PAT"};
  constexpr std::array<std::string_view, 3> protocols{"LL", "LL128", "Simple"};
  const auto named = [](std::string_view word, std::span<const std::string_view> names) {
    const auto index = whole_in(word);
    return std::string(index && *index < names.size() ? names[*index] : word);
  };
  const auto bytes = std::ranges::find(words, "Bytes");
  if (bytes == words.end() || bytes - words.begin() < 2) return;
  std::string_view name = *(bytes - 2);
  if (name.ends_with(':')) name.remove_suffix(1);
  const auto kind = find_collective_kind(name);
  std::int64_t size = 0;
  const std::string_view digits = *(bytes - 1);
  if (!kind ||
      std::from_chars(digits.data(), digits.data() + digits.size(), size).ec != std::errc())
    return;
  const std::string_view algorithm = after(words, "Algo"), protocol = after(words, "proto");
  if (algorithm.empty() || protocol.empty()) return;
  const auto known = std::ranges::find_if(facts.choices, [&](const LogChoice& choice) {
    return choice.kind == *kind && choice.size.count == size;
  });
  if (known != facts.choices.end()) return;
  LogChoice choice{*kind, Bytes{size}, named(algorithm, algorithms), named(protocol, protocols),
                   0,     line};
  constexpr std::string_view channels = "channel{Lo..Hi}={";
  for (const std::string_view word : words) {
    if (!word.starts_with(channels)) continue;
    const std::string_view range = word.substr(channels.size());
    const std::size_t dots = range.find("..");
    const auto low = whole_in(range);
    const auto high =
        dots == std::string_view::npos ? std::nullopt : whole_in(range.substr(dots + 2));
    if (low && high && *high >= *low) choice.channels = *high - *low + 1;
  }
  facts.choices.push_back(std::move(choice));
}

void take_device(LogFacts& facts, const LogWords& words, std::string_view text, std::size_t line) {
  const auto rank = whole_in(words[1]);
  if (!rank) return;
  text.remove_prefix(static_cast<std::size_t>(words[0].data() - text.data()));
  LogDevice device{*rank, std::string(after(words, "on")), {}, {}, line};
  const std::size_t open = text.find('['), close = text.find(']', open);
  if (open != std::string_view::npos && close != std::string_view::npos) {
    device.address = text.substr(open + 1, close - open - 1);
    device.model = trimmed(text.substr(close + 1));
  }
  facts.devices.push_back(std::move(device));
}

void take_version(LogFacts& facts, std::string_view text, std::size_t line) {
  for (const std::string_view name :
       {"NCCL version ", "NCCL version: ", "RCCL version ", "RCCL version : ", "nccl-library="}) {
    const std::size_t at = text.find(name);
    if (at == std::string_view::npos) continue;
    const LogWords words = words_of(text.substr(at + name.size()));
    if (words.empty() || words.front().front() < '0' || words.front().front() > '9') continue;
    const bool is_code = words.front().find('.') == std::string_view::npos;
    const auto code = whole_in(words.front());
    if (!is_code || code)
      keep(facts.nccl_version, is_code ? nccl_version_text(*code) : std::string(words.front()),
           line);
  }
}

} // namespace

std::string nccl_version_text(std::uint32_t code) {
  const std::uint32_t major = code < 10000 ? code / 1000 : code / 10000;
  const std::uint32_t minor = code < 10000 ? code / 100 % 10 : code / 100 % 100;
  return fmt::format("{}.{}.{}", major, minor, code % 100);
}

void LogFacts::take(std::string_view text, std::size_t line) {
  const auto has = [&](std::string_view part) { return text.find(part) != std::string_view::npos; };
  if (has("CCL version") || has("nccl-library=")) take_version(*this, text, line);
  const LogWords words = words_of(text);
  if (const auto device = device_in(words))
    return take_device(*this,
                       LogWords(words.begin() + static_cast<std::ptrdiff_t>(*device), words.end()),
                       text, line);
  if (!has("NCCL ")) return;
  if (has("NCCL WARN")) {
    constexpr std::size_t most = 20;
    if (warnings.size() < most)
      keep(warnings, trimmed(text.substr(text.find("NCCL WARN") + 9)), line);
    return;
  }
  if (has(" channels")) take_channels(*this, words, line);
  if (const std::string_view via = after(words, "via"); !via.empty())
    take_connection(*this, via, line);
  if (has("NET/IB : Using") || has("NET/Socket : Using")) take_nics(*this, words, line);
  if (has("Using network ")) {
    const std::string_view name = words.back();
    keep(networks, name.substr(0, name.find(';')), line);
  }
  if (has("Bytes -> Algo")) take_choice(*this, words, line);
  if (has("NVLS multicast support is")) {
    const bool is_there = !has("is not available");
    if (!is_there && nvls_supported && nvls_supported->value) nvls_supported.reset();
    keep(nvls_supported, is_there, line);
  }
  if (has("Connected NVLS")) keep(nvls_used, true, line);
  if (has("GPU Direct RDMA Disabled")) {
    if (gdrdma && gdrdma->value) gdrdma.reset();
    keep(gdrdma, false, line);
  } else if (has("GPU Direct RDMA Enabled for GPU")) {
    keep(gdrdma, true, line);
  }
  for (const auto& [name, fact] :
       {std::pair("nRanks", &LogFacts::ranks), std::pair("nranks", &LogFacts::ranks),
        std::pair("nNodes", &LogFacts::nodes), std::pair("localRanks", &LogFacts::local_ranks)})
    if (const auto count = whole_in(after(words, name)); count && has("comm "))
      keep(this->*fact, *count, line);
  // "NCCL_ALGO set by environment to Ring.", "NCCL_IB_HCA set to mlx5"
  for (std::size_t i = 0; i + 2 < words.size(); ++i) {
    if (!words[i].starts_with("NCCL_") || words[i + 1] != "set") continue;
    const auto to = std::find(words.begin() + static_cast<std::ptrdiff_t>(i), words.end(), "to");
    if (to == words.end() || to + 1 == words.end()) continue;
    std::string_view value = *(to + 1);
    if (value.ends_with('.')) value.remove_suffix(1);
    environment.try_emplace(std::string(words[i]), LogFact<std::string>{std::string(value), line});
  }
}

} // namespace tutti
