"""Packages that some functions need."""

import importlib.util

from sgd.errors import MissingPackageError


def need(module: str, package: str, use: str) -> None:
    """Refuses, with the command that installs it, where a module is not there."""
    try:
        found = importlib.util.find_spec(module)
    except ModuleNotFoundError:  # the package around the module
        found = None
    if found is None:
        raise MissingPackageError(f"there is no package '{package}', which {use} need; install it: pip install {package}")
