"""Python functions that programs call while they run: those of jax.debug.print, jax.debug.callback, jax.pure_callback and io_callback.

A program names a function by a number, since it is text. The function lives as long as JAX may compile or run the program.
"""
import contextlib
import ctypes
import secrets
import threading
import traceback
import weakref

_kept = []  # callbacks that the library holds
_library = None


class _Tensor(ctypes.Structure):
    """SgdHostTensor of plugins/pjrt/host_calls.h."""

    _fields_ = [("dims", ctypes.POINTER(ctypes.c_uint64)), ("num_dims", ctypes.c_size_t), ("bytes", ctypes.c_void_p), ("size", ctypes.c_size_t)]


class _Functions:
    """The functions by number. Numbers of other processes mean nothing here, so they begin at a random one."""

    def __init__(self):
        self._lock = threading.Lock()
        self._functions = {}
        self._unused = set()  # whose lowered programs are gone; compiled ones may be left
        self._next = secrets.randbits(62)

    def add(self, function):
        """Returns the number of `function`, and an object that the lowered program holds."""
        self._collect()
        with self._lock:
            number, self._next = self._next, self._next + 1
            self._functions[number] = function
        holder = _Holder()
        weakref.finalize(holder, self._unused.add, number).atexit = False
        return number, holder

    def find(self, number):
        return self._functions.get(number)

    def _collect(self):
        with self._lock:
            for number in list(self._unused):
                if _library.sgd_pjrt_host_call_references(number) == 0:
                    self._unused.discard(number)
                    del self._functions[number]


class _Holder:
    """Held by a lowered program as long as it can be compiled."""


_functions = _Functions()


def _array(tensor, dtype):
    """A copy of a tensor: its memory belongs to the program."""
    import numpy as np

    data = ctypes.string_at(tensor.bytes, tensor.size) if tensor.size else b""
    return np.frombuffer(bytearray(data), dtype=dtype).reshape([tensor.dims[i] for i in range(tensor.num_dims)])


class _Carrier:
    """How values of an element type pass between a program and a function: artifacts have no complex or narrow numbers within a step."""

    def __init__(self, aval):
        import jax.numpy as jnp
        import numpy as np
        from jax._src import dtypes

        self.shape, self.dtype = tuple(aval.shape), np.dtype(aval.dtype)
        name = self.dtype.name
        self.is_complex = self.dtype.kind == "c"
        if self.is_complex:
            self.carried = np.dtype(np.float32 if name == "complex64" else np.float64)
        elif name in ("int2", "int4"):
            self.carried = np.dtype(np.int8)
        elif name in ("uint2", "uint4"):
            self.carried = np.dtype(np.uint8)
        elif name.startswith("float") and self.dtype.itemsize == 1 and dtypes.issubdtype(self.dtype, jnp.floating):
            self.carried = np.dtype(np.float32)
        else:
            self.carried = self.dtype

    def lower_operand(self, value):
        """The values that a program passes for `value`."""
        from jax._src.lib.mlir.dialects import hlo

        if self.is_complex:
            return [hlo.real(value), hlo.imag(value)]
        return [value if self.carried == self.dtype else hlo.convert(self._type(self.carried), value)]

    def lower_result(self, values):
        """The value of what the function returned."""
        from jax._src.lib.mlir.dialects import hlo

        if self.is_complex:
            return hlo.complex(*values)
        return values[0] if self.carried == self.dtype else hlo.convert(self._type(self.dtype), values[0])

    def types(self):
        return [self._type(self.carried)] * (2 if self.is_complex else 1)

    def _type(self, dtype):
        from jax._src.interpreters import mlir
        from jax._src.lib.mlir import ir

        return ir.RankedTensorType.get(self.shape, mlir.dtype_to_ir_type(dtype))

    def read(self, tensors):
        """The array that the next of `tensors` hold, with the shape of the tensors: a shard may be smaller."""
        real = _array(next(tensors), self.carried)
        if self.is_complex:
            return (real + 1j * _array(next(tensors), self.carried)).astype(self.dtype)
        return real.astype(self.dtype, copy=False)

    def write(self, value, tensors):
        import numpy as np

        for part in (value.real, value.imag) if self.is_complex else (value,):
            data = np.ascontiguousarray(part, dtype=self.carried).tobytes()
            tensor = next(tensors)
            if len(data) != tensor.size:
                raise RuntimeError(f"a result has {len(data)} bytes; expected {tensor.size}")
            if data:
                ctypes.memmove(tensor.bytes, data, len(data))


@contextlib.contextmanager
def _as_on_another_thread():
    """XLA's backends call on threads of their own, where nothing is traced and no mesh is set."""
    from jax._src import config, core, mesh

    with core.eval_context():
        abstract = config.abstract_mesh_context_manager.swap_local(mesh.empty_abstract_mesh)
        concrete = config.device_context.swap_local(mesh.empty_concrete_mesh)
        try:
            yield
        finally:
            config.device_context.set_local(concrete)
            config.abstract_mesh_context_manager.set_local(abstract)


class _Function:
    """A Python function, and how its arguments and results pass."""

    def __init__(self, callback, operands, results):
        self.callback, self.operands, self.results = callback, operands, results

    def call(self, inputs, outputs):
        import numpy as np
        from jax._src import dtypes

        tensors = iter(inputs)
        with _as_on_another_thread():
            returned = self.callback(*[operand.read(tensors) for operand in self.operands])
        if len(returned) != len(self.results):
            raise RuntimeError(f"the function returned {len(returned)} values; expected {len(self.results)}")
        tensors = iter(outputs)
        for index, (value, result) in enumerate(zip(returned, self.results)):
            value = np.asarray(dtypes.canonicalize_value(np.asarray(value)))  # some versions wrap arrays
            if value.shape != result.shape or value.dtype != result.dtype:
                raise RuntimeError(f"value {index} that the function returned is {value.dtype}{list(value.shape)}; expected {result.dtype}{list(result.shape)}, as result_shape_dtypes says")
            result.write(value, tensors)


def register_handler(library):
    """Gives the library the function that its programs call."""
    global _library
    _library = library
    handler_type = ctypes.CFUNCTYPE(None, ctypes.c_uint64, ctypes.c_uint32, ctypes.POINTER(_Tensor), ctypes.c_size_t, ctypes.POINTER(_Tensor), ctypes.c_size_t, ctypes.c_void_p)
    library.sgd_pjrt_fail.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t]
    library.sgd_pjrt_fail.restype = None
    library.sgd_pjrt_host_call_references.argtypes = [ctypes.c_uint64]
    library.sgd_pjrt_host_call_references.restype = ctypes.c_uint64

    def fail(result, message):
        message = message.encode(errors="replace")
        library.sgd_pjrt_fail(result, message, len(message))

    def handle(number, rank, inputs, num_inputs, outputs, num_outputs, result):
        try:
            function = _functions.find(number)
            if function is None:
                fail(result, "the function belongs to another process, where the program was compiled; compile the program anew")
            else:
                function.call(inputs[:num_inputs], outputs[:num_outputs])
        except BaseException as error:  # It must not leave a callback of C.
            # The exception first, since messages of ranks are cut where they are long.
            fail(result, "".join([*traceback.format_exception_only(error), *traceback.format_exc()]))

    handler = handler_type(handle)
    _kept.append(handler)
    library.sgd_pjrt_set_host_call_handler(handler)


def _is_of_each_rank(context):
    """Whether ranks have values of their own where the program is lowered: in shard_map and pmap."""
    from jax._src import sharding_impls

    kinds = [getattr(sharding_impls, name) for name in ("SPMDAxisContext", "ReplicaAxisContext") if hasattr(sharding_impls, name)]
    return isinstance(context.module_context.axis_context, tuple(kinds))


def _name_of(context):
    """What the user called, for messages: jax.debug.print for the primitive debug_print."""
    return f"jax.{context.primitive.name}".replace("debug_", "debug.") if context.primitive else "a Python callback"


def emit_host_call(context, callback, token, operands, operand_avals, result_avals, *, has_side_effect, returns_token=True, partitioned=False, sharding=None):
    """Lowers a call of `callback`, as jax._src.callback.emit_python_callback does for XLA's backends.

    Where ranks share one program, rank 0 calls with whole values; `sharding`, the rank that XLA would call on, is not needed. With `partitioned`, ranks call with their shards.
    """
    from jax._src.interpreters import mlir
    from jax._src.lib.mlir import ir
    from jax._src.lib.mlir.dialects import hlo

    if partitioned and result_avals:
        raise ValueError("a partitioned callback has results; expected none; return the values from the program")
    function = _Function(callback, [_Carrier(aval) for aval in operand_avals], [_Carrier(aval) for aval in result_avals])
    number, holder = _functions.add(function)
    context.module_context.add_keepalive(holder)
    values = [part for carrier, operand in zip(function.operands, operands) for part in carrier.lower_operand(operand)]
    types = [type_ for carrier in function.results for type_ in carrier.types()]
    tokens = [token] if token else []
    config = {"id": ir.IntegerAttr.get(ir.IntegerType.get_signless(64), number), "name": ir.StringAttr.get(_name_of(context)),
              "each_rank": ir.BoolAttr.get(partitioned or _is_of_each_rank(context))}
    call = mlir.custom_call("sgd.host_call", result_types=[hlo.TokenType.get()] * len(tokens) + types, operands=tokens + values, backend_config=config, has_side_effect=True)
    returned = iter(call.results)
    if tokens:
        token = next(returned)
    results = [carrier.lower_result([next(returned) for _ in carrier.types()]) for carrier in function.results]
    return results, token, holder


class _Devices:
    """The module `xla_bridge` as callbacks see it, which put their arguments on a device of JAX's CPU backend: without that backend, on the first device of this one."""

    def __init__(self, bridge, platform):
        self._bridge, self._platform = bridge, platform

    def __getattr__(self, name):
        return getattr(self._bridge, name)

    def local_devices(self, *arguments, backend=None, **keywords):
        if backend == "cpu" and "cpu" not in self._bridge.backends() and self._platform in self._bridge.backends():
            backend = self._platform
        return self._bridge.local_devices(*arguments, backend=backend, **keywords)


def register_lowerings(platform):
    """Lowers calls of Python functions for `platform`; other platforms keep JAX's lowering."""
    from jax._src import callback, debugging, xla_bridge

    emit = callback.emit_python_callback

    def emit_python_callback(context, *arguments, **keywords):
        if tuple(context.module_context.platforms) == (platform,):
            return emit_host_call(context, *arguments, **keywords)
        return emit(context, *arguments, **keywords)

    callback.emit_python_callback = emit_python_callback
    devices = _Devices(xla_bridge, platform)
    callback.xb = debugging.xla_bridge = devices
