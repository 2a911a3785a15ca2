// Why: what NCCL has found decides what a machine reaches, and NCCL says so only in logs of runs on
// the machine itself. Idea: the search and the cost model by themselves, without a schedule; the
// choice is asked at powers of two, and told where it changes.
#include "algorithms/nccl/picture.hpp"

#include "algorithms/nccl/communicator.hpp"
#include "algorithms/nccl/settings.hpp"
#include "algorithms/nccl/tuner.hpp"

#include <fmt/format.h>

#include <optional>
#include <set>
#include <string_view>

namespace tutti::nccl {

namespace {

std::string words_of(const System& system) {
  std::string text = fmt::format("{} of {} {}", system.nodes, system.gpus, system.gpu->model);
  if (!system.nics.empty()) {
    std::set<double> speeds;
    for (const Nic& nic : system.nics) speeds.insert(nic.speed);
    text += fmt::format(", {} NIC{} of {:g} GB/s each", system.nics.size(),
                        system.nics.size() == 1 ? "" : "s", *speeds.begin());
    if (speeds.size() > 1) text += fmt::format(" to {:g} GB/s", *speeds.rbegin());
    if (system.nics.front().by_host) text += ", by host memory (no GPUDirect)";
  }
  return text;
}

std::string words_of(const System& system, const Channels& found) {
  if (found.all.empty()) return "none";
  std::string text = fmt::format("{} found, {:g} GB/s each in a node over {}", found.size(),
                                 found.inside, to_text(found.type_inside));
  if (system.nodes > 1)
    text += fmt::format(", {:g} GB/s between nodes over {}", found.between,
                        to_text(found.type_between));
  return text;
}

/// "tree, ll up to 64KiB; ring, simple beyond"
std::string choices_of(const Tuner& tuner, CollectiveKind kind) {
  constexpr std::int64_t least = 8, most = std::int64_t{8} << 30;
  std::string text, last;
  for (std::int64_t size = least; size <= most; size *= 2) {
    const std::optional<Choice> choice = tuner.choose(kind, Bytes{size});
    const std::string now =
        choice ? fmt::format("{} {}", to_text(choice->algorithm), to_text(choice->protocol))
               : "nothing";
    if (!last.empty() && now != last)
      text += fmt::format("{} up to {}; ", last, to_text(Bytes{size / 2}));
    last = now;
  }
  return text + last + (text.empty() ? "" : " beyond");
}

} // namespace

std::vector<PictureRow> picture_of(const Topology& topology) {
  if (find_gpu(topology.parts().npu_model) == nullptr || topology.npu_count() < 2) return {};
  std::vector<NodeId> all;
  for (std::uint32_t n = 0; n < topology.npu_count(); ++n) all.emplace_back(n);
  const System system = system_of(topology, all, "", topology.parts().npu_model, 0);
  if (!system.problem.empty()) return {{"problem", system.problem}};
  const bool is_amd = system.gpu->is_amd;
  const Graphs graphs = (is_amd ? rccl_graphs : nccl_graphs)(system, {}, false);
  const NcclTuner nccl_tuner(system, graphs, system.gpu->processor, {});
  const RcclTuner rccl_tuner(system, graphs, system.gpu->processor, {});
  const Tuner& tuner = is_amd ? static_cast<const Tuner&>(rccl_tuner) : nccl_tuner;
  std::vector<PictureRow> rows{
      {"nodes", words_of(system)},
      {"rings",
       fmt::format("{}, {} channels in use", words_of(system, graphs.ring), graphs.channels)},
      {"trees", words_of(system, graphs.tree)},
      {"nvls", system.reducing_switches.empty() ? "none" : words_of(system, graphs.nvls)}};
  for (const CollectiveKind kind : {CollectiveKind::all_reduce, CollectiveKind::all_gather,
                                    CollectiveKind::reduce_scatter, CollectiveKind::broadcast})
    rows.push_back({std::string(to_text(kind)), choices_of(tuner, kind)});
  return rows;
}

} // namespace tutti::nccl
