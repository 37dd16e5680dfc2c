"""The report's part on what happened: requests, groups, deliveries, consent and rights, each with its reasons."""

from collections.abc import Mapping
from typing import Final

from auditor.config import AuditorConfig
from auditor.findings import Report
from auditor.report.blocks import (
    Cell,
    Code,
    Paragraph,
    Section,
    code,
    counted,
    items,
    moment,
    paragraph,
    section,
    table,
)
from auditor.report.wording import ACCESS, DROPPED, KINDS, RIGHTS, WITHHELD
from proxid.protocol.consent import NOTHING

_NAMED_AS: Final = {"user_id": "under the person's name", "alias": "under a substitute name"}


def numbers(report: Report, prefix: str) -> list[tuple[str, int]]:
    """Counts whose key begins so, by the rest of it, without zeros."""
    found = [(n.removeprefix(prefix), c) for n, c in sorted(report.counts.items()) if n.startswith(prefix)]
    return [(name, count) for name, count in found if count]


def access(report: Report) -> int:
    """Requests to see one's own data, which the main service lists with what it withholds."""
    return report.counts[f"withheld.{ACCESS}"]


def withheld(report: Report) -> dict[str, int]:
    """Requests withheld or removed, by reason."""
    return {reason: count for reason, count in numbers(report, "withheld.") if reason != ACCESS}


def _reasons(meanings: Mapping[str, str], counts: Mapping[str, int]) -> list[tuple[str, Code, int]]:
    return [(meanings.get(reason, "No words for this reason."), code(reason), n) for reason, n in counts.items()]


def fates(report: Report) -> Section:
    """What became of requests."""
    counts, gone, own = report.counts, withheld(report), access(report)
    total, ended = counts["requests"] - own, counts["released"] + sum(gone.values()) + counts["waiting"]
    rows = [
        ("Requests that the gateway passed on", total), ("Of these: published in groups", counts["released"]),
        ("Of these: withheld or removed, for the reasons below", sum(gone.values())),
        ("Of these: waiting for a group", counts["waiting"]),
        ("Of these: not received, or not yet dealt with when the logs were read", total - ended),
    ]  # fmt: skip
    text = f"Not counted here: {counted(own, 'request')} to see one's own data, under “Rights” below." if own else ""
    sums = "The last four lines add up to the first."
    if total < ended:
        sums = "These lines contradict each other: see the violations of check 7."
    return section(
        "requests", "What became of requests", table("Requests", ("Requests", "Number"), rows), paragraph(sums, text),
        table("Withheld and removed requests, by reason", ("Reason", "Key", "Number"), _reasons(WITHHELD, gone)),
    )  # fmt: skip


def sizes(report: Report) -> dict[str, dict[int, int]]:
    """Groups by kind and size."""
    found: dict[str, dict[int, int]] = {}
    for name, count in numbers(report, "group.size."):
        kind, _, size = name.partition(".")
        found.setdefault(kind, {})[int(size)] = count
    order = list(KINDS)
    return dict(sorted(found.items(), key=lambda item: order.index(item[0]) if item[0] in order else len(order)))


def demanded(report: Report, config: AuditorConfig) -> tuple[int, int]:
    """k and margin of the policy that demands least, of those that the audit covers."""
    own = (config.anonymiser.k, config.anonymiser.sybil_margin)
    said = [(p.k, p.margin) for p in report.scope.policies if p.k is not None and p.margin is not None]
    return min(said, key=sum, default=own)


def least_people(kind: str, report: Report, config: AuditorConfig) -> int:
    """How many people a group of a kind must have (DESIGN 8.4, 8.8)."""
    return sum(demanded(report, config)) + (kind == "general")


def groups(report: Report, config: AuditorConfig) -> Section:
    """The anonymity that groups reached."""
    (_, margin), reached, rows = demanded(report, config), [], []
    for kind, by_size in sizes(report).items():
        least, wanted, name = min(by_size), least_people(kind, report, config), KINDS.get(kind, kind).capitalize()
        others = least - 1 - margin if kind == "general" else least - margin
        reached.append((name, wanted, least, others, "yes" if least >= wanted else "no"))
        rows += [(name, size, count, size * count) for size, count in sorted(by_size.items())]
    columns = ("Kind", "People demanded, at least", "People in the smallest group", "k reached", "Demand met")
    text = items((
        "Search queries: each text is shown with another person's name. In a group of 5 people whoever sees it can "
        "guess the author with a chance of 1 in 4; k reached is what is left of that number if as many members as the "
        f"margin says ({margin}) tell each other what they asked.",
        "Location queries and commands: each record stays with its person, under a substitute name of the day. k "
        "reached is how many people share the area, or the kind of command, and the stretch of time, less the margin.",
    ))  # fmt: skip
    return section(
        "anonymity", "Anonymity reached", table("k actually reached", columns, reached), text if rows else None,
        table("Groups by kind and size", ("Kind", "People in the group", "Groups", "Records"), rows),
    )  # fmt: skip


def _since(epochs: int) -> str:
    return f" (the oldest for {epochs} periods)" if epochs else ""


def deliveries(report: Report) -> Section:
    """What third parties got."""
    counts = report.counts
    rows = [
        ("Delivered, and confirmed by the third party", counts["deliveries"]),
        ("Dropped: not delivered, for the reasons below", counts["dropped"]),
        (f"Still to be delivered or confirmed{_since(counts['pending.epochs'])}", counts["pending"]),
        (f"Of these, sent and not confirmed{_since(counts['unacknowledged.epochs'])}", counts["unacknowledged"]),
    ]
    dropped = _reasons(DROPPED, dict(numbers(report, "dropped.")))
    text = paragraph(
        "A group of pairs goes to each of its third parties whole or not at all, a portion of entries without those of "
        "people who do not allow it; each of these counts as one."
    )
    return section(
        "deliveries", "Deliveries to third parties", text, table("Deliveries", ("State", "Number"), rows),
        table("Dropped groups, by reason", ("Reason", "Key", "Number"), dropped),
    )  # fmt: skip


def consents(report: Report, config: AuditorConfig) -> Section:
    """Which consents were given when, and who is left out of that."""
    seconds, rows = config.epoch_seconds, []
    for name, count in sorted(numbers(report, "consent."), key=lambda item: int(item[0].partition(".")[0])):
        epoch, _, bundle = name.partition(".")
        rows.append((moment(int(epoch) * seconds), moment((int(epoch) + 1) * seconds), code(bundle), count))
    columns = ("Period (epoch) from", "To", "Choice (bundle)", "Times chosen")
    offered: list[tuple[Cell, ...]] = [(code(NOTHING), "nobody", "nothing", "")]
    for choice, grants in sorted(config.policy.bundles.items()):
        for party, grant in sorted(grants.items()):
            kinds = ", ".join(KINDS[kind] for kind in KINDS if kind in grant.types)
            offered.append((code(choice), party, kinds, _NAMED_AS[grant.as_.value]))
    text = paragraph(
        "A choice holds from the moment it is made to the end of its period, or until the next choice; it is made anew "
        "in each period. Until then a person allows nothing."
    )  # fmt: skip
    return section(
        "consent", "Consent timeline", text, table("How often each choice of consent was made", columns, rows),
        _left_out(report),
        table("What each choice allows", ("Choice", "Third party", "May receive", "Named how"), offered),
    )  # fmt: skip


def _left_out(report: Report) -> Paragraph:
    erased, lost = report.counts["rights.erase"], report.counts["consents.unreadable"]
    if not erased and not lost:
        return paragraph("Nobody is left out of this timeline: no choice had become unreadable.")
    why = "erasure makes a person's choices unreadable" if erased else "their time of keeping is over"
    if erased and report.counts["parts.expired"]:
        why += ", and so does the end of their time of keeping"
    said = counted(erased, "erased person is", "erased people are")
    text = f"{said} left out of this timeline. {counted(lost, 'choice')} of consent could not be read: {why}."
    kept = "Choices that an earlier audit read before an erasure are still counted, without a name."
    return paragraph(text, kept if report.scope.continued and erased else "")


def rights(report: Report) -> Section:
    """Which rights people exercised."""
    rows = [(text, code(key), report.counts[f"rights.{key}"]) for key, text in RIGHTS.items()]
    text = paragraph(
        "Each was signed by the person, carried out, and recorded. None of these is a withheld request. A person who "
        "objects also withdraws, and counts in both lines."
    )
    return section("rights", "Rights of the people concerned", text, table("Rights", ("Right", "Key", "Number"), rows))
