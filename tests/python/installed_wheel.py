"""The wheel in an environment of its own: ten lines of JAX on four ranks, and the commands, with nothing of the build in reach."""
import os
import pathlib
import subprocess
import sys
import sysconfig
import zipfile

from steps import harness

LIMIT = 80_000_000  # bytes
WHEELS = sorted((harness.BUILD / "wheel").glob("sgd-*.whl"))
TEN_LINES = """
import jax, jax.numpy as jnp, numpy as np, sgd
def step(w, x, y):
    loss, gradient = jax.value_and_grad(lambda w: jnp.mean((x @ w - y) ** 2))(w)
    return w - 0.1 * gradient, loss
w, x, y = np.zeros(3, np.float32), np.ones((8, 3), np.float32), np.ones(8, np.float32)
exe = sgd.compile(jax.jit(step).lower(w, x, y), ranks=4)
for _ in range(3):
    w, loss = exe(w, x, y)
print(sgd.__file__, exe.ranks, float(loss))
"""

ON_THE_PLUGIN = """
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import NamedSharding, PartitionSpec
mesh = jax.make_mesh((4,), ("data",))
x = jax.device_put(np.arange(8.0), NamedSharding(mesh, PartitionSpec("data")))
print(jax.devices()[0].platform, len(jax.devices()), float(jax.jit(lambda x: jnp.sum(x * x))(x)))
"""


def install(folder):
    """An environment with the wheel, and the packages that it needs of this interpreter's own."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "venv"], check=True)
    python = folder / "venv" / "bin" / "python"
    subprocess.run([sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-index", "--no-deps", "--no-compile", WHEELS[-1]], check=True)
    site = pathlib.Path(subprocess.run([python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], capture_output=True, text=True, check=True).stdout.strip())
    (site / "neighbours.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return python


def run(*command, folder, **variables):
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "LD_LIBRARY_PATH", "JAX_PLATFORMS")} | variables
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=120, cwd=folder, env=environment).stdout


def compiles_and_runs(folder):
    if not WHEELS:
        harness.skip("python", f"there is no wheel in {harness.BUILD / 'wheel'}; ./dev python makes it")
    python = install(folder)
    file, ranks, loss = run(python, "-c", TEN_LINES, folder=folder).split()
    assert file.startswith(str(folder)) and ranks == "4", (file, ranks)
    w, losses = 0.0, []
    for _ in range(3):  # x @ w = 3 w, its gradient 2 (3 w - 1)
        losses.append((3 * w - 1) ** 2)
        w -= 0.2 * (3 * w - 1)
    assert abs(float(loss) - losses[-1]) < 1e-6, (loss, losses)
    assert run(python, "-c", ON_THE_PLUGIN, folder=folder, JAX_PLATFORMS="sgd", SGD_NUM_DEVICES="4").split() == ["sgd", "4", "140.0"]
    # JAX alone is as it was.
    assert run(python, "-c", "import jax; print(jax.devices()[0].platform)", folder=folder).split() == ["cpu"]
    commands = python.parent
    assert run(commands / "sgdc", "--version", folder=folder).startswith("sgdc 0.")
    model = harness.MODELS / "mlp_digits" / "model.mlir"
    run(commands / "sgdc", model, "-o", "a.sgda", folder=folder)
    run(commands / "sgdrun", "a.sgda", "--bench", "2", folder=folder)
    assert "ranks" in run(commands / "sgd-inspect", "a.sgda", "--json", folder=folder)
    assert "a step" in run(commands / "sgd-sim", "a.sgda", folder=folder)
    for library in folder.rglob("*.so*"):
        assert not library.is_file() or str(harness.BUILD) not in subprocess.run(["readelf", "-d", library], capture_output=True, text=True, check=True).stdout, f"{library} names the build"


def is_small_and_has_its_parts(folder):
    wheel = WHEELS[-1]
    assert wheel.stat().st_size < LIMIT, wheel.stat().st_size
    names = set(zipfile.ZipFile(wheel).namelist())
    for name in ("sgd/py.typed", "sgd/_sgd.pyi", "sgd/bin/sgdc", "sgd/lib/sgd/libsgd_compiler.so", "jax_plugins/sgd/__init__.py", "jax_plugins/sgd/libsgd_pjrt.so"):
        assert name in names, f"{name} is not in {sorted(names)}"
    assert "manylinux_2_36" in wheel.name and "abi3" in wheel.name, wheel.name


harness.main([(test.__name__.replace("_", " "), test) for test in (compiles_and_runs, is_small_and_has_its_parts)])
