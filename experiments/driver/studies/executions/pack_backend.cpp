// An executor that executes nothing: what it is given goes into a pack, and times come from rows
// that another machine wrote, found by the program's bytes, so that judging is the same either way.
#include "experiments/driver/studies/executions/pack_backend.hpp"

#include "sim/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace tutti {

namespace {

runtime::PackedRun packed_run(const runtime::Program& program,
                              const runtime::ExecutionRequest& request) {
  runtime::PackedRun packed{runtime::planned_run(program, request), request};
  packed.settings.watch = {};
  return packed;
}

/// What the messages of a plan take on its links, each connection alone. A link that is measured
/// will come near it, so that its profile is one to predict by until then.
double nominal_seconds(const runtime::Plan& plan, bool one_by_one) {
  struct Load {
    double bytes = 0;
    std::uint32_t messages = 0;
  };
  std::vector<Load> loads(plan.connections.size());
  for (const runtime::PlannedBlock& block : plan.blocks)
    for (std::uint32_t i = 0; i < block.steps; ++i) {
      const runtime::PlannedStep& step = plan.steps[block.first_step + i];
      if (!runtime::sends(step.kind)) continue;
      loads[block.sends].bytes += static_cast<double>(step.bytes);
      ++loads[block.sends].messages;
    }
  double longest = 0;
  for (std::size_t c = 0; c < loads.size(); ++c) {
    double latency = 0, per_byte = 0;
    for (std::uint32_t i = 0; i < plan.connections[c].links; ++i) {
      const runtime::EmulatedLink& link =
          plan.links[plan.path_links[plan.connections[c].first_link + i]];
      latency += link.latency_seconds;
      per_byte = std::max(per_byte, link.seconds_per_byte);
    }
    longest = std::max(longest,
                       latency * (one_by_one ? loads[c].messages : 1) + loads[c].bytes * per_byte);
  }
  return longest;
}

/// What a GPU day reads of ranks that have a GPU each.
std::string peer_label(const ExecutionCase& c) {
  return fmt::format("peers: {}, {} GPUs", c.collective, c.topology->npu_count());
}

/// A figure's name for a person: "copy rate".
std::string words_of(std::string name) {
  std::ranges::replace(name, '_', ' ');
  return name;
}

/// As tables show it.
std::string value_text(const runtime::FigureRow& figure) {
  constexpr double most = 1e18; // of what 64 bits hold
  if (figure.unit == "s" && figure.value * static_cast<double>(ps_per_s) < most)
    return short_text(time_of_seconds(figure.value));
  if (figure.unit == "bytes/s") return short_rate_text(figure.value);
  if (figure.unit == "bytes" && figure.value < most)
    return short_text(Bytes{std::llround(figure.value)});
  return fmt::format("{:.10g}{}{}", figure.value, figure.unit.empty() ? "" : " ", figure.unit);
}

} // namespace

PackBackend::PackBackend(const std::string& experiment) : pack_(experiment) {
  row_.name = "cuda";
  row_.run = [this](const auto& program, const auto& request) { return run(program, request); };
  row_.time_links = [this](const auto& program, const auto& request) {
    return time_links(program, request);
  };
  row_.obstacle = [] { return std::string(); };
  row_.copy_rate = [this] { return copy_rate(); };
}

PackBackend::PackBackend(const std::string& experiment, runtime::Rows rows, std::string file)
    : PackBackend(experiment) {
  rows_ = std::move(rows);
  file_ = std::move(file);
}

// Whatever would make the pack depend on what is measured is refused: packing and judging must make
// the same bytes.
ExecutionCase PackBackend::begin(ExecutionCase c) {
  if (c.backend->name != row_.name)
    throw InputError(fmt::format("{}: on {}, but only what runs on {} is measured by tutti-gpu",
                                 c.label, c.backend->name, row_.name));
  if (c.passes > 1)
    throw InputError(fmt::format("{}: {} passes, but tutti-gpu makes one", c.label, c.passes));
  if (const std::string meant = peer_label(c); c.label.starts_with("peers: ") && c.label != meant)
    throw InputError(fmt::format("\"{}\": the label of these peers is \"{}\"", c.label, meant));
  if (!c.emulated && c.predicted_by == PredictedBy::profile)
    throw InputError(fmt::format("{}: a profile of real links depends on what was measured before: "
                                 "tutti-gpu can only profile emulated links",
                                 c.label));
  c.backend = &row_;
  c.profile.fixed = true;
  case_label_ = c.label;
  no_profile_.clear();
  is_new_ = false;
  return c;
}

void PackBackend::note(const ExecutionRun& run) {
  if (std::exchange(is_new_, false) && !run.predicted.empty()) pack_.predict(run.predicted.front());
}

std::string PackBackend::left_out() const {
  std::string why;
  if (rows_)
    for (const runtime::NoteRow& note : rows_->notes)
      if (!note.about.empty() && case_label_.starts_with(note.about))
        why = note.words.starts_with("left out") ? note.words : "";
  return why;
}

const runtime::RunRow* PackBackend::add(const std::string& algorithm, Bytes size,
                                        const runtime::PackedRun& packed) {
  pack_.add(case_label_, algorithm, size, packed);
  return rows_ ? rows_->run(pack_.lines().back().checksum) : nullptr;
}

runtime::Execution PackBackend::run(const runtime::Program& program,
                                    const runtime::ExecutionRequest& request) {
  const runtime::RunRow* row = add(program.name, request.size, packed_run(program, request));
  is_new_ = true;
  if (!rows_) return {};
  if (row == nullptr && !left_out().empty()) throw InputError(left_out());
  if (!no_profile_.empty()) throw InputError("no profile of the links: " + no_profile_);
  if (row == nullptr) throw InputError(file_ + " has no row of it");
  switch (row->outcome) {
  case runtime::RunOutcome::done: break;
  case runtime::RunOutcome::refused: throw InputError(row->words);
  case runtime::RunOutcome::hung: throw runtime::HungRun(row->words);
  case runtime::RunOutcome::failed: throw runtime::FailedRun(row->words);
  case runtime::RunOutcome::cut_off:
    throw runtime::FailedRun(fmt::format("{} {}", to_text(row->outcome), row->words));
  }
  return row->execution;
}

runtime::Execution PackBackend::time_links(const runtime::Program& program,
                                           const runtime::ExecutionRequest& request) {
  const runtime::PackedRun packed = packed_run(program, request);
  const runtime::RunRow* row =
      add(std::string(runtime::profile_algorithm), program.collective.largest_chunk(), packed);
  const bool is_right = row != nullptr && row->outcome == runtime::RunOutcome::done &&
                        row->execution.check.wrong == 0;
  if (is_right) return row->execution;
  // All of the profile is looked for, so that the pack is known; the case's runs say what is wrong.
  if (rows_ && no_profile_.empty())
    no_profile_ = row == nullptr
                      ? fmt::format("{} has no row of {}", file_, pack_.lines().back().file)
                  : row->words.empty() ? "wrong data"
                                       : row->words;
  runtime::Execution nominal;
  nominal.seconds = {nominal_seconds(packed.run.plan, request.plan.one_by_one)};
  return nominal;
}

double PackBackend::copy_rate() const {
  if (!rows_) return 0;
  if (const runtime::FigureRow* figure = rows_->figure("copy_rate")) return figure->value;
  throw InputError(file_ +
                   " has no row of the card's copy rate: tutti-gpu ticks copy_rate measures it");
}

void PackBackend::require_same_pack() const {
  if (rows_ && rows_->pack.digest != pack_.name().digest)
    throw InputError(fmt::format("{}:1:1: rows of the pack {}, but this experiment makes {} now: "
                                 "pack and measure again",
                                 file_, to_text(rows_->pack), to_text(pack_.name())));
}

std::string figures_text(const runtime::Rows& rows) {
  std::map<std::string, const runtime::FigureRow*> last;
  for (const runtime::FigureRow& row : rows.figures) last[row.name] = &row;
  std::string text;
  for (const auto& [name, row] : last)
    text += fmt::format("{}: {} ({})\n", words_of(name), value_text(*row), row->device);
  return text;
}

std::vector<std::string> problems_of(const runtime::Rows& rows) {
  std::map<std::string, const runtime::TestRow*> last;
  for (const runtime::TestRow& row : rows.tests) last[row.name] = &row;
  std::vector<std::string> problems;
  for (const auto& [name, row] : last)
    if (!runtime::is_well(*row))
      problems.push_back(
          fmt::format("GPU test {} {}: {}", name, to_text(row->outcome), row->words));
  return problems;
}

} // namespace tutti
