// Writing goes by the file's name, reading by its first bytes.

#include "sim/files/schedule_file.hpp"

#include "sim/error.hpp"
#include "sim/files/files.hpp"
#include "sim/files/gzip.hpp"
#include "sim/files/schedule_binary.hpp"
#include "sim/files/schedule_format.hpp"
#include "sim/files/schedule_json.hpp"

#include <fmt/format.h>

#include <utility>

namespace tutti {

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
  return parse_schedule(read_input_file(file), file, topology);
}

void make_list(const std::string& file, const Topology& topology, ScheduleFile& schedule) {
  if (!schedule.compact) return;
  schedule.schedule = schedule_format::located(
      [&] { return file; },
      [&] { return expanded(topology, schedule.collective, *schedule.compact); });
  schedule.compact.reset();
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
