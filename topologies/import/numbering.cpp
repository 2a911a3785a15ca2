// Why: a list of links has its rows in any order, and algorithms that go by number (a ring, say)
// must not be faster for one of them. Idea: names of machines count (n0g0, n0g1, ..., n1g0), so
// that their natural order is the order in which machines are cabled; links follow their ends.
#include "topologies/import/numbering.hpp"

#include "sim/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <numeric>
#include <tuple>
#include <utility>

namespace tutti::topologies {

namespace {

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

/// Takes the digits that `text` begins with off it, and returns them without zeros in front.
std::string_view take_number(std::string_view& text) {
  const std::size_t end = std::min(text.find_first_not_of("0123456789"), text.size());
  std::string_view digits = text.substr(0, end);
  text.remove_prefix(end);
  digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size()));
  return digits;
}

} // namespace

bool naturally_less(std::string_view a, std::string_view b) {
  std::string_view rest = a, other = b;
  while (!rest.empty() && !other.empty()) {
    if (is_digit(rest.front()) && is_digit(other.front())) {
      const std::string_view x = take_number(rest), y = take_number(other);
      if (x != y) return std::pair(x.size(), x) < std::pair(y.size(), y);
      continue;
    }
    if (rest.front() != other.front()) return rest.front() < other.front();
    rest.remove_prefix(1);
    other.remove_prefix(1);
  }
  if (rest.empty() != other.empty()) return rest.empty();
  return a < b; // "gpu01" and "gpu1"
}

bool have_numbers(std::span<const NodeToNumber> nodes) {
  return std::ranges::all_of(nodes, [](const NodeToNumber& node) {
    return !node.is_npu || std::ranges::any_of(node.key, is_digit);
  });
}

std::vector<std::size_t> numbered(std::span<const NodeToNumber> nodes, Assumptions& assumed) {
  std::vector<std::size_t> order(nodes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto is_npu = [&](std::size_t n) { return nodes[n].is_npu; };
  const auto others = std::stable_partition(order.begin(), order.end(), is_npu);
  const auto sort = [&](auto first, auto last) {
    std::sort(first, last, [&](std::size_t a, std::size_t b) {
      return naturally_less(nodes[a].key, nodes[b].key);
    });
  };
  sort(others, order.end());
  if (have_numbers(nodes)) {
    sort(order.begin(), others);
  } else if (others - order.begin() > 1) {
    std::vector<std::string> said;
    for (auto npu = order.begin(); npu != others; ++npu)
      said.push_back(fmt::format("{} is {}", nodes[*npu].name, said.size()));
    assumed.add("numbers of NPUs",
                "in the order of the file, as not every name has one: " + few_of(said, 4));
  }
  return order;
}

std::vector<LinkId> number_links(TopologyParts& parts, std::span<const std::string_view> marks) {
  const std::vector<std::string> names = parts.link_parts;
  std::ranges::sort(parts.link_parts);
  for (Link& link : parts.links)
    if (link.part > 0) link.part = parts.link_part(names[link.part - std::size_t{1}]);
  std::vector<std::uint32_t> order(parts.links.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, {}, [&](std::uint32_t l) {
    const Link& link = parts.links[l];
    return std::tuple(link.from, link.to, link.latency.ps, link.bandwidth.bytes_per_second,
                      link.dimension, link.part, marks.empty() ? std::string_view() : marks[l]);
  });
  std::vector<LinkId> number(order.size());
  std::vector<Link> links;
  for (const std::uint32_t l : order) {
    number[l] = LinkId{static_cast<std::uint32_t>(links.size())};
    links.push_back(parts.links[l]);
  }
  parts.links = std::move(links);
  return number;
}

} // namespace tutti::topologies
