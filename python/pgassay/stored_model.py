"""The base of models of stored JSON files: one class per file, for writing and for reading.

Enters: a decoded JSON value, or the attributes of what is to be stored. Leaves: a frozen model; or
one line that names the first key that does not fit. Never: reads a file, or refuses a key that it
does not know: a newer version may have added it.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Mapping
from functools import cache
from typing import Annotated, Any, NamedTuple, Self, TypeVar, cast, get_args

from pydantic import (
    BaseModel,
    ConfigDict,
    GetPydanticSchema,
    ModelWrapValidatorHandler,
    PrivateAttr,
    SerializerFunctionWrapHandler,
    Strict,
    TypeAdapter,
    ValidationError,
    model_serializer,
    model_validator,
)
from pydantic_core import ErrorDetails, core_schema

from pgassay.notes import Note, legacy
from pgassay.refusals.refusal import UnfitValue
from pgassay.stored_notes import CODED, coded, noted, said_at

_T = TypeVar("_T")
Items = Annotated[tuple[_T, ...], Strict(False)]
"""A list of JSON; what is in it is checked strictly."""
_NUMBERS = [core_schema.int_schema(strict=True), core_schema.float_schema(strict=True)]
Number = Annotated[
    float,
    GetPydanticSchema(
        lambda _, __: core_schema.union_schema(_NUMBERS, custom_error_type="float_type")
    ),
]
"""A whole number stays one, so that it is written and shown as it was."""
Scalar = Annotated[
    str | float,
    GetPydanticSchema(
        lambda _, __: core_schema.union_schema(
            [core_schema.str_schema(strict=True), *_NUMBERS], custom_error_type="string_type"
        )
    ),
]
"""Text or a number."""


class Codes(NamedTuple):
    """Marks a field of notes, which a file has twice: their sentences under the field's key, and
    their codes with values under another."""

    key: str = ""
    """Of the codes; by default that of the sentences with the ending `_coded`."""


_Said = Annotated[
    Note,
    GetPydanticSchema(
        lambda _, __: core_schema.union_schema(
            [
                core_schema.is_instance_schema(Note),
                core_schema.no_info_after_validator_function(
                    legacy, core_schema.str_schema(strict=True)
                ),
            ],
            custom_error_type="string_type",
        )
    ),
]
SaidNote = Annotated[_Said | None, Codes()]
"""A note; None where the file has no text."""
SaidNotes = Annotated[Items[_Said], Codes()]
SaidByName = Annotated[dict[str, _Said], Codes()]


class Stored(BaseModel):
    """An object of a stored file; to JSON true is no number, and "7" neither. A null is as good as
    an absent key where the key may be absent. Notes are read and written with their sentences."""

    model_config = ConfigDict(frozen=True, strict=True, extra="ignore")

    @model_validator(mode="before")
    @classmethod
    def _readable(cls, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        said = {key: said_at(value, key, codes) for _, key, codes in cls._said() if key in value}
        value = {**value, **said}
        if None not in value.values():
            return value
        needed = {name for name, field in cls.model_fields.items() if field.is_required()}
        return {key: one for key, one in value.items() if one is not None or key in needed}

    @model_serializer(mode="wrap")
    def _written(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        found: dict[str, Any] = handler(self)
        for name, key, codes in self._said():
            found |= coded(key, getattr(self, name), codes)
        return found

    @classmethod
    @cache
    def _said(cls) -> tuple[tuple[str, str, str], ...]:
        """The fields of notes, with the keys of their sentences and of their codes."""
        found = []
        for name, field in cls.model_fields.items():
            marks = [one.key for one in field.metadata if isinstance(one, Codes)]
            if marks:
                key = field.alias or name
                found.append((name, key, marks[-1] or f"{key}{CODED}"))
        return tuple(found)

    @classmethod
    def of(cls, made: object) -> Self:
        """Returns what is to be stored of a value that has the fields as its attributes."""
        return cls.model_validate(
            made, from_attributes=True, strict=False, by_alias=False, by_name=True
        )

    def to_json(self) -> dict[str, Any]:
        """Returns the object as it is stored, its keys in the order of the fields."""
        return self.model_dump(by_alias=True)


class Part(Stored):
    """An object whose maker decides what it holds: the model has what is read of it, and it is
    written whole, as it was made."""

    _given: Mapping[str, Any] = PrivateAttr(default_factory=dict)

    @model_validator(mode="wrap")
    @classmethod
    def _kept(cls, value: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        found = handler(value)
        if isinstance(value, Mapping):
            found._given = {
                key: one
                for key, one in value.items()
                if one is not None or key not in cls._never_null()
            }
        elif not isinstance(value, cls):
            raise TypeError(f"{cls.__name__} is made of a mapping, which it is written as")
        return found

    @model_serializer(mode="wrap")
    def _written(self, _: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return dict(self._given)

    @property
    def given(self) -> Mapping[str, Any]:
        """Returns all keys that the file has, also those without a field, but for nulls that are as
        good as an absent key."""
        return self._given

    @classmethod
    @cache
    def _never_null(cls) -> frozenset[str]:
        fields = cls.model_fields.items()
        return frozenset(field.alias or name for name, field in fields if field.default is not None)


class StoredFile(Stored):
    """The object of a whole file; its field `schema_` names the schemas that it may have, and by
    default the one that it is written with."""

    @classmethod
    def schema_name(cls) -> str:
        """Returns the name of the schema, such as `pgassay.trial/1`."""
        return str(cls.model_fields["schema_"].default)

    @classmethod
    def read(cls, value: Mapping[str, Any]) -> Self:
        """Reads the object of a file. Raises UnfitValue with what is wrong."""
        said, known = value.get("schema"), get_args(cls.model_fields["schema_"].annotation)
        if isinstance(said, str) and said not in known:
            raise UnfitValue("of-another-schema", found=said, wanted=cls.schema_name())
        if said is None:
            raise UnfitValue("stored-key-missing", place="schema")
        try:
            return cls.model_validate(value)
        except ValidationError as error:
            raise _misfit_of(error) from None


def dataclass_of(kind: type[_T], value: Any) -> _T:
    """Makes a dataclass of the value that `dataclasses.asdict` made of one and JSON has stored.
    Raises UnfitValue with what is wrong."""
    try:
        adapter = _adapter(cast(Hashable, kind))
        found: _T = adapter.validate_json(json.dumps(value), strict=True)
        return found
    except ValidationError as error:
        raise _misfit_of(error) from None


def dataclass_with_notes(kind: type[_T], value: Any) -> _T:
    """Makes a dataclass of its stored value, in which notes stand beside their sentences. Raises
    UnfitValue with what is wrong, LookupError for a note that this version does not know."""
    try:
        found: _T = _adapter(cast(Hashable, kind)).validate_python(noted(value), strict=False)
        return found
    except ValidationError as error:
        raise _misfit_of(error) from None


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


_KINDS = {
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    str: "text",
    list: "a list",
    dict: "an object",
    type(None): "null",
}
_WANTED = {
    "int_type": int,
    "float_type": float,
    "bool_type": bool,
    "string_type": str,
    "list_type": list,
    "tuple_type": list,
    "dict_type": dict,
    "model_type": dict,
    "model_attributes_type": dict,
    "dataclass_type": dict,
}
"""Pydantic's name of an error → the type that belongs there."""


def _misfit_of(error: ValidationError) -> UnfitValue:
    """What is wrong with a value: its first misfit, by its place."""
    first = error.errors(include_url=False)[0]
    place = _place(first)
    if first["type"] == "missing":
        return UnfitValue("stored-key-missing", place=place)
    wanted = _WANTED.get(first["type"])
    if wanted is not None:
        kind = _KINDS.get(type(first["input"]), "something else")
        return UnfitValue("key-of-another-type", place=place, found=kind, wanted=_KINDS[wanted])
    cause = first.get("ctx", {}).get("error")
    if isinstance(cause, UnfitValue):
        return cause
    if cause is not None:
        return UnfitValue("damaged", why=cause)
    return UnfitValue("key-unfit", place=place, why=first["msg"])


def _place(error: ErrorDetails) -> str:
    place = ""
    for part in error["loc"]:
        place += f"[{part}]" if isinstance(part, int) else f".{part}" if place else part
    return place
