// The keys of [[frontiers]] that `tutti frontier` takes.
#include "experiments/driver/studies/options.hpp"
#include "experiments/driver/studies/frontiers/study.hpp"

#include <array>

namespace tutti {

namespace {

constexpr std::array frontier_options{
    StudyOption{"-c,--collective", "collective", OptionForm::text,
                "name[,root=3][,group=0-7+16-23], or a TOML file", nullptr, true},
    StudyOption{"--size", "sizes", OptionForm::text,
                "sizes as nccl-tests counts them; units B kB KiB MB MiB GB GiB; default "
                "1KiB..1GiB, doubling"},
    StudyOption{"--set", "settings", OptionForm::pairs,
                "an option of the search, key=value; repeatable; `tutti list algorithms` has them "
                "under sccl"},
    StudyOption{"--limit", "limit", OptionForm::text,
                "time and memory for the search: 60s, 8GiB or 60s,8GiB; default: any time, 3/4 of "
                "the memory"},
    StudyOption{"--engine", "engine", OptionForm::text,
                "native, simgrid, or both, which must agree; default both"},
    link_busy_option,
    forwarding_option};

} // namespace

std::span<const StudyOption> FrontierStudy::options_of_command() { return frontier_options; }

} // namespace tutti
