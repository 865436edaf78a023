#!/usr/bin/env bash
# Writes the generated pages of docs/: ir-levels.md, mistakes.md and reference/. usage: generate.sh BUILD_DIR [OUT_DIR]; called by `./dev docs`.
# With --check it compares with what is committed instead of writing.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cd "$here/.."
build=$1
mode=${2:-write}
out=docs
if [ "$mode" = --check ]; then
  out=$(mktemp -d)
  trap 'rm -rf "$out"' EXIT
fi
llvm=/usr/lib/llvm-22
mkdir -p "$out/reference"

dialect() { "$llvm/bin/mlir-tblgen" -gen-dialect-doc -dialect="$1" -I . -I "$llvm/include" "$2" >"$out/reference/$1-dialect.md"; }

dialect sgd dialects/sgd/all_ops.td
dialect spmd dialects/spmd/spmd_ops.td
dialect fusion dialects/fusion/all_ops.td
dialect plan dialects/plan/all_ops.td
{
  printf '# Passes\n\nBy folder, in the order in which the pipeline goes through them.\n'
  for folder in frontends/* compiler/request passes/graph/programs passes/graph/carry passes/graph/autodiff passes/sharding/manual compiler/recipe passes/graph/normalize passes/sharding/permutation passes/sharding/context passes/spmd/choice passes/sharding/propagation passes/spmd/collectives passes/spmd/compress passes/spmd/partition passes/time/sequential passes/time/layers passes/time/stages passes/time/recompute passes/time/hoist passes/time/prefetch passes/time/rings passes/kernels/lowering passes/kernels/library passes/kernels/epilogues passes/kernels/clusters passes/kernels/tiles passes/kernels/order passes/plan/lowering passes/plan/recompute passes/plan/memory passes/plan/overlap passes/plan/channels compiler/search passes/levels compiler/report; do
    [ -f "$folder/passes.td" ] || continue
    printf '\n## %s\n\n' "$folder"
    "$llvm/bin/mlir-tblgen" -gen-pass-doc -I . -I "$llvm/include" "$folder/passes.td" | sed '/^<!--/d'
  done
} >"$out/reference/passes.md"
# Not by process substitution, which hides that the fuzzer is not built.
fuzzed=$("$build/tests/sgd-fuzz" --ops 300)
"$build/bin/sgd-opt" --op-coverage docs/op_samples.mlir <(printf '%s\n' "$fuzzed") >"$out/reference/operations.md"
/usr/bin/python3 docs/levels.py "$build/bin/sgdc" "$out/ir-levels.md"
/usr/bin/python3 tests/mistakes/mistakes.py --page >"$out/mistakes.md"
/usr/bin/python3 docs/command_lines.py "$build/bin" "$out/reference"

if [ "$mode" = --check ]; then
  for folder in cli man completions/bash completions/zsh; do
    [ "$(ls "docs/reference/$folder")" = "$(ls "$out/reference/$folder")" ] || { echo "docs/reference/$folder has other files than the tools: run ./dev docs" >&2; exit 1; }
  done
  for file in ir-levels.md mistakes.md reference/{sgd,spmd,fusion,plan}-dialect.md reference/passes.md reference/operations.md $(cd "$out" && ls reference/cli/*.md reference/man/* reference/completions/*/*); do
    diff -u "docs/$file" "$out/$file" || { echo "docs/$file is out of date: run ./dev docs" >&2; exit 1; }
  done
fi
