"""sgd.compile is sgdc: the same bytes, options, messages and reports."""
import json
import pathlib
import threading
import warnings

import jax
import jax.numpy as jnp
import numpy as np
import steps
from steps import harness

import sgd

LOWERED = jax.jit(steps.step).lower(*steps.step_arguments())
TEXT = LOWERED.as_text(debug_info=True)
FLAGS = {"mesh": {"data": 4}, "batch": "data", "cpu": "x86-64-v3", "memory_limit": "1GiB", "shard_updates": "never"}


def gives_the_bytes_and_the_json_of_the_command(folder):
    model = folder / "step.mlir"
    model.write_text(TEXT)
    harness.tool("sgdc", model, "-o", folder / "a.sgda", "--mesh", "data=4", "--batch", "data", "--cpu", "x86-64-v3", "--memory-limit", "1GiB",
                 "--shard-updates", "never", f"--report={folder}/report.json", f"--explain={folder}/explain.json")
    by_path = sgd.compile(model, **FLAGS)
    for exe in (by_path, sgd.compile(TEXT, **FLAGS), sgd.compile(TEXT.encode(), **FLAGS), sgd.compile(LOWERED, **FLAGS)):
        assert exe.to_bytes() == by_path.to_bytes()
    assert by_path.to_bytes() == (folder / "a.sgda").read_bytes()
    exe = by_path
    written = json.loads((folder / "report.json").read_text())
    found = exe.report.to_dict()
    assert {**found, "compile_seconds": 0} == {**written, "compile_seconds": 0}
    assert exe.report.memory.peak == written["memory"]["peak"] == exe.report["memory"]["peak"]
    assert exe.explain.to_list() == json.loads((folder / "explain.json").read_text())
    assert str(exe.report).startswith("ranks          4 data=4"), str(exe.report)
    exe.save(folder / "b.sgda")
    assert (folder / "b.sgda").read_bytes() == (folder / "a.sgda").read_bytes()
    assert sgd.load(folder / "b.sgda").to_bytes() == exe.to_bytes()


def a_saved_artifact_is_for_other_machines(folder):
    """As sgdc --cpu=x86-64-v3 writes it, unless compile or save was called with another CPU."""

    def saved(exe, **options):
        exe.save(folder / "a.sgda", **options)
        return (folder / "a.sgda").read_bytes()

    native = sgd.compile(LOWERED, ranks=2)
    portable, explicit = (sgd.compile(LOWERED, ranks=2, cpu=cpu) for cpu in ("x86-64-v3", "native"))
    assert native.description.cpu != "x86-64-v3" and native.to_bytes() == explicit.to_bytes()
    assert saved(native) == saved(portable) == saved(explicit, cpu="x86-64-v3") == portable.to_bytes()
    assert saved(native, cpu="native") == saved(explicit) == native.to_bytes()
    four = saved(native, cpu="x86-64-v4")
    assert sgd.load(folder / "a.sgda").description.cpu == "x86-64-v4" and saved(portable, cpu="x86-64-v4") == four
    arguments = steps.step_arguments()
    saved(native)
    with sgd.load(folder / "a.sgda", like=LOWERED) as loaded:
        assert saved(loaded) == portable.to_bytes()
        np.testing.assert_allclose(loaded(*arguments)[1], native(*arguments)[1], rtol=1e-6)
        with steps.refused(sgd.InputError, "a.sgda: save is called with cpu='native', and an artifact has no program to compile; leave cpu out, or"):
            saved(loaded, cpu="native")
    with steps.refused(sgd.UsageError, "--cpu: 'i386' is not native, x86-64-v3 or x86-64-v4"):
        saved(native, cpu="i386")
    with steps.refused(sgd.Error, "none"):
        native.save(folder / "none" / "a.sgda")
    gpu = sgd.compile(LOWERED, ranks=2, target="cuda:sm_90")
    assert saved(gpu) == gpu.to_bytes()
    with steps.refused(sgd.UsageError, "--cpu"):
        saved(gpu, cpu="x86-64-v3")


def another_program_is_no_structure_of_an_artifact(folder):
    sgd.compile(LOWERED, ranks=2).save(folder / "a.sgda")
    params, x, y = steps.step_arguments()
    advice = "; expected the program that the artifact was compiled from; compile it again, or leave like out and pass arrays by name"

    def like(function, *arguments):
        return jax.jit(function).lower(*arguments)

    wide = {"w": np.zeros((4, 5), np.float32), "b": np.zeros(5, np.float32)}
    for other, text in (
            (like(steps.step, wide, x, np.zeros((8, 5), np.float32)), "a.sgda: input 'params['b']' of program 'main' is float32[3], and args[0]['b'] of like is float32[5]"),
            (like(lambda params, x: steps.step(params, x, 0.0), params, x), "a.sgda: input 'y' of program 'main' is float32[8,3], and like has none"),
            (like(lambda params, x, y, z: steps.step(params, x + z, y), params, x, y, x), "a.sgda: input 'args[3]' of program 'main': there is none, and like has it as float32[8,4]"),
            (like(lambda params, x, y: (*steps.step(params, x, y), x), params, x, y), "a.sgda: output 'result 3' of program 'main': there is none, and like has it as float32[8,4]"),
            (like(lambda params, x, y: steps.step(params, x, y)[1:], params, x, y), "of program 'main' is float32[3], and result 0 of like is float32[]")):
        with steps.refused(sgd.InputError, text + advice):
            sgd.load(folder / "a.sgda", like=other)
    with steps.refused(sgd.InputError, "a.sgda: there is no program 'train', which like has; there are main; expected the programs that the artifact was compiled from"):
        sgd.load(folder / "a.sgda", like={"train": LOWERED})
    # Keys of random numbers and 4-bit integers have other types in artifacts.
    keyed = like(lambda key, x: (jax.random.split(key)[0], x + 1), jax.random.key(0), jnp.ones(4, jnp.int4))
    sgd.compile(keyed).save(folder / "keyed.sgda")
    with sgd.load(folder / "keyed.sgda", like=keyed) as loaded:
        key, numbers = loaded(jax.random.key(0), jnp.ones(4, jnp.int4))
        assert key == jax.random.split(jax.random.key(0))[0] and numbers.dtype == jnp.int4


def a_saved_artifact_has_the_same_plans(folder):
    """Recipes that were found are not searched for again, warnings come once, and files must be as they were."""
    program = sgd.export(steps.loss, *steps.loss_arguments())
    (folder / "recipe.json").write_text(json.dumps({"train": {"loss": "result.loss"}}))
    found = sgd.compile(program, recipe=folder / "recipe.json", auto=2, auto_evaluations=3)
    plans = sgd.compile(LOWERED, mesh=[{"data": 4}, "data=2"], batch="data", plan="data=2")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found.save(folder / "found.sgda")
        plans.save(folder / "plans.sgda")
    assert sgd.load(folder / "plans.sgda", ranks=4).plans == plans.plans
    saved = sgd.load(folder / "found.sgda")
    assert saved.description.cpu == "x86-64-v3" and saved.mesh == found.mesh and saved.programs == found.programs
    assert saved.to_bytes() == sgd.compile(program, recipe=found.recipe, cpu="x86-64-v3").to_bytes()
    (folder / "recipe.json").write_text(json.dumps(steps.recipe(2)))
    exe = sgd.compile(program, recipe=[folder / "recipe.json"])
    (folder / "recipe.json").write_text(json.dumps(steps.recipe(2, zero=1) | {"name": "other"}))
    with steps.refused(sgd.InputError, "recipe.json: it has changed since the program was compiled; expected the same file; compile again, or save with cpu='native'"):
        exe.save(folder / "exe.sgda")
    exe.save(folder / "exe.sgda", cpu="native")
    assert sgd.load(folder / "exe.sgda").to_bytes() == exe.to_bytes()


def recipes_are_dictionaries_names_and_files(folder):
    recipe = steps.recipe(4)
    (folder / "recipe.json").write_text(json.dumps(recipe))
    program = sgd.export(steps.loss, *steps.loss_arguments())
    by_dictionary, by_file = (sgd.compile(program, recipe=given) for given in (recipe, folder / "recipe.json"))
    assert by_dictionary.programs == by_file.programs == ("init", "train", "eval"), by_file.programs
    assert by_dictionary.report.sent_bytes == by_file.report.sent_bytes > 0
    assert sgd.compile(LOWERED, recipe="zero1", mesh="data=2").mesh == {"data": 2}


def several_meshes_are_plans(folder):
    exe = sgd.compile(LOWERED, mesh=[{"data": 4}, "data=2"], batch="data", ranks=2)
    assert exe.plans == ("data=4", "data=2") and exe.plan == "data=2" and exe.ranks == 2
    assert [plan["ranks"] for plan in exe.report.plans] == [4, 2]
    arguments = steps.step_arguments()
    expected = jax.jit(steps.step)(*arguments)
    exe.save(folder / "two.sgda")
    for plan, ranks in (("data=4", 4), ("data=2", 2)):
        with sgd.load(folder / "two.sgda", plan=plan, like=LOWERED) as loaded:
            assert loaded.ranks == ranks
            np.testing.assert_allclose(loaded(*arguments)[1], expected[1], rtol=1e-6)
    with steps.refused(sgd.InputError, "'data=4' (4 ranks), 'data=2' (2 ranks)"):
        sgd.load(folder / "two.sgda", ranks=3)


def auto_returns_the_recipe_that_it_found(folder):
    recipe = {"train": {"loss": "result.loss"}}
    exe = sgd.compile(sgd.export(steps.loss, *steps.loss_arguments()), recipe=recipe, auto=2, auto_evaluations=3)
    assert exe.ranks == 2 and exe.recipe["train"]["loss"] == "result.loss" and "mesh" in exe.recipe, exe.recipe


def texts_of_levels(folder):
    assert "spmd.all_reduce" in sgd.emit(LOWERED, "spmd", mesh={"data": 4}, batch="data")
    with steps.refused(sgd.UsageError, "--emit", "graph, sharded, spmd, stablehlo, kernels or plan"):
        sgd.emit(LOWERED, "nothing")
    with steps.refused(sgd.CompileError, "call sgd.emit"):
        sgd.compile(LOWERED, emit="plan")


def refuses_as_the_command_does(folder):
    cases = [
        (sgd.UsageError, {"mesh": "data=x"}, "--mesh: the size of axis 'data' must be a positive integer, not 'x'"),
        (sgd.UsageError, {"memory_limt": "3GiB"}, "there is no flag --memory-limt; did you mean --memory-limit?"),
        (sgd.UsageError, {"memory_limit": "3 apples"}, "'3 apples' is not a number of bytes"),
        (sgd.UsageError, {"output": "a.sgda"}, "there is no flag --output"),
        (sgd.UsageError, {"report": "a.json"}, "--report is for the command; its result is returned"),
        (sgd.UsageError, {"mesh": {"data": 2}, "batch": "data", "ranks": 4}, "compiled for 2 ranks, and ranks=4"),
        (sgd.UsageError, {"target": "tpu"}, "tpu"),
        (sgd.CompileError, {"recipe": {"batchh": "data"}}, "recipe.json: error: field 'batchh' is unknown; did you mean 'batch'?"),
        (sgd.CompileError, {"recipe": "zero9", "mesh": "data=2"}, "--recipe zero9: there is no recipe of this name; did you mean 'zero1'?"),
        (sgd.CompileError, {"recipe": folder / "none.json"}, "none.json: error: cannot read the recipe"),
        (sgd.CompileError, {"mesh": {"model": 2}}, "step.mlir: error: --mesh names the axis 'model', which the model does not have"),
    ]
    for kind, options, text in cases:
        with steps.refused(kind, text):
            sgd.compile(LOWERED, **options)
    for program, text in (("module {\n  what\n}", "<text>:2:3: error: "), (b"\0\1\2", "<bytes>"), ("", "")):
        with steps.refused(sgd.Error, text):
            sgd.compile(program)
    with steps.refused(sgd.InputError, "none.mlir: error: cannot read: No such file"):
        sgd.compile(folder / "none.mlir")
    with steps.refused(sgd.InputError, "a program is of type int; expected"):
        sgd.compile(3)
    for options, text in (({"ranks": "2"}, "ranks is '2'; expected a positive integer"), ({"ranks": 0}, "ranks is 0; expected"), ({"ranks": 1.5}, "ranks is 1.5; expected"),
                          ({"threads": -1}, "threads is -1; expected an integer, 0 for the cores divided by ranks"), ({"timeout": 0}, "timeout is 0; expected a positive number of seconds"),
                          ({"timeout": "5"}, "timeout is '5'; expected")):
        with steps.refused(sgd.InputError, text):
            sgd.compile(LOWERED, **options)
    for options, flag in (({"mesh": {}}, "mesh"), ({"memory_limit": ""}, "memory-limit")):
        with steps.refused(sgd.UsageError, f"--{flag} is empty; expected a value; leave {flag.replace('-', '_')} out"):
            sgd.compile(LOWERED, **options)
    assert issubclass(sgd.UsageError, ValueError) and issubclass(sgd.CompileError, sgd.Error)
    assert not any(folder.iterdir())


def errors_name_lines_of_python(folder):
    def calls_back(x):
        return jax.pure_callback(lambda value: value, jax.ShapeDtypeStruct((4,), np.float32), x)

    with steps.refused(sgd.CompileError, f"{pathlib.Path(__file__).name}:", "error: "):
        sgd.compile(sgd.export(calls_back, np.ones(4, np.float32)))


def warnings_are_pythons(folder):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        sgd.compile(sgd.export(steps.loss, *steps.loss_arguments()), recipe=steps.recipe(4))
    assert any(issubclass(one.category, sgd.CompileWarning) and "zero 3" in str(one.message) and one.filename == __file__ for one in caught), caught


def threads_compile_at_once(folder):
    expected = [sgd.compile(LOWERED, ranks=ranks).to_bytes() for ranks in (1, 2, 4)]
    found = {}

    def compile_one(index):
        found[index] = sgd.compile(LOWERED, ranks=(1, 2, 4)[index % 3]).to_bytes()

    threads = [threading.Thread(target=compile_one, args=(index,)) for index in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(found[index] == expected[index % 3] for index in range(6)) and len(found) == 6


def a_cache_is_shared_with_the_command(folder):
    """JAX's libraries, which are in this process alone, are not part of the compiler."""
    model, cache = folder / "step.mlir", folder / "cache"
    model.write_text(TEXT)
    exe = sgd.compile(model, mesh={"data": 4}, batch="data", cache=cache)
    entries = sorted(cache.iterdir())
    assert len(entries) == 1, entries
    harness.tool("sgdc", model, "-o", folder / "a.sgda", "--mesh", "data=4", "--batch", "data", "--cache", cache)
    assert sorted(cache.iterdir()) == entries and (folder / "a.sgda").read_bytes() == exe.to_bytes()


def a_record_is_a_dictionary_with_attributes(folder):
    report = sgd.compile(LOWERED, ranks=2).report
    assert set(report) == set(report.to_dict()) and len(report) == len(list(report)) and "memory" in dir(report)
    with steps.refused(AttributeError, "there is no field 'memry'; expected one of "):
        report.memry
    assert eval(repr(report.memory), {"Record": sgd.Record}).to_dict() == report.memory.to_dict()


def pages_of_notebooks(folder):
    exe = sgd.compile(LOWERED, ranks=2)
    page = exe._repr_html_()
    for part in ("2 (data=2)", "f32[8,4]", "f32[4,4]", "{data} {}", "params[&#x27;w&#x27;]", "sent by a rank"):
        assert part in page, f"'{part}' is not in {page}"
    assert repr(exe) == "<sgd.Executable of main for 2 ranks (data=2)>"
    assert exe.report._repr_html_().startswith("<pre>ranks          2 data=2")
    assert repr(exe.explain) == f"<sgd.Records: {len(exe.explain)} record{'' if len(exe.explain) == 1 else 's'}>" and exe.explain._repr_html_().startswith("<pre>")


harness.main([(test.__name__.replace("_", " "), test) for test in (
    gives_the_bytes_and_the_json_of_the_command, a_saved_artifact_is_for_other_machines, another_program_is_no_structure_of_an_artifact, a_saved_artifact_has_the_same_plans,
    recipes_are_dictionaries_names_and_files, several_meshes_are_plans, auto_returns_the_recipe_that_it_found,
    texts_of_levels, refuses_as_the_command_does, errors_name_lines_of_python, warnings_are_pythons, threads_compile_at_once, a_cache_is_shared_with_the_command,
    a_record_is_a_dictionary_with_attributes, pages_of_notebooks)])
