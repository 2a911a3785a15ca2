// The keys of [[training]] that `tutti train` takes.
#include "experiments/driver/studies/options.hpp"
#include "experiments/driver/studies/noise/request.hpp"
#include "experiments/driver/studies/training/study.hpp"

#include <array>

namespace tutti {

namespace {

constexpr auto training_options = with_noise(std::array{
    StudyOption{"--model", "model", OptionForm::text,
                "of `tutti list models`, a TOML file, or gpt:layers=96,hidden=12288,...",
                "What is trained"},
    StudyOption{"--npu", "npu", OptionForm::text, "of `tutti list npus`, or a TOML file"},
    StudyOption{"--workload", "workload", OptionForm::text,
                "instead of a model: a text of ASTRA-sim or SimAI"},
    StudyOption{"--unit", "unit", OptionForm::text,
                "of the text's times: ns for ASTRA-sim 1.0 and SimAI, us ..."},
    StudyOption{"--chakra", "trace", OptionForm::text,
                "instead: traces PREFIX.0.et, PREFIX.1.et, ..."},
    StudyOption{"--groups", "groups", OptionForm::text,
                "JSON file with the traces' process groups; default PREFIX.groups.json, if there"},
    StudyOption{"--passes", "passes", OptionForm::number, "iterations, of a text; default 1"},
    StudyOption{"--model-group", "model_group", OptionForm::number,
                "NPUs of a model-parallel group, where a text doesn't say"},
    StudyOption{"--tensor", "parallel.tensor", OptionForm::number,
                "degree of tensor parallelism; default 1", "How it is spread over the NPUs"},
    StudyOption{"--pipeline", "parallel.pipeline", OptionForm::number,
                "pipeline stages; default 1"},
    StudyOption{"--expert", "parallel.expert", OptionForm::number,
                "degree of expert parallelism; default 1"},
    StudyOption{"--data", "parallel.data", OptionForm::number,
                "replicas; default: all NPUs that are left"},
    StudyOption{"--micro-batch", "micro_batch", OptionForm::number, "samples at once; default 1"},
    StudyOption{"--micro-batches", "micro_batches", OptionForm::number,
                "of each replica; default 1"},
    StudyOption{"--global-batch", "global_batch", OptionForm::number,
                "samples of all replicas, instead"},
    StudyOption{"--precision", "precision", OptionForm::text,
                "fp32, tf32, fp16, bf16 or fp8; default bf16, or fp16 where the NPU has no bf16"},
    StudyOption{"--gradient-bytes", "gradient_bytes", OptionForm::number,
                "per parameter, as communicated; default: those of the precision"},
    StudyOption{
        "--order", "order", OptionForm::texts,
        "dimensions of parallelism, the fastest first; default tensor,expert,data,pipeline"},
    StudyOption{"--dimensions", "dimensions", OptionForm::numbers,
                "of the topology, the fastest first, in which NPUs are numbered: 1,0"},
    StudyOption{"--sequence", "sequence", OptionForm::flag,
                "sequence parallelism among tensor-parallel NPUs"},
    StudyOption{"--zero", "zero", OptionForm::number, "ZeRO stage, 0 to 3 (FSDP); default 0"},
    StudyOption{"--schedule", "schedule", OptionForm::text,
                "of the pipeline: gpipe, 1f1b, interleaved"},
    StudyOption{"--model-parts", "model_parts", OptionForm::number,
                "of each stage, for interleaved; default 1"},
    StudyOption{"--recompute", "recompute", OptionForm::text,
                "none, attention or full; default none"},
    StudyOption{"--bucket", "bucket", OptionForm::text,
                "of gradients, at least; default: layer by layer"},
    StudyOption{"--no-overlap", "overlap", OptionForm::no_flag,
                "gradients only when all are there"},
    StudyOption{"--in-order", "in_order", OptionForm::flag, "gradient buckets one after another"},
    StudyOption{"--priority", "priorities", OptionForm::shares,
                "of communication, tensor=7; repeatable"},
    StudyOption{"-a,--algorithm", "algorithms", OptionForm::texts,
                "for all collectives; several with commas; auto: of each the fastest candidate",
                "Its collectives", true},
    StudyOption{"--candidates", "candidates", OptionForm::texts,
                "of auto; default direct,ring,rhd,dbt,tacos"},
    StudyOption{"--by-collective", "by_collective", OptionForm::pairs,
                "all_to_all=direct: by it, whatever makes the others; repeatable"},
    StudyOption{"--chunks", "chunks", OptionForm::number, "per shard; default auto, as synth"},
    limit_option,
    StudyOption{"--cache", "cache", OptionForm::text,
                "folder of remembered schedules, or none; default ~/.cache/tutti/schedules"},
    settings_option,
    StudyOption{"--straggler", "stragglers", OptionForm::shares,
                "npu3=0.5: it computes at a share of its speed; repeatable", "Disturbances"},
    StudyOption{"--event", "events", OptionForm::events,
                "at=1ms,link_rate=npu0>npu1,share=0.5; repeatable; as of tutti failures"},
    StudyOption{"--events", "events", OptionForm::text, "a TOML file of events"},
    StudyOption{"--failed-links", "failed_links", OptionForm::numbers,
                "so many random cables are out of order; several with commas"},
    StudyOption{"--policy", "policies", OptionForm::texts,
                "for failed links: reroute, resynthesize; default both"},
    StudyOption{"--engine", "engine", OptionForm::text,
                "native, simgrid, or both, which must agree; default native",
                "How it is simulated"},
    StudyOption{"--transport", "transport", OptionForm::texts,
                "what a runtime makes of the links: ideal, nccl, rccl or a TOML file; several with "
                "commas; default ideal"},
    StudyOption{"--one-at-a-time", "one_at_a_time", OptionForm::flag,
                "as in ASTRA-sim: an NPU has one collective or send at a time, the one with the "
                "lowest id of those that are ready, begins its part of a collective without "
                "waiting for others, and sends in one message"},
    StudyOption{"--local-mem-bw", "local_mem_bw", OptionForm::text,
                "rate of local reductions, 1600GB/s: each reads two operands and writes one, as in "
                "ASTRA-sim; default: they take no time"},
    StudyOption{"--unfolded", "fold", OptionForm::no_flag,
                "simulate every crossing, also those that are alike"},
    link_busy_option,
    forwarding_option});

} // namespace

std::span<const StudyOption> TrainingStudy::options_of_command() { return training_options; }

} // namespace tutti
