"""How many threads a process computes with."""

import os
from typing import Final

_BLAS: Final = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "GOTO_NUM_THREADS")


def one_blas_thread() -> None:
    """Have numpy compute in one thread, unless the operator said otherwise; to be called before numpy is loaded.

    The classifier's products are so small that threads for them spend more time waiting for each other than computing:
    a batch of 32 texts takes twice as much processor time with two.
    """
    if not any(name in os.environ for name in _BLAS):
        os.environ[_BLAS[0]] = "1"
