#!/usr/bin/env bash
# The pages of the manual's gallery (docs/guide/explorer.md), made anew in results/gallery:
#   explorer/gallery.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
mkdir -p results/gallery

page() { # NAME, and what is synthesized
  local name=$1
  shift
  ./tutti synth "$@" --explore "results/gallery/$name.html"
}

page mesh -t mesh2d:8x8 -c all_gather --size 64MiB --chunks 1 -a ring,tacos
page dgx1 -t dgx1 -c all_gather --size 64MiB -a nccl,sccl
page dragonfly -t dragonfly:4x5 -c all_to_all --size 64MiB --chunks 1 -a direct,flows
page trees -t torus2d:4x4 -c broadcast --size 64MiB -a ring,dbt,flows,tacos
page servers -t dgx_h100:2 -c all_reduce --size 64MiB -a nccl
