// `tutti check-algorithm`: the test of whoever writes an algorithm. Every collective on small
// networks of all sorts, odd numbers of NPUs and unlike links among them: what is wrong, with the
// first faulty transfer, what it isn't made for, and how far from the bound it is, beside the best
// of a few algorithms that everybody has.
#include "experiments/driver/cli/commands.hpp"
#include "experiments/driver/cli/topology_summary.hpp"
#include "experiments/driver/pool/interrupts.hpp"
#include "experiments/driver/records/json.hpp"
#include "experiments/driver/records/output.hpp"
#include "experiments/driver/records/records.hpp"
#include "experiments/driver/requests/work_limits.hpp"
#include "experiments/driver/studies/registry.hpp"
#include "experiments/driver/studies/runs/json.hpp"
#include "experiments/driver/studies/runs/runner.hpp"
#include "experiments/driver/studies/runs/study.hpp"
#include "sim/error.hpp"
#include "topologies/list.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace tutti {

namespace {

/// Rings and grids of even, odd and lonely extents, switches, unlike links, a machine.
constexpr std::array small_networks{"ring:2",        "ring:3",      "ring:8",
                                    "mesh2d:2x3",    "mesh2d:4x4",  "torus2d:4x4",
                                    "torus3d:2x2x2", "hypercube:3", "fully_connected:5",
                                    "switch:4",      "switch:8",    "two_level_switch:2x4",
                                    "dragonfly:2x3", "dgx1"};
constexpr std::array others{"direct", "ring", "tacos"};
constexpr std::size_t each = 1 + others.size(); // cases of one question: its own, then the others'

/// What became of one collective, on all networks.
struct CollectiveRow {
  std::string collective;
  std::size_t asked = 0, answered = 0, wrong = 0;
  double gap = 0, worst = 0, best_of_others = 0; ///< geometric means, and the largest
};

/// Geometric mean of the gaps that there are.
struct MeanGap {
  double logarithms = 0, worst = 0;
  std::size_t count = 0;
  void add(double gap) {
    logarithms += std::log(gap);
    worst = std::max(worst, gap);
    ++count;
  }
  [[nodiscard]] double mean() const {
    return count == 0 ? NAN : std::exp(logarithms / static_cast<double>(count));
  }
};

double gap_of(const Evaluation& e) { return e.replays.empty() ? NAN : e.replays.front().gap(); }

std::vector<CollectiveRow> rows_of(std::span<const Evaluation> evaluations) {
  std::vector<CollectiveRow> rows;
  std::map<std::string, std::pair<MeanGap, MeanGap>> gaps;
  for (std::size_t i = 0; i < evaluations.size(); i += each) {
    const Evaluation& own = evaluations[i];
    auto found = std::ranges::find(rows, own.collective, &CollectiveRow::collective);
    if (found == rows.end()) found = rows.insert(rows.end(), {own.collective});
    ++found->asked;
    if (!own.problem.empty()) ++found->wrong;
    if (!own.problem.empty() || own.replays.empty()) continue;
    ++found->answered;
    double best = INFINITY;
    for (const Evaluation& other : evaluations.subspan(i + 1, each - 1))
      if (const double gap = gap_of(other); std::isfinite(gap)) best = std::min(best, gap);
    auto& [of_it, of_others] = gaps[own.collective];
    if (!std::isfinite(gap_of(own))) continue;
    of_it.add(gap_of(own));
    if (std::isfinite(best)) of_others.add(best);
  }
  for (CollectiveRow& row : rows) {
    const auto& [of_it, of_others] = gaps[row.collective];
    row.gap = of_it.mean(), row.worst = of_it.worst, row.best_of_others = of_others.mean();
  }
  return rows;
}

Records records_of_rows(std::span<const CollectiveRow> rows) {
  using R = CollectiveRow;
  using namespace column_words;
  const auto gap = [](double value) {
    return std::isfinite(value) && value > 0 ? Cell(value) : Cell();
  };
  return records_of<R>(
      {{{"collective", text, key}, &R::collective},
       {{"networks", count, key}, &R::asked},
       {{"answered", count, key}, &R::answered},
       {{"wrong", count, key}, &R::wrong},
       {{"gap", ratio, key}, [gap](const R& r) { return gap(r.gap); }},
       {{"worst_gap", ratio, key}, [gap](const R& r) { return gap(r.worst); }},
       {{"best_gap_of_others", ratio, key}, [gap](const R& r) { return gap(r.best_of_others); }}},
      rows);
}

std::string case_text(const Evaluation& e) {
  return fmt::format("{}, {} {}, {} per shard", e.topology, e.collective, to_text(e.size),
                     counted(e.chunks_per_shard, "chunk", "chunks"));
}

/// Why it has no answer: each reason once, with the first of its cases and their number.
std::string unanswered_text(std::span<const Evaluation> evaluations) {
  std::vector<std::string> reasons;
  std::map<std::string, std::pair<std::string, std::size_t>> cases;
  for (std::size_t i = 0; i < evaluations.size(); i += each) {
    const Evaluation& e = evaluations[i];
    if (!e.problem.empty() || !e.replays.empty()) continue;
    const std::string why = e.note.empty() ? std::string(to_text(e.status)) : e.note;
    auto& [first, count] = cases[why];
    if (count++ == 0)
      reasons.push_back(why), first = fmt::format("{}, {}", e.topology, e.collective);
  }
  std::string text;
  for (const std::string& why : reasons) {
    const auto& [first, count] = cases[why];
    text += fmt::format("  {} ({}{})\n", why, first,
                        count > 1 ? fmt::format(", and {} more", count - 1) : "");
  }
  return text.empty() ? text : "\nnot answered:\n" + text;
}

std::string wrong_text(std::span<const Evaluation> evaluations) {
  std::string text;
  for (std::size_t i = 0; i < evaluations.size(); i += each)
    if (const Evaluation& e = evaluations[i]; !e.problem.empty())
      text += fmt::format("  {}: {}\n", case_text(e), e.problem);
  return text.empty() ? text : "\nwrong:\n" + text;
}

RunMatrix matrix_of(const CheckAlgorithmArguments& arguments, std::size_t networks) {
  RunMatrix matrix;
  matrix.topologies.resize(networks);
  std::iota(matrix.topologies.begin(), matrix.topologies.end(), 0);
  for (const CollectiveKind kind : basic_collectives())
    matrix.collectives.push_back({std::string(to_text(kind))});
  matrix.collectives.push_back({"all_reduce,group=0+1"}); // of members that aren't all
  matrix.sizes = {of_option("--size", [&] { return parse_bytes(arguments.size); })};
  matrix.engine = &find_engine("native");
  matrix.disciplines = {Discipline::fifo};
  matrix.options.seed = parse_seed(arguments.seed);
  matrix.options.settings = parse_settings(arguments.settings);
  of_option("--limit", [&] { return set_limits(matrix.options, arguments.limit), 0; });
  matrix.algorithms = {find_algorithm(arguments.algorithm)};
  for (const char* const name : others)
    if (name != arguments.algorithm) matrix.algorithms.push_back(find_algorithm(name));
  if (matrix.algorithms.size() < each) matrix.algorithms.push_back(find_algorithm("ring1"));
  return matrix;
}

} // namespace

int check_algorithm_command(const CheckAlgorithmArguments& arguments) {
  std::vector<std::string> names = arguments.topologies;
  if (names.empty()) names.assign(small_networks.begin(), small_networks.end());
  std::vector<LabelledTopology> networks;
  for (const std::string& name : names) networks.push_back({name, name, make_topology(name)});
  const RunMatrix matrix = matrix_of(arguments, networks.size());
  const std::vector<Case> cases = matrix.cases(networks);
  Interrupts interrupts;
  Refusals refusals;
  RunWatcher watcher;
  watcher.interrupts = &interrupts;
  const std::vector<Evaluation> evaluations = run_cases(cases, default_jobs(), refusals, watcher);
  if (interrupts.count() > 0) return interrupted_exit_code;
  std::size_t wrong = 0, answered = 0;
  const std::vector<CollectiveRow> rows = rows_of(evaluations);
  for (const CollectiveRow& row : rows) wrong += row.wrong, answered += row.answered;
  if (arguments.json) {
    print_text(answer_json("check-algorithm", runs_json("check", records_of_rows(rows))));
  } else {
    print_tables(to_text(whole_table(records_of_rows(rows)), table_form(arguments.tables)) +
                 wrong_text(evaluations) + unanswered_text(evaluations));
  }
  if (wrong > 0)
    print_message(fmt::format("{} of {} answers of {} are wrong", wrong, wrong + answered,
                              arguments.algorithm));
  else if (answered == 0)
    print_message(fmt::format("{} has no answer to anything", arguments.algorithm));
  return wrong > 0 || answered == 0 ? 1 : 0;
}

} // namespace tutti
