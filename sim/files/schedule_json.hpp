// The JSON form of schedule files, for people. Ids are numbers, `root` is an NPU, every key is
// required unless said:
//   {"format": "tutti-schedule", "version": 2,
//    "topology": {"name": "ring:8", "fingerprint": "<16 hex digits>"},
//    "algorithm": "ring",
//    "time_model": {"link_busy": "serialization", "forwarding": "auto", "discipline": "fifo",
//                   "reduce_rate": "50GB/s"},                        (reduce_rate only if not 0)
//    "collective": {"fingerprint": "<16 hex digits>", "parts": [
//      {"kind": "broadcast", "size": <bytes>, "group": [0, 1], "root": 0,
//       "chunks_per_shard": 1},
//      {"kind": "custom", "chunks": [
//        {"bytes": 1, "sources": [0], "destinations": [1], "reduces": false}]}]},
//    "transfers": [
//      [<chunk>, [<link>, ...], "copy" | "reduce"],
//      [<chunk>, [<link>, ...], "copy" | "reduce", "together" | "contiguous"]]}
#pragma once

#include "sim/files/schedule_file.hpp"

#include <string>
#include <string_view>

namespace tutti::schedule_format {

[[nodiscard]] std::string to_json(const Topology& topology, const ScheduleFile& content);
/// Errors: InputError, with `source_name` in front.
[[nodiscard]] ScheduleFile from_json(std::string_view content, const std::string& source_name,
                                     const Topology& topology);

} // namespace tutti::schedule_format
