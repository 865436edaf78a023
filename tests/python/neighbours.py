"""The compiler's LLVM beside jaxlib's, and beside PyTorch's where it is installed: whichever is loaded first, both compile and run."""
import importlib.util
import pathlib
import subprocess
import sys

import steps
from steps import harness

FIRST = "import sgd, sgd._sgd\nimport steps, jax\n"
LATER = "import jax, steps\njax.jit(steps.step)(*steps.step_arguments())\nimport sgd\n"
BOTH = """
import numpy as np
for _ in range(2):
    arguments = steps.step_arguments()
    expected = jax.jit(steps.step)(*arguments)
    with sgd.compile(jax.jit(steps.step).lower(*arguments), ranks=2) as exe:
        np.testing.assert_allclose(exe(*arguments)[1], expected[1], rtol=1e-6)
    jax.clear_caches()
"""
TORCH = """
import torch
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 3)
    def forward(self, x):
        return torch.tanh(self.layer(x))
net, x = Net(), torch.randn(8, 4)
exe = sgd.compile(torch.export.export(net, (x,)), ranks=2)
found = exe(x)
assert isinstance(found, torch.Tensor)
torch.testing.assert_close(found, net(x).detach())
torch.testing.assert_close(exe(2 * x), net(2 * x).detach())
log = sgd.compile(sgd.export(net, x), recipe={"mesh": {"data": 2}, "batch": "data", "train": {"loss": {"kind": "mean_squared_error", "predictions": "tanh"}}}).explain
"""


def run(script):
    done = subprocess.run([sys.executable, "-c", script + "print('done')"], capture_output=True, text=True, timeout=120, cwd=pathlib.Path(steps.__file__).parent)
    assert done.returncode == 0 and done.stdout == "done\n", done.stdout + done.stderr


def beside_jaxlib(folder):
    for order in (FIRST, LATER):
        run(order + BOTH)


def beside_pytorch(folder):
    if importlib.util.find_spec("torch") is None:
        return
    for order in ("import torch\nimport sgd\n", "import sgd\nimport torch\n"):
        run(order + TORCH)


def shows_nothing_but_its_interface(folder):
    """No symbol of LLVM, of the runtime or of their libraries, which another library could take for its own."""
    for library, names in ((harness.BUILD / "lib" / "sgd" / "libsgd_compiler.so", ("sgd::compiler::",)), (harness.BUILD / "python" / "sgd" / "_sgd.abi3.so", ("PyInit__sgd",))):
        listed = subprocess.run(["nm", "-D", "-C", "--defined-only", library], capture_output=True, text=True, check=True).stdout.splitlines()
        shown = [line.split(" ", 2)[2] for line in listed]
        assert shown and all(name.startswith(names) for name in shown), [name for name in shown if not name.startswith(names)][:5]


harness.main([(test.__name__.replace("_", " "), test) for test in (beside_jaxlib, beside_pytorch, shows_nothing_but_its_interface)])
