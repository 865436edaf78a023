"""Options of calls as flags of the commands."""

import os
from collections.abc import Mapping
from typing import Any

from sgd.errors import UsageError


def of_option(name: str, value: Any) -> list[str]:
    """`--name=value`, with `-` for `_`; a list gives a flag for each item."""
    flag = "--" + name.replace("_", "-")
    if value is None or value is False:
        return []
    if value is True:
        return [flag]
    if isinstance(value, (list, tuple)):
        return [text for item in value for text in of_option(name, item)]
    if isinstance(value, Mapping):
        value = ",".join(f"{key}={item}" for key, item in value.items())
    if value == "":
        raise UsageError(f"{flag} is empty; expected a value; leave {name} out")
    return [f"{flag}={os.fspath(value) if isinstance(value, os.PathLike) else value}"]
