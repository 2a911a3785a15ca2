// What `rocm-smi --showtopo` and `amd-smi topology` print: a table for each question.
//
//   ========= Weight between two GPUs =========        WEIGHT TABLE:
//          GPU0    GPU1                                             0000:0c:00.0 0000:22:00.0
//   GPU0   0       15                                  0000:0c:00.0 0            15
//   GPU1   15      0                                   ...
//   ========= Hops between two GPUs =========          HOPS TABLE:
//   ========= Link Type between two GPUs =========     LINK TYPE TABLE:
//   ========= Numa Nodes =========
//   GPU[0]  : (Topology) Numa Node: 0
//
// A pair of type XGMI and one hop has a link of Infinity Fabric. By PCIe, GPUs up to two hops from
// each other are at one CPU, unless the NUMA nodes are there: of three hops one is between CPUs
// (weight 20 for a segment of PCIe, 12 for what is between CPUs). What the GPUs are it doesn't say.
// Source: ROCm 6.4, rocm_smi.py (showWeightTopology, ...), amdsmi_commands.py (topology).
#include "sim/error.hpp"
#include "sim/graphs/disjoint_sets.hpp"
#include "sim/text.hpp"
#include "topologies/import/servers.hpp"
#include "topologies/import/text_lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tutti::topologies {

namespace {

constexpr std::size_t most_smi_gpus = 1024;

class RocmSmiReader {
public:
  RocmSmiReader(const ForeignFile& file, Assumptions& assumed)
      : file_(file), assumed_(assumed), lines_(file.content, file.source) {}

  TopologyParts read() {
    for (const TextLines::Line& line : lines_.lines()) read_line(line);
    if (names_.empty()) throw lines_.error("no line GPU0 GPU1 ...");
    if (types_.size() != names_.size())
      throw lines_.error(fmt::format("link types of {} GPUs, of {}", types_.size(), names_.size()));
    if (!file_.options.contains("npu")) assume_model();
    return read_as_nccl(file_, xml(), assumed_, "A server as AMD's smi shows it.");
  }

private:
  using Row = std::vector<Word>;

  static bool is_device(std::string_view word) {
    return (word.starts_with("GPU") && is_digits(word.substr(3))) ||
           (word.size() == 12 && word[4] == ':' && word[7] == ':');
  }

  void read_line(const TextLines::Line& line) {
    std::string words;
    for (const Word& word : line) words += lower_case(word.text) + " ";
    const std::string_view first = line.front().text;
    if (first.starts_with("GPU[")) { // "GPU[0] : (Topology) Numa Node: 0"
      if (words.find("numa node:") != std::string::npos)
        numa_[std::string(first.substr(4, first.find(']') - 4))] = line.back().text;
      return;
    }
    if (!is_device(first)) {
      for (const auto& [key, table] : {std::pair("hops", &hops_), std::pair("type", &types_)})
        if (words.find(key) != std::string::npos) {
          table_ = table;
          return;
        }
      if (words.find("table") != std::string::npos || words.find("==") != std::string::npos)
        table_ = nullptr;
      return;
    }
    if (std::ranges::all_of(line, [](const Word& word) { return is_device(word.text); })) {
      if (line.size() > most_smi_gpus || (!names_.empty() && line.size() != names_.size()))
        throw lines_.error(line.front(), "more than 1,024 GPUs, or others than in the first table");
      names_.clear();
      for (const Word& word : line) names_.emplace_back(word.text);
    } else if (table_ != nullptr) {
      if (line.size() != names_.size() + 1)
        throw lines_.error(line.front(),
                           fmt::format("{} entries for {} GPUs", line.size() - 1, names_.size()));
      table_->emplace_back(line.begin() + 1, line.end());
    }
  }

  [[nodiscard]] bool is_linked(std::size_t a, std::size_t b) const {
    const bool is_next = hops_.size() != names_.size() || hops_[a][b].text == "1";
    return a != b && is_next && lower_case(types_[a][b].text) == "xgmi";
  }

  void assume_model() {
    std::size_t most = 0;
    for (std::size_t a = 0; a < names_.size(); ++a) {
      std::size_t peers = 0;
      for (std::size_t b = 0; b < names_.size(); ++b) peers += is_linked(a, b) ? 1 : 0;
      most = std::max(most, peers);
    }
    constexpr std::size_t full_mesh = 7;
    const std::string model = most == 0 ? "radeon" : most >= full_mesh ? "mi300x" : "mi250x";
    file_.options["npu"] = model;
    assumed_.add("GPUs", fmt::format("{}, by their links, up to {} of one (npu=... says another)",
                                     model, most));
  }

  /// [GPU]: a number of its CPU.
  [[nodiscard]] std::vector<std::string> cpus() {
    std::vector<std::string> at;
    const auto count = static_cast<std::uint32_t>(names_.size());
    for (std::uint32_t g = 0; g < count && numa_.size() == names_.size(); ++g)
      at.push_back(numa_[std::to_string(g)]);
    if (!at.empty()) return at;
    DisjointSets near(count);
    bool is_placed = false;
    for (std::uint32_t a = 0; a < count && hops_.size() == count; ++a)
      for (std::uint32_t b = 0; b < a; ++b) {
        if (is_linked(a, b)) continue;
        const std::string_view hops = hops_[a][b].text;
        is_placed = true;
        if (hops == "1" || hops == "2") near.join(a, b);
      }
    for (std::uint32_t g = 0; g < count; ++g)
      at.push_back(std::to_string(is_placed ? near.find(g) : 0));
    assumed_.add("CPUs",
                 is_placed ? "GPUs of up to two hops have one in common" : "one for all GPUs");
    return at;
  }

  [[nodiscard]] std::string xml() {
    const std::optional<GpuKind> kind = asked_gpu_kind(file_);
    const std::vector<std::string> at = cpus();
    std::map<std::string, std::string> by_cpu;
    const Bandwidth rate = pcie_rate(kind->pcie, 16);
    assumed_.add("PCIe", fmt::format("generation {}, 16 lanes", kind->pcie));
    for (std::size_t g = 0; g < names_.size(); ++g) {
      std::string& text = by_cpu[at[g]];
      text +=
          fmt::format("<pci busid=\"{}\" class=\"0x038000\" bandwidth=\"{}\"><gpu dev=\"{}\" "
                      "gcn=\"{}\">",
                      names_[g], static_cast<double>(rate.bytes_per_second) / 1e9, g, kind->model);
      for (std::size_t b = 0; b < names_.size(); ++b)
        if (is_linked(g, b))
          text += fmt::format("<xgmi target=\"{}\" count=\"1\" tclass=\"0x038000\"/>", names_[b]);
      text += "</gpu></pci>";
    }
    std::string whole = "<system>";
    for (const auto& [cpu, text] : by_cpu)
      whole += fmt::format("<cpu numaid=\"{}\" arch=\"x86_64\" vendor=\"AuthenticAMD\">{}</cpu>",
                           std::distance(by_cpu.begin(), by_cpu.find(cpu)), text);
    return whole + "</system>";
  }

  ForeignFile file_;
  Assumptions& assumed_;
  TextLines lines_;
  std::vector<std::string> names_;
  std::vector<Row> hops_, types_;
  std::vector<Row>* table_ = nullptr;       // that rows belong to
  std::map<std::string, std::string> numa_; // by GPU's number
};

} // namespace

bool is_rocm_smi(std::string_view content) {
  const std::string head = lower_case(content.substr(0, std::size_t{1} << 16));
  const bool is_rocm = head.find("between two gpus") != std::string::npos;
  return is_rocm || head.find("link type table:") != std::string::npos;
}

TopologyParts read_rocm_smi(const ForeignFile& file, Assumptions& assumed) {
  return RocmSmiReader(file, assumed).read();
}

} // namespace tutti::topologies
