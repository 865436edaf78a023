"""Axes that do not divide the dimensions they shard: parameters, batches, state in files and on other numbers of ranks."""
import json

import compare_tensors
import harness

ZERO3 = harness.Model("gpt_zero3")  # parameters of 64, 128 and 256 rows and a batch of 8, all over "data"
MLP = harness.Model("mlp_digits")


def check_values(folder, model, sizes):
    artifact, _, ranks = model.compile(folder, sizes)
    actual = harness.run_once(artifact, ranks, model.data / "inputs.safetensors", folder / "out.safetensors")
    expected = compare_tensors.load(model.data / "expected.safetensors")
    assert compare_tensors.compare(actual, expected, {}, "result", quiet=True) == 0, f"wrong values on {sizes}"


def parameters_and_batch(folder):
    check_values(folder, ZERO3, {"data": 3})


def batch(folder):
    check_values(folder, MLP, {"data": 5})


def train(folder, ranks, steps, *extra):
    artifact, _, _ = ZERO3.compile(folder, {"data": ranks})
    log = folder / "log.jsonl"
    harness.tool("sgdrun", "-n", ranks, artifact, "--batches", ZERO3.data / "batches.safetensors", "--carry-json", ZERO3.carry_file(folder),
                 "--steps", steps, "--log-json", log, *extra)
    return [row["loss"] for row in map(json.loads, log.read_text().splitlines()) if "loss" in row]


def checkpoints_on_other_ranks(folder):
    init = ["--init", ZERO3.data / "inputs.safetensors"]
    whole = train(folder, 2, 6, *init)
    parts = train(folder, 3, 2, *init, "--save", folder / "save")
    parts += train(folder, 2, 2, "--resume", folder / "save", "--save", folder / "save")
    parts += train(folder, 3, 2, "--resume", folder / "save")
    worst = max(abs(a - b) for a, b in zip(parts, whole))
    assert len(parts) == len(whole) and worst < 1e-4, f"losses differ by {worst}: {parts} {whole}"


def equal_bits(folder):
    artifact, _, ranks = ZERO3.compile(folder, {"data": 3})
    files = [folder / f"{threads}.safetensors" for threads in (1, 2)]
    for path, threads in zip(files, (1, 2)):
        harness.run_once(artifact, ranks, ZERO3.data / "inputs.safetensors", path, "--threads", threads)
    assert files[0].read_bytes() == files[1].read_bytes(), "one and two threads differ"


def report_counts_what_is_sent(folder):
    artifact, report, ranks = ZERO3.compile(folder, {"data": 3})
    bench = json.loads(harness.tool("sgdrun", "-n", ranks, artifact, "--bench", 2, "--inputs", ZERO3.data / "inputs.safetensors").stdout.splitlines()[-1])
    assert bench["sent_bytes"] == report["sent_bytes"], f"measured {bench['sent_bytes']} bytes sent, reported {report['sent_bytes']}"
    assert bench["arena_bytes"] == report["memory"]["peak"], "more or less memory than reported"
    text = harness.tool("sgd-inspect", artifact).stdout
    assert "[data, -]" in text and "f32[22," in text, f"no shard of 64 rows over 3 ranks in:\n{text}"


TESTS = (parameters_and_batch, batch, checkpoints_on_other_ranks, equal_bits, report_counts_what_is_sent)
harness.main([(f.__name__.replace("_", " "), f) for f in TESTS])
