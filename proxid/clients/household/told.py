"""A consent in sentences: who is told what, as what, and until when (DESIGN 7)."""

import datetime
from collections.abc import Iterable

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


def meaning_of(policy: PolicyDocument, bundle: str, words: Words) -> list[str]:
    """What a bundle means: a sentence for each party and name, and one of what was asked."""
    said, named = words["consent"], dict[tuple[str, str], list[str]]()
    rows = allowed(policy.bundles.get(bundle, ()), Naming.of(policy.settings))
    for row in rows:
        named.setdefault((row["party"], row["as"]), []).append(said["kind"][row["type"]])
    sentences = [
        said["party"].format(party=party, name=said["name"][how], kinds=said["and"].join(kinds))
        for (party, how), kinds in named.items()
    ]
    if any(row["type"] == "general" for row in rows):
        sentences.append(said["form"][form_of(policy)])
    return sentences or [said["nobody"]]


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
