"""Checkpoints of Orbax, of each of its formats, become tensors of this project, and back."""
import collections
import json
import warnings
import weakref

import jax
import jax.numpy as jnp
import numpy as np
import steps
from steps import harness

import sgd
from sgd import checkpoint, convert
from sgd.tensors import Stored, Tensors

try:
    import orbax.checkpoint as ocp
except ImportError:
    harness.skip("orbax", "there is no Orbax; pip install orbax-checkpoint")

Moments = collections.namedtuple("Moments", ["mu", "nu"])
PARAMS = {"dense": {"kernel": jnp.arange(12.0).reshape(3, 4), "bias": jnp.ones(3, jnp.bfloat16)}, "list": [np.int64(3), np.full((2, 2), 7, np.uint8)]}
TREE = {"params": PARAMS, "opt_state": (Moments(PARAMS["dense"], None), ()), "step": 7, "rate": 0.5, "flag": np.array(True)}
NAMES = [
    "flag", "opt_state[0]['mu']['bias']", "opt_state[0]['mu']['kernel']", "params['dense']['bias']", "params['dense']['kernel']", "params['list'][0]", "params['list'][1]",
    "rate", "step"]


def check(tensors):
    assert sorted(tensors) == NAMES, sorted(tensors)
    assert tensors.types["params['dense']['bias']"] == "bfloat16[3]" and tensors.types["params['list'][1]"] == "uint8[2,2]"
    for name, expected in (("params['dense']['kernel']", PARAMS["dense"]["kernel"]), ("opt_state[0]['mu']['bias']", np.ones(3)), ("step", 7), ("rate", 0.5), ("flag", True)):
        assert np.array_equal(np.asarray(tensors[name], np.float64), np.asarray(expected, np.float64)), name


def all_formats_are_read(folder):
    for name, options in (("ocdbt", {}), ("zarr", {"use_ocdbt": False}), ("zarr3", {"use_zarr3": True})):
        with ocp.PyTreeCheckpointer(**options) as checkpointer:
            checkpointer.save(folder / name, TREE)
        check(checkpoint.from_orbax(folder / name))


def the_newest_step_of_a_manager(folder):
    with ocp.CheckpointManager(folder / "one") as manager:
        for step in (9, 10):
            manager.save(step, args=ocp.args.StandardSave({**TREE, "step": step}))
        manager.wait_until_finished()
    (folder / "one" / "11.orbax-checkpoint-tmp").mkdir()
    assert checkpoint.from_orbax(folder / "one")["step"] == 10 and checkpoint.from_orbax(folder / "one" / "9")["step"] == 9
    with ocp.CheckpointManager(folder / "two", item_names=("state", "other")) as manager:
        manager.save(1, args=ocp.args.Composite(state=ocp.args.StandardSave(TREE), other=ocp.args.StandardSave({"x": np.ones(2)})))
        manager.wait_until_finished()
    with steps.refused(sgd.InputError, "there are several trees, other, state; expected one; give its folder, such as ", "/two/1/other"):
        checkpoint.from_orbax(folder / "two")
    check(checkpoint.from_orbax(folder / "two" / "1" / "state"))


def names_are_those_of_a_step(folder):
    """`like` has the names of fields, which Orbax keeps as keys, and chooses leaves."""
    with ocp.PyTreeCheckpointer() as checkpointer:
        checkpointer.save(folder / "saved", TREE)
    like = {"params": PARAMS, "opt_state": TREE["opt_state"]}
    tensors = checkpoint.from_orbax(folder / "saved", like=like)
    assert sorted(tensors) == sorted(checkpoint.flatten(like)) and "opt_state[0].mu['kernel']" in tensors
    restored = checkpoint.restore(tensors, like)
    assert jax.tree.structure(restored) == jax.tree.structure(like)
    assert all(np.array_equal(one, other) for one, other in zip(jax.tree.leaves(restored), jax.tree.leaves(like)))
    with steps.refused(sgd.InputError, "saved: there is no leaf 'params['other']'; there are flag, "):
        checkpoint.from_orbax(folder / "saved", like={"params": {"other": np.ones(2)}})
    assert sorted(checkpoint.from_orbax(folder / "saved").under("params")) == ["dense['bias']", "dense['kernel']", "list[0]", "list[1]"]


def a_run_starts_from_one(folder):
    params, rows = steps.loss_arguments()[0], steps.rows()
    with ocp.PyTreeCheckpointer() as checkpointer:
        checkpointer.save(folder / "saved", {"params": params})
    warnings.simplefilter("ignore", sgd.RunNote)
    exe, other, third = (sgd.compile(sgd.export(steps.loss, *steps.loss_arguments()), recipe=steps.recipe(2)) for _ in range(3))
    losses = [[line.loss for line in one.train(rows, 3, init=init, seed=1) if "loss" in line]
              for one, init in ((exe, {"params": params}), (other, checkpoint.from_orbax(folder / "saved")))]
    assert losses[0] == losses[1] and len(losses[0]) == 3
    # The state of the run as a checkpoint of Orbax.
    checkpoint.save(folder / "state", exe.state, step=3, seed=1)
    assert convert.main([str(folder / "state"), str(folder / "orbax"), "--to", "orbax"]) == 0
    with ocp.PyTreeCheckpointer() as checkpointer:
        restored = checkpointer.restore(folder / "orbax")
    assert np.array_equal(restored["params"]["w1"], exe.state["params['w1']"])
    # And back, as one that a run goes on from.
    assert convert.main([str(folder / "orbax"), str(folder / "again"), "--to", "checkpoint"]) == 1
    assert convert.main([str(folder / "orbax"), str(folder / "again"), "--to", "checkpoint", "--step", "3", "--seed", "1"]) == 0
    found = [line.loss for line in third.train(rows, 2, seed=1, resume=folder / "again") if "loss" in line]
    assert found == [line.loss for line in exe.train(rows, 2, seed=1) if "loss" in line]


def trees_go_back(folder):
    checkpoint.to_orbax(folder / "given", TREE)
    check(checkpoint.from_orbax(folder / "given"))
    checkpoint.to_orbax(folder / "named", checkpoint.from_orbax(folder / "given"))
    check(checkpoint.from_orbax(folder / "named"))
    with ocp.PyTreeCheckpointer() as checkpointer:
        restored = checkpointer.restore(folder / "named")
    assert isinstance(restored["params"]["list"], list) and restored["step"] == 7
    with steps.refused(sgd.InputError, "given: it exists; expected a new folder"):
        checkpoint.to_orbax(folder / "given", TREE)
    with steps.refused(sgd.InputError, "state is of type list; expected a dictionary"):
        checkpoint.to_orbax(folder / "other", [1])


def tensors_are_written_one_after_the_other(folder):
    alive, most = set(), []

    def stored(number):
        def pieces():
            data = np.full(1 << 16, number, np.uint8)
            alive.add(number)
            weakref.finalize(data, alive.discard, number)
            most.append(len(alive))
            return [data]

        return Stored("float32", (1 << 14,), pieces)

    checkpoint.to_orbax(folder / "saved", Tensors({f"layers[{number}]['w']": stored(number) for number in range(12)}, "numbers"))
    assert len(most) == 12 and max(most) <= 2, most
    found = checkpoint.from_orbax(folder / "saved")
    assert len(found) == 12 and all(np.all(found[f"layers[{number}]['w']"].view(np.uint8) == number) for number in range(12))


def refuses_what_cannot_be_read(folder):
    with steps.refused(sgd.InputError, "none: there is no such folder; expected a checkpoint of Orbax"):
        checkpoint.from_orbax(folder / "none")
    with steps.refused(sgd.InputError, "there is no _METADATA; expected a finished checkpoint of Orbax"):
        checkpoint.from_orbax(folder)
    with ocp.PyTreeCheckpointer(use_ocdbt=False) as checkpointer:
        checkpointer.save(folder / "saved", {"a": np.arange(6.0), "b": np.ones(2), "name": "text"})
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        checkpoint.from_orbax(folder / "saved")
    assert any(str(one.message) == f"{folder / 'saved'}: name is left out: no tensor or number" and one.filename == __file__ for one in caught), caught
    warnings.simplefilter("ignore")
    (folder / "saved" / "a" / "0").write_bytes(b"damaged")
    with steps.refused(sgd.InputError, "saved: tensor 'a' cannot be read: ", "the checkpoint is damaged or incomplete"):
        checkpoint.from_orbax(folder / "saved")["a"]
    (folder / "saved" / "b" / ".zarray").unlink()
    with steps.refused(sgd.InputError, "saved: tensor 'b' cannot be opened: "):
        checkpoint.from_orbax(folder / "saved")
    for text in ("{", "[]", json.dumps({"tree_metadata": {"a": {"key_metadata": 3}}})):
        (folder / "saved" / "_METADATA").write_text(text)
        with steps.refused(sgd.InputError, "_METADATA: it cannot be read: "):
            checkpoint.from_orbax(folder / "saved")


harness.main([(test.__name__.replace("_", " "), test) for test in (
    all_formats_are_read, the_newest_step_of_a_manager, names_are_those_of_a_step, a_run_starts_from_one, trees_go_back, tensors_are_written_one_after_the_other, refuses_what_cannot_be_read)])
