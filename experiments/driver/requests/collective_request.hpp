// Collectives as a user asks for them: names that share one size (`all_reduce,group=0-7`), or files
// that carry their own.
#pragma once

#include "sim/collective.hpp"
#include "sim/topology.hpp"
#include "sim/units.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tutti {

struct CollectiveRequest {
  std::vector<std::string> texts;        ///< several run at once
  Bytes size{std::int64_t{1} << 30};     ///< 0 B: as large as they say, else 1 GiB
  std::vector<std::int64_t> shares = {}; ///< by block, of those whose shares differ

  [[nodiscard]] std::string text() const; ///< joined by ` + `, without the size
};

/// Those that have one.
[[nodiscard]] std::vector<std::string> collective_names();

/// "AllReduce,group=0-3" with Tutti's name: "all_reduce,group=0-3"; what isn't known stays.
[[nodiscard]] std::string with_own_name(std::string_view text);

/// Where nobody says one: 0 B (CollectiveRequest::size) if some say how large they are.
[[nodiscard]] Bytes usual_size(const std::vector<std::string>& texts);

/// One that isn't a file. Errors: InputError for an unknown name or key, or a malformed value.
[[nodiscard]] CollectiveSpec named_spec(const std::string& text, const CollectiveRequest& request,
                                        std::uint32_t chunks_per_shard);

/// True for the name of a TOML file: a text with `/` or `.toml` at its end.
[[nodiscard]] bool is_collective_file(std::string_view text);

/// All collectives of the request at once, with so many chunks per shard; a file says its own.
/// Errors: InputError for an unknown name, a bad group, chunks below one byte, a bad file.
[[nodiscard]] Collective make_collective(const Topology& topology, const CollectiveRequest& request,
                                         std::uint32_t chunks_per_shard);

/// How large it is: the request's size, but where a file says its own. Errors: as above.
[[nodiscard]] Bytes size_of(const Topology& topology, const CollectiveRequest& request);

/// What a collective is, without its size, as one would ask for it: `all_reduce`,
/// `broadcast,root=3,group=0-7`, several joined by ` + `. A group of all NPUs isn't named.
[[nodiscard]] std::string collective_text(const Topology& topology, const Collective& collective);

/// `1GiB`, or `1KiB..1GiB`: doubling from the first to the last, both included; several of these
/// with commas, ascending: `64KiB,1MiB..4MiB,1GiB`.
/// Errors: InputError for a size without unit, of zero, or sizes that fall or stand twice.
[[nodiscard]] std::vector<Bytes> parse_sizes(std::string_view text);

constexpr std::uint32_t most_chunks = 1 << 20; ///< per shard; more is a slip

/// `auto`, which is no value, or a number of chunks per shard from 1 on.
[[nodiscard]] std::optional<std::uint32_t> parse_chunks(std::string_view text);

} // namespace tutti
