// A file of groups is read by hand down to each value, so that messages say where it stands; values
// themselves are parsed by nlohmann/json.
#include "workloads/traces/process_groups.hpp"

#include "sim/error.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <numeric>
#include <set>
#include <system_error>
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

/// Reads {"1": [0, 1], ...} token by token, as nlohmann/json doesn't tell where its values stand.
class GroupFile {
public:
  GroupFile(std::string_view text, const std::string& file, std::uint32_t npus)
      : text_(text), file_(file), npus_(npus) {}

  std::vector<ProcessGroup> groups() {
    std::vector<ProcessGroup> found;
    std::set<std::string> names;
    if (next() != '{') fail(R"(process groups: not an object like {"1": [0, 1]})");
    take('{');
    while (next() != '}') {
      if (!found.empty()) take(',');
      (void)next();
      const std::size_t place = at_;
      std::string name = this->name();
      if (!names.insert(name).second)
        fail_at(place, fmt::format("process group \"{}\" is there twice", name));
      take(':');
      found.push_back(group(std::move(name)));
    }
    take('}');
    if (next() != end) fail("process groups: something follows their end");
    return found;
  }

private:
  static constexpr char end = '\0';

  /// The next character that isn't blank; `end` at the end.
  char next() {
    at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size());
    return at_ < text_.size() ? text_[at_] : end;
  }

  void take(char expected) {
    if (next() != expected) fail(fmt::format("process groups: expected {}", expected));
    ++at_;
  }

  template <typename Body> auto located(std::size_t place, const Body& body) {
    try {
      return body();
    } catch (const InputError& error) {
      fail_at(place, error.what());
    }
  }

  [[noreturn]] void fail(const std::string& why) {
    (void)next();
    fail_at(at_, at_ == text_.size() ? why + ", found the end of the file" : why);
  }
  [[noreturn]] void fail_at(std::size_t place, const std::string& why) const {
    const std::string_view before = text_.substr(0, place);
    const auto line = std::count(before.begin(), before.end(), '\n') + 1;
    const std::size_t start = before.rfind('\n') + 1; // npos + 1 is 0
    throw InputError(fmt::format("{}:{}:{}: {}", file_, line, place - start + 1, why));
  }

  std::string name() {
    if (next() != '"') fail("process groups: expected a name in quotes");
    const std::size_t place = at_;
    for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_)
      if (text_[at_] == '\\') ++at_;
    if (at_ >= text_.size()) fail_at(place, "process groups: a name without its end");
    ++at_;
    return located(place, [&] {
      auto name = parsed(text_.substr(place, at_ - place)).get<std::string>();
      require_sound_name(name);
      return name;
    });
  }

  ProcessGroup group(std::string name) {
    ProcessGroup group{std::move(name), {}};
    if (next() != '[')
      fail(fmt::format("process group \"{}\": its members aren't a list", group.name));
    const std::size_t begin = at_;
    take('[');
    while (next() != ']') {
      if (!group.members.empty()) take(',');
      add_next_member(group);
    }
    take(']');
    return located(begin, [&] {
      refuse_repetition(group);
      return completed(std::move(group), npus_);
    });
  }

  void add_next_member(ProcessGroup& group) {
    (void)next();
    const std::size_t place = at_;
    at_ = std::min(text_.find_first_of(" \t\r\n,:]}[{\"", place), text_.size());
    const std::string_view member = text_.substr(place, at_ - place);
    std::uint64_t npu = 0;
    const auto [last, error] = std::from_chars(member.data(), member.data() + member.size(), npu);
    if (place == text_.size())
      fail(fmt::format("process group \"{}\": its list has no end", group.name));
    if (error != std::errc{} || last != member.data() + member.size())
      fail_at(place, fmt::format("process group \"{}\": member {} is not an NPU's number",
                                 group.name, member.empty() ? text_.substr(place, 1) : member));
    located(place, [&] { return add_member(group, npu, npus_); });
  }

  std::string_view text_;
  const std::string& file_;
  std::uint32_t npus_;
  std::size_t at_ = 0;
};

} // namespace

std::vector<ProcessGroup> parse_group_file(std::string_view json, const std::string& file,
                                           std::uint32_t npus) {
  return GroupFile(json, file, npus).groups();
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
