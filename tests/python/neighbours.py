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
torch.manual_seed(0)
class Loss(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 3)
    def forward(self, x, y):
        return ((torch.tanh(self.layer(x)) - y) ** 2).mean()
net, x, y = Loss(), torch.randn(8, 4), torch.randn(8, 3)
exported = torch.export.export(net, (x, y))
with sgd.compile(exported, ranks=2) as exe:
    for scale in (1, 2):
        found = exe(scale * x, y)
        assert isinstance(found, torch.Tensor)
        torch.testing.assert_close(found, net(scale * x, y).detach())
exe = sgd.compile(exported, recipe={"mesh": {"data": 2}, "batch": "data", "train": {"optimizer": {"kind": "sgd", "learning_rate": 0.1}}})
losses = [line.loss for line in exe.train({"x": x, "y": y}, 5, seed=1) if "loss" in line]
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for loss in losses:
    expected = net(x, y)
    torch.testing.assert_close(torch.tensor(loss), expected.detach())
    optimizer.zero_grad()
    expected.backward()
    optimizer.step()
trained = sgd.checkpoint.restore(exe.state, net.state_dict())
for name, value in net.state_dict().items():
    torch.testing.assert_close(trained[name], value)
sgd.checkpoint.write("/dev/shm/sgd-neighbours.safetensors", {"half": x.bfloat16()})
assert torch.equal(sgd.checkpoint.load("/dev/shm/sgd-neighbours.safetensors", like={"half": x.bfloat16()})["half"], x.bfloat16())
import os
os.unlink("/dev/shm/sgd-neighbours.safetensors")
"""


def run(script):
    done = subprocess.run([sys.executable, "-c", script + "print('done')"], capture_output=True, text=True, timeout=harness.TIMEOUT, cwd=pathlib.Path(steps.__file__).parent)
    assert done.returncode == 0 and done.stdout == "done\n", done.stdout + done.stderr


def beside_jaxlib(folder):
    for order in (FIRST, LATER):
        run(order + BOTH)


def beside_pytorch(folder):
    if importlib.util.find_spec("torch") is None:
        print("        there is no PyTorch: not tested")
        return
    for order in ("import warnings, torch, sgd, sgd._sgd\n", "import warnings, jax, sgd, sgd._sgd, torch\njax.jit(lambda x: x + 1)(1)\n"):
        run(order + "warnings.simplefilter('ignore')\n" + TORCH)


def shows_nothing_but_its_interface(folder):
    """No symbol of LLVM, of the runtime or of their libraries, which another library could take for its own."""
    for library, names in ((harness.BUILD / "lib" / "sgd" / "libsgd_compiler.so", ("sgd::compiler::",)), (harness.BUILD / "python" / "sgd" / "_sgd.abi3.so", ("PyInit__sgd",))):
        listed = subprocess.run(["nm", "-D", "-C", "--defined-only", library], capture_output=True, text=True, check=True).stdout.splitlines()
        shown = [line.split(" ", 2)[2] for line in listed]
        assert shown and all(name.startswith(names) for name in shown), [name for name in shown if not name.startswith(names)][:5]


harness.main([(test.__name__.replace("_", " "), test) for test in (beside_jaxlib, beside_pytorch, shows_nothing_but_its_interface)])
