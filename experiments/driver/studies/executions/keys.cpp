// The keys of [[executions]], and which of them `tutti exec` takes.
#include "experiments/driver/studies/keys.hpp"
#include "experiments/driver/requests/collective_request.hpp"
#include "experiments/driver/studies/executions/study.hpp"

namespace tutti {

namespace {

constexpr std::int64_t most_repetitions = 10'000, most_passes = 100, most_instances = 64;

constexpr Words<bool, 2> link_words{"links", {"emulated", "real"}};
constexpr Words<bool, 2> fit_words{"fit", {"half", "none"}};
template <const auto& words> bool is_first(const ConfigValue& value) {
  return !parsed(value, words);
}

const BackendRow* backend_of(const std::string& name) { return &find_backend(name); }
Names backend_names() { return {"cpu", "cuda"}; }

void read_watchdog(const ConfigValue& value, ExecutionCase& c) {
  c.request.watchdog_seconds = value.time().seconds();
  if (!(c.request.watchdog_seconds > 0)) throw value.error("it needs more than 0 s");
  c.profile.watchdog_seconds = c.request.watchdog_seconds;
}

void read_profile_sizes(const ConfigValue& value, ExecutionCase& c) {
  c.profile.sizes.clear();
  for (const ConfigValue& size : list_of(value)) c.profile.sizes.push_back(size.bytes());
  if (c.profile.sizes.size() < 2)
    throw value.error("two sizes or more: one can't tell latency from bandwidth");
}

} // namespace

std::span<const Key<ExecutionCase>> ExecutionStudy::keys() {
  using C = ExecutionCase;
  using V = KeyValue<C>;
  using R = runtime::ExecutionRequest;
  static constexpr Key<C> rows[]{
      {"file", "file", OptionForm::text,
       "a schedule, or a program as MSCCL XML (.xml), instead of -c and -a"},
      {"collective", "-c,--collective", V(OptionForm::text, nullptr, collective_names),
       "name[,root=3][,group=0-7+16-23]; with a program that has coll=\"custom\": its collective",
       "What is run"},
      {"algorithms", "-a,--algorithm", V(OptionForm::texts, nullptr, algorithm_names_or_all),
       "a name, several with commas, or all"},
      {"sizes", "--size", OptionForm::text,
       "size as nccl-tests counts it; units B kB KiB MB MiB GB GiB; default 1MiB..16MiB; required "
       "for MSCCL XML"},
      {"chunks", "--chunks", OptionForm::number,
       "chunks per shard, multiplied by what the algorithm needs; default auto, as in synth, among "
       "numbers that divide the buffer"},
      limit_option,
      settings_option,
      {"type", "--type", keys::word<runtime::element_type_words, &C::request, &R::type>,
       "{}; default float32"},
      {"op", "--op", keys::word<runtime::combine_words, &C::request, &R::combine>,
       "how elements are combined: {}; default sum"},
      {"instances", "--instances",
       keys::whole<1, most_instances, &C::lowering, &runtime::LoweringOptions::instances>,
       "parts of each chunk, on channels of their own; default 1"},
      {"in_place", "--in-place", keys::flag<&C::lowering, &runtime::LoweringOptions::in_place>,
       "output and input are one buffer"},
      {"backend", "--backend", keys::text<backend_of, backend_names, &C::backend>,
       "{}; default cpu", "How it is run"},
      {"links", "--links",
       keys::value<OptionForm::text, is_first<link_words>, &C::emulated>(
           keys::names_of<link_words>),
       "emulated: copies throttled to the topology's links; or real: as fast as they go; default "
       "emulated"},
      {"repetitions", "--repeat", keys::whole<1, most_repetitions, &C::request, &R::repetitions>,
       "timed runs, whose median counts; default 5"},
      {"warmups", "--warmups", keys::whole<0, most_repetitions, &C::request, &R::warmups>,
       "runs before the timed ones; default 1"},
      {"watchdog", "--watchdog", V(OptionForm::text, read_watchdog),
       "a run that makes no progress for this long is ended, and what waits is named; default "
       "30s"},
      {"copy_per_step", "--copy-per-step", keys::flag<&C::request, &R::copy_per_step>,
       "a copy for each step instead of one persistent run"},
      {"predicted_by", "--predicted-by", keys::word<prediction_words, &C::predicted_by>,
       "which network is simulated: profile (the links are measured first), topology (as given), "
       "or nothing (no predictions); default profile",
       "How it is predicted"},
      {"fit", "--fit",
       keys::value<OptionForm::text, is_first<fit_words>, &C::fits_half>(keys::names_of<fit_words>),
       "half: fit the profile to the times of every other size, as caches make small sizes faster, "
       "and predict the rest; default none"},
      link_busy_option,
      forwarding_option,
      {"passes", nullptr, keys::whole<1, most_passes, &C::passes>, nullptr},
      {"profile_sizes", nullptr, V(OptionForm::texts, read_profile_sizes), nullptr}};
  return rows;
}

std::vector<StudyOption> ExecutionStudy::options_of_command() { return command_options(keys()); }

} // namespace tutti
