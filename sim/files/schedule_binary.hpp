// The binary form of schedule files, for large ones: the magic, the version in 4 bytes
// (little-endian), then one zstd frame with a checksum. Its payload is made of numbers (LEB128),
// fingerprints (8 bytes, little-endian) and texts (length, bytes):
//   topology name, topology fingerprint, algorithm, link_busy, forwarding, discipline, reduce_rate,
//   form (0 list, 1 compact, 2 list with dependencies, 3 list with shared sends, 4 compact
//   with reductions), number of transfers, collective fingerprint, number of parts, parts,
//   then list:    number of paths of two links and more, each: number of links, links;
//                 each transfer: chunk, path * 4 + reduce * 2 + together
//        compact: per link: number of chunks, chunks; with reductions: these so, then the copies
//        list with dependencies: as a list; then the number of dependencies, each: transfer that
//                 waits (less that of the one before), transfer that it waits for * 2 + arrived
//        list with shared sends: as a list with dependencies, of which there may be none; of each
//                 transfer path * 8 + contiguous * 4 + reduce * 2 + together
//   A part: kind, then named: size, number of members, members, root NPU, chunks per shard;
//   custom: number of sets, each: number of nodes, nodes; number of chunks, each: bytes, held by
//   (set), wanted by (set), reduces (0 or 1).
#pragma once

#include "sim/files/schedule_file.hpp"

#include <cstddef>
#include <iosfwd>
#include <string>
#include <string_view>

namespace tutti::schedule_format {

inline constexpr std::string_view magic = "TUTTIbin";

[[nodiscard]] std::string to_payload(const Topology& topology, const ScheduleFile& content);
[[nodiscard]] ScheduleFile from_payload(std::string_view payload, const Topology& topology,
                                        std::size_t listed_up_to = most_listed);
/// Magic, `version` and the payload as a zstd frame. Errors: InputError for a payload that
/// compresses so well that `unwrapped` would take it for a decompression bomb.
[[nodiscard]] std::string wrapped(std::string_view payload, std::int64_t version = 2);
/// wrapped(to_payload()) piece by piece, so that only a few MiB are held beside the content.
void write_wrapped(std::ostream& out, const Topology& topology, const ScheduleContent& content);
/// The payload of a binary file. Memory: at most 1 MiB + 4096 times the content.
[[nodiscard]] std::string unwrapped(std::string_view content);

} // namespace tutti::schedule_format
