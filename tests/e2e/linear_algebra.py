"""Decompositions and solvers as JAX prints them, by value, on 4, 2 and 1 ranks. usage: linear_algebra.py

Programs and oracles are those of tests/e2e/linear_algebra (make_programs.py says what they hold): batches and matrices are sharded. Results that LAPACK
leaves open, the signs of vectors, are LAPACK's own and compared as they are, except for eigenvectors of general matrices: their signs differ between the
instruction sets that BLAS has kernels for.
"""
import pathlib

import numpy as np

import compare_tensors
import harness

FOLDER = pathlib.Path(__file__).resolve().parent / "linear_algebra"
EIGENVECTORS = {"eig": (1,), "eig_left_vectors": (1, 2)}  # program: results whose columns have any sign
MESHES = ({"data": 2, "model": 2}, {"data": 1, "model": 2}, {"data": 3, "model": 1}, {"data": 1, "model": 1})


def compiled(folder, name, mesh):
    artifact = folder / f"{name}.sgda"
    text = harness.model_text.file(FOLDER / f"{name}.mlir", folder)
    harness.tool("sgdc", text, "-o", artifact, "--mesh", ",".join(f"{axis}={size}" for axis, size in mesh.items()))
    return artifact


def align_signs(actual, oracle, result):
    """Gives each column of an output the sign of the oracle's."""
    kind, found = actual[f"result{result}"]
    products = (found * oracle[f"expected.{result}"][1].conj()).real.sum(axis=-2, keepdims=True)
    actual[f"result{result}"] = (kind, np.where(products < 0, -found, found))


def check_values(folder, name):
    oracle = compare_tensors.load(FOLDER / f"{name}.safetensors")
    inputs = folder / "inputs.safetensors"
    harness.save(inputs, {key: value for key, (_, value) in oracle.items() if key.startswith("arg")})
    for mesh in MESHES:
        ranks = mesh["data"] * mesh["model"]
        actual = harness.run_once(compiled(folder, name, mesh), ranks, inputs, folder / "out.safetensors")
        for result in EIGENVECTORS.get(name, ()):
            align_signs(actual, oracle, result)
        assert compare_tensors.compare(actual, oracle, {}, "result", quiet=True) == 0, f"wrong values on {mesh}"


def check_threads(folder):
    """The same bits for any number of threads, and again."""
    artifact = compiled(folder, "svd_grad", MESHES[-1])
    oracle = compare_tensors.load(FOLDER / "svd_grad.safetensors")
    harness.save(folder / "inputs.safetensors", {key: value for key, (_, value) in oracle.items() if key.startswith("arg")})
    files = []
    for threads in (1, 1, 2, 3):
        files.append(folder / f"out{len(files)}.safetensors")
        harness.tool("sgdrun", artifact, "--inputs", folder / "inputs.safetensors", "--outputs", files[-1], "--threads", threads)
    assert len({file.read_bytes() for file in files}) == 1, "bits depend on threads"


def check_library(folder):
    """A LAPACK that is not there is named before the first step, with what to install; programs without linear algebra do not ask for it."""
    artifact = compiled(folder, "orthogonal_init", MESHES[-1])
    oracle = compare_tensors.load(FOLDER / "orthogonal_init.safetensors")
    harness.save(folder / "inputs.safetensors", {"arg0": oracle["arg0"][1]})
    run = ("sgdrun", artifact, "--inputs", folder / "inputs.safetensors", "--outputs", folder / "o.safetensors")
    result = harness.tool(*run, check=False, env={"SGD_LAPACK": "/nowhere/liblapack.so"})
    assert result.returncode == 1, result.stderr
    assert "/nowhere/liblapack.so" in result.stderr and "libopenblas0-pthread" in result.stderr, result.stderr
    assert not (folder / "o.safetensors").exists(), "a refused run left results"
    harness.tool(*run)


def check_refusal(folder, line, message):
    text = folder / "model.mlir"
    text.write_text("func.func public @main(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {\n  " + line + "\n  return %r : tensor<4x4xf32>\n}\n")
    result = harness.tool("sgdc", text, "-o", folder / "model.sgda", check=False)
    assert result.returncode == 1 and message in result.stderr, result.stderr


def check_cuda(folder):
    text = harness.model_text.file(FOLDER / "orthogonal_init.mlir", folder)
    result = harness.tool("sgdc", text, "-o", folder / "model.sgda", "--mesh", "data=1,model=1", "--target", "cuda:sm_90", check=False)
    assert result.returncode == 1 and "linear algebra (qr) is not computed on GPUs" in result.stderr, result.stderr


COLUMN_MAJOR = "operand_layouts = [dense<[0, 1]> : tensor<2xindex>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<> : tensor<0xindex>]"
REFUSALS = {
    "a routine that is not known": (
        '%r = stablehlo.custom_call @lapack_strsyl_ffi(%a) : (tensor<4x4xf32>) -> tensor<4x4xf32>', "@lapack_strsyl_ffi is not supported"),
    "a library of GPUs": (
        '%r = stablehlo.custom_call @cusolver_potrf_ffi(%a) : (tensor<4x4xf32>) -> tensor<4x4xf32>', "export the program for CPUs"),
    "a parameter that is missing": (
        '%r, %i = stablehlo.custom_call @lapack_spotrf_ffi(%a) {' + COLUMN_MAJOR + '} : (tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<i32>)',
        "unknown or no parameter 'uplo'"),
    "a parameter of another value": (
        '%r, %i = stablehlo.custom_call @lapack_spotrf_ffi(%a) {mhlo.backend_config = {uplo = 90 : ui8}, ' + COLUMN_MAJOR
        + '} : (tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<i32>)', "expected one of the characters LU"),
    "matrices in another layout": (
        '%r, %i = stablehlo.custom_call @lapack_spotrf_ffi(%a) {mhlo.backend_config = {uplo = 76 : ui8}, ' + COLUMN_MAJOR.replace("[0, 1]", "[1, 0]")
        + '} : (tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<i32>)', "expected column-major matrices"),
    "a result that is working memory": (
        '%r, %w, %u, %v, %i = stablehlo.custom_call @lapack_sgesdd_ffi(%a) {mhlo.backend_config = {mode = 78 : ui8}} : (tensor<4x4xf32>) -> '
        '(tensor<4x4xf32>, tensor<4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<i32>)', "which is working memory of the routine"),
    "a result of another shape": (
        '%r, %i = stablehlo.custom_call @lapack_spotrf_ffi(%a) {mhlo.backend_config = {uplo = 76 : ui8}, ' + COLUMN_MAJOR
        + '} : (tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<1xi32>)', "as result 1, expected"),
}


def cases():
    for name in sorted(file.name.removesuffix(".mlir.gz") for file in FOLDER.glob("*.mlir.gz")):
        yield name, lambda folder, name=name: check_values(folder, name)
    yield "bits for any threads", check_threads
    yield "a missing library", check_library
    yield "GPUs", check_cuda
    for name, (line, message) in REFUSALS.items():
        yield name, lambda folder, line=line, message=message: check_refusal(folder, line, message)


harness.main(list(cases()))
