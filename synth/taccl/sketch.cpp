// Why: a sketch is wrong in ways that no format can rule out: ranks that a machine doesn't have,
// hyperedges that overlap, a machine of another size. What both formats share is checked here, once
// without a machine and once against it.
#include "synth/taccl/sketch.hpp"

#include "sim/error.hpp"
#include "sim/files/gzip.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

namespace tutti {

namespace {

std::string ranks_text(const std::vector<LocalRank>& ranks) {
  return fmt::format("[{}]", fmt::join(ranks, ", "));
}

void require_ranks(const std::vector<LocalRank>& ranks, std::uint32_t per_machine,
                   const std::string& place, const std::string& what) {
  for (const LocalRank rank : ranks)
    if (rank >= per_machine)
      throw InputError(fmt::format("{}{} names NPU {}, but a machine has NPUs 0 to {}", place, what,
                                   rank, per_machine - 1));
}

void sort_ranks(std::vector<LocalRank>& ranks, const std::string& place, const std::string& what) {
  std::ranges::sort(ranks);
  if (const auto twice = std::ranges::adjacent_find(ranks); twice != ranks.end())
    throw InputError(fmt::format("{}{} names NPU {} twice", place, what, *twice));
}

void check_hyperedges(const Sketch& sketch) {
  for (std::size_t i = 0; i < sketch.hyperedges.size(); ++i) {
    const Sketch::Hyperedge& edge = sketch.hyperedges[i];
    if (edge.npus.size() < 2)
      throw InputError(
          fmt::format("{}a switch needs at least 2 NPUs, not {}", edge.place, edge.npus.size()));
    for (std::size_t j = 0; j < i; ++j) {
      const Sketch::Hyperedge& other = sketch.hyperedges[j];
      if (other.npus == edge.npus) {
        if (other.policy != edge.policy)
          throw InputError(fmt::format("{}parallel switches need one policy, not {} and {}",
                                       edge.place, to_text(other.policy), to_text(edge.policy)));
        continue;
      }
      std::vector<LocalRank> both;
      std::ranges::set_intersection(edge.npus, other.npus, std::back_inserter(both));
      if (!both.empty())
        throw InputError(fmt::format("{}switches overlap in NPU {}: {} and {}; switches are the "
                                     "same NPUs (parallel ones) or disjoint",
                                     edge.place, both.front(), ranks_text(other.npus),
                                     ranks_text(edge.npus)));
    }
  }
}

void check_between(Sketch& sketch) {
  if (sketch.machines > 1 && sketch.between == Sketch::Between::nothing)
    throw InputError(fmt::format("{}{} machines need connections between them",
                                 sketch.machines_place, sketch.machines));
  std::set<LocalRank> senders;
  for (auto& [sender, receivers] : sketch.connections) {
    senders.insert(sender);
    sort_ranks(receivers, sketch.between_place, fmt::format("sender {}", sender));
    if (receivers.empty())
      throw InputError(fmt::format("{}NPU {} sends to nobody", sketch.between_place, sender));
    const std::size_t first = sketch.connections.begin()->second.size();
    if (receivers.size() != first)
      throw InputError(
          fmt::format("{}all senders need equally many receivers: NPU {} has {}, NPU {} has {}",
                      sketch.between_place, sketch.connections.begin()->first, first, sender,
                      receivers.size()));
  }
  if (sketch.between == Sketch::Between::mapped && senders.empty())
    throw InputError(sketch.between_place + "no NPU sends to another machine");
  for (auto& [sender, npus] : sketch.leaves_through) {
    sort_ranks(npus, sketch.leaves_place, fmt::format("what leaves through {}", sender));
    if (sketch.between == Sketch::Between::mapped && !senders.contains(sender))
      throw InputError(fmt::format("{}NPU {} is no sender (senders: {})", sketch.leaves_place,
                                   sender, fmt::join(senders, ", ")));
  }
  if (sketch.own_chunks_first && sketch.leaves_through.empty())
    throw InputError(sketch.leaves_place + "a sender's own chunks come first only where it is "
                                           "said whose chunks leave through it");
}

} // namespace

namespace sketch_format {

void finish(Sketch& sketch) {
  for (Sketch::Hyperedge& edge : sketch.hyperedges) sort_ranks(edge.npus, edge.place, "a switch");
  check_hyperedges(sketch);
  check_between(sketch);
  for (const Sketch::Rotation& rotation : sketch.symmetry)
    if (rotation.size < 2 || rotation.offset == 0 || rotation.offset >= rotation.size)
      throw InputError(
          rotation.size < 2
              ? fmt::format("{}a rotation needs groups of at least 2 ranks, not {}", rotation.place,
                            rotation.size)
              : fmt::format(
                    "{}a rotation by {} of {} ranks isn't one: it needs an offset from 1 to "
                    "{}",
                    rotation.place, rotation.offset, rotation.size, rotation.size - 1));
}

} // namespace sketch_format

Sketch parse_sketch(std::string_view text, const std::string& source) {
  // Only JSON begins with a brace or with a comment of slashes, maybe after a mark of UTF-8.
  const std::size_t first = text.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  return first != std::string_view::npos && (text[first] == '{' || text[first] == '/')
             ? sketch_format::parse_json_sketch(text, source)
             : sketch_format::parse_toml_sketch(text, source);
}

Sketch read_sketch(const std::string& file) {
  constexpr std::size_t most_bytes = std::size_t{1} << 20;
  const std::string text = read_input_file(file);
  if (text.size() > most_bytes)
    throw InputError(fmt::format("{}: {} bytes are no sketch (at most 1 MiB)", file, text.size()));
  if (text.find_first_not_of(" \t\r\n") == std::string::npos)
    throw InputError(file + ": an empty file is no sketch");
  return parse_sketch(text, file);
}

void require_fitting(const Sketch& sketch, const Topology& topology) {
  const std::uint32_t npus = topology.npu_count();
  if (npus % sketch.machines != 0)
    throw InputError(fmt::format("{}{} NPUs of {} aren't {} equal machines", sketch.machines_place,
                                 npus, topology.name(), sketch.machines));
  const std::uint32_t each = npus / sketch.machines;
  for (const Sketch::Hyperedge& edge : sketch.hyperedges)
    require_ranks(edge.npus, each, edge.place, "a switch");
  for (const auto& [sender, receivers] : sketch.connections) {
    require_ranks({sender}, each, sketch.between_place, "a connection");
    require_ranks(receivers, each, sketch.between_place, "a connection");
  }
  for (const auto& [sender, members] : sketch.leaves_through) {
    require_ranks({sender}, each, sketch.leaves_place, "a sender");
    require_ranks(members, each, sketch.leaves_place, fmt::format("sender {}", sender));
  }
  if (sketch.links)
    for (const auto& [from, to] : *sketch.links)
      require_ranks({from, to}, each, sketch.links_place, "a link");
  for (const Sketch::Rotation& rotation : sketch.symmetry)
    if (npus % rotation.size != 0)
      throw InputError(fmt::format("{}{} NPUs of {} don't divide into groups of {}", rotation.place,
                                   npus, topology.name(), rotation.size));
}

} // namespace tutti
