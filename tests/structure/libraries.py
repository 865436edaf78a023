"""Checks that what a library or an instruction set can do is said in targets/*/libraries alone: no file of passes/, dialects/ (but spmd) or compiler/ names one or includes
its header, and of the compiler only compiler/target/, which picks the target, includes anything of targets/."""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent

NAMES = re.compile(r"cublas|cudnn|cutlass|nccl|cusolver|cufft|onednn|dnnl|openblas|\bmkl\b|\bavx|\bsse[234]|\bamx\b|\bneon\b|wgmma|tensor ?core", re.I)
HEADERS = re.compile(r'#include [<"](?:cuda|cublas|cudnn|nccl|immintrin|x86intrin|arm_neon|dnnl|cblas|lapack)[^>"]*[>"]')
PICKS_TARGET = "compiler/target/"


def faults(file, text):
    for number, line in enumerate(text.splitlines(), 1):
        for what, found in (("names", NAMES.search(line)), ("includes", HEADERS.search(line))):
            if found:
                yield f"{file}:{number}: {what} {found.group(0)}; expected a question to LibraryModel; say it in targets/*/libraries"
        if re.search(r'#include "targets/', line) and not file.startswith(PICKS_TARGET):
            yield f"{file}:{number}: includes a target; expected none outside {PICKS_TARGET}; ask Target or LibraryModel"


def self_test():
    for line in ("constexpr int kRows = 8;  // cuBLASLt", "measured on AVX-512", "#include <cudnn.h>", '#include "targets/gpu/libraries/library_model.h"'):
        assert list(faults("passes/kernels/clusters/a.cpp", line)), line
    assert not list(faults("passes/kernels/clusters/a.cpp", "the target's library; --target=cuda:sm_90; accesses; message"))
    assert not list(faults("compiler/target/a.cpp", '#include "targets/gpu/libraries/library_model.h"'))


def main():
    self_test()
    folders = ["passes", "compiler", "dialects/sgd", "dialects/fusion", "dialects/plan"]
    listed = subprocess.run(["git", "ls-files", *folders], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    files = [file for file in listed if file.endswith((".h", ".cpp", ".td")) and (ROOT / file).exists()]
    wrong = [fault for file in files for fault in faults(file, (ROOT / file).read_text())]
    print("\n".join(wrong) or f"{len(files)} files name no library")
    sys.exit(1 if wrong or not files else 0)


main()
