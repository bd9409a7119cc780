"""Write keys and values as TOML.

Enters: names and values, also hostile ones. Leaves: text that tomllib reads back as the same.
Never: lays out a file; who writes one decides that.
"""

from __future__ import annotations

import json
from typing import Any


def toml_key(name: str) -> str:
    """Returns a name as a key of TOML, quoted where TOML wants that."""
    is_bare = name.isascii() and name.replace("_", "").replace("-", "").isalnum()
    return name if is_bare else toml_literal(name)


def toml_literal(value: Any) -> str:
    """Returns the TOML text of a value, with tables inline."""
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return "".join(map(_visible, json.dumps(value, ensure_ascii=False)))
        case list() | tuple():
            return f"[{', '.join(toml_literal(one) for one in value)}]"
        case dict():
            inner = ", ".join(f"{toml_key(n)} = {toml_literal(v)}" for n, v in value.items())
            return f"{{ {inner} }}" if inner else "{}"
        case _:
            return str(value)


def _visible(character: str) -> str:
    """A character as it is, or its escape: TOML refuses DEL, and marks of direction or of no
    width would make the file look like another one."""
    if character.isprintable():
        return character
    return f"\\u{ord(character):04x}" if ord(character) < 0x10000 else f"\\U{ord(character):08x}"
