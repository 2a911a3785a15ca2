// TACCL's topology files: one node's profile in JSON (microsoft/taccl, INPUT_GUIDE.md): GPUs, NICs,
// alpha and beta of links within the node and to other nodes.
//
// A file says neither its kind nor its units. Kind: two betas are the NVLinks of NDv2 (its double
// and its single ones), one beta is a switch that joins all GPUs (DGX-2), and matrices `links`,
// `betas`, `invbws` (row: destination) are any other node. Units: times are microseconds for a
// chunk of the size that the file's name ends with ("NDv2_32KB"; 1 MB where it has none), all times
// a power of ten, as its solver rounds them: the one that brings alpha below 1 us. MB is 2^20
// bytes: betas of the published files for 1 KB, 32 KB and 1 MB agree with that, and with no other.
//
// Nodes are joined by one switch; alpha between nodes is on a NIC's link into it, and each GPU
// reaches its NIC, GPU * NICs / GPUs, at the NIC's rate.
#include "sim/error.hpp"
#include "sim/files/tree_value.hpp"
#include "sim/text.hpp"
#include "topologies/import/list.hpp"
#include "topologies/import/text_lines.hpp"
#include "topologies/ndv2_links.hpp"
#include "topologies/parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tutti::topologies {

namespace {

constexpr std::int64_t most_gpus = 1024, most_nodes = 4096;
constexpr double most_microseconds = 1e12;

struct NamedChunk {
  std::int64_t bytes = std::int64_t{1} << 20;
  bool is_named = false;
};

/// The chunk size that a name like "NDv2_32KB" ends with, up to 1 GiB. Errors: InputError for an
/// ending in KB, MB or GB that says no such size.
NamedChunk chunk_of(const TreeValue& at) {
  const std::string name = lower_case(at.string());
  const std::string_view unit =
      std::string_view(name).substr(name.size() - std::min<std::size_t>(2, name.size()));
  const unsigned shift = unit == "kb" ? 10 : unit == "mb" ? 20 : unit == "gb" ? 30 : 0;
  const std::size_t end = name.size() - unit.size();
  std::size_t begin = end;
  while (begin > 0 && std::isdigit(static_cast<unsigned char>(name[begin - 1])) != 0) --begin;
  if (shift == 0 || begin == end) return {};
  constexpr std::int64_t most = std::int64_t{1} << 30;
  const std::string digits = name.substr(begin, end - begin);
  const std::int64_t number = digits.size() > 7 ? most : std::stoll(digits);
  if (number == 0 || number > (most >> shift) || (begin > 0 && name[begin - 1] == '.'))
    throw at.error(fmt::format("it ends as with a chunk's size, but not with a whole one from 1KB "
                               "to 1GB"));
  return {number << shift, true};
}

class TacclReader {
public:
  explicit TacclReader(const ForeignFile& file)
      : root_(parse_json(file.content, file.source)), source_(file.source), nodes_(file.nodes) {}

  TopologyParts read(Assumptions& assumed) {
    root_.allow_only({"name", "gpus_per_node", "nics_per_node", "alpha", "node_betas_list",
                      "node_invbws_list", "links", "betas", "invbws", "remote_alpha", "remote_beta",
                      "remote_invbw"});
    const TreeValue gpus = root_.at("gpus_per_node");
    gpus_ = gpus.integer(2, most_gpus);
    if (nodes_ < 1 || nodes_ > most_nodes)
      throw InputError(
          fmt::format("{}: 1 to {} nodes are possible, not {}", source_, most_nodes, nodes_));
    const std::string name = root_.at("name").string();
    chunk_ = chunk_of(root_.at("name"));
    require_npus(std::max<std::int64_t>(2, gpus_ * nodes_));
    const TreeValue alpha = root_.at("alpha");
    alpha_ = alpha.number(0, most_microseconds);
    while (alpha_ / scale_ >= 1) scale_ *= 10;
    for (std::int64_t npu = 0; npu < gpus_ * nodes_; ++npu)
      parts_.add_node({fmt::format("npu{}", npu), NodeKind::npu, {}, {}});
    if (root_.has("links"))
      add_matrices();
    else
      add_lists();
    if (nodes_ > 1) add_nics();
    parts_.note = fmt::format("TACCL's profile {}: {}.", name, kind_);
    assumed.add("chunks", fmt::format("times are for {}{}", to_text(Bytes{chunk_.bytes}),
                                      chunk_.is_named ? ", as its name says"
                                                      : ", as its name ends with no size"));
    assumed.add("times", fmt::format("in us times {}, which brings alpha below 1 us",
                                     static_cast<std::int64_t>(scale_)));
    if (nodes_ > 1) assumed.add("nodes", "one switch joins their NICs");
    return std::move(parts_);
  }

private:
  [[nodiscard]] Time time(double microseconds) const {
    return Time{static_cast<std::int64_t>(std::llround(microseconds / scale_ * 1e6))};
  }
  /// What carries a chunk in so many microseconds of the file.
  [[nodiscard]] Bandwidth bandwidth(const TreeValue& beta) const {
    const double microseconds = beta.number(0, most_microseconds) / scale_;
    const double rate = static_cast<double>(chunk_.bytes) / (microseconds * 1e-6);
    if (!(microseconds > 0) || rate < 1 || rate > 1e18)
      throw beta.error(fmt::format("a beta of {} us for {} is no link's", beta.number(),
                                   to_text(Bytes{chunk_.bytes})));
    return Bandwidth{std::llround(rate)};
  }
  /// alpha + beta, rounded by whoever wrote the file.
  void check_inverse(const TreeValue& given, double alpha, double beta) const {
    const double sum = alpha + beta, inverse = given.number(0, most_microseconds);
    if (std::abs(inverse - sum) > 1 + 0.05 * sum)
      throw given.error(fmt::format("{} isn't alpha + beta = {}", inverse, sum));
  }

  [[nodiscard]] NodeId gpu(std::int64_t node, std::int64_t index) const {
    return NodeId{static_cast<std::uint32_t>(node * gpus_ + index)};
  }
  NodeId add_switch(const std::string& name) {
    return parts_.add_node({name, NodeKind::switching, Abilities{false, false, false}, {}});
  }

  void add_lists() {
    const TreeValue list = root_.at("node_betas_list");
    const std::vector<TreeValue> betas = list.list();
    const std::vector<TreeValue> inverses = root_.at("node_invbws_list").list();
    for (const char* key : {"betas", "invbws"})
      if (root_.has(key)) throw root_.find(key)->error("it needs \"links\" beside it");
    if (betas.size() != inverses.size())
      throw list.error(
          fmt::format("{} betas, but {} in node_invbws_list", betas.size(), inverses.size()));
    for (std::size_t i = 0; i < betas.size(); ++i)
      check_inverse(inverses[i], alpha_, betas[i].number(0, most_microseconds));
    parts_.npu_model = "v100";
    if (betas.size() == 1) {
      kind_ = fmt::format("{} GPUs at a switch", gpus_);
      Link half{{}, {}, Time{time(alpha_).ps / 2}, bandwidth(betas[0])};
      for (std::int64_t n = 0; n < nodes_; ++n) {
        const NodeId to = add_switch(fmt::format("nvswitch{}", n));
        for (std::int64_t g = 0; g < gpus_; ++g) parts_.add_duplex(between(gpu(n, g), to, half));
      }
    } else if (betas.size() == 2) {
      kind_ = "8 GPUs with the NVLinks of NDv2";
      if (gpus_ != 8)
        throw root_.at("gpus_per_node")
            .error(fmt::format("two betas are an NDv2's, of 8 GPUs, not {}", gpus_));
      for (std::int64_t n = 0; n < nodes_; ++n) {
        for (const auto& [a, b] : double_nvlinks) join(n, a, b, betas[0]);
        for (const auto& [a, b] : single_nvlinks) join(n, a, b, betas[1]);
      }
    } else {
      throw list.error(
          fmt::format("{} betas: one (a switch) or two (NDv2) are known", betas.size()));
    }
  }
  void join(std::int64_t node, int a, int b, const TreeValue& beta) {
    parts_.add_duplex({gpu(node, a), gpu(node, b), time(alpha_), bandwidth(beta)});
  }

  using Matrix = std::vector<std::vector<TreeValue>>;
  [[nodiscard]] Matrix matrix(const std::string& key) const {
    const TreeValue value = root_.at(key);
    Matrix rows;
    for (const TreeValue& row : value.list()) {
      rows.push_back(row.list());
      if (static_cast<std::int64_t>(rows.back().size()) != gpus_)
        throw row.error(fmt::format("{} entries for {} GPUs", rows.back().size(), gpus_));
    }
    if (static_cast<std::int64_t>(rows.size()) != gpus_)
      throw value.error(fmt::format("{} rows for {} GPUs", rows.size(), gpus_));
    return rows;
  }

  /// Rows are destinations.
  void add_matrices() {
    for (const char* key : {"node_betas_list", "node_invbws_list"})
      if (root_.has(key)) throw root_.find(key)->error("not beside \"links\"");
    const Matrix links = matrix("links"), betas = matrix("betas"), inverses = matrix("invbws");
    std::int64_t count = 0;
    for (std::size_t to = 0; to < links.size(); ++to)
      for (std::size_t from = 0; from < links.size(); ++from) {
        const std::int64_t parallel = links[to][from].integer(0, 64);
        if (parallel == 0) continue;
        if (to == from) throw links[to][from].error("a GPU has no link to itself");
        const Bandwidth rate = bandwidth(betas[to][from]);
        check_inverse(inverses[to][from], alpha_, betas[to][from].number());
        count += parallel;
        require_links(count * nodes_);
        for (std::int64_t n = 0; n < nodes_; ++n)
          for (std::int64_t i = 0; i < parallel; ++i)
            parts_.add_link({gpu(n, static_cast<std::int64_t>(from)),
                             gpu(n, static_cast<std::int64_t>(to)), time(alpha_), rate});
      }
    kind_ = fmt::format("{} GPUs, {} links", gpus_, count);
  }

  void add_nics() {
    const TreeValue count = root_.at("nics_per_node");
    const std::int64_t nics = count.integer(1, gpus_);
    if (gpus_ % nics != 0)
      throw count.error(fmt::format("{} NICs don't divide {} GPUs", nics, gpus_));
    const TreeValue beta = root_.at("remote_beta");
    const double alpha = root_.at("remote_alpha").number(0, most_microseconds);
    check_inverse(root_.at("remote_invbw"), alpha, beta.number());
    // Out and in apart: no data gets from GPU to GPU of one node by way of its NIC.
    std::vector<NodeId> out, in;
    for (std::int64_t n = 0; n < nodes_ * nics; ++n) {
      out.push_back(add_switch(fmt::format("nic{}.out", n)));
      in.push_back(add_switch(fmt::format("nic{}.in", n)));
    }
    const NodeId network = add_switch("network");
    const Bandwidth rate = bandwidth(beta);
    for (std::int64_t n = 0; n < nodes_; ++n)
      for (std::int64_t g = 0; g < gpus_; ++g) {
        const auto nic = static_cast<std::size_t>(n * nics + g * nics / gpus_);
        parts_.add_link({gpu(n, g), out[nic], Time{}, rate});
        parts_.add_link({in[nic], gpu(n, g), Time{}, rate});
      }
    for (std::size_t nic = 0; nic < out.size(); ++nic) {
      parts_.add_link({out[nic], network, time(alpha), rate});
      parts_.add_link({network, in[nic], Time{}, rate});
    }
  }

  TreeValue root_;
  std::string source_, kind_;
  std::int64_t nodes_, gpus_ = 0;
  double alpha_ = 0, scale_ = 1; ///< alpha as in the file
  NamedChunk chunk_;
  TopologyParts parts_;
};

} // namespace

bool is_taccl(std::string_view content) {
  return first_character(content) == '{' &&
         content.find("\"gpus_per_node\"") != std::string_view::npos;
}

TopologyParts read_taccl(const ForeignFile& file, Assumptions& assumed) {
  return TacclReader(file).read(assumed);
}

} // namespace tutti::topologies
