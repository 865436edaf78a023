#!/usr/bin/env bash
# Trains the digit classifier: one artifact for 4 ranks, one for 1 rank, the same losses. Called by `./dev demo`; $1 is the build folder.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
bin=$(cd "${1:-build}/bin" && pwd)
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
steps=220

say() { printf '\n== %s\n' "$*"; }
compile() { (cd "$here" && "$bin/sgdc" init=init.mlir train=train.mlir eval=eval.mlir --mesh "data=$1" -o "$out/digits$1.sgda"); }
train() {
  (cd "$here" && "$bin/sgdrun" -n "$1" "$out/digits$1.sgda" --steps "$steps" --seed 1 --data train.safetensors --feed x=x,y=y \
    --print-every 55 --eval-every "$steps" --eval-data "$2" --log-json "$out/$3.jsonl")
}

say "compiling init, train and eval into one artifact for 4 ranks"
compile 4
say "what each step will send"
"$bin/sgd-inspect" "$out/digits4.sgda" --collectives
say "training on 4 ranks; accuracy on the training rows"
train 4 train.safetensors four
say "the same on 1 rank; accuracy on rows it has not seen"
compile 1
train 1 heldout.safetensors one
say "losses of 4 ranks and of 1"
/usr/bin/python3 "$here/compare_losses.py" "$out/four.jsonl" "$out/one.jsonl"
