// Entries are counted by account first and then laid out in one row, account after account, so that
// a cursor walks memory in order. Who names whom is a row of its own, empty where nobody does.
#include "sim/engines/simgrid/library/precedence.hpp"

#include "sim/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace tutti {

Precedence::Precedence(std::span<const PathEnds> ends, const Collective& collective,
                       const Schedule& schedule, Parts parts)
    : schedule_(&schedule), flags_(schedule.size()),
      is_open_(parts == Parts::apart ? collective.parts.size() : 1), undelivered_(schedule.size()) {
  if (schedule.size() > none / 2)
    throw InputError(
        fmt::format("{} transfers are more than an engine can number", schedule.size()));
  auto layout = std::make_shared<Layout>();
  for (const PathEnds& path : ends) layout->stores.push_back(path.stores);
  list_accounts(ends, *layout);
  if (schedule.has_dependencies()) list_namers(*layout);
  join_connections(collective, parts, *layout);
  layout_ = std::move(layout);
  const auto nothing = [](std::uint32_t) {};
  for (std::uint32_t a = 0; a < cursors_.size(); ++a) {
    move(cursors_[a].data, a, arrival, came_in, data, nothing);
    move(cursors_[a].departures, a, send, has_left, senders_left, nothing);
    move(cursors_[a].tails, a, arrival, has_tail, tails, nothing);
  }
}

void Precedence::list_accounts(std::span<const PathEnds> ends, Layout& layout) {
  const auto count = static_cast<std::uint32_t>(schedule_->size());
  layout.at_sender.resize(count);
  layout.at_receiver.resize(count);
  std::vector<std::uint32_t>& end = layout.account_end;
  std::uint32_t nodes = 0, chunks = 0;
  for (const PathEnds& path : ends)
    nodes = std::max({nodes, path.sender.value + 1, path.receiver.value + 1});
  for (std::uint32_t i = 0; i < count; ++i)
    chunks = std::max(chunks, (*schedule_)[i].chunk.value + 1);

  // Chunk by chunk, each node's account is the one that it was given last, if that is of the chunk.
  std::vector<std::uint32_t> begin(chunks + std::size_t{1}), by_chunk(count);
  for (std::uint32_t i = 0; i < count; ++i) ++begin[(*schedule_)[i].chunk.value + std::size_t{1}];
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  std::vector<std::uint32_t> next(begin.begin(), begin.end() - 1);
  for (std::uint32_t i = 0; i < count; ++i) by_chunk[next[(*schedule_)[i].chunk.value]++] = i;
  std::vector<std::uint32_t> account_of(nodes, none);
  for (std::uint32_t chunk = 0; chunk < chunks; ++chunk) {
    const auto first = static_cast<std::uint32_t>(end.size());
    const auto count_at = [&](NodeId node) {
      std::uint32_t& account = account_of[node.value];
      if (account < first || account >= end.size()) {
        account = static_cast<std::uint32_t>(end.size());
        end.push_back(0);
      }
      ++end[account];
      return account;
    };
    for (std::uint32_t k = begin[chunk]; k < begin[chunk + 1]; ++k) {
      const PathEnds& at = ends[schedule_->path_of(by_chunk[k]).value];
      layout.at_sender[by_chunk[k]] = count_at(at.sender);
      layout.at_receiver[by_chunk[k]] = count_at(at.receiver);
    }
  }
  std::uint32_t total = 0;
  for (std::uint32_t& entries : end) {
    const std::uint32_t of_account = std::exchange(entries, total);
    cursors_.push_back({total, total, total});
    total += of_account;
  }
  layout.entries.resize(total);
  for (std::uint32_t block = 0, after = 0; block < count; block = after) {
    for (after = block + 1; after < count && (*schedule_)[after].together;) ++after;
    for (std::uint32_t i = block; i < after; ++i)
      layout.entries[end[layout.at_sender[i]]++] = 2 * i + send;
    for (std::uint32_t i = block; i < after; ++i)
      layout.entries[end[layout.at_receiver[i]]++] = 2 * i + arrival;
  }
}

void Precedence::list_namers(Layout& layout) {
  const auto waiting = schedule_->waiting();
  const auto named = schedule_->all_dependencies();
  awaited_.resize(schedule_->size());
  layout.namers_begin.resize(schedule_->size() + 1);
  for (std::size_t k = 0; k < waiting.size(); ++k) {
    ++awaited_[waiting[k]];
    ++layout.namers_begin[named[k].transfer + std::size_t{1}];
  }
  std::partial_sum(layout.namers_begin.begin(), layout.namers_begin.end(),
                   layout.namers_begin.begin());
  layout.namers.resize(waiting.size());
  std::vector<std::uint32_t> next(layout.namers_begin.begin(), layout.namers_begin.end() - 1);
  for (std::size_t k = 0; k < waiting.size(); ++k)
    layout.namers[next[named[k].transfer]++] =
        2 * waiting[k] + (named[k].milestone == Milestone::arrived ? 1 : 0);
}

void Precedence::join_connections(const Collective& collective, Parts parts, Layout& layout) {
  const auto count = static_cast<std::uint32_t>(schedule_->size());
  std::vector<std::uint32_t> part_of_chunk(collective.chunks.size());
  if (parts == Parts::apart)
    for (std::uint32_t p = 0; p < collective.parts.size(); ++p)
      std::fill_n(part_of_chunk.begin() + collective.parts[p].first.value,
                  collective.parts[p].chunk_count, p);
  layout.part.resize(count);
  for (std::uint32_t i = 0; i < count; ++i)
    layout.part[i] = part_of_chunk[(*schedule_)[i].chunk.value];

  // Part by part, so that those of a part follow each other.
  std::vector<std::uint32_t> by_part(count);
  std::vector<std::uint32_t> begin(is_open_.size() + 1);
  for (const std::uint32_t part : layout.part) ++begin[part + std::size_t{1}];
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  std::vector<std::uint32_t> next_place(begin.begin(), begin.end() - 1);
  for (std::uint32_t i = 0; i < count; ++i) by_part[next_place[layout.part[i]]++] = i;

  layout.connection.resize(count);
  layout.next.assign(count, none);
  std::vector<std::uint32_t> last; // per connection
  std::vector<std::uint32_t> number_of(schedule_->paths().size(), none);
  for (std::size_t p = 0; p < is_open_.size(); ++p) {
    layout.connections_begin.push_back(connection_count());
    for (std::uint32_t k = begin[p]; k < begin[p + 1]; ++k) {
      const std::uint32_t i = by_part[k];
      std::uint32_t& number = number_of[schedule_->path_of(i).value];
      if (number == none || number < layout.connections_begin.back()) {
        number = connection_count();
        heads_.push_back(i);
        last.push_back(i);
      } else {
        layout.next[std::exchange(last[number], i)] = i;
      }
      layout.connection[i] = number;
    }
  }
  layout.connections_begin.push_back(connection_count());
}

std::optional<Dependency> Precedence::first_awaited(std::uint32_t i) const {
  if (awaited_.empty() || awaited_[i] == 0) return std::nullopt;
  for (const Dependency& named : schedule_->dependencies(i))
    if (!is(named.transfer, named.milestone == Milestone::left ? has_left : delivered))
      return named;
  return std::nullopt;
}

} // namespace tutti
