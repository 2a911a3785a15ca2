// Chakra traces, their process groups and workload texts: any bytes give a Workload that
// check_workload() accepts, or an InputError.
#include "sim/error.hpp"
#include "sim/files/files.hpp"
#include "tests/samples.hpp"
#include "tests/temporary_folder.hpp"
#include "workloads/traces/chakra.hpp"
#include "workloads/traces/process_groups.hpp"
#include "workloads/traces/text_workload.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

using namespace tutti;

namespace {

template <typename Reader> void check(const Topology& topology, const Reader& read) {
  Workload workload;
  try {
    workload = read();
  } catch (const InputError&) {
    return;
  }
  check_workload(workload, topology.npu_count());
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const TemporaryFolder folder;
  static const Topology topology = samples::mesh(2, 2);
  const std::string_view content(reinterpret_cast<const char*>(data), size);
  for (const char* npu : {"0", "1", "2", "3"})
    write_file(folder.file(std::string("trace.") + npu + ".et"), content);
  check(topology, [&] { return read_chakra(folder.file("trace"), topology); });
  try {
    (void)parse_group_file(content, "groups.json", topology.npu_count());
  } catch (const InputError&) {
  }
  write_file(folder.file("text.txt"), content);
  check(topology, [&] {
    return read_text_workload(folder.file("text.txt"), topology, {Time{1000}, 1, {}});
  });
  return 0;
}
