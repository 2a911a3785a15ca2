// The keys of [[executions]] that `tutti exec` takes.
#include "experiments/driver/studies/options.hpp"
#include "experiments/driver/studies/executions/study.hpp"

#include <array>

namespace tutti {

namespace {

constexpr std::array execution_options{
    StudyOption{"file", "file", OptionForm::text,
                "a schedule, or a program as MSCCL XML (.xml), instead of -c and -a"},
    StudyOption{
        "-c,--collective", "collective", OptionForm::text,
        "name[,root=3][,group=0-7+16-23]; with a program that has coll=\"custom\": its collective",
        "What is run"},
    StudyOption{"-a,--algorithm", "algorithms", OptionForm::texts,
                "a name, several with commas, or all"},
    StudyOption{"--size", "sizes", OptionForm::text,
                "size as nccl-tests counts it; units B kB KiB MB MiB GB GiB; default 1MiB..16MiB; "
                "required for MSCCL XML"},
    StudyOption{"--chunks", "chunks", OptionForm::number,
                "chunks per shard, multiplied by what the algorithm needs; default auto, as in "
                "synth, among numbers that divide the buffer"},
    limit_option,
    settings_option,
    StudyOption{"--type", "type", OptionForm::text,
                "float32, float64, int32 or uint8; default float32"},
    StudyOption{"--op", "op", OptionForm::text,
                "how elements are combined: sum or max; default sum"},
    StudyOption{"--instances", "instances", OptionForm::number,
                "parts of each chunk, on channels of their own; default 1"},
    StudyOption{"--in-place", "in_place", OptionForm::flag, "output and input are one buffer"},
    StudyOption{"--backend", "backend", OptionForm::text, "cpu or cuda; default cpu",
                "How it is run"},
    StudyOption{"--links", "links", OptionForm::text,
                "emulated: copies throttled to the topology's links; or real: as fast as they go; "
                "default emulated"},
    StudyOption{"--repeat", "repetitions", OptionForm::number,
                "timed runs, whose median counts; default 5"},
    StudyOption{"--warmups", "warmups", OptionForm::number,
                "runs before the timed ones; default 1"},
    StudyOption{"--watchdog", "watchdog", OptionForm::text,
                "a run that makes no progress for this long is ended, and what waits is named; "
                "default 30s"},
    StudyOption{"--copy-per-step", "copy_per_step", OptionForm::flag,
                "a copy for each step instead of one persistent run"},
    StudyOption{"--predicted-by", "predicted_by", OptionForm::text,
                "which network is simulated: profile (the links are measured first), topology (as "
                "given), or nothing (no predictions); default profile",
                "How it is predicted"},
    StudyOption{"--fit", "fit", OptionForm::text,
                "half: fit the profile to the times of every other size, as caches make small "
                "sizes faster, and predict the rest; default none"},
    link_busy_option,
    forwarding_option};

} // namespace

std::span<const StudyOption> ExecutionStudy::options_of_command() { return execution_options; }

} // namespace tutti
