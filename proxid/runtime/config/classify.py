"""How requests are read: what an operator adds to the classifier (DESIGN 6)."""

from proxid.runtime.config.fields import ConfigPath
from proxid.runtime.config.loading import Section


class ClassifySettings(Section):
    """The classifier's settings; they are part of its version, which policies and records name.

    Attributes:
        patterns: a file of identifiers of the operator's own, one JSON object a line (docs/models.md).
    """

    patterns: ConfigPath | None = None
