// The state of a run lies in three tables, which this file keeps in step: what each NPU may do next
// (NpuPrograms), which communicator instances are open (CommunicatorInstances), and where the time
// goes (Accounts). The order in which events of one instant are reported decides nothing: over()
// and computed() only collect what has ended, and advance() works it off.
//
// The slots of instances that are over are used again, so that memory is that of the communication
// under way, not that of the whole iteration.

#include "sim/iteration/training_execution.hpp"

#include "sim/engines/event_queue.hpp"
#include "sim/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <tuple>

namespace tutti {

namespace {

std::uint64_t key(std::uint32_t group, std::uint32_t tag) {
  return std::uint64_t{group} << 32 | tag;
}

std::vector<std::vector<std::uint32_t>> ranks_of(const Workload& workload) {
  std::vector<std::vector<std::uint32_t>> ranks;
  for (std::uint32_t npu = 0; npu < workload.places.size(); ++npu) {
    std::vector<std::uint32_t>& own = ranks.emplace_back();
    for (const std::uint32_t group : workload.places[npu].groups) {
      const std::vector<NodeId>& members = workload.groups[group];
      const auto found = std::find(members.begin(), members.end(), NodeId{npu});
      own.push_back(static_cast<std::uint32_t>(found - members.begin()));
    }
  }
  return ranks;
}

/// Whether an NPU has one such operation at a time, where communication is.
bool takes_turns(const Operation& operation) {
  return operation.kind == Operation::Kind::collective || operation.kind == Operation::Kind::send;
}

} // namespace

std::uint32_t CommunicatorInstances::come(std::uint32_t group, std::uint32_t tag,
                                          std::uint32_t rank, std::uint32_t operation) {
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(communicators_.size()));
    communicators_.emplace_back();
  }
  const auto [known, is_new] = slots_.try_emplace(key(group, tag), free_.back());
  CommunicatorInstance& communicator = communicators_[known->second];
  if (is_new) {
    free_.pop_back();
    const std::size_t members = groups_[group].size();
    communicator.group = group;
    communicator.tag = tag;
    communicator.came = 0;
    communicator.left = static_cast<std::uint32_t>(members);
    communicator.first = rank;
    communicator.sender = CommunicatorInstance::none;
    communicator.begin = -1;
    communicator.operations.assign(members, CommunicatorInstance::none);
    communicator.is_over.assign(members, false);
  }
  ++communicator.came;
  communicator.operations[rank] = operation;
  return known->second;
}

void CommunicatorInstances::remove(std::uint32_t slot) {
  slots_.erase(key(communicators_[slot].group, communicators_[slot].tag));
  free_.push_back(slot);
}

std::vector<std::uint32_t> CommunicatorInstances::all() const {
  std::vector<bool> is_free(communicators_.size());
  for (const std::uint32_t slot : free_) is_free[slot] = true;
  std::vector<std::uint32_t> slots;
  for (std::uint32_t slot = 0; slot < communicators_.size(); ++slot)
    if (!is_free[slot]) slots.push_back(slot);
  std::sort(slots.begin(), slots.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::tie(communicators_[a].group, communicators_[a].tag) <
           std::tie(communicators_[b].group, communicators_[b].tag);
  });
  return slots;
}

TrainingExecution::TrainingExecution(const Workload& workload, const IterationOptions& options)
    : workload_(workload), options_(options),
      programs_(workload, options.starts, options.one_at_a_time), accounts_(programs_),
      communicators_(workload.groups), ranks_(ranks_of(workload)), shares_(workload.places.size()),
      is_touched_(workload.places.size()), duration_(programs_.last_start()) {}

void TrainingExecution::start(std::uint32_t npu) {
  programs_.start(npu, [&](std::uint32_t i) { reach(npu, i); });
}

void TrainingExecution::over(std::uint32_t slot, std::uint32_t rank, std::int64_t now) {
  CommunicatorInstance& communicator = communicators_[slot];
  communicator.is_over[rank] = true;
  accounts_.end_communicating(workload_.groups[communicator.group][rank].value,
                              purpose(communicator), now);
  if (communicator.operations[rank] != CommunicatorInstance::none) end_member(slot, rank);
}

void TrainingExecution::computed(std::uint32_t npu, std::int64_t now) {
  accounts_.end_computing(npu, now);
  done_.push_back({npu, programs_.end_computing(npu)});
  touch(npu);
}

void TrainingExecution::advance(std::int64_t now) {
  while (!done_.empty()) {
    const Done done = done_.back();
    done_.pop_back();
    duration_ = std::max(duration_, now);
    if (options_.one_at_a_time && takes_turns(programs_.operation(done.npu, done.operation))) {
      programs_.end_communication(done.npu, done.operation);
      communicating_.push_back(done.npu);
    }
    programs_.end(done.npu, done.operation, now,
                  [&](std::uint32_t npu, std::uint32_t i) { reach(npu, i); });
  }
  for (const std::uint32_t npu : std::exchange(communicating_, {})) communicate(npu);
}

void TrainingExecution::reach(std::uint32_t npu, std::uint32_t operation) {
  const Operation& what = programs_.operation(npu, operation);
  if (options_.one_at_a_time && takes_turns(what)) {
    programs_.make_communication_ready(npu, operation);
    communicating_.push_back(npu);
    return;
  }
  if (what.kind != Operation::Kind::compute) {
    come(npu, operation);
    return;
  }
  programs_.make_ready(npu, operation);
  touch(npu);
}

/// Everything that is over is known, so that the lowest turn is.
void TrainingExecution::communicate(std::uint32_t npu) {
  const std::uint32_t operation = programs_.start_communication(npu);
  if (operation != NpuPrograms::none) come(npu, operation);
}

void TrainingExecution::come(std::uint32_t npu, std::uint32_t operation) {
  const Operation& what = programs_.operation(npu, operation);
  const std::uint32_t group = workload_.places[npu].groups[what.role];
  const std::uint32_t rank = ranks_[npu][what.role];
  const std::uint32_t slot = communicators_.come(group, what.tag, rank, operation);
  CommunicatorInstance& communicator = communicators_[slot];
  switch (what.kind) {
  case Operation::Kind::collective:
    if (begins_one_by_one(slot)) joining_.push_back({slot, rank});
    if (begins_one_by_one(slot) ? communicator.came == 1 : is_complete(communicator))
      beginning_.push_back(slot);
    break;
  case Operation::Kind::send:
    communicator.sender = rank;
    beginning_.push_back(slot);
    break;
  case Operation::Kind::receive:
    if (communicator.begin >= 0) programs_.times(npu, operation).begin = communicator.begin;
    if (communicator.is_over[rank]) end_member(slot, rank);
    break;
  case Operation::Kind::compute: break;
  }
}

void TrainingExecution::end_member(std::uint32_t slot, std::uint32_t rank) {
  CommunicatorInstance& communicator = communicators_[slot];
  done_.push_back(
      {workload_.groups[communicator.group][rank].value, communicator.operations[rank]});
  if (--communicator.left == 0) communicators_.remove(slot);
}

void TrainingExecution::touch(std::uint32_t npu) {
  if (is_touched_[npu] || !programs_.can_compute(npu)) return;
  is_touched_[npu] = true;
  touched_.push_back(npu);
}

std::vector<std::uint32_t> TrainingExecution::take_beginning() {
  return std::exchange(beginning_, {});
}

void TrainingExecution::begin(std::uint32_t slot, std::int64_t now) {
  ++communications_;
  CommunicatorInstance& communicator = communicators_[slot];
  communicator.begin = now;
  if (begins_one_by_one(slot)) return;
  for (std::uint32_t rank = 0; rank < communicator.operations.size(); ++rank)
    begin_for(communicator, rank, now);
}

std::vector<TrainingExecution::Joining> TrainingExecution::take_joining() {
  return std::exchange(joining_, {});
}

void TrainingExecution::join(std::uint32_t slot, std::uint32_t rank, std::int64_t now) {
  begin_for(communicators_[slot], rank, now);
}

void TrainingExecution::begin_for(CommunicatorInstance& communicator, std::uint32_t rank,
                                  std::int64_t now) {
  const std::uint32_t npu = workload_.groups[communicator.group][rank].value;
  accounts_.begin_communicating(npu, purpose(communicator), now);
  if (communicator.operations[rank] != CommunicatorInstance::none)
    programs_.times(npu, communicator.operations[rank]).begin = now;
}

bool TrainingExecution::begins_one_by_one(std::uint32_t slot) const {
  const CommunicatorInstance& communicator = communicators_[slot];
  return options_.one_at_a_time && communicator.sender == CommunicatorInstance::none &&
         communicator.operations.size() > 1;
}

bool TrainingExecution::is_absent(std::uint32_t slot, std::uint32_t rank, std::int64_t now) const {
  const CommunicatorInstance& communicator = communicators_[slot];
  if (begins_one_by_one(slot)) return communicator.operations[rank] == CommunicatorInstance::none;
  return now < programs_.last_start() &&
         now < programs_.start_of(workload_.groups[communicator.group][rank].value);
}

/// Nobody is waited for.
bool TrainingExecution::is_complete(const CommunicatorInstance& communicator) const {
  return communicator.sender != CommunicatorInstance::none ||
         communicator.came == communicator.operations.size();
}

CommunicationRequest TrainingExecution::request(std::uint32_t slot) const {
  const CommunicatorInstance& communicator = communicators_[slot];
  const std::uint32_t rank = speaker(communicator);
  return request_of(workload_, workload_.groups[communicator.group][rank].value,
                    operation_of(communicator, rank));
}

std::uint8_t TrainingExecution::priority(std::uint32_t slot) const {
  const CommunicatorInstance& communicator = communicators_[slot];
  return operation_of(communicator, speaker(communicator)).priority;
}

/// The rank whose operation says what the communication is. Pre: it begins.
std::uint32_t TrainingExecution::speaker(const CommunicatorInstance& communicator) const {
  if (communicator.sender != CommunicatorInstance::none) return communicator.sender;
  return options_.one_at_a_time ? communicator.first : 0;
}

Purpose TrainingExecution::purpose(const CommunicatorInstance& communicator) const {
  return operation_of(communicator, speaker(communicator)).purpose;
}

const Operation& TrainingExecution::operation_of(const CommunicatorInstance& communicator,
                                                 std::uint32_t rank) const {
  return programs_.operation(workload_.groups[communicator.group][rank].value,
                             communicator.operations[rank]);
}

TrainingExecution::Computations TrainingExecution::compute(std::int64_t now) {
  Computations computations;
  for (const std::uint32_t npu : std::exchange(touched_, {})) {
    is_touched_[npu] = false;
    const std::uint32_t operation = programs_.start_computing(npu);
    programs_.times(npu, operation).begin = now;
    accounts_.begin_computing(npu, operation, now);
    const std::int64_t amount = programs_.operation(npu, operation).amount;
    const std::int64_t takes = duration(npu, amount);
    require_representable(now, Time{takes});
    if (takes > 0) {
      computations.begun.push_back(
          {npu, now + takes, static_cast<double>(amount) * 1e6 / shares_[npu].millionths});
    } else {
      computations.is_more = true;
      computed(npu, now);
    }
  }
  return computations;
}

/// Rounded up to a picosecond.
std::int64_t TrainingExecution::duration(std::uint32_t npu, std::int64_t work) const {
  __extension__ typedef __int128 Work;
  constexpr Work whole = 1'000'000;
  const Work own =
      options_.compute_shares.empty() ? whole : options_.compute_shares[npu].millionths;
  const Work share = own * shares_[npu].millionths;
  const Work takes = (Work{work} * whole * whole + share - 1) / share;
  if (takes > INT64_MAX / 2) require_representable(INT64_MAX, Time{});
  return static_cast<std::int64_t>(takes);
}

void TrainingExecution::finish(IterationReport& report) {
  report.duration = Time{duration_};
  for (const ProgramPlace& place : workload_.places)
    report.operations += workload_.programs[place.program].size();
  report.communications = communications_;
  accounts_.close(report.duration, report);
  record_spans(report);
}

void TrainingExecution::record_spans(IterationReport& report) const {
  for (const NodeId npu : options_.record)
    for (std::uint32_t i = 0; i < programs_.program(npu.value).size(); ++i) {
      const NpuPrograms::Times& times = programs_.times(npu.value, i);
      report.spans.push_back(
          {npu, i, Time{programs_.reached(npu.value, i)}, Time{times.begin}, Time{times.end}});
    }
}

// What a halt is said to be due to.

std::string TrainingExecution::halt_text() const {
  constexpr std::size_t most_named = 5;
  std::string text =
      fmt::format("the run comes to a halt with {} operations left", programs_.left());
  std::size_t named = 0;
  for (const std::uint32_t slot : communicators_.all()) {
    if (is_complete(communicators_[slot])) continue;
    if (named++ == most_named) break;
    text += (named > 1 ? "; " : ": ") + this->text(communicators_[slot]) +
            missing_text(communicators_[slot]);
  }
  return text;
}

/// "grads (all_reduce number 3 of group 7)"
std::string TrainingExecution::text(const CommunicatorInstance& communicator) const {
  for (std::uint32_t rank = 0; rank < communicator.operations.size(); ++rank) {
    if (communicator.operations[rank] == CommunicatorInstance::none) continue;
    const Operation& operation = operation_of(communicator, rank);
    const std::string_view kind = operation.kind == Operation::Kind::collective
                                      ? to_text(operation.collective)
                                  : operation.kind == Operation::Kind::send ? "send"
                                                                            : "receive";
    return fmt::format("{} ({} number {} of group {})", workload_.names[operation.name], kind,
                       communicator.tag, communicator.group);
  }
  return "";
}

std::string TrainingExecution::missing_text(const CommunicatorInstance& communicator) const {
  constexpr std::size_t most_named = 3;
  const std::vector<NodeId>& group = workload_.groups[communicator.group];
  std::string text = " waits for ";
  std::size_t missing = 0;
  for (std::uint32_t rank = 0; rank < group.size(); ++rank) {
    if (communicator.operations[rank] != CommunicatorInstance::none) continue;
    if (missing++ >= most_named) continue;
    const std::uint32_t npu = group[rank].value;
    text += fmt::format("{}npu{}", missing > 1 ? ", " : "", npu);
    const TrainingProgram& program = programs_.program(npu);
    for (std::uint32_t i = 0; i < program.size(); ++i)
      if (program[i].kind != Operation::Kind::compute && program[i].tag == communicator.tag &&
          workload_.places[npu].groups[program[i].role] == communicator.group)
        text += reason(npu, i);
  }
  if (missing > most_named) text += fmt::format(" and {} more", missing - most_named);
  return text;
}

/// " (which waits in its grads)": of what keeps the NPU from an operation, the first that it has
/// reached or could, or its one communication.
std::string TrainingExecution::reason(std::uint32_t npu, std::uint32_t operation) const {
  const TrainingProgram& program = programs_.program(npu);
  while (true) {
    std::uint32_t open = NpuPrograms::none;
    for (const std::uint32_t before : program.dependencies(operation))
      if (open == NpuPrograms::none && programs_.times(npu, before).end < 0) open = before;
    if (open == NpuPrograms::none) break;
    operation = open;
  }
  if (const std::uint32_t busy = programs_.communicating(npu); busy != NpuPrograms::none)
    operation = busy;
  return fmt::format(" (which waits in its {})", workload_.names[program[operation].name]);
}

} // namespace tutti
