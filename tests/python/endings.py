"""Ctrl-C and ranks that fail raise exceptions, and the interpreter, its executables and their state go on."""
import gc
import os
import signal
import subprocess
import sys
import threading
import time
import warnings

import jax
import jax.numpy as jnp
import numpy as np
import steps
from steps import harness

import sgd

warnings.simplefilter("ignore")
# A shell that runs this in the background has it ignore the signal.
signal.signal(signal.SIGINT, signal.default_int_handler)
# JAX has a callback of the collector; Python drops an exception that a signal raises there.
gc.disable()
LIMIT = 10  # seconds for what takes about one


def interrupts(call, is_ready=None):
    """Seconds from Ctrl-C, 0.3 s after the begin or once `is_ready`, until `call` has raised KeyboardInterrupt."""
    sent = []

    def send():
        time.sleep(0.3)
        if is_ready:
            harness.wait_until(is_ready, 60)
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    sender = threading.Thread(target=send)
    sender.start()
    try:
        call()
    except KeyboardInterrupt:
        return time.monotonic() - sent[-1]
    finally:
        sender.join()
    raise AssertionError("the call has ended by itself")


def spin(x, trips):
    """Takes a while for many trips, and then is as good as new."""
    return jax.lax.while_loop(lambda state: state[0] < trips, lambda state: (state[0] + 1, jnp.sin(state[1]) + 1), (0, x))[1]


def a_step_ends_and_the_next_call_runs(folder):
    x = np.ones(16, np.float32)
    lowered = jax.jit(spin).lower(x, 0)
    for ranks in (1, 2):
        with sgd.compile(lowered, ranks=ranks) as exe, sgd.compile(lowered, ranks=ranks) as other:
            exe(x, 1)
            assert interrupts(lambda: exe(x, 50_000_000)) < LIMIT
            for _ in range(3):
                np.testing.assert_allclose(exe(x, 1), np.sin(x) + 1, rtol=1e-6)
                np.testing.assert_allclose(other(x, 1), np.sin(x) + 1, rtol=1e-6)


def training_stops_with_its_state_saved(folder):
    params, rows = steps.loss_arguments()[0], steps.rows()
    exe = sgd.compile(sgd.export(steps.loss, *steps.loss_arguments()), recipe=steps.recipe(2))
    log = []
    assert interrupts(lambda: exe.train(rows, 10**9, init={"params": params}, seed=1, log=log.append), lambda: log) < LIMIT
    done = [line.step for line in log if "loss" in line][-1] + 1
    assert int(exe.state["step"]) == done > 0, (exe.state["step"], done)
    more = [line.step for line in exe.train(rows, 2, seed=1) if "loss" in line]
    assert more == [done, done + 1], (more, done)


def a_handler_decides_what_ctrl_c_means(folder):
    params, rows = steps.loss_arguments()[0], steps.rows()
    exe = sgd.compile(sgd.export(steps.loss, *steps.loss_arguments()), recipe=steps.recipe(2))
    seen = []
    former = signal.signal(signal.SIGINT, lambda *_: seen.append(1))
    try:
        sender = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
        sender.start()
        begin = time.monotonic()
        steps_done = 0
        while time.monotonic() - begin < 1 or not seen:
            steps_done += 200
            log = exe.train(rows, 200, seed=1, **({"init": {"params": params}} if steps_done == 200 else {}))
        sender.join()
    finally:
        signal.signal(signal.SIGINT, former)
    assert seen == [1] and [line.step for line in log if "loss" in line][-1] == steps_done - 1


def a_rank_that_fails_is_named(folder):
    """A loop without end, and a limit for it."""

    def step(state, x):
        return jax.lax.while_loop(lambda value: value > -1.0, lambda value: jnp.abs(value) * 0.5 + x.sum(), state), x.sum()

    state, x = np.float32(1), np.ones((8, 2), np.float32)
    exe = sgd.compile(jax.jit(step).lower(state, x), ranks=2)
    with steps.refused(sgd.RunError, "rank ", "endings.py:", "--step-limit"):
        exe.train({"x": x}, 5, init={"state": state}, step_limit=0.3, carry="result0:arg0")
    params, x, y = steps.step_arguments()
    with sgd.compile(jax.jit(steps.step).lower(params, x, y), ranks=2) as other:
        np.testing.assert_allclose(other(params, x, y)[1], jax.jit(steps.step)(params, x, y)[1], rtol=1e-6)


SCRIPTS = {
    # Ends while the compiler still works, and while a rank still computes.
    "a compilation is abandoned": """
program = sgd.export(steps.loss, *steps.loss_arguments())
def search():
    while True:  # one may end before the signal comes
        sgd.compile(program, recipe={"train": {"loss": "result.loss"}}, auto=64, auto_evaluations=2000)
assert interrupts(search) < 5
assert sgd.compile(program, recipe=steps.recipe(2)).ranks == 2
""",
    "a rank never returns": """
x = np.ones(16, np.float32)
exe = sgd.compile(jax.jit(spin).lower(x, 0), ranks=2)
exe(x, 1)
assert interrupts(lambda: exe(x, 2**31 - 1)) < 10
np.testing.assert_allclose(exe(x, 1), np.sin(x) + 1, rtol=1e-6)
""",
    "ranks are left as they are": """
exe = sgd.compile(jax.jit(steps.step).lower(*steps.step_arguments()), ranks=4)
exe(*steps.step_arguments())
""",
}


def the_interpreter_ends_well(folder):
    head = "import sys, warnings; sys.argv = ['endings.py', 'import']\nfrom endings import *\nwarnings.simplefilter('ignore')\n"
    for name, script in SCRIPTS.items():
        done = subprocess.run([sys.executable, "-c", head + script + "print('done')"], capture_output=True, text=True, timeout=120)
        assert done.returncode == 0 and done.stdout == "done\n" and "leaked" not in done.stderr, f"{name}: {done}"


if __name__ == "__main__":
    harness.main([(test.__name__.replace("_", " "), test) for test in (
        a_step_ends_and_the_next_call_runs, training_stops_with_its_state_saved, a_handler_decides_what_ctrl_c_means, a_rank_that_fails_is_named,
        the_interpreter_ends_well)])
