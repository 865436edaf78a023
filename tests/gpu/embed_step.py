"""Trains by the C interface, ranks being threads of this process: `embed_step.py LIBRARY ARTIFACT FOLDER STEPS` prints the losses and what a program
on GPUs has to keep. FOLDER has inputs.safetensors and batches.safetensors."""
import ctypes
import json
import pathlib
import sys

import compare_tensors
import numpy as np


class Tensor(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("type", ctypes.c_int), ("rank", ctypes.c_uint32), ("dims", ctypes.POINTER(ctypes.c_int64)), ("bytes", ctypes.c_uint64),
                ("carry", ctypes.c_int64)]


class SgdError(Exception):
    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


def open_library(path):
    library = ctypes.CDLL(str(path))
    for name in ("load", "run", "carry", "restart", "set_input", "get_output", "get_input", "find_input"):
        getattr(library, f"sgd_{name}").restype = ctypes.c_void_p
    library.sgd_error_message.restype = ctypes.c_char_p
    for name in ("input", "output"):
        getattr(library, f"sgd_{name}").restype = ctypes.POINTER(Tensor)
    return library


class Program:
    """A loaded artifact. Output 0 is the loss, output 1 the next value of input 0."""

    def __init__(self, library, path):
        self.library, self.handle = open_library(library), ctypes.c_void_p()
        self.check(self.library.sgd_load(str(path).encode(), None, ctypes.byref(self.handle)))

    def check(self, error):
        if not error:
            return
        error = ctypes.c_void_p(error)
        raised = SgdError(self.library.sgd_error_code(error), self.library.sgd_error_message(error).decode())
        self.library.sgd_error_destroy(error)
        raise raised

    def call(self, name, *args):
        self.check(getattr(self.library, f"sgd_{name}")(self.handle, *args))

    def set(self, name, array):
        position = ctypes.c_size_t()
        self.call("find_input", name.encode(), ctypes.byref(position))
        array = np.ascontiguousarray(array)
        self.call("set_input", position, array.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(array.nbytes))

    def read(self, what, position):
        info = getattr(self.library, f"sgd_{what}")(self.handle, ctypes.c_size_t(position)).contents
        array = np.zeros([info.dims[i] for i in range(info.rank)], np.float32)
        self.call(f"get_{what}", ctypes.c_size_t(position), array.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(info.bytes))
        return array

    def close(self):
        self.library.sgd_destroy(self.handle)

    def start(self, folder):
        for name, (_, array) in compare_tensors.load(folder / "inputs.safetensors").items():
            self.set(name, array)

    def step(self, number, batches):
        """The loss of a step whose state stays on the GPUs."""
        for name, array in batches.items():
            if name.startswith(f"step{number}."):
                self.set(name.removeprefix(f"step{number}."), array)
        self.call("run")
        loss, state = float(self.read("output", 0)), self.read("output", 1)
        self.call("carry")
        np.testing.assert_array_equal(self.read("input", 0), state)
        return loss


def read_batches(folder):
    return {name: array for name, (_, array) in compare_tensors.load(folder / "batches.safetensors").items()}


def main():
    library, artifact, folder, steps = sys.argv[1:]
    program, batches = Program(library, artifact), read_batches(pathlib.Path(folder))
    program.start(pathlib.Path(folder))
    print(json.dumps([program.step(number, batches) for number in range(int(steps))]))
    program.close()


if __name__ == "__main__":
    main()
