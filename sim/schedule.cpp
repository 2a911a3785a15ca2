// Paths of several links are found again by a hash of their links, so that a schedule stores each
// path once and a transfer in 8 bytes.

#include "sim/schedule.hpp"

#include "sim/error.hpp"
#include "sim/hash.hpp"

#include <algorithm>
#include <cassert>
#include <string>

namespace tutti {

PathTable::PathTable(std::uint32_t link_count) : link_count_(link_count) {
  begin_.resize(link_count + std::size_t{1});
  links_.resize(link_count);
  for (std::uint32_t l = 0; l < link_count; ++l) {
    begin_[l + std::size_t{1}] = l + std::size_t{1};
    links_[l] = LinkId{l};
  }
}

PathId PathTable::intern(std::span<const LinkId> links) {
  assert(!links.empty());
  if (links.size() == 1) return PathId{links.front().value};
  Fingerprint hash;
  for (const LinkId link : links) hash.add(link.value);
  const auto [first, last] = by_hash_.equal_range(hash.value());
  for (auto it = first; it != last; ++it)
    if (std::ranges::equal(this->links(it->second), links)) return it->second;
  const PathId id{size()};
  if (id.value >= most_paths)
    throw InputError("a schedule has more paths than can be distinguished (2^29)");
  links_.insert(links_.end(), links.begin(), links.end());
  begin_.push_back(links_.size());
  by_hash_.emplace(hash.value(), id);
  return id;
}

void Schedule::replace_paths(std::span<const PathId> now) {
  for (Packed& transfer : transfers_)
    transfer.path = (transfer.path & ~path_mask) | now[transfer.path & path_mask].value;
}

void Schedule::push(const Transfer& transfer) {
  assert(transfer.path.value <= path_mask);
  transfers_.push_back({transfer.chunk.value, transfer.path.value |
                                                  (transfer.op == Op::reduce ? reduce_bit : 0) |
                                                  (transfer.together ? together_bit : 0) |
                                                  (transfer.contiguous ? contiguous_bit : 0)});
  has_contiguous_ = has_contiguous_ || transfer.contiguous;
}

void Schedule::add_dependency(std::size_t i, Dependency dependency) {
  assert(i < size() && (waiting_.empty() || waiting_.back() <= i));
  waiting_.push_back(static_cast<std::uint32_t>(i));
  dependencies_.push_back(dependency);
}

std::span<const Dependency> Schedule::dependencies(std::size_t i) const {
  // not equal_range: the ranges that it makes are beyond clang 14 with libstdc++
  const auto first = std::ranges::lower_bound(waiting_, static_cast<std::uint32_t>(i));
  const auto last = std::ranges::upper_bound(first, waiting_.end(), static_cast<std::uint32_t>(i));
  return std::span(dependencies_)
      .subspan(static_cast<std::size_t>(first - waiting_.begin()),
               static_cast<std::size_t>(last - first));
}

bool Schedule::operator==(const Schedule& other) const {
  if (transfers_ != other.transfers_ || paths_.size() != other.paths_.size() ||
      waiting_ != other.waiting_ || dependencies_ != other.dependencies_)
    return false;
  for (std::uint32_t p = 0; p < paths_.size(); ++p)
    if (!std::ranges::equal(paths_.links(PathId{p}), other.paths_.links(PathId{p}))) return false;
  return true;
}

std::string_view to_text(Milestone value) { return value == Milestone::left ? "left" : "arrived"; }

Milestone parse_milestone(std::string_view text) {
  for (const Milestone milestone : {Milestone::left, Milestone::arrived})
    if (text == to_text(milestone)) return milestone;
  throw InputError(unknown_name("milestone", text, std::vector<std::string>{"left", "arrived"}));
}

} // namespace tutti
