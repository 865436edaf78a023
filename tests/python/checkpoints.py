"""Pytrees and state_dicts go to files and come back, by the names that programs have."""
import collections
import json
import subprocess

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import steps
from steps import harness

import sgd
from sgd import checkpoint

Pair = collections.namedtuple("Pair", ["left", "right"])
TREE = {
    "params": {"dense": {"kernel": steps.draw(4, 3), "bias": jnp.ones(3, jnp.bfloat16)}, "list": [np.int64(3), np.zeros((0, 2), np.uint8)]},
    "state": Pair(np.array(True), (steps.draw(2).astype(ml_dtypes.float8_e5m2), steps.draw(2).astype(np.complex64))),
    "step": np.int32(7),
}
NAMES = ["params['dense']['bias']", "params['dense']['kernel']", "params['list'][0]", "params['list'][1]", "state.left", "state.right[0]", "state.right[1]", "step"]


def same(one, other):
    assert jax.tree.structure(one) == jax.tree.structure(other), one
    for left, right in zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True):
        left, right = np.asarray(left), np.asarray(right)
        assert left.dtype == right.dtype and left.shape == right.shape and left.tobytes() == right.tobytes(), (left, right)


def trees_come_back(folder):
    checkpoint.write(folder / "a.safetensors", TREE)
    checkpoint.save(folder / "saved", TREE, step=7)
    for path in (folder / "a.safetensors", folder / "saved", folder / "saved" / "step-0000000007"):
        assert sorted(checkpoint.load(path)) == NAMES
        same(checkpoint.load(path, like=TREE), TREE)
    assert isinstance(checkpoint.load(folder / "saved", like=TREE)["params"]["dense"]["bias"], jax.Array)
    assert checkpoint.step(folder / "saved") == 7
    checkpoint.save(folder / "saved", {**TREE, "step": np.int32(9)}, step=9)
    assert checkpoint.step(folder / "saved") == 9 and checkpoint.load(folder / "saved")["step"] == 9


def tensors_are_read_one_at_a_time(folder):
    checkpoint.write(folder / "a.safetensors", TREE)
    checkpoint.save(folder / "saved", TREE, step=7)
    for path in (folder / "a.safetensors", folder / "saved"):
        tensors = checkpoint.open(path)
        assert sorted(tensors) == NAMES and tensors.types["params['dense']['bias']"] == "bfloat16[3]" and len(tensors) == 8 and tensors.size == 85, tensors.size
        same({name: tensors[name] for name in tensors}, checkpoint.load(path))
        same(checkpoint.restore(tensors, TREE), TREE)
        # As the source of another file, with other names.
        part = tensors.under("params").rename({"list[0]": "count", "list[1]": None})
        checkpoint.write(folder / "b.safetensors", part)
        assert sorted(checkpoint.load(folder / "b.safetensors")) == ["count", "dense['bias']", "dense['kernel']"]
        checkpoint.save(folder / "copy", tensors.rename(str.upper), step=8)
        assert sorted(checkpoint.load(folder / "copy")) == sorted(map(str.upper, NAMES)) and checkpoint.step(folder / "copy") == 8
    with steps.refused(sgd.InputError, "tensors 'state.left' and 'step' would both be called 'x'; give them different names"):
        tensors.rename({"step": "x", "state.left": "x"})
    with steps.refused(sgd.InputError, "there is no tensor 'stop'; there are params['dense']['bias'], "):
        tensors.rename({"stop": "x"})


def an_error_while_writing_leaves_nothing(folder):
    def pieces():
        yield np.zeros(8, np.uint8)
        raise RuntimeError("the disk is on fire")

    tensors = sgd.Tensors({"x": sgd.tensors.Stored("float32", (4,), pieces)}, "nowhere")
    for call in (lambda: checkpoint.write(folder / "a.safetensors", tensors), lambda: checkpoint.save(folder, tensors, step=1), lambda: tensors["x"]):
        with steps.refused(RuntimeError, "the disk is on fire"):
            call()
    for count, text in ((8, "x: 8 bytes; expected 16"), (24, "x: at least 24 bytes; expected 16")):
        wrong = sgd.Tensors({"x": sgd.tensors.Stored("float32", (4,), lambda: [bytes(count)])}, "nowhere")
        with steps.refused(sgd.InputError, text):
            checkpoint.write(folder / "a.safetensors", wrong)
        with steps.refused(sgd.InputError, f"nowhere: tensor 'x' has {count} bytes; expected 16"):
            wrong["x"]
    with steps.refused(TypeError, ""):
        checkpoint.write(folder / "a.safetensors", sgd.Tensors({"x": sgd.tensors.Stored("float32", (4,), lambda: 3)}, "nowhere"))
    assert not any(folder.iterdir()), list(folder.iterdir())


def bytes_of_other_machines(folder):
    values = np.arange(5, dtype=">i4")
    checkpoint.write(folder / "a.safetensors", {"x": values, "y": values[::2]})
    read = checkpoint.load(folder / "a.safetensors")
    assert read["x"].tolist() == values.tolist() and read["y"].tolist() == [0, 2, 4]


def the_commands_read_them(folder):
    checkpoint.save(folder / "saved", TREE, step=7, seed=5)
    listed = json.loads(subprocess.run([harness.BUILD / "bin" / "sgd-ckpt", "verify", folder / "saved", "--json"], capture_output=True, text=True, check=True).stdout)
    assert [(one["step"], one["whole"], one["tensors"], one["seed"], one["program"]) for one in listed] == [(7, True, 8, 5, "train")], listed


def a_run_resumes_from_them(folder):
    program = sgd.export(steps.loss, *steps.loss_arguments())
    params, rows = steps.loss_arguments()[0], steps.rows()
    exe, other = (sgd.compile(program, recipe=steps.recipe(2)) for _ in range(2))
    exe.train(rows, 5, init={"params": params}, seed=1)
    state = exe.state
    checkpoint.save(folder / "saved", state, step=5, seed=1)
    found = [line.loss for line in other.train(rows, 3, seed=1, resume=folder / "saved") if "loss" in line]
    assert found == [line.loss for line in exe.train(rows, 3, seed=1) if "loss" in line]


def refuses_what_does_not_fit(folder):
    checkpoint.write(folder / "a.safetensors", TREE)
    cases = [
        (lambda: checkpoint.load(folder / "none"), "none"),
        (lambda: checkpoint.load(folder), "holds no complete checkpoint"),
        (lambda: checkpoint.step(folder / "a.safetensors"), "a file of tensors; expected a checkpoint"),
        (lambda: checkpoint.load(folder / "a.safetensors", like={"other": np.zeros(2)}), "there is no tensor 'other'; there are "),
        (lambda: checkpoint.load(folder / "a.safetensors", like={"step": np.zeros(2)}), "tensor 'step' is int32[]; expected the shape (2,)"),
        (lambda: checkpoint.write(folder / "b.safetensors", {"x": np.array(["text"])}), "tensor 'x' has elements of type"),
        (lambda: checkpoint.write(folder / "b.safetensors", {"x": np.ma.masked_equal([1, 2], 2)}), "tensor 'x' is a masked array, whose mask would be lost"),
        (lambda: checkpoint.write(folder / "b.safetensors", [1, 2]), "state is of type list; expected a dictionary"),
        (lambda: checkpoint.write(folder / "none" / "b.safetensors", TREE), "none"),
    ]
    for call, text in cases:
        with steps.refused(sgd.Error, text):
            call()
    (folder / "damaged.safetensors").write_bytes((folder / "a.safetensors").read_bytes()[:-1])
    with steps.refused(sgd.InputError, "damaged.safetensors"):
        checkpoint.load(folder / "damaged.safetensors")
    assert sorted(path.name for path in folder.iterdir()) == ["a.safetensors", "damaged.safetensors"]


harness.main([(test.__name__.replace("_", " "), test) for test in (
    trees_come_back, tensors_are_read_one_at_a_time, an_error_while_writing_leaves_nothing, bytes_of_other_machines, the_commands_read_them, a_run_resumes_from_them,
    refuses_what_does_not_fit)])
