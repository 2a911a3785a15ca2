// What kinds of studies call by one name has one meaning, unit and role, so that their files can be
// read beside each other. What a single kind has is said where its value is (columns.cpp).
#include "experiments/driver/studies/shared_columns.hpp"

#include <algorithm>
#include <cassert>
#include <utility>
#include <vector>

namespace tutti {

namespace {

const std::vector<RecordColumn>& shared_columns() {
  using namespace column_words;
  static const std::vector<RecordColumn> columns{
      {"label", text, key, sometimes,
       "Label of the study in the experiment (key `label` of `[[runs]]`, `[[jobs]]`, ...); null "
       "where it has none, as on the command line"},
      {"topology", text, key, always,
       "Network: its label in the experiment's `[topologies]`; on the command line the name of the "
       "topology"},
      {"npus", count, key, always,
       "Number of NPUs of the topology, also of those that take no part in the collective"},
      {"collective", text, key, always,
       "Collective as it was asked for, with its root and its process group, without its size: "
       "`broadcast,root=3,group=0-7`; collectives that run at once are joined by ` + `"},
      {"size_bytes", bytes, key, always,
       "Size of the collective as nccl-tests prints it: the whole buffer, of which a shard is one "
       "n-th (n: members of the process group); of collectives that run at once, the sum"},
      {"algorithm", text, key, sometimes,
       "Name of the algorithm, as `tutti list algorithms` has it, or the name that a file of a "
       "schedule or program states"},
      {"chunks_per_shard", count, metric, sometimes,
       "K: number of chunks that a shard is cut into (of Broadcast and Reduce: that the whole "
       "buffer is cut into), times what the algorithm needs (`ring` 2); of collectives that run at "
       "once, K of the first"},
      {"chunks", count, key, sometimes,
       "Number of chunks of the whole collective: K for Broadcast and Reduce, K n^2 for All-to-All "
       "(those that stay where they are included), else K n; of a custom collective, as its file "
       "has them"},
      {"transfers", count, metric, sometimes,
       "Number of transfers in the schedule; each moves one chunk along a path of one link or "
       "more; null without a schedule"},
      {"status", text, note, always,
       "`feasible`: there is a schedule. `optimal`: and the algorithm proves that none is faster. "
       "`infeasible`: nobody has one, which is proven (see `note`). `unsupported`: the algorithm "
       "isn't made for this (see `note`). `timed_out`: a time limit or Ctrl-C ended it; where "
       "there is a time, it is that of the best schedule so far. `out_of_memory`: a memory limit "
       "ended it. `defect`: a check of Tutti's own failed, such as a fault in a schedule, a time "
       "below a lower bound, engines that disagree, or a crash"},
      {"verified", truth, note, always,
       "Whether there is a schedule that the verifier, which shares no code with algorithms and "
       "engines, finds correct"},
      {"note", text, note, sometimes,
       "Words: why there is no result, why it was cut short, or what else the algorithm says; with "
       "status `defect`, what is wrong; null where there is nothing to say"},
      {"engine", text, key, sometimes,
       "Engine that simulated: `native` or `simgrid`; `native+simgrid` where both did, which must "
       "agree; null without a replay"},
      {"link_busy", text, key, sometimes,
       "How long a transfer of s bytes occupies a link of bandwidth B and latency a: "
       "`serialization`: s / B; `latency+serialization`: a + s / B. Without effect under `fluid`; "
       "null without a replay"},
      {"forwarding", text, key, sometimes,
       "When a node inside a path passes a chunk on. `cut-through`: as soon as its head is there. "
       "`store-and-forward`: when all of it is there. `auto`: the latter at nodes that can store, "
       "else the former. Without effect under `fluid`; null without a replay"},
      {"collective_time_ps", time, metric, sometimes,
       "Simulated time from the start of the collective to its last delivery; null without a "
       "replay"},
      {"lower_bound_ps", time, metric, sometimes,
       "Best lower bound that is known: no schedule of this collective and size on this network, "
       "under the same model of time, is faster, however the data is cut into chunks"},
      {"lower_bound_kind", text, note, sometimes,
       "What proves the bound: `in-cut`, `out-cut`, `latency path`, `total work`, `balanced cut`, "
       "`cluster cut`, `dimension cut`, `max-flow cut`, `work between`, `spreading cut`, `cut over "
       "time`, `closed form`, `flow prices` or `late-start`; `none` where a network model can be "
       "faster than its links"},
      {"gap", ratio, metric, sometimes,
       "`collective_time_ps / lower_bound_ps`, at least 1; null without a collective time, or "
       "where the bound is 0"},
      {"gap_at_chunks", ratio, metric, sometimes,
       "`collective_time_ps / lower_bound_at_chunks_ps`: what is left to win without another cut",
       0, "at chunks"},
      {"transport", text, key, optional,
       "What a runtime made of the links, and by which protocol (`nccl, ll128`); there only where "
       "it isn't ideal"},
      {"time_low_ps", time, metric, optional,
       "Between this and `time_high_ps` 90 % of what is measured is expected, by the transport's "
       "own account of how far it may be off; empty where it has none",
       0, "low"},
      {"time_high_ps", time, metric, optional, "The other end of that interval", 0, "high"},
      {"algbw_bytes_per_s", rate, metric, sometimes,
       "Algorithm bandwidth: `size_bytes / collective_time`, with the time in seconds"},
      {"busbw_bytes_per_s", rate, metric, sometimes,
       "Bus bandwidth as nccl-tests defines it: `algbw * f`, where f is 2 (n - 1) / n for "
       "All-Reduce; (n - 1) / n for All-Gather, Reduce-Scatter, All-to-All, Gather and Scatter; 1 "
       "for Broadcast and Reduce (n: members of the process group); `algbw` itself for custom "
       "collectives and for several at once, where nccl-tests defines none"},
      {"synthesis_seconds", effort, cost, sometimes,
       "CPU time of the synthesis, of all threads and over all numbers of chunks that were tried; "
       "of a schedule that was remembered, the time to look it up"},
      {"replay_seconds", effort, cost, sometimes,
       "CPU time of the replays under all disciplines of the case"},
      {"bound_seconds", effort, cost, sometimes,
       "CPU time of the lower bounds for all disciplines of the case; about 0 where another case "
       "had them already"},
      {"rounds", count, key, always,
       "R of SCCL: rounds of all steps together; in a round, a link of SCCL's unit bandwidth "
       "carries one chunk",
       0, "R"},
      {"rounds_per_chunk", text, metric, always, "`rounds / chunks` as a fraction: `7/6`", 0,
       "R/C"},
      {"method", text, note, sometimes,
       "What found the schedule, or decided that there is none: `SAT, 8-fold symmetric`, `integer "
       "flow`, ...",
       0, "found by"},
      {"duration_ps", time, metric, sometimes,
       "Time from the start to the end of the last operation of all iterations"}};
  return columns;
}

} // namespace

RecordColumn shared(std::string_view name) {
  const auto found = std::ranges::find(shared_columns(), name, &RecordColumn::name);
  assert(found != shared_columns().end() && "a column of several kinds");
  return *found;
}

RecordColumn shared(std::string_view name, std::string meaning) {
  RecordColumn column = shared(name);
  column.meaning = std::move(meaning);
  return column;
}

} // namespace tutti
