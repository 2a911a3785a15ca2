#!/usr/bin/env bash
# The pages of the manual's gallery (docs/guide/explorer.md), made anew in results/gallery:
#   explorer/gallery.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
mkdir -p results/gallery

page() { # NAME COMMAND ...
  local name=$1
  shift
  ./tutti "$@" --explore "results/gallery/$name.html"
}

page mesh synth -t mesh2d:8x8 -c all_gather --size 64MiB --chunks 1 -a ring,tacos
page dgx1 synth -t dgx1 -c all_gather --size 64MiB -a nccl,sccl
page lost_link failures -t torus2d:6x6 -c all_gather --size 64MiB -a tacos --chunks 1 \
  --event 'at=30%,link_down=npu14-npu15' --detection 20us --decision 10us
page dragonfly synth -t dragonfly:4x5 -c all_to_all --size 64MiB --chunks 1 -a direct,flows
page trees synth -t torus2d:4x4 -c broadcast --size 64MiB -a ring,dbt,flows,tacos
page servers synth -t dgx_h100:2 -c all_reduce --size 64MiB -a nccl
page jobs jobs -t torus2d:4x4 explorer/two_jobs.toml
page pipeline train -t dgx_h100:4 --model llama3_8b --npu h100 --tensor 4 --pipeline 8 --micro-batches 8 \
  -a nccl --transport nccl
page log compare -t dgx_h100 experiments/validation/measured.csv --only \
  'source=aws-samples/awsome-distributed-training:micro-benchmarks/nccl-tests/aws-batch/README.md (7217859f, 2026-02)'
