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
NARROW = {"int2": "int8", "int4": "int8", "uint2": "uint8", "uint4": "uint8"}
"""Types that take a byte in artifacts."""
KINDS = {"b": 1, "u": 2, "i": 2, "f": 3, "c": 4, "O": 5, "U": 5, "S": 5}
"""NumPy's kinds of types, in an order in which each holds those before; its kind of bfloat16 is that of none of them."""


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


def jax_type_text(leaf: Any) -> str:
    """The type that an argument or a result of JAX has in artifacts."""
    import jax

    if jax.dtypes.issubdtype(leaf.dtype, jax.dtypes.prng_key):
        leaf = jax.eval_shape(jax.random.key_data, jax.ShapeDtypeStruct(leaf.shape, leaf.dtype))
    return type_text(NARROW.get(leaf.dtype.name, leaf.dtype.name), leaf.shape)


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
        return np.from_dlpack(value) if is_on_host(value) else of_device(value)
    return np.asarray(value)


def refuse_masks(value: Any, what: str) -> None:
    if isinstance(value, np.ma.MaskedArray):
        raise InputError(f"{what} is a masked array, whose mask would be lost; expected an array; fill it")


def of_python(value: Any, dtype: np.dtype) -> np.ndarray:
    """Numbers and lists of Python as elements of `dtype`; no float becomes an integer, and no number a boolean."""
    found = np.asarray(value)
    if found.size and KINDS.get(found.dtype.kind, 0) > KINDS.get(dtype.kind, KINDS["f"]):
        raise TypeError(f"it has elements of type {found.dtype.name}")
    return np.asarray(value, dtype=dtype)


def is_on_host(value: Any) -> bool:
    """Whether the host reads an array's memory by address: device types 1 and 3 of DLPack."""
    return int(getattr(value, "__dlpack_device__", lambda: (1, 0))()[0]) in (1, 3)


def of_device(value: Any) -> np.ndarray:
    """A copy of an array of a GPU, which its library makes where it can."""
    try:
        return np.from_dlpack(value, device="cpu", copy=True)
    except (TypeError, ValueError, BufferError, RuntimeError) as error:
        kind, number = value.__dlpack_device__()
        raise InputError(f"an array of {type(value).__module__} is on device {number} of DLPack's type {int(kind)}, and its library does not copy it: {error}; "
                         "expected an array of the host; copy it, as by numpy.asarray(x), x.cpu() or x.get()") from None


def bytes_of(value: Any, element: str, shape: tuple[int, ...], what: str, narrows: bool = False) -> Any:
    """The bytes of an array as a flat buffer. Python's numbers and lists take the element type of the program."""
    expected = DTYPES[element]
    if is_torch(value):
        dtype, found, data = of_torch(value)
        if dtype == expected and found == tuple(shape):
            return data
        raise InputError(f"{what} is {type_text(dtype, found)}; expected {type_text(expected, shape)}; convert it")
    refuse_masks(value, what)
    has_type = hasattr(value, "dtype") or hasattr(value, "__dlpack__") or hasattr(value, "__array_interface__")
    try:
        array = to_numpy(value) if has_type else of_python(value, numpy_dtype(element))
    except (TypeError, ValueError, OverflowError, BufferError) as error:
        raise InputError(f"{what} cannot be read as {type_text(expected, shape)}: {error}") from None
    if narrows and expected in (NARROW.get(array.dtype.name), NARROWED.get(array.dtype.name)):
        array = array.astype(numpy_dtype(element))
    if array.dtype != numpy_dtype(element) or array.shape != tuple(shape):
        found = array.dtype.name if array.dtype.isnative else array.dtype.str
        raise InputError(f"{what} is {type_text(found, array.shape)}; expected {type_text(expected, shape)}; convert it")
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


def of_jax(array: np.ndarray, dtype: Any) -> Any:
    """An array of JAX with the type that it has in the program: keys of random numbers and narrow integers are wider in artifacts."""
    import jax

    if jax.dtypes.issubdtype(dtype, jax.dtypes.prng_key):
        return jax.random.wrap_key_data(of_framework(array, "jax"), impl=dtype._impl.name)
    return of_framework(array.astype(dtype) if dtype.name in NARROW else array, "jax")


def of_file(element: str, shape: Any, data: Any) -> np.ndarray:
    """A tensor of a file: `data` are its bytes."""
    return np.frombuffer(data, dtype=np.uint8).view(numpy_dtype(element)).reshape(tuple(shape))


def element_of(value: Any, what: str) -> tuple[str, tuple[int, ...], Any]:
    """Element type, shape and bytes of an array as it is."""
    if is_torch(value):
        dtype, shape, data = of_torch(value)
    else:
        refuse_masks(value, what)
        array = to_numpy(value)
        array = array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))
        dtype, shape, data = array.dtype.name, array.shape, np.ascontiguousarray(array).reshape(-1)
        data = data.view(np.uint8) if dtype in ELEMENTS else data
    return element_name(dtype, what), tuple(shape), data


def element_name(dtype: str, what: str) -> str:
    """The artifact's name of a type that NumPy calls `dtype`."""
    if dtype not in ELEMENTS:
        raise InputError(f"{what} has elements of type {dtype}; expected one of {', '.join(sorted(ELEMENTS))}; convert it")
    return ELEMENTS[dtype]
