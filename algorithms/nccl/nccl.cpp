// What NCCL and RCCL do: the rings, trees and heads that its search finds on this machine, and of
// them what its tuner takes for this size. The first question about any schedule is whether it is
// faster.
// Source: NCCL 2.30.7 (github.com/NVIDIA/nccl): graph/search.cc, connect.cc, tuning.cc, enqueue.cc,
// device/. Protocols, launches and registration take no time here: links are ideal.
// Cost: the search, at most 2^19 steps; then what the algorithm lists.

#include "algorithms/list.hpp"
#include "algorithms/nccl/nodes.hpp"
#include "algorithms/nccl/plan.hpp"
#include "algorithms/nccl/schedules.hpp"
#include "algorithms/nccl/settings.hpp"
#include "algorithms/nccl/tuner.hpp"
#include "sim/error.hpp"
#include "sim/renumbering.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>
#include <utility>

namespace tutti {

namespace {

using namespace nccl;

constexpr double ps_per_us = 1e6;

bool is_made_of_sends(CollectiveKind kind) {
  return is_by_pairs(kind) || kind == CollectiveKind::gather || kind == CollectiveKind::scatter ||
         kind == CollectiveKind::sendrecv || kind == CollectiveKind::hypercube;
}

/// "ring, simple, 24 channels"
std::string words_of(const Choice& choice, const System& system, const Settings& settings) {
  std::string text;
  if (choice.algorithm == Algorithm::point_to_point)
    text = settings.says_nothing() ? "sends" : "sends, which have no algorithm to choose";
  else
    text = fmt::format("{}, {}, {} channel{}", to_text(choice.algorithm), to_text(choice.protocol),
                       choice.channels, choice.channels == 1 ? "" : "s");
  if (system.gpu_is_assumed) text += fmt::format("; {} assumed", system.gpu->model);
  return text;
}

/// The collective with so many chunks per shard, of which only the number counts.
Collective with_pieces(const Topology& topology, Collective collective, std::uint32_t pieces) {
  CollectivePart& part = collective.parts.front();
  if (has_shares(part.kind))
    return make_collective(topology, spec_of(part, part.chunks_per_shard * pieces));
  part.chunks_per_shard *= pieces;
  part.chunk_count *= pieces;
  return collective;
}

/// RCCL has programs for MSCCL on a full mesh of eight: everyone with everyone, up to 16 MiB.
bool is_by_program(const System& system, CollectiveKind kind, Bytes size) {
  constexpr std::int64_t most = std::int64_t{16} << 20;
  return kind == CollectiveKind::all_reduce && system.nodes == 1 && system.gpus == 8 &&
         system.gpu->is_amd && !system.has_switch && size.count <= most;
}

void list(const Work& work) {
  switch (work.algorithm) {
  case Algorithm::ring: return list_rings(work);
  case Algorithm::tree: return list_trees(work);
  case Algorithm::pat: return list_pat(work);
  case Algorithm::point_to_point: return list_point_to_point(work);
  case Algorithm::all_pairs: return list_all_pairs(work);
  case Algorithm::nvls:
  case Algorithm::nvls_tree:
  case Algorithm::collnet_direct:
  case Algorithm::collnet_chain: return list_heads(work);
  }
}

enum class Library : std::uint8_t { nccl, rccl };

constexpr std::string_view assumed_gpu(Library library) {
  return library == Library::nccl ? "h100" : "mi300x";
}

std::string_view name_of(Library library) { return library == Library::nccl ? "NCCL" : "RCCL"; }

/// What is taken for a collective, and what that was found in.
struct Decision {
  std::string problem; ///< why there is none; else empty
  Settings settings;
  System system;
  Graphs graphs;
  Choice choice;
  Cut cut;
};

/// Sets the choice, or says what the problem is.
void choose(Library library, CollectiveKind kind, Bytes size, Decision& made) {
  const bool is_nccl = library == Library::nccl;
  const Settings& settings = made.settings;
  const System& system = made.system;
  made.choice = {Algorithm::point_to_point, Protocol::simple, made.graphs.channels, 0};
  if (!is_nccl && settings.says_nothing() && is_by_program(system, kind, size)) {
    constexpr std::int64_t simple_from = std::int64_t{512} << 10;
    made.choice.algorithm = Algorithm::all_pairs;
    made.choice.protocol = size.count < simple_from ? Protocol::ll : Protocol::simple;
  } else if (!is_made_of_sends(kind)) {
    const Processor processor = settings.processor.value_or(system.gpu->processor);
    const NcclTuner nccl_tuner(system, made.graphs, processor, settings.allowed);
    const RcclTuner rccl_tuner(system, made.graphs, processor, settings.allowed);
    const Tuner& tuner = is_nccl ? static_cast<const Tuner&>(nccl_tuner) : rccl_tuner;
    std::optional<Choice> chosen = tuner.choose(kind, size);
    if (settings.tuner) chosen = settings.tuner->overruled(tuner, kind, size, system, chosen);
    if (chosen)
      made.choice = *chosen;
    else
      made.problem = fmt::format("{} has no {} for {} here", name_of(library), settings.asked_for(),
                                 to_text(kind));
  }
}

Decision decide(Library library, const Topology& topology, const CollectivePart& part,
                const SynthesisOptions& options) {
  const bool is_nccl = library == Library::nccl;
  Decision made;
  made.settings = read_settings(options.settings);
  if (!is_nccl && options.settings.contains("version"))
    throw InputError("version is NCCL's; RCCL's algorithms are the same in all");
  if (part.kind == CollectiveKind::hypercube && !std::has_single_bit(part.group.size())) {
    made.problem = "hypercube needs 2^k NPUs, as in nccl-tests";
    return made;
  }
  made.system = system_of(topology, part.group, made.settings.gpu, assumed_gpu(library),
                          made.settings.node_size);
  if (!(made.problem = made.system.problem).empty()) return made;
  if (made.system.gpu->is_amd == is_nccl || (!is_nccl && made.system.gpu_is_assumed)) {
    made.problem = is_nccl ? "AMD's GPUs have RCCL (algorithm rccl)"
                           : "no AMD GPUs (gpu=mi300x takes them for some)";
    return made;
  }
  made.graphs = (is_nccl ? nccl_graphs : rccl_graphs)(made.system, made.settings.limits,
                                                      made.settings.allowed.collnet);
  const Bytes tuned_for = made.settings.tuned_for.value_or(part.size);
  choose(library, part.kind, tuned_for, made);
  if (made.problem.empty() && options.choose_chunks)
    made.cut =
        cut_of(made.system, made.graphs, part.kind, made.choice, part.size,
               static_cast<std::uint32_t>(block_count(part.kind, part.group.size())), tuned_for);
  return made;
}

Outcome answer(Library library, const Topology& topology, const Collective& collective,
               const SynthesisOptions& options) {
  const Decision decision = decide(library, topology, collective.parts.front(), options);
  if (!decision.problem.empty()) return unsupported(decision.problem);
  const System& system = decision.system;
  const Cut& cut = decision.cut;
  Choice choice = decision.choice;
  const Collective finer = with_pieces(topology, collective, cut.pieces);
  if (choice.algorithm == Algorithm::ring)
    choice.channels = std::min(choice.channels, finer.parts.front().chunks_per_shard);
  RoutedSchedule schedule(topology, finer, options);
  list({topology, system, decision.graphs, choice.algorithm, choice.channels, cut.own_piece,
        schedule});
  Outcome outcome = std::move(schedule).outcome();
  outcome.parts_per_chunk = cut.pieces;
  if (choice.algorithm != Algorithm::point_to_point) outcome.facts["channels"] = choice.channels;
  // Sends have channels for each peer, which together fill a link.
  const bool has_channels =
      choice.algorithm != Algorithm::point_to_point && choice.algorithm != Algorithm::all_pairs;
  outcome.library = {std::string(to_text(choice.algorithm)), std::string(to_text(choice.protocol)),
                     has_channels ? choice.channels : 0,
                     choice.algorithm == Algorithm::ring || choice.algorithm == Algorithm::pat,
                     cut.own_piece};
  outcome.facts["nodes"] = system.nodes;
  const std::string picked =
      fmt::format("{}: {}{}", name_of(library), words_of(choice, system, decision.settings),
                  cut.own_piece.count > 0 ? "; in larger chunks than its own" : "");
  if (choice.microseconds > 0) {
    outcome.planned = Time{std::llround(choice.microseconds * ps_per_us)};
    outcome.planned_on = picked;
  } else {
    outcome.note = picked;
  }
  return outcome;
}

/// Nodes of a size that was asked for, and that the network doesn't show, are made of NPUs as they
/// are numbered. A part of the network has to show as many nodes as the whole. Rings go from each
/// node to the next by rank: where each node is one GPU, ranks alone decide who that is.
template <Library library>
Outcome by_structure(const Topology& topology, const Collective& collective,
                     const SynthesisOptions& options) {
  const SynthesisFunction run = [](const Topology& network, const Collective& wanted,
                                   const SynthesisOptions& how) {
    return answer(library, network, wanted, how);
  };
  const Settings settings = read_settings(options.settings);
  const NodesOfNpus node_of(topology, settings.gpu, assumed_gpu(library));
  SynthesisOptions how = options;
  if (settings.node_size > 0 && !node_of.are_of(settings.node_size))
    return run(topology, collective, options);
  how.settings.erase("node_size");
  if (node_of.are_of(1)) return run(topology, collective, how);
  Outcome outcome = planned_by_structure(
      run, topology, collective, how, nullptr, [](const Outcome& whole, const Outcome& part) {
        return !whole.schedule || whole.facts.at("nodes") == part.facts.at("nodes");
      });
  if (outcome.schedule && !node_of.doubt().empty()) {
    outcome.facts.erase("nodes");
    (outcome.planned ? outcome.planned_on : outcome.note) += "; " + node_of.doubt();
  }
  return outcome;
}

} // namespace

Outcome nccl_algorithm(const Topology& topology, const Collective& collective,
                       const SynthesisOptions& options) {
  return by_structure<Library::nccl>(topology, collective, options);
}

std::optional<LibraryPlan> library_plan(const AlgorithmRow& library, const Topology& topology,
                                        const Collective& collective, SynthesisOptions options) {
  options.choose_chunks = true;
  const Decision made = decide(library.name == "nccl" ? Library::nccl : Library::rccl, topology,
                               collective.parts.front(), options);
  if (!made.problem.empty()) return std::nullopt;
  const CollectivePart& part = collective.parts.front();
  const auto blocks = static_cast<double>(block_count(part.kind, part.group.size()));
  const auto pieces = static_cast<double>(made.cut.own_pieces);
  return LibraryPlan{words_of(made.choice, made.system, made.settings),
                     static_cast<double>(part.size.count) / blocks / pieces, made.cut.loops,
                     made.cut.own_pieces, pieces * blocks * static_cast<double>(part.group.size())};
}

Outcome rccl_algorithm(const Topology& topology, const Collective& collective,
                       const SynthesisOptions& options) {
  return by_structure<Library::rccl>(topology, collective, options);
}

} // namespace tutti
