#!/usr/bin/env bash
# Checks on a machine with a GPU what tests elsewhere check on fakes.
#   tests/gpu/run.sh pack FOLDER      on the machine with the build (SGD_BUILD_DIR, default build): programs, their libraries, compiled models
#   FOLDER/run.sh check [PHASE...]    on the machine with the GPU: needs the driver, cuBLASLt, cuDNN, NCCL and a python3 with numpy; no build
#                                     tools. Phases: values speed replay ranks stages embed memory errors, or speed:bench_gpt,bench_mlp; by default all, within
#                                     ten minutes. Results are written as they come, also as markdown, to OUT (default: results).
# cuBLASLt, cuDNN and NCCL are found in the system, in CUDA_HOME, or beside the Python that runs this.
set -euo pipefail

models=${SGD_MODELS:-mlp_digits gpt_dp gpt_zero1 gpt_zero3 gpt_tp gpt_scan moe_einsum resnet_small resnet_spatial}
benchmarks=${SGD_BENCHMARKS-bench_mlp bench_gpt bench_resnet18 bench_distilbert}
architectures=${SGD_ARCHITECTURES:-sm_90}

# The folder that the programs of this machine start from: theirs libraries, and those of libc and of the compiler apart, since they must be
# all of one system: an older one takes ours, with our loader, a newer one has its own.
pack_programs() { # FOLDER BUILD
  local out=$1 build=$2 system='/(ld-linux|lib(c|m|dl|rt|pthread|util|resolv|nss_[a-z]*|gcc_s|stdc\+\+))[-.]'
  mkdir -p "$out/bin" "$out/lib/sgd" "$out/libraries" "$out/system"
  cp "$build/bin/sgdrun" "$out/bin/"
  cp "$build/lib/libsgd.so.1" "$out/lib/libsgd.so"
  cp "$build/lib/sgd/sgd_target_cuda.so" "$out/lib/sgd/"
  strip "$out/bin/sgdrun" "$out/lib/libsgd.so" "$out/lib/sgd/sgd_target_cuda.so" || echo "note: no strip; the programs keep their symbols"
  ldd "$build/bin/sgdrun" "$build/lib/libsgd.so.1" "$build/lib/sgd/sgd_target_cuda.so" | awk '$3 ~ /^\// { print $3 }' | sort -u > "$out/needed"
  grep -vE "$system" "$out/needed" | xargs -I{} cp -L {} "$out/libraries/"
  grep -E "$system" "$out/needed" | xargs -I{} cp -L {} "$out/system/"
  # NVIDIA's libraries need these besides: in glibc before 2.34 these are libraries of their own, which do not go with our libc.
  local libc
  libc=$(grep -E '/libc\.so\.' "$out/needed")
  for name in libdl.so.2 libpthread.so.0 librt.so.1 libutil.so.1 libm.so.6 libresolv.so.2 libnss_files.so.2 libnss_dns.so.2; do
    [ ! -e "$(dirname "$libc")/$name" ] || cp -L "$(dirname "$libc")/$name" "$out/system/"
  done
  # Beside the program, since a program that a loader starts is looked for where that lies.
  cp -L /lib64/ld-linux-x86-64.so.2 "$out/bin/loader"
  rm "$out/needed"
}

pack() {
  local out=$1 build=${SGD_BUILD_DIR:-build} here
  here=$(cd "$(dirname "$0")" && pwd)
  mkdir -p "$out/models"
  pack_programs "$out" "$build"
  cp "$here"/run.sh "$here"/*.py "$here/../e2e/compare_tensors.py" "$here/../bench/torch_models.py" "$out/"
  python3 "$here/pack_models.py" "$out" "$build/bin/sgdc" "$architectures" --models $models --benchmarks $benchmarks
  du -sh "$out" | awk '{ print "packed " $1 " into " $2 }'
  echo "on the machine with the GPU: $out/run.sh check"
}

# NVIDIA's libraries that pip has put beside this Python.
wheel_libraries() {
  python3 -c 'import glob, sysconfig; print(":".join(sorted(glob.glob(sysconfig.get_paths()["purelib"] + "/nvidia/*/lib"))))'
}

check() {
  cd "$(dirname "$0")"
  export SGD_CUDA_LIBRARIES=${SGD_CUDA_LIBRARIES:-$(wheel_libraries)}
  exec python3 check.py "$@"
}

case ${1:-} in
  pack) pack "${2:?say into which folder}" ;;
  check) shift; check "$@" ;;
  *) sed -n '2,8s/^# //p' "$0"; exit 2 ;;
esac
