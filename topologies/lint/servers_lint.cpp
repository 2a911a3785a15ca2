// Rules for what a server's file lists. GPUs are measured by what most of their siblings have, of
// which there is always one: of several values that equally many have the largest.
#include "topologies/lint/lint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace tutti::topologies {

namespace {

using Lines = std::vector<std::string>;

/// "the 7 others have", "5 of the 7 others have", "the other one has"
std::string others_of(std::size_t gpus, std::size_t usual, std::string_view one,
                      std::string_view several) {
  const std::size_t others = gpus - 1;
  if (others == 1) return fmt::format("the other one {}", one);
  if (usual == others) return fmt::format("the {} others {}", others, several);
  return fmt::format("{} of the {} others {}", usual, others, usual == 1 ? one : several);
}

/// `value` of a GPU; `words` of one: "18 NVLinks"; `one`, `several`: "has", "have".
template <typename Value, typename Words>
Lines unequal(const SeenServer& server, Value value, Words words, std::string_view one,
              std::string_view several) {
  std::map<decltype(value(server.gpus.front())), std::size_t> counts;
  for (const SeenGpu& gpu : server.gpus) ++counts[value(gpu)];
  const auto usual = std::ranges::max_element(counts, [](const auto& a, const auto& b) {
    return std::pair(a.second, a.first) < std::pair(b.second, b.first);
  });
  Lines lines;
  for (const SeenGpu& gpu : server.gpus)
    if (value(gpu) != usual->first)
      lines.push_back(fmt::format(
          "{}: {} {} {}; {} {}", gpu.place, gpu.name, one, words(value(gpu), true),
          others_of(server.gpus.size(), usual->second, one, several), words(usual->first, false)));
  return lines;
}

/// Pairs of GPUs that list different numbers of links to each other; `one_way`: one of them none.
Lines uneven_pairs(const SeenServer& server, bool one_way) {
  Lines lines;
  for (std::size_t g = 0; g < server.gpus.size(); ++g)
    for (const auto& [peer, links] : server.gpus[g].to) {
      const auto back = server.gpus[peer].to.find(g);
      const int returned = back == server.gpus[peer].to.end() ? 0 : back->second;
      if (returned >= links || (returned == 0) != one_way) continue;
      const SeenGpu &from = server.gpus[g], &to = server.gpus[peer];
      lines.push_back(fmt::format("{}: {} lists {} {}{} to {}, which lists {} back", from.place,
                                  from.name, links, server.link, links == 1 ? "" : "s", to.name,
                                  returned == 0 ? "none" : fmt::to_string(returned)));
    }
  return lines;
}

} // namespace

std::vector<std::string> unequal_models(const SeenServer& server) {
  return unequal(
      server, [](const SeenGpu& gpu) { return gpu.model; },
      [](const std::string& model, bool) { return model.empty() ? "of unknown kind" : model; },
      "is", "are");
}

std::vector<std::string> unequal_links(const SeenServer& server) {
  const auto words = [&](int links, bool is_first) {
    if (links == 0) return is_first ? "no " + server.link : std::string("none");
    return is_first ? fmt::format("{} {}{}", links, server.link, links == 1 ? "" : "s")
                    : fmt::to_string(links);
  };
  return unequal(
      server, [](const SeenGpu& gpu) { return gpu.links; }, words, "has", "have");
}

std::vector<std::string> unequal_pcie(const SeenServer& server) {
  return unequal(
      server, [](const SeenGpu& gpu) { return gpu.pcie.bytes_per_second; },
      [](std::int64_t rate, bool is_first) {
        return short_text(Bandwidth{rate}) + (is_first ? " of PCIe" : "");
      },
      "has", "have");
}

std::vector<std::string> one_way_links(const SeenServer& server) {
  return uneven_pairs(server, true);
}
std::vector<std::string> unequal_directions(const SeenServer& server) {
  return uneven_pairs(server, false);
}

/// A line for each value, with how often it stands there: virtual machines have it everywhere.
std::vector<std::string> unknown_values(const SeenServer& server) {
  std::map<std::pair<std::string, std::string>, std::size_t> counts;
  for (const SeenDoubt& doubt : server.doubts) ++counts[{doubt.what, doubt.taken}];
  Lines lines;
  for (const SeenDoubt& doubt : server.doubts) {
    const auto count = counts.find({doubt.what, doubt.taken});
    if (count == counts.end()) continue;
    lines.push_back(fmt::format(
        "{}: {} of {}{}: taken for {}", doubt.place, doubt.what, doubt.where,
        count->second == 1 ? "" : fmt::format(" and {} more", count->second - 1), doubt.taken));
    counts.erase(count);
  }
  return lines;
}

/// Where a host has fewer cards than CPUs with GPUs, some GPUs have to be far from one.
std::vector<std::string> far_cards(const SeenServer& server) {
  Lines lines;
  for (const std::string& host : std::set<std::string>(server.hosts.begin(), server.hosts.end())) {
    std::map<std::size_t, std::vector<const SeenGpu*>> gpus; // by CPU
    std::set<std::size_t> near;                              // CPUs with cards
    std::size_t cards = 0;
    for (const SeenGpu& gpu : server.gpus)
      if (server.hosts[gpu.cpu] == host) gpus[gpu.cpu].push_back(&gpu);
    for (const SeenCard& card : server.cards)
      if (server.hosts[card.cpu] == host && card.first.empty()) {
        near.insert(card.cpu);
        ++cards;
      }
    if (cards < gpus.size()) continue;
    const std::size_t before = lines.size();
    for (const auto& [cpu, those] : gpus)
      if (!near.contains(cpu))
        lines.push_back(fmt::format(
            "{}: {}{} no network card at {} CPU: the nearest one is across sockets",
            those.front()->place, those.front()->name,
            those.size() == 1 ? " has" : fmt::format(" and {} more have", those.size() - 1),
            those.size() == 1 ? "its" : "their"));
    if (lines.size() == before) continue;
    for (const SeenCard& card : server.cards)
      if (server.hosts[card.cpu] == host && card.first.empty() && !gpus.contains(card.cpu))
        lines.push_back(fmt::format("{}: {} is at a CPU without a GPU", card.place, card.name));
  }
  return lines;
}

std::vector<std::string> listed_twice(const SeenServer& server) {
  Lines lines;
  for (const SeenCard& card : server.cards)
    if (!card.first.empty())
      lines.push_back(fmt::format("{}: {} is listed again, first at {}: it counts once", card.place,
                                  card.name, card.first));
  return lines;
}

std::vector<std::string> shared_gpus(const SeenServer& server) {
  std::map<std::string, std::vector<const SeenGpu*>> by_device;
  for (const SeenGpu& gpu : server.gpus) by_device[gpu.device].push_back(&gpu);
  Lines lines;
  for (const SeenGpu& gpu : server.gpus) {
    const std::vector<const SeenGpu*>& ranks = by_device[gpu.device];
    if (ranks.size() == 1 || ranks.front() != &gpu) continue;
    std::string others;
    for (std::size_t r = 1; r < ranks.size(); ++r)
      others += fmt::format("{}{}", r == 1 ? "" : ", ", ranks[r]->name);
    lines.push_back(fmt::format("{}: {} is one GPU with {}: they share its links", gpu.place,
                                gpu.name, others));
  }
  return lines;
}

} // namespace tutti::topologies
