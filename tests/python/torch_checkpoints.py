"""Checkpoints of torch.distributed.checkpoint, written by several ranks, become tensors of this project, and back."""
import os
import pathlib
import pickle
import subprocess
import sys
import warnings

import numpy as np

try:  # before `steps`, beside which a test is called as a package that PyTorch imports
    import torch
    import torch.distributed.checkpoint as dcp
except ImportError:
    torch = None
import steps
from steps import harness

import sgd
from sgd import checkpoint, convert

if torch is None:
    harness.skip("torch", "there is no PyTorch; pip install torch")

RANKS = 3
WRITER = """
import os, sys, torch
import torch.distributed as dist, torch.distributed.checkpoint as dcp
from torch.distributed.tensor import Shard, init_device_mesh, distribute_tensor

def save(rank, folder, ranks):
    dist.init_process_group("gloo", init_method=f"file://{folder}/rendezvous", rank=rank, world_size=ranks)
    mesh = init_device_mesh("cpu", (ranks,))
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(6, 4), torch.nn.BatchNorm1d(4), torch.nn.Linear(4, 3, bias=False))
    state = {name: distribute_tensor(value, mesh, [Shard(value.dim() - 1)]) if value.dim() else value for name, value in net.state_dict().items()}
    state["half"] = distribute_tensor(torch.arange(10).bfloat16(), mesh, [Shard(0)])
    dcp.save({"model": state, "epoch": 3, "rate": 0.5, "name": "run"}, checkpoint_id=folder + "/dcp")
    dist.destroy_process_group()

torch.multiprocessing.start_processes(save, (sys.argv[1], int(sys.argv[2])), int(sys.argv[2]), start_method="fork")
"""


def module():
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(6, 4), torch.nn.BatchNorm1d(4), torch.nn.Linear(4, 3, bias=False))


def write(folder):
    """A checkpoint whose tensors are sharded over ranks, which are processes that share what PyTorch has loaded."""
    environment = {**os.environ, "GLOO_SOCKET_IFNAME": "lo", "OMP_NUM_THREADS": "1"}
    subprocess.run([sys.executable, "-c", WRITER, folder, str(RANKS)], check=True, timeout=harness.TIMEOUT, env=environment)
    return folder / "dcp"


def sharded_tensors_are_read(folder):
    path = write(folder)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        tensors = checkpoint.from_dcp(path)
    assert [str(one.message) for one in caught if one.category is sgd.RunNote] == [f"{path}: name is left out: no tensor or number"]
    assert caught[-1].filename == __file__
    assert tensors.types["model.0.weight"] == "float32[4,6]" and tensors.types["model.half"] == "bfloat16[10]"
    assert tensors["epoch"] == 3 and tensors["rate"] == 0.5 and tensors["epoch"].dtype == np.int64
    assert tensors["model.half"].astype(np.float32).tolist() == list(range(10))
    model = tensors.under("model").rename({"half": None})
    other = torch.nn.Sequential(torch.nn.Linear(6, 4), torch.nn.BatchNorm1d(4), torch.nn.Linear(4, 3, bias=False))
    other.load_state_dict(checkpoint.restore(model, other.state_dict()))
    for name, value in module().state_dict().items():
        assert torch.equal(other.state_dict()[name], value), name
    # The same by way of a file, tensor by tensor.
    checkpoint.write(folder / "model.safetensors", model)
    read = checkpoint.open(folder / "model.safetensors")
    assert read.types == dict(sorted(model.types.items())) and all(np.array_equal(read[name], model[name]) for name in model)


def numbers_of_old_optimizers(folder):
    """State of an optimizer, whose groups hold numbers, None and lists."""
    net = module()
    optimizer = torch.optim.AdamW(net.parameters(), lr=0.25)
    net(torch.ones(8, 6)).sum().backward()
    optimizer.step()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        dcp.save({"optim": optimizer.state_dict()}, checkpoint_id=folder / "dcp", no_dist=True)
        tensors = checkpoint.from_dcp(folder / "dcp").under("optim")
    assert np.array_equal(tensors["state.0.exp_avg"], optimizer.state_dict()["state"][0]["exp_avg"].numpy())
    assert tensors["param_groups.0.lr"] == 0.25 and tensors["param_groups.0.amsgrad"].dtype == bool


def tensors_go_back(folder):
    state = {**module().state_dict(), "half": torch.arange(6).bfloat16().reshape(2, 3), "empty": torch.zeros(0, 3)}
    checkpoint.write(folder / "a.safetensors", state)
    checkpoint.to_dcp(folder / "streamed", checkpoint.open(folder / "a.safetensors"))
    checkpoint.to_dcp(folder / "given", state)
    for name in ("streamed", "given"):
        found = {key: torch.zeros_like(value) for key, value in state.items()}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            dcp.load(found, checkpoint_id=folder / name, no_dist=True)
        assert all(torch.equal(found[key], value) and found[key].dtype == value.dtype for key, value in state.items()), name
    with steps.refused(sgd.InputError, "given: it exists; expected a new folder"):
        checkpoint.to_dcp(folder / "given", state)


def one_tensor_is_in_memory_at_a_time(folder):
    """Sixteen tensors of 8 MiB, by the peak of memory that is no file's, with an allocator that gives large blocks back."""
    names = [f"layer.{index}" for index in range(16)]
    checkpoint.to_dcp(folder / "dcp", {name: np.full((1 << 11, 1 << 10), index, np.float32) for index, name in enumerate(names)})
    script = """
import re, sys, torch
from sgd import checkpoint
def memory(): return int(re.search(r"RssAnon:\\s+(\\d+)", open("/proc/self/status").read())[1]) * 1024
tensors = checkpoint.from_dcp(sys.argv[1])
tensors[next(iter(tensors))]
before, peak = memory(), []
def watched(name, stored):
    from dataclasses import replace
    def pieces():
        for piece in stored.pieces():
            peak.append(memory())
            yield piece
    return replace(stored, pieces=pieces)
tensors._stored = {name: watched(name, one) for name, one in tensors._stored.items()}
checkpoint.write(sys.argv[2], tensors)
print((max(peak) - before) / (8 << 20), len(peak))
"""
    done = subprocess.run([sys.executable, "-c", script, folder / "dcp", folder / "a.safetensors"], capture_output=True, text=True, check=True, timeout=harness.TIMEOUT,
                          env={**os.environ, "MALLOC_MMAP_THRESHOLD_": str(1 << 20)})
    tensors, pieces = map(float, done.stdout.split())
    assert pieces == 16 and tensors < 2, done.stdout
    read = checkpoint.open(folder / "a.safetensors")
    assert all((read[name] == index).all() for index, name in enumerate(names))


class Evil:
    def __reduce__(self):
        return (os.system, ("touch /tmp/never",))


def refuses_what_cannot_be_read(folder):
    path = folder / "dcp"
    checkpoint.to_dcp(path, {"w": np.arange(6, dtype=np.float32)})
    metadata, (data,) = path / ".metadata", path.glob("*.distcp")
    whole, written = metadata.read_bytes(), data.read_bytes()

    def refused(text, name="w"):
        with steps.refused(sgd.InputError, text):
            checkpoint.from_dcp(path)[name]

    with steps.refused(sgd.InputError, "none: there is no .metadata; expected a folder that torch.distributed.checkpoint has written"):
        checkpoint.from_dcp(folder / "none")
    with steps.refused(KeyError, "v"):
        checkpoint.from_dcp(path)["v"]
    with steps.refused(sgd.InputError, "there is no tensor below 'model'; there are w"):
        checkpoint.from_dcp(path).under("model")
    metadata.write_bytes(whole[: len(whole) // 2])
    refused(".metadata: it cannot be read")
    metadata.write_bytes(pickle.dumps(Evil()))
    refused("it has a posix.system, which describes no tensor")
    metadata.write_bytes(pickle.dumps([1, 2]))
    refused(".metadata: it cannot be read")
    loaded = pickle.loads(whole)
    loaded.state_dict_metadata["w"].chunks.clear()
    metadata.write_bytes(pickle.dumps(loaded))
    refused("tensor 'w' cannot be read: parts of it are missing; the checkpoint is damaged or incomplete")
    metadata.write_bytes(whole)
    data.write_bytes(written[: len(written) // 2])
    refused("tensor 'w' cannot be read: ")
    data.unlink()
    refused("tensor 'w' cannot be read: ")
    data.write_bytes(written)
    assert checkpoint.from_dcp(path)["w"].tolist() == list(range(6))
    assert not pathlib.Path("/tmp/never").exists()


def types_that_artifacts_lack_are_named(folder):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        dcp.save({"z": torch.zeros(2, dtype=torch.complex128), "w": torch.ones(2)}, checkpoint_id=folder / "dcp", no_dist=True)
    tensors = checkpoint.from_dcp(folder / "dcp")
    assert tensors.types["z"] == "complex128[2]"
    with steps.refused(sgd.InputError, "dcp: tensor 'z' has elements of type complex128; expected one of"):
        checkpoint.write(folder / "a.safetensors", tensors)
    checkpoint.write(folder / "a.safetensors", tensors.rename({"z": None}))
    assert list(checkpoint.load(folder / "a.safetensors")) == ["w"]


def the_command_converts(folder):
    path = write(folder)
    arguments = [str(path), str(folder / "a.safetensors"), "--under", "model", "--rename", r"(\d)\.(weight|bias)=layer\1_\2"]
    assert convert.main(arguments) == 0
    names = sorted(checkpoint.open(folder / "a.safetensors"))
    assert names == ["1.num_batches_tracked", "1.running_mean", "1.running_var", "half", "layer0_bias", "layer0_weight", "layer1_bias", "layer1_weight", "layer2_weight"], names
    assert convert.main([str(folder / "a.safetensors"), str(folder / "back"), "--to", "dcp"]) == 0
    assert np.array_equal(checkpoint.from_dcp(folder / "back")["layer0_bias"], checkpoint.open(folder / "a.safetensors")["layer0_bias"])


harness.main([(test.__name__.replace("_", " "), test) for test in (
    sharded_tensors_are_read, numbers_of_old_optimizers, tensors_go_back, one_tensor_is_in_memory_at_a_time, refuses_what_cannot_be_read,
    types_that_artifacts_lack_are_named, the_command_converts)])
