"""Recipes that people write for the models of tests/models: data parallelism, ZeRO, tensor parallelism as Megatron has it, with and without sharded positions, experts, pipelines."""
import itertools

ATTENTION = [
    {"tensor": "params*wqkv", "sharding": [None, None, "model", None]},
    {"tensor": "params*.wo", "sharding": ["model", None, None]},
    {"tensor": "params*.b1", "sharding": ["model"]},
    {"tensor": "params*.w1", "sharding": [None, "model"]},
    {"tensor": "params*.w2", "sharding": ["model", None]},
]
STACKED = [{"tensor": rule["tensor"], "sharding": [None, *rule["sharding"]]} for rule in ATTENTION]
BERT = [
    *({"tensor": f"params.layer*.{name}_lin.kernel", "sharding": [None, "model"]} for name in "qkv"),
    *({"tensor": f"params.layer*.{name}_lin.bias", "sharding": ["model"]} for name in "qkv"),
    {"tensor": "params.layer*.out_lin.kernel", "sharding": ["model", None]},
    {"tensor": "params.layer*.lin1.kernel", "sharding": [None, "model"]},
    {"tensor": "params.layer*.lin1.bias", "sharding": ["model"]},
    {"tensor": "params.layer*.lin2.kernel", "sharding": ["model", None]},
]
WORDS = [{"tensor": "params.word.embedding", "sharding": ["model", None]}]
MLP = [
    {"tensor": "params.layer0.w", "sharding": [None, "model"]},
    {"tensor": "params.layer0.b", "sharding": ["model"]},
    {"tensor": "params.layer1.w", "sharding": ["model", None]},
]
EXPERTS = [{"tensor": "params.experts.*", "sharding": ["model", None, None]}]
BLOCKS = [
    {"tensor": "params.Block_*.Conv_0.kernel", "sharding": [None, None, None, "model"]},
    {"tensor": "params.Block_*.Conv_1.kernel", "sharding": [None, None, "model", None]},
]
TOKENS = [{"tensor": "tokens", "sharding": ["data", "model"]}, {"tensor": "targets", "sharding": ["data", "model"]}]
IDS = [{"tensor": "ids", "sharding": ["data", "model"]}, {"tensor": "mask", "sharding": ["data", "model"]}]

# Model: lists of rules that people write for it.
TENSOR = {
    **{name: [("tensor", ATTENTION), ("tensor, positions", ATTENTION + TOKENS), ("positions", TOKENS)] for name in ("gpt_dp", "gpt_tp", "gpt_zero1", "gpt_zero3", "bench_gpt")},
    "gpt_scan": [("tensor", STACKED), ("tensor, positions", STACKED + TOKENS), ("positions", TOKENS)],
    **{name: [("tensor", BERT), ("tensor, words", BERT + WORDS), ("positions", IDS)] for name in ("bert_cls", "bench_distilbert")},
    **{name: [("tensor", MLP)] for name in ("mlp_digits", "bench_mlp")},
    "moe_einsum": [("experts", EXPERTS), ("experts, positions", EXPERTS + TOKENS), ("positions", TOKENS)],
    **{name: [("channels", BLOCKS)] for name in ("resnet_small", "resnet_spatial", "bench_resnet18")},
}


def divisors(number):
    return [size for size in range(1, number + 1) if number % size == 0]


def on_mesh(data, model):
    mesh = {**({"data": data} if data > 1 else {}), **({"model": model} if model > 1 else {})}
    return {**({"mesh": mesh} if mesh else {}), **({"batch": "data"} if data > 1 else {})}


def ruled(rules, data):
    """Without the axis of the batch where it has one rank."""
    return [{**rule, "sharding": [None if entry == "data" and data == 1 else entry for entry in rule["sharding"]]} for rule in rules]


def flat(ranks):
    for zero in (0, 1, 3):
        yield ("ddp" if zero == 0 else f"zero {zero}"), {**on_mesh(ranks, 1), "zero": zero}


def tensor(name, ranks):
    for (what, rules), model, zero in itertools.product(TENSOR.get(name, []), divisors(ranks)[1:], (0, 1, 3)):
        data = ranks // model
        if zero and data == 1:
            continue
        fields = {**on_mesh(data, model), "rules": ruled(rules, data), **({"zero": zero} if zero else {})}
        yield f"{what}: data {data} x model {model}" + (f", zero {zero}" if zero else ""), fields


def pipelines(ranks):
    for stages, parts, schedule in itertools.product(divisors(ranks)[1:], (1, 2), ("1f1b", "zero_bubble", "interleaved:2")):
        fields = {**on_mesh(ranks // stages, 1), "stages": stages, "schedule": schedule, "sequential": {"micro": stages * parts}}
        yield f"{stages} stages x data {ranks // stages}, {stages * parts} parts, {schedule}", fields


def written(mesh, ranks):
    """The text's own annotations on each mesh of its axes."""
    for sizes in itertools.product(divisors(ranks), repeat=len(mesh)):
        product = 1
        for size in sizes:
            product *= size
        if product == ranks and mesh:
            yield "as written: " + " x ".join(f"{axis} {size}" for (axis, _), size in zip(mesh, sizes)), {"mesh": {axis: size for (axis, _), size in zip(mesh, sizes)}}


def all_for(name, mesh, ranks):
    """(what, recipe) of a model whose text names `mesh`."""
    for what, fields in itertools.chain(flat(ranks), tensor(name, ranks), pipelines(ranks)):
        yield what, {**({"annotations": "ignore"} if mesh else {}), **fields}
    yield from written(mesh, ranks)
