"""Tables of Arrow and files of Parquet become tensors of rows, and rows of a run."""
import importlib.util
import subprocess
import sys
import warnings

import numpy as np
import steps
from steps import harness

import sgd
from sgd import checkpoint, convert, data

try:
    import pyarrow as pa
    import pyarrow.dataset
    import pyarrow.parquet
except ImportError:
    harness.skip("pyarrow", "there is no PyArrow; pip install pyarrow")

ROWS = 1000
IMAGES = np.arange(ROWS * 6, dtype=np.float32).reshape(ROWS, 2, 3)
BITS = np.arange(ROWS) % 3 == 0
EXPECTED = {
    "count": np.arange(ROWS, dtype=np.int16), "half": IMAGES[:, 0, 0].astype(np.float16), "flag": BITS, "large": np.arange(ROWS, dtype=np.uint64),
    "fixed": IMAGES, "list": IMAGES[:, 0], "nested": IMAGES.astype(np.float64), "coded": np.arange(ROWS) % 4, "tensor": IMAGES}


def table():
    flat = pa.array(IMAGES.reshape(-1))
    return pa.table({
        "count": EXPECTED["count"], "half": EXPECTED["half"], "flag": BITS, "large": EXPECTED["large"],
        "fixed": pa.FixedSizeListArray.from_arrays(pa.FixedSizeListArray.from_arrays(flat, 3), 2), "list": pa.array(IMAGES[:, 0].tolist(), pa.list_(pa.float32())),
        "nested": pa.array(IMAGES.tolist(), pa.list_(pa.large_list(pa.float64()))), "coded": pa.array(EXPECTED["coded"]).dictionary_encode(),
        "tensor": pa.FixedShapeTensorArray.from_numpy_ndarray(IMAGES)})


def check(tensors, first=0, names=tuple(EXPECTED)):
    assert set(tensors) == set(names), list(tensors)
    for name in names:
        found, expected = tensors[name], EXPECTED[name][first:]
        assert found.dtype == expected.dtype and np.array_equal(found, expected[: len(found)]) and len(found) > 0, (name, found.dtype)


def columns_are_tensors(folder):
    whole = table()
    check(data.from_arrow(whole))
    check(data.from_arrow(whole.slice(100, 57)), first=100)
    check(data.from_arrow(pa.concat_tables([whole.slice(0, 10), whole.slice(10)])))
    check(data.from_arrow(whole.combine_chunks().to_batches()[0]))
    check(data.from_arrow(whole.to_reader(max_chunksize=100)))
    check(data.from_arrow(whole, ["list", "flag"]), names=("list", "flag"))
    assert data.from_arrow(whole).types["fixed"] == "float32[1000,2,3]"


def memory_is_shared(folder):
    whole = table()
    tensors = data.from_arrow(whole)
    assert np.shares_memory(tensors["count"], whole["count"].chunk(0).to_numpy())
    assert np.shares_memory(tensors["fixed"], whole["fixed"].chunk(0).flatten().flatten().to_numpy())
    assert np.shares_memory(tensors["list"], whole["list"].chunk(0).values.to_numpy())


def files_are_read(folder):
    whole = table()
    parts = folder / "parts"
    parts.mkdir()
    pa.parquet.write_table(whole.slice(0, 400), parts / "a.parquet", row_group_size=150)
    pa.parquet.write_table(whole.slice(400), parts / "b.parquet")
    (parts / "notes.txt").write_text("no rows")
    for paths in (parts, [parts / "a.parquet", parts / "b.parquet"], f"{parts}/*.parquet"):
        check(data.from_parquet(paths))
    check(data.from_arrow(pa.dataset.dataset(parts, exclude_invalid_files=True)))
    for name, make in (("stream.arrow", pa.ipc.new_stream), ("file.arrow", pa.ipc.new_file)):
        with pa.OSFile(str(folder / name), "wb") as file, make(file, whole.schema) as writer:
            writer.write_table(whole)
        check(data.from_parquet(folder / name))


def the_command_writes_rows(folder):
    pa.parquet.write_table(table(), folder / "a.parquet")
    assert convert.main([str(folder / "a.parquet"), str(folder / "rows.safetensors"), "--columns", "count,fixed"]) == 0
    check(checkpoint.open(folder / "rows.safetensors"), names=("count", "fixed"))
    done = subprocess.run([sys.executable, "-m", "sgd.convert", folder / "a.parquet", folder / "b"], capture_output=True, text=True)
    assert done.returncode == 1 and done.stderr == f"sgd.convert: error: {folder / 'b'}: its ending says no format; expected .safetensors, or --to=safetensors|checkpoint|dcp|orbax\n"
    done = subprocess.run([sys.executable, "-m", "sgd.convert", folder / "a.parquet", folder / "c.safetensors"], capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.startswith(f"{folder / 'c.safetensors'}: 9 tensors, "), done
    for rule, text in (("(=x", "--rename=(=x: "), ("z=x", "--rename=z=x: it matches no tensor"), ("count|large=x", "tensors 'count' and 'large' would both be called 'x'")):
        done = subprocess.run([sys.executable, "-m", "sgd.convert", folder / "a.parquet", folder / "d.safetensors", "--rename", rule], capture_output=True, text=True)
        assert done.returncode == 1 and text in done.stderr, done
    assert not (folder / "d.safetensors").exists()


def runs_are_fed_by_them(folder):
    """With the losses of the same rows as arrays; other columns are no obstacle."""
    warnings.simplefilter("ignore", sgd.RunNote)
    params, rows = steps.loss_arguments()[0], steps.rows()
    program = sgd.export(steps.loss, *steps.loss_arguments())
    whole = pa.table({"x": rows["x"].tolist(), "y": rows["y"], "text": ["a"] * len(rows["y"])})
    whole = whole.set_column(0, "x", whole["x"].cast(pa.list_(pa.float32())))
    pa.parquet.write_table(whole, folder / "a.parquet")

    def losses(given, **options):
        exe = sgd.compile(program, recipe=steps.recipe(2))
        return [line.loss for line in exe.train(given, 4, init={"params": params}, seed=1, **options) if "loss" in line]

    expected = losses(rows)
    renamed = whole.rename_columns(["images", "label", "text"])
    cases = [(whole, {}), (folder / "a.parquet", {}), ([str(folder / "a.parquet")], {}), (data.from_parquet(folder / "a.parquet", ["x", "y"]), {}),
             (renamed, {"feed": "x=images,y=label"}), (renamed, {"feed": {"x": "images", "y": "label"}})]
    for given, options in cases:
        assert losses(given, **options) == expected and len(expected) == 4, (type(given), options)
    with steps.refused(sgd.InputError, "pyarrow.Table: no column has the name of an input; there are images, label, text; name columns by feed='INPUT=COLUMN'"):
        losses(renamed)
    with steps.refused(sgd.InputError, "column 'y' has the type string"):
        losses(whole.rename_columns(["x", "other", "y"]))


def data_sets_of_others(folder):
    """Of Hugging Face, shuffled too, with the folder that they save, and data frames of pandas; where these packages are."""
    if importlib.util.find_spec("datasets") is None:
        print("        there are no datasets of Hugging Face: not tested")
    else:
        import datasets

        datasets.disable_progress_bars()
        found = datasets.Dataset.from_dict({"x": IMAGES[:, 0].tolist(), "y": list(range(ROWS)), "text": ["a"] * ROWS})
        found.save_to_disk(folder / "saved")
        tensors = data.from_parquet(folder / "saved", ["x", "y"])
        assert tensors.types == {"x": "float64[1000,3]", "y": "int64[1000]"} and np.array_equal(tensors["x"], IMAGES[:, 0])
        shuffled = found.shuffle(seed=1)
        assert data.from_arrow(shuffled, ["y"])["y"].tolist() == shuffled["y"][:]
        with steps.refused(sgd.InputError, "data are a datasets.DatasetDict; expected a Dataset, whose rows are counted; choose a split"):
            data.from_arrow(datasets.DatasetDict({"train": found}))
    if importlib.util.find_spec("pandas") is None:
        print("        there is no pandas: not tested")
    else:
        import pandas

        tensors = data.from_arrow(pandas.DataFrame({"a": [1, 2], "b": [0.5, 1]}))
        assert tensors["a"].tolist() == [1, 2] and tensors["b"].tolist() == [0.5, 1]


def refuses_what_is_no_tensor(folder):
    kept = "; expected lists of one length; pad it, write files of tokens, which sgdrun packs, or choose other columns by columns=[...]"
    cases = [
        ({"s": ["a"]}, "pyarrow.Table: column 's' has the type string; expected numbers, booleans, or lists of them; encode it as numbers, such as tokens or labels, or choose"),
        ({"s": [1, None]}, "column 's' has a missing value in row 1; expected a value in each row; fill it in, leave the row out, or choose"),
        ({"s": [[1, 2], [None, 3]]}, "column 's' has a missing value in row 1"),
        ({"s": [[1], [1, 2]]}, "column 's' has a list of 2 elements in row 1 after lists of 1" + kept),
        ({"s": [[[1, 2], [3, 4]], [[1, 2], [3]]]}, "column 's' has a list of 1 elements in row 1 after lists of 2" + kept),
        ({"s": pa.array([], pa.list_(pa.int8()))}, "column 's' has the type list<item: int8> and no rows"),
        ({"s": [{"a": 1}]}, "column 's' has the type struct<a: int64>; expected numbers, booleans, or lists of them; split it into columns of numbers"),
        ({"s": pa.array([1], pa.timestamp("s"))}, "column 's' has the type timestamp[s]; expected numbers, booleans, or lists of them; cast it to numbers"),
    ]
    for columns, text in cases:
        with steps.refused(sgd.InputError, text):
            data.from_arrow(pa.table(columns))["s"]
    with steps.refused(sgd.InputError, "there is no column 'z', or several; there are coded, count, fixed, flag, half, ..."):
        data.from_arrow(table(), ["z"])
    with steps.refused(sgd.InputError, "data are of type builtins.int; expected a table of Arrow"):
        data.from_arrow(3)
    # In a later batch than the first.
    late = pa.concat_tables([pa.table({"s": [[1, 2]] * 10}), pa.table({"s": [[1, 2], [3]]})])
    with steps.refused(sgd.InputError, "column 's' has a list of 1 elements in row 11 after lists of 2"):
        checkpoint.write(folder / "late.safetensors", data.from_arrow(late))
    assert not any(folder.iterdir())


def refuses_files_that_are_none(folder):
    (folder / "a.parquet").write_bytes(b"PAR1")
    (folder / "b.arrow").write_bytes(b"xxxx")
    (folder / "empty").mkdir()
    pa.parquet.write_table(pa.table({"x": [1]}), folder / "c.parquet")
    pa.parquet.write_table(pa.table({"x": [1.5]}), folder / "d.parquet")
    cases = [
        (folder / "none.parquet", "none.parquet: it cannot be read: "),
        (folder / "x.csv", "x.csv: its name ends in '.csv'; expected .parquet or .arrow or .feather"),
        (folder / "empty", "empty: no name there ends in .parquet or .arrow or .feather"),
        (folder / "a.parquet", "a.parquet: it cannot be read: "),
        (folder / "b.arrow", "b.arrow: it cannot be read: "),
        ([folder / "c.parquet", folder / "d.parquet"], "d.parquet: its columns are 'x' (double); expected 'x' (int64), those of "),
        ([], "there are no files"),
    ]
    for paths, text in cases:
        with steps.refused(sgd.InputError, text):
            data.from_parquet(paths)
    written = (folder / "c.parquet").read_bytes()
    (folder / "c.parquet").write_bytes(written[:4] + bytes(len(written[:60]) - 4) + written[60:])
    with steps.refused(sgd.InputError, "c.parquet: column 'x' cannot be read: "):
        data.from_parquet(folder / "c.parquet")["x"]


def a_missing_package_is_named(folder):
    script = """
import sys
class Hide:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("pyarrow", "torch", "tensorstore", "orbax"):
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Hide())
import sgd
calls = [lambda: sgd.data.from_parquet("a.parquet"), lambda: sgd.checkpoint.from_dcp("a"), lambda: sgd.checkpoint.to_dcp("a", {}), lambda: sgd.checkpoint.from_orbax("a"),
         lambda: sgd.checkpoint.to_orbax("a", {})]
for call in calls:
    try:
        call()
    except sgd.MissingPackageError as error:
        print(error)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    packages = [line.rpartition("pip install ")[2] for line in done.stdout.splitlines()]
    assert packages == ["pyarrow", "torch", "torch", "tensorstore", "orbax-checkpoint"], done
    assert done.stdout.startswith("there is no package 'pyarrow', which data of Arrow and Parquet need; install it: pip install pyarrow\n"), done


harness.main([(test.__name__.replace("_", " "), test) for test in (
    columns_are_tensors, memory_is_shared, files_are_read, the_command_writes_rows, runs_are_fed_by_them, data_sets_of_others, refuses_what_is_no_tensor, refuses_files_that_are_none,
    a_missing_package_is_named)])
