"""Eight bytes at a time, for compiled loops over text: loads, stores, the place of the first marked byte, prefetching.

They exist inside compiled loops alone. `load64` and `store64` touch eight bytes from a position on, so every array they
work on has SLACK bytes behind its last one.
"""

from typing import Any, Final

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

SLACK: Final = 8
_WORD = ir.IntType(64)


def _pointer(context: Any, builder: Any, array_type: Any, array: Any, at: Any) -> Any:
    """Address of item `at` of a one-dimensional array."""
    items = context.make_array(array_type)(context, builder, array)
    return builder.gep(items.data, [at])


@intrinsic
def _load64(typingctx: Any, data: Any, at: Any) -> Any:
    """The eight bytes from data[at] on as a number, the first byte lowest."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        address = _pointer(context, builder, signature.args[0], *args)
        return builder.load(builder.bitcast(address, _WORD.as_pointer()), align=1)

    return types.uint64(data, types.int64), build


@intrinsic
def _store64(typingctx: Any, data: Any, at: Any, word: Any) -> Any:
    """Write a number's eight bytes from data[at] on, the lowest first."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        address = _pointer(context, builder, signature.args[0], args[0], args[1])
        builder.store(args[2], builder.bitcast(address, _WORD.as_pointer()), align=1)
        return context.get_dummy_value()

    return types.void(data, types.int64, types.uint64), build


@intrinsic
def _first_byte(typingctx: Any, marks: Any) -> Any:
    """Which byte of a word is the first that is not zero (0 … 7); the word must not be zero."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.lshr(builder.cttz(args[0], ir.IntType(1)(1)), _WORD(3))

    return types.int64(types.uint64), build


@intrinsic
def _prefetch(typingctx: Any, items: Any, at: Any) -> Any:
    """Ask for items[at] to be brought near; it is touched soon."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        address = _pointer(context, builder, signature.args[0], *args)
        byte = ir.IntType(8).as_pointer()
        number = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        call = builder.module.declare_intrinsic("llvm.prefetch", [byte], kind)
        builder.call(call, [builder.bitcast(address, byte), number(0), number(3), number(1)])
        return context.get_dummy_value()

    return types.void(items, types.int64), build


load64: Any = _load64
store64: Any = _store64
first_byte: Any = _first_byte
prefetch: Any = _prefetch
