"""Values of a declared type as JSON, and back: what an auditor leaves for its next audit is written so (DESIGN 10.4).

The type says what is expected, so that the data names no code and reading it runs none:

    int, float, str, bool, None     as they are
    bytes                           base64
    tuple, list                     a list
    set, frozenset                  a list, sorted
    dict                            a list of [key, value], in its order
    string enumeration              its value
    dataclass, NamedTuple           a list of its fields, in their order

Text may be any that JSON holds, also what is no Unicode text: a service may have written it into its log.
"""

import binascii
import json
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, fields
from enum import StrEnum
from functools import cache
from types import NoneType, UnionType
from typing import Any, Final, get_args, get_origin, get_type_hints

from proxid.jsontext import load_json


@dataclass(frozen=True, slots=True)
class Form:
    """How values of one type are written: `give` makes plain data, `take` reads it, or raises ValueError."""

    give: Callable[[Any], Any]
    take: Callable[[Any], Any]


def dumps(kind: Any, value: Any) -> bytes:
    """A value of a type as JSON in ASCII.

    Args:
        kind: the type, made of those that the module names.
    """
    return json.dumps(form(kind).give(value), separators=(",", ":")).encode("ascii")


def loads(kind: Any, data: str | bytes) -> Any:
    """The value that `dumps` wrote; raises ValueError for anything that is none of this type."""
    return form(kind).take(load_json(data, any_text=True))


@cache
def form(kind: Any) -> Form:
    """The form of a type; raises TypeError for one that has none."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin is UnionType:
        return _optional(inner)
    if origin is tuple:
        return _tuple(inner)
    if origin is dict:
        return _dict(*map(form, inner))
    if origin in _COLLECTIONS:
        return _COLLECTIONS[origin](form(inner[0]))
    if kind in _SCALARS:
        return _SCALARS[kind]
    return _enumeration(kind) if isinstance(kind, type) and issubclass(kind, StrEnum) else _record(kind)


def _of(*kinds: type) -> Form:
    def take(data: Any) -> Any:
        if type(data) not in kinds:
            raise ValueError(f"{kinds[0].__name__} is expected")
        return data

    return Form(lambda value: value, take)


def _text(data: Any) -> str:
    if not isinstance(data, str):
        raise ValueError("text is expected")
    return data


def _rows(data: Any) -> list[Any]:
    if not isinstance(data, list):
        raise ValueError("a list is expected")
    return data


def _bytes() -> Form:
    def give(value: bytes) -> str:
        return binascii.b2a_base64(value, newline=False).decode("ascii")

    return Form(give, lambda data: binascii.a2b_base64(_text(data), strict_mode=True))


def _optional(inner: tuple[Any, ...]) -> Form:
    (some,) = (form(kind) for kind in inner if kind is not NoneType)
    return Form(
        lambda value: None if value is None else some.give(value),
        lambda data: None if data is None else some.take(data),
    )


def _many(make: Callable[[Iterable[Any]], Collection[Any]], order: Callable[[Iterable[Any]], list[Any]]) -> Any:
    def of(one: Form) -> Form:
        return Form(
            lambda value: order([one.give(item) for item in value]),
            lambda data: make([one.take(item) for item in _rows(data)]),
        )

    return of


def _fixed(inner: list[Form], make: Callable[[list[Any]], Any], parts: Callable[[Any], Iterable[Any]]) -> Form:
    gives, takes = [one.give for one in inner], [one.take for one in inner]
    return Form(
        lambda value: [give(item) for give, item in zip(gives, parts(value), strict=True)],
        lambda data: make([take(item) for take, item in zip(takes, _rows(data), strict=True)]),
    )


def _tuple(inner: tuple[Any, ...]) -> Form:
    if inner[1:] == (...,):
        of: Form = _many(tuple, list)(form(inner[0]))
        return of
    return _fixed([form(kind) for kind in inner], tuple, lambda value: value)


def _dict(key: Form, value: Form) -> Form:
    pairs: Form = _many(dict, list)(_fixed([key, value], tuple, lambda pair: pair))
    return Form(lambda found: pairs.give(found.items()), pairs.take)


def _enumeration(kind: type[StrEnum]) -> Form:
    return Form(str, lambda data: kind(_text(data)))


def _record(kind: Any) -> Form:
    hints = get_type_hints(kind)
    if hasattr(kind, "_fields"):
        names = kind._fields
        return _fixed([form(hints[name]) for name in names], kind._make, lambda value: value)
    if not hasattr(kind, "__dataclass_fields__"):
        raise TypeError(f"{kind} has no plain form")
    names = tuple(f.name for f in fields(kind) if f.init)
    return _fixed(
        [form(hints[name]) for name in names],
        lambda parts: kind(**dict(zip(names, parts, strict=True))),
        lambda value: [getattr(value, name) for name in names],
    )


_SCALARS: Final[dict[Any, Form]] = {
    int: _of(int), float: _of(float, int), str: _of(str), bool: _of(bool), bytes: _bytes(),
}  # fmt: skip
_COLLECTIONS: Final[dict[Any, Callable[[Form], Form]]] = {
    list: _many(list, list), set: _many(set, sorted), frozenset: _many(frozenset, sorted),
}  # fmt: skip
