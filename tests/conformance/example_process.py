"""Runs one example of JAX, unmodified, and records the results and times of each call of a function that it compiles.

    python example_process.py '{"path": ..., "record": ..., ...}'       (started by jax_examples.py)

The example gets stand-ins for packages of data, and `jax.jit` and `jax.pmap` that record. A script runs as `__main__`. A notebook runs cell by cell, as
its readers do: a cell that raises an error does not end it. `steps` limits the calls of one function: a script ends after them, and a notebook's cell.
"""
import ast
import contextlib
import functools
import importlib
import io
import json
import multiprocessing
import os
import pathlib
import re
import resource
import runpy
import sys
import time

FOLDER = pathlib.Path(__file__).resolve().parent
SMALL = 64  # results of more elements are recorded in calls 1, 2, 4, 8, ... only: to read them takes time


class Enough(BaseException):
    """Ends a script, or a notebook's cell, after enough steps. Examples that catch exceptions do not catch it."""


class Recorder:
    def __init__(self, path, steps):
        self.out, self.steps, self.counts = open(path, "w"), steps, {}

    def write(self, **row):
        self.out.write(json.dumps(row) + "\n")
        self.out.flush()

    def call(self, name, function, args, kwargs):
        """Calls a compiled function, waits for its results, and records both."""
        import jax

        count = self.counts[name] = self.counts.get(name, 0) + 1
        if count > self.steps:
            raise Enough
        wall, cpu = time.perf_counter(), time.process_time()
        results = function(*args, **kwargs)
        leaves = [leaf for leaf in jax.tree_util.tree_leaves(results) if isinstance(leaf, jax.Array)]
        jax.block_until_ready(leaves)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        self.write(call=name, count=count, wall=wall, cpu=cpu, values=digests(leaves, count & (count - 1) == 0))
        return results


def numbers_of(leaf):
    """An array's elements as float64, or None for types without numbers."""
    import jax
    import numpy as np

    if jax.dtypes.issubdtype(leaf.dtype, jax.dtypes.prng_key):
        leaf = jax.random.key_data(leaf)
    array = np.asarray(leaf)
    if array.dtype.kind == "c":
        array = np.stack([array.real, array.imag])
    try:
        return array.astype(np.float64)
    except (TypeError, ValueError):
        return None


def digests(leaves, all_sizes):
    """Per array: its mean, root of the mean square, and mean weighted by position; the value itself of a scalar; null for arrays left out."""
    import numpy as np

    found = []
    for leaf in leaves:
        if leaf.is_deleted() or not leaf.size or (leaf.size > SMALL and not all_sizes):
            found.append(None)
            continue
        numbers = numbers_of(leaf)
        if numbers is None:
            found.append(None)
        elif numbers.size == 1:
            found.append([float(numbers.ravel()[0])])
        else:
            flat = numbers.ravel()
            found.append([float(flat.mean()), float(np.sqrt(np.mean(flat * flat))), float(np.mean(flat * np.cos(np.arange(flat.size))))])
    return found


class Recorded:
    """A compiled function that records its calls, except in the tracing of others."""

    def __init__(self, recorder, function, name):
        self.__dict__.update(_recorder=recorder, _function=function, _name=name)
        functools.update_wrapper(self, function, updated=())

    def __call__(self, *args, **kwargs):
        from jax._src import core

        if not core.trace_state_clean():
            return self._function(*args, **kwargs)
        return self._recorder.call(self._name, self._function, args, kwargs)

    def __getattr__(self, name):
        return getattr(self._function, name)

    def __get__(self, instance, owner=None):
        return self if instance is None else functools.partial(self, instance)


def name_of(function):
    while True:
        inner = getattr(function, "func", None) or getattr(function, "__wrapped__", None)
        if inner is None:
            return getattr(function, "__name__", type(function).__name__)
        function = inner


def recording(recorder, transform):
    """A transformation, such as jax.jit, whose compiled functions record their calls."""

    @functools.wraps(transform)
    def made(fun=None, *args, **kwargs):
        if fun is None or not callable(fun):
            return functools.partial(made, *args, **kwargs)
        return Recorded(recorder, transform(fun, *args, **kwargs), name_of(fun))

    return made


class Printed:
    """Standard output that records the numbers of each line, except of lines about time."""

    def __init__(self, recorder, out):
        self.recorder, self.out, self.line = recorder, out, ""

    def write(self, text):
        self.out.write(text)
        *lines, self.line = (self.line + text).split("\n")
        for line in lines:
            numbers = re.findall(r"(?<![\w.])-?\d+\.\d+(?:e[+-]?\d+)?", line)
            if numbers and not re.search("sec|time|/s", line, re.I):
                text = re.sub(r"\s+", "", re.sub(r"[-\d.e+]+", "N", line))  # NumPy aligns numbers by their digits
                self.recorder.write(printed=text[:80], numbers=numbers, values=[])
        return len(text)

    def __getattr__(self, name):
        return getattr(self.out, name)


def cells_of(path):
    """The code of a notebook, .ipynb or MyST markdown, without commands of IPython."""
    if path.suffix == ".ipynb":
        texts = ["".join(cell["source"]) for cell in json.loads(path.read_text())["cells"] if cell["cell_type"] == "code"]
    else:
        texts = [re.sub(r"\A(?::[^\n]*\n|---\n.*?\n---\n)+", "", text, flags=re.S) for text in re.findall(r"^```\{code-cell\}[^\n]*\n(.*?)^```", path.read_text(), re.S | re.M)]
    return ["\n".join(line for line in text.splitlines() if not re.match(r"\s*[%!]", line)) for text in texts]


def run_cell(text, names):
    """Runs a cell, and returns the value of its last expression, as IPython does."""
    tree = ast.parse(text)
    last = ast.Expression(tree.body.pop().value) if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "<cell>", "exec"), names)  # noqa: S102
    return eval(compile(last, "<cell>", "eval"), names) if last else None  # noqa: S307


def run_notebook(path, settings, recorder):
    import linecache

    import jax

    cells = cells_of(path)
    if not cells:
        raise ValueError(f"{path} has no cells of code: it should be a notebook or MyST markdown")
    names = {"__name__": "__main__", "display": print, "get_ipython": lambda: None}
    for number, text in enumerate(cells):
        for name, value in settings.items():
            text = re.sub(rf"^{name} *=(?!=) *[^#\n]+", f"{name} = {value} ", text, flags=re.M)
        linecache.cache["<cell>"] = (len(text), None, text.splitlines(keepends=True), "<cell>")
        printed, error, value = io.StringIO(), "", None
        recorder.counts.clear()  # each cell has its own limit of steps
        try:
            with contextlib.redirect_stdout(printed):
                value = run_cell(text, names)
        except Enough:
            recorder.write(note="enough steps")
        except Exception as caught:  # noqa: BLE001: errors are part of some notebooks
            error = f"{type(caught).__name__}: {caught}"
        leaves = [leaf for leaf in jax.tree_util.tree_leaves(value) if isinstance(leaf, jax.Array)]
        recorder.write(cell=number, error=error, values=digests(leaves, True), output=printed.getvalue()[-4000:])


def install_stand_ins(task):
    sys.path.insert(0, str(FOLDER / "synthetic_data"))
    sys.path.insert(0, str(pathlib.Path(task["path"]).parent))
    for name, module in task.get("modules", {}).items():
        sys.modules[name] = importlib.import_module(module)
        if "." in name:
            setattr(sys.modules.setdefault(name.split(".")[0], type(sys)(name.split(".")[0])), name.split(".")[1], sys.modules[name])


def run(task):
    import numpy as np

    os.environ.setdefault("MPLBACKEND", "Agg")
    import jax

    resource.setrlimit(resource.RLIMIT_CPU, (task["processor_seconds"], task["processor_seconds"] + 10))
    recorder = Recorder(task["record"], task["steps"])
    jax.jit, jax.pmap = recording(recorder, jax.jit), recording(recorder, jax.pmap)
    install_stand_ins(task)
    if (FOLDER / "synthetic_data" / "tensorflow").exists():
        import tensorflow as tf

        tf.summary.recorder = lambda name, value, step: None if re.search("second|time|step", name) else recorder.write(summary=name, step=step, values=[[value]])
    np.random.seed(0)
    import random

    random.seed(0)
    path = pathlib.Path(task["path"])
    os.chdir(path.parent)
    sys.argv = [str(path), *task.get("arguments", [])]
    try:
        if path.suffix == ".py":
            sys.stdout = Printed(recorder, sys.stdout)
            runpy.run_path(str(path), run_name="__main__")
        else:
            run_notebook(path, task.get("settings", {}), recorder)
    except Enough:
        recorder.write(note="enough steps")
    except SystemExit as end:
        if end.code not in (None, 0):
            raise
    used = resource.getrusage(resource.RUSAGE_SELF)
    recorder.write(peak=used.ru_maxrss / 1024, processor=used.ru_utime + used.ru_stime)


if __name__ == "__main__":
    run(json.loads(sys.argv[1]))
    sys.stdout.flush()
    for child in multiprocessing.active_children():
        child.terminate()
    os._exit(0)  # Threads of data loaders that an example left open would keep the process.
