// Schedule files, JSON and binary: any bytes give a schedule for this topology or an InputError,
// and what is read can be checked and written again. Bytes after a `P` are the payload of a binary
// file, which no mutation would reach through compression and checksum.
#include "sim/error.hpp"
#include "sim/files/schedule_binary.hpp"
#include "sim/files/schedule_file.hpp"
#include "sim/verify.hpp"
#include "tests/samples.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const tutti::Topology topology = tutti::samples::ring(3, true);
  std::string content(reinterpret_cast<const char*>(data), size);
  try {
    if (content.starts_with('P')) content = tutti::schedule_format::wrapped(content.substr(1));
    const tutti::ScheduleFile found = tutti::parse_schedule(content, "fuzz", topology);
    (void)tutti::verify(topology, found.collective, found.schedule);
    (void)tutti::schedule_format::to_payload(topology, found);
  } catch (const tutti::InputError&) {
  }
  return 0;
}
