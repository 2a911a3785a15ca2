// Why: `-t FILE` takes files of other programs as they are, distinguished by their content, never
// by their names, and a new reader is a row here.
#include "topologies/import/list.hpp"

#include "sim/error.hpp"
#include "sim/files/gzip.hpp"
#include "topologies/import/servers.hpp"
#include "topologies/import/text_lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>

namespace tutti::topologies {

std::span<const ForeignFormat> foreign_formats() {
  static constexpr std::array<ForeignFormat, 16> rows{
      {{"astra", "network of ASTRA-sim's analytical backend (.yml)",
        "astra-sim 518bd51, astra-network-analytical's parser", is_astra, read_astra},
       {"csv", "links or a matrix of bandwidths in CSV",
        "columns by their names, no separators within cells", is_csv, read_csv},
       {"dot", "graph in Graphviz's DOT (.dot, .gv)", "graphviz.org/doc/info/lang.html", is_dot,
        read_dot},
       {"graphml", "graph in GraphML (NetworkX, Gephi, Topology Zoo)",
        "graphml.graphdrawing.org; topology-zoo.org", is_graphml, read_graphml},
       {"htsim", "fat tree of htsim (.topo)", "Broadcom/csg-htsim 52ff02f, fat_tree_topology.cpp",
        is_htsim, read_htsim},
       {"infragraph", "infrastructure of InfraGraph (.yaml)",
        "Keysight/infragraph 2701fa5: schema/*.yaml, infragraph_service.py, examples",
        is_infragraph, read_infragraph, false, true},
       {"nccl", "server by NCCL or RCCL, NCCL_TOPO_DUMP_FILE (.xml)",
        "NCCL 2.23 and RCCL 2.21, graph/xml.cc", is_nccl, read_nccl, true, false,
        options_of_devices},
       {"ns3", "text topology of ns-3 (SimAI, ASTRA-sim)",
        "SimAI 1.7's generator; astra-sim 518bd51's ns-3 backend", is_ns3, read_ns3},
       {"nvidia-smi", "server by nvidia-smi topo -m (.txt)",
        "nvidia-smi topo -h, NVIDIA driver 550", is_nvidia_smi, read_nvidia_smi, true, false,
        options_of_unnamed},
       {"simgrid", "platform of SimGrid (.xml)", "SimGrid 3.32, which reads it itself; DTD 4.1",
        is_simgrid, read_simgrid},
       {"taccl", "profile of a node by TACCL (.json)",
        "microsoft/taccl, INPUT_GUIDE.md and taccl/topologies/generic.py", is_taccl, read_taccl,
        true},
       {"teccl", "input of TE-CCL (.json)",
        "microsoft/TE-CCL c128bf2, teccl/input_data.py and teccl/topologies", is_teccl, read_teccl},
       {"hwloc", "server by hwloc, lstopo --of xml (.xml)", "hwloc 2.9, topology-xml.c", is_hwloc,
        read_hwloc, true, false, options_of_devices},
       {"nvidia-list", "GPUs and MIG slices by nvidia-smi -L (.txt)", "nvidia-smi of driver 550",
        is_nvidia_list, read_nvidia_list, true, false, options_of_devices},
       {"p2p", "measured by p2pBandwidthLatencyTest, or as a matrix between gpu0, gpu1, ... in CSV",
        "NVIDIA/cuda-samples, p2pBandwidthLatencyTest.cu", is_p2p_bandwidth, read_p2p_bandwidth,
        true, false, options_of_unnamed},
       {"rocm-smi", "server by rocm-smi --showtopo or amd-smi topology (.txt)",
        "ROCm 6.4, rocm_smi.py, amdsmi_commands.py", is_rocm_smi, read_rocm_smi, true, false,
        options_of_unnamed}}};
  return rows;
}

const ForeignFormat* foreign_format(std::string_view content) {
  const auto found = std::ranges::find_if(
      foreign_formats(), [&](const ForeignFormat& format) { return format.recognises(content); });
  return found == foreign_formats().end() ? nullptr : &*found;
}

namespace {

/// Files that have to do with networks, and that people give by mistake.
struct OtherKind {
  std::array<std::string_view, 2> words; ///< both are in it
  std::string_view what;
};
constexpr std::array other_kinds{
    OtherKind{{"\"scheduling-policy\"", "\"preferred-dataset-splits\""},
              "an ASTRA-sim system file; -t wants its network yml (astra --set system=FILE reads "
              "the system file)"},
    OtherKind{{"\"logical-dims\"", "\"logical-dims\""},
              "ASTRA-sim's logical topology; -t wants the physical one, ns-3's text"},
    OtherKind{{"\"intranode_sketch\"", "\"nnodes\""},
              "a sketch of TACCL: taccl --set sketch=FILE reads it; -t wants the machine"},
    OtherKind{{"<algo", "nchannels"}, "a program of MSCCL; tutti import reads it"},
    OtherKind{{"\"1-Epoch_Duration\"", "\"4-Collective_Finish_Time\""},
              "a schedule of TE-CCL; -t wants the input that it was made from"},
    OtherKind{{"\"gpus\"", "\"threadblocks\""}, "a plan of MSCCL++; -t wants a network"},
    OtherKind{{"<graphs", "<channel"},
              "what NCCL_GRAPH_DUMP_FILE names; -t wants what NCCL_TOPO_DUMP_FILE does"},
    OtherKind{{"\"multigraph\"", "\"nodes\""},
              "a graph in NetworkX's JSON; write_graphml() writes what -t reads"},
    OtherKind{{"\"tutti-schedule\"", "\"collective\""},
              "a schedule; tutti replay reads it, and -t wants its network"},
    OtherKind{{"#wrong", "algbw"},
              "a log of nccl-tests; tutti compare -t MACHINE LOG lays it beside a machine's times"},
};

} // namespace

void refuse_other_kinds(std::string_view content, const std::string& source) {
  constexpr std::array endings{".csv",  ".dot", ".graphml", ".gv",   ".json",
                               ".topo", ".txt", ".xml",     ".yaml", ".yml"}; // not Tutti's own
  const char begin = first_character(content);
  const bool is_markup = begin == '{' || begin == '<';
  const bool is_foreign = is_markup || std::ranges::any_of(endings, [&](const char* end) {
                            return unpacked_name(source).ends_with(end);
                          });
  if (!is_foreign && (begin == '\0' || unpacked_name(source).ends_with(".toml"))) return;
  if (begin == '\0') throw InputError(fmt::format("{}: it is empty", source));
  const std::string_view head = content.substr(0, std::size_t{1} << 20);
  for (const OtherKind& kind : other_kinds)
    if (std::ranges::all_of(kind.words, [&](std::string_view word) {
          return head.find(word) != std::string_view::npos;
        }))
      throw InputError(fmt::format("{}: this is {}", source, kind.what));
  if (!is_foreign) return;
  std::string known;
  for (const ForeignFormat& format : foreign_formats()) known += fmt::format(", {}", format.name);
  throw InputError(
      fmt::format("{}: no network of a known kind (known: Tutti's TOML{})", source, known));
}

Topology read_foreign(const ForeignFormat& format, const ForeignFile& file) {
  constexpr std::size_t most_bytes = std::size_t{64} << 20;
  if (file.content.size() > most_bytes)
    throw InputError(fmt::format("{}: {} bytes are no {} (at most 64 MiB)", file.source,
                                 file.content.size(), format.title));
  if (file.nodes != 1 && !format.has_nodes)
    throw InputError(fmt::format("{}:{}: only of a node there may be several, but this file is a "
                                 "whole network ({})",
                                 file.source, file.nodes, format.name));
  if (first_lines(file.content, 1).empty())
    throw InputError(fmt::format("{}: there is nothing in it", file.source));
  if (!format.has_companions && !file.companions.empty())
    throw InputError(fmt::format("{}+{}: no other file belongs to this one ({})", file.source,
                                 file.companions.front().source, format.name));
  if (const std::size_t at = first_no_text(file.content); at != std::string_view::npos)
    throw TextPlaces(file.content, file.source)
        .error(at, fmt::format("byte {:#04x} is no text in UTF-8",
                               static_cast<unsigned char>(file.content[at])));
  TopologyParts parts;
  Assumptions assumed;
  try {
    parts = format.read(file, assumed);
  } catch (const InputError& e) { // of what readers share, which know no file
    // Where others belong to it, each error has its file.
    if (format.has_companions || std::string_view(e.what()).starts_with(file.source + ":")) throw;
    throw InputError(fmt::format("{}: {}", file.source, e.what()));
  }
  try {
    parts.name = std::filesystem::path(file.source).filename().string();
    if (file.nodes > 1) parts.name += fmt::format(":{}", file.nodes);
    if (parts.note.empty()) parts.note = fmt::format("Read as {}.", format.title);
    parts.assumed = assumed.lines();
    return Topology(std::move(parts));
  } catch (const InputError& e) {
    throw InputError(fmt::format("{}: {}", file.source, e.what()));
  }
}

} // namespace tutti::topologies
