"""Data sets in every format: the same losses on 1, 2 and 3 ranks, each row once per epoch, and exact resumption in mid-epoch on other ranks. The program counts the rows
that it is given; all its numbers are small integers, so sums are the same in any order."""
import json
import pathlib
import re
import subprocess

import numpy as np

import harness

DOCUMENTATION = pathlib.Path(__file__).resolve().parent.parent.parent / "docs" / "data.md"
BATCH, ROWS, WIDTH, IDS = 6, 24, 4, 64
EPOCH = ROWS // BATCH  # steps
# loss = sum(x * y); seen[i] += the number of rows that begin with i.
PROGRAM = f"""sdy.mesh @mesh = <["data"=1]>
func.func public @main(%seen: tensor<{IDS}xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{}}]>, tf.aliasing_output = 1 : i32}} loc("seen"),
    %x: tensor<{BATCH}x{WIDTH}xi32> {{sdy.sharding = #sdy.sharding<@mesh, [{{"data"}}, {{}}]>}} loc("x"),
    %y: tensor<{BATCH}x{WIDTH}xi32> {{sdy.sharding = #sdy.sharding<@mesh, [{{"data"}}, {{}}]>}} loc("y")) -> (tensor<f32> {{jax.result_info = "loss"}}, tensor<{IDS}xf32> {{jax.result_info = "seen"}}) {{
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %xf = stablehlo.convert %x : (tensor<{BATCH}x{WIDTH}xi32>) -> tensor<{BATCH}x{WIDTH}xf32>
  %yf = stablehlo.convert %y : (tensor<{BATCH}x{WIDTH}xi32>) -> tensor<{BATCH}x{WIDTH}xf32>
  %product = stablehlo.multiply %xf, %yf : tensor<{BATCH}x{WIDTH}xf32>
  %loss = stablehlo.reduce(%product init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<{BATCH}x{WIDTH}xf32>, tensor<f32>) -> tensor<f32>
  %first = stablehlo.slice %x [0:{BATCH}, 0:1] : (tensor<{BATCH}x{WIDTH}xi32>) -> tensor<{BATCH}x1xi32>
  %ids = stablehlo.broadcast_in_dim %first, dims = [0, 1] : (tensor<{BATCH}x1xi32>) -> tensor<{BATCH}x{IDS}xi32>
  %all = stablehlo.iota dim = 1 : tensor<{BATCH}x{IDS}xi32>
  %is = stablehlo.compare EQ, %ids, %all, SIGNED : (tensor<{BATCH}x{IDS}xi32>, tensor<{BATCH}x{IDS}xi32>) -> tensor<{BATCH}x{IDS}xi1>
  %one = stablehlo.convert %is : (tensor<{BATCH}x{IDS}xi1>) -> tensor<{BATCH}x{IDS}xf32>
  %count = stablehlo.reduce(%one init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<{BATCH}x{IDS}xf32>, tensor<f32>) -> tensor<{IDS}xf32>
  %next = stablehlo.add %seen, %count : tensor<{IDS}xf32>
  return %loss, %next : tensor<f32>, tensor<{IDS}xf32>
}}
"""


class Program:
    """The program on 1 to 3 ranks, and what is trained from zeros."""

    def __init__(self, folder):
        self.folder = folder
        (folder / "m.mlir").write_text(PROGRAM)
        harness.save(folder / "init.safetensors", {"seen": np.zeros(IDS, np.float32)})
        self.artifacts = {}

    def run(self, ranks, steps, data, *extra, resume=None, check=True):
        """Losses, the counts of rows by their first number, and messages."""
        if ranks not in self.artifacts:
            self.artifacts[ranks] = self.folder / f"m{ranks}.sgda"
            harness.tool("sgdc", self.folder / "m.mlir", "--mesh", f"data={ranks}", "-o", self.artifacts[ranks])
        log, out = self.folder / "log.jsonl", self.folder / "out.safetensors"
        start = ["--resume", resume] if resume else ["--init", self.folder / "init.safetensors"]
        result = harness.tool("sgdrun", "-n", ranks, self.artifacts[ranks], *start, "--steps", steps, "--log-json", log, "--outputs", out, "--seed", 5, *data, *extra, check=check)
        if result.returncode != 0:
            return None, None, result.stderr
        rows = harness.steps_of(log)
        assert all(row["input_seconds"] >= 0 for row in rows), rows
        return [row["loss"] for row in rows], harness.compare_tensors.load(out)["result1"][1].astype(int), result.stderr


def rows_of(first, count=ROWS):
    """x has its row's number in front, y is a function of it."""
    x = np.stack([np.arange(first, first + count), *(np.arange(count) % (k + 2) for k in range(WIDTH - 1))], axis=1)
    return x, x % 5 + 1


X, Y = rows_of(0)


def safetensors(folder):
    harness.save(folder / "d.safetensors", {"images": X.astype(np.int32), "labels": Y.astype(np.int64)})
    return ["--data", folder / "d.safetensors", "--feed", "x=images,y=labels"]


def many_files_of_many_kinds(folder):
    for name, part in (("a", slice(0, 5)), ("c", slice(5, 6)), ("e", slice(6, 17))):
        harness.save(folder / f"{name}.safetensors", {"x": X[part].astype(np.int64), "y": Y[part].astype(np.int64)})
    np.savez_compressed(folder / "f.npz", x=X[17:20], y=Y[17:20])
    np.savez(folder / "g.npz", y=Y[20:], x=X[20:])
    return ["--data", folder / "[ace].safetensors", "--data", f"{folder / 'f.npz'},{folder / 'g.npz'}"]


def a_folder_of_npy_shards(folder):
    (folder / "d").mkdir()
    for i, part in enumerate((slice(0, 9), slice(9, ROWS))):
        np.save(folder / "d" / f"x-{i:05}-of-00002.npy", X[part].astype(np.uint8))
    np.save(folder / "d" / "y.npy", Y.astype(np.uint16))
    return ["--data", folder / "d"]


def description(folder, *sources):
    (folder / "set.json").write_text(json.dumps({"sources": sources}))
    return ["--data", folder / "set.json"]


def windows_of_tokens(folder):
    """Windows begin at even numbers, which are their tokens' numbers too."""
    np.arange(0, 32).astype(np.uint16).tofile(folder / "a.bin")
    np.arange(32, 32 + 23).astype(np.uint16).tofile(folder / "b.bin")
    return [*description(folder, {"tokens": "*.bin", "type": "u16", "sequence": WIDTH, "stride": 2, "targets": True}), "--feed", "x=tokens,y=targets"], \
        [*range(0, 28, 2), *range(32, 52, 2)]


def packed_documents(folder):
    """48 documents of 1 or 3 tokens, so that 24 rows are full."""
    lengths = [1, 3] * ROWS
    tokens = np.concatenate([[i] * length for i, length in enumerate(lengths)])
    harness.save(folder / "d.safetensors", {"tokens": tokens.astype(np.int32), "offsets": np.cumsum([0, *lengths[:-1]])})
    return [*description(folder, {"tokens": "d.safetensors", "sequence": WIDTH, "documents": True}), "--feed", "x=tokens,y=segment_ids"], range(1, 2 * ROWS, 2)


FORMATS = [safetensors, many_files_of_many_kinds, a_folder_of_npy_shards, windows_of_tokens, packed_documents]


def same_on_all_ranks(make):
    def test(folder):
        data, ids = made if isinstance(made := make(folder), tuple) else (made, range(ROWS))
        once = np.isin(np.arange(IDS), list(ids)).astype(int)
        assert once.sum() == ROWS
        program = Program(folder)
        whole, seen, _ = program.run(1, 2 * EPOCH, data)
        assert (seen == 2 * once).all(), seen
        assert whole[:EPOCH] != whole[EPOCH:], "epochs are shuffled anew"
        losses, seen, _ = program.run(2, EPOCH, data)
        assert losses == whole[:EPOCH], (losses, whole)
        assert (seen == once).all(), seen
        first, _, _ = program.run(3, EPOCH + 2, data, "--save", folder / "save")
        second, seen, notes = program.run(2, EPOCH - 2, data, resume=folder / "save")
        assert first + second == whole, (first, second, whole)
        assert (seen == 2 * once).all(), seen
        assert "the data differs" not in notes, notes
    return make.__name__.replace("_", " "), test


def mixtures_keep_to_their_weights(folder):
    for name, first, count in (("a", 0, 10), ("b", 20, 40)):
        x, y = rows_of(first, count)
        np.savez(folder / f"{name}.npz", x=x, y=y)
    steps = 16
    # b has 1/3 at first, then 2/3.
    data = description(folder, {"name": "a", "files": "a.npz", "weight": 2}, {"name": "b", "files": "b.npz", "weight": [[7, 1], [8, 4]]})
    program = Program(folder)
    whole, seen, _ = program.run(1, steps, data)
    a, b = seen[:10], seen[20:60]
    assert (a.sum(), b.sum()) == (8 * 4 + 8 * 2, 8 * 2 + 8 * 4), seen
    assert a.max() - a.min() <= 1 and b.max() - b.min() <= 1, seen
    losses, _, _ = program.run(2, steps, data)
    assert losses == whole, (losses, whole)
    first, _, _ = program.run(3, 9, data, "--save", folder / "save")
    second, _, _ = program.run(2, steps - 9, data, resume=folder / "save")
    assert first + second == whole, (first, second, whole)
    changed = description(folder, {"name": "a", "files": "a.npz", "weight": 2}, {"name": "b", "files": "b.npz"})
    _, _, notes = program.run(2, 1, changed, resume=folder / "save")
    assert "the data differs from the checkpoint's, which was: source a weight 2 rows 10, source b weight [[7,1],[8,4]] rows 40, batch 6" in notes, notes


def broken_data_is_refused_before_training(folder):
    program = Program(folder)
    np.savez(folder / "good.npz", x=X, y=Y)
    good = (folder / "good.npz").read_bytes()
    np.save(folder / "x.npy", X)
    np.save(folder / "y.npy", Y)
    (folder / "short.npz").write_bytes(good[:-30])
    (folder / "t.bin").write_bytes(b"abc")
    (folder / "x-1.npy").write_bytes((folder / "x.npy").read_bytes()[:-8])
    np.save(folder / "y-1.npy", Y[:, :2])
    np.save(folder / "y-2.npy", Y[:5])
    np.save(folder / "y-3.npy", Y.astype(np.float32))
    large = Y.copy()
    large[3, 1] = 1 << 40
    np.save(folder / "y-4.npy", large)
    # The example of the documentation, whose rows are too long for the program.
    (folder / "web").mkdir()
    np.zeros(3000, np.uint16).tofile(folder / "web" / "0.bin")
    np.zeros(3000, np.uint16).tofile(folder / "code.bin")
    (folder / "set.json").write_text(re.search(r"```json\n(.*?)```", DOCUMENTATION.read_text(), re.S)[1])
    cases = [
        (["set.json"], f"{folder}/web/0.bin: tensor 'x': not in the file, but it must feed input 'x'; expected one of 'tokens', 'targets'; say --feed"),
        (["short.npz"], "short.npz: truncated: a zip archive without the directory at its end"),
        (["x-1.npy", "y.npy"], "x-1.npy: truncated: I64[24,4] takes 768 bytes, but 760 follow its header"),
        (["x.npy", "y-1.npy"], "tensor 'y': is I64[24,2]; its rows do not fit input 'y', I32[6,4]"),
        (["x.npy", "y-2.npy"], "tensor 'y': has 5 rows, but 'x' has 24"),
        (["x.npy", "y-3.npy"], "tensor 'y': is F32[24,4]; its rows do not fit input 'y', I32[6,4]"),
        (["x.npy", "y-4.npy"], "y-4.npy: tensor 'y': element [3, 1] is 1099511627776; expected -2147483648 to 2147483647"),
        (["absent.npy"], "absent.npy: cannot open: No such file or directory"),
        (["*.none"], "*.none: no file matches"),
        (["t.bin"], "t.bin: files of nothing but tokens do not say what is in them"),
    ]
    for files, message in cases:
        data = [part for file in files for part in ("--data", folder / file)]
        losses, _, errors = program.run(1, 1, [*data, "--feed", "x=x,y=y"], check=False)
        assert losses is None and message in errors and not (folder / "log.jsonl").exists(), (message, errors)


def a_file_that_is_cut_short_ends_the_run(folder):
    """Not a small one, which is in memory by then."""
    program, data = Program(folder), description(folder, {"tokens": "t.bin", "type": "u16", "sequence": WIDTH, "stride": WIDTH})
    with open(folder / "t.bin", "wb") as file:
        file.truncate(100 << 20)
    program.run(2, 1, [*data, "--feed", "x=tokens,y=tokens"])
    process = subprocess.Popen([str(harness.BUILD / "bin" / "sgdrun"), "-n", "2", str(program.artifacts[2]), "--init", str(folder / "init.safetensors"), "--steps", "100000000",
                                "--log-json", str(folder / "long.jsonl"), *map(str, data), "--feed", "x=tokens,y=tokens"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    harness.wait_until(lambda: (folder / "long.jsonl").exists() and (folder / "long.jsonl").stat().st_size > 0)
    pids = harness.children(process.pid)
    with open(folder / "t.bin", "r+b") as file:
        file.truncate(1 << 10)
    harness.ended_after_fault(process, pids, 5, f"{folder / 't.bin'}: has become shorter while it was read")


harness.main([*map(same_on_all_ranks, FORMATS), *((f.__name__.replace("_", " "), f) for f in (mixtures_keep_to_their_weights, broken_data_is_refused_before_training, a_file_that_is_cut_short_ends_the_run))])
