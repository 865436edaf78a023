"""Reads JAX's programs: bytecode of versioned StableHLO becomes text, with what the plugin must know of arguments and results."""
import ctypes
import threading

_kept = []  # callbacks that the library holds


class _ReadingContext:
    """The MLIR context that programs are read in. It stays, since loading the dialects takes ten times longer than reading a small program.

    It keeps the attributes and locations of all programs, so a new one follows after enough bytes.
    """

    MOST_BYTES = 1 << 24

    def __init__(self):
        self.lock = threading.Lock()  # of all reading, since the contexts of JAX are of one thread
        self._context = None
        self._bytes = 0

    def take(self, size):
        """The context for a program of `size` bytes. Under the lock."""
        from jax._src.interpreters import mlir

        if self._context is None or self._bytes > self.MOST_BYTES:
            self._context, self._bytes = mlir.make_ir_context(), 0
            self._context.allow_unregistered_dialects = True  # for the compiler's attributes
        self._bytes += size
        return self._context


_reading = _ReadingContext()


def _attributes(operation, name, count):
    """The dictionaries of attributes of a function's arguments or results."""
    from jax._src.lib.mlir import ir

    return list(ir.ArrayAttr(operation.attributes[name])) if name in operation.attributes else [{}] * count


def _memories(attributes):
    """The kinds of memory of a function's arguments or results, as JAX asks for them; empty texts where it does not."""
    from jax._src.lib.mlir import ir

    return ",".join(ir.StringAttr(of["mhlo.memory_kind"]).value if "mhlo.memory_kind" in of else "" for of in attributes)


def read_program(code):
    """Reads bytecode of versioned StableHLO: the module's name and text, types, memories and donation of its arguments and results."""
    from jax._src.lib.mlir import ir
    from jax._src.lib.mlir.dialects import hlo

    with _reading.lock, _reading.take(len(code)) as context, ir.Location.unknown(context):
        module = hlo.deserialize_portable_artifact(context, code)
        main = next(op for op in module.body.operations if op.operation.name == "func.func" and ir.StringAttr(op.operation.attributes["sym_name"]).value == "main")
        type_ = ir.FunctionType(ir.TypeAttr(main.operation.attributes["function_type"]).value)
        arguments, results = ([str(of.element_type) if isinstance(of, ir.RankedTensorType) else str(of) for of in types] for types in (type_.inputs, type_.results))
        donated = ["0"] * len(type_.inputs)
        found = {}
        for what, attribute, count in (("argument", "arg_attrs", len(type_.inputs)), ("result", "res_attrs", len(type_.results))):
            found[f"{what}_memories"] = _memories(_attributes(main.operation, attribute, count))
        for i, attributes in enumerate(_attributes(main.operation, "arg_attrs", len(donated))):
            if "jax.buffer_donor" in attributes or "tf.aliasing_output" in attributes:
                donated[i] = "1"
        main.operation.attributes["sgd.even_results"] = ir.UnitAttr.get()
        if "1" not in donated:
            # No result is the next step's argument, so none takes an argument's sharding.
            main.operation.attributes["sgd.carry_is_known"] = ir.UnitAttr.get()
        name = ir.StringAttr(module.operation.attributes["sym_name"]).value if "sym_name" in module.operation.attributes else "main"
        text = module.operation.get_asm(enable_debug_info=True)
    return {"name": name, "text": text, "argument_types": ",".join(arguments), "result_types": ",".join(results), "donated": ",".join(donated), **found}


def register_reader(library):
    """Gives the library a function that reads bytecode, since it has no reader of versioned StableHLO of its own."""
    from jax._src.lib.mlir.dialects import hlo

    library.sgd_pjrt_put.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_size_t]
    library.sgd_pjrt_put.restype = None
    reader_type = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p)

    def put(result, key, value):
        value = value.encode()
        library.sgd_pjrt_put(result, key.encode(), value, len(value))

    def read(code, size, result):
        try:
            for key, value in read_program(ctypes.string_at(code, size)).items():
                put(result, key, value)
        except Exception as error:  # It must not leave a callback of C.
            put(result, "error", f"cannot read the program: {type(error).__name__}: {error}")

    version = (ctypes.c_int64 * 3)(*(int(part) for part in hlo.get_current_version().split(".")))
    reader = reader_type(read)
    _kept.append(reader)
    library.sgd_pjrt_set_reader(reader, version)
