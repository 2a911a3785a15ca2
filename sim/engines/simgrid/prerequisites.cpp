// Entries are counted by account first and then laid out in one row, account after account, so that
// a cursor walks memory in order. Who names whom is a row of its own, empty where nobody does.
#include "sim/engines/simgrid/prerequisites.hpp"

#include <numeric>
#include <unordered_map>

namespace tutti {

Prerequisites::Prerequisites(const Topology& topology, const Schedule& schedule)
    : at_sender_(schedule.size()), at_receiver_(schedule.size()), flags_(schedule.size()) {
  const auto count = static_cast<std::uint32_t>(schedule.size());
  const PathTable& paths = schedule.paths();
  std::unordered_map<std::uint64_t, std::uint32_t> numbers; // of accounts, by chunk and node
  const auto account_of = [&](ChunkId chunk, NodeId node) {
    const std::uint64_t key = std::uint64_t{chunk.value} << 32 | node.value;
    const auto number = numbers.try_emplace(key, accounts_.size()).first->second;
    if (number == accounts_.size()) accounts_.emplace_back();
    return number;
  };
  for (std::uint32_t i = 0; i < count; ++i) {
    const PathId path = schedule.path_of(i);
    const ChunkId chunk = schedule[i].chunk;
    at_sender_[i] = account_of(chunk, topology.link(paths.first(path)).from);
    at_receiver_[i] = account_of(chunk, topology.link(paths.last(path)).to);
    ++accounts_[at_sender_[i]].end;
    ++accounts_[at_receiver_[i]].end;
  }
  std::uint32_t total = 0;
  for (Account& account : accounts_) {
    const std::uint32_t entries = account.end;
    account.data = account.departures = account.tails = account.end = total;
    total += entries;
  }
  entries_.resize(total);
  for (std::uint32_t block = 0, end = 0; block < count; block = end) {
    for (end = block + 1; end < count && schedule[end].together;) ++end;
    for (std::uint32_t i = block; i < end; ++i) entries_[accounts_[at_sender_[i]].end++] = 2 * i;
    for (std::uint32_t i = block; i < end; ++i)
      entries_[accounts_[at_receiver_[i]].end++] = 2 * i + 1;
  }
  if (!schedule.has_dependencies()) return;

  awaited_.resize(count);
  namers_begin_.resize(count + std::size_t{1});
  const auto waiting = schedule.waiting();
  const auto named = schedule.all_dependencies();
  for (std::size_t k = 0; k < waiting.size(); ++k) {
    ++awaited_[waiting[k]];
    ++namers_begin_[named[k].transfer + std::size_t{1}];
  }
  std::partial_sum(namers_begin_.begin(), namers_begin_.end(), namers_begin_.begin());
  namers_.resize(waiting.size());
  std::vector<std::uint32_t> next(namers_begin_.begin(), namers_begin_.end() - 1);
  for (std::size_t k = 0; k < waiting.size(); ++k)
    namers_[next[named[k].transfer]++] =
        2 * waiting[k] + (named[k].milestone == Milestone::arrived ? 1 : 0);
}

} // namespace tutti
