// One loop for one machine and for many: record what is finished, claim as many points as there is
// room for, hand them out, wait. Results and claims go to the store together, in one transaction a
// round. A sweep ends when nothing runs and no claim of a process that is gone is left.
#include "experiments/driver/sweep/coordinator.hpp"

#include "experiments/driver/records/output.hpp"
#include "experiments/driver/terminal/progress.hpp"
#include "sim/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <optional>

#include <unistd.h>

namespace tutti::sweep {

namespace {

// A bar on a terminal, else lines where they are asked for.
class SweepProgress {
public:
  SweepProgress(const std::string& label, std::size_t total, bool lines_wanted)
      : bar_(label), label_(label), total_(total),
        lines_(lines_wanted && ::isatty(STDERR_FILENO) == 0), start_(steady_seconds()),
        last_line_(start_) {}

  void update(std::size_t done) {
    done = std::min(done, total_);
    bar_.update(done, total_);
    const double now = steady_seconds();
    if (!lines_ || now - last_line_ < 1) return;
    last_line_ = now;
    std::string line = fmt::format("tutti: {}: {}/{} points, {} so far", label_, done, total_,
                                   duration_text(now - start_));
    if (done > 0)
      line += fmt::format(", about {} left",
                          duration_text((now - start_) * static_cast<double>(total_ - done) /
                                        static_cast<double>(done)));
    std::cerr << line + "\n" << std::flush;
  }

private:
  ProgressBar bar_;
  std::string label_;
  std::size_t total_;
  bool lines_;
  double start_, last_line_;
};

std::size_t sum(const std::map<PointStatus, std::size_t>& counts) {
  std::size_t sum = 0;
  for (const auto& [status, count] : counts) sum += count;
  return sum;
}

// One sweep from its first claim to its last result.
class Coordinator {
public:
  Coordinator(Store& store, const PointSpace& space, Workers& workers, SweepProgress& progress,
              Interrupts& interrupts)
      : store_(store), space_(space), workers_(workers), progress_(progress),
        interrupts_(interrupts) {}

  void run(SweepOutcome& outcome) {
    std::vector<FinishedPoint> finished;
    while (true) {
      const std::size_t room = outcome.interrupted ? 0 : workers_.capacity() - workers_.load();
      for (const std::size_t position : store_.record_and_claim(finished, room))
        workers_.start(space_.points[position]);
      outcome.evaluated += finished.size();
      for (const FinishedPoint& each : finished) outcome.point_seconds += each.results.cpu_seconds;
      finished.clear();
      if (workers_.load() == 0) {
        // What others had begun and can't finish any more is for us.
        if (outcome.interrupted || store_.reclaim() == 0) break;
        continue;
      }
      finished = workers_.wait(interrupts_.file()).finished;
      progress_.update(outcome.evaluated + finished.size());
      heed_interrupts(outcome);
    }
    store_.give_back(); // what was dropped
  }

private:
  void heed_interrupts(SweepOutcome& outcome) {
    const std::uint64_t signals = interrupts_.count();
    if (signals > 1) throw Interrupted();
    if (signals == 0 || outcome.interrupted) return;
    outcome.interrupted = true;
    workers_.drop_waiting();
  }

  Store& store_;
  const PointSpace& space_;
  Workers& workers_;
  SweepProgress& progress_;
  Interrupts& interrupts_;
};

} // namespace

SweepParts parts_of(const Sweep& sweep, const SweepOptions& options) {
  return {evaluation_of(sweep, options.cache), [&sweep] { return points_of(sweep); }};
}

void print_damage(const Store& store) {
  if (store.damage().empty()) return;
  for (const std::string_view line : split(store.damage(), '\n')) print_message(line);
}

SweepOutcome sweep_with(Workers& workers, const Sweep& sweep, const SweepOptions& options,
                        const PointSpace& space, Interrupts& interrupts) {
  const double start = steady_seconds();
  SweepOutcome outcome;
  Store store = Store::open(options.store, sweep);
  store.prepare(space, options.shard, options.retry);
  print_damage(store);
  const auto before = store.counts();
  outcome.points = sum(before);
  outcome.left_out = space.left_out;
  outcome.without_value = space.without_value;
  outcome.assumed = space.assumed;
  const auto pending = before.find(PointStatus::pending);
  SweepProgress progress(sweep.name, pending == before.end() ? 0 : pending->second,
                         options.progress);
  Coordinator(store, space, workers, progress, interrupts).run(outcome);
  outcome.counts = store.counts();
  outcome.seconds = steady_seconds() - start;
  return outcome;
}

SweepOutcome sweep_locally(const Sweep& sweep, const SweepOptions& options,
                           const SweepParts& parts) {
  PointServer server(parts.evaluate, sweep.limits, options.jobs); // while this process is small
  const PointSpace space = parts.points();                        // Ctrl-C ends this at once
  Interrupts interrupts;
  return sweep_with(server, sweep, options, space, interrupts);
}

SweepOutcome sweep_locally(const Sweep& sweep, const SweepOptions& options) {
  return sweep_locally(sweep, options, parts_of(sweep, options));
}

} // namespace tutti::sweep
