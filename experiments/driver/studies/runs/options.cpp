// The keys of [[runs]] that `tutti synth` takes.
#include "experiments/driver/studies/options.hpp"
#include "experiments/driver/studies/noise/request.hpp"
#include "experiments/driver/studies/runs/study.hpp"

#include <array>

namespace tutti {

namespace {

constexpr auto run_options = with_noise(std::array{
    StudyOption{"-c,--collective", "collectives", OptionForm::together,
                "name[,root=3][,group=0-7+16-23], or a TOML file; repeatable: they run at once",
                "What is made", true},
    StudyOption{"--size", "sizes", OptionForm::text,
                "size as nccl-tests counts it, a range 1KiB..1GiB (doubling), or a list; units B "
                "kB KiB MB MiB GB GiB; default 1GiB"},
    StudyOption{"-a,--algorithm", "algorithms", OptionForm::texts,
                "a name, several with commas, or all", nullptr, true},
    StudyOption{
        "--chunks", "chunks", OptionForm::number,
        "chunks per shard, multiplied by what the algorithm needs; default auto: the fastest of "
        "several numbers from 1 to 64 that are tried, unless the algorithm chooses by itself"},
    limit_option.under("How it is made"),
    StudyOption{"--threads", "threads", OptionForm::number,
                "threads of each synthesis, whose result is the same with any number; default: all "
                "processors for a single synthesis, else 1"},
    settings_option,
    StudyOption{"--routing", "routing", OptionForm::text,
                "paths of the baselines: auto, shortest (spread evenly over equally short ones), "
                "single, ecmp-hash[,seed=3] (also shows the spread over 16 seeds) or "
                "dimension-order; default auto"},
    StudyOption{"--relays", "relays", OptionForm::text,
                "what nodes on a path do: forward in hardware (paths), or, where they can store, "
                "as NPUs can, receive the data and send it on themselves once they have started "
                "(transfers); default paths"},
    StudyOption{"--dependencies", "dependencies", OptionForm::text,
                "the algorithm's dependencies between transfers: kept, or dropped, so that queues "
                "alone decide; default kept"},
    transport_option,
    StudyOption{"--over-nccl", "over_nccl", OptionForm::flag,
                "add a column: how many times as fast as NCCL (RCCL on AMD's NPUs) each algorithm "
                "is; with nccl or rccl among the algorithms it is there anyway"},
    StudyOption{"--engine", "engine", OptionForm::text,
                "native, simgrid, both (which must agree), or auto (native, but simgrid for "
                "fluid); default auto, in experiments simgrid",
                "How it is simulated", false, "auto"},
    StudyOption{"--discipline", "disciplines", OptionForm::texts,
                "fifo, fluid or fifo,fluid; default fifo"},
    network_model_option, link_busy_option, forwarding_option, bound_option});

} // namespace

std::span<const StudyOption> RunStudy::options_of_command() { return run_options; }

} // namespace tutti
