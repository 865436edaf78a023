"""What the compiler reports, as objects."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from sgd import html


class Record(Mapping):
    """A JSON object whose fields are attributes: `report.memory.peak` is `report["memory"]["peak"]`."""

    def __init__(self, fields: Mapping[str, Any], text: str = ""):
        self._fields = {name: wrap(value) for name, value in fields.items()}
        self._text = text

    def __getitem__(self, name: str) -> Any:
        return self._fields[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._fields)

    def __len__(self) -> int:
        return len(self._fields)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in self._fields:
            raise AttributeError(f"there is no field '{name}'; expected one of {', '.join(self._fields)}")
        return self._fields[name]

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._fields]

    def to_dict(self) -> dict[str, Any]:
        """Plain dictionaries and lists, as in the JSON file of `sgdc`."""
        return {name: unwrap(value) for name, value in self._fields.items()}

    def __str__(self) -> str:
        return self._text or json.dumps(self.to_dict(), indent=2)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.to_dict()!r})"

    def _repr_html_(self) -> str:
        return html.text(str(self))


class Records(tuple):
    """Several records, and the text that the command prints about all of them."""

    _text: str = ""

    @classmethod
    def of(cls, values: Any, text: str) -> "Records":
        records = cls(wrap(value) for value in values)
        records._text = text
        return records

    def to_list(self) -> list[Any]:
        """Plain dictionaries and lists, as in the JSON file of `sgdc`."""
        return [unwrap(value) for value in self]

    def __str__(self) -> str:
        return self._text or json.dumps(self.to_list(), indent=2)

    def __repr__(self) -> str:
        return f"<sgd.Records: {len(self)} record{'' if len(self) == 1 else 's'}>"

    def _repr_html_(self) -> str:
        return html.text(self._text) if self._text else html.records(self)


def wrap(value: Any) -> Any:
    if isinstance(value, Mapping):
        return Record(value)
    return [wrap(item) for item in value] if isinstance(value, (list, tuple)) else value


def unwrap(value: Any) -> Any:
    if isinstance(value, Record):
        return value.to_dict()
    return [unwrap(item) for item in value] if isinstance(value, list) else value


def read(text: str, printed: str) -> Any:
    """The record or records of a JSON text; `printed` is the command's text about them."""
    value = json.loads(text)
    return Records.of(value, printed) if isinstance(value, list) else Record(value, printed)
