"""Classification of requests and removal of identifiers (DESIGN 6; 002 §3.3.4.1, §5.2.2, §5.4.3)."""

from typing import TYPE_CHECKING, Any

from proxid.classify.types import Classification, Classifier, RequestType, Slot

if TYPE_CHECKING:
    from proxid.classify.pipeline import Pipeline, load_default

__all__ = ["Classification", "Classifier", "Pipeline", "RequestType", "Slot", "load_default"]


def __getattr__(name: str) -> Any:
    """The pipeline on first use: what only speaks of classifications does without its packages."""
    if name in ("Pipeline", "load_default"):
        from proxid.classify import pipeline

        return getattr(pipeline, name)
    raise AttributeError(name)
