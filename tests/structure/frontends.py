"""Checks that a frontend is its folder alone: no file outside of frontends/ and tests/frontends/ names the folder of one, in includes, targets, scripts or comments. Pages of documentation may."""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
OWN = ("frontends/", "tests/frontends/")
FRONTENDS = sorted(path.parent.name for path in ROOT.glob("frontends/*/frontend.cpp"))
NAMED = re.compile(r"\b(?:frontends/|sgd_frontends_)(?:%s)\b" % "|".join(FRONTENDS) + r"|\bget(?:%s)Frontend\b" % "|".join(map(str.capitalize, FRONTENDS)))


def faults(file, text):
    for number, line in enumerate(text.splitlines(), 1):
        if found := NAMED.search(line):
            yield f"{file}:{number}: names {found[0]}; expected files outside of a frontend's folder to know frontends/frontends.h alone"


def self_test():
    for line in ('#include "frontends/stablehlo/import.h"', "DEPS sgd_frontends_native", "getStablehloFrontend()", "for folder in frontends/stablehlo; do"):
        assert list(faults("compiler/a.cpp", line)), line
    for line in ('#include "frontends/frontends.h"', '#include "frontends/text/mlir_text.h"', "DEPS sgd_frontends sgd_frontends_text", "for folder in frontends/*; do"):
        assert not list(faults("compiler/a.cpp", line)), line


def main():
    self_test()
    listed = subprocess.run(["git", "grep", "-I", "-l", "-e", ""], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\n")
    files = [file for file in listed if file and not file.startswith(OWN) and not file.endswith((".md", ".mlir")) and file != "tests/structure/frontends.py"]
    wrong = [fault for file in files if (ROOT / file).exists() for fault in faults(file, (ROOT / file).read_text(errors="replace"))]
    print("\n".join(wrong) or f"{len(files)} files name none of {', '.join(FRONTENDS)}")
    sys.exit(1 if wrong or not FRONTENDS else 0)


main()
