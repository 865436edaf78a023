"""What calls make of arguments that are unusual or wrong, and what executables leave behind."""
import copy
import gc
import pickle
import re
import subprocess
import sys
import threading
import time

import jax
import jax.export
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import steps
from steps import harness

import sgd


def flips(*types):
    """A program that gives its arguments back, flipped."""
    arguments = [jax.ShapeDtypeStruct(shape, dtype) for dtype, shape in types]
    return jax.jit(lambda *values: tuple(jnp.flip(value) for value in values)).lower(*arguments)


def all_element_types(folder):
    types = ["bool", "int8", "int16", "int32", "uint8", "uint16", "uint32", "float16", "float32", "bfloat16", "float8_e4m3fn", "float8_e5m2", "complex64"]
    shapes = [(), (3,), (2, 0), (4, 5)]
    for name in types:
        dtype = np.dtype(getattr(ml_dtypes, name, name))
        with sgd.compile(flips(*[(dtype, shape) for shape in shapes])) as exe:
            values = [(steps.RANDOM.integers(0, 2, shape) if name == "bool" else steps.RANDOM.integers(0, 16, shape)).astype(dtype) for shape in shapes]
            for value, found in zip(values, exe(*values), strict=True):
                assert isinstance(found, jax.Array) and found.dtype == dtype and found.shape == value.shape, (name, found)
                assert np.asarray(found).tobytes() == np.ascontiguousarray(np.flip(value)).tobytes(), (name, value, found)


def memory_of_any_layout(folder):
    base = steps.draw(6, 8, 10)
    with sgd.compile(flips((np.float32, (3, 4, 5)))) as exe:
        for view in (base[::2, ::2, ::2], base[:3, :4, :5], np.asfortranarray(base[:3, :4, :5]), base[2::-1, 3::-1, :5], base.T[:5, :4, :3].T, np.broadcast_to(base[0, 0, 0], (3, 4, 5))):
            assert view.shape == (3, 4, 5)
            np.testing.assert_array_equal(exe(view)[0], np.flip(view))
        swapped = base[:3, :4, :5].astype(">f4")
        with steps.refused(sgd.InputError, "is >f4[3,4,5]; expected float32[3,4,5]; convert it"):
            exe(swapped)
        masked = np.ma.masked_less(base[:3, :4, :5], 0)
        with steps.refused(sgd.InputError, "is a masked array, whose mask would be lost; expected an array; fill it"):
            exe(masked)
        read_only = base[:3, :4, :5].copy()
        read_only.flags.writeable = False
        np.testing.assert_array_equal(exe(read_only)[0], np.flip(read_only))
        np.testing.assert_array_equal(exe(memoryview(read_only))[0], np.flip(read_only))


def numbers_of_python(folder):
    with sgd.compile(flips((np.int32, ()), (np.float32, (2,)), (np.bool_, ())).as_text()) as exe:
        number, floats, flag = exe(3, [1, 2.5], True)
        assert (int(number), floats.tolist(), bool(flag)) == (3, [2.5, 1], True)
        cases = [
            ((2.5, [1, 2], True), "cannot be read as int32[]: it has elements of type float64"),
            ((2**40, [1, 2], True), "cannot be read as int32[]: "),
            ((3, [1, 2j], True), "cannot be read as float32[2]: it has elements of type complex128"),
            ((3, [1, 2], 1), "cannot be read as bool[]: it has elements of type int64"),
            ((3, [1, [2]], True), "cannot be read as float32[2]: "),
            ((3, [1, 2, 3], True), "is float32[3]; expected float32[2]; convert it"),
            ((None, [1, 2], True), "cannot be read as int32[]: it has elements of type object"),
            (("3", [1, 2], True), "cannot be read as int32[]: it has elements of type str"),
            ((3, [1, 2], np.float32(1)), "is float32[]; expected bool[]; convert it"),
        ]
        for arguments, text in cases:
            with steps.refused(sgd.InputError, text):
                exe(*arguments)
        assert int(exe(4, [1, 2], False)[0]) == 4


def types_that_artifacts_lack(folder):
    """The compiler names the op and the line."""
    for name in ("float8_e4m3b11fnuz", "float4_e2m1fn"):
        with steps.refused(sgd.CompileError, "edges.py:", "error: argument 0", "supported elements are f64, "):
            sgd.compile(flips((np.dtype(getattr(ml_dtypes, name)), (4,))))
    with sgd.compile(flips((np.float32, (4,)))) as exe, steps.refused(sgd.InputError, "is int4[4]; expected float32[4]; convert it"):
        exe(np.zeros(4, ml_dtypes.int4))


def integers_of_four_bits(folder):
    """Artifacts have bytes; calls have the types of the program."""
    for name in ("int4", "uint4", "int2", "uint2"):
        dtype = np.dtype(getattr(ml_dtypes, name))
        values = np.array([1, 0, 1, 1] if name == "uint2" else [1, -2, 0, 1] if name == "int2" else [1, 2, 5, 7]).astype(dtype)
        lowered = jax.jit(lambda x: (jnp.flip(x), x + x)).lower(values)
        expected = jax.jit(lambda x: (jnp.flip(x), x + x))(values)
        with sgd.compile(lowered) as exe:
            for given in (values, jnp.asarray(values), np.asarray(values, np.int8 if name.startswith("int") else np.uint8)):
                for one, other in zip(exe(given), expected, strict=True):
                    assert one.dtype == dtype and np.array_equal(np.asarray(one, np.int32), np.asarray(other, np.int32)), (name, one, other)


def keys_of_random_numbers(folder):
    def step(key, x):
        key, other = jax.random.split(key)
        return key, x + jax.random.normal(other, x.shape)

    key, x = jax.random.key(3), steps.draw(8, 2)
    with sgd.compile(jax.jit(step).lower(key, x)) as exe:
        expected = key
        for _ in range(3):
            key, found = exe(key, x)
            expected, other = jax.jit(step)(expected, x)
            assert key.dtype == expected.dtype and (jax.random.key_data(key) == jax.random.key_data(expected)).all()
            np.testing.assert_allclose(found, other, rtol=1e-5, atol=1e-6)


def programs_of_other_kinds(folder):
    for value, kind in ((steps.step, "function"), (jax.jit(steps.step), ""), (3.5, "float"), (None, "NoneType")):
        with steps.refused(sgd.InputError, f"a program is of type {kind}", "expected jax.jit(step).lower(...), "):
            sgd.compile(value)
    jitted, arguments = jax.jit(steps.step), steps.step_arguments()
    for value, advice in ((jitted.trace(*arguments), "Traced; expected|; call its lower()"), (jax.export.export(jitted)(*arguments), "Exported; expected|; pass its mlir_module()"),
                          (jitted.lower(*arguments).compile(), "Compiled; expected|; pass what compile() was called of")):
        with steps.refused(sgd.InputError, *advice.split("|")):
            sgd.compile(value)
    assert sgd.compile(jax.export.export(jitted)(*arguments).mlir_module(), ranks=2).ranks == 2


def artifacts_of_the_command(folder):
    model = folder / "step.mlir"
    arguments = steps.step_arguments()
    lowered = jax.jit(steps.step).lower(*arguments)
    model.write_text(lowered.as_text(debug_info=True))
    harness.tool("sgdc", model, "-o", folder / "a.sgda", "--mesh", "data=4", "--batch", "data")
    with sgd.load(folder / "a.sgda", like=lowered) as exe:
        assert exe.report is None and exe.mesh == {"data": 4} and "f32[8,4]" in exe._repr_html_()
        np.testing.assert_allclose(exe(*arguments)[1], jax.jit(steps.step)(*arguments)[1], rtol=1e-6)
    (folder / "damaged.sgda").write_bytes((folder / "a.sgda").read_bytes()[:-100])
    (folder / "text.sgda").write_text("no artifact")
    for path, text in (("none.sgda", "none.sgda: "), ("damaged.sgda", "damaged.sgda: "), ("text.sgda", "text.sgda: "), ("", "")):
        with steps.refused(sgd.Error, text):
            sgd.load(folder / path)


def executables_are_not_pickled(folder):
    exe = sgd.compile(jax.jit(steps.step).lower(*steps.step_arguments()))
    tensors = sgd.data.Tensors({}, "nothing")
    for call in (pickle.dumps, copy.copy, copy.deepcopy):
        with steps.refused(TypeError, "an sgd.Executable cannot be pickled or copied: it has ranks; write it by save(path), and read it by sgd.load(path)"):
            call(exe)
        with steps.refused(TypeError, "sgd.Tensors cannot be pickled or copied: they are read from nothing; read them, dict(tensors)"):
            call(tensors)


def memory():
    text = open("/proc/self/status").read()
    return {name: int(re.search(rf"{name}:\s+(\d+)", text)[1]) * (1024 if name.startswith("Rss") else 1) for name in ("RssAnon", "RssShmem", "Threads")}


def close_frees_memory(folder):
    """64 MiB of state, and the threads of ranks. In a process of its own, whose allocator is at rest."""
    script = """
import jax, numpy as np, sgd, gc, json
from edges import memory
size = 16 << 20
exe = sgd.compile(jax.jit(lambda x: (x + 1, x.sum())).lower(jax.ShapeDtypeStruct((size, 1), np.float32)))
x = np.ones((size, 1), np.float32)
total = lambda: (lambda found: (found["RssAnon"] + found["RssShmem"], found["Threads"]))(memory())
seen = []
for _ in range(3):
    before = total()
    y = exe(x)
    during = total()
    del y
    gc.collect()
    exe.close()
    gc.collect()
    after = total()
    seen.append((before, during, after))
print(json.dumps(seen))
"""
    done = subprocess.run([sys.executable, "-c", "import sys; sys.argv = ['edges.py', 'import']\n" + script], capture_output=True, text=True, timeout=harness.TIMEOUT)
    assert done.returncode == 0, done.stderr
    seen = eval(done.stdout)
    for before, during, after in seen[1:]:
        assert during[0] - before[0] > 64 << 20 and abs(after[0] - before[0]) < 8 << 20, seen
        assert after[1] == before[1] < during[1], seen


def many_executables(folder):
    """All open at once; those that are dropped end without close."""
    params, x, y = steps.step_arguments()
    lowered = jax.jit(steps.step).lower(params, x, y)
    expected = jax.jit(steps.step)(params, x, y)[1]
    before = memory()["Threads"]
    executables = [sgd.compile(lowered, ranks=2) for _ in range(24)]
    for exe in executables * 2:
        np.testing.assert_allclose(exe(params, x, y)[1], expected, rtol=1e-6)
    del executables, exe
    gc.collect()
    assert memory()["Threads"] <= before + 2, (before, memory())


def threads_load_close_and_call(folder):
    """One executable, which some threads call while another one closes it."""
    params, x, y = steps.step_arguments()
    exe = sgd.compile(jax.jit(steps.step).lower(params, x, y), ranks=2)
    expected = jax.jit(steps.step)(params, x, y)[1]
    errors = []

    def call():
        try:
            for _ in range(15):
                np.testing.assert_allclose(exe(params, x, y)[1], expected, rtol=1e-6)
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=call) for _ in range(3)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        exe.close()
        time.sleep(0.01)
    assert not errors, errors
    exe.close()
    exe.close()


def logs_of_notebooks(folder):
    log = sgd.Records.of([{"step": step, "loss": 1 / (step + 1), "outputs": {"a": 1}} for step in range(30)] + [{"event": "<saved>"}], "")
    page = log._repr_html_()
    assert "after 11 others" in page and "&lt;saved&gt;" in page and "0.0333333" in page and "outputs" not in page, page
    assert repr(log) == "<sgd.Records: 31 records>"
    tensors = sgd.data.Tensors({"a<b": sgd.tensors.Stored("float32", (2, 3), lambda: [])}, "a.safetensors")
    assert repr(tensors) == "<sgd.Tensors of a.safetensors: 1 tensor, 24 B>" and "a&lt;b" in tensors._repr_html_()
    with steps.refused(sgd.InputError, "a.safetensors: tensor 'a<b' has 0 bytes; expected 24"):
        tensors["a<b"]


if __name__ == "__main__" and sys.argv[1:] != ["import"]:
    harness.main([(test.__name__.replace("_", " "), test) for test in (
        all_element_types, memory_of_any_layout, numbers_of_python, types_that_artifacts_lack, integers_of_four_bits, keys_of_random_numbers, programs_of_other_kinds, artifacts_of_the_command,
        executables_are_not_pickled, close_frees_memory, many_executables, threads_load_close_and_call, logs_of_notebooks)])
