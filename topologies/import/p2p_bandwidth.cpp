// The matrices that CUDA's sample p2pBandwidthLatencyTest prints, or the same in CSV between
// columns gpu0, gpu1, ...: what has been measured from GPU to GPU, one pair at a time.
//
//   Device: 0, NVIDIA A100-SXM4-40GB, pciBusID: 7, pciDeviceID: 0, pciDomainID:0
//   Unidirectional P2P=Enabled Bandwidth (P2P Writes) Matrix (GB/s)
//      D\D     0      1
//        0 1536.7 263.87
//        1 264.11 1541.2
//
// The diagonal is a GPU's own memory, and no link. Pairs that are faster than PCIe have NVLinks;
// what all pairs have is an NVSwitch. The others are a tree: those that are fastest to each other
// meet first, at a switch of PCIe or a CPU, and slower ones above it. A pair at a time gets what a
// way carries, so that pairs aren't links of their own. What is measured counts in proportions: the
// fastest way over PCIe is 16 lanes of the least generation that has as much.
// Source: NVIDIA/cuda-samples, p2pBandwidthLatencyTest.cu.
#include "sim/error.hpp"
#include "sim/graphs/disjoint_sets.hpp"
#include "sim/text.hpp"
#include "topologies/import/servers.hpp"
#include "topologies/import/text_lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

namespace tutti::topologies {

namespace {

constexpr std::size_t most_p2p_gpus = 256;
constexpr double much_faster = 1.2, alike = 0.93, of_a_wire = 0.85;

double gigabytes(Bandwidth rate) { return static_cast<double>(rate.bytes_per_second) / 1e9; }

bool is_gpu_matrix(std::string_view content) {
  const std::vector<std::string_view> lines = first_lines(content, 1);
  if (lines.empty()) return false;
  const std::vector<std::string_view> cells = split(lines.front(), ',');
  if (cells.size() < 3 || !trimmed(cells.front()).empty()) return false;
  for (std::size_t i = 1; i < cells.size(); ++i)
    if (lower_case(trimmed(cells[i])) != fmt::format("gpu{}", i - 1)) return false;
  return true;
}

class P2pReader {
public:
  P2pReader(const ForeignFile& file, Assumptions& assumed)
      : file_(file), assumed_(assumed), is_csv_(is_gpu_matrix(file.content)),
        lines_(lines_of(file, is_csv_)) {}

  TopologyParts read() {
    read_rates();
    const GpuKind kind = kind_of_gpus();
    const auto gpus = static_cast<std::int64_t>(rates_.size());
    ServerBuilder server(file_, assumed_, gpus, kind);
    for (std::size_t a = 0; a < rates_.size(); ++a)
      for (std::size_t b = 0; b < a; ++b)
        if (!is_linked(a, b, kind)) fastest_ = std::max(fastest_, rates_[a][b]);
    const int own = kind.own_links;
    bool all_linked = own > 0;
    int sum = 0;
    for (std::size_t b = 1; b < rates_.size() && own > 0; ++b) {
      all_linked = all_linked && is_linked(0, b, kind);
      sum += links_between(0, b, kind);
    }
    std::vector<std::uint32_t> all(rates_.size());
    std::iota(all.begin(), all.end(), 0);
    add_below(server, kind, server.add_cpu(0), all);
    for (std::size_t a = 0; a < rates_.size(); ++a) {
      if (all_linked && sum > own) server.add_switched_links(static_cast<std::int64_t>(a), own);
      for (std::size_t b = 0; b < rates_.size(); ++b)
        if (!(all_linked && sum > own) && a != b && is_linked(a, b, kind))
          server.add_own_links(static_cast<std::int64_t>(a), static_cast<std::int64_t>(b),
                               links_between(a, b, kind));
    }
    TopologyParts parts = std::move(server).cluster();
    parts.note = "GPUs as p2pBandwidthLatencyTest measured them, a pair at a time.";
    return parts;
  }

private:
  static TextLines lines_of(const ForeignFile& file, bool is_csv) {
    if (is_csv) return {file.content, file.source, ','};
    return {file.content, file.source};
  }
  /// The matrix of writes between peers one way, or else the first one.
  void read_rates() {
    const std::vector<TextLines::Line>& lines = lines_.lines();
    enum class Under : std::uint8_t { nothing, bandwidth, peers };
    Under under = is_csv_ ? Under::peers : Under::nothing;
    std::size_t head = lines.size();
    for (std::size_t l = 0; l < lines.size(); ++l) {
      std::string words;
      for (const Word& word : lines[l]) words += lower_case(word.text) + " ";
      if (words.starts_with("device: ") && name_.empty()) name_ = words;
      const auto has = [&](const char* word) { return words.find(word) != std::string::npos; };
      if (has("matrix"))
        under = !has("bandwidth")                             ? Under::nothing
                : has("unidirectional") && has("p2p=enabled") ? Under::peers
                                                              : Under::bandwidth;
      if (under == Under::nothing || (!is_csv_ && lines[l].front().text != "D\\D")) continue;
      if (under == Under::peers || head == lines.size()) head = l;
      if (under == Under::peers) break;
    }
    if (head == lines.size()) throw lines_.error("no line D\\D 0 1 ...");
    const std::size_t gpus = lines[head].size() - 1;
    if (gpus > most_p2p_gpus) throw lines_.error(lines[head].front(), "more than 256 GPUs");
    for (std::size_t g = 0; g < gpus; ++g) {
      if (head + 1 + g >= lines.size() || lines[head + 1 + g].size() != gpus + 1)
        throw lines_.error(lines[std::min(head + 1 + g, lines.size() - 1)].front(),
                           fmt::format("a row of {} numbers belongs here", gpus));
      std::vector<double>& row = rates_.emplace_back();
      for (std::size_t b = 0; b < gpus; ++b)
        row.push_back(lines_.number(lines[head + 1 + g][b + 1], g == b ? 0 : 0.001, 1e5));
    }
    for (std::size_t a = 0; a < gpus; ++a) // the slower way of a pair
      for (std::size_t b = 0; b < a; ++b)
        rates_[a][b] = rates_[b][a] = std::min(rates_[a][b], rates_[b][a]);
  }

  [[nodiscard]] GpuKind kind_of_gpus() {
    if (const std::optional<GpuKind> asked = asked_gpu_kind(file_)) return *asked;
    if (const GpuKind* named = find_gpu_kind(model_in_name(name_))) return *named;
    double most = 0;
    for (std::size_t a = 0; a < rates_.size(); ++a)
      for (std::size_t b = 0; b < a; ++b) most = std::max(most, rates_[a][b]);
    // Between two GPUs, as measured: NVLink 5, 4, 3, 2 of all, or of two of six.
    const std::string_view model = most > 500                           ? "b200"
                                   : most > 300                         ? "h100"
                                   : most > 150                         ? "a100"
                                   : most > gigabytes(pcie_rate(5, 16)) ? "v100"
                                                                        : "";
    GpuKind kind = model.empty() ? unknown_gpu_kind() : *find_gpu_kind(model);
    if (model.empty()) {
      kind.pcie = 1;
      while (kind.pcie < 6 && gigabytes(pcie_rate(kind.pcie, 16)) < most) ++kind.pcie;
    }
    assumed_.add("GPUs", fmt::format("{}, by {} GB/s between two of them (npu=... says another)",
                                     model.empty() ? "unknown ones" : model, most));
    return kind;
  }
  [[nodiscard]] bool is_linked(std::size_t a, std::size_t b, const GpuKind& kind) const {
    return kind.own_links > 0 &&
           rates_[a][b] > much_faster * gigabytes(pcie_rate(kind.pcie, 16)) * of_a_wire;
  }
  [[nodiscard]] int links_between(std::size_t a, std::size_t b, const GpuKind& kind) {
    const double one = of_a_wire * gigabytes(assumed_.rate(kind.own_link));
    return std::clamp(static_cast<int>(std::lround(rates_[a][b] / one)), 1, kind.own_links);
  }

  /// All of them at a hub; those that are faster to each other than the slowest pair of all meet
  /// below it, and so on.
  void add_below(ServerBuilder& server, const GpuKind& kind, NodeId hub,
                 const std::vector<std::uint32_t>& gpus) {
    double slowest = fastest_;
    for (const std::uint32_t a : gpus)
      for (const std::uint32_t b : gpus)
        if (a != b && !is_linked(a, b, kind)) slowest = std::min(slowest, rates_[a][b]);
    DisjointSets faster(rates_.size());
    for (const std::uint32_t a : gpus)
      for (const std::uint32_t b : gpus)
        if (!is_linked(a, b, kind) && alike * rates_[a][b] > slowest) faster.join(a, b);
    std::map<std::uint32_t, std::vector<std::uint32_t>> below;
    for (const std::uint32_t g : gpus) below[faster.find(g)].push_back(g);
    const Bandwidth rate{
        std::llround(slowest / fastest_ * gigabytes(pcie_rate(kind.pcie, 16)) * 1e9)};
    for (const auto& [first, those] : below) {
      if (those.size() == 1 || those.size() == gpus.size()) {
        for (const std::uint32_t g : those) server.add_pcie(hub, ServerBuilder::gpu(g), rate);
        continue;
      }
      const NodeId lower = server.add_pcie_switch();
      server.add_pcie(hub, lower, rate);
      add_below(server, kind, lower, those);
    }
  }

  const ForeignFile& file_;
  Assumptions& assumed_;
  bool is_csv_;
  TextLines lines_;
  std::string name_; // of the first device
  std::vector<std::vector<double>> rates_;
  double fastest_ = 1; // of those over PCIe
};

} // namespace

bool is_p2p_bandwidth(std::string_view content) {
  return is_gpu_matrix(content) ||
         content.substr(0, std::size_t{1} << 16).find("P2P=Disabled") != std::string_view::npos;
}

TopologyParts read_p2p_bandwidth(const ForeignFile& file, Assumptions& assumed) {
  return P2pReader(file, assumed).read();
}

} // namespace tutti::topologies
