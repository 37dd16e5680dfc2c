"""Runs a plan's cells over the cores; what is finished stays, so a killed run goes on where it stopped.

Each cell's result is a file `cells/NAME.json` with the fingerprint of what it depends on, written whole or not at all.
A worker ends when its parent does.
"""

import json
import multiprocessing
import os
import threading
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

from proxid.errors import InputError
from proxid.jsontext import load_json
from proxid.lab.logs import Dictionaries, LogBatch
from proxid.lab.logs.whole import whole_file
from proxid.lab.studies.thesis.cell import run_cell
from proxid.lab.studies.thesis.plan import Cell, Plan, Source, fingerprint
from proxid.lab.studies.thesis.source import load_source
from proxid.regular import regular_bytes

Done = Callable[[Cell, int], None]
_WARM = 4_000
"""Records of a first run whose times are thrown away: it compiles the loops."""


class _Worker:
    """What a worker process keeps between cells."""

    source: Source
    loaded: tuple[LogBatch, Dictionaries] | None = None


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _begin(source: Source) -> None:
    """Note what to load, and end when the parent does."""
    _Worker.source = source
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _load(modes: tuple[str, ...]) -> tuple[LogBatch, Dictionaries]:
    """The log, loaded once a worker; a few records are run through every mode, which compiles the loops."""
    if _Worker.loaded is None:
        batch, dictionaries = load_source(_Worker.source)
        few = batch.take(slice(0, _WARM))
        for mode in modes:
            run_cell(few, dictionaries, Cell(mode, 3, 1), tests=1, seed=0)
        _Worker.loaded = batch, dictionaries
    return _Worker.loaded


def _run(cell: Cell, modes: tuple[str, ...], tests: int, seed: int) -> dict[str, Any]:
    return run_cell(*_load(modes), cell, tests=tests, seed=seed)


def run_plan(plan: Plan, folder: Path, *, jobs: int, done: Done = lambda cell, left: None) -> list[dict[str, Any]]:
    """Run what is not finished yet; every cell's result, in the plan's order. Raises InputError, OutputError."""
    cells, digest = plan.cells(), plan.source.digest
    marks = {cell: fingerprint(plan, digest, cell) for cell in cells}
    (folder / "cells").mkdir(parents=True, exist_ok=True)
    results = {cell: found for cell in cells if (found := finished(folder, cell, marks[cell])) is not None}
    waiting = [cell for cell in cells if cell not in results]
    if waiting:
        with _pool(plan, min(jobs, len(waiting))) as pool:
            running = {pool.submit(_run, cell, plan.modes, plan.tests, plan.source.seed): cell for cell in waiting}
            _collect(running, results, marks, folder, done)
    return [results[cell] for cell in cells]


def _pool(plan: Plan, jobs: int) -> ProcessPoolExecutor:
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(jobs, context, initializer=_begin, initargs=(plan.source,))


def _collect(
    running: dict[Future[dict[str, Any]], Cell],
    results: dict[Cell, dict[str, Any]],
    marks: dict[Cell, str],
    folder: Path,
    done: Done,
) -> None:
    """Write results as they come in; the first failure ends the others."""
    left = set(running)
    try:
        while left:
            ready, left = wait(left, return_when=FIRST_COMPLETED)
            for future in ready:
                cell = running[future]
                results[cell] = future.result()
                _write(folder, cell, marks[cell], results[cell])
                done(cell, len(left))
    except BaseException as error:
        for future in left:
            future.cancel()
        if isinstance(error, BrokenProcessPool):
            raise InputError("a process of the study was ended; run the same command to go on") from None
        raise


def _path(folder: Path, cell: Cell) -> Path:
    return folder / "cells" / f"{cell.name}.json"


def _write(folder: Path, cell: Cell, mark: str, result: dict[str, Any]) -> None:
    with whole_file(_path(folder, cell)) as file:
        file.write((json.dumps({"fingerprint": mark, **result}, indent=1) + "\n").encode())


def finished(folder: Path, cell: Cell, mark: str) -> dict[str, Any] | None:
    """The result of a cell that an earlier run finished, if it is of the same study."""
    try:
        found = load_json(regular_bytes(_path(folder, cell)))
    except FileNotFoundError:
        return None
    except (OSError, ValueError):
        raise InputError("a finished cell in the folder of the study cannot be read; remove it") from None
    return found if isinstance(found, dict) and found.get("fingerprint") == mark else None
