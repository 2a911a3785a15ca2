// A file's schedule answers only the question that it was made for: its collective, cut as it is
// there, must be the one that is asked for, chunk by chunk.
#include "experiments/driver/outside/schedule_files.hpp"

#include "experiments/driver/outside/answer.hpp"
#include "experiments/driver/requests/connection_paths.hpp"
#include "runtime/formats/msccl/xml.hpp"
#include "sim/error.hpp"
#include "sim/files/files.hpp"
#include "sim/files/gzip.hpp"
#include "sim/files/schedule_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <regex>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace tutti {

namespace {

/// What stands in the braces of a pattern, and what replaces it.
using Blanks = std::array<std::pair<std::string, std::string>, 5>;

Blanks blanks_of(const Topology& topology, const CollectivePart& part) {
  return {{{"size", to_text(part.size)},
           {"bytes", fmt::to_string(part.size.count)},
           {"collective", std::string(to_text(part.kind))},
           {"npus", fmt::to_string(topology.npu_count())},
           {"chunks", fmt::to_string(part.chunks_per_shard)}}};
}

std::string filled(const std::string& pattern, const Blanks& blanks) {
  std::string text;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const std::size_t end = pattern[i] == '{' ? pattern.find('}', i) : pattern.npos;
    if (end == pattern.npos) {
      text += pattern[i];
      continue;
    }
    const std::string name = pattern.substr(i + 1, end - i - 1);
    const auto found = std::ranges::find(blanks, name, &Blanks::value_type::first);
    if (found == blanks.end()) {
      std::vector<std::string> known;
      for (const auto& [blank, value] : blanks) known.push_back(blank);
      throw InputError(unknown_name("blank", name, known));
    }
    text += found->second;
    i = end;
  }
  return text;
}

/// The first of its programs that is for this size.
ScheduleFile read_xml(const std::string& file, const Topology& topology, Bytes size,
                      Routing routing, std::optional<LibraryChoice>& library) {
  const std::string xml = read_input_file(file);
  std::vector<runtime::MscclFile> programs = runtime::read_msccl_files(xml, file, size);
  const auto is_for = [size](const runtime::MscclFile& program) {
    return size.count >= program.min_bytes.value_or(size.count) &&
           size.count <= program.max_bytes.value_or(size.count);
  };
  const auto found = std::ranges::find_if(programs, is_for);
  if (found == programs.end())
    throw InputError(fmt::format("{}: no program in it is for {}", file, to_text(size)));
  runtime::Program& program = found->program;
  if (const std::string paths = paths_file_of(file); std::filesystem::exists(paths))
    program.paths = parse_connection_paths(topology, read_input_file(paths), paths, xml);
  const bool is_asked = routing != Routing::automatic;
  runtime::ForeignSchedule foreign =
      runtime::schedule_of(topology, program, is_asked ? std::optional(routing) : std::nullopt);
  library = runtime::library_of(foreign, found->protocol);
  return {topology.name(),
          program.name,
          {},
          std::move(foreign.collective),
          std::move(foreign.schedule)};
}

} // namespace

void require_pattern(const std::string& pattern) {
  (void)filled(pattern,
               {{{"size", ""}, {"bytes", ""}, {"collective", ""}, {"npus", ""}, {"chunks", ""}}});
}

std::vector<std::string> files_for(const std::string& folder, const std::string& pattern) {
  namespace fs = std::filesystem;
  const fs::path path = fs::path(folder) / pattern;
  const std::string name = path.filename().string();
  std::string expression;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const std::size_t end = name[i] == '{' ? name.find('}', i) : name.npos;
    if (end != name.npos) {
      expression += ".*";
      i = end;
    } else {
      if (std::string_view("^$\\.*+?()[]{}|").find(name[i]) != std::string_view::npos)
        expression += '\\';
      expression += name[i];
    }
  }
  const std::regex names(expression);
  std::vector<std::string> files;
  std::error_code error;
  const fs::path beside = path.has_parent_path() ? path.parent_path() : fs::path(".");
  for (const fs::directory_entry& entry : fs::directory_iterator(beside, error))
    if (std::regex_match(entry.path().filename().string(), names))
      files.push_back(entry.path().string());
  std::ranges::sort(files);
  return files;
}

Outcome schedule_from_file(const std::string& folder, const std::string& pattern,
                           const Topology& topology, const Collective& collective,
                           const SynthesisOptions& options) {
  const CollectivePart& part = collective.parts.front();
  const std::string file =
      (std::filesystem::path(folder) / filled(pattern, blanks_of(topology, part))).string();
  if (std::error_code error; !std::filesystem::exists(file, error))
    return unsupported(fmt::format("there is no file {}", file));
  std::optional<ScheduleFile> read;
  std::optional<LibraryChoice> library;
  try {
    read = unpacked_name(file).ends_with(".xml")
               ? read_xml(file, topology, part.size, options.routing, library)
               : read_schedule(file, topology);
  } catch (const InputError& error) {
    return failed_outcome(error.what());
  }
  const CollectivePart& of_file = read->collective.parts.front();
  const bool may_differ = options.choose_chunks && read->collective.parts.size() == 1;
  const std::uint32_t chunks = may_differ ? of_file.chunks_per_shard : part.chunks_per_shard;
  const Collective asked = make_collective(topology, spec_of(part, chunks));
  if (asked.fingerprint() != read->collective.fingerprint())
    return unsupported(fmt::format("{} is of {}, in {} chunks per shard", file,
                                   read->collective.name(), of_file.chunks_per_shard));
  Outcome outcome;
  outcome.status = Status::feasible;
  outcome.compact = std::move(read->compact);
  if (!outcome.compact) outcome.schedule = std::move(read->schedule);
  outcome.parts_per_chunk = chunks / part.chunks_per_shard;
  outcome.library = std::move(library);
  return outcome;
}

} // namespace tutti
