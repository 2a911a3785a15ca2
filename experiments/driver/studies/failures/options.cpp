// The keys of [[failures]] that `tutti failures` takes.
#include "experiments/driver/studies/options.hpp"
#include "experiments/driver/studies/failures/study.hpp"
#include "experiments/driver/studies/noise/request.hpp"

#include <array>

namespace tutti {

namespace {

constexpr auto failure_options = with_noise(std::array{
    StudyOption{"-c,--collective", "collective", OptionForm::repeated,
                "name[,root=3][,group=0-7+16-23], or a TOML file; repeatable: they run at once",
                "What is made", true},
    StudyOption{"--size", "size", OptionForm::text,
                "size as nccl-tests counts it; units B kB KiB MB MiB GB GiB; default 1GiB"},
    StudyOption{"-a,--algorithm", "algorithms", OptionForm::texts,
                "a name, several with commas, or all", nullptr, true},
    StudyOption{
        "--chunks", "chunks", OptionForm::number,
        "chunks per shard, multiplied by what the algorithm needs; default auto, as in synth"},
    StudyOption{"--set", "settings", OptionForm::pairs,
                "an option of an algorithm or the planner, key=value; repeatable"},
    limit_option,
    StudyOption{"--events", "events", OptionForm::text,
                "a TOML file: what happens when, or at what rates (docs/formats/events.md)",
                "Disturbances"},
    StudyOption{"--event", "events", OptionForm::events,
                "at=50%,link_down=npu0-npu1; repeatable; keys as in the file of --events"},
    StudyOption{"--failed-links", "failed_links", OptionForm::numbers,
                "number of random cables that go down; several with commas, each a run"},
    StudyOption{"--at", "at", OptionForm::text,
                "when the random cables go down; default 50% of the undisturbed run"},
    StudyOption{"--seeds", "seeds", OptionForm::numbers,
                "seeds of the random cables, each a run; default: that of --seed"},
    StudyOption{"--policy", "policies", OptionForm::texts,
                "report, reroute, resynthesize, restart, several with commas; default all",
                "What is done about it"},
    StudyOption{"--detection", "detection", OptionForm::text,
                "time from an event until it is known; default 100us"},
    StudyOption{"--decision", "decision", OptionForm::text,
                "time from then until the answer is in force; default 50us"},
    StudyOption{"--planner", "planner", OptionForm::text,
                "algorithm that plans what is left; default: the algorithm itself if it plans "
                "custom collectives, else tacos"},
    StudyOption{"--engine", "engine", OptionForm::text,
                "native, simgrid, or both, which must agree; default native",
                "How it is simulated"},
    link_busy_option, forwarding_option});

} // namespace

std::span<const StudyOption> FailureStudy::options_of_command() { return failure_options; }

} // namespace tutti
