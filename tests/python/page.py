"""Executes the Python blocks of a page, one after the other in one namespace and folder."""
import os
import pathlib
import re
import sys
import warnings

from steps import harness

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def executes(folder):
    os.chdir(folder)
    warnings.simplefilter("ignore")
    page = (ROOT / sys.argv[1]).read_text()
    names, blocks = {"__name__": "__main__"}, re.findall(r"^```python\n(.*?)^```$", page, re.M | re.S)
    assert len(blocks) > 3, len(blocks)
    for block in blocks:
        print(block)
        exec(compile(block, sys.argv[1], "exec"), names)
    losses = [line.loss for line in names["log"] if "loss" in line]
    assert losses[-1] < 0.2, losses


harness.main([(sys.argv[1], executes)])
