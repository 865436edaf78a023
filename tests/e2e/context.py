"""Attention over a sharded sequence: in a ring, and with heads exchanged for positions, it gives what NumPy gives, on any number of ranks, and sends what these methods must send."""
import json
import re

import numpy as np

import harness

PROGRAMS = harness.pathlib.Path(__file__).resolve().parent / "programs"
BATCH, LENGTH, HEADS, DEPTH = 2, 96, 6, 16  # of the texts
MASKED = -1e30


def visible(name, length, extra):
    """[batch or 1, rows, columns]: what a query sees."""
    rows, columns = np.arange(length)[:, None], np.arange(length)
    if name in ("full", "dense_mask", "padded"):
        seen = np.ones((1, length, length), bool)
    elif name == "window":
        seen = ((rows >= columns) & (rows - columns < 20))[None]
    else:
        seen = (rows >= columns)[None]
    if name == "padded":
        seen = seen & (extra[:, None, :] > 0)
    if name == "dense_mask":
        seen = seen & extra
    if name == "segments":
        seen = seen & (extra[:, :, None] == extra[:, None, :])
    return seen


def oracle(name, q, k, v, g, extra):
    """The result and gradients of q, k and v, in f64."""
    length, groups = q.shape[1], q.shape[2] // k.shape[2]
    q, k, v, g = (one.astype(np.float64) for one in (q, k, v, g))
    keys, values = np.repeat(k, groups, axis=2), np.repeat(v, groups, axis=2)
    scores = np.einsum("bqhe,bkhe->bhqk", q, keys) / DEPTH**0.5
    if name == "alibi":
        scores += (2.0 ** -np.arange(1, HEADS + 1))[:, None, None] * (np.arange(length) - np.arange(length)[:, None])
    seen = visible(name, length, extra)[:, None]
    scores = np.where(seen, scores, MASKED)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    weights /= weights.sum(-1, keepdims=True)
    out = np.einsum("bhqk,bkhe->bqhe", weights, values)
    by_weight = np.einsum("bqhe,bkhe->bhqk", g, values)
    by_score = weights * (by_weight - (weights * by_weight).sum(-1, keepdims=True))
    by_score = np.where(seen, by_score, 0) / DEPTH**0.5

    def of_groups(gradient):
        return gradient.reshape(*k.shape[:3], groups, DEPTH).sum(3)

    return [out, np.einsum("bhqk,bkhe->bqhe", by_score, keys), of_groups(np.einsum("bhqk,bqhe->bkhe", by_score, q)),
            of_groups(np.einsum("bhqk,bqhe->bkhe", weights, g))]


def make_inputs(text):
    random, arrays = np.random.default_rng(0), {}
    for index, spec in enumerate(re.findall(r"%arg\d+: tensor<([^>]*)>", text.split("->")[0])):
        *shape, kind = spec.split("x")
        shape = [int(size) for size in shape]
        if kind in ("f32", "bf16"):
            arrays[f"arg{index}"] = random.standard_normal(shape).astype(np.float32)
        else:  # masks; the first position is always seen, and segments are runs
            arrays[f"arg{index}"] = np.sort(random.integers(0, 3, shape).astype(np.int32), axis=-1)[..., ::-1].copy() if kind == "i32" else random.random(shape) < 0.6
            if kind == "i1":
                arrays[f"arg{index}"][:, 0] = True
    return arrays


def to_bf16(array):
    """Rounded to nearest, even; as the bits of bf16."""
    bits = array.astype(np.float32).view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


def compile_form(folder, name, ranks, form, length=LENGTH):
    text = (PROGRAMS / f"context_{name}.mlir").read_text().replace(str(LENGTH), str(length))
    model, recipe, artifact, report = folder / "m.mlir", folder / "r.json", folder / f"{ranks}.sgda", folder / "report.json"
    model.write_text(text)
    recipe.write_text(json.dumps({"attention": form} if form else {}))
    harness.tool("sgdc", model, "--mesh", f"context={ranks}", "--recipe", recipe, "-o", artifact, f"--report={report}")
    return text, artifact, json.loads(report.read_text())


def check_values(folder, name, ranks, form, length=LENGTH):
    text, artifact, report = compile_form(folder, name, ranks, form, length)
    arrays, path = make_inputs(text), folder / "in.safetensors"
    is_half = "xbf16>" in text.split("->")[0]
    if is_half:
        raw = {key: to_bf16(value) for key, value in arrays.items()}
        arrays = {key: (value.astype(np.uint32) << 16).view(np.float32) for key, value in raw.items()}
        harness.save(path, raw, {key: "BF16" for key in raw})
    else:
        harness.save(path, arrays)
    got = harness.run_once(artifact, ranks, path, folder / "out.safetensors")
    q, k, v, *rest = arrays.values()
    backward = not name.endswith("forward")
    want = oracle(name, q, k, v, rest[0] if backward else q, rest[-1] if len(rest) > 1 else None)
    assert len(got) == (4 if backward else 1)
    for index in range(len(got)):
        value = np.asarray(got[f"result{index}"][1], np.float64)
        error = np.abs(value - want[index]).max() / np.abs(want[index]).max()
        assert np.isfinite(value).all() and error < (2e-2 if is_half else 2e-6), f"result {index} is off by {error}"
    return report


def check_ring(folder, name, ranks, length=LENGTH):
    report = check_values(folder, name, ranks, "ring", length)
    heads = HEADS // 3 if name == "grouped" else HEADS
    wide = 2 if name == "bf16" else 4
    tile = BATCH * -(-length // ranks) * heads * DEPTH
    # Keys and values n - 1 times in each pass, their gradients, which are f32, as often; a window of 20 positions ends in the block before.
    block = -(-length // ranks)
    hops = min(ranks - 1, -(-19 // block)) if name == "window" else ranks - 1
    floor = hops * tile * 2 * (wide if name.endswith("forward") else 2 * wide + 4)
    numbers = BATCH * -(-length // ranks) * 4 * 2 * (ranks - 1) if name in ("segments", "padded") else 0
    assert floor <= report["sent_bytes"] <= floor + numbers, (report["sent_bytes"], floor, numbers)
    assert {one["kind"] for one in report["collectives"]} == {"gather_range"}, report["collectives"]


def check_striped(folder, name, ranks, length=LENGTH):
    """A ring, with an all-to-all of queries, keys, values and results, and of their gradients; where tiles divide by the ranks, that is all."""
    report = check_values(folder, name, ranks, "striped_ring", length)
    tile = BATCH * -(-length // ranks) * HEADS * DEPTH * 4
    passes = 1 if name.endswith("forward") else 2
    floor = (ranks - 1) * tile * (2 if passes == 1 else 6) + 4 * passes * tile * (ranks - 1) // ranks
    assert length % ranks**2 or report["sent_bytes"] == floor, (report["sent_bytes"], floor)


def check_exchange(folder, name, ranks, length=LENGTH):
    report = check_values(folder, name, ranks, "all_to_all", length)
    tile = BATCH * -(-length // ranks) * DEPTH * 4
    heads = HEADS + (HEADS // 3 if name == "grouped" else HEADS)  # of queries and results, of keys and values
    floor = (2 if name.endswith("forward") else 4) * heads * tile * (ranks - 1) // ranks
    # Masks that are inputs are gathered.
    masks = {"padded": BATCH * length * 4, "segments": BATCH * length * 4, "dense_mask": length * length}.get(name, 0)
    assert length % ranks or floor <= report["sent_bytes"] <= floor + masks, (report["sent_bytes"], floor, masks)


def check_balance(folder):
    """Striped, a causal mask hides as much on each rank: what they compute together is what one rank computes."""
    _, _, one = compile_form(folder, "causal", 1, None, 2048)
    _, _, ring = compile_form(folder, "causal", 4, "ring", 2048)
    _, _, striped = compile_form(folder, "causal", 4, "striped_ring", 2048)
    assert 4 * striped["flops"] <= one["flops"] and ring["flops"] > 1.4 * striped["flops"], (one["flops"], ring["flops"], striped["flops"])


def check_memory(folder):
    """A block of scores is never whole: of 2048 positions on 4 ranks it would take 12 MiB, of what is kept for the backward pass 4 times as much."""
    _, _, report = compile_form(folder, "causal", 4, "ring", 2048)
    block = BATCH * HEADS * 512 * 512 * 4
    assert report["memory"]["temporaries"] < block, report["memory"]


def check_layer(folder):
    """A training step of a layer gives what one rank gives, in any form."""
    results = []
    for ranks, form in ((1, None), (3, "ring"), (4, "striped_ring"), (4, "all_to_all"), (8, None)):
        text, artifact, _ = compile_form(folder, "layer", ranks, form)
        harness.save(folder / "in.safetensors", {key: value * np.float32(0.05 if value.ndim > 2 or value.shape[0] > 1 else 1) for key, value in make_inputs(text).items()})
        results.append(harness.run_once(artifact, ranks, folder / "in.safetensors", folder / "out.safetensors"))
    for other in results[1:]:
        for key, (_, value) in results[0].items():
            error = np.abs(other[key][1] - value).max() / np.abs(value).max()
            assert np.isfinite(value).all() and error < 1e-5, f"{key} is off by {error}"


def check_long(folder):
    """Of 32,768 positions each of 8 ranks takes little more than an eighth of what one rank takes: no whole keys, values or scores."""
    share = compile_form(folder, "layer", 1, None, 32768)[2]["memory"]["peak"] / 8
    for form, most in (("ring", 1.2), ("all_to_all", 1.2), ("striped_ring", 1.25), (None, 1.2)):
        peak = compile_form(folder, "layer", 8, form, 32768)[2]["memory"]["peak"]
        assert peak <= most * share, (form, peak / share)
        print(f"        {form or 'by cost'}: {peak / share:.3f} of an eighth")


def check_refused(folder):
    """A mask with an entry for each pair of positions has no blocks to compute: asked for, a ring is refused; else it is another form."""
    text = (PROGRAMS / "context_dense_mask.mlir").read_text()
    (folder / "m.mlir").write_text(text)
    (folder / "r.json").write_text('{"attention": "ring"}')
    result = harness.tool("sgdc", folder / "m.mlir", "--mesh", "context=2", "--recipe", folder / "r.json", "-o", folder / "m.sgda", check=False)
    assert result.returncode == 1, result
    assert "m.mlir:" in result.stderr and "attention cannot be computed in the form 'ring' that the recipe asks for: its mask or bias is a tensor with an entry for each pair" in result.stderr, result.stderr
    assert not (folder / "m.sgda").exists()
    check_values(folder, "dense_mask", 2, None)
    check_values(folder, "dense_mask", 4, None)


def check_choice(folder):
    """By cost, heads are exchanged where the ranks divide them, and the explanation says what each form takes, or that memory decides."""
    for length, ranks, form, gathered in ((4096, 2, "all_to_all", "takes "), (4096, 4, "striped_ring", "takes "), (32768, 4, "striped_ring", "is out: whole keys and values would take 50 MB")):
        (folder / "m.mlir").write_text((PROGRAMS / "context_causal.mlir").read_text().replace(str(LENGTH), str(length)))
        explain = folder / "explain.json"
        harness.tool("sgdc", folder / "m.mlir", "--mesh", f"context={ranks}", "-o", folder / "m.sgda", f"--explain={explain}")
        assert f"({form}); gathered {gathered}" in explain.read_text(), explain.read_text()


def main():
    rings = [(name, ranks, length) for name in ("causal", "full") for ranks, length in ((2, 96), (3, 96), (4, 96), (8, 96), (2, 89), (3, 89), (4, 89), (8, 89))]
    rings += [("causal_forward", ranks, length) for ranks in (2, 3, 8) for length in (96, 89)]
    rings += [("window", ranks, length) for ranks, length in ((3, 96), (8, 96), (8, 89))]
    rings += [(name, ranks, length) for name in ("window", "padded", "segments", "alibi", "grouped", "bf16") for ranks, length in ((2, 96), (4, 89))]
    striped = [(name, ranks, length) for name in ("causal", "causal_forward") for ranks, length in ((2, 96), (4, 96), (3, 90), (2, 89), (3, 89), (8, 89))]
    exchanges = [(name, ranks, length) for name in ("causal", "full", "causal_forward") for ranks in (2, 3) for length in (96, 89)]
    exchanges += [(name, 2, 96) for name in ("window", "padded", "segments", "alibi", "dense_mask", "grouped")]
    tests = [(f"ring: {name}, {length} positions on {ranks} ranks", lambda folder, case=(name, ranks, length): check_ring(folder, *case)) for name, ranks, length in rings]
    tests += [(f"striped ring: {name}, {length} positions on {ranks} ranks", lambda folder, case=(name, ranks, length): check_striped(folder, *case)) for name, ranks, length in striped]
    tests += [(f"all to all: {name}, {length} positions on {ranks} ranks", lambda folder, case=(name, ranks, length): check_exchange(folder, *case)) for name, ranks, length in exchanges]
    harness.main(tests + [("stripes balance a causal mask", check_balance), ("no block of scores is whole", check_memory), ("32,768 positions", check_long), ("a layer", check_layer), ("what cannot be in blocks", check_refused), ("the form is chosen by cost", check_choice)])


main()
