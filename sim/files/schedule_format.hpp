// What the two forms of schedule files share. Internal to schedule_file.cpp, schedule_json.cpp and
// schedule_binary.cpp (and the tests that damage files on purpose).
//
// JSON, for people (ids are numbers, `root` is an NPU, every key is required unless said):
//   {"format": "tutti-schedule", "version": 1,
//    "topology": {"name": "ring:8", "fingerprint": "<16 hex digits>"},
//    "algorithm": "ring",
//    "time_model": {"link_busy": "serialization", "forwarding": "auto", "discipline": "fifo",
//                   "reduce_rate": "50GB/s"},                        (reduce_rate only if not 0)
//    "collective": {"fingerprint": "<16 hex digits>", "parts": [
//      {"kind": "broadcast", "size": <bytes>, "group": [0, 1], "root": 0, "pieces": 1},
//      {"kind": "custom", "chunks": [
//        {"bytes": 1, "held_by": [0], "wanted_by": [1], "reduces": false}]}]},
//    "transfers": [
//      [<chunk>, [<link>, ...], "copy" | "reduce"],
//      [<chunk>, [<link>, ...], "copy" | "reduce", "together"]]}
//
// Binary: the magic, the version in 4 bytes (little-endian), then one zstd frame with a checksum.
// Its payload is made of numbers (LEB128), fingerprints (8 bytes, little-endian) and texts (length,
// bytes):
//   topology name, topology fingerprint, algorithm, link_busy, forwarding, discipline, reduce_rate,
//   form (0 list, 1 compact), number of transfers, collective fingerprint, number of parts, parts,
//   then list:    number of paths of two links and more, each: number of links, links;
//                 each transfer: chunk, path * 4 + reduce * 2 + together
//        compact: per link: number of chunks, chunks
//   A part: kind, then named: size, number of members, members, root NPU, pieces;
//   custom: number of sets, each: number of nodes, nodes; number of chunks, each: bytes, held by
//   (set), wanted by (set), reduces (0 or 1).
#pragma once

#include "sim/collective_builder.hpp"
#include "sim/error.hpp"
#include "sim/files/schedule_file.hpp"

#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>

namespace tutti::schedule_format {

inline constexpr std::int64_t version = 1;
inline constexpr std::string_view magic = "TUTTIbin";

[[nodiscard]] std::string to_json(const Topology& topology, const ScheduleFile& content);
/// Errors: InputError, with `source_name` in front.
[[nodiscard]] ScheduleFile from_json(std::string_view content, const std::string& source_name,
                                     const Topology& topology);

[[nodiscard]] std::string to_payload(const Topology& topology, const ScheduleFile& content);
[[nodiscard]] ScheduleFile from_payload(std::string_view payload, const Topology& topology,
                                        std::size_t listed_up_to = most_listed);
/// Magic, version and the payload as a zstd frame. Errors: InputError for a payload that compresses
/// so well that `unwrapped` would take it for a decompression bomb.
[[nodiscard]] std::string wrapped(std::string_view payload);
/// wrapped(to_payload()) piece by piece, so that only a few MiB are held beside the content.
void write_wrapped(std::ostream& out, const Topology& topology, const ScheduleContent& content);
/// The payload of a binary file. Memory: at most 1 MiB + 4096 times the content.
[[nodiscard]] std::string unwrapped(std::string_view content);

/// Errors: InputError for a version that this program doesn't know.
void check_version(std::int64_t found);
/// Errors: InputError with both names and fingerprints.
void check_topology(const std::string& name, std::uint64_t fingerprint, const Topology& topology);
/// Errors: InputError where the collective that the file describes isn't the one it was written
/// for.
void check_collective(std::uint64_t fingerprint, const Collective& collective);

/// The spec of a named part. Errors: InputError for a root outside the group.
[[nodiscard]] CollectiveSpec named_part(CollectiveKind kind, Bytes size, std::vector<NodeId> group,
                                        NodeId root, std::uint32_t chunks_per_shard);
/// How many chunks a file may ask for: all but half of them move in any collective (all_to_all
/// over 2), and a million are free.
[[nodiscard]] std::uint64_t most_chunks(std::uint64_t transfers);

/// Runs `body`; puts `place()` and a colon in front of an InputError that it throws.
template <typename Place, typename Body> auto located(const Place& place, const Body& body) {
  try {
    return body();
  } catch (const InputError& e) {
    throw InputError(place() + ": " + e.what());
  }
}

} // namespace tutti::schedule_format
