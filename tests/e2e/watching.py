"""Watching runs: a rank that is slowed is named with host, core and cost, and nobody is named in a run without one."""
import json
import os
import pty
import select
import signal
import socket
import subprocess
import termios
import time
import urllib.request
import xml.etree.ElementTree

import numpy as np

import harness

ROWS, WIDTH, LAYERS = 2048, 512, 4
STEPS = 2000  # at most; a run ends once a rank is named


def program(ranks):
    """A train step of matmuls over a sharded batch, some 30 ms long on a core for each of two ranks."""
    state, batch = f"tensor<{WIDTH}x{WIDTH}xf32>", f"tensor<{ROWS}x{WIDTH}xf32>"
    lines, last = [], "%x"
    for layer in range(LAYERS):
        lines.append(f"%h{layer} = stablehlo.dot_general {last}, %w, contracting_dims = [1] x [0] : ({batch}, {state}) -> {batch}")
        lines.append(f"%t{layer} = stablehlo.tanh %h{layer} : {batch}")
        last = f"%t{layer}"
    return f"""module @jit_step {{
  sdy.mesh @mesh = <["data"={ranks}]>
  func.func public @main(%w: {state}, %x: {batch} {{sdy.sharding = #sdy.sharding<@mesh, [{{"data"}}, {{}}]>}}) -> (tensor<f32> {{jax.result_info = "loss"}}, {state}) {{
    {chr(10).join(lines)}
    %g = stablehlo.dot_general %x, {last}, contracting_dims = [0] x [0] : ({batch}, {batch}) -> {state}
    %e = stablehlo.constant dense<1.0e-6> : {state}
    %s = stablehlo.multiply %g, %e : {state}
    %w2 = stablehlo.subtract %w, %s : {state}
    %z = stablehlo.constant dense<0.0> : tensor<f32>
    %q = stablehlo.multiply {last}, {last} : {batch}
    %loss = stablehlo.reduce(%q init: %z) applies stablehlo.add across dimensions = [0, 1] : ({batch}, tensor<f32>) -> tensor<f32>
    return %loss, %w2 : tensor<f32>, {state}
  }}
}}"""


def training(folder, ranks, steps, *extra):
    """The command of a run, one thread a rank, and its log."""
    model, artifact, inputs, log = (folder / name for name in ("step.mlir", "step.sgda", "in.safetensors", "log.jsonl"))
    if not artifact.exists():
        model.write_text(program(ranks))
        # Of a device that is faster than any host, so that a share of its rate is known.
        harness.tool("sgdc", model, "-o", artifact, "--topology", "h100")
        random = np.random.default_rng(1)
        harness.save(inputs, {"arg0": random.standard_normal((WIDTH, WIDTH), dtype=np.float32) * np.float32(0.04), "arg1": random.standard_normal((ROWS, WIDTH), dtype=np.float32)})
    command = [harness.BUILD / "bin" / "sgdrun", "-n", ranks, artifact, "--init", inputs, "--carry", "result1:arg0", "--steps", steps, "--threads", 1, "--log-json", log, *extra]
    return list(map(str, command)), log


def started(command, env=None):
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, **(env or {})})


def events(log, kind):
    lines = [json.loads(line) for line in log.read_text().splitlines() if line.endswith("}")] if log.exists() else []
    return [line for line in lines if line.get("event") == kind]


def pulse(pid, log, process, is_over=lambda found: found, stop=0.003, pause=0.012):
    """Stops a process for 3 of 15 ms, so that each step of 30 ms is hit, from the first step until the events about stragglers are those that are waited for or the run ends; returns the share of time in which it was stopped."""
    begin, stopped = time.monotonic(), 0.0
    while process.poll() is None and not is_over(events(log, "straggler")):
        try:
            os.kill(pid, signal.SIGSTOP)
            stopping = time.monotonic()
            time.sleep(stop)
            os.kill(pid, signal.SIGCONT)
        except ProcessLookupError:
            break
        stopped += time.monotonic() - stopping
        time.sleep(pause)
    return stopped / (time.monotonic() - begin)


def names_a_slow_rank(folder):
    command, log = training(folder, 2, STEPS)
    process = started(command)
    harness.wait_until(lambda: process.poll() is not None or len(harness.children(process.pid)) == 2)
    slow = harness.children(process.pid)[1]
    share = pulse(slow, log, process)
    process.send_signal(signal.SIGTERM)
    _, errors = process.communicate(timeout=harness.TIMEOUT)
    found = events(log, "straggler")
    assert found, f"nobody was named: {errors}"
    event = found[0]
    assert event["rank"] == 1 and event["cause"] == "compute" and event["host"] == os.uname().nodename and event["cores"].startswith("core"), event
    assert event["ms"] > 0 and 2 <= event["percent"] <= 80, event
    assert f"note: rank 1 (host {event['host']}, {event['cores']}) holds up the others since about step {event['step']}" in errors, errors
    print(f"        stopped {share:.0%} of the time, named by step {event['step']}, costs {event['ms']:.1f} ms a step")


def slowed(folder, cores, *extra):
    """A run of two ranks on a host of so many cores, whose first rank is slowed until it was found and has lasted; with its log and the last event."""
    shim = harness.BUILD / "tests" / "libsgd_fake_cores.so"
    assert shim.exists(), shim
    command, log = training(folder, 2, STEPS, "--restarts", 3, "--print-every", STEPS, *extra)
    process = started(command, {"LD_PRELOAD": str(shim), "SGD_FAKE_CORES": str(cores)})
    harness.wait_until(lambda: process.poll() is not None or len(harness.children(process.pid)) == 2)
    pulse(harness.children(process.pid)[0], log, process, lambda found: any("replaced" in event for event in found))
    found = events(log, "straggler")
    assert found and "replaced" in found[-1] and found[-1]["rank"] == 0, (found, process.poll())
    assert "replaced" not in found[0] and found[-1]["step"] >= found[0]["step"] + 50, found
    return process, log, found[-1]


def stopped(process):
    process.send_signal(signal.SIGTERM)
    _, errors = process.communicate(timeout=harness.TIMEOUT)
    assert process.returncode == 75, (process.returncode, errors)
    return errors


def replaces_a_slow_rank(folder):
    """On the third of three cores, with the bits of an undisturbed run; and not again at once."""
    process, log, event = slowed(folder, 3, "--replace-stragglers")
    assert event["replaced"] is True, event
    resumed = lambda: events(log, "resumed")
    harness.wait_until(lambda: process.poll() is not None or (resumed() and len(harness.children(process.pid)) == 2))
    step = resumed()[0]["step"]
    pulse(harness.children(process.pid)[1], log, process, lambda _: (harness.steps_of(log) or [{"step": 0}])[-1]["step"] >= step + 10)
    errors = stopped(process)
    assert f"rank 0 is started again, off core 0; going on with step {step}; restarts left: 2" in errors, errors
    assert resumed() == [{**resumed()[0], "ranks": 2, "from": "peer"}] and not events(log, "rank_lost"), resumed()
    assert event["step"] < step <= event["step"] + 5, (event, step)
    losses = [row["loss"] for row in harness.steps_of(log)]
    log.unlink()
    command, _ = training(folder, 2, len(losses))
    subprocess.run(command, check=True, capture_output=True, timeout=harness.TIMEOUT)
    assert [row["loss"] for row in harness.steps_of(log)] == losses


def leaves_a_slow_rank_where_no_core_is_idle(folder):
    process, log, event = slowed(folder, 2, "--replace-stragglers=7")
    assert event["replaced"] is False and event["reason"] == "this host has no core to spare", event
    errors = stopped(process)
    assert "it is not replaced: this host has no core to spare" in errors and not events(log, "resumed"), errors


def names_nobody_without_cause(folder):
    command, log = training(folder, 2, 100)
    process = started(command)
    _, errors = process.communicate(timeout=harness.TIMEOUT)
    assert process.returncode == 0, errors
    assert not events(log, "straggler"), events(log, "straggler")
    assert "holds up" not in errors, errors


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def metrics_of(text):
    return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))}


def has_saved(metrics):
    return metrics.get("sgd_steps_done", 0) >= 10 and metrics.get("sgd_checkpoints_total", 0) >= 1


def sees_metrics(process, port, file, log):
    harness.wait_until(lambda: process.poll() is not None or (file.exists() and has_saved(metrics_of(file.read_text()))))
    assert process.poll() is None, process.communicate()
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=30) as answer:
        metrics = metrics_of(answer.read().decode())
    assert metrics["sgd_steps_done"] >= 10 and metrics["sgd_steps_planned"] == 100000 and metrics["sgd_checkpoints_total"] >= 1, metrics
    assert all(metrics[f'sgd_resident_bytes{{rank="{rank}"}}'] > 1 << 20 for rank in range(2)), metrics
    assert 0 < metrics['sgd_step_seconds{quantile="0.5"}'] < 60 and metrics["sgd_loss"] > 0 and metrics["sgd_slowest_rank"] in (0, 1), metrics
    assert 0 < metrics["sgd_flops_utilization"] < 1 and metrics["sgd_checkpoint_stall_seconds_total"] > 0, metrics
    for job in (port, f"localhost:{port}", file, log):
        shown = harness.tool("sgd-top", job).stdout
        assert shown.startswith("step ") and "loss    " in shown and "time    " in shown and "\033" not in shown, shown
    assert "in collectives; rank" in harness.tool("sgd-top", port).stdout


def publishes_metrics(folder):
    """In a file and over HTTP, while it runs; sgd-top shows both, and the log."""
    port, file = free_port(), folder / "metrics.prom"
    command, log = training(folder, 2, 100000, "--metrics", file, "--metrics-port", port, "--save", folder / "save", "--save-every", 5)
    process = started(command)
    try:
        sees_metrics(process, port, file, log)
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=harness.TIMEOUT)
    assert process.returncode == 75
    assert metrics_of(file.read_text())["sgd_steps_done"] == [json.loads(line)["step"] for line in log.read_text().splitlines() if '"loss"' in line][-1] + 1
    assert sorted(path.name for path in folder.glob("metrics*")) == ["metrics.prom"]
    gone = harness.tool("sgd-top", port, check=False)
    assert gone.returncode == 1 and f"sgd-top: 127.0.0.1:{port}: cannot connect: Connection refused; expected a run with --metrics-port" in gone.stderr, gone.stderr


def refuses_what_cannot_be_published(folder):
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        port = listener.getsockname()[1]
        command, _ = training(folder, 2, 3, "--metrics-port", port)
        result = subprocess.run(command, capture_output=True, text=True, timeout=harness.TIMEOUT)
        assert result.returncode == 1 and f"--metrics-port: cannot listen on 127.0.0.1:{port}: Address already in use; expected a free port; give another one" in result.stderr, result.stderr
    command, log = training(folder, 2, 3, "--metrics", "/dev/full")
    log.unlink()
    result = subprocess.run(command, capture_output=True, text=True, timeout=harness.TIMEOUT)
    assert result.returncode == 1 and "--metrics: /dev/full: is no regular file" in result.stderr, result.stderr
    result = harness.tool("sgdrun", folder / "step.sgda", "--live", check=False)
    assert result.returncode == 2 and "--live is for training" in result.stderr, result.stderr
    for job, cause in (("/nowhere/log", "no such file; expected a log of --log-json"), (folder / "step.mlir", "is no metric"), (folder, "is no regular file")):
        result = harness.tool("sgd-top", job, check=False)
        assert result.returncode == 1 and cause in result.stderr, (job, result.stderr)


def on_a_terminal(command, seconds=60):
    """What a command prints to a terminal until it ends or is interrupted after some seconds, and its exit code."""
    terminal, other = pty.openpty()
    before = termios.tcgetattr(other)
    process = subprocess.Popen(command, stdout=other, stderr=other, stdin=other)
    text, end = b"", time.monotonic() + seconds
    while process.poll() is None or select.select([terminal], [], [], 0.1)[0]:
        if select.select([terminal], [], [], 0.1)[0]:
            text += os.read(terminal, 65536)
        if time.monotonic() > end:
            process.send_signal(signal.SIGINT)
    assert termios.tcgetattr(other) == before, "the terminal has other settings"
    os.close(other)
    os.close(terminal)
    return text.decode(), process.returncode


def shows_itself_live(folder):
    command, log = training(folder, 2, 12, "--live")
    text, code = on_a_terminal(command)
    assert code == 0, text
    assert "step 12/12" in text and "median" in text and "rank" in text and "\033[" in text, text
    assert "steps       0 to 11" in text and "done        12 steps in " in text, text
    assert text.count("\033[?7l") == text.count("\033[?7h") >= 2 and "\033[?25l" not in text and "\033[?1049h" not in text, text
    text, _ = on_a_terminal([str(harness.BUILD / "bin" / "sgd-top"), str(log)], 3)
    assert text.count("step 12") >= 2 and text.endswith("\033[?7h"), text
    log.unlink()
    result = subprocess.run(command, capture_output=True, text=True, timeout=harness.TIMEOUT)
    lines = [line for line in result.stdout.splitlines() if line.startswith("step ")]
    assert len(lines) == 12 and all(line.startswith(f"step {step:2}  ") and " ms  loss " in line for step, line in enumerate(lines)), lines
    assert "\033" not in result.stdout


def plots_logs(folder):
    command, log = training(folder, 2, 6)
    subprocess.run(command, check=True, capture_output=True, timeout=harness.TIMEOUT)
    other = folder / "other.jsonl"
    other.write_text(log.read_text() + '{"event": "resumed", "step": 4, "ranks": 2}\n{"step": 4, "sec')
    harness.tool("sgd-plot", log, other, "-o", folder / "plot.svg")
    drawing = xml.etree.ElementTree.fromstring((folder / "plot.svg").read_text())
    space = "{http://www.w3.org/2000/svg}"
    assert len(drawing.findall(f"{space}polyline")) == 6, "two curves in three panels"
    texts = [text.text for text in drawing.findall(f"{space}text")]
    assert str(log) in texts and str(other) in texts and "loss" in texts and "step time in ms" in texts and "throughput in steps per second" in texts, texts
    assert len([line for line in drawing.findall(f"{space}line") if line.get("stroke-dasharray")]) == 3
    for args, cause in (([folder / "step.mlir", "-o", folder / "x.svg"], "no line of it is one of --log-json"), ([log, "-o", "/nowhere/x.svg"], "/nowhere/x.svg: cannot"), ([log], "--output is required")):
        result = harness.tool("sgd-plot", *args, check=False)
        assert result.returncode in (1, 2) and cause in result.stderr, result.stderr
    assert not (folder / "x.svg").exists()


def recorded(folder, fault, *extra):
    """The flight recorder's timeline and the messages of a run whose second rank meets a fault in some step."""
    file, link = folder / "flight.json", folder / "flight"
    if not link.is_symlink():
        link.symlink_to(file.name)
    command, log = training(folder, 2, 100000, "--flight-recorder", link, *extra)
    process = started(command)
    harness.wait_until(lambda: process.poll() is not None or (log.exists() and log.read_text().count("seconds") >= 5))
    assert process.poll() is None, process.communicate()
    assert not file.exists()
    fault(harness.children(process.pid)[1])
    _, errors = process.communicate(timeout=harness.TIMEOUT)
    assert process.returncode == 1, errors
    assert link.is_symlink(), "the link was replaced"
    log.unlink()
    trace = json.loads(file.read_text())
    file.unlink()
    ranks = {event["pid"] for event in trace["traceEvents"] if event["ph"] == "X"}
    assert ranks == {0, 1}, ranks
    for rank in range(2):
        assert f"rank {rank}: {trace['otherData'][f'rank {rank}']}" in errors, errors
    assert f"sgdrun: note: the last seconds are in {link}; rank 0: " in errors, errors
    return trace, errors


def records_where_every_rank_was(folder):
    trace, errors = recorded(folder, lambda pid: os.kill(pid, signal.SIGKILL))
    assert trace["otherData"]["cause"].startswith("rank 1: killed by signal 9 (Killed)"), trace["otherData"]
    names = {event["name"].split()[0] for event in trace["traceEvents"] if event["ph"] == "X" and event["pid"] == 1}
    assert {"matmul", "all_reduce", "inputs", "step"} <= names, names
    assert "rank 1: step " in errors or "rank 1: behind step " in errors or "rank 1: filled " in errors, errors
    # Stopped: the deadline ends the run, and the time since the last record says how long.
    deadline = harness.deadline_beyond(harness.slowness(), 3)
    trace, errors = recorded(folder, lambda pid: os.kill(pid, signal.SIGSTOP), "--deadline", deadline)
    where = trace["otherData"]["rank 0"]
    assert "(all_reduce) at " in where and "step.mlir:" in where, where
    assert float(where.rsplit("for ", 1)[1].removesuffix(" s")) >= deadline * 0.9, where


def records_only_failures_of_its_own_ranks(folder):
    file = folder / "flight.json"
    command, log = training(folder, 2, 3, "--flight-recorder", file)
    subprocess.run(command, check=True, capture_output=True, timeout=harness.TIMEOUT)
    assert not file.exists()
    log.unlink()
    alone = [command[0], *command[3:]]
    environment = {"SGD_RANK": "0", "SGD_WORLD_SIZE": "2", "SGD_RENDEZVOUS": f"watching{os.getpid()}"}
    ranks = [subprocess.Popen(alone, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, **environment, "SGD_RANK": str(rank)}) for rank in range(2)]
    said = "".join(errors for code, errors in harness.finish(ranks))
    assert all(process.returncode == 1 for process in ranks) and "--flight-recorder: this rank was started by another launcher" in said, said


if __name__ == "__main__":
    harness.main([(f.__name__.replace("_", " "), f) for f in (names_a_slow_rank, replaces_a_slow_rank, leaves_a_slow_rank_where_no_core_is_idle, names_nobody_without_cause, publishes_metrics, refuses_what_cannot_be_published, shows_itself_live, plots_logs, records_where_every_rank_was, records_only_failures_of_its_own_ranks)])
