// The checks that keep an iteration from waiting forever: by group and tag, every member takes part
// in a communication exactly once, and all agree on its kind, size, root and priority. Training
// programs are shared by many NPUs, so process groups whose members run the same programs in the
// same roles are checked once, not once per group.
#include "sim/workload.hpp"

#include "sim/engines/engine.hpp"
#include "sim/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <set>
#include <tuple>
#include <utility>

namespace tutti {

namespace {

constexpr std::size_t named_in_errors = 8; // NPUs; of more, the number

std::string npus_text(std::span<const std::uint32_t> npus) {
  std::string text;
  for (std::size_t i = 0; i < std::min(npus.size(), named_in_errors); ++i)
    text += fmt::format("{}npu{}", i == 0 ? "" : ", ", npus[i]);
  if (npus.size() > named_in_errors)
    text += fmt::format(" and {} more", npus.size() - named_in_errors);
  return text;
}

std::string group_text(std::span<const NodeId> group) {
  std::vector<std::uint32_t> npus;
  for (const NodeId member : group) npus.push_back(member.value);
  return "{" + npus_text(npus) + "}";
}

bool communicates(const Operation& operation) { return operation.kind != Operation::Kind::compute; }

std::string_view kind_text(const Operation& operation) {
  switch (operation.kind) {
  case Operation::Kind::compute: return "compute";
  case Operation::Kind::collective: return to_text(operation.collective);
  case Operation::Kind::send: return "send";
  case Operation::Kind::receive: return "receive";
  }
  return "";
}

/// A member's part in a communication of its group.
struct Part {
  std::uint32_t tag = 0, npu = 0, operation = 0;
  auto operator<=>(const Part&) const = default;
};

/// The operations of one program through one role.
using RoleOperations = std::vector<std::vector<std::uint32_t>>; // [role]

std::vector<RoleOperations> by_role(const Workload& workload) {
  std::vector<RoleOperations> roles(workload.programs.size());
  for (std::size_t p = 0; p < roles.size(); ++p)
    for (std::uint32_t i = 0; i < workload.programs[p].size(); ++i) {
      const Operation& operation = workload.programs[p][i];
      if (!communicates(operation)) continue;
      if (operation.role >= roles[p].size()) roles[p].resize(operation.role + 1);
      roles[p][operation.role].push_back(i);
    }
  return roles;
}

/// What one member of a group does in it.
struct MemberRole {
  std::uint32_t rank = 0, program = 0, role = 0;
  auto operator<=>(const MemberRole&) const = default;
};

class WorkloadChecker {
public:
  WorkloadChecker(const Workload& workload, std::uint32_t npus)
      : workload_(workload), npus_(npus) {}

  void check() {
    if (workload_.places.size() != npus_)
      throw InputError(fmt::format("the workload is for {} NPUs, the network has {}",
                                   workload_.places.size(), npus_));
    if (workload_.iterations == 0) throw InputError("a workload needs at least one iteration");
    check_groups();
    for (const TrainingProgram& program : workload_.programs) check_operations(program);
    roles_ = by_role(workload_);
    std::vector<std::vector<MemberRole>> members(workload_.groups.size());
    for (std::uint32_t npu = 0; npu < npus_; ++npu) add_roles(npu, members);
    // Groups whose members run the same programs communicate alike.
    std::set<std::vector<MemberRole>> checked;
    for (std::uint32_t g = 0; g < members.size(); ++g) {
      std::sort(members[g].begin(), members[g].end());
      if (checked.insert(members[g]).second) check_group(g, members[g]);
    }
  }

private:
  void check_groups() {
    for (std::size_t g = 0; g < workload_.groups.size(); ++g) {
      const std::vector<NodeId>& group = workload_.groups[g];
      if (group.empty()) throw InputError(fmt::format("group {} has no members", g));
      std::vector<NodeId> members = group;
      std::sort(members.begin(), members.end());
      if (members.back().value >= npus_)
        throw InputError(fmt::format("group {}: npu{} isn't in the network of {} NPUs", g,
                                     members.back().value, npus_));
      const auto twice = std::adjacent_find(members.begin(), members.end());
      if (twice != members.end())
        throw InputError(fmt::format("group {} has npu{} twice", g, twice->value));
    }
  }

  void check_operations(const TrainingProgram& program) {
    for (std::size_t i = 0; i < program.size(); ++i) {
      const Operation& operation = program[i];
      if (operation.name >= workload_.names.size())
        throw InputError(fmt::format("operation {} has a name that isn't there", i));
      const std::string& name = name_of(operation);
      if (!communicates(operation)) {
        if (operation.amount < 0) throw InputError(fmt::format("{}: it takes less than 0 s", name));
        continue;
      }
      if (operation.amount < 1)
        throw InputError(
            fmt::format("{}: a zero-byte {} (at least 1 byte)", name, kind_text(operation)));
      if (operation.priority > JobTiming::highest_priority)
        throw InputError(fmt::format("{}: priority {} is out of range (0 to {})", name,
                                     operation.priority, JobTiming::highest_priority));
      const auto known = basic_collectives(); // members are an order, and no ring
      if (std::ranges::find(known, operation.collective) == known.end())
        throw InputError(fmt::format("{}: a workload has no {} collectives", name,
                                     to_text(operation.collective)));
    }
  }

  /// Adds the roles of an NPU to the groups that it communicates in.
  void add_roles(std::uint32_t npu, std::vector<std::vector<MemberRole>>& members) {
    const ProgramPlace& place = workload_.places[npu];
    if (place.program >= workload_.programs.size())
      throw InputError(fmt::format("npu{} runs a program that isn't there", npu));
    const RoleOperations& roles = roles_[place.program];
    for (std::uint32_t role = 0; role < place.groups.size(); ++role) {
      const std::uint32_t group = place.groups[role];
      if (group >= workload_.groups.size())
        throw InputError(fmt::format("npu{} has a group that isn't there", npu));
      const std::vector<NodeId>& of_group = workload_.groups[group];
      const auto member = std::find(of_group.begin(), of_group.end(), NodeId{npu});
      if (member == of_group.end())
        throw InputError(fmt::format("npu{} isn't in group {}, through which it communicates", npu,
                                     group_text(of_group)));
      const auto rank = static_cast<std::uint32_t>(member - of_group.begin());
      if (role < roles.size() && !roles[role].empty())
        members[group].push_back({rank, place.program, role});
    }
    for (std::size_t role = place.groups.size(); role < roles.size(); ++role)
      if (!roles[role].empty())
        throw InputError(
            fmt::format("{}: npu{} has no group for it",
                        name_of(workload_.programs[place.program][roles[role].front()]), npu));
  }

  void check_group(std::uint32_t group, std::span<const MemberRole> members) const {
    std::vector<Part> parts;
    for (const MemberRole& member : members)
      for (const std::uint32_t i : roles_[member.program][member.role])
        parts.push_back({workload_.programs[member.program][i].tag,
                         workload_.groups[group][member.rank].value, i});
    std::sort(parts.begin(), parts.end());
    for (std::size_t begin = 0, end = 0; begin < parts.size(); begin = end) {
      for (end = begin + 1; end < parts.size() && parts[end].tag == parts[begin].tag;) ++end;
      check_communication(workload_.groups[group], std::span(parts).subspan(begin, end - begin));
    }
  }

  [[nodiscard]] const Operation& operation_of(const Part& part) const {
    return workload_.programs[workload_.places[part.npu].program][part.operation];
  }
  [[nodiscard]] const std::string& name_of(const Operation& operation) const {
    return workload_.names[operation.name];
  }

  /// All parts in one communication of the group.
  void check_communication(std::span<const NodeId> group, std::span<const Part> parts) const {
    const Operation& first = operation_of(parts.front());
    const std::string what = fmt::format("{} ({} number {} of group {})", name_of(first),
                                         kind_text(first), parts.front().tag, group_text(group));
    for (std::size_t i = 1; i < parts.size(); ++i)
      if (parts[i].npu == parts[i - 1].npu)
        throw InputError(fmt::format("{}: npu{} has it twice", what, parts[i].npu));
    if (parts.size() < group.size()) throw InputError(what + missing_text(parts, group));
    for (const Part& part : parts.subspan(1)) check_agreement(what, parts.front(), part);
    if (first.kind != Operation::Kind::collective) {
      if (group.size() != 2)
        throw InputError(fmt::format("{}: only groups of two send and receive", what));
    } else if (first.root >= group.size()) {
      throw InputError(fmt::format("{}: root {} isn't in it", what, first.root));
    }
  }

  static std::string missing_text(std::span<const Part> parts, std::span<const NodeId> group) {
    std::vector<std::uint32_t> missing;
    for (const NodeId member : group)
      if (std::none_of(parts.begin(), parts.end(),
                       [&](const Part& part) { return part.npu == member.value; }))
        missing.push_back(member.value);
    return fmt::format(": it would wait forever for {}, where nothing meets it",
                       npus_text(missing));
  }

  void check_agreement(const std::string& what, const Part& one, const Part& other) const {
    const Operation& a = operation_of(one);
    const Operation& b = operation_of(other);
    const auto differ = [&](std::string_view property, const auto& ours, const auto& theirs) {
      throw InputError(fmt::format("{}: its {} is {} at npu{}, but {} at npu{}", what, property,
                                   ours, one.npu, theirs, other.npu));
    };
    if (a.kind == Operation::Kind::collective || b.kind == Operation::Kind::collective) {
      if (a.kind != b.kind || a.collective != b.collective)
        differ("kind", kind_text(a), kind_text(b));
    } else if (a.kind == b.kind) {
      throw InputError(
          fmt::format("{}: npu{} and npu{} both {}", what, one.npu, other.npu, kind_text(a)));
    }
    if (a.amount != b.amount) differ("size", a.amount, b.amount);
    if (a.kind == Operation::Kind::collective && has_root(a.collective) && a.root != b.root)
      differ("root", a.root, b.root);
    if (a.priority != b.priority) differ("priority", a.priority, b.priority);
  }

  const Workload& workload_;
  std::uint32_t npus_;
  std::vector<RoleOperations> roles_; // [program]
};

} // namespace

std::uint32_t TrainingProgram::add(const Operation& operation,
                                   std::span<const std::uint32_t> after) {
  const auto index = static_cast<std::uint32_t>(operations_.size());
  const auto first = static_cast<std::ptrdiff_t>(dependencies_.size());
  dependencies_.insert(dependencies_.end(), after.begin(), after.end());
  std::sort(dependencies_.begin() + first, dependencies_.end());
  dependencies_.erase(std::unique(dependencies_.begin() + first, dependencies_.end()),
                      dependencies_.end());
  if (static_cast<std::ptrdiff_t>(dependencies_.size()) > first && dependencies_.back() >= index)
    throw InputError(fmt::format("operation {} depends on operation {}, which isn't an earlier one",
                                 index, dependencies_.back()));
  operations_.push_back(operation);
  begin_.push_back(dependencies_.size());
  return index;
}

void TrainingProgram::set_turns(std::vector<std::uint32_t> turns) {
  assert(turns.size() == operations_.size());
  turns_ = std::move(turns);
  if (std::is_sorted(turns_.begin(), turns_.end())) turns_.clear();
}

CommunicationRequest request_of(const Workload& workload, std::size_t npu,
                                const Operation& operation) {
  const std::uint32_t group = workload.places[npu].groups[operation.role];
  const Bytes size{operation.amount};
  if (operation.kind == Operation::Kind::collective)
    return {group, operation.collective, has_root(operation.collective) ? operation.root : 0, size};
  const bool is_first = workload.groups[group].front().value == npu;
  const bool sends = operation.kind == Operation::Kind::send;
  return {group, CollectiveKind::broadcast, is_first == sends ? 0U : 1U, size};
}

std::vector<CommunicationRequest> requests_of(const Workload& workload) {
  // What the operations of each program and role ask for differs by group only, and for sends by
  // who is first in it.
  using RoleRequests = std::vector<std::vector<std::uint32_t>>; // [role]: one operation of each
  std::vector<RoleRequests> distinct;
  for (const RoleOperations& roles : by_role(workload)) {
    const TrainingProgram& program = workload.programs[distinct.size()];
    RoleRequests& requests = distinct.emplace_back(roles.size());
    for (std::size_t role = 0; role < roles.size(); ++role) {
      std::set<std::tuple<Operation::Kind, CollectiveKind, std::uint32_t, std::int64_t>> seen;
      for (const std::uint32_t i : roles[role]) {
        const Operation& operation = program[i];
        if (seen.emplace(operation.kind, operation.collective, operation.root, operation.amount)
                .second)
          requests[role].push_back(i);
      }
    }
  }

  std::vector<CommunicationRequest> requests;
  for (std::size_t npu = 0; npu < workload.places.size(); ++npu) {
    const ProgramPlace& place = workload.places[npu];
    for (const std::vector<std::uint32_t>& role : distinct[place.program])
      for (const std::uint32_t i : role) {
        const CommunicationRequest request =
            request_of(workload, npu, workload.programs[place.program][i]);
        const std::vector<NodeId>& group = workload.groups[request.group];
        if (group.size() > 1 && group.front().value == npu) requests.push_back(request);
      }
  }
  std::sort(requests.begin(), requests.end());
  requests.erase(std::unique(requests.begin(), requests.end()), requests.end());
  return requests;
}

void check_workload(const Workload& workload, std::uint32_t npus) {
  WorkloadChecker(workload, npus).check();
}

} // namespace tutti
