#include "sim/workload.hpp"

#include "sim/engines/engine.hpp"
#include "sim/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

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

/// An NPU's part in a communication.
struct Part {
  std::uint32_t group = 0, tag = 0, npu = 0, operation = 0;
  auto operator<=>(const Part&) const = default;
};

class Checker {
public:
  Checker(const Workload& workload, std::uint32_t npus) : workload_(workload), npus_(npus) {}

  void check() {
    if (workload_.places.size() != npus_)
      throw InputError(fmt::format("the workload is for {} NPUs, the network has {}",
                                   workload_.places.size(), npus_));
    if (workload_.iterations == 0) throw InputError("a workload needs at least one iteration");
    check_groups();
    for (const Program& program : workload_.programs) check_operations(program);
    for (std::uint32_t npu = 0; npu < npus_; ++npu) collect_parts(npu);
    std::sort(parts_.begin(), parts_.end());
    for (std::size_t begin = 0, end = 0; begin < parts_.size(); begin = end) {
      for (end = begin + 1; end < parts_.size() && parts_[end].group == parts_[begin].group &&
                            parts_[end].tag == parts_[begin].tag;)
        ++end;
      check_meeting(std::span(parts_).subspan(begin, end - begin));
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

  void check_operations(const Program& program) {
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
      if (operation.collective == CollectiveKind::custom)
        throw InputError(fmt::format("{}: a workload has no custom collectives", name));
    }
  }

  void collect_parts(std::uint32_t npu) {
    const ProgramPlace& place = workload_.places[npu];
    if (place.program >= workload_.programs.size())
      throw InputError(fmt::format("npu{} runs a program that isn't there", npu));
    for (const std::uint32_t group : place.groups) {
      if (group >= workload_.groups.size())
        throw InputError(fmt::format("npu{} has a group that isn't there", npu));
      if (!is_member(group, npu))
        throw InputError(fmt::format("npu{} isn't in group {}, through which it communicates", npu,
                                     group_text(workload_.groups[group])));
    }
    const Program& program = workload_.programs[place.program];
    for (std::uint32_t i = 0; i < program.size(); ++i) {
      const Operation& operation = program[i];
      if (!communicates(operation)) continue;
      if (operation.role >= place.groups.size())
        throw InputError(fmt::format("{}: npu{} has no group for it", name_of(operation), npu));
      parts_.push_back({place.groups[operation.role], operation.tag, npu, i});
    }
  }

  [[nodiscard]] bool is_member(std::uint32_t group, std::uint32_t npu) const {
    const std::vector<NodeId>& members = workload_.groups[group];
    return std::find(members.begin(), members.end(), NodeId{npu}) != members.end();
  }

  [[nodiscard]] const Operation& operation_of(const Part& part) const {
    return workload_.programs[workload_.places[part.npu].program][part.operation];
  }
  [[nodiscard]] const std::string& name_of(const Operation& operation) const {
    return workload_.names[operation.name];
  }

  /// All parts in one communication.
  void check_meeting(std::span<const Part> parts) const {
    const std::vector<NodeId>& group = workload_.groups[parts.front().group];
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
  std::vector<Part> parts_;
};

} // namespace

std::string_view to_text(Purpose purpose) {
  constexpr std::array<std::string_view, purpose_count> names{"data",     "sharding", "tensor",
                                                              "pipeline", "expert",   "other"};
  return names[static_cast<std::size_t>(purpose)];
}

std::uint32_t Program::add(const Operation& operation, std::span<const std::uint32_t> after) {
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
  std::vector<CommunicationRequest> requests;
  for (std::size_t npu = 0; npu < workload.places.size(); ++npu) {
    const ProgramPlace& place = workload.places[npu];
    std::vector<CommunicationRequest> own;
    for (const Operation& operation : workload.programs[place.program].operations()) {
      if (!communicates(operation)) continue;
      const CommunicationRequest request = request_of(workload, npu, operation);
      const std::vector<NodeId>& group = workload.groups[request.group];
      if (group.size() > 1 && group.front().value == npu) own.push_back(request);
    }
    std::sort(own.begin(), own.end());
    own.erase(std::unique(own.begin(), own.end()), own.end());
    requests.insert(requests.end(), own.begin(), own.end());
  }
  std::sort(requests.begin(), requests.end());
  requests.erase(std::unique(requests.begin(), requests.end()), requests.end());
  return requests;
}

void check_workload(const Workload& workload, std::uint32_t npus) {
  Checker(workload, npus).check();
}

} // namespace tutti
