"""What `cmake --install` leaves: tools that find each other and their plugins, man pages, completions and schemas; and a library that programs of others are built against: one in C
that serves a model answers as the model computes, and one that makes mistakes on purpose is told so."""
import json
import os
import pathlib
import socket
import subprocess

import numpy as np

import chain_model
import harness

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = pathlib.Path(os.environ["SGD_BUILD_DIR"]).resolve()
LAYERS, ROWS, WIDTH = 3, 6, 5
TOOLS = ("sgdc", "sgdrun", "sgd-inspect", "sgd-sim", "sgd-ckpt", "sgd-top", "sgd-plot")

MISTAKES = r"""
#include <stdio.h>
#include <string.h>

#include "sgd.h"

static int is(sgd_error* error, sgd_code code, const char* part) {
  const int fits = error != NULL && sgd_error_code(error) == code && strstr(sgd_error_message(error), part) != NULL;
  printf("%s: %s\n", fits ? "as expected" : "NOT EXPECTED", error == NULL ? "no error" : sgd_error_message(error));
  sgd_error_destroy(error);
  return fits ? 0 : 1;
}

int main(int count, char** arguments) {
  int faults = 0;
  sgd_program* program = (sgd_program*)arguments;
  faults += is(sgd_load("/nowhere/model.sgda", NULL, &program), SGD_NOT_FOUND, "/nowhere/model.sgda");
  faults += program != NULL;
  faults += is(sgd_load_bytes("no artifact", 11, NULL, &program), SGD_INVALID_ARGUMENT, "artifact in memory");
  faults += is(sgd_load(arguments[2], NULL, &program), SGD_FAILED_PRECONDITION, arguments[3]);
  sgd_options options = {.size = sizeof options, .program = "evil"};
  faults += is(sgd_load(arguments[1], &options, &program), SGD_NOT_FOUND, "evil");
  options.program = NULL;
  options.timeout_seconds = -1;
  faults += is(sgd_load(arguments[1], &options, &program), SGD_INVALID_ARGUMENT, "timeout_seconds");
  /* An older header, which had the size alone. */
  options.size = sizeof options.size;
  sgd_error* error = sgd_load(arguments[1], &options, &program);
  if (error != NULL) return 100;
  size_t position;
  faults += is(sgd_find_input(program, "y", &position), SGD_NOT_FOUND, "there is no input 'y'");
  faults += is(sgd_find_output(program, NULL, &position), SGD_NOT_FOUND, "there is no output ''");
  faults += is(sgd_run(program), SGD_FAILED_PRECONDITION, "has no value: set it");
  faults += is(sgd_set_input(program, 0, "1234", 4), SGD_INVALID_ARGUMENT, "given 4 bytes, it has 120");
  faults += is(sgd_set_input(program, 77, "1234", 4), SGD_INVALID_ARGUMENT, "input 77: the program has 4");
  faults += is(sgd_get_output(program, 1, arguments, 4), SGD_INVALID_ARGUMENT, "output 1: the program has 1");
  faults += is(sgd_read_file(program, arguments[1]), SGD_INVALID_ARGUMENT, arguments[1]);
  faults += sgd_input(program, 4) != NULL || sgd_output(program, 1) != NULL || sgd_has_input(program, 0);
  const sgd_tensor* x = sgd_input(program, 0);
  faults += strcmp(x->name, "x") != 0 || x->type != SGD_F32 || x->rank != 2 || x->dims[0] != 6 || x->dims[1] != 5 || x->bytes != 120 || x->carry != -1;
  sgd_destroy(program);
  sgd_destroy(NULL);
  sgd_error_destroy(NULL);
  return faults;
}
"""


def expected(x, weights):
    for w in weights:
        x = np.tanh(x * w)
    return x


def compile_model(folder, name, *args):
    (folder / "chain.mlir").write_text(chain_model.forward_text(LAYERS, ROWS, WIDTH))
    harness.tool("sgdc", folder / "chain.mlir", "-o", folder / name, *args)
    return folder / name


def build_example(folder, prefix, compiler, flags):
    """Builds examples/embedding, and beside it the program of MISTAKES, as a project of somebody else."""
    source = folder / "source"
    source.mkdir(parents=True)
    (source / "serve.c").write_text((ROOT / "examples" / "embedding" / "serve.c").read_text())
    (source / "mistakes.c").write_text(MISTAKES)
    lists = (ROOT / "examples" / "embedding" / "CMakeLists.txt").read_text()
    (source / "CMakeLists.txt").write_text(lists + "add_executable(mistakes mistakes.c)\ntarget_link_libraries(mistakes PRIVATE sgd::sgd)\n")
    run("cmake", "-S", source, "-B", folder / "built", f"-DCMAKE_PREFIX_PATH={prefix}", f"-DCMAKE_C_COMPILER={compiler}", f"-DCMAKE_C_FLAGS=-Wall -Wextra -Werror -Wno-unused-parameter -std=c11 -D_GNU_SOURCE {flags}")
    run("cmake", "--build", folder / "built")
    return folder / "built"


def ask(port, rows):
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        connection.sendall("".join(" ".join(f"{value:.9g}" for value in row) + "\n" for row in rows).encode())
        connection.shutdown(socket.SHUT_WR)
        with connection.makefile() as answers:
            return answers.read()


def check_server(folder, built, ranks):
    (folder / "recipe.json").write_text(json.dumps({"mesh": {"data": ranks}, "batch": "data", "rules": [{"tensor": "params*", "batch": None}]}))
    artifact = compile_model(folder, f"{ranks}.sgda", "--recipe", folder / "recipe.json")
    rng = np.random.default_rng(ranks)
    weights = rng.standard_normal((LAYERS, WIDTH)).astype(np.float32)
    harness.save(folder / "weights.safetensors", {f"params['w{i}']": weights[i] for i in range(LAYERS)})
    server = subprocess.Popen([built / "serve", artifact, folder / "weights.safetensors", "x", "result0", "0"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        line = server.stdout.readline()
        assert line.startswith(f"{ranks} ranks; listening at 127.0.0.1:"), line
        port = int(line.rsplit(":", 1)[1])
        for rows in (1, ROWS, 2 * ROWS + 1):
            x = rng.standard_normal((rows, WIDTH)).astype(np.float32)
            got = np.array([line.split() for line in ask(port, x).splitlines()], dtype=np.float32)
            np.testing.assert_allclose(got, expected(x, weights), rtol=2e-6, atol=1e-7)
        assert ask(port, [[1, 2]]) == "error: expected 5 numbers in each line\n"
        server.terminate()
        _, complaints = server.communicate(timeout=harness.TIMEOUT)
        assert server.returncode == 0 and not complaints, (server.returncode, complaints)
    finally:
        server.kill()
        server.wait()


def run(*command):
    result = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=harness.TIMEOUT)
    assert result.returncode == 0, f"{command}: {result.stdout}{result.stderr}"
    return result.stdout


def check_tools(prefix):
    for tool in TOOLS:
        assert run(prefix / "bin" / tool, "--version").startswith(f"{tool} "), tool
        assert f".TH {tool.upper()} 1" in (prefix / "share/man/man1" / f"{tool}.1").read_text()
        assert (prefix / "share/zsh/site-functions" / f"_{tool}").read_text().startswith(f"#compdef {tool}\n")
    for name in ("recipe", "topology"):
        assert "properties" in json.loads((prefix / "share/sgd/schemas" / f"{name}.schema.json").read_text())
    doctor = run(prefix / "bin/sgdc", "--doctor")
    assert f"running artifacts: {prefix.resolve()}/bin/sgdrun" in doctor, doctor
    if (BUILD / "lib/sgd/libsgd_ucx.so").exists():
        assert "there is no " + str(prefix.resolve() / "lib/sgd/libsgd_ucx.so") not in doctor, doctor


def check_library(prefix):
    """Exports the C interface and nothing else."""
    exported = run("nm", "-D", "--defined-only", *prefix.glob("lib/**/libsgd.so")).split()[2::3]
    assert exported and all(symbol.startswith("sgd_") for symbol in exported), [symbol for symbol in exported if not symbol.startswith("sgd_")][:5]


def completions(_):
    """Words that bash offers: choices of a flag, flags by their beginning, commands, folders."""
    for words, expected in ((["sgdrun", "--on-guard", ""], "stop skip"), (["sgdrun", "--save-w"], "--save-weights"), (["sgd-ckpt", "ver"], "verify"), (["sgdc", "--emit", "=", "sp"], "spmd"),
                            (["sgdrun", "--resume", "/us"], "/usr"), (["sgdrun", "--steps", ""], "")):
        script = ROOT / "docs/reference/completions/bash" / words[0]
        function = "_" + words[0].replace("-", "_")
        quoted = " ".join(f"'{word}'" for word in words)
        said = run("bash", "-c", f'source "{script}"; COMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}; {function}; echo "${{COMPREPLY[*]}}"')
        assert said.strip() == expected, (words, said)


def check_installed(folder):
    prefix = folder / "prefix"
    run("cmake", "--install", BUILD, "--prefix", prefix)
    check_tools(prefix)
    check_library(prefix)
    gpu = compile_model(folder, "gpu.sgda", "--target", "cuda:sm_90")
    lacks = "the NVIDIA driver" if (prefix / "lib/sgd/sgd_target_cuda.so").exists() else "target 'cuda' is not in this build"
    # The second build fails on any access outside of an object, and on memory that is left when it ends.
    for name, compiler, flags in (("plain", "cc", ""), ("sanitized", "clang-22", "-g -fsanitize=address,undefined -fno-sanitize-recover=all")):
        built = build_example(folder / name, prefix, compiler, flags)
        for ranks in (1, 3):
            check_server(folder, built, ranks)
        result = subprocess.run([built / "mistakes", folder / "1.sgda", gpu, lacks], capture_output=True, text=True, env={**os.environ, "SGD_CUDA_LIBRARIES_ONLY": "1"})
        assert result.returncode == 0, f"{name}: {result.stdout}{result.stderr}"


harness.main([("installed tools and library", check_installed), ("completions", completions)])
