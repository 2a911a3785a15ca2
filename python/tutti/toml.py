"""TOML of plain values, which Python reads (`tomllib`) and can't write."""

from __future__ import annotations

import json
import re
from typing import Any, Mapping

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else json.dumps(key, ensure_ascii=False)


def _value(value: Any, key: str = "") -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int) and key in ("size", "sizes"):  # of bytes
        return f'"{value}B"'
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_key(k)} = {_value(v, k)}" for k, v in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_value(item, key) for item in value) + "]"
    if hasattr(value, "item"):  # of NumPy
        return _value(value.item(), key)
    raise TypeError(f"{key}: TOML has no {type(value).__name__}")


def _is_tables(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and bool(value) and all(isinstance(v, Mapping) for v in value)


def _lines(table: Mapping[str, Any]) -> str:
    return "".join(f"{_key(k)} = {_value(v, k)}\n" for k, v in table.items() if v is not None)


def dumps(content: Mapping[str, Any]) -> str:
    """Text that `tomllib.loads` reads back as the same; None is left out. Ints of the keys `size` and
    `sizes` are bytes, which get their unit. Errors: TypeError with the key."""
    text = _lines({k: v for k, v in content.items() if not isinstance(v, Mapping) and not _is_tables(v)})
    for key, value in content.items():
        if isinstance(value, Mapping):
            text += f"\n[{_key(key)}]\n" + _lines(value)
        elif _is_tables(value):
            text += "".join(f"\n[[{_key(key)}]]\n" + _lines(table) for table in value)
    return text
