"""The digits example end to end: init, train and eval programs, feeds, evaluation, saving and resuming; the same for every number of ranks."""
import json
import pathlib

import harness

EXAMPLE = pathlib.Path(__file__).resolve().parent.parent.parent / "examples" / "digits"
DATA = EXAMPLE / "train.safetensors"
FEED = ["--feed", "x=x,y=y", "--seed", "1", "--data"]


def compile_for(folder, ranks):
    artifact = folder / f"digits{ranks}.sgda"
    harness.tool("sgdc", *(f"{name}={EXAMPLE / name}.mlir" for name in ("init", "train", "eval")), "--mesh", f"data={ranks}", "-o", artifact)
    return artifact


def train(folder, ranks, steps, *extra, artifact=None, log="log.jsonl", data=DATA):
    artifact = artifact or compile_for(folder, ranks)
    result = harness.tool("sgdrun", "-n", ranks, artifact, "--steps", steps, "--log-json", folder / log, *FEED, data, *extra)
    rows = [json.loads(line) for line in (folder / log).read_text().splitlines()]
    return [row["loss"] for row in rows if "loss" in row and "step" in row and "seconds" in row], rows, result.stdout + result.stderr


def learns(folder):
    losses, rows, text = train(folder, 4, 110, "--eval-every", 110, "--eval-data", DATA)
    assert losses[-1] < 0.1 < losses[0], f"losses {losses[0]} .. {losses[-1]}"
    accuracy = rows[-1]["eval"]["accuracy"]
    assert accuracy > 0.97, f"accuracy {accuracy} on the training rows"


def ranks_agree(folder):
    one, _, _ = train(folder, 1, 20)
    for ranks in (2, 4):
        many, _, _ = train(folder, ranks, 20)
        worst = max(abs(a - b) for a, b in zip(one, many))
        assert worst < 1e-4, f"{ranks} ranks: losses differ by {worst}"


def resumes_with_equal_bits(folder):
    artifact = compile_for(folder, 2)
    whole, _, _ = train(folder, 2, 16, "--outputs", folder / "whole.safetensors", artifact=artifact, log="whole.jsonl")
    first, _, _ = train(folder, 2, 9, "--save", folder / "save", artifact=artifact, log="first.jsonl")
    second, _, _ = train(folder, 2, 7, "--resume", folder / "save", "--outputs", folder / "resumed.safetensors", artifact=artifact, log="second.jsonl")
    assert first + second == whole, "the resumed losses differ"
    assert (folder / "whole.safetensors").read_bytes() == (folder / "resumed.safetensors").read_bytes(), "the resumed outputs differ"


def resumes_on_other_ranks(folder):
    train(folder, 2, 5, "--save", folder / "save")
    losses, _, _ = train(folder, 4, 5, "--resume", folder / "save")
    whole, _, _ = train(folder, 1, 10)
    worst = max(abs(a - b) for a, b in zip(losses, whole[5:]))
    assert worst < 1e-4, f"losses differ by {worst}"


def notes_other_data(folder):
    artifact = compile_for(folder, 2)
    train(folder, 2, 3, "--save", folder / "save", artifact=artifact)
    _, _, same = train(folder, 2, 1, "--resume", folder / "save", artifact=artifact)
    data = bytearray(DATA.read_bytes())
    data[-64:] = data[-128:-64]  # other labels: rows, names and types are equal
    (folder / "other.safetensors").write_bytes(data)
    _, _, other = train(folder, 2, 1, "--resume", folder / "save", artifact=artifact, data=folder / "other.safetensors")
    assert "the data differs" not in same, same
    assert "the data differs from the checkpoint's, which was: rows" in other, other


def refuses_a_damaged_checkpoint(folder):
    train(folder, 2, 3, "--save", folder / "save")
    largest = max((f for f in (folder / "save").rglob("*") if f.is_file()), key=lambda f: f.stat().st_size)
    data = bytearray(largest.read_bytes())
    data[len(data) // 2] ^= 4
    largest.write_bytes(data)
    result = harness.tool("sgdrun", "-n", 2, compile_for(folder, 2), "--steps", 1, "--resume", folder / "save", *FEED, DATA, check=False)
    assert result.returncode == 1 and result.stderr.strip(), f"exit code {result.returncode}"


def logs_are_continued_or_kept(folder):
    """A new run refuses the log of another one before it trains; a resumed run appends to it."""
    artifact, log = compile_for(folder, 2), folder / "log.jsonl"
    train(folder, 2, 3, "--save", folder / "save", artifact=artifact)
    first = log.read_text()
    flags = ["-n", 2, artifact, "--steps", 2, "--log-json", log, *FEED, DATA]
    refused = harness.tool("sgdrun", *flags, "--save", folder / "other", check=False, keep_log=True)
    assert refused.returncode == 1 and f"sgdrun: {log}: exists; expected no file there; give another path" in refused.stderr, refused.stderr
    assert log.read_text() == first and not list((folder / "other").glob("step-*"))
    log.write_text(first + '{"step": 3, "sec')  # the run was killed within a line
    harness.tool("sgdrun", *flags, "--resume", folder / "save", keep_log=True)
    lines = log.read_text().splitlines()
    before = [*first.splitlines(), '{"step": 3, "sec']
    assert lines[:len(before)] == before and [json.loads(line)["step"] for line in lines[len(before):]] == [3, 4], lines
    harness.tool("sgdrun", *flags[:5], "--log-json", "/dev/null", *FEED, DATA)


harness.main([(f.__name__.replace("_", " "), f) for f in (learns, ranks_agree, resumes_with_equal_bits, resumes_on_other_ranks, notes_other_data, refuses_a_damaged_checkpoint,
                                                               logs_are_continued_or_kept)])
