"""The report's part on what was audited: whose logs in which state, which period, by which settings, on whose word."""

from typing import Final

from auditor.config import AuditorConfig
from auditor.findings import RECEIPTS, Report
from auditor.report.blocks import (
    Block,
    Cell,
    Paragraph,
    Section,
    Table,
    code,
    counted,
    items,
    moment,
    paragraph,
    section,
    table,
)
from auditor.report.wording import LOGS, RECEIPTS_OF
from auditor.scope import LogScope
from proxid import __version__

_DAY: Final = 86_400
_HOUR: Final = 3_600

_NO_WITNESS: Final = (
    "No witness took part, since none was demanded. So it could not be shown that each service shows everybody the "
    "same log as it showed this auditor."
)
_NO_DEVICES: Final = (
    "No receipts of devices were presented. So it could not be shown that both services do not keep silent about the "
    "same answers, consents or requests for erasure."
)
_NO_PARTIES: Final = (
    "No receipts of third parties were presented. So it could not be shown that both services do not keep silent about "
    "the same deliveries. (What the logs do show as delivered bears the third party's signature.)"
)


def covered(report: Report, config: AuditorConfig, now: float) -> Section:
    """What was audited, when, and how far it reaches."""
    scope = report.scope
    started = f"{moment(scope.started)} to {moment(now)}" if scope.started else moment(now)
    rows = [
        ("Service audited", f"{config.service} and its gateway; their public keys below tell which"),
        ("Audit ran", started),
        ("Auditor", f"{config.name}, with proxid {__version__}"),
        ("Read from", _source(report, config)), ("Period (epochs)", _epochs(report, config)),
        ("First and last request", _requests(report)), ("People", _people(report)),
    ]  # fmt: skip
    return section(
        "audited", "What was audited", table("This audit", ("What", "Value"), rows),
        *_logs(report), *_continued(report),
    )  # fmt: skip


def _source(report: Report, config: AuditorConfig) -> str:
    times = [log.exported for log in report.scope.logs.values() if log.exported is not None]
    if times:
        return f"a folder to which both logs had been exported on {moment(min(times))}"
    return f"the running services: gateway at {config.gateway}, main service at {config.main_service}"


def _epochs(report: Report, config: AuditorConfig) -> str:
    if report.scope.epochs is None:
        return "none: nobody had a pseudonym yet"
    (first, last), seconds = report.scope.epochs, config.epoch_seconds
    said = counted(last - first + 1, "epoch")
    return f"{moment(first * seconds)} to {moment((last + 1) * seconds)}: {said} of {duration(seconds)}"


def _requests(report: Report) -> str:
    if report.scope.requests is None:
        return "none that can be read"
    first, last = (moment(ms / 1000) for ms in report.scope.requests)
    return f"{first} and {last}, by the devices' clocks; other entries carry no time of their own"


def _people(report: Report) -> str:
    erased = report.counts["rights.erase"]
    more = f"; besides these, {counted(erased, 'person was', 'people were')} erased" if erased else ""
    return f"{report.scope.people:,} had a pseudonym in these epochs and can be named by the auditor{more}"


def _logs(report: Report) -> tuple[Block, ...]:
    columns = ("Log", "Name in its signed state", "Entries", "Root hash", "Service's public key")
    rows = [
        (LOGS[name].capitalize(), code(log.origin), log.size, code(log.root), code(log.key))
        for name, log in sorted(report.scope.logs.items())
    ]
    text = paragraph(
        "Whoever has as many entries with the same root hash (base64, as in the checkpoint) has the same log."
    )
    logs = table("The logs, as their services signed for them", columns, rows)
    return (logs, text) if rows else (logs,)


def _continued(report: Report) -> tuple[Paragraph, ...]:
    logs = sorted(report.scope.logs.items())
    if not report.scope.continued:
        return (paragraph("Both logs were read from their first entry to their last: every number is of whole logs."),)
    said = (f"the {LOGS[name]}'s log {_new(log)}" for name, log in logs)
    return (
        paragraph(
            f"This audit went on from an earlier one. This time it read of {'; of '.join(said)}. What came before was "
            "read by earlier audits of the same auditor, and what they found wrong is repeated here."
        ),
        paragraph(
            "Numbers are of the whole of both logs, except where a table says “this time”: the checks made this time, "
            "and the receipts compared this time."
        ),
    )


def _new(log: LogScope) -> str:
    if log.size <= log.before:
        return f"nothing, since nothing was added to its {counted(log.before, 'entry', 'entries')}"
    return f"entries {log.before + 1:,} to {log.size:,}"


def outside(report: Report) -> Section:
    """Who besides the two services vouches for what was found."""
    scope, counts = report.scope, report.counts
    rows = [(words.capitalize(), counts[f"receipts.compared.{kind}"]) for kind, words in RECEIPTS_OF.items()]
    lines = [_witness(report)]
    if scope.known:
        lines.append(f"{counted(scope.known, 'signed state')} of the logs that somebody else was shown: compared.")
    parties = counts["receipts.compared.acknowledgement"]
    if not any(counts[f"receipts.compared.{kind}"] for kind, words in RECEIPTS_OF.items() if "devices" in words):
        lines.append(_NO_DEVICES)
    if not parties:
        lines.append(_NO_PARTIES)
    if unproven := counts["receipts.unproven"]:
        lines.append(
            f"{counted(unproven, 'presented receipt was', 'presented receipts were')} not signed by these services or "
            "third parties, and left aside."
        )
    receipts = table("Receipts compared with the logs this time", ("Who held them", "Number"), rows)
    text = paragraph(
        "Both services sign their logs, and the auditor compares them with each other. What follows comes from "
        "others, who depend on neither service."
    )
    return section(
        "outside", "Whose word it rests on", text, items(lines), receipts if report.checked[RECEIPTS] else None
    )


def _witness(report: Report) -> str:
    scope = report.scope
    if not scope.witnessed:
        return _NO_WITNESS
    said = []
    for name, log in sorted(scope.logs.items()):
        if log.cosigned is None:
            said.append(f"nothing valid for the {LOGS[name]}'s log")
        else:
            seconds, size = log.cosigned
            said.append(f"{counted(size, 'entry', 'entries')} of the {LOGS[name]}'s log on {moment(seconds)}")
    return f"A witness was demanded. It countersigned {' and '.join(said) or 'nothing that was shown'}."


def settings(report: Report, config: AuditorConfig) -> Section:
    """The figures that the services were held to; they are the auditor's own."""
    anonymiser = config.anonymiser
    k, margin = anonymiser.k, anonymiser.sybil_margin
    shown = anonymiser.min_text_users + margin
    rows: list[tuple[Cell, ...]] = [
        ("Other people who must be possible as the author of each text (k)", code("k"), k),
        ("Members of a group who may work together (margin)", code("sybil_margin"), margin),
        ("So people in a group of search queries, at least", "k + 1 + margin", k + 1 + margin),
        ("So people in a group of location queries or commands, at least", "k + margin", k + margin),
        ("Depth of categories told apart when groups form (level)", code("level"), anonymiser.level),
        ("People who must have said a text before it is shown", "min_text_users + margin", shown),
        ("Age of an account before it counts towards k", code("season_days"), f"{config.season_days:g} days"),
        ("Length of a period (epoch)", code("epoch_seconds"), duration(config.epoch_seconds)),
        ("Substitute names (aliases) change after", code("epoch_seconds"), duration(config.epoch_seconds)),
        ("Witness's countersignature demanded", code("require_witness"), _demanded(config)),
        ("Rules for texts (pipeline) applied again", "version", report.scope.pipeline or "no"),
    ]  # fmt: skip
    if anonymiser.place_epsilon is not None:
        rows.append(("Noise on places, a metre", code("place_epsilon"), f"{anonymiser.place_epsilon:g}"))
    text = paragraph(
        "These figures are the auditor's own configuration, not what the services say of themselves. A period is "
        "judged by the policy that it went by, if the auditor has accepted that one: where it says something else, "
        "that counts."
    )
    return section(
        "settings", "What the services were held to", text, table("Settings", ("What", "Key", "Value"), rows),
        _policies(report, config) if report.scope.policies else None,
    )  # fmt: skip


def _policies(report: Report, config: AuditorConfig) -> Table:
    """Which periods went by which policy."""
    seconds, columns = config.epoch_seconds, ("Period (epochs)", "Policy", "By the auditor", "k", "Margin")
    rows = [
        (
            f"{moment(p.first * seconds)} to {moment((p.last + 1) * seconds)}", code(p.policy[:16]), p.standing,
            "unknown" if p.k is None else p.k, "unknown" if p.margin is None else p.margin,
        )
        for p in report.scope.policies
    ]  # fmt: skip
    return table("Policies, by period", columns, rows)


def _demanded(config: AuditorConfig) -> str:
    return f"yes, at most {duration(config.witness_lag)} old" if config.require_witness else "no"


def duration(seconds: float) -> str:
    """A length of time in the unit that suits it."""
    for size, noun in ((_DAY, "day"), (_HOUR, "hour"), (60, "minute")):
        if seconds >= size and seconds % size == 0:
            return counted(int(seconds // size), noun)
    return f"{seconds:g} seconds"
