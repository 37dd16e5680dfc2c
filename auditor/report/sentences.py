"""Steps of a record's history as sentences (`proxid explain`): they name people and texts, and are for the auditor."""

from collections.abc import Callable
from typing import Any, Final

from auditor.record_history import Step
from auditor.report.wording import DROPPED, EVENTS, LOGS, WITHHELD
from proxid.protocol.record import group_name

_What = dict[str, Any]


def sentence(step: Step) -> str:
    """One step, in words; what has none of its own says its kind and fields."""
    tell = _TOLD.get(step.event)
    try:
        said = "" if tell is None else tell(step.what)
    except KeyError:
        said = ""
    log = LOGS[step.log]
    return f"{log.capitalize()}, entry {step.leaf:,}: {said or _plain(step)}"


def _plain(step: Step) -> str:
    what = {key: _name(key, value) for key, value in step.what.items()}
    fields = ", ".join(f"{key} {value}" for key, value in what.items())
    return f"{EVENTS.get(step.event, step.event)}{f' ({fields})' if fields else ''}."


def _name(key: str, value: object) -> object:
    return group_name(value) if key == "group" and isinstance(value, int) else value


def _buffered(what: _What) -> str:
    return (
        f"“{what['utterance']}”, asked under the pseudonym {what['person']}, was taken for {what['kind']}, filed under "
        f"{what['category'] or 'nothing'}, and waits for a group for {what['audience']}."
    )


def _released(what: _What) -> str:
    shown = "; ".join(f"{party} sees {_seen(one)}" for party, one in what["shown"].items())
    return (
        f"It was published in {group_name(what['group'])} of period {what['epoch']} with {what['people']} people: "
        f"asked by {what['asked by']}, shown under the name of {what['published under']}; "
        f"{shown or 'nobody reads it any more'}."
    )


def _seen(one: _What) -> str:
    return f"“{one['text']}” under {one['category']}" if one["text"] else f"{one['category']} alone"


def _delivered(what: _What) -> str:
    named = f", under the name {what['as']}" if "as" in what else ""
    return f"{what['party']} got the group and confirmed it{named}."


def _restricted(what: _What) -> str:
    said = "objects: what waited of theirs was given up" if what["begins"] else "objects no more"
    by = "by the gateway's signed word" if what["word"] else "by a gateway that gave no signed word"
    return f"it was told, {by}, that a person {said}."


_TOLD: Final[dict[str, Callable[[_What], str]]] = {
    "FORWARDED": lambda what: f"{what['user']} asked; the request went on to the main service under a pseudonym.",
    "RECEIVED": lambda what: "the request came from the gateway; nobody is named in it.",
    "ANSWERED": lambda what: f"the answer went back to {what['user']}.",
    "BUFFERED": _buffered,
    "RELEASED": _released,
    "RESTRICTED": _restricted,
    "DELIVERED": _delivered,
    "DROPPED": lambda what: f"the group was not delivered to {what['party']}. {DROPPED[what['reason']]}",
    "SUPPRESSED": lambda what: f"it was withheld. {WITHHELD[what['reason']]}",
}
"""Kinds of entries that are told in a sentence of their own; a name that cannot be read leaves the kind alone."""
