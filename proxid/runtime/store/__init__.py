"""The store (DESIGN 12): Redis ≥ 7 or Valkey, one a service; atomic steps are Lua functions, called in batches."""

from proxid.runtime.store.connection import connect
from proxid.runtime.store.functions import FunctionLibrary

__all__ = ["FunctionLibrary", "connect"]
