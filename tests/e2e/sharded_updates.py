"""Ranks that update shards of their state train as those that each update all: equal bits, through init, eval, checkpoints and other numbers of ranks."""
import json

import numpy as np

import compare_tensors
import harness

ROWS, FEATURES, HIDDEN = 1024, 512, 256
WHOLE = '{sgd.sharding = #sgd.sharding<@mesh, [{}, {}]>, sgd.name = "%s"}'
P, X, Y, S = f"tensor<{FEATURES}x{HIDDEN}xf32>", f"tensor<{ROWS}x{FEATURES}xf32>", f"tensor<{ROWS}x{HIDDEN}xf32>", "tensor<f32>"
ROWS_OVER_RANKS = '{sgd.sharding = #sgd.sharding<@mesh, [{"data"}, {}]>, sgd.name = "x"}'
MESH = 'sgd.mesh @mesh = <["data"=4]>\n'

TRAIN = MESH + f"""
func.func @main(%p: {P} {WHOLE % "state['p']"}, %m: {P} {WHOLE % "state['m']"}, %x: {X} {ROWS_OVER_RANKS})
    -> ({S} {{sgd.name = "result['loss']"}}, {P} {{sgd.name = "result['p']"}}, {P} {{sgd.name = "result['m']"}}) {{
  %decay = arith.constant dense<0.5> : {P}
  %rate = arith.constant dense<0.0009765625> : {P}
  %y = sgd.dot_general %x, %p batching = [] x [] contracting = [1] x [0] : {X}, {P} -> {Y}
  %g = sgd.dot_general %x, %y batching = [] x [] contracting = [0] x [0] : {X}, {Y} -> {P}
  %0 = arith.mulf %y, %y : {Y}
  %loss = sgd.reduce add %0 dimensions = [0, 1] : {Y} -> {S}
  %1 = arith.mulf %m, %decay : {P}
  %2 = arith.addf %1, %g : {P}
  %3 = arith.mulf %2, %rate : {P}
  %4 = arith.subf %p, %3 : {P}
  return %loss, %4, %2 : {S}, {P}, {P}
}}
"""
INIT = MESH + f"""
func.func @main() -> ({P} {{sgd.name = "result['p']"}}, {P} {{sgd.name = "result['m']"}}) {{
  %rows = sgd.iota dimension = 0 : {P}
  %columns = sgd.iota dimension = 1 : {P}
  %0 = arith.addf %rows, %columns : {P}
  %p = math.sin %0 : {P}
  %m = math.cos %rows : {P}
  return %p, %m : {P}, {P}
}}
"""
# Has the momentum too, by the name that `train` gives it.
EVAL = MESH + f"""
func.func @main(%p: {P} {WHOLE % "state['p']"}, %m: {P} {WHOLE % "state['m']"}, %x: {X} {ROWS_OVER_RANKS}) -> ({S} {{sgd.name = "result['size']"}}) {{
  %y = sgd.dot_general %x, %m batching = [] x [] contracting = [1] x [0] : {X}, {P} -> {Y}
  %0 = arith.mulf %y, %y : {Y}
  %1 = sgd.reduce add %0 dimensions = [0, 1] : {Y} -> {S}
  return %1 : {S}
}}
"""
BATCHES = [np.random.default_rng(step).standard_normal((ROWS, FEATURES)).astype(np.float32) / 32 for step in range(6)]


def compile_programs(folder, ranks, *flags, name="m", **programs):
    """The artifact, and what is said of its updates."""
    paths = []
    for program, text in programs.items():
        paths.append(folder / f"{program}.mlir")
        paths[-1].write_text(text)
    models = [f"{program}={path}" for program, path in zip(programs, paths)]
    artifact, explanation = folder / f"{name}.sgda", folder / "explanation.json"
    harness.tool("sgdc", *models, "--mesh", f"data={ranks}", "-o", artifact, f"--explain={explanation}", *flags)
    return artifact, [record["why"] for record in json.loads(explanation.read_text()) if record["op"] == "update"]


def initial():
    rows, columns = (np.arange(n, dtype=np.float32) for n in (FEATURES, HIDDEN))
    return np.sin(rows[:, None] + columns), np.broadcast_to(np.cos(rows)[:, None], (FEATURES, HIDDEN)).copy()


def reference(steps):
    p, m = (a.astype(np.float64) for a in initial())
    for x in BATCHES[:steps]:
        m = 0.5 * m + x.T.astype(np.float64) @ (x @ p)
        p = p - m / 1024
    return p, m


def train(folder, artifact, ranks, steps, *flags, first=0, out="out"):
    """The state after `steps` from the batch `first` on, by name."""
    batches, outputs = folder / "batches.safetensors", folder / f"{out}.safetensors"
    harness.save(batches, {f"step{i}.x": x for i, x in enumerate(BATCHES[first:first + steps])})
    harness.tool("sgdrun", "-n", ranks, artifact, "--steps", steps, "--batches", batches, "--outputs", outputs, "--output-names", "model", *flags)
    return compare_tensors.load(outputs)


def start(folder):
    path = folder / "start.safetensors"
    p, m = initial()
    harness.save(path, {"state['p']": p, "state['m']": m})
    return "--init", path


def check_values(out, steps):
    for (name, want) in zip(("result['p']", "result['m']"), reference(steps)):
        got = out[name][1]
        error = np.abs(got - want).max() / np.abs(want).max()
        assert error < 1e-5, f"{name} is off by {error}"


def trains_with_equal_bits(folder):
    for ranks in (2, 4, 8):
        sharded, said = compile_programs(folder, ranks, name="sharded", train=TRAIN)
        whole, _ = compile_programs(folder, ranks, "--shard-updates=never", name="whole", train=TRAIN)
        is_sharded = said[0].startswith("every rank updates its shard of result['p'] and result['m']")
        assert is_sharded == (ranks > 2), f"on {ranks} ranks: {said}"
        out = train(folder, sharded, ranks, 4, *start(folder))
        check_values(out, 4)
        same = train(folder, whole, ranks, 4, *start(folder), out="whole")
        for name in ("result['loss']", "result['p']", "result['m']"):
            assert out[name][1].tobytes() == same[name][1].tobytes(), f"on {ranks} ranks {name} has other bits"


def uses_less_memory(folder):
    peaks = []
    for when in ("auto", "never"):
        (folder / "train.mlir").write_text(TRAIN)
        harness.tool("sgdc", folder / "train.mlir", f"--report={folder / 'report.json'}", f"--shard-updates={when}", "-o", folder / "m.sgda")
        report = json.loads((folder / "report.json").read_text())
        peaks.append((report["sent_bytes"], report["memory"]["arguments"]))
    (sent, sharded), (sent_whole, whole) = peaks
    assert sent == sent_whole, f"{sent} bytes are sent instead of {sent_whole}"
    assert sharded == whole - FEATURES * HIDDEN * 4 * 3 // 4, f"{sharded} bytes of arguments, whole {whole}"


def resumes_on_other_ranks(folder):
    artifact, _ = compile_programs(folder, 4, name="four", train=TRAIN)
    train(folder, artifact, 4, 3, *start(folder), "--save", folder / "save")
    for ranks, flags in ((4, ()), (8, ()), (2, ()), (4, ("--shard-updates=never",))):
        other, _ = compile_programs(folder, ranks, *flags, name="other", train=TRAIN)
        check_values(train(folder, other, ranks, 3, "--resume", folder / "save", first=3), 6)


def begins_with_init(folder):
    artifact, said = compile_programs(folder, 4, init=INIT, train=TRAIN)
    assert "result['m'] stays in shards" in said[0], said
    check_values(train(folder, artifact, 4, 4), 4)


def leaves_state_of_other_programs(folder):
    """An argument that eval shares has one buffer and sharding."""
    artifact, said = compile_programs(folder, 4, init=INIT, train=TRAIN, eval=EVAL)
    assert said[0].startswith("every rank updates the whole of") and "a rank would send" in said[0], said
    data, log = folder / "data.safetensors", folder / "log.jsonl"
    harness.save(data, {"x": BATCHES[0]})
    check_values(train(folder, artifact, 4, 2, "--eval-every", 2, "--eval-data", data, "--log-json", log), 2)
    got = [row["eval"]["size"] for row in map(json.loads, log.read_text().splitlines()) if "eval" in row]
    want = ((BATCHES[0].astype(np.float64) @ reference(2)[1]) ** 2).sum()
    assert len(got) == 1 and abs(got[0] - want) < 1e-4 * want, f"eval says {got}, NumPy {want}"


def refuses_to_carry_shards_to_the_whole(folder):
    """Pairs of the user's own, other than those for which the program was compiled."""
    artifact, _ = compile_programs(folder, 4, train=TRAIN)
    harness.save(folder / "batches.safetensors", {"step0.x": BATCHES[0]})
    result = harness.tool("sgdrun", "-n", 4, artifact, "--steps", 2, "--batches", folder / "batches.safetensors", *start(folder),
                          "--carry", "result['m']:state['p'],result['p']:state['m']", check=False)
    assert result.returncode == 1 and "they are sharded differently; shard both alike, or compile with --shard-updates=never" in result.stderr, result.stderr


def refuses_other_words(folder):
    (folder / "train.mlir").write_text(TRAIN)
    result = harness.tool("sgdc", folder / "train.mlir", "--report", "--shard-updates=sometimes", check=False)
    assert result.returncode == 2 and "--shard-updates" in result.stderr, result.stderr


def residual_layers(count):
    """Layers of tensor parallelism: each adds a reduced product to what all later ones read."""
    size, over = "tensor<16x16xf32>", "{sgd.sharding = #sgd.sharding<@mesh, [%s]>}"
    columns, rows = over % '{}, {"data"}', over % '{"data"}, {}'
    text, value = MESH + f"func.func @main(%w: {size} {columns}, %v: {size} {rows}, %x: {size}) -> {S} {{\n", "%x"
    for layer in range(count):
        text += f"""  %a{layer} = sgd.dot_general {value}, %w batching = [] x [] contracting = [1] x [0] : {size}, {size} -> {size}
  %b{layer} = math.tanh %a{layer} : {size}
  %c{layer} = sgd.dot_general %b{layer}, %v batching = [] x [] contracting = [1] x [0] : {size}, {size} -> {size}
  %x{layer} = arith.addf {value}, %c{layer} : {size}
"""
        value = f"%x{layer}"
    return text + f"  %sum = sgd.reduce add {value} dimensions = [0, 1] : {size} -> {S}\n  return %sum : {S}\n}}\n"


def looks_once_at_residual_streams(folder):
    """Time of the pass in terms of propagation's: the same for any number of layers, as both are linear."""
    (folder / "layers.mlir").write_text(residual_layers(600))

    def ratio():
        lines = harness.tool("sgdc", folder / "layers.mlir", "--emit", "sharded", "--time").stderr.splitlines()
        times = {line.split()[0]: float(line.split()[1]) for line in lines if line.startswith("sgd-")}
        return times["sgd-shard-updates"] / times["sgd-shard"]

    ratios = [ratio() for _ in range(3)]
    assert min(ratios) < 1, ratios


harness.main([("looks once at residual streams", looks_once_at_residual_streams), ("trains with equal bits", trains_with_equal_bits), ("sends as much and holds less", uses_less_memory),
              ("resumes on other ranks", resumes_on_other_ranks), ("begins with init", begins_with_init),
              ("leaves state of other programs", leaves_state_of_other_programs), ("refuses to carry shards to the whole", refuses_to_carry_shards_to_the_whole), ("refuses other words", refuses_other_words)])
