// Writing goes by the file's name, reading by its first bytes. What both forms have in common, the
// checks of version, topology and collective, stands here.

#include "sim/files/schedule_file.hpp"

#include "sim/files/files.hpp"
#include "sim/files/schedule_format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tutti {

namespace schedule_format {

void check_version(std::int64_t found) {
  if (found > version)
    throw InputError(
        fmt::format("format version {} is newer than this program reads ({})", found, version));
  if (found < 1) throw InputError(fmt::format("there is no format version {}", found));
}

void check_topology(const std::string& name, std::uint64_t fingerprint, const Topology& topology) {
  if (fingerprint == topology.fingerprint()) return;
  throw InputError(fmt::format("schedule was made for topology \"{}\" (fingerprint {:016x}), "
                               "not for \"{}\" (fingerprint {:016x})",
                               name, fingerprint, topology.name(), topology.fingerprint()));
}

void check_collective(std::uint64_t fingerprint, const Collective& collective) {
  if (fingerprint == collective.fingerprint()) return;
  throw InputError(fmt::format("schedule was made for a collective with fingerprint {:016x}, but "
                               "what the file describes ({}) has {:016x}",
                               fingerprint, collective.name(), collective.fingerprint()));
}

CollectiveSpec named_part(CollectiveKind kind, Bytes size, std::vector<NodeId> group, NodeId root,
                          std::uint32_t chunks_per_shard) {
  CollectiveSpec spec{kind, size, std::move(group), 0, chunks_per_shard};
  if (!has_root(kind)) return spec;
  const auto member = std::find(spec.group.begin(), spec.group.end(), root);
  if (member == spec.group.end())
    throw InputError(fmt::format("root {} is not in the group", root.value));
  spec.root = static_cast<std::uint32_t>(member - spec.group.begin());
  return spec;
}

std::uint64_t most_chunks(std::uint64_t transfers) { return 1'000'000 + 2 * transfers; }

} // namespace schedule_format

void write_schedule(const std::string& file, const Topology& topology,
                    const ScheduleFile& content) {
  namespace format = schedule_format;
  if (!file.ends_with(".json")) {
    write_file(file, [&](std::ostream& out) {
      format::located([&] { return file; },
                      [&] { format::write_wrapped(out, topology, content.content()); });
    });
  } else if (!content.compact) {
    write_file(file, format::to_json(topology, content));
  } else {
    write_file(file,
               format::to_json(topology, {content.topology_name, content.algorithm,
                                          content.time_model, content.collective,
                                          expanded(topology, content.collective, *content.compact),
                                          std::nullopt}));
  }
}

void write_schedule(std::ostream& out, const Topology& topology, const ScheduleContent& content) {
  schedule_format::write_wrapped(out, topology, content);
}

ScheduleFile read_schedule(const std::string& file, const Topology& topology) {
  return parse_schedule(read_file(file), file, topology);
}

ScheduleFile parse_schedule(std::string_view content, const std::string& source_name,
                            const Topology& topology, std::size_t listed_up_to) {
  namespace format = schedule_format;
  const std::size_t first = content.find_first_not_of(" \t\r\n");
  if (first != std::string_view::npos && content[first] == '{')
    return format::from_json(content, source_name, topology);
  return format::located(
      [&] { return source_name; },
      [&] {
        if (content.empty()) throw InputError("the file is empty");
        if (!content.starts_with(format::magic))
          throw InputError("not a schedule file (neither JSON nor Tutti's binary form)");
        return format::from_payload(format::unwrapped(content), topology, listed_up_to);
      });
}

} // namespace tutti
