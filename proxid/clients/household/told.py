"""A consent in sentences: who is told what, as what, and until when (DESIGN 7)."""

import datetime
from collections.abc import Iterable, Sequence

from proxid.clients.household.gateway import SentBefore
from proxid.clients.household.home import Choice
from proxid.clients.household.lasting import CHANGED, RENEWED, form_of
from proxid.clients.household.words import Words
from proxid.protocol.consent import Grant
from proxid.protocol.naming import Naming
from proxid.protocol.policy import PolicyDocument


def allowed(grants: Iterable[Grant], naming: Naming) -> list[dict[str, str]]:
    """What grants come to: party, type of request, and as what."""
    rows = [(grant.party, kind, naming.fidelity(kind, grant.fidelity)) for grant in grants for kind in grant.types]
    return [{"party": party, "type": kind, "as": said} for party, kind, said in rows]


def told_to(rows: Iterable[tuple[str, str, str]], words: Words) -> list[str]:
    """Who is told what: a sentence for all that are told the same, of party, kind and name of each grant."""
    said, kinds, parties = words["consent"], dict[tuple[str, str], list[str]](), dict[tuple[str, str], list[str]]()
    for party, kind, how in rows:
        kinds.setdefault((party, how), []).append(said["kind"][kind])
    for (party, how), found in kinds.items():
        parties.setdefault((how, "; ".join(found)), []).append(party)
    return [
        said["party"].format(parties=listed(names, words), name=said["name"][how], kinds=found)
        for (how, found), names in parties.items()
    ]


def listed(names: Sequence[str], words: Words) -> str:
    """Names as a sentence lists them."""
    return str(words["consent"]["and"]).join(filter(None, (", ".join(names[:-1]), names[-1])))


def meaning_of(policy: PolicyDocument, bundle: str, words: Words) -> list[str]:
    """What a bundle means: a sentence for all that are told the same, and one of what was asked."""
    rows = allowed(policy.bundles.get(bundle, ()), Naming.of(policy.settings))
    sentences = told_to([(row["party"], row["type"], row["as"]) for row in rows], words)
    if any(row["type"] == "general" for row in rows):
        sentences.append(words["consent"]["form"][form_of(policy)])
    return sentences or [words["consent"]["nobody"]]


def standing_of(choice: Choice, lasting: str, words: Words) -> list[str]:
    """What is in effect, until when, and what comes then; lasting: the bundle that was chosen until it is withdrawn."""
    said = words["consent"]
    if choice.pending:
        return [said["pending"].format(choice=choice.bundle)]
    sentences = [said["until"].format(choice=choice.bundle, time=moment(choice.until))]
    if choice.lasting == CHANGED:
        sentences.append(said["changed"].format(choice=lasting))
    elif choice.lasting == RENEWED:
        sentences.append(said["renewed"])
    elif choice.policy.bundles.get(choice.bundle):
        sentences.append(said["ends"])
    return sentences


def objection_of(since: float | None, words: Words) -> list[str]:
    """That the person objects, and since when; nothing of who does not (`UserState.objection`)."""
    if since is None:
        return []
    said = words["consent"]["objects"]
    return [said["since"].format(time=moment(since)) if since else said["now"]]


def sent_of(row: SentBefore, words: Words) -> str:
    """What a party had been sent before a consent changed."""
    said = words["sent"]
    held = said["unacknowledged"].format(n=row.unacknowledged) if row.unacknowledged else ""
    named, unnamed = said["records"].format(n=row.records) + held, said["contents"].format(n=row.contents)
    parts = [text for many, text in ((row.records, named), (row.contents, unnamed)) if many]
    return str(said["party"].format(party=row.party, parts=said["and"].join(parts)))


def moment(seconds: float) -> str:
    """Unix seconds for people, in UTC."""
    return datetime.datetime.fromtimestamp(seconds, datetime.UTC).strftime("%Y-%m-%d %H:%M UTC")
