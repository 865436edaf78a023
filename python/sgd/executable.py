"""Compiled steps on ranks that are threads of this process."""

import json
import numbers
import os
import pathlib
import tempfile
import threading
import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from sgd import _sgd, arrays, checkpoint, feeding, flags, html, records
from sgd.errors import CompileError, InputError, RunError, RunNote
from sgd.programs import Program


PORTABLE = "x86-64-v3"
"""The CPU of artifacts that leave the machine."""


class Shared:
    """What views of one executable share."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.ranks: Any = None
        self.programs: dict[str, Any] = {}
        self.folder: Any = None
        self.checkpoints: str | None = None


def check_settings(ranks: Any, threads: Any, timeout: Any) -> None:
    """Refuses what is no number of ranks, threads or seconds."""
    for name, value, least, expected in (("ranks", 1 if ranks is None else ranks, 1, "a positive integer"), ("threads", threads, 0, "an integer, 0 for the cores divided by ranks")):
        if not isinstance(value, numbers.Integral) or isinstance(value, bool) or not least <= value < 1 << 32:
            raise InputError(f"{name} is {value!r}; expected {expected}")
    if not isinstance(timeout, numbers.Real) or isinstance(timeout, bool) or not timeout > 0:
        raise InputError(f"timeout is {timeout!r}; expected a positive number of seconds")


class Executable:
    """A compiled program. Calling it runs one step on all ranks.

    Ranks start with the first call, share the cores of this machine, and stay until `close`. Executables of the same
    number of ranks share them, and take turns. Arguments and results are
    global: each rank gets its shard. A call belongs to one thread at a time; others wait."""

    def __init__(self, bundle: Any, plan: str | None, ranks: int | None, sources: Mapping[str, Program], threads: int, timeout: float):
        check_settings(ranks, threads, timeout)
        if plan is None and ranks is None and len(bundle.plans) > 1:
            names = ", ".join(f"'{name}'" for name in bundle.plans)
            raise InputError(f"{bundle.path}: it has {len(bundle.plans)} plans, {names}; expected one of them; choose it by plan=NAME or ranks=N")
        self._bundle = bundle
        self._artifact = bundle.load(plan, ranks)
        self._sources = dict(sources)
        self._threads, self._timeout = threads, timeout
        self._shared = Shared()
        self._lock = self._shared.lock
        self._bytes: bytes | None = None
        self._path: str | None = None
        self._request: Any = None
        self._description: Any = None
        self._name = ""
        self.report: Any = None
        """What `sgdc --report` says: `report.memory.peak`, `report.sent_bytes`, `print(report)`. None after `sgd.load`."""
        self.explain: Any = None
        """What `sgdc --explain` says: a record for each collective, and `print(explain)`. None after `sgd.load`."""
        self.recipe: Any = None
        """The recipe that `auto` found."""
        self.emitted = ""
        """The text of `emit`."""

    @classmethod
    def _of_compilation(cls, result: Any, report: Any, request: Any, plan: str | None, ranks: int | None, threads: int, timeout: float) -> "Executable":
        if not result.artifact:
            raise CompileError("sgdc: there is no artifact; expected a compilation with one; leave 'emit' out, or call sgd.emit")
        self = cls(_sgd.Bundle.from_bytes(result.artifact, "the compiled step"), plan, ranks, request.programs, threads, timeout)
        self._bytes, self._request = result.artifact, request
        self.report = report
        self.explain = records.read(result.explanation, result.explanation_text)
        self.recipe = json.loads(result.recipe) if result.recipe else None
        self.emitted = result.emitted
        return self

    def __getitem__(self, program: str) -> "Executable":
        """The same executable, whose calls run another of its programs: `exe["eval"](params, x)`."""
        if program not in self.programs:
            raise InputError(f"there is no program '{program}'; there are {', '.join(self.programs)}")
        view = object.__new__(type(self))
        view.__dict__ = {**self.__dict__, "_name": program}
        return view

    # What there is.

    @property
    def programs(self) -> tuple[str, ...]:
        """The names of the programs: `main` of a single one."""
        return tuple(self._artifact.programs)

    @property
    def program(self) -> str:
        """The program that a call runs: `main`, else `train`, else the only one."""
        return self._name or self._artifact.default_program

    @property
    def plans(self) -> tuple[str, ...]:
        """The plans of the artifact. `sgd.load(path, plan=...)` chooses one."""
        return tuple(self._bundle.plans)

    @property
    def plan(self) -> str:
        """The plan that calls run."""
        return self._artifact.plan

    @property
    def ranks(self) -> int:
        """The number of ranks, which are threads of this process."""
        return self._artifact.ranks

    @property
    def mesh(self) -> dict[str, int]:
        """Sizes of the axes of the mesh."""
        return dict(self._artifact.mesh)

    @property
    def inputs(self) -> "tuple[_sgd.TensorInfo, ...]":
        """Name, element type, shape, role and bytes per rank of each input. Starts no rank."""
        return tuple(self._artifact.inputs(self.program))

    @property
    def outputs(self) -> "tuple[_sgd.TensorInfo, ...]":
        """The same of each output."""
        return tuple(self._artifact.outputs(self.program))

    @property
    def description(self) -> Any:
        """What `sgd-inspect --json` says about the artifact."""
        if self._description is None:
            self._description = records.read(self._artifact.describe(), "")
        return self._description

    # Files.

    def to_bytes(self) -> bytes:
        """The artifact that runs here, as `sgdc -o` writes it."""
        return self._bytes if self._bytes is not None else pathlib.Path(self._path or "").read_bytes()

    def save(self, path: str | os.PathLike[str], *, cpu: str | None = None) -> None:
        """Writes the artifact, for `sgd.load`, `sgdrun` and `sgd-inspect`. The file is complete or untouched.

        Code of `sgd.compile` is for this machine's CPU. The file may go to others, so the program is compiled again for
        every CPU with AVX2 (`"x86-64-v3"`), unless `compile` was called with `cpu`. `cpu` here chooses another one:
        `"x86-64-v4"` has AVX-512, `"native"` is the code that calls run here, with the same bits in its results. An
        executable of `sgd.load` writes the artifact that it has."""
        _sgd.write_file(os.fspath(path), self._bytes_for(cpu))

    def _bytes_for(self, cpu: str | None) -> bytes:
        if self._request is None:
            if cpu is not None:
                raise InputError(f"{self._path}: save is called with cpu='{cpu}', and an artifact has no program to compile; leave cpu out, or compile the program with it")
            return self.to_bytes()
        if cpu is None:
            cpu = PORTABLE if self._request.is_native else self._request.flags.get("cpu")
        if cpu in (None, self._request.flags.get("cpu")) or (cpu == "native" and self._request.is_native):
            return self.to_bytes()
        return self._request.compile_for(cpu, self.recipe)

    def __reduce__(self) -> Any:
        raise TypeError("an sgd.Executable cannot be pickled or copied: it has ranks; write it by save(path), and read it by sgd.load(path)")

    # Runs.

    def _load(self) -> Any:
        with self._lock:
            name = self.program
            if self._shared.ranks is None:
                self._shared.ranks = _sgd.Ranks.start(self._artifact, self._threads)
            if name not in self._shared.programs:
                self._shared.programs[name] = _sgd.LoadedProgram.load(self._artifact, name, self._shared.ranks, self._timeout)
            program = self._shared.programs[name]
            if program.fault:
                program.restart()
            return program

    def close(self) -> None:
        """Frees the memory of the ranks, and ends them unless another executable uses them. A later call starts them again."""
        with self._lock:
            self._shared.programs.clear()
            self._shared.ranks = None

    def __enter__(self) -> "Executable":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Runs one step.

        Of a program from JAX, arguments have the structure of those that it was lowered with, and results that of the
        function. Of a PyTorch module they are those of `forward`; its weights are the exported ones. Of others, they
        are arrays in the order of `inputs`, or by name.

        Raises:
          InputError: arguments that do not fit. RunError: a rank that failed. The ranks start anew with the next call.
        """
        with self._lock:
            program = self._load()
            source = self._source()
            values = self._arguments(program, source, args, kwargs)
            outputs = self._step(program, values, source)
            return self._results(program, source, outputs)

    def run(self, inputs: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Runs one step with inputs by name (`"params['w']"`, or `"arg0"` by position), and returns outputs by name.

        Inputs that the last step left as they were may be left out."""
        with self._lock:
            program = self._load()
            values = {program.find_input(name): value for name, value in (inputs or {}).items()}
            outputs = self._step(program, values, self._source())
            return {info.name: value for info, value in zip(program.outputs, outputs, strict=True)}

    def _source(self) -> Program | None:
        return self._sources.get(self.program)

    def _check_sources(self) -> None:
        """Refuses programs that the artifact was not compiled from."""
        for name, source in self._sources.items():
            # The compiler makes `init`, `train` and `eval` of a model, whose exported weights `train` starts from.
            of = name if name in self.programs else self.program if source.weights and "train" in self.programs else ""
            if not of:
                raise InputError(f"{self._bundle.path}: there is no program '{name}', which like has; there are {', '.join(self.programs)}; "
                                 "expected the programs that the artifact was compiled from; name them, {'train': step}, or leave like out and pass arrays by name")
            try:
                feeding.check_program(source, of, self._artifact.inputs(of), self._artifact.outputs(of))
            except InputError as error:
                raise InputError(f"{self._bundle.path}: {error}") from None

    def _arguments(self, program: Any, source: Program | None, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[int, Any]:
        inputs = program.inputs
        if source is not None and source.in_tree is not None and source.kept is not None and len(source.kept) == len(inputs):
            leaves = feeding.flatten_like(source.in_tree, args, kwargs)
            return {position: leaves[leaf] for position, leaf in enumerate(source.kept)}
        values = {program.find_input(name): value for name, value in kwargs.items()}
        if source is not None:
            for position, info in enumerate(inputs):
                if info.name in source.weights and position not in values and not program.has_input(position):
                    values[position] = source.weights[info.name]
        free = [position for position, info in enumerate(inputs) if position not in values]
        fed = [position for position in free if inputs[position].role == "Input"]
        if len(args) not in (len(free), len(fed)):
            names = ", ".join(inputs[position].name for position in free)
            raise InputError(f"program '{self.program}' is called with {len(args)} arrays; expected {len(free)}: {names}")
        if len(args) != len(free):
            free = fed
        return {**values, **dict(zip(free, args, strict=True))}

    def _step(self, program: Any, values: Mapping[int, Any], source: Program | None) -> list[Any]:
        inputs = program.inputs
        narrows = source is not None and source.framework == "jax"
        for position, value in values.items():
            info = inputs[position]
            what = f"input '{info.name}' of program '{self.program}'"
            program.set_input(position, arrays.bytes_of(value, info.element, info.shape, what, narrows))
        program.run()
        framework = source.framework if source is not None else ""
        types = source.out_types if source is not None and source.out_types is not None and len(source.out_types) == len(program.outputs) else None
        outputs = []
        for position, info in enumerate(program.outputs):
            array = arrays.empty(info.element, info.shape)
            program.read_output(position, arrays.as_bytes(array))
            outputs.append(arrays.of_framework(array, framework) if types is None else arrays.of_jax(array, types[position]))
        return outputs

    def _results(self, program: Any, source: Program | None, outputs: list[Any]) -> Any:
        if source is not None and source.out_tree is not None and source.out_tree.num_leaves == len(outputs):
            return source.out_tree.unflatten(outputs)
        if source is not None and source.framework == "torch":
            outputs = [value for value, info in zip(outputs, program.outputs, strict=True) if info.carry is None]
        return outputs[0] if len(outputs) == 1 else tuple(outputs)

    # Training.

    def train(
        self,
        data: Any,
        steps: int,
        *,
        init: Any = None,
        eval_data: Any = None,
        log: Callable[[Any], None] | None = None,
        **options: Any,
    ) -> records.Records:
        """Runs steps that carry their state, as `sgdrun` does, with the same order of rows and the same results.

        A second call goes on where the first has stopped. Between calls the state is a checkpoint in a temporary
        folder, or in `save`; `state` reads it.

        Args:
          data: a dictionary of arrays whose dimension 0 counts rows, by the names of inputs; a table of Arrow, whose columns
            have these names (see `sgd.data.from_arrow`); or a path or several, of files of Parquet or as of `sgdrun --data`.
          steps: further steps.
          init: values of the first step's state: pytrees by argument (`{"params": params}`), a `state_dict`, or a path.
            Without it a PyTorch module starts from its exported weights, others from the program `init`.
          eval_data: data for the program `eval`, with `eval_every=K`.
          log: is called with each line of the log as a record.
          **options: other flags of `sgdrun`, with `_` for `-`: `seed=1`, `eval_every=50`, `save="DIR"`, `save_every=100`,
            `resume="DIR"`, `feed="x=images"`, `guard=True`, `loss="result.loss"`.

        Ctrl-C stops the ranks after their step and saves the state; a second one ends them at once.

        Returns:
          the log: a record for each step, with `step`, `seconds`, `loss` and `outputs`, and for each event.
        """
        with self._lock:
            folder = self._temporary()
            given = [f"--steps={steps}", *flags.of_option("threads", self._threads or None)]
            for name, value in (("data", data), ("eval-data", eval_data)):
                given += [f"--{name}={path}" for path in feeding.data_paths(value, folder / f"{name}.safetensors", self._fed(options.get("feed")))]
            save = os.fspath(options.pop("save", None) or folder / "checkpoints")
            if "resume" not in options and self._shared.checkpoints is not None:
                options["resume"] = self._shared.checkpoints
            if "resume" not in options:
                if init is None:
                    init = self._exported_weights()
                if init is not None:
                    given.append(f"--init={feeding.init_path(init, folder / 'init.safetensors')}")
            elif init is not None:
                raise InputError("init is given, and the run goes on from a checkpoint; expected one of them; call reset() to start anew")
            given.append(f"--save={save}")
            if save == os.fspath(folder / "checkpoints"):
                options.setdefault("keep", "last=1")
            given += [flag for name, value in options.items() for flag in flags.of_option(name, value)]
            lines: list[Any] = []

            def take(line: str) -> None:
                record = records.read(line, "")
                lines.append(record)
                if log is not None:
                    log(record)

            def note(text: str) -> None:
                warnings.warn(text, RunNote, stacklevel=3)

            try:
                _sgd.train(self._bundle, self._artifact.plan, given, take, note)
            finally:
                if checkpoint.exists(save):
                    self._shared.checkpoints = save
            return records.Records(lines)

    @property
    def state(self) -> dict[str, Any]:
        """The state after the last step of `train`, by name: parameters, optimizer state, counters."""
        if self._shared.checkpoints is None:
            raise RunError("there is no state yet; train first, or read a checkpoint by sgd.checkpoint.load")
        return checkpoint.load(self._shared.checkpoints)

    def reset(self) -> None:
        """Forgets the state of `train`; the next call starts anew."""
        with self._lock:
            self._shared.checkpoints = None
            if self._shared.folder is not None:
                self._shared.folder.cleanup()
                self._shared.folder = None

    def _fed(self, feed: Any) -> set[str]:
        """Names that columns of data may have."""
        names = {tensor.name for program in self.description.programs for tensor in program.inputs}
        return names | {pair.rpartition("=")[2] for flag in flags.of_option("feed", feed) for pair in flag.partition("=")[2].split(",")}

    def _exported_weights(self) -> Any:
        for source in self._sources.values():
            if source.weights:
                return source.weights
        return None

    def _temporary(self) -> pathlib.Path:
        if self._shared.folder is None:
            self._shared.folder = tempfile.TemporaryDirectory(prefix="sgd-")
        return pathlib.Path(self._shared.folder.name)

    # For people.

    def __repr__(self) -> str:
        mesh = ",".join(f"{axis}={size}" for axis, size in self.mesh.items()) or "no mesh"
        return f"<sgd.Executable of {', '.join(self.programs)} for {self.ranks} rank{'s' if self.ranks > 1 else ''} ({mesh})>"

    def _repr_html_(self) -> str:
        return html.executable(self)


def load(path: str | os.PathLike[str], *, plan: str | None = None, ranks: int | None = None, like: Any = None, threads: int = 0, timeout: float = 300) -> Executable:
    """Opens an artifact of `Executable.save` or `sgdc -o`.

    Of several plans, `plan` or `ranks` chooses one. `like` is the program that it was compiled from, whose structure of
    arguments and results calls have; another one is refused. Without it they are arrays. `threads` are those of a rank (0: cores divided by
    ranks), `timeout` bounds each wait of a rank for its peers, in seconds.

    Run only artifacts that you trust: they carry machine code."""
    from sgd import programs

    bundle = _sgd.Bundle.open(os.fspath(path))
    self = Executable(bundle, plan, ranks, programs.read_all(like) if like is not None else {}, threads, timeout)
    self._path = os.path.abspath(path)
    self._check_sources()
    return self
