"""The commands of the wheel: each replaces this process by the program of its name."""

import os
import pathlib
import sys

FOLDER = pathlib.Path(__file__).resolve().parent / "bin"


def run(name: str) -> None:
    path = FOLDER / name
    try:
        os.execv(path, [name, *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"{name}: error: cannot run {path}: {error.strerror}; install the wheel anew")


def sgdc() -> None:
    run("sgdc")


def sgdrun() -> None:
    run("sgdrun")


def sgd_inspect() -> None:
    run("sgd-inspect")


def sgd_sim() -> None:
    run("sgd-sim")


def sgd_ckpt() -> None:
    run("sgd-ckpt")
