"""The yardsticks of the benchmarks: the plain programs beside this file, loaded by name."""

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

from proxid.errors import InputError

FOLDER = Path(__file__).resolve().parent


def load_baseline(name: str) -> ModuleType:
    """A baseline's module. Raises InputError where there is no checkout."""
    path = FOLDER / f"{name}.py"
    spec = spec_from_file_location(f"proxid_baseline_{name}", path)
    if spec is None or spec.loader is None or not path.is_file():
        raise InputError("the baseline is not here: run this benchmark from a checkout of the repository")
    module = sys.modules.get(spec.name)
    if module is None:
        module = module_from_spec(spec)
        sys.modules[spec.name] = module  # its dataclasses look themselves up
        spec.loader.exec_module(module)
    return module
