"""sgdc --doctor: a line for each feature, what to install for one that lacks something, and exit code 0 unless ranks cannot run here."""
import os
import re
import resource
import shutil
import subprocess

import harness

SGDC = harness.BUILD.resolve() / "bin" / "sgdc"


def doctor(program=SGDC, limits=(), **variables):
    """{feature: (state, text)} of the lines, and the exit code."""
    def limit():
        for kind, value in limits:
            resource.setrlimit(kind, (value, value))
    result = subprocess.run([str(program), "--doctor"], capture_output=True, text=True, timeout=harness.TIMEOUT, env={**os.environ, **variables}, preexec_fn=limit)
    assert result.stderr == "", result.stderr
    *lines, verdict = result.stdout.splitlines()
    assert verdict == ("This machine can compile and run on its CPUs." if result.returncode == 0 else "This machine cannot run ranks: see the lines that begin with MISSING."), verdict
    found = {}
    for line in lines:
        state, feature, text = re.fullmatch(r"(ok|lacking|MISSING) +([^:]+)(?:: (.*))?", line).groups()
        found[feature] = (state, text or "")
    return found, result.returncode


def states_and_exit_code(_):
    """Tests run here, so nothing essential is missing. A feature that lacks something has a text that says what to do."""
    found, code = doctor()
    assert code == 0 and not any(state == "MISSING" for state, _ in found.values()), found
    features = {"CPU ranks", "several ranks on this host", "running artifacts", "many ranks and data files", "decompositions and solvers", "huge pages", "CPU ranks on several hosts", "RDMA between hosts",
                "GPU ranks", "tests of several hosts", "tests of GPU kernels"}
    assert features <= set(found), features - set(found)
    assert all("; " in text for state, text in found.values() if state == "lacking"), found


def what_is_lacking(folder):
    """Each feature alone, taken away."""
    found, code = doctor(SGD_LAPACK="/nowhere/liblapack.so")
    assert code == 0 and found["decompositions and solvers"][0] == "lacking" and "libopenblas0-pthread" in found["decompositions and solvers"][1], found
    found, code = doctor(limits=[(resource.RLIMIT_NOFILE, 256)])
    assert code == 0 and found["many ranks and data files"] == ("lacking", "a process may open only 256 files; expected 1024 or more; raise ulimit -n"), found
    found, code = doctor(PATH="/nowhere", CUDA_HOME="/nowhere")
    assert code == 0 and found["tests of GPU kernels"][0] == "lacking" and "compiling for GPUs does not need it" in found["tests of GPU kernels"][1], found
    # A copy of sgdc with its library alone has neither sgdrun nor plugins.
    for name in ("bin/sgdc", "lib/sgd/libsgd_compiler.so"):
        (folder / name).parent.mkdir(parents=True)
        shutil.copy(harness.BUILD / name, folder / name)
    alone = folder / "bin" / "sgdc"
    found, code = doctor(alone)
    assert code == 0
    for feature, part in (("running artifacts", "copy sgdrun beside sgdc"), ("CPU ranks on several hosts", "install libucx-dev"), ("GPU ranks", "there is no")):
        assert found[feature][0] == "lacking" and part in found[feature][1], (feature, found[feature])


def libraries_of_gpus(_):
    """With the plugin, each library of NVIDIA has a line, whether there is a GPU or not."""
    if not (harness.BUILD / "lib/sgd/sgd_target_cuda.so").exists():
        return
    found, code = doctor(SGD_CUDA_LIBRARIES_ONLY="1", SGD_CUDA_LIBRARIES="/nowhere")
    assert code == 0
    for feature, name in (("GPU ranks", "libcuda.so.1"), ("GPU matmuls", "libcublasLt.so"), ("GPU convolutions and attention", "libcudnn.so.9"), ("GPU collectives", "libnccl.so.2")):
        assert found[feature][0] == "lacking" and name in found[feature][1] and "install it" in found[feature][1], (feature, found[feature])


harness.main([(test.__name__.replace("_", " "), test) for test in (states_and_exit_code, what_is_lacking, libraries_of_gpus)])
