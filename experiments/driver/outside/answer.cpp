// Ranks, blocks and links are numbers of somebody else's making: one that isn't there is named with
// the transfer that has it, so that the author finds the line.
#include "experiments/driver/outside/answer.hpp"

#include "experiments/driver/records/printable.hpp"

#include <fmt/format.h>

#include <vector>

namespace tutti {

AnsweredSchedule::AnsweredSchedule(const Topology& topology, const Collective& collective,
                                   const SynthesisOptions& options)
    : schedule_(topology, collective, options), link_count_(topology.link_count()) {}

std::uint32_t AnsweredSchedule::checked(std::int64_t number, std::size_t count,
                                        const char* what) const {
  if (number < 0 || static_cast<std::uint64_t>(number) >= count)
    throw BadAnswer(fmt::format("transfer {}: there is no {} {} (there are {})",
                                schedule_.transfers(), what, number, count));
  return static_cast<std::uint32_t>(number);
}

ChunkId AnsweredSchedule::chunk(std::int64_t block) const {
  const CollectivePart& part = schedule_.part();
  return ChunkId{part.first.value + checked(block, part.chunk_count, "block")};
}

void AnsweredSchedule::send(std::int64_t source, std::int64_t destination, std::int64_t block,
                            Op op) {
  const Rank from = checked(source, schedule_.size(), "rank");
  const Rank to = checked(destination, schedule_.size(), "rank");
  if (from == to)
    throw BadAnswer(
        fmt::format("transfer {}: rank {} sends to itself", schedule_.transfers(), from));
  schedule_.send_chunk(from, to, chunk(block), op);
}

void AnsweredSchedule::cross(std::span<const std::int64_t> links, std::int64_t block, Op op) {
  if (links.empty())
    throw BadAnswer(fmt::format("transfer {} crosses no link", schedule_.transfers()));
  std::vector<LinkId> path;
  for (const std::int64_t link : links) path.emplace_back(checked(link, link_count_, "link"));
  const ChunkId what = chunk(block);
  schedule_.send_along(schedule_.paths().intern(path), what, op);
}

void AnsweredSchedule::wait_for(std::int64_t transfer) {
  const std::size_t last = schedule_.transfers() - 1;
  if (transfer < 0 || static_cast<std::uint64_t>(transfer) >= last)
    throw BadAnswer(
        fmt::format("transfer {} waits for transfer {}, which isn't before it", last, transfer));
  schedule_.wait_for(static_cast<std::uint32_t>(transfer));
}

Outcome failed_outcome(const std::string& words) {
  Outcome outcome =
      unsupported(words.empty() ? "it failed, and doesn't say why" : printable(words));
  outcome.failed = true;
  return outcome;
}

} // namespace tutti
