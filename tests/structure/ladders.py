"""Checks that a question about the kinds of ops or instructions is answered in one file: lists the files that tell many kinds apart, by casts, switches or names, and
holds them to those that are listed here with their question. A new file that asks `which kind is it` of many kinds should ask the op instead: of instructions
dialects/plan/instruction_interface.td and runtime/artifact/operands.h, of graph ops the traits and interfaces in dialects/sgd (data_flow.td, linear_op.td, sharding_rule.td),
dialects/spmd/collective.td, passes/spmd/partition/local_rule.td, passes/sharding/manual/batch_rule.td and the rules of targets/kernels/node_builder.h."""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
CASTS = r"(?:isa|isa_and_nonnull|isa_and_present|dyn_cast|dyn_cast_or_null|dyn_cast_if_present|getDefiningOp|Case)<([^<>()]*)>"

# Instructions: of the plan and of the artifact.
KINDS = "Launch|LaunchGroup|Matmul|Convolution|Attention|AttentionGradient|LinearAlgebra|Tiled|Collective|Done|Copy|Fill|Loop|Case"
PLAN = re.compile(r"(?:isa|isa_and_nonnull|dyn_cast|cast|Case)<([^<>()]*plan::[^<>()]*)>|\.Case\(\[[&=]?\]\(plan::(\w+)Op\b")
ARTIFACT = re.compile(r"\bOperation::(%s)\b|\bop_as_(%s)\(\)|\"(launch|launch_group|matmul|convolution|attention|linear_algebra|tiled|collective|done|copy|fill|loop|case)\"" % (KINDS, KINDS))

INSTRUCTION_QUESTIONS = {
    "compiler/simulation/model_state.cpp": "whether it makes, copies or reads a sum",
    "passes/timing/op_times.cpp": "what runs beside it",
    "runtime/artifact/operands.cpp": "what is touched",
    "runtime/artifact/verify_operation.cpp": "is it sound",
    "runtime/artifact/verify_work.cpp": "how many multiplications",
    "runtime/device/device.cpp": "who prepares it",
    "runtime/guard/non_finite_trace.cpp": "where does what it writes come from",
    "runtime/trace/instruction_time.cpp": "what a trace calls it",
    "tools/sgd-inspect/describe.cpp": "its fields as JSON",
    "tools/sgd-inspect/text.cpp": "its fields in one cell of a table",
}

# Ops of the graph, SPMD and kernel levels. Casts that must succeed tell nothing apart, so they do not count.
GRAPH = re.compile(CASTS + r"|\.Case\(\[[&=]?\]\(((?:\w+::)*\w+Op)\b")

GRAPH_QUESTIONS = {
    "passes/graph/carry/op_links.cpp": "is a result an update of an argument",
    "passes/time/hoist/trip_values.cpp": "what a value is in all trips of a loop",
    "passes/sharding/manual/rank_arithmetic.cpp": "which scalar has each rank",
    "passes/sharding/permutation/group_bounds.cpp": "is a comparison one with the bounds of groups",
    "passes/sharding/permutation/index_function.cpp": "which function of its index is an element",
    "passes/sharding/permutation/sorted_rows.cpp": "how an op depends on the order of rows",
    "passes/sharding/propagation/find_batching.cpp": "is an index its own position",
    "passes/sharding/propagation/propagation.cpp": "when an op takes part in propagation",
    "passes/kernels/clusters/cluster_graph.cpp": "may ops meet in one kernel",
    "passes/kernels/clusters/cluster_rules.cpp": "which part an op has in a kernel, and is it expensive there",
    "passes/graph/normalize/channels_last.cpp": "what it computes when the dimensions of its operands are in another order",
    "passes/graph/attention/index_ranges.cpp": "which range of values has an element",
    "passes/kernels/tiles/tile_dims.cpp": "which dimensions may be tiled",
    "passes/plan/lowering/member_lines.cpp": "may it make a value that is not finite from finite ones",
    "passes/plan/lowering/lower_to_plan.cpp": "which instruction an op becomes",
    "compiler/bound/tensor_origins.cpp": "which op's elements a value must come from",
    "reference/collectives.cpp": "what a collective means",
    "reference/evaluate.cpp": "what an op with regions means",
    # Forms that are recognised, op by op.
    "passes/kernels/library/offload_attention.cpp": "is it attention as a library has it",
    "passes/graph/attention/attention_scores.cpp": "is it a score of attention",
    "passes/graph/attention/causal_mask.cpp": "is it a causal mask",
    "passes/graph/autodiff/orthogonal_rules.cpp": "does a use read the upper triangle alone",
    "passes/graph/training/precision.cpp": "may an op compute in 16 bits",
    "passes/kernels/epilogues/gelu_reader.cpp": "is it a gelu",
    "passes/kernels/tiles/masked_columns.cpp": "is it a masked column",
    "passes/graph/attention/softmax_uses.cpp": "is it a softmax or its gradient",
}


def instructions_in(text):
    kinds = set()
    for casts, case in PLAN.findall(text):
        kinds.update(re.findall(r"plan::(\w+)Op\b", casts))
        kinds.update([case] if case else [])
    kinds &= set(KINDS.split("|"))
    for found in ARTIFACT.findall(text):
        kinds.add(next(kind for kind in found if kind).replace("_", "").lower())
    return {kind.lower() for kind in kinds}


def graph_ops_in(text):
    found = set()
    for casts, case in GRAPH.findall(text):
        for space, name in re.findall(r"((?:\w+::)*)(\w+Op)\b", casts or case):
            dialect = (space.removeprefix("mlir::").split("::") + [""])[0] or "sgd"
            if dialect in ("arith", "math", "spmd") or name in OPS.get(dialect, ()):
                found.add(f"{dialect}.{name}")
    return found


def ops_of(dialect):
    files = (ROOT / "dialects" / dialect).glob("*.td")
    return {name for file in files for name in re.findall(rf"^def {dialect.capitalize()}_(\w+Op)\b", file.read_text(), re.M)}


OPS = {dialect: ops_of(dialect) for dialect in ("sgd", "fusion")}
# Each row: the things told apart, from how many kinds on that is a ladder, where definitions stand, and the files that do so with their questions.
LADDERS = [
    ("instructions", instructions_in, 5, "dialects/plan/", INSTRUCTION_QUESTIONS),
    ("graph ops", graph_ops_in, 6, ("dialects/sgd/", "dialects/fusion/"), GRAPH_QUESTIONS),
]


def main():
    files = subprocess.run(["git", "ls-files", "*.h", "*.cpp"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    texts = {file: (ROOT / file).read_text() for file in files if not file.startswith("tests/") and (ROOT / file).exists()}
    wrong = []
    for what, kinds_in, many, definitions, questions in LADDERS:
        seen = set()
        for file, text in texts.items():
            kinds = kinds_in(text)
            if "--list" in sys.argv and len(kinds) > many // 2:
                print(f"{len(kinds):3} {what} {file}: {' '.join(sorted(kinds))}")
            if file.startswith(definitions) or len(kinds) < many:
                continue
            seen.add(file)
            if file not in questions:
                wrong.append(f"{file}: tells {len(kinds)} kinds of {what} apart ({', '.join(sorted(kinds))}); ask the op instead, or list the file with its question")
        wrong += [f"{file}: is listed and tells few kinds of {what} apart: remove it" for file in questions if file not in seen]
        if len(set(questions.values())) != len(questions):
            wrong.append(f"two files have one question about {what}")
    print("\n".join(wrong) or f"{sum(len(ladder[-1]) for ladder in LADDERS)} questions, one file each")
    sys.exit(1 if wrong else 0)


main()
