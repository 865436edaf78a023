"""Calls compute what JAX computes, on any number of ranks, and give back what the function would: structures, types, arrays."""
import itertools
import threading
import time

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import steps
from steps import harness

import sgd

RANKS = (1, 2, 4)
TYPES = ("float32", "float16", "bfloat16", "int8", "int32", "uint8", "uint32", "bool")


def close(actual, expected):
    for one, other in zip(jax.tree.leaves(actual), jax.tree.leaves(expected), strict=True):
        assert one.dtype == other.dtype and one.shape == other.shape, (one, other)
        np.testing.assert_allclose(np.asarray(one, np.float64), np.asarray(other, np.float64), rtol=1e-5, atol=1e-6)


def steps_are_those_of_jax(folder):
    lowered = jax.jit(steps.step).lower(*steps.step_arguments())
    for ranks in RANKS:
        with sgd.compile(lowered, ranks=ranks) as exe:
            params, x, y = steps.step_arguments()
            expected = params
            for _ in range(5):
                params, loss = exe(params, x, y)
                expected, expected_loss = jax.jit(steps.step)(expected, x, y)
                assert isinstance(loss, jax.Array) and isinstance(params, dict)
                close((params, loss), (expected, expected_loss))


def element_types(folder):
    for name, ranks in itertools.product(TYPES, RANKS):
        dtype = getattr(ml_dtypes, name) if name == "bfloat16" else np.dtype(name)
        values = (steps.RANDOM.integers(0, 2, (8, 3)) if name == "bool" else steps.RANDOM.integers(0, 100, (8, 3))).astype(dtype)

        def flip(x):
            return jnp.where(x == x[:1], x, x[::-1]).T, x.reshape(-1)[5]

        lowered = jax.jit(flip).lower(values)
        expected = jax.jit(flip)(values)
        with sgd.compile(lowered, ranks=ranks) as exe:
            for given in (values, jnp.asarray(values), np.asfortranarray(values), np.repeat(values, 2, axis=1)[:, ::2]):
                found = exe(given)
                assert all(one.dtype == dtype for one in found)
                assert all(np.asarray(one).tobytes() == np.asarray(other).tobytes() for one, other in zip(found, expected, strict=True)), (name, ranks)


def a_program_for_several_devices_keeps_its_mesh(folder):
    """`ranks` adds no axis to it, and is checked."""
    x = steps.draw(8, 4)
    mesh = jax.sharding.AbstractMesh((4,), ("x",))
    sharded = jax.ShapeDtypeStruct(x.shape, x.dtype, sharding=jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("x")))
    lowered = jax.jit(lambda x: jnp.tanh(x).sum(0)).trace(sharded).lower(lowering_platforms=("cpu",))
    with sgd.compile(lowered, ranks=4) as exe:
        assert exe.ranks == 4
        close(exe(x), jnp.tanh(x).sum(0))
    with steps.refused(sgd.UsageError, "compiled for 4 ranks, and ranks=2"):
        sgd.compile(lowered, ranks=2)


def rows_of_an_argument_that_could_be_state(folder):
    """`x + 1` could be the next value of `x`, and is not where nothing else has rows."""
    x = steps.draw(8, 3)
    lowered = jax.jit(lambda x: x + 1).lower(x)
    for ranks in RANKS:
        with sgd.compile(lowered, ranks=ranks) as exe:
            assert exe.inputs[0].bytes_per_rank == [x.nbytes // ranks] * ranks
            close(exe(x), x + 1)


def structures_and_arguments_that_are_not_read(folder):
    class State(dict):
        pass

    def step(state, unused, *, scale, extra=None):
        first, (second, third) = state["a"]
        return {"sum": first.sum() * scale + second.sum(), "rest": [third + 1, None, (first * 2,)]}

    state = {"a": (steps.draw(8, 2), [steps.draw(8), np.int32(3)]), "b": {}}
    lowered = jax.jit(step).lower(state, steps.draw(100), scale=2.0)
    expected = jax.jit(step)(state, steps.draw(100), scale=2.0)
    for ranks in RANKS:
        with sgd.compile(lowered, ranks=ranks) as exe:
            found = exe(state, steps.draw(100), scale=2.0)
            assert jax.tree.structure(found) == jax.tree.structure(expected)
            close(found, expected)
            refusals = [
                ((state,), {"scale": 2.0}, "arguments have no args[1]; expected the structure of the example arguments"),
                ((state, 1.0), {}, "arguments have no kwargs['scale']; expected"),
                ((state, 1.0, 2.0), {"scale": 2.0, "size": 3.0}, "arguments have args[2], kwargs['size'], which the program does not take; expected"),
                (({**state, "c": 1.0}, 1.0), {"scale": 2.0}, "arguments have args[0]['c'], which the program does not take"),
                (({"a": list(state["a"]), "b": {}}, 1.0), {"scale": 2.0}, "arguments have the structure PyTreeDef("),
            ]
            for arguments, named, text in refusals:
                with steps.refused(sgd.InputError, text):
                    exe(*arguments, **named)


def arguments_that_do_not_fit(folder):
    params, x, y = steps.step_arguments()
    with sgd.compile(jax.jit(steps.step).lower(params, x, y), ranks=4) as exe:
        cases = [
            ((params, x[:4], y), "input 'x' of program 'main' is float32[4,4]; expected float32[8,4]"),
            ((params, x.astype(np.int32), y), "input 'x' of program 'main' is int32[8,4]; expected float32[8,4]; convert it"),
            ((params, "text", y), "input 'x' of program 'main' cannot be read as float32[8,4]"),
            ((params, np.array(object()), y), "expected float32[8,4]"),
        ]
        for arguments, text in cases:
            with steps.refused(sgd.InputError, text):
                exe(*arguments)
        # JAX narrows these without being asked.
        close(exe(params, x.astype(np.float64), y), jax.jit(steps.step)(params, x, y))
        with steps.refused(sgd.InputError, "there is no program 'train'; there are main"):
            exe["train"]


def inputs_by_name(folder):
    params, x, y = steps.step_arguments()
    text = jax.jit(steps.step).lower(params, x, y).as_text(debug_info=True)
    expected_params, expected_loss = jax.jit(steps.step)(params, x, y)
    with sgd.compile(text, ranks=2) as exe:
        assert [info.name for info in exe.inputs] == ["params['b']", "params['w']", "x", "y"]
        assert exe.inputs[1].shape == (4, 3) and exe.inputs[1].element == "f32" and exe.inputs[2].bytes_per_rank == [64, 64]
        named = {"params['b']": params["b"], "arg1": params["w"], "x": x, "y": y}
        outputs = exe.run(named)
        close(outputs["result[0]['w']"], expected_params["w"])
        close(outputs["result[1]"], np.asarray(expected_loss))
        assert type(outputs["result[1]"]) is np.ndarray
        close(exe(params["b"], params["w"], x, y)[2], np.asarray(expected_loss))
        with steps.refused(sgd.InputError, "there is no input 'z'"):
            exe.run({**named, "z": x})
        with steps.refused(sgd.InputError, "is called with 3 arrays; expected 4: params['b'], params['w'], x, y"):
            exe(params["w"], x, y)


def several_programs_share_ranks(folder):
    params, x, y = steps.step_arguments()

    def evaluate(params, x, y):
        return jnp.mean((jnp.tanh(x @ params["w"]) + params["b"] - y) ** 2)

    programs = {"train": jax.jit(steps.step).lower(params, x, y), "eval": jax.jit(evaluate).lower(params, x, y)}
    with sgd.compile(programs, ranks=4) as exe:
        assert exe.programs == ("train", "eval") and exe.program == "train"
        for _ in range(3):
            close(exe["eval"](params, x, y), evaluate(params, x, y))
            params, loss = exe(params, x, y)
        close(exe["eval"](params, x, y), evaluate(params, x, y))


def two_executables_and_threads(folder):
    """Others' bytecode runs while a step does, and calls of two threads take turns."""
    params, x, y = steps.step_arguments()
    lowered = jax.jit(steps.step).lower(params, x, y)
    expected = jax.jit(steps.step)(params, x, y)
    errors = []
    with sgd.compile(lowered, ranks=2) as one, sgd.compile(lowered, ranks=4) as other:

        def call(exe):
            try:
                for _ in range(20):
                    close(exe(params, x, y), expected)
            except Exception as error:
                errors.append(error)

        threads = [threading.Thread(target=call, args=(exe,)) for exe in (one, other, one)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not errors, errors


def the_lock_is_free_while_a_step_runs(folder):
    def long(x):
        return jax.lax.fori_loop(0, 3_000_000, lambda _, value: jnp.sin(value) + 1, x)

    with sgd.compile(jax.jit(long).lower(np.ones(16, np.float32)), ranks=1) as exe:
        exe(np.ones(16, np.float32))  # starts the ranks
        began, counts, is_running = time.monotonic(), [], True

        def count():
            while is_running:
                counts.append(time.monotonic() - began)
                time.sleep(0.001)

        thread = threading.Thread(target=count)
        thread.start()
        exe(np.ones(16, np.float32))
        took = time.monotonic() - began
        is_running = False
        thread.join()
    during = [at for at in counts if 0.1 * took < at < 0.9 * took]
    assert took > 0.02 and len(during) > 2, (took, len(during))


def results_outlive_the_next_call(folder):
    params, x, y = steps.step_arguments()
    with sgd.compile(jax.jit(steps.step).lower(params, x, y), ranks=2) as exe:
        first = exe(params, x, y)
        kept = jax.tree.map(np.array, first)
        for _ in range(3):
            exe(params, steps.draw(8, 4), y)
        close(first, kept)
    close(first, kept)


def empty_tensors(folder):
    def step(x, nothing):
        return x + 1, nothing

    x = steps.draw(8, 2)
    found = sgd.compile(jax.jit(step, keep_unused=True).lower(x, np.zeros((0, 3), np.float32)))(x, np.zeros((0, 3), np.float32))
    assert found[1].shape == (0, 3)
    close(found[0], x + 1)


harness.main([(test.__name__.replace("_", " "), test) for test in (
    steps_are_those_of_jax, element_types, rows_of_an_argument_that_could_be_state, structures_and_arguments_that_are_not_read, arguments_that_do_not_fit, inputs_by_name,
    several_programs_share_ranks, two_executables_and_threads, the_lock_is_free_while_a_step_runs, results_outlive_the_next_call, empty_tensors)])
