"""sgd-ckpt over checkpoints of a run: what it lists, and every byte that is flipped or cut off is found and named."""
import json
import random
import shutil
import subprocess

import harness
import restarts


def saved(folder, *flags):
    """Checkpoints after 10, 20 and 30 steps."""
    artifact = restarts.digits(folder, 2)
    restarts.finished(restarts.started(folder, 2, artifact, 30, *restarts.DIGITS_DATA, "--save-every", 10, *flags))
    return folder / "save"


def ckpt(*args, code=0):
    result = harness.tool("sgd-ckpt", *args, check=False)
    assert result.returncode == code, (args, result.returncode, result.stdout, result.stderr)
    return result.stdout + result.stderr


def lists(folder):
    save = saved(folder)
    rows = json.loads(ckpt("list", save, "--json"))
    assert [row["step"] for row in rows] == [30, 20, 10] and all(row["whole"] and row["mesh"] == {"data": 2} and row["program"] == "train" for row in rows), rows
    assert len({row["bytes"] for row in rows}) == 1 and rows[0]["bytes"] > 200_000, rows
    assert ckpt("list", save).count("whole") == ckpt("verify", save).count("whole") == 3
    assert ckpt("list", save / "step-0000000020").count("20 steps") == 1
    assert "no checkpoints" in ckpt("list", restarts.fresh(folder, "empty"))
    assert "cannot open" in ckpt("list", folder / "absent", code=1)


def merges_and_converts(folder):
    save = saved(folder)
    ckpt("merge", save, "-o", folder / "state.safetensors")
    assert (folder / "state.safetensors").read_bytes() == restarts.state(folder, 30)
    ckpt("convert", save / "step-0000000010", "-o", folder / "converted")
    assert "equal" in ckpt("diff", save / "step-0000000010", folder / "converted")
    # A run goes on from it with the same bits.
    other = restarts.fresh(folder, "other")
    restarts.finished(restarts.started(other, 2, folder / "digits.sgda", 20, *restarts.DIGITS_DATA, "--resume", folder / "converted"))
    assert restarts.state(other, 30) == restarts.state(folder, 30)


def differs(folder):
    save = saved(folder)
    text = ckpt("diff", save / "step-0000000010", save / "step-0000000020", code=3)
    assert "elements differ, by 0." in text, text
    rows = json.loads(ckpt("diff", save / "step-0000000010", save / "step-0000000020", "--json", code=3))
    assert rows and all(row["kind"] == "values" and 0 < row["elements"] <= row["of"] for row in rows), rows
    assert "equal" in ckpt("diff", save, save / "step-0000000030" / "state.safetensors")
    other = restarts.fresh(folder, "other")
    harness.save(other / "one.safetensors", {"w": restarts.np.zeros(3, restarts.np.float32)})
    assert "only in" in ckpt("diff", save, other / "one.safetensors", code=3)


def compressed(folder):
    """Every tool reads compressed checkpoints, so do runs on other meshes, and what they hold is what plain ones do."""
    plain, packed = restarts.fresh(folder, "plain"), restarts.fresh(folder, "packed")
    artifact = restarts.digits(folder, 2, 3)
    for run, flags in ((plain, []), (packed, ["--save-zstd=3"])):
        restarts.finished(restarts.started(run, 2, artifact, 20, *restarts.DIGITS_DATA, "--save-every", 10, *flags))
    for step in (10, 20):
        newest = packed / "save" / f"step-{step:010d}"
        assert sorted(path.name for path in newest.iterdir()) == ["manifest.json", "state.safetensors.zst"]
        manifest = json.loads((newest / "manifest.json").read_text())
        size = (newest / "state.safetensors.zst").stat().st_size
        assert manifest["format"] == 4 and manifest["files"][0]["stored_bytes"] == size < manifest["files"][0]["bytes"] == len(restarts.state(plain, step)), manifest
        assert restarts.state(packed, step) == restarts.state(plain, step)
        row, = (row for row in restarts.events(packed, "saved") if row["step"] == step)
        assert row["bytes_on_disk"] == size and row["bytes"] == manifest["files"][0]["bytes"], row
    assert "bytes_on_disk" not in restarts.events(plain, "saved")[0]
    assert f"{size} on disk by zstd" in ckpt("verify", packed / "save") and "on disk" not in ckpt("list", plain / "save")
    assert json.loads(ckpt("list", packed / "save", "--json"))[0]["bytes_on_disk"] == size
    assert "equal" in ckpt("diff", plain / "save", packed / "save")
    ckpt("convert", packed / "save", "-o", folder / "unpacked")
    assert (folder / "unpacked" / "step-0000000020" / "state.safetensors").read_bytes() == restarts.state(plain, 20)
    ckpt("convert", plain / "save", "-o", folder / "repacked", "--zstd=3")
    assert (folder / "repacked" / "step-0000000020" / "state.safetensors.zst").read_bytes() == (newest / "state.safetensors.zst").read_bytes()
    for ranks in (2, 3):
        ends = []
        for name, resumed in (("a", plain), ("b", packed)):
            run = restarts.fresh(folder, f"{name}{ranks}")
            restarts.finished(restarts.started(run, ranks, artifact, 5, *restarts.DIGITS_DATA, "--resume", resumed / "save", "--save-zstd"))
            ends.append(restarts.state(run, 25))
        assert ends[0] == ends[1], ranks
    for flag, message in (("--save-zstd=0", "'0' is no level of zstd; expected an integer from 1 to 19"), ("--save-zstd=20", "from 1 to 19"), ("--save-zstd=x", "'x' is no level")):
        result = harness.tool("sgdrun", "-n", 2, artifact, "--steps", 3, "--save", folder / "refused", flag, check=False)
        assert result.returncode == 2 and message in result.stderr, result.stderr
    result = harness.tool("sgdrun", "-n", 2, artifact, "--steps", 3, "--save-zstd", check=False)
    assert result.returncode == 2 and "--save-zstd needs --save" in result.stderr, result.stderr


def room_on_the_disk(folder):
    """A disk that has room for a compressed checkpoint alone gets that; one without room for either says how much both need."""
    artifact, disk = restarts.digits(folder, 2), restarts.fresh(folder, "disk")
    space = ["unshare", "--mount", "--user", "--map-root-user"]
    if subprocess.run([*space, "mount", "-t", "tmpfs", "tmpfs", disk], capture_output=True).returncode != 0:
        print("        skipped: no file systems of one's own here")
        return
    run = " ".join(f"'{part}'" for part in restarts.command(disk, 2, artifact, 4, *restarts.DIGITS_DATA, "--save-every", 9))
    for kilobytes, flags, code, messages in ((204, "", 1, ["a checkpoint has 210", " are free; make room"]), (204, "--save-zstd=19", 0, []),
                                             (120, "--save-zstd=19", 1, ["a checkpoint has about 1", ", 21", " before it is compressed, but "])):
        # The log is on the disk, too.
        inside = f"mount -t tmpfs -o size={kilobytes}k tmpfs {disk}; {run} {flags}"
        result = subprocess.run([*space, "bash", "-c", inside], capture_output=True, text=True, timeout=harness.TIMEOUT)
        assert result.returncode == code and all(message in result.stderr for message in messages), (kilobytes, flags, result)


def damage(folder):
    damaged(folder, "state.safetensors")


def compressed_damage(folder):
    damaged(folder, "state.safetensors.zst", "--save-zstd")


def damaged(folder, name, *flags):
    """The newest checkpoint is damaged in one place: it is named, and a run goes on from the one before."""
    save, rng = saved(folder, *flags), random.Random(4)
    newest = save / "step-0000000030"
    kept = folder / "kept"
    shutil.copytree(newest, kept)
    cases = 60
    for case in range(cases):
        path = newest / ("manifest.json" if case % 3 == 0 else name)
        data = bytearray(path.read_bytes())
        at = rng.randrange(len(data))
        if case % 2:
            del data[at:]
        else:
            data[at] ^= 1 << rng.randrange(8)
        path.write_bytes(data)
        text = ckpt("verify", save, code=1)
        assert text.count("damaged") == 1 and text.count("whole") == 2 and str(path) in text, (case, text)
        shutil.copytree(kept, newest, dirs_exist_ok=True)
    path.unlink()
    ckpt("verify", save, code=1)
    shutil.rmtree(newest)
    shutil.copytree(kept, newest)
    (newest / name).write_bytes((newest / name).read_bytes()[:-1])
    log = folder / "log.jsonl"
    result = harness.tool("sgdrun", "-n", 2, folder / "digits.sgda", "--steps", 1, *restarts.DIGITS_DATA, "--resume", save, "--log-json", log)
    assert "going on from the checkpoint before" in result.stderr and restarts.rows(folder)[0]["step"] == 20, result.stderr


def policies(folder):
    """Which checkpoints stay, and intervals that the cost of a save decides."""
    artifact = restarts.digits(folder, 2)
    run = restarts.fresh(folder, "kept")
    evaluation = ["--eval-every", 10, "--eval-data", restarts.DIGITS / "train.safetensors"]
    restarts.finished(restarts.started(run, 2, artifact, 60, *restarts.DIGITS_DATA, *evaluation, "--save-every", 10, "--keep", "last=1,every=20,best=accuracy"))
    accuracies = {row["step"] + 1: row["eval"]["accuracy"] for row in restarts.rows(run) if "eval" in row}
    best = max(accuracies, key=lambda step: (accuracies[step], step))
    assert {row["step"] for row in json.loads(ckpt("list", run / "save", "--json"))} == {60, 40, 20, best}, (best, accuracies)
    auto = restarts.fresh(folder, "auto")
    restarts.finished(restarts.started(auto, 2, artifact, 3000, *restarts.DIGITS_DATA, "--save-every", "auto", "--mtbf", 0.02))
    steps = [row["step"] for row in restarts.events(auto, "saved")]
    gaps = [b - a for a, b in zip(steps, steps[1:-1])]
    assert steps[0] == 10 and steps[-1] == 3000 and gaps and min(gaps) > 10, steps
    for flags, message in ((["--save-every", "auto"], "--mtbf HOURS go together"), (["--keep", "best=accuracy"], "needs --eval-every"), (["--keep", "most=3"], "is not understood"),
                           (["--keep", "best=beauty", *evaluation], "the evaluation gives ")):
        result = harness.tool("sgdrun", "-n", 2, artifact, "--steps", 3, *restarts.DIGITS_DATA, "--save", folder / "refused", *flags, check=False)
        assert result.returncode in (1, 2) and message in result.stderr, (flags, result.stderr)


harness.main([("lists", lists), ("policies", policies), ("merges and converts", merges_and_converts), ("differs", differs), ("compressed", compressed), ("room on the disk", room_on_the_disk), ("damage", damage), ("compressed damage", compressed_damage)])
