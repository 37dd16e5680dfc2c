"""The loop that trains a bag network on soft targets of several heads, and how it is packed for shipping."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from proxid.classify.feature_sum import key_of
from proxid.classify.weights import pack, text_array
from scripts.models.network import Batch, Network, softmax

Floats = NDArray[np.float32]
BATCH, RATE, DECAY = 512, 4e-3, 1e-6
DROP_FEATURES, DROP_HIDDEN = 0.15, 0.2
SHORTEST = 0.08


def fit(
    batch: Batch, soft: dict[str, Floats], vectors: Floats, hidden: int, epochs: int, seed: int,
    report: Callable[[int, Network], None], size: int = BATCH, drop: float = DROP_FEATURES,
) -> Network:  # fmt: skip
    """Train: cross entropy to each head's soft targets (rows of zeros have none) and squared error to the vectors."""
    rng = np.random.default_rng(seed)
    sizes = {name: targets.shape[1] for name, targets in soft.items()} | {"vector": vectors.shape[1]}
    net = Network(batch.features.shape[1], batch.means.shape[1], hidden, sizes, rng)
    steps, step = epochs * (batch.size // size), 0
    for epoch in range(epochs):
        order = rng.permutation(batch.size)
        for start in range(0, len(order) - size + 1, size):
            rows = order[start : start + size]
            part = batch[rows]
            keep = rng.random(part.features.nnz, np.float32) > drop
            part.features.data = part.features.data * keep / np.float32(1 - drop)
            states = net.hidden(part)
            states *= (rng.random(states.shape, np.float32) > DROP_HIDDEN) / np.float32(1 - DROP_HIDDEN)
            errors = {}
            for name, targets in soft.items():
                wanted = targets[rows]
                errors[name] = (softmax(net.output(name, states)) * wanted.sum(axis=1, keepdims=True) - wanted) / size
            errors["vector"] = 3 * (net.output("vector", states) - vectors[rows]) / size
            net.learn(part, states, errors, RATE * (1 - step / steps) + 1e-5, DECAY)
            step += 1
        report(epoch, net)
    return net


def packed(net: Network, vocabulary: list[str], classes: dict[str, list[str]], levels: int) -> dict[str, NDArray[Any]]:
    """Arrays of a trained network: its rows with so many levels to each side of zero, the heads as they are.

    Rows that are shorter than all but SHORTEST of them are left out: they say least.
    """
    length = np.linalg.norm(net.rows.value, axis=1)
    kept = np.flatnonzero(length >= np.quantile(length, SHORTEST))
    arrays: dict[str, NDArray[Any]] = pack([key_of(vocabulary[i]) for i in kept], net.rows.value[kept], levels)
    arrays |= {"bias": net.bias.value, "projection": net.projection.value.astype(np.float16)}
    for head, names in classes.items():
        weight, bias = net.heads[head]
        arrays |= {f"{head}.weight": weight.value.astype(np.float16), f"{head}.bias": bias.value,
                   f"{head}.classes": text_array(names)}  # fmt: skip
    return arrays
