#include "workloads/process_groups.hpp"

#include "sim/error.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <numeric>

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

ProcessGroup group_of(const std::string& name, const Json& ranks, std::uint32_t npus) {
  ProcessGroup group{name, {}};
  if (name.find('\0') != std::string::npos)
    throw InputError("process groups: a name has a zero byte");
  if (!ranks.is_array())
    throw InputError(fmt::format("process group \"{}\": its members aren't a list", name));
  for (const Json& rank : ranks) {
    if (!rank.is_number_unsigned())
      throw InputError(
          fmt::format("process group \"{}\": member {} is not an NPU's number", name, rank.dump()));
    const auto npu = rank.get<std::uint64_t>();
    if (npu >= npus)
      throw InputError(fmt::format("process group \"{}\": npu{} isn't in the network of {} NPUs",
                                   name, npu, npus));
    group.members.push_back(static_cast<std::uint32_t>(npu));
  }
  std::vector<std::uint32_t> sorted = group.members;
  std::sort(sorted.begin(), sorted.end());
  if (const auto twice = std::adjacent_find(sorted.begin(), sorted.end()); twice != sorted.end())
    throw InputError(fmt::format("process group \"{}\" has npu{} twice", name, *twice));
  if (group.members.empty()) {
    group.members.resize(npus);
    std::iota(group.members.begin(), group.members.end(), 0U);
  }
  return group;
}

} // namespace

std::vector<ProcessGroup> parse_group_file(std::string_view json, const std::string& file,
                                           std::uint32_t npus) {
  try {
    const Json groups = parsed(json);
    if (!groups.is_object())
      throw InputError(R"(process groups: not an object like {"1": [0, 1]})");
    std::vector<ProcessGroup> found;
    for (const auto& [name, ranks] : groups.items()) found.push_back(group_of(name, ranks, npus));
    return found;
  } catch (const InputError& e) {
    throw InputError(fmt::format("{}: {}", file, e.what()));
  }
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

std::string trace_groups_text(const std::vector<ProcessGroup>& groups) {
  Json list = Json::array();
  for (const ProcessGroup& group : groups)
    list.push_back({{"pg_name", group.name}, {"ranks", group.members}});
  return "['" + list.dump() + "']";
}

} // namespace tutti
