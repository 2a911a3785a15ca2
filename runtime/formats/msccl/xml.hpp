// MSCCL's XML: programs for its runtime (and its forks), and foreign programs for our simulator.
#pragma once

#include "runtime/program.hpp"
#include "sim/routing.hpp"
#include "sim/schedule.hpp"
#include "sim/synthesizer.hpp"
#include "sim/topology.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::runtime {

/// Which kinds of steps, a bit each.
using StepKinds = std::uint16_t;
[[nodiscard]] constexpr StepKinds kinds_bit(StepKind kind) {
  return static_cast<StepKinds>(1U << static_cast<unsigned>(kind));
}
inline constexpr StepKinds all_step_kinds = (1U << step_kind_count) - 1;

/// What a runtime is built with, most by default: what one or another of msccl_runtimes() has.
/// Programs beyond it are refused there, ignored, or cut silently.
struct MscclLimits {
  std::uint32_t steps = 256; ///< of a block
  std::uint32_t channels = 128;
  std::uint32_t blocks = 1024; ///< of a GPU, as the parser and the launch take them
  std::uint32_t count = 71;    ///< units of a step
  std::uint32_t peers = 32;    ///< of a channel, to send to; to receive from as well
  /// Kept in 16 and 8 bits with a sign there: the highest index of a unit in a buffer, and of a
  /// block that another one waits for.
  std::uint32_t place = 32767, waited_block = 127;
  /// Elements of the file that a rank keeps: <algo>, all <gpu>, its own <tb> and <step>.
  std::uint32_t elements = 4095;
  std::uint32_t ranks = 1024; ///< <gpu> of an <algo>
  std::uint32_t name = 255;   ///< bytes of an attribute, of which only the name may be long
  StepKinds kinds = all_step_kinds;
  std::string_view who_has = "MSCCL's runtimes have"; ///< in messages
};

struct MscclOptions {
  std::string protocol = "Simple"; ///< or LL, LL128
  std::int64_t min_bytes = 0, max_bytes = std::int64_t{1} << 40;
  MscclLimits limits;
  std::string_view collective = {}; ///< the word for it; empty: what most runtimes have
};

/// The program as XML, with every attribute that executors ask for (inplace, outofplace, minBytes,
/// maxBytes too). Steps that move more than the limit are cut into several.
/// Errors: InputError naming the limit that the program is beyond, and what would help; for a
/// collective that MSCCL can't run (several at once, a group that isn't all ranks).
[[nodiscard]] std::string msccl_xml(const Program& program, const MscclOptions& options = {});

struct MscclFile {
  Program program;
  std::string protocol;
  std::optional<std::int64_t> min_bytes, max_bytes;
  /// What a runtime would do silently: e.g. "no minBytes: MSCCL's executor for NCCL ignores it".
  std::vector<std::string> warnings;
};

/// Reads what msccl-tools, TE-CCL, TACCL and msccl_xml() write. `size`: the collective's bytes,
/// as nccl-tests counts them. `coll=custom` (msccl-tools' gather, scatter, ...) gets its conditions
/// from `custom`, whose chunks must divide each rank's buffers; without it, and with it for any
/// other program: InputError.
/// Errors: InputError with file:line:column for malformed XML, missing attributes,
/// places outside a buffer, two blocks on one connection, steps beyond the limits, and so on; then
/// whatever verify_program finds with two messages on a connection, which MSCCL's runtimes have.
/// A program that is right but overwrites the caller's input (msccl-tools' ncclize works on the
/// input and writes inplace="0") is taken with a warning, and works on a copy; so does coll=custom
/// in place, where a unit of the input and that of the output with its index are one.
[[nodiscard]] MscclFile read_msccl(std::string_view text, const std::string& file_name, Bytes size,
                                   const Collective* custom = nullptr,
                                   const MscclLimits& limits = {});
[[nodiscard]] MscclFile load_msccl(const std::filesystem::path& file, Bytes size,
                                   const Collective* custom = nullptr);
/// The same for a text with one <algo> after another.
[[nodiscard]] std::vector<MscclFile> read_msccl_files(std::string_view text,
                                                      const std::string& file_name, Bytes size,
                                                      const Collective* custom = nullptr,
                                                      const MscclLimits& limits = {});
[[nodiscard]] std::vector<MscclFile> load_msccl_files(const std::filesystem::path& file, Bytes size,
                                                      const Collective* custom = nullptr);

/// The messages of a program as a schedule over the topology's links, in an order that its waits
/// allow: each takes what `Program::paths` says of its connection; where that says nothing, the
/// route of `routing`, or without one what a runtime takes: the link from sender to receiver, or
/// where there is none the fewest links, then the least latency, then each NPU's own NIC. Units
/// become chunks of their own. What a rank combines or copies by itself takes no time.
/// Errors: InputError for another number of ranks, or ranks that no path connects.
struct ForeignSchedule {
  Collective collective;
  Schedule schedule;
  /// [transfer]: a number of the thread block that sends it, which only transfers of others have
  /// that share no link with it; beyond 128 they begin again.
  std::vector<std::uint8_t> block_of = {};
};
/// How MSCCL carries it, for a transport: each connection on a channel is a thread block, which
/// doesn't wait for others. `protocol`: MscclFile::protocol.
[[nodiscard]] LibraryChoice library_of(const ForeignSchedule& foreign, std::string_view protocol);
[[nodiscard]] ForeignSchedule schedule_of(const Topology& topology, const Program& program,
                                          std::optional<Routing> routing = std::nullopt);

} // namespace tutti::runtime
