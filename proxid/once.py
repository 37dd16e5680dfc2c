"""What an immutable object computes of itself, once."""

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

Value = TypeVar("Value")


class once(Generic[Value]):
    """`functools.cached_property` without its lock, which Python 3.11 takes for every first look.

    Two threads may compute at the same time: of what does not change both get the same.
    """

    def __init__(self, compute: Callable[[Any], Value]) -> None:
        self._compute = compute
        self.__doc__ = compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> "once[Value]": ...

    @overload
    def __get__(self, instance: object, owner: type) -> Value: ...

    def __get__(self, instance: object | None, owner: type) -> "once[Value] | Value":
        if instance is None:
            return self
        value = instance.__dict__[self._name] = self._compute(instance)
        return value
