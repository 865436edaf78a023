#!/usr/bin/env bash
# Checks on a machine with a GPU what tests elsewhere check on doubles.
#   tests/gpu/run.sh pack FOLDER    on the machine with the build (SGD_BUILD_DIR, default build): programs, their libraries, compiled models
#   FOLDER/run.sh check             on the machine with the GPU: needs the driver, cuBLASLt, NCCL and a python3 with numpy; no build tools
# cuBLASLt and NCCL are found in the system, in CUDA_HOME, or in the Python environment that VIRTUAL_ENV names.
set -euo pipefail

models=${SGD_MODELS:-mlp_digits gpt_dp gpt_zero1 gpt_zero3 gpt_tp gpt_scan}
steps=${SGD_STEPS:-1000}
architectures=${SGD_ARCHITECTURES:-sm_80,sm_90,sm_100}

mesh_of() { # MODEL RANKS: its axes, the first of them taking all ranks
  python3 - "$1" "$2" <<'PY'
import json, sys
axes = [axis for axis, _ in json.load(open(f"{sys.argv[1]}/meta.json"))["mesh"]]
print(",".join(f"{axis}={sys.argv[2] if i == 0 else 1}" for i, axis in enumerate(axes)))
PY
}

pack() {
  local out=$1 build=${SGD_BUILD_DIR:-build} here model ranks
  here=$(cd "$(dirname "$0")/../.." && pwd)
  mkdir -p "$out/bin" "$out/lib/sgd" "$out/libraries" "$out/models"
  cp "$build/bin/sgdrun" "$out/bin/"
  cp "$build/lib/sgd/sgd_target_cuda.so" "$out/lib/sgd/"
  # With the libraries of this machine, libc and its loader among them, so that an older system will do. The loader lies where the program
  # is looked for, since it is what the system starts.
  ldd "$build/bin/sgdrun" "$build/lib/sgd/sgd_target_cuda.so" | awk '$3 ~ /^\// { print $3 }' | sort -u | xargs -I{} cp -L {} "$out/libraries/"
  cp -L /lib64/ld-linux-x86-64.so.2 "$out/bin/loader"
  cp "$here/tests/e2e/compare_tensors.py" "$here/tests/gpu/run.sh" "$out/"
  for model in $models; do
    cp -r "$here/tests/models/$model" "$out/models/"
    for ranks in 1 2 4; do
      "$build/bin/sgdc" "$here/tests/models/$model/model.mlir" --mesh "$(mesh_of "$here/tests/models/$model" $ranks)" --target "cuda:$architectures" \
        -o "$out/models/$model/$ranks.sgda"
    done
  done
  echo "packed into $out; on the machine with the GPU: $out/run.sh check"
}

# The folder that holds a model's inputs and expected outputs.
data_of() {
  python3 -c 'import json, sys; print(json.load(open(f"models/{sys.argv[1]}/meta.json")).get("same_data_as") or sys.argv[1])' "$1"
}

run() { bin/loader --library-path libraries bin/sgdrun "$@"; }

values() { # MODEL RANKS
  local data
  data=models/$(data_of "$1")
  run -n "$2" "models/$1/$2.sgda" --share-gpus --inputs "$data/inputs.safetensors" --outputs "$work/out.safetensors"
  python3 compare_tensors.py "$work/out.safetensors" "$data/expected.safetensors"
}

# The first step runs eagerly, the second is captured, the others are replayed: losses must stay those of the model.
replayed_losses() {
  python3 -c 'import json; print(json.dumps(json.load(open("models/mlp_digits/meta.json"))["carry"]))' > "$work/carry.json"
  run -n 1 models/mlp_digits/1.sgda --init models/mlp_digits/inputs.safetensors --batches models/mlp_digits/batches.safetensors \
    --carry-json "$work/carry.json" --steps 6 --log-json "$work/log"
  python3 - "$work/log" <<'PY'
import json, sys
got = [row["loss"] for row in map(json.loads, open(sys.argv[1])) if "loss" in row]
want = json.load(open("models/mlp_digits/losses.json"))["loss64"][:6]
assert len(got) == 6 and all(abs(g - w) <= 1e-4 * abs(w) for g, w in zip(got, want)), (got, want)
PY
}

same_bits_every_time() {
  local model=${models##* } data
  data=models/$(data_of "$model")
  for i in 1 2; do
    run -n 1 "models/$model/1.sgda" --inputs "$data/inputs.safetensors" --outputs "$work/$i.safetensors"
  done
  cmp "$work/1.safetensors" "$work/2.safetensors"
}

used_memory() { nvidia-smi --query-gpu=memory.used --format=csv,noheader,nounits -i 0; }

# Memory is taken before the first step and never after it.
no_growth() {
  run -n 1 models/mlp_digits/1.sgda --bench 20 > /dev/null
  local before after
  before=$(used_memory)
  run -n 1 models/mlp_digits/1.sgda --bench "$steps" > "$work/bench"
  after=$(used_memory)
  [ "$after" -le $((before + 1)) ]
}

check() {
  cd "$(dirname "$0")"
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  local failed=0 model ranks
  nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
  one() { # NAME COMMAND...
    local name=$1
    shift
    if "$@" > "$work/log.txt" 2>&1; then echo "ok      $name"; else echo "FAILED  $name"; tail -5 "$work/log.txt"; failed=1; fi
  }
  for model in $models; do
    for ranks in 1 2 4; do one "$model on $ranks ranks" ./run.sh values "$model" "$ranks"; done
  done
  one "losses of replayed steps" ./run.sh replayed_losses
  one "the same bits every time" ./run.sh same_bits_every_time
  one "$steps steps without growth" ./run.sh no_growth
  for model in $models; do run -n 1 "models/$model/1.sgda" --bench 20 || failed=1; done
  exit $failed
}

case ${1:-} in
  pack) pack "${2:?say into which folder}" ;;
  check) check ;;
  values | replayed_losses | same_bits_every_time | no_growth)
    cd "$(dirname "$0")"
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    "$@"
    ;;
  *) sed -n '2,5s/^# //p' "$0"; exit 2 ;;
esac
