"""One artifact with several plans: each computes what the oracle does, the right one is chosen or refused, and state goes from plan to plan."""
import json
import os
import subprocess

import compare_tensors
import harness

MODEL = harness.Model("gpt_tp")
MESHES = ("data=4,model=1", "data=2,model=2", "data=1,model=2")
RANKS = (4, 4, 2)
EXAMPLES = harness.MODELS.parent.parent / "examples"
DIGITS, RECIPES = EXAMPLES / "digits", EXAMPLES / "recipes"
THREE_PROGRAMS = [f"{name}={DIGITS / name}.mlir" for name in ("init", "train", "eval")]
LISTED = "'data=4,model=1' (4 ranks), 'data=2,model=2' (4 ranks), 'data=1,model=2' (2 ranks)"


def flags(name, values):
    return [part for value in values for part in (name, value)]


def bundle(folder, *extra, model=(MODEL.path / "model.mlir",), meshes=MESHES):
    artifact = folder / "bundle.sgda"
    harness.tool("sgdc", *model, *flags("--mesh", meshes), "-o", artifact, *extra)
    return artifact


def check_values(folder, artifact, ranks, *choice):
    outputs = folder / "out.safetensors"
    actual = harness.run_once(artifact, ranks, MODEL.data / "inputs.safetensors", outputs, *choice)
    assert compare_tensors.compare(actual, compare_tensors.load(MODEL.data / "expected.safetensors"), {}, "result", quiet=True) == 0, f"wrong values: {choice}"
    return outputs.read_bytes()


def plans_compute_what_they_compute_alone(folder):
    artifact = bundle(folder)
    sizes = [artifact.stat().st_size]
    for mesh, ranks in zip(MESHES, RANKS):
        alone = folder / "alone.sgda"
        harness.tool("sgdc", MODEL.path / "model.mlir", "--mesh", mesh, "-o", alone)
        sizes.append(alone.stat().st_size)
        assert check_values(folder, artifact, ranks, "--plan", mesh) == check_values(folder, alone, ranks), f"{mesh}: other bits than alone"
    print(f"        {sizes[0]} bytes; the plans alone: {sizes[1:]}")
    check_values(folder, artifact, 2)  # the only plan for two ranks
    first = artifact.read_bytes()
    assert bundle(folder).read_bytes() == first, "two compiles differ"


def recipes_are_plans(folder):
    artifact, report = folder / "bundle.sgda", folder / "report.json"
    names = ["ddp", "zero3", "tensor"]
    harness.tool("sgdc", EXAMPLES / "recipes" / "gpt.mlir", *flags("--recipe", [RECIPES / f"{name}.json" for name in names]), "-o", artifact, f"--report={report}")
    plans = json.loads(report.read_text())["plans"]
    assert [plan["plan"] for plan in plans] == names, plans
    for plan in plans:
        alone = folder / "alone.json"
        harness.tool("sgdc", EXAMPLES / "recipes" / "gpt.mlir", "--recipe", RECIPES / f"{plan['plan']}.json", f"--report={alone}")
        want = json.loads(alone.read_text())
        assert {**want, "compile_seconds": 0} == {key: value for key, value in {**plan, "compile_seconds": 0}.items() if key != "plan"}, plan["plan"]
        bench = json.loads(harness.tool("sgdrun", "-n", 4, artifact, "--plan", plan["plan"], "--bench", 2).stdout.splitlines()[-1])
        assert (bench["sent_bytes"], bench["arena_bytes"]) == (plan["sent_bytes"], plan["memory"]["peak"]), plan["plan"]


def meshes_and_recipes_are_paired(folder):
    artifact = folder / "bundle.sgda"
    model = EXAMPLES / "recipes" / "gpt.mlir"
    pairs = [("data=4", RECIPES / "ddp.json"), ("data=2", RECIPES / "zero3.json")]
    harness.tool("sgdc", model, *(part for mesh, recipe in pairs for part in ("--mesh", mesh, "--recipe", recipe)), "-o", artifact)
    plans = json.loads(harness.tool("sgd-inspect", artifact, "--json").stdout)["plans"]
    assert [(plan["plan"], plan["mesh"]) for plan in plans] == [("ddp", [["data", 4]]), ("zero3", [["data", 2]])], plans
    # A recipe from standard input is read once for all meshes.
    text = (RECIPES / "ddp.json").read_text()
    run = subprocess.run([str(harness.BUILD / "bin" / "sgdc"), str(model), "--recipe", "-", "--mesh", "data=4", "--mesh", "data=2", "-o", str(artifact)], input=text, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr


def usage_is_checked(folder):
    model = MODEL.path / "model.mlir"
    for args, message in ((flags("--mesh", ["data=2", "data=2"]), "two plans are named 'data=2'; expected different meshes"),
                          (flags("--recipe", ["a/ddp.json", "b/ddp.json"]), "two plans are named 'ddp'; expected recipes with different file names"),
                          ([*flags("--mesh", ["data=2", "data=4", "data=1"]), *flags("--recipe", ["a.json", "b.json"])], "there are 3 of --mesh and 2 of --recipe; expected"),
                          ([*flags("--mesh", ["data=2", "data=4"]), "--emit-request", folder / "request.mlir"], "--emit-request writes one compilation, and there are 2 plans"),
                          ([*flags("--mesh", ["data=2", "data=4"]), "--auto", 4], "--auto finds mesh, recipe"),
                          (flags("--mesh", ["data=2", "data"]), "data")):
        run = harness.tool("sgdc", model, *args, "-o", folder / "out.sgda", check=False)
        assert run.returncode == 2 and message in run.stderr, (args, run.returncode, run.stderr)
    run = harness.tool("sgdc", model, "--mesh", "data=2", "--mesh", "expert=2", "-o", folder / "out.sgda", check=False)
    assert run.returncode == 1 and run.stderr.endswith(" (plan 'expert=2')\n") and run.stderr.count("\n") == 1, run.stderr
    assert not (folder / "out.sgda").exists()


def refused(artifact, *args, env=None):
    run = harness.tool("sgdrun", artifact, "--inputs", MODEL.data / "inputs.safetensors", "--outputs", artifact.parent / "refused.safetensors", *args, check=False, env=env)
    assert run.returncode == 1 and run.stderr.count("\n") == 1, (args, run.returncode, run.stderr)
    return run.stderr


def choices_are_refused_with_the_list(folder):
    artifact = bundle(folder)
    one_by_one = {"SGD_RANK": "0", "SGD_WORLD_SIZE": "3", "SGD_RENDEZVOUS": f"bundle-{os.getpid()}"}
    for args, env, message in (((), None, f"has 3 plans; expected one of: {LISTED}; choose it with --plan NAME, or with sgdrun -n RANKS"),
                               (("-n", 4), None, "has 2 plans for 4 ranks; expected one of"),
                               (("-n", 3), None, f"has no plan for 3 ranks; expected one of: {LISTED}"),
                               (("--deadline", 1), one_by_one, f"has no plan for 3 ranks; expected one of: {LISTED}"),
                               (("-n", 4, "--plan", "data=8"), None, f"has no plan 'data=8'; expected one of: {LISTED}"),
                               (("-n", 4, "--plan", "data=1,model=2"), None, "the artifact's mesh has 2 ranks, but -n says 4")):
        text = refused(artifact, *args, env=env)
        assert message in text, (args, text)
    for tool, args in (("sgd-sim", (artifact,)), ("sgd-sim", (artifact, "--plan", "data=8")), ("sgd-inspect", (artifact, "--plan", "data=8"))):
        run = harness.tool(tool, *args, check=False)
        assert run.returncode == 1 and f"expected one of: {LISTED}" in run.stderr, run.stderr


def launchers_choose_by_their_ranks(folder):
    artifact = bundle(folder)
    inputs, outputs = MODEL.data / "inputs.safetensors", folder / "out.safetensors"

    def start(rank, *args):
        env = {**os.environ, "SGD_RANK": str(rank), "SGD_WORLD_SIZE": "2" if not args else "4", "SGD_RENDEZVOUS": f"bundle-{os.getpid()}-{len(args)}"}
        command = [str(harness.BUILD / "bin" / "sgdrun"), str(artifact), "--inputs", str(inputs), "--outputs", str(outputs), "--deadline", "60", *args]
        return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=env)

    for code, errors in harness.finish([start(rank) for rank in range(2)]):
        assert code == 0, errors
    assert compare_tensors.compare(compare_tensors.load(outputs), compare_tensors.load(MODEL.data / "expected.safetensors"), {}, "result", quiet=True) == 0
    results = harness.finish([start(rank, "--plan", MESHES[0 if rank < 3 else 1]) for rank in range(4)])
    assert all(code == 1 for code, _ in results), results
    harness.assert_said_once([errors for _, errors in results], "rank 3", "runs the plan 'data=2,model=2', rank 0 runs 'data=4,model=1'; expected one plan")


def checkpoints_go_from_plan_to_plan(folder):
    """Four ranks, then two, then four again in another way: the losses of one run."""
    artifact = bundle(folder, model=THREE_PROGRAMS, meshes=("data=4", "data=2", "data=1"))
    data = ["--data", DIGITS / "train.safetensors", "--feed", "x=x,y=y", "--seed", 1]

    def losses(ranks, steps, *extra):
        log = folder / "log.jsonl"
        harness.tool("sgdrun", "-n", ranks, artifact, "--steps", steps, "--log-json", log, *data, *extra)
        return [row["loss"] for row in map(json.loads, log.read_text().splitlines()) if "loss" in row]

    save = folder / "save"
    got = losses(4, 4, "--save", save) + losses(2, 4, "--resume", save, "--save", save) + losses(4, 4, "--resume", save)
    want = losses(1, 12)
    assert len(got) == len(want) and max(abs(a - b) for a, b in zip(got, want)) < 1e-4, (got, want)


def damage_is_refused(folder):
    """Flipped bits all over the file, and truncation."""
    artifact = bundle(folder)
    data = artifact.read_bytes()
    damaged = folder / "damaged.sgda"
    for at in [0, 8, 12, 20, 40, *range(64, 64 + 9 * 56, 29), *range(1000, len(data), len(data) // 40)]:
        damaged.write_bytes(data[:at] + bytes([data[at] ^ (1 << at % 8)]) + data[at + 1:])
        for tool, args in (("sgdrun", ("-n", 2, "--bench", 1)), ("sgd-inspect", ())):
            run = harness.tool(tool, damaged, *args, check=False)
            assert run.returncode == 1 and run.stderr.count("\n") == 1 and "damaged.sgda" in run.stderr, (at, run.returncode, run.stderr)
    for size in (0, 63, 64 + 56, len(data) // 2, len(data) - 1):
        damaged.write_bytes(data[:size])
        assert "damaged.sgda" in refused(damaged, "-n", 2)


def all_plans_are_shown(folder):
    artifact, explain = bundle(folder, f"--explain={folder / 'explain.json'}"), folder / "explain.json"
    text = harness.tool("sgd-inspect", artifact).stdout
    assert [line.split()[1] for line in text.splitlines() if line.startswith("plan ")] == list(MESHES), text
    plan = json.loads(harness.tool("sgd-inspect", artifact, "--json", "--plan", MESHES[1]).stdout)
    assert plan["plan"] == MESHES[1] and plan["mesh"] == [["data", 2], ["model", 2]]
    assert harness.tool("sgd-inspect", artifact, "--check-streams").stdout.count("plan ") == 3
    assert [(plan["plan"], bool(plan["records"])) for plan in json.loads(explain.read_text())["plans"]] == [(mesh, True) for mesh in MESHES]
    assert "data=4 model=1" in harness.tool("sgd-sim", artifact, "--plan", MESHES[0]).stdout
    emitted = harness.tool("sgdc", MODEL.path / "model.mlir", *flags("--mesh", MESHES), "--emit", "spmd").stdout
    assert [line for line in emitted.splitlines() if line.startswith("// ")] == [f"// plan {MESHES[0]}", "// -----", f"// plan {MESHES[1]}", "// -----", f"// plan {MESHES[2]}"]


def caches_hold_plans(folder):
    """A bundle uses what plans alone left in the cache, and is the same with it."""
    cache = folder / "cache"
    first = bundle(folder).read_bytes()
    harness.tool("sgdc", MODEL.path / "model.mlir", "--mesh", MESHES[0], "-o", folder / "alone.sgda", "--cache", cache)
    assert len(list(cache.iterdir())) == 1
    assert bundle(folder, "--cache", cache).read_bytes() == first
    assert len(list(cache.iterdir())) == len(MESHES)
    assert bundle(folder, "--cache", cache).read_bytes() == first


harness.main([(f.__name__.replace("_", " "), f) for f in (plans_compute_what_they_compute_alone, recipes_are_plans, meshes_and_recipes_are_paired, usage_is_checked,
                                                               choices_are_refused_with_the_list, launchers_choose_by_their_ranks, checkpoints_go_from_plan_to_plan, damage_is_refused,
                                                               all_plans_are_shown, caches_hold_plans)])
