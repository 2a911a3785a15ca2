// A number that isn't normal has a cause, and most causes are known: a card is lost, a link is
// slower, a feature is off. Each is a change of the machine or of the library's settings, whose
// curve can be predicted like the machine's own; diagnose() then tells which curve it is.
#include "experiments/driver/studies/measurements/causes.hpp"

#include "sim/error.hpp"
#include "sim/text.hpp"
#include "topologies/what_ifs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

namespace tutti {

namespace {

using namespace topologies;

using Changes = std::vector<Change>;

/// The machine with `change`; nothing where that can't be.
template <typename Function>
void add_network(Changes& changes, const Case& healthy, const Function& change) {
  try {
    Change& made = changes.emplace_back();
    made.topology = std::make_shared<const Topology>(change(*healthy.topology));
  } catch (const InputError&) {
    changes.pop_back();
  }
}

/// The change in one node, and in each: `change` takes which parts.
template <typename Function> Changes of_parts(const Case& healthy, const Function& change) {
  Changes changes;
  for (const WhichPart& which : {WhichPart{0, 0}, WhichPart{0, {}}})
    add_network(changes, healthy,
                [&](const Topology& t) { return change(t, WhichParts(&which, 1)); });
  return changes;
}

/// The library is told something that it isn't told yet.
Changes set(const Case& healthy, const char* key, const char* value) {
  if (healthy.options.settings.contains(key)) return {};
  return {{nullptr, {{key, value}}}};
}

/// Where RCCL has nothing of the kind.
Changes set_in_nccl(const Case& healthy, const char* key, const char* value) {
  return healthy.algorithm.name == "nccl" ? set(healthy, key, value) : Changes{};
}

/// Two cards of a node are at each other's switches.
Topology with_crossed_rails(const Topology& topology) {
  const Cluster cluster = cluster_of(topology);
  if (cluster.nodes.empty() || cluster.nodes.front().cards.size() < 2)
    throw InputError("no two cards");
  const NetworkCard &one = cluster.nodes.front().cards[0], &other = cluster.nodes.front().cards[1];
  TopologyParts parts = topology.parts();
  for (std::size_t p = 0; p < std::min(one.out.size(), other.out.size()); ++p)
    std::swap(parts.links[one.out[p].value].to, parts.links[other.out[p].value].to);
  for (std::size_t p = 0; p < std::min(one.in.size(), other.in.size()); ++p)
    std::swap(parts.links[one.in[p].value].from, parts.links[other.in[p].value].from);
  return Topology(std::move(parts));
}

/// Each four times the one before, from 20 us on.
constexpr std::array<double, 6> first_iterations{20e-6, 80e-6, 320e-6, 1.28e-3, 5.12e-3, 20.5e-3};
const double within_step = std::log(4) / 2 / 1.645; ///< a standard deviation around each

/// Not, where there is something to negate.
std::optional<bool> otherwise(std::optional<bool> said) {
  if (said) said = !*said;
  return said;
}
std::optional<bool> value_of(const std::optional<LogFact<bool>>& fact) {
  return fact ? std::optional(fact->value) : std::nullopt;
}
/// A variable of the log's environment that has a value is so, and not so with another value.
std::optional<bool> is_set(const LogFacts& facts, const char* variable, std::string_view value) {
  const auto found = facts.environment.find(variable);
  if (found == facts.environment.end()) return std::nullopt;
  return std::ranges::equal(found->second.value, value, [](unsigned char a, unsigned char b) {
    return std::tolower(a) == std::tolower(b);
  });
}
/// Whether NCCL is older than 2.minor.
std::optional<bool> is_older(const LogFacts& facts, std::int64_t minor) {
  if (!facts.nccl_version) return std::nullopt;
  const std::vector<std::string_view> parts = split(facts.nccl_version->value, '.');
  if (parts.size() < 2 || !is_digits(parts[1])) return std::nullopt;
  return parts[0] == "2" && parse_integer(parts[1], "version", 0, 9999) < minor;
}

constexpr std::array<Cause, 17> all_causes{{
    {"nvls_off", "NVLS isn't used",
     "NCCL_NVLS_ENABLE, nvidia-fabricmanager, \"NVLS multicast support\" with NCCL_DEBUG=INFO",
     [](const Case& c) { return set_in_nccl(c, "algo", "^nvls+nvls_tree"); },
     [](const LogFacts& f) { return otherwise(value_of(f.nvls_used)); }},
    {"sharp_off", "switches between nodes don't reduce (SHARP)",
     "NCCL_COLLNET_ENABLE, the plugin of SHARP",
     [](const Case& c) -> Changes {
       const auto collnet = c.options.settings.find("collnet");
       if (collnet == c.options.settings.end() || collnet->second != "yes") return {};
       return {{nullptr, {{"collnet", "no"}}}};
     }},
    {"lost_nic", "a network card is lost", "ibstat, rdma link, NCCL_IB_HCA",
     [](const Case& c) {
       return of_parts(c, [](const Topology& t, WhichParts w) { return with_lost_nics(t, w); });
     }},
    {"slow_nic", "a network card runs at half its rate", "ibstat (rate), the cable, ECN, a port",
     [](const Case& c) {
       return of_parts(c,
                       [](const Topology& t, WhichParts w) { return with_slow_nics(t, w, 0.5); });
     }},
    {"gdr_off", "GPUDirect RDMA isn't used", "nvidia-peermem, NCCL_NET_GDR_LEVEL, ACS",
     [](const Case& c) {
       Changes changes;
       add_network(changes, c, without_gpu_direct);
       return changes;
     },
     [](const LogFacts& f) { return otherwise(value_of(f.gdrdma)); }},
    {"crossed_rails", "cards are cabled to each other's rails", "LLDP, ibnetdiscover",
     [](const Case& c) {
       Changes changes;
       add_network(changes, c, with_crossed_rails);
       return changes;
     }},
    {"lost_nvlink", "a GPU has one NVLink less", "nvidia-smi nvlink -s",
     [](const Case& c) {
       return of_parts(c,
                       [](const Topology& t, WhichParts w) { return with_lost_own_links(t, w); });
     }},
    {"half_pcie", "PCIe has half its lanes", "lspci -vv (LnkSta), nvidia-smi -q",
     [](const Case& c) {
       return of_parts(c, [](const Topology& t, WhichParts w) { return with_pcie_lanes(t, w, 8); });
     }},
    {"lost_node", "one node less takes part", "the ranks that the log lists",
     [](const Case& c) {
       Changes changes;
       add_network(changes, c, [](const Topology& t) {
         const std::size_t nodes = cluster_of(t).nodes.size();
         if (nodes < 2) throw InputError("one node");
         return with_lost_node(t, static_cast<std::uint32_t>(nodes - 1));
       });
       return changes;
     },
     nullptr, true},
    {"ring", "rings are taken", "NCCL_ALGO, a tuner's plugin",
     [](const Case& c) { return set(c, "algo", "ring"); },
     [](const LogFacts& f) { return is_set(f, "NCCL_ALGO", "ring"); }},
    {"tree", "trees are taken", "NCCL_ALGO, a tuner's plugin",
     [](const Case& c) { return set(c, "algo", "tree"); },
     [](const LogFacts& f) { return is_set(f, "NCCL_ALGO", "tree"); }},
    {"ll", "the protocol LL is taken", "NCCL_PROTO, a tuner's plugin",
     [](const Case& c) { return set(c, "proto", "ll"); },
     [](const LogFacts& f) { return is_set(f, "NCCL_PROTO", "ll"); }},
    {"ll128", "the protocol LL128 is taken", "NCCL_PROTO, a tuner's plugin",
     [](const Case& c) { return set(c, "proto", "ll128"); },
     [](const LogFacts& f) { return is_set(f, "NCCL_PROTO", "ll128"); }},
    {"simple", "the protocol Simple is taken", "NCCL_PROTO, a tuner's plugin",
     [](const Case& c) { return set(c, "proto", "simple"); },
     [](const LogFacts& f) { return is_set(f, "NCCL_PROTO", "simple"); }},
    {"few_channels", "few channels are used",
     "NCCL_MAX_NCHANNELS, NCCL_MAX_CTAS, a search that fails",
     [](const Case& c) {
       Changes changes;
       for (const char* channels : {"1", "2", "4"})
         for (Change& change : set(c, "channels", channels)) changes.push_back(std::move(change));
       return changes;
     },
     [](const LogFacts& f) -> std::optional<bool> {
       if (!f.collective_channels) return std::nullopt;
       return f.collective_channels->value <= 4;
     }},
    {"old_nccl", "NCCL is older than 2.17", "the version that NCCL_DEBUG=VERSION prints",
     [](const Case& c) { return set_in_nccl(c, "version", "2.16"); },
     [](const LogFacts& f) { return is_older(f, 17); }},
    {"first_iteration", "a slow first iteration is counted", "-w 5 (warm-up iterations), -n 20",
     [](const Case&) {
       Changes changes;
       for (const double seconds : first_iterations) changes.push_back({nullptr, {}, seconds});
       return changes;
     }},
}};

constexpr double usual_noise = 0.05;
constexpr std::size_t most_problems =
    48; // a matrix of this size is factored for each pair of curves

/// A row for each problem, spread over all of them where there are too many.
std::vector<MeasuredRow> problems_of(std::span<const MeasuredRow> rows) {
  std::map<MeasuredProblem, const MeasuredRow*> all;
  for (const MeasuredRow& row : rows) all.emplace(problem_of(row), &row);
  std::vector<MeasuredRow> problems;
  const std::size_t most = std::min(most_problems, all.size());
  std::size_t number = 0;
  for (const auto& [problem, row] : all) {
    if ((number + 1) * most / all.size() > number * most / all.size()) problems.push_back(*row);
    ++number;
  }
  return problems;
}

/// Rows of one problem, in and out of place, of all runs.
Measured together(std::span<const MeasuredRow* const> rows) {
  double sum = 0, squares = 0;
  const auto count = static_cast<double>(rows.size());
  for (const MeasuredRow* row : rows) sum += std::log(row->seconds);
  const double mean = sum / count;
  for (const MeasuredRow* row : rows) squares += std::pow(std::log(row->seconds) - mean, 2);
  const double spread = count > 1 ? std::sqrt(squares / (count - 1)) : 0;
  return {mean, std::max(usual_noise, spread) / std::sqrt(count)};
}

Case changed(const Case& c, const Change& change) {
  Case made = c;
  made.sensitivities = true;
  for (const auto& [key, value] : change.settings) made.options.settings[key] = value;
  if (change.topology) made.topology = change.topology.get();
  return made;
}

std::string_view in_words(const Cause* cause) {
  return cause == nullptr ? "nothing is wrong" : cause->words;
}

} // namespace

std::span<const Cause> causes() { return all_causes; }

Expected CauseModel::Variant::expected(std::size_t point) const {
  Expected made{std::log(seconds(point)), points[point].sensitivities};
  const double part = points[point].time->seconds() / seconds(point);
  for (ConstantEffect& each : made.moves) each.moves *= part;
  if (change.more_seconds > 0) made.moves.push_back({"first iteration", within_step * (1 - part)});
  return made;
}

CauseModel::CauseModel(Case of, std::string in, std::span<const MeasuredRow> rows,
                       Evaluator evaluate)
    : of_(std::move(of)), in_(std::move(in)), evaluate_(std::move(evaluate)),
      problems_(problems_of(rows)), variants_(1) {
  const bool says_npus =
      std::ranges::any_of(rows, [](const MeasuredRow& row) { return row.npus > 0; });
  for (const Cause& cause : causes()) {
    if (says_npus && cause.changes_ranks) continue;
    for (Change& change : cause.changes(of_)) variants_.push_back({&cause, std::move(change), {}});
  }
  std::vector<Case> cases;
  for (const Variant& variant : variants_)
    if (variant.change.more_seconds == 0) // else as healthy
      for (const MeasuredRow& row : problems_)
        cases.push_back(case_of(row, changed(of_, variant.change), in_));
  const std::vector<Forecast> predictions = predict(cases, evaluate_);
  const std::span<const Forecast> healthy(predictions.begin(), problems_.size());
  auto next = predictions.begin();
  for (Variant& variant : variants_) {
    variant.points.assign(healthy.begin(), healthy.end());
    if (variant.change.more_seconds > 0) continue;
    for (Forecast& point : variant.points)
      if (const Forecast& made = *next++; made.time) point = made; // else it can't be taken
  }
  for (std::size_t p = problems_.size(); p-- > 0;) {
    if (healthy[p].time) continue;
    const auto at = static_cast<std::ptrdiff_t>(p);
    problems_.erase(problems_.begin() + at);
    for (Variant& variant : variants_) variant.points.erase(variant.points.begin() + at);
  }
  std::erase_if(variants_, [&](const Variant& variant) {
    if (variant.cause == nullptr) return false;
    for (std::size_t p = 0; p < problems_.size(); ++p)
      if (variant.seconds(p) != variants_.front().seconds(p)) return false;
    return true;
  });
}

std::string CauseModel::next_measurement(const CauseClass& alike) const {
  if (alike.causes.size() < 2) return {};
  std::vector<MeasuredRow> rows;
  for (const CollectiveKind kind :
       {CollectiveKind::all_reduce, CollectiveKind::all_gather, CollectiveKind::reduce_scatter,
        CollectiveKind::all_to_all, CollectiveKind::broadcast})
    for (const int power : {16, 20, 24, 30}) {
      MeasuredRow& row = rows.emplace_back();
      row.kind = kind;
      row.size = Bytes{std::int64_t{1} << power};
    }
  std::vector<Case> cases;
  std::vector<std::size_t> variants = alike.variants;
  variants.push_back(0);
  for (const std::size_t variant : variants)
    for (const MeasuredRow& row : rows)
      cases.push_back(case_of(row, changed(of_, variants_[variant].change), in_));
  const std::vector<Forecast> predictions = predict(cases, evaluate_);
  std::vector<Variant> there; // healthy last
  for (std::size_t v = 0; v < variants.size(); ++v) {
    const auto first = predictions.begin() + static_cast<std::ptrdiff_t>(v * rows.size());
    const Variant& of = variants_[variants[v]];
    there.push_back(
        {of.cause, of.change, {first, first + static_cast<std::ptrdiff_t>(rows.size())}});
  }
  constexpr double telling = 2;
  double most = telling;
  std::string text;
  for (std::size_t r = 0; r < rows.size(); ++r)
    for (const Variant& other : std::span(there).subspan(1, alike.variants.size() - 1)) {
      const Variant &best = there.front(), &healthy = there.back();
      if (!best.points[r].time || !other.points[r].time || !healthy.points[r].time) continue;
      // A fault that makes anything faster is a weakness of the model.
      if (best.seconds(r) < healthy.seconds(r) || other.seconds(r) < healthy.seconds(r)) continue;
      const std::array<Measured, 1> row{{{0, usual_noise}}};
      const std::array<Expected, 1> one{best.expected(r)}, two{other.expected(r)};
      const double apart = distance(row, one, two);
      if (apart <= most) continue;
      most = apart;
      const auto time = [r](const Variant& of) {
        return short_text(time_of_seconds(of.seconds(r)));
      };
      text =
          fmt::format("{} of {}: {} if {}, {} if {}", to_text(rows[r].kind), to_text(rows[r].size),
                      time(best), in_words(best.cause), time(other), in_words(other.cause));
    }
  return text;
}

/// Rows that are measured, by problem.
struct CauseModel::Points {
  std::vector<std::vector<const MeasuredRow*>> rows;

  Points(const CauseModel& model, std::span<const MeasuredRow> measured)
      : rows(model.problems_.size()) {
    std::map<MeasuredProblem, std::size_t> at;
    for (std::size_t p = 0; p < model.problems_.size(); ++p)
      at.emplace(problem_of(model.problems_[p]), p);
    for (const MeasuredRow& row : measured)
      if (const auto found = at.find(problem_of(row)); found != at.end())
        rows[found->second].push_back(&row);
  }
  /// Sets how far off a variant is.
  void judge(const Variant& variant, CauseClass& finding) const {
    std::size_t count = 0;
    for (std::size_t p = 0; p < rows.size(); ++p)
      for (const MeasuredRow* row : rows[p]) {
        finding.off += std::abs(std::log(variant.seconds(p) / row->seconds));
        const std::optional<Interval>& interval = variant.points[p].interval;
        const double rest = row->seconds - variant.change.more_seconds;
        finding.within +=
            interval && rest >= interval->low.seconds() && rest <= interval->high.seconds() ? 1 : 0;
        ++count;
      }
    finding.off = std::expm1(finding.off / static_cast<double>(count));
  }
};

CauseReport CauseModel::explain(std::span<const MeasuredRow> rows, const LogFacts& facts) const {
  CauseReport report;
  const Points points(*this, rows);
  std::vector<Measured> measured;
  for (const auto& point : points.rows) {
    if (point.empty()) continue;
    report.rows += point.size();
    measured.push_back(together(point));
  }
  if (measured.empty()) return report;
  std::vector<Explanation> explanations;
  std::vector<std::size_t> first; // [explanation]: of its variants
  const auto is_said = [&](const Variant& variant) -> std::optional<bool> {
    if (variant.cause == nullptr || variant.cause->is_said == nullptr) return std::nullopt;
    return variant.cause->is_said(facts);
  };
  for (std::size_t v = 0; v < variants_.size(); ++v) {
    const Variant& variant = variants_[v];
    if (is_said(variant) == false) continue;
    if (v == 0 || variants_[v - 1].cause != variant.cause) {
      // Faults are rarer than health: rows have to say so sixty times as clearly. What the log
      // itself says is as good as certain.
      double prior = variant.cause == nullptr ? std::log(60) : 0;
      if (is_said(variant) == true) prior = std::log(400);
      explanations.push_back(
          {std::string(in_words(variant.cause)), {}, prior, variant.cause == nullptr});
      first.push_back(v);
    }
    std::vector<Expected>& expected = explanations.back().variants.emplace_back();
    for (std::size_t p = 0; p < points.rows.size(); ++p)
      if (!points.rows[p].empty()) expected.push_back(variant.expected(p));
  }
  CauseClass healthy;
  points.judge(variants_.front(), healthy);
  report.healthy_off = healthy.off;
  report.healthy_within = healthy.within;
  const Diagnosis diagnosis = diagnose(measured, explanations);
  for (const std::vector<std::size_t>& alike : diagnosis.classes) {
    CauseClass& finding = report.findings.emplace_back();
    for (const std::size_t f : alike) {
      const Fit& fit = diagnosis.fits[f];
      finding.variants.push_back(first[fit.explanation] + fit.variant);
      finding.causes.push_back(variants_[finding.variants.back()].cause);
    }
    points.judge(variants_[finding.variants.front()], finding);
    constexpr double least_chance = 0.001;
    finding.fits = diagnosis.fits[alike.front()].chance >= least_chance;
  }
  return report;
}

std::vector<std::string> lines_of(const LogFacts& facts, const std::string& file) {
  std::vector<std::pair<std::size_t, std::string>> said; // line, text
  const auto say = [&](const std::string& what, std::size_t line) {
    said.emplace_back(line, fmt::format("{}:{}: {}", file, line, what));
  };
  const auto say_count = [&](const std::optional<LogFact<std::uint32_t>>& fact,
                             std::string_view what) {
    if (fact) say(fmt::format("{} {}", fact->value, what), fact->line);
  };
  if (facts.nccl_version) say("NCCL " + facts.nccl_version->value, facts.nccl_version->line);
  for (const auto& network : facts.networks) say("network " + network.value, network.line);
  if (facts.gdrdma)
    say(facts.gdrdma->value ? "GPUDirect RDMA is used"
                            : "GPUDirect RDMA isn't used: data goes by host memory",
        facts.gdrdma->line);
  if (facts.nvls_used)
    say(facts.nvls_used->value ? "NVLS is connected" : "NVLS isn't used", facts.nvls_used->line);
  else if (facts.nvls_supported)
    say(facts.nvls_supported->value ? "NVLS multicast is supported"
                                    : "NVLS multicast isn't supported",
        facts.nvls_supported->line);
  say_count(facts.collective_channels, "channels of collectives");
  say_count(facts.nodes, "nodes");
  for (const auto& [variable, value] : facts.environment)
    say(fmt::format("{}={}", variable, value.value), value.line);
  for (const auto& warning : facts.warnings) say(warning.value, warning.line);
  std::ranges::stable_sort(said, {}, &std::pair<std::size_t, std::string>::first);
  std::vector<std::string> lines;
  for (auto& [line, text] : said) lines.push_back(std::move(text));
  return lines;
}

std::vector<std::string> lines_of(const CauseReport& report) {
  if (report.findings.empty()) return {"nothing is predicted, so nothing can be explained"};
  std::vector<std::string> lines;
  const auto add_alike = [&](std::span<const Cause* const> causes) {
    std::string text;
    for (const Cause* cause : causes)
      text += fmt::format("{}{}", text.empty() ? "" : "; ", in_words(cause));
    if (!text.empty()) lines.push_back("  the same curve, as far as these rows tell: " + text);
  };
  constexpr std::size_t most_findings = 3;
  for (std::size_t f = 0; f < std::min(most_findings, report.findings.size()); ++f) {
    const CauseClass& finding = report.findings[f];
    if (f > 0 && !finding.fits) break;
    const bool is_healthy = std::ranges::find(finding.causes, nullptr) != finding.causes.end();
    if (!is_healthy && finding.off >= report.healthy_off) continue; // it explains nothing
    std::vector<const Cause*> causes = finding.causes;
    const auto healthy = std::ranges::find(causes, nullptr);
    if (healthy != causes.end()) {
      lines.push_back(fmt::format("{}: {} of {} rows lie in the 90 % interval (off by {:.1f} %)",
                                  f == 0 ? "nothing stands out" : "or nothing is wrong",
                                  report.healthy_within, report.rows, 100 * report.healthy_off));
      causes.erase(healthy);
      if (f == 0) add_alike(causes);
    } else {
      lines.push_back(fmt::format("{} of {} rows fit if {} (off by {:.1f} %, else {:.1f} %)",
                                  finding.within, report.rows, in_words(causes.front()),
                                  100 * finding.off, 100 * report.healthy_off));
      lines.push_back(fmt::format("  look at: {}", causes.front()->look_at));
      add_alike(std::span(causes).subspan(1));
    }
    if (!finding.next.empty()) lines.push_back("  what would tell: " + finding.next);
    if (f == 0 && std::ranges::find(finding.causes, nullptr) != finding.causes.end()) break;
  }
  if (lines.empty() || !report.findings.front().fits)
    lines.push_back(
        fmt::format("no single cause that is known explains these rows (off by {:.1f} % "
                    "where nothing is wrong){}",
                    100 * report.healthy_off, lines.empty() ? "" : "; the nearest is above"));
  return lines;
}

} // namespace tutti
