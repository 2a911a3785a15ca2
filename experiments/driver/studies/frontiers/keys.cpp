// The keys of [[frontiers]] that `tutti frontier` takes.
#include "experiments/driver/studies/keys.hpp"
#include "experiments/driver/requests/collective_request.hpp"
#include "experiments/driver/studies/frontiers/study.hpp"

namespace tutti {

std::span<const Key<FrontierStudy>> FrontierStudy::keys() {
  using S = FrontierStudy;
  using V = KeyValue<S>;
  static constexpr Key<S> rows[]{
      {"collective", "-c,--collective", V(OptionForm::text, nullptr, collective_names),
       "name[,root=3][,group=0-7+16-23], or a TOML file", nullptr, true},
      {"sizes", "--size", OptionForm::text,
       "sizes as nccl-tests counts them; units B kB KiB MB MiB GB GiB; default 1KiB..1GiB, "
       "doubling"},
      {"settings", "--set", OptionForm::pairs,
       "an option of the search, key=value; repeatable; `tutti list algorithms` has them under "
       "sccl"},
      {"limit", "--limit", OptionForm::text,
       "time and memory for the search: 60s, 8GiB or 60s,8GiB; default: any time, 3/4 of the "
       "memory"},
      {"engine", "--engine", keys::text<parse_engines, engine_names, &S::engines>,
       "native, simgrid, or both, which must agree; default both"},
      link_busy_option,
      forwarding_option};
  return rows;
}

std::vector<StudyOption> FrontierStudy::options_of_command() { return command_options(keys()); }

} // namespace tutti
