#!/usr/bin/env bash
# The first command builds a `tutti` without its parts: what is listed is there nevertheless, what is
# missing names the part that has it, and that part does have it.
#   parts.sh TUTTI TUTTI_WITHOUT_PARTS OBJECTS LATER
# OBJECTS: lines `core FILE` and `PART FILE`; LATER: what cmake/later.sh wrote.
set -euo pipefail
tutti=$1 core=$2 objects=$3 later=$4
unset TUTTI_SCRIPT
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
faults=0
fault() {
  printf '%s\n' "$*"
  faults=$((faults + 1))
}

# Each function that is left out is one of its part, and all of other parts that the core calls are
# left out.
while read -r part file; do
  [[ -n $file ]] || continue # a part of packages alone
  nm "$file" | awk -v part="$part" 'NF == 3 && $2 ~ /[TWVBDR]/ {print part, $3}'
done <"$objects" | sort -u >"$scratch/there"
awk -F'"' '/__asm__/ {name = $4} /not_built\("/ {print $4, name}' "$later" | sort -u >"$scratch/later"
[[ $(wc -l <"$scratch/later") -gt 40 ]] || fault "only so many are left out: $(wc -l <"$scratch/later")"
while read -r part name; do
  fault "$name is left out as one of $part, which doesn't have it"
done < <(comm -23 "$scratch/later" "$scratch/there")
while read -r part file; do
  [[ $part != core ]] || nm -u "$file" | awk '{print $NF}'
done <"$objects" | sort -u >"$scratch/called"
awk '$1 == "core" {print $2}' "$scratch/there" | sort -u >"$scratch/core"
awk '$1 != "core" {print $2}' "$scratch/there" | sort -u >"$scratch/elsewhere"
awk '{print $2}' "$scratch/later" | sort -u >"$scratch/names"
while read -r name; do
  fault "$name is called and of no part by its name"
done < <(comm -12 "$scratch/called" "$scratch/elsewhere" | comm -23 - "$scratch/core" |
  comm -23 - "$scratch/names")

# Names and help are the same.
same() {
  diff <("$tutti" "$@" 2>&1) <("$core" "$@" 2>&1) >"$scratch/diff" ||
    fault "other without parts: tutti $*: $(head -n 3 "$scratch/diff")"
}
same --help
for command in $("$tutti" --complete ''); do
  same "$command" --help
done
for kind in $("$tutti" --complete list ''); do
  same list "$kind"
done
for words in 'synth -a' 'train --model' 'lower --runtime' 'exec --backend' 'run' 'sweep'; do
  # shellcheck disable=SC2086 # several words
  same --complete $words ''
done

# What is missing is said before anything is done.
missing() {
  local part=$1 code=0
  "$core" "${@:2}" >"$scratch/out" 2>&1 || code=$?
  [[ $code == 2 && $(<"$scratch/out") == "tutti: this needs the part \"$part\","* ]] ||
    fault "exit $code without the part $part: tutti ${*:2}: $(head -n 2 "$scratch/out")"
}
for algorithm in sccl teccl taccl all; do
  missing planners synth -t ring:4 -c all_gather -a "$algorithm"
done
missing planners frontier -t ring:4 -c all_gather
missing planners sketch -t dgx_h100
printf 'topology: [Ring]\nnpus_count: [4]\n' >"$scratch/network.yml"
missing formats show -t "$scratch/network.yml"
missing sweep sweep "$scratch/none.toml"
missing training train -t ring:4 -a ring --model gpt3_small --npu a100
for command in exec profile lower import; do
  case $command in
  exec) arguments=(-c all_gather -a ring) ;;
  profile) arguments=() ;;
  import) arguments=("$scratch/none" --size 1MiB) ;;
  *) arguments=("$scratch/none") ;;
  esac
  missing runtime "$command" -t ring:4 "${arguments[@]}"
done
missing studies jobs -t ring:4 "$scratch/none.toml"
missing studies fit "$scratch/none.csv" -t ring:4

((faults == 0))
