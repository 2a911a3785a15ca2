// What an operation depends on is kept as a frontier: the operations that must be over before the
// next. Consecutive computations are joined into a single operation, which is written when
// communication or a wait comes between.
#include "workloads/parallelism/program_writer.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tutti {

std::uint32_t OperationNames::add(std::string name) {
  names_.push_back(std::move(name));
  return static_cast<std::uint32_t>(names_.size() - 1);
}

std::uint32_t OperationNames::of_layers(std::string_view what, std::uint32_t first,
                                        std::uint32_t last) {
  const std::tuple key(std::string(what), first, last);
  const auto found = known_.find(key);
  if (found != known_.end()) return found->second;
  const std::uint32_t name =
      add(first == last ? fmt::format("{} {}", what, layers_[first])
                        : fmt::format("{} {} .. {}", what, layers_[first], layers_[last]));
  known_.emplace(key, name);
  return name;
}

std::uint32_t OperationNames::of(std::string_view what) {
  const auto none = static_cast<std::uint32_t>(layers_.size());
  const std::tuple key(std::string(what), none, none);
  const auto found = known_.find(key);
  if (found != known_.end()) return found->second;
  const std::uint32_t name = add(std::string(what));
  known_.emplace(key, name);
  return name;
}

void ProgramWriter::compute(Time time, std::string_view what, std::string_view together,
                            std::uint32_t layer) {
  if (time == Time{}) return;
  if (!pending_.is_there) {
    pending_ = {time, what, layer, layer, true};
    return;
  }
  pending_.time += time;
  if (pending_.what != what) pending_.what = together;
  pending_.first = std::min(pending_.first, layer);
  pending_.last = std::max(pending_.last, layer);
}

void ProgramWriter::compute(Time time, std::uint32_t name) {
  finish_computing();
  if (time > Time{}) compute_now(time.ps, name);
}

void ProgramWriter::compute_now(std::int64_t ps, std::uint32_t name) {
  Operation operation;
  operation.name = name;
  operation.amount = ps;
  frontier_ = {program_.add(operation, frontier_)};
  latest_ = UINT32_MAX;
}

void ProgramWriter::finish_computing() {
  if (!pending_.is_there) return;
  pending_.is_there = false;
  compute_now(pending_.time.ps, names_.of_layers(pending_.what, pending_.first, pending_.last));
}

std::uint32_t ProgramWriter::begin(const Operation& operation,
                                   std::span<const std::uint32_t> also) {
  finish_computing();
  // Without computing in between what is waited for adds up; a few are fine.
  constexpr std::size_t most = 8;
  if (frontier_.size() > most) compute_now(0, names_.of("wait"));
  std::vector<std::uint32_t> after = frontier_;
  after.insert(after.end(), also.begin(), also.end());
  latest_ = program_.add(operation, after);
  return latest_;
}

std::uint32_t ProgramWriter::begin_at_once(const Operation& operation) {
  finish_computing();
  return program_.add(operation, {});
}

void ProgramWriter::wait(std::uint32_t operation) {
  finish_computing();
  if (operation == latest_) frontier_.clear();
  frontier_.push_back(operation);
  latest_ = UINT32_MAX;
}

} // namespace tutti
