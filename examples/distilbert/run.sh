#!/usr/bin/env bash
# Trains the classifier by each recipe on each number of ranks, measures what it sends and takes, and draws the results.
#
#   run.sh [RANKS...]        default 2 and 4
#
# Settings, from the environment: BIN, the folder of sgdc and sgdrun (build/bin); PYTHON, with PyTorch and matplotlib (python3); OUT, for all files (build/distilbert);
# STEPS (200); BUCKETS, the sizes in MB that are compared on the model of size base ("1 5 25 100"; empty: none).
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
bin=${BIN:-$here/../../build/bin} python=${PYTHON:-python3} out=${OUT:-$here/../../build/distilbert} steps=${STEPS:-200} buckets=${BUCKETS-1 5 25 100}
[ $# -gt 0 ] || set -- 2 4

say() { printf '\n== %s\n' "$*"; }
export_size() { # SIZE
  [ -e "$out/$1/step.pt2" ] || "$python" "$here/export.py" "$out/$1" --size "$1"
  [ -e "$out/$1/init.safetensors" ] || "$bin/sgdc" "$out/$1/step.pt2" --weights "$out/$1/init.safetensors"
}
mesh() { # RECIPE RANKS: tensor and pipeline have two ranks for each part of the batch
  case $1 in tensor | pipeline) echo "data=$(($2 / 2))" ;; *) echo "data=$2" ;; esac
}
run_recipe() { # RECIPE RANKS
  local name=$out/$1.$2 data=$out/small flags=()
  [ "$1" = ddp ] && flags=(--shard-updates never) # as DistributedDataParallel: every rank updates everything
  say "$1 on $2 ranks"
  rm -f "$name".*
  "$bin/sgdc" "$data/step.pt2" --recipe "$here/$1.json" --mesh "$(mesh "$1" "$2")" "${flags[@]}" -o "$name.sgda" --report="$name.report.json"
  "$bin/sgdrun" -n "$2" "$name.sgda" --init "$data/init.safetensors" --data "$data/train.safetensors" --seed 1 --steps "$steps" \
    --print-every "$steps" --eval-every "$steps" --eval-data "$data/heldout.safetensors" --log-json "$name.log.jsonl"
  "$bin/sgdrun" -n "$2" "$name.sgda" --bench 10 > "$name.bench.json"
}
run_bucket() { # MEGABYTES
  local name=$out/bucket.$1
  say "buckets of $1 MB"
  rm -f "$name".*
  sed "s/\"batch\"/\"bucket_size_mb\": $1, \"batch\"/" "$here/ddp.json" > "$name.json"
  "$bin/sgdc" "$out/base/step.pt2" --recipe "$name.json" --shard-updates never --topology "$here/ethernet.json" -o "$name.sgda" --report="$name.report.json"
  "$bin/sgd-sim" "$name.sgda" --topology "$here/ethernet.json" --json "$name.sim.json"
  "$bin/sgdrun" -n 2 "$name.sgda" --bench 4 --comm-thread on --trace "$name.trace.json" --profile "$name.profile.jsonl" > "$name.bench.json"
}

mkdir -p "$out"
export_size small
for ranks in "$@"; do
  for recipe in ddp zero1 zero3 tensor pipeline; do run_recipe "$recipe" "$ranks"; done
done
[ -z "$buckets" ] || export_size base
for size in $buckets; do run_bucket "$size"; done
"$python" "$here/plot.py" "$out"
