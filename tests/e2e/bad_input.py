"""Everything that can be wrong with what a user hands over: a one-line error naming the cause, exit code 1 (2 for wrong usage), nothing half-written."""
import json
import os
import random
import resource
import struct
import subprocess
import time

import numpy as np

import harness

MLP = harness.Model("mlp_digits")
TEXT = (MLP.path / "model.mlir").read_text()
MODULE = """sdy.mesh @mesh = <["data"=4]>
func.func public @main(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}]>}) -> tensor<8xf32> {
  %0 = stablehlo.add %arg0, %arg0 : tensor<8xf32>
  return %0 : tensor<8xf32>
}
"""


def refused(result, *parts, code=1):
    """The tool ended with `code` and an error that has all `parts`; it printed no stack and was not ended by a signal."""
    assert result.returncode == code, f"exit code {result.returncode} instead of {code}\n{result.stderr}"
    lines = [line for line in result.stderr.splitlines() if line.strip()]
    assert lines, "no message"
    assert len(lines) <= 3, f"more than a short message:\n{result.stderr}"
    for part in parts:
        assert part in result.stderr, f"'{part}' is not in: {result.stderr}"


def compile_text(folder, text, *args):
    (folder / "m.mlir").write_text(text)
    out = folder / "m.sgda"
    result = harness.tool("sgdc", folder / "m.mlir", "-o", out, *args, check=False)
    assert result.returncode == 0 or not list(folder.glob("m.sgda*")), "a refused model left a file"
    return result


def model_texts(folder):
    refused(compile_text(folder, TEXT[:len(TEXT) // 2]), "error")
    refused(compile_text(folder, ""), "is empty; expected", "StableHLO")
    refused(compile_text(folder, "GGUF\x03\x00"), "is a GGUF file", "torch.export")
    refused(compile_text(folder, "not MLIR at all"), "m.mlir:1")
    refused(compile_text(folder, MODULE.replace("stablehlo.add %arg0", "stablehlo.frobnicate %arg0")), "frobnicate", "m.mlir:3")
    refused(compile_text(folder, MODULE.replace("stablehlo.add %arg0, %arg0", "stablehlo.add %arg0, %missing")), "undeclared", "m.mlir:3")
    refused(compile_text(folder, MODULE.replace('[{"data"}]', '[{"rows"}]')), "rows")
    refused(compile_text(folder, MODULE.replace('[{"data"}]', '[{"data"}, {}]')), "dimension")
    refused(harness.tool("sgdc", folder / "absent.mlir", "-o", folder / "x.sgda", check=False), "absent.mlir")


def random_edits(folder):
    """Deleted, doubled and swapped pieces of a valid text: never a signal, whatever the verdict."""
    seed = random.randrange(1 << 30)
    print(f"        seed {seed}")
    rng = random.Random(seed)
    for _ in range(25):
        text = list(MODULE)
        for _ in range(rng.randint(1, 4)):
            at, size = rng.randrange(len(text)), rng.randint(1, 12)
            text[at:at + size] = rng.choice([[], text[at:at + size] * 2, list(rng.choice(["{", "}", "x", "-1", "<", "tensor<", "%arg0", "999999999999999999999"]))])
        result = compile_text(folder, "".join(text))
        assert result.returncode in (0, 1), f"seed {seed}: exit code {result.returncode} on:\n{''.join(text)}\n{result.stderr}"
        for file in folder.glob("m.sgda*"):
            file.unlink()


def usage(folder):
    refused(harness.tool("sgdc", check=False), code=2)
    refused(harness.tool("sgdc", MLP.path / "model.mlir", "--frobnicate", check=False), code=2)
    refused(compile_text(folder, MODULE, "--mesh", "data=four"), "four", code=2)
    refused(compile_text(folder, MODULE, "--mesh", "rows=4"), "rows")
    refused(compile_text(folder, MODULE, "--mesh", "data=0"), code=2)
    refused(harness.tool("sgdrun", check=False), code=2)
    refused(harness.tool("sgdrun", "--frobnicate", check=False), "sgdrun: there is no flag --frobnicate (see sgdrun --help)", code=2)
    for tool, flag, meant in (("sgdc", "--reprot=r.json", "--report"), ("sgdrun", "--step", "--steps"), ("sgd-sim", "--topolgy", "--topology"), ("sgd-inspect", "--memori", "--memory")):
        refused(harness.tool(tool, "x", flag, check=False), f"{tool}: there is no flag {flag.split('=')[0]}; did you mean {meant}? (see {tool} --help)", code=2)


def outputs_that_cannot_be_written(folder):
    (folder / "m.mlir").write_text(MODULE)
    refused(harness.tool("sgdc", folder / "m.mlir", "-o", folder / "no" / "m.sgda", check=False), "no/m.sgda")
    artifact, _, ranks = MLP.compile(folder)
    inputs = MLP.data / "inputs.safetensors"
    refused(harness.tool("sgdrun", "-n", ranks, artifact, "--inputs", inputs, "--outputs", folder / "no" / "out.safetensors", check=False), "no/out.safetensors")


def write_safetensors(path, tensors):
    header, data = {}, b""
    for name, (dtype, array) in tensors.items():
        header[name] = {"dtype": dtype, "shape": list(array.shape), "data_offsets": [len(data), len(data) + array.nbytes]}
        data += array.tobytes()
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def inputs(folder):
    (folder / "m.mlir").write_text(MODULE)
    artifact, out = folder / "m.sgda", folder / "out.safetensors"
    harness.tool("sgdc", folder / "m.mlir", "-o", artifact)

    def run(tensors, ranks=4, raw=None):
        path = folder / "in.safetensors"
        path.write_bytes(raw) if raw is not None else write_safetensors(path, tensors)
        result = harness.tool("sgdrun", "-n", ranks, artifact, "--inputs", path, "--outputs", out, check=False)
        assert result.returncode == 0 or not list(folder.glob("out.safetensors*")), "a refused run left a file"
        return result

    good = {"arg0": ("F32", np.arange(8, dtype=np.float32))}
    assert run(good).returncode == 0
    out.unlink()
    refused(run({}), "arg0")
    refused(run({"arg0": ("F32", np.zeros(9, np.float32))}), "arg0", "9", "8")
    refused(run({"arg0": ("I32", np.zeros(8, np.int32))}), "arg0", "I32")
    refused(run(good, ranks=3), "3", "4")
    refused(run(good, raw=b"\xff" * 64), "in.safetensors")
    refused(run(good, raw=b""), "in.safetensors")
    refused(harness.tool("sgdrun", "-n", 4, artifact, "--inputs", folder / "absent.safetensors", "--outputs", out, check=False), "absent.safetensors")


def narrow_integers(folder):
    """Integers of 4 bits are stored in bytes, which can hold more: such numbers are refused where they are read, in inputs as in batches."""
    (folder / "m.mlir").write_text("""func.func public @main(%w: tensor<2x3xi4>) -> tensor<2x3xi8> {
      %0 = stablehlo.convert %w : (tensor<2x3xi4>) -> tensor<2x3xi8>
      return %0 : tensor<2x3xi8>
    }""")
    artifact, path, out = folder / "m.sgda", folder / "in.safetensors", folder / "out.safetensors"
    harness.tool("sgdc", folder / "m.mlir", "-o", artifact)
    good, bad = np.array([[-8, 7, 0], [1, 2, 3]], np.int8), np.array([[-8, 7, 0], [1, 9, 3]], np.int8)
    write_safetensors(path, {"arg0": ("I8", good)})
    assert harness.run_once(artifact, 1, path, out)["result0"][1].tolist() == good.tolist()
    out.unlink()
    write_safetensors(path, {"arg0": ("I8", bad)})
    refused(harness.tool("sgdrun", artifact, "--inputs", path, "--outputs", out, check=False), "in.safetensors", "element [1, 1] is 9; expected -8 to 7")
    write_safetensors(path, {"step0.arg0": ("I8", bad)})
    refused(harness.tool("sgdrun", artifact, "--batches", path, "--steps", 1, "--outputs", out, check=False), "'step0.arg0'", "element [1, 1] is 9; expected -8 to 7")
    assert not list(folder.glob("out.safetensors*")), "a refused run left a file"


def damaged_artifacts(folder):
    artifact, _, ranks = MLP.compile(folder)
    good = artifact.read_bytes()
    seed = random.randrange(1 << 30)
    print(f"        seed {seed}")
    rng = random.Random(seed)
    bad = folder / "bad.sgda"
    positions = [0, 1, 9, len(good) - 1] + [rng.randrange(len(good)) for _ in range(16)]
    for at in positions:
        damaged = bytearray(good)
        damaged[at] ^= 1 << rng.randrange(8)
        bad.write_bytes(damaged)
        refused(harness.tool("sgd-inspect", bad, check=False), "bad.sgda")
    for size in [0, 1, 7, 64, 4096, len(good) // 2, len(good) - 1]:
        bad.write_bytes(good[:size])
        refused(harness.tool("sgdrun", "-n", ranks, bad, "--bench", 1, check=False), "bad.sgda")
    refused(harness.tool("sgdrun", "-n", ranks, folder / "absent.sgda", "--bench", 1, check=False), "absent.sgda")


def files_of_other_kinds(folder):
    """Devices that never end, pipes that nobody writes and folders: refused at once, whatever they are given for."""
    artifact, _, ranks = MLP.compile(folder)
    pipe, directory = folder / "pipe", folder / "directory"
    os.mkfifo(pipe)
    directory.mkdir()
    train = ["-n", ranks, artifact, "--steps", 1]
    state = ["--init", MLP.data / "inputs.safetensors"]
    for path in (pipe, directory, "/dev/zero"):
        if path != directory:  # a data set may be one
            refused(harness.tool("sgdrun", *train, *state, "--data", path, check=False), f"sgdrun: {path}: ", "not a regular file")
        for args in ([*train, "--init", path], [*train, *state, "--batches", path], [*train, *state, "--carry-json", path],
                     ["-n", ranks, artifact, "--inputs", path, "--outputs", folder / "out"], ["-n", ranks, path, "--bench", 1]):
            refused(harness.tool("sgdrun", *args, check=False), f"sgdrun: {path}: ", "not a regular file")
        refused(harness.tool("sgd-inspect", path, check=False), f"sgd-inspect: {path}: is not a regular file")
    refused(harness.tool("sgdrun", *train, *state, "--data", directory, check=False), f"sgdrun: {directory}: the folder has no file that ends in .safetensors, .npy, .npz")
    hosts = ["-n", ranks // 2, "--nnodes", 2, "--node-rank", 0, "--master", "192.0.2.1:29999", "--deadline", 1]
    for path in (pipe, directory, "/dev/zero"):
        refused(harness.tool("sgdrun", *hosts, "--secret-file", path, artifact, "--bench", 1, check=False), f"--secret-file: {path} is not a regular file")


def sources_of_other_kinds(folder):
    """The compiler reads regular files and standard input alone."""
    pipe, directory, model = folder / "pipe", folder / "directory", folder / "m.mlir"
    os.mkfifo(pipe)
    directory.mkdir()
    model.write_text(MODULE)
    for path in (pipe, directory, "/dev/zero"):
        for args in ([path], [model, "--recipe", path], [model, "--topology", path], [model, "--topology", path, "--cache", folder / "cache"]):
            refused(harness.tool("sgdc", *args, "-o", folder / "x.sgda", check=False), str(path), "not a regular file")
        refused(harness.tool("sgd-sim", "--model", path, "--topology", "a100", check=False), f"sgd-sim: cannot read model '{path}': not a regular file")


def long_flags(folder):
    """Names of 100 kB and counts out of range in the compiler's flags."""
    model, name = folder / "m.mlir", "n" * 100_000
    model.write_text(MODULE)
    for args, cause, code in (([name], "cannot read: File name too long", 1), ([model, "--recipe", name], "there is no recipe of this name", 1),
                              ([model, "--topology", name], "File name too long", 1), ([model, "--mesh", f"data={name}"], "must be a positive integer", 2),
                              ([model, "--emit", name], "is not graph", 2), ([model, "--" + name], "--nnn", 2), ([model, "--micro", name], "--micro", 2),
                              ([model, "--micro", -3], "-3 not in range 1 to 1048576", 2)):
        result = harness.tool("sgdc", *args, "-o", folder / "x.sgda", check=False)
        refused(result, cause, code=code)
        assert len(result.stderr) < 1500, f"{len(result.stderr)} bytes: {result.stderr[:500]}"


def long_names(folder):
    """Names of 100 kB do not hide the cause."""
    artifact, _, ranks = MLP.compile(folder)
    name = "n" * 100_000
    for tool, args, cause, code in (("sgdrun", ["-n", ranks, name, "--bench", 1], "cannot open the artifact: File name too long", 1),
                                    ("sgdrun", ["-n", ranks, artifact, "--program", name, "--bench", 1], "has no program 'nnn", 1),
                                    ("sgdrun", ["-n", ranks, artifact, "--inputs", name], "cannot open: File name too long", 1),
                                    ("sgdrun", ["-n", name, artifact, "--bench", 1], "is out of range; expected an integer from 1 to 4294967295", 2),
                                    ("sgdrun", ["--" + name, artifact], "(see sgdrun --help)", 2),
                                    ("sgd-inspect", [name], "cannot open the artifact: File name too long", 1), ("sgd-inspect", ["--" + name], "(see sgd-inspect --help)", 2)):
        result = harness.tool(tool, *args, check=False)
        refused(result, cause, code=code)
        assert len(result.stderr) < 1000, f"{len(result.stderr)} bytes: {result.stderr[:500]}"


def counts(folder):
    artifact, _, _ = MLP.compile(folder)
    for flag in ("-n", "--threads", "--steps", "--bench"):
        for count in ("0", "-1", "x", "", "1.5", "99999999999999999999"):
            if (flag, count) == ("--steps", "0"):
                continue  # prepares a run and does none
            refused(harness.tool("sgdrun", artifact, flag, count, check=False), f"sgdrun: {flag}: '{count}' is out of range; expected an integer from 1 to ", code=2)
    # Sums of steps and of those that warm up would wrap.
    for flag in ("--bench", "--steps", "--save-every"):
        refused(harness.tool("sgdrun", artifact, flag, 2**64 - 1, check=False), f"sgdrun: {flag}: '{2**64 - 1}' is out of range; expected an integer from 1 to {2**53}", code=2)
    refused(harness.tool("sgdrun", "-n", 4096, artifact, "--bench", 1, check=False), "the artifact's mesh has 4 ranks, but -n says 4096")
    refused(harness.tool("sgdrun", "-n", 65536, "--nnodes", 65536, "--node-rank", 0, artifact, "--bench", 1, check=False), "are 4294967296 ranks; expected at most 1048576")


def endless_texts(folder):
    """Numbers that LLVM converts in time that grows with the square of their length, and calls that double."""
    begin = time.monotonic()
    for kind, number in (("f32", "0." + "1" * 40000), ("i64", "1" * 40000)):
        refused(compile_text(folder, f"func.func public @main() -> tensor<{kind}> {{\n  %0 = stablehlo.constant dense<{number}> : tensor<{kind}>\n"
                                     f"  return %0 : tensor<{kind}>\n}}\n"), "m.mlir:2", "40000 digits in a row; at most 2000")
    tensor, text = "tensor<8xf32>", ""
    for i in range(25):
        name = "public @main" if i == 0 else f"private @f{i}"
        call = f"func.call @f{i + 1}(%a) : ({tensor}) -> {tensor}" if i < 24 else f"stablehlo.add %a, %a : {tensor}"
        text += f"func.func {name}(%a: {tensor}) -> {tensor} {{\n  %0 = {call}\n  %1 = {call.replace('%a', '%0')}\n  return %1 : {tensor}\n}}\n"
    refused(compile_text(folder, text), "m.mlir", "main -> f1 -> f2", "more than 2097152 ops")
    assert harness.is_within(time.monotonic() - begin, 30), "refusing takes long"


def functions_by_the_thousand(folder):
    """Time grows with the number of functions, not with its square; a chain of them is refused where it is too deep."""
    tensor = "tensor<4xf32>"

    def body(i, value):
        return f"func.func private @f{i}(%a: {tensor}) -> {tensor} {{\n  %0 = {value}\n  return %0 : {tensor}\n}}\n"

    def call(i, value="%a"):
        return f"func.call @f{i}({value}) : ({tensor}) -> {tensor}"

    def processor_seconds(count):
        calls = "".join(f"  %{i} = {call(i, f'%{i - 1}' if i else '%a')}\n" for i in range(count))
        text = f"func.func public @main(%a: {tensor}) -> {tensor} {{\n{calls}  return %{count - 1} : {tensor}\n}}\n"
        text += "".join(body(i, f"stablehlo.add %a, %a : {tensor}") for i in range(count))
        (folder / "m.mlir").write_text(text)
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        harness.tool("sgdc", folder / "m.mlir", "--emit", "graph")
        return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before

    few, many = processor_seconds(5_000), processor_seconds(40_000)
    print(f"        8 times the functions take {many / few:.1f} times as long")
    assert many < 16 * few, (few, many)
    chain = f"func.func public @main(%a: {tensor}) -> {tensor} {{\n  %0 = {call(0)}\n  return %0 : {tensor}\n}}\n"
    chain += "".join(body(i, call(i + 1)) for i in range(100_000)) + body(100_000, f"stablehlo.add %a, %a : {tensor}")
    begin = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    refused(compile_text(folder, chain), "m.mlir", "calls nest deeper than 500 functions: main -> f0 -> f1")
    seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - begin
    assert seconds < 4 * many, (seconds, many)


def files_that_change_under_their_readers(folder):
    """Whatever another program does to a file that is being read: an error that names it."""
    artifact, _, _ = MLP.compile(folder)
    good = artifact.read_bytes()
    # Large enough to be read for a while, and to be mapped by whoever maps files.
    text = TEXT + "// filling\n" * 4_000_000
    model, cut, out = folder / "long.mlir", folder / "cut.sgda", folder / "out.sgda"
    for wait in (0.0, 0.005, 0.02, 0.05):
        model.write_text(text)
        process = start("sgdc", model, "-o", out)
        time.sleep(wait)
        os.truncate(model, 5000)
        _, errors = process.communicate(timeout=harness.TIMEOUT)
        assert process.returncode == 0 or (process.returncode == 1 and "long.mlir" in errors), (process.returncode, errors)
        assert process.returncode == 0 or not list(folder.glob("out.sgda*"))
        cut.write_bytes(good)
        process = start("sgd-inspect", cut, "--json", "--program", "--memory", "--collectives")
        time.sleep(wait / 10)
        os.truncate(cut, 100)
        _, errors = process.communicate(timeout=harness.TIMEOUT)
        assert process.returncode == 0 or (process.returncode == 1 and errors.startswith("sgd-inspect: ") and "cut.sgda: " in errors), (process.returncode, errors)


def limits_of_the_system(folder):
    """Memory, sizes of files and disks that are too small for a tool: never a signal, nothing half-written."""
    artifact, _, _ = MLP.compile(folder)
    out = folder / "limited.sgda"

    def limited(limit, *args, stdout=subprocess.PIPE):
        quoted = " ".join(f"'{a}'" for a in args)
        return subprocess.run(["bash", "-c", f"ulimit {limit}; exec '{harness.BUILD}/bin'/{quoted}"], stdout=stdout, stderr=subprocess.PIPE, text=True,
                              timeout=harness.TIMEOUT)

    sizes = {"layers": 4, "hidden": 64, "heads": 4, "sequence": 64, "vocabulary": 512, "global_batch": 4}
    (folder / "gpt.json").write_text(json.dumps(sizes))
    for tool, args in (("sgd-inspect", [artifact, "--json", "--program"]), ("sgdc", [MLP.path / "model.mlir", "-o", out]), ("sgd-sim", ["--model", folder / "gpt.json", "--save", out])):
        seen = set()
        out.unlink(missing_ok=True)
        for kilobytes in (20_000, 30_000, 40_000, 60_000, 90_000, 130_000, 190_000, 280_000, 400_000, 600_000, 2_000_000):
            result = limited(f"-v {kilobytes}", tool, *args)
            seen.add(result.returncode)
            assert result.returncode in (0, 1, 127), f"{tool} in {kilobytes} kB: exit code {result.returncode}: {result.stderr[-300:]}"
            assert result.returncode != 1 or "memory" in result.stderr, f"{tool} in {kilobytes} kB: {result.stderr[-300:]}"
            assert result.returncode == 0 or not list(folder.glob("limited.sgda*")), f"{tool} in {kilobytes} kB left a file"
        assert 0 in seen, f"{tool}: even 2 GB were not enough"
    with open(folder / "listing", "w") as listing:
        result = limited("-f 1", "sgd-inspect", artifact, "--json", "--program", stdout=listing)
    assert result.returncode == 1 and "cannot write to standard output" in result.stderr, (result.returncode, result.stderr)
    with open("/dev/full", "w") as full:
        for tool, args in (("sgd-inspect", [artifact]), ("sgdc", [MLP.path / "model.mlir", "--emit", "graph"]), ("sgd-sim", [artifact])):
            result = subprocess.run([str(harness.BUILD / "bin" / tool), *map(str, args)], stdout=full, stderr=subprocess.PIPE, text=True, timeout=harness.TIMEOUT)
            assert result.returncode == 1 and "cannot write to standard output" in result.stderr, (result.returncode, result.stderr)


def start(tool, *args):
    return subprocess.Popen([str(harness.BUILD / "bin" / tool), *map(str, args)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def integers_without_traps(folder):
    """Division by zero, oversized shifts and indices out of range give XLA's results."""
    text = """func.func public @main(%a: tensor<4xi32>, %b: tensor<4xi32>, %t: tensor<3x2xf32>, %i: tensor<4x1xi32>)
        -> (tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4x2xf32>) {
      %0 = stablehlo.divide %a, %b : tensor<4xi32>
      %1 = stablehlo.remainder %a, %b : tensor<4xi32>
      %2 = stablehlo.shift_left %a, %b : tensor<4xi32>
      %3 = stablehlo.shift_right_arithmetic %a, %b : tensor<4xi32>
      %4 = "stablehlo.gather"(%t, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 2>}> : (tensor<3x2xf32>, tensor<4x1xi32>) -> tensor<4x2xf32>
      return %0, %1, %2, %3, %4 : tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4x2xf32>
    }"""
    (folder / "m.mlir").write_text(text)
    harness.tool("sgdc", folder / "m.mlir", "-o", folder / "m.sgda")
    low = -2**31
    table = np.arange(6, dtype=np.float32).reshape(3, 2)
    write_safetensors(folder / "in.safetensors", {
        "arg0": ("I32", np.array([7, low, low, -5], np.int32)), "arg1": ("I32", np.array([0, -1, 0, 40], np.int32)),
        "arg2": ("F32", table), "arg3": ("I32", np.array([[-9], [1], [2**31 - 1], [2]], np.int32))})
    out = harness.run_once(folder / "m.sgda", 1, folder / "in.safetensors", folder / "out.safetensors")
    got = [out[f"result{i}"][1].tolist() for i in range(5)]
    assert got[0] == [-1, low, -1, 0], got[0]
    assert got[1] == [7, 0, low, -5], got[1]
    assert got[2] == [7, 0, low, 0], got[2]
    assert got[3] == [7, -1, low, -1], got[3]
    assert got[4] == table[[0, 1, 2, 2]].tolist(), got[4]


harness.main([(f.__name__.replace("_", " "), f) for f in
              (model_texts, random_edits, usage, outputs_that_cannot_be_written, inputs, narrow_integers, damaged_artifacts, files_of_other_kinds, sources_of_other_kinds, long_flags, long_names, counts, endless_texts, functions_by_the_thousand,
               files_that_change_under_their_readers, limits_of_the_system, integers_without_traps)])
