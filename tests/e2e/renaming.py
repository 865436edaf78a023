"""Names and the order of independent ops decide nothing: renamed and reordered programs get the same kernels, bytes and memory."""
import json
import random
import re

import harness

MODELS = ("mlp_digits", "gpt_dp", "gpt_zero3", "gpt_tp")
SEEDS = (1, 2, 3)


def statements(lines):
    """The lines of a function's body, joined where an op spans several."""
    result, depth = [], 0
    for line in lines:
        if depth > 0:
            result[-1] += "\n" + line
        else:
            result.append(line)
        bare = re.sub(r'"[^"]*"', "", line)
        depth += sum(bare.count(c) for c in "({") - sum(bare.count(c) for c in ")}")
    return result


def shuffled(body, seed):
    """The statements in another order in which every value is defined before its uses."""
    body, last = body[:-1], body[-1]
    defined = [set(re.findall(r"%[\w$.-]+", re.split(r"(?<!=)=(?!=)", text, maxsplit=1)[0])) if re.match(r"\s*%", text) else set() for text in body]
    names = [set(re.findall(r"%[\w$.-]+", text)) for text in body]
    where = {name: i for i, group in enumerate(defined) for name in group}
    waits = [{where[name] for name in names[i] - defined[i] if name in where} for i in range(len(body))]
    generator, done, order = random.Random(seed), set(), []
    while len(order) < len(body):
        ready = [i for i in range(len(body)) if i not in done and waits[i] <= done]
        chosen = generator.choice(ready)
        done.add(chosen)
        order.append(chosen)
    return [body[i] for i in order] + [last]


def reordered(text, seed):
    """Shuffles the body of each function of the module."""
    lines, out, i = text.splitlines(), [], 0
    while i < len(lines):
        out.append(lines[i])
        if re.match(r"\s*func\.func .*\{\s*(loc\(.*)?$", lines[i]):
            end = next(j for j in range(i + 1, len(lines)) if re.match(r"  \}", lines[j]))
            out += shuffled(statements(lines[i + 1:end]), seed)
            i = end - 1
        i += 1
    return "\n".join(out) + "\n"


def renamed(text):
    """Other names for values, functions but main, and the arguments and parameters that users see."""
    text = re.sub(r"%(?=[A-Za-z_])(?![A-Za-z_]\w*_\d*:)", "%zz_", text)
    text = re.sub(r"@(?!main\b|mesh\b)(?=[A-Za-z_][\w]*\()", "@yy_", text)
    return re.sub(r"loc\(\"(params|state|batch)", r'loc("other_\1', text)


def metrics(folder, text, mesh):
    path, report = folder / "model.mlir", folder / "report.json"
    path.write_text(text)
    harness.tool("sgdc", path, "--mesh", mesh, f"--report={report}", "--cpu", "x86-64-v3", "-o", folder / "out.sgda")
    metrics = json.loads(report.read_text())
    collectives = sorted((c["kind"], c["operand_bytes"], c["sent_bytes"], c["group_size"]) for c in metrics["collectives"])
    return {"collectives": collectives, "peak": metrics["memory"]["peak"], **{key: metrics[key] for key in ("kernels", "library_calls", "flops", "sent_bytes")}}


def check(folder, name, change):
    model = harness.Model(name)
    text = (model.path / "model.mlir").read_text()
    changed = change(text)
    assert changed != text, "nothing was changed"
    expected, got = metrics(folder, text, model.mesh_flag()), metrics(folder, changed, model.mesh_flag())
    assert got == expected, "\n".join(f"{key}: {expected[key]} became {got[key]}" for key in expected if got[key] != expected[key])


def tests():
    for name in MODELS:
        yield f"{name} renamed", lambda folder, name=name: check(folder, name, renamed)
        for seed in SEEDS:
            yield f"{name} reordered, seed {seed}", lambda folder, name=name, seed=seed: check(folder, name, lambda text: reordered(text, seed))


harness.main(tests())
