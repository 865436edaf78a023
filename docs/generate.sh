#!/usr/bin/env bash
# Writes docs/reference/ from the definitions of dialects and passes. Called by `./dev docs`; a test checks that the result is committed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
out=${2:-docs/reference}
tblgen=$(command -v mlir-tblgen-22 || echo /usr/lib/llvm-22/bin/mlir-tblgen)
include=(-I . -I "$(dirname "$(dirname "$tblgen")")/include" -I /usr/lib/llvm-22/include)
mkdir -p "$out"

dialect() { "$tblgen" -gen-dialect-doc -dialect="$1" "${include[@]}" "$2" >"$out/$1-dialect.md"; }
passes() { "$tblgen" -gen-pass-doc "${include[@]}" "$2" >>"$out/passes.md"; }

dialect sgd dialects/sgd/sgd_ops.td
dialect spmd dialects/spmd/spmd_ops.td
dialect plan dialects/plan/plan_ops.td
printf '# Passes\n\nIn the order in which the pipeline runs them, by folder.\n\n' >"$out/passes.md"
for folder in frontends/stablehlo passes/sharding passes/partition passes/collectives passes/schedule passes/memory; do
  [ -f "$folder/passes.td" ] || continue
  printf '## %s\n\n' "$folder" >>"$out/passes.md"
  passes "$folder" "$folder/passes.td"
done
