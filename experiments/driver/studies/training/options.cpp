// The keys of [[training]] that `tutti train` takes.
#include "experiments/driver/studies/options.hpp"
#include "experiments/driver/studies/noise/request.hpp"
#include "experiments/driver/studies/training/study.hpp"

#include <array>

namespace tutti {

namespace {

constexpr auto training_options = with_noise(std::array{
    StudyOption{"--model", "model", OptionForm::text,
                "a name from `tutti list models`, a TOML file, or gpt:layers=96,hidden=12288,...",
                "What is trained"},
    StudyOption{"--npu", "npu", OptionForm::text, "a name from `tutti list npus`, or a TOML file"},
    StudyOption{"--workload", "workload", OptionForm::text,
                "instead of a model: a workload text of ASTRA-sim or SimAI"},
    StudyOption{"--unit", "unit", OptionForm::text,
                "unit of times in a workload text: ns for ASTRA-sim 1.0 and SimAI, us ..."},
    StudyOption{"--chakra", "trace", OptionForm::text,
                "instead of a model: PREFIX of Chakra traces PREFIX.0.et, PREFIX.1.et, ..."},
    StudyOption{"--groups", "groups", OptionForm::text,
                "JSON file with the traces' process groups; default PREFIX.groups.json, if there"},
    StudyOption{"--passes", "passes", OptionForm::number,
                "iterations of a workload text; default 1"},
    StudyOption{"--model-group", "model_group", OptionForm::number,
                "NPUs of a model-parallel group, where a workload text doesn't say"},
    StudyOption{"--tensor", "parallel.tensor", OptionForm::number,
                "degree of tensor parallelism; default 1", "How it is spread over the NPUs"},
    StudyOption{"--pipeline", "parallel.pipeline", OptionForm::number,
                "pipeline stages; default 1"},
    StudyOption{"--expert", "parallel.expert", OptionForm::number,
                "degree of expert parallelism; default 1"},
    StudyOption{"--data", "parallel.data", OptionForm::number,
                "replicas; default: as many as the other degrees leave NPUs for"},
    StudyOption{"--micro-batch", "micro_batch", OptionForm::number,
                "samples that a replica computes at once; default 1"},
    StudyOption{"--micro-batches", "micro_batches", OptionForm::number,
                "micro-batches of each replica in an iteration; default 1"},
    StudyOption{"--global-batch", "global_batch", OptionForm::number,
                "samples of all replicas in an iteration, instead of --micro-batches"},
    StudyOption{"--precision", "precision", OptionForm::text,
                "fp32, tf32, fp16, bf16 or fp8; default bf16, or fp16 where the NPU has no bf16"},
    StudyOption{
        "--gradient-bytes", "gradient_bytes", OptionForm::number,
        "bytes communicated for the gradient of a parameter; default: those of the precision"},
    StudyOption{"--order", "order", OptionForm::texts,
                "kinds of parallelism, the one that varies fastest over neighbouring NPUs first; "
                "default tensor,expert,data,pipeline"},
    StudyOption{"--dimensions", "dimensions", OptionForm::numbers,
                "dimensions of the topology in the order in which NPUs are numbered, the fastest "
                "first: 1,0"},
    StudyOption{"--sequence", "sequence", OptionForm::flag,
                "sequence parallelism among tensor-parallel NPUs"},
    StudyOption{"--zero", "zero", OptionForm::number, "ZeRO stage, 0 to 3 (FSDP); default 0"},
    StudyOption{"--schedule", "schedule", OptionForm::text,
                "pipeline schedule: gpipe, 1f1b or interleaved; default 1f1b"},
    StudyOption{"--model-parts", "model_parts", OptionForm::number,
                "model parts of each pipeline stage, for interleaved; default 1"},
    StudyOption{"--recompute", "recompute", OptionForm::text,
                "none, attention or full; default none"},
    StudyOption{"--bucket", "bucket", OptionForm::text,
                "communicate gradients in buckets of at least this size; default: layer by layer"},
    StudyOption{"--no-overlap", "overlap", OptionForm::no_flag,
                "communicate gradients only when all of them are there"},
    StudyOption{"--in-order", "in_order", OptionForm::flag,
                "communicate the gradient buckets of a group one after another"},
    StudyOption{"--priority", "priorities", OptionForm::shares,
                "priority of communication by its purpose: tensor=7; repeatable"},
    StudyOption{"-a,--algorithm", "algorithms", OptionForm::texts,
                "algorithm of all collectives; several with commas, each a run; auto: for each "
                "collective the best of --candidates",
                "Collectives", true},
    StudyOption{"--candidates", "candidates", OptionForm::texts,
                "algorithms that auto chooses from; default direct,ring,rhd,dbt,tacos"},
    StudyOption{"--by-collective", "by_collective", OptionForm::pairs,
                "all_to_all=direct: this collective by this algorithm, whatever makes the others; "
                "repeatable"},
    StudyOption{"--chunks", "chunks", OptionForm::number,
                "chunks per shard; default auto, as in synth"},
    limit_option,
    StudyOption{"--cache", "cache", OptionForm::text,
                "folder of remembered schedules, or none; default ~/.cache/tutti/schedules"},
    settings_option,
    StudyOption{"--straggler", "stragglers", OptionForm::shares,
                "npu3=0.5: it computes at half its speed; repeatable", "Disturbances"},
    StudyOption{"--event", "events", OptionForm::events,
                "at=1ms,link_rate=npu0>npu1,share=0.5; repeatable; as in tutti failures"},
    StudyOption{"--events", "events", OptionForm::text, "a TOML file of events"},
    StudyOption{"--failed-links", "failed_links", OptionForm::numbers,
                "number of random cables that are out of order from the start; several with "
                "commas, each a run"},
    StudyOption{"--policy", "policies", OptionForm::texts,
                "for failed links: reroute, resynthesize; default both"},
    StudyOption{"--engine", "engine", OptionForm::text,
                "native, simgrid, or both, which must agree; default native",
                "How it is simulated"},
    StudyOption{"--transport", "transport", OptionForm::texts,
                "how a runtime uses the links: ideal, nccl, rccl or a TOML file; several with "
                "commas, each a run; default ideal"},
    StudyOption{"--one-at-a-time", "one_at_a_time", OptionForm::flag,
                "as in ASTRA-sim: an NPU has one collective or send at a time, of those that are "
                "ready the one with the lowest id; it begins its part of a collective without "
                "waiting for others, and a send is one message"},
    StudyOption{"--local-mem-bw", "local_mem_bw", OptionForm::text,
                "rate of local reductions, 1600GB/s: each reads two operands and writes one, as in "
                "ASTRA-sim; default: they take no time"},
    StudyOption{"--unfolded", "fold", OptionForm::no_flag,
                "simulate every link crossing, even those that are alike"},
    link_busy_option,
    forwarding_option});

} // namespace

std::span<const StudyOption> TrainingStudy::options_of_command() { return training_options; }

} // namespace tutti
