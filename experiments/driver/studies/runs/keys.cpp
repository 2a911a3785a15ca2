// The keys of [[runs]] that `tutti synth` takes, and of [[figures]] that say how one looks in
// print.
#include "experiments/driver/studies/keys.hpp"
#include "experiments/driver/requests/collective_request.hpp"
#include "experiments/driver/studies/experiment_values.hpp"
#include "experiments/driver/studies/noise/request.hpp"
#include "experiments/driver/studies/runs/figure.hpp"
#include "experiments/driver/studies/runs/study.hpp"
#include "sim/error.hpp"
#include "sim/text.hpp"

#include <fmt/format.h>

#include <cstdlib>

namespace tutti {

namespace {

constexpr Words<bool, 2> relay_words{"relays", {"paths", "transfers"}},
    dependency_words{"dependencies", {"kept", "dropped"}};

/// "3.3in", "84mm", "8.4cm" in inches.
double parse_width(const std::string& text) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  const std::string_view unit = trimmed(end);
  const double inches = unit == "in"   ? number
                        : unit == "mm" ? number / 25.4
                        : unit == "cm" ? number / 2.54
                                       : 0;
  if (!(inches >= 2 && inches <= 20))
    throw InputError(fmt::format(
        "\"{}\" is no width of a picture: 3.3in, 84mm or 8.4cm, from 2 to 20 inches", text));
  return inches;
}

std::string parse_font(const std::string& text) {
  const auto is_plain = [](unsigned char c) { return c >= ' ' && c != 0x7f; };
  if (text.empty() || text.find_first_of("<>&\"'") != std::string::npos ||
      !std::ranges::all_of(text, is_plain))
    throw InputError(fmt::format("\"{}\" is no family of a font", text));
  return text;
}

void read_planned_for(const ConfigValue& value, RunMatrix& run) {
  run.change.planned_for = collective_beside(value.string(), value.source());
  (void)value.located([&] { return parse_collective(run.change.planned_for); });
}

} // namespace

std::span<const Key<FigureRequest>> look_keys() {
  using R = FigureRequest;
  static constexpr Key<R> rows[]{
      {"width", nullptr, keys::text<parse_width, nullptr, &R::inches>,
       "in print, such as a column's: 3.3in or 84mm"},
      {"font", nullptr, keys::text<parse_font, nullptr, &R::font>, "family, such as Times"},
      {"titles", nullptr, keys::flag<&R::has_titles>, "whether title and note are shown"}};
  return rows;
}

std::vector<std::string> engines_or_auto() {
  std::vector<std::string> names = engine_names();
  names.insert(names.begin(), "auto");
  return names;
}

std::span<const Key<RunMatrix>> RunStudy::keys() {
  using R = RunMatrix;
  using V = KeyValue<R>;
  static constexpr Key<R> rows[]{
      {"collectives", "-c,--collective", V(OptionForm::together, nullptr, collective_names),
       "name[,root=3][,group=0-7+16-23], or a TOML file; repeatable: they run at once",
       "What is made", true},
      {"sizes", "--size", OptionForm::text,
       "size as nccl-tests counts it, a range 1KiB..1GiB (doubling), or a list; units B kB KiB MB "
       "MiB GB GiB; default 1GiB"},
      algorithms_option,
      {"chunks", "--chunks", OptionForm::number,
       "chunks per shard, multiplied by what the algorithm needs; default auto: the fastest of "
       "several numbers from 1 to 64 that are tried, unless the algorithm chooses by itself"},
      limit_option.under("How it is made"),
      {"threads", "--threads", keys::whole<1, 1024, &R::options, &SynthesisOptions::threads>,
       "threads of each synthesis, whose result is the same with any number; default: all "
       "processors for a single synthesis, else 1"},
      settings_option,
      {"routing", "--routing",
       keys::text<parse_routing, routing_names, &R::options, &SynthesisOptions::routing>,
       "paths of the baselines: auto, shortest (spread evenly over equally short ones), single, "
       "ecmp-hash[,seed=3] (also shows the spread over 16 seeds) or dimension-order; default auto"},
      {"relays", "--relays", keys::word<relay_words, &R::change, &ScheduleChange::relays_send>,
       "what nodes on a path do: forward in hardware (paths), or, where they can store, as NPUs "
       "can, receive the data and send it on themselves once they have started (transfers); "
       "default paths"},
      {"dependencies", "--dependencies",
       keys::word<dependency_words, &R::change, &ScheduleChange::drops_dependencies>,
       "the algorithm's dependencies between transfers: kept, or dropped, so that queues alone "
       "decide; default kept"},
      {"planned_for", "--planned-for", V(OptionForm::text, read_planned_for),
       "another collective of the same members, which the schedule is made for; its chunks then "
       "have "
       "the sizes of this one: what reuse costs where shares change"},
      {"transport", "--transport", keys::text<parse_transport, nullptr, &R::transport>,
       transport_option.help},
      {"over_nccl", "--over-nccl", keys::flag<&R::over_nccl>,
       "add a column: how many times as fast as NCCL (RCCL on AMD's NPUs) each algorithm is; with "
       "nccl or rccl among the algorithms it is there anyway"},
      {"engine", "--engine", V(OptionForm::text, nullptr, engines_or_auto),
       "native, simgrid, both (which must agree), or auto (native, but simgrid for fluid); default "
       "auto, in experiments simgrid",
       "How it is simulated", false, "auto"},
      {"disciplines", "--discipline",
       V(OptionForm::texts, nullptr, keys::names_of<discipline_words>),
       "fifo, fluid or fifo,fluid; default fifo"},
      network_model_option,
      link_busy_option,
      forwarding_option,
      bound_option};
  return rows;
}

std::vector<StudyOption> RunStudy::options_of_command() {
  return command_options(keys(), noise_keys);
}

} // namespace tutti
