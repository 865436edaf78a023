"""Tests how the benchmark judges metrics: ratios, limits, verdicts and tables; and that it runs without any peer. usage: bench_test.py BUILD"""
import json
import pathlib
import subprocess
import sys
import tempfile

import commands
import measure
import models
import table
from sections import bytes as bytes_section
from sections import collectives, compile as compile_section, limits, memory, scaling, start, step, updates
from table import Row

HERE = pathlib.Path(__file__).resolve().parent


def rows():
    judged = {
        "ratio to the best peer": (Row("s", "w", 2.0, "ms", {"A": 4.0, "B": 2.5}, 0.7), 0.8, "over"),
        "a missing peer is no peer": (Row("s", "w", 2.0, "ms", {"A": None, "B": 4.0}, 0.7), 0.5, "ok"),
        "no peer, no verdict": (Row("s", "w", 2.0, "ms", {"A": None}, 0.7), None, ""),
        "the metric itself": (Row("s", "w", 2.0, "ms", limit=2.0), None, "ok"),
        "over its limit": (Row("s", "w", 2.1, "ms", limit=2.0), None, "over"),
        "no limit": (Row("s", "w", 2.0, "ms", {"A": 1.0}), 2.0, ""),
    }
    for name, (row, ratio, verdict) in judged.items():
        assert row.ratio() == ratio and row.verdict() == verdict, name
    header, lines = table.grid([row for row, _, _ in judged.values()])
    assert header == ["", "ours", "A", "B", "ratio", "limit", "verdict"], header
    assert lines[1][2:4] == ["-", "4.000"], lines
    text = table.markdown([Row("s", "w", 1234567, "B", limit=3)])
    assert text.splitlines() == ["|  | ours | limit | verdict |", "| --- | --- | --- | --- |", "| w | 1,234,567 B | 3.000 | over |"], text


class FakeModel:
    name, ranks, is_small, has_torch, folder = "m", 2, False, True, pathlib.Path(".")
    reference = {"sent_bytes_per_device_per_step": 50}
    description = {"programs": [{"sent_bytes": 40}]}


def case_rows():
    model = FakeModel()

    def measured(text, ranks, threads, step_ms):
        case = models.Case(model, text, ranks, threads)
        ours = {"compile_s": 1.0, "step_ms": step_ms, "start_ms": 150.0, "pss_bytes": 90e6, "arena_bytes": 20e6, "sent_bytes": 40}
        return measure.Measured(case, ours, {"compile_s": 4.0, "step_ms": 30.0, "peak_bytes": 10e6}, {"step_ms": 20.0})

    context = measure.Context(None, [model], [measured("many", 2, 1, 12.0), measured("one", 1, 2, 11.0), measured("one", 1, 1, 20.0)], 1, 2)
    found = {section.NAME: [(r.what, r.ratio(), r.verdict()) for r in section.rows(context)]
             for section in (step, compile_section, start, memory, scaling, bytes_section)}
    assert found["step"] == [("m, 2 ranks", 0.6, "ok"), ("m, 1 rank, 2 threads", 0.55, "ok"), ("m, 1 rank, 1 thread", 1.0, "ok")], found
    assert found["compile"] == [("m, 2 ranks", 0.25, "ok"), ("m, 1 rank", 0.25, "ok")], found
    assert [verdict for _, _, verdict in found["start"]] == ["over", "over", "over"], "limits are 124, 122 and 140 ms"
    assert [verdict for _, _, verdict in found["memory"]] == ["over"] * 5, found
    assert found["scaling"] == [("m, 1 rank, 2 threads", 1.1, "ok"), ("m, 2 ranks", 12 / 11, "over")], found
    assert found["bytes"] == [("m, 2 ranks", 0.8, "ok")], found


def collective_rows():
    class Tools:
        mpi = None

        def collectives(self, ranks):
            return {("all_reduce", 1024): 10.0, ("all_reduce_apart", 1024): 14.0, ("reduce_scatter", 1024): 12.0, ("copy", 1024): 4.0}

    found = [(r.what, next(iter(r.peers)), r.verdict()) for r in collectives.rows(measure.Context(Tools(), [], [], 2, 2))]
    assert found == [("all_reduce of 1 MiB, 2 ranks", "MPI", ""), ("reduce_scatter of 1 MiB, 2 ranks", "MPI", ""),
                     ("all_reduce of 1 MiB, 4 ranks", "MPI", ""), ("reduce_scatter of 1 MiB, 4 ranks", "MPI", ""),
                     ("all_reduce of 1 MiB, 2 ranks", "memory floor", "over"), ("all_reduce_apart of 1 MiB, 2 ranks", "memory floor", "over"),
                     ("reduce_scatter of 1 MiB, 2 ranks", "memory floor", "over"),
                     ("reduce_scatter of 1 MiB, 2 ranks", "all_reduce apart", "over")], found


def update_rows():
    class Tools:
        def compile(self, text, artifact, *flags):
            # On two ranks the compiler chooses whole updates.
            artifact.write_text("sharded" if flags[1:] == ("data=4", "--shard-updates=auto") else "whole")

        def bench(self, artifact, ranks, threads, steps, inputs):
            return {"min_ms": 9.0 if artifact.read_text() == "sharded" else 10.0}

    with tempfile.TemporaryDirectory() as folder:
        model = FakeModel()
        model.folder, model.text, model.inputs, model.description = pathlib.Path(folder), "text", None, {"mesh": [["data", 2]]}
        found = [(r.what, r.ratio(), r.verdict()) for r in updates.rows(measure.Context(Tools(), [model], [], 2, 2))]
    assert found == [("m, 4 ranks", 0.9, "ok")], found


def limit_rows():
    class Tools:
        def write_transformer(self, text, layers, **sizes):
            text.write_text(str(layers))

        def compile_within(self, text, artifact, limit=None):
            seconds = int(text.read_text()) / 10
            return (seconds, 1000) if limit is None else (3 * seconds, None) if limit == 500 else (seconds, limit)

    found = [(r.what, r.verdict(), r.note) for r in limits.rows(measure.Context(Tools(), [], [], 1, 2))]
    assert found[:4] == [("8 layers, 90% of the peak", "ok", ""), ("8 layers, 70% of the peak", "ok", ""), ("8 layers, 50% of the peak", "over", "refused"),
                         ("8 layers, a byte", "ok", "")], found
    assert len(found) == 10, found


def whole_runs(build):
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        text = folder / "own.mlir"
        text.write_text("""
module @own {
  sdy.mesh @mesh = <["data"=2]>
  func.func public @main(%arg0: tensor<4x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}, %arg1: tensor<3xbf16>, %arg2: tensor<i32>)
      -> (tensor<4x3xf32>) {
    %0 = stablehlo.add %arg0, %arg0 : tensor<4x3xf32>
    return %0 : tensor<4x3xf32>
  }
}
""")
        # The bare interpreter has no peer. Times are measured, not judged: limits may be passed on a busy machine.
        output, _ = commands.run("/usr/bin/python3", HERE / "bench.py", text, "--build", build, "--only", "step,start,plan,bytes", "--rounds", 1,
                                 "--json", folder / "rows.json", "--markdown", folder / "rows.md")
        assert "own, 2 ranks" in output, output
        found = json.loads((folder / "rows.json").read_text())["rows"]
        assert list(dict.fromkeys(row["section"] for row in found)) == ["step", "start", "plan", "bytes"], found
        assert found[0]["verdict"] == "", "there is no peer"
        assert "### Bytes sent beside XLA" in (folder / "rows.md").read_text()

        tools = commands.Tools(pathlib.Path(build), None)
        own = models.Model(str(text), None, folder, tools)
        named = folder / "named.safetensors"
        header = {"arg1": {"dtype": "BF16", "shape": [3], "data_offsets": [0, 6]}}
        models.write(named, header, [bytes(6)])
        assert own.by_position(named) == named
        own.main_inputs()[1]["name"] = "bias"
        models.write(named, {"bias": header["arg1"]}, [bytes(6)])
        assert own.by_position(named).read_bytes() == named.read_bytes().replace(b"bias", b"arg1")
        assert own.inputs.stat().st_size > 4 * 12 + 6 + 4


def refusals(build):
    for arguments, message in [(["nothing.mlir"], "nothing.mlir: neither a model of"), (["--only", "speed"], "--only: no section speed"),
                               (["--inputs", "x"], "--inputs is for one model"), (["--rounds", "0"], "--rounds: at least one")]:
        result = subprocess.run([sys.executable, HERE / "bench.py", "--build", build, *arguments], capture_output=True, text=True)
        assert result.returncode != 0 and message in result.stderr, result.stderr


rows()
case_rows()
collective_rows()
update_rows()
limit_rows()
whole_runs(sys.argv[1])
refusals(sys.argv[1])
