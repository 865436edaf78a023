"""Checks that a question about the kinds of instructions is answered in one file: lists the files that tell many kinds apart, by casts, switches or names, and holds
them to those that are listed here with their question. A new file that asks `which kind is it` of many kinds should ask the instruction instead:
dialects/plan/instruction_interface.td, runtime/artifact/operands.h."""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
MANY = 5  # kinds in one file

KINDS = "Launch|LaunchGroup|Matmul|Convolution|Attention|AttentionGradient|LinearAlgebra|Tiled|Collective|Done|Copy|Fill|Loop|Case"
PLAN = re.compile(r"(?:isa|isa_and_nonnull|dyn_cast|cast|Case)<([^<>()]*plan::[^<>()]*)>|\.Case\(\[[&=]?\]\(plan::(\w+)Op\b")
ARTIFACT = re.compile(r"\bOperation::(%s)\b|\bop_as_(%s)\(\)|\"(launch|launch_group|matmul|convolution|attention|linear_algebra|tiled|collective|done|copy|fill|loop|case)\"" % (KINDS, KINDS))

QUESTIONS = {
    "runtime/artifact/operands.cpp": "what is touched",
    "runtime/artifact/verify_operation.cpp": "is it sound",
    "runtime/artifact/verify_work.cpp": "how many multiplications",
    "runtime/device/device.cpp": "who prepares it",
    "runtime/trace/instruction_time.cpp": "what a trace calls it",
    "tools/sgd-inspect/describe.cpp": "its fields as JSON",
    "tools/sgd-inspect/text.cpp": "its fields in one cell of a table",
}


def kinds_in(text):
    kinds = set()
    for casts, case in PLAN.findall(text):
        kinds.update(re.findall(r"plan::(\w+)Op\b", casts))
        kinds.update([case] if case else [])
    kinds &= set(KINDS.split("|"))
    for found in ARTIFACT.findall(text):
        kinds.add(next(kind for kind in found if kind).replace("_", "").lower())
    return {kind.lower() for kind in kinds}


def main():
    files = subprocess.run(["git", "ls-files", "*.h", "*.cpp"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    wrong, seen = [], set()
    for file in files:
        if file.startswith(("tests/", "dialects/plan/")) or not (ROOT / file).exists():
            continue
        kinds = kinds_in((ROOT / file).read_text())
        if "--list" in sys.argv and len(kinds) > 2:
            print(f"{len(kinds):3} {file}: {' '.join(sorted(kinds))}")
        if len(kinds) < MANY:
            continue
        seen.add(file)
        if file not in QUESTIONS:
            wrong.append(f"{file}: tells {len(kinds)} kinds of instructions apart ({', '.join(sorted(kinds))}); ask the instruction instead, or list the file with its question")
    wrong += [f"{file}: is listed and tells few kinds apart: remove it" for file in QUESTIONS if file not in seen]
    if len(set(QUESTIONS.values())) != len(QUESTIONS):
        wrong.append("two files have one question")
    print("\n".join(wrong) or f"{len(QUESTIONS)} questions, one file each")
    sys.exit(1 if wrong else 0)


main()
