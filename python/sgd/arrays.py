"""Arrays of NumPy, JAX and PyTorch as bytes, and back. Memory is shared where layout and type agree."""

import sys
from typing import Any

import numpy as np

from sgd.errors import InputError

DTYPES = {
    "bool": "bool",
    "i8": "int8",
    "i16": "int16",
    "i32": "int32",
    "i64": "int64",
    "u8": "uint8",
    "u16": "uint16",
    "u32": "uint32",
    "u64": "uint64",
    "f16": "float16",
    "bf16": "bfloat16",
    "f32": "float32",
    "f64": "float64",
    "f8e4m3fn": "float8_e4m3fn",
    "f8e5m2": "float8_e5m2",
    "c64": "complex64",
}
"""NumPy's names of the element types of artifacts."""
ELEMENTS = {dtype: element for element, dtype in DTYPES.items()}
NARROWED = {"float64": "float32", "int64": "int32", "uint64": "uint32", "complex128": "complex64"}
"""Types that JAX narrows without being asked."""


def numpy_dtype(element: str) -> np.dtype:
    name = DTYPES[element]
    try:
        return np.dtype(name)
    except TypeError:
        import ml_dtypes  # bfloat16 and 8-bit floats, which come with JAX

        return np.dtype(getattr(ml_dtypes, name))


def is_torch(value: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def type_text(dtype: str, shape: Any) -> str:
    return f"{dtype}[{','.join(str(size) for size in shape)}]"


def of_torch(tensor: Any) -> tuple[str, tuple[int, ...], Any]:
    import torch

    tensor = tensor.detach().cpu().contiguous()
    dtype = str(tensor.dtype).removeprefix("torch.")
    return dtype, tuple(tensor.shape), tensor.reshape(-1).view(torch.uint8).numpy()


def to_numpy(value: Any) -> np.ndarray:
    if hasattr(value, "dtype") and hasattr(value, "sharding"):  # of JAX
        import jax

        if jax.dtypes.issubdtype(value.dtype, jax.dtypes.prng_key):
            value = jax.random.key_data(value)
    elif not isinstance(value, np.ndarray) and hasattr(value, "__dlpack__"):
        return np.from_dlpack(value)
    return np.asarray(value)


def bytes_of(value: Any, element: str, shape: tuple[int, ...], what: str, narrows: bool = False) -> Any:
    """The bytes of an array as a flat buffer. Python's numbers and lists take the element type of the program."""
    expected = DTYPES[element]
    if is_torch(value):
        dtype, found, data = of_torch(value)
        if dtype == expected and found == tuple(shape):
            return data
        raise InputError(f"{what} is {type_text(dtype, found)}; expected {type_text(expected, shape)}; convert it")
    has_type = hasattr(value, "dtype") or hasattr(value, "__dlpack__") or hasattr(value, "__array_interface__")
    try:
        array = to_numpy(value) if has_type else np.asarray(value, dtype=numpy_dtype(element))
    except (TypeError, ValueError, OverflowError, BufferError) as error:
        raise InputError(f"{what} cannot be read as {type_text(expected, shape)}: {error}") from None
    if narrows and NARROWED.get(array.dtype.name) == expected:
        array = array.astype(numpy_dtype(element))
    if array.dtype.name != expected or array.shape != tuple(shape):
        raise InputError(f"{what} is {type_text(array.dtype.name, array.shape)}; expected {type_text(expected, shape)}; convert it")
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)


def empty(element: str, shape: tuple[int, ...]) -> np.ndarray:
    """Memory aligned to 64 bytes, which JAX takes without a copy."""
    dtype = numpy_dtype(element)
    count = int(np.prod(shape, dtype=np.int64))
    memory = np.empty(count * dtype.itemsize + 64, np.uint8)
    begin = -memory.ctypes.data % 64
    return memory[begin : begin + count * dtype.itemsize].view(dtype).reshape(shape)


def as_bytes(array: np.ndarray) -> np.ndarray:
    return array.reshape(-1).view(np.uint8)


def of_framework(array: np.ndarray, framework: str) -> Any:
    """An array of JAX or a tensor of PyTorch over the same memory, or `array` itself."""
    if framework == "jax":
        import jax
        import jax.numpy

        try:
            return jax.dlpack.from_dlpack(array)
        except (TypeError, ValueError, RuntimeError, BufferError):  # types that NumPy has no DLPack of
            return jax.numpy.asarray(array)
    if framework == "torch":
        import torch

        dtype = getattr(torch, DTYPES[ELEMENTS[array.dtype.name]])
        return torch.frombuffer(as_bytes(array), dtype=torch.uint8).view(dtype).reshape(array.shape) if array.size else torch.empty(array.shape, dtype=dtype)
    return array


def of_file(element: str, shape: Any, data: Any) -> np.ndarray:
    """A tensor of a file: `data` are its bytes."""
    return np.frombuffer(data, dtype=np.uint8).view(numpy_dtype(element)).reshape(tuple(shape))


def element_of(value: Any, what: str) -> tuple[str, tuple[int, ...], Any]:
    """Element type, shape and bytes of an array as it is."""
    if is_torch(value):
        dtype, shape, data = of_torch(value)
    else:
        array = to_numpy(value)
        dtype, shape, data = array.dtype.name, array.shape, np.ascontiguousarray(array).reshape(-1)
        data = data.view(np.uint8) if dtype in ELEMENTS else data
    if dtype not in ELEMENTS:
        raise InputError(f"{what} has elements of type {dtype}; expected one of {', '.join(sorted(ELEMENTS))}; convert it")
    return ELEMENTS[dtype], tuple(shape), data
