"""Several processes under JAX's coordinator: values equal to those of one process with as many devices, and processes that are killed, late, interrupted, or run something else."""
import os
import re
import signal
import socket
import subprocess
import sys
import time

import jax_plugin

PROGRAM = jax_plugin.HERE / "programs" / "processes.py"
SECONDS = 120  # for a run, compilations included


def free_address():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{listener.getsockname()[1]}"


def start(python, arguments, devices, **variables):
    env = dict(os.environ, JAX_PLATFORMS="sgd", SGD_NUM_DEVICES=str(devices), SGD_PJRT_LIBRARY=str(jax_plugin.BUILD / "lib" / "libsgd_pjrt.so"),
               PYTHONPATH=str(jax_plugin.HERE.parent.parent.parent / "python"), **variables)
    return subprocess.Popen([python, str(PROGRAM), *map(str, arguments)], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def start_both(python, what, devices=1, **variables):
    address = free_address()
    return [start(python, (address, 2, index, what), devices, **variables) for index in range(2)]


def finish(processes):
    """What each printed. Ends all of them; the first has the coordinator, and may wait for the end of its input."""
    try:
        return [process.communicate(timeout=SECONDS) for process in reversed(processes)][::-1]
    finally:
        for process in processes:
            if process.poll() is None:
                process.kill()


def outputs(processes, codes=(0, 0)):
    found = finish(processes)
    for index, (process, (_, errors)) in enumerate(zip(processes, found)):
        assert process.returncode == codes[index], f"process {index} ended with {process.returncode}:\n{errors[-4000:]}"
    return [out.splitlines() for out, _ in found]


def failure(lines):
    found = [re.fullmatch(r"failed after ([\d.]+): (.*)", line) for line in lines]
    found = [match for match in found if match]
    assert len(found) == 1, lines
    return float(found[0][1]), found[0][2]


def test_values(python):
    [alone] = outputs([start(python, (), 4)], codes=(0,))
    for index, lines in enumerate(outputs(start_both(python, "values", devices=2))):
        assert len(lines) == len(alone) > 10, (index, lines, alone)
        different = [(a, b) for a, b in zip(lines, alone) if not jax_plugin.is_equal(a, b)]
        assert not different, (index, different)


def test_killed_process_is_named(python):
    first, _ = outputs(start_both(python, "killed"), codes=(0, -signal.SIGKILL))
    seconds, message = failure(first)
    assert "process 1" in message and "ended" in message, message
    assert seconds < 5, seconds
    assert first[-1] == "local 6.0", first


def test_other_programs_are_named(python):
    for lines in outputs(start_both(python, "mismatch")):
        seconds, message = failure(lines)
        assert "processes 0 and 1 have compiled program 'jit_" in message and "to different code" in message, message
        assert lines[0] == lines[-1] == "total 28.0", lines


def test_late_process_is_named(python):
    first, second = outputs(start_both(python, "late", SGD_DEADLINE="3"))
    _, message = failure(first)
    assert "process 1" in message and "within 3s" in message, message
    _, message = failure(second)
    assert "process 0" in message, message


def test_bad_deadline_is_refused(python):
    for text in ("soon", "0"):
        process = start(python, (), 1, SGD_DEADLINE=text)
        [(_, errors)] = finish([process])
        assert process.returncode == 1 and f"SGD_DEADLINE is '{text}'; expected a number of seconds, 1 to 1000000" in errors, errors[-4000:]


def test_ctrl_c(python):
    processes = start_both(python, "interrupted")
    for line in processes[0].stdout:
        if line.strip() == "waiting":
            break
    time.sleep(0.5)
    processes[0].send_signal(signal.SIGINT)
    time.sleep(0.5)
    first, second = outputs(processes)
    assert failure(first)[1] == "KeyboardInterrupt", first
    assert "process 0: interrupted by a signal" in failure(second)[1], second
    assert first[-1] == second[-1] == "total 28.0", (first, second)


TESTS = {name.removeprefix("test_"): function for name, function in list(globals().items()) if name.startswith("test_")}

if __name__ == "__main__":
    interpreter = jax_plugin.interpreter()
    for name in sys.argv[1:] or TESTS:
        begin = time.monotonic()
        TESTS[name](interpreter)
        print(f"{name}: {time.monotonic() - begin:.1f} s", flush=True)
