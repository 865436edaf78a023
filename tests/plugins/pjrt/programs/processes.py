"""A program of several processes: `processes.py ADDRESS COUNT INDEX [WHAT]`; the same without arguments is one process with as many devices. What it prints is equal in all of them."""
import os
import signal
import sys
import time

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import multihost_utils
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P

ADDRESS, COUNT, INDEX = (sys.argv[1], int(sys.argv[2]), int(sys.argv[3])) if len(sys.argv) > 3 else (None, 1, 0)
WHAT = sys.argv[4] if len(sys.argv) > 4 else "values"


def show(name, value):
    """The whole array, from shards of this process and others."""
    print(name, np.asarray(multihost_utils.process_allgather(value, tiled=True)).astype(np.float64).round(6).tolist(), flush=True)


def global_array(values, sharding):
    return jax.make_array_from_callback(values.shape, sharding, lambda index: values[index])


def devices():
    assert jax.process_count() == COUNT and jax.process_index() == INDEX
    own = jax.local_devices()
    assert len(jax.devices()) == COUNT * len(own) and jax.local_device_count() == len(own)
    assert [device.id for device in jax.devices()] == list(range(jax.device_count()))
    assert [device.process_index for device in jax.devices()] == [i // len(own) for i in range(jax.device_count())]
    assert [device.local_hardware_id for device in own] == list(range(len(own)))


def values():
    mesh = jax.make_mesh((2, 2), ("data", "model"))
    rows, columns, replicated = (NamedSharding(mesh, spec) for spec in (P("data"), P(None, "model"), P()))
    x = np.arange(32, dtype=np.float32).reshape(8, 4) / 10
    # From the rows of each process, or from a shard for each device.
    if COUNT > 1:
        local = jax.make_array_from_process_local_data(rows, x[INDEX * 8 // COUNT :][: 8 // COUNT], x.shape)
    else:
        local = jax.device_put(x, rows)
    show("local", local)
    everywhere = NamedSharding(mesh, P(("data", "model")))
    pieces = [jax.device_put(x[2 * device.id : 2 * device.id + 2], device) for device in jax.local_devices()]
    show("pieces", jax.make_array_from_single_device_arrays(x.shape, everywhere, pieces))
    w = global_array(np.sin(np.arange(16, dtype=np.float32)).reshape(4, 4), columns)
    show("matmul", jax.jit(lambda x, w: jnp.tanh(x @ w), out_shardings=NamedSharding(mesh, P("data", "model")))(local, w))
    show("sum", jax.jit(lambda x: x.sum(), out_shardings=replicated)(local))
    show("transposed", jax.jit(lambda x: x.T, out_shardings=everywhere)(global_array(x[:, :4], rows)))
    shifted = jax.shard_map(lambda x: jax.lax.ppermute(x, "data", [(0, 1), (1, 0)]), mesh=mesh, in_specs=P("data"), out_specs=P("data"))
    show("shifted", jax.jit(shifted)(local))
    print("eager", float((jnp.ones(3) + 1).sum()), flush=True)  # on a device of this process
    # Summands of all processes, from one program to the next.
    explicit = jax.make_mesh((4,), ("x",), axis_types=(AxisType.Explicit,))
    with jax.set_mesh(explicit):
        a, b = (global_array(part, NamedSharding(explicit, spec)) for part, spec in ((x, P(None, "x")), (x[:4], P("x"))))
        summands = jax.jit(lambda a, b: jnp.einsum("ij,jk->ik", a, b, out_sharding=P(None, None, unreduced={"x"})))(a, b)
        show("unreduced", jax.jit(lambda summands: jax.reshard(summands + summands, P()))(summands))


def training():
    mesh = jax.make_mesh((4,), ("data",))
    rows, replicated = NamedSharding(mesh, P("data")), NamedSharding(mesh, P())

    def loss(w, x, y):
        return ((jnp.tanh(x @ w["a"]) @ w["b"] - y) ** 2).mean()

    def step(w, x, y):
        value, gradient = jax.value_and_grad(loss)(w, x, y)
        return jax.tree.map(lambda w, g: w - 0.1 * g, w, gradient), value

    step = jax.jit(step, donate_argnums=0, out_shardings=(replicated, replicated))
    random = np.random.default_rng(1)
    w = {"a": global_array(random.normal(size=(64, 128)).astype(np.float32) / 8, replicated), "b": global_array(random.normal(size=(128, 1)).astype(np.float32) / 8, replicated)}
    for i in range(5):
        x, y = random.normal(size=(16, 64)).astype(np.float32), random.normal(size=(16, 1)).astype(np.float32)
        w, value = step(w, global_array(x, rows), global_array(y, rows))
        print("loss", i, round(float(value), 5), flush=True)
    print("weight", round(float(jax.jit(lambda w: w["a"].sum(), out_shardings=replicated)(w)), 4), flush=True)


def utilities():
    multihost_utils.sync_global_devices("here")
    print("broadcast", np.asarray(multihost_utils.broadcast_one_to_all(np.arange(3) + INDEX)).tolist(), flush=True)
    multihost_utils.assert_equal(np.ones(2), "differs")


def total(mesh=None):
    """A step over all devices, and its argument."""
    mesh = jax.make_mesh((jax.device_count(),), ("x",))
    argument = global_array(np.arange(8, dtype=np.float32), NamedSharding(mesh, P("x")))
    return jax.jit(lambda x: x.sum(), out_shardings=NamedSharding(mesh, P())), argument


def fails(function):
    """Prints the error, and how long it took; for Ctrl-C the exception that follows the error."""
    begin = time.monotonic()
    message = None
    try:
        try:
            jax.block_until_ready(function())
        except Exception as error:
            message = str(error).splitlines()[0]
            time.sleep(0.01)
    except KeyboardInterrupt:
        message = "KeyboardInterrupt"
    assert message is not None, "it did not fail"
    print(f"failed after {time.monotonic() - begin:.1f}: {message}", flush=True)


def killed():
    """Process 1 ends by a signal, between two steps."""
    step, x = total()
    print("total", float(step(x)), flush=True)
    if INDEX == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    fails(lambda: step(x))
    print("local", float((jnp.ones(3) + 1).sum()), flush=True)  # the process goes on
    os._exit(0)  # the coordinator would wait for the other


def mismatch():
    """Processes run different programs, then the same again."""
    step, x = total()
    print("total", float(step(x)), flush=True)
    other = jax.jit(lambda x: (x + 1).sum() if INDEX else x.sum(), out_shardings=step(x).sharding)
    fails(lambda: other(x))
    print("total", float(step(x)), flush=True)


def late():
    """Process 1 does not come in time."""
    step, x = total()
    print("total", float(step(x)), flush=True)
    if INDEX == 1:
        time.sleep(5)
    fails(lambda: step(x))
    if INDEX == 0:
        sys.stdin.readline()  # the other needs the coordinator
    os._exit(0)


def interrupted():
    """Process 0 is interrupted while it waits for process 1; both go on."""
    step, x = total()
    print("total", float(step(x)), flush=True)
    if INDEX == 1:
        sys.stdin.readline()
    else:
        print("waiting", flush=True)
    fails(lambda: step(x))
    print("total", float(step(x)), flush=True)


if ADDRESS:
    jax.distributed.initialize(ADDRESS, COUNT, INDEX)
if WHAT == "values":
    devices()
    values()
    training()
    utilities()
else:
    globals()[WHAT]()
