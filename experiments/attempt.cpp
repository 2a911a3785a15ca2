#include "experiments/attempt.hpp"

#include "sim/error.hpp"

#include <fmt/format.h>

#include <ctime>
#include <new>
#include <optional>
#include <utility>

#include <sys/resource.h>

namespace tutti {

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  rusage children{}; // SimGrid runs in one
  getrusage(RUSAGE_CHILDREN, &children);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9 +
         seconds(children.ru_utime) + seconds(children.ru_stime);
}

namespace {

Outcome synthesis(const AlgorithmRow& algorithm, const Topology& topology,
                  const Collective& collective, const SynthesisOptions& options) {
  Outcome outcome;
  try {
    outcome = synthesize(algorithm, topology, collective, options);
  } catch (const std::bad_alloc&) {
    outcome.status = Status::timed_out;
    outcome.note = "out of memory";
  }
  if (outcome.status == Status::timed_out && options.cancelled && options.cancelled())
    outcome.note = outcome.schedule || outcome.compact ? "interrupted; the best so far"
                                                       : "interrupted; no schedule yet";
  return outcome;
}

// The collective with so many times the chunks per shard as an algorithm's `pieces`. Chunks below a
// byte are bad input, unless only those pieces make them so: words then, and the collective
// without.
std::optional<std::string> cut(const AlgorithmRow& algorithm, const CollectiveMaker& make,
                               std::uint32_t chunks, std::uint32_t pieces, Collective& collective) {
  try {
    collective = make(chunks * pieces);
    return std::nullopt;
  } catch (const InputError& error) {
    collective = make(chunks);
    return fmt::format("{} cuts every shard in {}: {}", algorithm.name, chunks * pieces,
                       error.what());
  }
}

} // namespace

Attempt attempt(const AlgorithmRow& algorithm, const Topology& topology,
                const CollectiveMaker& make, std::uint32_t chunks,
                const SynthesisOptions& options) {
  Attempt made;
  const std::uint32_t pieces = algorithm.pieces;
  if (std::optional<std::string> too_fine = cut(algorithm, make, chunks, pieces, made.collective)) {
    made.outcome = infeasible(std::move(*too_fine));
    return made;
  }
  const double start = cpu_seconds();
  made.outcome = synthesis(algorithm, topology, made.collective, options);
  const double synthesized = cpu_seconds();
  made.synthesis_seconds = synthesized - start;
  if (std::optional<std::string> too_fine =
          cut(algorithm, make, chunks, pieces * made.outcome.pieces, made.collective)) {
    made.outcome = infeasible(std::move(*too_fine));
    return made;
  }
  if (made.outcome.schedule)
    made.verdict = verify(topology, made.collective, *made.outcome.schedule);
  else if (made.outcome.compact)
    made.verdict = verify(topology, made.collective, *made.outcome.compact);
  made.verify_seconds = cpu_seconds() - synthesized;
  return made;
}

std::string verdict_problem(const Attempt& made) {
  if (!made.has_schedule()) return {};
  if (made.verdict.fault) return "fault: " + made.verdict.fault->text;
  if (made.verdict.redundant > 0)
    return fmt::format("redundant copies: {}", made.verdict.redundant);
  return {};
}

} // namespace tutti
