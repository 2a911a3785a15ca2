// The matrix that `nvidia-smi topo -m` prints:
//
//           GPU0  GPU1  NIC0  CPU Affinity  NUMA Affinity
//   GPU0     X    NV12  PXB   0-31          0
//   GPU1    NV12   X    SYS   32-63         1
//   NIC0    PXB   SYS    X
//
// NV# are so many NVLinks; where they are more than a GPU has, an NVSwitch joins them. PIX is at
// most one bridge of PCIe, PXB several, PHB a host bridge, NODE one NUMA node, SYS another. It says
// neither what the GPUs are nor what anything carries: that goes by the number of NVLinks, or by
// `npu=h100`, which is said to whoever asks.
//
// What is near becomes a tree: devices that PIX or PXB joins are at a PCIe switch, those that PIX
// joins at one of their own below it, and those of one NUMA node at a CPU. As NV# hides what PCIe
// is between two GPUs, cards and the CPUs that GPUs are near to tell it.
#include "sim/error.hpp"
#include "sim/graphs/disjoint_sets.hpp"
#include "sim/text.hpp"
#include "topologies/import/servers.hpp"
#include "topologies/import/text_lines.hpp"
#include "topologies/lint/lint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tutti::topologies {

namespace {

constexpr std::size_t most_smi_devices = 1024;

enum class Near : std::uint8_t { same, nvlink, pix, pxb, phb, node, sys };

struct SmiRelation {
  Near near = Near::sys;
  int nvlinks = 0;
  Word at = {};
};

bool is_gpu_name(std::string_view word) {
  return word.starts_with("GPU") && word.size() < 9 && is_digits(word.substr(3));
}

/// Without what colours and underlines on a terminal.
std::string without_escapes(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\x1b') {
      plain += text[i];
      continue;
    }
    if (i + 1 < text.size() && text[i + 1] == '[')
      for (i += 2; i < text.size() && std::isalpha(static_cast<unsigned char>(text[i])) == 0;) ++i;
  }
  return plain;
}

/// The head of the matrix: GPU0, GPU1, ...
bool is_smi_head(const TextLines::Line& line) {
  return line.size() >= 2 && line[0].text == "GPU0" &&
         (line[1].text == "GPU1" || line[1].text == "CPU" || line[1].text.starts_with("NIC") ||
          line[1].text.find("mlx") != std::string_view::npos);
}

class NvidiaSmiReader {
public:
  NvidiaSmiReader(const ForeignFile& file, Assumptions& assumed)
      : file_(file), assumed_(assumed), plain_(without_escapes(file.content)),
        lines_(plain_, file.source) {}

  TopologyParts read() {
    read_matrix();
    const GpuKind& kind = kind_of_gpus();
    ServerBuilder server(file_, assumed_, static_cast<std::int64_t>(gpus_), kind);
    add_tree(server, kind);
    add_nvlinks(server, kind);
    TopologyParts parts = std::move(server).cluster();
    parts.note = "A server as nvidia-smi topo -m shows it.";
    parts.odd = odd_in(seen_);
    return parts;
  }

private:
  void read_matrix() {
    const std::vector<TextLines::Line>& lines = lines_.lines();
    auto line = std::ranges::find_if(lines, is_smi_head);
    if (line == lines.end()) throw lines_.error("no line GPU0 GPU1 ...");
    for (const Word& word : *line) {
      if (word.text == "CPU" || word.text == "NUMA" || word.text == "GPU") break; // ... Affinity
      if (names_.size() == most_smi_devices)
        throw lines_.error(word, fmt::format("more than {} devices", most_smi_devices));
      if (is_gpu_name(word.text)) {
        if (gpus_ < names_.size()) throw lines_.error(word, "a GPU after network cards");
        ++gpus_;
      }
      names_.emplace_back(word.text);
    }
    const TextLines::Line& head = *line;
    relations_.assign(names_.size(), {});
    cpu_of_.assign(names_.size(), "");
    places_.assign(names_.size(), "");
    for (++line; line != lines.end(); ++line) {
      const auto row = std::ranges::find(names_, line->front().text);
      if (row == names_.end()) continue;
      const auto number = static_cast<std::size_t>(row - names_.begin());
      if (!relations_[number].empty())
        throw lines_.error(line->front(), fmt::format("a second row {}", *row));
      read_row(number, *line);
    }
    for (std::size_t row = 0; row < names_.size(); ++row)
      if (relations_[row].empty())
        throw lines_.error(head[row], fmt::format("no row {}", names_[row]));
    for (std::size_t a = 0; a < names_.size(); ++a)
      for (std::size_t b = 0; b < a; ++b)
        if (relations_[a][b].near != relations_[b][a].near ||
            relations_[a][b].nvlinks != relations_[b][a].nvlinks)
          throw lines_.error(relations_[a][b].at, fmt::format("{} and {} say different things of "
                                                              "each other",
                                                              names_[b], names_[a]));
    for (const TextLines::Line& words : lines) read_legend(words);
  }

  /// "NIC0: mlx5_0", below the matrix.
  void read_legend(const TextLines::Line& words) {
    if (words.size() != 2 || !words[0].text.ends_with(':')) return;
    const auto nic = std::ranges::find(names_, words[0].text.substr(0, words[0].text.size() - 1));
    if (nic != names_.end() && !is_gpu_name(*nic)) *nic = std::string(words[1].text);
  }

  void read_row(std::size_t number, const TextLines::Line& line) {
    if (line.size() < names_.size() + 1)
      throw lines_.error(line.front(),
                         fmt::format("{} entries for {} devices", line.size() - 1, names_.size()));
    for (std::size_t i = 0; i < names_.size(); ++i) {
      relations_[number].push_back(relation(line[i + 1]));
      relations_[number].back().at = line[i + 1];
      if ((relations_[number].back().near == Near::same) != (i == number))
        throw lines_.error(line[i + 1], "X stands where a device meets itself, and only there");
    }
    places_[number] = fmt::format("{}:{}", file_.source, line.front().line);
    if (line.size() > names_.size() + 1)
      cpu_of_[number] = std::string(line[names_.size() + 1].text);
  }
  [[nodiscard]] SmiRelation relation(const Word& word) const {
    if (word.text == "X") return {Near::same};
    if (word.text.starts_with("NV") && is_digits(word.text.substr(2)))
      return {Near::nvlink, static_cast<int>(lines_.integer(
                                {word.text.substr(2), word.line, word.column + 2}, 1, 1024))};
    constexpr std::array<std::pair<std::string_view, Near>, 6> known{{{"PIX", Near::pix},
                                                                      {"PXB", Near::pxb},
                                                                      {"PHB", Near::phb},
                                                                      {"NODE", Near::node},
                                                                      {"SYS", Near::sys},
                                                                      {"SOC", Near::sys}}};
    for (const auto& [text, near] : known)
      if (word.text == text) return {near};
    throw lines_.error(
        word, fmt::format("unknown \"{}\" (known: X, NV#, PIX, PXB, PHB, NODE, SYS)", word.text));
  }

  [[nodiscard]] const GpuKind& kind_of_gpus() {
    if (const std::optional<GpuKind> asked = asked_gpu_kind(file_))
      return *find_gpu_kind(asked->model);
    int most = 0, all = 0; // between two GPUs, and of one
    for (std::size_t a = 0; a < gpus_; ++a) {
      int own = 0;
      for (std::size_t b = 0; b < gpus_; ++b) {
        most = std::max(most, relations_[a][b].nvlinks);
        own += relations_[a][b].nvlinks;
      }
      all = std::max(all, own);
    }
    // All links of a GPU, if they lead to others directly; else as many lead to a switch.
    const std::string_view model = most == 0               ? ""
                                   : all == 18             ? "h100"
                                   : all == 12             ? "a100"
                                   : all == 4 && most == 4 ? "a6000"
                                   : all <= 6 || most == 6 ? "v100"
                                   : most <= 12            ? "a100"
                                                           : "h100";
    if (model.empty()) {
      assumed_.add("GPUs", "unknown ones, with PCIe of the third generation (npu=a100: A100)");
      return unknown_gpu_kind();
    }
    std::string others;
    for (const GpuKind& kind : gpu_kinds())
      if (kind.link_part.starts_with("nvlink") && kind.model != model)
        others += fmt::format("{}{}", others.empty() ? "" : ", ", kind.model);
    assumed_.add("GPUs", fmt::format("{}, by their NVLinks, {} of one and up to {} between two "
                                     "(npu=... says another: {})",
                                     model, all, most, others));
    return *find_gpu_kind(model);
  }

  void add_tree(ServerBuilder& server, const GpuKind& kind) {
    const auto count = static_cast<std::uint32_t>(names_.size());
    bool is_placed = false;
    DisjointSets by_cpu(count), by_root(count), by_switch(count);
    for (std::uint32_t a = 0; a < count; ++a)
      for (std::uint32_t b = 0; b < a; ++b) {
        const Near near = relations_[a][b].near;
        const bool is_near = near != Near::nvlink;
        if (is_near && near <= Near::node) by_cpu.join(a, b);
        if (is_near && near <= Near::pxb) by_root.join(a, b);
        if (is_near && near <= Near::pix) by_switch.join(a, b);
        const bool has_cpu = !cpu_of_[a].empty() && cpu_of_[a] != "N/A";
        if (!is_near && has_cpu && cpu_of_[a] == cpu_of_[b]) by_cpu.join(a, b);
        is_placed = is_placed || is_near || has_cpu;
      }
    if (!is_placed) { // of GPUs with NVLinks alone nothing says where they are
      for (std::uint32_t d = 1; d < count; ++d) by_cpu.join(0, d);
      assumed_.add("CPUs", "one for all GPUs");
    }
    std::map<std::uint32_t, NodeId> cpus, roots, switches;
    std::vector<NodeId> cpu_ids;
    std::map<std::uint32_t, std::uint32_t> in_root, in_switch;
    for (std::uint32_t d = 0; d < count; ++d) {
      ++in_root[by_root.find(d)];
      ++in_switch[by_switch.find(d)];
    }
    const Bandwidth rate = pcie_rate(kind.pcie, 16);
    assumed_.add("PCIe", fmt::format("generation {}, 16 lanes", kind.pcie));
    for (std::uint32_t d = 0; d < count; ++d) {
      const auto [cpu, is_new] = cpus.try_emplace(by_cpu.find(d));
      if (is_new) {
        seen_.hosts.emplace_back();
        cpu->second = server.add_cpu(static_cast<std::int64_t>(cpu_ids.size()));
        cpu_ids.push_back(cpu->second);
      }
      NodeId above = cpu->second;
      const std::size_t of_cpu =
          static_cast<std::size_t>(std::ranges::find(cpu_ids, above) - cpu_ids.begin());
      if (d < gpus_)
        seen_.gpus.push_back({places_[d], names_[d], "", names_[d], of_cpu, 0, {}, {}});
      else
        seen_.cards.push_back({places_[d], names_[d], of_cpu, ""});
      const std::uint32_t root = by_root.find(d), own = by_switch.find(d);
      const auto go_below = [&](std::map<std::uint32_t, NodeId>& made, std::uint32_t set) {
        const auto [hub, is_first] = made.try_emplace(set);
        if (is_first) {
          hub->second = server.add_pcie_switch();
          server.add_pcie(above, hub->second, rate);
        }
        above = hub->second;
      };
      if (in_root[root] > 1) go_below(roots, root);
      // A switch of its own only where it isn't all that is below the root.
      if (in_switch[own] > 1 && in_switch[own] < in_root[root]) go_below(switches, own);
      if (d < gpus_)
        server.add_pcie(above, ServerBuilder::gpu(d), rate);
      else
        server.add_nic(names_[d], {{assumed_.rate(kind.nic), {}}}, above, rate);
    }
    for (std::size_t a = 0; a < cpu_ids.size(); ++a)
      for (std::size_t b = a + 1; b < cpu_ids.size(); ++b)
        server.add_bus(cpu_ids[a], cpu_ids[b], assumed_.rate("between AMD's CPUs"));
  }

  [[nodiscard]] int sum_of(std::size_t gpu) const {
    int sum = 0;
    for (std::size_t b = 0; b < gpus_; ++b) sum += relations_[gpu][b].nvlinks;
    return sum;
  }
  void add_nvlinks(ServerBuilder& server, const GpuKind& kind) {
    bool is_switched = false;
    for (std::size_t a = 0; a < gpus_; ++a) is_switched = is_switched || sum_of(a) > kind.own_links;
    for (std::size_t a = 0; a < gpus_; ++a) {
      int most = 0;
      for (std::size_t b = 0; b < gpus_; ++b) {
        const int links = relations_[a][b].nvlinks;
        most = std::max(most, links);
        if (links > kind.own_links)
          throw lines_.error(
              relations_[a][b].at,
              fmt::format("{} NVLinks from {} to one other GPU, and {} has {}", links, names_[a],
                          kind.model.empty() ? "such a GPU" : kind.model, kind.own_links));
        if (links > 0 && !is_switched)
          server.add_own_links(static_cast<std::int64_t>(a), static_cast<std::int64_t>(b), links);
      }
      seen_.gpus[a].links = is_switched ? most : sum_of(a);
      if (is_switched && most > 0) server.add_switched_links(static_cast<std::int64_t>(a), most);
    }
  }

  const ForeignFile& file_;
  Assumptions& assumed_;
  std::string plain_;
  TextLines lines_;
  std::vector<std::string> names_; // of devices, GPUs first
  std::size_t gpus_ = 0;
  std::vector<std::vector<SmiRelation>> relations_;
  std::vector<std::string> places_; // of the devices' rows
  SeenServer seen_;
  std::vector<std::string> cpu_of_; // what the affinity column has; empty: nothing
};

} // namespace

bool is_nvidia_smi(std::string_view content) {
  if (is_rocm_smi(content)) return false;
  const std::string plain = without_escapes(content.substr(0, std::size_t{1} << 16));
  for (const std::string_view whole : first_lines(plain, 400)) {
    const std::string_view line = trimmed(whole);
    if (!line.starts_with("GPU0")) continue;
    const std::string_view rest = trimmed(line.substr(4));
    if (rest.starts_with("X") || rest.starts_with("GPU1") || rest.starts_with("CPU Affinity") ||
        rest.starts_with("NIC0") || rest.starts_with("mlx"))
      return true;
  }
  return false;
}

TopologyParts read_nvidia_smi(const ForeignFile& file, Assumptions& assumed) {
  return NvidiaSmiReader(file, assumed).read();
}

} // namespace tutti::topologies
