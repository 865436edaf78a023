"""The compile cache: a hit gives what a compilation gives, other inputs miss, damage and concurrent use do no harm."""
import json
import os
import pathlib
import resource
import subprocess
import threading

import harness

MODEL = harness.MODELS / "mlp_digits" / "model.mlir"
KINDS = ("artifact", "report", "explain")


def command(folder, cache, tag, *extra, model=MODEL):
    paths = {kind: folder / f"{tag}.{kind}" for kind in KINDS}
    args = [model, "-o", paths["artifact"], f"--report={paths['report']}", f"--explain={paths['explain']}", *extra]
    return [*args, "--cache", cache] if cache else args, paths


def compile(folder, cache, tag, *extra, **options):
    """Compiles and returns what came out: contents by kind (the report without its compile time), standard output and error."""
    args, paths = command(folder, cache, tag, *extra, **options)
    result = harness.tool("sgdc", *args)
    contents = {kind: path.read_bytes() for kind, path in paths.items()}
    report = json.loads(contents["report"])
    seconds = report.pop("compile_seconds")
    text = contents["report"].decode().splitlines()
    contents["report"] = [line for line in text if "compile_seconds" not in line]
    return {**contents, "stdout": result.stdout, "stderr": result.stderr}, seconds


def entries(cache):
    return sorted(pathlib.Path(cache).iterdir())


def hit_equals_miss(folder):
    cache = folder / "new" / "cache"
    without, _ = compile(folder, None, "without", "--emit", "plan")
    cold, cold_seconds = compile(folder, cache, "cold", "--emit", "plan")
    warm, warm_seconds = compile(folder, cache, "warm", "--emit", "plan")
    assert cold == without, "a compilation that is kept differs"
    assert warm == cold, "a hit differs"
    assert len(entries(cache)) == 1, entries(cache)
    print(f"        cold {cold_seconds * 1000:.0f} ms, warm {warm_seconds * 1000:.1f} ms")
    printed = [harness.tool("sgdc", MODEL, "--report", "--explain", *extra).stdout.rsplit("compiled in", 1)[0] for extra in ((), ("--cache", cache), ("--cache", cache))]
    assert printed[0] == printed[1] == printed[2], "printed texts differ"


def what_matters_misses(folder):
    cache = folder / "cache"
    topology = folder / "topology.json"
    topology.write_text((harness.MODELS.parent.parent / "passes/cost/topologies/dgx-h100.json").read_text())
    other = folder / "other.mlir"
    other.write_text(MODEL.read_text() + "\n")
    count = 0
    for extra in ((), ("--mesh", "data=2"), ("--cpu", "x86-64-v3"), ("--emit", "spmd"), ("--memory-limit", "1GiB"), ("--tile-scratch", "0"), ("--topology", topology)):
        compile(folder, cache, "a", *extra)
        count += 1
        assert len(entries(cache)) == count, f"{extra} was taken for another compilation"
        compile(folder, cache, "b", *extra)
        assert len(entries(cache)) == count, f"{extra} missed the second time"
    compile(folder, cache, "a", model=other)
    topology.write_text(topology.read_text() + " ")
    compile(folder, cache, "a", "--topology", topology)
    assert len(entries(cache)) == count + 2, "other texts were taken for the same"


def damaged_entries_are_replaced(folder):
    cache = folder / "cache"
    cold, _ = compile(folder, cache, "cold")
    entry = entries(cache)[0]
    good = entry.read_bytes()
    flipped = bytearray(good)
    flipped[len(good) // 2] ^= 1
    for damaged in (bytes(flipped), good[:-1], good[:30], b"", good + b"x"):
        entry.write_bytes(damaged)
        assert compile(folder, cache, "again")[0] == cold, "a damaged entry changed the result"
        assert entry.read_bytes() == good, "a damaged entry stayed"


def entries_of_others_are_not_read(folder):
    """Whatever others may have written gives one warning and is replaced; a FIFO, which never ends, and a link likewise."""
    cache = folder / "cache"
    cold, _ = compile(folder, cache, "cold")
    entry = entries(cache)[0]
    good = entry.read_bytes()

    def fifo():
        entry.unlink()
        os.mkfifo(entry)

    spoils = {"writable by other users": lambda: entry.chmod(0o666), "not a regular file": fifo}
    if os.geteuid() == 0:
        spoils["owned by another user"] = lambda: os.chown(entry, 54321, 54321)
    for cause, spoil in spoils.items():
        spoil()
        again, _ = compile(folder, cache, "again")
        assert again.pop("stderr") == f"sgdc: warning: --cache: {entry}: {cause}; expected a file that you alone may write; delete it\n"
        assert again == {kind: text for kind, text in cold.items() if kind != "stderr"}, f"an entry that is {cause} changed the result"
        assert entry.read_bytes() == good and compile(folder, cache, "hit")[0] == cold, f"an entry that is {cause} stayed"
    entry.unlink()
    entry.symlink_to("/dev/zero")
    assert compile(folder, cache, "again")[0]["artifact"] == cold["artifact"] and not entry.is_symlink(), "a link was followed"


def full_disk_is_a_warning(folder):
    """The compilation succeeds, and no damaged entry gets its name."""
    cache = folder / "cache"
    args, paths = command(folder, cache, "full")
    reached = max(path.stat().st_size for path in compile(folder, None, "full") and paths.values())
    result = subprocess.run([str(harness.BUILD / "bin" / "sgdc"), *map(str, args)], capture_output=True, text=True, timeout=harness.TIMEOUT,
                            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (reached, reached)))
    assert result.returncode == 0, (result.returncode, result.stderr)
    assert result.stderr.startswith("sgdc: warning: --cache: ") and result.stderr.endswith("cannot write: File too large; nothing is kept\n"), result.stderr
    assert entries(cache) == [], entries(cache)
    assert compile(folder, None, "alone")[0]["artifact"] == paths["artifact"].read_bytes()


def many_processes(folder):
    cache = folder / "cache"
    expected, _ = compile(folder, None, "alone")
    results = {}

    def work(tag):
        results[tag] = compile(folder, cache, tag)[0]

    threads = [threading.Thread(target=work, args=(f"p{i}",)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 4 and all(result == expected for result in results.values()), "concurrent compilations differ"
    assert len(entries(cache)) == 1, f"left behind: {entries(cache)}"


def size_is_limited(folder):
    cache = folder / "cache"
    compile(folder, cache, "a")
    first = entries(cache)[0]
    size = first.stat().st_size
    compile(folder, cache, "b", "--emit", "spmd", "--cache-size", str(4 * size))
    assert len(entries(cache)) == 2, "there was room for both"
    second = next(entry for entry in entries(cache) if entry != first)
    compile(folder, cache, "a")
    assert first.stat().st_mtime > second.stat().st_mtime, "a hit is no use"
    compile(folder, cache, "c", "--emit", "plan", "--cache-size", str(3 * size + size // 2))
    assert first in entries(cache) and second not in entries(cache) and len(entries(cache)) == 2, "what was used longest ago is left"
    compile(folder, cache, "d", "--emit", "graph", "--cache-size", "10")
    assert len(entries(cache)) == 2, "an entry above the limit is kept, or its compilation deleted others"
    wrong = harness.tool("sgdc", MODEL, "--report", "--cache", cache, "--cache-size", "much", check=False)
    assert wrong.returncode == 2 and "much" in wrong.stderr, wrong.stderr


def errors_are_not_kept(folder):
    wrong = folder / "wrong.mlir"
    wrong.write_text("func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> { return %y : tensor<4xf32> }")
    args, _ = command(folder, folder / "cache", "wrong", model=wrong)
    results = [harness.tool("sgdc", *args, check=False) for _ in range(2)]
    assert [r.returncode for r in results] == [1, 1] and results[0].stderr == results[1].stderr and "wrong.mlir" in results[0].stderr
    assert not (folder / "cache").exists(), "an error was kept"


def unusable_folder_is_a_warning(folder):
    blocked = folder / "file"
    blocked.write_text("")
    result, _ = compile(folder, blocked / "cache", "blocked")
    assert result["stderr"].startswith("sgdc: warning: --cache: cannot create ") and result["stderr"].count("\n") == 1, result["stderr"]


harness.main([("hit equals miss", hit_equals_miss), ("what matters misses", what_matters_misses), ("damaged entries are replaced", damaged_entries_are_replaced),
              ("entries of others are not read", entries_of_others_are_not_read), ("full disk is a warning", full_disk_is_a_warning), ("many processes", many_processes), ("size is limited", size_is_limited), ("errors are not kept", errors_are_not_kept), ("unusable folder is a warning", unusable_folder_is_a_warning)])
