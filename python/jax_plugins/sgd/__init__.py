"""The JAX plugin: with it installed, `JAX_PLATFORMS=sgd python train.py` compiles and runs a JAX program with sgd.

JAX finds the package in the namespace `jax_plugins` and calls `initialize()`, which registers `libsgd_pjrt.so` if `JAX_PLATFORMS`, or the setting
`jax_platforms`, names the platform: to install the package changes no other program. The library is beside this file, or at the path in `SGD_PJRT_LIBRARY`. `SGD_NUM_DEVICES=4` asks for four devices.
"""
import ctypes
import itertools
import os
import pathlib
import threading
import warnings

PLATFORM = "sgd"
TESTED_JAXLIB = ("0.10.2",)

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
        self._bytes += size
        return self._context


_reading = _ReadingContext()


def library_path():
    """The path of libsgd_pjrt.so."""
    return os.environ.get("SGD_PJRT_LIBRARY") or str(pathlib.Path(__file__).with_name("libsgd_pjrt.so"))


def _summands(sharding, meshes):
    """For each device, which summand it holds of a value with this sharding; empty for a value that is no sum over devices."""
    from jax._src.lib.mlir import ir
    from jax._src.lib.mlir.dialects import sdy

    if sharding is None:
        return []
    axes = [sdy.AxisRefAttr(axis).name for axis in sdy.TensorShardingAttr(sharding).unreduced_axes]
    if not axes:
        return []
    mesh = sdy.TensorShardingAttr(sharding).mesh_or_ref
    mesh = meshes[ir.FlatSymbolRefAttr(mesh).value] if str(mesh).startswith("@") else sdy.MeshAttr(mesh)
    names = [sdy.MeshAxisAttr(axis).name for axis in mesh.axes]
    sizes = [sdy.MeshAxisAttr(axis).size for axis in mesh.axes]
    summands = []
    for coordinates in itertools.product(*map(range, sizes)):
        summand = 0
        for name, size, coordinate in zip(names, sizes, coordinates):
            if name in axes:
                summand = summand * size + coordinate
        summands.append(summand)
    if list(mesh.device_ids):
        summands = [summand for _, summand in sorted(zip(mesh.device_ids, summands))]
    return summands


def _attributes(operation, name, count):
    """The dictionaries of attributes of a function's arguments or results."""
    from jax._src.lib.mlir import ir

    return list(ir.ArrayAttr(operation.attributes[name])) if name in operation.attributes else [{}] * count


def read_program(code):
    """Reads bytecode of versioned StableHLO: the module's name and text, its results' element types, and which arguments are donated."""
    from jax._src.lib.mlir import ir
    from jax._src.lib.mlir.dialects import hlo, sdy

    with _reading.lock, _reading.take(len(code)) as context, ir.Location.unknown(context):
        module = hlo.deserialize_portable_artifact(context, code)
        main = next(op for op in module.body.operations if op.operation.name == "func.func" and ir.StringAttr(op.operation.attributes["sym_name"]).value == "main")
        type_ = ir.FunctionType(ir.TypeAttr(main.operation.attributes["function_type"]).value)
        arguments, results = ([str(of.element_type) if isinstance(of, ir.RankedTensorType) else str(of) for of in types] for types in (type_.inputs, type_.results))
        donated = ["0"] * len(type_.inputs)
        meshes = {ir.StringAttr(op.operation.attributes["sym_name"]).value: sdy.MeshAttr(op.operation.attributes["mesh"]) for op in module.body.operations if op.operation.name == "sdy.mesh"}
        summands = {}
        for key, attribute, count in (("argument_summands", "arg_attrs", len(type_.inputs)), ("result_summands", "res_attrs", len(type_.results))):
            lists = [_summands(of["sdy.sharding"] if "sdy.sharding" in of else None, meshes) for of in _attributes(main.operation, attribute, count)]
            if any(lists):
                summands[key] = ";".join(",".join(map(str, numbers)) for numbers in lists)
        for i, attributes in enumerate(_attributes(main.operation, "arg_attrs", len(donated))):
            if "jax.buffer_donor" in attributes or "tf.aliasing_output" in attributes:
                donated[i] = "1"
        name = ir.StringAttr(module.operation.attributes["sym_name"]).value if "sym_name" in module.operation.attributes else "main"
        text = module.operation.get_asm(enable_debug_info=True)
    return {"name": name, "text": text, "argument_types": ",".join(arguments), "result_types": ",".join(results), "donated": ",".join(donated), **summands}


def _register_reader(library):
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


def _register_lowerings():
    """Lowers what JAX lowers differently for each platform, such as decompositions of matrices, as for its CPU backend."""
    from jax._src.interpreters import mlir

    rules = mlir._platform_specific_lowerings
    for primitive, rule in rules["cpu"].items():
        rules[PLATFORM].setdefault(primitive, rule)
    if PLATFORM not in mlir._platforms_with_donation:
        mlir._platforms_with_donation.append(PLATFORM)


def _client_options():
    """Further options of a client: where JAX's coordinator is, so that processes know through which network they reach each other."""
    from jax._src import distributed

    coordinator = distributed.global_state.coordinator_address
    return {} if coordinator is None else {"coordinator": coordinator}


def _is_wanted():
    import jax

    return PLATFORM in (jax.config.jax_platforms or "").split(",")


def initialize():
    """Registers the plugin, if it is asked for; JAX calls it before the first use of a device."""
    import jaxlib.version
    from jax._src import xla_bridge

    if not _is_wanted():
        return
    path = library_path()
    if not os.path.exists(path):
        if os.environ.get("SGD_PJRT_LIBRARY"):
            warnings.warn(f"SGD_PJRT_LIBRARY is {path}, which does not exist; the platform sgd is not available")
        return
    if jaxlib.version.__version__ not in TESTED_JAXLIB:
        warnings.warn(f"the sgd plugin is tested with jaxlib {', '.join(TESTED_JAXLIB)}, and this is {jaxlib.version.__version__}")
    _register_reader(ctypes.CDLL(path))
    xla_bridge.register_plugin(PLATFORM, priority=50, library_path=path, options=_client_options)
    _register_lowerings()
