"""Executable.train is sgdrun: the same losses and state, bit for bit, whether in one call or in several."""
import json
import warnings

import jax
import numpy as np
import steps
from steps import harness

import sgd

warnings.simplefilter("ignore")
ARGUMENTS = steps.loss_arguments()
PARAMS = ARGUMENTS[0]
ROWS = steps.rows()
PROGRAM = sgd.export(steps.loss, *ARGUMENTS)


def losses(log):
    return [line.loss for line in log if "loss" in line]


def gives_the_log_and_state_of_the_command(folder):
    exe = sgd.compile(PROGRAM, recipe=steps.recipe(4))
    seen = []
    log = exe.train(ROWS, 12, init={"params": PARAMS}, seed=3, eval_data=ROWS, eval_every=6, log=seen.append)
    assert [line.step for line in log if "loss" in line] == list(range(12)) and list(log) == seen
    exe.save(folder / "a.sgda", cpu="native")
    sgd.checkpoint.write(folder / "init.safetensors", {"params": PARAMS})
    sgd.checkpoint.write(folder / "rows.safetensors", ROWS)
    harness.tool("sgdrun", "-n", "4", folder / "a.sgda", "--init", folder / "init.safetensors", "--data", folder / "rows.safetensors", "--steps", "12",
                 "--seed", "3", "--eval-data", folder / "rows.safetensors", "--eval-every", "6", "--log-json", folder / "log.jsonl", "--save", folder / "saved")
    written = [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]
    untimed = [{name: value for name, value in line.items() if "seconds" not in name} for line in written]
    found = [{name: value for name, value in line.to_dict().items() if "seconds" not in name} for line in log]
    assert found == untimed and any("eval" in line for line in found), (found[-2:], untimed[-2:])
    state, expected = exe.state, sgd.checkpoint.load(folder / "saved")
    assert sorted(state) == sorted(expected) and all(state[name].tobytes() == expected[name].tobytes() for name in state)


def calls_go_on_where_the_last_has_stopped(folder):
    recipe = steps.recipe(2)
    alone = sgd.compile(PROGRAM, recipe=recipe)
    expected = losses(alone.train(ROWS, 10, init={"params": PARAMS}, seed=1))
    exe = sgd.compile(PROGRAM, recipe=recipe)
    found = losses(exe.train(ROWS, 3, init={"params": PARAMS}, seed=1))
    found += losses(exe.train(ROWS, 4, seed=1)) + losses(exe.train(ROWS, 3, seed=1))
    assert found == expected and found[-1] < found[0]
    with steps.refused(sgd.InputError, "init is given, and the run goes on from a checkpoint"):
        exe.train(ROWS, 1, init={"params": PARAMS})
    exe.reset()
    with steps.refused(sgd.RunError, "there is no state yet"):
        exe.state
    assert losses(exe.train(ROWS, 2, init={"params": PARAMS}, seed=1)) == expected[:2]


def other_ranks_go_on_from_a_folder(folder):
    four, two = (sgd.compile(PROGRAM, recipe=steps.recipe(ranks)) for ranks in (4, 2))
    four.train(ROWS, 4, init={"params": PARAMS}, seed=1, save=folder / "saved", save_every=2)
    assert sgd.checkpoint.step(folder / "saved") == 4
    found = losses(two.train(ROWS, 4, seed=1, resume=folder / "saved"))
    expected = losses(four.train(ROWS, 4, seed=1))
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def refuses_to_start_without_values(folder):
    exe = sgd.compile(PROGRAM, recipe=steps.recipe(2))
    with steps.refused(sgd.Error, "params"):
        exe.train(ROWS, 1)


def gives_parameters_back_to_jax(folder):
    exe = sgd.compile(PROGRAM, recipe=steps.recipe(4))
    exe.train(ROWS, 30, init={"params": PARAMS}, seed=1)
    params = sgd.checkpoint.restore(exe.state, {"params": PARAMS})["params"]
    x, y = ROWS["x"][:32], ROWS["y"][:32]
    assert jax.tree.structure(params) == jax.tree.structure(PARAMS)
    assert float(steps.loss(params, x, y)["loss"]) < float(steps.loss(PARAMS, x, y)["loss"])


def refuses_as_the_command_does(folder):
    exe = sgd.compile(PROGRAM, recipe=steps.recipe(2))
    start = {"init": {"params": PARAMS}}
    cases = [
        (ROWS, {"sed": 1}, "there is no flag --sed; did you mean --seed?"),
        (ROWS, {"live": True}, "--live is for ranks that are processes"),
        (ROWS, {"restarts": 1}, "--restarts is for ranks that are processes"),
        (ROWS, {"log_json": folder / "log"}, "--log-json is for ranks that are processes"),
        (ROWS, {"resume": folder / "none", "init": None}, "none"),
        ({"x": ROWS["x"]}, {}, "'y'"),
        ({"x": ROWS["x"], "y": ROWS["y"][:5]}, {}, "rows"),
        (folder / "none.safetensors", {}, "none.safetensors: "),
        ({"x": ROWS["x"].astype(complex), "y": ROWS["y"]}, {}, "tensor 'x' has elements of type complex128; expected one of "),
        (7, {}, "data are of type int; expected"),
    ]
    for data, options, text in cases:
        with steps.refused(sgd.Error, text):
            exe.train(data, 2, **{**start, **options})
    with steps.refused(sgd.InputError, "state is of type list; expected a dictionary"):
        exe.train(ROWS, 1, init=[1])
    assert len(losses(exe.train(ROWS, 2, **start))) == 2


def an_error_of_log_ends_the_run(folder):
    exe = sgd.compile(PROGRAM, recipe=steps.recipe(2))

    def log(line):
        raise KeyError("mine")

    with steps.refused(KeyError, "mine"):
        exe.train(ROWS, 10**9, init={"params": PARAMS}, log=log)
    assert sgd.checkpoint.step(exe._shared.checkpoints) > 0


harness.main([(test.__name__.replace("_", " "), test) for test in (
    gives_the_log_and_state_of_the_command, calls_go_on_where_the_last_has_stopped, other_ranks_go_on_from_a_folder, refuses_to_start_without_values,
    gives_parameters_back_to_jax, refuses_as_the_command_does, an_error_of_log_ends_the_run)])
