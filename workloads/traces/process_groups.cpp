// A file of groups knows the place of each value; what stands in a trace is in quotes of Python's,
// within a text that has none.
#include "workloads/traces/process_groups.hpp"

#include "sim/error.hpp"
#include "sim/files/tree_value.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <numeric>
#include <utility>

namespace tutti {

namespace {

using Json = nlohmann::ordered_json;

Json parsed(std::string_view text) {
  try {
    return Json::parse(text);
  } catch (const Json::exception& e) {
    throw InputError(fmt::format("process groups: {}", e.what()));
  }
}

/// No members: all.
ProcessGroup completed(ProcessGroup group, std::uint32_t npus) {
  if (group.members.empty()) {
    group.members.resize(npus);
    std::iota(group.members.begin(), group.members.end(), 0U);
  }
  return group;
}

void add_member(ProcessGroup& group, std::uint64_t npu, std::uint32_t npus) {
  if (npu >= npus)
    throw InputError(fmt::format("process group \"{}\": npu{} isn't in the network of {} NPUs",
                                 group.name, npu, npus));
  group.members.push_back(static_cast<std::uint32_t>(npu));
}

void refuse_repetition(const ProcessGroup& group) {
  std::vector<std::uint32_t> sorted = group.members;
  std::sort(sorted.begin(), sorted.end());
  if (const auto twice = std::adjacent_find(sorted.begin(), sorted.end()); twice != sorted.end())
    throw InputError(fmt::format("process group \"{}\" has npu{} twice", group.name, *twice));
}

void require_sound_name(const std::string& name) {
  if (name.find('\0') != std::string::npos)
    throw InputError("process groups: a name has a zero byte");
}

ProcessGroup group_of(const std::string& name, const Json& ranks, std::uint32_t npus) {
  require_sound_name(name);
  ProcessGroup group{name, {}};
  if (!ranks.is_array())
    throw InputError(fmt::format("process group \"{}\": its members aren't a list", name));
  for (const Json& rank : ranks) {
    if (!rank.is_number_unsigned())
      throw InputError(
          fmt::format("process group \"{}\": member {} is not an NPU's number", name, rank.dump()));
    add_member(group, rank.get<std::uint64_t>(), npus);
  }
  refuse_repetition(group);
  return completed(std::move(group), npus);
}

} // namespace

std::vector<ProcessGroup> parse_group_file(std::string_view json, const std::string& file,
                                           std::uint32_t npus) {
  const TreeValue root = parse_json(json, file);
  const auto located = [](const TreeValue& value, const auto& body) {
    try {
      body();
    } catch (const InputError& error) {
      throw value.tree_place().error(error.what());
    }
  };
  if (!root.is_object())
    throw root.tree_place().error(R"(process groups: not an object like {"1": [0, 1]})");
  std::vector<ProcessGroup> found;
  for (const auto& [name, members] : root.members()) {
    ProcessGroup group{name, {}};
    located(members, [&] { require_sound_name(group.name); });
    if (!members.is_list())
      throw members.tree_place().error(
          fmt::format("process group \"{}\": its members aren't a list", name));
    for (const TreeValue& member : members.list()) {
      if (!member.is_integer() || member.text().starts_with('-'))
        throw member.tree_place().error(
            fmt::format("process group \"{}\": member {} is not an NPU's number", name,
                        member.text().empty() ? "[" : member.text()));
      located(member,
              [&] { add_member(group, static_cast<std::uint64_t>(member.integer()), npus); });
    }
    located(members, [&] { refuse_repetition(group); });
    found.push_back(completed(std::move(group), npus));
  }
  return found;
}

std::string group_file_text(const std::vector<ProcessGroup>& groups) {
  std::string text = "{";
  for (const ProcessGroup& group : groups)
    text += fmt::format("{}\n  {}: [{}]", &group == groups.data() ? "" : ",",
                        Json(group.name).dump(), fmt::join(group.members, ", "));
  return text + (groups.empty() ? "}\n" : "\n}\n");
}

std::vector<ProcessGroup> parse_trace_groups(std::string_view text, std::uint32_t npus) {
  const auto is_quoted_by = [&](char quote) {
    return text.size() >= 4 && text[1] == quote && text[text.size() - 2] == quote;
  };
  if (!text.starts_with('[') || !text.ends_with(']') || !(is_quoted_by('\'') || is_quoted_by('"')))
    throw InputError("metadata that isn't a list of process groups in quotes");
  const Json groups = parsed(text.substr(2, text.size() - 4));
  if (!groups.is_array()) throw InputError("process groups: not a list");
  std::vector<ProcessGroup> found;
  for (const Json& group : groups) {
    if (!group.is_object() || !group.contains("pg_name") || !group.contains("ranks") ||
        !group["pg_name"].is_string())
      throw InputError(fmt::format("process groups: {} lacks \"pg_name\" or \"ranks\"",
                                   group.dump(-1, ' ', false, Json::error_handler_t::replace)));
    found.push_back(group_of(group["pg_name"].get<std::string>(), group["ranks"], npus));
  }
  return found;
}

} // namespace tutti
