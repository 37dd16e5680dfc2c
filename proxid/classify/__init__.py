"""Classification of requests and removal of identifiers (DESIGN 6; 002 §3.3.4.1, §5.2.2, §5.4.3)."""

from proxid.classify.pipeline import Pipeline, load_default
from proxid.classify.types import Classification, Classifier, RequestType, Slot

__all__ = ["Classification", "Classifier", "Pipeline", "RequestType", "Slot", "load_default"]
