"""Starts the packed sgdrun, whatever C library this machine has."""
import functools
import json
import os
import pathlib
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
TIMEOUT = float(os.environ.get("SGD_TIMEOUT", 300))


class ResultError(Exception):
    """A run had another outcome than asked for."""


@functools.cache
def start():
    """The words of a command that starts it: with this system's loader where that will do, else with the packed one.

    The packed loader does not look into LD_LIBRARY_PATH when it is told where to look, so it is told that as well; and it must find the libraries
    of its own system before this one's.
    """
    native = {**os.environ, "LD_LIBRARY_PATH": ":".join([str(HERE / "libraries"), os.environ.get("LD_LIBRARY_PATH", "")]).rstrip(":")}
    program = str(HERE / "bin" / "sgdrun")
    try:
        if "SGD_OWN_LIBC" in os.environ:
            raise OSError("asked to use the packed C library")
        if subprocess.run([program, "--version"], env=native, capture_output=True, timeout=TIMEOUT).returncode == 0:
            return [program], native
    except OSError:
        pass
    folders = [str(HERE / "system"), str(HERE / "libraries"), os.environ.get("LD_LIBRARY_PATH", "")]
    return [str(HERE / "bin" / "loader"), "--library-path", ":".join(filter(None, folders)), program], dict(os.environ)


def attempt(*arguments, env=None):
    command, environment = start()
    return subprocess.run([*command, *map(str, arguments)], env={**environment, **(env or {})}, capture_output=True, text=True, timeout=TIMEOUT)


def run(*arguments, env=None):
    """Returns its output; ResultError with its messages when it did not succeed."""
    done = attempt(*arguments, env=env)
    if done.returncode != 0:
        raise ResultError(f"exit code {done.returncode}: {done.stderr.strip()[-1500:]}")
    return done.stdout


def fails(*arguments, env=None):
    """Returns its message when it refused; ResultError when it did not, or not in the ordinary way."""
    done = attempt(*arguments, env=env)
    if done.returncode != 1:
        raise ResultError(f"exit code {done.returncode}, expected 1: {done.stderr.strip()[-1500:]}")
    return done.stderr.strip()


def bench(artifact, steps, *flags):
    """The metrics of a benchmark on one rank."""
    return json.loads(run("-n", 1, artifact, "--bench", steps, *flags).splitlines()[-1])
