// Networks as tables: a list of links, or a square matrix of bandwidths.
//
//   from,to,bandwidth,latency            ,a,b,switch0
//   a,switch0,50GB/s,1us                 a,0,0,25
//   b,switch0,50GB/s,1us                 b,0,0,25
//                                        switch0,25,25,0
//
// A matrix of numbers alone, without names, has NPUs npu0, npu1, ...
//
// Columns go by their names (`source`, `src`, `target`, `dst`; `bw`, `capacity`); a unit may stand
// in the name ("bandwidth (Gb/s)", "latency_us") or in each cell. A row is a link in both
// directions, unless the reverse of some row is listed too, or a column `directed` says so. In a
// matrix the row is where a link starts, 0 or nothing means none, and numbers are GB/s. Nodes that
// are called after a switch are one, unless columns `from_kind` and `to_kind` say what they are.
// Nodes of a list are numbered by their names, those of a matrix as it has them.
#include "sim/error.hpp"
#include "sim/text.hpp"
#include "topologies/import/graph_quantities.hpp"
#include "topologies/import/list.hpp"
#include "topologies/import/node_names.hpp"
#include "topologies/import/numbering.hpp"
#include "topologies/import/quantity_words.hpp"
#include "topologies/import/text_lines.hpp"
#include "topologies/parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace tutti::topologies {

namespace {

/// A number without a unit, as it stands in matrices.
bool is_bare_number(std::string_view text) {
  return !text.empty() && number_length(text) == text.size();
}

enum class Role : std::uint8_t { from, to, bandwidth, latency, directed, from_kind, to_kind };

struct RoleName {
  std::string_view name;
  Role role;
};
constexpr std::array role_names{
    RoleName{"from", Role::from},        RoleName{"source", Role::from},
    RoleName{"src", Role::from},         RoleName{"to", Role::to},
    RoleName{"target", Role::to},        RoleName{"destination", Role::to},
    RoleName{"dst", Role::to},           RoleName{"dest", Role::to},
    RoleName{"directed", Role::directed}};

/// "Bandwidth (GB/s)" or "latency_us": the role and the unit; "from_kind": a role of its own.
std::optional<std::pair<Role, std::string>> role_of(std::string_view heading) {
  if (const auto key = link_key(heading))
    return std::pair(key->quantity == LinkQuantity::bandwidth ? Role::bandwidth : Role::latency,
                     key->unit);
  const std::size_t end = std::min(heading.find_first_of(" _"), heading.size());
  const std::string name = lower_case(heading.substr(0, end));
  const std::string rest = lower_case(trimmed(heading.substr(std::min(end + 1, heading.size()))));
  const auto found = std::ranges::find(role_names, name, &RoleName::name);
  if (found == role_names.end()) return std::nullopt;
  const bool is_end = found->role == Role::from || found->role == Role::to;
  if (is_end && rest == "kind")
    return std::pair(found->role == Role::from ? Role::from_kind : Role::to_kind, "");
  const bool is_naming = rest == "node" || rest == "name" || rest == "id"; // "source_id"
  if (!rest.empty() && !(is_end && is_naming)) return std::nullopt;
  return std::pair(found->role, "");
}

char separator_of(std::string_view content) {
  const std::vector<std::string_view> lines = first_lines(content, 1);
  const std::string_view head = lines.empty() ? std::string_view() : lines.front();
  return head.find(';') != std::string_view::npos    ? ';'
         : head.find('\t') != std::string_view::npos ? '\t'
                                                     : ',';
}

struct CsvLink {
  std::string from, to;
  Word place;
  Bandwidth bandwidth;
  Time latency;
  bool is_directed = false;
};

class CsvReader {
public:
  CsvReader(const ForeignFile& file, Assumptions& assumed)
      : text_(file.content, file.source, separator_of(file.content)), assumed_(assumed) {}

  TopologyParts read() {
    if (text_.lines().size() < 2) throw text_.error("no line after the headings");
    if (is_list_head(text_.lines()[0]))
      read_list();
    else if (is_bare_number(text_.lines()[0][0].text))
      read_matrix(false);
    else
      read_matrix(true);
    return built();
  }

private:
  static bool is_list_head(const TextLines::Line& head) {
    return std::ranges::any_of(head, [](const Word& cell) {
      const auto role = role_of(cell.text);
      return role && role->first == Role::from;
    });
  }

  void read_list() {
    const TextLines::Line& head = text_.lines()[0];
    std::map<Role, std::pair<std::size_t, std::string>> columns;
    for (std::size_t i = 0; i < head.size(); ++i) {
      const auto role = role_of(head[i].text);
      if (!role)
        throw text_.error(head[i], fmt::format("unknown column \"{}\" (known: from, to, bandwidth, "
                                               "latency, directed, from_kind, to_kind)",
                                               head[i].text));
      if (!columns.emplace(role->first, std::pair(i, role->second)).second)
        throw text_.error(head[i],
                          fmt::format("a second column for the same as \"{}\"", head[i].text));
    }
    for (const Role role : {Role::from, Role::to})
      if (!columns.contains(role)) throw text_.error(head[0], "columns `from` and `to` are needed");
    for (std::size_t i = 1; i < text_.lines().size(); ++i) {
      const TextLines::Line& line = text_.lines()[i];
      if (line.size() != head.size())
        throw text_.error(line[0], fmt::format("{} cells in {} columns", line.size(), head.size()));
      CsvLink row;
      row.place = line[0];
      row.from = name_of(line[columns.at(Role::from).first]);
      row.to = name_of(line[columns.at(Role::to).first]);
      if (row.from == row.to) throw text_.error(line[0], "a link from a node to itself");
      row.bandwidth = bandwidth(columns, line);
      row.latency = latency(columns, line);
      if (const auto at = columns.find(Role::directed); at != columns.end())
        row.is_directed = yes_or_no(line[at->second.first]);
      for (const auto& [role, name] :
           {std::pair(Role::from_kind, row.from), std::pair(Role::to_kind, row.to)})
        if (const auto at = columns.find(role); at != columns.end())
          set_kind(name, line[at->second.first]);
      rows_.push_back(std::move(row));
    }
    if (columns.contains(Role::directed)) return;
    std::set<std::pair<std::string, std::string>> pairs;
    for (const CsvLink& row : rows_) pairs.emplace(row.from, row.to);
    const auto is_reversed = [&](const CsvLink& row) { return pairs.contains({row.to, row.from}); };
    const auto reversed = std::ranges::find_if(rows_, is_reversed);
    const bool lists_both = reversed != rows_.end();
    if (lists_both && !std::ranges::all_of(rows_, is_reversed))
      throw text_.error(reversed->place,
                        "the reverse of this link is listed, too, but not that of others: a column "
                        "`directed` has to say what is meant (yes or no)");
    for (CsvLink& row : rows_) row.is_directed = lists_both;
    assumed_.add("rows", lists_both ? "links in one direction, as all are listed in both"
                                    : "links in both directions");
  }

  /// Names are a column and a row more than there are nodes.
  void read_matrix(bool has_names) {
    const TextLines::Line& head = text_.lines()[0];
    const std::size_t first = has_names ? 1 : 0;
    std::vector<std::string> names;
    for (std::size_t i = first; i < head.size(); ++i)
      names.push_back(has_names ? name_of(head[i]) : fmt::format("npu{}", i));
    if (!has_names) assumed_.add("names of nodes", "npu0, npu1, ..., as the matrix has none");
    if (text_.lines().size() != head.size())
      throw text_.error(head[0], fmt::format("{} columns, but {} rows", names.size(),
                                             text_.lines().size() - first));
    for (std::size_t r = first; r < text_.lines().size(); ++r) {
      const TextLines::Line& line = text_.lines()[r];
      if (line.size() != head.size())
        throw text_.error(line[0], fmt::format("{} cells in {} columns", line.size(), head.size()));
      if (has_names && name_of(line[0]) != names[r - 1])
        throw text_.error(line[0], fmt::format("row {} is \"{}\", but column {} \"{}\"", r,
                                               line[0].text, r, names[r - 1]));
      for (std::size_t c = first; c < line.size(); ++c) {
        const Word& cell = line[c];
        if (cell.text.empty() || is_zero(cell.text)) continue;
        if (c == r) throw text_.error(line[c], "a link from a node to itself");
        rows_.push_back({names[r - first], names[c - first], cell, quantity_of_matrix(cell),
                         assumed_.time("latency of a link"), true});
      }
    }
    order_ = std::move(names);
  }
  static bool is_zero(std::string_view text) {
    return text == "-" || (text.find_first_not_of("0.") == std::string_view::npos &&
                           text.find('0') != std::string_view::npos);
  }
  [[nodiscard]] Bandwidth quantity_of_matrix(const Word& cell) {
    if (cell.text.find_first_not_of("0123456789.eE+") != std::string_view::npos)
      return text_.rate(cell);
    assumed_.add("numbers of the matrix", "GB/s");
    return text_.rate(cell, "GB/s");
  }

  using Columns = std::map<Role, std::pair<std::size_t, std::string>>;
  Bandwidth bandwidth(const Columns& columns, const TextLines::Line& line) {
    const auto at = columns.find(Role::bandwidth);
    if (at == columns.end()) return assumed_.rate("bandwidth of a link");
    return text_.rate(line[at->second.first], at->second.second);
  }
  Time latency(const Columns& columns, const TextLines::Line& line) {
    const auto at = columns.find(Role::latency);
    if (at == columns.end()) return assumed_.time("latency of a link");
    return text_.time(line[at->second.first], at->second.second);
  }
  [[nodiscard]] std::string name_of(const Word& cell) {
    if (cell.text.empty()) throw text_.error(cell, "a node without a name");
    const std::string legal = legal_name(cell.text);
    const auto [said, is_new] = said_names_.try_emplace(legal, cell.text);
    if (said->second != cell.text)
      throw text_.error(cell, fmt::format("\"{}\" and \"{}\" are one name, {}, in the letters that "
                                          "names may have",
                                          said->second, cell.text, legal));
    return legal;
  }
  [[nodiscard]] bool yes_or_no(const Word& cell) const {
    const std::string text = lower_case(cell.text);
    if (text == "yes" || text == "true" || text == "1") return true;
    if (text == "no" || text == "false" || text == "0") return false;
    throw text_.error(cell, fmt::format("\"{}\" is neither yes nor no", cell.text));
  }

  void set_kind(const std::string& name, const Word& cell) {
    const std::string text = lower_case(cell.text);
    if (text != "npu" && text != "switch")
      throw text_.error(cell, fmt::format("unknown kind \"{}\" (known: npu, switch)", cell.text));
    const auto [said, is_new] = is_switch_.try_emplace(name, text == "switch");
    if (said->second != (text == "switch"))
      throw text_.error(cell, fmt::format("another kind of {} than before", name));
  }
  [[nodiscard]] bool is_switch(const std::string& name) const {
    const auto said = is_switch_.find(name);
    return said != is_switch_.end() ? said->second : is_switch_name(name);
  }

  TopologyParts built() {
    if (order_.empty()) order_by_names();
    require_links(2 * static_cast<std::int64_t>(rows_.size()));
    TopologyParts parts;
    std::map<std::string, NodeId> ids;
    for (const bool switches : {false, true})
      for (const std::string& name : order_)
        if (is_switch(name) == switches)
          ids[name] = parts.add_node(
              switches ? Node{name, NodeKind::switching, Abilities{false, false, false}, {}}
                       : Node{name, NodeKind::npu, {}, {}});
    if (is_switch_.size() < order_.size())
      assumed_.add("nodes", fmt::format("NPUs, but for those called after a switch, router or NIC, "
                                        "which forward only: {}",
                                        few_switches(parts)));
    for (const CsvLink& row : rows_) {
      const Link link{ids.at(row.from), ids.at(row.to), row.latency, row.bandwidth};
      if (row.is_directed)
        parts.add_link(link);
      else
        parts.add_duplex(link);
    }
    number_links(parts, {});
    return parts;
  }
  void order_by_names() {
    std::set<std::string> known;
    std::vector<NodeToNumber> nodes; // as they are named first
    for (const CsvLink& row : rows_)
      for (const std::string& name : {row.from, row.to})
        if (const auto [at, is_new] = known.insert(name); is_new)
          nodes.push_back({*at, *at, !is_switch(name)});
    for (const std::size_t n : numbered(nodes, assumed_)) order_.emplace_back(nodes[n].name);
  }

  TextLines text_;
  Assumptions& assumed_;
  std::vector<CsvLink> rows_;
  std::vector<std::string> order_;                ///< names of nodes
  std::map<std::string, std::string> said_names_; ///< by legal ones
  std::map<std::string, bool> is_switch_;         ///< of those whose kind is said
};

} // namespace

bool is_csv(std::string_view content) {
  if (is_nvidia_smi(content) || is_p2p_bandwidth(content)) return false; // matrices, too
  // A list of links is known by its headings, a matrix by names that come again before the rows.
  const std::vector<std::string_view> lines = first_lines(content, 2);
  if (lines.size() < 2) return false;
  const auto cells = [&](std::string_view line) {
    try {
      return csv_rows(line, "", separator_of(content)).at(0).fields;
    } catch (const std::exception&) { // its reader will say what is wrong with its quotes
      std::vector<CsvField> fields;
      for (const std::string_view cell : split(line, separator_of(content)))
        fields.push_back({std::string(trimmed(cell))});
      return fields;
    }
  };
  const std::vector<CsvField> head = cells(lines[0]), next = cells(lines[1]);
  if (head.size() < 2) return false;
  const auto has = [&](Role role) {
    return std::ranges::any_of(head, [&](const CsvField& cell) {
      const auto found = role_of(cell.text);
      return found && found->first == role;
    });
  };
  if (has(Role::from) && has(Role::to)) return true;
  if (next.size() != head.size()) return false;
  if (is_bare_number(head[0].text)) { // numbers alone, with none from a node to itself
    const auto is_number = [](const CsvField& cell) {
      return cell.text.empty() || cell.text == "-" || is_bare_number(cell.text);
    };
    return std::ranges::all_of(head, is_number) && std::ranges::all_of(next, is_number) &&
           head[0].text.find_first_not_of("0.") == std::string::npos;
  }
  return !head[1].text.empty() && next[0].text == head[1].text;
}

TopologyParts read_csv(const ForeignFile& file, Assumptions& assumed) {
  return CsvReader(file, assumed).read();
}

} // namespace tutti::topologies
