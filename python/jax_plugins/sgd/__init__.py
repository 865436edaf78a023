"""The JAX plugin: with it installed, `JAX_PLATFORMS=sgd python train.py` compiles and runs a JAX program with sgd.

JAX finds the package in the namespace `jax_plugins` and calls `initialize()`, which registers `libsgd_pjrt.so` if `JAX_PLATFORMS`, or the setting
`jax_platforms`, names the platform: to install the package changes no other program. The library is beside this file, or at the path in `SGD_PJRT_LIBRARY`. `SGD_NUM_DEVICES=4` asks for four devices.
"""
import collections
import ctypes
import os
import pathlib
import warnings

from jax_plugins.sgd import host_calls, programs

PLATFORM = "sgd"
TESTED_JAXLIB = ("0.9.2", "0.10.1", "0.10.2")


def library_path():
    """The path of libsgd_pjrt.so."""
    return os.environ.get("SGD_PJRT_LIBRARY") or str(pathlib.Path(__file__).with_name("libsgd_pjrt.so"))


def _register_lowerings():
    """Lowers what JAX lowers differently for each platform, such as decompositions of matrices, as for its CPU backend.

    So are primitives that programs define later with a lowering for that backend alone."""
    from jax._src.interpreters import mlir

    rules = mlir._platform_specific_lowerings
    rules[PLATFORM] = collections.ChainMap(rules[PLATFORM], rules["cpu"])
    host_calls.register_lowerings(PLATFORM)
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
        named = f"SGD_PJRT_LIBRARY is {path}, which" if os.environ.get("SGD_PJRT_LIBRARY") else f"{path}"
        warnings.warn(f"{named} does not exist; the platform sgd is not available; set SGD_PJRT_LIBRARY to the path of libsgd_pjrt.so")
        return
    if jaxlib.version.__version__ not in TESTED_JAXLIB:
        warnings.warn(f"the sgd plugin is tested with jaxlib {', '.join(TESTED_JAXLIB)}, and this is {jaxlib.version.__version__}")
    library = ctypes.CDLL(path)
    programs.register_reader(library)
    host_calls.register_handler(library)
    xla_bridge.register_plugin(PLATFORM, priority=50, library_path=path, options=_client_options)
    _register_lowerings()
