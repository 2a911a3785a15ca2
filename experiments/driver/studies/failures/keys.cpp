// The keys of [[failures]] that `tutti failures` takes.
#include "experiments/driver/studies/keys.hpp"
#include "experiments/driver/requests/collective_request.hpp"
#include "experiments/driver/studies/failures/study.hpp"
#include "experiments/driver/studies/noise/request.hpp"
#include "sim/error.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tutti {

namespace {

void read_policies(const ConfigValue& value, FailureStudy& study) {
  std::vector<Policy>& policies = study.common.policies;
  policies.clear();
  for (const ConfigValue& item : list_of(value)) {
    if (item.string() == "all") {
      policies.assign(all_policies.begin(), all_policies.end());
      return;
    }
    policies.push_back(parsed(item, policy_words));
    if (std::ranges::count(policies, policies.back()) > 1)
      throw item.error(fmt::format("policy {} is named twice", item.string()));
  }
  if (policies.empty()) policies.assign(all_policies.begin(), all_policies.end());
}

void read_case_chunks(const ConfigValue& value, FailureStudy& study) {
  study.common.chunks = chunks_of(value);
}

} // namespace

std::span<const Key<FailureStudy>> FailureStudy::keys() {
  using S = FailureStudy;
  using V = KeyValue<S>;
  using C = FailureCase;
  static constexpr Key<S> rows[]{
      {"collective", "-c,--collective", V(OptionForm::repeated, nullptr, collective_names),
       "name[,root=3][,group=0-7+16-23], or a TOML file; repeatable: they run at once",
       "What is made", true},
      {"size", "--size", OptionForm::text,
       "size as nccl-tests counts it; units B kB KiB MB MiB GB GiB; default 1GiB"},
      algorithms_option,
      {"chunks", "--chunks", V(OptionForm::number, read_case_chunks),
       "chunks per shard, multiplied by what the algorithm needs; default auto, as in synth"},
      {"settings", "--set", OptionForm::pairs,
       "an option of an algorithm or the planner, key=value; repeatable"},
      limit_option,
      {"events", "--events", OptionForm::text,
       "a TOML file: what happens when, or at what rates (docs/formats/events.md)", "Disturbances"},
      {"events", "--event", OptionForm::events,
       "at=50%,link_down=npu0-npu1; repeatable; keys as in the file of --events"},
      {"failed_links", "--failed-links", OptionForm::numbers,
       "number of random cables that go down; several with commas, each a run"},
      {"at", "--at", OptionForm::text,
       "when the random cables go down; default 50% of the undisturbed run"},
      {"seeds", "--seeds", OptionForm::numbers,
       "seeds of the random cables, each a run; default: that of --seed"},
      {"policies", "--policy", V(OptionForm::texts, read_policies, keys::names_of<policy_words>),
       "report, reroute, resynthesize, restart, several with commas; default all",
       "What is done about it"},
      {"detection", "--detection", keys::time<&S::common, &C::detection>,
       "time from an event until it is known; default 100us"},
      {"decision", "--decision", keys::time<&S::common, &C::decision>,
       "time from then until the answer is in force; default 50us"},
      {"planner", "--planner",
       keys::value<OptionForm::text, algorithm_of, &S::planner>(algorithm_names),
       "algorithm that plans what is left; default: the algorithm itself if it plans custom "
       "collectives, else tacos"},
      {"engine", "--engine", keys::text<parse_engines, engine_names, &S::common, &C::engines>,
       "native, simgrid, or both, which must agree; default native", "How it is simulated"},
      {"transport", "--transport", keys::text<parse_transport, nullptr, &S::common, &C::transport>,
       transport_option.help},
      link_busy_option,
      forwarding_option};
  return rows;
}

std::vector<StudyOption> FailureStudy::options_of_command() {
  return command_options(keys(), noise_keys);
}

} // namespace tutti
