// The keys of [[runs]] that `tutti synth` takes.
#include "experiments/driver/studies/options.hpp"
#include "experiments/driver/studies/noise/request.hpp"
#include "experiments/driver/studies/runs/study.hpp"

#include <array>

namespace tutti {

namespace {

constexpr auto run_options = with_noise(std::array{
    StudyOption{"-c,--collective", "collectives", OptionForm::together,
                "name[,root=3][,group=0-7+16-23], or a TOML file; repeated: several at once",
                "What is made", true},
    StudyOption{"--size", "sizes", OptionForm::text,
                "as nccl-tests counts it, default 1GiB, a range 1KiB..1GiB (doubling), or a list; "
                "units B kB KiB MB MiB GB GiB"},
    StudyOption{"-a,--algorithm", "algorithms", OptionForm::texts,
                "a name, several with commas, or all", nullptr, true},
    StudyOption{
        "--chunks", "chunks", OptionForm::number,
        "chunks per shard, times what the algorithm needs; default auto: the fastest of those from "
        "1 to 64 that are tried (an algorithm that chooses itself does)"},
    limit_option.under("How it is made"),
    StudyOption{"--threads", "threads", OptionForm::number,
                "of each synthesis, with the same result; default: all processors where one runs, "
                "else 1"},
    settings_option,
    StudyOption{
        "--routing", "routing", OptionForm::text,
        "of the baselines: auto, shortest (equally short ones shared evenly), single, "
        "ecmp-hash[,seed=3] (with the spread over 16 seeds) or dimension-order; default auto"},
    StudyOption{"--relays", "relays", OptionForm::text,
                "paths: nodes on a path forward in hardware; transfers: those that can store, as "
                "NPUs, take data in and send it on themselves, when they have started; default "
                "paths"},
    StudyOption{"--dependencies", "dependencies", OptionForm::text,
                "kept, or dropped: queues alone decide; default kept"},
    transport_option,
    StudyOption{"--over-nccl", "over_nccl", OptionForm::flag,
                "how many times as fast as NCCL (RCCL on AMD's NPUs) each is; that column is there "
                "as well where one of them is among the algorithms"},
    StudyOption{
        "--engine", "engine", OptionForm::text,
        "native, simgrid, both, which must agree, or auto: native, simgrid for fluid; default "
        "auto, in experiments simgrid",
        "How it is simulated", false, "auto"},
    StudyOption{"--discipline", "disciplines", OptionForm::texts,
                "fifo, fluid or fifo,fluid; default fifo"},
    network_model_option, link_busy_option, forwarding_option, bound_option});

} // namespace

std::span<const StudyOption> RunStudy::options_of_command() { return run_options; }

} // namespace tutti
